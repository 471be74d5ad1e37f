"""Leaders that are groups: both verifiers count measurements by their definition, and refuse all else.

Documents are made by hand, of runs without any algorithm: plans that pull what they like, the best arms of
the time among it. A brute-force search for the least evidence is the reference.
"""

import copy
import importlib
import itertools
import math

import numpy as np
import pytest
from cases import write
from stranger import stranger_says
from test_accepted import accepted

import bestgroup as bg
from bestgroup.inference.evalues.linear import GROUP_PRIOR
from bestgroup.problem.status import Status
from bestgroup.proof import measurements
from bestgroup.proof.build import ask
from bestgroup.proof.build_measured import Run, measured_document, measured_method
from bestgroup.proof.contests import MeasuredBest
from bestgroup.proof.format import digest_of, parse
from bestgroup.proof.intervals import interval
from bestgroup.proof.selection_search import Event
from bestgroup.proof.selections import read_leaders, read_moments
from bestgroup.proof.verify import verify_document

COLUMNS = {"group": "group", "arm": "arm", "item": None, "index": None}
DELTA = 0.1


class Hand:
    """A run that is made by hand: groups of 2, 3 and 1 arms, the first of which is the best."""

    def __init__(self, dims, dependence="arbitrary", epsilon=0.0, costs=None, seed=0, offset=0.0):
        self.rng = np.random.default_rng(seed)
        self.D, self.sizes, self.costs = dims, [2, 3, 1], costs
        self.signs = [1.0, -1.0, 1.0][:dims]
        self.scales = [0.5, 1.0, 0.7][:dims]
        self.weights = [1.0, 0.5, 2.0][:dims]
        means = {0: [(1.0, 0.2, 0.9), (0.7, 0.8, 0.1)], 1: [(0.0, 0.1, 0.0)] * 3}
        means[2] = [(0.4, -0.3, 0.2)]
        self.means = [np.array(means[i])[:, :dims] + offset for i in range(3)]
        self.rows, self.counts = [], [[0] * size for size in self.sizes]
        self.values = [[[] for _ in range(size)] for size in self.sizes]
        self.run = Run([], [], [[], []], [])
        noise = bg.SubGaussian(self.scales, dependence=dependence)
        self.problem = bg.Problem(
            {f"g{i}": [f"a{j}" for j in range(size)] for i, size in enumerate(self.sizes)},
            {f"d{d}": "max" if self.signs[d] > 0 else "min" for d in range(dims)},
            noise,
        )
        self.goal = bg.BestGroup(self.weights, epsilon)

    def pull(self, i, j, count):
        for _ in range(count):
            x = self.means[i][j] + self.rng.normal(0, self.scales)
            self.values[i][j].append(x)
            shown = {f"d{d}": float(self.signs[d] * x[d]) for d in range(self.D)}
            self.rows.append({"group": f"g{i}", "arm": f"a{j}", **shown})
        self.counts[i][j] += count

    def lead(self, i):
        return np.array([np.mean(own, axis=0) for own in self.values[i]]).argmax(axis=0).tolist()

    def name(self, i, share):
        self.run.leaders.append((i, self.lead(i), copy.deepcopy(self.counts)))
        self.run.shares.append(share)

    def plan(self, number, rivals=3, lead=None):
        """Let a plan pull a leader's arms and some others; nothing is measured if one was left out."""
        i = self.run.leaders[number][0]
        lead, before = lead or self.lead(i), list(self.counts[i])
        for j in set(lead):
            self.pull(i, j, int(self.rng.integers(0 if self.rng.random() < 0.3 else 1, 5)))
        for _ in range(rivals):
            k = int(self.rng.integers(3))
            self.pull(k, int(self.rng.integers(self.sizes[k])), int(self.rng.integers(1, 4)))
        first, last = ([own[j] for j in lead] for own in (before, self.counts[i]))
        if all(a < b for a, b in zip(first, last, strict=True)):
            self.run.measurements[number].append([lead, first, last])

    def note(self, number, rival):
        count = len(self.run.measurements[number])
        self.run.events.append(Event(number, rival, [count], list(self.counts[rival])))

    def made(self, status=(Status.IN, Status.OUT, Status.OUT)):
        if self.goal.epsilon > 0.0:
            status = (Status.IN, Status.NOT_NEEDED, Status.NOT_NEEDED)
        asked = ask(self.problem, self.goal, DELTA, self.rows, COLUMNS, status)
        slack = int(self.goal.epsilon > 0.0)
        return digested(measured_document(asked, self.run, self.costs, slack))


def digested(document):
    document["digest"] = digest_of(document)
    return document


def by_hand(*args, plans=60, **options):
    """Return a run in which two groups are named, and the first one leaves both others behind."""
    hand = Hand(*args, **options)
    for i, size in enumerate(hand.sizes):
        for j in range(size):
            hand.pull(i, j, 4)
    hand.name(0, 0.6)
    hand.name(2, 0.3)
    for turn in range(plans):
        hand.plan(turn % 3 // 2)
        if turn == 2 * plans // 3:
            hand.note(0, 1)
    hand.note(0, 2)
    return hand


def counted(hand, number, count):
    """Return n_L, z_L and c_L by the definition, in floating point."""
    i, weights, sizes = (
        hand.run.leaders[number][0],
        np.array(hand.weights),
        np.multiply(hand.weights, hand.scales),
    )
    independent = hand.problem.noise.dependence == "independent"
    total = value = 0.0
    for arms, first, last in hand.run.measurements[number][:count]:
        z = v = 0.0
        for j in set(arms):
            served = [d for d in range(hand.D) if arms[d] == j]
            a, b = first[served[0]], last[served[0]]
            z += np.array(hand.values[i][j][a:b]).mean(axis=0)[served] @ weights[served]
            c = sizes[served]
            v += (np.sum(c**2) if independent else np.sum(c) ** 2) / (b - a)
        n = sizes.sum() ** 2 / v
        total, value = total + n, value + n * z
    return total, value / total, float(sizes.sum())


def psi(x):
    if x < -25.0:
        return -math.log(-x * math.sqrt(math.pi / 2))
    return x * x / 2 + math.log(math.erfc(-x / math.sqrt(2)))


def least_evidence(hand, event, selection, part, slack):
    """Return the least log of the product of mixtures over the null, by search over the means."""
    independent = hand.problem.noise.dependence == "independent"
    n, z, c = counted(hand, event.leader, event.own[0])
    i, arms, _ = hand.run.leaders[event.leader]
    fine = np.ones((3, 3))
    if hand.costs is not None:
        logs = [math.log(x) for row in hand.costs for x in row]
        for k, row in enumerate(hand.costs):
            fine[k, : len(row)] = math.exp(np.mean(logs)) / np.array(row)
    sizes = np.multiply(hand.weights, hand.scales)
    q = 2.0 ** (3 * part + 3)
    own = q * sum(sizes[d] * fine[i, j] for d, j in enumerate(arms)) / sizes.sum()
    sides = []
    for j in sorted(set(selection)):
        served = [d for d in range(hand.D) if selection[d] == j]
        count, p = event.other[j], q * fine[event.rival, j]
        mean = np.array(hand.values[event.rival][j][:count]).mean(axis=0)[served]
        size = sizes[served]
        size = math.sqrt(np.sum(size**2)) if independent else np.sum(size)
        sides.append((float(mean @ np.array(hand.weights)[served]), size, count, p))

    def log_e(nu):
        rho = sum(nu) - slack
        value = psi(n * (z - rho) / c / math.sqrt(n + own)) - 0.5 * math.log1p(n / own)
        for x, (mean, size, count, p) in zip(nu, sides, strict=True):
            value += psi(count * (x - mean) / size / math.sqrt(count + p))
            value -= 0.5 * math.log1p(count / p)
        return value

    nu = [mean for mean, *_ in sides]
    for _ in range(40):  # convex: one mean after the other
        for b in range(len(nu)):
            low, high = nu[b] - 5.0, nu[b] + 5.0
            for _ in range(60):
                one, two = low + (high - low) * 0.382, low + (high - low) * 0.618
                less = log_e([*nu[:b], one, *nu[b + 1 :]]) < log_e([*nu[:b], two, *nu[b + 1 :]])
                low, high = (low, two) if less else (one, high)
            nu[b] = (low + high) / 2
        if len(nu) == 1:
            break
    return log_e(nu)


CASES = {
    "one dim": {"dims": 1},
    "one dim, a slack": {"dims": 1, "epsilon": 0.3, "plans": 30},
    "two dims": {"dims": 2},
    "two independent dims": {"dims": 2, "dependence": "independent"},
    "three dims": {"dims": 3},
    "three independent dims, a slack": {
        "dims": 3, "dependence": "independent", "epsilon": 0.2, "plans": 40,
    },
    "costs": {"dims": 2, "costs": [[1.0, 3.0], [1.0, 2.0, 0.5], [4.0]]},
    "far from 0": {"dims": 2, "offset": 1e6},
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_documents_by_hand_are_accepted(case, tmp_path):
    hand = by_hand(**CASES[case])
    document = hand.made()
    table = write(hand.rows, tmp_path / "rows.csv")
    accepted(document, table)
    assert (document["version"], document["answer"]["in"]) == (4, [0])
    assert document["method"]["budget"] == "measured"
    # Nothing else is proven at a hundredth of delta, nor with what is left out of the rows.
    assert refused({**document, "delta": DELTA * 1e-6}, table)


def refused(document, table):
    """Return what the independent verifier says of a document that both refuse."""
    document = digested(copy.deepcopy(document))
    said, ours = stranger_says(document, table), verify_document(document, table)
    assert (said is None) == ours.verified, (said, ours.lines())
    return said


@pytest.mark.parametrize("case", [case for case in CASES if case != "far from 0"])
def test_the_evidence_is_the_least_over_the_null(case):
    """The bound at the best tilt is the infimum, found here over the means themselves."""
    hand = by_hand(**CASES[case])
    document = hand.made()
    rows = ask(hand.problem, hand.goal, DELTA, hand.rows, COLUMNS, [0, 0, 0]).rows
    proof = parse(document)
    contest = MeasuredBest(proof, rows, read_leaders(proof, ("measured",)))
    moments = read_moments(proof)
    for number, event in enumerate(hand.run.events):
        view = contest.view(moments[number], contest.compared(0), None)
        n, z, c = counted(hand, event.leader, event.own[0])
        assert math.isclose(view.n.low, n, rel_tol=1e-9)
        origin = float(sum(view.origins()))
        assert math.isclose(view.ahead.low + origin, z, abs_tol=1e-9)
        slack = float(proof.goal.slack()) if document["claims"][0][1] else 0.0
        near = next(row[5] or row[4] or row[6] for row in document["claims"] if row[0] == number)
        for selection in list(itertools.product(range(hand.sizes[event.rival]), repeat=hand.D))[:4]:
            box = tuple(
                (rank, rank + 1)
                for d, j in enumerate(selection)
                for rank in [view.ranked[d].index(j)]
            )
            for part in (0, 2):
                least = least_evidence(hand, event, selection, part, slack)
                tilts = near * np.geomspace(0.1, 40.0, 200)
                room = proof.goal.slack() if slack else 0
                best = max(view.bound(part, interval(float(y)), room, box) for y in tilts)
                assert best <= least + 1e-6
                assert best >= least - 0.02 * max(1.0, least)


@pytest.mark.parametrize("case", ["two dims", "two independent dims", "costs"])
def test_claims_hold_against_every_selection(case):
    """The least evidence of the parts that a claim has, weighed, reaches the level of its leader."""
    hand = by_hand(**CASES[case])
    for number, _, _, g, *rest in hand.made()["claims"]:
        event = hand.run.events[number]
        level = -math.log(DELTA * hand.run.shares[event.leader])
        parts = [g - 1 + k for k, y in enumerate(rest[:3]) if y]
        size = hand.sizes[event.rival]
        assert len(rest) == 3 or size > 1
        for selection in itertools.product(range(size), repeat=hand.D) if len(rest) == 3 else ():
            found = [least_evidence(hand, event, selection, part, 0.0) for part in parts]
            total = sum(
                GROUP_PRIOR[part] * math.exp(x) for part, x in zip(parts, found, strict=True)
            )
            assert math.log(total) >= level


def test_verifiers_have_the_prior_of_the_algorithm():
    theirs = importlib.import_module("proof_measured").Leaders.parts
    for exact, ours, other in zip(GROUP_PRIOR, measurements.GROUP_PRIOR, theirs, strict=True):
        assert ours.low <= exact <= ours.high
        assert exact == other
    assert sum(GROUP_PRIOR) == pytest.approx(1.0, abs=1e-15)


def test_thousands_of_measurements(tmp_path):
    hand = by_hand(2, plans=3000, dependence="independent")
    document, table = hand.made(), write(hand.rows, tmp_path / "rows.csv")
    assert len(document["method"]["measurements"][0]) > 1000
    accepted(document, table)


def changes():
    """Yield changes by which a document would say more than is so, by name."""

    def at(*path, to):
        def change(document):
            place = document
            for step in path[:-1]:
                place = place[step]
            old = place[path[-1]]
            place[path[-1]] = to(old) if callable(to) else to

        return change

    method = "method"
    return {
        "shares above 1": at(method, "leaders", 1, 3, to=0.4001),
        "a share of 0": at(method, "leaders", 0, 3, to=0.0),
        "a negative share": at(method, "leaders", 1, 3, to=-0.1),
        "a share in words": at(method, "leaders", 1, 3, to="all"),
        "no share": at(method, "leaders", 0, to=lambda own: own[:3]),
        "a group named twice": at(method, "leaders", 1, 0, to=0),
        "another group": at(method, "leaders", 0, 0, to=2),
        "no such group": at(method, "leaders", 0, 0, to=3),
        "no such arm": at(method, "leaders", 0, 1, 0, to=2),
        "fewer arms": at(method, "leaders", 0, 1, to=[0]),
        "named later": at(method, "leaders", 0, 2, 0, to=lambda own: [n + 30 for n in own]),
        "counts that fall": at(method, "leaders", 1, 2, 1, to=lambda own: [n - 1 for n in own]),
        "counts of fewer groups": at(method, "leaders", 0, 2, to=lambda own: own[:2]),
        "a value twice": at(method, "measurements", 0, 3, 1, to=lambda own: [n - 1 for n in own]),
        "a measurement twice": at(
            method, "measurements", 0, to=lambda own: [own[0], own[0], *own[1:]]
        ),
        "measurements turned": at(method, "measurements", 0, to=lambda own: own[::-1]),
        "before it was named": at(method, "measurements", 0, 0, 1, to=[0, 0]),
        "nothing new": at(method, "measurements", 0, 0, 2, to=lambda own: [n - 9 for n in own]),
        "values that are not there": at(method, "measurements", 0, -1, 2, to=[10**6, 10**6]),
        "an arm that is not there": at(method, "measurements", 0, 0, 0, to=[5, 5]),
        "a negative arm": at(method, "measurements", 0, 0, 0, to=[-1, -1]),
        "an arm too few": at(method, "measurements", 0, 0, 0, to=[0]),
        "a list too few": at(method, "measurements", to=lambda own: own[:1]),
        "a fraction of a pull": at(method, "measurements", 0, 0, 2, 0, to=lambda n: n + 0.5),
        "a longer prefix": at(method, "moments", 1, 2, to=lambda n: n + 1),
        "no measurement": at(method, "moments", 1, 2, to=0),
        "half a measurement": at(method, "moments", 1, 2, to=0.5),
        "too short a prefix": at(method, "moments", 1, 2, to=3),
        "the other leader": at(method, "moments", 0, 0, to=1),
        "itself as a rival": at(method, "moments", 0, 1, to=0),
        "fewer pulls of a rival": at(method, "moments", 1, 3, to=[2]),
        "a rival's pulls that are not there": at(method, "moments", 1, 3, to=[10**6]),
        "an older version": at("version", to=3),
        "another process": at(method, "process", "name", to="bets"),
        "a parameter fixed later": at(method, "process", "fixed_at", to=8),
        "other budgets": at(method, "budget", to="leaders"),
        "no budget": at(method, "budget", to=None),
        "all values": at(method, "budget", to="union"),
        "arms that depend": at("noise", "arms", to="arbitrary"),
        "less noise": at("noise", "dims", 0, to={"kind": "gaussian"}),
        "a range": at("noise", "dims", 0, to={"kind": "bounded", "low": -9.0, "high": 9.0}),
        "a part too many": at("claims", 0, 3, to=6),
        "another tilt": at("claims", 0, 5, to=lambda y: 9.0 * y),
        "bets": at("claims", 0, 2, to=1),
    }


@pytest.fixture(scope="module")
def two_dims(tmp_path_factory):
    hand = by_hand(2)
    return hand.made(), write(hand.rows, tmp_path_factory.mktemp("hand") / "rows.csv")


@pytest.mark.parametrize("name", changes())
def test_what_says_more_is_refused(name, two_dims):
    document, table = two_dims
    other = copy.deepcopy(document)
    changes()[name](other)
    assert refused(other, table) is not None


def test_two_counts_of_an_arm_are_refused(two_dims):
    document, table = copy.deepcopy(two_dims[0]), two_dims[1]
    own = document["method"]["measurements"][0]
    at = next(t for t, (arms, _, _) in enumerate(own) if arms[0] == arms[1])
    for place in (1, 2):
        other = copy.deepcopy(document)
        other["method"]["measurements"][0][at][place][0] -= 1
        assert "parameters" in refused(other, table)


def test_what_says_less_is_accepted(two_dims):
    """Shares may be left over, and a leader without claims may go."""
    document, table = copy.deepcopy(two_dims[0]), two_dims[1]
    for part in ("leaders", "measurements"):
        document["method"][part].pop()
    assert refused(document, table) is None
    document["method"]["leaders"][0][3] = 1
    assert refused(document, table) is None


def test_shares_that_rounding_takes_above_1_are_cut():
    leaders = [(i, [0], [[1]] * 3) for i in range(3)]
    run = Run(leaders, [0.1, 0.7, 0.2 + 1e-16], [[], [], []], [])
    assert sum(map(np.longdouble, run.shares)) > 1
    shares = [leader[3] for leader in measured_method(run, None)["leaders"]]
    assert math.fsum(shares) <= 1.0

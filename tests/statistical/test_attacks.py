"""Attacks on what is called proven: error rates where proofs are easiest to break; by `make verify`.

A rate counts as too high if the lower end of its 99.9 % interval exceeds delta.
"""

import numpy as np
import pytest
from scipy.stats import binomtest

import bestgroup as bg
from bestgroup.analysis.certify import certificate_from
from bestgroup.inference.evalues.normal import mixture_edge
from bestgroup.inference.tally import Tally

pytestmark = pytest.mark.verify
ARMS = 8
LOOKS = np.unique(np.geomspace(2, 2**17, 120).astype(int))
STEPS = np.sqrt(np.diff(LOOKS, prepend=0))


def report(label, errors, runs, delta):
    interval = binomtest(errors, runs).proportion_ci(0.999, "exact")
    print(
        f"{label}: {errors} errors in {runs} runs "
        f"(99.9 % interval {interval.low:.5f} to {interval.high:.5f}, delta {delta})"
    )
    return interval.low


def edges(delta, fixed, cache):
    """Return the sums at which a new group's best arm would be proven better, by number of groups."""

    def at(groups):
        if groups not in cache:
            first = (groups - 1) * ARMS + 1
            alpha = delta / (groups * (ARMS + 1)) if fixed else delta / (2 * first * (first + 1))
            cache[groups] = np.array([mixture_edge.compiled(float(n), alpha) for n in LOOKS])
        return cache[groups]

    return at


def add_until_better(rng, delta, fixed, edge, most=500):
    """Add groups a little worse than the first until that is proven out; returns whether it is.

    The first group is the only best one, and so well known that its bounds do not matter.
    """
    noise, goal = bg.SubGaussian(1.0, arms="arbitrary"), bg.BestGroup([1])
    counts, sums = [np.full(ARMS, 10**14)], [np.full(ARMS, 1e5)]
    for groups in range(2, most + 1):
        paths = np.cumsum(rng.standard_normal((ARMS, len(LOOKS))) * STEPS, axis=1)
        hits = np.argwhere(paths >= edge(groups))
        at = hits[:, 1].min() if len(hits) else len(LOOKS) - 1
        counts.append(np.full(ARMS, LOOKS[at]))
        sums.append(paths[:, at])
        if len(hits):
            names = {f"g{i}": [f"a{j}" for j in range(ARMS)] for i in range(groups)}
            tally = Tally(
                np.array(counts), np.array(sums)[:, :, None], np.zeros((groups, ARMS, 1, 0))
            )
            came = None if fixed else [(i, j) for i in range(groups) for j in range(ARMS)]
            problem = bg.Problem(names, {"x": "max"}, noise)
            if "g0" in certificate_from(tally, problem, goal, delta, (), None, came).rejected:
                return True
    return False


def test_groups_added_until_one_is_better():
    """Without the assumption of fixed arms the shares by order of appearance keep delta."""
    delta, runs = 0.3, 900
    for fixed in (True, False):
        rng, edge = np.random.default_rng(5), edges(delta, fixed, {})
        errors = sum(add_until_better(rng, delta, fixed, edge) for _ in range(runs))
        label = "arms taken as fixed, which they are not" if fixed else "arms as they came"
        low = report(f"groups added until one is better, {label}", errors, runs, delta)
        assert (low > delta) if fixed else (low <= delta)


def table(rng, means, sizes, offset=0.0):
    """Return a table of groups of one arm, by columns."""
    names = [f"g{i}" for i, n in enumerate(sizes) for _ in range(n)]
    drawn = [rng.normal(offset + mean, 1.0, n) for mean, n in zip(means, sizes, strict=True)]
    return {"group": names, "arm": ["a"] * len(names), "x": np.concatenate(drawn)}


@pytest.mark.parametrize("arms", ["independent", "arbitrary"])
def test_the_only_best_group_at_an_epsilon_boundary(arms):
    """A well-known group within epsilon of the best, which few rows speak of: the best is not out."""
    runs, delta, errors = 200, 0.05, 0
    goal = bg.BestGroup([1], epsilon=0.2)
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0, arms=arms))
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        counts = np.array([[10**6], [3_000]])
        sums = rng.normal(counts * [[0.50], [0.55]], np.sqrt(counts))[:, :, None]
        tally = Tally(counts, sums, np.zeros((2, 1, 1, 0)))
        found = certificate_from(tally, problem, goal, delta)
        errors += "B" in found.rejected
    low = report(f"best group within epsilon, {arms} arms", errors, runs, delta)
    assert low <= delta


@pytest.mark.parametrize("offset", [0.0, 1e9, 7657519671075.258, 1e13])
def test_offsets(offset):
    """The wrong one of two groups that differ by half a scale is not proven at any offset."""
    runs, delta, errors, right = 200, 0.05, 0, 0
    for seed in range(runs):
        # Sizes that differ: plain sums would go wrong by what each of them rounds to.
        rows = table(np.random.default_rng(seed), [0.0, 0.5], [300, 20_000], offset)
        found = bg.certify(rows, bg.BestGroup([1]), noise=bg.SubGaussian(1.0), delta=delta)
        errors += "g0" in found.accepted or "g1" in found.rejected
        right += "g1" in found.accepted
    low = report(f"offset {offset:g}, right in {right}", errors, runs, delta)
    assert low <= delta and right > 0.9 * runs


def test_equal_values_under_unknown_variance():
    """Ratings that are 1 or 5 are not normal: arms whose values are all equal prove nothing."""
    runs, delta, errors = 400, 0.05, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        rows = []
        for group, share in (("A", 0.85), ("B", 0.80), ("C", 0.80)):
            values = np.where(rng.random(14) < share, 5.0, 1.0)
            rows += [{"group": group, "arm": "x", "y": v} for v in values]
        found = bg.certify(rows, bg.BestGroup([1]), noise=bg.Gaussian(), delta=delta)
        errors += "A" in found.rejected or bool(set("BC") & set(found.accepted))
        tied = any("normal values never tie" in note for note in found.notes)
        assert tied
    low = report("ratings of 1 or 5 taken for normal", errors, runs, delta)
    assert low <= delta


@pytest.mark.parametrize("noise", [bg.SubGaussian(1.0), bg.SubGaussian(1.0, arms="arbitrary")])
def test_ties(noise):
    """Equal groups: each is Pareto optimal, so none may be out, at any time one looks."""
    runs, delta, errors = 300, 0.1, 0
    looks = np.unique(np.geomspace(4, 4_000, 30).astype(int))
    problem = bg.Problem({"A": ["a"], "B": ["b"], "C": ["c"]}, {"x": "max", "y": "max"}, noise)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        steps = np.sqrt(np.diff(looks, prepend=0))[:, None, None]
        paths = np.cumsum(rng.standard_normal((len(looks), 3, 1)) * steps, axis=0)
        for k, n in enumerate(looks):  # both dims share their noise: the hardest case
            sums = np.repeat(paths[k][:, :, None], 2, axis=2)
            tally = Tally(np.full((3, 1), n), sums, np.zeros((3, 1, 2, 0)))
            if certificate_from(tally, problem, bg.ParetoGroups(0.0), delta).rejected:
                errors += 1
                break
    low = report(f"three equal groups, {noise.arms} arms, 30 looks", errors, runs, delta)
    assert low <= delta


@pytest.mark.parametrize("name", ["te", "te-plus", "adaptive", "eecb"])
def test_decisions_of_runs_that_are_capped(name):
    """Groups that tie for ever, dims with one noise: what is decided before the cap is right."""
    law = bg.laws.FullyDependent(1.0)
    tied = [[[0.5, 0.5]], [[0.5, 0.5]], [[0.2, 0.2]]]
    goal = bg.ParetoGroups(0.0)
    if name == "eecb":
        tied, goal = [[[0.5]], [[0.499]], [[0.2]]], bg.BestGroup([1])
    sim = bg.simulate(
        bg.Instance(tied, law=law if name != "eecb" else bg.laws.Normal(1.0)),
        goal,
        name,
        0.1,
        2_000,
        3,
        max_pulls=20_000,
        engine="exact" if name == "adaptive" else "auto",
        progress=False,
    )
    decided = int((sim.status != 0).any(axis=1).sum())
    label = f"capped runs, {name}, something decided in {decided}, ended {int(sim.finished.sum())}"
    assert report(label, sim.errors, sim.runs, sim.delta) <= sim.delta
    assert decided > 100

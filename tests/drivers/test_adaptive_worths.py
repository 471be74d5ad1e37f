"""`adaptive` with limits and other worths: the naive judge, both bodies, permutations, shifts."""

from collections import Counter

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.worths.state import PROVING
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.session import LiveSession
from bestgroup.inference.confidence_sequences.boxes import box
from bestgroup.inference.evalues.normal import pair_evidence
from bestgroup.problem.measure import Asked, measure_of
from bestgroup.problem.shape import Shape
from reference import worths_naive as naive
from tapes import tape_seeds

WORTHS = ("best", "mean", "worst", ("kth", 2), ("quantile", 0.4))


class Case:
    """A random tape with limits or a worth, and what is asked."""

    def __init__(self, seed, shift=0.0):
        rng = np.random.default_rng(seed)
        self.sizes = rng.integers(2, 4, rng.integers(2, 4)).tolist()
        self.D, extra = int(rng.integers(1, 3)), int(rng.integers(0, 2))
        self.worth = WORTHS[rng.integers(len(WORTHS))]
        dims = self.D + extra
        self.limits = []
        if self.worth in ("best", ("kth", 2)):
            for d in [*range(self.D, dims), *rng.integers(0, dims, 1 - extra)]:
                sense = "<=" if rng.random() < 0.5 else ">="
                self.limits.append((int(d), sense, 0.5, float(rng.choice([0.0, 0.125]))))
        elif extra:
            dims = self.D
        self.dims = dims
        means = [rng.random((size, dims)) for size in self.sizes]
        noise = [rng.normal(0, 0.25, (3000, size, dims)) for size in self.sizes]
        # Steps of 2^-20, so that a shift of 64 loses nothing.
        self.tape = [
            np.round((m + e) * 2**20) / 2**20 + shift for m, e in zip(means, noise, strict=True)
        ]
        self.goal = bg.ParetoGroups(0.0625)
        if rng.random() < 0.5:
            self.goal = bg.BestGroup((0.5 + rng.random(self.D)).tolist(), 0.0625)
        self.shift = shift
        arms = "independent" if rng.random() < 0.5 else "arbitrary"
        self.noise = bg.SubGaussian(0.25, arms=arms)

    @property
    def asked(self):
        require = {}
        for d, sense, at, slack in self.limits:
            require.setdefault(f"dim {d}", []).append((sense, at + self.shift, slack))
        watch = [f"dim {d}" for d in range(self.D, self.dims)]
        return {"require": require, "worth": self.worth, "watch": watch}

    def setting(self):
        shape = Shape(tuple(self.sizes), self.dims)
        names = [f"dim {d}" for d in range(self.dims)]
        groups = [f"group {i}" for i in range(shape.groups)]
        measure = measure_of(names, groups, shape, Asked(**self.asked))[1]
        return Setting(shape, self.goal, self.noise, 0.1, measure=measure)

    def replay(self, compiled, tape=None):
        return bg.replay(
            self.tape if tape is None else tape,
            self.goal,
            "adaptive",
            0.1,
            noise=self.noise,
            compiled=compiled,
            **self.asked,
        )


@pytest.mark.parametrize("seed", range(10))
def test_decisions_are_those_of_the_naive_judge(seed):
    if why := judge_every_step(seed):
        pytest.skip(why)


@pytest.mark.verify
def test_decisions_are_those_of_the_naive_judge_on_thousands_of_tapes():
    whys = Counter(judge_every_step(seed) for seed in tape_seeds(10, 3000))
    judged = whys.pop("", 0)
    print(
        f"limits and worths: {judged:,} random tapes, no other decision at any step; {dict(whys)}"
    )
    assert judged > whys.total()


def judge_every_step(seed):
    """Compare a run with the naive judge; returns why the tape does not tell, if it does not."""
    case = Case(seed)
    setting = case.setting()
    if setting.measure is None:
        return "neither a limit nor another worth"
    session = LiveSession(setting, bg.algorithm("adaptive"))
    session.compile()
    for i, rows in enumerate(case.tape):
        for j in range(case.sizes[i]):
            session.feed(i, j, 0, np.ascontiguousarray(rows[:, j]))
    rule, sums = session.rule, [np.cumsum(rows, axis=0) for rows in case.tape]
    if rule.sums:
        return "bounds of sums over groups are none of boxes"
    low = [[[-np.inf] * case.dims for _ in range(size)] for size in case.sizes]
    high = [[[np.inf] * case.dims for _ in range(size)] for size in case.sizes]
    shape, measure = setting.shape, setting.measure
    judge = BoxJudge(case, rule, measure, shape) if not rule.pairs else PairJudge(case, rule, shape)
    while session.advance(1):
        counts = session.counts
        for i, size in enumerate(case.sizes):
            for j in range(size):
                n = int(counts[i][j])
                for d in range(case.dims):
                    a, b = box(rule.box, float(n), sums[i][n - 1, j, d], np.zeros(0), d)
                    low[i][j][d], high[i][j][d] = max(low[i][j][d], a), min(high[i][j][d], b)
        judge.look(low, high, counts, sums)
        words = [("undecided", "in", "out")[k] for k in session.state.status]
        assert words == judge.decided
        # When the warm-up ends is free; what follows from it is not.
        if rule.pairs and judge.warm is None and session.state.phase[0] == PROVING:
            judge.begin(counts)
    return "" if session.done else "the tape is too short"


class BoxJudge:
    """Decides by boxes; what is decided stays."""

    def __init__(self, case, rule, measure, shape):
        self.case, self.rule, self.measure, self.shape = case, rule, measure, shape
        self.decided = ["undecided"] * shape.groups

    def look(self, low, high, counts, sums):
        weights, eps = getattr(self.case.goal, "weights", None), self.case.goal.epsilon
        dims, limits = self.measure.dims, [tuple(bound) for bound in self.measure.bounds]
        slack = [eps] * dims if weights is None else eps
        ranks = self.measure.ranks(self.shape)
        status = naive.statuses(low, high, limits, ranks, dims, slack, weights)
        for i, word in enumerate(status):
            if self.decided[i] == "undecided" and word in ("in", "out"):
                self.decided[i] = word


class PairJudge:
    """Decides by sets of proven comparisons of arms, and of arms that count or are barred."""

    def __init__(self, case, rule, shape):
        self.case, self.rule, self.shape = case, rule, shape
        self.decided = ["undecided"] * shape.groups
        self.gone = set()  # groups of which all arms are barred
        self.near, self.over = set(), set()
        self.counted, self.barred = set(), set()
        self.arms = [(i, j) for i, size in enumerate(case.sizes) for j in range(size)]
        self.warm, self.before = None, {}

    def begin(self, counts):
        """Fix the shares; evidence counts from now on."""
        tape, rule = self.case.tape, self.rule
        self.before = {(i, j): int(counts[i][j]) for i, j in self.arms}
        first = {(i, j): tape[i][: self.before[i, j], j] for i, j in self.arms}
        self.warm = naive.WarmUp(first, rule.limits, rule.epsilon, rule.box.scale, 0.1)
        self.cumulated = [np.cumsum(rows, axis=0) for rows in tape]

    def since(self, arm, counts, d):
        """Return how many pulls since the warm-up an arm has, and their mean."""
        (i, j), n = arm, int(counts[arm[0]][arm[1]])
        total = self.cumulated[i][n - 1, j, d] - self.cumulated[i][self.before[arm] - 1, j, d]
        n -= self.before[arm]
        return float(n), total / n if n else 0.0

    def look(self, low, high, counts, sums):
        D, N = len(self.rule.epsilon), self.shape.groups
        for i, j in self.arms:
            if (i, j) not in self.counted | self.barred:
                ends = [
                    sorted((s * (low[i][j][int(d)] - at), s * (high[i][j][int(d)] - at)))
                    for d, s, at, _ in self.rule.limits
                ]
                if all(
                    most <= row[3] for (_, most), row in zip(ends, self.rule.limits, strict=True)
                ):
                    self.counted.add((i, j))
                elif any(least > 0 for least, _ in ends):
                    self.barred.add((i, j))
        for i in range(N):
            left = [arm for arm in self.arms if arm[0] == i and arm not in self.barred]
            if not left and self.decided[i] == "undecided":
                self.decided[i] = "out"
                self.gone.add(i)
        mean = {(i, j): sums[i][counts[i][j] - 1, j] / counts[i][j] for i, j in self.arms}
        for i in range(N):
            for j in set(range(N)) - {i} - self.gone if self.warm else ():
                self.compare(i, j, D, mean, low, high, counts)
        for j in range(N):
            if self.decided[j] == "undecided":
                if any(self.has(i) and self.is_over(i, j, D) for i in range(N) if i != j):
                    self.decided[j] = "out"
        safe = [
            i
            for i in range(N)
            if self.decided[i] == "undecided"
            and self.has(i)
            and all(self.is_near(i, j, D) for j in set(range(N)) - {i} - self.gone)
        ]
        if safe and not self.rule.pareto:
            seem = {i: max(mean[a][0] for a in self.counted if a[0] == i) for i in safe}
            safe = safe if len(safe) == 1 else [max(safe, key=lambda i: seem[i])]
        for i in safe:
            self.decided[i] = "in"

    def has(self, i):
        return any(arm[0] == i for arm in self.counted)

    def rest(self, j):
        return [arm for arm in self.arms if arm[0] == j and arm not in self.barred]

    def is_near(self, i, j, D):
        return any(all((i, k, d) in self.near for k in self.rest(j)) for d in range(D))

    def is_over(self, i, j, D):
        return all((i, k, d) in self.over for k in self.rest(j) for d in range(D))

    def compare(self, i, j, D, mean, low, high, counts):
        seek_near = self.decided[i] == "undecided" and not self.is_near(i, j, D)
        seek_over = self.decided[j] == "undecided"
        own = [arm for arm in self.arms if arm[0] == i and arm in self.counted]
        wide = {
            arm: [(high[arm[0]][arm[1]][d] - low[arm[0]][arm[1]][d]) / 2 for d in range(D)]
            for arm in self.arms
        }
        for d in range(D) if own else ():
            m = max(own, key=lambda arm: mean[arm][d])
            for k in self.rest(j):
                gap, eps = mean[m][d] - mean[k][d], self.rule.epsilon[d]
                least = 0.5 * np.hypot(wide[m][d], wide[k][d])
                if seek_near and gap + eps >= least:
                    if self.proves(m, k, d, eps, counts, self.warm.near_level(m, j, d)):
                        self.near.add((i, k, d))
                if seek_over and gap >= least:
                    if self.proves(m, k, d, 0.0, counts, self.warm.over_level(m, j, d)):
                        self.over.add((i, k, d))

    def proves(self, m, k, d, shift, counts, level):
        """Return whether evidence that arm m, plus the shift, is above arm k reaches a level."""
        scale, (n_a, mean_a), (n_b, mean_b) = (
            self.rule.box.scale[d],
            self.since(m, counts, d),
            self.since(k, counts, d),
        )
        gap = (mean_a - mean_b + shift) / scale
        if not (n_a and n_b and gap > 0):
            return False
        q = self.warm.precision(m, k, d, shift / scale)
        return pair_evidence(gap, n_a, n_b, q, q) >= level


@pytest.mark.parametrize("seed", range(6))
def test_plain_and_compiled_bodies_agree_and_a_live_session_does_the_same(seed):
    case = Case(seed)
    short = [rows[:400] for rows in case.tape]
    runs = []
    for compiled in (False, True):
        try:
            trace = case.replay(compiled, short)
            runs.append((trace.answer, [counts.tolist() for counts in trace.pulls_by_arm]))
        except bg.InvalidInput as error:
            runs.append(str(error))
    assert runs[0] == runs[1]
    if isinstance(runs[0], str):
        return
    live = LiveSession(case.setting(), bg.algorithm("adaptive"))
    while not live.done:
        for pulls, end in list(live.wanted()):
            values = case.tape[pulls.group][pulls.first : end, pulls.arm]
            live.tell(pulls.group, pulls.arm, pulls.first, values)
    assert (live.answer(), [counts.tolist() for counts in live.counts]) == runs[0]


@pytest.mark.parametrize("seed", range(6))
def test_permutations_and_shifts_change_nothing(seed):
    case = Case(seed)
    try:
        trace = case.replay(True)
    except bg.InvalidInput:
        pytest.skip("the tape is too short")
    moved = Case(seed, shift=64.0)
    assert moved.replay(True).answer == trace.answer
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(case.sizes))
    inside = [rng.permutation(case.sizes[i]) for i in order]
    turned = [case.tape[i][:, own] for i, own in zip(order, inside, strict=True)]
    other = case.replay(True, turned)
    assert {int(order[i]) for i in other.answer} == set(trace.answer)
    counts = [
        c[own].tolist()
        for c, own in zip([trace.pulls_by_arm[i] for i in order], inside, strict=True)
    ]
    assert [c.tolist() for c in other.pulls_by_arm] == counts


def test_no_group_is_an_answer_where_none_keeps_the_limit():
    instance = bg.Instance(
        [[[0.5, 2.0], [0.7, 3.0]], [[0.9, 2.5]]],
        bg.laws.Normal(0.2),
        bg.SubGaussian(0.2),
        dims=["right", "seconds"],
        require={"seconds": ("<=", 1.0)},
        watch=["seconds"],
    )
    for goal in (bg.ParetoGroups(0.1), bg.BestGroup([1], 0.1)):
        found = bg.simulate(instance, goal, "auto", delta=0.1, runs=5)
        assert found.answers == [frozenset()] * 5 and found.correct.all() and not found.errors
        assert bg.optimal_groups(instance, goal) == frozenset()


def test_an_arm_that_breaks_a_limit_needs_no_more_pulls_than_that_takes():
    instance = bg.Instance(
        [[[0.9, 3.0], [0.5, 0.5]], [[0.2, 0.5]]],
        bg.laws.Normal(0.2),
        bg.SubGaussian(0.2),
        dims=["right", "seconds"],
        require={"seconds": ("<=", 1.0)},
        watch=["seconds"],
    )
    found = bg.simulate(instance, bg.BestGroup([1]), "adaptive", delta=0.1, runs=20)
    assert found.correct.all()
    assert found.counts[:, 0, 0].mean() < 10 < found.counts[:, 0, 1].mean()


@pytest.mark.parametrize("noise", [bg.Bernoulli(), bg.Bounded(0, 1), bg.Gaussian()])
@pytest.mark.parametrize("worth", ["worst", "mean"])
def test_every_noise_model_works(noise, worth):
    law = bg.laws.Normal(0.2) if isinstance(noise, bg.Gaussian) else bg.laws.Bernoulli()
    means = [[[0.9], [0.8]], [[0.2], [0.3]]]
    instance = bg.Instance(means, law, noise, worth=worth)
    found = bg.simulate(instance, bg.BestGroup([1]), "auto", delta=0.1, runs=3)
    assert found.answers == [frozenset({0})] * 3


def test_theory_says_what_it_does_not_know():
    instance = bg.Instance([[[0.9]], [[0.2]]], worth="mean")
    asked = ((bg.gaps, ()), (bg.lower_bound, (0.1,)), (bg.upper_bound, (0.1,)))
    for ask, rest in (*asked, (bg.characteristic_time, ())):
        with pytest.raises(bg.InvalidInput, match="not known with limits"):
            ask(instance, bg.BestGroup([1]), *rest)
    table = bg.plan(instance, bg.BestGroup([1]), epsilons=[0.1], deltas=[0.1], runs=3)
    assert table.rows[0].mean > 0 and table.rows[0].limit is None

"""`adaptive` with limits and other worths: the naive judge, both bodies, permutations, shifts."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.worths.algorithm import AdaptiveWorths
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.session import LiveSession
from bestgroup.inference.confidence_sequences.boxes import box
from bestgroup.problem.measure import Asked, measure_of
from bestgroup.problem.shape import Shape
from reference import worths_naive as naive

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


@pytest.mark.parametrize(
    "seed", [*range(10), *(pytest.param(s, marks=pytest.mark.verify) for s in range(10, 1010))]
)
def test_decisions_are_those_of_the_naive_judge(seed):
    case = Case(seed)
    try:
        trace = case.replay(True)
    except bg.InvalidInput as error:
        assert "tape" in str(error)  # it ended before the run did
        pytest.skip("the tape is too short")
    shape = Shape(tuple(case.sizes), case.dims)
    names = [f"dim {d}" for d in range(case.dims)]
    groups = [f"group {i}" for i in range(shape.groups)]
    measure = measure_of(names, groups, shape, Asked(**case.asked))[1]
    if measure is None:
        pytest.skip("neither a limit nor another worth")
    setting = Setting(shape, case.goal, case.noise, 0.1, measure=measure)
    rule = AdaptiveWorths().rule(setting)
    sums = [np.cumsum(rows, axis=0) for rows in case.tape]
    wide = [[[-np.inf] * case.dims for _ in range(size)] for size in case.sizes]
    low, high = wide, [[[np.inf] * case.dims for _ in range(size)] for size in case.sizes]
    limits = [tuple(bound) for bound in measure.bounds]
    eps = case.goal.epsilon
    weights = getattr(case.goal, "weights", None)
    decided = ["undecided"] * shape.groups
    counts = [np.zeros(size, int) for size in case.sizes]
    for step in trace.rounds:
        for i, size in enumerate(case.sizes):
            counts[i] = counts[i] + step.pulled[i]
            for j in range(size):
                n = int(counts[i][j])
                for d in range(case.dims):
                    a, b = box(rule.box, float(n), sums[i][n - 1, j, d], np.zeros(0), d)
                    low[i][j][d], high[i][j][d] = max(low[i][j][d], a), min(high[i][j][d], b)
        if rule.sums:
            continue
        status = naive.statuses(
            low,
            high,
            limits,
            measure.ranks(shape),
            measure.dims,
            [eps] * measure.dims if weights is None else eps,
            weights,
        )
        for i, word in enumerate(status):
            if decided[i] == "undecided" and word in ("in", "out"):
                decided[i] = word
        if weights is None:
            assert step.accepted.tolist() == [word == "in" for word in decided]
    if not rule.sums:
        assert trace.answer == {i for i, word in enumerate(decided) if word == "in"}


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
    shape = Shape(tuple(case.sizes), case.dims)
    names = [f"dim {d}" for d in range(case.dims)]
    groups = [f"group {i}" for i in range(shape.groups)]
    measure = measure_of(names, groups, shape, Asked(**case.asked))[1]
    setting = Setting(shape, case.goal, case.noise, 0.1, measure=measure)
    live = LiveSession(setting, bg.algorithm("adaptive"))
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

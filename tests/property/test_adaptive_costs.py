"""What costs change in the adaptive algorithm, and what they must not change."""

import hashlib
import json

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.best.costs import best_for_price
from bestgroup.algorithms.registry import pinned
from bestgroup.drivers.bodies import bodies
from bestgroup.drivers.exact.driver import run_once
from bestgroup.drivers.replay import consume
from bestgroup.inference.tally import empty_tally

INSTANCES = {
    "A": bg.Instance.random(5, 5, 2, 2, 0.05, 1),
    "B": bg.Instance(
        [
            [[1.0, 0.0, 0.3], [0.2, 0.4, 0.8]],
            [[0.3, 0.8, 0.1]],
            [[0.1, 0.1, 0.6], [0.0, 0.3, 0.9], [0.4, 0.2, 0.2]],
        ]
    ),
}
GOALS = {
    ("pareto", "A"): bg.ParetoGroups(0.1),
    ("pareto", "B"): bg.ParetoGroups(0.2),
    ("best", "A"): bg.BestGroup([1.0, 2.0]),
    ("best", "B"): bg.BestGroup([1.0, 2.0, 0.5], epsilon=0.05),
}
# Pulls in all and a digest of the counts of two runs, recorded before costs steered anything but
# the split of pulls within a pair: goal, instance, batch. The one of A for Pareto groups is from when
# the floor of pulls became a share of the average. Version 5 has them still.
RECORDED = {
    ("pareto", "B", "0.01"): [(1086, "311ee0582a"), (1132, "1f14d53d63")],
    ("pareto", "B", "1"): [(1085, "2b13490074"), (1127, "baca1c77d9")],
    ("pareto", "B", "5"): [(1088, "aa1805e66f"), (1183, "35049a2b15")],
    ("pareto", "B", "boxes"): [(2703, "efa65a87c4"), (1831, "8169406374")],
    ("pareto", "A", "0.01"): [(31889, "26e10e2dcd"), (53097, "0dd1602f4b")],
    ("best", "B", "0.01"): [(4452, "86d64f30ca"), (1398, "6b85d5cb15")],
    ("best", "B", "1"): [(4377, "c78eb9953d"), (1414, "9e5790a4ed")],
    ("best", "B", "5"): [(4428, "760b7657e1"), (1379, "b2bc8479b0")],
    ("best", "B", "boxes"): [(7306, "0f92522b67"), (10630, "5596f11dda")],
    ("best", "A", "0.01"): [(241402, "e36e7fa164"), (365946, "8898f69138")],
}


def counts_of(goal, name, kind, run, costs=None, engine="steps", version=6):
    instance = INSTANCES[name]
    arms, batch = ("arbitrary", 0.05) if kind == "boxes" else ("independent", json.loads(kind))
    setting = bg.Setting(
        instance.shape, GOALS[goal, name], bg.SubGaussian(1.0, arms=arms), 0.05, costs
    )
    algorithm = pinned("adaptive", version, {"batch": batch})
    return run_by(engine, instance, setting, algorithm, (7, run))[1]


def run_by(engine, instance, setting, algorithm, key):
    """Return answer and counts of a run; "steps" has one plan and one step at a time.

    Its kernels are those of the tests against the naive reference, while each loop of the exact engine
    is compiled for itself.
    """
    if engine == "exact":
        run = run_once(instance, setting, algorithm, key, 10**8)
        return run.answer, run.counts
    tape, rule = bg.Tape.draw(instance, 12_000, seed=key[0], run=key[1]), algorithm.rule(setting)
    state, keep = algorithm.init(rule), algorithm.statistics(setting)
    summed = len(keep.weights) > 0
    tally = empty_tally(*rule.exists.shape, instance.shape.dims, keep.start, summed)
    plan, step = bodies(algorithm, rule, True)
    while not algorithm.is_done(state, rule):
        consume(tape, tally, plan(state, tally, rule))
        step(state, tally, rule)
    return algorithm.answer(state, rule), tally.counts


def table(name, rng):
    return tuple(tuple(10.0 ** rng.random(size)) for size in INSTANCES[name].shape.sizes)


@pytest.mark.parametrize("case", RECORDED)
def test_equal_costs_change_nothing(case):
    """Nor do the units of costs: each second run has a cost of 7 everywhere."""
    sizes = INSTANCES[case[1]].shape.sizes
    for run, (pulls, digest) in enumerate(RECORDED[case]):
        costs = tuple((7.0,) * size for size in sizes) if run == 1 else None
        engine = "steps" if case[1] == "B" else "exact"
        counts = counts_of(case[0], case[1], case[2], run, costs, engine, version=5).tolist()
        assert sum(map(sum, counts)) == pulls
        assert hashlib.sha256(json.dumps(counts).encode()).hexdigest()[:10] == digest
    alike = tuple((7.0,) * size for size in sizes)
    for version in (6, 7):
        one, other = (counts_of(*case[:3], 1, costs, engine, version) for costs in (None, alike))
        assert (one == other).all()


@pytest.mark.parametrize("goal", ["pareto", "best"])
@pytest.mark.parametrize("kind", ["0.01", "boxes"])
@pytest.mark.parametrize("version", [6, 7])
def test_units_of_costs_do_not_matter(goal, kind, version):
    costs = table("B", np.random.default_rng(3))
    scaled = tuple(tuple(8.0 * cost for cost in row) for row in costs)
    one, other, exact = (
        counts_of(goal, "B", kind, 0, given, engine, version)
        for given, engine in ((costs, "steps"), (scaled, "steps"), (costs, "exact"))
    )
    assert (one == other).all()
    if kind != "boxes":
        assert (one == exact).all()
    assert (one != counts_of(goal, "B", kind, 0, version=version)).any()


TWINS = [[[0.6, 0.6], [0.61, 0.61]], [[0.0, 0.0]]]


@pytest.mark.parametrize("goal", [bg.ParetoGroups(0.1), bg.BestGroup([1.0, 1.0])])
@pytest.mark.parametrize("arms", ["independent", "arbitrary"])
def test_the_cheap_one_of_two_like_arms_serves(goal, arms):
    """The dear twin is hardly pulled, though it is a little better."""
    instance = bg.Instance(TWINS)
    noise = bg.SubGaussian(1.0, arms=arms)
    spent = {}
    for label, costs in (("ignored", None), ("known", ((1.0, 10.0), (1.0,)))):
        setting = bg.Setting(instance.shape, goal, noise, 0.05, costs)
        engine = "exact" if arms == "independent" else "steps"
        done = [
            run_by(engine, instance, setting, bg.algorithm("adaptive"), (5, k)) for k in range(8)
        ]
        assert all(answer == {0} for answer, _ in done)
        spent[label] = np.mean([counts for _, counts in done], axis=0)
    assert spent["known"][0, 1] < 0.5 * spent["known"][0, 0]
    prices = np.array([[1.0, 10.0], [1.0, 0.0]])
    assert (spent["known"] * prices).sum() < 0.75 * (spent["ignored"] * prices).sum()


def test_best_for_price_finds_the_largest_ratio():
    rng = np.random.default_rng(8)
    for _ in range(200):
        size, dims = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        value, price = rng.random((5, dims)), 0.1 + rng.random((5, dims))
        ahead, toll = float(rng.normal()), float(rng.random())
        first = value[:size].argmax(axis=0)
        found = first.copy()
        best_for_price(value, price, size, ahead, toll, found)
        if ahead + value[first, range(dims)].sum() <= 0:
            assert (found == first).all()
            continue
        every = np.stack(np.meshgrid(*[range(size)] * dims, indexing="ij"), axis=-1)
        picks = every.reshape(-1, dims)
        tops = ahead + value[picks, range(dims)].sum(axis=1)
        ratios = tops / (toll + price[picks, range(dims)].sum(axis=1))
        ratio = (ahead + value[found, range(dims)].sum()) / (toll + price[found, range(dims)].sum())
        assert ratio == pytest.approx(ratios.max())


def test_boxes_without_an_upper_end_keep_their_arms():
    """With an unknown variance the first boxes are infinite; costs must not break that."""
    instance = bg.Instance(TWINS)
    algorithm = bg.algorithm("adaptive", batch=1)
    costs = ((1.0, 10.0), (3.0,))
    setting = bg.Setting(instance.shape, bg.BestGroup([1.0, 1.0]), bg.Gaussian(), 0.05, costs)
    rule = algorithm.rule(setting)
    state = algorithm.init(rule)
    tally = empty_tally(2, 2, 2, rule.box.start, len(rule.box.weights) > 0)
    tally.counts[:] = [[1, 1], [1, 0]]
    tally.sums[:] = [[[0.5, 0.5], [0.6, 0.6]], [[0.0, 0.0], [0.0, 0.0]]]
    algorithm.step(state, tally, rule)
    assert algorithm.plan(state, tally, rule).sum() == 1

"""Maps of weights on shared items."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.algorithms.registry import algorithm as make
from bestgroup.drivers.bodies import bodies
from bestgroup.drivers.exact.items import Order, run_table
from bestgroup.inference.evalues.paired import ladder, lower_mean
from bestgroup.inference.tally import empty_tally

GROUPS = ["A", "A", "B", "C"]


def table_of(n, seed, binary=False):
    """Return values of four arms that share how hard an item is."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(-1, 1, size=(1, 4, 2))
    noise = rng.normal(size=(n, 1, 2)) + 0.5 * rng.normal(size=(n, 4, 2))
    values = 1 / (1 + np.exp(-(skill + noise)))
    return (values > 0.5).astype(float) if binary else np.round(values, 3)


def run(instance, goal, key, compiled):
    """Return the state and the tally after a run by hand."""
    algorithm, shape = make("adaptive", batch=0.2), instance.shape
    rule = algorithm.rule(Setting.for_instance(instance, goal, 0.1))
    state, order = algorithm.init(rule), Order(instance, key).order
    tally = empty_tally(shape.groups, shape.arms, shape.dims, np.zeros(len(order)))
    starts = np.concatenate([[0], np.cumsum(shape.sizes)])
    plan, step = bodies(algorithm, rule, compiled)
    while not algorithm.is_done(state, rule):
        pulls = plan(state, tally, rule)
        if not pulls.any():
            assert algorithm.is_stuck(state, rule)
            break
        for i, j in np.argwhere(pulls):
            for _ in range(pulls[i, j]):
                t = tally.counts[i, j]
                value = instance.table[order[t], starts[i] + j]
                tally.extra[i, j, :, t] = value
                tally.sums[i, j] += value
                tally.counts[i, j] += 1
        state = step(state, tally, rule)
    return algorithm.answer(state, rule), state, tally


@pytest.mark.parametrize("kind", ["pool", "population"])
def test_plain_compiled_and_driver_agree_and_boxes_are_those_of_a_bisection(kind):
    goal = bg.WeightMap(epsilon=0.1)
    instance = bg.Instance.from_table(table_of(50, 1), GROUPS, kind)
    answer, state, tally = run(instance, goal, (3, 0), False)
    again = run(instance, goal, (3, 0), True)
    assert again[0] == answer and (again[2].counts == tally.counts).all()
    assert (again[1].map.bound == state.map.bound).all()
    setting = Setting.for_instance(instance, goal, 0.1)
    driven = run_table(instance, setting, make("adaptive", batch=0.2), (3, 0), 10**9)
    assert driven[0] == answer and (driven[1] == tally.counts).all()
    pool, need = 50 if kind == "pool" else 0, 2 * (4 + 3) / 0.1
    for (i, j), n in np.ndenumerate(tally.counts):
        n = int(state.map.boxed[i, j])
        if not n or n == pool:
            continue
        for d in range(2):
            values = tally.extra[i, j, d, :n] - 0.5
            low = 0.5 + lower_mean.compiled(ladder(pool), values, 0.5 * (1 + 1e-12), need)
            high = 0.5 - lower_mean.compiled(ladder(pool), -values, 0.5 * (1 + 1e-12), need)
            # A coarser bisection proves no more than a fine one, and earlier looks may have proven more.
            assert state.map.low[i, j, d] <= values.mean() + 0.5 <= state.map.high[i, j, d]
            assert low - state.map.low[i, j, d] <= 2.0**-13
            assert state.map.high[i, j, d] - high <= 2.0**-13


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_a_pool_ends_within_the_table_ties_included(epsilon):
    for seed in range(3):
        table = table_of(12, seed, seed == 1)
        if seed == 2:
            table[:, 3] = table[::-1, 2]  # two groups with equal means
        instance = bg.Instance.from_table(table, GROUPS)
        sim = bg.simulate(instance, bg.WeightMap(epsilon=epsilon), "adaptive", 0.05, runs=10)
        assert sim.finished.all() and sim.correct.all() and (sim.share <= 1.0).all()


def test_solve_draws_the_map_and_certify_confirms_it():
    table = table_of(200, 5)
    groups = {"A": ["a0", "a1"], "B": ["a2"], "C": ["a3"]}
    problem = bg.Problem(groups, {"x": "max", "y": "max"}, bg.Bounded(0, 1), items=bg.Items(200))

    def evaluate(group, arm, item):
        return dict(zip("xy", table[int(item), int(arm[1])].tolist(), strict=True))

    found = bg.solve(problem, bg.WeightMap(epsilon=0.1), evaluate, delta=0.1, seed=2)
    assert found.proven and 0 < found.certificate.share <= 1
    best = [table[:, :2].mean(axis=0).max(axis=0), *table[:, 2:].mean(axis=0)]
    for weight in np.linspace(0, 1, 11):
        worths = np.array(best) @ [weight, 1 - weight]
        named = found.certificate.map.at([weight, 1 - weight])
        assert all(worths["ABC".index(g)] + 0.1 >= worths.max() - 1e-9 for g in named)

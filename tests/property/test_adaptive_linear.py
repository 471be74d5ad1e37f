"""The adaptive rule for the best group whose leaders have a selection: its oracle, its contract.

`test_adaptive_groups` has those that are groups, which take their place where scales are known.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.best import algorithm as al
from bestgroup.algorithms.adaptive.best import steps
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.bodies import bodies
from bestgroup.inference.tally import empty_tally
from bestgroup.testing import check_algorithm
from reference.adaptive_linear_naive import Naive

CLEAR = 0.01  # evidence is computed to less than that


def random_case(seed):
    """A small problem with groups of unequal size whose answer takes some hundred pulls."""
    rng = np.random.default_rng(seed)
    dims = int(rng.integers(1, 4))
    sizes = rng.integers(1, 4, size=int(rng.integers(2, 5)))
    means = [rng.integers(0, 7, size=(size, dims)) / 4 for size in sizes]
    means[0][:, 0] += 0.125
    noise = bg.SubGaussian(
        rng.choice([0.5, 1.0, 1.5], size=dims).tolist(),
        dependence="independent" if rng.random() < 0.5 else "arbitrary",
    )
    goal = bg.BestGroup((0.5 + rng.random(dims)).tolist(), epsilon=float(rng.choice([0.0, 0.25])))
    return SimpleNamespace(
        rng=rng,
        means=means,
        shape=bg.Instance(means).shape,
        noise=noise,
        goal=goal,
        batch=[0.01, 0.01, 1, 5][seed % 4],
        costs=[10 ** rng.random(size) for size in sizes] if seed % 3 == 0 else None,
        delta=0.1,
    )


def rule_of(case):
    setting = SimpleNamespace(
        shape=case.shape, goal=case.goal, noise=case.noise, delta=case.delta, costs=case.costs
    )
    return al.AdaptiveLinear(case.batch, by_selections=True).rule(setting)  # type: ignore[arg-type]


def draw(case, tally, pulls):
    """Add the planned pulls to the tally, pull by pull."""
    scales = case.noise.scales(case.shape.dims)
    for i, j in zip(*np.nonzero(pulls), strict=True):
        for _ in range(pulls[i, j]):
            tally.sums[i, j] += case.means[i][j] + scales * case.rng.standard_normal(len(scales))
            tally.counts[i, j] += 1


def lockstep(seed, most):
    """Run oracle and kernels side by side; returns how it ended."""
    case = random_case(seed)
    rule = rule_of(case)
    state = al.init(rule)
    tally = empty_tally(case.shape.groups, case.shape.arms, case.shape.dims)
    naive = Naive(
        case.shape.sizes,
        rule.weights.tolist(),
        rule.scale.tolist(),
        rule.slack,
        case.delta,
        independent=case.noise.dependence == "independent",
        batch=case.batch,
        cost=rule.cost,
    )
    plan, step = bodies(al.AdaptiveLinear(), rule, True)
    while naive.answer < 0 and tally.counts.sum() < most:
        pulls = plan(state, tally, rule)
        assert np.array_equal(pulls, naive.plan(tally.counts)), (seed, naive.rounds)
        draw(case, tally, pulls)
        step(state, tally, rule)
        naive.step(tally.counts, tally.sums, lambda k: tuple(state.hard[k].tolist()))
        if naive.margin < CLEAR:
            return "unclear"
        assert state.answer[0] == naive.answer and state.named[0] == naive.m, seed
        assert set(np.flatnonzero(state.out).tolist()) == naive.out, (seed, naive.rounds)
        if naive.m > 0:
            assert (state.leader[0], tuple(state.lead.tolist())) == (naive.leader, naive.lead)
    return "answered" if naive.answer >= 0 else "long"


def test_equals_the_enumerating_oracle_pull_by_pull():
    ends = [lockstep(seed, 800) for seed in range(30)]
    assert ends.count("answered") >= 16 and ends.count("unclear") <= 3


@pytest.mark.verify
def test_equals_the_enumerating_oracle_on_many_more():
    ends = [lockstep(seed, 1500) for seed in range(100, 400)]
    print({end: ends.count(end) for end in set(ends)})
    assert ends.count("answered") >= 200 and ends.count("unclear") <= 30


@pytest.mark.parametrize("arms", ["independent", "arbitrary"])
def test_compiled_equals_plain(arms):
    for seed in range(4):
        case = random_case(seed)
        case.noise = bg.SubGaussian(case.noise.scale, case.noise.dependence, arms)
        rule = rule_of(case)
        states = [al.init(rule), al.init(rule)]
        tally = empty_tally(case.shape.groups, case.shape.arms, case.shape.dims)
        both = [bodies(al.AdaptiveLinear(), rule, True), (steps.plan, steps.step)]
        for _ in range(150):
            plans = [
                plan(state, tally, rule) for (plan, _), state in zip(both, states, strict=True)
            ]
            assert np.array_equal(*plans)
            draw(case, tally, plans[0])
            for (_, step), state in zip(both, states, strict=True):
                step(state, tally, rule)
            for one, other in zip(*states, strict=True):
                assert np.array_equal(one, other)
            if states[0].answer[0] >= 0:
                break


@pytest.mark.parametrize("batch", [0.01, 7])
def test_contract(batch):
    check_algorithm(al.AdaptiveLinear(batch, by_selections=True), cases=4)


def far_apart(sizes, dims, lead, seed):
    rng = np.random.default_rng(seed)
    means = [rng.random((size, dims)) for size in sizes]
    means[1] += lead
    return means


def test_groups_of_fifty_arms_in_five_dims():
    means = far_apart([50] * 20, 5, 0.8, 3)
    sim = bg.simulate(bg.Instance(means), bg.BestGroup([1, 2, 3, 4, 5]), "adaptive", 0.1, runs=1)
    assert sim.answers == [frozenset({1})] and sim.finished.all()


def test_boxes_where_arms_may_share_noise():
    means = far_apart([3, 2, 4], 2, 0.5, 4)
    noise = bg.SubGaussian([1.0, 0.5], arms="arbitrary")
    goal = bg.BestGroup([1, 2], epsilon=0.1)
    algorithm = al.AdaptiveLinear()
    instance = bg.Instance(means, noise=noise)
    sim = bg.simulate(instance, goal, algorithm, 0.1, runs=5)
    assert set(sim.answers) == {frozenset({1})}
    words = str(algorithm.guarantee(Setting(instance.shape, goal, noise, 0.1)))
    assert "depend on each other in any way" in words


def test_more_than_eight_dims_fall_back_to_boxes():
    means = far_apart([2, 2], 9, 1.0, 5)
    instance = bg.Instance(means)
    algorithm = al.AdaptiveLinear()
    sim = bg.simulate(instance, bg.BestGroup([1] * 9), algorithm, 0.1, runs=2)
    assert set(sim.answers) == {frozenset({1})}


def test_boxes_need_no_room_for_sets_of_dims():
    """2^60 sets would not fit anywhere."""
    means = np.stack([np.zeros((1, 60)), np.ones((1, 60))])
    sim = bg.simulate(bg.Instance(means), bg.BestGroup([1] * 60), "adaptive", runs=1, seed=1)
    assert sim.answers == [frozenset({1})]


def test_cheap_arms_are_pulled_more():
    pulls = []
    for costs in (None, [[1.0], [25.0]]):
        case = random_case(0)
        case.means, case.shape = [np.zeros((1, 1)), np.full((1, 1), 0.5)], None
        case.shape = bg.Instance(case.means).shape
        case.goal, case.noise, case.costs, case.batch = (
            bg.BestGroup([1]),
            bg.SubGaussian(1),
            costs,
            1,
        )
        rule = rule_of(case)
        state, tally = al.init(rule), empty_tally(2, 1, 1)
        plan, step = bodies(al.AdaptiveLinear(), rule, True)
        while state.answer[0] < 0:
            draw(case, tally, plan(state, tally, rule))
            step(state, tally, rule)
        assert state.answer[0] == 1
        pulls.append(tally.counts[:, 0])
    assert pulls[1][0] > 3 * pulls[1][1] and pulls[0][0] < 2 * pulls[0][1]


def test_one_group_needs_no_pulls():
    sim = bg.simulate(
        bg.Instance(np.zeros((1, 2, 2))), bg.BestGroup([1, 1]), al.AdaptiveLinear(), runs=1
    )
    assert sim.answers == [frozenset({0})] and sim.pulls[0] == 0

"""The adaptive rule for the best group whose leaders are groups: its oracle, its contract."""

import numpy as np
import pytest
from test_adaptive_linear import CLEAR, draw, random_case

from bestgroup.algorithms.adaptive.best import units
from bestgroup.algorithms.adaptive.best.algorithm import AdaptiveLinear
from bestgroup.algorithms.adaptive.best.state import init
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.bodies import bodies
from bestgroup.inference.tally import empty_tally
from bestgroup.testing import check_algorithm
from reference.adaptive_groups_naive import Groups


def start(case):
    """Rule, state and tally before any pull."""
    setting = Setting(case.shape, case.goal, case.noise, case.delta, case.costs)
    rule = AdaptiveLinear(case.batch).rule(setting)
    return rule, init(rule), empty_tally(case.shape.groups, case.shape.arms, case.shape.dims)


def lockstep(seed, most):
    """Run oracle and kernels side by side; returns how it ended."""
    case = random_case(seed)
    rule, state, tally = start(case)
    naive = Groups(
        case.shape.sizes,
        rule.weights.tolist(),
        rule.scale.tolist(),
        rule.slack,
        case.delta,
        independent=case.noise.dependence == "independent",
        batch=case.batch,
        cost=rule.cost,
    )
    plan, step = bodies(AdaptiveLinear(), rule, True)
    while naive.answer < 0 and tally.counts.sum() < most:
        pulls = plan(state, tally, rule)
        same = np.array_equal(pulls, naive.plan(tally.counts))
        if same:
            draw(case, tally, pulls)
            step(state, tally, rule)
            naive.step(tally.counts, tally.sums, lambda k: tuple(state.hard[k].tolist()))
            same = is_same(state, naive)
        if not same:
            # Only where a decision was close may they differ.
            assert naive.margin < CLEAR, (seed, naive.rounds)
            return "unclear"
    return "answered" if naive.answer >= 0 else "long"


def is_same(state, naive):
    """Whether decisions, leader, shares and measurements are those of the oracle."""
    shares = [naive.shares.get(i, 0.0) for i in range(naive.N)]
    found = state.counted[naive.leader], state.measured[naive.leader]
    return (
        (state.answer[0], state.named[0], state.leader[0]) == (naive.answer, naive.m, naive.leader)
        and tuple(state.lead.tolist()) == naive.lead
        and set(np.flatnonzero(state.out).tolist()) == naive.out
        and state.share.tolist() == pytest.approx(shares, rel=1e-12)
        and found == pytest.approx(naive.measured(), rel=1e-9, abs=1e-9)
    )


def test_equals_the_enumerating_oracle_pull_by_pull():
    ends = [lockstep(seed, 1000) for seed in range(30)]
    print({end: ends.count(end) for end in set(ends)})
    assert ends.count("answered") >= 18 and ends.count("unclear") <= 1


@pytest.mark.verify
def test_equals_the_enumerating_oracle_on_many_more():
    ends = [lockstep(seed, 1500) for seed in range(100, 400)]
    print({end: ends.count(end) for end in set(ends)})
    assert ends.count("answered") >= 220 and ends.count("unclear") <= 6


def test_compiled_equals_plain():
    for seed in range(4):
        case = random_case(seed)
        rule, state, tally = start(case)
        other = init(rule)
        plan, step = bodies(AdaptiveLinear(), rule, True)
        for _ in range(150):
            pulls = plan(state, tally, rule)
            assert np.array_equal(pulls, units.plan(other, tally, rule))
            draw(case, tally, pulls)
            step(state, tally, rule)
            units.step(other, tally, rule)
            for name, value in state._asdict().items():
                assert value.tobytes() == getattr(other, name).tobytes(), (seed, name)
            if state.answer[0] >= 0:
                break


@pytest.mark.parametrize("batch", [0.01, 1, 8])
def test_contract(batch):
    check_algorithm(AdaptiveLinear(batch), cases=4)


def test_nothing_is_decided_before_the_leader_is_measured():
    """Groups of means below 0, at a delta for which the gap alone exceeds the level at naming."""
    for seed in range(20):
        case = random_case(seed)
        case.means = [one - 10.0 for one in case.means]
        rule, state, tally = start(case)
        plan, step = bodies(AdaptiveLinear(), rule, True)
        while state.answer[0] < 0 and tally.counts.sum() < 600:
            counted, out = state.counted.copy(), state.out.copy()
            draw(case, tally, plan(state, tally, rule))
            step(state, tally, rule)
            leader = state.leader[0]
            if state.counted[leader] == 0.0:
                assert state.answer[0] < 0 and not (state.out & ~out).any(), seed
            assert (state.counted >= counted).all()

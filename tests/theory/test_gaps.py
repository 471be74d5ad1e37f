"""Gaps against the definitions by brute force, on a dyadic grid where ties are common."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestgroup.errors import InvalidInput
from bestgroup.problem.goals import BestGroup, ParetoGroups
from bestgroup.problem.instance import Instance
from bestgroup.theory.dominance import optimal_groups, pareto_groups
from bestgroup.theory.gaps import (
    arm_gaps,
    arm_lifts,
    gaps,
    group_gaps,
    tolerant_group_gaps,
    weighted_gaps,
)
from reference import definitions

# 16 and 17 pin single comparisons and hold no gaps.
FIXTURES = sorted((Path(__file__).parents[1] / "fixtures").glob("*.npz"))
FIXTURES = [path for path in FIXTURES if path.stem[:2] not in ("16", "17")]
WEIGHTS = st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0])


@st.composite
def ragged_means(draw: st.DrawFn) -> list[list[list[float]]]:
    """Means of 1..6 groups of 1..4 arms in 1..4 dims: few levels, so that ties are common."""
    dims = draw(st.integers(1, 4))
    levels = draw(st.sampled_from([2, 8, 64]))
    entry = st.integers(0, levels).map(lambda x: x / 64)
    arm = st.lists(entry, min_size=dims, max_size=dims)
    return draw(st.lists(st.lists(arm, min_size=1, max_size=4), min_size=1, max_size=6))


def same(ours: list[np.ndarray], theirs: list[list[float]]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(ours, theirs, strict=True))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(ragged_means(), st.sampled_from([0.0, 1 / 64, 1 / 4]))
def test_pareto_gaps_are_the_definitions(means, epsilon):
    ours = gaps(Instance(means), ParetoGroups(epsilon))
    theirs = definitions.pareto_gaps(means, epsilon)
    assert np.array_equal(ours.group, theirs.group)
    assert np.array_equal(ours.plus, theirs.plus, equal_nan=True)
    assert np.array_equal(ours.minus, theirs.minus, equal_nan=True)
    assert same(ours.arm, theirs.arm) and same(ours.effective, theirs.effective)
    assert ours.lift is None


@settings(max_examples=100, deadline=None, derandomize=True)
@given(ragged_means(), st.data())
def test_best_group_gaps_are_the_definitions(means, data):
    dims = len(means[0][0])
    weights = data.draw(st.lists(WEIGHTS, min_size=dims, max_size=dims))
    instance = Instance(means)
    ours = gaps(instance, BestGroup(weights))
    tied = optimal_groups(instance, BestGroup(weights))
    if len(tied) > 1:
        assert all(ours.group[i] == 0 for i in tied)
        assert all(np.array_equal(ours.arm[i], ours.lift[i]) for i in tied)
        return
    theirs = definitions.best_group_gaps(means, weights)
    np.testing.assert_allclose(ours.group, theirs.group, rtol=1e-12)
    for i in range(len(means)):
        np.testing.assert_allclose(ours.lift[i], theirs.lift[i], rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(ours.arm[i], theirs.arm[i], rtol=1e-9)
        for j, mu in enumerate(means[i]):
            R, norm = instance.efficiency[i], sum(weights)
            wanted = min(
                ours.group[i] * norm / (dims * weights[d]) + R[d] - mu[d] for d in range(dims)
            )
            assert ours.effective[i][j] == pytest.approx(wanted, rel=1e-12)
    assert ours.plus is None and ours.minus is None


@settings(max_examples=100, deadline=None, derandomize=True)
@given(ragged_means(), st.data())
def test_a_lift_is_just_enough(means, data):
    dims = len(means[0][0])
    weights = data.draw(st.lists(WEIGHTS, min_size=dims, max_size=dims))
    R = np.array(definitions.efficiency(means))
    top = (R @ weights).max()
    lifts = arm_lifts(means, R, weights)
    for i, group in enumerate(means):
        for j, arm in enumerate(group):
            below, above = lifts[i][j] - 1e-9, lifts[i][j] + 1e-9
            assert np.maximum(R[i], np.array(arm) + below) @ weights <= top + 1e-12
            assert np.maximum(R[i], np.array(arm) + above) @ weights > top


@settings(max_examples=100, deadline=None, derandomize=True)
@given(ragged_means(), st.data())
def test_tolerant_gaps_are_their_definition(means, data):
    R = definitions.efficiency(means)
    dims, groups = len(R[0]), range(len(R))
    steps = st.sampled_from([0.0, 1 / 64, 4 / 64, 16 / 64])
    eps = data.draw(st.lists(steps, min_size=dims, max_size=dims))
    best = definitions.pareto(R)
    loss = definitions.pareto_gaps(means).group

    def sure(i: int) -> float:
        raised = [x + e for x, e in zip(R[i], eps, strict=True)]
        beating = [j for j in best if definitions.strictly_dominated(raised, R[j])]
        return max((definitions.m(R[i], R[j]) for j in beating), default=0.0)

    plus = definitions.pareto_gaps(means).plus
    wanted = []
    for i in groups:
        stand_in = {j: sure(j) or min(loss[j], *eps) for j in groups if j not in best}
        sums = [definitions.big_m(R[j], R[i]) + 2 * x for j, x in stand_in.items()]
        minus = min(sums, default=math.inf)
        wanted.append(min(plus[i], minus) if i in best else sure(i))
    ours = tolerant_group_gaps(R, eps)
    assert np.array_equal(ours, wanted)
    assert (ours <= loss).all()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(ragged_means(), st.sampled_from([0.0, 1 / 64, 4 / 64]))
def test_with_one_epsilon_tolerant_gaps_are_the_paper_s(means, epsilon):
    R = definitions.efficiency(means)
    gap = group_gaps(R)[0]
    ours = tolerant_group_gaps(R, epsilon)
    within = ~pareto_groups(R) & (gap <= epsilon)
    assert np.array_equal(ours[~within], gap[~within]) and (ours[within] == 0).all()


def test_a_single_group_has_infinite_gaps():
    means = [[[0.5, 0.25], [0.25, 0.5]]]
    ours = gaps(Instance(means), ParetoGroups(0.1))
    assert ours.group[0] == ours.plus[0] == ours.minus[0] == math.inf
    best = gaps(Instance(means), BestGroup([1, 1]))
    assert best.group[0] == math.inf and (best.effective[0] == math.inf).all()


def test_minima_over_nothing_are_infinite():
    _, plus, minus = group_gaps([[1.0, 1.0], [0.5, 0.5]])
    assert plus[0] == math.inf and minus[0] == 1.0 and np.isnan([plus[1], minus[1]]).all()
    _, plus, minus = group_gaps([[1.0, 0.0], [0.0, 1.0]])
    assert (plus == 1.0).all() and (minus == math.inf).all()


def test_weakly_dominated_groups_are_optimal_with_gap_zero():
    assert np.array_equal(group_gaps([[1.0, 1.0], [1.0, 0.0]])[0], [0.0, 0.0])


def test_the_precedence_in_minus_is_the_minimum_of_the_sum():
    # M + 2 Delta is 0 + 2 * 0.5 for one loser and 0.125 + 2 * 0.125 for the other.
    gap, _, minus = group_gaps([[1.0, 1.0], [0.5, 0.5], [1.25, 0.0], [1.125, -0.125]])
    assert np.array_equal(gap[[1, 3]], [0.5, 0.125])
    assert minus[0] == 0.375


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_gaps_of_the_fixtures(path):
    with np.load(path) as file:
        case = dict(file)
    means = [rows[:size] for rows, size in zip(case["means"], case["ksizes"], strict=True)]
    ours = gaps(Instance(means), ParetoGroups(float(case["eps"])))
    np.testing.assert_allclose(ours.group, case["group_gap"], rtol=1e-12)
    for i, own in enumerate(ours.arm):
        np.testing.assert_allclose(own, case["arm_gap"][i, : len(own)], rtol=1e-12, atol=1e-15)


def test_many_groups_with_ties():
    R = np.random.default_rng(7).integers(0, 40, (3000, 3)) / 64
    gap, plus, _ = group_gaps(R)
    best = pareto_groups(R)
    assert np.array_equal(~np.isnan(plus), best)
    losers = R[~best]
    wanted = (R[best][None] - losers[:, None]).min(axis=2).max(axis=1)
    assert np.array_equal(gap[~best], wanted) and (wanted > 0).all()


def test_gaps_follow_a_permutation_and_ignore_a_shift():
    rng = np.random.default_rng(1)
    means = rng.integers(0, 16, (6, 3, 3)) / 16
    order = rng.permutation(6)
    for goal in (ParetoGroups(0.125), BestGroup([1, 2, 4])):
        plain, moved = gaps(Instance(means), goal), gaps(Instance(means[order]), goal)
        shifted = gaps(Instance(means + np.array([1.0, -2.0, 0.5])), goal)
        assert np.array_equal(plain.group[order], moved.group)
        assert np.array_equal(np.array(plain.effective)[order], np.array(moved.effective))
        assert np.array_equal(plain.group, shifted.group)


def test_differing_epsilons_enter_with_the_least():
    ours = gaps(Instance([[[0.5, 0.5]], [[0.5, 0.5]]]), ParetoGroups([0.25, 0.125]))
    assert [own.tolist() for own in ours.effective] == [[0.125], [0.125]]


def test_gaps_cannot_be_changed():
    ours = gaps(Instance([[[0.5]], [[0.25]]]), BestGroup([1]))
    with pytest.raises(ValueError, match="read-only"):
        ours.group[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        ours.lift[0][0] = 1.0


def test_wrong_shapes_are_refused():
    with pytest.raises(InvalidInput, match=r"array \[N, D\]"):
        group_gaps([1.0, 2.0])
    with pytest.raises(InvalidInput, match=r"2 (decided )?dims"):
        gaps(Instance([[[0.5, 0.5]]]), BestGroup([1, 1, 1]))
    with pytest.raises(InvalidInput, match=r"2 (decided )?dims"):
        gaps(Instance([[[0.5, 0.5]]]), ParetoGroups([0.1, 0.1, 0.1]))
    with pytest.raises(InvalidInput, match="goal"):
        gaps(Instance([[[0.5, 0.5]]]), "pareto")  # type: ignore[arg-type]


def test_array_functions_agree_with_gaps():
    means = [[[0.5, 0.25], [0.0, 0.0]], [[0.25, 0.125]]]
    R = definitions.efficiency(means)
    ours = gaps(Instance(means), ParetoGroups())
    assert np.array_equal(group_gaps(R)[0], ours.group)
    assert all(np.array_equal(x, y) for x, y in zip(arm_gaps(means, R), ours.arm, strict=True))
    assert np.array_equal(weighted_gaps(R, [1, 1]), gaps(Instance(means), BestGroup([1, 1])).group)

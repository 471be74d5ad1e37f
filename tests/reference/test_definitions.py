"""Hand-worked values of the brute-force definitions."""

from __future__ import annotations

import math

import pytest

from reference import definitions as d


def test_dominations_and_distances():
    assert d.weakly_dominated((1, 0), (1, 0)) and not d.dominated((1, 0), (1, 0))
    assert d.dominated((1, 0), (1, 1)) and not d.strictly_dominated((1, 0), (1, 1))
    assert d.strictly_dominated((0, 0), (1, 1))
    assert d.m((0, 0), (1, 2)) == 1 and d.m((0, 3), (1, 2)) == 0
    assert d.big_m((0, 3), (1, 2)) == 1 and d.big_m((0, 0), (1, 2)) == 0
    assert d.big_m((0, 0), (1, 2), 1.5) == 0.5


def test_pareto_uses_strict_domination_and_keeps_a_gap_of_exactly_epsilon():
    R = [(1.0, 1.0), (1.0, 0.0), (0.5, 0.5), (0.0, 0.75)]
    assert d.pareto(R) == {0, 1}
    assert d.pareto(R, 0.25) == {0, 1, 3}
    assert d.pareto(R, 0.5) == {0, 1, 2, 3}
    assert d.pareto(R, (0.0, 0.5)) == {0, 1, 2, 3}
    assert d.pareto(R, (0.25, 0.25)) == {0, 1, 3}


def test_pareto_gaps():
    means = [[(1.0, 0.0), (0.0, 1.0), (0.25, 0.5)], [(0.75, 0.5)], [(1.5, 0.25)]]
    gaps = d.pareto_gaps(means, 0.125)
    assert gaps.group == [0.5, 0.25, 0.5]
    assert gaps.plus[0] == 0.5 and gaps.plus[2] == 0.5 and math.isnan(gaps.plus[1])
    # M(R_1, R_0) + 2 Delta_1 = 0 + 0.5;  M(R_1, R_2) + 2 Delta_1 = 0.25 + 0.5
    assert gaps.minus[0] == 0.5 and gaps.minus[2] == 0.75
    assert gaps.arm == [[0.0, 0.0, 0.5], [0.0], [0.0]]
    assert gaps.effective == [[0.5, 0.5, 0.5], [0.25], [0.5]]


def test_one_group_and_all_optimal_have_infinite_minima():
    assert d.pareto_gaps([[(1.0, 2.0)]]).group == [math.inf]
    assert d.best_group_gaps([[(1.0, 2.0)]], (1, 1)).group == [math.inf]
    both = d.pareto_gaps([[(1.0, 0.0)], [(0.0, 0.5)]])
    assert both.minus == [math.inf, math.inf] and both.group == [0.5, 0.5]


def test_best_group_gaps():
    means = [[(1.0, 0.0), (0.5, 1.0)], [(0.5, 0.5), (0.0, 0.0)]]
    gaps = d.best_group_gaps(means, (1.0, 3.0))
    assert gaps.group == [0.5, 0.5]
    # raising (1, 1) by a >= 1/2 adds 4 (a - 1/2); the goal is 2 more
    assert gaps.lift[1] == pytest.approx([0.5, 1.0], abs=1e-15)
    assert gaps.lift[0] == pytest.approx([0.0, 0.0], abs=1e-15)
    assert gaps.arm[0] == [0.5, 0.5] and gaps.arm[1] == pytest.approx([0.5, 1.0])
    lone = [[(1.0, 1.0), (0.25, 0.5)], [(0.0, 0.0)]]
    assert d.best_group_gaps(lone, (1, 1)).lift[0] == pytest.approx([0.0, 0.5], abs=1e-15)


def test_lift_is_the_minimum_over_breakpoints():
    means = [[(1.0, 1.0, 1.0)], [(0.5, 0.0, 0.75), (0.25, 0.25, -1.0)]]
    w = (0.5, 2.0, 1.0)
    R = d.efficiency(means)
    gap = d.dot(R[0], w) - d.dot(R[1], w)
    for j, arm in enumerate(means[1]):
        steps = sorted(zip((x - y for x, y in zip(R[1], arm, strict=True)), w, strict=True))
        ends = [
            (gap + sum(b * v for b, v in steps[:k])) / sum(v for _, v in steps[:k])
            for k in (1, 2, 3)
        ]
        assert d.lift(means, w, 1, j) == pytest.approx(min(ends), rel=1e-12)


def test_a_tie_has_no_best_group():
    with pytest.raises(ValueError, match="unique"):
        d.best_group([(1.0, 0.0), (0.0, 1.0)], (1, 1))


def test_correct_answers():
    means = [[(1.0, 1.0)], [(0.75, 0.5)], [(0.0, 0.0)]]
    assert d.pareto_correct({0}, means, 0.25) and d.pareto_correct({0, 1}, means, 0.25)
    assert not d.pareto_correct({0, 1}, means, 0.125) and not d.pareto_correct({1}, means, 0.25)
    assert not d.pareto_correct({0, 2}, means, 0.25)
    assert d.pareto_correct({0, 1}, means, (0.5, 0.0))
    assert d.best_group_correct({0}, means, (1, 1)) and not d.best_group_correct({1}, means, (1, 1))
    assert d.best_group_correct({1}, means, (1, 1), 0.375)
    assert d.best_group_correct({1}, means, (1, 3), (0.25, 0.25)) is False
    assert d.best_group_correct({1}, means, (1, 3), (1.0, 0.5))
    assert not d.best_group_correct({0, 1}, means, (1, 1), 9.0)
    assert not d.best_group_correct(set(), means, (1, 1), 9.0)

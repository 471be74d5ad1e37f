"""The characteristic time against generic convex programmes, closed forms and invariances."""

import math

import numpy as np
import pytest

from bestgroup.errors import InvalidInput
from bestgroup.problem.goals import BestGroup, ParetoGroups
from bestgroup.simulation.progress import narrowing
from bestgroup.theory.characteristic_time import game as limit_game
from bestgroup.theory.characteristic_time.limit import limit_of
from reference.alternatives import (
    GOALS,
    Reference,
    correct_answers,
    game_value,
    inner_minimum,
    random_means,
)

COV_BOOST = """
9.50479943 6.85646198 4.56226268 9.29302574 6.64118217 4.03600899 9.05368656 6.40687999 3.56388296
10.21251518 7.48941208 4.42843301 10.04680837 7.19967835 4.36182393 8.34379173 5.66642669 3.51154544
8.22174773 5.45532112 3.64021428 9.74560492 7.2730926 4.7095302 10.42726889 7.61035762 4.71849887
8.93761259 6.18826412 3.84374416 7.80669637 5.26269019 3.97029191 8.85008761 6.58892648 4.7335634
8.4411757 6.15273269 4.5890408 9.92900909 7.39079852 4.74927053 9.68315255 7.20340552 4.91191932
7.51479976 5.3082677 3.95508249 7.26542972 4.99043259 4.01638302 8.61558951 6.33327963 4.66343909
10.34531673 7.769801 5.00327494 8.29304914 5.92157842 3.86702564
"""
COV_BOOST_MEANS = np.array(COV_BOOST.split(), dtype=float).reshape(20, 1, 3)
COV_BOOST_SCALE = np.sqrt([0.70437039, 0.82845749, 1.53743137])


@pytest.mark.parametrize("dependence", [None, "full"])
@pytest.mark.parametrize("name", GOALS)
def test_time_equals_a_conic_programme(name, dependence):
    goal, scale, dependent = GOALS[name](2), np.array([0.5, 1.2]), dependence == "full"
    for seed in range(3):
        rng = np.random.default_rng(100 + seed)
        means = random_means(rng, [(2, 1, 2), (1, 3), (1, 1, 1, 1)][seed], 2)
        reference = Reference(means, scale)
        answers = correct_answers(means, goal)
        values = [
            game_value(reference, list(reference.alternatives(answer, goal, scale)), dependent)
            for answer in answers
        ]
        found = limit_of(means, scale, goal, dependence)
        assert found.answers == len(answers)
        assert found.answer in answers
        assert found.gap <= 0.002
        assert found.lower * (1 - 1e-4) <= 1 / max(values) <= found.upper * (1 + 1e-4)
        assert found.value == pytest.approx(1 / max(values), rel=0.0025)
        # The allocation does attain it, by the definition.
        weight = np.concatenate(found.allocation)
        assert weight.sum() == pytest.approx(1.0)
        alternatives = reference.alternatives(found.answer, goal, scale)
        worth = inner_minimum(reference, alternatives, weight, dependent)
        assert 1 / worth == pytest.approx(found.value, rel=1e-6)


def test_two_arms_in_one_dim_have_the_closed_form():
    means = [np.array([[0.3]]), np.array([[0.1]])]
    for goal in (BestGroup([2.0]), ParetoGroups()):
        for dependence in (None, "independent", "full", "arbitrary", "fully-dependent"):
            found = limit_of(means, np.array([0.5]), goal, dependence, tolerance=1e-6)
            assert found.value == pytest.approx(8 * 0.25 / 0.04, rel=1e-5)
            assert found.lower <= 50 <= found.upper
            assert found.allocation[0][0] == pytest.approx(0.5, abs=1e-3)
            assert found.answer == {0}
    shifted = limit_of(means, np.array([0.5]), BestGroup([2.0], 0.1), tolerance=1e-6)
    assert shifted.value == pytest.approx(8 * 0.25 / 0.09, rel=1e-5)


@pytest.mark.parametrize("goal", [ParetoGroups(0.02), BestGroup([1, 2, 3])], ids=["pareto", "best"])
def test_fully_dependent_dims_are_harder_but_at_most_d_times(goal):
    for seed in range(3):
        means = random_means(np.random.default_rng(seed), (3, 2, 4, 1), 3)
        apart, together = (limit_of(means, np.ones(3), goal, how) for how in (None, "full"))
        assert apart.lower <= together.upper
        assert together.lower <= 3 * apart.upper


@pytest.mark.parametrize("dependence", [None, "full"])
@pytest.mark.parametrize("goal", [ParetoGroups(0.02), BestGroup([1, 2, 3])], ids=["pareto", "best"])
def test_time_follows_permutations_shifts_and_units(goal, dependence):
    rng = np.random.default_rng(21)
    means, scale = random_means(rng, (2, 4, 1, 3), 3), np.array([1.0, 0.5, 2.0])
    one = limit_of(means, scale, goal, dependence, tolerance=1e-3)
    groups, dims = rng.permutation(4), rng.permutation(3)
    arms = [rng.permutation(len(rows)) for rows in means]
    moved = [means[i][arms[i]][:, dims] + 7.0 for i in groups]
    if isinstance(goal, BestGroup):
        goal = BestGroup(np.array(goal.weights)[dims].tolist())
    two = limit_of(moved, scale[dims], goal, dependence, tolerance=1e-3)
    assert two.value == pytest.approx(one.value, rel=2e-3)
    assert {int(groups[i]) for i in two.answer} == one.answer
    units = np.array([10.0, 0.1, 3.0])
    other = (
        ParetoGroups(0.02 * units)
        if isinstance(goal, ParetoGroups)
        else BestGroup(goal.weights / units[dims])
    )
    order = np.arange(3) if isinstance(goal, ParetoGroups) else dims
    three = limit_of(
        [rows[:, order] * units[order] for rows in means],
        (scale * units)[order],
        other,
        dependence,
        1e-3,
    )
    assert three.value == pytest.approx(one.value, rel=2e-3)


def test_cov_boost_as_singletons():
    found = limit_of(list(COV_BOOST_MEANS), COV_BOOST_SCALE, ParetoGroups(), tolerance=1e-4)
    assert found.answer == {8, 18}
    # 200 Frank-Wolfe steps, as peers take them, end near 2,200 and have not converged.
    assert found.value == pytest.approx(2043.23, abs=0.25)
    assert found.samples(0.01) == pytest.approx(found.lower * 0.98 * math.log(99), rel=1e-12)
    together = limit_of(
        list(COV_BOOST_MEANS), COV_BOOST_SCALE, ParetoGroups(), "full", tolerance=1e-4
    )
    assert found.value < together.value < 3 * found.value


@pytest.mark.parametrize(
    ("shape", "dependence", "tolerance"),
    [((10, 6, 3), None, 0.01), ((5, 5, 3), None, 0.01), ((5, 6, 3), "full", 0.02)],
)
def test_time_is_certified_on_larger_instances(shape, dependence, tolerance):
    means = list(np.random.default_rng(6).random(shape))
    for goal in (ParetoGroups(0.01), BestGroup([1, 2, 3])):
        found = limit_of(means, np.ones(3), goal, dependence, tolerance)
        assert found.gap <= tolerance


def test_many_correct_answers():
    """Groups below the best by less than epsilon may be in or out; the search equals trying all answers."""
    rng = np.random.default_rng(17)
    means = [np.array([[1.0, 1.0]]), *(1.0 - rng.uniform(0.02, 0.28, (1, 2)) for _ in range(3))]
    goal, scale = ParetoGroups(0.3), np.ones(2)
    reference = Reference(means, scale)
    answers = correct_answers(means, goal)
    assert len(answers) == 8
    worth = [
        game_value(reference, list(reference.pareto(set(a), np.full(2, 0.3))), False)
        for a in answers
    ]
    found = limit_of(means, scale, goal)
    assert found.answers == 8
    assert found.value == pytest.approx(1 / max(worth), rel=0.0025)
    assert found.answer == answers[int(np.argmax(worth))]
    assert found.samples(0.01) == pytest.approx(
        found.lower
        * (0.99 / 8 * math.log(0.99 / 8 / 0.01) + (1 - 0.99 / 8) * math.log((1 - 0.99 / 8) / 0.99))
    )
    assert found.samples(0.3) == 0.0


def test_degenerate_cases():
    one = limit_of([np.ones((2, 3))], np.ones(3), ParetoGroups())
    assert (one.value, one.gap, one.answer, one.samples(0.1)) == (0.0, 0.0, frozenset({0}), 0.0)
    tie = [np.array([[1.0, 0.5]]), np.array([[1.0, 0.2]]), np.array([[0.0, 0.0]])]
    for dependence in (None, "full"):
        never = limit_of(tie, np.ones(2), ParetoGroups(), dependence)
        assert (never.value, never.lower, never.samples(0.1)) == (math.inf, math.inf, math.inf)
        assert limit_of(tie, np.ones(2), ParetoGroups(0.01), dependence).value < math.inf
        equal = [np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [-1.0, 0.2]])]
        assert limit_of(equal, np.ones(2), BestGroup([1, 1]), dependence).value == math.inf
        assert limit_of(equal, np.ones(2), BestGroup([1, 1], 0.1), dependence).value < math.inf


@pytest.mark.parametrize(
    ("option", "value"), [("dependence", "some"), ("tolerance", 0.0), ("tolerance", 1.5)]
)
def test_bad_options_are_refused(option, value):
    with pytest.raises(InvalidInput, match=option):
        limit_of([np.ones((1, 1)), np.zeros((1, 1))], np.ones(1), ParetoGroups(), **{option: value})


def test_progress_is_told_how_far_the_bounds_are_apart(capsys, monkeypatch):
    means = list(np.random.default_rng(2).random((6, 3, 3)))
    for goal in (ParetoGroups(0.1), BestGroup([1, 2, 3])):
        gaps = []
        found = limit_of(means, np.ones(3), goal, tolerance=0.01, progress=gaps.append)
        assert gaps and all(0.0 <= gap < 1.0 for gap in gaps)
        assert found.gap <= 0.01 < max(gaps)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as at a terminal
    with narrowing("limit T*", show=True) as watch:
        limit_of(means, np.ones(3), goal, tolerance=0.01, progress=watch)
    assert "limit T*: bounds" in capsys.readouterr().err
    with narrowing("limit T*", show=False) as watch:
        assert watch is None


def test_sparse_products_give_the_same_time(monkeypatch):
    means = list(np.random.default_rng(5).random((6, 4, 3)))
    for goal in (ParetoGroups(0.05), BestGroup([1, 2, 3])):
        dense = limit_of(means, np.ones(3), goal)
        monkeypatch.setattr(limit_game, "MANY", 0)
        sparse = limit_of(means, np.ones(3), goal)
        monkeypatch.undo()
        assert sparse.value == pytest.approx(dense.value, rel=0.002)
        assert max(sparse.lower, dense.lower) <= min(sparse.upper, dense.upper)
        assert sparse.answer == dense.answer and sparse.gap <= 0.002

"""Budgets in pulls, in cost and in a measured dim; the best guess; sequential halving."""

import random

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.sequential_halving import SequentialHalving
from bestgroup.drivers.replay import Tape

GROUPS = {"A": ["a1", "a2"], "B": ["b1"], "C": ["c1", "c2"]}
MEANS = {"a1": 1.0, "a2": 0.7, "b1": 0.5, "c1": 0.2, "c2": 0.1}
COSTS = {"a1": 1, "a2": 2, "b1": 5, "c1": 1, "c2": 1}
DIMS = {"score": "max", "seconds": "watch"}
PROBLEM = bg.Problem(GROUPS, DIMS, bg.SubGaussian(0.5), costs=COSTS)
GOAL = bg.BestGroup([1])


def evaluate(group, arm, seed):
    draw = random.Random(seed)
    return draw.gauss(MEANS[arm], 0.5), draw.uniform(0.5, 1.5)


def told_cost(found):
    return sum(COSTS[arm] for arm in found.to_frame()["arm"])


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("limit", [17, 60])
def test_a_cost_is_never_passed_and_nearly_spent(limit, workers):
    found = bg.solve(PROBLEM, GOAL, evaluate, budget_cost=limit, workers=workers)
    assert limit - max(COSTS.values()) < told_cost(found) <= limit
    assert not found.answer.final


@pytest.mark.parametrize("workers", [1, 3])
def test_a_measured_dim_is_the_budget(workers):
    found = bg.solve(PROBLEM, GOAL, evaluate, budget_cost={"seconds": 25}, workers=workers)
    spent = found.to_frame()["seconds"]
    assert 25 <= spent.sum() < 25 + 1.5 * workers


def test_what_was_spent_before_counts(tmp_path):
    storage = f"sqlite:///{tmp_path}/one.db"
    whole = bg.solve(PROBLEM, GOAL, evaluate, budget_cost=60)
    bg.solve(PROBLEM, GOAL, evaluate, budget_cost=30, storage=storage)
    found = bg.solve(PROBLEM, GOAL, evaluate, budget_cost=60, storage=storage)
    assert found.answer.told == whole.answer.told
    again = bg.solve(PROBLEM, GOAL, evaluate, budget_cost=60, storage=storage)
    assert again.answer.told == found.answer.told


@pytest.mark.parametrize(
    "options, words",
    [
        ({"budget_cost": {"x": 3}}, "names a dim 'x'"),
        ({"budget_cost": -1}, "must be positive"),
        ({"budget_cost": "much"}, "budget_cost"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"budget": 9, "algorithm": "sequential-halving"}, "at least 10"),
        ({"algorithm": "sequential-halving"}, "budget="),
    ],
)
def test_bad_budgets_get_a_sentence(options, words):
    with pytest.raises(bg.InvalidInput, match=words):
        bg.solve(PROBLEM, GOAL, evaluate, **options)


def test_costs_that_nobody_gave():
    plain = bg.Problem(GROUPS, DIMS, bg.SubGaussian(0.5))
    with pytest.raises(bg.InvalidInput, match="needs costs in the problem"):
        bg.solve(plain, GOAL, evaluate, budget_cost=10)


def test_the_guess_stands_beside_what_is_proven():
    found = bg.solve(PROBLEM, GOAL, evaluate, budget=100, seed=1)
    assert found.answer.guess is not None and not found.answer.final
    assert found.answer.guess == found.study.answer().guess == found.guess()
    entry = found.answer.to_dict()["guess"]
    assert set(entry) == {"groups", "level", "text"} and 0 < entry["level"] <= 1
    assert found.study.answer(beside=False).guess is None
    ended = bg.solve(PROBLEM, GOAL, evaluate)
    assert ended.answer.final and ended.answer.guess is None
    assert [choice.group for choice in ended.answer.deploy] == list(ended.answer.groups)


def test_the_curve_adds_up_to_the_answer():
    found = bg.solve(PROBLEM, GOAL, evaluate)
    rows = found.study.proven_by_now()
    assert rows[0] == {"pulls": 0, "in": 0, "out": 0, "not needed": 0, "undecided": 3}
    assert rows[-1] == {
        "pulls": found.answer.pulls,
        "in": 1,
        "out": 2,
        "not needed": 0,
        "undecided": 0,
    }
    assert list(found.course()["undecided"]) == sorted(
        (row["undecided"] for row in rows), reverse=True
    )


def naive_halving(rewards, weights, budget):
    """Return the group that is left, and the pulls, from the definition."""
    left, used = list(range(len(rewards))), [0] * len(rewards)
    phases = int(np.ceil(np.log2(len(rewards)))) if len(rewards) > 1 else 0
    for _ in range(phases):
        n = budget // (phases * sum(rewards[i].shape[1] for i in left))
        worth = {}
        for i in left:
            fresh = rewards[i][used[i] : used[i] + n]
            worth[i] = float(fresh.mean(axis=0).max(axis=0) @ weights)
            used[i] += n
        left = sorted(left, key=lambda i: (-worth[i], i))[: (len(left) + 1) // 2]
    return left[0], used


def test_sequential_halving_is_the_naive_one():
    rng = np.random.default_rng(7)
    for _ in range(200):
        sizes = rng.integers(1, 4, size=int(rng.integers(1, 9)))
        dims = int(rng.integers(1, 4))
        rewards = [rng.integers(-9, 10, size=(300, k, dims)) / 4.0 for k in sizes]
        weights = rng.integers(1, 4, size=dims).astype(float)
        budget = int(rng.integers(4, 40)) * int(sizes.sum())
        goal = bg.BestGroup(weights.tolist())
        trace = bg.replay(Tape(rewards), goal, SequentialHalving(budget))
        group, used = naive_halving(rewards, weights, budget)
        assert trace.answer == {group}
        assert [int(row[0]) for row in trace.pulls_by_arm] == used
        assert trace.pulls <= budget


def test_the_error_bound_of_halving_holds_where_it_says_something():
    instance = bg.Instance([[[0.0]], [[0.2]], [[1.5]]])
    goal = bg.BestGroup([1.0])
    for budget in (60, 120):
        algorithm = SequentialHalving(budget)
        bound = algorithm.error_bound(instance, goal)
        sim = bg.simulate(instance, goal, algorithm, runs=2000, seed=2)
        assert 0 < bound < 1 and sim.errors / sim.runs <= bound
        assert sim.guarantee.level == "none" and (sim.pulls <= budget).all()

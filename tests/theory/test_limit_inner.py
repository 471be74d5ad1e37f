"""The inner problems of the limit against enumeration from the definitions."""

import itertools

import cvxpy as cp
import numpy as np
import pytest

from bestgroup.problem.goals import BestGroup
from bestgroup.theory.characteristic_time import beaten as limit_beaten
from bestgroup.theory.characteristic_time import linear as limit_linear
from bestgroup.theory.characteristic_time import reject as limit_reject
from bestgroup.theory.characteristic_time.arms import Arms
from bestgroup.theory.characteristic_time.beaten import BeatenTogether
from bestgroup.theory.characteristic_time.cover import cover_arms, cover_levels
from bestgroup.theory.characteristic_time.linear import BeatenBest
from bestgroup.theory.characteristic_time.pareto import Question, WrongSet
from bestgroup.theory.characteristic_time.reject import Rejected, begin, search
from reference.alternatives import (
    GOALS,
    SIZES,
    Reference,
    correct_answers,
    inner_minimum,
    least_cost,
    random_means,
)


def oracle_for(means, scale, goal, answer, dependent):
    arms = Arms.of(means, scale)
    if isinstance(goal, BestGroup):
        weights = np.array(goal.weights)
        slack = goal.epsilon * weights.sum()
        return BeatenBest(arms, weights * scale, slack, min(answer), dependent)
    outside = sorted(set(range(arms.groups)) - answer)
    question = Question(arms, goal.epsilons(arms.dims) / scale, dependent)
    return WrongSet(question, sorted(answer), outside, np.array(sorted(answer)))


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("name", GOALS)
def test_inner_minimum_equals_enumeration(name, dependent):
    for seed, D in itertools.product(range(3), (2, 3)):
        goal, scale = GOALS[name](D), np.array([0.7, 1.6, 1.1])[:D]
        rng = np.random.default_rng(seed)
        means = random_means(rng, SIZES[seed], D)
        reference = Reference(means, scale)
        for answer in correct_answers(means, goal)[:3]:
            oracle = oracle_for(means, scale, goal, answer, dependent)
            alternatives = list(reference.alternatives(answer, goal, scale))
            for concentration in (0.3, 3.0):
                weight = rng.dirichlet(np.full(len(reference.flat), concentration)) + 1e-6
                expected = inner_minimum(reference, alternatives, weight, dependent)
                lower, cuts = oracle(weight)
                assert lower == pytest.approx(expected, rel=1e-6)
                assert (cuts @ weight).min() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("name", ["pareto epsilon", "best epsilon"])
def test_cuts_are_alternatives_and_the_first_is_the_gradient(name, dependent):
    goal, scale = GOALS[name](2), np.array([1.0, 0.5])
    rng = np.random.default_rng(5)
    means = random_means(rng, (3, 2, 4), 2)
    reference = Reference(means, scale)
    answer = correct_answers(means, goal)[0]
    oracle = oracle_for(means, scale, goal, answer, dependent)
    alternatives = list(reference.alternatives(answer, goal, scale))
    weight = rng.dirichlet(np.full(9, 2.0))
    lower, cuts = oracle(weight)
    best = cuts[(cuts @ weight).argmin()]
    step = 1e-5
    for arm in range(9):
        bump = np.eye(9)[arm] * step * weight[arm]
        slope = (oracle(weight + bump)[0] - oracle(weight - bump)[0]) / (2 * bump[arm])
        assert slope == pytest.approx(best[arm], rel=1e-3, abs=1e-3 * best.max())
    # A cut bounds the inner minimum from above at every other allocation.
    for _ in range(5):
        other = rng.dirichlet(np.ones(9)) + 1e-6
        assert (cuts @ other).min() >= inner_minimum(reference, alternatives, other, dependent) * (
            1 - 1e-6
        )
    assert lower <= (cuts @ weight).min() * (1 + 1e-9)


def test_inner_minimum_equals_a_convex_solver():
    rng = np.random.default_rng(11)
    means, weight = random_means(rng, (2, 2, 3), 3), rng.dirichlet(np.full(7, 2.0))
    goal = BestGroup([1.0, 2.0, 0.5])
    answer = correct_answers(means, goal)[0]
    i, costs = min(answer), []
    start = np.cumsum([0, 2, 2, 3])
    for k in set(range(3)) - {i}:
        for serve in itertools.product(range(len(means[k])), repeat=3):
            level = [cp.Variable((len(rows), 3)) for rows in means]
            raised = sum(w * level[k][serve[d], d] for d, w in enumerate(goal.weights))
            held = sum(w * cp.max(level[i][:, d]) for d, w in enumerate(goal.weights))
            moved = [
                cp.sum(
                    cp.multiply(
                        weight[start[g] : start[g + 1], None], cp.square(level[g] - means[g])
                    )
                )
                for g in range(3)
            ]
            costs.append(
                cp.Problem(cp.Minimize(sum(moved) / 2), [raised >= held]).solve("CLARABEL")
            )
    found, _ = oracle_for(means, np.ones(3), goal, answer, False)(weight)
    assert found == pytest.approx(min(costs), rel=1e-4)


def test_cover_bounds_meet_and_hold():
    rng = np.random.default_rng(2)
    gap = rng.normal(size=(40, 3, 4))
    gap[:, 0, 0] = 0.5
    weight, own = 10 ** rng.uniform(-4, 0, (40, 4)), 10 ** rng.uniform(-4, 0, (40, 3))
    done = cover_arms(gap, weight, own)
    assert (done.rise[:, :, None] + done.fall[:, None, :] >= gap - 1e-12).all()
    assert (done.cost - done.bound <= 1e-8 * done.cost).all()
    for b in range(10):
        rows = [np.eye(7)[x] + np.eye(7)[3 + m] for x in range(3) for m in range(4)]
        expected = least_cost(np.array(rows), gap[b].ravel(), np.concatenate([own[b], weight[b]]))
        assert done.cost[b] == pytest.approx(expected, rel=1e-6)
    fall = gap[0] - gap[0].max(axis=1, keepdims=True)
    levels = cover_levels(
        fall, weight[0], np.array([1.0, 0.2, 3.0]), np.array([0.01, 1.0]), np.array([9.0, 99.0])
    )
    assert (levels.cost - levels.bound <= 1e-8 * levels.cost).all()


def pooled(values: np.ndarray, weights: np.ndarray, base: float, own: float) -> np.ndarray:
    """min_x own (x - base)^2 / 2 + sum weights (values - x)^+^2 / 2 for weights [B, M], x >= base."""
    order = np.argsort(-values)
    best = np.full(len(weights), np.inf)
    for q in range(len(order) + 1):
        top = order[:q]
        x = (own * base + weights[:, top] @ values[top]) / (own + weights[:, top].sum(axis=1))
        fall = np.maximum(values - x[:, None], 0)
        cost = own * (x - base) ** 2 + (weights * fall**2).sum(axis=1)
        best = np.where(x >= base, np.minimum(best, 0.5 * cost), best)
    return best


def searched(group, weight):
    """Return what the search finds, which the plain and the compiled code agree on."""
    assert 0.0 < group.start(weight) == begin(group.case, weight)
    found = group.search(np.inf)
    cut = np.zeros(len(weight))
    assert search(group.case, np.inf, limit_reject.NODES, cut) == found[:2]
    assert cut.tolist() == found[2].tolist()
    return found


def test_rejecting_with_many_dominators_equals_all_partitions():
    rng = np.random.default_rng(4)
    J = 13
    means = [rng.random((2, 2)), *(rng.random((2, 2)) + 0.6 for _ in range(J))]
    arms = Arms.of([means[0], *(np.maximum(rows, 1.01) for rows in means[1:])], np.ones(2))
    for boost in (1.0, 8.0):
        weight = rng.dirichlet(np.full(2 * J + 2, 2.0))
        weight[:2] *= boost
        member = np.repeat(np.arange(1 << J)[:, None] >> np.arange(J) & 1, 2, axis=1)
        placed = member * weight[2:]
        part = [
            np.minimum(
                *(pooled(arms.mean[2:, d], placed, arms.mean[a, d], weight[a]) for a in (0, 1))
            )
            for d in range(2)
        ]
        expected = (part[0] + part[1][::-1]).min()  # the complement of a set is its mirror
        group = Rejected(arms, 0, np.arange(1, J + 1), dependent=False)
        cost, low, cut = searched(group, weight)
        assert cost == pytest.approx(expected, rel=1e-9)
        assert low == pytest.approx(expected, rel=1e-8)
        assert cut @ weight == pytest.approx(expected, rel=1e-9)


def test_a_search_cut_short_still_bounds(monkeypatch):
    rng = np.random.default_rng(8)
    means = [rng.random((3, 3)), *(rng.random((3, 3)) + 0.5 for _ in range(7))]
    arms = Arms.of([means[0], *(np.maximum(rows, 1.01) for rows in means[1:])], np.ones(3))
    weight = rng.dirichlet(np.ones(24))
    group = Rejected(arms, 0, np.arange(1, 8), dependent=False)
    exact, _, _ = searched(group, weight)
    monkeypatch.setattr(limit_reject, "NODES", 3)
    cost, low, _ = searched(group, weight)
    assert 0 < low < exact <= cost


def test_lists_cut_short_still_bound(monkeypatch):
    rng = np.random.default_rng(3)
    short = [0, 0]
    for _ in range(20):
        arms = Arms.of(random_means(rng, (4, 4, 4), 3), np.ones(3))
        weight = rng.dirichlet(np.full(12, 0.7)) + 1e-4
        goal = BestGroup([1.0, 0.5, 0.7])
        winner = int(np.argmax(arms.best @ np.array(goal.weights)))

        def beaten(arms=arms, weight=weight):
            pairs = BeatenTogether(arms, np.full(3, 0.1), [0, 1, 2], np.arange(3), weight)
            return pairs.low.min(), pairs.cost.min()

        def overtaken(arms=arms, weight=weight, goal=goal, winner=winner):
            low, cuts = BeatenBest(arms, np.array(goal.weights), 0.0, winner, dependent=True)(
                weight
            )
            return low, (cuts @ weight).min()

        for at, (module, run) in enumerate(((limit_beaten, beaten), (limit_linear, overtaken))):
            exact = run()
            with monkeypatch.context() as patch:
                patch.setattr(module, "WIDTH", 0)
                low, cost = run()
            assert exact[0] == pytest.approx(exact[1], rel=1e-8)
            assert low <= exact[0] * (1 + 1e-9) <= cost * (1 + 1e-8)
            short[at] += low < exact[0] * (1 - 1e-6)
    assert min(short) > 0

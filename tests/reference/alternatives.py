"""Alternatives of the limit, enumerated from the definitions, and generic solvers for them.

An alternative that makes an answer wrong is a set of linear inequalities G @ shifts >= need. Nothing here
knows how the library solves these problems.
"""

import itertools
import math
from collections.abc import Iterator

import cvxpy as cp
import numpy as np
from scipy.optimize import nnls

from bestgroup.problem.goals import BestGroup, ParetoGroups

GOALS = {
    "pareto": lambda D: ParetoGroups(0.0),
    "pareto epsilon": lambda D: ParetoGroups(0.15),
    "pareto epsilons": lambda D: ParetoGroups([0.05, 0.3, 0.1][:D]),
    "best": lambda D: BestGroup([1.0, 0.6, 1.7][:D]),
    "best epsilon": lambda D: BestGroup([1.0, 2.5, 0.3][:D], 0.1),
}
SIZES = [(2, 3, 1), (1, 1, 2, 1), (3, 2, 2)]


class Reference:
    """All alternatives that make an answer wrong, straight from the definitions; shifts are [A * D]."""

    def __init__(self, means: list[np.ndarray], scale: np.ndarray) -> None:
        self.means = [rows / scale for rows in means]
        self.D = len(scale)
        self.start = np.cumsum([0] + [len(rows) for rows in means])
        self.flat = np.concatenate(self.means)

    def at(self, i: int, arm: int, d: int) -> int:
        return (self.start[i] + arm) * self.D + d

    def row(self, *terms: tuple[float, int]) -> np.ndarray:
        row = np.zeros(self.flat.size)
        for factor, where in terms:
            row[where] += factor
        return row

    def selections(self, i: int) -> Iterator[tuple[int, ...]]:
        return itertools.product(range(len(self.means[i])), repeat=self.D)

    def pack(self, rows: list[np.ndarray], margin: list[float]) -> tuple[np.ndarray, np.ndarray]:
        """rows @ (means + shifts) >= margin, as rows @ shifts >= needs."""
        G = np.array(rows)
        return G, np.array(margin) - G @ self.flat.ravel()

    def pareto(self, answer: set[int], epsilon: np.ndarray):
        """Beaten by more than epsilon by anybody, or outside and strictly beaten by nobody at all."""
        N = len(self.means)
        for i, j in itertools.permutations(range(N), 2):
            if i not in answer:
                continue
            for serve in self.selections(j):
                rows, margin = [], []
                for d, m in itertools.product(range(self.D), range(len(self.means[i]))):
                    rows.append(self.row((1, self.at(j, serve[d], d)), (-1, self.at(i, m, d))))
                    margin.append(epsilon[d])
                yield self.pack(rows, margin)
        for k in set(range(N)) - answer:
            others = [j for j in range(N) if j != k]
            for serve in self.selections(k):
                for dims in itertools.product(range(self.D), repeat=len(others)):
                    rows = [
                        self.row((1, self.at(k, serve[d], d)), (-1, self.at(j, m, d)))
                        for j, d in zip(others, dims, strict=True)
                        for m in range(len(self.means[j]))
                    ]
                    yield self.pack(rows, [0.0] * len(rows))

    def linear(self, i: int, weights: np.ndarray, slack: float):
        """Some k with R_k . w >= R_i . w + slack; the maximum on the right is all selections at once."""
        for k in range(len(self.means)):
            if k == i:
                continue
            for serve in self.selections(k):
                rows = []
                for lowered in self.selections(i):
                    terms = [(weights[d], self.at(k, serve[d], d)) for d in range(self.D)]
                    terms += [(-weights[d], self.at(i, lowered[d], d)) for d in range(self.D)]
                    rows.append(self.row(*terms))
                yield self.pack(rows, [slack] * len(rows))

    def alternatives(self, answer: frozenset[int], goal, scale: np.ndarray):
        if isinstance(goal, BestGroup):
            weights = np.array(goal.weights)
            yield from self.linear(min(answer), weights * scale, goal.epsilon * weights.sum())
        else:
            yield from self.pareto(set(answer), goal.epsilons(self.D) / scale)


def fold(G: np.ndarray, D: int, dependent: bool) -> np.ndarray:
    """With fully dependent dims an arm has one shift: its D columns add up."""
    return G.reshape(len(G), -1, D).sum(axis=2) if dependent else G


def per_coordinate(weight: np.ndarray, D: int, dependent: bool) -> np.ndarray:
    return weight if dependent else np.repeat(weight, D)


def least_cost(G: np.ndarray, need: np.ndarray, weight: np.ndarray) -> float:
    """min sum weight v^2 / 2 subject to G v >= need: least distance programming (Lawson & Hanson 1974)."""
    if (need <= 0).all():
        return 0.0
    unit = need.max()
    E = np.vstack([(G / np.sqrt(weight)).T, need / unit])
    target = np.zeros(len(E))
    target[-1] = 1.0
    u, _ = nnls(E, target)
    rest = E @ u - target
    return 0.5 * float(np.sum((rest[:-1] / rest[-1] * unit) ** 2))


def inner_minimum(reference, alternatives, weight, dependent) -> float:
    share = per_coordinate(weight, reference.D, dependent)
    return min(least_cost(fold(G, reference.D, dependent), h, share) for G, h in alternatives)


def game_value(reference: Reference, alternatives: list, dependent: bool) -> float:
    """sup_w min_r F_r(w) as one conic programme: F_r(w) = max_y need.y - sum_v (G'y)_v^2 / (2 w_v)."""
    arms, D = len(reference.flat), reference.D
    w, worth = cp.Variable(arms, nonneg=True), cp.Variable()
    limits = [cp.sum(w) == 1]
    unit = math.sqrt(inner_minimum(reference, alternatives, np.ones(arms), dependent))
    for G, need in alternatives:
        folded = fold(G, D, dependent)
        y = cp.Variable(len(need), nonneg=True)
        push = folded.T @ y
        step = 1 if dependent else D
        spent = sum(cp.quad_over_lin(push[a * step : (a + 1) * step], w[a]) for a in range(arms))
        limits.append((need / unit) @ y - 0.5 * spent >= worth)
    problem = cp.Problem(cp.Maximize(worth), limits)
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-7, tol_gap_abs=1e-9)
    assert problem.status == "optimal"
    return float(problem.value) * unit**2


def random_means(rng, sizes, D) -> list[np.ndarray]:
    return [rng.random((size, D)) for size in sizes]


def unbeaten(R: np.ndarray, epsilon) -> set[int]:
    return {
        i for i in range(len(R)) if not any((R[i] + epsilon < R[j]).all() for j in range(len(R)))
    }


def correct_answers(means, goal) -> list[frozenset[int]]:
    R = np.array([rows.max(axis=0) for rows in means])
    if isinstance(goal, BestGroup):
        score = R @ np.array(goal.weights)
        slack = goal.epsilon * sum(goal.weights)
        return [frozenset({i}) for i in range(len(R)) if score[i] + slack >= score.max()]
    sure = unbeaten(R, 0.0)
    free = sorted(unbeaten(R, goal.epsilons(R.shape[1])) - sure)
    subsets = itertools.chain.from_iterable(
        itertools.combinations(free, r) for r in range(len(free) + 1)
    )
    return [frozenset(sure | set(extra)) for extra in subsets]

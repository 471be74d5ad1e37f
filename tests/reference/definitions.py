"""The paper's definitions by brute force, in plain Python, for small problems.

`means[i][j][d]` is the mean of arm j of group i in dim d; `R[i][d]` is an efficiency. An empty
minimum is +inf. `epsilon` may be one number or one for each dim.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

Vector = Sequence[float]
Means = Sequence[Sequence[Vector]]
Epsilon = float | Vector


def each_dim(epsilon: Epsilon, dims: int) -> list[float]:
    """One epsilon for each dim."""
    return [float(epsilon)] * dims if isinstance(epsilon, int | float) else list(epsilon)


def weakly_dominated(u: Vector, v: Vector) -> bool:
    """Whether u <= v: u^d <= v^d for all d (Definition 2.1)."""
    return all(x <= y for x, y in zip(u, v, strict=True))


def dominated(u: Vector, v: Vector) -> bool:
    """Whether u is weakly dominated by v and u^d < v^d for some d (Definition 2.1)."""
    return weakly_dominated(u, v) and any(x < y for x, y in zip(u, v, strict=True))


def strictly_dominated(u: Vector, v: Vector) -> bool:
    """Whether u^d < v^d for all d (Definition 2.1)."""
    return all(x < y for x, y in zip(u, v, strict=True))


def m(v: Vector, u: Vector) -> float:
    """m(v, u) = [min_d u^d - v^d]^+ (section 3)."""
    least = min(y - x for x, y in zip(v, u, strict=True))
    return max(least, 0.0)


def big_m(v: Vector, u: Vector, alpha: float = 0.0) -> float:
    """M_alpha(v, u) = [max_d v^d - u^d + alpha]^+ (section 3)."""
    widest = max(x - y + alpha for x, y in zip(v, u, strict=True))
    return max(widest, 0.0)


def efficiency(means: Means) -> list[list[float]]:
    """R_i^d = max_j mu_ij^d (section 2)."""
    return [[max(arm[d] for arm in group) for d in range(len(group[0]))] for group in means]


def pareto(R: Sequence[Vector], epsilon: Epsilon = 0.0) -> set[int]:
    """The groups i for which no j has R_i + epsilon strictly dominated by R_j (Definition 3.1)."""
    found = set()
    for i, row in enumerate(R):
        raised = [x + e for x, e in zip(row, each_dim(epsilon, len(row)), strict=True)]
        if not any(strictly_dominated(raised, other) for other in R):
            found.add(i)
    return found


@dataclass(frozen=True)
class Gaps:
    """Gaps of groups and arms; `plus` and `minus` (Pareto) or `lift` (best group) where defined."""

    group: list[float]
    arm: list[list[float]]
    effective: list[list[float]]
    plus: list[float]
    minus: list[float]
    lift: list[list[float]]


def pareto_gaps(means: Means, epsilon: float = 0.0) -> Gaps:
    """Delta_i, Delta_i^+, Delta_i^-, Delta_ij = m(mu_ij, R_i), max(Delta_ij, Delta_i, epsilon)."""
    R = efficiency(means)
    groups = range(len(R))
    best = pareto(R)
    outside = {i: max(m(R[i], R[j]) for j in best) for i in groups if i not in best}
    plus, minus, group = [], [], []
    for i in groups:
        others = [j for j in best if j != i]
        up = min((min(big_m(R[i], R[j]), big_m(R[j], R[i])) for j in others), default=math.inf)
        down = min((big_m(R[j], R[i]) + 2 * outside[j] for j in outside), default=math.inf)
        plus.append(up if i in best else math.nan)
        minus.append(down if i in best else math.nan)
        group.append(min(up, down) if i in best else outside[i])
    arm = [[m(mu, R[i]) for mu in means[i]] for i in groups]
    effective = [[max(gap, group[i], epsilon) for gap in arm[i]] for i in groups]
    return Gaps(group, arm, effective, plus, minus, [])


def dot(v: Vector, w: Vector) -> float:
    """v . w."""
    return math.fsum(x * y for x, y in zip(v, w, strict=True))


def best_group(R: Sequence[Vector], weights: Vector) -> int:
    """i*, the group of the largest R_i . w, which must be the only one (section 4)."""
    values = [dot(row, weights) for row in R]
    if values.count(max(values)) > 1:
        raise ValueError("the best group is not unique")
    return values.index(max(values))


def lift(means: Means, weights: Vector, i: int, j: int) -> float:
    """alpha_ij = inf{alpha > 0 : R(i, j, alpha) . w > R_i* . w}, by bisection."""
    R = efficiency(means)
    goal = dot(R[best_group(R, weights)], weights)

    def wins(alpha: float) -> bool:
        raised = [max(x, y + alpha) for x, y in zip(R[i], means[i][j], strict=True)]
        return dot(raised, weights) > goal

    low, high = 0.0, 1.0
    while not wins(high):
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if wins(middle) else (middle, high)
    return high


def best_group_gaps(means: Means, weights: Vector) -> Gaps:
    """Delta_i, alpha_ij, and Delta_ij = max(alpha_ij, Delta_i) (section 4)."""
    R = efficiency(means)
    groups = range(len(R))
    star = best_group(R, weights)
    top, norm = dot(R[star], weights), math.fsum(weights)
    group = [(top - dot(R[i], weights)) / norm for i in groups]
    group[star] = min((group[i] for i in groups if i != star), default=math.inf)
    alpha = [[lift(means, weights, i, j) for j in range(len(means[i]))] for i in groups]
    arm = [[max(a, group[i]) for a in alpha[i]] for i in groups]
    return Gaps(group, arm, arm, [], [], alpha)


def pareto_correct(answer: Collection[int], means: Means, epsilon: Epsilon = 0.0) -> bool:
    """Whether G*_0 is in the answer and the answer in G*_epsilon."""
    R = efficiency(means)
    return pareto(R) <= set(answer) <= pareto(R, epsilon)


def best_group_correct(
    answer: Collection[int], means: Means, weights: Vector, epsilon: Epsilon = 0.0
) -> bool:
    """Whether the answer is one group i with (R_i + epsilon) . w >= R_i* . w."""
    if len(answer) != 1:
        return False
    (i,) = answer
    R = efficiency(means)
    raised = [x + e for x, e in zip(R[i], each_dim(epsilon, len(weights)), strict=True)]
    return dot(raised, weights) >= max(dot(row, weights) for row in R)

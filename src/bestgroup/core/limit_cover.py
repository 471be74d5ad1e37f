"""A small quadratic programme with a certified bound, for arms that one shift moves in every dim.

Raised things l (rises x_l) and lowered arms m (falls b_m) must cover gaps: x_l + b_m >= gap_lm for all l and m.
An interior point method solves it; its multipliers give a lower bound of the least cost, so nothing
rests on the method having converged.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.core.arrays import Floats
from bestgroup.core.kernel import kernel

STEPS = 60
PRECISION = 1e-10  # relative gap between the cost and its bound at which the iteration stops


class Cover(NamedTuple):
    """Minimise x'Px/2 - f.x + sum_m weight_m b_m^2 / 2 subject to x_l + b_m >= gap_lm.

    P = diag(own) + slope slope' / spread, f = slope target / spread. Either slope is 0 (x_l are rises of arms
    with weights `own`), or own is 0 (x_l are levels of dims, and (slope.x - target)^2 / (2 spread) is what it
    costs to raise another group by the rest).
    """

    gap: Floats  # [L, M]
    weight: Floats  # [M]
    own: Floats  # [L]
    slope: Floats  # [L]
    spread: float
    target: float


class Point(NamedTuple):
    """An interior point: x, b, the slacks x_l + b_m - gap_lm and their prices."""

    x: Floats  # [L]
    fall: Floats  # [M]
    slack: Floats  # [L, M]
    price: Floats  # [L, M]


@kernel
def cover(problem: Cover, x: Floats, fall: Floats) -> tuple[float, float, float]:
    """Return (cost, bound, y), with a feasible point of that cost in `x` [L] and `fall` [M].

    `bound` <= the minimum comes from the multipliers; y = (slope.x - target) / spread is the price of the
    raised group.
    """
    size = problem.gap.shape[0] * problem.gap.shape[1]
    point = start_inside(problem, x, fall)
    shrink, step = 0.1, 1.0
    cost, bound, y = math.inf, -math.inf, 0.0
    for _ in range(STEPS):
        total = 0.0
        for left in range(len(x)):
            for right in range(len(fall)):
                total += point.slack[left, right] * point.price[left, right]
        step = newton(problem, point, shrink * total / size)
        shrink = 0.05 if step > 0.9 else 0.3
        cost, bound, y = judge(problem, point)
        if cost - bound <= PRECISION * cost:
            break
    for right in range(len(fall)):
        fall[right] = needed_fall(problem.gap, x, right)
    return cost, bound, y


@kernel
def start_inside(problem: Cover, x: Floats, fall: Floats) -> Point:
    """Return a point with positive slacks and prices, of the size of the gaps and weights."""
    lefts, rights = problem.gap.shape
    unit, mass, lift = 0.0, 0.0, 0.0
    for left in range(lefts):
        lift += problem.slope[left]
        for right in range(rights):
            unit = max(unit, problem.gap[left, right])
    if lift > 0.0:
        unit = -problem.target / lift
    for right in range(rights):
        mass += problem.weight[right] / rights
    x[:], fall[:] = unit, unit
    slack, price = np.empty((lefts, rights)), np.empty((lefts, rights))
    for left in range(lefts):
        for right in range(rights):
            slack[left, right] = 2.0 * unit - problem.gap[left, right]
            price[left, right] = mass * unit * unit / slack[left, right]
    return Point(x, fall, slack, price)


@kernel
def needed_fall(gap: Floats, x: Floats, right: int) -> float:
    """Return the least fall b_m >= 0 that covers every gap of m, given the rises x."""
    fall = 0.0
    for left in range(len(x)):
        fall = max(fall, gap[left, right] - x[left])
    return fall


@kernel
def judge(problem: Cover, at: Point) -> tuple[float, float, float]:
    """Return the cost of the rises with the falls they need, a bound from the prices, and y."""
    lefts, rights = problem.gap.shape
    cost, moved = 0.0, 0.0
    for left in range(lefts):
        cost += 0.5 * problem.own[left] * at.x[left] ** 2
        moved += problem.slope[left] * at.x[left]
    linear = problem.slope[0] > 0.0
    y = max(moved - problem.target, 0.0) / problem.spread
    bound = 0.0
    if linear:
        cost += 0.5 * y * y * problem.spread
        bound = -y * problem.target - 0.5 * y * y * problem.spread
    paid = np.zeros(rights)
    for left in range(lefts):
        row = 0.0
        for right in range(rights):
            row += at.price[left, right]
        # Levels are free but for the raised group: their prices must add up to y slope exactly.
        factor = y * problem.slope[left] / row if linear else 1.0
        if not linear:
            bound -= 0.5 * row * row / problem.own[left]
        for right in range(rights):
            bound += factor * at.price[left, right] * problem.gap[left, right]
            paid[right] += factor * at.price[left, right]
    for right in range(rights):
        cost += 0.5 * problem.weight[right] * needed_fall(problem.gap, at.x, right) ** 2
        bound -= 0.5 * paid[right] ** 2 / problem.weight[right]
    return cost, bound, y


@kernel
def newton(problem: Cover, at: Point, goal: float) -> float:
    """Move the point by a damped Newton step towards slack * price = goal; return the step's length."""
    lefts, rights = problem.gap.shape
    matrix, dx, db = np.empty((lefts, lefts)), np.empty(lefts), np.empty(rights)
    moved = -problem.target
    for left in range(lefts):
        moved += problem.slope[left] * at.x[left]
    for left in range(lefts):
        dx[left] = -problem.own[left] * at.x[left] - problem.slope[left] * moved / problem.spread
        for other in range(lefts):
            matrix[left, other] = problem.slope[left] * problem.slope[other] / problem.spread
        matrix[left, left] += problem.own[left]
    for right in range(rights):
        stiff, force = problem.weight[right], -problem.weight[right] * at.fall[right]
        for left in range(lefts):
            stiff += at.price[left, right] / at.slack[left, right]
            force += goal / at.slack[left, right]
        db[right] = force / stiff
        for left in range(lefts):
            rate = at.price[left, right] / at.slack[left, right]
            dx[left] += goal / at.slack[left, right] - rate * db[right]
            matrix[left, left] += rate
            for other in range(lefts):
                matrix[left, other] -= rate * at.price[other, right] / at.slack[other, right] / stiff
    solve_positive(matrix, dx)
    for right in range(rights):
        stiff, pull = problem.weight[right], 0.0
        for left in range(lefts):
            rate = at.price[left, right] / at.slack[left, right]
            stiff += rate
            pull += rate * dx[left]
        db[right] -= pull / stiff
    return advance(at, dx, db, goal)


@kernel
def advance(at: Point, dx: Floats, db: Floats, goal: float) -> float:
    """Make the longest step up to 1 that keeps slacks and prices positive, and return its length."""
    step = 1.0
    for left in range(len(dx)):
        for right in range(len(db)):
            slack, price = at.slack[left, right], at.price[left, right]
            change = dx[left] + db[right]
            if change < -0.99 * slack * step:
                step = min(step, -0.99 * slack / change)
            change = goal / slack - price - price / slack * change
            if step * change < -0.99 * price:
                step = min(step, -0.99 * price / change)
    for left in range(len(dx)):
        for right in range(len(db)):
            slack, price = at.slack[left, right], at.price[left, right]
            change = dx[left] + db[right]
            at.slack[left, right] += step * change
            at.price[left, right] += step * (goal / slack - price - price / slack * change)
    for left in range(len(dx)):
        at.x[left] += step * dx[left]
    for right in range(len(db)):
        at.fall[right] += step * db[right]
    return step


@kernel
def solve_positive(matrix: Floats, right: Floats) -> None:
    """Solve matrix z = right in place by Cholesky's factorisation; the matrix is destroyed."""
    size = len(right)
    for col in range(size):
        for k in range(col):
            matrix[col, col] -= matrix[col, k] ** 2
        matrix[col, col] = math.sqrt(max(matrix[col, col], 1e-300))
        for row in range(col + 1, size):
            for k in range(col):
                matrix[row, col] -= matrix[row, k] * matrix[col, k]
            matrix[row, col] /= matrix[col, col]
    for row in range(size):
        for k in range(row):
            right[row] -= matrix[row, k] * right[k]
        right[row] /= matrix[row, row]
    for row in range(size - 1, -1, -1):
        for k in range(row + 1, size):
            right[row] -= matrix[k, row] * right[k]
        right[row] /= matrix[row, row]

"""Bounds of what groups are worth, from boxes of their arms: for limits and for every kind of worth.

`limits` [L, 4] has a row (dim, sign, at, tolerance) for each limit: sign * (mean - at) <= 0 keeps it. An
arm *counts* once its box is nowhere beyond a limit by more than the tolerance; it is *barred* once its
box lies beyond some limit; until then it is open. If both hold, it counts.

A group of rank k is worth in a dim the k-th largest mean of its arms that count. Lower bound: the k-th
largest lower end of those that are known to count; upper bound: the k-th largest upper end of those that
are not barred; -inf where there are fewer than k. Rank 0 stands for the average of all arms.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.measure import Measure

OPEN, COUNTS, BARRED = 0, 1, 2


def limit_rows(measure: Measure) -> Floats:
    """Return the limits as the kernels see them, [L, 4]."""
    return np.array([list(bound) for bound in measure.bounds], np.float64).reshape(-1, 4)


@borrowing
def standing_of(low: Floats, high: Floats, limits: Floats) -> int:
    """Return whether an arm with this box [D] counts, is barred, or neither is known."""
    barred, within = False, True
    for k in range(len(limits)):
        d, sign, at, slack = int(limits[k, 0]), limits[k, 1], limits[k, 2], limits[k, 3]
        least = sign * ((low[d] if sign > 0.0 else high[d]) - at)
        most = sign * ((high[d] if sign > 0.0 else low[d]) - at)
        if least > 0.0:
            barred = True
        if not most <= slack:
            within = False
    if within:
        return COUNTS
    return BARRED if barred else OPEN


@borrowing
def kth_largest(
    ends: Floats, i: int, d: int, standing: Ints, size: int, rank: int, sure: bool
) -> float:
    """Return the rank-th largest of ends[i, :size, d], over arms known to count or those not barred."""
    best, many = -math.inf, 0
    for j in range(size):
        if standing[i, j] == BARRED or (sure and standing[i, j] != COUNTS):
            continue
        many += 1
        if rank == 1:
            best = max(best, ends[i, j, d])
            continue
        above, level = 0, 0
        for k in range(size):
            if standing[i, k] == BARRED or (sure and standing[i, k] != COUNTS):
                continue
            if ends[i, k, d] > ends[i, j, d]:
                above += 1
            elif ends[i, k, d] == ends[i, j, d]:
                level += 1
        # The value at this place if equal ones stand side by side.
        if above < rank <= above + level:
            best = ends[i, j, d]
    return best if many >= rank else -math.inf


@borrowing
def average(ends: Floats, i: int, d: int, size: int) -> float:
    """Return the average of ends[i, :size, d]."""
    total = 0.0
    for j in range(size):
        total += ends[i, j, d]
    return total / size


@borrowing
def set_standing(low: Floats, high: Floats, exists: Bools, limits: Floats, standing: Ints) -> None:
    """Set which arms count and which are barred, in place; what is known stays."""
    for i in range(exists.shape[0]):
        for j in range(exists.shape[1]):
            if exists[i, j] and standing[i, j] == OPEN:
                standing[i, j] = standing_of(low[i, j], high[i, j], limits)


@borrowing
def set_worths(
    low: Floats,
    high: Floats,
    standing: Ints,
    sizes: Ints,
    ranks: Ints,
    lower: Floats,
    upper: Floats,
) -> None:
    """Set the bounds of all worths, [N, D] each, from boxes [N, K, dims]."""
    for i in range(lower.shape[0]):
        for d in range(lower.shape[1]):
            if ranks[i] == 0:
                lower[i, d] = average(low, i, d, sizes[i])
                upper[i, d] = average(high, i, d, sizes[i])
            else:
                lower[i, d] = kth_largest(low, i, d, standing, sizes[i], ranks[i], True)
                upper[i, d] = kth_largest(high, i, d, standing, sizes[i], ranks[i], False)

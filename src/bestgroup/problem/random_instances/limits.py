"""Which minimal gaps are possible at all, and a table of efficiency vectors that has a given one.

p vectors of [0, 1]^D that pairwise exceed each other somewhere by more than g, in both
directions, exist exactly when ``{0, ..., L-1}^D`` with ``L = ceil(1 / g)`` holds p pairwise
incomparable points: rounding down to multiples of g (a little more, if 1 / g is whole) leads one
way, spacing lattice points by 1 / (L - 1) > g the other. The largest such set is the middle layer
(de Bruijn, Tengbergen and Kruyswijk 1951). Groups that are not optimal need an optimal vector
above g in every dim: the middle layer has one for L >= 3, and L = 2 leaves room for one with p =
1 only.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.problem.arrays import Floats

# In 13 dims already two levels hold 1,716 incomparable points, more than any search here asks for.
DIMS = 13
MOST = 1000


def _layers(levels: int, dims: int) -> list[Floats]:
    """Return the numbers of points of ``{0..levels-1}^r`` by their sum, for r = 0, ..., dims."""
    counts = [np.ones(1)]
    for _ in range(dims):
        # The cap keeps every count an exact float; a capped count stays at least the cap.
        counts.append(np.minimum(np.convolve(counts[-1], np.ones(levels)), 2.0**40))
    return counts


def levels_needed(groups: int, dims: int, pareto: int) -> float:
    """Return the least number of lattice levels that `pareto` optimal ones of `groups` need.

    >>> levels_needed(5, 2, 4), levels_needed(4, 2, 4), levels_needed(5, 1, 2)
    (4, 4, inf)
    """
    if pareto == 1:
        return 1 if groups == 1 else 2
    if dims == 1:
        return math.inf
    dims = min(dims, DIMS)

    def width(levels: int) -> float:
        return _layers(levels, dims)[-1][dims * (levels - 1) // 2]

    low, high = (2 if groups == pareto else 3), max(pareto, 3)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if width(middle) >= pareto else (middle + 1, high)
    return low


def largest_gap(groups: int, dims: int, pareto: int) -> float:
    """Return the g such that min_i Delta_i > x is possible for means in [0, 1] exactly for x < g.

    It is 0 where no instance has so many Pareto-optimal groups without ties.

    >>> largest_gap(3, 2, 3), largest_gap(4, 2, 3), largest_gap(30, 5, 28), largest_gap(2, 1, 2)
    (0.5, 0.5, 0.5, 0.0)
    """
    levels = levels_needed(groups, dims, pareto)
    return math.inf if levels == 1 else 1.0 / (levels - 1)


def lattice_start(
    rng: np.random.Generator, groups: int, dims: int, pareto: int, gap: float
) -> Floats:
    """Return efficiency vectors [N, D] with `pareto` optimal groups and all gaps above `gap`.

    Random points of the middle layer, spaced half-way between `gap` and the widest possible; the
    other groups lie anywhere under one of them. `gap` must be below `largest_gap`.
    """
    levels = int(levels_needed(groups, dims, pareto))
    front = _antichain(rng, levels, min(dims, DIMS), pareto)
    step = 0.0 if levels == 1 else (gap + 1.0 / (levels - 1)) / 2.0
    table = np.ones((groups, dims))
    table[:pareto, : front.shape[1]] = 1.0 - step * (levels - 1 - front)
    roof = table[0] - gap
    table[pareto:] = roof * (1.0 - rng.random((groups - pareto, dims)))
    return table


def _antichain(rng: np.random.Generator, levels: int, dims: int, pareto: int) -> Floats:
    """Return distinct random points of the middle layer [p, D]; the first is the most balanced."""
    if pareto == 1:
        return np.full((1, dims), levels - 1.0)
    total = dims * (levels - 1) // 2
    first = np.full(dims, total // dims)
    first[: total % dims] += 1
    counts = _layers(levels, dims)
    points = {tuple(first.tolist()): None}
    while len(points) < pareto:
        left = total
        point: list[int] = []
        for rest in range(dims - 1, -1, -1):
            values = np.arange(max(0, left - rest * (levels - 1)), min(levels - 1, left) + 1)
            ways = np.cumsum(counts[rest][left - values])
            value = int(values[np.searchsorted(ways, rng.random() * ways[-1], side="right")])
            point.append(value)
            left -= value
        points[tuple(point)] = None
    return np.array(list(points), dtype=np.float64)

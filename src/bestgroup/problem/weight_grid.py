"""A fixed triangulation of a set of weights, and a fixed grid of weights in it.

Worths are linear in the weights, so that lower bounds of R_i . w - R_k . w at the corners of a cell
bound it on all of the cell. Nothing here depends on data: corners, cells and grid are fixed by the
goal, before the first pull. Weights are taken with sum 1: their scale changes no comparison.
"""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.triangulation import triangulate

_PARTS = {1: 4, 2: 4, 3: 2, 4: 2}  # by dimension: parts of an edge; more corners share delta
_FINE = {0: 1, 1: 64, 2: 8, 3: 4, 4: 3, 5: 3}  # parts of a cell's edge that grid weights stand for
# In more dimensions: spacings of the multiples of powers of a number modulo a prime, which are even.
PRIME, STEP = 509, 61


class WeightGrid(NamedTuple):
    """Corners, cells and grid weights of a set of weights."""

    corners: (
        Floats  # [V, D]  the vertices of the set first, but for those that its hull does not need
    )
    own: int  # how many those are
    cells: Ints  # [C, E]    corners of each cell, E one more than the dimension
    points: Floats  # [P, D]   grid weights
    place: Ints  # [P]       the cell of each
    mix: Floats  # [P, E]    its shares of the cell's corners
    volume: Floats  # [P]      the share of the set that it stands for

    def at_points(self, bounds: Floats) -> Floats:
        """Return bounds [V, ...] at the corners as those at the grid weights, [P, ...]."""
        return np.einsum("pe,pe...->p...", self.mix, bounds[self.cells[self.place]])


@functools.lru_cache(maxsize=64)
def weight_grid(vertices: tuple[tuple[float, ...], ...]) -> WeightGrid:
    """Return the triangulation of the convex hull of vertices, each of which sums to 1.

    >>> grid = weight_grid(((1.0, 0.0), (0.0, 1.0)))
    >>> grid.corners[:, 0].tolist(), grid.cells.tolist()
    ([1.0, 0.0, 0.75, 0.5, 0.25], [[0, 2], [2, 3], [3, 4], [4, 1]])
    """
    whole, volumes = base_simplices(np.array(vertices))
    rank = whole.shape[1] - 1
    used, numbers = np.unique(whole, return_inverse=True)
    given, simplices = np.array(vertices)[used], numbers.reshape(-1, rank + 1)
    parts = subdivision(rank, _PARTS.get(rank, 1))
    corners = [tuple(row) for row in np.round(given, 12).tolist()]
    known = {corner: n for n, corner in enumerate(corners)}
    cells: list[list[int]] = []
    for simplex in simplices:
        for part in parts:
            row: list[int] = []
            mixed: Floats = part @ given[simplex]
            for corner in np.round(mixed, 12).tolist():
                place = known.setdefault(tuple(corner), len(known))
                row.append(place)
            cells.append(row)
    at, mix = np.array(list(known)), _spread(rank)
    at[: len(given)] = given
    place = np.repeat(np.arange(len(cells)), len(mix))
    every = np.tile(mix, (len(cells), 1))
    table = np.array(cells, np.int64).reshape(len(cells), rank + 1)
    points = np.einsum("pe,ped->pd", every, at[table[place]])
    volume = np.repeat(volumes / (len(parts) * len(mix)), len(parts) * len(mix))
    return WeightGrid(at, len(given), table, points, place, every, volume / volume.sum())


def base_simplices(given: Floats) -> tuple[Ints, Floats]:
    """Return simplices that make up the hull of vertices, [S, E], and their volumes."""
    points: list[list[float]] = given.tolist()
    found = triangulate([[Fraction(x) for x in point] for point in points])
    simplices = np.array([simplex for simplex, _ in found], np.int64)
    return simplices, np.array([float(volume) for _, volume in found])


def subdivision(rank: int, parts: int) -> Floats:
    """Return the cells of a simplex whose edges have so many parts: shares of corners, [C, E, E].

    Freudenthal's triangulation: in sums y_1 >= ... >= y_r of shares a cell starts at integers and
    adds one to each coordinate in turn. All cells have the same volume.

    >>> subdivision(1, 2).tolist()
    [[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]]
    """
    found: list[list[Floats]] = []
    for start in itertools.product(range(parts), repeat=rank):
        if any(a < b for a, b in itertools.pairwise(start)):
            continue
        for turn in itertools.permutations(range(rank)):
            path = [list(start)]
            for axis in turn:
                path.append(list(path[-1]))
                path[-1][axis] += 1
            if all(a >= b for y in path for a, b in itertools.pairwise(y)):
                found.append([np.array([parts, *y]) - np.array([*y, 0]) for y in path])
    return np.array(found, np.float64).reshape(-1, rank + 1, rank + 1) / parts


def _spread(rank: int) -> Floats:
    """Return grid weights of a cell as shares of its corners, [P, E]: middles of equal parts."""
    if rank in _FINE:
        return subdivision(rank, _FINE[rank]).sum(axis=1) / (rank + 1)
    powers = [pow(STEP, k, PRIME) for k in range(rank)]
    marks = np.array([sorted(n * k % PRIME for k in powers) for n in range(1, PRIME)])
    ends = np.pad(marks, ((0, 0), (1, 1)), constant_values=((0, 0), (0, PRIME)))
    return np.diff(ends, axis=1) / PRIME

"""A fixed triangulation of a set of weights, and a fixed grid of weights in it.

Worths are linear in the weights, so that lower bounds of R_i . w - R_k . w at the corners of a cell
bound it on all of the cell. Nothing here depends on data: corners, cells and grid are fixed by the
goal, before the first pull. Weights are taken with sum 1: their scale changes no comparison.
"""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

import numpy as np

from bestgroup.problem.arrays import Floats, Ints

_PARTS = {1: 4, 2: 4, 3: 2, 4: 2}  # by dimension: parts of an edge; more corners share delta
_FINE = {0: 1, 1: 64, 2: 8, 3: 4, 4: 3, 5: 3}  # parts of a cell's edge that grid weights stand for
_MANY = 512  # grid weights of a cell in more dimensions


class WeightGrid(NamedTuple):
    """Corners, cells and grid weights of a set of weights."""

    corners: Floats  # [V, D]  the vertices of the set first
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
    given = np.array(vertices)
    simplices, volumes = base_simplices(given)
    rank = simplices.shape[1] - 1
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
    if len(given) == 1:
        return np.zeros((1, 1), np.int64), np.ones(1)
    _, size, axes = np.linalg.svd(given - given.mean(axis=0))
    rank = int((size > 1e-9).sum())
    if len(given) == rank + 1:
        return np.arange(rank + 1, dtype=np.int64)[None, :], np.ones(1)
    flat = (given - given.mean(axis=0)) @ axes[:rank].T
    if rank == 1:
        order = np.argsort(flat[:, 0], kind="stable")
        return np.stack([order[:-1], order[1:]], axis=1), np.diff(flat[order, 0])
    from scipy.spatial import Delaunay  # pyright: ignore

    simplices = np.asarray(Delaunay(flat).simplices, np.int64)
    sides = flat[simplices[:, 1:]] - flat[simplices[:, :1]]
    volumes = np.abs(np.linalg.det(sides))
    kept = volumes > 1e-12 * volumes.max()
    return simplices[kept], volumes[kept]


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
    # In many dimensions: spacings of an even sequence (multiples of irrational numbers).
    steps = np.sqrt(np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41][:rank], np.float64))
    marks = np.sort((np.arange(1, _MANY + 1)[:, None] * steps[None, :]) % 1.0, axis=1)
    ends = np.concatenate([np.zeros((_MANY, 1)), marks, np.ones((_MANY, 1))], axis=1)
    return ends[:, 1:] - ends[:, :-1]

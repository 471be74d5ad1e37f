"""The cells of a set of weights, in integers: mixtures of its vertices that are fixed by how many there are.

A *corner* is a mixture of the V vertices by shares k_e / p, k_e whole and p = PARTS[V - 1]; corners are
counted from 0, those with the most of the first vertex first. Cells are those of Freudenthal's
triangulation: with the sums y_1 >= ... >= y_r, y_s = k_(s+1) + ... + k_V and r = V - 1, a cell begins at
some y and adds 1 to each of them once, one after the other. All have the same volume, and so have their
parts, FINE[r] to an edge, for which the weights of the *grid* stand, one in the middle of each.
"""

from __future__ import annotations

import functools
from itertools import pairwise, permutations, product
from typing import NamedTuple

PARTS = (1, 4, 4, 2, 2, 1)  # of an edge, by the number of vertices less one
FINE = (1, 64, 8, 4, 3, 3)  # of an edge of a cell
MOST_VERTICES = len(PARTS)

Mixture = tuple[int, ...]


class WeightCells(NamedTuple):
    """Corners and cells of a set with so many vertices."""

    parts: int  # of an edge: shares of a corner add up to that
    corners: list[Mixture]  # shares of the vertices
    cells: list[tuple[int, ...]]  # numbers of corners
    grid: list[Mixture]  # shares of the corners of a cell, for each weight of the grid in it
    whole: int  # that they add up to

    def vertices(self) -> list[int]:
        """Return the corners that are vertices of the set."""
        return [c for c, shares in enumerate(self.corners) if max(shares) == self.parts]


@functools.cache
def weight_cells(vertices: int) -> WeightCells:
    """Return the cells of a set with so many vertices.

    >>> weight_cells(2).corners, weight_cells(2).cells[:2]
    ([(4, 0), (3, 1), (2, 2), (1, 3), (0, 4)], [(0, 1), (1, 2)])
    """
    rank = vertices - 1
    coarse = _subdivision(rank, PARTS[rank])
    corners = sorted({corner for cell in coarse for corner in cell}, reverse=True)
    place = {corner: c for c, corner in enumerate(corners)}
    grid = [
        tuple(sum(end[e] for end in part) for e in range(rank + 1))
        for part in _subdivision(rank, FINE[rank])
    ]
    cells = [tuple(place[corner] for corner in cell) for cell in coarse]
    return WeightCells(PARTS[rank], corners, cells, grid, FINE[rank] * (rank + 1))


def _subdivision(rank: int, parts: int) -> list[list[Mixture]]:
    """Return the cells of a simplex whose edges have so many parts, each a list of its corners."""
    found: list[list[Mixture]] = []
    for start in product(range(parts), repeat=rank):
        for turn in permutations(range(rank)):
            path = [list(start)]
            for axis in turn:
                path.append([y + (k == axis) for k, y in enumerate(path[-1])])
            if all(a >= b for y in path for a, b in pairwise(y)):
                ends = [[parts, *y, 0] for y in path]
                found.append([tuple(a - b for a, b in pairwise(y)) for y in ends])
    return found

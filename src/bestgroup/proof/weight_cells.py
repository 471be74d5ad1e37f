"""The cells of a set of weights, in integers and fractions: mixtures of its vertices that these fix.

The hull of the V vertices is made of simplices (`problem.triangulation`): one, if there is one vertex more
than dimensions. A *corner* is a mixture of the vertices of a simplex by shares k_e / p, k_e whole and
p = PARTS[r], r the dimension; corners are counted from 0, those with the most of the first vertex first.
Cells of a simplex are those of Freudenthal's triangulation: with the sums y_1 >= ... >= y_r, y_s = k_(s+1) +
... + k_(r+1), a cell begins at some y and adds 1 to each of them once, one after the other. All cells of a
simplex have the same volume, and so have their parts, FINE[r] to an edge, for which the weights of the *grid*
stand, one in the middle of each; in more than 5 dimensions these are spacings modulo a prime.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import NamedTuple

from bestgroup.problem.triangulation import triangulate
from bestgroup.problem.weight_grid import PRIME, STEP

PARTS = (1, 4, 4, 2, 2)  # of an edge, by dimension; then 1
FINE = (1, 64, 8, 4, 3, 3)  # of an edge of a cell

Mixture = tuple[int, ...]
Vertices = tuple[tuple[Fraction, ...], ...]


class WeightCells(NamedTuple):
    """Corners and cells of a set of weights."""

    parts: int  # of an edge: shares of a corner add up to that
    corners: list[Mixture]  # shares of the vertices
    cells: list[tuple[int, ...]]  # numbers of corners
    volumes: list[Fraction]  # of the cells, as parts of the set
    grid: list[Mixture]  # shares of the corners of a cell, for each weight of the grid in it

    def vertices(self) -> list[int]:
        """Return the corners that are vertices of the set."""
        return [c for c, shares in enumerate(self.corners) if max(shares) == self.parts]


@functools.lru_cache(maxsize=16)
def weight_cells(vertices: Vertices) -> WeightCells:
    """Return the cells of the set between vertices.

    >>> ends = weight_cells(((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))))
    >>> ends.corners, ends.cells[:2]
    ([(4, 0), (3, 1), (2, 2), (1, 3), (0, 4)], [(0, 1), (1, 2)])
    """
    simplices = triangulate(vertices)
    rank, V = len(simplices[0][0]) - 1, len(vertices)
    parts = PARTS[rank] if rank < len(PARTS) else 1
    within = _subdivision(rank, parts)
    coarse = [[_spread(k, own, V) for k in cell] for own, _ in simplices for cell in within]
    corners = sorted({corner for cell in coarse for corner in cell}, reverse=True)
    place = {corner: c for c, corner in enumerate(corners)}
    cells = [tuple(place[corner] for corner in cell) for cell in coarse]
    whole = sum((volume for _, volume in simplices), Fraction()) * len(within)
    volumes = [volume / whole for _, volume in simplices for _ in within]
    return WeightCells(parts, corners, cells, volumes, _grid(rank))


def _spread(shares: Mixture, simplex: tuple[int, ...], vertices: int) -> Mixture:
    """Return shares of the vertices of a simplex as shares of all vertices."""
    own = dict(zip(simplex, shares, strict=True))
    return tuple(own.get(n, 0) for n in range(vertices))


def _grid(rank: int) -> list[Mixture]:
    """Return the weights of the grid in a cell, as shares of its corners."""
    if rank < len(FINE):
        fine = _subdivision(rank, FINE[rank])
        return [tuple(sum(end[e] for end in part) for e in range(rank + 1)) for part in fine]
    powers = [pow(STEP, k, PRIME) for k in range(rank)]
    marks = (sorted(n * power % PRIME for power in powers) for n in range(1, PRIME))
    return [tuple(b - a for a, b in pairwise((0, *own, PRIME))) for own in marks]


def _subdivision(rank: int, parts: int) -> list[list[Mixture]]:
    """Return the cells of a simplex whose edges have so many parts, each a list of its corners."""
    if parts == 1:  # of all turns only one keeps the sums in order
        return [[tuple(int(e == n) for e in range(rank + 1)) for n in range(rank + 1)]]
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

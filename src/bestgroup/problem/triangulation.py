"""Simplices that make up the convex hull of points, in exact arithmetic.

A *placing* triangulation: the first points that are affinely independent make a simplex, and every further
point, in the order given, makes one with each facet of what is there that it lies beyond. Points that lie
beyond none are left out: the hull does not need them. Coordinates are fractions, and what is within 1e-9
of a facet, in barycentric coordinates of the simplex behind it, does not lie beyond it: so whoever computes
it again finds the same simplices, and points that rounding moved off a common plane make no slivers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Point = Sequence[Fraction]
Simplex = tuple[int, ...]
Matrix = list[list[Fraction]]

_NEAR = Fraction(1, 10**9)


def triangulate(points: Sequence[Point]) -> list[tuple[Simplex, Fraction]]:
    """Return simplices, as numbers of points in rising order, each with its volume up to a factor.

    >>> square = [[Fraction(x) for x in p] for p in ((0, 0), (2, 0), (2, 1), (0, 1), (1, 0))]
    >>> [(simplex, int(volume)) for simplex, volume in triangulate(square)]
    [((0, 1, 2), 2), ((0, 2, 3), 2)]
    """
    start, columns = _independent(points)
    # Coordinates that the points of the start differ in tell all points of their plane apart.
    flat = [[Fraction(1), *(point[c] for c in columns)] for point in points]
    found: list[tuple[Simplex, Fraction]] = []
    borders: dict[Simplex, list[Fraction]] = {}  # how far a point lies inside of a facet

    def add(simplex: Simplex) -> None:
        inverse, volume = inverted([flat[n] for n in simplex])
        found.append((simplex, volume))
        for e in range(len(simplex)):
            facet = simplex[:e] + simplex[e + 1 :]
            # A facet of two simplices is inside.
            if borders.pop(facet, None) is None:
                borders[facet] = [row[e] for row in inverse]

    add(tuple(start))
    for n, point in enumerate(flat):
        beyond = [f for f, side in borders.items() if n not in start and _dot(side, point) < -_NEAR]
        for facet in beyond:
            add(tuple(sorted((*facet, n))))
    return found


def _independent(points: Sequence[Point]) -> tuple[list[int], list[int]]:
    """Return the first points that are affinely independent, and coordinates that tell them apart."""
    start, columns, rows = [0], list[int](), Matrix()
    for n, point in enumerate(points):
        rest = [x - y for x, y in zip(point, points[0], strict=True)]
        for c, row in zip(columns, rows, strict=True):
            rest = [x - rest[c] * y for x, y in zip(rest, row, strict=True)]
        most = max(range(len(rest)), key=lambda d: abs(rest[d]))
        if abs(rest[most]) > _NEAR:
            start.append(n)
            columns.append(most)
            rows.append([x / rest[most] for x in rest])
    return start, columns


def inverted(rows: Matrix) -> tuple[Matrix, Fraction]:
    """Return the inverse of a matrix, and the absolute value of its determinant."""
    n, whole = len(rows), Fraction(1)
    work = [[*row, *(Fraction(k == r) for k in range(n))] for r, row in enumerate(rows)]
    for c in range(n):
        pivot = next(r for r in range(c, n) if work[r][c])
        work[c], work[pivot] = work[pivot], work[c]
        whole *= abs(work[c][c])
        work[c] = [x / work[c][c] for x in work[c]]
        for r in range(n):
            if r != c and work[r][c]:
                work[r] = [x - work[r][c] * y for x, y in zip(work[r], work[c], strict=True)]
    return [row[n:] for row in work], whole


def _dot(one: Sequence[Fraction], two: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(one, two, strict=True)), Fraction())

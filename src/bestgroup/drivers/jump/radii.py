"""Radii as the jump engine reads them: numbers below all radii of a window, from its two arrays.

A *place* is where three of them lie in F. For TE, AGE and GE they are beta, beta, 2 beta; for TE+
those of `above` and `far`, of `near` and of stale arms. All are for scale 1.
"""

from __future__ import annotations

import functools

import numpy as np

from bestgroup.algorithms.te_plus.radii import cell_end, radius_from
from bestgroup.compile.kernel import kernel
from bestgroup.compile.pointers import bare, part
from bestgroup.drivers.jump.memory import (
    DEPTH,
    EDGE_ROOM,
    EDGES,
    ENDS,
    LEVEL,
    LEVEL_RADII,
    NOW,
    PAIRED,
    RADII_SIZE,
    RADIUS,
    UNTIL,
    Reals,
    Words,
)
from bestgroup.drivers.jump.walks import OutOfRoom
from bestgroup.inference.evalues.normal import mixture_edge
from bestgroup.inference.radii import Radius, radius_below
from bestgroup.problem.arrays import Floats

_BELOW = 1.0 - 1e-12  # a computed radius falls but for rounding
_COARSE = 0.25  # a threshold may lag by half of what the walks move in a window
FIRST_CELLS = 128 + 12 * 64  # cells of `cell_end` up to round 2^19


@bare
def cell_of(r: int) -> tuple[int, int]:
    """Return the number of the cell of round r, from 0 on, and the last round before it."""
    if r <= 128:
        return r - 1, r - 1
    width, octave = 2, 0
    while r > 128 * width:
        width *= 2
        octave += 1
    k = (r - 1 - 64 * width) // width
    return 128 + 64 * octave + k, (64 + k) * width


@kernel
def fill_edges(variance: float, alphas: Floats, edges: Floats) -> None:
    """Set the edges of `te_plus_radii.radii_at` for each cell, [cells, 3]."""
    r = 1
    for cell in range(len(edges)):
        end = cell_end(r)
        for k in range(3):
            edges[cell, k] = mixture_edge(variance * end, alphas[k])
        r = end + 1


@functools.lru_cache(maxsize=16)
def edges_of(variance: float, alphas: tuple[float, ...], cells: int) -> Floats:
    """Return the edges of so many cells, [cells, 3]."""
    edges = np.zeros((cells, 3))
    fill_edges.compiled(variance, np.array(alphas), edges)
    return edges


@bare
def set_radii(Z: Words, F: Reals, place: int, now: int, end: int) -> None:
    """Write numbers below all radii of rounds now + 1, ..., end."""
    F[place + UNTIL] = end
    if Z[PAIRED] == 0:
        at = Z[RADIUS]
        radius = Radius(int(F[at]), F[at + 1], F[at + 2], F[at + 3], part(F, 0, 0))
        beta = radius_below(radius, end)
        F[place], F[place + 1], F[place + 2] = beta, beta, 2.0 * beta
        return
    # Within a cell the radius is its edge divided by the round; edge / round falls from cell to cell.
    cell, before = cell_of(end)
    if 3 * cell >= Z[EDGE_ROOM]:
        raise OutOfRoom()
    for k in range(3):
        value = radius_from(F[Z[EDGES] + 3 * cell + k], F[Z[RADIUS]], end)
        if now < before:
            earlier = radius_from(F[Z[EDGES] + 3 * (cell - 1) + k], F[Z[RADIUS]], before)
            value = min(value, earlier)
        F[place + k] = _BELOW * value


@bare
def outer_place(Z: Words) -> int:
    """Return the place of the radii of the outer window."""
    return Z[LEVEL_RADII]


@bare
def level_place(Z: Words, F: Reals, end: int) -> int:
    """Return the place of the radii of the window on top, set if they were not."""
    place = Z[LEVEL_RADII] + RADII_SIZE * Z[LEVEL]
    if F[place] == 0.0:
        set_radii(Z, F, place, Z[NOW], end)
    return place


@bare
def inherit_radii(Z: Words, F: Reals) -> None:
    """Have the window on top use the radii of the one below it, unless they are too low for it."""
    place, end = Z[LEVEL_RADII] + RADII_SIZE * Z[LEVEL], Z[Z[ENDS] + Z[LEVEL]]
    below = place - RADII_SIZE
    if is_coarse((F[below + UNTIL] - end) * 2.0 * F[below], end - Z[NOW]):
        F[place] = 0.0
        return
    for k in range(RADII_SIZE):
        F[place + k] = F[below + k]


@bare
def is_coarse(lag: float, variance: float) -> bool:
    """Return whether a threshold that is low by about lag / 2, as a sum, is too low for a window.

    The walks move by the root of the variance in it.
    """
    return lag * lag > _COARSE * variance


@bare
def spare_place(Z: Words) -> int:
    """Return a place for radii that are used at once."""
    return Z[LEVEL_RADII] + RADII_SIZE * DEPTH

"""Radii as the jump engine reads them: numbers below all radii of a window, from its two arrays.

A *place* is where three of them lie in F. For TE, AGE and GE they are beta, beta, 2 beta; for TE+
those of `above` and `far`, of `near` and of stale arms. All are for scale 1.
"""

from __future__ import annotations

import functools

import numpy as np

from bestgroup.algorithms.te_plus.radii import cell_end, radius_from
from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import array, bare
from bestgroup.drivers.jump.memory import (
    Memory,
    Radii,
    edges_at,
    radii_at,
    window_at,
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
def set_radii(m: Memory, place: Radii, now: int, end: int) -> None:
    """Write numbers below all radii of rounds now + 1, ..., end."""
    place.until = end
    if m.paired == 0:
        beta = _named(m, end)
        place.beta, place.near, place.stale = beta, beta, 2.0 * beta
        return
    # Within a cell the radius is its edge divided by the round; edge / round falls from cell to cell.
    cell, before = cell_of(end)
    if 3 * cell >= m.edge_room:
        raise OutOfRoom()
    at = cell if now >= before else cell - 1
    place.beta = _paired(m, 0, cell, end, at, before)
    place.near = _paired(m, 1, cell, end, at, before)
    place.stale = _paired(m, 2, cell, end, at, before)


@bare
def _named(m: Memory, end: int) -> float:
    """Return a number below all radii of TE up to a round."""
    kind, events, delta = m.radius_kind, m.radius_events, m.radius_delta
    radius = Radius(kind, events, delta, m.radius_factor, array(edges_at(m, 0), 0))
    return radius_below(radius, end)


@bare
def _paired(m: Memory, k: int, cell: int, end: int, earlier: int, before: int) -> float:
    """Return a number below the k-th radius at `end`, and at the end of an earlier cell."""
    value = radius_from(edges_at(m, cell)[k], m.radius_factor, end)
    if earlier < cell:
        value = min(value, radius_from(edges_at(m, earlier)[k], m.radius_factor, before))
    return _BELOW * value


@bare
def level_place(m: Memory, end: int) -> Radii:
    """Return the place of the radii of the window on top, set if they were not."""
    place = radii_at(m, m.level)
    if place.beta == 0.0:
        set_radii(m, place, m.now, end)
    return place


@bare
def inherit_radii(m: Memory) -> None:
    """Have the window on top use the radii of the one below it, unless they are too low for it."""
    place, below = radii_at(m, m.level), radii_at(m, m.level - 1)
    end = window_at(m, m.level).end
    if is_coarse((below.until - end) * 2.0 * below.beta, end - m.now):
        place.beta = 0.0
        return
    place.beta, place.near = below.beta, below.near
    place.stale, place.until = below.stale, below.until


@bare
def is_coarse(lag: float, variance: float) -> bool:
    """Return whether a threshold that is low by about lag / 2, as a sum, is too low for a window.

    The walks move by the root of the variance in it.
    """
    return lag * lag > _COARSE * variance

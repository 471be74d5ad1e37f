"""Efficiencies of TE in the jump engine: bounds over a window, and values at the rounds of a sprint.

A *cell* is a pair (group, dim). Only its *rivals* can attain its efficiency in the present outer window: the active
arms whose mean can reach the largest lower bound of any. A resolved cell has a value instead.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.core.arrays import Floats, Ints
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_layout import (
    BANDS,
    DIM_COUNT,
    FROM,
    OPEN,
    PASSED,
    RIVAL,
    RIVALS,
    ROW,
    STRETCH,
    TO,
    VALUES,
    cell_at,
    column_of,
    dense_at,
    row_at,
    unit_of,
)
from bestgroup.simulation.jump_walks import bounds, bracket, reveal_stretch

REJECT, RESOLVE, STALE, ACCEPT = 0, 1, 2, 3  # kinds of items, in the order of a round
NOBODY, ITEM = -1, -2  # a watch that is nobody's, or that an item keeps

# The difference of two independent bridges is a bridge with twice the variance: each counts by this share.
PAIR = math.sqrt(0.5)


@kernel
def value_at(Z: Ints, i: int, d: int) -> int:
    """Return the place in F of the last efficiency of a cell that was noted."""
    return Z[VALUES] + i * Z[DIM_COUNT] + d


@kernel
def bracket_cell(Z: Ints, F: Floats, i: int, d: int, now: int, end: int) -> None:
    """Make the rivals of a cell known at both ends of a window."""
    cell = cell_at(Z, i, d)
    if Z[cell + OPEN]:
        for k in range(Z[cell + RIVALS]):
            bracket(Z, F, unit_of(Z, i, Z[cell + RIVAL + k], d), now, end)


@kernel
def pair_share(Z: Ints, i: int, j: int, d: int) -> float:
    """Return the share of its band by which each of two cells counts in their difference."""
    return PAIR if Z[cell_at(Z, i, d) + OPEN] and Z[cell_at(Z, j, d) + OPEN] else 1.0


@kernel
def cell_bounds(
    Z: Ints, F: Floats, i: int, d: int, now: int, end: int, share: float
) -> tuple[float, float]:
    """Return bounds of an efficiency over a window that its rivals have been bracketed for."""
    cell = cell_at(Z, i, d)
    if not Z[cell + OPEN]:
        value = F[value_at(Z, i, d)]
        return value, value
    band, column = share * F[Z[BANDS] + d], column_of(Z, d)
    low, high = -np.inf, -np.inf
    for k in range(Z[cell + RIVALS]):
        u = unit_of(Z, i, Z[cell + RIVAL + k], d)
        least, most = bounds(Z, F, u, column, band, now + 1, end)
        low, high = max(low, least), max(high, most)
    Z[PASSED] += Z[cell + RIVALS]
    return low, high


@kernel
def fill_row(Z: Ints, F: Floats, i: int, d: int) -> int:
    """Make a cell known at every round of the sprint, and return the place of its efficiencies."""
    cell, row = cell_at(Z, i, d), row_at(Z, i, d)
    if Z[cell + ROW] == Z[STRETCH]:
        return row
    Z[cell + ROW] = Z[STRETCH]
    if Z[cell + OPEN]:
        for k in range(Z[cell + RIVALS]):
            reveal_stretch(Z, F, unit_of(Z, i, Z[cell + RIVAL + k], d), Z[FROM], Z[TO])
        merge_row(Z, F, i, d, 0)
    else:
        for k in range(Z[TO] - Z[FROM]):
            F[row + k] = F[value_at(Z, i, d)]
    return row


@kernel
def merge_row(Z: Ints, F: Floats, i: int, d: int, start: int) -> None:
    """Write the largest mean of the rivals at the rounds of the sprint from `start` on."""
    cell, row, column = cell_at(Z, i, d), row_at(Z, i, d), column_of(Z, d)
    n = Z[TO] - Z[FROM]
    for k in range(start, n):
        F[row + k] = -np.inf
    for r in range(Z[cell + RIVALS]):
        means = dense_at(Z, unit_of(Z, i, Z[cell + RIVAL + r], d), column)
        for k in range(start, n):
            F[row + k] = max(F[row + k], F[means + k])


@kernel
def note_efficiency(Z: Ints, F: Floats, i: int, d: int, when: int) -> float:
    """Return the efficiency of a cell at a round of the sprint, and note it."""
    value = F[fill_row(Z, F, i, d) + when - Z[FROM] - 1]
    F[value_at(Z, i, d)] = value
    return value

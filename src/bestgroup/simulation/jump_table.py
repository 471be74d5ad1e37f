"""What the jump engine knows of a run of TE: sets, walks, boxes of efficiencies, tests that may fire.

A *cell* is a pair (group, dim). Over the present outer window, which ends at `ends[0]`, its efficiency lies in
[low, high], and only its *rivals* can attain it: the active arms whose mean can reach the largest lower bound of any.
In a sprint `rows` holds the cell's efficiency at every round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Rule
from bestgroup.algorithms.triple_elimination import State
from bestgroup.core.arrays import Floats, Ints
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_calendar import Calendar, make_calendar
from bestgroup.simulation.jump_walks import (
    DENSE,
    FROM,
    NEXT,
    PASSED,
    SPRINT,
    TIME,
    TO,
    Walks,
    advance,
    bounds,
    reveal,
    reveal_stretch,
)

RIVALS, LEAD, SOLID, WATCH, ROW, FIRST = 0, 1, 2, 3, 4, 5  # columns of `cells`
GUARD, SIDE = 0, 1  # columns of `marks`
RETIRED, WIDTH, LIMIT, AGAIN = 0, 1, 2, 3  # entries of `pulls`
REJECT, RESOLVE, STALE, ACCEPT = 0, 1, 2, 3  # kinds of items, in the order of a round
NOBODY, ITEM = -1, -2  # a watch that is nobody's, or that an item keeps

# The difference of two independent bridges is a bridge with twice the variance: each counts by this share.
PAIR = float(np.sqrt(0.5))


class Table(NamedTuple):
    """A run of TE, AGE or GE."""

    state: State
    rule: Rule
    walks: Walks
    calendar: Calendar
    cells: Ints  # [N D, 5 + K]  rivals, lead, solid, who blocks resolution, sprint of `rows`, arms
    low: Floats  # [N, D]
    high: Floats  # [N, D]
    arm_low: Floats  # [N, K, D]
    rows: Floats  # [N D, SPRINT]
    marks: Ints  # [N, 2]  who blocks acceptance, and on which side
    counts: Ints  # [N, K] pulls of arms that are no longer pulled; 0 for the others
    pulls: Ints  # [4]     pulls of those arms, number of the others, largest total, screen again


def make_table(state: State, rule: Rule, walks: Walks, capacity: int) -> Table:
    """Return a table with room for `capacity` items."""
    N, K, D = state.arms.shape
    return Table(
        state,
        rule,
        walks,
        make_calendar(capacity),
        np.zeros((N * D, FIRST + K), np.int64),
        np.zeros((N, D)),
        np.zeros((N, D)),
        np.zeros((N, K, D)),
        np.zeros((N * D, SPRINT)),
        np.zeros((N, 2), np.int64),
        np.zeros((N, K), np.int64),
        np.zeros(4, np.int64),
    )


@kernel
def unit_of(table: Table, i: int, j: int, d: int) -> int:
    """Return the unit of a walk."""
    N, K, D = table.state.arms.shape
    if table.walks.drift.shape[1] > 1:
        return i * K + j
    return (i * K + j) * D + d


@kernel
def column_of(table: Table, d: int) -> int:
    """Return the column of a walk within its unit."""
    return d if table.walks.drift.shape[1] > 1 else 0


@kernel
def bracket(walks: Walks, u: int, now: int, end: int) -> None:
    """Make a unit known at both ends of a window, and forget what lies before it."""
    points = walks.points
    advance(walks, u, now)
    if points[u, TIME] != now:
        reveal(walks, u, now)
        advance(walks, u, now)
    if points[int(points[u, NEXT]), TIME] != end:
        reveal(walks, u, end)


@kernel
def bracket_cell(table: Table, i: int, d: int, now: int, end: int) -> None:
    """Make the rivals of a cell known at both ends of a window."""
    if not table.state.dims[i, d]:
        return
    cell = table.cells[i * table.low.shape[1] + d]
    for k in range(cell[RIVALS]):
        bracket(table.walks, unit_of(table, i, cell[FIRST + k], d), now, end)


@kernel
def pair_share(table: Table, i: int, j: int, d: int) -> float:
    """Return the share of its band by which each of two cells counts in their difference."""
    return PAIR if table.state.dims[i, d] and table.state.dims[j, d] else 1.0


@kernel
def cell_bounds(
    table: Table, i: int, d: int, now: int, end: int, share: float
) -> tuple[float, float]:
    """Return bounds of an efficiency over a window that its rivals have been bracketed for."""
    if not table.state.dims[i, d]:
        return table.state.efficiency[i, d], table.state.efficiency[i, d]
    walks = table.walks
    cell = table.cells[i * table.low.shape[1] + d]
    band, column = share * walks.band[d], column_of(table, d)
    low, high = -np.inf, -np.inf
    for k in range(cell[RIVALS]):
        u = unit_of(table, i, cell[FIRST + k], d)
        least, most = bounds(walks, u, column, band, now + 1, end)
        low, high = max(low, least), max(high, most)
    walks.meter[PASSED] += cell[RIVALS]
    return low, high


@kernel
def fill_row(table: Table, i: int, d: int) -> None:
    """Make the efficiency of a cell known at every round of the sprint."""
    walks = table.walks
    c = i * table.low.shape[1] + d
    cell, row = table.cells[c], table.rows[c]
    if cell[ROW] == walks.meter[DENSE]:
        return
    cell[ROW] = walks.meter[DENSE]
    if table.state.dims[i, d]:
        for k in range(cell[RIVALS]):
            u = unit_of(table, i, cell[FIRST + k], d)
            reveal_stretch(walks, u, walks.meter[FROM], walks.meter[TO])
        merge_row(table, i, d, 0)
    else:
        for k in range(walks.meter[TO] - walks.meter[FROM]):
            row[k] = table.state.efficiency[i, d]


@kernel
def merge_row(table: Table, i: int, d: int, start: int) -> None:
    """Write the largest mean of the rivals at the rounds of the sprint from `start` on."""
    walks = table.walks
    c = i * table.low.shape[1] + d
    cell, row = table.cells[c], table.rows[c]
    column = column_of(table, d)
    n = walks.meter[TO] - walks.meter[FROM]
    row[start:n] = -np.inf
    for r in range(cell[RIVALS]):
        means = walks.dense[unit_of(table, i, cell[FIRST + r], d), column]
        for k in range(start, n):
            row[k] = max(row[k], means[k])


"""Whether an item is cleared for a window: no round of the window can make it fire.

First the boxes of the outer window are tried, with the radius at the end of the present one, which costs no draw. Then
what blocks the item is bracketed: known at both ends of the window. Between them the difference of two
efficiencies stays within the band of its chord (`jump_certify`).
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.triple_elimination import (
    apart_margin,
    apart_wanted,
    excess_margin_in,
    reject_margin_in,
    stale_margin,
)
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_calendar import KIND, ONE, THREE, TWO
from bestgroup.simulation.jump_screen import (
    apart_most,
    best_blocker_of_acceptance,
    best_blocker_of_resolution,
)
from bestgroup.simulation.jump_table import (
    FIRST,
    NOBODY,
    PAIR,
    REJECT,
    RESOLVE,
    RIVALS,
    STALE,
    Table,
    bracket,
    bracket_cell,
    cell_bounds,
    column_of,
    pair_share,
    unit_of,
)
from bestgroup.simulation.jump_walks import PASSED, bounds


@kernel
def is_dead(table: Table, item: int) -> bool:
    """Return whether an item can never fire any more because of the sets."""
    state, row = table.state, table.calendar.items[item]
    i = row[ONE]
    if not state.groups[i]:
        return True
    if row[KIND] == REJECT:
        return not state.groups[row[TWO]]
    if row[KIND] == RESOLVE:
        return not state.dims[i, row[THREE]]
    if row[KIND] == STALE:
        return not (state.dims[i, row[THREE]] and state.arms[i, row[TWO], row[THREE]])
    return False


@kernel
def clears(table: Table, item: int, now: int, end: int, beta: float) -> bool:
    """Return whether an item cannot fire in (now, end]; `beta` is below the radius of these rounds."""
    kind = table.calendar.items[item, KIND]
    if kind == REJECT:
        return _clears_rejection(table, item, now, end, beta)
    if kind == RESOLVE:
        return _clears_resolution(table, item, now, end, beta)
    if kind == STALE:
        return _clears_stale_arm(table, item, now, end, beta)
    return _clears_acceptance(table, item, now, end, beta)


@kernel
def _clears_rejection(table: Table, item: int, now: int, end: int, beta: float) -> bool:
    """Return whether some dim keeps j from rejecting i."""
    row, scale = table.calendar.items[item], table.rule.scale
    i, j = row[ONE], row[TWO]
    for d in range(len(scale)):
        if reject_margin_in(table.low[i, d], table.high[j, d], beta, scale[d]) < 0.0:
            return True
    d = row[THREE]
    bracket_cell(table, i, d, now, end)
    bracket_cell(table, j, d, now, end)
    share = pair_share(table, i, j, d)
    low = cell_bounds(table, i, d, now, end, share)[0]
    high = cell_bounds(table, j, d, now, end, share)[1]
    return reject_margin_in(low, high, beta, scale[d]) < 0.0


@kernel
def _clears_resolution(table: Table, item: int, now: int, end: int, beta: float) -> bool:
    """Return whether the watched group stays too near for dim d of i to be resolved."""
    row, rule = table.calendar.items[item], table.rule
    i, d = row[ONE], row[THREE]
    if row[TWO] == NOBODY or not table.state.groups[row[TWO]]:
        row[TWO] = best_blocker_of_resolution(table, i, d, beta)
        if row[TWO] == NOBODY:
            return False
    j = row[TWO]
    if apart_most(table, i, j, d, beta) < 0.0:
        return True
    bracket_cell(table, i, d, now, end)
    bracket_cell(table, j, d, now, end)
    share = pair_share(table, i, j, d)
    low_i, high_i = cell_bounds(table, i, d, now, end, share)
    low_j, high_j = cell_bounds(table, j, d, now, end, share)
    wanted = apart_wanted(beta, rule.scale[d], rule.epsilon[d])
    return apart_margin(low_i, high_i, low_j, high_j, wanted) < 0.0


@kernel
def _clears_stale_arm(table: Table, item: int, now: int, end: int, beta: float) -> bool:
    """Return whether no rival gets far enough above an arm."""
    row, scale = table.calendar.items[item], table.rule.scale
    i, j, d = row[ONE], row[TWO], row[THREE]
    if stale_margin(table.high[i, d], table.arm_low[i, j, d], beta, scale[d]) < 0.0:
        return True
    walks = table.walks
    cell = table.cells[i * len(scale) + d]
    band, column = PAIR * walks.band[d], column_of(table, d)
    own = unit_of(table, i, j, d)
    bracket(walks, own, now, end)
    low = bounds(walks, own, column, band, now + 1, end)[0]
    high = -np.inf
    for k in range(cell[RIVALS]):
        rival = cell[FIRST + k]
        if rival != j:
            u = unit_of(table, i, rival, d)
            bracket(walks, u, now, end)
            high = max(high, bounds(walks, u, column, band, now + 1, end)[1])
    walks.meter[PASSED] += cell[RIVALS]
    return stale_margin(high, low, beta, scale[d]) < 0.0


@kernel
def _clears_acceptance(table: Table, item: int, now: int, end: int, beta: float) -> bool:
    """Return whether the watched group blocks the acceptance of i in every dim."""
    row, rule, low, high = table.calendar.items[item], table.rule, table.low, table.high
    if row[TWO] == NOBODY or not table.state.groups[row[TWO]]:
        best, side, _ = best_blocker_of_acceptance(table, row[ONE], beta)
        row[TWO], row[THREE] = best, side
        if best == NOBODY:
            return False
    one, two = (row[ONE], row[TWO]) if row[THREE] == 0 else (row[TWO], row[ONE])
    for d in range(low.shape[1]):
        scale, epsilon = rule.scale[d], rule.epsilon[d]
        if excess_margin_in(high[one, d], low[two, d], beta, scale, epsilon) < 0.0:
            continue
        bracket_cell(table, one, d, now, end)
        bracket_cell(table, two, d, now, end)
        share = pair_share(table, one, two, d)
        most = cell_bounds(table, one, d, now, end, share)[1]
        least = cell_bounds(table, two, d, now, end, share)[0]
        if excess_margin_in(most, least, beta, scale, epsilon) >= 0.0:
            return False
    return True

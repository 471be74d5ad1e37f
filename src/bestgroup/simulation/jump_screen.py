"""What can happen in an outer window: boxes of all efficiencies, and the tests that may fire in it.

A test whose largest margin over the boxes is negative cannot fire in the window, whatever is resolved, frozen or
left out in it: a resolved efficiency keeps a value of its box, and a lower bound of an efficiency outlives
the arms that are left out (see `_screen_cell`). Only the others become items.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.triple_elimination import (
    apart_margin,
    apart_wanted,
    excess_margin,
    reject_margin,
    reject_margin_in,
    stale_margin,
)
from bestgroup.core.confidence import radius_below
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_calendar import add_item, clear_items
from bestgroup.simulation.jump_table import (
    ACCEPT,
    FIRST,
    GUARD,
    ITEM,
    LEAD,
    NOBODY,
    REJECT,
    RESOLVE,
    RIVALS,
    SIDE,
    SOLID,
    STALE,
    WATCH,
    Table,
    column_of,
    unit_of,
)
from bestgroup.simulation.jump_walks import DENSE, FROM, TO, advance, bounds, reveal


@kernel
def screen(table: Table, now: int, end: int) -> None:
    """Set the boxes over (now, end] and make an item of every test that may fire there."""
    state, options = table.state, table.rule.options
    N, K, D = state.arms.shape
    beta = radius_below(table.rule.radius, end)
    clear_items(table.calendar)
    for i in range(N):
        if state.groups[i]:
            for d in range(D):
                if state.dims[i, d]:
                    _screen_cell(table, i, d, now, end, beta)
                else:
                    table.low[i, d] = table.high[i, d] = state.efficiency[i, d]
    _screen_rejections(table, beta)
    for i in range(N):
        if not state.groups[i]:
            continue
        if options.dimensions:
            for d in range(D):
                if state.dims[i, d]:
                    watch_resolution(table, i, d, beta, 0)
        watch_acceptance(table, i, beta, 0)


@kernel
def _screen_cell(table: Table, i: int, d: int, now: int, end: int, beta: float) -> None:
    """Set the box, the rivals and the lead of a cell, and its items for stale arms.

    The cell is solid if no arm's box is wider than 2 beta. Then its lower bound holds to the end even if the lead
    is left out: some arm is 2 beta above it at that round, and that arm's box lies above the lead's lower bound.
    """
    state, rule = table.state, table.rule
    K, D = state.arms.shape[1], state.arms.shape[2]
    cell, scale = table.cells[i * D + d], rule.scale[d]
    highs = np.empty(K)
    low, high, width, lead = -np.inf, -np.inf, 0.0, 0
    for j in range(K):
        if state.arms[i, j, d]:
            least, most = _arm_bounds(table, i, j, d, now, end)
            table.arm_low[i, j, d], highs[j] = least, most
            width, high = max(width, most - least), max(high, most)
            if least > low:
                low, lead = least, j
    rivals = 0
    for j in range(K):
        if state.arms[i, j, d]:
            if highs[j] >= low:
                cell[FIRST + rivals] = j
                rivals += 1
            if rule.options.arms and stale_margin(high, table.arm_low[i, j, d], beta, scale) >= 0:
                add_item(table.calendar, STALE, i, j, d, 0)
    table.low[i, d], table.high[i, d] = low, high
    cell[RIVALS], cell[LEAD] = rivals, lead
    cell[SOLID] = 1 if width <= 2.0 * beta * scale else 0


@kernel
def _arm_bounds(
    table: Table, i: int, j: int, d: int, now: int, end: int
) -> tuple[float, float]:
    """Return bounds of the mean of an arm over (now, end], part of which may have been sprinted."""
    walks = table.walks
    u, column = unit_of(table, i, j, d), column_of(table, d)
    if walks.stamp[u] != walks.meter[DENSE]:
        advance(walks, u, now)
        reveal(walks, u, end)
        return bounds(walks, u, column, walks.band[d], now + 1, end)
    known = walks.meter[TO]
    reveal(walks, u, end)
    low, high = np.inf, -np.inf
    for k in range(now + 1, known + 1):
        mean = walks.dense[u, column, k - walks.meter[FROM] - 1]
        low, high = min(low, mean), max(high, mean)
    if end > known:
        least, most = bounds(walks, u, column, walks.band[d], known + 1, end)
        low, high = min(low, least), max(high, most)
    return low, high


@kernel
def _screen_rejections(table: Table, beta: float) -> None:
    """Make items of the pairs (i, j) of which j may reject i."""
    G, low, high, rule = table.state.groups, table.low, table.high, table.rule
    N, D = low.shape
    most = np.full(D, -np.inf)
    for i in range(N):
        for d in range(D):
            if G[i]:
                most[d] = max(most[d], high[i, d])
    for i in range(N):
        if not G[i]:
            continue
        possible = True
        for d in range(D):
            possible = possible and reject_margin_in(low[i, d], most[d], beta, rule.scale[d]) >= 0.0
        if possible:
            for j in range(N):
                if G[j] and j != i and reject_margin(low, high, i, j, beta, rule) >= 0.0:
                    add_item(table.calendar, REJECT, i, j, blocking_dim(table, i, j, beta), 0)


@kernel
def blocking_dim(table: Table, i: int, j: int, beta: float) -> int:
    """Return the dim that seems to block longest that j rejects i."""
    best, least = 0, np.inf
    for d in range(table.low.shape[1]):
        middle = table.low[j, d] + table.high[j, d] - table.low[i, d] - table.high[i, d]
        margin = middle - 4.0 * beta * table.rule.scale[d]
        if margin / table.rule.scale[d] < least:
            best, least = d, margin / table.rule.scale[d]
    return best


@kernel
def watch_resolution(table: Table, i: int, d: int, beta: float, when: int) -> None:
    """Find a group that blocks the resolution of a cell over the outer window, or make an item."""
    cell = table.cells[i * table.low.shape[1] + d]
    best = cell[WATCH]
    if best >= 0 and table.state.groups[best] and apart_most(table, i, best, d, beta) < 0.0:
        return
    best = best_blocker_of_resolution(table, i, d, beta)
    if best != NOBODY and apart_most(table, i, best, d, beta) < 0.0:
        cell[WATCH] = best
    else:
        cell[WATCH] = ITEM
        add_item(table.calendar, RESOLVE, i, best, d, when)


@kernel
def best_blocker_of_resolution(table: Table, i: int, d: int, beta: float) -> int:
    """Return a group that blocks over the outer window, else that with the least margin."""
    best, least = NOBODY, np.inf
    for j in range(len(table.low)):
        if table.state.groups[j] and j != i:
            margin = apart_most(table, i, j, d, beta)
            if margin < least:
                best, least = j, margin
            if margin < 0.0:
                break
    return best


@kernel
def apart_most(table: Table, i: int, j: int, d: int, beta: float) -> float:
    """Return the largest margin in the boxes of i and j being apart in dim d."""
    low, high, rule = table.low, table.high, table.rule
    wanted = apart_wanted(beta, rule.scale[d], rule.epsilon[d])
    return apart_margin(low[i, d], high[i, d], low[j, d], high[j, d], wanted)


@kernel
def watch_acceptance(table: Table, i: int, beta: float, when: int) -> None:
    """Find a group that blocks the acceptance of i over the outer window, or make an item.

    P_2 is the set of groups i with M_epsilon(i, j) >= 2 beta and M_epsilon(j, i) >= 2 beta for all j in G: for j in
    P_1 the second holds by definition, and a j outside P_1 is what line 15 asks it of. So one j blocks i, on one of
    two sides.
    """
    low, high, mark, rule = table.low, table.high, table.marks[i], table.rule
    j = mark[GUARD]
    if j >= 0 and table.state.groups[j]:
        one, two = (i, j) if mark[SIDE] == 0 else (j, i)
        if excess_margin(low, high, one, two, beta, rule) < 0.0:
            return
    best, side, blocked = best_blocker_of_acceptance(table, i, beta)
    if blocked:
        mark[GUARD], mark[SIDE] = best, side
    else:
        mark[GUARD] = ITEM
        add_item(table.calendar, ACCEPT, i, best, side, when)


@kernel
def best_blocker_of_acceptance(table: Table, i: int, beta: float) -> tuple[int, int, bool]:
    """Return a group that blocks i, the side, and whether it does so over the whole outer window."""
    low, high, rule = table.low, table.high, table.rule
    best, side, least = NOBODY, 0, np.inf
    for j in range(len(low)):
        if table.state.groups[j] and j != i:
            for turned in range(2):
                one, two = (i, j) if turned == 0 else (j, i)
                margin = _excess_most(table, one, two, beta)
                if margin < least:
                    best, side, least = j, turned, margin
                if excess_margin(low, high, one, two, beta, rule) < 0.0:
                    return j, turned, True
    return best, side, False


@kernel
def _excess_most(table: Table, i: int, j: int, beta: float) -> float:
    """Return how far i seems from not being beaten by j, in units of the scales."""
    rule = table.rule
    most = -np.inf
    for d in range(table.low.shape[1]):
        middle = (table.low[i, d] + table.high[i, d] - table.low[j, d] - table.high[j, d]) / 2.0
        most = max(most, (middle + rule.epsilon[d]) / rule.scale[d] - 2.0 * beta)
    return most

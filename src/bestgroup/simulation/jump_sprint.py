"""Short windows, gone through round by round with every value that a live item reads.

For each live item the first round at which it may fire is found from the means themselves; the earliest, in the
order of the phases of a round, is then judged by the margins of the algorithm, and fires or is looked for
further on. What fires changes the sets exactly as `triple_elimination.step` does.
"""

from __future__ import annotations

from bestgroup.algorithms.triple_elimination import (
    apart_margin,
    apart_wanted,
    excess_margin,
    excess_margin_in,
    reject_margin,
    reject_margin_in,
    stale_margin,
)
from bestgroup.core.confidence import radius_at
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_calendar import (
    AFTER,
    KIND,
    LIVE,
    NEVER,
    ONE,
    THREE,
    TWO,
    UNUSED,
    WHEN,
    move,
)
from bestgroup.simulation.jump_near import is_dead
from bestgroup.simulation.jump_table import (
    NOBODY,
    REJECT,
    RESOLVE,
    STALE,
    Table,
    column_of,
    fill_row,
    unit_of,
)
from bestgroup.simulation.jump_walks import FROM, TO, reveal_stretch


@kernel
def next_candidate(table: Table, item: int, start: int, beta: float) -> int:
    """Return the first round from `start` on, in the sprint, at which an item may fire.

    `beta` is below the radii of the sprint; a watch that has left the game makes every round a candidate.
    """
    row = table.calendar.items[item]
    walks = table.walks
    if start > walks.meter[TO]:
        return NEVER
    k = start - walks.meter[FROM] - 1
    if row[KIND] == REJECT:
        k = _scan_rejection(table, row[ONE], row[TWO], row[THREE], k, beta)
    elif row[KIND] == STALE:
        k = _scan_stale_arm(table, row[ONE], row[TWO], row[THREE], k, beta)
    elif row[TWO] == NOBODY or not table.state.groups[row[TWO]]:
        return start
    elif row[KIND] == RESOLVE:
        k = _scan_resolution(table, row[ONE], row[TWO], row[THREE], k, beta)
    elif row[THREE] == 0:
        k = _scan_acceptance(table, row[ONE], row[TWO], k, beta)
    else:
        k = _scan_acceptance(table, row[TWO], row[ONE], k, beta)
    return walks.meter[FROM] + 1 + k if k >= 0 else NEVER


@kernel
def _scan_rejection(table: Table, i: int, j: int, d: int, start: int, beta: float) -> int:
    fill_row(table, i, d)
    fill_row(table, j, d)
    D, scale = table.low.shape[1], table.rule.scale[d]
    own, other = table.rows[i * D + d], table.rows[j * D + d]
    for k in range(start, table.walks.meter[TO] - table.walks.meter[FROM]):
        if reject_margin_in(own[k], other[k], beta, scale) >= 0.0:
            return k
    return -1


@kernel
def _scan_resolution(table: Table, i: int, j: int, d: int, start: int, beta: float) -> int:
    fill_row(table, i, d)
    fill_row(table, j, d)
    D, rule = table.low.shape[1], table.rule
    own, other = table.rows[i * D + d], table.rows[j * D + d]
    wanted = apart_wanted(beta, rule.scale[d], rule.epsilon[d])
    for k in range(start, table.walks.meter[TO] - table.walks.meter[FROM]):
        if apart_margin(own[k], own[k], other[k], other[k], wanted) >= 0.0:
            return k
    return -1


@kernel
def _scan_stale_arm(table: Table, i: int, j: int, d: int, start: int, beta: float) -> int:
    fill_row(table, i, d)
    walks, scale = table.walks, table.rule.scale[d]
    u = unit_of(table, i, j, d)
    reveal_stretch(walks, u, walks.meter[FROM], walks.meter[TO])
    best, means = table.rows[i * table.low.shape[1] + d], walks.dense[u, column_of(table, d)]
    for k in range(start, walks.meter[TO] - walks.meter[FROM]):
        if stale_margin(best[k], means[k], beta, scale) >= 0.0:
            return k
    return -1


@kernel
def _scan_acceptance(table: Table, one: int, two: int, start: int, beta: float) -> int:
    D, rule = table.low.shape[1], table.rule
    first = -1
    stop = table.walks.meter[TO] - table.walks.meter[FROM]
    for d in range(D):
        scale, epsilon = rule.scale[d], rule.epsilon[d]
        most, least = table.high[one, d], table.low[two, d]
        if excess_margin_in(most, least, beta, scale, epsilon) < 0.0:
            continue
        fill_row(table, one, d)
        fill_row(table, two, d)
        own, other = table.rows[one * D + d], table.rows[two * D + d]
        for k in range(start, stop):
            if excess_margin_in(own[k], other[k], beta, scale, epsilon) >= 0.0:
                first, stop = k, k
                break
    return first


@kernel
def fires(table: Table, item: int, when: int, beta: float) -> bool:
    """Return whether an item fires at a round; if not, what it watches is what blocks it now."""
    row = table.calendar.items[item]
    if row[KIND] == REJECT:
        return _rejects(table, item, when, beta)
    if row[KIND] == RESOLVE:
        return _resolves(table, item, when, beta)
    if row[KIND] == STALE:
        i, j, d = row[ONE], row[TWO], row[THREE]
        k = when - table.walks.meter[FROM] - 1
        mean = table.walks.dense[unit_of(table, i, j, d), column_of(table, d), k]
        best = table.rows[i * table.low.shape[1] + d, k]
        return stale_margin(best, mean, beta, table.rule.scale[d]) >= 0.0
    return _accepts(table, item, when, beta)


@kernel
def efficiency_at(table: Table, i: int, d: int, when: int) -> float:
    """Return the efficiency of a cell at a round of the sprint, and note it in the state."""
    fill_row(table, i, d)
    value = table.rows[i * table.low.shape[1] + d, when - table.walks.meter[FROM] - 1]
    table.state.efficiency[i, d] = value
    return value


@kernel
def _rejects(table: Table, item: int, when: int, beta: float) -> bool:
    row, rule, R = table.calendar.items[item], table.rule, table.state.efficiency
    i, j = row[ONE], row[TWO]
    D = len(rule.scale)
    for step in range(D):
        d = (row[THREE] + step) % D
        own, other = efficiency_at(table, i, d, when), efficiency_at(table, j, d, when)
        if reject_margin_in(own, other, beta, rule.scale[d]) < 0.0:
            row[THREE] = d
            return False
    return reject_margin(R, R, i, j, beta, rule) >= 0.0


@kernel
def _resolves(table: Table, item: int, when: int, beta: float) -> bool:
    row, rule, low, high = table.calendar.items[item], table.rule, table.low, table.high
    i, d = row[ONE], row[THREE]
    own = efficiency_at(table, i, d, when)
    wanted = apart_wanted(beta, rule.scale[d], rule.epsilon[d])
    for j in range(len(low)):
        if not table.state.groups[j] or j == i:
            continue
        if apart_margin(own, own, high[j, d], low[j, d], wanted) >= 0.0:
            continue  # apart anywhere in the box of j
        other = efficiency_at(table, j, d, when)
        if apart_margin(own, own, other, other, wanted) < 0.0:
            row[TWO] = j
            return False
    return True


@kernel
def _accepts(table: Table, item: int, when: int, beta: float) -> bool:
    row, rule, R = table.calendar.items[item], table.rule, table.state.efficiency
    i = row[ONE]
    N, D = R.shape
    for d in range(D):
        efficiency_at(table, i, d, when)
    for j in range(N):
        if not table.state.groups[j] or j == i or _separate(table, i, j, beta):
            continue
        for d in range(D):
            efficiency_at(table, j, d, when)
        for side in range(2):
            one, two = (i, j) if side == 0 else (j, i)
            if not excess_margin(R, R, one, two, beta, rule) >= 0.0:
                row[TWO], row[THREE] = j, side
                return False
    return True


@kernel
def _separate(table: Table, i: int, j: int, beta: float) -> bool:
    """Return whether j blocks i on neither side, anywhere in the box of j."""
    low, high, R, rule = table.low, table.high, table.state.efficiency, table.rule
    above, below = False, False
    for d in range(low.shape[1]):
        scale, epsilon = rule.scale[d], rule.epsilon[d]
        above = above or excess_margin_in(R[i, d], high[j, d], beta, scale, epsilon) >= 0.0
        below = below or excess_margin_in(low[j, d], R[i, d], beta, scale, epsilon) >= 0.0
    return above and below


@kernel
def earliest(table: Table) -> int:
    """Return the live item with the earliest candidate in the order of rounds and phases, or -1."""
    items = table.calendar.items
    item, best = table.calendar.heads[LIVE], -1
    while item >= 0:
        after = items[item, AFTER]
        if is_dead(table, item):
            move(table.calendar, item, UNUSED)
        elif items[item, WHEN] != NEVER:
            if (
                best < 0
                or items[item, WHEN] < items[best, WHEN]
                or (items[item, WHEN] == items[best, WHEN] and items[item, KIND] < items[best, KIND])
            ):
                best = item
        item = after
    return best

"""What follows when a test of TE fires: sets, counts, and who has to be looked at again."""

from __future__ import annotations

from bestgroup.core.confidence import radius_below
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_calendar import (
    KIND,
    LEVEL,
    LIST,
    LIVE,
    ONE,
    THREE,
    TWO,
    UNUSED,
    USED,
    WHEN,
    move,
)
from bestgroup.simulation.jump_screen import watch_acceptance, watch_resolution
from bestgroup.simulation.jump_sprint import next_candidate
from bestgroup.simulation.jump_table import (
    AGAIN,
    FIRST,
    GUARD,
    LEAD,
    REJECT,
    RESOLVE,
    RETIRED,
    RIVALS,
    ROW,
    SOLID,
    STALE,
    WATCH,
    WIDTH,
    Table,
    merge_row,
)
from bestgroup.simulation.jump_walks import DENSE, FROM, TO


@kernel
def retire_arms(table: Table, i: int, when: int) -> None:
    """Set the counts of the arms of a group that are not pulled after round `when`."""
    state = table.state
    N, K, D = state.arms.shape
    for j in range(K):
        if table.counts[i, j] != 0 or not table.rule.exists[i, j]:
            continue
        pulled = False
        for d in range(D):
            pulled = pulled or (state.groups[i] and state.dims[i, d] and state.arms[i, j, d])
        if not pulled:
            table.counts[i, j] = when
            table.pulls[RETIRED] += when
            table.pulls[WIDTH] -= 1


@kernel
def remove_group(table: Table, i: int, when: int, next_look: int) -> None:
    """Take a group out of G; what it blocked is looked at again from round `next_look` on."""
    state, items = table.state, table.calendar.items
    N, D = table.low.shape
    state.groups[i] = False
    retire_arms(table, i, when)
    for item in range(table.calendar.hand[USED]):
        row = items[item]
        if row[LIST] != UNUSED and row[TWO] == i and row[KIND] != STALE and row[KIND] != REJECT:
            if row[LIST] != LIVE or row[WHEN] > next_look:
                row[WHEN] = next_look
            move(table.calendar, item, LIVE)
    beta = radius_below(table.rule.radius, table.calendar.ends[0])
    for g in range(N):
        if state.groups[g]:
            for d in range(D):
                if state.dims[g, d] and table.cells[g * D + d, WATCH] == i:
                    watch_resolution(table, g, d, beta, next_look)
            if table.marks[g, GUARD] == i:
                watch_acceptance(table, g, beta, next_look)


@kernel
def resolve_dim(table: Table, i: int, d: int, when: int, beta: float) -> None:
    """Take a dim out of D_i; its efficiency keeps the value of this round."""
    state = table.state
    c = i * table.low.shape[1] + d
    value = state.efficiency[i, d]
    state.dims[i, d] = False
    table.low[i, d] = table.high[i, d] = value
    meter = table.walks.meter
    if table.cells[c, ROW] == meter[DENSE]:
        for k in range(when - meter[FROM], meter[TO] - meter[FROM]):
            table.rows[c, k] = value
    retire_arms(table, i, when)
    look_again(table, i, d, when, beta)


@kernel
def leave_out_arm(table: Table, i: int, j: int, d: int, when: int, beta: float) -> None:
    """Take an arm out of A_{i,d}; if it was a rival, what looks at the cell is looked at again."""
    cell = table.cells[i * table.low.shape[1] + d]
    table.state.arms[i, j, d] = False
    retire_arms(table, i, when)
    kept = 0
    for k in range(cell[RIVALS]):
        if cell[FIRST + k] != j:
            cell[FIRST + kept] = cell[FIRST + k]
            kept += 1
    if kept == cell[RIVALS]:
        return
    cell[RIVALS] = kept
    if cell[LEAD] == j and not cell[SOLID]:
        table.pulls[AGAIN] = 1
        return
    meter = table.walks.meter
    if cell[ROW] == meter[DENSE]:
        merge_row(table, i, d, when - meter[FROM])
    look_again(table, i, d, when, beta)


@kernel
def look_again(table: Table, i: int, d: int, when: int, beta: float) -> None:
    """Make the items that look at a cell live from the next round on."""
    items = table.calendar.items
    for item in range(table.calendar.hand[USED]):
        row = items[item]
        if row[LIST] == UNUSED:
            continue
        involved = row[ONE] == i or (row[TWO] == i and row[KIND] != STALE)
        if not involved or (row[KIND] == RESOLVE or row[KIND] == STALE) and row[THREE] != d:
            continue
        if row[LIST] != LIVE:
            move(table.calendar, item, LIVE)
            row[WHEN] = next_candidate(table, item, when + 1, beta)
        elif row[WHEN] > when:
            row[WHEN] = next_candidate(table, item, when + 1, beta)

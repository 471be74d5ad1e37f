"""What follows when a test of TE fires: sets, counts, and who has to be looked at again."""

from __future__ import annotations

from bestgroup.compile.records import bare
from bestgroup.drivers.jump.blockers import has_wide_box, watch_acceptance, watch_resolution
from bestgroup.drivers.jump.envelopes import ACCEPT, REJECT
from bestgroup.drivers.jump.guards import next_candidate
from bestgroup.drivers.jump.memory import (
    LIVE,
    UNUSED,
    Memory,
    arm_at,
    cell_at,
    group_at,
    item_at,
    member_at,
    radii_at,
    row_at,
    values_at,
)
from bestgroup.drivers.jump.queue import (
    move,
    schedule,
)
from bestgroup.drivers.jump.screen import COVERS


@bare
def retire_arms(m: Memory, i: int, when: int) -> None:
    """Set the counts of the arms of a group that are not pulled after round `when`."""
    for j in range(m.K):
        arm = arm_at(m, i, j)
        if arm.count != 0:
            continue
        pulled = False
        for d in range(m.D):
            pulled = pulled or (cell_at(m, i, d).open != 0 and member_at(m, i, j, d).active != 0)
        if not pulled or not group_at(m, i).active:
            arm.count = when
            m.retired += when
            m.width -= 1


@bare
def remove_group(m: Memory, i: int, when: int, look: int) -> None:
    """Take a group out of G; what it blocked is looked at again from round `look` on."""
    group_at(m, i).active = 0
    retire_arms(m, i, when)
    item = m.watchers
    while item >= 0:
        row = item_at(m, item)
        if row.two == i and row.list != UNUSED:
            if row.list != LIVE or row.when > look:
                row.when = look
            move(m, item, LIVE)
        item = row.same_two
    beta = radii_at(m, 0).beta
    if group_at(m, i).cover == COVERS and (look > when or _any_wide_box(m, beta)):
        m.again = 1
    for g in range(m.N):
        if group_at(m, g).active:
            for d in range(m.D):
                cell = cell_at(m, g, d)
                if cell.open and cell.blocker == i:
                    watch_resolution(m, g, d, beta, look)
            if group_at(m, g).blocker == i:
                watch_acceptance(m, g, beta, look)


@bare
def _any_wide_box(m: Memory, beta: float) -> bool:
    for g in range(m.N):
        if group_at(m, g).active and has_wide_box(m, g, beta):
            return True
    return False


@bare
def resolve_dim(m: Memory, i: int, d: int, when: int) -> None:
    """Take a dim out of D_i; its efficiency keeps the value of this round."""
    cell, row = cell_at(m, i, d), row_at(m, i, d)
    value = values_at(m, i)[d]
    cell.open = 0
    cell.low = cell.high = value
    if cell.row == m.stretch:
        for k in range(when - m.start, m.stop - m.start):
            row[k] = value
    retire_arms(m, i, when)
    look_again(m, i, d, when)


@bare
def leave_out_arm(m: Memory, i: int, j: int, d: int, when: int) -> None:
    """Take an arm out of A_{i,d}; if it was a rival, what looks at the cell is looked at again."""
    cell = cell_at(m, i, d)
    member_at(m, i, j, d).active = 0
    retire_arms(m, i, when)
    kept = 0
    for k in range(cell.rivals):
        if member_at(m, i, k, d).rival != j:
            member_at(m, i, kept, d).rival = member_at(m, i, k, d).rival
            kept += 1
    if kept == cell.rivals:
        return
    cell.rivals = kept
    if cell.lead == j and not cell.solid:
        m.again = 1
        return
    if cell.lead == j:
        cell.lead = best_rival(m, i, d)
    cell.row = -1
    look_again(m, i, d, when)


@bare
def best_rival(m: Memory, i: int, d: int) -> int:
    """Return the rival with the largest lower bound over the outer window."""
    cell = cell_at(m, i, d)
    best = member_at(m, i, 0, d).rival
    for k in range(cell.rivals):
        if member_at(m, i, member_at(m, i, k, d).rival, d).low > member_at(m, i, best, d).low:
            best = member_at(m, i, k, d).rival
    return best


@bare
def look_again(m: Memory, i: int, d: int, when: int) -> None:
    """Make the items that look at a cell live from the next round on."""
    item = group_at(m, i).ones
    while item >= 0:
        _look_at(m, item, d, when)
        item = item_at(m, item).same_one
    item = group_at(m, i).twos
    while item >= 0:
        _look_at(m, item, d, when)
        item = item_at(m, item).same_two
    item = m.watchers
    while item >= 0:
        if item_at(m, item).two == i:
            _look_at(m, item, d, when)
        item = item_at(m, item).same_two


@bare
def _look_at(m: Memory, item: int, d: int, when: int) -> None:
    row = item_at(m, item)
    live = row.list == LIVE
    if row.list == UNUSED or (live and row.when <= when):
        return
    if row.kind != REJECT and row.kind != ACCEPT and row.three != d:
        return
    schedule(m, item, next_candidate(m, item, when + 1))

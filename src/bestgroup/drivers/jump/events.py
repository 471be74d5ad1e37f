"""What follows when a test of TE fires: sets, counts, and who has to be looked at again."""

from __future__ import annotations

from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.blockers import has_wide_box, watch_acceptance, watch_resolution
from bestgroup.drivers.jump.envelopes import ACCEPT, REJECT, value_at
from bestgroup.drivers.jump.guards import next_candidate
from bestgroup.drivers.jump.memory import (
    ACTIVE,
    AGAIN,
    ARM_COUNT,
    ARM_LOW,
    COUNTS,
    COVER,
    DIM_COUNT,
    FROM,
    GROUP_COUNT,
    GUARD,
    HIGH,
    KIND,
    LEAD,
    LIST,
    LOW,
    ONES,
    OPEN,
    RETIRED,
    RIVAL,
    RIVALS,
    ROW,
    SAME_ONE,
    SAME_TWO,
    SOLID,
    STRETCH,
    THREE,
    TO,
    TWO,
    TWOS,
    WATCH,
    WATCHERS,
    WHEN,
    WIDTH,
    Reals,
    Words,
    arm_at,
    box_at,
    cell_at,
    group_at,
    item_at,
    row_at,
)
from bestgroup.drivers.jump.queue import LIVE, UNUSED, move, schedule
from bestgroup.drivers.jump.radii import outer_place
from bestgroup.drivers.jump.screen import COVERS


@bare
def retire_arms(Z: Words, i: int, when: int) -> None:
    """Set the counts of the arms of a group that are not pulled after round `when`."""
    for j in range(Z[ARM_COUNT]):
        place = Z[COUNTS] + i * Z[ARM_COUNT] + j
        if Z[place] != 0:
            continue
        pulled = False
        for d in range(Z[DIM_COUNT]):
            pulled = pulled or (Z[cell_at(Z, i, d) + OPEN] != 0 and Z[arm_at(Z, i, j, d)] != 0)
        if not pulled or not Z[group_at(Z, i) + ACTIVE]:
            Z[place] = when
            Z[RETIRED] += when
            Z[WIDTH] -= 1


@bare
def remove_group(Z: Words, F: Reals, i: int, when: int, look: int) -> None:
    """Take a group out of G; what it blocked is looked at again from round `look` on."""
    Z[group_at(Z, i) + ACTIVE] = 0
    retire_arms(Z, i, when)
    item = Z[WATCHERS]
    while item >= 0:
        row = item_at(Z, item)
        if Z[row + TWO] == i and Z[row + LIST] != UNUSED:
            if Z[row + LIST] != LIVE or Z[row + WHEN] > look:
                Z[row + WHEN] = look
            move(Z, item, LIVE)
        item = Z[row + SAME_TWO]
    beta = F[outer_place(Z)]
    if Z[group_at(Z, i) + COVER] == COVERS and (look > when or _any_wide_box(Z, F, beta)):
        Z[AGAIN] = 1
    for g in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, g) + ACTIVE]:
            for d in range(Z[DIM_COUNT]):
                cell = cell_at(Z, g, d)
                if Z[cell + OPEN] and Z[cell + WATCH] == i:
                    watch_resolution(Z, F, g, d, beta, look)
            if Z[group_at(Z, g) + GUARD] == i:
                watch_acceptance(Z, F, g, beta, look)


@bare
def _any_wide_box(Z: Words, F: Reals, beta: float) -> bool:
    for g in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, g) + ACTIVE] and has_wide_box(Z, F, g, beta):
            return True
    return False


@bare
def resolve_dim(Z: Words, F: Reals, i: int, d: int, when: int) -> None:
    """Take a dim out of D_i; its efficiency keeps the value of this round."""
    cell, box, row = cell_at(Z, i, d), box_at(Z, i, d), row_at(Z, i, d)
    value = F[value_at(Z, i, d)]
    Z[cell + OPEN] = 0
    F[box + LOW] = F[box + HIGH] = value
    if Z[cell + ROW] == Z[STRETCH]:
        for k in range(when - Z[FROM], Z[TO] - Z[FROM]):
            F[row + k] = value
    retire_arms(Z, i, when)
    look_again(Z, F, i, d, when)


@bare
def leave_out_arm(Z: Words, F: Reals, i: int, j: int, d: int, when: int) -> None:
    """Take an arm out of A_{i,d}; if it was a rival, what looks at the cell is looked at again."""
    cell = cell_at(Z, i, d)
    Z[arm_at(Z, i, j, d)] = 0
    retire_arms(Z, i, when)
    kept = 0
    for k in range(Z[cell + RIVALS]):
        if Z[cell + RIVAL + k] != j:
            Z[cell + RIVAL + kept] = Z[cell + RIVAL + k]
            kept += 1
    if kept == Z[cell + RIVALS]:
        return
    Z[cell + RIVALS] = kept
    if Z[cell + LEAD] == j and not Z[cell + SOLID]:
        Z[AGAIN] = 1
        return
    if Z[cell + LEAD] == j:
        Z[cell + LEAD] = best_rival(Z, F, i, d)
    Z[cell + ROW] = -1
    look_again(Z, F, i, d, when)


@bare
def best_rival(Z: Words, F: Reals, i: int, d: int) -> int:
    """Return the rival with the largest lower bound over the outer window."""
    cell, lows = cell_at(Z, i, d), box_at(Z, i, d) + ARM_LOW
    best = Z[cell + RIVAL]
    for k in range(Z[cell + RIVALS]):
        if F[lows + Z[cell + RIVAL + k]] > F[lows + best]:
            best = Z[cell + RIVAL + k]
    return best


@bare
def look_again(Z: Words, F: Reals, i: int, d: int, when: int) -> None:
    """Make the items that look at a cell live from the next round on."""
    item = Z[Z[ONES] + i]
    while item >= 0:
        _look_at(Z, F, item, d, when)
        item = Z[item_at(Z, item) + SAME_ONE]
    item = Z[Z[TWOS] + i]
    while item >= 0:
        _look_at(Z, F, item, d, when)
        item = Z[item_at(Z, item) + SAME_TWO]
    item = Z[WATCHERS]
    while item >= 0:
        if Z[item_at(Z, item) + TWO] == i:
            _look_at(Z, F, item, d, when)
        item = Z[item_at(Z, item) + SAME_TWO]


@bare
def _look_at(Z: Words, F: Reals, item: int, d: int, when: int) -> None:
    row = item_at(Z, item)
    live = Z[row + LIST] == LIVE
    if Z[row + LIST] == UNUSED or (live and Z[row + WHEN] <= when):
        return
    if Z[row + KIND] != REJECT and Z[row + KIND] != ACCEPT and Z[row + THREE] != d:
        return
    schedule(Z, item, next_candidate(Z, F, item, when + 1))

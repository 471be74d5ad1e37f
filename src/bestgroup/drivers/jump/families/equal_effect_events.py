"""What keeps a test of EECB from firing over a window, and what follows when it fires."""

from __future__ import annotations

from bestgroup.algorithms import equal_effect as eecb
from bestgroup.compile.kernel import kernel
from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.clock import (
    count_at,
    radii_of,
)
from bestgroup.drivers.jump.families.equal_effect_screen import (
    BEATEN,
    LEADER,
    STALE,
    screen,
    slack_of,
    threshold_below,
    worth_of,
)
from bestgroup.drivers.jump.families.equal_effect_sprint import (
    best_rival,
    keep_points,
    look_again,
    next_candidate,
    row_of,
)
from bestgroup.drivers.jump.memory import (
    ACTIVE,
    AFTER,
    AGAIN,
    ARM_COUNT,
    ARM_LOW,
    DIM_COUNT,
    ENDED,
    ENDS,
    GROUP_COUNT,
    HIGH,
    KIND,
    LEAD,
    LEVEL,
    LIST,
    LOW,
    ONE,
    OWN,
    REACH,
    RIVAL,
    RIVALS,
    ROUND,
    ROW,
    SAME_TWO,
    SOLID,
    THREE,
    TWO,
    WATCHERS,
    WHEN,
    Reals,
    Words,
    arm_at,
    box_at,
    cell_at,
    group_at,
    item_at,
)
from bestgroup.drivers.jump.queue import (
    LIVE,
    UNUSED,
    first_live,
    move,
    schedule,
)
from bestgroup.drivers.jump.spans import NOBODY, arm_apart, worth_apart

RUNNING, DECIDED, LED = 0, 1, 2  # how far a run has come


@bare
def active_groups(Z: Words) -> int:
    """Return |G|."""
    count = 0
    for i in range(Z[GROUP_COUNT]):
        count += Z[group_at(Z, i) + ACTIVE]
    return count


@bare
def clears(Z: Words, F: Reals, item: int, length: int) -> bool:
    """Return whether an item cannot fire in the window on top, of which `length` rounds are left.

    The boxes of the outer window are tried first, which costs no draw. A window much longer than
    what the last attempt made likely is not tried.
    """
    row, end = item_at(Z, item), Z[LEVEL]
    kind, i, j, d = Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE]
    if length > 2 * Z[row + REACH]:
        return False
    if kind == STALE:
        level, box = 2.0 * F[radii_of(Z, end) + d], box_at(Z, i, d)
        if F[box + HIGH] - F[box + ARM_LOW + j] < level:
            return True
        room, band = arm_apart(Z, F, i, j, d, level, end)
    else:
        if kind == LEADER and (j == NOBODY or not Z[group_at(Z, j) + ACTIVE]):
            j = _watch_for(Z, F, i)
            Z[row + TWO] = j
        one, two, slack = (j, i, 0.0) if kind == BEATEN else (i, j, slack_of(Z, F))
        level = threshold_below(Z, F, end) - slack
        if worth_of(Z, F, one, HIGH) - worth_of(Z, F, two, LOW) < level:
            return True
        room, band = worth_apart(Z, F, one, two, level, end)
    if room > band:
        Z[row + REACH] = 4 * length
        return True
    share = (room / band) ** 2 if room > 0.0 else 0.0
    Z[row + REACH] = int(length * max(share, 0.5))
    return False


@bare
def _watch_for(Z: Words, F: Reals, i: int) -> int:
    """Return the other active group that seems to be worth most."""
    best, most = NOBODY, 0.0
    for j in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, j) + ACTIVE] and j != i:
            middle = worth_of(Z, F, j, LOW) + worth_of(Z, F, j, HIGH)
            if best == NOBODY or middle > most:
                best, most = j, middle
    return best


@kernel
def fire(Z: Words, F: Reals, state: eecb.State, item: int, when: int) -> None:
    """Change the sets as EECB does when this test fires."""
    row = item_at(Z, item)
    kind, i, j, d = Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE]
    move(Z, item, UNUSED)
    if kind == STALE:
        leave_out(Z, F, i, j, d, when)
    elif kind == BEATEN:
        remove_group(Z, i, when)
        if active_groups(Z) == 1:
            Z[ENDED] = DECIDED
    else:
        for g in range(Z[GROUP_COUNT]):
            if Z[group_at(Z, g) + ACTIVE] and not state.groups[g]:
                remove_group(Z, g, when)
        Z[ENDED] = LED


@bare
def remove_group(Z: Words, i: int, when: int) -> None:
    """Take a group out of G; leaders that it blocked are looked at again in the same round."""
    for j in range(Z[ARM_COUNT]):
        Z[Z[OWN] + i * Z[ARM_COUNT] + j] = count_at(Z, i, j, row_of(Z, when))
        for d in range(Z[DIM_COUNT]):
            Z[arm_at(Z, i, j, d)] = 0
    Z[group_at(Z, i) + ACTIVE] = 0
    item = Z[WATCHERS]
    while item >= 0:
        row = item_at(Z, item)
        if Z[row + TWO] == i and Z[row + LIST] != UNUSED:
            if Z[row + LIST] != LIVE or Z[row + WHEN] > when:
                Z[row + WHEN] = when
            move(Z, item, LIVE)
        item = Z[row + SAME_TWO]


@bare
def leave_out(Z: Words, F: Reals, i: int, j: int, d: int, when: int) -> None:
    """Take an arm out of A_d; its clock may slow down, so what looks at its group looks again."""
    keep_points(Z, F, i, j)
    Z[Z[OWN] + i * Z[ARM_COUNT] + j] = count_at(Z, i, j, row_of(Z, when))
    Z[arm_at(Z, i, j, d)] = 0
    cell, kept = cell_at(Z, i, d), 0
    for k in range(Z[cell + RIVALS]):
        if Z[cell + RIVAL + k] != j:
            Z[cell + RIVAL + kept] = Z[cell + RIVAL + k]
            kept += 1
    Z[cell + RIVALS] = kept
    if Z[cell + LEAD] == j:
        Z[cell + LEAD] = best_rival(Z, F, i, d)
        if not Z[cell + SOLID]:
            Z[AGAIN] = 1
    look_again(Z, F, i, when)


@bare
def screen_again(Z: Words, F: Reals) -> None:
    """Screen the rest of the outer window anew, within a sprint."""
    Z[AGAIN] = 0
    when = Z[ROUND]
    if when == Z[Z[ENDS]]:
        return
    for i in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, i) + ACTIVE]:
            for j in range(Z[ARM_COUNT]):
                keep_points(Z, F, i, j)
            for d in range(Z[DIM_COUNT]):
                Z[cell_at(Z, i, d) + ROW] = -1
    screen(Z, F, row_of(Z, when), 0)
    find_candidates(Z, F, when + 1)


@bare
def find_candidates(Z: Words, F: Reals, start: int) -> None:
    """Set for every live item the first round at which it may fire."""
    item = first_live(Z)
    while item >= 0:
        after = Z[item_at(Z, item) + AFTER]
        schedule(Z, item, next_candidate(Z, F, item, start))
        item = after

"""What keeps a test of EECB from firing over a window, and what follows when it fires."""

from __future__ import annotations

from bestgroup.algorithms import equal_effect as eecb
from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import bare
from bestgroup.drivers.jump.clock import (
    count_at,
)
from bestgroup.drivers.jump.families.equal_effect_screen import (
    BEATEN,
    LEADER,
    STALE,
    high_worth,
    low_worth,
    screen,
    slack_of,
    threshold_below,
)
from bestgroup.drivers.jump.families.equal_effect_sprint import (
    best_rival,
    keep_points,
    look_again,
    next_candidate,
    row_of,
)
from bestgroup.drivers.jump.memory import (
    LIVE,
    UNUSED,
    Memory,
    arm_at,
    cell_at,
    clock_at,
    group_at,
    item_at,
    member_at,
    window_at,
)
from bestgroup.drivers.jump.queue import (
    first_live,
    move,
    schedule,
)
from bestgroup.drivers.jump.spans import NOBODY, arm_apart, worth_apart

RUNNING, DECIDED, LED = 0, 1, 2  # how far a run has come


@bare
def active_groups(m: Memory) -> int:
    """Return |G|."""
    count = 0
    for i in range(m.N):
        count += group_at(m, i).active
    return count


@bare
def clears(m: Memory, item: int, length: int) -> bool:
    """Return whether an item cannot fire in the window on top, of which `length` rounds are left.

    The boxes of the outer window are tried first, which costs no draw. A window much longer than
    what the last attempt made likely is not tried.
    """
    row, end = item_at(m, item), m.level
    kind, i, j, d = row.kind, row.one, row.two, row.three
    if length > 2 * row.reach:
        return False
    if kind == STALE:
        level, box = 2.0 * clock_at(m, end, d).radius, cell_at(m, i, d)
        if box.high - member_at(m, i, j, d).low < level:
            return True
        room, band = arm_apart(m, i, j, d, level, end)
    else:
        if kind == LEADER and (j == NOBODY or not group_at(m, j).active):
            j = _watch_for(m, i)
            row.two = j
        one, two, slack = (j, i, 0.0) if kind == BEATEN else (i, j, slack_of(m))
        level = threshold_below(m, end) - slack
        if high_worth(m, one) - low_worth(m, two) < level:
            return True
        room, band = worth_apart(m, one, two, level, end)
    if room > band:
        row.reach = 4 * length
        return True
    share = (room / band) ** 2 if room > 0.0 else 0.0
    row.reach = int(length * max(share, 0.5))
    return False


@bare
def _watch_for(m: Memory, i: int) -> int:
    """Return the other active group that seems to be worth most."""
    best, most = NOBODY, 0.0
    for j in range(m.N):
        if group_at(m, j).active and j != i:
            middle = low_worth(m, j) + high_worth(m, j)
            if best == NOBODY or middle > most:
                best, most = j, middle
    return best


@kernel
def fire(m: Memory, state: eecb.State, item: int, when: int) -> None:
    """Change the sets as EECB does when this test fires."""
    row = item_at(m, item)
    kind, i, j, d = row.kind, row.one, row.two, row.three
    move(m, item, UNUSED)
    if kind == STALE:
        leave_out(m, i, j, d, when)
    elif kind == BEATEN:
        remove_group(m, i, when)
        if active_groups(m) == 1:
            m.ended = DECIDED
    else:
        for g in range(m.N):
            if group_at(m, g).active and not state.groups[g]:
                remove_group(m, g, when)
        m.ended = LED


@bare
def remove_group(m: Memory, i: int, when: int) -> None:
    """Take a group out of G; leaders that it blocked are looked at again in the same round."""
    for j in range(m.K):
        arm_at(m, i, j).own = count_at(m, i, j, row_of(m, when))
        for d in range(m.D):
            member_at(m, i, j, d).active = 0
    group_at(m, i).active = 0
    item = m.watchers
    while item >= 0:
        row = item_at(m, item)
        if row.two == i and row.list != UNUSED:
            if row.list != LIVE or row.when > when:
                row.when = when
            move(m, item, LIVE)
        item = row.same_two


@bare
def leave_out(m: Memory, i: int, j: int, d: int, when: int) -> None:
    """Take an arm out of A_d; its clock may slow down, so what looks at its group looks again."""
    keep_points(m, i, j)
    arm_at(m, i, j).own = count_at(m, i, j, row_of(m, when))
    member_at(m, i, j, d).active = 0
    cell, kept = cell_at(m, i, d), 0
    for k in range(cell.rivals):
        if member_at(m, i, k, d).rival != j:
            member_at(m, i, kept, d).rival = member_at(m, i, k, d).rival
            kept += 1
    cell.rivals = kept
    if cell.lead == j:
        cell.lead = best_rival(m, i, d)
        if not cell.solid:
            m.again = 1
    look_again(m, i, when)


@bare
def screen_again(m: Memory) -> None:
    """Screen the rest of the outer window anew, within a sprint."""
    m.again = 0
    when = m.round
    if when == window_at(m, 0).end:
        return
    for i in range(m.N):
        if group_at(m, i).active:
            for j in range(m.K):
                keep_points(m, i, j)
            for d in range(m.D):
                cell_at(m, i, d).row = -1
    screen(m, row_of(m, when), 0)
    find_candidates(m, when + 1)


@bare
def find_candidates(m: Memory, start: int) -> None:
    """Set for every live item the first round at which it may fire."""
    item = first_live(m)
    while item >= 0:
        after = item_at(m, item).after
        schedule(m, item, next_candidate(m, item, start))
        item = after

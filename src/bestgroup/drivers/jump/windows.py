"""Nested windows of time, and the event queue: lists of the tests that may fire in them.

An *item* is one test of the algorithm. Time is cut into nested windows (now, end]: the ends form a
stack, the nearest one on top. Every item is in one list: among those that are not yet cleared for
the window on top (LIVE), or in the list of the end up to which it is cleared. So an item near its
firing is looked at often and one far from it seldom, and all of them share the same ends, so that
few points of the walks have to be known.
"""

from __future__ import annotations

from bestgroup.compile.records import bare
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.memory import ACCEPT, DEPTH, LIVE, PRESENT, RESOLVE, STALE, Memory
from bestgroup.drivers.jump.walks import OutOfRoom

NEVER = 2**62


@bare
def clear_items(m: Memory) -> None:
    """Drop all items."""
    for where in range(DEPTH + 2):
        at.window(m, where).first = -1
    for i in range(m.N):
        at.group(m, i).own_items = at.group(m, i).other_items = -1
    m.used, m.blocked = 0, -1


@bare
def _put(m: Memory, item: int, where: int) -> None:
    """Put an item that is in no list into one."""
    test, head = at.item(m, item), at.window(m, where).first
    test.after, test.before, test.list = head, -1, where
    if head >= 0:
        at.item(m, head).before = item
    at.window(m, where).first = item


@bare
def move(m: Memory, item: int, where: int) -> None:
    """Move an item from its list to another one."""
    test = at.item(m, item)
    before, after = test.before, test.after
    if before >= 0:
        at.item(m, before).after = after
    else:
        at.window(m, test.list).first = after
    if after >= 0:
        at.item(m, after).before = before
    _put(m, item, where)


@bare
def add_item(m: Memory, kind: int, group: int, other: int, dim: int, side: int, when: int) -> None:
    """Add a live item about a group and another one, or an arm."""
    item = m.used
    if item == m.item_room:
        raise OutOfRoom()
    m.used = item + 1
    _put(m, item, LIVE)
    test, own = at.item(m, item), at.group(m, group)
    test.kind, test.group, test.other, test.dim, test.side = kind, group, other, dim, side
    test.when, test.reach = when, NEVER // 4
    test.next_own, own.own_items = own.own_items, item
    # Who keeps a group from a test against all others changes, so these are in a list of their own.
    if kind in (RESOLVE, ACCEPT):
        test.next_other, m.blocked = m.blocked, item
    elif kind != STALE:
        pair = at.group(m, other)
        test.next_other, pair.other_items = pair.other_items, item


@bare
def schedule(m: Memory, item: int, when: int) -> None:
    """Set the round of a sprint at which an item may fire; if NEVER, it is cleared up to its end."""
    test, where = at.item(m, item), LIVE if when < NEVER else m.level
    test.when = when
    if test.list != where:
        move(m, item, where)


@bare
def first_live(m: Memory) -> int:
    """Return the first live item, or -1."""
    return at.window(m, LIVE).first


@bare
def end_window(m: Memory) -> None:
    """Go to the end of the window on top, and its clock; the items cleared up to there become live."""
    for d in range(m.D):
        now, end = at.clock(m, PRESENT, d), at.clock(m, m.level, d)
        now.count, now.radius = end.count, end.radius
    window = at.window(m, m.level)
    m.now, item = window.end, window.first
    at.window(m, LIVE).first, window.first = item, -1
    m.level -= 1
    while item >= 0:
        at.item(m, item).list = LIVE
        item = at.item(m, item).after


@bare
def halve_window(m: Memory) -> None:
    """Push the middle of the window on top."""
    middle = m.now + (at.window(m, m.level).end - m.now) // 2
    m.level += 1
    at.window(m, m.level).end, at.window(m, m.level).first = middle, -1

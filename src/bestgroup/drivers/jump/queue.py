"""The calendar of the jump engine: which tests may fire, and until when they cannot.

An *item* is one test of the algorithm. Time is cut into nested windows (now, end]: the ends form a
stack, the nearest one on top. Every item is in one list: among those that are not yet cleared for
the window on top (LIVE), or in the list of the end up to which it is cleared. A window whose live
items are all cleared is over; otherwise it is halved, and short windows are gone through round by
round. So an item near its firing is looked at often and one far from it seldom, and all of them
share the same ends, so that few points of the walks have to be known.
"""

from __future__ import annotations

from bestgroup.compile.records import bare
from bestgroup.drivers.jump.memory import (
    DEPTH,
    LIVE,
    Memory,
    group_at,
    item_at,
    window_at,
)
from bestgroup.drivers.jump.walks import OutOfRoom

NEVER = 2**62


@bare
def clear_items(m: Memory) -> None:
    """Drop all items."""
    for where in range(DEPTH + 2):
        window_at(m, where).first = -1
    for i in range(m.N):
        group_at(m, i).ones = group_at(m, i).twos = -1
    m.used, m.watchers = 0, -1


@bare
def put(m: Memory, item: int, where: int) -> None:
    """Put an item that is in no list into one."""
    row, head = item_at(m, item), window_at(m, where).first
    row.after, row.before, row.list = head, -1, where
    if head >= 0:
        item_at(m, head).before = item
    window_at(m, where).first = item


@bare
def move(m: Memory, item: int, where: int) -> None:
    """Move an item from its list to another one."""
    row = item_at(m, item)
    before, after = row.before, row.after
    if before >= 0:
        item_at(m, before).after = after
    else:
        window_at(m, row.list).first = after
    if after >= 0:
        item_at(m, after).before = before
    put(m, item, where)


@bare
def add_item(m: Memory, kind: int, one: int, two: int, three: int, when: int) -> int:
    """Add a live item about group `one`, and return it."""
    item = m.used
    if item == m.item_room:
        raise OutOfRoom()
    m.used = item + 1
    put(m, item, LIVE)
    row = item_at(m, item)
    row.kind, row.one, row.two, row.three = kind, one, two, three
    row.when, row.reach = when, NEVER // 4
    row.same_one, group_at(m, one).ones = group_at(m, one).ones, item
    return item


@bare
def add_pair(m: Memory, kind: int, one: int, two: int, three: int) -> None:
    """Add a live item about two groups that stay the same."""
    item = add_item(m, kind, one, two, three, 0)
    item_at(m, item).same_two, group_at(m, two).twos = group_at(m, two).twos, item


@bare
def add_watcher(m: Memory, kind: int, one: int, two: int, three: int, when: int) -> None:
    """Add a live item about group `one` that watches another group, `two` to begin with."""
    item = add_item(m, kind, one, two, three, when)
    item_at(m, item).same_two, m.watchers = m.watchers, item


@bare
def schedule(m: Memory, item: int, when: int) -> None:
    """Set the round of a sprint at which an item may fire; if NEVER, it is cleared up to its end."""
    row, where = item_at(m, item), LIVE if when < NEVER else m.level
    row.when = when
    if row.list != where:
        move(m, item, where)


@bare
def first_live(m: Memory) -> int:
    """Return the first live item, or -1."""
    return window_at(m, LIVE).first


@bare
def top_end(m: Memory) -> int:
    """Return the end of the window on top."""
    return window_at(m, m.level).end


@bare
def end_window(m: Memory) -> None:
    """Go to the end of the window on top; the items cleared up to there become live."""
    level = m.level
    m.now = window_at(m, level).end
    item = window_at(m, level).first
    window_at(m, LIVE).first = item
    window_at(m, level).first = -1
    m.level = level - 1
    while item >= 0:
        row = item_at(m, item)
        row.list = LIVE
        item = row.after


@bare
def halve_window(m: Memory) -> None:
    """Push the middle of the window on top."""
    level = m.level
    window_at(m, level + 1).end = m.now + (window_at(m, level).end - m.now) // 2
    window_at(m, level + 1).first = -1
    m.level = level + 1

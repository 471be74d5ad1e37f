"""The calendar of the jump engine: which tests may fire, and until when they cannot.

An *item* is one test of the algorithm. Time is cut into nested windows (now, end]: the ends form a
stack, the nearest one on top. Every item is in one list: among those that are not yet cleared for
the window on top (LIVE), or in the list of the end up to which it is cleared. A window whose live
items are all cleared is over; otherwise it is halved, and short windows are gone through round by
round. So an item near its firing is looked at often and one far from it seldom, and all of them
share the same ends, so that few points of the walks have to be known.
"""

from __future__ import annotations

from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.memory import (
    AFTER,
    BEFORE,
    DEPTH,
    ENDS,
    GROUP_COUNT,
    HEADS,
    ITEM_ROOM,
    KIND,
    LEVEL,
    LIST,
    LISTS,
    NOW,
    ONE,
    ONES,
    REACH,
    SAME_ONE,
    SAME_TWO,
    THREE,
    TWO,
    TWOS,
    USED,
    WATCHERS,
    WHEN,
    Words,
    item_at,
)
from bestgroup.drivers.jump.walks import OutOfRoom

LIVE, UNUSED = DEPTH, DEPTH + 1  # lists besides those of the ends
NEVER = 2**62


@bare
def clear_items(Z: Words) -> None:
    """Drop all items."""
    for where in range(LISTS):
        Z[Z[HEADS] + where] = -1
    for i in range(Z[GROUP_COUNT]):
        Z[Z[ONES] + i] = Z[Z[TWOS] + i] = -1
    Z[USED], Z[WATCHERS] = 0, -1


@bare
def put(Z: Words, item: int, where: int) -> None:
    """Put an item that is in no list into one."""
    row, head = item_at(Z, item), Z[Z[HEADS] + where]
    Z[row + AFTER], Z[row + BEFORE], Z[row + LIST] = head, -1, where
    if head >= 0:
        Z[item_at(Z, head) + BEFORE] = item
    Z[Z[HEADS] + where] = item


@bare
def move(Z: Words, item: int, where: int) -> None:
    """Move an item from its list to another one."""
    row = item_at(Z, item)
    before, after = Z[row + BEFORE], Z[row + AFTER]
    if before >= 0:
        Z[item_at(Z, before) + AFTER] = after
    else:
        Z[Z[HEADS] + Z[row + LIST]] = after
    if after >= 0:
        Z[item_at(Z, after) + BEFORE] = before
    put(Z, item, where)


@bare
def add_item(Z: Words, kind: int, one: int, two: int, three: int, when: int) -> int:
    """Add a live item about group `one`, and return it."""
    item = Z[USED]
    if item == Z[ITEM_ROOM]:
        raise OutOfRoom()
    Z[USED] = item + 1
    put(Z, item, LIVE)
    row = item_at(Z, item)
    Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE] = kind, one, two, three
    Z[row + WHEN], Z[row + REACH] = when, NEVER // 4
    Z[row + SAME_ONE], Z[Z[ONES] + one] = Z[Z[ONES] + one], item
    return item


@bare
def add_pair(Z: Words, kind: int, one: int, two: int, three: int) -> None:
    """Add a live item about two groups that stay the same."""
    item = add_item(Z, kind, one, two, three, 0)
    Z[item_at(Z, item) + SAME_TWO], Z[Z[TWOS] + two] = Z[Z[TWOS] + two], item


@bare
def add_watcher(Z: Words, kind: int, one: int, two: int, three: int, when: int) -> None:
    """Add a live item about group `one` that watches another group, `two` to begin with."""
    item = add_item(Z, kind, one, two, three, when)
    Z[item_at(Z, item) + SAME_TWO], Z[WATCHERS] = Z[WATCHERS], item


@bare
def schedule(Z: Words, item: int, when: int) -> None:
    """Set the round of a sprint at which an item may fire; if NEVER, it is cleared up to its end."""
    row, where = item_at(Z, item), LIVE if when < NEVER else Z[LEVEL]
    Z[row + WHEN] = when
    if Z[row + LIST] != where:
        move(Z, item, where)


@bare
def first_live(Z: Words) -> int:
    """Return the first live item, or -1."""
    return Z[Z[HEADS] + LIVE]


@bare
def top_end(Z: Words) -> int:
    """Return the end of the window on top."""
    return Z[Z[ENDS] + Z[LEVEL]]


@bare
def end_window(Z: Words) -> None:
    """Go to the end of the window on top; the items cleared up to there become live."""
    level = Z[LEVEL]
    Z[NOW] = Z[Z[ENDS] + level]
    item = Z[Z[HEADS] + level]
    Z[Z[HEADS] + LIVE] = item
    Z[Z[HEADS] + level] = -1
    Z[LEVEL] = level - 1
    while item >= 0:
        row = item_at(Z, item)
        Z[row + LIST] = LIVE
        item = Z[row + AFTER]


@bare
def halve_window(Z: Words) -> None:
    """Push the middle of the window on top."""
    level = Z[LEVEL]
    Z[Z[ENDS] + level + 1] = Z[NOW] + (Z[Z[ENDS] + level] - Z[NOW]) // 2
    Z[Z[HEADS] + level + 1] = -1
    Z[LEVEL] = level + 1

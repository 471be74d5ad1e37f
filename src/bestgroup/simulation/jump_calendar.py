"""The calendar of the jump engine: which tests may fire, and until when they cannot.

An *item* is one test of the algorithm. Time is cut into nested windows (now, end]: `ends` is a stack, the nearest end
on top. Every item is in one list: among those that are not yet cleared for the window on top (LIVE), or in the list of
the end up to which it is cleared. A window whose live items are all cleared is over; otherwise it is halved, and
short windows are gone through round by round. So an item near its firing is looked at often and one far from it seldom,
and all of them share the same ends, so that few points of the walks have to be known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.core.arrays import Ints
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_walks import OutOfRoom

KIND, ONE, TWO, THREE, WHEN, AFTER, BEFORE, LIST = 0, 1, 2, 3, 4, 5, 6, 7  # columns of an item
DEPTH = 64  # the most ends on the stack
LIVE, UNUSED = DEPTH, DEPTH + 1  # lists besides those of the ends
NEVER = 2**62
NOW, LEVEL, USED = 0, 1, 2  # entries of `hand`


class Calendar(NamedTuple):
    """Items in doubly linked lists, and the stack of window ends."""

    items: Ints  # [P, 8]
    heads: Ints  # [DEPTH + 2]  first item of each list, -1 for none
    ends: Ints  # [DEPTH]
    hand: Ints  # [3]  present round, level of the end on top, items ever used


def make_calendar(capacity: int) -> Calendar:
    """Return an empty calendar."""
    return Calendar(
        np.zeros((capacity, 8), np.int64),
        np.full(DEPTH + 2, -1, np.int64),
        np.zeros(DEPTH, np.int64),
        np.zeros(3, np.int64),
    )


@kernel
def clear_items(calendar: Calendar) -> None:
    """Drop all items."""
    calendar.heads[:] = -1
    calendar.hand[USED] = 0


@kernel
def put(calendar: Calendar, item: int, where: int) -> None:
    """Put an item that is in no list into one."""
    items = calendar.items
    head = calendar.heads[where]
    items[item, AFTER] = head
    items[item, BEFORE] = -1
    items[item, LIST] = where
    if head >= 0:
        items[head, BEFORE] = item
    calendar.heads[where] = item


@kernel
def move(calendar: Calendar, item: int, where: int) -> None:
    """Move an item from its list to another one."""
    items = calendar.items
    before, after = items[item, BEFORE], items[item, AFTER]
    if before >= 0:
        items[before, AFTER] = after
    else:
        calendar.heads[items[item, LIST]] = after
    if after >= 0:
        items[after, BEFORE] = before
    put(calendar, item, where)


@kernel
def add_item(calendar: Calendar, kind: int, one: int, two: int, three: int, when: int) -> int:
    """Add a live item and return its number."""
    item = calendar.heads[UNUSED]
    if item >= 0:
        move(calendar, item, LIVE)
    elif calendar.hand[USED] < len(calendar.items):
        item = calendar.hand[USED]
        calendar.hand[USED] = item + 1
        put(calendar, item, LIVE)
    else:
        raise OutOfRoom()
    row = calendar.items[item]
    row[KIND], row[ONE], row[TWO], row[THREE], row[WHEN] = kind, one, two, three, when
    return item


@kernel
def end_window(calendar: Calendar) -> None:
    """Go to the end of the window on top; the items cleared up to there become live."""
    level = calendar.hand[LEVEL]
    calendar.hand[NOW] = calendar.ends[level]
    calendar.heads[LIVE] = calendar.heads[level]
    calendar.heads[level] = -1
    calendar.hand[LEVEL] = level - 1
    item = calendar.heads[LIVE]
    while item >= 0:
        calendar.items[item, LIST] = LIVE
        item = calendar.items[item, AFTER]


@kernel
def halve_window(calendar: Calendar) -> None:
    """Push the middle of the window on top."""
    level = calendar.hand[LEVEL]
    now, end = calendar.hand[NOW], calendar.ends[level]
    calendar.ends[level + 1] = now + (end - now) // 2
    calendar.heads[level + 1] = -1
    calendar.hand[LEVEL] = level + 1

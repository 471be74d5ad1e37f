"""What EECB can do in an outer window: boxes of all efficiencies, and the tests that may fire in it.

Boxes hold for all counts between those at the ends of the window. Whatever is left out in it, counts
stay in between, so boxes outlive it; of the lower bound of a cell that is said in `screen_cell`.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.equal_effect import beaten_margin, stale_margin
from bestgroup.compile.records import bare
from bestgroup.drivers.jump.clock import count_at
from bestgroup.drivers.jump.memory import (
    PRESENT,
    Memory,
    cell_at,
    clock_at,
    column_of,
    dim_at,
    group_at,
    member_at,
    unit_of,
)
from bestgroup.drivers.jump.queue import (
    add_item,
    add_pair,
    add_watcher,
    clear_items,
)
from bestgroup.drivers.jump.spans import NOBODY
from bestgroup.drivers.jump.walks import advance, bounds, reveal

BEATEN, STALE, LEADER = 0, 1, 2  # kinds of items, in the order of a round


@bare
def screen(m: Memory, start: int, end: int) -> None:
    """Set the boxes between two clocks and make an item of every test that may fire there."""
    clear_items(m)
    for i in range(m.N):
        if group_at(m, i).active:
            for d in range(m.D):
                screen_cell(m, i, d, start, end)
    threshold, top = threshold_below(m, end), -np.inf
    for i in range(m.N):
        if group_at(m, i).active:
            top = max(top, high_worth(m, i))
    for i in range(m.N):
        if not group_at(m, i).active:
            continue
        low = low_worth(m, i)
        if beaten_margin(low, top, threshold) > 0.0:
            for j in range(m.N):
                if group_at(m, j).active and j != i:
                    if beaten_margin(low, high_worth(m, j), threshold) > 0.0:
                        add_pair(m, BEATEN, i, j, 0)
        if dim_at(m, 0).epsilon > 0.0:
            add_watcher(m, LEADER, i, NOBODY, 0, 0)


@bare
def screen_cell(m: Memory, i: int, d: int, start: int, end: int) -> None:
    """Set the box, the rivals and the lead of a cell, and its items for stale arms.

    The cell is solid if no arm's box is wider than 2 beta. Then its lower bound holds to the end even
    if the lead is left out: some arm is 2 beta above it at that round, and that arm's box lies above
    the lead's lower bound.
    """
    cell = cell_at(m, i, d)
    radius = clock_at(m, end, d).radius
    low, high, width, lead = -np.inf, -np.inf, 0.0, 0
    for j in range(m.K):
        if member_at(m, i, j, d).active:
            u, first, last = unit_of(m, i, j, d), count_at(m, i, j, start), count_at(m, i, j, end)
            reveal(m, u, last)
            advance(m, u, count_at(m, i, j, PRESENT))
            least, most = bounds(m, u, column_of(m, d), dim_at(m, d).band, max(1, first), last)
            member_at(m, i, j, d).low, member_at(m, i, j, d).high = least, most
            width, high = max(width, most - least), max(high, most)
            if least > low:
                low, lead = least, j
    rivals = 0
    for j in range(m.K):
        if member_at(m, i, j, d).active:
            if member_at(m, i, j, d).high >= low:
                member_at(m, i, rivals, d).rival = j
                rivals += 1
            if stale_margin(member_at(m, i, j, d).low, high, radius, 1.0) > 0.0:
                add_item(m, STALE, i, j, d, 0)
    cell.low, cell.high = low, high
    cell.rivals, cell.lead = rivals, lead
    cell.solid = 1 if width <= 2.0 * radius else 0


@bare
def low_worth(m: Memory, i: int) -> float:
    """Return R_i . w at the lower ends of the boxes."""
    total = 0.0
    for d in range(m.D):
        total += dim_at(m, d).weight * cell_at(m, i, d).low
    return total


@bare
def high_worth(m: Memory, i: int) -> float:
    """Return R_i . w at the upper ends of the boxes."""
    total = 0.0
    for d in range(m.D):
        total += dim_at(m, d).weight * cell_at(m, i, d).high
    return total


@bare
def threshold_below(m: Memory, row: int) -> float:
    """Return a number below 2 sum_d w^d beta(n^d) at a clock and before it."""
    total = 0.0
    for d in range(m.D):
        total += dim_at(m, d).weight * clock_at(m, row, d).radius
    return 2.0 * total


@bare
def slack_of(m: Memory) -> float:
    """Return epsilon ||w||_1."""
    total = 0.0
    for d in range(m.D):
        total += dim_at(m, d).epsilon * dim_at(m, d).weight
    return total

"""What EECB can do in an outer window: boxes of all efficiencies, and the tests that may fire in it.

Boxes hold for all counts between those at the ends of the window. Whatever is left out in it, counts
stay in between, so boxes outlive it; of the lower bound of a cell that is said in `screen_cell`.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.equal_effect import beaten_margin, stale_margin
from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.clock import count_at, radii_of
from bestgroup.drivers.jump.memory import (
    ACTIVE,
    ARM_COUNT,
    ARM_LOW,
    BANDS,
    DIM_COUNT,
    EPSILONS,
    GROUP_COUNT,
    HIGH,
    LEAD,
    LOW,
    PRESENT,
    RIVAL,
    RIVALS,
    SOLID,
    WEIGHTS,
    Reals,
    Words,
    arm_at,
    box_at,
    cell_at,
    column_of,
    group_at,
    unit_of,
)
from bestgroup.drivers.jump.queue import add_item, add_pair, add_watcher, clear_items
from bestgroup.drivers.jump.spans import NOBODY
from bestgroup.drivers.jump.walks import advance, bounds, reveal

BEATEN, STALE, LEADER = 0, 1, 2  # kinds of items, in the order of a round


@bare
def screen(Z: Words, F: Reals, start: int, end: int) -> None:
    """Set the boxes between two clocks and make an item of every test that may fire there."""
    clear_items(Z)
    for i in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, i) + ACTIVE]:
            for d in range(Z[DIM_COUNT]):
                screen_cell(Z, F, i, d, start, end)
    threshold, top = threshold_below(Z, F, end), -np.inf
    for i in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, i) + ACTIVE]:
            top = max(top, worth_of(Z, F, i, HIGH))
    for i in range(Z[GROUP_COUNT]):
        if not Z[group_at(Z, i) + ACTIVE]:
            continue
        low = worth_of(Z, F, i, LOW)
        if beaten_margin(low, top, threshold) > 0.0:
            for j in range(Z[GROUP_COUNT]):
                if Z[group_at(Z, j) + ACTIVE] and j != i:
                    if beaten_margin(low, worth_of(Z, F, j, HIGH), threshold) > 0.0:
                        add_pair(Z, BEATEN, i, j, 0)
        if F[Z[EPSILONS]] > 0.0:
            add_watcher(Z, LEADER, i, NOBODY, 0, 0)


@bare
def screen_cell(Z: Words, F: Reals, i: int, d: int, start: int, end: int) -> None:
    """Set the box, the rivals and the lead of a cell, and its items for stale arms.

    The cell is solid if no arm's box is wider than 2 beta. Then its lower bound holds to the end even
    if the lead is left out: some arm is 2 beta above it at that round, and that arm's box lies above
    the lead's lower bound.
    """
    cell, box, flags = cell_at(Z, i, d), box_at(Z, i, d), arm_at(Z, i, 0, d)
    lows, highs = box + ARM_LOW, box + ARM_LOW + Z[ARM_COUNT]
    radius = F[radii_of(Z, end) + d]
    low, high, width, lead = -np.inf, -np.inf, 0.0, 0
    for j in range(Z[ARM_COUNT]):
        if Z[flags + j]:
            u, first, last = unit_of(Z, i, j, d), count_at(Z, i, j, start), count_at(Z, i, j, end)
            reveal(Z, F, u, last)
            advance(Z, F, u, count_at(Z, i, j, PRESENT))
            least, most = bounds(Z, F, u, column_of(Z, d), F[Z[BANDS] + d], max(1, first), last)
            F[lows + j], F[highs + j] = least, most
            width, high = max(width, most - least), max(high, most)
            if least > low:
                low, lead = least, j
    rivals = 0
    for j in range(Z[ARM_COUNT]):
        if Z[flags + j]:
            if F[highs + j] >= low:
                Z[cell + RIVAL + rivals] = j
                rivals += 1
            if stale_margin(F[lows + j], high, radius, 1.0) > 0.0:
                add_item(Z, STALE, i, j, d, 0)
    F[box + LOW], F[box + HIGH] = low, high
    Z[cell + RIVALS], Z[cell + LEAD] = rivals, lead
    Z[cell + SOLID] = 1 if width <= 2.0 * radius else 0


@bare
def worth_of(Z: Words, F: Reals, i: int, bound: int) -> float:
    """Return R_i . w at the lower or the upper ends of the boxes."""
    total = 0.0
    for d in range(Z[DIM_COUNT]):
        total += F[Z[WEIGHTS] + d] * F[box_at(Z, i, d) + bound]
    return total


@bare
def threshold_below(Z: Words, F: Reals, row: int) -> float:
    """Return a number below 2 sum_d w^d beta(n^d) at a clock and before it."""
    total = 0.0
    for d in range(Z[DIM_COUNT]):
        total += F[Z[WEIGHTS] + d] * F[radii_of(Z, row) + d]
    return 2.0 * total


@bare
def slack_of(Z: Words, F: Reals) -> float:
    """Return epsilon ||w||_1."""
    total = 0.0
    for d in range(Z[DIM_COUNT]):
        total += F[Z[EPSILONS] + d] * F[Z[WEIGHTS] + d]
    return total

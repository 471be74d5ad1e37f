"""What can happen in an outer window: boxes of all efficiencies, and the tests of TE that may fire in it.

A test whose largest margin over the boxes is negative cannot fire in the window, whatever is resolved or left out
in it: a resolved efficiency keeps a value of its box, and the lower bound of an efficiency outlives the arms
that are left out (see `_screen_cell`). Only the others become items.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.protocol import Rule
from bestgroup.algorithms.triple_elimination import (
    apart_margin,
    apart_wanted,
    excess_margin_in,
    reject_margin_in,
    stale_margin,
)
from bestgroup.core.arrays import Floats, Ints
from bestgroup.core.confidence import radius_below
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_calendar import add_item, clear_items
from bestgroup.simulation.jump_cells import (
    ACCEPT,
    ITEM,
    NOBODY,
    REJECT,
    RESOLVE,
    STALE,
    value_at,
)
from bestgroup.simulation.jump_layout import (
    ACTIVE,
    ARM_COUNT,
    ARM_LOW,
    BANDS,
    DIM_COUNT,
    EPSILONS,
    FROM,
    GROUP_COUNT,
    GUARD,
    HIGH,
    LEAD,
    LOW,
    OPEN,
    RIVAL,
    RIVALS,
    SCALES,
    SIDE,
    SOLID,
    STAMPS,
    STRETCH,
    TO,
    WATCH,
    arm_at,
    box_at,
    cell_at,
    column_of,
    dense_at,
    group_at,
    unit_of,
)
from bestgroup.simulation.jump_walks import advance, bounds, reveal


@kernel
def screen(Z: Ints, F: Floats, rule: Rule, now: int, end: int) -> None:
    """Set the boxes over (now, end] and make an item of every test that may fire there."""
    beta = radius_below(rule.radius, end)
    clear_items(Z)
    for i in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, i) + ACTIVE]:
            for d in range(Z[DIM_COUNT]):
                if Z[cell_at(Z, i, d) + OPEN]:
                    _screen_cell(Z, F, i, d, now, end, beta, rule.options.arms)
                else:
                    box = box_at(Z, i, d)
                    F[box + LOW] = F[box + HIGH] = F[value_at(Z, i, d)]
    _screen_rejections(Z, F, beta)
    for i in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, i) + ACTIVE]:
            if rule.options.dimensions:
                for d in range(Z[DIM_COUNT]):
                    if Z[cell_at(Z, i, d) + OPEN]:
                        watch_resolution(Z, F, i, d, beta, 0)
            watch_acceptance(Z, F, i, beta, 0)


@kernel
def _screen_cell(
    Z: Ints, F: Floats, i: int, d: int, now: int, end: int, beta: float, drops: bool
) -> None:
    """Set the box, the rivals and the lead of a cell, and its items for stale arms.

    The cell is solid if no arm's box is wider than 2 beta. Then its lower bound holds to the end even if the lead
    is left out: some arm is 2 beta above it at that round, and that arm's box lies above the lead's lower bound.
    """
    cell, box, flags = cell_at(Z, i, d), box_at(Z, i, d), arm_at(Z, i, 0, d)
    scale = F[Z[SCALES] + d]
    low, high, width, lead = -np.inf, -np.inf, 0.0, 0
    for j in range(Z[ARM_COUNT]):
        if Z[flags + j]:
            least, most = _arm_bounds(Z, F, i, j, d, now, end)
            F[box + ARM_LOW + j] = least
            width, high = max(width, most - least), max(high, most)
            F[box + ARM_LOW + Z[ARM_COUNT] + j % 16] = most
            if least > low:
                low, lead = least, j
    rivals = 0
    for j in range(Z[ARM_COUNT]):
        if Z[flags + j]:
            if F[box + ARM_LOW + j] + width >= low:
                Z[cell + RIVAL + rivals] = j
                rivals += 1
            if drops and stale_margin(high, F[box + ARM_LOW + j], beta, scale) >= 0.0:
                add_item(Z, STALE, i, j, d, 0)
    F[box + LOW], F[box + HIGH] = low, high
    Z[cell + RIVALS], Z[cell + LEAD] = rivals, lead
    Z[cell + SOLID] = 1 if width <= 2.0 * beta * scale else 0

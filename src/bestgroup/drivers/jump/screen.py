"""What can happen in an outer window: boxes of all efficiencies, and the tests of TE that may fire in it.

A test whose largest margin over the boxes is negative cannot fire in the window, whatever is
resolved or left out in it: a resolved efficiency keeps a value of its box, and the lower bound of
an efficiency outlives the arms that are left out (see `screen_cell`). Only the others become
items.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.protocol import Rule
from bestgroup.algorithms.triple_elimination import (
    reject_margin_in,
    stale_margin,
)
from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.blockers import (
    blocking_dim,
    may_reject,
    watch_acceptance,
    watch_resolution,
)
from bestgroup.drivers.jump.envelopes import (
    NOBODY,
    REJECT,
    STALE,
    value_at,
)
from bestgroup.drivers.jump.memory import (
    ACTIVE,
    ARM_COUNT,
    ARM_LOW,
    BANDS,
    COVER,
    DIM_COUNT,
    FROM,
    GROUP_COUNT,
    HIGH,
    LEAD,
    LOW,
    OPEN,
    REJECTORS,
    RIVAL,
    RIVALS,
    SCALES,
    SOLID,
    STAMPS,
    STRETCH,
    TO,
    TOPS,
    Reals,
    Words,
    arm_at,
    box_at,
    cell_at,
    column_of,
    dense_at,
    group_at,
    unit_of,
)
from bestgroup.drivers.jump.queue import add_item, add_pair, clear_items
from bestgroup.drivers.jump.radii import outer_place
from bestgroup.drivers.jump.walks import advance, bounds, reveal

FEW = 16  # so many groups are compared each with each
MOST_COVERS = 32
PLAIN, COVERS, COVERED = 0, 1, 2  # a group among the possible rejectors


@bare
def screen(Z: Words, F: Reals, rule: Rule, now: int, end: int) -> None:
    """Set the boxes over (now, end], the outer window, and make an item of every test that may fire there."""
    beta = F[outer_place(Z)]
    clear_items(Z)
    for i in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, i) + ACTIVE]:
            for d in range(Z[DIM_COUNT]):
                if Z[cell_at(Z, i, d) + OPEN]:
                    screen_cell(Z, F, i, d, now, end, 2.0 * beta, rule.options.arms)
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


@bare
def screen_cell(
    Z: Words, F: Reals, i: int, d: int, now: int, end: int, rho: float, drops: bool
) -> None:
    """Set the box, the rivals and the lead of a cell, and its items for stale arms.

    An arm is stale if it is `rho`, for TE 2 beta, below the efficiency. The cell is solid if no
    arm's box is wider than that. Then its lower bound holds to the end even if the lead is left
    out: some arm is rho above it at that round, and that arm's box lies above the lead's lower
    bound.
    """
    cell, box, flags = cell_at(Z, i, d), box_at(Z, i, d), arm_at(Z, i, 0, d)
    lows, highs = box + ARM_LOW, box + ARM_LOW + Z[ARM_COUNT]
    scale = F[Z[SCALES] + d]
    low, high, width, lead = -np.inf, -np.inf, 0.0, 0
    for j in range(Z[ARM_COUNT]):
        if Z[flags + j]:
            least, most = _arm_bounds(Z, F, i, j, d, now, end)
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
            if drops and stale_margin(high, F[lows + j], 0.5 * rho, scale) >= 0.0:
                add_item(Z, STALE, i, j, d, 0)
    F[box + LOW], F[box + HIGH] = low, high
    Z[cell + RIVALS], Z[cell + LEAD] = rivals, lead
    Z[cell + SOLID] = 1 if width <= rho * scale else 0


@bare
def _arm_bounds(
    Z: Words, F: Reals, i: int, j: int, d: int, now: int, end: int
) -> tuple[float, float]:
    """Return bounds of the mean of an arm over (now, end], of which a part may have been sprinted."""
    u, column, band = unit_of(Z, i, j, d), column_of(Z, d), F[Z[BANDS] + d]
    reveal(Z, F, u, end)
    if Z[Z[STAMPS] + u] != Z[STRETCH]:
        advance(Z, F, u, now)
        return bounds(Z, F, u, column, band, now + 1, end)
    low, high = np.inf, -np.inf
    for k in range(now - Z[FROM], Z[TO] - Z[FROM]):
        mean = F[dense_at(Z, u, column) + k]
        low, high = min(low, mean), max(high, mean)
    if end > Z[TO]:
        least, most = bounds(Z, F, u, column, band, Z[TO] + 1, end)
        low, high = min(low, least), max(high, most)
    return low, high


@bare
def _screen_rejections(Z: Words, F: Reals, beta: float) -> None:
    """Make items of the pairs (i, j) of which j may reject i."""
    tops, rejectors = Z[TOPS], 0
    for d in range(Z[DIM_COUNT]):
        F[tops + d] = -np.inf
        for i in range(Z[GROUP_COUNT]):
            if Z[group_at(Z, i) + ACTIVE]:
                F[tops + d] = max(F[tops + d], F[box_at(Z, i, d) + HIGH])
    for i in range(Z[GROUP_COUNT]):
        possible = Z[group_at(Z, i) + ACTIVE] != 0
        for d in range(Z[DIM_COUNT]):
            low = F[box_at(Z, i, d) + LOW]
            possible = (
                possible and reject_margin_in(low, F[tops + d], beta, F[Z[SCALES] + d]) >= 0.0
            )
        if possible:
            if rejectors == 0:
                _cover_groups(Z, F, beta)
                rejectors = _list_rejectors(Z)
            for place in range(Z[REJECTORS], Z[REJECTORS] + rejectors):
                j = Z[place]
                if j != i and may_reject(Z, F, i, j, beta):
                    add_pair(Z, REJECT, i, j, blocking_dim(Z, F, i, j, beta))


@bare
def _list_rejectors(Z: Words) -> int:
    """List the groups that may have to reject others, and return how many they are."""
    count = 0
    for j in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, j) + ACTIVE] and Z[group_at(Z, j) + COVER] != COVERED:
            Z[Z[REJECTORS] + count] = j
            count += 1
    return count


@bare
def _cover_groups(Z: Words, F: Reals, beta: float) -> None:
    """Mark groups that need not be looked at as rejectors, because others surely lie above them in every dim.

    Whom a covered group rejects, its cover rejects at the same round; should the cover be rejected
    itself, its rejector takes over, if no box is wider than 2 beta. If one is, or if the cover is
    accepted, the window is screened again.
    """
    N, D = Z[GROUP_COUNT], Z[DIM_COUNT]
    for j in range(N):
        Z[group_at(Z, j) + COVER] = PLAIN
    for _ in range(MOST_COVERS if N > FEW else 0):
        best, most = NOBODY, -np.inf
        for j in range(N):
            group = group_at(Z, j)
            if Z[group + ACTIVE] and Z[group + COVER] == PLAIN:
                total = 0.0
                for d in range(D):
                    total += F[box_at(Z, j, d) + LOW] / F[Z[SCALES] + d]
                if total > most:
                    best, most = j, total
        if best == NOBODY:
            break
        Z[group_at(Z, best) + COVER] = COVERS
        for j in range(N):
            group = group_at(Z, j)
            if Z[group + ACTIVE] and Z[group + COVER] == PLAIN:
                below = True
                for d in range(D):
                    below = below and F[box_at(Z, j, d) + HIGH] < F[box_at(Z, best, d) + LOW]
                if below:
                    Z[group + COVER] = COVERED

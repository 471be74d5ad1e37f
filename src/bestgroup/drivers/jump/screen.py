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
from bestgroup.compile.records import bare
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
)
from bestgroup.drivers.jump.memory import (
    Memory,
    cell_at,
    column_of,
    dim_at,
    group_at,
    means_at,
    member_at,
    radii_at,
    unit_at,
    unit_of,
    values_at,
)
from bestgroup.drivers.jump.queue import (
    add_item,
    add_pair,
    clear_items,
)
from bestgroup.drivers.jump.walks import advance, bounds, reveal

FEW = 16  # so many groups are compared each with each
MOST_COVERS = 32
PLAIN, COVERS, COVERED = 0, 1, 2  # a group among the possible rejectors


@bare
def screen(m: Memory, rule: Rule, now: int, end: int) -> None:
    """Set the boxes over (now, end], the outer window, and make an item of every test that may fire there."""
    beta = radii_at(m, 0).beta
    clear_items(m)
    for i in range(m.N):
        if group_at(m, i).active:
            for d in range(m.D):
                if cell_at(m, i, d).open:
                    screen_cell(m, i, d, now, end, 2.0 * beta, rule.options.arms)
                else:
                    box = cell_at(m, i, d)
                    box.low = box.high = values_at(m, i)[d]
    _screen_rejections(m, beta)
    for i in range(m.N):
        if group_at(m, i).active:
            if rule.options.dimensions:
                for d in range(m.D):
                    if cell_at(m, i, d).open:
                        watch_resolution(m, i, d, beta, 0)
            watch_acceptance(m, i, beta, 0)


@bare
def screen_cell(m: Memory, i: int, d: int, now: int, end: int, rho: float, drops: bool) -> None:
    """Set the box, the rivals and the lead of a cell, and its items for stale arms.

    An arm is stale if it is `rho`, for TE 2 beta, below the efficiency. The cell is solid if no
    arm's box is wider than that. Then its lower bound holds to the end even if the lead is left
    out: some arm is rho above it at that round, and that arm's box lies above the lead's lower
    bound.
    """
    cell = cell_at(m, i, d)
    scale = dim_at(m, d).scale
    low, high, width, lead = -np.inf, -np.inf, 0.0, 0
    for j in range(m.K):
        if member_at(m, i, j, d).active:
            least, most = _arm_bounds(m, i, j, d, now, end)
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
            if drops and stale_margin(high, member_at(m, i, j, d).low, 0.5 * rho, scale) >= 0.0:
                add_item(m, STALE, i, j, d, 0)
    cell.low, cell.high = low, high
    cell.rivals, cell.lead = rivals, lead
    cell.solid = 1 if width <= rho * scale else 0


@bare
def _arm_bounds(m: Memory, i: int, j: int, d: int, now: int, end: int) -> tuple[float, float]:
    """Return bounds of the mean of an arm over (now, end], of which a part may have been sprinted."""
    u, column, band = unit_of(m, i, j, d), column_of(m, d), dim_at(m, d).band
    reveal(m, u, end)
    if unit_at(m, u).stamp != m.stretch:
        advance(m, u, now)
        return bounds(m, u, column, band, now + 1, end)
    low, high = np.inf, -np.inf
    for k in range(now - m.start, m.stop - m.start):
        mean = means_at(m, u, column)[k]
        low, high = min(low, mean), max(high, mean)
    if end > m.stop:
        least, most = bounds(m, u, column, band, m.stop + 1, end)
        low, high = min(low, least), max(high, most)
    return low, high


@bare
def _screen_rejections(m: Memory, beta: float) -> None:
    """Make items of the pairs (i, j) of which j may reject i."""
    rejectors = 0
    for d in range(m.D):
        dim_at(m, d).top = -np.inf
        for i in range(m.N):
            if group_at(m, i).active:
                dim_at(m, d).top = max(dim_at(m, d).top, cell_at(m, i, d).high)
    for i in range(m.N):
        possible = group_at(m, i).active != 0
        for d in range(m.D):
            low = cell_at(m, i, d).low
            possible = (
                possible
                and reject_margin_in(low, dim_at(m, d).top, beta, dim_at(m, d).scale) >= 0.0
            )
        if possible:
            if rejectors == 0:
                _cover_groups(m, beta)
                rejectors = _list_rejectors(m)
            for k in range(rejectors):
                j = group_at(m, k).rejector
                if j != i and may_reject(m, i, j, beta):
                    add_pair(m, REJECT, i, j, blocking_dim(m, i, j, beta))


@bare
def _list_rejectors(m: Memory) -> int:
    """List the groups that may have to reject others, and return how many they are."""
    count = 0
    for j in range(m.N):
        if group_at(m, j).active and group_at(m, j).cover != COVERED:
            group_at(m, count).rejector = j
            count += 1
    return count


@bare
def _cover_groups(m: Memory, beta: float) -> None:
    """Mark groups that need not be looked at as rejectors, because others surely lie above them in every dim.

    Whom a covered group rejects, its cover rejects at the same round; should the cover be rejected
    itself, its rejector takes over, if no box is wider than 2 beta. If one is, or if the cover is
    accepted, the window is screened again.
    """
    N, D = m.N, m.D
    for j in range(N):
        group_at(m, j).cover = PLAIN
    for _ in range(MOST_COVERS if N > FEW else 0):
        best, most = NOBODY, -np.inf
        for j in range(N):
            group = group_at(m, j)
            if group.active and group.cover == PLAIN:
                total = 0.0
                for d in range(D):
                    total += cell_at(m, j, d).low / dim_at(m, d).scale
                if total > most:
                    best, most = j, total
        if best == NOBODY:
            break
        group_at(m, best).cover = COVERS
        for j in range(N):
            group = group_at(m, j)
            if group.active and group.cover == PLAIN:
                below = True
                for d in range(D):
                    below = below and cell_at(m, j, d).high < cell_at(m, best, d).low
                if below:
                    group.cover = COVERED

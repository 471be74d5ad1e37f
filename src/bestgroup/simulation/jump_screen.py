"""What can happen in an outer window: boxes of all efficiencies, and the tests of TE that may fire in it.

A test whose largest margin over the boxes is negative cannot fire in the window, whatever is
resolved or left out in it: a resolved efficiency keeps a value of its box, and the lower bound of
an efficiency outlives the arms that are left out (see `_screen_cell`). Only the others become
items.
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
from bestgroup.core.confidence import radius_below
from bestgroup.simulation.jump_calendar import add_item, add_pair, add_watcher, clear_items
from bestgroup.simulation.jump_cells import (
    ACCEPT,
    ITEM,
    NOBODY,
    REJECT,
    RESOLVE,
    STALE,
    value_at,
)
from bestgroup.simulation.jump_kernel import bare
from bestgroup.simulation.jump_layout import (
    ACTIVE,
    ARM_COUNT,
    ARM_LOW,
    BANDS,
    COVER,
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
    TOPS,
    WATCH,
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
from bestgroup.simulation.jump_walks import advance, bounds, reveal

FEW = 16  # so many groups are compared each with each
MOST_COVERS = 32
PLAIN, COVERS, COVERED = 0, 1, 2  # a group among the possible rejectors


@bare
def screen(Z: Words, F: Reals, rule: Rule, now: int, end: int) -> None:
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


@bare
def _screen_cell(
    Z: Words, F: Reals, i: int, d: int, now: int, end: int, beta: float, drops: bool
) -> None:
    """Set the box, the rivals and the lead of a cell, and its items for stale arms.

    The cell is solid if no arm's box is wider than 2 beta. Then its lower bound holds to the end
    even if the lead is left out: some arm is 2 beta above it at that round, and that arm's box lies
    above the lead's lower bound.
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
            if drops and stale_margin(high, F[lows + j], beta, scale) >= 0.0:
                add_item(Z, STALE, i, j, d, 0)
    F[box + LOW], F[box + HIGH] = low, high
    Z[cell + RIVALS], Z[cell + LEAD] = rivals, lead
    Z[cell + SOLID] = 1 if width <= 2.0 * beta * scale else 0


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
    tops, ready = Z[TOPS], False
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
            if not ready:
                _cover_groups(Z, F, beta)
                ready = True
            for j in range(Z[GROUP_COUNT]):
                group = group_at(Z, j)
                if Z[group + ACTIVE] and Z[group + COVER] != COVERED and j != i:
                    if may_reject(Z, F, i, j, beta):
                        add_pair(Z, REJECT, i, j, _blocking_dim(Z, F, i, j, beta))


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


@bare
def has_wide_box(Z: Words, F: Reals, i: int, beta: float) -> bool:
    """Return whether the box of a group is wider than 2 beta in a dim."""
    for d in range(Z[DIM_COUNT]):
        box = box_at(Z, i, d)
        if F[box + HIGH] - F[box + LOW] > 2.0 * beta * F[Z[SCALES] + d]:
            return True
    return False


@bare
def may_reject(Z: Words, F: Reals, i: int, j: int, beta: float) -> bool:
    """Return whether j rejects i somewhere in the boxes."""
    for d in range(Z[DIM_COUNT]):
        low, high = F[box_at(Z, i, d) + LOW], F[box_at(Z, j, d) + HIGH]
        if reject_margin_in(low, high, beta, F[Z[SCALES] + d]) < 0.0:
            return False
    return True


@bare
def _middle(Z: Words, F: Reals, i: int, d: int) -> float:
    box = box_at(Z, i, d)
    return (F[box + LOW] + F[box + HIGH]) / 2.0


@bare
def _blocking_dim(Z: Words, F: Reals, i: int, j: int, beta: float) -> int:
    """Return the dim that seems to block longest that j rejects i."""
    best, least = 0, np.inf
    for d in range(Z[DIM_COUNT]):
        scale = F[Z[SCALES] + d]
        own, other = _middle(Z, F, i, d), _middle(Z, F, j, d)
        margin = reject_margin_in(own, other, beta, scale) / scale
        if margin < least:
            best, least = d, margin
    return best


@bare
def watch_resolution(Z: Words, F: Reals, i: int, d: int, beta: float, when: int) -> None:
    """Find a group that blocks the resolution of a cell over the outer window, or make an item."""
    cell = cell_at(Z, i, d)
    j = Z[cell + WATCH]
    if j >= 0 and Z[group_at(Z, j) + ACTIVE] and not may_part(Z, F, i, j, d, beta):
        return
    j = near_group(Z, F, i, d, beta)
    if j != NOBODY and not may_part(Z, F, i, j, d, beta):
        Z[cell + WATCH] = j
    else:
        Z[cell + WATCH] = ITEM
        add_watcher(Z, RESOLVE, i, j, d, when)


@bare
def may_part(Z: Words, F: Reals, i: int, j: int, d: int, beta: float) -> bool:
    """Return whether i and j are apart enough in dim d somewhere in the boxes."""
    own, other = box_at(Z, i, d), box_at(Z, j, d)
    wanted = apart_wanted(beta, F[Z[SCALES] + d], F[Z[EPSILONS] + d])
    margin = apart_margin(F[own + LOW], F[own + HIGH], F[other + LOW], F[other + HIGH], wanted)
    return margin >= 0.0


@bare
def near_group(Z: Words, F: Reals, i: int, d: int, beta: float) -> int:
    """Return a group that blocks the resolution of a cell over the outer window, else the nearest."""
    best, least = NOBODY, np.inf
    for j in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, j) + ACTIVE] and j != i:
            distance = abs(_middle(Z, F, i, d) - _middle(Z, F, j, d))
            if distance < least:
                best, least = j, distance
                if not may_part(Z, F, i, j, d, beta):
                    break
    return best


@bare
def watch_acceptance(Z: Words, F: Reals, i: int, beta: float, when: int) -> None:
    """Find a group that blocks the acceptance of i over the outer window, or make an item.

    P_2 is the set of groups i with M_epsilon(i, j) >= 2 beta and M_epsilon(j, i) >= 2 beta for all
    j in G: for j in P_1 the second holds by definition, and a j outside P_1 is what line 15 asks it
    of. So one j blocks i, on one of two sides: 0 if i does not stand against j, 1 if j does not
    stand against i.
    """
    group = group_at(Z, i)
    j = Z[group + GUARD]
    if j >= 0 and Z[group_at(Z, j) + ACTIVE]:
        one, two = (i, j) if Z[group + SIDE] == 0 else (j, i)
        if not may_stand(Z, F, one, two, beta):
            return
    j, side, blocked = beaten_by(Z, F, i, beta)
    if blocked:
        Z[group + GUARD], Z[group + SIDE] = j, side
    else:
        Z[group + GUARD] = ITEM
        add_watcher(Z, ACCEPT, i, j, side, when)


@bare
def may_stand(Z: Words, F: Reals, i: int, j: int, beta: float) -> bool:
    """Return whether i is not beaten by j somewhere in the boxes."""
    for d in range(Z[DIM_COUNT]):
        high, low = F[box_at(Z, i, d) + HIGH], F[box_at(Z, j, d) + LOW]
        if excess_margin_in(high, low, beta, F[Z[SCALES] + d], F[Z[EPSILONS] + d]) >= 0.0:
            return True
    return False


@bare
def beaten_by(Z: Words, F: Reals, i: int, beta: float) -> tuple[int, int, bool]:
    """Return a group that blocks the acceptance of i, the side, and whether it surely does.

    Surely: over the whole outer window. If none does, the one that seems to block longest.
    """
    best, side, least = NOBODY, 0, np.inf
    for j in range(Z[GROUP_COUNT]):
        if not Z[group_at(Z, j) + ACTIVE] or j == i:
            continue
        for turned in range(2):
            one, two = (i, j) if turned == 0 else (j, i)
            most = -np.inf
            for d in range(Z[DIM_COUNT]):
                scale, own, other = F[Z[SCALES] + d], _middle(Z, F, one, d), _middle(Z, F, two, d)
                margin = excess_margin_in(own, other, beta, scale, F[Z[EPSILONS] + d])
                most = max(most, margin / scale)
            if most < least:
                best, side, least = j, turned, most
                if not may_stand(Z, F, one, two, beta):
                    return j, turned, True
    return best, side, False

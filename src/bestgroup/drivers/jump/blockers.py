"""Who keeps a test of TE from firing over an outer window, by the boxes of the efficiencies."""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.triple_elimination import (
    apart_margin,
    apart_wanted,
    excess_margin_in,
    reject_margin_in,
)
from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.envelopes import ACCEPT, ITEM, NOBODY, RESOLVE
from bestgroup.drivers.jump.memory import (
    ACTIVE,
    DIM_COUNT,
    EPSILONS,
    GROUP_COUNT,
    GUARD,
    HIGH,
    LOW,
    SCALES,
    SIDE,
    WATCH,
    Reals,
    Words,
    box_at,
    cell_at,
    group_at,
)
from bestgroup.drivers.jump.queue import add_watcher


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
def blocking_dim(Z: Words, F: Reals, i: int, j: int, beta: float) -> int:
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

"""Who keeps a test of TE from firing over an outer window, by the boxes of the efficiencies."""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.triple_elimination import (
    apart_margin,
    apart_wanted,
    excess_margin_in,
    reject_margin_in,
)
from bestgroup.compile.records import bare
from bestgroup.drivers.jump.envelopes import ACCEPT, ITEM, NOBODY, RESOLVE
from bestgroup.drivers.jump.memory import (
    Memory,
    cell_at,
    dim_at,
    group_at,
)
from bestgroup.drivers.jump.queue import (
    add_watcher,
)


@bare
def has_wide_box(m: Memory, i: int, beta: float) -> bool:
    """Return whether the box of a group is wider than 2 beta in a dim."""
    for d in range(m.D):
        box = cell_at(m, i, d)
        if box.high - box.low > 2.0 * beta * dim_at(m, d).scale:
            return True
    return False


@bare
def may_reject(m: Memory, i: int, j: int, beta: float) -> bool:
    """Return whether j rejects i somewhere in the boxes."""
    for d in range(m.D):
        low, high = cell_at(m, i, d).low, cell_at(m, j, d).high
        if reject_margin_in(low, high, beta, dim_at(m, d).scale) < 0.0:
            return False
    return True


@bare
def _middle(m: Memory, i: int, d: int) -> float:
    box = cell_at(m, i, d)
    return (box.low + box.high) / 2.0


@bare
def blocking_dim(m: Memory, i: int, j: int, beta: float) -> int:
    """Return the dim that seems to block longest that j rejects i."""
    best, least = 0, np.inf
    for d in range(m.D):
        scale = dim_at(m, d).scale
        own, other = _middle(m, i, d), _middle(m, j, d)
        margin = reject_margin_in(own, other, beta, scale) / scale
        if margin < least:
            best, least = d, margin
    return best


@bare
def watch_resolution(m: Memory, i: int, d: int, beta: float, when: int) -> None:
    """Find a group that blocks the resolution of a cell over the outer window, or make an item."""
    cell = cell_at(m, i, d)
    j = cell.blocker
    if j >= 0 and group_at(m, j).active and not may_part(m, i, j, d, beta):
        return
    j = near_group(m, i, d, beta)
    if j != NOBODY and not may_part(m, i, j, d, beta):
        cell.blocker = j
    else:
        cell.blocker = ITEM
        add_watcher(m, RESOLVE, i, j, d, when)


@bare
def may_part(m: Memory, i: int, j: int, d: int, beta: float) -> bool:
    """Return whether i and j are apart enough in dim d somewhere in the boxes."""
    own, other = cell_at(m, i, d), cell_at(m, j, d)
    wanted = apart_wanted(beta, dim_at(m, d).scale, dim_at(m, d).epsilon)
    margin = apart_margin(own.low, own.high, other.low, other.high, wanted)
    return margin >= 0.0


@bare
def near_group(m: Memory, i: int, d: int, beta: float) -> int:
    """Return a group that blocks the resolution of a cell over the outer window, else the nearest."""
    best, least = NOBODY, np.inf
    for j in range(m.N):
        if group_at(m, j).active and j != i:
            distance = abs(_middle(m, i, d) - _middle(m, j, d))
            if distance < least:
                best, least = j, distance
                if not may_part(m, i, j, d, beta):
                    break
    return best


@bare
def watch_acceptance(m: Memory, i: int, beta: float, when: int) -> None:
    """Find a group that blocks the acceptance of i over the outer window, or make an item.

    P_2 is the set of groups i with M_epsilon(i, j) >= 2 beta and M_epsilon(j, i) >= 2 beta for all
    j in G: for j in P_1 the second holds by definition, and a j outside P_1 is what line 15 asks it
    of. So one j blocks i, on one of two sides: 0 if i does not stand against j, 1 if j does not
    stand against i.
    """
    group = group_at(m, i)
    j = group.blocker
    if j >= 0 and group_at(m, j).active:
        one, two = (i, j) if group.side == 0 else (j, i)
        if not may_stand(m, one, two, beta):
            return
    j, side, blocked = beaten_by(m, i, beta)
    if blocked:
        group.blocker, group.side = j, side
    else:
        group.blocker = ITEM
        add_watcher(m, ACCEPT, i, j, side, when)


@bare
def may_stand(m: Memory, i: int, j: int, beta: float) -> bool:
    """Return whether i is not beaten by j somewhere in the boxes."""
    for d in range(m.D):
        high, low = cell_at(m, i, d).high, cell_at(m, j, d).low
        if excess_margin_in(high, low, beta, dim_at(m, d).scale, dim_at(m, d).epsilon) >= 0.0:
            return True
    return False


@bare
def beaten_by(m: Memory, i: int, beta: float) -> tuple[int, int, bool]:
    """Return a group that blocks the acceptance of i, the side, and whether it surely does.

    Surely: over the whole outer window. If none does, the one that seems to block longest.
    """
    best, side, least = NOBODY, 0, np.inf
    for j in range(m.N):
        if not group_at(m, j).active or j == i:
            continue
        for turned in range(2):
            one, two = (i, j) if turned == 0 else (j, i)
            most = -np.inf
            for d in range(m.D):
                scale, own, other = dim_at(m, d).scale, _middle(m, one, d), _middle(m, two, d)
                margin = excess_margin_in(own, other, beta, scale, dim_at(m, d).epsilon)
                most = max(most, margin / scale)
            if most < least:
                best, side, least = j, turned, most
                if not may_stand(m, one, two, beta):
                    return j, turned, True
    return best, side, False

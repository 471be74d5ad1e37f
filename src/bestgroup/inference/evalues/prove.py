"""Proof that a leader has enough evidence against every selection of a group, by branch and bound.

K^D selections cannot be enumerated when groups are large. A box of selections is proven when its
bound (`evalues.search`) reaches the level; otherwise it is halved. Near and far arms of a dim get
tilts of their own that way, which one bound for all cannot give them. The boxes cover all
selections, so nothing is proven that is not true: running out of boxes only means that sampling
goes on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.search import Pairwise, Work, bound_box, pooled
from bestgroup.problem.arrays import Bools, Floats, Ints

PROVEN, BEATEN, OPEN = 0, 1, 2

_BOXES = 400  # boxes that one proof looks at, at most


class Stack(NamedTuple):
    """Room for the boxes that a proof has still to look at."""

    boxes: Bools  # [D K + 1, D, K]
    tilts: Floats  # [D K + 1]


@kernel
def make_stack(D: int, K: int) -> Stack:
    """Return room for boxes of groups with up to K arms."""
    return Stack(np.empty((D * K + 1, D, K), np.bool_), np.empty(D * K + 1))


@kernel
def prove(
    pair: Pairwise, g: int, size: int, y: float, level: float, selection: Ints, work: Work
) -> int:
    """Return PROVEN, BEATEN or OPEN as `prove_within` does, with room of its own."""
    stack = make_stack(len(selection), size)
    return prove_within(pair, g, size, y, level, selection, work, stack)


@borrowing
def prove_within(
    pair: Pairwise,
    g: int,
    size: int,
    y: float,
    level: float,
    selection: Ints,
    work: Work,
    stack: Stack,
) -> int:
    """Return PROVEN if the evidence is at least `level` against every selection of the group.

    BEATEN: `selection` has less. OPEN: no more boxes may be looked at; `selection` lies in one left over.
    The search starts from tilt y > 0.
    """
    D = len(selection)
    boxes, tilts = stack.boxes, stack.tilts
    for d in range(D):
        for j in range(boxes.shape[2]):
            # The first box holds all selections of the group.
            boxes[0, d, j] = j < size
    tilts[0] = y
    top = 0
    for _ in range(_BOXES):
        value, tilt = pooled_bound(pair, g, boxes[top], tilts[top], level, selection, work)
        if value < level:
            # The relaxation names a selection: if that one alone has too little, no split can help.
            if pooled(pair, g, selection, tilt, level, work) < level:
                return BEATEN
            # Depth first, near arms on top: the stack stays as deep as there are splits on one
            # path.
            if split_box(pair, boxes[top], boxes[top + 1], selection):
                tilts[top] = tilt
                tilts[top + 1] = tilt
                top += 1
                continue
        # The box is proven, or holds one selection whose own evidence is enough.
        top -= 1
        if top < 0:
            return PROVEN
    return OPEN


@borrowing
def pooled_bound(
    pair: Pairwise, g: int, box: Bools, y: float, level: float, selection: Ints, work: Work
) -> tuple[float, float]:
    """Return a bound over a box with precisions g - 1, g, g + 1 pooled, up to `level`, and the tilt of g."""
    D = len(selection)
    value, tilt = bound_box(pair, g, box, y, level, selection, work)
    # Pooling adds at most log 3; beyond 2 below the level it cannot decide.
    if value >= level or value < level - 2.0:
        return value, tilt
    total = math.exp(value - level)
    for d in range(D):
        # The neighbours write their own selection; the one of g is what is split by.
        work.trial[d] = selection[d]
    for other in (g - 1, g + 1):
        if 0 <= other < len(pair.lead_cost) and total < 1.0:
            more, _ = bound_box(pair, other, box, tilt, level, selection, work)
            total += math.exp(min(more - level, 0.0))
    for d in range(D):
        selection[d] = work.trial[d]
    return level + math.log(total), tilt


@borrowing
def split_box(pair: Pairwise, box: Bools, other: Bools, selection: Ints) -> bool:
    """Leave the near arms of one dim in `box`, put the far ones in `other`; False for one selection.

    The dim is the one where the selection's arm is furthest below the best of the box; arms less than half
    as far below are near. Where no arm is below, the selection's own is set apart.
    """
    D, K = box.shape
    dim, far, best = -1, -1.0, 0.0
    for d in range(D):
        most, arms = -np.inf, 0
        for j in range(K):
            if box[d, j]:
                arms += 1
                most = max(most, pair.worth[j, d])
        # The dim whose choice costs the bound most is the one to decide first.
        if arms > 1 and most - pair.worth[selection[d], d] > far:
            dim, far, best = d, most - pair.worth[selection[d], d], most
    if dim < 0:
        return False
    for d in range(D):
        for j in range(K):
            other[d, j] = box[d, j]
    for j in range(K):
        # Half-way: both parts lose about the same part of the spread.
        near = best - pair.worth[j, dim] < 0.5 * far
        if far <= 0.0:
            near = j != selection[dim]
        box[dim, j] = box[dim, j] and near
        other[dim, j] = other[dim, j] and not near
    return True

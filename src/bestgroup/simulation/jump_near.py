"""Whether an item of TE is cleared for a window: no round of the window can make it fire.

First the boxes of the outer window are tried, with the radius at the end of the present one, which costs no draw. Then
what blocks the item is bracketed: known at both ends of the window. Between them the difference of two
efficiencies stays within the band of its chord (`jump_certify`).
"""

from __future__ import annotations

from bestgroup.algorithms.triple_elimination import apart_wanted, excess_margin_in, stale_margin
from bestgroup.core.arrays import Floats, Ints
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_cells import (
    NOBODY,
    REJECT,
    RESOLVE,
    STALE,
    lower_end,
    stays_below,
)
from bestgroup.simulation.jump_layout import (
    ACTIVE,
    ARM_LOW,
    DIM_COUNT,
    EPSILONS,
    HIGH,
    KIND,
    LOW,
    ONE,
    OPEN,
    SCALES,
    THREE,
    TWO,
    arm_at,
    box_at,
    cell_at,
    column_of,
    group_at,
    item_at,
    unit_of,
)
from bestgroup.simulation.jump_screen import beaten_by, may_part, may_reject, near_group
from bestgroup.simulation.jump_walks import chord


@kernel
def is_dead(Z: Ints, item: int) -> bool:
    """Return whether the sets keep an item from ever firing."""
    row = item_at(Z, item)
    kind, i = Z[row + KIND], Z[row + ONE]
    if not Z[group_at(Z, i) + ACTIVE]:
        return True
    if kind == REJECT:
        return not Z[group_at(Z, Z[row + TWO]) + ACTIVE]
    if kind == RESOLVE:
        return not Z[cell_at(Z, i, Z[row + THREE]) + OPEN]
    if kind == STALE:
        d = Z[row + THREE]
        return not (Z[cell_at(Z, i, d) + OPEN] and Z[arm_at(Z, i, Z[row + TWO], d)])
    return False


@kernel
def clears(Z: Ints, F: Floats, item: int, now: int, end: int, beta: float) -> bool:
    """Return whether an item cannot fire in (now, end]; `beta` is below the radius of these rounds."""
    kind = Z[item_at(Z, item) + KIND]
    if kind == REJECT:
        return _clears_rejection(Z, F, item, now, end, beta)
    if kind == RESOLVE:
        return _clears_resolution(Z, F, item, now, end, beta)
    if kind == STALE:
        return _clears_stale_arm(Z, F, item, now, end, beta)
    return _clears_acceptance(Z, F, item, now, end, beta)


@kernel
def _clears_rejection(Z: Ints, F: Floats, item: int, now: int, end: int, beta: float) -> bool:
    """Return whether some dim keeps j from rejecting i."""
    row = item_at(Z, item)
    i, j, d = Z[row + ONE], Z[row + TWO], Z[row + THREE]
    if not may_reject(Z, F, i, j, beta):
        return True
    moves, base = Z[cell_at(Z, i, d) + OPEN] != 0, lower_end(Z, F, i, d, now, end)
    return stays_below(Z, F, j, d, NOBODY, base, moves, 2.0 * beta * F[Z[SCALES] + d], now, end)


@kernel
def _clears_resolution(Z: Ints, F: Floats, item: int, now: int, end: int, beta: float) -> bool:
    """Return whether the watched group stays too near for dim d of i to be resolved."""
    row = item_at(Z, item)
    i, j, d = Z[row + ONE], Z[row + TWO], Z[row + THREE]
    if j == NOBODY or not Z[group_at(Z, j) + ACTIVE]:
        j = near_group(Z, F, i, d, beta)
        Z[row + TWO] = j
        if j == NOBODY:
            return False
    if not may_part(Z, F, i, j, d, beta):
        return True
    wanted = apart_wanted(beta, F[Z[SCALES] + d], F[Z[EPSILONS] + d])
    for _ in range(2):
        moves, base = Z[cell_at(Z, i, d) + OPEN] != 0, lower_end(Z, F, i, d, now, end)
        if not stays_below(Z, F, j, d, NOBODY, base, moves, wanted, now, end):
            return False
        i, j = j, i
    return True


@kernel
def _clears_stale_arm(Z: Ints, F: Floats, item: int, now: int, end: int, beta: float) -> bool:
    """Return whether no rival gets far enough above an arm."""
    row = item_at(Z, item)
    i, j, d = Z[row + ONE], Z[row + TWO], Z[row + THREE]
    box, scale = box_at(Z, i, d), F[Z[SCALES] + d]
    if stale_margin(F[box + HIGH], F[box + ARM_LOW + j], beta, scale) < 0.0:
        return True
    base = chord(Z, F, unit_of(Z, i, j, d), column_of(Z, d), now, end)[0]
    return stays_below(Z, F, i, d, j, base, True, 2.0 * beta * scale, now, end)


@kernel
def _clears_acceptance(Z: Ints, F: Floats, item: int, now: int, end: int, beta: float) -> bool:
    """Return whether the watched group blocks the acceptance of i in every dim."""
    row = item_at(Z, item)
    i, j, side = Z[row + ONE], Z[row + TWO], Z[row + THREE]
    if j == NOBODY or not Z[group_at(Z, j) + ACTIVE]:
        j, side, _ = beaten_by(Z, F, i, beta)
        Z[row + TWO], Z[row + THREE] = j, side
        if j == NOBODY:
            return False
    one, two = (i, j) if side == 0 else (j, i)
    for d in range(Z[DIM_COUNT]):
        scale, epsilon = F[Z[SCALES] + d], F[Z[EPSILONS] + d]
        high, low = F[box_at(Z, one, d) + HIGH], F[box_at(Z, two, d) + LOW]
        if excess_margin_in(high, low, beta, scale, epsilon) >= 0.0:
            moves, base = Z[cell_at(Z, two, d) + OPEN] != 0, lower_end(Z, F, two, d, now, end)
            threshold = 2.0 * beta * scale - epsilon
            if not stays_below(Z, F, one, d, NOBODY, base, moves, threshold, now, end):
                return False
    return True

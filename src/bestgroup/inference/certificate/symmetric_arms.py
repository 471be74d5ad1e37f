"""Wealth of bets on arms whose noise is symmetric and of unknown scale, for selections of arms.

An arm's first four values (more, while all are equal) show a unit in each dim and do not count. Bets
are in that unit. The exponents of its dims (`evalues.selection_wealth`) go by weight times unit if all
dims have their units after four values, and by weight alone otherwise: both are known after four
values, before any that counts.
"""

from __future__ import annotations

import math

from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.certificate.pairs import set_sums, set_sums_of_sum
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.confidence_sequences.gaussian import (
    AT_LEAST,
    BEFORE,
    UNIT,
    gaussian_reach,
)
from bestgroup.inference.evalues.selection_wealth import Hulls, set_symmetric
from bestgroup.inference.evalues.wealth import CENTRE, COUNT
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats


@borrowing
def set_parts(tally: Tally, i: int, j: int, weights: Floats, hulls: Hulls, row: int) -> bool:
    """Set what the exponents of an arm's dims are shares of; False while a dim has no unit."""
    for d in range(len(weights)):
        hulls.parts[row, d] = part_of(tally, i, j, weights, d)
        if not hulls.parts[row, d] > 0.0:
            return False
    return True


@borrowing
def part_of(tally: Tally, i: int, j: int, weights: Floats, d: int) -> float:
    """Return what the exponent of a dim of an arm is a share of; 0 while some dim has no unit."""
    at_once = True
    for e in range(len(weights)):
        if not tally.extra[i, j, e, UNIT] > 0.0:
            return 0.0
        at_once = at_once and tally.extra[i, j, e, BEFORE] == AT_LEAST
    return weights[d] * tally.extra[i, j, d, UNIT] if at_once else weights[d]


@borrowing
def set_arm(
    tally: Tally,
    arm: tuple[int, int],
    side: int,
    effect: float,
    known: tuple[BoxRule, Floats, Floats],
    level: float,
    hulls: Hulls,
    row: int,
) -> bool:
    """Set the points of an arm in all dims, by all values that count; False if they do not suffice.

    `known` are what is kept of values, the weights, and what means are taken from (an offset that all
    arms share would drown what counts); `level` is that of the boxes.
    """
    rule, weights, origin = known
    i, j = arm
    if not set_parts(tally, i, j, weights, hulls, row):
        return False
    reach = gaussian_reach(float(tally.counts[i, j]), level)
    for d in range(len(weights)):
        if not set_dim(tally, arm, d, side, effect, (rule, origin[d]), reach, hulls, row):
            return False
    return True


@borrowing
def set_dim(
    tally: Tally,
    arm: tuple[int, int],
    d: int,
    side: int,
    effect: float,
    known: tuple[BoxRule, float],
    reach: float,
    hulls: Hulls,
    row: int,
) -> bool:
    """Set the points of an arm in one dim, in which it has a unit; False if no value counts."""
    (rule, origin), (i, j) = known, arm
    unit = set_sums(rule, tally, i, j, d, hulls.sums)
    if not (hulls.sums[COUNT] > 0.0 and reach < math.inf):
        return False
    last = box_end(float(tally.counts[i, j]), tally.extra[i, j, d], reach, side, origin)
    hulls.sums[CENTRE] -= origin
    set_symmetric(hulls.sums, side, effect / unit, last, hulls, row, d)
    return True


@borrowing
def set_sum(
    tally: Tally,
    arm: tuple[int, int],
    side: int,
    effect: float,
    known: tuple[BoxRule, Floats],
    level: float,
    hulls: Hulls,
    row: int,
) -> bool:
    """Set the points of an arm by its weighted sums; False if those that count do not suffice."""
    rule, origin = known
    i, j = arm
    reach = gaussian_reach(float(tally.counts[i, j]), level)
    unit = set_sums_of_sum(rule, tally, i, j, hulls.sums)
    if not (unit > 0.0 and hulls.sums[COUNT] > 0.0 and reach < math.inf):
        return False
    hulls.sums[CENTRE] += sum_centre(rule, tally, i, j, origin)
    last = sum_end(rule, tally, i, j, reach, side, origin)
    set_symmetric(hulls.sums, side, effect / unit, last, hulls, row, len(rule.weights))
    return True


@borrowing
def sum_centre(rule: BoxRule, tally: Tally, i: int, j: int, origin: Floats) -> float:
    """Return what an arm's weighted sums are deviations from, less the weighted sum of the origins."""
    total = 0.0
    for d in range(len(rule.weights)):
        total += rule.weights[d] * (tally.extra[i, j, d, 0] - origin[d])
    return total


@borrowing
def sum_end(
    rule: BoxRule, tally: Tally, i: int, j: int, reach: float, side: int, origin: Floats
) -> float:
    """Return an end of the weighted sum of an arm's means, less the origins: that of its boxes' ends.

    The boxes are those that single dims have, so that nothing more is paid for it.
    """
    total, size = 0.0, 0.0
    for d in range(len(rule.weights)):
        end = box_end(float(tally.counts[i, j]), tally.extra[i, j, d], reach, side, origin[d])
        total += rule.weights[d] * end
        size += rule.weights[d] * abs(end)
    # Rounded outwards.
    return total + (1e-14 * size if side == 1 else -1e-14 * size)


@borrowing
def box_end(n: float, extra: Floats, reach: float, side: int, origin: float) -> float:
    """Return the lower (side 0) or the upper end of an arm's box in a dim, less the origin."""
    shift = extra[1] / n
    spread = math.sqrt(max(extra[2] - extra[1] * shift, 0.0))
    # Rounded outwards: it is no more than the box that was paid for.
    width = reach * spread * (1.0 + 1e-9) + 1e-12 * (abs(shift) + abs(extra[0] - origin))
    return extra[0] - origin + shift + (width if side == 1 else -width)

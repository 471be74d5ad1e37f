"""Whether evidence on two arms reaches a level at every x, cell by cell, from below (docs/theory.md 2.2).

The wealth K of one arm falls in m and that of the other, mirrored, rises with x, so that on a cell their
product is at least the one of K at its right end and L at its left end. Every value is a lower bound:
errors of rounding are bounded and subtracted. Where the e-value is an average of two, of bets and of
half-normal laws, both are carried along.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bestgroup.compile.kernel import kernel
from bestgroup.problem.arrays import Floats
from bestgroup.proof.below import LOG_2, TINY, exp_near, log_near, psi_below

NORMAL, SYMMETRIC, BETS = 0, 1, 2
LOG_CASH = -4.605170185988092 - 2.0**-50  # log .01 from below
CELLS = 200_000
DEEP = 128  # cells that wait, at most: each halving leaves one
_UNIT = 2.0**-52
_LEGAL = 0.99
_CHUNK = 16


class Side(NamedTuple):
    """An arm's values, against "their mean is at most m"; ends of intervals where there are two."""

    kind: int
    size: float
    mean_low: float
    mean_high: float
    spread: float  # sum of squares about the mean, from above
    scale_low: float  # of the noise, where half-normal laws are used
    scale_high: float
    q_low: float  # their precision; 0 for none
    q_high: float
    values: Floats  # in [0, 1], different ones if they are counted
    times: Floats  # how often each one came; empty if values are multiplied one by one
    bets: Floats  # the largest that each may be; of SYMMETRIC: precisions from below
    width: Floats  # how much less it may be; of SYMMETRIC: precisions from above
    logs: Floats  # of their weights, from below


@kernel
def log_add(a: float, b: float) -> float:
    """Return log(e^a + e^b) from below."""
    most, least = max(a, b), min(a, b)
    if most == -math.inf:
        return most
    return most + log_near(1.0 + exp_near(least - most)) - 4.0 * TINY * (1.0 + abs(most))


@kernel
def normal_below(side: Side, m: float) -> float:
    """Return the log of the half-normal law of bets at m, from below."""
    away = side.size * (side.mean_low - m)
    away -= 4.0 * _UNIT * side.size * (abs(side.mean_low) + abs(m))
    if away > 0.0:
        z = away / side.scale_high / math.sqrt(side.size + side.q_high) * (1.0 - 8.0 * _UNIT)
    else:
        z = away / side.scale_low / math.sqrt(side.size + side.q_low) * (1.0 + 8.0 * _UNIT)
    cost = log_near(1.0 + side.size / side.q_low) / 2.0
    return psi_below(z) - cost - 2.0 * TINY * (1.0 + cost)


@kernel
def symmetric_below(side: Side, m: float) -> float:
    """Return the log of the cash and of half-normal laws of bets of four scales at m, from below.

    It falls in the sum of squares and rises in the sum, so that bounds of these give one.
    """
    room = 4.0 * _UNIT * (abs(side.mean_low) + abs(side.mean_high) + abs(m))
    away = side.size * (side.mean_low - m - room)
    far = max(abs(side.mean_low - m), abs(side.mean_high - m)) + room
    square = (side.spread + side.size * far * far) * (1.0 + 8.0 * _UNIT)
    found = LOG_CASH
    for k in range(len(side.bets)):
        low, high = square + side.bets[k], square + side.width[k]
        if away > 0.0:
            z = away / math.sqrt(high) * (1.0 - 8.0 * _UNIT)
        else:
            z = away / math.sqrt(low) * (1.0 + 8.0 * _UNIT)
        cost = log_near(1.0 + square / side.bets[k]) / 2.0
        value = psi_below(z) - cost - 2.0 * TINY * (1.0 + cost) + side.logs[k]
        found = log_add(found, value)
    return found


@kernel
def bets_below(side: Side, m: float) -> float:
    """Return the log of the cash and of the wealth of all bets at m, from below.

    A factor 1 + l (u - m) is at least 1 - l m =: rest; u and l are known to 4 and 16 roundings, so that
    its relative error is at most (16 (1 + l) u + width) / rest.
    """
    found = LOG_CASH
    for k in range(len(side.bets)):
        bet = side.bets[k]
        if bet * m >= _LEGAL * (1.0 - 4.0 * _UNIT):
            continue
        rest = 1.0 - bet * m
        error = (side.width[k] + 16.0 * _UNIT * (1.0 + bet)) / rest * 1.01
        value = 0.0
        if len(side.times):
            for i in range(len(side.values)):
                part = log_near(1.0 + bet * (side.values[i] - m))
                value += side.times[i] * (part - 2.0 * TINY * (1.0 + abs(part)))
        else:
            power, product = 0, 1.0
            for i in range(len(side.values)):
                product *= 1.0 + bet * (side.values[i] - m)
                if i % _CHUNK == _CHUNK - 1:
                    product, more = math.frexp(product)
                    power += more
            if product > 0.0:
                value = log_near(product) + power * LOG_2
                value -= 2.0 * TINY * (1.0 + abs(value) + abs(float(power)))
            else:
                value = -math.inf
        value -= side.size * (error + 2.0 * _UNIT)
        found = log_add(found, value + side.logs[k])
    return found


@kernel
def main_below(side: Side, m: float) -> float:
    """Return the log of an arm's wealth at m, from below."""
    if side.kind == BETS:
        return bets_below(side, m)
    return symmetric_below(side, m) if side.kind == SYMMETRIC else normal_below(side, m)


@kernel
def rest_below(side: Side, m: float) -> float:
    """Return the log of the half-normal law beside bets; nothing if there is none."""
    return normal_below(side, m) if side.kind == BETS and side.q_low > 0.0 else -math.inf


@kernel
def mirrored(x: float, shift: float, turn: float) -> float:
    """Return turn - x - shift from above: where the lower arm's mirrored values are judged."""
    return turn - x - shift + 4.0 * _UNIT * (turn + abs(x) + abs(shift))


@kernel
def whole(a: float, b: float, more_a: float, more_b: float) -> float:
    """Return the log of the e-value from those of both arms: of bets alone, or .95 and .05 of two."""
    main = a + b - 2.0 * _UNIT * (abs(a) + abs(b))
    if more_a == -math.inf:
        return main
    more = more_a + more_b - 2.0 * _UNIT * (abs(more_a) + abs(more_b))
    return log_add(main - 0.05129329438755059, more - 2.995732273553992)  # log .95, log .05, below


@kernel
def outwards(side: Side, start: float, step: float, level: float) -> float:
    """Return a point at which one arm alone, times the cash of the other, is enough; inf for none."""
    reach = step
    for _ in range(60):
        if main_below(side, start - reach) + LOG_CASH >= level:
            return start - reach
        reach *= 1.25
    return math.inf


@kernel
def reaches(
    a: Side, b: Side, shift: float, turn: float, ends: Floats, level: float, cells: Floats
) -> bool:
    """Return whether the evidence is at least the level for all x between the ends.

    `shift` is from below, `turn` 1 for shares of a range and else 0; `cells` [DEEP, 6] is room for
    those that wait: their ends, both parts of L at the left one and of K at the right one.
    """
    top = 1
    cells[0, 0], cells[0, 1] = ends[0], ends[1]
    first, last = mirrored(ends[0], shift, turn), ends[1]
    cells[0, 2], cells[0, 3] = main_below(b, first), rest_below(b, first)
    cells[0, 4], cells[0, 5] = main_below(a, last), rest_below(a, last)
    for _ in range(CELLS):
        if top == 0:
            return True
        top -= 1
        x, y, low, low_rest = cells[top, 0], cells[top, 1], cells[top, 2], cells[top, 3]
        high, high_rest = cells[top, 4], cells[top, 5]
        if whole(high, low, high_rest, low_rest) >= level:
            continue
        middle = (x + y) / 2.0
        there = mirrored(middle, shift, turn)
        here, here_rest = main_below(a, middle), rest_below(a, middle)
        beyond, beyond_rest = main_below(b, there), rest_below(b, there)
        if whole(here, beyond, here_rest, beyond_rest) < level:
            return False
        if top + 2 > DEEP or middle <= x or middle >= y:
            return False
        cells[top, 0], cells[top, 1] = middle, y
        cells[top, 2], cells[top, 3] = beyond, beyond_rest
        cells[top, 4], cells[top, 5] = high, high_rest
        cells[top + 1, 0], cells[top + 1, 1] = x, middle
        cells[top + 1, 2], cells[top + 1, 3] = low, low_rest
        cells[top + 1, 4], cells[top + 1, 5] = here, here_rest
        top += 2
    return False

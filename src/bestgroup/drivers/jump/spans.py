"""Efficiencies of EECB over a window: chords, bands, and sums of them.

Over a window the count of an arm goes from one number to another, by its own clock, and known
points may lie between. A *span* bounds its mean there: the least and the largest chord, a number
`spread` with s sqrt(L / 2) `spread` the band of one bridge divided by its count, and `rise`, the
same summed over its bridges, for the expectation of the largest of them (see `jump_certify`).
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.compile.records import bare
from bestgroup.drivers.jump.clock import count_at
from bestgroup.drivers.jump.envelopes import front
from bestgroup.drivers.jump.memory import (
    PRESENT,
    Memory,
    cell_at,
    column_of,
    dim_at,
    member_at,
    point_at,
    sums,
    unit_of,
)
from bestgroup.drivers.jump.walks import advance, bounds, reveal

_ROUNDING = 1e-13  # share of a mean by which a certificate stays clear of rounding
NOBODY = -1


@bare
def bracket_span(m: Memory, u: int, first: int, last: int) -> None:
    """Make a unit known at both counts, and forget what lies before the first."""
    head = point_at(m, u)
    advance(m, u, first)
    if head.time != first:
        reveal(m, u, first)
        advance(m, u, first)
    if last > first:
        after = head.next
        if after == 0 or point_at(m, after).time != last:
            reveal(m, u, last)


@bare
def span(m: Memory, i: int, j: int, d: int, end: int) -> tuple[float, float, float, float]:
    """Return the least and the largest chord, the spread and the rise of an arm's mean.

    They hold from now to the clock in row `end`.
    """
    u, c = unit_of(m, i, j, d), column_of(m, d)
    first, last = count_at(m, i, j, PRESENT), count_at(m, i, j, end)
    bracket_span(m, u, first, last)
    p = point_at(m, u)
    low, high, spread, rise = np.inf, -np.inf, 0.0, 0.0
    if first > 0:
        low = high = sums(p)[c] / first
    while p.time < last:
        q = point_at(m, p.next)
        mean = sums(q)[c] / q.time
        low, high = min(low, mean), max(high, mean)
        steps = q.time - p.time
        if steps > 1.0:
            share = math.sqrt(steps) / (p.time + 1.0)
            spread = max(spread, share)
            rise += share
        p = q
    return low, high, spread, rise


@bare
def upper_span(m: Memory, i: int, d: int, skip: int, end: int) -> tuple[float, float, float, int]:
    """Return the largest chord, the spread, the rise, and the number of arms of a cell.

    The arm `skip` does not count. A rival that its known points keep below the chord of another
    arm is no further considered: it is as good as that number.
    """
    cell = cell_at(m, i, d)
    high, spread, rise, arms = -np.inf, 0.0, 0.0, 0
    lead = cell.lead
    if lead != skip:
        _, high, spread, rise = span(m, i, lead, d, end)
        arms = 1
    for k in range(cell.rivals):
        rival = member_at(m, i, k, d).rival
        if rival in (lead, skip):
            continue
        if arms > 0 and stays_under(m, i, rival, d, high, end):
            continue
        _, most, wide, rising = span(m, i, rival, d, end)
        high, spread, rise = max(high, most), max(spread, wide), max(rise, rising)
        arms += 1
    return high, spread, rise, max(arms, 1)


@bare
def stays_under(m: Memory, i: int, j: int, d: int, level: float, end: int) -> bool:
    """Return whether the mean of an arm surely stays below a level up to the clock in row `end`.

    Points are made known at ends of windows, the farthest first, as long as that may help.
    """
    u, column, band = unit_of(m, i, j, d), column_of(m, d), dim_at(m, d).band
    first, last = count_at(m, i, j, PRESENT), count_at(m, i, j, end)
    advance(m, u, first)
    if bounds(m, u, column, band, max(1, first), last)[1] < level:
        return True
    for row in range(m.level):
        when = count_at(m, i, j, row)
        after = point_at(m, u).next
        if when > first and (after == 0 or when < point_at(m, after).time):
            reveal(m, u, when)
            if bounds(m, u, column, band, max(1, first), last)[1] < level:
                return True
    return False


@bare
def worth_apart(m: Memory, i: int, j: int, level: float, end: int) -> tuple[float, float]:
    """Return the room of R_i . w - R_j . w below a level from now on, and the band that it needs.

    The walks of a group depend on each other if dims do; otherwise their variances add up.
    """
    joint = m.columns > 1
    total, size, squares, rises, arms = 0.0, 0.0, 0.0, 0.0, 1
    for side in range(2):
        plain = 0.0
        for d in range(m.D):
            weight = dim_at(m, d).weight
            factor = weight * dim_at(m, d).band
            if side == 0:
                chord, spread, rise, many = upper_span(m, i, d, NOBODY, end)
                total += weight * chord
                arms *= many
            else:
                chord, _, spread, rise = span(m, j, front(m, j, d, NOBODY), d, end)
                total -= weight * chord
            size += weight * abs(chord)
            rises += factor * rise
            plain += factor * spread
            squares += 0.0 if joint else (factor * spread) ** 2
        squares += plain * plain if joint else 0.0
    m.passed += arms
    room = level - total - _ROUNDING * (abs(level) + size)
    return room, math.sqrt(squares) + m.lift * rises


@bare
def arm_apart(m: Memory, i: int, j: int, d: int, level: float, end: int) -> tuple[float, float]:
    """Return the room of R_i^d - mean of arm j below a level from now on, and the band it needs."""
    chord, spread, rise, arms = upper_span(m, i, d, j, end)
    if chord == -np.inf:  # the arm is alone
        return np.inf, 0.0
    low, _, wide, rising = span(m, i, j, d, end)
    band = math.sqrt(spread * spread + wide * wide) + m.lift * (rise + rising)
    m.passed += arms
    room = level - (chord - low) - _ROUNDING * (abs(level) + abs(chord) + abs(low))
    return room, dim_at(m, d).band * band

"""Efficiencies of TE in the jump engine: differences over a window, and values at the rounds of a sprint.

A *cell* is a pair (group, dim). Only its *rivals* can attain its efficiency in the present outer
window: the active arms whose mean can reach the largest lower bound of any, which is the *lead*'s.
A resolved cell has a value instead.
"""

from __future__ import annotations

import math

from bestgroup.compile.records import Numbers, bare
from bestgroup.drivers.jump.memory import (
    SPRINT,
    Memory,
    cell_at,
    column_of,
    dim_at,
    means_at,
    member_at,
    point_at,
    row_at,
    sums,
    unit_at,
    unit_of,
    values_at,
    window_at,
)
from bestgroup.drivers.jump.risk import add_risk
from bestgroup.drivers.jump.stretch import reveal_stretch
from bestgroup.drivers.jump.walks import advance, bounds, ends, reveal

# Kinds of items: of TE in the order of a round, then the signs of TE+.
REJECT, RESOLVE, STALE, ACCEPT, ABOVE, NEAR, FAR = range(7)
NOBODY, ITEM = -1, -2  # a watch that is nobody's, or that an item keeps

ROUNDING = 1e-13  # share of a mean by which a certificate stays clear of rounding


@bare
def front(m: Memory, i: int, d: int, skip: int) -> int:
    """Return the rival, not `skip`, with the largest mean at its first known point; -1 if there is none.

    A guess at who attains the efficiency.
    """
    cell = cell_at(m, i, d)
    if cell.rivals == 1:
        return member_at(m, i, 0, d).rival if member_at(m, i, 0, d).rival != skip else -1
    best, most = -1, -math.inf
    for k in range(cell.rivals):
        rival = member_at(m, i, k, d).rival
        if rival != skip:
            u = unit_of(m, i, rival, d)
            p = point_at(m, u)
            mean = sums(p)[column_of(m, d)] / max(p.time, 1.0)
            if mean > most:
                best, most = rival, mean
    return best


@bare
def lower_ends(m: Memory, i: int, d: int, now: int, end: int) -> tuple[float, float]:
    """Return the sums of a cell's lead at both ends of a window, or those of the cell's value."""
    cell = cell_at(m, i, d)
    if not cell.open:
        value = values_at(m, i)[d]
        return now * value, end * value
    u = unit_of(m, i, front(m, i, d, NOBODY), d)
    return ends(m, u, column_of(m, d), now, end)


@bare
def stays_below(
    m: Memory, i: int, d: int, skip: int,
    base: tuple[float, float], moves: bool, threshold: float, now: int, end: int,
) -> float:  # fmt: skip
    """Return infinity if the efficiency of a cell, without arm `skip`, surely stays below something.

    That is, for all rounds of (now, end] it is less than `threshold` above a walk whose sums at the
    ends of the window are `base`, and which `moves` between them, or is a constant times the count.
    A rival that its known points keep low enough needs no further point. If it is not sure, a
    length of window that may be short enough.
    """
    cell, column = cell_at(m, i, d), column_of(m, d)
    first = base[0] + now * threshold - ROUNDING * (abs(base[0]) + now * abs(threshold))
    last = base[1] + end * threshold - ROUNDING * (abs(base[1]) + end * abs(threshold))
    spread = dim_at(m, d).spread
    if not cell.open:
        value = values_at(m, i)[d]
        size = spread if moves else 0.0
        return reach_of(m, first - now * value, last - end * value, size, end - now)
    spread = 2.0 * spread if moves else spread
    lead = cell.lead
    if lead != skip:
        one, two = ends(m, unit_of(m, i, lead, d), column, now, end)
        reach = reach_of(m, first - one, last - two, spread, end - now)
        if reach < math.inf:
            return reach
    if cell.rivals > 1:
        return others_stay_below(m, i, d, lead, skip, first, last, moves, now, end)
    return math.inf


@bare
def others_stay_below(
    m: Memory, i: int, d: int, lead: int, skip: int,
    first: float, last: float, moves: bool, now: int, end: int,
) -> float:  # fmt: skip
    """Return infinity if the rivals besides two arms surely stay below a line, else a shorter length.

    The line is at `first` and `last` at the ends of the window, and its difference to the count
    times a constant is a walk if it `moves`.
    """
    cell, column = cell_at(m, i, d), column_of(m, d)
    spread = dim_at(m, d).spread
    spread = 2.0 * spread if moves else spread
    alone = last / end
    if end - now > 1:
        alone = min(alone, first / now)
        if moves:
            alone -= dim_at(m, d).band * math.sqrt(end - now) / (now + 1)
            m.passed += 1
    for k in range(cell.rivals):
        rival = member_at(m, i, k, d).rival
        if rival != lead and rival != skip:
            u = unit_of(m, i, rival, d)
            if member_at(m, i, rival, d).high >= alone and not keeps_below(
                m, u, d, alone, now, end
            ):
                one, two = ends(m, u, column, now, end)
                reach = reach_of(m, first - one, last - two, spread, end - now)
                if reach < math.inf:
                    return reach
    return math.inf


@bare
def reach_of(m: Memory, before: float, after: float, spread: float, length: int) -> float:
    """Return infinity if a bridge surely stays above 0 between two values, else a length that may fit.

    `spread` is the square of its band over one step; of a window of one round only the last value
    matters.
    """
    if after > 0.0 and (length == 1 or (before > 0.0 and before * after > spread * length)):
        if length > 1 and spread > 0.0:
            add_risk(m, before * after / (spread * length))
        return math.inf
    if before <= 0.0:
        return length / 2.0
    return max(min(before * before / spread if spread > 0.0 else length, length / 2.0), SPRINT)


@bare
def keeps_below(m: Memory, u: int, d: int, level: float, now: int, end: int) -> bool:
    """Return whether a walk surely stays below a level over (now, end].

    Points are made known at ends of windows, the farthest first, as long as that may help.
    """
    band, column = dim_at(m, d).band, column_of(m, d)
    advance(m, u, now)
    if bounds(m, u, column, band, now + 1, end)[1] < level:
        return True
    head = point_at(m, u)
    for top in range(m.level):
        when = window_at(m, top).end
        if when < point_at(m, head.next).time:
            reveal(m, u, when)
            if bounds(m, u, column, band, now + 1, end)[1] < level:
                return True
    return False


@bare
def fill_row(m: Memory, i: int, d: int) -> Numbers:
    """Make a cell known at every round of the sprint, and return the place of its efficiencies."""
    cell, row = cell_at(m, i, d), row_at(m, i, d)
    if cell.row == m.stretch:
        return row
    cell.row = m.stretch
    n = m.stop - m.start
    if not cell.open:
        for k in range(n):
            row[k] = values_at(m, i)[d]
        return row
    column, lead = column_of(m, d), cell.lead
    u = unit_of(m, i, lead, d)
    reveal_stretch(m, u, m.start, m.stop)
    means, least = means_at(m, u, column), math.inf
    for k in range(n):
        row[k] = means[k]
        least = min(least, means[k])
    for r in range(cell.rivals):
        rival = member_at(m, i, r, d).rival
        if rival == lead:
            continue
        u = unit_of(m, i, rival, d)
        if unit_at(m, u).stamp != m.stretch and keeps_below(m, u, d, least, m.start, m.stop):
            continue
        reveal_stretch(m, u, m.start, m.stop)
        means = means_at(m, u, column)
        for k in range(n):
            row[k] = max(row[k], means[k])
    return row


@bare
def note_efficiency(m: Memory, i: int, d: int, when: int) -> float:
    """Return the efficiency of a cell at a round of the sprint, and note it."""
    value = fill_row(m, i, d)[when - m.start - 1]
    values_at(m, i)[d] = value
    return value

"""Efficiencies of TE in the jump engine: differences over a window, and values at the rounds of a sprint.

A *cell* is a pair (group, dim). Only its *rivals* can attain its efficiency in the present outer
window: the active arms whose mean can reach the largest lower bound of any, which is the *lead*'s.
A resolved cell has a value instead.
"""

from __future__ import annotations

import math

from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.memory import (
    ARM_COUNT,
    ARM_LOW,
    BANDS,
    DIM_COUNT,
    ENDS,
    FROM,
    LEAD,
    LEVEL,
    NEXT,
    OPEN,
    PASSED,
    RIVAL,
    RIVALS,
    ROW,
    SPREADS,
    SPRINT,
    STAMPS,
    STRETCH,
    SUM,
    TIME,
    TO,
    VALUES,
    Reals,
    Words,
    box_at,
    cell_at,
    column_of,
    dense_at,
    point_at,
    row_at,
    unit_of,
)
from bestgroup.drivers.jump.risk import add_risk
from bestgroup.drivers.jump.stretch import reveal_stretch
from bestgroup.drivers.jump.walks import advance, bounds, ends, reveal

# Kinds of items: of TE in the order of a round, then the signs of TE+.
REJECT, RESOLVE, STALE, ACCEPT, ABOVE, NEAR, FAR = range(7)
NOBODY, ITEM = -1, -2  # a watch that is nobody's, or that an item keeps

ROUNDING = 1e-13  # share of a mean by which a certificate stays clear of rounding


@bare
def value_at(Z: Words, i: int, d: int) -> int:
    """Return the place in F of the last efficiency of a cell that was noted."""
    return Z[VALUES] + i * Z[DIM_COUNT] + d


@bare
def front(Z: Words, F: Reals, i: int, d: int, skip: int) -> int:
    """Return the rival, not `skip`, with the largest mean at its first known point; -1 if there is none.

    A guess at who attains the efficiency.
    """
    cell = cell_at(Z, i, d)
    if Z[cell + RIVALS] == 1:
        return Z[cell + RIVAL] if Z[cell + RIVAL] != skip else -1
    best, most = -1, -math.inf
    for k in range(Z[cell + RIVALS]):
        rival = Z[cell + RIVAL + k]
        if rival != skip:
            u = unit_of(Z, i, rival, d)
            p = point_at(Z, u)
            mean = F[p + SUM + column_of(Z, d)] / max(F[p + TIME], 1.0)
            if mean > most:
                best, most = rival, mean
    return best


@bare
def lower_ends(Z: Words, F: Reals, i: int, d: int, now: int, end: int) -> tuple[float, float]:
    """Return the sums of a cell's lead at both ends of a window, or those of the cell's value."""
    cell = cell_at(Z, i, d)
    if not Z[cell + OPEN]:
        value = F[value_at(Z, i, d)]
        return now * value, end * value
    u = unit_of(Z, i, front(Z, F, i, d, NOBODY), d)
    return ends(Z, F, u, column_of(Z, d), now, end)


@bare
def stays_below(
    Z: Words, F: Reals, i: int, d: int, skip: int,
    base: tuple[float, float], moves: bool, threshold: float, now: int, end: int,
) -> float:  # fmt: skip
    """Return infinity if the efficiency of a cell, without arm `skip`, surely stays below something.

    That is, for all rounds of (now, end] it is less than `threshold` above a walk whose sums at the
    ends of the window are `base`, and which `moves` between them, or is a constant times the count.
    A rival that its known points keep low enough needs no further point. If it is not sure, a
    length of window that may be short enough.
    """
    cell, column = cell_at(Z, i, d), column_of(Z, d)
    first = base[0] + now * threshold - ROUNDING * (abs(base[0]) + now * abs(threshold))
    last = base[1] + end * threshold - ROUNDING * (abs(base[1]) + end * abs(threshold))
    spread = F[Z[SPREADS] + d]
    if not Z[cell + OPEN]:
        value = F[value_at(Z, i, d)]
        size = spread if moves else 0.0
        return reach_of(Z, F, first - now * value, last - end * value, size, end - now)
    spread = 2.0 * spread if moves else spread
    lead = Z[cell + LEAD]
    if lead != skip:
        one, two = ends(Z, F, unit_of(Z, i, lead, d), column, now, end)
        reach = reach_of(Z, F, first - one, last - two, spread, end - now)
        if reach < math.inf:
            return reach
    if Z[cell + RIVALS] > 1:
        return others_stay_below(Z, F, i, d, lead, skip, first, last, moves, now, end)
    return math.inf


@bare
def others_stay_below(
    Z: Words, F: Reals, i: int, d: int, lead: int, skip: int,
    first: float, last: float, moves: bool, now: int, end: int,
) -> float:  # fmt: skip
    """Return infinity if the rivals besides two arms surely stay below a line, else a shorter length.

    The line is at `first` and `last` at the ends of the window, and its difference to the count
    times a constant is a walk if it `moves`.
    """
    cell, column = cell_at(Z, i, d), column_of(Z, d)
    highs = box_at(Z, i, d) + ARM_LOW + Z[ARM_COUNT]
    spread = F[Z[SPREADS] + d]
    spread = 2.0 * spread if moves else spread
    alone = last / end
    if end - now > 1:
        alone = min(alone, first / now)
        if moves:
            alone -= F[Z[BANDS] + d] * math.sqrt(end - now) / (now + 1)
            Z[PASSED] += 1
    for k in range(Z[cell + RIVALS]):
        rival = Z[cell + RIVAL + k]
        if rival != lead and rival != skip:
            u = unit_of(Z, i, rival, d)
            if F[highs + rival] >= alone and not keeps_below(Z, F, u, d, alone, now, end):
                one, two = ends(Z, F, u, column, now, end)
                reach = reach_of(Z, F, first - one, last - two, spread, end - now)
                if reach < math.inf:
                    return reach
    return math.inf


@bare
def reach_of(Z: Words, F: Reals, before: float, after: float, spread: float, length: int) -> float:
    """Return infinity if a bridge surely stays above 0 between two values, else a length that may fit.

    `spread` is the square of its band over one step; of a window of one round only the last value
    matters.
    """
    if after > 0.0 and (length == 1 or (before > 0.0 and before * after > spread * length)):
        if length > 1 and spread > 0.0:
            add_risk(Z, F, before * after / (spread * length))
        return math.inf
    if before <= 0.0:
        return length / 2.0
    return max(min(before * before / spread if spread > 0.0 else length, length / 2.0), SPRINT)


@bare
def keeps_below(Z: Words, F: Reals, u: int, d: int, level: float, now: int, end: int) -> bool:
    """Return whether a walk surely stays below a level over (now, end].

    Points are made known at ends of windows, the farthest first, as long as that may help.
    """
    band, column = F[Z[BANDS] + d], column_of(Z, d)
    advance(Z, F, u, now)
    if bounds(Z, F, u, column, band, now + 1, end)[1] < level:
        return True
    head = point_at(Z, u)
    for top in range(Z[LEVEL]):
        when = Z[Z[ENDS] + top]
        if when < F[point_at(Z, int(F[head + NEXT])) + TIME]:
            reveal(Z, F, u, when)
            if bounds(Z, F, u, column, band, now + 1, end)[1] < level:
                return True
    return False


@bare
def fill_row(Z: Words, F: Reals, i: int, d: int) -> int:
    """Make a cell known at every round of the sprint, and return the place of its efficiencies."""
    cell, row = cell_at(Z, i, d), row_at(Z, i, d)
    if Z[cell + ROW] == Z[STRETCH]:
        return row
    Z[cell + ROW] = Z[STRETCH]
    n = Z[TO] - Z[FROM]
    if not Z[cell + OPEN]:
        for k in range(n):
            F[row + k] = F[value_at(Z, i, d)]
        return row
    column, lead = column_of(Z, d), Z[cell + LEAD]
    u = unit_of(Z, i, lead, d)
    reveal_stretch(Z, F, u, Z[FROM], Z[TO])
    means, least = dense_at(Z, u, column), math.inf
    for k in range(n):
        F[row + k] = F[means + k]
        least = min(least, F[means + k])
    for r in range(Z[cell + RIVALS]):
        rival = Z[cell + RIVAL + r]
        if rival == lead:
            continue
        u = unit_of(Z, i, rival, d)
        if Z[Z[STAMPS] + u] != Z[STRETCH] and keeps_below(Z, F, u, d, least, Z[FROM], Z[TO]):
            continue
        reveal_stretch(Z, F, u, Z[FROM], Z[TO])
        means = dense_at(Z, u, column)
        for k in range(n):
            F[row + k] = max(F[row + k], F[means + k])
    return row


@bare
def note_efficiency(Z: Words, F: Reals, i: int, d: int, when: int) -> float:
    """Return the efficiency of a cell at a round of the sprint, and note it."""
    value = F[fill_row(Z, F, i, d) + when - Z[FROM] - 1]
    F[value_at(Z, i, d)] = value
    return value

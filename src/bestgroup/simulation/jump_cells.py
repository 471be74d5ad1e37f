"""Efficiencies of TE in the jump engine: differences over a window, and values at the rounds of a sprint.

A *cell* is a pair (group, dim). Only its *rivals* can attain its efficiency in the present outer
window: the active arms whose mean can reach the largest lower bound of any, which is the *lead*'s.
A resolved cell has a value instead.
"""

from __future__ import annotations

import math

from bestgroup.simulation.jump_kernel import bare
from bestgroup.simulation.jump_layout import (
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
    STAMPS,
    STRETCH,
    TIME,
    TO,
    VALUES,
    Reals,
    Words,
    cell_at,
    column_of,
    dense_at,
    point_at,
    row_at,
    unit_of,
)
from bestgroup.simulation.jump_walks import advance, bounds, chord, reveal, reveal_stretch

REJECT, RESOLVE, STALE, ACCEPT = 0, 1, 2, 3  # kinds of items, in the order of a round
NOBODY, ITEM = -1, -2  # a watch that is nobody's, or that an item keeps

# The difference of two independent bridges is a bridge with twice the variance: each counts by this
# share.
_PAIR = math.sqrt(0.5)
_ROUNDING = 1e-13  # share of a mean by which a certificate stays clear of rounding


@bare
def value_at(Z: Words, i: int, d: int) -> int:
    """Return the place in F of the last efficiency of a cell that was noted."""
    return Z[VALUES] + i * Z[DIM_COUNT] + d


@bare
def lower_end(Z: Words, F: Reals, i: int, d: int, now: int, end: int) -> float:
    """Return the least mean on the chord of a cell's lead, or the cell's value."""
    cell = cell_at(Z, i, d)
    if not Z[cell + OPEN]:
        return F[value_at(Z, i, d)]
    u = unit_of(Z, i, Z[cell + LEAD], d)
    return chord(Z, F, u, column_of(Z, d), now, end)[0]


@bare
def stays_below(
    Z: Words, F: Reals, i: int, d: int, skip: int,
    base: float, moves: bool, threshold: float, now: int, end: int,
) -> float:  # fmt: skip
    """Return infinity if the efficiency of a cell, without arm `skip`, surely stays below something.

    That is, for all rounds of (now, end] it is less than `threshold` above a walk whose chord has
    least mean `base`, and which `moves` around it, or above the constant `base`. The lead's chord
    and band decide; a rival that its known points keep low enough needs no further point. If it is
    not sure, a length of window that may be short enough.
    """
    cell, column = cell_at(Z, i, d), column_of(Z, d)
    level = base + threshold - _ROUNDING * (abs(base) + abs(threshold))
    room = F[Z[BANDS] + d] * math.sqrt(end - now) / (now + 1) if end - now > 1 else 0.0
    if not Z[cell + OPEN]:
        Z[PASSED] += 1
        return _reach(level - F[value_at(Z, i, d)], room if moves else 0.0, now, end)
    share = 2.0 * _PAIR * room if moves else room
    lead = Z[cell + LEAD]
    if lead != skip:
        high = chord(Z, F, unit_of(Z, i, lead, d), column, now, end)[1]
        if high + share >= level:
            return _reach(level - high, share, now, end)
    alone = level - room if moves else level
    for k in range(Z[cell + RIVALS]):
        rival = Z[cell + RIVAL + k]
        if rival != lead and rival != skip:
            u = unit_of(Z, i, rival, d)
            if not keeps_below(Z, F, u, d, alone, now, end):
                high = chord(Z, F, u, column, now, end)[1]
                if high + share >= level:
                    return _reach(level - high, share, now, end)
    Z[PASSED] += Z[cell + RIVALS]
    return math.inf


@bare
def _reach(distance: float, band: float, now: int, end: int) -> float:
    """Return infinity if a distance is more than a band, else a length with a band that fits."""
    if distance > band:
        return math.inf
    if distance <= 0.0:
        return (end - now) / 2.0
    return (end - now) * max((distance / band) ** 2, 0.5)


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

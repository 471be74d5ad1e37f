"""Random walks that are revealed only where somebody looks.

The rewards of an arm in a dim form a walk S(0) = 0, S(1), S(2), ... with Gaussian steps. A walk is
kept as the list of its known points (n, S(n)) from the last one that matters on. A point between
two known ones is drawn from the bridge between them, a later one from the law of the steps: by the
Markov property that is the exact conditional law given all known points, whatever made somebody
look there. Dims that depend on each other are revealed together.

Row u < U of the points is the first point of unit u; later points are further rows, linked by their
numbers. Counts and numbers are floats there, exact below 2^53.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.compile.pointers import bare, part
from bestgroup.drivers.jump.memory import (
    BUFFER,
    COLUMNS,
    DIM_COUNT,
    DRAWN,
    DRIFTS,
    ENDS,
    FACTORS,
    FREE,
    FRESH,
    LOG,
    LOG_ROOM,
    LOGGED,
    NEXT,
    NOISES,
    NORMALS,
    NOW,
    POINT_ROOM,
    POINT_SIZE,
    REVEALED,
    RUNG,
    STAMPS,
    STREAM,
    STRETCH,
    SUM,
    TIME,
    UNIT_COUNT,
    Reals,
    Words,
    dense_at,
    point_at,
)
from bestgroup.drivers.streams import fill_normals, seed_stream

_KEY = 2**62  # sets the streams of this engine apart from those of single arms
_GUARD = 1e-14  # share of a sum that rounding can move a chord by, generously


class OutOfRoom(Exception):
    """Rows for points or items have run out; the caller repeats the run with more of them."""


@kernel
def reset_walks(Z: Words, F: Reals, seed: int, run: int) -> None:
    """Forget all points and start the noise of a run."""
    for u in range(Z[UNIT_COUNT]):
        p = point_at(Z, u)
        for field in range(Z[POINT_SIZE]):
            F[p + field] = 0.0
        Z[Z[STAMPS] + u] = -1
    stream = part(Z, Z[STREAM], 4).view(np.uint64)
    seed_stream(stream, seed, run, _KEY, 0, 0)
    Z[DRAWN], Z[FREE], Z[FRESH] = BUFFER, 0, Z[UNIT_COUNT]
    Z[REVEALED] = Z[LOGGED] = Z[STRETCH] = 0


@bare
def reserve_noise(Z: Words, F: Reals, count: int) -> int:
    """Return the place in F of `count` fresh standard normals."""
    if Z[DRAWN] + count > BUFFER:
        _draw_ahead(Z, F)
    place = Z[NORMALS] + Z[DRAWN]
    Z[DRAWN] += count
    return place


@bare
def _draw_ahead(Z: Words, F: Reals) -> None:
    """Fill the buffer of normals; what was left in it is not used."""
    stream = part(Z, Z[STREAM], 4).view(np.uint64)
    fill_normals(stream, part(F, Z[NORMALS], BUFFER), BUFFER)
    Z[DRAWN] = 0


@bare
def advance(Z: Words, F: Reals, u: int, now: int) -> None:
    """Forget the points of a unit before its last one up to `now`."""
    head = point_at(Z, u)
    row = int(F[head + NEXT])
    while row != 0 and F[point_at(Z, row) + TIME] <= now:
        p = point_at(Z, row)
        F[head + TIME], F[head + NEXT], F[head + SUM] = F[p + TIME], F[p + NEXT], F[p + SUM]
        for c in range(1, Z[COLUMNS]):
            F[head + SUM + c] = F[p + SUM + c]
        F[p + NEXT] = Z[FREE]
        Z[FREE] = row
        row = int(F[head + NEXT])


@bare
def reveal(Z: Words, F: Reals, u: int, when: int) -> None:
    """Make the point of a unit at count `when` known; it must not lie before its first row."""
    p = point_at(Z, u)
    after = int(F[p + NEXT])
    while after != 0 and F[point_at(Z, after) + TIME] <= when:
        p = point_at(Z, after)
        after = int(F[p + NEXT])
    if F[p + TIME] != when:
        _add_point(Z, F, u, p, when)


@bare
def _add_point(Z: Words, F: Reals, u: int, p: int, when: int) -> None:
    """Draw the point of a unit at count `when`, between the point at `p` and the next one."""
    new = _take_row(Z, F)
    _draw_point(Z, F, u, p, point_at(Z, new), when)
    F[p + NEXT] = new


@bare
def _draw_point(Z: Words, F: Reals, u: int, p: int, q: int, when: int) -> None:
    """Write the point at count `when`, after the point at `p` and before the next one, to `q`.

    `q` may be `p` itself, which is then forgotten.
    """
    after = int(F[p + NEXT])
    steps = when - F[p + TIME]
    Z[REVEALED] += 1
    if after == 0:
        for c in range(Z[COLUMNS]):
            F[q + SUM + c] = F[p + SUM + c] + steps * F[Z[DRIFTS] + u * Z[COLUMNS] + c]
        _add_noise(Z, F, u, q + SUM, math.sqrt(steps))
    else:
        s = point_at(Z, after)
        share = steps / (F[s + TIME] - F[p + TIME])
        for c in range(Z[COLUMNS]):
            F[q + SUM + c] = F[p + SUM + c] + share * (F[s + SUM + c] - F[p + SUM + c])
        _add_noise(Z, F, u, q + SUM, math.sqrt(steps * (1.0 - share)))
    F[q + TIME], F[q + NEXT] = when, after
    if Z[LOGGED] < Z[LOG_ROOM]:
        log_point(Z, F, u, when, q + SUM)


@bare
def insert(Z: Words, F: Reals, u: int, when: int, k: int) -> None:
    """Put the k-th point of a stretch of a unit, at count `when`, into its list."""
    p = point_at(Z, u)
    after = int(F[p + NEXT])
    while after != 0 and F[point_at(Z, after) + TIME] <= when:
        p = point_at(Z, after)
        after = int(F[p + NEXT])
    if F[p + TIME] >= when:
        return
    new = _take_row(Z, F)
    q = point_at(Z, new)
    F[q + TIME], F[q + NEXT], F[p + NEXT] = when, after, new
    for c in range(Z[COLUMNS]):
        F[q + SUM + c] = F[dense_at(Z, u, c) + k] * when


@bare
def _take_row(Z: Words, F: Reals) -> int:
    """Return an unused row."""
    row = Z[FREE]
    if row != 0:
        Z[FREE] = int(F[point_at(Z, row) + NEXT])
        return row
    row = Z[FRESH]
    if row == Z[POINT_ROOM]:
        raise OutOfRoom()
    Z[FRESH] = row + 1
    return row


@bare
def _add_noise(Z: Words, F: Reals, u: int, place: int, size: float) -> None:
    """Add noise of the given size to each column of a unit."""
    columns, noises = Z[COLUMNS], Z[NOISES]
    normals = reserve_noise(Z, F, noises)
    if columns == 1:
        F[place] += size * F[Z[FACTORS] + u % Z[DIM_COUNT]] * F[normals]
        return
    for c in range(columns):
        for m in range(noises):
            F[place + c] += size * F[Z[FACTORS] + c * noises + m] * F[normals + m]


@bare
def log_point(Z: Words, F: Reals, u: int, when: int, place: int) -> None:
    """Log a point: its unit, its count, its sums."""
    q = Z[LOG] + Z[LOGGED] * Z[POINT_SIZE]
    Z[LOGGED] += 1
    F[q], F[q + 1] = u, when
    for c in range(Z[COLUMNS]):
        F[q + SUM + c] = F[place + c]


@bare
def bracket(Z: Words, F: Reals, u: int, now: int, end: int) -> None:
    """Make a unit known at both ends of a window, and forget what lies before it."""
    head = point_at(Z, u)
    row = int(F[head + NEXT])
    if row != 0 and F[point_at(Z, row) + TIME] <= now:
        advance(Z, F, u, now)
        row = int(F[head + NEXT])
    if F[head + TIME] != now:
        _draw_point(Z, F, u, head, head, now)
    if row == 0 or F[point_at(Z, row) + TIME] != end:
        _add_point(Z, F, u, head, end)


@bare
def settle(Z: Words, F: Reals, u: int, place: int, levels: tuple[int, int], total: float) -> None:
    """Make the sum of a unit at NOW its first point, and add those at the ends of some windows.

    These are drawn already; `place` is where they lie in F, level by level. They come before all
    later points that are known.
    """
    now, head = Z[NOW], point_at(Z, u)
    advance(Z, F, u, now)
    F[head + TIME], F[head + SUM] = now, total
    Z[REVEALED] += 1
    for level in range(levels[0], levels[1]):
        Z[REVEALED] += 1
        new = _take_row(Z, F)
        q = point_at(Z, new)
        F[q + TIME], F[q + NEXT], F[q + SUM] = (
            Z[Z[ENDS] + level],
            F[head + NEXT],
            F[place + RUNG * level],
        )
        F[head + NEXT] = new


@bare
def log_value(Z: Words, F: Reals, u: int, when: int, value: float) -> None:
    """Log a point of a unit with one column, if there is room."""
    if Z[LOGGED] < Z[LOG_ROOM]:
        q = Z[LOG] + Z[LOGGED] * Z[POINT_SIZE]
        Z[LOGGED] += 1
        F[q], F[q + 1], F[q + SUM] = u, when, value


@bare
def ends(Z: Words, F: Reals, u: int, c: int, now: int, end: int) -> tuple[float, float]:
    """Return the sums of a column at both ends of a window, made known first."""
    bracket(Z, F, u, now, end)
    head = point_at(Z, u)
    return F[head + SUM + c], F[point_at(Z, int(F[head + NEXT])) + SUM + c]


@bare
def bounds(
    Z: Words, F: Reals, u: int, c: int, band: float, first: int, last: int
) -> tuple[float, float]:
    """Return bounds of the mean of a column over counts first, ..., last.

    Between known points t1 < t2 the sum stays within `band` sqrt(t2 - t1) of the chord; chord and
    band divided by the count are monotone in it. A point at `last` or later must be known, and one
    before `first`.
    """
    p = point_at(Z, u)
    after = int(F[p + NEXT])
    while after != 0 and F[point_at(Z, after) + TIME] < first:
        p = point_at(Z, after)
        after = int(F[p + NEXT])
    low, high = np.inf, -np.inf
    if F[p + TIME] >= first:
        low = high = F[p + SUM + c] / F[p + TIME]
        if F[p + TIME] == last:
            return low, high
    while after != 0:
        q = point_at(Z, after)
        t1, t2, s1, s2 = F[p + TIME], F[q + TIME], F[p + SUM + c], F[q + SUM + c]
        begin, end = max(float(first), t1 + 1.0), min(float(last), t2 - 1.0)
        if begin <= end:
            slope = (s2 - s1) / (t2 - t1)
            base = s1 - slope * t1
            room = band * math.sqrt(t2 - t1) + _GUARD * (abs(s1) + abs(s2))
            low = min(low, slope + (base - room) / begin, slope + (base - room) / end)
            high = max(high, slope + (base + room) / begin, slope + (base + room) / end)
        if t2 <= last:
            low, high = min(low, s2 / t2), max(high, s2 / t2)
        if t2 >= last:
            return low, high
        p = q
        after = int(F[p + NEXT])
    return -np.inf, np.inf

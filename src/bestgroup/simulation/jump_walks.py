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

from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_kernel import bare
from bestgroup.simulation.jump_layout import (
    BUFFER,
    COLUMNS,
    DIM_COUNT,
    DRAWN,
    DRIFTS,
    FACTORS,
    FREE,
    FRESH,
    LOG,
    LOG_ROOM,
    LOGGED,
    NEXT,
    NOISES,
    NORMALS,
    POINT_ROOM,
    POINT_SIZE,
    REVEALED,
    SPRINT,
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
from bestgroup.simulation.streams import fill_normals, seed_stream

_KEY = 2**62  # sets the streams of this engine apart from those of single arms
_GUARD = 1e-14  # share of a sum that rounding can move a chord by, generously

# A bridge with n steps left: the share of the way that the next step makes, and its deviation.
_SHARE = np.array([0.0] + [1.0 / n for n in range(1, SPRINT + 1)])
_ROOT = np.array([0.0] + [math.sqrt((n - 1.0) / n) for n in range(1, SPRINT + 1)])


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
    stream = Z[Z[STREAM] : Z[STREAM] + 4].view(np.uint64)
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
    stream = Z[Z[STREAM] : Z[STREAM] + 4].view(np.uint64)
    fill_normals(stream, F[Z[NORMALS] : Z[NORMALS] + BUFFER], BUFFER)
    Z[DRAWN] = 0


@bare
def advance(Z: Words, F: Reals, u: int, now: int) -> None:
    """Forget the points of a unit before its last one up to `now`."""
    head = point_at(Z, u)
    row = int(F[head + NEXT])
    while row != 0 and F[point_at(Z, row) + TIME] <= now:
        p = point_at(Z, row)
        for field in range(Z[POINT_SIZE]):
            F[head + field] = F[p + field]
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
    if F[p + TIME] == when:
        return
    new = _take_row(Z, F)
    q = point_at(Z, new)
    Z[REVEALED] += 1
    F[q + TIME] = when
    F[q + NEXT] = after
    F[p + NEXT] = new
    steps = when - F[p + TIME]
    if after == 0:
        _set_noise(Z, F, u, q + SUM, math.sqrt(steps))
        for c in range(Z[COLUMNS]):
            F[q + SUM + c] += F[p + SUM + c] + steps * F[Z[DRIFTS] + u * Z[COLUMNS] + c]
    else:
        s = point_at(Z, after)
        share = steps / (F[s + TIME] - F[p + TIME])
        _set_noise(Z, F, u, q + SUM, math.sqrt(steps * (1.0 - share)))
        for c in range(Z[COLUMNS]):
            F[q + SUM + c] += F[p + SUM + c] + share * (F[s + SUM + c] - F[p + SUM + c])
    if Z[LOGGED] < Z[LOG_ROOM]:
        _log(Z, F, u, when, q + SUM)


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
def _set_noise(Z: Words, F: Reals, u: int, place: int, size: float) -> None:
    """Write noise of the given size for each column of a unit."""
    columns, noises = Z[COLUMNS], Z[NOISES]
    normals = reserve_noise(Z, F, noises)
    if columns == 1:
        F[place] = size * F[Z[FACTORS] + u % Z[DIM_COUNT]] * F[normals]
        return
    for c in range(columns):
        F[place + c] = 0.0
        for m in range(noises):
            F[place + c] += size * F[Z[FACTORS] + c * noises + m] * F[normals + m]


@bare
def _log(Z: Words, F: Reals, u: int, when: int, place: int) -> None:
    """Log a point: its unit, its count, its sums."""
    q = Z[LOG] + Z[LOGGED] * Z[POINT_SIZE]
    Z[LOGGED] += 1
    F[q], F[q + 1] = u, when
    for c in range(Z[COLUMNS]):
        F[q + SUM + c] = F[place + c]


@bare
def reveal_stretch(Z: Words, F: Reals, u: int, now: int, end: int) -> None:
    """Make all points of a unit after `now` up to `end` known, and write its means.

    No point in between may be known. Only the ends go into the list: the stretch is used up before
    it is left.
    """
    if Z[Z[STAMPS] + u] == Z[STRETCH]:
        return
    Z[Z[STAMPS] + u] = Z[STRETCH]
    bracket(Z, F, u, now, end)
    head = point_at(Z, u)
    last = point_at(Z, int(F[head + NEXT]))
    if Z[COLUMNS] > 1:
        _stretch_jointly(Z, F, u, now, end)
        return
    place = dense_at(Z, u, 0)
    value, goal = F[head + SUM], F[last + SUM]
    size, n = F[Z[FACTORS] + u % Z[DIM_COUNT]], end - now
    normals = reserve_noise(Z, F, n - 1)
    for k in range(n - 1):
        value += (goal - value) * _SHARE[n - k] + _ROOT[n - k] * size * F[normals + k]
        F[place + k] = value
    if Z[LOGGED] < Z[LOG_ROOM]:
        for k in range(n - 1):
            _log(Z, F, u, now + k + 1, place + k)
    F[place + n - 1] = goal
    for k in range(n):
        F[place + k] /= now + k + 1


@bare
def _stretch_jointly(Z: Words, F: Reals, u: int, now: int, end: int) -> None:
    """Write the means of a unit with several columns."""
    columns, noises, n = Z[COLUMNS], Z[NOISES], end - now
    head = point_at(Z, u)
    last = point_at(Z, int(F[head + NEXT]))
    for k in range(n - 1):
        normals = reserve_noise(Z, F, noises)
        for c in range(columns):
            place = dense_at(Z, u, c)
            value = F[place + k - 1] if k > 0 else F[head + SUM + c]
            value += (F[last + SUM + c] - value) * _SHARE[n - k]
            for m in range(noises):
                value += F[Z[FACTORS] + c * noises + m] * _ROOT[n - k] * F[normals + m]
            F[place + k] = value
        if Z[LOGGED] < Z[LOG_ROOM]:
            q = Z[LOG] + Z[LOGGED] * Z[POINT_SIZE]
            Z[LOGGED] += 1
            F[q], F[q + 1] = u, now + k + 1
            for c in range(columns):
                F[q + SUM + c] = F[dense_at(Z, u, c) + k]
    for c in range(columns):
        place = dense_at(Z, u, c)
        F[place + n - 1] = F[last + SUM + c]
        for k in range(n):
            F[place + k] /= now + k + 1


@bare
def bracket(Z: Words, F: Reals, u: int, now: int, end: int) -> None:
    """Make a unit known at both ends of a window, and forget what lies before it."""
    head = point_at(Z, u)
    advance(Z, F, u, now)
    if F[head + TIME] != now:
        reveal(Z, F, u, now)
        advance(Z, F, u, now)
    after = int(F[head + NEXT])
    if after == 0 or F[point_at(Z, after) + TIME] != end:
        reveal(Z, F, u, end)


@bare
def chord(Z: Words, F: Reals, u: int, c: int, now: int, end: int) -> tuple[float, float]:
    """Return the least and the largest mean on the chord of a column over (now, end], bracketed first.

    A chord divided by the count is monotone in it, so these are the means at the ends.
    """
    bracket(Z, F, u, now, end)
    head = point_at(Z, u)
    after = F[point_at(Z, int(F[head + NEXT])) + SUM + c] / end
    if end - now == 1:
        return after, after
    before = F[head + SUM + c] / now
    return min(before, after), max(before, after)


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

"""Random walks that are revealed only where somebody looks.

The rewards of an arm in a dim form a walk S(0) = 0, S(1), S(2), ... with Gaussian steps. A walk is
kept as the list of its known points (n, S(n)) from the last one that matters on. A point between
two known ones is drawn from the bridge between them, a later one from the law of the steps: by the
Markov property that is the exact conditional law given all known points, whatever made somebody
look there. Dims that depend on each other are revealed together.

Row u < U of the points is the first point of unit u; later points are further rows, linked by their
numbers. Counts are floats there, exact below 2^53.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import Numbers, array, bare
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.memory import SPRINT, Memory, Point
from bestgroup.drivers.streams import fill_normals, seed_stream

_KEY = 2**62  # sets the streams of this engine apart from those of single arms
_GUARD = 1e-14  # share of a sum that rounding can move a chord by, generously
# A bridge with n steps left: the share of the way that the next step makes, and its deviation.
_SHARE = np.array([0.0] + [1.0 / n for n in range(1, SPRINT + 1)])
_ROOT = np.array([0.0] + [math.sqrt((n - 1.0) / n) for n in range(1, SPRINT + 1)])


class OutOfRoom(Exception):
    """Rows for points or items have run out; the caller repeats the run with more of them."""


@kernel
def reset_walks(m: Memory, seed: int, run: int) -> None:
    """Forget all points and start the noise of a run."""
    for u in range(m.units):
        p = at.point(m, u)
        p.time, p.next = 0.0, 0
        for c in range(m.columns):
            at.sums(p)[c] = 0.0
        at.unit(m, u).stamp = -1
    # The noise is a function of (seed, run) alone: a run is the same whichever process or slice
    # does it.
    stream = array(at.stream(m), 4).view(np.uint64)
    seed_stream(stream, seed, run, _KEY, 0, 0)
    # Row 0 is the first point of unit 0, so 0 can mean "no row" in the links and in the list of
    # free rows.
    m.drawn, m.free, m.fresh = m.buffer, 0, m.units
    m.revealed = m.logged = m.stretch = 0


@bare
def reserve_noise(m: Memory, count: int) -> Numbers:
    """Return `count` fresh standard normals."""
    # Normals are drawn ahead in one go: the generator is quick in bulk only.
    if m.drawn + count > m.buffer:
        stream = array(at.stream(m), 4).view(np.uint64)
        fill_normals(stream, array(at.normals(m, 0), m.buffer), m.buffer)
        m.drawn = 0
    m.drawn += count
    return at.normals(m, m.drawn - count)


@bare
def advance(m: Memory, u: int, now: int) -> None:
    """Forget the points of a unit before its last one up to `now`."""
    head = at.point(m, u)
    row = head.next
    while row != 0 and at.point(m, row).time <= now:
        # The head of a list never moves, so that a unit is found by its number: it takes over the
        # point, and the row of the point becomes free.
        p = at.point(m, row)
        head.time, head.next, at.sums(head)[0] = p.time, p.next, at.sums(p)[0]
        for c in range(1, m.columns):
            at.sums(head)[c] = at.sums(p)[c]
        p.next = m.free
        m.free = row
        row = head.next


@bare
def _last_until(m: Memory, u: int, when: int) -> Point:
    """Return the last known point of a unit up to a count; its first row must not lie after it."""
    p = at.point(m, u)
    after = p.next
    # Lists are short: `advance` forgets what is over, and all units share the ends of windows, of
    # which there are about log2 of the length of the outer one.
    while after != 0 and at.point(m, after).time <= when:
        p = at.point(m, after)
        after = p.next
    return p


@bare
def reveal(m: Memory, u: int, when: int) -> None:
    """Make the point of a unit at count `when` known; it must not lie before its first row."""
    p = _last_until(m, u, when)
    if p.time != when:
        new = _take_row(m)
        _draw_point(m, u, p, at.point(m, new), when)
        p.next = new


@bare
def _draw_point(m: Memory, u: int, p: Point, q: Point, when: int) -> None:
    """Write the point at count `when`, after the point at `p` and before the next one, to `q`.

    `q` may be `p` itself, which is then forgotten.
    """
    after = p.next
    steps = when - p.time
    m.revealed += 1
    # The last known point: steps are independent of all that is known, so the sum goes on from it.
    if after == 0:
        for c in range(m.columns):
            at.sums(q)[c] = at.sums(p)[c] + steps * at.drift(m, u)[c]
        _add_noise(m, u, at.sums(q), math.sqrt(steps))
    else:
        # Between two known points: the bridge, whose law depends on nothing outside of them. It has
        # no drift, since both ends are given.
        s = at.point(m, after)
        share = steps / (s.time - p.time)
        for c in range(m.columns):
            at.sums(q)[c] = at.sums(p)[c] + share * (at.sums(s)[c] - at.sums(p)[c])
        _add_noise(m, u, at.sums(q), math.sqrt(steps * (1.0 - share)))
    q.time, q.next = when, after
    for c in range(m.columns):
        _log_value(m, u, c, when, at.sums(q)[c])


@bare
def _take_row(m: Memory) -> int:
    # Rows that were given back come first: the part of memory that is in use stays small and in the
    # cache.
    row = m.free
    if row != 0:
        m.free = at.point(m, row).next
        return row
    row = m.fresh
    if row == m.point_room:
        # No kernel can grow the block; the whole run begins again with more room, from the same
        # seed.
        raise OutOfRoom()
    m.fresh = row + 1
    return row


@bare
def _add_noise(m: Memory, u: int, place: Numbers, size: float) -> None:
    noises, normals = m.noises, reserve_noise(m, m.noises)
    for c in range(m.columns):
        factors = _factors_of(m, u, c)
        for z in range(noises):
            place[c] += size * factors[z] * normals[z]


@bare
def _factors_of(m: Memory, u: int, c: int) -> Numbers:
    """Return what each normal adds to a column of a unit."""
    # Unit numbers run through the dims last, so a walk of its own is of dim u % D.
    return at.factors(m, c if m.columns > 1 else u % m.D)


@bare
def bracket(m: Memory, u: int, first: int, last: int) -> None:
    """Make a unit known at both ends of a window of counts, and forget what lies before it."""
    head = at.point(m, u)
    # Most of the time the unit was last looked at in this window or the one below it, and these
    # tests are all that is done.
    if head.next != 0 and at.point(m, head.next).time <= first:
        advance(m, u, first)
    if head.time != first:
        # Nothing before it is ever read again, so the point there may replace the head: no row is
        # taken.
        _draw_point(m, u, head, head, first)
    # On a clock that was faster before, other points may lie between the two.
    if last > first:
        reveal(m, u, last)


@bare
def _log_value(m: Memory, u: int, c: int, when: int, value: float) -> None:
    """Log the sum of a column of a unit at a count, if there is room; the last column comes last."""
    if m.logged < m.log_room:
        log = at.log(m, m.logged)
        log[0], log[1], log[2 + c] = u, when, value
        if c == m.columns - 1:
            m.logged += 1


@bare
def ends(m: Memory, u: int, c: int, now: int, end: int) -> tuple[float, float]:
    """Return the sums of a column at both ends of a window, made known first."""
    bracket(m, u, now, end)
    head = at.point(m, u)
    return at.sums(head)[c], at.sums(at.point(m, head.next))[c]


@bare
def bounds(m: Memory, u: int, c: int, band: float, first: int, last: int) -> tuple[float, float]:
    """Return bounds of the mean of a column over counts first, ..., last.

    Between known points t1 < t2 the sum stays within `band` sqrt(t2 - t1) of the chord; chord and
    band divided by the count are monotone in it. A point at `last` or later must be known, and one
    before `first`.
    """
    # Bounds must not draw: they are asked for in all windows, and most of the time suffice.
    p = _last_until(m, u, first - 1)
    after = p.next
    low, high = np.inf, -np.inf
    if p.time >= first:
        low = high = at.sums(p)[c] / p.time
        if p.time == last:
            return low, high
    while after != 0:
        q = at.point(m, after)
        t1, t2, s1, s2 = p.time, q.time, at.sums(p)[c], at.sums(q)[c]
        # Strictly between the known points; these themselves are exact and need no band.
        begin, end = max(float(first), t1 + 1.0), min(float(last), t2 - 1.0)
        if begin <= end:
            slope = (s2 - s1) / (t2 - t1)
            base = s1 - slope * t1
            # Rounding of the chord is made part of the band, so that a bound is never on the wrong
            # side of a value that the sprint computes.
            room = band * math.sqrt(t2 - t1) + _GUARD * (abs(s1) + abs(s2))
            # (chord -+ band) / n is slope + constant / n: its extremes lie at the ends, whatever
            # the sign of the constant.
            low = min(low, slope + (base - room) / begin, slope + (base - room) / end)
            high = max(high, slope + (base + room) / begin, slope + (base + room) / end)
        if t2 <= last:
            low, high = min(low, s2 / t2), max(high, s2 / t2)
        if t2 >= last:
            return low, high
        p = q
        after = p.next
    # No point at `last` or later: nothing is known, and the caller has to reveal one.
    return -np.inf, np.inf


@bare
def reveal_stretch(m: Memory, u: int, first: int, last: int) -> None:
    """Make all counts of a unit after `first` up to `last` known, and write its means from `first` on.

    Only the ends go into the list: the stretch is used up before it is left.
    """
    unit = at.unit(m, u)
    if unit.stamp == m.stretch:
        return
    unit.stamp, unit.base, unit.known = m.stretch, first, last - first
    bracket(m, u, first, last)
    p = at.point(m, u)
    for c in range(m.columns):
        at.means(m, u, c)[0] = at.sums(p)[c]
    # Most of the time there is one bridge; on a clock that was faster before, points lie between.
    while p.time < last:
        q = at.point(m, p.next)
        _fill_bridge(m, u, p, q)
        p = q
    for c in range(m.columns):
        place = at.means(m, u, c)
        for k in range(last - first + 1):
            place[k] /= max(1, first + k)


@bare
def _fill_bridge(m: Memory, u: int, p: Point, q: Point) -> None:
    """Write the sums of a unit after a known point up to the next one."""
    n, before = int(q.time - p.time), int(p.time) - at.unit(m, u).base
    noises, normals = m.noises, reserve_noise(m, (n - 1) * m.noises)
    for c in range(m.columns):
        place, factors = at.means(m, u, c), _factors_of(m, u, c)
        value, goal = at.sums(p)[c], at.sums(q)[c]
        # Step by step: with `left` steps to go, the next one makes 1 / left of the way to the goal
        # on average.
        for k in range(1, n):
            left, noise = n - k + 1, 0.0
            for z in range(noises):
                noise += factors[z] * normals[(k - 1) * noises + z]
            value += (goal - value) * _SHARE[left] + _ROOT[left] * noise
            place[before + k] = value
        # The known point itself, not what the steps add up to, which rounding would move.
        place[before + n] = goal
    for k in range(1, n if m.logged < m.log_room else 0):
        for c in range(m.columns):
            _log_value(m, u, c, int(p.time) + k, at.means(m, u, c)[before + k])


@bare
def keep_stretch(m: Memory, u: int) -> None:
    """Put all points of a unit that the sprint made known into its list."""
    unit = at.unit(m, u)
    if unit.stamp != m.stretch:
        return
    for k in range(1, unit.known + 1):
        when = unit.base + k
        p = _last_until(m, u, when)
        # A point is never written twice, or the walk would have two values there.
        if p.time < when:
            new = _take_row(m)
            q = at.point(m, new)
            q.time, q.next, p.next = when, p.next, new
            for c in range(m.columns):
                at.sums(q)[c] = at.means(m, u, c)[k] * when

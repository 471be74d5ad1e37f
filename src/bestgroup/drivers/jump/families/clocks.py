"""Arms on clocks of their dims: their counts, and envelopes of their means between two clocks.

n^d is a function of the round alone, the algorithm's `Lockstep.clock`. An arm has been pulled max(n^d
over the dims it is active in) times, or as often as it was when it was last eliminated from a dim,
if that is more.

Clocks are kept in rows: one for the end of each window, PRESENT for now, then one for each round of
a sprint. Over a window the count of an arm goes from one number to another, and known points may
lie between. Its mean is bounded there by the least and the largest chord, a number `spread` with s
sqrt(L / 2) `spread` the band of one bridge divided by its count, and `rise`, the same summed over
its bridges, for the expectation of the largest of them (see `certificates`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.records import Numbers, bare
from bestgroup.drivers.jump import envelopes, families, guards
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import ROUNDING
from bestgroup.drivers.jump.envelopes import front, keeps_below
from bestgroup.drivers.jump.families import NOBODY, clock_after
from bestgroup.drivers.jump.memory import PRESENT, Memory
from bestgroup.drivers.jump.walks import advance, bounds, bracket, insert, reveal, reveal_stretch
from bestgroup.drivers.jump.windows import top_end
from bestgroup.inference.radii import radius_below


@bare
def row_of(m: Memory, when: int) -> int:
    """Return the row of the clock at a round of the sprint."""
    return PRESENT + when - m.start


@bare
def count_at(m: Memory, i: int, j: int, row: int) -> int:
    """Return how often an arm has been pulled at a clock, with the sets of now."""
    count = at.arm(m, i, j).own
    for d in range(m.D):
        # An arm is pulled in rounds whose focus is one of its dims until its count is that of the
        # clock: the fastest of its clocks rules.
        if at.member(m, i, j, d).active:
            count = max(count, at.clock(m, row, d).count)
    return count


@bare
def set_clock(m: Memory, rule: Rule, state: Any, row: int, before: int, when: int) -> None:
    """Set a clock to that of round `when`, from that of round `before`: now, or in the sprint.

    A guess lies between the clock of now and that of the window below, or is in proportion to it.
    """
    state.round[0] = before
    for d in range(m.D):
        now = at.clock(m, PRESENT + before - m.now, d).count
        state.clock[d] = now
        if row > 0 and when > before + 1:
            share = (when - before) / (at.window(m, row - 1).end - before)
            state.clock[d] += int(share * (at.clock(m, row - 1, d).count - now))
        elif when > before + 1:
            state.clock[d] += int(now * ((when - before) / before))
    clock_after(state, rule, when - before, state.clock)
    for d in range(m.D):
        clock = at.clock(m, row, d)
        # Below the radius of all counts up to this one: what a window may rely on.
        clock.count = state.clock[d]
        clock.radius = rule.scale[d] * radius_below(rule.radius, max(1, clock.count))


@bare
def copy_clock(m: Memory, source: int, target: int) -> None:
    """Copy a clock with its radii."""
    for d in range(m.D):
        one, two = at.clock(m, source, d), at.clock(m, target, d)
        two.count, two.radius = one.count, one.radius


# Arms over a window.


@bare
def _chords(m: Memory, i: int, j: int, d: int) -> tuple[float, float, float, float]:
    """Return the least and the largest chord, the spread and the rise of an arm in the window on top."""
    u, c = at.unit_of(m, i, j, d), at.column_of(m, d)
    first, last = count_at(m, i, j, PRESENT), count_at(m, i, j, m.level)
    bracket(m, u, first, last)
    p = at.point(m, u)
    # Between known points the mean lies between those at the ends but for its bridge, which counts
    # with its length.
    low, high, spread, rise = np.inf, -np.inf, 0.0, 0.0
    if first > 0:
        low = high = at.sums(p)[c] / first
    while p.time < last:
        q = at.point(m, p.next)
        mean = at.sums(q)[c] / q.time
        low, high = min(low, mean), max(high, mean)
        steps = q.time - p.time
        if steps > 1.0:
            share = math.sqrt(steps) / (p.time + 1.0)
            spread = max(spread, share)
            rise += share
        p = q
    return low, high, spread, rise


@bare
def _upper_chords(m: Memory, i: int, d: int, skip: int) -> tuple[float, float, float, int]:
    """Return the largest chord, the spread, the rise, and the number of arms of an efficiency.

    The arm `skip` does not count. A rival that its known points keep below the chord of another arm
    is no further considered: it is as good as that number.
    """
    env = at.envelope(m, i, d)
    high, spread, rise, arms = -np.inf, 0.0, 0.0, 0
    if env.lead != skip:
        _, high, spread, rise = _chords(m, i, env.lead, d)
        arms = 1
    for k in range(env.rivals):
        rival = at.member(m, i, k, d).rival
        if rival in (env.lead, skip):
            continue
        # Below another arm's chord throughout: the maximum over arms does not need it.
        if arms > 0 and keeps_below(m, i, rival, d, high):
            continue
        _, most, wide, rising = _chords(m, i, rival, d)
        high, spread, rise = max(high, most), max(spread, wide), max(rise, rising)
        arms += 1
    return high, spread, rise, max(arms, 1)


@bare
def worth_apart(m: Memory, i: int, j: int, level: float) -> tuple[float, float]:
    """Return the room of R_i . w - R_j . w below a level in the window, and the band it needs.

    The walks of a group depend on each other if dims do; otherwise their variances add up.
    """
    # Standard deviations add up where walks may depend on each other, variances where they do not.
    joint = m.columns > 1
    total, size, squares, rises, arms = 0.0, 0.0, 0.0, 0.0, 1
    for side in range(2):
        plain = 0.0
        for d in range(m.D):
            weight = at.dim(m, d).weight
            factor = weight * at.dim(m, d).band
            if side == 0:
                chord, spread, rise, many = _upper_chords(m, i, d, NOBODY)
                total += weight * chord
                arms *= many
            else:
                chord, _, spread, rise = _chords(m, j, front(m, j, d), d)
                total -= weight * chord
            size += weight * abs(chord)
            rises += factor * rise
            plain += factor * spread
            squares += 0.0 if joint else (factor * spread) ** 2
        squares += plain * plain if joint else 0.0
    # One certificate for every choice of arms that may attain the efficiencies.
    m.passed += arms
    room = level - total - ROUNDING * (abs(level) + size)
    return room, math.sqrt(squares) + m.lift * rises


@bare
def arm_apart(m: Memory, i: int, j: int, d: int, level: float) -> tuple[float, float]:
    """Return the room of R_i^d - mean of arm j below a level in the window, and the band it needs."""
    chord, spread, rise, arms = _upper_chords(m, i, d, j)
    if chord == -np.inf:  # the arm is alone, and the last arm is never eliminated
        return np.inf, 0.0
    low, _, wide, rising = _chords(m, i, j, d)
    band = math.sqrt(spread * spread + wide * wide) + m.lift * (rise + rising)
    m.passed += arms
    room = level - (chord - low) - ROUNDING * (abs(level) + abs(chord) + abs(low))
    return room, at.dim(m, d).band * band


# Arms in a sprint.


@bare
def _sprint_arm(m: Memory, i: int, j: int, d: int) -> int:
    """Make an arm known at every count of the sprint, and return its unit."""
    u = at.unit_of(m, i, j, d)
    unit = at.unit(m, u)
    if unit.stamp == m.stretch:
        return u
    first, last = count_at(m, i, j, PRESENT), count_at(m, i, j, row_of(m, m.stop))
    bracket(m, u, first, last)
    head = at.point(m, u)
    # Counts, not rounds: in a sprint an arm may be pulled in some of the rounds only.
    unit.base = first
    for c in range(m.columns):
        at.walk(m, u, c).base_mean = at.sums(head)[c] / max(1, first)
    if last == first:
        unit.stamp = m.stretch
    elif at.point(m, head.next).time == last:
        reveal_stretch(m, u, first, last)
    else:  # points between are known already: the clock of the arm was faster before
        unit.stamp = m.stretch
        for count in range(first + 1, last):
            reveal(m, u, count)
        p = head
        for k in range(last - first):
            p = at.point(m, p.next)
            for c in range(m.columns):
                at.means(m, u, c)[k] = at.sums(p)[c] / p.time
    return u


@bare
def _means_by_clock(m: Memory, i: int, j: int, d: int) -> Numbers:
    u, c, means = _sprint_arm(m, i, j, d), at.column_of(m, d), at.scratch(m)
    for k in range(m.stop - m.start):
        pulled = count_at(m, i, j, PRESENT + 1 + k) - at.unit(m, u).base
        means[k] = at.walk(m, u, c).base_mean if pulled == 0 else at.means(m, u, c)[pulled - 1]
    return means


@bare
def keep_points(m: Memory, i: int, j: int) -> None:
    """Put all sprinted points of an arm into its list: its clock will slow down."""
    last = count_at(m, i, j, row_of(m, m.stop))
    for d in range(m.D):
        u = at.unit_of(m, i, j, d)
        unit = at.unit(m, u)
        if unit.stamp == m.stretch and (d == 0 or m.columns == 1):
            # They were drawn for the counts of this sprint. With a slower clock these counts come
            # later, and the points must not be drawn again.
            for k in range(last - unit.base):
                insert(m, u, unit.base + k + 1, k)


@bare
def _bounds_by_clock(m: Memory, i: int, j: int, d: int, now: int, end: int) -> tuple[float, float]:
    """Return bounds of the mean of an arm from a round on to the end of the outer window.

    They hold for all counts between, so they outlive whatever is eliminated in it.
    """
    u, column, band = at.unit_of(m, i, j, d), at.column_of(m, d), at.dim(m, d).band
    first, last = count_at(m, i, j, PRESENT + now - m.now), count_at(m, i, j, 0)
    reveal(m, u, last)
    advance(m, u, count_at(m, i, j, PRESENT))
    return bounds(m, u, column, band, max(1, first), last)


@bare
def _first_count(m: Memory, i: int, j: int) -> int:
    # Its count may stay what it is now.
    return max(1, count_at(m, i, j, PRESENT))


@bare
def _enter_window(m: Memory, rule: Rule, state: Any) -> None:
    """Set the clock of the window on top."""
    set_clock(m, rule, state, m.level, m.now, top_end(m))


@bare
def _leave_window(m: Memory) -> None:
    """Go to the clock of the window on top."""
    copy_clock(m, m.level, PRESENT)


@bare
def _begin_sprint(m: Memory, rule: Rule, state: Any) -> None:
    """Set the clocks of the rounds of a sprint."""
    for when in range(m.start, m.stop):
        set_clock(m, rule, state, row_of(m, when + 1), when, when + 1)


@bare
def _forget_sprint(m: Memory) -> None:
    """Keep the points of a sprint, and forget the efficiencies."""
    for i in range(m.N):
        if at.group(m, i).active:
            for j in range(m.K):
                keep_points(m, i, j)
            for d in range(m.D):
                at.envelope(m, i, d).row = -1


CLOCKS: dict[Any, Any] = {
    envelopes.count_at: count_at,
    envelopes.first_count: _first_count,
    envelopes.bounds_of: _bounds_by_clock,
    envelopes.means_of: _means_by_clock,
    envelopes.forget_sprint: _forget_sprint,
    families.begin_sprint: _begin_sprint,
    families.leave_window: _leave_window,
    guards.enter_window: _enter_window,
}

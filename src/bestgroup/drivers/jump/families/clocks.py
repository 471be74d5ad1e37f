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
from bestgroup.drivers.jump.envelopes import front, keeps_below, row_of
from bestgroup.drivers.jump.families import clock_after
from bestgroup.drivers.jump.memory import NOBODY, PRESENT, STALE, Memory
from bestgroup.drivers.jump.walks import bracket, reveal_stretch
from bestgroup.drivers.jump.windows import top_end
from bestgroup.inference.radii import radius_below


@bare
def _count_at(m: Memory, i: int, j: int, row: int) -> int:
    count = at.arm(m, i, j).count
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
        now = at.clock(m, row_of(m, before), d).count
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
    first, last = _count_at(m, i, j, PRESENT), _count_at(m, i, j, m.level)
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
def apart_over(m: Memory, item: int, level: float) -> tuple[float, float]:
    """Return the room of what an item compares below a level in the window, and the band it needs.

    That is R_i . w - R_j . w, or R_i^d - the mean of an arm.
    """
    test, joint = at.item(m, item), m.columns > 1
    one, two = guards.pair_of(test.kind, test.group, test.other, test.side, 0)
    arm = test.other if test.kind == STALE else NOBODY
    total, size, squares, rises, arms = 0.0, 0.0, 0.0, 0.0, 1
    for below in range(2):
        plain = 0.0
        for d in range(m.D):
            weight = weight_of(m, item, d)
            if weight == 0.0:
                continue
            factor = weight * at.dim(m, d).band
            if below == 0:
                chord, spread, rise, many = _upper_chords(m, one, d, arm)
                arms *= many
            else:
                lower = arm if arm != NOBODY else front(m, two, d)
                chord, _, spread, rise = _chords(m, two, lower, d)
            if chord == -np.inf:  # the arm is alone, and the last arm is never eliminated
                return np.inf, 0.0
            total += weight * (-chord if below else chord)
            size += weight * abs(chord)
            rises += factor * rise
            # Standard deviations add up where walks may depend on each other, variances where they
            # do not.
            plain += factor * spread
            squares += 0.0 if joint else (factor * spread) ** 2
        squares += plain * plain if joint else 0.0
    # One certificate for every choice of arms that may attain the efficiencies.
    m.passed += arms
    room = level - total - ROUNDING * (abs(level) + size)
    return room, math.sqrt(squares) + m.lift * rises


@bare
def weight_of(m: Memory, item: int, d: int) -> float:
    """Return how much a dim counts in what an item compares."""
    test = at.item(m, item)
    if test.kind == STALE:
        return 1.0 if test.dim == d else 0.0
    return at.dim(m, d).weight


# Arms in a sprint, and hooks of the loops.


@bare
def _means_of(m: Memory, i: int, j: int, d: int) -> Numbers:
    u, c, means = at.unit_of(m, i, j, d), at.column_of(m, d), at.scratch(m)
    # Counts, not rounds: in a sprint an arm may be pulled in some of the rounds only.
    last = _count_at(m, i, j, row_of(m, m.stop))
    reveal_stretch(m, u, _count_at(m, i, j, PRESENT), last)
    for k in range(m.stop - m.now + 1):
        means[k] = at.means(m, u, c)[_count_at(m, i, j, PRESENT + k) - at.unit(m, u).base]
    return means


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
    for when in range(m.now, m.stop):
        set_clock(m, rule, state, row_of(m, when + 1), when, when + 1)


CLOCKS: dict[Any, Any] = {
    envelopes.count_at: _count_at,
    envelopes.means_of: _means_of,
    families.begin_sprint: _begin_sprint,
    families.leave_window: _leave_window,
    guards.enter_window: _enter_window,
}

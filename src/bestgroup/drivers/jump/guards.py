"""Guards: pairwise comparisons that keep a test from firing, over windows and round by round.

A *guard* says that R_i^d is less than a threshold above R_j^d, or above the mean of an arm. While
all guards of an item hold, it cannot fire; a family says what they are, with thresholds from its
own margins. Over a window they are certified by envelopes, then by the bridges of two walks.

Near its firing an item is looked at in thousands of windows, in nearly all of which it is alone.
Then `follow` keeps the sums of the two walks that its guard compares on a ladder, a rung for
each end of a window, and puts them into the lists of the walks only when it is done. Every end of a
window that is known for a walk is on the stack of ends, so a walk is never known between `now` and
the next end.

Weak points: two tests that may fire within few rounds of each other are never alone, so their
windows are halved for both, and dims that depend on each other are never followed alone.
"""

from __future__ import annotations

import math
from typing import Any

from bestgroup.compile.records import array, bare
from bestgroup.drivers.jump import envelopes, families
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import ROUNDING, add_risk
from bestgroup.drivers.jump.families import NOBODY
from bestgroup.drivers.jump.memory import SPARE, UNUSED, Memory, Window
from bestgroup.drivers.jump.walks import ends, log_value, reserve_noise, settle
from bestgroup.drivers.jump.windows import NEVER, move
from bestgroup.inference.radii import Radius, radius_below

NOT_ALONE, WENT, FOUND = range(3)  # nothing to follow; time went on; the next round may fire
_COARSE = 0.25  # a threshold may lag by half of what the walks move in a window


@bare
def _may_fail(m: Memory, i: int, j: int, d: int, arm: int, threshold: float) -> bool:
    """Return whether the envelopes leave it open that a guard fails."""
    # Negated, so that a NaN would leave the guard open.
    low = at.envelope(m, j, d).low if arm == NOBODY else at.member(m, j, arm, d).low
    return not at.envelope(m, i, d).high - low < threshold


@bare
def clears(m: Memory, item: int) -> bool:
    """Return whether an item surely cannot fire in the window on top.

    The envelopes of the outer window are tried first, which costs no draw. A window much longer
    than what the last attempt made likely is not tried.
    """
    test, window, now = at.item(m, item), top_window(m), m.now
    end = window.end
    # What the last failure made likely; a wrong guess only costs a halving.
    if end - now > 2 * test.reach:
        return False
    if not families.has_blocker(m, item) and not families.find_blocker(m, item, window.beta):
        return False
    # The other dims of the pair may exclude it though this guard does not.
    if families.is_barred(m, item, window.beta):
        return True
    for k in range(families.guard_count(m, item)):
        i, j, d, arm, threshold = families.guard(m, item, k, window)
        if not _may_fail(m, i, j, d, arm, threshold):
            continue
        # Lower side: an efficiency, of which any arm is a lower bound, or one arm.
        if arm == NOBODY:
            moves, base = at.envelope(m, j, d).open != 0, envelopes.lower_ends(m, j, d)
        else:
            moves = True
            base = ends(m, at.unit_of(m, j, arm, d), at.column_of(m, d), now, end)
        reach = envelopes.stays_below(m, i, d, arm, base, moves, threshold)
        # One guard that cannot be certified is enough to keep the item live.
        if reach < NEVER:
            test.reach = int(reach)
            return False
    # Cleared with ease, perhaps: the next window tried may be longer.
    test.reach = 4 * (end - now)
    return True


@bare
def candidate(m: Memory, item: int, start: int) -> int:
    """Return the first round from `start` on, in the sprint, at which an item may fire, or NEVER.

    Without a blocker every round is a candidate.
    """
    window = top_window(m)
    if start > m.stop:
        return NEVER
    # Its test has nobody to fail against, so the margins must judge every round.
    if not families.has_blocker(m, item):
        return start
    # While all guards hold the item cannot fire, so the first failure of any of them is the first
    # candidate; if the margins say no there, the next one is looked for.
    found = m.stop - m.start
    for k in range(families.guard_count(m, item)):
        i, j, d, arm, threshold = families.guard(m, item, k, window)
        if not _may_fail(m, i, j, d, arm, threshold):
            continue
        upper = envelopes.fill_row(m, i, d)
        lower = envelopes.fill_row(m, j, d) if arm == NOBODY else envelopes.means_of(m, j, arm, d)
        # Rows and thresholds are rounded in another order than the margins, so candidates may be
        # too early, never too late.
        level = threshold - ROUNDING * (abs(threshold) + abs(upper[0]) + abs(lower[0]))
        for r in range(start - m.start - 1, found):
            if upper[r] - lower[r] >= level:
                found = r
                break
    return m.start + 1 + found if found < m.stop - m.start else NEVER


@bare
def follow(m: Memory, item: int) -> int:
    """Go on in time while an item is the only live one, and return NOT_ALONE, WENT or FOUND."""
    if families.is_dead(m, item):
        move(m, item, UNUSED)
        return WENT
    # Two walks only: with more to look at, the general loop is as quick.
    if not _choose(m, item) or not _load(m, item):
        return NOT_ALONE
    # When it is no longer alone, no window may be skipped on account of guesses from before.
    at.item(m, item).reach = 2**60
    now, level, known = m.now, m.level, m.level
    up, low, spread = m.sum_up, m.sum_low, m.spread
    # The same certificates and halvings as the general loop, but both walks live in local variables
    # and on rungs: no lists, no hooks, a few floating-point operations a window.
    while True:
        rung = at.window(m, level)
        end, length, theta = rung.end, rung.end - now, rung.theta
        # The line is computed from rounded numbers: it is moved by what rounding can do.
        clear = ROUNDING * (abs(rung.up) + abs(rung.low) + end * abs(theta))
        before = low - up + now * theta - clear
        after = rung.low - rung.up + end * theta - clear
        if after > 0.0 and (length == 1 or (before > 0.0 and before * after > spread * length)):
            # Not in this window: go to its end, and stop if items that were cleared up to there wait.
            # One round has no inside: its end is all that there is.
            if length > 1:
                add_risk(m, before * after / (spread * length))
            now, up, low = end, rung.up, rung.low
            # Other items were cleared only up to this end: they are live again, and the item is not
            # alone.
            if rung.first >= 0:
                _leave(m, now, (known + 1, level), up, low)
                m.level = level
                move(m, item, level)
                return WENT
            level -= 1
            # Below the windows that were there before: their ends may be known for other reasons,
            # so both walks are read from their lists again.
            if level < known:
                _leave(m, now, (0, 0), up, low)
                m.level = known = level
                if level < 0:
                    return WENT
                if not _load(m, item):
                    return NOT_ALONE
        elif length == 1:
            # The next round may fire. Ends of the windows still open are known points of both walks
            # and must be kept, or they would be drawn a second time.
            _leave(m, now, (known + 1, level + 1), up, low)
            m.level = level
            return FOUND
        else:
            level += 1
            at.window(m, level).end = now + length // 2
            _halve(m, item, now, level, up, low)


@bare
def _choose(m: Memory, item: int) -> bool:
    """Set what is compared, if only one guard of the item may fail and its dim is drawn alone."""
    # Dims that depend on each other are revealed together, and a rung holds one dim.
    if m.columns > 1 or m.now == 0 or not families.has_blocker(m, item):
        return False
    m.guard = _only_guard(m, item)
    if m.guard < 0:
        return False
    i, j, d, arm, _ = families.guard(m, item, m.guard, at.window(m, SPARE))
    m.upper = m.lower = m.champion = -1
    if at.envelope(m, i, d).open:
        # Who seems to attain the efficiency; `_load` certifies that the other rivals do not matter.
        m.champion = envelopes.front(m, i, d, arm)
        if m.champion < 0:
            return False
        m.upper = at.unit_of(m, i, m.champion, d)
    if arm != NOBODY:
        m.lower = at.unit_of(m, j, arm, d)
    elif at.envelope(m, j, d).open:
        m.lower = at.unit_of(m, j, envelopes.front(m, j, d, NOBODY), d)
    m.value_up, m.value_low = at.envelope(m, i, d).value, at.envelope(m, j, d).value
    m.step = at.factors(m, d)[0]
    m.spread = at.dim(m, d).spread * ((m.upper >= 0) + (m.lower >= 0))
    # Two constants would never be told apart by halving.
    return m.spread > 0.0


@bare
def _only_guard(m: Memory, item: int) -> int:
    """Return the only guard of an item that may fail in the outer window; -1 if there are more."""
    window, found = top_window(m), -1
    for k in range(families.guard_count(m, item)):
        i, j, d, arm, threshold = families.guard(m, item, k, window)
        if _may_fail(m, i, j, d, arm, threshold):
            if found >= 0:
                return -1
            found = k
    return found


@bare
def _load(m: Memory, item: int) -> bool:
    """Set the rung of the window on top from the lists; whether no other rival matters there."""
    now, window = m.now, top_window(m)
    i, _, d, arm, theta = families.guard(m, item, m.guard, window)
    m.sum_up, m.sum_low, end = now * m.value_up, now * m.value_low, window.end
    window.up, window.low = end * m.value_up, end * m.value_low
    window.theta, window.served = theta, window.until
    if m.upper >= 0:
        m.sum_up, window.up = ends(m, m.upper, 0, now, end)
    if m.lower >= 0:
        m.sum_low, window.low = ends(m, m.lower, 0, now, end)
    if m.upper < 0 or at.envelope(m, i, d).rivals == 1:
        return True
    first = envelopes.line_above(m.sum_low, theta, now)
    last = envelopes.line_above(window.low, theta, end)
    moves, champion = m.lower >= 0, m.champion
    return envelopes.others_stay_below(m, i, d, champion, arm, first, last, moves) == math.inf


@bare
def _halve(m: Memory, item: int, now: int, level: int, up: float, low: float) -> None:
    """Draw the rung of a level in the middle of the window below it."""
    rung, under, normals = at.window(m, level), at.window(m, level - 1), reserve_noise(m, 2)
    middle, end = rung.end, under.end
    # The middle of a bridge, as `walks` draws it, for both walks at once.
    share = (middle - now) / (end - now)
    deviation = m.step * math.sqrt((middle - now) * (1.0 - share))
    rung.up, rung.low = middle * m.value_up, middle * m.value_low
    if m.upper >= 0:
        rung.up = up + share * (under.up - up) + deviation * normals[0]
        log_value(m, m.upper, 0, middle, rung.up)
    if m.lower >= 0:
        rung.low = low + share * (under.low - low) + deviation * normals[1]
        log_value(m, m.lower, 0, middle, rung.low)
    rung.first = -1
    # Not set: whoever needs the radii of this window computes them.
    rung.beta = 0.0
    rung.theta, rung.served = under.theta, under.served
    # The threshold of a longer window is right for a part of it, but lower than it need be. A new
    # one costs a logarithm and a root, so it is computed only where it counts.
    if _is_coarse((rung.served - middle) * rung.theta, (middle - now) * m.step**2):
        set_radii(m, at.window(m, SPARE), now, middle)
        rung.theta = families.guard(m, item, m.guard, at.window(m, SPARE))[4]
        rung.served = middle


@bare
def _leave(m: Memory, now: int, levels: tuple[int, int], up: float, low: float) -> None:
    """Set `now`, and put both walks' points there and at the ends of some levels into their lists."""
    m.now = now
    if m.upper >= 0:
        settle(m, m.upper, True, levels, up)
    if m.lower >= 0:
        settle(m, m.lower, False, levels, low)


# Radii of windows: numbers below all radii of their rounds, for scale 1.


@bare
def set_radii(m: Memory, window: Window, now: int, end: int) -> None:
    """Write numbers below all radii of rounds now + 1, ..., end: those of TE, AGE and GE."""
    kind, events, delta = m.radius_kind, m.radius_events, m.radius_delta
    radius = Radius(kind, events, delta, m.radius_factor, array(at.boundary(m, 0), 0))
    # A radius that decreases is least at the last round.
    beta = radius_below(radius, end)
    window.beta, window.near, window.stale, window.until = beta, beta, 2.0 * beta, end


@bare
def next_end(m: Memory, rule: Any, state: Any, limit: int) -> int:
    """Return the end of the next outer window, within the limit of pulls; sets its radii."""
    now = m.now
    # Means move little once they rest on many pulls, so the length grows with the round: a run of r
    # rounds has about pace times log(r) outer windows. After one without items it is as long as can
    # be.
    end = now + max(1, now // m.pace if m.used > 0 else now)
    # All arms that are left are pulled once a round.
    if m.width > 0:
        end = min(end, (limit - m.retired) // m.width)
    if end > now:
        set_radii(m, at.window(m, 0), now, end)
    return end


@bare
def top_window(m: Memory) -> Window:
    """Return the window on top, its radii set if they were not."""
    window = at.window(m, m.level)
    if window.beta == 0.0:
        set_radii(m, window, m.now, window.end)
    return window


@bare
def enter_window(m: Memory, rule: Any, state: Any) -> None:
    """Prepare the window on top, the first half of the one below.

    It uses the radii of that one, unless they are too low for it.
    """
    window, below = at.window(m, m.level), at.window(m, m.level - 1)
    window.beta, window.near = below.beta, below.near
    window.stale, window.until = below.stale, below.until
    if _is_coarse((below.until - window.end) * 2.0 * below.beta, window.end - m.now):
        window.beta = 0.0


@bare
def _is_coarse(lag: float, variance: float) -> bool:
    """Return whether a threshold that is low by about lag / 2, as a sum, is too low for a window.

    The walks move by the root of the variance in it.
    """
    return lag * lag > _COARSE * variance

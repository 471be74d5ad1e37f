"""Guards: pairwise comparisons that keep a test from firing, over windows and round by round.

A *guard* says that R_i^d is less than a threshold above R_j^d, or above the mean of an arm. While
all guards of an item hold, it cannot fire; a family says what they are, with thresholds from its
own margins. Over a window they are certified by envelopes, then by the bridges of two walks.
"""

from __future__ import annotations

from typing import Any

from bestgroup.compile.records import array, bare
from bestgroup.drivers.jump import envelopes, families
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import ROUNDING
from bestgroup.drivers.jump.families import NOBODY
from bestgroup.drivers.jump.memory import Memory, Window
from bestgroup.drivers.jump.walks import ends
from bestgroup.drivers.jump.windows import NEVER
from bestgroup.inference.radii import Radius, radius_below

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

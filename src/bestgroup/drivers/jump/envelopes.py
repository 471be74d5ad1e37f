"""Envelopes of efficiencies over windows, and their values at the rounds of a sprint.

R_i^d is the largest mean over A_{i,d}. Over the outer window it lies in an *envelope* [low, high],
from bands round the chords of known points. Only *rivals* can attain it there: the active arms whose
mean can reach the largest lower bound of any, which is the *lead*'s. A resolved efficiency has a
value instead, and its envelope is that value.

Means are read at counts, and a clock says at which round an arm has which count. Rows of the clock
are the ends of the windows, PRESENT and the rounds of a sprint. The last part of the module is for
arms that are all pulled once a round: comparisons of two efficiencies over a window, which follow
the sums of two walks along their bridge.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.compile.records import Numbers, bare
from bestgroup.drivers.jump import families
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import ROUNDING, add_risk
from bestgroup.drivers.jump.memory import NOBODY, OWN, PRESENT, SPRINT, STALE, Memory
from bestgroup.drivers.jump.walks import advance, bounds, ends, reveal, reveal_stretch
from bestgroup.drivers.jump.windows import add_item

# Clocks and counts.


@bare
def row_of(m: Memory, when: int) -> int:
    """Return the row of the clock at a round of the sprint, or now."""
    return PRESENT + when - m.now


@bare
def count_at(m: Memory, i: int, j: int, row: int) -> int:
    """Return how often an arm that is pulled has been at a clock: once a round."""
    return m.now + row - PRESENT if row >= PRESENT else at.window(m, row).end


@bare
def pulls_at(m: Memory, i: int, j: int, row: int) -> int:
    """Return how often an arm has been pulled at a clock, with the sets of now."""
    if at.group(m, i).active:
        for d in range(m.D):
            if at.envelope(m, i, d).open and at.member(m, i, j, d).active:
                return count_at(m, i, j, row)
    return at.pulls(m, i)[j]


@bare
def note_counts(m: Memory, i: int, when: int) -> None:
    """Count the pulls of the arms of a group up to a round after which its sets change."""
    for j in range(m.K):
        at.pulls(m, i)[j] = pulls_at(m, i, j, row_of(m, when))


@bare
def means_of(m: Memory, i: int, j: int, d: int) -> Numbers:
    """Return the means of an arm now and at the rounds of the sprint; valid until asked again."""
    u = at.unit_of(m, i, j, d)
    reveal_stretch(m, u, m.now, m.stop)
    return at.means(m, u, at.column_of(m, d))


# Envelopes over the outer window.


@bare
def screen_envelope(m: Memory, i: int, d: int, now: int, arms: bool) -> None:
    """Set an envelope from `now` to the end of the outer window, and items for its arms, if wanted.

    Its lower end is that of the lead, which is eliminated only if some arm comes to be far above it.
    While bounds are narrower than that far, the lower bound of that arm would be larger; so it is
    seldom that the window must be screened again for it (`drop_rival`).
    """
    env, band, column = at.envelope(m, i, d), at.dim(m, d).band, at.column_of(m, d)
    low, high, lead = -np.inf, -np.inf, 0
    for j in range(m.K):
        member = at.member(m, i, j, d)
        if member.active:
            u, last = at.unit_of(m, i, j, d), count_at(m, i, j, 0)
            # The one point that every arm pays for in every outer window. The bounds hold for all
            # counts up to there, so they outlive whatever is eliminated in it.
            reveal(m, u, last)
            advance(m, u, count_at(m, i, j, PRESENT))
            first = max(1, count_at(m, i, j, row_of(m, now)))
            least, most = bounds(m, u, column, band, first, last)
            member.low, member.high = least, most
            high = max(high, most)
            if least > low:
                low, lead = least, j
    env.low, env.high, env.lead = low, high, lead
    list_rivals(m, i, d, low)
    for j in range(m.K if arms else 0):
        member = at.member(m, i, j, d)
        # The most that the margin can be: the largest efficiency against the least mean, with the
        # least radius of the window.
        if member.active and families.margin(m, STALE, d, high, member.low, 0) >= 0.0:
            add_item(m, STALE, i, j, d, OWN, 0)


@bare
def list_rivals(m: Memory, i: int, d: int, low: float) -> None:
    """List the active arms whose mean may reach a level."""
    # In place of a mask: most efficiencies have one or two, however many arms the group has.
    rivals = 0
    for j in range(m.K):
        member = at.member(m, i, j, d)
        if member.active and member.high >= low:
            at.member(m, i, rivals, d).rival = j
            rivals += 1
    at.envelope(m, i, d).rivals = rivals


@bare
def drop_rival(m: Memory, i: int, j: int, d: int) -> bool:
    """Take an eliminated arm out of the rivals; whether what reads R_i^d must be looked at again."""
    env, kept = at.envelope(m, i, d), 0
    for k in range(env.rivals):
        rival = at.member(m, i, k, d).rival
        if rival != j:
            at.member(m, i, kept, d).rival = rival
            kept += 1
    # Whoever was no rival never had a part in R_i^d, so no test that reads it changes.
    if kept == env.rivals:
        return False
    env.rivals = kept
    if env.lead == j:
        # The lower end of the envelope was that arm's, and nobody is sure to take over: the whole
        # window is screened again, which looks at everything. Up to then any rival will do.
        env.lead, m.again = at.member(m, i, 0, d).rival, 1
        return False
    return True


# Efficiencies at the rounds of a sprint.


@bare
def fill_row(m: Memory, i: int, d: int) -> Numbers:
    """Return an efficiency at all rounds of the sprint, made known.

    A rival that stays below all values of the lead needs no point.
    """
    env, row, n = at.envelope(m, i, d), at.row(m, i, d), m.stop - m.now
    if env.row == m.stretch:
        return row
    # Set before the values are, as every way out of here has set them.
    env.row = m.stretch
    if not env.open:
        for k in range(1, n + 1):
            row[k] = env.value
        return row
    # The lead comes first: its values are a floor that most rivals can be shown to stay below
    # without a draw.
    means, least = means_of(m, i, env.lead, d), math.inf
    for k in range(1, n + 1):
        row[k] = means[k]
        least = min(least, means[k])
    for r in range(env.rivals):
        rival = at.member(m, i, r, d).rival
        if rival == env.lead:
            continue
        # What is known already costs nothing to take in; only others are worth a certificate.
        known = at.unit(m, at.unit_of(m, i, rival, d)).stamp == m.stretch
        if not known and keeps_below(m, i, rival, d, least):
            continue
        means = means_of(m, i, rival, d)
        for k in range(1, n + 1):
            row[k] = max(row[k], means[k])
    return row


@bare
def note_efficiency(m: Memory, i: int, d: int, when: int) -> float:
    """Return an efficiency at a round of the sprint, and note it."""
    value = fill_row(m, i, d)[when - m.now]
    at.envelope(m, i, d).value = value
    return value


@bare
def keeps_below(m: Memory, i: int, j: int, d: int, level: float) -> bool:
    """Return whether the mean of an arm surely stays below a level over the window on top.

    Points are made known at ends of windows, the farthest first, as long as that may help.
    """
    u, column, band = at.unit_of(m, i, j, d), at.column_of(m, d), at.dim(m, d).band
    now, last = count_at(m, i, j, PRESENT), count_at(m, i, j, m.level)
    advance(m, u, now)
    if bounds(m, u, column, band, max(1, now), last)[1] < level:
        return True
    head = at.point(m, u)
    # The farthest end first: a later point bounds more rounds, and is needed by the windows to come
    # anyway.
    for row in range(m.level):
        when = count_at(m, i, j, row)
        if when > now and (head.next == 0 or when < at.point(m, head.next).time):
            reveal(m, u, when)
            if bounds(m, u, column, band, max(1, now), last)[1] < level:
                return True
    return False


# Comparisons of two efficiencies in lockstep.


@bare
def front(m: Memory, i: int, d: int) -> int:
    """Return the rival with the largest mean at its first known point: likely the best arm."""
    env = at.envelope(m, i, d)
    # The usual case, without a look at points.
    if env.rivals == 1:
        return at.member(m, i, 0, d).rival
    best, most = NOBODY, -math.inf
    for k in range(env.rivals):
        rival = at.member(m, i, k, d).rival
        point = at.point(m, at.unit_of(m, i, rival, d))
        mean = at.sums(point)[at.column_of(m, d)] / max(point.time, 1.0)
        if mean > most:
            best, most = rival, mean
    return best


@bare
def _line_above(base: float, threshold: float, when: int) -> float:
    """Return, as a sum at a round, a mean `threshold` above that of the sum `base`, or less."""
    # Everything is a comparison of sums: theta above a mean at round r is r theta above a sum, a
    # straight line, which the reflection principle is about.
    return base + when * threshold - ROUNDING * (abs(base) + when * abs(threshold))


@bare
def stays_below(m: Memory, i: int, j: int, d: int, arm: int, threshold: float) -> float:
    """Return infinity if R_i^d surely stays less than `threshold` above R_j^d, or an arm of j.

    That is, for all rounds of the window on top. A rival that its known points keep low enough needs
    no further point. If it is not sure, a length of window that may be short enough.
    """
    env, other = at.envelope(m, i, d), at.envelope(m, j, d)
    now, end = m.now, at.window(m, m.level).end
    column, spread = at.column_of(m, d), at.dim(m, d).spread
    moves = arm != NOBODY or other.open != 0
    if moves:
        # Any arm bounds the efficiency from below. The one that seems to be the best bounds it
        # best; a wrong guess costs halvings, never a wrong certificate.
        lower = arm if arm != NOBODY else front(m, j, d)
        first, last = ends(m, at.unit_of(m, j, lower, d), column, now, end)
    else:
        first, last = now * other.value, end * other.value
    first, last = _line_above(first, threshold, now), _line_above(last, threshold, end)
    if not env.open:
        size = spread if moves else 0.0
        return _reach_of(m, first - now * env.value, last - end * env.value, size, end - now)
    # The variance of a difference of two independent walks.
    spread = 2.0 * spread if moves else spread
    if env.lead != arm:
        one, two = ends(m, at.unit_of(m, i, env.lead, d), column, now, end)
        # The lead is the most likely to come near: if it cannot be cleared, the others need not be
        # looked at.
        reach = _reach_of(m, first - one, last - two, spread, end - now)
        if reach < math.inf:
            return reach
    # A level that the line surely stays above: rivals that stay below it need no comparison with
    # the other walk, and mostly no draw.
    level = last / end
    if env.rivals > 1 and end - now > 1:
        level = min(level, first / now)
        if moves:
            level -= at.dim(m, d).band * math.sqrt(end - now) / (now + 1)
            # That the line stays above the level is a band of its own, and is counted.
            m.passed += 1
    for k in range(env.rivals):
        rival = at.member(m, i, k, d).rival
        if rival != env.lead and rival != arm:
            high = at.member(m, i, rival, d).high
            if high >= level and not keeps_below(m, i, rival, d, level):
                one, two = ends(m, at.unit_of(m, i, rival, d), column, now, end)
                reach = _reach_of(m, first - one, last - two, spread, end - now)
                if reach < math.inf:
                    return reach
    return math.inf


@bare
def _reach_of(m: Memory, before: float, after: float, spread: float, length: int) -> float:
    """Return infinity if a bridge surely stays above 0 between two values, else a length that may fit.

    `spread` is the square of its band over one step; of a window of one round only the last value
    matters.
    """
    # exp(-2 y0 y1 / (s^2 n)) at most what is allowed, with the logarithm taken beforehand: no exp
    # in the loop.
    if after > 0.0 and (length == 1 or (before > 0.0 and before * after > spread * length)):
        if length > 1 and spread > 0.0:
            # A constant does not move between its ends: nothing is risked if spread is 0.
            add_risk(m, before * after / (spread * length))
        return math.inf
    if before <= 0.0:
        # Across the line at `now` already: nothing longer than half is worth a try.
        return length / 2.0
    # A bridge of this length would fit if its end were as far from the line as its beginning: a
    # guess that saves trying every half.
    return max(min(before * before / spread if spread > 0.0 else length, length / 2.0), SPRINT)

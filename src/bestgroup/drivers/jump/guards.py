"""Guards: pairwise comparisons that keep a test from firing, over windows and round by round.

A *guard* says that R_i^d is less than a threshold above R_j^d, or above the mean of an arm. While
all guards of an item hold, it cannot fire. The threshold is the margin of the algorithm's test at
equal efficiencies, negated, so nothing but the margin is asked of a family. By kinds:

* REJECT of i by j, in one dim that blocks: R_j^d is less than that above R_i^d;
* RESOLVE of dim d of i, blocked by j: neither of R_i^d and R_j^d is that far above the other;
* STALE arm j of i in dim d: R_i^d is less than that above the arm's mean;
* ACCEPT of i, blocked by j on its OWN side (i does not stand against j): in every dim R_i^d is less
  than that above R_j^d; on the OTHER side the same with i and j exchanged;
* a sign of a pair in a dim: the group on its side is less than that above the other one.

Over a window guards are certified by envelopes, then by the bridges of two walks.

Weak point: two tests that may fire within few rounds of each other share their windows, which are
halved for both.
"""

from __future__ import annotations

from typing import Any

from bestgroup.compile.records import bare
from bestgroup.drivers.jump import envelopes, families
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import ROUNDING
from bestgroup.drivers.jump.memory import Memory
from bestgroup.drivers.jump.windows import NEVER, schedule

_COARSE = 0.25  # a threshold may lag by half of what the walks move in a window


@bare
def pair_of(kind: int, i: int, j: int, side: int, k: int) -> tuple[int, int]:
    """Return who would be above, and below, in the k-th comparison of a test of group i against j."""
    if kind == at.STALE:
        return i, i
    if kind == at.RESOLVE:
        side = k
    return (j, i) if side == at.OTHER else (i, j)


@bare
def guard_count(m: Memory, kind: int) -> int:
    """Return the number of guards of an item of a kind."""
    # Against a blocker a group fails in every dim, so that each dim is a guard.
    if kind == at.ACCEPT:
        return m.D
    return 2 if kind == at.RESOLVE else 1


@bare
def _guard(m: Memory, item: int, k: int, row: int) -> tuple[int, int, int, int, float]:
    """Return (i, j, d, arm, threshold): R_i^d is less than that above R_j^d, or above an arm of j."""
    test = at.item(m, item)
    kind = test.kind
    upper, lower = pair_of(kind, test.group, test.other, test.side, k)
    d = k if kind == at.ACCEPT else test.dim
    arm = test.other if kind == at.STALE else at.NOBODY
    return upper, lower, d, arm, -families.margin(m, kind, d, 0.0, 0.0, row)


@bare
def _may_fail(m: Memory, i: int, j: int, d: int, arm: int, threshold: float) -> bool:
    """Return whether the envelopes leave it open that a guard fails."""
    # Negated, so that a NaN would leave the guard open.
    low = at.envelope(m, j, d).low if arm == at.NOBODY else at.member(m, j, arm, d).low
    return not at.envelope(m, i, d).high - low < threshold


@bare
def may_reject(m: Memory, i: int, j: int, row: int) -> bool:
    """Return whether j rejects i somewhere in the envelopes, with the radii of a window."""
    for d in range(m.D):
        high, low = at.envelope(m, j, d).high, at.envelope(m, i, d).low
        if families.margin(m, at.REJECT, d, high, low, row) < 0.0:
            return False
    return True


@bare
def has_blocker(m: Memory, item: int) -> bool:
    """Return whether the group that keeps an item from firing, if it is about one, is in G."""
    test = at.item(m, item)
    # Other tests compare with one fixed group or arm, which `is_dead` looks at; these are tests
    # against all of G, and any member that fails them will do.
    if test.kind not in (at.RESOLVE, at.ACCEPT):
        return True
    return test.other != at.NOBODY and at.group(m, test.other).active != 0


@bare
def clears(m: Memory, item: int) -> bool:
    """Return whether an item surely cannot fire in the window on top.

    The envelopes of the outer window are tried first, which costs no draw. A window much longer
    than what the last attempt made likely is not tried.
    """
    test, length = at.item(m, item), at.window(m, m.level).end - m.now
    # What the last failure made likely; a wrong guess only costs a halving.
    if length > 2 * test.reach:
        return False
    # The blocker that was kept has left G: the next best by the envelopes, without a draw.
    if not has_blocker(m, item) and not families.find_blocker(m, item):
        return False
    # A rejection needs all dims at once, but has its guard in one dim only: the envelopes of the
    # others are free to look at.
    if test.kind == at.REJECT and not may_reject(m, test.group, test.other, m.level):
        return True
    for k in range(guard_count(m, test.kind)):
        i, j, d, arm, threshold = _guard(m, item, k, m.level)
        if not _may_fail(m, i, j, d, arm, threshold):
            continue
        reach = envelopes.stays_below(m, i, j, d, arm, threshold)
        # One guard that cannot be certified is enough to keep the item live.
        if reach < NEVER:
            test.reach = int(reach)
            return False
    # Cleared with ease, perhaps: the next window tried may be longer.
    test.reach = 4 * length
    return True


@bare
def candidate(m: Memory, item: int, start: int) -> int:
    """Return the first round from `start` on, in the sprint, at which an item may fire, or NEVER.

    Without a blocker every round is a candidate.
    """
    if start > m.stop:
        return NEVER
    # Its test has nobody to fail against, so the margins must judge every round.
    if not has_blocker(m, item):
        return start
    # While all guards hold the item cannot fire, so the first failure of any of them is the first
    # candidate; if the margins say no there, the next one is looked for.
    found = m.stop + 1
    for k in range(guard_count(m, at.item(m, item).kind)):
        i, j, d, arm, threshold = _guard(m, item, k, m.level)
        if not _may_fail(m, i, j, d, arm, threshold):
            continue
        upper = envelopes.fill_row(m, i, d)
        lower = (
            envelopes.fill_row(m, j, d) if arm == at.NOBODY else envelopes.means_of(m, j, arm, d)
        )
        # Rows and thresholds are rounded in another order than the margins, so candidates may be
        # too early, never too late.
        level = threshold - ROUNDING * (abs(threshold) + abs(upper[1]) + abs(lower[1]))
        for r in range(start, found):
            if upper[r - m.now] - lower[r - m.now] >= level:
                found = r
                break
    return found if found <= m.stop else NEVER


@bare
def margin_at(m: Memory, item: int, when: int) -> float:
    """Return the margin of an item with one guard at a round, by the radii in SPARE."""
    i, j, d, arm, _ = _guard(m, item, 0, at.SPARE)
    high = envelopes.note_efficiency(m, i, d, when)
    if arm == at.NOBODY:
        low = envelopes.note_efficiency(m, j, d, when)
    else:
        low = envelopes.means_of(m, j, arm, d)[when - m.now]
    return families.margin(m, at.item(m, item).kind, d, high, low, at.SPARE)


@bare
def reconsider(m: Memory, state: Any, i: int, d: int, start: int) -> None:
    """Look again, from a round on, at the items that read R_i^d, or any of i if d is NOBODY."""
    group = at.group(m, i)
    for chain in range(3):
        item = (group.own_items, group.other_items, m.blocked)[chain]
        while item >= 0:
            test = at.item(m, item)
            reads = d == at.NOBODY or test.dim == d or test.kind in (at.REJECT, at.ACCEPT)
            waits = test.list == at.LIVE and test.when < start
            if reads and (chain < 2 or test.other == i) and test.list != at.UNUSED and not waits:
                if not families.is_dead(m, state, item):
                    schedule(m, item, candidate(m, item, start))
            item = test.next_own if chain == 0 else test.next_other


@bare
def eliminate_arm(m: Memory, state: Any, i: int, j: int, d: int, when: int) -> None:
    """Take an arm out of A_{i,d}; if it was a rival, what reads R_i^d is looked at again."""
    envelopes.note_counts(m, i, when)
    at.member(m, i, j, d).active = 0
    if envelopes.drop_rival(m, i, j, d):
        at.envelope(m, i, d).row = -1
        reconsider(m, state, i, d, when + 1)


@bare
def remove_group(m: Memory, state: Any, i: int, when: int, look: int) -> None:
    """Take a group out of G; what it blocked is looked at again from round `look` on."""
    envelopes.note_counts(m, i, when)
    at.group(m, i).active = 0
    reconsider(m, state, i, at.NOBODY, look)


@bare
def enter_window(m: Memory, rule: Any, state: Any) -> None:
    """Set the radii of the window on top, or take those of the one below unless they are too low."""
    window = at.window(m, m.level)
    if m.level > 0:
        below = at.window(m, m.level - 1)
        window.until = below.until
        for k in range(3):
            at.radii(m, m.level)[k] = at.radii(m, m.level - 1)[k]
        # A threshold that is low by about lag / 2, as a sum, is too low if the walks move by less
        # than that in the window.
        lag = (below.until - window.end) * 2.0 * at.radii(m, m.level)[0]
        if lag * lag <= _COARSE * (window.end - m.now):
            return
    families.set_radii(m, rule, m.level, m.now, window.end)

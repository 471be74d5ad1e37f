"""What TE can do in an outer window: envelopes, tests that may fire, and who keeps the others from it.

A test whose largest margin over the envelopes is negative cannot fire in the window, whatever is
resolved or eliminated in it: a resolved efficiency keeps a value of its envelope, and the lower end
of an envelope outlives arms that are eliminated (see `screen_envelope`). Only the others become
items. Resolution and acceptance are tests against all of G, so one *blocker* is enough to exclude
them; it is kept from window to window, as a SAT solver keeps watched literals.

P_2 is the set of groups i with M_epsilon(i, j) >= 2 beta and M_epsilon(j, i) >= 2 beta for all j in
G: for j in P_1 the second holds by definition, and a j outside P_1 is what line 15 asks it of. So
one j blocks the acceptance of i, on one of two sides: OWN if i does not stand against j, OTHER if j
does not stand against i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestgroup.compile.records import bare
from bestgroup.drivers.jump import families
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.envelopes import screen_envelope
from bestgroup.drivers.jump.guards import guard_count, may_reject, pair_of
from bestgroup.drivers.jump.memory import ACCEPT, NOBODY, OTHER, OWN, REJECT, RESOLVE, Memory
from bestgroup.drivers.jump.windows import add_item, clear_items

ITEM = -2  # a blocker that an item keeps
_FEW = 16  # so many groups are compared each with each
_MOST_COVERS = 32
# Where an efficiency is: at the end of its envelope with which a test passes most easily, or least so,
# in the middle, or as last noted.
MOST, LEAST, MIDDLE, NOTED = range(4)
PLAIN, COVERS, COVERED = 0, 1, 2  # a group among the possible rejectors


@bare
def screen(m: Memory, rule: Any, state: Any, now: int) -> None:
    """Set envelopes from `now` to the end of the outer window, and make items of what may fire."""
    clear_items(m)
    for i in range(m.N):
        if at.group(m, i).active:
            for d in range(m.D):
                env = at.envelope(m, i, d)
                if env.open:
                    screen_envelope(m, i, d, now, rule.options.arms)
                else:
                    # Resolved: a value, which no window can move.
                    env.low = env.high = env.value
    # After all envelopes are set, as each test reads those of other groups.
    _screen_rejections(m)
    for i in range(m.N):
        if at.group(m, i).active:
            for d in range(m.D if rule.options.dimensions else 0):
                if at.envelope(m, i, d).open:
                    find_block(m, i, d, 0)
            find_block(m, i, m.D, 0)


@bare
def _value(m: Memory, i: int, d: int, place: int, above: bool) -> float:
    """Return an efficiency at a place; tests pass most easily if it is high when `above`, else low."""
    env = at.envelope(m, i, d)
    if place == NOTED:
        return env.value
    if place == MIDDLE:
        return (env.low + env.high) / 2.0
    return env.high if (place == MOST) == above else env.low


# Rejection.


@bare
def _screen_rejections(m: Memory) -> None:
    """Make items of the pairs (i, j) of which j may reject i.

    Nobody rejects i if the best of all groups in each dim together would not: of many groups that
    excludes most without a look at pairs.
    """
    for d in range(m.D):
        dim = at.dim(m, d)
        dim.top = -np.inf
        for i in range(m.N):
            if at.group(m, i).active:
                dim.top = max(dim.top, at.envelope(m, i, d).high)
    rejectors = 0
    for i in range(m.N):
        possible = at.group(m, i).active != 0
        for d in range(m.D):
            low, top = at.envelope(m, i, d).low, at.dim(m, d).top
            possible = possible and families.margin(m, REJECT, d, top, low, 0) >= 0.0
        if possible:
            # Covers cost up to 32 passes over the groups, so they wait until somebody may be
            # rejected at all.
            if rejectors == 0:
                rejectors = _list_rejectors(m)
            for k in range(rejectors):
                j = at.group(m, k).rejector
                if j != i and may_reject(m, i, j, 0):
                    add_item(m, REJECT, i, j, _blocking_dim(m, i, j), OTHER, 0)


@bare
def _blocking_dim(m: Memory, i: int, j: int) -> int:
    """Return the dim that seems to block longest that j rejects i."""
    best, least = 0, np.inf
    for d in range(m.D):
        upper, lower = _value(m, j, d, MIDDLE, True), _value(m, i, d, MIDDLE, False)
        # In units of the noise: a guess at which dim holds out longest. Any dim would be right.
        margin = families.margin(m, REJECT, d, upper, lower, 0) / at.dim(m, d).scale
        if margin < least:
            best, least = d, margin
    return best


@bare
def _list_rejectors(m: Memory) -> int:
    """List the groups that may have to reject others, and return how many they are.

    Groups that others, the covers, surely lie above in all dims need not be looked at. Whom a
    covered group rejects, its cover rejects at the same round. If a cover leaves G, the window is
    screened again.
    """
    for j in range(m.N):
        at.group(m, j).cover = PLAIN
    for _ in range(_MOST_COVERS if m.N > _FEW else 0):
        # The largest sum of lower ends first: it has the best chance to lie above many others.
        best, most = NOBODY, -np.inf
        for j in range(m.N):
            if at.group(m, j).active and at.group(m, j).cover == PLAIN:
                total = 0.0
                for d in range(m.D):
                    total += at.envelope(m, j, d).low / at.dim(m, d).scale
                if total > most:
                    best, most = j, total
        if best == NOBODY:
            break
        at.group(m, best).cover = COVERS
        for j in range(m.N):
            below = at.group(m, j).cover == PLAIN
            for d in range(m.D):
                below = below and at.envelope(m, j, d).high < at.envelope(m, best, d).low
            if below:
                at.group(m, j).cover = COVERED
    count = 0
    for j in range(m.N):
        if at.group(m, j).active and at.group(m, j).cover != COVERED:
            at.group(m, count).rejector = j
            count += 1
    return count


# Resolution and acceptance. A test is the resolution of dim d, or the acceptance if d is D.


@bare
def margin_against(
    m: Memory, i: int, j: int, d: int, side: int, own: int, other: int, row: int
) -> float:
    """Return the margin of a test of i against j, on a side, with their efficiencies at these places.

    In units of the noise. It is passed by one comparison: what comes after that is left out.
    """
    kind, most = ACCEPT if d == m.D else RESOLVE, -np.inf
    for k in range(guard_count(m, kind)):
        upper, lower = pair_of(kind, i, j, side, k)
        e = k if kind == ACCEPT else d
        high = _value(m, upper, e, own if upper == i else other, True)
        low = _value(m, lower, e, own if lower == i else other, False)
        most = max(most, families.margin(m, kind, e, high, low, row) / at.dim(m, e).scale)
        if most >= 0.0:
            break
    return most


@bare
def find_block(m: Memory, i: int, d: int, when: int) -> None:
    """Find a group that blocks a test of i over the outer window, or make an item of it."""
    watch = at.watch(m, i, d)
    j = watch.blocker
    # The watched blocker still blocks, on the side where it blocked: one comparison instead of N.
    if j >= 0 and at.group(m, j).active:
        if margin_against(m, i, j, d, watch.side, MOST, MOST, 0) < 0.0:
            return
    watch.blocker, watch.side, blocks = _blocker_of(m, i, d, 0)
    if not blocks:
        kind, dim = (ACCEPT, 0) if d == m.D else (RESOLVE, d)
        add_item(m, kind, i, watch.blocker, dim, watch.side, when)
        watch.blocker = ITEM


@bare
def _blocker_of(m: Memory, i: int, d: int, row: int) -> tuple[int, int, bool]:
    """Return a group that blocks a test of i in a window, the side, and whether it surely does.

    Surely: over all of the envelopes. If none does, the one that seems to block longest.
    """
    best, side, least = NOBODY, OWN, np.inf
    for j in range(m.N):
        if at.group(m, j).active and j != i:
            for turned in range(2 if d == m.D else 1):
                # The side that is farthest from passing blocks longest.
                ahead = margin_against(m, i, j, d, turned, MIDDLE, MIDDLE, row)
                if ahead < least:
                    best, side, least = j, turned, ahead
                    # Any sure blocker will do; a better one would be looked for in vain.
                    if margin_against(m, i, j, d, turned, MOST, MOST, row) < 0.0:
                        return j, turned, True
    return best, side, False


@bare
def find_blocker(m: Memory, item: int) -> bool:
    """Give an item the next best blocker by the envelopes; whether there is one."""
    test = at.item(m, item)
    d = m.D if test.kind == ACCEPT else test.dim
    test.other, test.side, _ = _blocker_of(m, test.group, d, m.level)
    return test.other != NOBODY

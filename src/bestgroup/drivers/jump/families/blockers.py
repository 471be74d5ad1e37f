"""What TE can do in an outer window: envelopes, tests that may fire, and who keeps the others from it.

A test whose largest margin over the envelopes is negative cannot fire in the window, whatever is
resolved or eliminated in it: a resolved efficiency keeps a value of its envelope, and the lower end
of an envelope outlives arms that are eliminated (see `screen_envelope`). Only the others become
items. Resolution and acceptance are tests against all of G, so one *blocker* is enough to exclude
them; it is kept from window to window, as a SAT solver keeps watched literals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestgroup.algorithms import triple_elimination as te
from bestgroup.compile.records import bare
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.envelopes import screen_envelope
from bestgroup.drivers.jump.families import ACCEPT, NOBODY, REJECT, RESOLVE
from bestgroup.drivers.jump.memory import Memory
from bestgroup.drivers.jump.windows import add_blocked, add_pair, clear_items

ITEM = -2  # a blocker that an item keeps
FEW = 16  # so many groups are compared each with each
_MOST_COVERS = 32
LOW, HIGH, NOTED = range(3)  # where an efficiency is: in its envelope, or as last noted
PLAIN, COVERS, COVERED = 0, 1, 2  # a group among the possible rejectors


@bare
def screen(m: Memory, rule: Any, state: Any, now: int, end: int) -> None:
    """Set envelopes over (now, end], the outer window, and make items of what may fire there."""
    beta = at.window(m, 0).beta
    clear_items(m)
    for i in range(m.N):
        if at.group(m, i).active:
            for d in range(m.D):
                env = at.envelope(m, i, d)
                if env.open:
                    threshold = 2.0 * beta * at.dim(m, d).scale
                    screen_envelope(m, i, d, now, end, threshold, rule.options.arms)
                else:
                    # Resolved: a value, which no window can move.
                    env.low = env.high = at.envelope(m, i, d).value
    # After all envelopes are set, as each test reads those of other groups.
    _screen_rejections(m, beta)
    for i in range(m.N):
        if at.group(m, i).active:
            for d in range(m.D if rule.options.dimensions else 0):
                if at.envelope(m, i, d).open:
                    find_block(m, i, d, beta, 0)
            find_block(m, i, m.D, beta, 0)


@bare
def has_wide_envelope(m: Memory, beta: float) -> bool:
    """Return whether some envelope of an active group is wider than 2 beta."""
    for i in range(m.N):
        if at.group(m, i).active:
            for d in range(m.D):
                env = at.envelope(m, i, d)
                if env.high - env.low > 2.0 * beta * at.dim(m, d).scale:
                    return True
    return False


@bare
def _middle(m: Memory, i: int, d: int) -> float:
    env = at.envelope(m, i, d)
    return (env.low + env.high) / 2.0


# Rejection.


@bare
def may_reject(m: Memory, i: int, j: int, beta: float) -> bool:
    """Return whether j rejects i somewhere in the envelopes."""
    for d in range(m.D):
        low, high = at.envelope(m, i, d).low, at.envelope(m, j, d).high
        # The largest margin over the envelopes, with a number below all radii of the window.
        if te.reject_margin_in(low, high, beta, at.dim(m, d).scale) < 0.0:
            return False
    return True


@bare
def _blocking_dim(m: Memory, i: int, j: int, beta: float) -> int:
    """Return the dim that seems to block longest that j rejects i."""
    best, least = 0, np.inf
    for d in range(m.D):
        scale = at.dim(m, d).scale
        # By middles, in units of the noise: a guess at which dim holds out longest. Any dim would
        # be right.
        margin = te.reject_margin_in(_middle(m, i, d), _middle(m, j, d), beta, scale) / scale
        if margin < least:
            best, least = d, margin
    return best


@bare
def _screen_rejections(m: Memory, beta: float) -> None:
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
            low, dim = at.envelope(m, i, d).low, at.dim(m, d)
            possible = possible and te.reject_margin_in(low, dim.top, beta, dim.scale) >= 0.0
        if possible:
            # Covers cost up to 32 passes over the groups, so they wait until somebody may be
            # rejected at all.
            if rejectors == 0:
                _cover_groups(m)
                rejectors = _list_rejectors(m)
            for k in range(rejectors):
                j = at.group(m, k).rejector
                if j != i and may_reject(m, i, j, beta):
                    add_pair(m, REJECT, i, j, _blocking_dim(m, i, j, beta))


@bare
def _list_rejectors(m: Memory) -> int:
    """List the groups that may have to reject others, and return how many they are."""
    count = 0
    for j in range(m.N):
        if at.group(m, j).active and at.group(m, j).cover != COVERED:
            at.group(m, count).rejector = j
            count += 1
    return count


@bare
def _cover_groups(m: Memory) -> None:
    """Mark groups that need not be looked at as rejectors: others surely lie above them in all dims.

    Whom a covered group rejects, its cover rejects at the same round; should the cover be rejected
    itself, its rejector takes over, if no envelope is wider than 2 beta. If one is, or if the cover
    is accepted, the window is screened again.
    """
    for j in range(m.N):
        at.group(m, j).cover = PLAIN
    for _ in range(_MOST_COVERS if m.N > FEW else 0):
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
            if at.group(m, j).active and at.group(m, j).cover == PLAIN:
                below = True
                for d in range(m.D):
                    below = below and at.envelope(m, j, d).high < at.envelope(m, best, d).low
                if below:
                    at.group(m, j).cover = COVERED


# Resolution and acceptance.


@bare
def find_block(m: Memory, i: int, d: int, beta: float, when: int) -> None:
    """Find a group that blocks a test of i over the outer window, or make an item of it.

    The test is the resolution of dim d, or the acceptance if d is D. P_2 is the set of groups i with
    M_epsilon(i, j) >= 2 beta and M_epsilon(j, i) >= 2 beta for all j in G: for j in P_1 the second
    holds by definition, and a j outside P_1 is what line 15 asks it of. So one j blocks i, on one of
    two sides: 0 if i does not stand against j, 1 if j does not stand against i.
    """
    watch = at.watch(m, i, d)
    j = watch.blocker
    # The watched blocker still blocks, on the side where it blocked: one comparison instead of N.
    if j >= 0 and at.group(m, j).active and not _may_pass(m, i, j, d, watch.side, beta):
        return
    watch.blocker, watch.side, blocks = blocker_of(m, i, d, beta)
    if not blocks:
        kind, about = (ACCEPT, watch.side) if d == m.D else (RESOLVE, d)
        add_blocked(m, kind, i, watch.blocker, about, when)
        watch.blocker = ITEM


@bare
def blocker_of(m: Memory, i: int, d: int, beta: float) -> tuple[int, int, bool]:
    """Return a group that blocks a test of i, the side, and whether it surely does.

    Surely: over the whole outer window. If none does, the one that seems to block longest.
    """
    best, side, least = NOBODY, 0, np.inf
    for j in range(m.N):
        if at.group(m, j).active and j != i:
            for turned in range(2 if d == m.D else 1):
                if d < m.D:
                    ahead = abs(_middle(m, i, d) - _middle(m, j, d))
                else:
                    # The side that is farthest from standing blocks longest.
                    one, two = (i, j) if turned == 0 else (j, i)
                    ahead = _lead(m, one, two, beta)
                if ahead < least:
                    best, side, least = j, turned, ahead
                    # Any sure blocker will do; a better one would be looked for in vain.
                    if not _may_pass(m, i, j, d, turned, beta):
                        return j, turned, True
    return best, side, False


@bare
def _may_pass(m: Memory, i: int, j: int, d: int, side: int, beta: float) -> bool:
    """Return whether i passes its test against j somewhere in the envelopes."""
    if d == m.D:
        one, two = (i, j) if side == 0 else (j, i)
        return stands(m, one, HIGH, two, LOW, beta)
    own, other, dim = at.envelope(m, i, d), at.envelope(m, j, d), at.dim(m, d)
    wanted = te.apart_wanted(beta, dim.scale, dim.epsilon)
    return te.apart_margin(own.low, own.high, other.low, other.high, wanted) >= 0.0


@bare
def _lead(m: Memory, i: int, j: int, beta: float) -> float:
    """Return by how much i seems to stand against j in its best dim, in units of the noise."""
    most = -np.inf
    for d in range(m.D):
        dim, own, other = at.dim(m, d), _middle(m, i, d), _middle(m, j, d)
        margin = te.excess_margin_in(own, other, beta, dim.scale, dim.epsilon)
        most = max(most, margin / dim.scale)
    return most


@bare
def stands(m: Memory, i: int, own: int, j: int, other: int, beta: float) -> bool:
    """Return whether i is not beaten by j, with the efficiencies LOW or HIGH in envelopes or NOTED."""
    for d in range(m.D):
        one, two, dim = _value(m, i, d, own), _value(m, j, d, other), at.dim(m, d)
        if te.excess_margin_in(one, two, beta, dim.scale, dim.epsilon) >= 0.0:
            return True
    return False


@bare
def _value(m: Memory, i: int, d: int, where: int) -> float:
    if where == NOTED:
        return at.envelope(m, i, d).value
    return at.envelope(m, i, d).low if where == LOW else at.envelope(m, i, d).high

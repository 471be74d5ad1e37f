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

from bestgroup.algorithms.triple_elimination import (
    apart_margin,
    apart_wanted,
    excess_margin_in,
    reject_margin_in,
)
from bestgroup.compile.records import bare
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.envelopes import screen_envelope
from bestgroup.drivers.jump.families import NOBODY
from bestgroup.drivers.jump.memory import Memory
from bestgroup.drivers.jump.windows import add_blocked, add_pair, clear_items

REJECT, RESOLVE, STALE, ACCEPT = range(4)  # kinds of items, in the order of a round
ITEM = -2  # a blocker that an item keeps
FEW = 16  # so many groups are compared each with each
_MOST_COVERS = 32
PLAIN, COVERS, COVERED = 0, 1, 2  # a group among the possible rejectors


@bare
def screen(m: Memory, rule: Any, state: Any, now: int, end: int) -> None:
    """Set envelopes over (now, end], the outer window, and make items of what may fire there."""
    beta = at.radii(m, 0).beta
    clear_items(m)
    for i in range(m.N):
        if at.group(m, i).active:
            for d in range(m.D):
                env = at.envelope(m, i, d)
                if env.open:
                    threshold = 2.0 * beta * at.dim(m, d).scale
                    stale = STALE if rule.options.arms else -1
                    screen_envelope(m, i, d, now, end, threshold, stale)
                else:
                    # Resolved: a value, which no window can move.
                    env.low = env.high = at.values(m, i)[d]
    # After all envelopes are set, as each test reads those of other groups.
    _screen_rejections(m, beta)
    for i in range(m.N):
        if at.group(m, i).active:
            if rule.options.dimensions:
                for d in range(m.D):
                    if at.envelope(m, i, d).open:
                        block_resolution(m, i, d, beta, 0)
            block_acceptance(m, i, beta, 0)


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
        if reject_margin_in(low, high, beta, at.dim(m, d).scale) < 0.0:
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
        margin = reject_margin_in(_middle(m, i, d), _middle(m, j, d), beta, scale) / scale
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
            possible = possible and reject_margin_in(low, dim.top, beta, dim.scale) >= 0.0
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


# Resolution.


@bare
def block_resolution(m: Memory, i: int, d: int, beta: float, when: int) -> None:
    """Find a group that blocks the resolution of dim d of i over the outer window, or make an item."""
    env = at.envelope(m, i, d)
    j = env.blocker
    # The watched blocker still blocks: one comparison instead of N.
    if j >= 0 and at.group(m, j).active and not _may_part(m, i, j, d, beta):
        return
    j = nearest_group(m, i, d, beta)
    if j != NOBODY and not _may_part(m, i, j, d, beta):
        env.blocker = j
    else:
        env.blocker = ITEM
        add_blocked(m, RESOLVE, i, j, d, when)


@bare
def _may_part(m: Memory, i: int, j: int, d: int, beta: float) -> bool:
    """Return whether i and j are apart enough in dim d somewhere in the envelopes."""
    own, other, dim = at.envelope(m, i, d), at.envelope(m, j, d), at.dim(m, d)
    wanted = apart_wanted(beta, dim.scale, dim.epsilon)
    return apart_margin(own.low, own.high, other.low, other.high, wanted) >= 0.0


@bare
def nearest_group(m: Memory, i: int, d: int, beta: float) -> int:
    """Return a group that blocks a resolution over the outer window, else the nearest."""
    best, least = NOBODY, np.inf
    for j in range(m.N):
        if at.group(m, j).active and j != i:
            distance = abs(_middle(m, i, d) - _middle(m, j, d))
            if distance < least:
                best, least = j, distance
                # Any sure blocker will do; a nearer one would be looked for in vain.
                if not _may_part(m, i, j, d, beta):
                    break
    return best


# Acceptance.


@bare
def block_acceptance(m: Memory, i: int, beta: float, when: int) -> None:
    """Find a group that blocks the acceptance of i over the outer window, or make an item.

    P_2 is the set of groups i with M_epsilon(i, j) >= 2 beta and M_epsilon(j, i) >= 2 beta for all
    j in G: for j in P_1 the second holds by definition, and a j outside P_1 is what line 15 asks it
    of. So one j blocks i, on one of two sides: 0 if i does not stand against j, 1 if j does not
    stand against i.
    """
    group = at.group(m, i)
    j = group.blocker
    # The watched blocker first, on the side where it blocked.
    if j >= 0 and at.group(m, j).active:
        one, two = (i, j) if group.side == 0 else (j, i)
        if not _may_stand(m, one, two, beta):
            return
    j, side, blocked = beaten_by(m, i, beta)
    if blocked:
        group.blocker, group.side = j, side
    else:
        group.blocker = ITEM
        add_blocked(m, ACCEPT, i, j, side, when)


@bare
def _may_stand(m: Memory, i: int, j: int, beta: float) -> bool:
    """Return whether i is not beaten by j somewhere in the envelopes."""
    for d in range(m.D):
        high, low, dim = at.envelope(m, i, d).high, at.envelope(m, j, d).low, at.dim(m, d)
        if excess_margin_in(high, low, beta, dim.scale, dim.epsilon) >= 0.0:
            return True
    return False


@bare
def beaten_by(m: Memory, i: int, beta: float) -> tuple[int, int, bool]:
    """Return a group that blocks the acceptance of i, the side, and whether it surely does.

    Surely: over the whole outer window. If none does, the one that seems to block longest.
    """
    best, side, least = NOBODY, 0, np.inf
    for j in range(m.N):
        if not at.group(m, j).active or j == i:
            continue
        for turned in range(2):
            one, two = (i, j) if turned == 0 else (j, i)
            most = -np.inf
            for d in range(m.D):
                dim, own, other = at.dim(m, d), _middle(m, one, d), _middle(m, two, d)
                margin = excess_margin_in(own, other, beta, dim.scale, dim.epsilon)
                most = max(most, margin / dim.scale)
            # The side that is farthest from standing blocks longest.
            if most < least:
                best, side, least = j, turned, most
                if not _may_stand(m, one, two, beta):
                    return j, turned, True
    return best, side, False

"""TE, AGE and GE by jumps: what may fire in an outer window, judgements at a round, and what follows.

A test whose largest margin over the envelopes is negative cannot fire in the window, whatever is
resolved or eliminated in it: a resolved efficiency keeps a value of its envelope, and if the arm of
the lower end of one is eliminated, the window is screened again. Only the others become items.
Resolution and acceptance are tests against all of G, so one *blocker* is enough to exclude them; it
is kept from window to window, as a SAT solver keeps watched literals.

P_2 is the set of groups i with M_epsilon(i, j) >= 2 beta and M_epsilon(j, i) >= 2 beta for all j in
G: for j in P_1 the second holds by definition, and a j outside P_1 is what line 15 asks it of. So
one j blocks the acceptance of i, on one of two sides: OWN if i does not stand against j, OTHER if j
does not stand against i.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms import triple_elimination as te
from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import bare
from bestgroup.drivers.jump import families, guards
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.envelopes import note_counts, note_efficiency, screen_envelope
from bestgroup.drivers.jump.memory import FEW, Memory
from bestgroup.drivers.jump.windows import add_item, clear_items, move, schedule
from bestgroup.inference.radii import radius_at, radius_below

_MOST_COVERS = 32
# Where an efficiency is: at the end of its envelope with which a test passes most easily, or least so,
# in the middle, or as last noted.
MOST, LEAST, MIDDLE, NOTED = range(4)
PLAIN, COVERS, COVERED = 0, 1, 2  # a group among the possible rejectors


@kernel
def _is_stuck(m: Memory, rule: Rule, state: te.State) -> bool:
    # If no arm is pulled any more, nothing moves but the radius; whether that can still decide is
    # the algorithm's own question, on its own state.
    for i in range(m.N):
        state.groups[i] = at.group(m, i).active != 0
        for d in range(m.D):
            state.dims[i, d] = at.envelope(m, i, d).open != 0
            state.efficiency[i, d] = at.envelope(m, i, d).value
    return te.is_stuck(state, rule)


@bare
def _set_radii(m: Memory, rule: Rule, row: int, now: int, end: int) -> None:
    # A radius that decreases is least at the last round.
    at.radii(m, row)[0], at.window(m, row).until = radius_below(rule.radius, end), end


@bare
def _margin(m: Memory, kind: int, d: int, upper: float, lower: float, row: int) -> float:
    dim, beta = at.dim(m, d), at.radii(m, row)[0]
    if kind == at.REJECT:
        return te.reject_margin_in(lower, upper, beta, dim.scale)
    if kind == at.STALE:
        return te.stale_margin(upper, lower, beta, dim.scale)
    if kind == at.ACCEPT:
        return te.excess_margin_in(upper, lower, beta, dim.scale, dim.epsilon)
    # Of the two differences of which the margin takes the larger one, the other is made 0, which is
    # less than what is wanted.
    wanted = te.apart_wanted(beta, dim.scale, dim.epsilon)
    return te.apart_margin(lower, lower, lower, upper, wanted)


# Items.


@bare
def _screen(m: Memory, rule: Rule, state: te.State, now: int) -> None:
    clear_items(m)
    for i in range(m.N):
        if at.group(m, i).active:
            for d in range(m.D):
                if at.envelope(m, i, d).open:
                    screen_envelope(m, i, d, now, rule.options.arms)
    # After all envelopes are set, as each test reads those of other groups.
    _screen_rejections(m)
    for i in range(m.N):
        if at.group(m, i).active:
            for d in range(m.D if rule.options.dimensions else 0):
                if at.envelope(m, i, d).open:
                    _find_block(m, i, d, 0)
            _find_block(m, i, m.D, 0)


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
            possible = possible and families.margin(m, at.REJECT, d, top, low, 0) >= 0.0
        if possible:
            # Covers cost up to 32 passes over the groups, so they wait until somebody may be
            # rejected at all.
            if rejectors == 0:
                rejectors = _list_rejectors(m)
            for k in range(rejectors):
                j = at.group(m, k).rejector
                if j != i and guards.may_reject(m, i, j, 0):
                    add_item(m, at.REJECT, i, j, _blocking_dim(m, i, j), at.OTHER, 0)


@bare
def _blocking_dim(m: Memory, i: int, j: int) -> int:
    """Return the dim that seems to block longest that j rejects i."""
    best, least = 0, np.inf
    for d in range(m.D):
        upper, lower = _value(m, j, d, MIDDLE, True), _value(m, i, d, MIDDLE, False)
        # In units of the noise: a guess at which dim holds out longest. Any dim would be right.
        margin = families.margin(m, at.REJECT, d, upper, lower, 0) / at.dim(m, d).scale
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
    for _ in range(_MOST_COVERS if m.N > FEW else 0):
        # The largest sum of lower ends first: it has the best chance to lie above many others.
        best, most = at.NOBODY, -np.inf
        for j in range(m.N):
            if at.group(m, j).active and at.group(m, j).cover == PLAIN:
                total = 0.0
                for d in range(m.D):
                    total += at.envelope(m, j, d).low / at.dim(m, d).scale
                if total > most:
                    best, most = j, total
        if best == at.NOBODY:
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
def _margin_against(m: Memory, i: int, j: int, d: int, side: int, place: int, row: int) -> float:
    """Return the margin of a test of i against j, on a side, with their efficiencies at a place.

    In units of the noise. It is passed by one comparison: what comes after that is left out.
    """
    kind, most = at.ACCEPT if d == m.D else at.RESOLVE, -np.inf
    own = NOTED if place == LEAST else place
    for k in range(guards.guard_count(m, kind)):
        upper, lower = guards.pair_of(kind, i, j, side, k)
        e = k if kind == at.ACCEPT else d
        high = _value(m, upper, e, own if upper == i else place, True)
        low = _value(m, lower, e, own if lower == i else place, False)
        most = max(most, families.margin(m, kind, e, high, low, row) / at.dim(m, e).scale)
        if most >= 0.0:
            break
    return most


@bare
def _find_block(m: Memory, i: int, d: int, when: int) -> None:
    """Find a group that blocks a test of i over the outer window, or make an item of it."""
    watch = at.watch(m, i, d)
    j = watch.blocker
    # The watched blocker still blocks, on the side where it blocked: one comparison instead of N.
    if j >= 0 and at.group(m, j).active:
        if _margin_against(m, i, j, d, watch.side, MOST, 0) < 0.0:
            return
    watch.blocker, watch.side, blocks = _blocker_of(m, i, d, 0)
    if not blocks:
        kind = at.ACCEPT if d == m.D else at.RESOLVE
        add_item(m, kind, i, watch.blocker, d, watch.side, when)
        # From here on the item keeps it.
        watch.blocker = at.NOBODY


@bare
def _blocker_of(m: Memory, i: int, d: int, row: int) -> tuple[int, int, bool]:
    """Return a group that blocks a test of i in a window, the side, and whether it surely does.

    Surely: over all of the envelopes. If none does, the one that seems to block longest.
    """
    best, side, least = at.NOBODY, at.OWN, np.inf
    for j in range(m.N):
        if at.group(m, j).active and j != i:
            for turned in range(2 if d == m.D else 1):
                # The side that is farthest from passing blocks longest.
                ahead = _margin_against(m, i, j, d, turned, MIDDLE, row)
                if ahead < least:
                    best, side, least = j, turned, ahead
                    # Any sure blocker will do; a better one would be looked for in vain.
                    if _margin_against(m, i, j, d, turned, MOST, row) < 0.0:
                        return j, turned, True
    return best, side, False


@bare
def _find_blocker(m: Memory, item: int) -> bool:
    test = at.item(m, item)
    test.other, test.side, _ = _blocker_of(m, test.group, test.dim, m.level)
    return test.other != at.NOBODY


# Judgements, by the margins of the algorithm at one round.


@bare
def _judge(m: Memory, rule: Rule, state: te.State, item: int, when: int) -> None:
    # Guards went by a number below the radius; this is the radius itself, with the algorithm's own
    # expression, so that both engines round alike.
    at.radii(m, at.SPARE)[0] = radius_at(rule.radius, when)
    if _fires(m, item, when):
        m.round = when
        _fire(m, state, item, when)
    else:
        schedule(m, item, guards.candidate(m, item, when + 1))


@bare
def _fires(m: Memory, item: int, when: int) -> bool:
    """Return whether an item fires at a round; if not, what blocks it there is its blocker now."""
    test = at.item(m, item)
    if test.kind == at.STALE:
        return guards.margin_at(m, item, when) >= 0.0
    if test.kind == at.REJECT:
        # The dim that blocked last comes first: it most likely does again.
        for _ in range(m.D):
            if guards.margin_at(m, item, when) < 0.0:
                return False
            test.dim = (test.dim + 1) % m.D
        return True
    return _passes(m, item, when)


@bare
def _passes(m: Memory, item: int, when: int) -> bool:
    """Return whether a resolution or an acceptance passes against all of G."""
    test = at.item(m, item)
    i, d = test.group, test.dim
    _note(m, i, d, when)
    for j in range(m.N):
        if not at.group(m, j).active or j == i:
            continue
        for side in range(2 if d == m.D else 1):
            # Most groups block nowhere in their envelopes; only the few others are made known at
            # this round.
            if _margin_against(m, i, j, d, side, LEAST, at.SPARE) >= 0.0:
                continue
            _note(m, j, d, when)
            if _margin_against(m, i, j, d, side, NOTED, at.SPARE) < 0.0:
                test.other, test.side = j, side
                return False
    return True


@bare
def _note(m: Memory, i: int, d: int, when: int) -> None:
    """Note an efficiency at a round of the sprint, or those of all dims if d is D."""
    for e in range(m.D):
        if d == m.D or e == d:
            note_efficiency(m, i, e, when)


# What follows.


@bare
def _fire(m: Memory, state: te.State, item: int, when: int) -> None:
    test = at.item(m, item)
    kind, i, j, d = test.kind, test.group, test.other, test.dim
    # Before the sets change: what follows may make new items of the same test.
    move(m, item, at.UNUSED)
    if kind == at.REJECT:
        _remove_group(m, state, i, when, when)
    elif kind == at.RESOLVE:
        _resolve_dim(m, state, i, d, when)
    elif kind == at.STALE:
        guards.eliminate_arm(m, state, i, j, d, when)
    else:
        # P_2 is taken out of G at the end of the round, all at once, as in line 17: an accepted
        # group still blocks others in this round.
        at.group(m, i).accepted = m.pending = 1


@bare
def _end_round(m: Memory, state: te.State) -> bool:
    if m.pending == 0:
        return False
    m.pending = 0
    for i in range(m.N):
        if at.group(m, i).accepted and at.group(m, i).active:
            # Others see G without it from the next round on.
            _remove_group(m, state, i, m.round, m.round + 1)
    return True


@bare
def _remove_group(m: Memory, state: te.State, i: int, when: int, look: int) -> None:
    """Take a group out of G; what it blocked is looked at again from round `look` on."""
    guards.remove_group(m, state, i, when, look)
    # Whom it covered was never looked at as a rejector.
    if at.group(m, i).cover == COVERS:
        m.again = 1
    # Resolutions and acceptances that only this group blocked need another blocker or become items.
    m.ended = 1
    for g in range(m.N):
        if at.group(m, g).active:
            m.ended = 0
            for d in range(m.watches):
                if at.watch(m, g, d).blocker == i and (d == m.D or at.envelope(m, g, d).open):
                    _find_block(m, g, d, look)


@bare
def _resolve_dim(m: Memory, state: te.State, i: int, d: int, when: int) -> None:
    """Take a dim out of D_i; its efficiency keeps the value of this round."""
    note_counts(m, i, when)
    env = at.envelope(m, i, d)
    env.open = 0
    env.low = env.high = env.value
    # Rounds of this sprint that are still to come read that value.
    env.row = -1
    guards.reconsider(m, state, i, d, when + 1)


FAMILY = families.Family(
    hooks={
        families.is_stuck: _is_stuck,
        families.set_radii: _set_radii,
        families.screen: _screen,
        families.margin: _margin,
        families.find_blocker: _find_blocker,
        families.judge: _judge,
        families.end_round: _end_round,
    },
    pace=lambda rule: 3 if rule.options.arms else 1,
)

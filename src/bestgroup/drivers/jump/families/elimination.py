"""TE, AGE and GE by jumps: their margins, judgements at one round, and what follows when one fires."""

from __future__ import annotations

from bestgroup.algorithms import triple_elimination as te
from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import bare
from bestgroup.drivers.jump import families
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.envelopes import note_counts, note_efficiency
from bestgroup.drivers.jump.families import Family, blockers
from bestgroup.drivers.jump.families.blockers import COVERS, LEAST, NOTED, margin_against
from bestgroup.drivers.jump.guards import candidate, eliminate_arm, margin_at, reconsider
from bestgroup.drivers.jump.memory import (
    ACCEPT,
    NOBODY,
    REJECT,
    RESOLVE,
    SPARE,
    STALE,
    UNUSED,
    Memory,
)
from bestgroup.drivers.jump.windows import move, schedule
from bestgroup.inference.radii import radius_at, radius_below


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
    at.window(m, row).beta, at.window(m, row).until = radius_below(rule.radius, end), end


@bare
def _margin(m: Memory, kind: int, d: int, upper: float, lower: float, row: int) -> float:
    dim, beta = at.dim(m, d), at.window(m, row).beta
    if kind == REJECT:
        return te.reject_margin_in(lower, upper, beta, dim.scale)
    if kind == STALE:
        return te.stale_margin(upper, lower, beta, dim.scale)
    if kind == ACCEPT:
        return te.excess_margin_in(upper, lower, beta, dim.scale, dim.epsilon)
    # Of the two differences of which the margin takes the larger one, the other is made 0, which is
    # less than what is wanted.
    wanted = te.apart_wanted(beta, dim.scale, dim.epsilon)
    return te.apart_margin(lower, lower, lower, upper, wanted)


# Judgements, by the margins of the algorithm at one round.


@bare
def _judge(m: Memory, rule: Rule, state: te.State, item: int, when: int) -> None:
    # Guards went by a number below the radius; this is the radius itself, with the algorithm's own
    # expression, so that both engines round alike.
    at.window(m, SPARE).beta = radius_at(rule.radius, when)
    if _fires(m, item, when):
        m.round = when
        _fire(m, state, item, when)
    else:
        schedule(m, item, candidate(m, item, when + 1))


@bare
def _fires(m: Memory, item: int, when: int) -> bool:
    """Return whether an item fires at a round; if not, what blocks it there is its blocker now."""
    test = at.item(m, item)
    if test.kind == STALE:
        return margin_at(m, item, when) >= 0.0
    if test.kind == REJECT:
        # The dim that blocked last comes first: it most likely does again.
        for _ in range(m.D):
            if margin_at(m, item, when) < 0.0:
                return False
            test.dim = (test.dim + 1) % m.D
        return True
    return _passes(m, item, when)


@bare
def _passes(m: Memory, item: int, when: int) -> bool:
    """Return whether a resolution or an acceptance passes against all of G."""
    test = at.item(m, item)
    i, d, sides = (test.group, m.D, 2) if test.kind == ACCEPT else (test.group, test.dim, 1)
    _note(m, i, d, when)
    for j in range(m.N):
        if not at.group(m, j).active or j == i:
            continue
        for side in range(sides):
            # Most groups block nowhere in their envelopes; only the few others are made known at
            # this round.
            if margin_against(m, i, j, d, side, NOTED, LEAST, SPARE) >= 0.0:
                continue
            _note(m, j, d, when)
            if margin_against(m, i, j, d, side, NOTED, NOTED, SPARE) < 0.0:
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
    """Change the sets as the algorithm does when this test fires."""
    test = at.item(m, item)
    kind, i, j, d = test.kind, test.group, test.other, test.dim
    # Before the sets change: what follows may make new items of the same test.
    move(m, item, UNUSED)
    if kind == REJECT:
        _remove_group(m, state, i, when, when)
    elif kind == RESOLVE:
        _resolve_dim(m, state, i, d, when)
    elif kind == STALE:
        eliminate_arm(m, state, i, j, d, when)
    else:
        # P_2 is taken out of G at the end of the round, all at once, as in line 17: an accepted
        # group still blocks others in this round.
        at.group(m, i).accepted = m.pending = 1


@bare
def _end_round(m: Memory, state: te.State) -> bool:
    """Take the groups accepted in the round out of G, all at once; whether there are any."""
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
    note_counts(m, i, when)
    at.group(m, i).active = 0
    reconsider(m, state, i, NOBODY, look)
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
                    blockers.find_block(m, g, d, look)


@bare
def _resolve_dim(m: Memory, state: te.State, i: int, d: int, when: int) -> None:
    """Take a dim out of D_i; its efficiency keeps the value of this round."""
    note_counts(m, i, when)
    env, row = at.envelope(m, i, d), at.row(m, i, d)
    env.open = 0
    env.low = env.high = env.value
    # Rounds of this sprint that are still to come read the value that it keeps.
    for k in range(when - m.now + 1, m.stop - m.now + 1):
        row[k] = env.value
    reconsider(m, state, i, d, when + 1)


FAMILY = Family(
    hooks={
        families.is_stuck: _is_stuck,
        families.set_radii: _set_radii,
        families.screen: blockers.screen,
        families.margin: _margin,
        families.find_blocker: blockers.find_blocker,
        families.judge: _judge,
        families.end_round: _end_round,
    },
    pace=lambda rule: 3 if rule.options.arms else 1,
)

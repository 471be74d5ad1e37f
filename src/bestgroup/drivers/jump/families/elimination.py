"""TE, AGE and GE by jumps: their tests as guarded items, and what follows when one fires.

The guards of an item, each from the margin of the test:

* REJECT of i by j, blocked in dim d: R_j^d is less than 2 beta above R_i^d;
* RESOLVE of dim d of i, blocked by j: neither of R_i^d and R_j^d is 4 beta + epsilon above the other;
* STALE arm j of i in dim d: R_i^d is less than 2 beta above the arm's mean;
* ACCEPT of i, blocked by j on side 0 (i does not stand against j): in every dim R_i^d is less than 2
  beta - epsilon above R_j^d; on side 1 the same with i and j exchanged.
"""

from __future__ import annotations

from typing import Any

from bestgroup.algorithms import triple_elimination as te
from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import bare
from bestgroup.drivers.jump import families
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.engine import reconsider
from bestgroup.drivers.jump.envelopes import drop_rival, note_efficiency
from bestgroup.drivers.jump.families import ACCEPT, NOBODY, REJECT, RESOLVE, STALE, Family, blockers
from bestgroup.drivers.jump.families.blockers import COVERS, HIGH, LOW, NOTED, stands
from bestgroup.drivers.jump.guards import candidate
from bestgroup.drivers.jump.memory import UNUSED, Memory, Window
from bestgroup.drivers.jump.windows import move, schedule, wake_blocked
from bestgroup.inference.radii import radius_at


@kernel
def _is_stuck(m: Memory, rule: Rule, state: te.State) -> bool:
    # No arm is pulled any more, so nothing moves but the radius; whether that can still decide is
    # the algorithm's own question, on its own state.
    for i in range(m.N):
        state.groups[i] = at.group(m, i).active != 0
        for d in range(m.D):
            state.dims[i, d] = at.envelope(m, i, d).open != 0
            state.efficiency[i, d] = at.envelope(m, i, d).value
    return te.is_stuck(state, rule)


# Guards.


@bare
def _find_blocker(m: Memory, item: int, beta: float) -> bool:
    test = at.item(m, item)
    # The blocker that was kept has left G: the next best by the envelopes, without a draw.
    d = m.D if test.kind == ACCEPT else test.dim
    test.other, side, _ = blockers.blocker_of(m, test.group, d, beta)
    if test.kind == ACCEPT:
        test.dim = side
    return test.other != NOBODY


@bare
def _is_barred(m: Memory, item: int, beta: float) -> bool:
    test = at.item(m, item)
    # A rejection needs all dims at once, but has its guard in one dim only: the envelopes of the
    # others are free to look at.
    return test.kind == REJECT and not blockers.may_reject(m, test.group, test.other, beta)


@bare
def _guard_count(m: Memory, item: int) -> int:
    kind = at.item(m, item).kind
    # Against a blocker a group fails in every dim, so that each dim is a guard.
    if kind == ACCEPT:
        return m.D
    return 2 if kind == RESOLVE else 1


@bare
def _guard(m: Memory, item: int, k: int, radii: Window) -> tuple[int, int, int, int, float]:
    """Return (i, j, d, arm, threshold) of a guard: its margin at equal efficiencies, negated."""
    test, beta = at.item(m, item), radii.beta
    kind, i, j, d = test.kind, test.group, test.other, test.dim
    if kind == ACCEPT:
        side, d = d, k
        dim = at.dim(m, d)
        threshold = -te.excess_margin_in(0.0, 0.0, beta, dim.scale, dim.epsilon)
        return (i, j, d, NOBODY, threshold) if side == 0 else (j, i, d, NOBODY, threshold)
    dim = at.dim(m, d)
    if kind == STALE:
        return i, i, d, j, -te.stale_margin(0.0, 0.0, beta, dim.scale)
    if kind == RESOLVE:
        wanted = te.apart_wanted(beta, dim.scale, dim.epsilon)
        threshold = -te.apart_margin(0.0, 0.0, 0.0, 0.0, wanted)
        return (j, i, d, NOBODY, threshold) if k == 0 else (i, j, d, NOBODY, threshold)
    return j, i, d, NOBODY, -te.reject_margin_in(0.0, 0.0, beta, dim.scale)


@bare
def _is_stale(high: float, low: float, threshold: float) -> bool:
    return te.stale_margin(high, low, 0.5 * threshold, 1.0) >= 0.0


# Judgements, by the margins of the algorithm at one round.


@bare
def _judge(m: Memory, rule: Rule, state: te.State, item: int, when: int) -> None:
    # Guards went by a number below the radius; this is the radius itself, with the algorithm's own
    # expression, so that both engines round alike.
    if _fires(m, item, when, radius_at(rule.radius, when)):
        m.round = when
        _fire(m, item, when)
    else:
        schedule(m, item, candidate(m, item, when + 1))


@bare
def _fires(m: Memory, item: int, when: int, beta: float) -> bool:
    """Return whether an item fires at a round; if not, what blocks it there is its blocker now."""
    test = at.item(m, item)
    if test.kind == REJECT:
        return _rejects(m, item, when, beta)
    if test.kind == RESOLVE:
        return _resolves(m, item, when, beta)
    if test.kind == STALE:
        i, d, k = test.group, test.dim, when - m.start - 1
        mean = at.means(m, at.unit_of(m, i, test.other, d), at.column_of(m, d))[k]
        return te.stale_margin(at.row(m, i, d)[k], mean, beta, at.dim(m, d).scale) >= 0.0
    return _accepts(m, item, when, beta)


@bare
def _rejects(m: Memory, item: int, when: int, beta: float) -> bool:
    test = at.item(m, item)
    # The dim that blocked last comes first: it most likely does again.
    for step in range(m.D):
        d = (test.dim + step) % m.D
        own = note_efficiency(m, test.group, d, when)
        other = note_efficiency(m, test.other, d, when)
        if te.reject_margin_in(own, other, beta, at.dim(m, d).scale) < 0.0:
            test.dim = d
            return False
    return True


@bare
def _resolves(m: Memory, item: int, when: int, beta: float) -> bool:
    test = at.item(m, item)
    i, d = test.group, test.dim
    own, dim = note_efficiency(m, i, d, when), at.dim(m, d)
    wanted = te.apart_wanted(beta, dim.scale, dim.epsilon)
    for j in range(m.N):
        if not at.group(m, j).active or j == i:
            continue
        env = at.envelope(m, j, d)
        # With the ends of the envelope exchanged the margin is the least that any value in it
        # gives: j needs no point.
        if te.apart_margin(own, own, env.high, env.low, wanted) >= 0.0:
            continue  # apart anywhere in the envelope of j
        other = note_efficiency(m, j, d, when)
        if te.apart_margin(own, own, other, other, wanted) < 0.0:
            test.other = j
            return False
    return True


@bare
def _accepts(m: Memory, item: int, when: int, beta: float) -> bool:
    test = at.item(m, item)
    i = test.group
    for d in range(m.D):
        note_efficiency(m, i, d, when)
    for j in range(m.N):
        if not at.group(m, j).active or j == i:
            continue
        # Most groups block on neither side anywhere in their envelopes; only the few others are made
        # known at this round.
        if stands(m, i, NOTED, j, HIGH, beta) and stands(m, j, LOW, i, NOTED, beta):
            continue
        for d in range(m.D):
            note_efficiency(m, j, d, when)
        for side in range(2):
            one, two = (i, j) if side == 0 else (j, i)
            if not stands(m, one, NOTED, two, NOTED, beta):
                test.other, test.dim = j, side
                return False
    return True


# What follows.


@bare
def _fire(m: Memory, item: int, when: int) -> None:
    """Change the sets as the algorithm does when this test fires."""
    test = at.item(m, item)
    kind, i, j, d = test.kind, test.group, test.other, test.dim
    # Before the sets change: what follows may make new items of the same test.
    move(m, item, UNUSED)
    if kind == REJECT:
        _remove_group(m, i, when, when)
    elif kind == RESOLVE:
        _resolve_dim(m, i, d, when)
    elif kind == STALE:
        eliminate_arm(m, i, j, d, when)
    else:
        # P_2 is taken out of G at the end of the round, all at once, as in line 17: an accepted
        # group still blocks others in this round.
        at.group(m, i).accepted = m.pending = 1


@bare
def _end_round(m: Memory) -> bool:
    """Take the groups accepted in the round out of G, all at once; whether there are any."""
    if m.pending == 0:
        return False
    m.pending = 0
    for i in range(m.N):
        if at.group(m, i).accepted and at.group(m, i).active:
            # Others see G without it from the next round on.
            _remove_group(m, i, m.round, m.round + 1)
    return True


@bare
def retire_arms(m: Memory, i: int, when: int) -> None:
    """Set the counts of the arms of a group that are not pulled after round `when`."""
    for j in range(m.K):
        arm = at.arm(m, i, j)
        # Counted already, or there is no such arm.
        if arm.count != 0:
            continue
        pulled = False
        for d in range(m.D):
            pulled = pulled or (
                at.envelope(m, i, d).open != 0 and at.member(m, i, j, d).active != 0
            )
        if not pulled or not at.group(m, i).active:
            arm.count = when
            m.retired += when
            m.width -= 1


@bare
def _remove_group(m: Memory, i: int, when: int, look: int) -> None:
    """Take a group out of G; what it blocked is looked at again from round `look` on."""
    at.group(m, i).active = 0
    retire_arms(m, i, when)
    wake_blocked(m, i, look)
    beta = at.window(m, 0).beta
    # Whom it covered was never looked at as a rejector. A rejected cover has a rejector that takes
    # over in the same round if envelopes are narrow; an accepted one leaves a hole.
    if at.group(m, i).cover == COVERS and (look > when or blockers.has_wide_envelope(m, beta)):
        m.again = 1
    # Resolutions and acceptances that only this group blocked need another blocker or become items.
    left = 0
    for g in range(m.N):
        if at.group(m, g).active:
            left += 1
            for d in range(m.watches):
                if at.watch(m, g, d).blocker == i and (d == m.D or at.envelope(m, g, d).open):
                    blockers.find_block(m, g, d, beta, look)
    m.ended = 1 if left == 0 else 0


@bare
def _resolve_dim(m: Memory, i: int, d: int, when: int) -> None:
    """Take a dim out of D_i; its efficiency keeps the value of this round."""
    env, row, value = at.envelope(m, i, d), at.row(m, i, d), at.envelope(m, i, d).value
    env.open = 0
    env.low = env.high = value
    # Rounds of this sprint that are still to come read the value that it keeps.
    if env.row == m.stretch:
        for k in range(when - m.start, m.stop - m.start):
            row[k] = value
    retire_arms(m, i, when)
    reconsider(m, i, d, when)


@bare
def eliminate_arm(m: Memory, i: int, j: int, d: int, when: int) -> None:
    """Take an arm out of A_{i,d}; if it was a rival, what reads R_i^d is looked at again."""
    at.member(m, i, j, d).active = 0
    retire_arms(m, i, when)
    if drop_rival(m, i, j, d):
        at.envelope(m, i, d).row = -1
        reconsider(m, i, d, when)


def _load(m: Memory, rule: Any, cells: int) -> None:
    """Write the radius."""
    m.radius_kind, m.radius_events, m.radius_delta, m.radius_factor = rule.radius[:4]


FAMILY = Family(
    hooks={
        families.is_stuck: _is_stuck,
        families.screen: blockers.screen,
        families.judge: _judge,
        families.end_round: _end_round,
        families.is_stale: _is_stale,
        families.guard_count: _guard_count,
        families.guard: _guard,
        families.find_blocker: _find_blocker,
        families.is_barred: _is_barred,
    },
    load=_load,
    pace=lambda rule: 3 if rule.options.arms else 1,
)

"""EECB by jumps: sums of efficiencies instead of pairs, arms on the clocks of their dims.

* REJECT of i by j: j is worth more than i by the threshold 2 sum_d w^d beta(n^d);
* STALE arm j of i in dim d: R_i^d is 2 beta(n^d) above the arm's mean;
* ACCEPT of i, the leader: it is good enough against all others; one that it is not good enough against
  blocks it.

A test of worths is a test of sums over dims, so its certificate is that for sums of bridges
(`certificates`), not a comparison of two walks.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms import equal_effect as eecb
from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.records import bare, view
from bestgroup.drivers.jump import envelopes, families, guards, windows
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import ROUNDING
from bestgroup.drivers.jump.envelopes import note_counts, row_of
from bestgroup.drivers.jump.families import Family, clocks
from bestgroup.drivers.jump.memory import (
    ACCEPT,
    NOBODY,
    OTHER,
    OWN,
    PRESENT,
    REJECT,
    STALE,
    UNUSED,
    Memory,
)
from bestgroup.drivers.jump.walks import keep_stretch
from bestgroup.drivers.jump.windows import NEVER
from bestgroup.inference.radii import radius_at

DECIDED, LED = 1, 2  # how a run is over
ENVELOPES = -1  # in place of a round


@bare
def _begin_run(m: Memory, rule: Rule, state: eecb.State) -> None:
    for d in range(m.D):
        at.clock(m, PRESENT, d).count = 0


@bare
def _end_run(m: Memory, rule: Rule, state: eecb.State, limit: int, finished: bool) -> bool:
    for i in range(m.N):
        # The answer is what is left of G.
        at.group(m, i).accepted = at.group(m, i).active
    # A leader is named without a last batch; otherwise the paper's loop pulls once more before it
    # looks at |G|.
    if not finished or m.ended == LED or rule.options.early:
        return finished
    return _pull_last(m, rule, state, limit)


@bare
def _active_groups(m: Memory) -> int:
    """Return |G|."""
    count = 0
    for i in range(m.N):
        count += at.group(m, i).active
    return count


@bare
def _pull_last(m: Memory, rule: Rule, state: eecb.State, limit: int) -> bool:
    """Pull the last batch of the group that is left; whether the limit allows it."""
    _set_state_clock(m, state, row_of(m, m.round))
    focus, total = eecb.focus_at(state.clock, rule), 0
    for batch in range(2):
        # Counted first, then pulled, if that is within the limit.
        for i in range(m.N):
            for j in range(m.K):
                arm = at.arm(m, i, j)
                active = at.group(m, i).active != 0 and at.member(m, i, j, focus).active != 0
                pulled = 1 if active and arm.count == state.clock[focus] else 0
                total += (arm.count + pulled) * (1 - batch)
                arm.count += pulled * batch
        if total > limit:
            return False
    m.round += 1
    return True


@bare
def _set_state_clock(m: Memory, state: eecb.State, row: int) -> None:
    for d in range(m.D):
        state.clock[d] = at.clock(m, row, d).count


# Items, and what keeps them from firing.


@bare
def _screen(m: Memory, rule: Rule, state: eecb.State, now: int) -> None:
    windows.clear_items(m)
    if _active_groups(m) == 1:
        # One group from the start: the algorithm stops after its first round.
        m.round, m.ended = 1, LED
        clocks.copy_clock(m, 0, row_of(m, 1))
        return
    top = -np.inf
    for i in range(m.N):
        if at.group(m, i).active:
            for d in range(m.D):
                envelopes.screen_envelope(m, i, d, now, True)
            top = max(top, _worth(m, i, True))
    for i in range(m.N):
        if not at.group(m, i).active:
            continue
        low = _worth(m, i, False)
        # Against the best of all groups first: of many groups that excludes most without a look at
        # pairs.
        if _margin(m, REJECT, 0, top, low, 0) >= 0.0:
            for j in range(m.N):
                if at.group(m, j).active and j != i:
                    if _margin(m, REJECT, 0, _worth(m, j, True), low, 0) >= 0.0:
                        windows.add_item(m, REJECT, i, j, 0, OTHER, 0)
        # With epsilon = 0 nobody can be good enough before all others are beaten.
        if at.dim(m, 0).epsilon > 0.0:
            windows.add_item(m, ACCEPT, i, NOBODY, 0, OWN, 0)


@bare
def _worth(m: Memory, i: int, upper: bool) -> float:
    """Return R_i . w at the upper or at the lower ends of the envelopes."""
    total = 0.0
    for d in range(m.D):
        env = at.envelope(m, i, d)
        total += at.dim(m, d).weight * (env.high if upper else env.low)
    return total


@bare
def _margin(m: Memory, kind: int, d: int, upper: float, lower: float, row: int) -> float:
    # Radii of clocks are below all radii up to there, times the scale.
    if kind == STALE:
        return eecb.stale_margin(lower, upper, at.clock(m, row, d).radius, 1.0)
    threshold = 0.0
    for e in range(m.D):
        threshold += 2.0 * at.dim(m, e).weight * at.clock(m, row, e).radius
    if kind == REJECT:
        return eecb.beaten_margin(lower, upper, threshold)
    return eecb.lead_margin(upper, lower, m.slack, threshold)


@bare
def _level_at(m: Memory, item: int, row: int) -> float:
    """Return a number below what a test compares with at a clock: its margin at equals, negated."""
    test = at.item(m, item)
    return -_margin(m, test.kind, test.dim, 0.0, 0.0, row)


@bare
def _clears(m: Memory, item: int) -> bool:
    # As in `guards`, with sums over dims in place of one comparison.
    test, length = at.item(m, item), windows.top_end(m) - m.now
    if length > 2 * test.reach:
        return False
    level = _level_at(m, item, m.level)
    if not guards.has_blocker(m, item):
        test.other = _most_worth(m, test.group)
    if _apart(m, item, ENVELOPES)[0] < level:
        return True
    room, band = clocks.apart_over(m, item, level)
    if room > band:
        test.reach = 4 * length
        return True
    # Bands shrink like the root of the length: what share of it would fit.
    share = (room / band) ** 2 if room > 0.0 else 0.0
    test.reach = int(length * max(share, 0.5))
    return False


@bare
def _most_worth(m: Memory, i: int) -> int:
    """Return the other active group that seems to be worth most."""
    best, most = NOBODY, 0.0
    for j in range(m.N):
        if at.group(m, j).active and j != i:
            worth = _worth(m, j, False) + _worth(m, j, True)
            if best == NOBODY or worth > most:
                best, most = j, worth
    return best


@bare
def _candidate(m: Memory, item: int, start: int) -> int:
    if start > m.stop:
        return NEVER
    if not guards.has_blocker(m, item):
        return start
    # The least level in the sprint: if that is out of reach, no round needs a value.
    level = _level_at(m, item, row_of(m, m.stop))
    if _apart(m, item, ENVELOPES)[0] < level - ROUNDING * abs(level):
        return NEVER
    test = at.item(m, item)
    one, two = guards.pair_of(test.kind, test.group, test.other, test.side, 0)
    for d in range(m.D):
        if clocks.weight_of(m, item, d) > 0.0:
            envelopes.fill_row(m, one, d)
            envelopes.fill_row(m, two, d)
    if test.kind == STALE:
        envelopes.means_of(m, test.group, test.other, test.dim)
    for when in range(start, m.stop + 1):
        apart, size = _apart(m, item, when - m.now)
        level = _level_at(m, item, row_of(m, when))
        if apart >= level - ROUNDING * (abs(level) + size):
            return when
    return NEVER


@bare
def _apart(m: Memory, item: int, k: int) -> tuple[float, float]:
    """Return how far apart what an item compares is, and its size.

    At a round of the sprint, whose rows are filled, or at most, over the ENVELOPES.
    """
    test = at.item(m, item)
    one, two = guards.pair_of(test.kind, test.group, test.other, test.side, 0)
    apart, size = 0.0, 0.0
    for d in range(m.D):
        weight = clocks.weight_of(m, item, d)
        if weight == 0.0:
            continue
        if k != ENVELOPES:
            # The means of an arm were the last that were asked for.
            stale = test.kind == STALE
            upper, lower = at.row(m, one, d)[k], at.scratch(m)[k] if stale else at.row(m, two, d)[k]
        else:
            upper, lower = at.envelope(m, one, d).high, at.envelope(m, two, d).low
            if test.kind == STALE:
                lower = at.member(m, two, test.other, d).low
        apart += weight * (upper - lower)
        size += weight * (abs(upper) + abs(lower))
    return apart, size


# Judgements, by the margins of the algorithm at one round.


@bare
def _judge(m: Memory, rule: Rule, state: eecb.State, item: int, when: int) -> None:
    if _fires(m, rule, state, item, when):
        m.round = when
        _fire(m, state, item, when)
    else:
        windows.schedule(m, item, _candidate(m, item, when + 1))


@bare
def _note_group(m: Memory, state: eecb.State, i: int, when: int) -> None:
    """Note the efficiencies of a group at a round of the sprint, in the state, too."""
    for d in range(m.D):
        state.efficiency[i, d] = envelopes.note_efficiency(m, i, d, when)


@bare
def _fires(m: Memory, rule: Rule, state: eecb.State, item: int, when: int) -> bool:
    """Return whether an item fires at a round; if not, what blocks a leader there is its blocker."""
    test, row, R = at.item(m, item), row_of(m, when), state.efficiency
    i, j, d = test.group, test.other, test.dim
    # The algorithm's own functions decide, on its own state.
    _set_state_clock(m, state, row)
    _note_group(m, state, i, when)
    if test.kind == STALE:
        mean = envelopes.means_of(m, i, j, d)[when - m.now]
        beta = radius_at(rule.radius, state.clock[d])
        return eecb.stale_margin(mean, R[i, d], beta, rule.scale[d]) > 0.0
    state.threshold[0] = eecb.threshold_at(state.clock, rule)
    if test.kind == REJECT:
        _note_group(m, state, j, when)
        own, other = eecb.worth(R, i, rule), eecb.worth(R, j, rule)
        return eecb.beaten_margin(own, other, state.threshold[0]) > 0.0
    for g in range(m.N):
        state.groups[g] = at.group(m, g).active != 0
        if state.groups[g] and g != i:
            _note_group(m, state, g, when)
            own, other = eecb.worth(R, i, rule), eecb.worth(R, g, rule)
            if not eecb.lead_margin(own, other, m.slack, state.threshold[0]) > 0.0:
                # It blocks now, so it is watched from here on.
                test.other = g
                return False
    return eecb.left(state.groups) > 1 and eecb.has_leader(state, rule)


@bare
def _fire(m: Memory, state: eecb.State, item: int, when: int) -> None:
    """Change the sets as EECB does when this test fires."""
    test = at.item(m, item)
    kind, i = test.kind, test.group
    windows.move(m, item, UNUSED)
    if kind == STALE:
        _eliminate_arm(m, state, i, test.other, test.dim, when)
    elif kind == REJECT:
        _remove_group(m, state, i, when)
        if _active_groups(m) == 1:
            m.ended = DECIDED
    else:
        for g in range(m.N):
            if at.group(m, g).active and not state.groups[g]:
                _remove_group(m, state, g, when)
        m.ended = LED


@bare
def _remove_group(m: Memory, state: eecb.State, i: int, when: int) -> None:
    """Take a group out of G; leaders that it blocked are looked at again in the same round."""
    note_counts(m, i, when)
    at.group(m, i).active = 0
    guards.reconsider(m, state, i, NOBODY, when)


@bare
def _eliminate_arm(m: Memory, state: eecb.State, i: int, j: int, d: int, when: int) -> None:
    """Take an arm out of A_d; its clock may slow down, so what reads its group is looked at again."""
    # Points were drawn for the counts of this sprint. With a slower clock these counts come later,
    # and the points must not be drawn again.
    for e in range(m.D):
        keep_stretch(m, at.unit_of(m, i, j, e))
    note_counts(m, i, when)
    at.member(m, i, j, d).active = 0
    envelopes.drop_rival(m, i, j, d)
    # The count of the arm changes in all its dims, and with it every row that it is part of.
    for e in range(m.D):
        at.envelope(m, i, e).row = -1
    guards.reconsider(m, state, i, NOBODY, when + 1)


def _load(m: Memory, rule: Rule, cells: int) -> None:
    """Write the weights, and epsilon ||w||_1."""
    view(at.dim(m, 0), m.D)["weight"] = rule.weights
    m.slack = sum((rule.epsilon * rule.weights).tolist())


FAMILY = Family(
    hooks={
        **clocks.CLOCKS,
        families.begin_run: _begin_run,
        families.end_run: _end_run,
        families.screen: _screen,
        families.margin: _margin,
        families.judge: _judge,
        guards.clears: _clears,
        guards.candidate: _candidate,
    },
    load=_load,
    pace=lambda rule: 1,
)

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
from bestgroup.drivers.jump.engine import reconsider
from bestgroup.drivers.jump.families import ACCEPT, NOBODY, REJECT, STALE, Family, clocks
from bestgroup.drivers.jump.memory import PRESENT, UNUSED, Memory
from bestgroup.drivers.jump.windows import NEVER
from bestgroup.inference.radii import radius_at

DECIDED, LED = 1, 2  # how a run is over


@bare
def _begin_run(m: Memory, rule: Rule, state: eecb.State) -> None:
    for d in range(m.D):
        at.clock(m, PRESENT, d).count = 0


@bare
def _next_end(m: Memory, rule: Rule, state: eecb.State, limit: int) -> int:
    """Return the end of the next outer window, whose pulls stay within the limit; sets its clock."""
    now = m.now
    end = now + max(1, now // m.pace)
    while True:
        clocks.set_clock(m, rule, state, 0, now, end)
        # Pulls depend on the clocks at the end, so the cap is looked for by halving.
        pulls = 0
        for i in range(m.N):
            for j in range(m.K):
                pulls += clocks.count_at(m, i, j, 0)
        if pulls <= limit or end == now + 1:
            return end if pulls <= limit else now
        end = now + max(1, (end - now) // 2)


@bare
def _end_run(m: Memory, rule: Rule, state: eecb.State, limit: int, finished: bool) -> bool:
    if finished:
        finished = _finish(m, rule, state, limit)
    else:
        _close(m, PRESENT)
    for i in range(m.N):
        # The answer is what is left of G.
        at.group(m, i).accepted = at.group(m, i).active
        for j in range(m.K):
            count = at.arm(m, i, j).own
            at.arm(m, i, j).count = count if count > 0 else -1
    return finished


@bare
def _active_groups(m: Memory) -> int:
    """Return |G|."""
    count = 0
    for i in range(m.N):
        count += at.group(m, i).active
    return count


@bare
def _close(m: Memory, row: int) -> None:
    """Set the counts of all arms of active groups to those at a clock."""
    for i in range(m.N):
        if at.group(m, i).active:
            for j in range(m.K):
                at.arm(m, i, j).own = clocks.count_at(m, i, j, row)


@bare
def _finish(m: Memory, rule: Rule, state: eecb.State, limit: int) -> bool:
    """Pull the last batch of the group that is left, unless it is spared; whether the limit allows it."""
    row, total = clocks.row_of(m, m.round), 0
    _close(m, row)
    # A leader is named without a last batch; otherwise the paper's loop pulls once more before it
    # looks at |G|.
    if m.ended == LED or rule.options.early:
        return True
    _set_state_clock(m, state, row)
    focus = eecb.focus_at(state.clock, rule)
    for batch in range(2):
        # Counted first, then pulled, if that is within the limit.
        for i in range(m.N):
            for j in range(m.K):
                arm = at.arm(m, i, j)
                active = at.group(m, i).active != 0 and at.member(m, i, j, focus).active != 0
                pulled = 1 if active and arm.own == state.clock[focus] else 0
                total += (arm.own + pulled) * (1 - batch)
                arm.own += pulled * batch
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
def _screen(m: Memory, rule: Rule, state: eecb.State, now: int, end: int) -> None:
    windows.clear_items(m)
    if _active_groups(m) == 1:
        # One group from the start: the algorithm stops after its first round.
        m.start, m.round, m.ended = 0, 1, LED
        clocks.copy_clock(m, 0, clocks.row_of(m, 1))
        return
    # The sum of all radii at the end of the window: the least threshold in it.
    threshold, top = _threshold_below(m, 0), -np.inf
    for i in range(m.N):
        if at.group(m, i).active:
            for d in range(m.D):
                envelopes.screen_envelope(m, i, d, now, end, 2.0 * at.clock(m, 0, d).radius, True)
            top = max(top, _worths(m, i)[1])
    for i in range(m.N):
        if not at.group(m, i).active:
            continue
        low = _worths(m, i)[0]
        # Against the best of all groups first: of many groups that excludes most without a look at
        # pairs.
        if eecb.beaten_margin(low, top, threshold) > 0.0:
            for j in range(m.N):
                if at.group(m, j).active and j != i:
                    if eecb.beaten_margin(low, _worths(m, j)[1], threshold) > 0.0:
                        windows.add_pair(m, REJECT, i, j, 0)
        # With epsilon = 0 nobody can be good enough before all others are beaten.
        if at.dim(m, 0).epsilon > 0.0:
            windows.add_blocked(m, ACCEPT, i, NOBODY, 0, 0)


@bare
def _worths(m: Memory, i: int) -> tuple[float, float]:
    """Return R_i . w at the lower and at the upper ends of the envelopes."""
    low, high = 0.0, 0.0
    for d in range(m.D):
        low += at.dim(m, d).weight * at.envelope(m, i, d).low
        high += at.dim(m, d).weight * at.envelope(m, i, d).high
    return low, high


@bare
def _threshold_below(m: Memory, row: int) -> float:
    """Return a number below 2 sum_d w^d beta(n^d) at a clock and before it."""
    total = 0.0
    for d in range(m.D):
        total += at.dim(m, d).weight * at.clock(m, row, d).radius
    return 2.0 * total


@bare
def _level_below(m: Memory, item: int, row: int) -> float:
    """Return a number below what a test compares with at a clock: its margin at equals, negated."""
    test = at.item(m, item)
    if test.kind == STALE:
        return -eecb.stale_margin(0.0, 0.0, at.clock(m, row, test.dim).radius, 1.0)
    if test.kind == REJECT:
        return -eecb.beaten_margin(0.0, 0.0, _threshold_below(m, row))
    return -eecb.lead_margin(0.0, 0.0, m.slack, _threshold_below(m, row))


@bare
def _pair_of(m: Memory, item: int) -> tuple[int, int]:
    """Return the group that would be worth more, and the other one."""
    test = at.item(m, item)
    return (test.other, test.group) if test.kind == REJECT else (test.group, test.other)


@bare
def _most_apart(m: Memory, item: int) -> float:
    """Return the most that what an item compares can be apart in the envelopes."""
    test = at.item(m, item)
    if test.kind == STALE:
        env = at.envelope(m, test.group, test.dim)
        return env.high - at.member(m, test.group, test.other, test.dim).low
    one, two = _pair_of(m, item)
    return _worths(m, one)[1] - _worths(m, two)[0]


@bare
def _clears(m: Memory, item: int) -> bool:
    # As in `guards`, with sums over dims in place of one comparison.
    test, length = at.item(m, item), windows.top_end(m) - m.now
    if length > 2 * test.reach:
        return False
    level = _level_below(m, item, m.level)
    if not families.has_blocker(m, item):
        test.other = _most_worth(m, test.group)
    if _most_apart(m, item) < level:
        return True
    if test.kind == STALE:
        room, band = clocks.arm_apart(m, test.group, test.other, test.dim, level)
    else:
        one, two = _pair_of(m, item)
        room, band = clocks.worth_apart(m, one, two, level)
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
            low, high = _worths(m, j)
            if best == NOBODY or low + high > most:
                best, most = j, low + high
    return best


@bare
def _candidate(m: Memory, item: int, start: int) -> int:
    if start > m.stop:
        return NEVER
    if not families.has_blocker(m, item):
        return start
    # The least level in the sprint: if that is out of reach, no round needs a value.
    level = _level_below(m, item, clocks.row_of(m, m.stop))
    if _most_apart(m, item) < level - ROUNDING * abs(level):
        return NEVER
    test = at.item(m, item)
    if test.kind == STALE:
        envelopes.fill_row(m, test.group, test.dim)
        envelopes.means_of(m, test.group, test.other, test.dim)
    else:
        one, two = _pair_of(m, item)
        for d in range(m.D):
            envelopes.fill_row(m, one, d)
            envelopes.fill_row(m, two, d)
    for when in range(start, m.stop + 1):
        apart, size = _apart_at(m, item, when - m.start - 1)
        level = _level_below(m, item, clocks.row_of(m, when))
        if apart >= level - ROUNDING * (abs(level) + size):
            return when
    return NEVER


@bare
def _apart_at(m: Memory, item: int, k: int) -> tuple[float, float]:
    """Return how far apart what an item compares is at a round of the sprint, and its size."""
    test = at.item(m, item)
    if test.kind == STALE:
        # The means of the arm were the last that were asked for.
        best, mean = at.row(m, test.group, test.dim)[k], at.scratch(m)[k]
        return best - mean, abs(best) + abs(mean)
    apart, size = 0.0, 0.0
    one, two = _pair_of(m, item)
    for d in range(m.D):
        upper, lower, weight = at.row(m, one, d)[k], at.row(m, two, d)[k], at.dim(m, d).weight
        apart += weight * (upper - lower)
        size += weight * (abs(upper) + abs(lower))
    return apart, size


@bare
def _is_stale(high: float, low: float, threshold: float) -> bool:
    return eecb.stale_margin(low, high, 0.5 * threshold, 1.0) > 0.0


@bare
def _reads(m: Memory, item: int, d: int) -> bool:
    """Return whether an item about a group reads it, whatever the dim."""
    return not families.is_dead(m, item)


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
    test, row, R = at.item(m, item), clocks.row_of(m, when), state.efficiency
    i, j, d = test.group, test.other, test.dim
    # The algorithm's own functions decide, on its own state.
    _set_state_clock(m, state, row)
    _note_group(m, state, i, when)
    if test.kind == STALE:
        mean = envelopes.means_of(m, i, j, d)[when - m.start - 1]
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
        _eliminate_arm(m, i, test.other, test.dim, when)
    elif kind == REJECT:
        _remove_group(m, i, when)
        if _active_groups(m) == 1:
            m.ended = DECIDED
    else:
        for g in range(m.N):
            if at.group(m, g).active and not state.groups[g]:
                _remove_group(m, g, when)
        m.ended = LED


@bare
def _remove_group(m: Memory, i: int, when: int) -> None:
    """Take a group out of G; leaders that it blocked are looked at again in the same round."""
    for j in range(m.K):
        at.arm(m, i, j).own = clocks.count_at(m, i, j, clocks.row_of(m, when))
        for d in range(m.D):
            at.member(m, i, j, d).active = 0
    at.group(m, i).active = 0
    windows.wake_blocked(m, i, when)


@bare
def _eliminate_arm(m: Memory, i: int, j: int, d: int, when: int) -> None:
    """Take an arm out of A_d; its clock may slow down, so what reads its group is looked at again."""
    # Before the set changes, as counts are those of the sets of now.
    clocks.keep_points(m, i, j)
    at.arm(m, i, j).own = clocks.count_at(m, i, j, clocks.row_of(m, when))
    at.member(m, i, j, d).active = 0
    envelopes.drop_rival(m, i, j, d)
    # The count of the arm changes in all its dims, and with it every row that it is part of.
    for e in range(m.D):
        at.envelope(m, i, e).row = -1
    reconsider(m, i, d, when)


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
        families.judge: _judge,
        families.reads: _reads,
        families.is_stale: _is_stale,
        guards.next_end: _next_end,
        guards.clears: _clears,
        guards.candidate: _candidate,
    },
    load=_load,
    pace=lambda rule: 1,
)

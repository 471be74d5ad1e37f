"""EECB by jumps: sums of efficiencies instead of pairs, arms on the clocks of their dims.

* REJECT of i by j: j is worth more than i by the threshold 2 sum_d w^d beta(n^d);
* STALE arm j of i in dim d: R_i^d is 2 beta(n^d) above the arm's mean;
* ACCEPT of i, the leader: it is good enough against all others; one that it is not good enough against
  blocks it.

A test of worths is a test of sums over dims, so its certificate is that for sums of bridges
(`certificates`), not a comparison of two walks.

n^d is a function of the round alone, the algorithm's `Lockstep.clock`. An arm has been pulled max(n^d
over the dims it is active in) times, or as often as it was when it was last eliminated from a dim,
if that is more.

Over a window the count of an arm goes from one number to another, and known points may lie between.
Its mean is bounded there by the least and the largest chord, a number `spread` with s sqrt(L / 2)
`spread` the band of one bridge divided by its count, and `rise`, the same summed over its bridges,
for the expectation of the largest of them (see `certificates`).
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms import equal_effect as eecb
from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.records import Numbers, bare, view
from bestgroup.drivers.jump import envelopes, families, guards, windows
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import ROUNDING
from bestgroup.drivers.jump.envelopes import front, keeps_below, note_counts, row_of
from bestgroup.drivers.jump.memory import Memory
from bestgroup.drivers.jump.walks import bracket, keep_stretch, reveal_stretch
from bestgroup.inference.radii import radius_at, radius_below

DECIDED, LED = 1, 2  # how a run is over
ENVELOPES = -1  # in place of a round


# Clocks.


@bare
def _count_at(m: Memory, i: int, j: int, row: int) -> int:
    count = at.pulls(m, i)[j]
    for d in range(m.D):
        # An arm is pulled in rounds whose focus is one of its dims until its count is that of the
        # clock: the fastest of its clocks rules.
        if at.member(m, i, j, d).active:
            count = max(count, at.clock(m, row, d).count)
    return count


@bare
def _set_clock(m: Memory, rule: Rule, state: eecb.State, row: int, before: int, when: int) -> None:
    """Set a clock to that of round `when`, from that of round `before`: now, or in the sprint."""
    state.round[0] = before
    for d in range(m.D):
        now = at.clock(m, row_of(m, before), d).count
        state.clock[d] = now
        # A guess: between the clocks of now and of the window below, or in proportion.
        if row > 0 and when > before + 1:
            share = (when - before) / (at.window(m, row - 1).end - before)
            state.clock[d] += int(share * (at.clock(m, row - 1, d).count - now))
        elif when > before + 1:
            state.clock[d] += int(now * ((when - before) / before))
    families.clock_after(state, rule, when - before, state.clock)
    for d in range(m.D):
        clock = at.clock(m, row, d)
        # Below the radius of all counts up to this one: what a window may rely on.
        clock.count = state.clock[d]
        clock.radius = rule.scale[d] * radius_below(rule.radius, max(1, clock.count))


# Arms over a window.


@bare
def _chords(m: Memory, i: int, j: int, d: int) -> tuple[float, float, float, float]:
    """Return the least and the largest chord, the spread and the rise of an arm in the window on top."""
    u, c = at.unit_of(m, i, j, d), at.column_of(m, d)
    first, last = _count_at(m, i, j, at.PRESENT), _count_at(m, i, j, m.level)
    bracket(m, u, first, last)
    p = at.point(m, u)
    # Between known points the mean lies between those at the ends but for its bridge, which counts
    # with its length.
    low, high, spread, rise = np.inf, -np.inf, 0.0, 0.0
    if first > 0:
        low = high = at.sums(p)[c] / first
    while p.time < last:
        q = at.point(m, p.next)
        mean = at.sums(q)[c] / q.time
        low, high = min(low, mean), max(high, mean)
        steps = q.time - p.time
        if steps > 1.0:
            share = math.sqrt(steps) / (p.time + 1.0)
            spread = max(spread, share)
            rise += share
        p = q
    return low, high, spread, rise


@bare
def _upper_chords(m: Memory, i: int, d: int, skip: int) -> tuple[float, float, float, int]:
    """Return the largest chord, the spread, the rise, and the number of arms of an efficiency.

    The arm `skip` does not count. A rival that its known points keep below the chord of another arm
    is no further considered: it is as good as that number.
    """
    env = at.envelope(m, i, d)
    high, spread, rise, arms = -np.inf, 0.0, 0.0, 0
    for k in range(-1, env.rivals):
        # The lead comes first, since it keeps out most others.
        rival = env.lead if k < 0 else at.member(m, i, k, d).rival
        if rival == skip or (rival == env.lead and k >= 0):
            continue
        # Below another arm's chord throughout: the maximum over arms does not need it.
        if arms > 0 and keeps_below(m, i, rival, d, high):
            continue
        _, most, wide, rising = _chords(m, i, rival, d)
        high, spread, rise = max(high, most), max(spread, wide), max(rise, rising)
        arms += 1
    return high, spread, rise, max(arms, 1)


@bare
def _apart_over(m: Memory, item: int, level: float) -> tuple[float, float]:
    """Return the room of what an item compares below a level in the window, and the band it needs.

    That is R_i . w - R_j . w, or R_i^d - the mean of an arm.
    """
    test, joint = at.item(m, item), m.columns > 1
    one, two = guards.pair_of(test.kind, test.group, test.other, test.side, 0)
    arm = test.other if test.kind == at.STALE else at.NOBODY
    total, size, squares, rises, arms = 0.0, 0.0, 0.0, 0.0, 1
    for below in range(2):
        plain = 0.0
        for d in range(m.D):
            weight = _weight_of(m, item, d)
            if weight == 0.0:
                continue
            factor = weight * at.dim(m, d).band
            if below == 0:
                chord, spread, rise, many = _upper_chords(m, one, d, arm)
                arms *= many
            else:
                lower = arm if arm != at.NOBODY else front(m, two, d)
                chord, _, spread, rise = _chords(m, two, lower, d)
            if chord == -np.inf:  # the arm is alone, and the last arm is never eliminated
                return np.inf, 0.0
            total += weight * (-chord if below else chord)
            size += weight * abs(chord)
            rises += factor * rise
            # Standard deviations add up where walks may depend on each other, variances where they
            # do not.
            plain += factor * spread
            squares += 0.0 if joint else (factor * spread) ** 2
        squares += plain * plain if joint else 0.0
    # One certificate for every choice of arms that may attain the efficiencies.
    m.passed += arms
    room = level - total - ROUNDING * (abs(level) + size)
    return room, math.sqrt(squares) + m.lift * rises


@bare
def _weight_of(m: Memory, item: int, d: int) -> float:
    """Return how much a dim counts in what an item compares."""
    test = at.item(m, item)
    if test.kind == at.STALE:
        return 1.0 if test.dim == d else 0.0
    return at.dim(m, d).weight


# Arms in a sprint, and hooks of the loops.


@bare
def _means_of(m: Memory, i: int, j: int, d: int) -> Numbers:
    u, c, means = at.unit_of(m, i, j, d), at.column_of(m, d), at.scratch(m)
    # Counts, not rounds: in a sprint an arm may be pulled in some of the rounds only.
    last = _count_at(m, i, j, row_of(m, m.stop))
    reveal_stretch(m, u, _count_at(m, i, j, at.PRESENT), last)
    for k in range(m.stop - m.now + 1):
        means[k] = at.means(m, u, c)[_count_at(m, i, j, at.PRESENT + k) - at.unit(m, u).base]
    return means


@bare
def _enter_window(m: Memory, rule: Rule, state: eecb.State) -> None:
    _set_clock(m, rule, state, m.level, m.now, at.window(m, m.level).end)


@bare
def _begin_sprint(m: Memory, rule: Rule, state: eecb.State) -> None:
    for when in range(m.now, m.stop):
        _set_clock(m, rule, state, row_of(m, when + 1), when, when + 1)


# Runs.


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
def _pull_last(m: Memory, rule: Rule, state: eecb.State, limit: int) -> bool:
    """Pull the last batch of the group that is left; whether the limit allows it."""
    _set_state_clock(m, state, row_of(m, m.round))
    focus, total = eecb.focus_at(state.clock, rule), 0
    for batch in range(2):
        # Counted first, then pulled, if that is within the limit.
        for i in range(m.N):
            for j in range(m.K):
                count = at.pulls(m, i)[j]
                active = at.group(m, i).active != 0 and at.member(m, i, j, focus).active != 0
                pulled = 1 if active and count == state.clock[focus] else 0
                total += (count + pulled) * (1 - batch)
                at.pulls(m, i)[j] = count + pulled * batch
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
    if m.N == 1:
        # The algorithm stops after its first round.
        m.round, m.ended = 1, LED
        windows.end_window(m)
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
        if _margin(m, at.REJECT, 0, top, low, 0) >= 0.0:
            for j in range(m.N):
                if at.group(m, j).active and j != i:
                    if _margin(m, at.REJECT, 0, _worth(m, j, True), low, 0) >= 0.0:
                        windows.add_item(m, at.REJECT, i, j, 0, at.OTHER, 0)
        # With epsilon = 0 nobody can be good enough before all others are beaten.
        if at.dim(m, 0).epsilon > 0.0:
            windows.add_item(m, at.ACCEPT, i, at.NOBODY, 0, at.OWN, 0)


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
    if kind == at.STALE:
        return eecb.stale_margin(lower, upper, at.clock(m, row, d).radius, 1.0)
    threshold = 0.0
    for e in range(m.D):
        threshold += 2.0 * at.dim(m, e).weight * at.clock(m, row, e).radius
    if kind == at.REJECT:
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
    test, length = at.item(m, item), at.window(m, m.level).end - m.now
    if length > 2 * test.reach:
        return False
    level = _level_at(m, item, m.level)
    if not guards.has_blocker(m, item):
        test.other = _most_worth(m, test.group)
    if _apart(m, item, ENVELOPES)[0] < level:
        return True
    room, band = _apart_over(m, item, level)
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
    best, most = at.NOBODY, -np.inf
    for j in range(m.N):
        if at.group(m, j).active and j != i:
            worth = _worth(m, j, False) + _worth(m, j, True)
            if worth > most:
                best, most = j, worth
    return best


@bare
def _candidate(m: Memory, item: int, start: int) -> int:
    if start > m.stop:
        return windows.NEVER
    if not guards.has_blocker(m, item):
        return start
    # The least level in the sprint: if that is out of reach, no round needs a value.
    level = _level_at(m, item, row_of(m, m.stop))
    if _apart(m, item, ENVELOPES)[0] < level - ROUNDING * abs(level):
        return windows.NEVER
    test = at.item(m, item)
    one, two = guards.pair_of(test.kind, test.group, test.other, test.side, 0)
    for d in range(m.D):
        if _weight_of(m, item, d) > 0.0:
            envelopes.fill_row(m, one, d)
            envelopes.fill_row(m, two, d)
    if test.kind == at.STALE:
        envelopes.means_of(m, test.group, test.other, test.dim)
    for when in range(start, m.stop + 1):
        apart, size = _apart(m, item, when - m.now)
        level = _level_at(m, item, row_of(m, when))
        if apart >= level - ROUNDING * (abs(level) + size):
            return when
    return windows.NEVER


@bare
def _apart(m: Memory, item: int, k: int) -> tuple[float, float]:
    """Return how far apart what an item compares is, and its size.

    At a round of the sprint, whose rows are filled, or at most, over the ENVELOPES.
    """
    test = at.item(m, item)
    one, two = guards.pair_of(test.kind, test.group, test.other, test.side, 0)
    apart, size = 0.0, 0.0
    for d in range(m.D):
        weight = _weight_of(m, item, d)
        if weight == 0.0:
            continue
        if k != ENVELOPES:
            # The means of an arm were the last that were asked for.
            stale = test.kind == at.STALE
            upper, lower = at.row(m, one, d)[k], at.scratch(m)[k] if stale else at.row(m, two, d)[k]
        else:
            upper, lower = at.envelope(m, one, d).high, at.envelope(m, two, d).low
            if test.kind == at.STALE:
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
    if test.kind == at.STALE:
        mean = envelopes.means_of(m, i, j, d)[when - m.now]
        beta = radius_at(rule.radius, state.clock[d])
        return eecb.stale_margin(mean, R[i, d], beta, rule.scale[d]) > 0.0
    state.threshold[0] = eecb.threshold_at(state.clock, rule)
    if test.kind == at.REJECT:
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
    test = at.item(m, item)
    kind, i = test.kind, test.group
    windows.move(m, item, at.UNUSED)
    if kind == at.STALE:
        _eliminate_arm(m, state, i, test.other, test.dim, when)
    elif kind == at.REJECT:
        # Leaders that it blocked are looked at again in the same round.
        guards.remove_group(m, state, i, when, when)
        left = 0
        for g in range(m.N):
            left += at.group(m, g).active
        if left == 1:
            m.ended = DECIDED
    else:
        for g in range(m.N):
            if at.group(m, g).active and not state.groups[g]:
                guards.remove_group(m, state, g, when, when)
        m.ended = LED


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
    guards.reconsider(m, state, i, at.NOBODY, when + 1)


def _load(m: Memory, rule: Rule) -> None:
    view(at.dim(m, 0), m.D)["weight"] = rule.weights
    m.slack = sum((rule.epsilon * rule.weights).tolist())


FAMILY = families.Family(
    hooks={
        envelopes.count_at: _count_at,
        envelopes.means_of: _means_of,
        guards.enter_window: _enter_window,
        families.begin_sprint: _begin_sprint,
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

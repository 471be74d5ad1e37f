"""TE+ by jumps: its signs and stale arms as guarded items, its sets as the algorithm keeps them.

A sign (i, j, d) is an item while it is unrecorded and both groups are active in d; nothing else of
a pair is ever read. Its guard is the comparison that it is about:

* ABOVE, that j is above i in dim d: R_j^d is less than rho above R_i^d;
* NEAR, that j does not beat i by epsilon there: R_i^d is less than rho' - epsilon above R_j^d;
* FAR, that j does: R_j^d is less than rho + epsilon above R_i^d.

All items that may fire at a round are judged by what was recorded before it; then the algorithm's
own `reject`, `accept` and `refresh_activity` do the rest.
"""

from __future__ import annotations

from bestgroup.algorithms.te_plus.algorithm import (
    State,
    above_margin,
    accept,
    far_margin,
    is_open,
    near_margin,
    refresh_activity,
    reject,
    restart,
    stale_margin,
)
from bestgroup.algorithms.te_plus.radii import PairRule, radius_from
from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import array, bare
from bestgroup.drivers.jump import families
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.envelopes import ROUND_CLOCK, note_efficiency, screen_envelope
from bestgroup.drivers.jump.families import CAPPED, DONE, NOBODY, Family, candidate
from bestgroup.drivers.jump.families.elimination import close, eliminate_arm, retire_arms
from bestgroup.drivers.jump.guards import (
    FIRST_CELLS,
    PAIR_GUARDS,
    boundaries_of,
    cell_of,
    set_radii,
)
from bestgroup.drivers.jump.memory import LIVE, UNUSED, Memory, Radii
from bestgroup.drivers.jump.windows import (
    add_pair,
    clear_items,
    first_live,
    go_through,
    move,
    outer_length,
    schedule,
    start_window,
)

STALE, ABOVE, NEAR, FAR = range(4)  # kinds of items


@kernel
def _run(m: Memory, rule: PairRule, state: State, limit: int) -> int:
    # Signs live in the algorithm's own state: its functions decide the rounds, and only pulls and
    # envelopes are kept in memory.
    restart(state, rule)
    for i in range(m.N):
        at.group(m, i).undecided, at.group(m, i).changed = 1, 0
    now, code = 0, DONE
    m.ended = 0 if state.groups.any() else 1
    while m.ended == 0 and code == DONE:
        # Some arm is pulled as long as a group is undecided, so the width is positive here.
        end = min(now + outer_length(m, now), (limit - m.retired) // m.width)
        if end <= now:
            code = close(m, now, CAPPED)
        else:
            start_window(m, now, end)
            set_radii(m, at.radii(m, 0), now, end)
            _screen(m, rule, state, now, end)
            go_through(m, rule, state)
            now = end
    for i in range(m.N):
        # Results are read from memory for all families alike.
        at.group(m, i).accepted = 1 if state.accepted[i] else 0
        at.group(m, i).active = 1 if state.groups[i] else 0
    return code


@bare
def _screen(m: Memory, rule: PairRule, state: State, now: int, end: int) -> None:
    """Set envelopes over (now, end] and make an item of every sign and arm that may change there."""
    clear_items(m)
    for i in range(m.N):
        for d in range(m.D):
            if state.dims[i, d]:
                # Three radii, one for each kind of claim, since each has a share of delta of its
                # own.
                threshold = at.radii(m, 0).stale * at.dim(m, d).scale
                screen_envelope(m, i, d, now, end, threshold, STALE)
    for i in range(m.N):
        if state.groups[i]:
            for j in range(m.N):
                if j != i:
                    _screen_pair(m, state, i, j)


@bare
def _screen_pair(m: Memory, state: State, i: int, j: int) -> None:
    """Make items of the signs of i against j that may be recorded in the envelopes."""
    radii, open_pair = at.radii(m, 0), is_open(state, i, j)
    for d in range(m.D):
        if state.dims[i, d] and state.dims[j, d]:
            own, other, dim = at.envelope(m, i, d), at.envelope(m, j, d), at.dim(m, d)
            # The most that each sign can have over the envelopes.
            behind, ahead = other.high - own.low, own.high - other.low
            rho = radii.beta * dim.scale
            if not state.above[j, i, d] and above_margin(behind, rho) >= 0.0:
                add_pair(m, ABOVE, i, j, d)
            if open_pair and near_margin(ahead, radii.near * dim.scale, dim.epsilon) >= 0.0:
                add_pair(m, NEAR, i, j, d)
            if open_pair and not state.far[j, i, d]:
                if far_margin(behind, rho, dim.epsilon) >= 0.0:
                    add_pair(m, FAR, i, j, d)


@bare
def _is_dead(m: Memory, item: int) -> bool:
    test = at.item(m, item)
    i, j, d = test.group, test.other, test.dim
    if test.kind == STALE:
        return not (at.envelope(m, i, d).open and at.member(m, i, j, d).active)
    return not (at.envelope(m, i, d).open and at.envelope(m, j, d).open)


@bare
def _one(m: Memory, item: int) -> int:
    """Return 1: an item has one guard."""
    return 1


@bare
def _always(m: Memory, item: int) -> bool:
    """Return True: an item is about two groups, whatever becomes of others."""
    return True


@bare
def _never(m: Memory, item: int, beta: float) -> bool:
    """Return False: there is no blocker besides the guard."""
    return False


@bare
def _nothing(m: Memory) -> bool:
    """Return False: a round is decided as a whole."""
    return False


@bare
def _reads(m: Memory, item: int, d: int) -> bool:
    return at.item(m, item).dim == d


@bare
def _is_stale(high: float, low: float, threshold: float) -> bool:
    return stale_margin(high, low, threshold) >= 0.0


@bare
def _guard(m: Memory, item: int, k: int, radii: Radii) -> tuple[int, int, int, int, float]:
    """Return (i, j, d, arm, threshold) of the guard: its margin at equal efficiencies, negated."""
    test, dim = at.item(m, item), at.dim(m, at.item(m, item).dim)
    i, j, d = test.group, test.other, test.dim
    if test.kind == STALE:
        return i, i, d, j, -stale_margin(0.0, 0.0, radii.stale * dim.scale)
    if test.kind == NEAR:
        return i, j, d, NOBODY, -near_margin(0.0, radii.near * dim.scale, dim.epsilon)
    if test.kind == FAR:
        return j, i, d, NOBODY, -far_margin(0.0, radii.beta * dim.scale, dim.epsilon)
    return j, i, d, NOBODY, -above_margin(0.0, radii.beta * dim.scale)


@bare
def _judge(m: Memory, rule: PairRule, state: State, item: int, when: int) -> None:
    """Judge all items that may fire at a round, and decide the round if any does."""
    # All items of the round before any is recorded: the algorithm evaluates all its signs against
    # the sets of the round before.
    fired, item = False, first_live(m)
    while item >= 0:
        test = at.item(m, item)
        after = test.after
        if test.when == when:
            if _fires(m, item, when):
                fired = True
            else:
                schedule(m, item, candidate(m, item, when + 1))
        item = after
    if fired:
        m.round = when
        _decide(m, state, _record(m, state, when))
        _carry_over(m, state, when)


@bare
def _fires(m: Memory, item: int, when: int) -> bool:
    """Return whether an item fires at a round."""
    test = at.item(m, item)
    i, j, d = test.group, test.other, test.dim
    # The boundaries were computed by the function that the algorithm uses, cell by cell, so that
    # the radius is the same to the bit.
    boundary, dim = at.boundary(m, cell_of(when)[0]), at.dim(m, d)
    own = note_efficiency(m, i, d, when)
    if test.kind == STALE:
        mean = at.means(m, at.unit_of(m, i, j, d), at.column_of(m, d))[when - m.start - 1]
        rho = radius_from(boundary[2], m.radius_factor, when) * dim.scale
        return stale_margin(own, mean, rho) >= 0.0
    other = note_efficiency(m, j, d, when)
    if test.kind == NEAR:
        rho = radius_from(boundary[1], m.radius_factor, when) * dim.scale
        return near_margin(own - other, rho, dim.epsilon) >= 0.0
    rho = radius_from(boundary[0], m.radius_factor, when) * dim.scale
    if test.kind == FAR:
        return far_margin(other - own, rho, dim.epsilon) >= 0.0
    return above_margin(other - own, rho) >= 0.0


@bare
def _record(m: Memory, state: State, when: int) -> int:
    """Record the signs that fired at a round, eliminate stale arms; returns a bit for each kind."""
    kinds, item = 0, first_live(m)
    while item >= 0:
        test = at.item(m, item)
        after, kind, i, j, d = test.after, test.kind, test.group, test.other, test.dim
        if test.when == when:
            kinds |= 1 << kind
            # The item stays live until `_carry_over`, which takes the arm out of the envelopes,
            # too.
            if kind == STALE:
                state.arms[i, j, d] = False
            else:
                move(m, item, UNUSED)
            if kind == ABOVE:
                state.above[j, i, d] = True
            elif kind == FAR:
                state.far[j, i, d] = True
            elif kind == NEAR:
                state.near[i, j, d] = True
                at.group(m, i).changed = 1
        item = after
    return kinds


@bare
def _undecided(state: State) -> int:
    count = 0
    for i in range(len(state.groups)):
        if state.groups[i]:
            count += 1
    return count


@bare
def _decide(m: Memory, state: State, kinds: int) -> None:
    """Do what follows from signs of these kinds: `above` rejects, `near` and rejections accept."""
    # Each function is asked only if something that it reads has changed; otherwise it would return
    # the sets as they are.
    before = _undecided(state)
    if kinds & (1 << ABOVE):
        reject(state)
    if kinds & (1 << NEAR) or _undecided(state) < before:
        accept(state)
    if kinds & (1 << NEAR | 1 << FAR) or _undecided(state) < before:
        refresh_activity(state)
    m.ended = 1 if _undecided(state) == 0 else 0


@bare
def _carry_over(m: Memory, state: State, when: int) -> None:
    """Let envelopes, counts and items follow the sets after a round."""
    for i in range(m.N):
        group = at.group(m, i)
        for d in range(m.D):
            if not state.dims[i, d]:
                at.envelope(m, i, d).open = 0
        retire_arms(m, i, when)
        # Decided in this round: nothing about it will be recorded any more.
        if group.undecided and not state.groups[i]:
            group.undecided, group.changed = 0, 1
            _drop(m, state, group.other_items, False)
        if group.changed:
            group.changed = 0
            _drop(m, state, group.own_items, True)
    for item in range(m.used):
        test = at.item(m, item)
        if test.list == LIVE and test.kind == STALE and test.when == when:
            move(m, item, UNUSED)
            eliminate_arm(m, test.group, test.other, test.dim, when)


@bare
def _drop(m: Memory, state: State, item: int, own: bool) -> None:
    """Drop the signs of a chain that cannot be recorded any more; those of closed dims die anyway."""
    while item >= 0:
        test = at.item(m, item)
        if test.kind != STALE and test.list != UNUSED:
            settled = test.kind != ABOVE and not is_open(state, test.group, test.other)
            if not state.groups[test.group] or settled:
                move(m, item, UNUSED)
        item = test.next_own if own else test.next_other


def _load(m: Memory, rule: PairRule, cells: int) -> None:
    """Write the radii."""
    m.paired, m.radius_factor = 1, rule.factor
    boundaries = boundaries_of(rule.variance, tuple(rule.alphas.tolist()), cells)
    array(at.boundary(m, 0), boundaries.size)[:] = boundaries.ravel()


FAMILY = Family(
    hooks={
        **PAIR_GUARDS,
        **ROUND_CLOCK,
        families.run: _run,
        families.screen: _screen,
        families.is_dead: _is_dead,
        families.judge: _judge,
        families.end_round: _nothing,
        families.reads: _reads,
        families.is_stale: _is_stale,
        families.guard_count: _one,
        families.guard: _guard,
        families.has_blocker: _always,
        families.find_blocker: _never,
        families.is_barred: _never,
    },
    load=_load,
    pairs=lambda shape: shape.groups**2 * shape.dims,
    cells=FIRST_CELLS,
)

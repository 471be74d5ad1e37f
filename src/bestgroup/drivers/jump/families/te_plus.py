"""TE+ by jumps: its signs and stale arms as guarded items, its sets as the algorithm keeps them.

A sign (i, j, d) is an item while it is unrecorded and both groups are active in d; nothing else of
a pair is ever read. Its margin is the comparison that it is about:

* ABOVE, that j is above i in dim d: R_j^d is less than rho above R_i^d;
* NEAR, that j does not beat i by epsilon there: R_i^d is less than rho' - epsilon above R_j^d;
* FAR, that j does: R_j^d is less than rho + epsilon above R_i^d.

All items that may fire at a round are judged by what was recorded before it; then the algorithm's
own `reject`, `accept` and `refresh_activity` do the rest. Items of signs that cannot be recorded any
more are dead, and dropped when they are met.

Of many groups some sign is recorded in nearly every round for long. Then nothing can be passed over,
and rounds are gone through one by one, with the walks of all active arms: `_rush` does in blocks of a
sprint what the algorithm's `step` does, by its own list of comparisons that may be recorded soon.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.te_plus import signs, watch
from bestgroup.algorithms.te_plus.algorithm import is_done
from bestgroup.algorithms.te_plus.radii import (
    PairRule,
    cell_of,
    edges_of,
    radii_at,
    radii_below,
    radius_from,
)
from bestgroup.algorithms.te_plus.signs import State
from bestgroup.algorithms.te_plus.watch import narrow, record, record_watched, refresh_watch
from bestgroup.compile.records import array, bare
from bestgroup.drivers.jump import families
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.envelopes import (
    fill_row,
    means_of,
    note_counts,
    note_efficiency,
    screen_envelope,
)
from bestgroup.drivers.jump.families import Family
from bestgroup.drivers.jump.guards import candidate, eliminate_arm, margin_at, pair_of
from bestgroup.drivers.jump.memory import FEW, OTHER, OWN, SIGN, SPARE, SPRINT, STALE, Memory
from bestgroup.drivers.jump.walks import OutOfRoom
from bestgroup.drivers.jump.windows import (
    add_item,
    clear_items,
    end_window,
    first_live,
    schedule,
    top_end,
)

# Kinds of items besides STALE, in the order of those of `watch`.
ABOVE, NEAR, FAR = SIGN + watch.ABOVE, SIGN + watch.NEAR, SIGN + watch.FAR
_BUSY, _LATELY = 0.8, 256.0  # more than this share of sprints with events, in about so many rounds
_BELOW = 1.0 - 1e-12  # a computed radius falls but for rounding


@bare
def _begin_run(m: Memory, rule: PairRule, state: State) -> None:
    # Signs live in the algorithm's own state: its functions decide the rounds, and only pulls and
    # envelopes are kept in memory.
    signs.restart(state, rule)
    m.busy = 1.0
    m.ended = 1 if is_done(state, rule) else 0


@bare
def _end_run(m: Memory, rule: PairRule, state: State, limit: int, finished: bool) -> bool:
    for i in range(m.N):
        at.group(m, i).accepted = 1 if state.accepted[i] else 0
        at.group(m, i).active = 1 if state.groups[i] else 0
    return finished


# Radii and margins.


@bare
def set_radii(m: Memory, rule: PairRule, row: int, now: int, end: int) -> None:
    """Write numbers below all radii of rounds now + 1, ..., end."""
    # Within a cell of rounds the radius is its boundary divided by the round; at the ends of cells
    # it falls, too.
    cell, before = cell_of(end)
    if cell >= m.cells:
        raise OutOfRoom()
    radii = at.window(m, row)
    _radii_at(m, rule, row, cell, end, _BELOW)
    if now < before:
        beta, near, stale = radii.beta, radii.near, radii.stale
        _radii_at(m, rule, row, cell - 1, before, _BELOW)
        radii.beta, radii.near = min(beta, radii.beta), min(near, radii.near)
        radii.stale = min(stale, radii.stale)
    radii.until = end


@bare
def _radii_at(m: Memory, rule: PairRule, row: int, cell: int, when: int, share: float) -> None:
    """Write a share of the radii at a round of a cell: one for each kind of claim."""
    # The boundaries were computed by the function that the algorithm uses, cell by cell, so that
    # the radius is the same to the bit.
    radii, boundary = at.window(m, row), at.boundary(m, cell)
    radii.beta = share * radius_from(boundary[0], rule.factor, when)
    radii.near = share * radius_from(boundary[1], rule.factor, when)
    radii.stale = share * radius_from(boundary[2], rule.factor, when)


@bare
def _margin(m: Memory, kind: int, d: int, upper: float, lower: float, row: int) -> float:
    dim, radii = at.dim(m, d), at.window(m, row)
    if kind == STALE:
        return signs.stale_margin(upper, lower, radii.stale * dim.scale)
    if kind == NEAR:
        return signs.near_margin(upper - lower, radii.near * dim.scale, dim.epsilon)
    if kind == FAR:
        return signs.far_margin(upper - lower, radii.beta * dim.scale, dim.epsilon)
    return signs.above_margin(upper - lower, radii.beta * dim.scale)


# Items.


@bare
def _screen(m: Memory, rule: PairRule, state: State, now: int) -> None:
    """Set envelopes and make an item of every sign and arm that may change in the outer window."""
    clear_items(m)
    for i in range(m.N):
        for d in range(m.D):
            if state.dims[i, d]:
                screen_envelope(m, i, d, now, True)
    for i in range(m.N):
        for j in range(m.N if state.groups[i] else 0):
            if j != i:
                open_pair = signs.is_open(state, i, j)
                for d in range(m.D):
                    if state.dims[i, d] and state.dims[j, d]:
                        _screen_pair(m, state, i, j, d, open_pair)


@bare
def _screen_pair(m: Memory, state: State, i: int, j: int, d: int, open_pair: bool) -> None:
    """Make items of the signs of i against j that may be recorded in the envelopes."""
    own, other = at.envelope(m, i, d), at.envelope(m, j, d)
    # The most that each sign can have over the envelopes.
    if not state.above[j, i, d] and _margin(m, ABOVE, d, other.high, own.low, 0) >= 0.0:
        add_item(m, ABOVE, i, j, d, OTHER, 0)
    if open_pair and _margin(m, NEAR, d, own.high, other.low, 0) >= 0.0:
        add_item(m, NEAR, i, j, d, OWN, 0)
    if open_pair and not state.far[j, i, d]:
        if _margin(m, FAR, d, other.high, own.low, 0) >= 0.0:
            add_item(m, FAR, i, j, d, OTHER, 0)


@bare
def _is_dead(m: Memory, state: State, item: int) -> bool:
    test = at.item(m, item)
    kind, i, j, d = test.kind, test.group, test.other, test.dim
    if kind == STALE:
        return not state.dims[i, d] or not at.member(m, i, j, d).active
    if not state.groups[i] or not state.dims[i, d] or not state.dims[j, d]:
        return True
    if kind == ABOVE:
        return state.above[j, i, d]
    return not signs.is_open(state, i, j) or (kind == FAR and state.far[j, i, d])


# Judgements.


@bare
def _judge(m: Memory, rule: PairRule, state: State, item: int, when: int) -> None:
    """Judge all items that may fire at a round, and decide the round if any does."""
    _radii_at(m, rule, SPARE, cell_of(when)[0], when, 1.0)
    # All items of the round before any is recorded: the algorithm evaluates all its signs against
    # the sets of the round before.
    fired, item = False, first_live(m)
    while item >= 0:
        test = at.item(m, item)
        after = test.after
        if test.when == when:
            if margin_at(m, item, when) >= 0.0:
                fired = True
            else:
                schedule(m, item, candidate(m, item, when + 1))
        item = after
    if fired:
        m.round = when
        m.fired += 1
        _record(m, state, when)
        _decide(m, rule, state, when)
        _eliminate_arms(m, state, when)


@bare
def _decide(m: Memory, rule: PairRule, state: State, when: int) -> None:
    """Do what follows from the signs of a round: `above` rejects, `near` and rejections accept."""
    signs.reject(state)
    signs.accept(state)
    signs.refresh_activity(state)
    m.ended = 1 if is_done(state, rule) else 0
    _close_dims(m, state, when)


@bare
def _record(m: Memory, state: State, when: int) -> None:
    """Record the signs that fired at a round."""
    item = first_live(m)
    while item >= 0:
        test = at.item(m, item)
        if test.when == when and test.kind >= SIGN:
            upper, lower = pair_of(test.kind, test.group, test.other, test.side, 0)
            record(state, test.kind - SIGN, upper, lower, test.dim)
        item = test.after


@bare
def _close_dims(m: Memory, state: State, when: int) -> None:
    """Count pulls up to a round of the groups with dims that nobody needs any more."""
    for i in range(m.N):
        for d in range(m.D):
            if at.envelope(m, i, d).open and not state.dims[i, d]:
                note_counts(m, i, when)
                at.envelope(m, i, d).open = 0


@bare
def _eliminate_arms(m: Memory, state: State, when: int) -> None:
    """Eliminate the stale arms of a round."""
    item = first_live(m)
    while item >= 0:
        test = at.item(m, item)
        i, j, d, item = test.group, test.other, test.dim, test.after
        if test.kind == STALE and test.when == when and at.member(m, i, j, d).active:
            eliminate_arm(m, state, i, j, d, when)
            # What reads the efficiency may have gone to other lists.
            item = first_live(m)


# Rounds one by one, as in the exact engine, but with R some rounds ahead.


@bare
def _is_busy(m: Memory, before: int) -> bool:
    length = m.now - before
    share = min(1.0, SPRINT * m.fired / max(1, length))
    m.busy += (share - m.busy) * min(1.0, length / _LATELY)
    m.fired = 0
    return m.N > FEW and m.busy > _BUSY


@bare
def _rush(m: Memory, rule: PairRule, state: State) -> None:
    m.stretch += 1
    m.stop = top_end(m)
    clear_items(m)
    for i in range(m.N):
        for d in range(m.D):
            if state.dims[i, d]:
                # Without envelopes every active arm may attain the efficiency.
                env = at.envelope(m, i, d)
                env.rivals = 0
                for j in range(m.K):
                    if at.member(m, i, j, d).active:
                        at.member(m, i, env.rivals, d).rival = env.lead = j
                        env.rivals += 1
                _look_ahead(m, state, i, d, m.now + 1)
    close = _watch(m, rule, state)
    for when in range(m.now + 1, m.stop + 1):
        close = _do_round(m, rule, state, when, close)
        if m.ended != 0:
            return
    m.stretch += 1
    # Some test is near, so that a window to come is none of the longest.
    m.again, m.used = 0, 1
    end_window(m)


@bare
def _look_ahead(m: Memory, state: State, i: int, d: int, start: int) -> None:
    """Set between which values an efficiency is from a round of the sprint on."""
    row, least, most = fill_row(m, i, d), np.inf, -np.inf
    for k in range(start - m.now, m.stop - m.now + 1):
        least, most = min(least, row[k]), max(most, row[k])
    state.least[i, d], state.most[i, d] = least, most


@bare
def _watch(m: Memory, rule: PairRule, state: State) -> int:
    """Put the comparisons that may be recorded in the sprint first; returns how many they are."""
    refresh_watch(state, rule, state.least, state.most, m.stop)
    radii_below(rule, m.stop, state.radii)
    return narrow(state, state.radii, rule)


@bare
def _do_round(m: Memory, rule: PairRule, state: State, when: int, close: int) -> int:
    """Do the decisions of a round; returns how many comparisons are left of those that come first."""
    radii_at(state.edges, rule, when, state.radii)
    for i in range(m.N):
        for d in range(m.D):
            if state.dims[i, d]:
                state.efficiency[i, d] = note_efficiency(m, i, d, when)
    before, fired, lower = state.watch[0], False, False
    close = record_watched(state, state.radii, rule, close)
    if state.watch[0] < before or before < 0:
        fired = True
        _decide(m, rule, state, when)
    for i in range(m.N):
        for d in range(m.D):
            if state.dims[i, d] and _drop_arms(m, state, i, d, when):
                fired, least = True, state.least[i, d]
                _look_ahead(m, state, i, d, when)
                # With an arm less an efficiency may turn out lower than what was looked ahead to.
                lower = lower or state.least[i, d] < least
    if fired:
        m.round = when
        m.fired += 1
    return _watch(m, rule, state) if lower else close


@bare
def _drop_arms(m: Memory, state: State, i: int, d: int, when: int) -> bool:
    """Eliminate the stale arms of a group in a dim; whether there are any."""
    env, found = at.envelope(m, i, d), False
    for j in range(m.K if env.rivals > 1 else 0):
        if at.member(m, i, j, d).active:
            mean, rho = means_of(m, i, j, d)[when - m.now], state.radii[2] * at.dim(m, d).scale
            if signs.stale_margin(state.efficiency[i, d], mean, rho) >= 0.0:
                eliminate_arm(m, state, i, j, d, when)
                env.row, found = -1, True
    return found


def _load(m: Memory, rule: PairRule, cells: int) -> None:
    """Write the boundaries."""
    edges = edges_of(rule.variance, tuple(rule.alphas.tolist()), cells)
    array(at.boundary(m, 0), edges.size)[:] = edges.ravel()


FAMILY = Family(
    hooks={
        families.begin_run: _begin_run,
        families.end_run: _end_run,
        families.set_radii: set_radii,
        families.screen: _screen,
        families.margin: _margin,
        families.is_dead: _is_dead,
        families.judge: _judge,
        families.is_busy: _is_busy,
        families.rush: _rush,
    },
    load=_load,
    pairs=lambda shape: shape.groups**2 * shape.dims,
    cells=lambda shape: 128 + (12 if shape.groups <= FEW else 20) * 64,
)

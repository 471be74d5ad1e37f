"""TE+ by jumps: its signs and stale arms as guarded items, its sets as the algorithm keeps them.

A sign (i, j, d) is an item while it is unrecorded and both groups are active in d; nothing else of
a pair is ever read. Its margin is the comparison that it is about:

* ABOVE, that j is above i in dim d: R_j^d is less than rho above R_i^d;
* NEAR, that j does not beat i by epsilon there: R_i^d is less than rho' - epsilon above R_j^d;
* FAR, that j does: R_j^d is less than rho + epsilon above R_i^d.

All items that may fire at a round are judged by what was recorded before it, in the algorithm's own
state; then its own `reject`, `accept` and `refresh_activity` do the rest.

Of many groups some sign is recorded in nearly every round for long. These rounds `_rush` goes
through one by one: it does what the algorithm's `step` does, by its own list of comparisons that may
be recorded soon.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.te_plus import radii, signs, watch
from bestgroup.algorithms.te_plus.algorithm import is_done
from bestgroup.algorithms.te_plus.radii import PairRule
from bestgroup.algorithms.te_plus.signs import State
from bestgroup.compile.records import array, bare
from bestgroup.drivers.jump import envelopes, families, guards, windows
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.memory import FEW, OTHER, OWN, SIGN, SPARE, SPRINT, STALE, Memory
from bestgroup.drivers.jump.walks import OutOfRoom

# Kinds of items besides STALE, in the order of those of `watch`.
ABOVE, NEAR, FAR = SIGN + watch.ABOVE, SIGN + watch.NEAR, SIGN + watch.FAR
_BUSY, _LATELY = 0.8, 256.0  # more than this share of sprints with events, in about so many rounds
_BELOW = 1.0 - 1e-12  # a computed radius falls but for rounding


@bare
def _begin_run(m: Memory, rule: PairRule, state: State) -> None:
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
    cell, before = radii.cell_of(end)
    if cell >= m.cells:
        raise OutOfRoom()
    for k in range(3):
        least = _radius(m, rule, k, cell, end)
        if now < before:
            least = min(least, _radius(m, rule, k, cell - 1, before))
        at.radii(m, row)[k] = _BELOW * least
    at.window(m, row).until = end


@bare
def _radius(m: Memory, rule: PairRule, k: int, cell: int, when: int) -> float:
    # The boundaries were computed by the function that the algorithm uses, cell by cell, so that
    # the radius is the same to the bit.
    return radii.radius_from(at.boundary(m, cell)[k], rule.factor, when)


@bare
def _margin(m: Memory, kind: int, d: int, upper: float, lower: float, row: int) -> float:
    dim, rho = at.dim(m, d), at.radii(m, row)
    if kind == STALE:
        return signs.stale_margin(upper, lower, rho[2] * dim.scale)
    return watch.margin(kind - SIGN, upper - lower, rho, dim.scale, dim.epsilon)


# Items.


@bare
def _screen(m: Memory, rule: PairRule, state: State, now: int) -> None:
    windows.clear_items(m)
    for i in range(m.N):
        for d in range(m.D):
            if state.dims[i, d]:
                envelopes.screen_envelope(m, i, d, now, True)
    for i in range(m.N):
        for j in range(m.N if state.groups[i] else 0):
            for d in range(m.D if j != i else 0):
                if state.dims[i, d] and state.dims[j, d]:
                    for kind in range(ABOVE, FAR + 1):
                        _screen_sign(m, state, kind, i, j, d)


@bare
def _screen_sign(m: Memory, state: State, kind: int, i: int, j: int, d: int) -> None:
    """Make an item of a sign of i against j if it may be recorded in the envelopes."""
    side = OWN if kind == NEAR else OTHER
    upper, lower = guards.pair_of(kind, i, j, side, 0)
    high, low = at.envelope(m, upper, d).high, at.envelope(m, lower, d).low
    if _margin(m, kind, d, high, low, 0) >= 0.0 and watch.may_record(state, kind - SIGN, i, j, d):
        windows.add_item(m, kind, i, j, d, side, 0)


@bare
def _is_dead(m: Memory, state: State, item: int) -> bool:
    test = at.item(m, item)
    i, j, d = test.group, test.other, test.dim
    if test.kind == STALE:
        return not state.dims[i, d] or not at.member(m, i, j, d).active
    return not watch.may_record(state, test.kind - SIGN, i, j, d)


# Judgements.


@bare
def _judge(m: Memory, rule: PairRule, state: State, item: int, when: int) -> None:
    """Judge all items that may fire at a round, and decide the round if any does."""
    for k in range(3):
        at.radii(m, SPARE)[k] = _radius(m, rule, k, radii.cell_of(when)[0], when)
    fired, item = False, windows.first_live(m)
    while item >= 0:
        test = at.item(m, item)
        after = test.after
        if test.when == when:
            if guards.margin_at(m, item, when) >= 0.0:
                fired = True
                # Margins do not read what is recorded, so the round may go on with this.
                if test.kind != STALE:
                    watch.record(state, test.kind - SIGN, test.group, test.other, test.dim)
            else:
                windows.schedule(m, item, guards.candidate(m, item, when + 1))
        item = after
    if fired:
        m.round = when
        m.fired += 1
        _decide(m, rule, state, when)
        _eliminate_arms(m, state, when)


@bare
def _decide(m: Memory, rule: PairRule, state: State, when: int) -> None:
    """Do what follows from the signs of a round: `above` rejects, `near` and rejections accept."""
    signs.reject(state)
    signs.accept(state)
    signs.refresh_activity(state)
    m.ended = 1 if is_done(state, rule) else 0
    for i in range(m.N):
        for d in range(m.D):
            # Dims that nobody needs any more: up to here their arms were pulled.
            if at.envelope(m, i, d).open and not state.dims[i, d]:
                envelopes.note_counts(m, i, when)
                at.envelope(m, i, d).open = 0


@bare
def _eliminate_arms(m: Memory, state: State, when: int) -> None:
    item = windows.first_live(m)
    while item >= 0:
        test = at.item(m, item)
        i, j, d, item = test.group, test.other, test.dim, test.after
        if test.kind == STALE and test.when == when and at.member(m, i, j, d).active:
            guards.eliminate_arm(m, state, i, j, d, when)
            # What reads the efficiency may have gone to other lists.
            item = windows.first_live(m)


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
    m.stop = at.window(m, m.level).end
    windows.clear_items(m)
    for i in range(m.N):
        for d in range(m.D):
            if state.dims[i, d]:
                # Without envelopes every active arm may attain the efficiency.
                envelopes.list_rivals(m, i, d, -np.inf)
                env = at.envelope(m, i, d)
                env.lead = at.member(m, i, env.rivals - 1, d).rival
                _look_ahead(m, state, i, d, m.now + 1)
    close = _watch(m, rule, state)
    for when in range(m.now + 1, m.stop + 1):
        close = _do_round(m, rule, state, when, close)
        if m.ended != 0:
            return
    m.stretch += 1
    # Some test is near, so that a window to come is none of the longest.
    m.again, m.used = 0, 1
    windows.end_window(m)


@bare
def _look_ahead(m: Memory, state: State, i: int, d: int, start: int) -> None:
    """Set between which values an efficiency is from a round of the sprint on."""
    row, least, most = envelopes.fill_row(m, i, d), np.inf, -np.inf
    for k in range(start - m.now, m.stop - m.now + 1):
        least, most = min(least, row[k]), max(most, row[k])
    state.least[i, d], state.most[i, d] = least, most


@bare
def _watch(m: Memory, rule: PairRule, state: State) -> int:
    """Put the comparisons that may be recorded in the sprint first; returns how many they are."""
    watch.refresh_watch(state, rule, state.least, state.most, m.stop)
    radii.radii_below(rule, m.stop, state.radii)
    return watch.narrow(state, state.radii, rule)


@bare
def _do_round(m: Memory, rule: PairRule, state: State, when: int, close: int) -> int:
    """Do the decisions of a round; returns how many comparisons are left of those that come first."""
    radii.radii_at(state.edges, rule, when, state.radii)
    for i in range(m.N):
        for d in range(m.D):
            if state.dims[i, d]:
                state.efficiency[i, d] = envelopes.note_efficiency(m, i, d, when)
    before, lower = state.watch[0], False
    close = watch.record_watched(state, state.radii, rule, close)
    if state.watch[0] < before or before < 0:
        m.round = when
        _decide(m, rule, state, when)
    for i in range(m.N):
        for d in range(m.D):
            if state.dims[i, d] and _drop_arms(m, state, i, d, when):
                m.round, least = when, state.least[i, d]
                _look_ahead(m, state, i, d, when)
                # With an arm less an efficiency may turn out lower than what was looked ahead to.
                lower = lower or state.least[i, d] < least
    m.fired += 1 if m.round == when else 0
    return _watch(m, rule, state) if lower else close


@bare
def _drop_arms(m: Memory, state: State, i: int, d: int, when: int) -> bool:
    """Eliminate the stale arms of a group in a dim; whether there are any."""
    env, found, rho = at.envelope(m, i, d), False, state.radii[2] * at.dim(m, d).scale
    for j in range(m.K if env.rivals > 1 else 0):
        if at.member(m, i, j, d).active:
            mean = envelopes.means_of(m, i, j, d)[when - m.now]
            if signs.stale_margin(state.efficiency[i, d], mean, rho) >= 0.0:
                guards.eliminate_arm(m, state, i, j, d, when)
                env.row, found = -1, True
    return found


def _load(m: Memory, rule: PairRule) -> None:
    edges = radii.edges_of(rule.variance, tuple(rule.alphas.tolist()), m.cells)
    array(at.boundary(m, 0), edges.size)[:] = edges.ravel()


FAMILY = families.Family(
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

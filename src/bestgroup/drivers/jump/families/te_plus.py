"""TE+ by jumps: its signs and stale arms as guarded items, its sets as the algorithm keeps them.

A sign (i, j, d) is an item while it is unrecorded and both groups are active in d; nothing else of
a pair is ever read. Its margin is the comparison that it is about:

* ABOVE, that j is above i in dim d: R_j^d is less than rho above R_i^d;
* NEAR, that j does not beat i by epsilon there: R_i^d is less than rho' - epsilon above R_j^d;
* FAR, that j does: R_j^d is less than rho + epsilon above R_i^d.

All items that may fire at a round are judged by what was recorded before it; then the algorithm's
own `reject`, `accept` and `refresh_activity` do the rest. Items of signs that cannot be recorded any
more are dead, and dropped when they are met.
"""

from __future__ import annotations

from bestgroup.algorithms.te_plus import signs
from bestgroup.algorithms.te_plus.algorithm import is_done
from bestgroup.algorithms.te_plus.radii import PairRule, cell_of, edges_of, radius_from
from bestgroup.algorithms.te_plus.signs import State
from bestgroup.compile.records import array, bare
from bestgroup.drivers.jump import families
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.envelopes import note_counts, screen_envelope
from bestgroup.drivers.jump.families import Family
from bestgroup.drivers.jump.guards import candidate, eliminate_arm, margin_at
from bestgroup.drivers.jump.memory import OTHER, OWN, SIGN, SPARE, STALE, Memory
from bestgroup.drivers.jump.walks import OutOfRoom
from bestgroup.drivers.jump.windows import add_item, clear_items, first_live, schedule

ABOVE, NEAR, FAR = SIGN, SIGN + 1, SIGN + 2  # kinds of items besides STALE
_FIRST_CELLS = 128 + 12 * 64  # cells of `cell_of` up to round 2^19
_BELOW = 1.0 - 1e-12  # a computed radius falls but for rounding


@bare
def _begin_run(m: Memory, rule: PairRule, state: State) -> None:
    # Signs live in the algorithm's own state: its functions decide the rounds, and only pulls and
    # envelopes are kept in memory.
    signs.restart(state, rule)
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
        _record(m, state, when)
        # What follows from signs: `above` rejects, `near` and rejections accept.
        signs.reject(state)
        signs.accept(state)
        signs.refresh_activity(state)
        m.ended = 1 if is_done(state, rule) else 0
        _close_dims(m, state, when)
        _eliminate_arms(m, state, when)


@bare
def _record(m: Memory, state: State, when: int) -> None:
    """Record the signs that fired at a round."""
    item = first_live(m)
    while item >= 0:
        test = at.item(m, item)
        kind, i, j, d = test.kind, test.group, test.other, test.dim
        if test.when == when:
            if kind == ABOVE:
                signs.record_above(state, i, j, d)
            elif kind == FAR:
                signs.record_far(state, i, j, d)
            elif kind == NEAR:
                signs.record_near(state, i, j, d)
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
    },
    load=_load,
    pairs=lambda shape: shape.groups**2 * shape.dims,
    cells=_FIRST_CELLS,
)

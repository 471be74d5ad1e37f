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

from bestgroup.algorithms.te_plus import signs
from bestgroup.algorithms.te_plus.radii import PairRule, cell_of, edges_of, radius_from
from bestgroup.algorithms.te_plus.signs import State
from bestgroup.compile.records import array, bare
from bestgroup.drivers.jump import families, guards
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.envelopes import note_efficiency, screen_envelope
from bestgroup.drivers.jump.families import NOBODY, SIGN, STALE, Family
from bestgroup.drivers.jump.families.elimination import eliminate_arm, retire_arms
from bestgroup.drivers.jump.guards import candidate
from bestgroup.drivers.jump.memory import LIVE, SPARE, UNUSED, Memory, Window
from bestgroup.drivers.jump.walks import OutOfRoom
from bestgroup.drivers.jump.windows import add_pair, clear_items, first_live, move, schedule

ABOVE, NEAR, FAR = SIGN, SIGN + 1, SIGN + 2  # kinds of items besides STALE
_FIRST_CELLS = 128 + 12 * 64  # cells of `cell_of` up to round 2^19
_BELOW = 1.0 - 1e-12  # a computed radius falls but for rounding


@bare
def _begin_run(m: Memory, rule: PairRule, state: State) -> None:
    # Signs live in the algorithm's own state: its functions decide the rounds, and only pulls and
    # envelopes are kept in memory.
    signs.restart(state, rule)
    for i in range(m.N):
        at.group(m, i).undecided = 1
    m.ended = 0 if _undecided(state) > 0 else 1


@bare
def _end_run(m: Memory, rule: PairRule, state: State, limit: int, finished: bool) -> bool:
    for i in range(m.N):
        at.group(m, i).accepted = 1 if state.accepted[i] else 0
        at.group(m, i).active = 1 if state.groups[i] else 0
    return finished


@bare
def set_radii(m: Memory, radii: Window, now: int, end: int) -> None:
    """Write numbers below all radii of rounds now + 1, ..., end."""
    # Within a cell of rounds the radius is its boundary divided by the round; at the ends of cells
    # it falls, too.
    cell, before = cell_of(end)
    if cell >= m.cells:
        raise OutOfRoom()
    _radii_at(m, radii, cell, end, _BELOW)
    if now < before:
        beta, near, stale = radii.beta, radii.near, radii.stale
        _radii_at(m, radii, cell - 1, before, _BELOW)
        radii.beta, radii.near = min(beta, radii.beta), min(near, radii.near)
        radii.stale = min(stale, radii.stale)
    radii.until = end


@bare
def _radii_at(m: Memory, radii: Window, cell: int, when: int, share: float) -> None:
    """Write a share of the radii at a round of a cell."""
    # The boundaries were computed by the function that the algorithm uses, cell by cell, so that
    # the radius is the same to the bit.
    boundary, factor = at.boundary(m, cell), m.radius_factor
    radii.beta = share * radius_from(boundary[0], factor, when)
    radii.near = share * radius_from(boundary[1], factor, when)
    radii.stale = share * radius_from(boundary[2], factor, when)


@bare
def _margin(m: Memory, kind: int, d: int, own: float, other: float, radii: Window) -> float:
    """Return the margin of an item of a kind, from the efficiency of its group and the other value."""
    dim = at.dim(m, d)
    if kind == STALE:
        return signs.stale_margin(own, other, radii.stale * dim.scale)
    if kind == NEAR:
        return signs.near_margin(own - other, radii.near * dim.scale, dim.epsilon)
    if kind == FAR:
        return signs.far_margin(other - own, radii.beta * dim.scale, dim.epsilon)
    return signs.above_margin(other - own, radii.beta * dim.scale)


@bare
def _screen(m: Memory, rule: PairRule, state: State, now: int, end: int) -> None:
    """Set envelopes over (now, end] and make an item of every sign and arm that may change there."""
    clear_items(m)
    for i in range(m.N):
        for d in range(m.D):
            if state.dims[i, d]:
                # Three radii, one for each kind of claim, since each has a share of delta of its
                # own.
                threshold = at.window(m, 0).stale * at.dim(m, d).scale
                screen_envelope(m, i, d, now, end, threshold, True)
    for i in range(m.N):
        if state.groups[i]:
            for j in range(m.N):
                if j != i:
                    _screen_pair(m, state, i, j)


@bare
def _screen_pair(m: Memory, state: State, i: int, j: int) -> None:
    """Make items of the signs of i against j that may be recorded in the envelopes."""
    radii, open_pair = at.window(m, 0), signs.is_open(state, i, j)
    for d in range(m.D):
        if state.dims[i, d] and state.dims[j, d]:
            own, other = at.envelope(m, i, d), at.envelope(m, j, d)
            # The most that each sign can have over the envelopes.
            if not state.above[j, i, d] and _margin(m, ABOVE, d, own.low, other.high, radii) >= 0.0:
                add_pair(m, ABOVE, i, j, d)
            if open_pair and _margin(m, NEAR, d, own.high, other.low, radii) >= 0.0:
                add_pair(m, NEAR, i, j, d)
            if open_pair and not state.far[j, i, d]:
                if _margin(m, FAR, d, own.low, other.high, radii) >= 0.0:
                    add_pair(m, FAR, i, j, d)


@bare
def _is_stale(high: float, low: float, threshold: float) -> bool:
    return signs.stale_margin(high, low, threshold) >= 0.0


@bare
def _guard(m: Memory, item: int, k: int, radii: Window) -> tuple[int, int, int, int, float]:
    """Return (i, j, d, arm, threshold) of the guard: its margin at equal efficiencies, negated."""
    test = at.item(m, item)
    i, j, d = test.group, test.other, test.dim
    threshold = -_margin(m, test.kind, d, 0.0, 0.0, radii)
    if test.kind == STALE:
        return i, i, d, j, threshold
    return (i, j, d, NOBODY, threshold) if test.kind == NEAR else (j, i, d, NOBODY, threshold)


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
        kinds = _record(m, state, when)
        _decide(m, state, kinds)
        _carry_over(m, state, when, kinds)


@bare
def _fires(m: Memory, item: int, when: int) -> bool:
    """Return whether an item fires at a round."""
    test, radii = at.item(m, item), at.window(m, SPARE)
    i, j, d = test.group, test.other, test.dim
    _radii_at(m, radii, cell_of(when)[0], when, 1.0)
    own = note_efficiency(m, i, d, when)
    if test.kind == STALE:
        other = at.means(m, at.unit_of(m, i, j, d), at.column_of(m, d))[when - m.start - 1]
    else:
        other = note_efficiency(m, j, d, when)
    return _margin(m, test.kind, d, own, other, radii) >= 0.0


@bare
def _record(m: Memory, state: State, when: int) -> int:
    """Record the signs that fired at a round, eliminate stale arms; returns a bit for each kind."""
    kinds, item = 0, first_live(m)
    while item >= 0:
        test = at.item(m, item)
        kind, i, j, d = test.kind, test.group, test.other, test.dim
        if kind == NEAR and test.when == when:
            _settle_pair(m, item, when)
        after = test.after
        if test.when == when:
            kinds |= 1 << kind
            # The item stays live until `_carry_over`, which takes the arm out of the envelopes,
            # too.
            if kind == STALE:
                state.arms[i, j, d] = False
            else:
                move(m, item, UNUSED)
            if kind == ABOVE:
                signs.record_above(state, i, j, d)
            elif kind == FAR:
                signs.record_far(state, i, j, d)
            elif kind == NEAR:
                signs.record_near(state, i, j, d)
        item = after
    return kinds


@bare
def _settle_pair(m: Memory, item: int, when: int) -> None:
    """Drop what else could be recorded of a settled pair, but for what fired in the same round.

    Screening makes the items of a pair one after the other.
    """
    own = at.item(m, item)
    for step in range(-1, 2, 2):
        k = item + step
        while 0 <= k < m.used:
            test = at.item(m, k)
            if test.kind == STALE or test.group != own.group or test.other != own.other:
                break
            if test.kind != ABOVE and test.list != UNUSED:
                if test.list != LIVE or test.when != when:
                    move(m, k, UNUSED)
            k += step


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
        signs.reject(state)
    if kinds & (1 << NEAR) or _undecided(state) < before:
        signs.accept(state)
    if kinds & (1 << NEAR | 1 << FAR) or _undecided(state) < before:
        signs.refresh_activity(state)
    m.ended = 1 if _undecided(state) == 0 else 0


@bare
def _carry_over(m: Memory, state: State, when: int, kinds: int) -> None:
    """Let envelopes, counts and items follow the sets after a round with signs of these kinds."""
    for i in range(m.N):
        group, closed = at.group(m, i), False
        for d in range(m.D):
            if at.envelope(m, i, d).open and not state.dims[i, d]:
                at.envelope(m, i, d).open, closed = 0, True
        if closed:
            retire_arms(m, i, when)
        # Decided in this round: nothing about it will be recorded any more.
        if group.undecided and not state.groups[i]:
            group.undecided = 0
            _drop(m, state, group.other_items, False)
            _drop(m, state, group.own_items, True)
    item = _next_stale(m, -1, when) if kinds & (1 << STALE) else -1
    while item >= 0:
        test = at.item(m, item)
        move(m, item, UNUSED)
        eliminate_arm(m, test.group, test.other, test.dim, when)
        item = _next_stale(m, item, when)


@bare
def _next_stale(m: Memory, last: int, when: int) -> int:
    """Return the first arm that fired at a round, in the order of items, after `last`, or -1."""
    best, item = -1, first_live(m)
    while item >= 0:
        test = at.item(m, item)
        if test.kind == STALE and test.when == when and item > last:
            if best < 0 or item < best:
                best = item
        item = test.after
    return best


@bare
def _drop(m: Memory, state: State, item: int, own: bool) -> None:
    """Drop the signs of a chain that cannot be recorded any more; those of closed dims die anyway."""
    while item >= 0:
        test = at.item(m, item)
        if test.kind != STALE and test.list != UNUSED:
            settled = test.kind != ABOVE and not signs.is_open(state, test.group, test.other)
            if not state.groups[test.group] or settled:
                move(m, item, UNUSED)
        item = test.next_own if own else test.next_other


def _load(m: Memory, rule: PairRule, cells: int) -> None:
    """Write the radii."""
    m.radius_factor = rule.factor
    edges = edges_of(rule.variance, tuple(rule.alphas.tolist()), cells)
    array(at.boundary(m, 0), edges.size)[:] = edges.ravel()


FAMILY = Family(
    hooks={
        families.begin_run: _begin_run,
        families.end_run: _end_run,
        families.screen: _screen,
        families.judge: _judge,
        families.is_stale: _is_stale,
        families.guard: _guard,
        guards.set_radii: set_radii,
    },
    load=_load,
    pairs=lambda shape: shape.groups**2 * shape.dims,
    cells=_FIRST_CELLS,
)

"""Which comparisons of TE+ may be recorded soon: all others are not looked at, round after round.

Every comparison, (ABOVE or FAR, j over i, d) as well as (NEAR, i over j, d), asks whether R_a^d -
R_b^d plus a constant reaches a radius. Now and then all of them are screened: each R gets a box
[low, high] round its present value, and those that could be recorded with both R in their boxes and
the least radius of the rounds to come are *watched*. A round in which an R leaves its box screens the
comparisons of that group again. So a sign is recorded in the round in which a look at all pairs would
record it: rounding is monotone, and the margin at the ends of the boxes is the largest inside.

Who knows R some rounds ahead says between which values it lies there, and looks in these rounds at
those comparisons only that could be recorded with them (`narrow`): mostly a few of a hundred.

Boxes as wide as means move in a sixteenth of the rounds so far keep both parts of the work small.
If more is watched than there is room for, all pairs are looked at until the next screening.
"""

from __future__ import annotations

import math

from bestgroup.algorithms.te_plus.radii import PairRule, radii_below
from bestgroup.algorithms.te_plus.signs import (
    State,
    above_margin,
    far_margin,
    is_open,
    near_margin,
    record_above,
    record_far,
    record_near,
    record_pair,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.records import Numbers
from bestgroup.problem.arrays import Floats

ABOVE, NEAR, FAR = range(3)
_EPOCH = 16  # a screening serves this part of the rounds before it
_WIDTH = 0.4  # half of a box, in scales over the root of the round
_BITS = 24  # for a group in the number of a comparison
_MASK = 2**_BITS - 1
_CLEAR = 1e-12  # share of a level that rounding can move it by, generously


@borrowing
def refresh_watch(state: State, rule: PairRule, least: Floats, most: Floats, last: int) -> None:
    """Screen what has to be screened for the rounds up to `last`, in which R is in [least, most]."""
    N, _, D = state.arms.shape
    before = state.watch[0]
    if last > state.watch[1]:
        _screen_all(state, rule, least, most, last)
        return
    for i in range(N):
        for d in range(D):
            inside = state.low[i, d] <= least[i, d] and most[i, d] <= state.high[i, d]
            if state.dims[i, d] and not inside:
                _set_box(state, rule, i, d, least[i, d], most[i, d], last)
                for j in range(N):
                    if j != i and state.dims[j, d]:
                        _screen(state, rule, i, j, d)
                        _screen(state, rule, j, i, d)
    # The same comparison may have been added many times.
    if state.watch[0] < 0 <= before:
        _screen_all(state, rule, least, most, last)


@borrowing
def _set_box(
    state: State, rule: PairRule, i: int, d: int, least: float, most: float, last: int
) -> None:
    half = _WIDTH * rule.scale[d] / math.sqrt(last)
    state.low[i, d] = least - half
    state.high[i, d] = most + half


@borrowing
def _screen_all(state: State, rule: PairRule, least: Floats, most: Floats, last: int) -> None:
    """Make boxes and the list of what is watched anew."""
    N, _, D = state.arms.shape
    state.watch[0], state.watch[1] = 0, last + last // _EPOCH
    radii_below(rule, state.watch[1], state.floors)
    for i in range(N):
        for d in range(D):
            _set_box(state, rule, i, d, least[i, d], most[i, d], last)
    for d in range(D):
        bottom = math.inf
        for b in range(N):
            if state.dims[b, d]:
                bottom = min(bottom, state.low[b, d])
        for a in range(N):
            # Against the least of all R: most groups can reach no radius in the early rounds.
            if state.dims[a, d] and _may_reach(state, rule, d, state.high[a, d] - bottom):
                for b in range(N):
                    if b != a and state.dims[b, d]:
                        _screen(state, rule, a, b, d)


@borrowing
def _may_reach(state: State, rule: PairRule, d: int, most: float) -> bool:
    """Return whether R_a^d - R_b^d can be recorded as anything if it is at most that."""
    scale, floors = rule.scale[d], state.floors
    # What is far is above, too.
    return (
        above_margin(most, floors[ABOVE] * scale) >= 0.0
        or near_margin(most, floors[NEAR] * scale, rule.epsilon[d]) >= 0.0
    )


@borrowing
def _screen(state: State, rule: PairRule, a: int, b: int, d: int) -> None:
    """Watch what R_a^d - R_b^d may be recorded as while both are in their boxes."""
    most, rho = state.high[a, d] - state.low[b, d], state.floors[0] * rule.scale[d]
    if state.groups[b] and above_margin(most, rho) >= 0.0:
        if not state.above[a, b, d]:
            _add(state, ABOVE, a, b, d)
        if far_margin(most, rho, rule.epsilon[d]) >= 0.0:
            if not state.far[a, b, d] and is_open(state, b, a):
                _add(state, FAR, a, b, d)
    rho = state.floors[1] * rule.scale[d]
    if state.groups[a] and near_margin(most, rho, rule.epsilon[d]) >= 0.0:
        if is_open(state, a, b):
            _add(state, NEAR, a, b, d)


@borrowing
def _add(state: State, kind: int, a: int, b: int, d: int) -> None:
    """Watch a comparison; with no room left the number of them is -1 from here on."""
    count = state.watch[0]
    if 0 <= count < len(state.watched):
        state.watched[count] = (((d << 2 | kind) << _BITS) | a) << _BITS | b
        state.watch[0] = count + 1
    else:
        state.watch[0] = -1


@borrowing
def narrow(state: State, radii: Floats, rule: PairRule) -> int:
    """Put first what may be recorded while R is in [least, most] and radii are not below these.

    Returns how many comparisons that are.
    """
    _set_levels(state, radii, rule)
    close = 0
    for k in range(state.watch[0]):
        number = int(state.watched[k])
        code, a, b = number >> (2 * _BITS), (number >> _BITS) & _MASK, number & _MASK
        d = code >> 2
        if state.most[a, d] - state.least[b, d] >= state.levels[code]:
            state.watched[k] = state.watched[close]
            state.watched[close] = number
            close += 1
    return close


@borrowing
def record_watched(state: State, radii: Floats, rule: PairRule, close: int) -> int:
    """Record the signs of a round, all of which are among so many watched comparisons that come first.

    Returns how many are left of these.
    """
    N, R = len(state.groups), state.efficiency
    if state.watch[0] < 0:
        for i in range(N):
            if state.groups[i]:
                for j in range(N):
                    if j != i:
                        record_pair(state, R, R, i, j, radii, rule, True)
        return close
    _set_levels(state, radii, rule)
    k = 0
    while k < close:
        number = int(state.watched[k])
        code, a, b = number >> (2 * _BITS), (number >> _BITS) & _MASK, number & _MASK
        d = code >> 2
        lead, kind = R[a, d] - R[b, d], code & 3
        if (
            lead >= state.levels[code]
            and margin(kind, lead, radii, rule.scale[d], rule.epsilon[d]) >= 0.0
        ):
            i, j = (a, b) if kind == NEAR else (b, a)
            record(state, kind, i, j, d)
            # Recorded, or beyond being recorded: the last one takes its place.
            close -= 1
            state.watch[0] -= 1
            state.watched[k] = state.watched[close]
            state.watched[close] = state.watched[state.watch[0]]
        else:
            k += 1
    return close


@borrowing
def _set_levels(state: State, radii: Floats, rule: PairRule) -> None:
    """Set what R_a^d - R_b^d must be at least for each kind and dim, a little less than its margin asks.

    Nearly all that is watched is ruled out by one comparison with it.
    """
    for d in range(len(rule.epsilon)):
        scale, epsilon = rule.scale[d], rule.epsilon[d]
        for kind in range(3):
            level = -margin(kind, 0.0, radii, scale, epsilon)
            state.levels[d << 2 | kind] = level - _CLEAR * (abs(level) + 2.0 * epsilon)


@borrowing
def margin(kind: int, lead: float, radii: Numbers, scale: float, epsilon: float) -> float:
    """Return the margin of a comparison of a kind, from R_a^d - R_b^d."""
    if kind == NEAR:
        return near_margin(lead, radii[1] * scale, epsilon)
    if kind == FAR:
        return far_margin(lead, radii[0] * scale, epsilon)
    return above_margin(lead, radii[0] * scale)


@borrowing
def may_record(state: State, kind: int, i: int, j: int, d: int) -> bool:
    """Return whether a comparison of i with j is still to be recorded, once its margin says so."""
    # Counts of the two arms are equal only where both groups are active; rho(r) needs that.
    if not (state.groups[i] and state.dims[i, d] and state.dims[j, d]):
        return False
    if kind == ABOVE:
        return not state.above[j, i, d]
    # Of a pair that is settled nothing else is ever read.
    return is_open(state, i, j) and not (kind == FAR and state.far[j, i, d])


@borrowing
def record(state: State, kind: int, i: int, j: int, d: int) -> None:
    """Record a comparison of i with j, unless what it is about was decided since it was listed."""
    # In this very round, perhaps.
    if not may_record(state, kind, i, j, d):
        return
    if kind == ABOVE:
        record_above(state, i, j, d)
    elif kind == NEAR:
        record_near(state, i, j, d)
    else:
        record_far(state, i, j, d)

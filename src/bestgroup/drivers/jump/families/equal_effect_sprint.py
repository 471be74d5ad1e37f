"""Short windows of EECB, looked at round by round with every value that a live item reads."""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms import equal_effect as eecb
from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.kernel import kernel
from bestgroup.compile.pointers import bare, part
from bestgroup.drivers.jump.clock import clock_of, count_at, radii_of
from bestgroup.drivers.jump.envelopes import value_at
from bestgroup.drivers.jump.families.equal_effect_screen import (
    BEATEN,
    LEADER,
    STALE,
    slack_of,
    threshold_below,
    worth_of,
)
from bestgroup.drivers.jump.memory import (
    ACTIVE,
    ARM_LOW,
    BASE_MEANS,
    BASES,
    COLUMNS,
    DIM_COUNT,
    FROM,
    GROUP_COUNT,
    HIGH,
    KIND,
    LEAD,
    LIST,
    LOW,
    NEXT,
    ONE,
    ONES,
    PRESENT,
    RIVAL,
    RIVALS,
    ROW,
    SAME_ONE,
    SAME_TWO,
    SCALES,
    STAMPS,
    STRETCH,
    SUM,
    THREE,
    TIME,
    TO,
    TWO,
    TWOS,
    VALUES,
    WATCHERS,
    WEIGHTS,
    WHEN,
    Reals,
    Words,
    arm_at,
    box_at,
    cell_at,
    column_of,
    dense_at,
    group_at,
    item_at,
    point_at,
    row_at,
    unit_of,
)
from bestgroup.drivers.jump.queue import LIVE, NEVER, UNUSED, schedule
from bestgroup.drivers.jump.spans import NOBODY, bracket_span, stays_under
from bestgroup.drivers.jump.stretch import reveal_stretch
from bestgroup.drivers.jump.walks import insert, reveal
from bestgroup.inference.radii import radius_at

_CLEAR = 1e-13  # share of a value by which candidates are looked for too early


@bare
def row_of(Z: Words, when: int) -> int:
    """Return the row of the clock at a round of the sprint."""
    return PRESENT + when - Z[FROM]


@bare
def sprint_arm(Z: Words, F: Reals, i: int, j: int, d: int) -> int:
    """Make an arm known at every count of the sprint, and return its unit."""
    u = unit_of(Z, i, j, d)
    if Z[Z[STAMPS] + u] == Z[STRETCH]:
        return u
    first, last = count_at(Z, i, j, PRESENT), count_at(Z, i, j, row_of(Z, Z[TO]))
    bracket_span(Z, F, u, first, last)
    head, columns = point_at(Z, u), Z[COLUMNS]
    Z[Z[BASES] + u] = first
    for c in range(columns):
        F[Z[BASE_MEANS] + u * columns + c] = F[head + SUM + c] / max(1, first)
    if last == first:
        Z[Z[STAMPS] + u] = Z[STRETCH]
    elif F[point_at(Z, int(F[head + NEXT])) + TIME] == last:
        reveal_stretch(Z, F, u, first, last)
    else:
        Z[Z[STAMPS] + u] = Z[STRETCH]
        for count in range(first + 1, last):
            reveal(Z, F, u, count)
        p = head
        for k in range(last - first):
            p = point_at(Z, int(F[p + NEXT]))
            for c in range(columns):
                F[dense_at(Z, u, c) + k] = F[p + SUM + c] / F[p + TIME]
    return u


@bare
def mean_at(Z: Words, F: Reals, u: int, c: int, count: int) -> float:
    """Return the mean of a sprinted unit at a count."""
    k = count - Z[Z[BASES] + u]
    if k == 0:
        return F[Z[BASE_MEANS] + u * Z[COLUMNS] + c]
    return F[dense_at(Z, u, c) + k - 1]


@bare
def keep_points(Z: Words, F: Reals, i: int, j: int) -> None:
    """Put all sprinted points of an arm into its list: its clock will slow down."""
    last = count_at(Z, i, j, row_of(Z, Z[TO]))
    for d in range(Z[DIM_COUNT]):
        u = unit_of(Z, i, j, d)
        if Z[Z[STAMPS] + u] == Z[STRETCH] and (d == 0 or Z[COLUMNS] == 1):
            for k in range(last - Z[Z[BASES] + u]):
                insert(Z, F, u, Z[Z[BASES] + u] + k + 1, k)


@bare
def fill_row(Z: Words, F: Reals, i: int, d: int) -> int:
    """Make a cell known at every round of the sprint, and return the place of its efficiencies."""
    cell, row, c = cell_at(Z, i, d), row_at(Z, i, d), column_of(Z, d)
    if Z[cell + ROW] == Z[STRETCH]:
        return row
    Z[cell + ROW] = Z[STRETCH]
    lead, n, least = Z[cell + LEAD], Z[TO] - Z[FROM], np.inf
    u = sprint_arm(Z, F, i, lead, d)
    for k in range(n):
        mean = mean_at(Z, F, u, c, count_at(Z, i, lead, PRESENT + 1 + k))
        F[row + k] = mean
        least = min(least, mean)
    for r in range(Z[cell + RIVALS]):
        rival = Z[cell + RIVAL + r]
        if rival == lead:
            continue
        u = unit_of(Z, i, rival, d)
        if Z[Z[STAMPS] + u] != Z[STRETCH]:
            if stays_under(Z, F, i, rival, d, least, row_of(Z, Z[TO])):
                continue
            sprint_arm(Z, F, i, rival, d)
        for k in range(n):
            count = count_at(Z, i, rival, PRESENT + 1 + k)
            F[row + k] = max(F[row + k], mean_at(Z, F, u, c, count))
    return row


@bare
def next_candidate(Z: Words, F: Reals, item: int, start: int) -> int:
    """Return the first round from `start` on, in the sprint, at which an item may fire."""
    if start > Z[TO]:
        return NEVER
    row = item_at(Z, item)
    kind, i, j, d = Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE]
    if kind == STALE:
        return _stale_candidate(Z, F, i, j, d, start)
    if kind == LEADER and (j == NOBODY or not Z[group_at(Z, j) + ACTIVE]):
        return start
    one, two, slack = (j, i, 0.0) if kind == BEATEN else (i, j, slack_of(Z, F))
    level = threshold_below(Z, F, row_of(Z, Z[TO])) - slack
    if worth_of(Z, F, one, HIGH) - worth_of(Z, F, two, LOW) < level - _CLEAR * abs(level):
        return NEVER
    for e in range(Z[DIM_COUNT]):
        fill_row(Z, F, one, e)
        fill_row(Z, F, two, e)
    for when in range(start, Z[TO] + 1):
        k, apart, size = when - Z[FROM] - 1, 0.0, 0.0
        for e in range(Z[DIM_COUNT]):
            upper, lower = F[row_at(Z, one, e) + k], F[row_at(Z, two, e) + k]
            apart += F[Z[WEIGHTS] + e] * (upper - lower)
            size += F[Z[WEIGHTS] + e] * (abs(upper) + abs(lower))
        level = threshold_below(Z, F, row_of(Z, when)) - slack
        if apart >= level - _CLEAR * (abs(level) + size):
            return when
    return NEVER


@bare
def _stale_candidate(Z: Words, F: Reals, i: int, j: int, d: int, start: int) -> int:
    box = box_at(Z, i, d)
    level = 2.0 * F[radii_of(Z, row_of(Z, Z[TO])) + d]
    if F[box + HIGH] - F[box + ARM_LOW + j] < level - _CLEAR * abs(F[box + HIGH]):
        return NEVER
    place = fill_row(Z, F, i, d)
    u, c = sprint_arm(Z, F, i, j, d), column_of(Z, d)
    for when in range(start, Z[TO] + 1):
        count = count_at(Z, i, j, row_of(Z, when))
        mean, best = mean_at(Z, F, u, c, count), F[place + when - Z[FROM] - 1]
        level = 2.0 * F[radii_of(Z, row_of(Z, when)) + d]
        if best - mean >= level - _CLEAR * (level + abs(best) + abs(mean)):
            return when
    return NEVER


@bare
def note_group(Z: Words, F: Reals, i: int, when: int) -> None:
    """Note the efficiencies of a group at a round of the sprint."""
    for d in range(Z[DIM_COUNT]):
        F[value_at(Z, i, d)] = F[fill_row(Z, F, i, d) + when - Z[FROM] - 1]


@kernel
def fires(Z: Words, F: Reals, rule: Rule, state: eecb.State, item: int, when: int) -> bool:
    """Return whether an item fires at a round; if not, a leader watches what blocks it there."""
    row, N, D = item_at(Z, item), Z[GROUP_COUNT], Z[DIM_COUNT]
    kind, i, j, d = Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE]
    R = part(F, Z[VALUES], N * D).reshape((N, D))
    for e in range(D):
        state.clock[e] = Z[clock_of(Z, row_of(Z, when)) + e]
    if kind == STALE:
        note_group(Z, F, i, when)
        u = sprint_arm(Z, F, i, j, d)
        count = count_at(Z, i, j, row_of(Z, when))
        mean = mean_at(Z, F, u, column_of(Z, d), count)
        beta = radius_at(rule.radius, Z[clock_of(Z, row_of(Z, when)) + d])
        return eecb.stale_margin(mean, R[i, d], beta, F[Z[SCALES] + d]) > 0.0
    state.threshold[0] = eecb.threshold_at(state.clock, rule)
    note_group(Z, F, i, when)
    if kind == BEATEN:
        note_group(Z, F, j, when)
        own, other = eecb.worth(R, i, rule), eecb.worth(R, j, rule)
        return eecb.beaten_margin(own, other, state.threshold[0]) > 0.0
    for g in range(N):
        state.groups[g] = Z[group_at(Z, g) + ACTIVE] != 0
        if state.groups[g] and g != i:
            note_group(Z, F, g, when)
            pair = eecb.worth(R, i, rule), eecb.worth(R, g, rule)
            if not eecb.lead_margin(*pair, slack_of(Z, F), state.threshold[0]) > 0.0:
                Z[row + TWO] = g
                return False
    for g in range(N):
        for e in range(D):
            state.efficiency[g, e] = R[g, e]
    return eecb.left(state.groups) > 1 and eecb.has_leader(state, rule)


@bare
def is_dead(Z: Words, item: int) -> bool:
    """Return whether the sets keep an item from ever firing."""
    row = item_at(Z, item)
    i, j = Z[row + ONE], Z[row + TWO]
    if not Z[group_at(Z, i) + ACTIVE]:
        return True
    if Z[row + KIND] == STALE:
        return not Z[arm_at(Z, i, j, Z[row + THREE])]
    return Z[row + KIND] == BEATEN and not Z[group_at(Z, j) + ACTIVE]


@bare
def look_again(Z: Words, F: Reals, i: int, when: int) -> None:
    """Make the items that look at a group live from the next round on."""
    for d in range(Z[DIM_COUNT]):
        Z[cell_at(Z, i, d) + ROW] = -1
    item = Z[Z[ONES] + i]
    while item >= 0:
        _look_at(Z, F, item, when)
        item = Z[item_at(Z, item) + SAME_ONE]
    item = Z[Z[TWOS] + i]
    while item >= 0:
        _look_at(Z, F, item, when)
        item = Z[item_at(Z, item) + SAME_TWO]
    item = Z[WATCHERS]
    while item >= 0:
        if Z[item_at(Z, item) + TWO] == i:
            _look_at(Z, F, item, when)
        item = Z[item_at(Z, item) + SAME_TWO]


@bare
def _look_at(Z: Words, F: Reals, item: int, when: int) -> None:
    row = item_at(Z, item)
    live = Z[row + LIST] == LIVE
    if Z[row + LIST] == UNUSED or (live and Z[row + WHEN] <= when) or is_dead(Z, item):
        return
    schedule(Z, item, next_candidate(Z, F, item, when + 1))


@bare
def best_rival(Z: Words, F: Reals, i: int, d: int) -> int:
    """Return the rival with the largest lower bound over the outer window."""
    cell, lows = cell_at(Z, i, d), box_at(Z, i, d) + ARM_LOW
    best = Z[cell + RIVAL]
    for k in range(Z[cell + RIVALS]):
        if F[lows + Z[cell + RIVAL + k]] > F[lows + best]:
            best = Z[cell + RIVAL + k]
    return best

"""Short windows of EECB, looked at round by round with every value that a live item reads."""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms import equal_effect as eecb
from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import Numbers, bare
from bestgroup.drivers.jump.clock import count_at
from bestgroup.drivers.jump.families.equal_effect_screen import (
    BEATEN,
    LEADER,
    STALE,
    high_worth,
    low_worth,
    slack_of,
    threshold_below,
)
from bestgroup.drivers.jump.memory import (
    LIVE,
    PRESENT,
    UNUSED,
    Memory,
    cell_at,
    clock_at,
    column_of,
    dim_at,
    efficiencies,
    group_at,
    item_at,
    means_at,
    member_at,
    point_at,
    row_at,
    sums,
    unit_at,
    unit_of,
    values_at,
    walk_at,
)
from bestgroup.drivers.jump.queue import (
    NEVER,
    schedule,
)
from bestgroup.drivers.jump.spans import NOBODY, bracket_span, stays_under
from bestgroup.drivers.jump.stretch import reveal_stretch
from bestgroup.drivers.jump.walks import insert, reveal
from bestgroup.inference.radii import radius_at

_CLEAR = 1e-13  # share of a value by which candidates are looked for too early


@bare
def row_of(m: Memory, when: int) -> int:
    """Return the row of the clock at a round of the sprint."""
    return PRESENT + when - m.start


@bare
def sprint_arm(m: Memory, i: int, j: int, d: int) -> int:
    """Make an arm known at every count of the sprint, and return its unit."""
    u = unit_of(m, i, j, d)
    if unit_at(m, u).stamp == m.stretch:
        return u
    first, last = count_at(m, i, j, PRESENT), count_at(m, i, j, row_of(m, m.stop))
    bracket_span(m, u, first, last)
    head, columns = point_at(m, u), m.columns
    unit_at(m, u).base = first
    for c in range(columns):
        walk_at(m, u, c).base_mean = sums(head)[c] / max(1, first)
    if last == first:
        unit_at(m, u).stamp = m.stretch
    elif point_at(m, head.next).time == last:
        reveal_stretch(m, u, first, last)
    else:
        unit_at(m, u).stamp = m.stretch
        for count in range(first + 1, last):
            reveal(m, u, count)
        p = head
        for k in range(last - first):
            p = point_at(m, p.next)
            for c in range(columns):
                means_at(m, u, c)[k] = sums(p)[c] / p.time
    return u


@bare
def mean_at(m: Memory, u: int, c: int, count: int) -> float:
    """Return the mean of a sprinted unit at a count."""
    k = count - unit_at(m, u).base
    if k == 0:
        return walk_at(m, u, c).base_mean
    return means_at(m, u, c)[k - 1]


@bare
def keep_points(m: Memory, i: int, j: int) -> None:
    """Put all sprinted points of an arm into its list: its clock will slow down."""
    last = count_at(m, i, j, row_of(m, m.stop))
    for d in range(m.D):
        u = unit_of(m, i, j, d)
        if unit_at(m, u).stamp == m.stretch and (d == 0 or m.columns == 1):
            for k in range(last - unit_at(m, u).base):
                insert(m, u, unit_at(m, u).base + k + 1, k)


@bare
def fill_row(m: Memory, i: int, d: int) -> Numbers:
    """Make a cell known at every round of the sprint, and return the place of its efficiencies."""
    cell, row, c = cell_at(m, i, d), row_at(m, i, d), column_of(m, d)
    if cell.row == m.stretch:
        return row
    cell.row = m.stretch
    lead, n, least = cell.lead, m.stop - m.start, np.inf
    u = sprint_arm(m, i, lead, d)
    for k in range(n):
        mean = mean_at(m, u, c, count_at(m, i, lead, PRESENT + 1 + k))
        row[k] = mean
        least = min(least, mean)
    for r in range(cell.rivals):
        rival = member_at(m, i, r, d).rival
        if rival == lead:
            continue
        u = unit_of(m, i, rival, d)
        if unit_at(m, u).stamp != m.stretch:
            if stays_under(m, i, rival, d, least, row_of(m, m.stop)):
                continue
            sprint_arm(m, i, rival, d)
        for k in range(n):
            count = count_at(m, i, rival, PRESENT + 1 + k)
            row[k] = max(row[k], mean_at(m, u, c, count))
    return row


@bare
def next_candidate(m: Memory, item: int, start: int) -> int:
    """Return the first round from `start` on, in the sprint, at which an item may fire."""
    if start > m.stop:
        return NEVER
    row = item_at(m, item)
    kind, i, j, d = row.kind, row.one, row.two, row.three
    if kind == STALE:
        return _stale_candidate(m, i, j, d, start)
    if kind == LEADER and (j == NOBODY or not group_at(m, j).active):
        return start
    one, two, slack = (j, i, 0.0) if kind == BEATEN else (i, j, slack_of(m))
    level = threshold_below(m, row_of(m, m.stop)) - slack
    if high_worth(m, one) - low_worth(m, two) < level - _CLEAR * abs(level):
        return NEVER
    for e in range(m.D):
        fill_row(m, one, e)
        fill_row(m, two, e)
    for when in range(start, m.stop + 1):
        k, apart, size = when - m.start - 1, 0.0, 0.0
        for e in range(m.D):
            upper, lower = row_at(m, one, e)[k], row_at(m, two, e)[k]
            apart += dim_at(m, e).weight * (upper - lower)
            size += dim_at(m, e).weight * (abs(upper) + abs(lower))
        level = threshold_below(m, row_of(m, when)) - slack
        if apart >= level - _CLEAR * (abs(level) + size):
            return when
    return NEVER


@bare
def _stale_candidate(m: Memory, i: int, j: int, d: int, start: int) -> int:
    box = cell_at(m, i, d)
    level = 2.0 * clock_at(m, row_of(m, m.stop), d).radius
    if box.high - member_at(m, i, j, d).low < level - _CLEAR * abs(box.high):
        return NEVER
    place = fill_row(m, i, d)
    u, c = sprint_arm(m, i, j, d), column_of(m, d)
    for when in range(start, m.stop + 1):
        count = count_at(m, i, j, row_of(m, when))
        mean, best = mean_at(m, u, c, count), place[when - m.start - 1]
        level = 2.0 * clock_at(m, row_of(m, when), d).radius
        if best - mean >= level - _CLEAR * (level + abs(best) + abs(mean)):
            return when
    return NEVER


@bare
def note_group(m: Memory, i: int, when: int) -> None:
    """Note the efficiencies of a group at a round of the sprint."""
    for d in range(m.D):
        values_at(m, i)[d] = fill_row(m, i, d)[when - m.start - 1]


@kernel
def fires(m: Memory, rule: Rule, state: eecb.State, item: int, when: int) -> bool:
    """Return whether an item fires at a round; if not, a leader watches what blocks it there."""
    row, N, D = item_at(m, item), m.N, m.D
    kind, i, j, d = row.kind, row.one, row.two, row.three
    R = efficiencies(m)
    for e in range(D):
        state.clock[e] = clock_at(m, row_of(m, when), e).count
    if kind == STALE:
        note_group(m, i, when)
        u = sprint_arm(m, i, j, d)
        count = count_at(m, i, j, row_of(m, when))
        mean = mean_at(m, u, column_of(m, d), count)
        beta = radius_at(rule.radius, clock_at(m, row_of(m, when), d).count)
        return eecb.stale_margin(mean, R[i, d], beta, dim_at(m, d).scale) > 0.0
    state.threshold[0] = eecb.threshold_at(state.clock, rule)
    note_group(m, i, when)
    if kind == BEATEN:
        note_group(m, j, when)
        own, other = eecb.worth(R, i, rule), eecb.worth(R, j, rule)
        return eecb.beaten_margin(own, other, state.threshold[0]) > 0.0
    for g in range(N):
        state.groups[g] = group_at(m, g).active != 0
        if state.groups[g] and g != i:
            note_group(m, g, when)
            pair = eecb.worth(R, i, rule), eecb.worth(R, g, rule)
            if not eecb.lead_margin(*pair, slack_of(m), state.threshold[0]) > 0.0:
                row.two = g
                return False
    for g in range(N):
        for e in range(D):
            state.efficiency[g, e] = R[g, e]
    return eecb.left(state.groups) > 1 and eecb.has_leader(state, rule)


@bare
def is_dead(m: Memory, item: int) -> bool:
    """Return whether the sets keep an item from ever firing."""
    row = item_at(m, item)
    i, j = row.one, row.two
    if not group_at(m, i).active:
        return True
    if row.kind == STALE:
        return not member_at(m, i, j, row.three).active
    return row.kind == BEATEN and not group_at(m, j).active


@bare
def look_again(m: Memory, i: int, when: int) -> None:
    """Make the items that look at a group live from the next round on."""
    for d in range(m.D):
        cell_at(m, i, d).row = -1
    item = group_at(m, i).ones
    while item >= 0:
        _look_at(m, item, when)
        item = item_at(m, item).same_one
    item = group_at(m, i).twos
    while item >= 0:
        _look_at(m, item, when)
        item = item_at(m, item).same_two
    item = m.watchers
    while item >= 0:
        if item_at(m, item).two == i:
            _look_at(m, item, when)
        item = item_at(m, item).same_two


@bare
def _look_at(m: Memory, item: int, when: int) -> None:
    row = item_at(m, item)
    live = row.list == LIVE
    if row.list == UNUSED or (live and row.when <= when) or is_dead(m, item):
        return
    schedule(m, item, next_candidate(m, item, when + 1))


@bare
def best_rival(m: Memory, i: int, d: int) -> int:
    """Return the rival with the largest lower bound over the outer window."""
    cell = cell_at(m, i, d)
    best = member_at(m, i, 0, d).rival
    for k in range(cell.rivals):
        if member_at(m, i, member_at(m, i, k, d).rival, d).low > member_at(m, i, best, d).low:
            best = member_at(m, i, k, d).rival
    return best

"""TE, AGE and GE by jumps: a run in windows, halved where something may happen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.triple_elimination import is_stuck
from bestgroup.core.arrays import Bools, Floats, Ints
from bestgroup.core.confidence import radius_at, radius_below
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_calendar import (
    AFTER,
    KIND,
    LEVEL,
    LIVE,
    NEVER,
    NOW,
    ONE,
    THREE,
    TWO,
    UNUSED,
    WHEN,
    end_window,
    halve_window,
    move,
)
from bestgroup.simulation.jump_events import (
    leave_out_arm,
    look_again,
    remove_group,
    resolve_dim,
)
from bestgroup.simulation.jump_near import clears, is_dead
from bestgroup.simulation.jump_screen import screen
from bestgroup.simulation.jump_sprint import earliest, fires, next_candidate
from bestgroup.simulation.jump_table import (
    ACCEPT,
    AGAIN,
    GUARD,
    LIMIT,
    NOBODY,
    REJECT,
    RESOLVE,
    RETIRED,
    ROW,
    STALE,
    WATCH,
    WIDTH,
    Table,
)
from bestgroup.simulation.jump_walks import (
    DENSE,
    FROM,
    PASSED,
    REVEALED,
    SPRINT,
    TO,
    reset,
)

DONE, CAPPED, STUCK = 0, 1, 2


class Results(NamedTuple):
    """What many runs gave."""

    accepted: Bools  # [runs, N]
    counts: Ints  # [runs, N, K]
    rounds: Ints  # [runs]
    finished: Bools  # [runs]
    certificates: Ints  # [runs]
    efficiency: Floats  # [runs, N, D]  as last known


def make_results(runs: int, N: int, K: int, D: int) -> Results:
    """Return room for results."""
    return Results(
        np.zeros((runs, N), np.bool_),
        np.zeros((runs, N, K), np.int64),
        np.zeros(runs, np.int64),
        np.zeros(runs, np.bool_),
        np.zeros(runs, np.int64),
        np.zeros((runs, N, D)),
    )


@kernel
def run(table: Table, seed: int, index: int, limit: int) -> int:
    """Do one run from the beginning; returns how it ended. The round is in the state."""
    begin(table, seed, index, limit)
    state = table.state
    now = 0
    while state.groups.any():
        end = max(1, 2 * now)
        width = table.pulls[WIDTH]
        if width > 0:
            end = min(end, (limit - table.pulls[RETIRED]) // width)
            if end <= now:
                return close(table, now, CAPPED)
        elif is_stuck(state, table.rule):
            return close(table, now, STUCK)
        open_window(table, now, end)
        now = end
    return DONE


@kernel
def begin(table: Table, seed: int, index: int, limit: int) -> None:
    """Set everything to the start of a run."""
    state, rule = table.state, table.rule
    N, K, D = state.arms.shape
    state.groups[:] = True
    state.dims[:] = True
    state.accepted[:] = False
    state.rejected[:] = False
    state.round[0] = 0
    table.pulls[:] = 0
    for i in range(N):
        for j in range(K):
            table.counts[i, j] = 0
            table.pulls[WIDTH] += rule.exists[i, j]
            for d in range(D):
                state.arms[i, j, d] = rule.exists[i, j]
    table.marks[:, GUARD] = NOBODY
    table.cells[:, WATCH] = NOBODY
    table.cells[:, ROW] = -1
    reset(table.walks, seed, index)


@kernel
def close(table: Table, now: int, code: int) -> int:
    """Count the pulls of the arms that are still active, and return the code."""
    table.state.round[0] = now
    N, K = table.counts.shape
    for i in range(N):
        for j in range(K):
            if table.rule.exists[i, j] and table.counts[i, j] == 0:
                table.counts[i, j] = now
    return code


@kernel
def open_window(table: Table, now: int, end: int) -> None:
    """Go through an outer window."""
    calendar = table.calendar
    calendar.hand[NOW], calendar.hand[LEVEL], calendar.ends[0] = now, 0, end
    screen(table, now, end)
    while calendar.hand[LEVEL] >= 0:
        now, end = calendar.hand[NOW], calendar.ends[calendar.hand[LEVEL]]
        if calendar.heads[LIVE] >= 0:
            _clear_live(table, now, end)
        if calendar.heads[LIVE] < 0:
            end_window(calendar)
        elif end - now <= SPRINT:
            _sprint(table, now, end)
            if not table.state.groups.any():
                return
        else:
            halve_window(calendar)


@kernel
def _clear_live(table: Table, now: int, end: int) -> None:
    """Move the live items that cannot fire up to `end` to its list."""
    calendar = table.calendar
    beta = radius_below(table.rule.radius, end)
    item = calendar.heads[LIVE]
    while item >= 0:
        after = calendar.items[item, AFTER]
        if is_dead(table, item):
            move(calendar, item, UNUSED)
        elif clears(table, item, now, end, beta):
            move(calendar, item, calendar.hand[LEVEL])
        item = after


@kernel
def _sprint(table: Table, now: int, end: int) -> None:
    """Go through a short window round by round; then all items are cleared up to its end."""
    calendar, meter, items = table.calendar, table.walks.meter, table.calendar.items
    meter[DENSE] += 1
    meter[FROM], meter[TO] = now, end
    below = radius_below(table.rule.radius, end)
    item = calendar.heads[LIVE]
    while item >= 0:
        items[item, WHEN] = next_candidate(table, item, now + 1, below)
        item = items[item, AFTER]
    pending = 0
    while True:
        item = earliest(table)
        when = items[item, WHEN] if item >= 0 else NEVER
        if pending > 0 and when > pending:
            _accept_pending(table, pending)
            pending = 0
            continue
        if table.pulls[AGAIN] and when > table.state.round[0]:
            _screen_again(table, table.state.round[0], end, below)
            continue
        if when > end or not table.state.groups.any():
            break
        if fires(table, item, when, radius_at(table.rule.radius, when)):
            table.state.round[0] = when
            if items[item, KIND] == ACCEPT:
                pending = when
            _fire(table, item, when, below)
        else:
            items[item, WHEN] = next_candidate(table, item, when + 1, below)
    meter[DENSE] += 1
    item = calendar.heads[LIVE]
    while item >= 0:
        after = items[item, AFTER]
        move(calendar, item, calendar.hand[LEVEL])
        item = after


@kernel
def _fire(table: Table, item: int, when: int, below: float) -> None:
    """Change the sets as the algorithm does when this test fires."""
    row = table.calendar.items[item]
    kind, i, j, d = row[KIND], row[ONE], row[TWO], row[THREE]
    move(table.calendar, item, UNUSED)
    if kind == REJECT:
        table.state.rejected[i] = True
        remove_group(table, i, when, when)
    elif kind == RESOLVE:
        resolve_dim(table, i, d, when, below)
    elif kind == STALE:
        leave_out_arm(table, i, j, d, when, below)
    else:
        table.state.accepted[i] = True


@kernel
def _accept_pending(table: Table, when: int) -> None:
    """Take the groups accepted at a round out of G, all at once."""
    for i in range(len(table.state.groups)):
        if table.state.accepted[i] and table.state.groups[i]:
            remove_group(table, i, when, when + 1)


@kernel
def _screen_again(table: Table, when: int, end: int, below: float) -> None:
    """Screen the rest of the outer window anew, within a sprint."""
    table.pulls[AGAIN] = 0
    table.cells[:, ROW] = -1
    screen(table, when, table.calendar.ends[0])
    item = table.calendar.heads[LIVE]
    while item >= 0:
        table.calendar.items[item, WHEN] = next_candidate(table, item, when + 1, below)
        item = table.calendar.items[item, AFTER]


@kernel
def run_many(table: Table, seed: int, first: int, limit: int, out: Results, done: Ints) -> None:
    """Do runs first + done[0], ... and write their results; done[0] counts them."""
    state = table.state
    while done[0] < len(out.rounds):
        k = done[0]
        code = run(table, seed, first + k, limit)
        out.finished[k] = code == DONE
        out.rounds[k] = state.round[0]
        out.accepted[k] = state.accepted
        out.counts[k] = table.counts
        out.certificates[k] = 4 * table.walks.meter[REVEALED] + table.walks.meter[PASSED]
        out.efficiency[k] = state.efficiency
        done[0] = k + 1

"""TE, AGE and GE by jumps: a run in windows, halved where something may happen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Rule
from bestgroup.algorithms.triple_elimination import State, is_stuck
from bestgroup.core.arrays import Bools, Floats, Ints
from bestgroup.core.confidence import radius_at, radius_below
from bestgroup.core.kernel import kernel
from bestgroup.simulation.jump_atoms import clears, is_dead, next_candidate
from bestgroup.simulation.jump_calendar import (
    NEVER,
    UNUSED,
    end_window,
    first_live,
    halve_window,
    move,
    schedule,
    top_end,
)
from bestgroup.simulation.jump_cells import ACCEPT, NOBODY, REJECT, RESOLVE, STALE
from bestgroup.simulation.jump_events import leave_out_arm, remove_group, resolve_dim
from bestgroup.simulation.jump_kernel import bare
from bestgroup.simulation.jump_layout import (
    ACCEPTED,
    ACTIVE,
    AFTER,
    AGAIN,
    ARM_COUNT,
    COLUMNS,
    COUNTS,
    COVER,
    DIM_COUNT,
    ENDS,
    FROM,
    GROUP_COUNT,
    GUARD,
    KIND,
    LEVEL,
    NOW,
    ONE,
    OPEN,
    PACE,
    PASSED,
    RETIRED,
    REVEALED,
    ROUND,
    ROW,
    SPRINT,
    STRETCH,
    THREE,
    TO,
    TWO,
    VALUES,
    WATCH,
    WHEN,
    WIDTH,
    Reals,
    Words,
    arm_at,
    cell_at,
    group_at,
    item_at,
)
from bestgroup.simulation.jump_screen import screen
from bestgroup.simulation.jump_sprint import earliest, fires
from bestgroup.simulation.jump_walks import reset_walks

DONE, CAPPED, STUCK = 0, 1, 2


class Results(NamedTuple):
    """What many runs gave."""

    accepted: Bools  # [runs, N]
    counts: Ints  # [runs, N, K]
    rounds: Ints  # [runs]
    finished: Bools  # [runs]
    certificates: Ints  # [runs]
    efficiency: Floats  # [runs, N, D]  as last known


def make_results(runs: int, groups: int, arms: int, dims: int) -> Results:
    """Return room for results."""
    return Results(
        np.zeros((runs, groups), np.bool_),
        np.zeros((runs, groups, arms), np.int64),
        np.zeros(runs, np.int64),
        np.zeros(runs, np.bool_),
        np.zeros(runs, np.int64),
        np.zeros((runs, groups, dims)),
    )


@kernel
def run_many(
    Z: Words, F: Reals, rule: Rule, state: State, keys: Ints, out: Results, done: Ints
) -> None:
    """Do runs with keys (seed, first run, largest number of pulls, stop); done[0] counts them."""
    N, K, D = Z[GROUP_COUNT], Z[ARM_COUNT], Z[DIM_COUNT]
    while done[0] < keys[3]:
        k = done[0]
        begin(Z, F, rule, keys[0], keys[1] + k)
        out.finished[k] = run(Z, F, rule, state, keys[2]) == DONE
        out.rounds[k] = Z[ROUND]
        out.certificates[k] = 4 * Z[COLUMNS] * Z[REVEALED] + Z[PASSED]
        for i in range(N):
            out.accepted[k, i] = Z[group_at(Z, i) + ACCEPTED] != 0
            for j in range(K):
                out.counts[k, i, j] = max(0, Z[Z[COUNTS] + i * K + j])
            for d in range(D):
                out.efficiency[k, i, d] = F[Z[VALUES] + i * D + d]
        done[0] = k + 1


@kernel
def begin(Z: Words, F: Reals, rule: Rule, seed: int, index: int) -> None:
    """Set everything to the start of a run."""
    N, K, D = Z[GROUP_COUNT], Z[ARM_COUNT], Z[DIM_COUNT]
    reset_walks(Z, F, seed, index)
    Z[PASSED] = Z[RETIRED] = Z[WIDTH] = Z[AGAIN] = Z[ROUND] = 0
    for i in range(N):
        group = group_at(Z, i)
        Z[group + ACTIVE], Z[group + ACCEPTED], Z[group + GUARD] = 1, 0, NOBODY
        Z[group + COVER] = 0
        for d in range(D):
            cell = cell_at(Z, i, d)
            Z[cell + OPEN], Z[cell + WATCH], Z[cell + ROW] = 1, NOBODY, -1
        for j in range(K):
            exists = 1 if rule.exists[i, j] else 0
            Z[Z[COUNTS] + i * K + j] = exists - 1
            Z[WIDTH] += exists
            for d in range(D):
                Z[arm_at(Z, i, j, d)] = exists


@kernel
def run(Z: Words, F: Reals, rule: Rule, state: State, limit: int) -> int:
    """Do one run and return how it ended."""
    Z[NOW] = 0
    now = Z[NOW]
    while anybody(Z):
        end = now + max(1, now // Z[PACE])
        if Z[WIDTH] > 0:
            end = min(end, (limit - Z[RETIRED]) // Z[WIDTH])
            if end <= now:
                return close(Z, now, CAPPED)
        elif write_state(Z, F, state) and is_stuck(state, rule):
            return close(Z, now, STUCK)
        open_window(Z, F, rule, now, end)
        now = end
    return DONE


@bare
def anybody(Z: Words) -> bool:
    """Return whether a group is undecided."""
    for i in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, i) + ACTIVE]:
            return True
    return False


@bare
def close(Z: Words, now: int, code: int) -> int:
    """Count the pulls of the arms that are still active, and return the code."""
    Z[ROUND] = now
    for place in range(Z[COUNTS], Z[COUNTS] + Z[GROUP_COUNT] * Z[ARM_COUNT]):
        if Z[place] == 0:
            Z[place] = now
    return code


@kernel
def write_state(Z: Words, F: Reals, state: State) -> bool:
    """Copy G, D_i and R to a state of the algorithm; returns True."""
    N, D = state.efficiency.shape
    for i in range(N):
        state.groups[i] = Z[group_at(Z, i) + ACTIVE] != 0
        for d in range(D):
            state.dims[i, d] = Z[cell_at(Z, i, d) + OPEN] != 0
            state.efficiency[i, d] = F[Z[VALUES] + i * D + d]
    return True


@kernel
def open_window(Z: Words, F: Reals, rule: Rule, now: int, end: int) -> None:
    """Go through an outer window."""
    Z[NOW], Z[LEVEL], Z[Z[ENDS]] = now, 0, end
    screen(Z, F, rule, now, end)
    while Z[LEVEL] >= 0:
        now, end = Z[NOW], top_end(Z)
        if first_live(Z) >= 0:
            _clear_live(Z, F, now, end, radius_below(rule.radius, end))
        if first_live(Z) < 0:
            end_window(Z)
        elif end - now > SPRINT:
            halve_window(Z)
        else:
            sprint(Z, F, rule, now, end)
            if not anybody(Z):
                return


@bare
def _clear_live(Z: Words, F: Reals, now: int, end: int, beta: float) -> None:
    """Move the live items that cannot fire up to `end` to its list."""
    item = first_live(Z)
    while item >= 0:
        after = Z[item_at(Z, item) + AFTER]
        if is_dead(Z, item):
            move(Z, item, UNUSED)
        elif clears(Z, F, item, now, end, beta):
            move(Z, item, Z[LEVEL])
        item = after


@kernel
def sprint(Z: Words, F: Reals, rule: Rule, now: int, end: int) -> None:
    """Go through a short window round by round; then all items are cleared up to its end."""
    Z[STRETCH] += 1
    Z[FROM], Z[TO] = now, end
    below = radius_below(rule.radius, end)
    _find_candidates(Z, F, now + 1, below)
    pending = NEVER
    while True:
        item = earliest(Z)
        when = Z[item_at(Z, item) + WHEN] if item >= 0 else NEVER
        if when > pending:
            _accept_pending(Z, F, rule, pending)
            pending = NEVER
        elif Z[AGAIN] and when > Z[ROUND]:
            _screen_again(Z, F, rule, Z[ROUND], below)
        elif when > end:
            break
        elif fires(Z, F, rule, item, when, radius_at(rule.radius, when)):
            Z[ROUND] = when
            if Z[item_at(Z, item) + KIND] == ACCEPT:
                pending = when
            _fire(Z, F, rule, item, when, below)
        else:
            schedule(Z, item, next_candidate(Z, F, item, when + 1, below))
    Z[STRETCH] += 1
    item = first_live(Z)
    while item >= 0:
        after = Z[item_at(Z, item) + AFTER]
        move(Z, item, Z[LEVEL])
        item = after


@bare
def _find_candidates(Z: Words, F: Reals, start: int, below: float) -> None:
    """Set for every live item the first round at which it may fire."""
    item = first_live(Z)
    while item >= 0:
        after = Z[item_at(Z, item) + AFTER]
        schedule(Z, item, next_candidate(Z, F, item, start, below))
        item = after


@bare
def _fire(Z: Words, F: Reals, rule: Rule, item: int, when: int, below: float) -> None:
    """Change the sets as the algorithm does when this test fires."""
    row = item_at(Z, item)
    kind, i, j, d = Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE]
    move(Z, item, UNUSED)
    if kind == REJECT:
        remove_group(Z, F, rule, i, when, when)
    elif kind == RESOLVE:
        resolve_dim(Z, F, i, d, when, below)
    elif kind == STALE:
        leave_out_arm(Z, F, i, j, d, when, below)
    else:
        Z[group_at(Z, i) + ACCEPTED] = 1


@bare
def _accept_pending(Z: Words, F: Reals, rule: Rule, when: int) -> None:
    """Take the groups accepted at a round out of G, all at once."""
    for i in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, i) + ACCEPTED] and Z[group_at(Z, i) + ACTIVE]:
            remove_group(Z, F, rule, i, when, when + 1)


@bare
def _screen_again(Z: Words, F: Reals, rule: Rule, when: int, below: float) -> None:
    """Screen the rest of the outer window anew, within a sprint."""
    Z[AGAIN] = 0
    if when == Z[Z[ENDS]]:
        return
    for i in range(Z[GROUP_COUNT]):
        for d in range(Z[DIM_COUNT]):
            Z[cell_at(Z, i, d) + ROW] = -1
    screen(Z, F, rule, when, Z[Z[ENDS]])
    _find_candidates(Z, F, when + 1, below)

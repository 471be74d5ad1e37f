"""TE, AGE and GE by jumps: a run in windows, halved where something may happen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Rule
from bestgroup.algorithms.triple_elimination import State, is_stuck
from bestgroup.compile.kernel import kernel
from bestgroup.compile.pointers import bare, memory
from bestgroup.drivers.jump.envelopes import ACCEPT, NOBODY, REJECT, RESOLVE, STALE
from bestgroup.drivers.jump.events import leave_out_arm, remove_group, resolve_dim
from bestgroup.drivers.jump.guards import next_candidate
from bestgroup.drivers.jump.memory import (
    ACCEPTED,
    ACTIVE,
    AGAIN,
    ARM_COUNT,
    COUNTS,
    COVER,
    DIM_COUNT,
    ENDS,
    GROUP_COUNT,
    GUARD,
    KIND,
    NOW,
    ONE,
    OPEN,
    RETIRED,
    ROUND,
    ROW,
    THREE,
    TO,
    TWO,
    USED,
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
from bestgroup.drivers.jump.queue import (
    NEVER,
    UNUSED,
    move,
    schedule,
)
from bestgroup.drivers.jump.risk import count_risk, reset_risk
from bestgroup.drivers.jump.screen import screen
from bestgroup.drivers.jump.sprint import earliest, fires
from bestgroup.drivers.jump.walks import reset_walks
from bestgroup.drivers.jump.windows import (
    begin_sprint,
    end_sprint,
    find_candidates,
    find_sprint,
    forget_rows,
    outer_length,
    start_window,
)
from bestgroup.inference.radii import radius_at
from bestgroup.problem.arrays import Bools, Floats, Ints

DONE, CAPPED, STUCK = 0, 1, 2


class Results(NamedTuple):
    """What many runs gave."""

    accepted: Bools  # [runs, N]
    counts: Ints  # [runs, N, K]
    rounds: Ints  # [runs]
    finished: Bools  # [runs]
    risk: Floats  # [runs]  the probability that a certificate is wrong, or more
    efficiency: Floats  # [runs, N, D]  as last known


def make_results(runs: int, groups: int, arms: int, dims: int) -> Results:
    """Return room for results."""
    return Results(
        np.zeros((runs, groups), np.bool_),
        np.zeros((runs, groups, arms), np.int64),
        np.zeros(runs, np.int64),
        np.zeros(runs, np.bool_),
        np.zeros(runs),
        np.zeros((runs, groups, dims)),
    )


@kernel
def run_many(
    words: Ints, reals: Floats, rule: Rule, state: State, keys: Ints, out: Results, done: Ints
) -> None:
    """Do runs with keys (seed, first run, largest number of pulls, stop); done[0] counts them."""
    Z, F = memory(words), memory(reals)
    while done[0] < keys[3]:
        k = done[0]
        begin(Z, F, rule.exists, keys[0], keys[1] + k)
        finished = run(Z, F, rule, state, keys[2]) == DONE
        keep_result(Z, F, out, k, finished)
        done[0] = k + 1


@bare
def keep_result(Z: Words, F: Reals, out: Results, k: int, finished: bool) -> None:
    """Write the outcome of a run."""
    N, K, D = Z[GROUP_COUNT], Z[ARM_COUNT], Z[DIM_COUNT]
    out.finished[k], out.rounds[k], out.risk[k] = finished, Z[ROUND], count_risk(Z, F)
    for i in range(N):
        out.accepted[k, i] = Z[group_at(Z, i) + ACCEPTED] != 0
        for j in range(K):
            out.counts[k, i, j] = max(0, Z[Z[COUNTS] + i * K + j])
        for d in range(D):
            out.efficiency[k, i, d] = F[Z[VALUES] + i * D + d]


@kernel
def begin(Z: Words, F: Reals, existing: Bools, seed: int, index: int) -> None:
    """Set everything to the start of a run."""
    N, K, D = Z[GROUP_COUNT], Z[ARM_COUNT], Z[DIM_COUNT]
    reset_walks(Z, F, seed, index)
    Z[RETIRED] = Z[WIDTH] = Z[AGAIN] = Z[ROUND] = Z[USED] = 0
    reset_risk(Z, F)
    for i in range(N):
        group = group_at(Z, i)
        Z[group + ACTIVE], Z[group + ACCEPTED], Z[group + GUARD] = 1, 0, NOBODY
        Z[group + COVER] = 0
        for d in range(D):
            cell = cell_at(Z, i, d)
            Z[cell + OPEN], Z[cell + WATCH], Z[cell + ROW] = 1, NOBODY, -1
        for j in range(K):
            exists = 1 if existing[i, j] else 0
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
        end = now + outer_length(Z, now)
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
    start_window(Z, F, now, end)
    screen(Z, F, rule, now, end)
    while find_sprint(Z, F):
        sprint(Z, F, rule)
        if not anybody(Z):
            return


@kernel
def sprint(Z: Words, F: Reals, rule: Rule) -> None:
    """Go through a short window round by round; then all items are cleared up to its end."""
    begin_sprint(Z, F)
    pending = NEVER
    while True:
        item = earliest(Z)
        when = Z[item_at(Z, item) + WHEN] if item >= 0 else NEVER
        if when > pending:
            _accept_pending(Z, F, pending)
            pending = NEVER
        elif Z[AGAIN] and when > Z[ROUND]:
            _screen_again(Z, F, rule, Z[ROUND])
        elif when > Z[TO]:
            break
        elif fires(Z, F, rule, item, when, radius_at(rule.radius, when)):
            Z[ROUND] = when
            if Z[item_at(Z, item) + KIND] == ACCEPT:
                pending = when
            _fire(Z, F, item, when)
        else:
            schedule(Z, item, next_candidate(Z, F, item, when + 1))
    end_sprint(Z)


@bare
def _fire(Z: Words, F: Reals, item: int, when: int) -> None:
    """Change the sets as the algorithm does when this test fires."""
    row = item_at(Z, item)
    kind, i, j, d = Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE]
    move(Z, item, UNUSED)
    if kind == REJECT:
        remove_group(Z, F, i, when, when)
    elif kind == RESOLVE:
        resolve_dim(Z, F, i, d, when)
    elif kind == STALE:
        leave_out_arm(Z, F, i, j, d, when)
    else:
        Z[group_at(Z, i) + ACCEPTED] = 1


@bare
def _accept_pending(Z: Words, F: Reals, when: int) -> None:
    """Take the groups accepted at a round out of G, all at once."""
    for i in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, i) + ACCEPTED] and Z[group_at(Z, i) + ACTIVE]:
            remove_group(Z, F, i, when, when + 1)


@bare
def _screen_again(Z: Words, F: Reals, rule: Rule, when: int) -> None:
    """Screen the rest of the outer window anew, within a sprint."""
    Z[AGAIN] = 0
    if when < Z[Z[ENDS]]:
        forget_rows(Z)
        screen(Z, F, rule, when, Z[Z[ENDS]])
        find_candidates(Z, F, when + 1)

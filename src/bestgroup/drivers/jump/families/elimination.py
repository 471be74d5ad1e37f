"""TE, AGE and GE by jumps: a run in windows, halved where something may happen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Rule
from bestgroup.algorithms.triple_elimination import State, is_stuck
from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import bare
from bestgroup.drivers.jump.envelopes import ACCEPT, NOBODY, REJECT, RESOLVE, STALE
from bestgroup.drivers.jump.events import leave_out_arm, remove_group, resolve_dim
from bestgroup.drivers.jump.guards import next_candidate
from bestgroup.drivers.jump.memory import (
    UNUSED,
    Memory,
    arm_at,
    cell_at,
    group_at,
    item_at,
    member_at,
    memory_at,
    values_at,
    window_at,
)
from bestgroup.drivers.jump.queue import (
    NEVER,
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
def run_many(address: int, rule: Rule, state: State, keys: Ints, out: Results, done: Ints) -> None:
    """Do runs with keys (seed, first run, largest number of pulls, stop); done[0] counts them."""
    m = memory_at(address)
    while done[0] < keys[3]:
        k = done[0]
        begin(m, rule.exists, keys[0], keys[1] + k)
        finished = run(m, rule, state, keys[2]) == DONE
        keep_result(m, out, k, finished)
        done[0] = k + 1


@bare
def keep_result(m: Memory, out: Results, k: int, finished: bool) -> None:
    """Write the outcome of a run."""
    N, K, D = m.N, m.K, m.D
    out.finished[k], out.rounds[k], out.risk[k] = finished, m.round, count_risk(m)
    for i in range(N):
        out.accepted[k, i] = group_at(m, i).accepted != 0
        for j in range(K):
            out.counts[k, i, j] = max(0, arm_at(m, i, j).count)
        for d in range(D):
            out.efficiency[k, i, d] = values_at(m, i)[d]


@kernel
def begin(m: Memory, existing: Bools, seed: int, index: int) -> None:
    """Set everything to the start of a run."""
    N, K, D = m.N, m.K, m.D
    reset_walks(m, seed, index)
    m.retired = m.width = m.again = m.round = m.used = 0
    reset_risk(m)
    for i in range(N):
        group = group_at(m, i)
        group.active, group.accepted, group.blocker = 1, 0, NOBODY
        group.cover = 0
        for d in range(D):
            cell = cell_at(m, i, d)
            cell.open, cell.blocker, cell.row = 1, NOBODY, -1
        for j in range(K):
            exists = 1 if existing[i, j] else 0
            arm_at(m, i, j).count = exists - 1
            m.width += exists
            for d in range(D):
                member_at(m, i, j, d).active = exists


@kernel
def run(m: Memory, rule: Rule, state: State, limit: int) -> int:
    """Do one run and return how it ended."""
    m.now = 0
    now = m.now
    while anybody(m):
        end = now + outer_length(m, now)
        if m.width > 0:
            end = min(end, (limit - m.retired) // m.width)
            if end <= now:
                return close(m, now, CAPPED)
        elif write_state(m, state) and is_stuck(state, rule):
            return close(m, now, STUCK)
        open_window(m, rule, now, end)
        now = end
    return DONE


@bare
def anybody(m: Memory) -> bool:
    """Return whether a group is undecided."""
    for i in range(m.N):
        if group_at(m, i).active:
            return True
    return False


@bare
def close(m: Memory, now: int, code: int) -> int:
    """Count the pulls of the arms that are still active, and return the code."""
    m.round = now
    for i in range(m.N):
        for j in range(m.K):
            if arm_at(m, i, j).count == 0:
                arm_at(m, i, j).count = now
    return code


@kernel
def write_state(m: Memory, state: State) -> bool:
    """Copy G, D_i and R to a state of the algorithm; returns True."""
    N, D = state.efficiency.shape
    for i in range(N):
        state.groups[i] = group_at(m, i).active != 0
        for d in range(D):
            state.dims[i, d] = cell_at(m, i, d).open != 0
            state.efficiency[i, d] = values_at(m, i)[d]
    return True


@kernel
def open_window(m: Memory, rule: Rule, now: int, end: int) -> None:
    """Go through an outer window."""
    start_window(m, now, end)
    screen(m, rule, now, end)
    while find_sprint(m):
        sprint(m, rule)
        if not anybody(m):
            return


@kernel
def sprint(m: Memory, rule: Rule) -> None:
    """Go through a short window round by round; then all items are cleared up to its end."""
    begin_sprint(m)
    pending = NEVER
    while True:
        item = earliest(m)
        when = item_at(m, item).when if item >= 0 else NEVER
        if when > pending:
            _accept_pending(m, pending)
            pending = NEVER
        elif m.again and when > m.round:
            _screen_again(m, rule, m.round)
        elif when > m.stop:
            break
        elif fires(m, rule, item, when, radius_at(rule.radius, when)):
            m.round = when
            if item_at(m, item).kind == ACCEPT:
                pending = when
            _fire(m, item, when)
        else:
            schedule(m, item, next_candidate(m, item, when + 1))
    end_sprint(m)


@bare
def _fire(m: Memory, item: int, when: int) -> None:
    """Change the sets as the algorithm does when this test fires."""
    row = item_at(m, item)
    kind, i, j, d = row.kind, row.one, row.two, row.three
    move(m, item, UNUSED)
    if kind == REJECT:
        remove_group(m, i, when, when)
    elif kind == RESOLVE:
        resolve_dim(m, i, d, when)
    elif kind == STALE:
        leave_out_arm(m, i, j, d, when)
    else:
        group_at(m, i).accepted = 1


@bare
def _accept_pending(m: Memory, when: int) -> None:
    """Take the groups accepted at a round out of G, all at once."""
    for i in range(m.N):
        if group_at(m, i).accepted and group_at(m, i).active:
            remove_group(m, i, when, when + 1)


@bare
def _screen_again(m: Memory, rule: Rule, when: int) -> None:
    """Screen the rest of the outer window anew, within a sprint."""
    m.again = 0
    if when < window_at(m, 0).end:
        forget_rows(m)
        screen(m, rule, when, window_at(m, 0).end)
        find_candidates(m, when + 1)

"""TE+ by jumps: its signs and stale arms as items, its sets as the algorithm keeps them.

The windows, the walks and the certificates are those of TE. A sign (i, j, d) is an item while it is
unrecorded and both groups are active in d; nothing else of a pair is ever read. All items that may
fire at a round are judged by what was recorded before it; then the algorithm's own `reject`,
`accept` and `refresh_activity` do the rest.
"""

from __future__ import annotations

from bestgroup.algorithms.te_plus.algorithm import (
    State,
    above_margin,
    accept,
    far_margin,
    is_open,
    near_margin,
    refresh_activity,
    reject,
    restart,
    stale_margin,
)
from bestgroup.algorithms.te_plus.radii import PairRule, radius_from
from bestgroup.compile.kernel import kernel
from bestgroup.compile.pointers import bare, memory
from bestgroup.drivers.jump.envelopes import ABOVE, FAR, NEAR, STALE, note_efficiency
from bestgroup.drivers.jump.events import leave_out_arm, retire_arms
from bestgroup.drivers.jump.families.elimination import (
    CAPPED,
    DONE,
    Results,
    begin,
    close,
    keep_result,
)
from bestgroup.drivers.jump.guards import next_candidate
from bestgroup.drivers.jump.memory import (
    ACCEPTED,
    AFTER,
    AGAIN,
    COVER,
    DIM_COUNT,
    EDGES,
    ENDS,
    EPSILONS,
    FROM,
    GUARD,
    HIGH,
    KIND,
    LIST,
    LOW,
    ONE,
    ONES,
    OPEN,
    RADIUS,
    RETIRED,
    ROUND,
    SAME_ONE,
    SAME_TWO,
    SCALES,
    THREE,
    TO,
    TWO,
    TWOS,
    USED,
    WHEN,
    WIDTH,
    Reals,
    Words,
    box_at,
    cell_at,
    column_of,
    dense_at,
    group_at,
    item_at,
    unit_of,
)
from bestgroup.drivers.jump.queue import (
    LIVE,
    NEVER,
    UNUSED,
    add_pair,
    clear_items,
    first_live,
    move,
    schedule,
)
from bestgroup.drivers.jump.radii import cell_of, outer_place
from bestgroup.drivers.jump.screen import screen_cell
from bestgroup.drivers.jump.sprint import earliest
from bestgroup.drivers.jump.windows import (
    begin_sprint,
    end_sprint,
    find_candidates,
    find_sprint,
    forget_rows,
    outer_length,
    start_window,
)
from bestgroup.problem.arrays import Floats, Ints

# Fields of a group that TE+ has no other use for.
UNDECIDED, CHANGED = GUARD, COVER


@kernel
def run_many(
    words: Ints, reals: Floats, rule: PairRule, state: State, keys: Ints, out: Results, done: Ints
) -> None:
    """Do runs with keys (seed, first run, largest number of pulls, stop); done[0] counts them."""
    Z, F = memory(words), memory(reals)
    while done[0] < keys[3]:
        k = done[0]
        begin(Z, F, rule.exists, keys[0], keys[1] + k)
        restart(state, rule)
        for i in range(len(state.groups)):
            Z[group_at(Z, i) + UNDECIDED], Z[group_at(Z, i) + CHANGED] = 1, 0
        finished = run(Z, F, state, keys[2]) == DONE
        for i in range(len(state.accepted)):
            Z[group_at(Z, i) + ACCEPTED] = 1 if state.accepted[i] else 0
        keep_result(Z, F, out, k, finished)
        done[0] = k + 1


@kernel
def run(Z: Words, F: Reals, state: State, limit: int) -> int:
    """Do one run and return how it ended."""
    now = 0
    while state.groups.any():
        end = min(now + outer_length(Z, now), (limit - Z[RETIRED]) // Z[WIDTH])
        if end <= now:
            return close(Z, now, CAPPED)
        start_window(Z, F, now, end)
        screen(Z, F, state, now, end)
        while state.groups.any() and find_sprint(Z, F):
            sprint(Z, F, state)
        now = end
    return DONE


@kernel
def screen(Z: Words, F: Reals, state: State, now: int, end: int) -> None:
    """Set the boxes over (now, end] and make an item of every sign and arm that may change there."""
    N, D = state.dims.shape
    clear_items(Z)
    for i in range(N):
        for d in range(D):
            if state.dims[i, d]:
                screen_cell(Z, F, i, d, now, end, F[outer_place(Z) + 2], True)
    for i in range(N):
        if state.groups[i]:
            for j in range(N):
                if j != i:
                    _screen_pair(Z, F, state, i, j)


@bare
def _screen_pair(Z: Words, F: Reals, state: State, i: int, j: int) -> None:
    """Make items of the signs of i against j that may be recorded in the boxes."""
    place, open_pair = outer_place(Z), is_open(state, i, j)
    for d in range(Z[DIM_COUNT]):
        if state.dims[i, d] and state.dims[j, d]:
            own, other = box_at(Z, i, d), box_at(Z, j, d)
            scale, epsilon = F[Z[SCALES] + d], F[Z[EPSILONS] + d]
            behind, ahead = F[other + HIGH] - F[own + LOW], F[own + HIGH] - F[other + LOW]
            rho = F[place] * scale
            if not state.above[j, i, d] and above_margin(behind, rho) >= 0.0:
                add_pair(Z, ABOVE, i, j, d)
            if open_pair and near_margin(ahead, F[place + 1] * scale, epsilon) >= 0.0:
                add_pair(Z, NEAR, i, j, d)
            if open_pair and not state.far[j, i, d] and far_margin(behind, rho, epsilon) >= 0.0:
                add_pair(Z, FAR, i, j, d)


@kernel
def sprint(Z: Words, F: Reals, state: State) -> None:
    """Go through a short window round by round; then all items are cleared up to its end."""
    begin_sprint(Z, F)
    while True:
        item = earliest(Z)
        when = Z[item_at(Z, item) + WHEN] if item >= 0 else NEVER
        if Z[AGAIN] and when > Z[ROUND]:
            Z[AGAIN] = 0
            if Z[ROUND] < Z[Z[ENDS]]:
                forget_rows(Z)
                screen(Z, F, state, Z[ROUND], Z[Z[ENDS]])
                find_candidates(Z, F, Z[ROUND] + 1)
        elif when > Z[TO]:
            break
        elif _judge(Z, F, when):
            Z[ROUND] = when
            _decide(Z, state, _record(Z, state, when))
            _carry_over(Z, F, state, when)
    end_sprint(Z)


@bare
def _judge(Z: Words, F: Reals, when: int) -> bool:
    """Return whether any item fires at a round; those that do not are looked for further on."""
    fired, item = False, first_live(Z)
    while item >= 0:
        row = item_at(Z, item)
        after = Z[row + AFTER]
        if Z[row + WHEN] == when:
            if _fires(Z, F, item, when):
                fired = True
            else:
                schedule(Z, item, next_candidate(Z, F, item, when + 1))
        item = after
    return fired


@bare
def _fires(Z: Words, F: Reals, item: int, when: int) -> bool:
    """Return whether an item fires at a round."""
    row = item_at(Z, item)
    kind, i, j, d = Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE]
    edges = Z[EDGES] + 3 * cell_of(when)[0]
    scale, epsilon = F[Z[SCALES] + d], F[Z[EPSILONS] + d]
    own = note_efficiency(Z, F, i, d, when)
    if kind == STALE:
        mean = F[dense_at(Z, unit_of(Z, i, j, d), column_of(Z, d)) + when - Z[FROM] - 1]
        return stale_margin(own, mean, radius_from(F[edges + 2], F[Z[RADIUS]], when) * scale) >= 0.0
    other = note_efficiency(Z, F, j, d, when)
    if kind == NEAR:
        rho = radius_from(F[edges + 1], F[Z[RADIUS]], when) * scale
        return near_margin(own - other, rho, epsilon) >= 0.0
    rho = radius_from(F[edges], F[Z[RADIUS]], when) * scale
    if kind == FAR:
        return far_margin(other - own, rho, epsilon) >= 0.0
    return above_margin(other - own, rho) >= 0.0


@bare
def _record(Z: Words, state: State, when: int) -> int:
    """Record the signs that fired at a round, leave out stale arms; returns 1 a bit for each kind."""
    kinds, item = 0, first_live(Z)
    while item >= 0:
        row = item_at(Z, item)
        after = Z[row + AFTER]
        if Z[row + WHEN] == when:
            kind, i, j, d = Z[row + KIND], Z[row + ONE], Z[row + TWO], Z[row + THREE]
            kinds |= 1 << kind
            if kind == STALE:
                state.arms[i, j, d] = False
            else:
                move(Z, item, UNUSED)
            if kind == ABOVE:
                state.above[j, i, d] = True
            elif kind == FAR:
                state.far[j, i, d] = True
            elif kind == NEAR:
                state.near[i, j, d] = True
                Z[group_at(Z, i) + CHANGED] = 1
        item = after
    return kinds


@kernel
def _decide(Z: Words, state: State, kinds: int) -> None:
    """Do what follows from signs of these kinds: only `above` rejects, only `near` and rejections accept."""
    undecided = state.groups.sum()
    if kinds & (1 << ABOVE):
        reject(state)
    if kinds & (1 << NEAR) or state.groups.sum() < undecided:
        accept(state)
    if kinds & (1 << NEAR | 1 << FAR) or state.groups.sum() < undecided:
        refresh_activity(state)


@bare
def _carry_over(Z: Words, F: Reals, state: State, when: int) -> None:
    """Let cells, counts and items follow the sets after a round."""
    N, D = state.dims.shape
    for i in range(N):
        group = group_at(Z, i)
        for d in range(D):
            if not state.dims[i, d]:
                Z[cell_at(Z, i, d) + OPEN] = 0
        retire_arms(Z, i, when)
        if Z[group + UNDECIDED] and not state.groups[i]:
            Z[group + UNDECIDED], Z[group + CHANGED] = 0, 1
            _drop(Z, state, Z[Z[TWOS] + i], SAME_TWO)
        if Z[group + CHANGED]:
            Z[group + CHANGED] = 0
            _drop(Z, state, Z[Z[ONES] + i], SAME_ONE)
    for item in range(Z[USED]):
        row = item_at(Z, item)
        if Z[row + LIST] == LIVE and Z[row + KIND] == STALE and Z[row + WHEN] == when:
            move(Z, item, UNUSED)
            leave_out_arm(Z, F, Z[row + ONE], Z[row + TWO], Z[row + THREE], when)


@bare
def _drop(Z: Words, state: State, item: int, following: int) -> None:
    """Drop the signs of a chain that cannot be recorded any more; those of closed cells die anyway."""
    while item >= 0:
        row = item_at(Z, item)
        kind, i, j = Z[row + KIND], Z[row + ONE], Z[row + TWO]
        if kind != STALE and Z[row + LIST] != UNUSED:
            if not state.groups[i] or (kind != ABOVE and not is_open(state, i, j)):
                move(Z, item, UNUSED)
        item = Z[row + following]

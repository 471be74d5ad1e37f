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
from bestgroup.compile.records import bare
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
    LIVE,
    UNUSED,
    Memory,
    cell_at,
    column_of,
    dim_at,
    edges_at,
    group_at,
    item_at,
    means_at,
    memory_at,
    radii_at,
    unit_of,
    window_at,
)
from bestgroup.drivers.jump.queue import (
    NEVER,
    add_pair,
    clear_items,
    first_live,
    move,
    schedule,
)
from bestgroup.drivers.jump.radii import cell_of
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
from bestgroup.problem.arrays import Ints


@kernel
def run_many(
    address: int, rule: PairRule, state: State, keys: Ints, out: Results, done: Ints
) -> None:
    """Do runs with keys (seed, first run, largest number of pulls, stop); done[0] counts them."""
    m = memory_at(address)
    while done[0] < keys[3]:
        k = done[0]
        begin(m, rule.exists, keys[0], keys[1] + k)
        restart(state, rule)
        for i in range(len(state.groups)):
            group_at(m, i).blocker, group_at(m, i).cover = 1, 0
        finished = run(m, state, keys[2]) == DONE
        for i in range(len(state.accepted)):
            group_at(m, i).accepted = 1 if state.accepted[i] else 0
        keep_result(m, out, k, finished)
        done[0] = k + 1


@kernel
def run(m: Memory, state: State, limit: int) -> int:
    """Do one run and return how it ended."""
    now = 0
    while state.groups.any():
        end = min(now + outer_length(m, now), (limit - m.retired) // m.width)
        if end <= now:
            return close(m, now, CAPPED)
        start_window(m, now, end)
        screen(m, state, now, end)
        while state.groups.any() and find_sprint(m):
            sprint(m, state)
        now = end
    return DONE


@kernel
def screen(m: Memory, state: State, now: int, end: int) -> None:
    """Set the boxes over (now, end] and make an item of every sign and arm that may change there."""
    N, D = state.dims.shape
    clear_items(m)
    for i in range(N):
        for d in range(D):
            if state.dims[i, d]:
                screen_cell(m, i, d, now, end, radii_at(m, 0).stale, True)
    for i in range(N):
        if state.groups[i]:
            for j in range(N):
                if j != i:
                    _screen_pair(m, state, i, j)


@bare
def _screen_pair(m: Memory, state: State, i: int, j: int) -> None:
    """Make items of the signs of i against j that may be recorded in the boxes."""
    place, open_pair = radii_at(m, 0), is_open(state, i, j)
    for d in range(m.D):
        if state.dims[i, d] and state.dims[j, d]:
            own, other = cell_at(m, i, d), cell_at(m, j, d)
            scale, epsilon = dim_at(m, d).scale, dim_at(m, d).epsilon
            behind, ahead = other.high - own.low, own.high - other.low
            rho = place.beta * scale
            if not state.above[j, i, d] and above_margin(behind, rho) >= 0.0:
                add_pair(m, ABOVE, i, j, d)
            if open_pair and near_margin(ahead, place.near * scale, epsilon) >= 0.0:
                add_pair(m, NEAR, i, j, d)
            if open_pair and not state.far[j, i, d] and far_margin(behind, rho, epsilon) >= 0.0:
                add_pair(m, FAR, i, j, d)


@kernel
def sprint(m: Memory, state: State) -> None:
    """Go through a short window round by round; then all items are cleared up to its end."""
    begin_sprint(m)
    while True:
        item = earliest(m)
        when = item_at(m, item).when if item >= 0 else NEVER
        if m.again and when > m.round:
            m.again = 0
            if m.round < window_at(m, 0).end:
                forget_rows(m)
                screen(m, state, m.round, window_at(m, 0).end)
                find_candidates(m, m.round + 1)
        elif when > m.stop:
            break
        elif _judge(m, when):
            m.round = when
            _decide(m, state, _record(m, state, when))
            _carry_over(m, state, when)
    end_sprint(m)


@bare
def _judge(m: Memory, when: int) -> bool:
    """Return whether any item fires at a round; those that do not are looked for further on."""
    fired, item = False, first_live(m)
    while item >= 0:
        row = item_at(m, item)
        after = row.after
        if row.when == when:
            if _fires(m, item, when):
                fired = True
            else:
                schedule(m, item, next_candidate(m, item, when + 1))
        item = after
    return fired


@bare
def _fires(m: Memory, item: int, when: int) -> bool:
    """Return whether an item fires at a round."""
    row = item_at(m, item)
    kind, i, j, d = row.kind, row.one, row.two, row.three
    edges = edges_at(m, cell_of(when)[0])
    scale, epsilon = dim_at(m, d).scale, dim_at(m, d).epsilon
    own = note_efficiency(m, i, d, when)
    if kind == STALE:
        mean = means_at(m, unit_of(m, i, j, d), column_of(m, d))[when - m.start - 1]
        return stale_margin(own, mean, radius_from(edges[2], m.radius_factor, when) * scale) >= 0.0
    other = note_efficiency(m, j, d, when)
    if kind == NEAR:
        rho = radius_from(edges[1], m.radius_factor, when) * scale
        return near_margin(own - other, rho, epsilon) >= 0.0
    rho = radius_from(edges[0], m.radius_factor, when) * scale
    if kind == FAR:
        return far_margin(other - own, rho, epsilon) >= 0.0
    return above_margin(other - own, rho) >= 0.0


@bare
def _record(m: Memory, state: State, when: int) -> int:
    """Record the signs that fired at a round, leave out stale arms; returns 1 a bit for each kind."""
    kinds, item = 0, first_live(m)
    while item >= 0:
        row = item_at(m, item)
        after = row.after
        if row.when == when:
            kind, i, j, d = row.kind, row.one, row.two, row.three
            kinds |= 1 << kind
            if kind == STALE:
                state.arms[i, j, d] = False
            else:
                move(m, item, UNUSED)
            if kind == ABOVE:
                state.above[j, i, d] = True
            elif kind == FAR:
                state.far[j, i, d] = True
            elif kind == NEAR:
                state.near[i, j, d] = True
                group_at(m, i).cover = 1
        item = after
    return kinds


@kernel
def _decide(m: Memory, state: State, kinds: int) -> None:
    """Do what follows from signs of these kinds: only `above` rejects, only `near` and rejections accept."""
    undecided = state.groups.sum()
    if kinds & (1 << ABOVE):
        reject(state)
    if kinds & (1 << NEAR) or state.groups.sum() < undecided:
        accept(state)
    if kinds & (1 << NEAR | 1 << FAR) or state.groups.sum() < undecided:
        refresh_activity(state)


@bare
def _carry_over(m: Memory, state: State, when: int) -> None:
    """Let cells, counts and items follow the sets after a round."""
    N, D = state.dims.shape
    for i in range(N):
        group = group_at(m, i)
        for d in range(D):
            if not state.dims[i, d]:
                cell_at(m, i, d).open = 0
        retire_arms(m, i, when)
        if group.blocker and not state.groups[i]:
            group.blocker, group.cover = 0, 1
            _drop(m, state, group_at(m, i).twos, False)
        if group.cover:
            group.cover = 0
            _drop(m, state, group_at(m, i).ones, True)
    for item in range(m.used):
        row = item_at(m, item)
        if row.list == LIVE and row.kind == STALE and row.when == when:
            move(m, item, UNUSED)
            leave_out_arm(m, row.one, row.two, row.three, when)


@bare
def _drop(m: Memory, state: State, item: int, own: bool) -> None:
    """Drop the signs of a chain that cannot be recorded any more; those of closed cells die anyway."""
    while item >= 0:
        row = item_at(m, item)
        kind, i, j = row.kind, row.one, row.two
        if kind != STALE and row.list != UNUSED:
            if not state.groups[i] or (kind != ABOVE and not is_open(state, i, j)):
                move(m, item, UNUSED)
        item = row.same_one if own else row.same_two

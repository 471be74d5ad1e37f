"""EECB by jumps: a run in windows of rounds, halved where something may happen."""

from __future__ import annotations

from bestgroup.algorithms import equal_effect as eecb
from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import bare
from bestgroup.drivers.jump.clock import (
    copy_clock,
    count_at,
    next_clock,
    pulls_at,
    set_clock,
)
from bestgroup.drivers.jump.families.elimination import CAPPED, DONE, Results
from bestgroup.drivers.jump.families.equal_effect_events import (
    LED,
    RUNNING,
    active_groups,
    clears,
    find_candidates,
    fire,
    screen_again,
)
from bestgroup.drivers.jump.families.equal_effect_screen import (
    screen,
)
from bestgroup.drivers.jump.families.equal_effect_sprint import (
    fires,
    is_dead,
    next_candidate,
    row_of,
)
from bestgroup.drivers.jump.memory import (
    PRESENT,
    SPRINT,
    UNUSED,
    Memory,
    arm_at,
    cell_at,
    clock_at,
    group_at,
    item_at,
    member_at,
    memory_at,
    window_at,
)
from bestgroup.drivers.jump.queue import (
    NEVER,
    end_window,
    first_live,
    halve_window,
    move,
    schedule,
    top_end,
)
from bestgroup.drivers.jump.risk import count_risk, guard_risk, reset_risk
from bestgroup.drivers.jump.walks import reset_walks
from bestgroup.drivers.jump.windows import end_sprint
from bestgroup.problem.arrays import Ints


@kernel
def run_many(
    address: int, rule: Rule, state: eecb.State, keys: Ints, out: Results, done: Ints
) -> None:
    """Do runs with keys (seed, first run, largest number of pulls, stop); done[0] counts them."""
    m = memory_at(address)
    N, K = m.N, m.K
    while done[0] < keys[3]:
        k = done[0]
        begin(m, rule, keys[0], keys[1] + k)
        out.finished[k] = run(m, rule, state, keys[2]) == DONE
        out.rounds[k] = m.round
        out.risk[k] = count_risk(m)
        for i in range(N):
            out.accepted[k, i] = group_at(m, i).active != 0
            for j in range(K):
                out.counts[k, i, j] = arm_at(m, i, j).own
        done[0] = k + 1


@kernel
def begin(m: Memory, rule: Rule, seed: int, index: int) -> None:
    """Set everything to the start of a run."""
    N, K, D = m.N, m.K, m.D
    reset_walks(m, seed, index)
    reset_risk(m)
    m.again = m.round = m.ended = 0
    for d in range(D):
        clock_at(m, PRESENT, d).count = 0
    for i in range(N):
        group_at(m, i).active = 1
        for d in range(D):
            cell_at(m, i, d).row = -1
            for j in range(K):
                member_at(m, i, j, d).active = 1 if rule.exists[i, j] else 0
        for j in range(K):
            arm_at(m, i, j).own = 0


@kernel
def run(m: Memory, rule: Rule, state: eecb.State, limit: int) -> int:
    """Do one run and return how it ended."""
    m.now = 0
    now = m.now
    while True:
        end = _reachable(m, rule, now, limit)
        if end == now:
            _close(m, PRESENT)
            m.round = now
            return CAPPED
        if active_groups(m) == 1:
            _close(m, 0)
            m.round = 1
            return DONE
        open_window(m, rule, state, now, end)
        if m.ended != RUNNING:
            return _finish(m, rule, state, limit)
        copy_clock(m, 0, PRESENT)
        now = end


@kernel
def _reachable(m: Memory, rule: Rule, now: int, limit: int) -> int:
    """Return the end of the next outer window, whose pulls stay within the limit; sets its clock."""
    end = now + max(1, now // m.pace)
    while True:
        if end == 1:
            next_clock(m, rule, 0, PRESENT)
        else:
            copy_clock(m, PRESENT, 0)
            for d in range(m.D):
                clock_at(m, 0, d).count = int(clock_at(m, 0, d).count * (end / now))
            set_clock(m, rule, 0, end, 0, 1.0)
        if pulls_at(m, 0) <= limit:
            return end
        if end == now + 1:
            return now
        end = now + max(1, (end - now) // 2)


@bare
def _close(m: Memory, row: int) -> None:
    """Set the counts of all arms of active groups to those at a clock."""
    for i in range(m.N):
        if group_at(m, i).active:
            for j in range(m.K):
                arm_at(m, i, j).own = count_at(m, i, j, row)


@kernel
def _finish(m: Memory, rule: Rule, state: eecb.State, limit: int) -> int:
    """Pull the last batch of the group that is left, unless it is spared."""
    row, total = row_of(m, m.round), 0
    _close(m, row)
    if m.ended == LED or rule.options.early:
        return DONE
    for d in range(m.D):
        state.clock[d] = clock_at(m, row, d).count
    focus = eecb.focus_at(state.clock, rule)
    for i in range(m.N):
        for j in range(m.K):
            total += arm_at(m, i, j).own
            if _is_pulled(m, state, i, j, focus):
                total += 1
    if total > limit:
        return CAPPED
    for i in range(m.N):
        for j in range(m.K):
            if _is_pulled(m, state, i, j, focus):
                arm_at(m, i, j).own += 1
    m.round += 1
    return DONE


@kernel
def _is_pulled(m: Memory, state: eecb.State, i: int, j: int, focus: int) -> bool:
    """Return whether an arm is in the batch of the focus."""
    active = group_at(m, i).active != 0 and member_at(m, i, j, focus).active != 0
    return active and arm_at(m, i, j).own == state.clock[focus]


@kernel
def open_window(m: Memory, rule: Rule, state: eecb.State, now: int, end: int) -> None:
    """Go through an outer window, whose clock is in row 0."""
    m.now, m.level, window_at(m, 0).end = now, 0, end
    guard_risk(m)
    screen(m, PRESENT, 0)
    while m.level >= 0:
        now, end = m.now, top_end(m)
        if first_live(m) >= 0:
            _clear_live(m, now, end)
        if first_live(m) < 0:
            copy_clock(m, m.level, PRESENT)
            end_window(m)
        elif end - now > SPRINT:
            halve_window(m)
            middle = top_end(m)
            share = (middle - now) / (end - now)
            set_clock(m, rule, m.level, middle, m.level - 1, share)
        else:
            sprint(m, rule, state, now, end)
            if m.ended != RUNNING:
                return


@bare
def _clear_live(m: Memory, now: int, end: int) -> None:
    """Move the live items that cannot fire up to `end` to its list."""
    item = first_live(m)
    while item >= 0:
        after = item_at(m, item).after
        if is_dead(m, item):
            move(m, item, UNUSED)
        elif clears(m, item, end - now):
            move(m, item, m.level)
        item = after


@kernel
def sprint(m: Memory, rule: Rule, state: eecb.State, now: int, end: int) -> None:
    """Go through a short window round by round; then all items are cleared up to its end."""
    m.stretch += 1
    m.start, m.stop = now, end
    for k in range(end - now):
        next_clock(m, rule, PRESENT + 1 + k, PRESENT + k)
    find_candidates(m, now + 1)
    while True:
        item = earliest(m)
        when = item_at(m, item).when if item >= 0 else NEVER
        if when > m.round and m.ended != RUNNING:
            return
        if m.again and when > m.round:
            screen_again(m)
        elif when > end:
            break
        elif fires(m, rule, state, item, when):
            m.round = when
            fire(m, state, item, when)
        else:
            schedule(m, item, next_candidate(m, item, when + 1))
    end_sprint(m)


@bare
def earliest(m: Memory) -> int:
    """Return the live item that may fire first, in the order of rounds and phases, or -1."""
    item, best, round_, kind = first_live(m), -1, NEVER, 0
    while item >= 0:
        row = item_at(m, item)
        after = row.after
        if is_dead(m, item):
            move(m, item, UNUSED)
        elif row.when < round_ or (row.when == round_ < NEVER and row.kind < kind):
            best, round_, kind = item, row.when, row.kind
        item = after
    return best

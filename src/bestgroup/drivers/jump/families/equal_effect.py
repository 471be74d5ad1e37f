"""EECB by jumps: a run in windows of rounds, halved where something may happen."""

from __future__ import annotations

from bestgroup.algorithms import equal_effect as eecb
from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.kernel import kernel
from bestgroup.compile.pointers import bare, memory
from bestgroup.drivers.jump.clock import (
    clock_of,
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
    ACTIVE,
    AFTER,
    AGAIN,
    ARM_COUNT,
    DIM_COUNT,
    ENDED,
    ENDS,
    FROM,
    GROUP_COUNT,
    KIND,
    LEVEL,
    NOW,
    OWN,
    PACE,
    PRESENT,
    ROUND,
    ROW,
    SPRINT,
    STRETCH,
    TO,
    WHEN,
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
from bestgroup.problem.arrays import Floats, Ints


@kernel
def run_many(
    words: Ints, reals: Floats, rule: Rule, state: eecb.State, keys: Ints, out: Results, done: Ints
) -> None:
    """Do runs with keys (seed, first run, largest number of pulls, stop); done[0] counts them."""
    Z, F = memory(words), memory(reals)
    N, K = Z[GROUP_COUNT], Z[ARM_COUNT]
    while done[0] < keys[3]:
        k = done[0]
        begin(Z, F, rule, keys[0], keys[1] + k)
        out.finished[k] = run(Z, F, rule, state, keys[2]) == DONE
        out.rounds[k] = Z[ROUND]
        out.risk[k] = count_risk(Z, F)
        for i in range(N):
            out.accepted[k, i] = Z[group_at(Z, i) + ACTIVE] != 0
            for j in range(K):
                out.counts[k, i, j] = Z[Z[OWN] + i * K + j]
        done[0] = k + 1


@kernel
def begin(Z: Words, F: Reals, rule: Rule, seed: int, index: int) -> None:
    """Set everything to the start of a run."""
    N, K, D = Z[GROUP_COUNT], Z[ARM_COUNT], Z[DIM_COUNT]
    reset_walks(Z, F, seed, index)
    reset_risk(Z, F)
    Z[AGAIN] = Z[ROUND] = Z[ENDED] = 0
    for d in range(D):
        Z[clock_of(Z, PRESENT) + d] = 0
    for i in range(N):
        Z[group_at(Z, i) + ACTIVE] = 1
        for d in range(D):
            Z[cell_at(Z, i, d) + ROW] = -1
            for j in range(K):
                Z[arm_at(Z, i, j, d)] = 1 if rule.exists[i, j] else 0
        for j in range(K):
            Z[Z[OWN] + i * K + j] = 0


@kernel
def run(Z: Words, F: Reals, rule: Rule, state: eecb.State, limit: int) -> int:
    """Do one run and return how it ended."""
    Z[NOW] = 0
    now = Z[NOW]
    while True:
        end = _reachable(Z, F, rule, now, limit)
        if end == now:
            _close(Z, PRESENT)
            Z[ROUND] = now
            return CAPPED
        if active_groups(Z) == 1:
            _close(Z, 0)
            Z[ROUND] = 1
            return DONE
        open_window(Z, F, rule, state, now, end)
        if Z[ENDED] != RUNNING:
            return _finish(Z, rule, state, limit)
        copy_clock(Z, F, 0, PRESENT)
        now = end


@kernel
def _reachable(Z: Words, F: Reals, rule: Rule, now: int, limit: int) -> int:
    """Return the end of the next outer window, whose pulls stay within the limit; sets its clock."""
    end = now + max(1, now // Z[PACE])
    while True:
        if end == 1:
            next_clock(Z, F, rule, 0, PRESENT)
        else:
            copy_clock(Z, F, PRESENT, 0)
            for d in range(Z[DIM_COUNT]):
                Z[clock_of(Z, 0) + d] = int(Z[clock_of(Z, 0) + d] * (end / now))
            set_clock(Z, F, rule, 0, end, 0, 1.0)
        if pulls_at(Z, 0) <= limit:
            return end
        if end == now + 1:
            return now
        end = now + max(1, (end - now) // 2)


@bare
def _close(Z: Words, row: int) -> None:
    """Set the counts of all arms of active groups to those at a clock."""
    for i in range(Z[GROUP_COUNT]):
        if Z[group_at(Z, i) + ACTIVE]:
            for j in range(Z[ARM_COUNT]):
                Z[Z[OWN] + i * Z[ARM_COUNT] + j] = count_at(Z, i, j, row)


@kernel
def _finish(Z: Words, rule: Rule, state: eecb.State, limit: int) -> int:
    """Pull the last batch of the group that is left, unless it is spared."""
    row, total = row_of(Z, Z[ROUND]), 0
    _close(Z, row)
    if Z[ENDED] == LED or rule.options.early:
        return DONE
    for d in range(Z[DIM_COUNT]):
        state.clock[d] = Z[clock_of(Z, row) + d]
    focus = eecb.focus_at(state.clock, rule)
    for i in range(Z[GROUP_COUNT]):
        for j in range(Z[ARM_COUNT]):
            total += Z[Z[OWN] + i * Z[ARM_COUNT] + j]
            if _is_pulled(Z, state, i, j, focus):
                total += 1
    if total > limit:
        return CAPPED
    for i in range(Z[GROUP_COUNT]):
        for j in range(Z[ARM_COUNT]):
            if _is_pulled(Z, state, i, j, focus):
                Z[Z[OWN] + i * Z[ARM_COUNT] + j] += 1
    Z[ROUND] += 1
    return DONE


@kernel
def _is_pulled(Z: Words, state: eecb.State, i: int, j: int, focus: int) -> bool:
    """Return whether an arm is in the batch of the focus."""
    active = Z[group_at(Z, i) + ACTIVE] != 0 and Z[arm_at(Z, i, j, focus)] != 0
    return active and Z[Z[OWN] + i * Z[ARM_COUNT] + j] == state.clock[focus]


@kernel
def open_window(Z: Words, F: Reals, rule: Rule, state: eecb.State, now: int, end: int) -> None:
    """Go through an outer window, whose clock is in row 0."""
    Z[NOW], Z[LEVEL], Z[Z[ENDS]] = now, 0, end
    guard_risk(Z, F)
    screen(Z, F, PRESENT, 0)
    while Z[LEVEL] >= 0:
        now, end = Z[NOW], top_end(Z)
        if first_live(Z) >= 0:
            _clear_live(Z, F, now, end)
        if first_live(Z) < 0:
            copy_clock(Z, F, Z[LEVEL], PRESENT)
            end_window(Z)
        elif end - now > SPRINT:
            halve_window(Z)
            middle = top_end(Z)
            share = (middle - now) / (end - now)
            set_clock(Z, F, rule, Z[LEVEL], middle, Z[LEVEL] - 1, share)
        else:
            sprint(Z, F, rule, state, now, end)
            if Z[ENDED] != RUNNING:
                return


@bare
def _clear_live(Z: Words, F: Reals, now: int, end: int) -> None:
    """Move the live items that cannot fire up to `end` to its list."""
    item = first_live(Z)
    while item >= 0:
        after = Z[item_at(Z, item) + AFTER]
        if is_dead(Z, item):
            move(Z, item, UNUSED)
        elif clears(Z, F, item, end - now):
            move(Z, item, Z[LEVEL])
        item = after


@kernel
def sprint(Z: Words, F: Reals, rule: Rule, state: eecb.State, now: int, end: int) -> None:
    """Go through a short window round by round; then all items are cleared up to its end."""
    Z[STRETCH] += 1
    Z[FROM], Z[TO] = now, end
    for k in range(end - now):
        next_clock(Z, F, rule, PRESENT + 1 + k, PRESENT + k)
    find_candidates(Z, F, now + 1)
    while True:
        item = earliest(Z)
        when = Z[item_at(Z, item) + WHEN] if item >= 0 else NEVER
        if when > Z[ROUND] and Z[ENDED] != RUNNING:
            return
        if Z[AGAIN] and when > Z[ROUND]:
            screen_again(Z, F)
        elif when > end:
            break
        elif fires(Z, F, rule, state, item, when):
            Z[ROUND] = when
            fire(Z, F, state, item, when)
        else:
            schedule(Z, item, next_candidate(Z, F, item, when + 1))
    end_sprint(Z)


@bare
def earliest(Z: Words) -> int:
    """Return the live item that may fire first, in the order of rounds and phases, or -1."""
    item, best, round_, kind = first_live(Z), -1, NEVER, 0
    while item >= 0:
        row = item_at(Z, item)
        after = Z[row + AFTER]
        if is_dead(Z, item):
            move(Z, item, UNUSED)
        elif Z[row + WHEN] < round_ or (Z[row + WHEN] == round_ < NEVER and Z[row + KIND] < kind):
            best, round_, kind = item, Z[row + WHEN], Z[row + KIND]
        item = after
    return best

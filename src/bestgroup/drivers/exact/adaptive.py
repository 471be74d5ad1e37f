"""Exact simulation of the adaptive algorithm: its own plan and step, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestgroup.algorithms.adaptive.algorithm import is_pareto_rule
from bestgroup.algorithms.adaptive.pareto.steps import (
    FIRST,
    AdaptiveRule,
    State,
    advance,
    look_ahead,
    set_plan,
)
from bestgroup.algorithms.adaptive.pareto.view import UNDECIDED, make_room
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.drivers.exact.loop import CAPPED, DONE, REFILL, SLICE, take
from bestgroup.drivers.rewards import AHEAD, Reservoir, Source, ensure
from bestgroup.inference.confidence_sequences.boxes import BoxRule, absorb
from bestgroup.inference.tally import Tally, sum_of
from bestgroup.problem.arrays import Floats, Ints


@kernel
def run_adaptive_pareto(
    state: State,
    tally: Tally,
    rule: AdaptiveRule,
    source: Source,
    pool: Reservoir,
    limits: Ints,
) -> int:
    """Run the algorithm until it ends; returns a code, and can be called again to go on.

    `limits` holds the largest number of pulls, and about how many to do before returning with
    SLICE. A plan depends on the state alone, so a call that comes back in the middle of a plan goes
    on with it.
    """
    due = np.zeros(rule.exists.shape, np.int64)
    room = make_room(state.seen)
    counts, status, phase = state.seen.counts, state.duties.status, state.phase
    total = done_pulls(counts)
    pause = total + limits[1]
    while is_open(status):
        if total >= pause:
            return SLICE
        set_plan(state, rule, due)
        if rule.size > 1 and phase[0] != FIRST:
            look_ahead(state, rule, due)
        total += sum_of(due)
        if total > limits[0]:
            return CAPPED
        leave_out(due, counts, tally.counts)
        while not take_due(due, tally, rule.levels.box, pool):
            if not draw_due(due, tally, source, pool):
                return REFILL
        advance(state, tally, rule, room)
    return DONE


@borrowing
def done_pulls(counts: Floats) -> int:
    """Return the number of pulls that the state has taken up."""
    total = 0.0
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            total += counts[i, j]
    return int(total)


@borrowing
def is_open(status: Ints) -> bool:
    """Return whether a group is undecided."""
    for i in range(len(status)):
        if status[i] == UNDECIDED:
            return True
    return False


@borrowing
def leave_out(due: Ints, before: Floats, counts: Ints) -> None:
    """Take the pulls of a plan that are done already out of those that are due."""
    for i in range(due.shape[0]):
        for j in range(due.shape[1]):
            due[i, j] -= counts[i, j] - np.int64(before[i, j])


@borrowing
def take_due(due: Ints, tally: Tally, rule: BoxRule, pool: Reservoir) -> bool:
    """Consume pulls that are due, as far as they are drawn; returns whether that was all."""
    keeps_values = tally.extra.shape[3] > 0
    enough = True
    for i in range(due.shape[0]):
        for j in range(due.shape[1]):
            if due[i, j] > 0:
                count = tally.counts[i, j]
                some = min(due[i, j], pool.base[i, j] + pool.filled[i, j] - count)
                if some > 0:
                    if keeps_values:
                        absorb_due(tally, rule, pool, i, j, some)
                    take(pool, tally, i, j, count + some)
                    due[i, j] -= some
                enough = enough and due[i, j] == 0
    return enough


@borrowing
def absorb_due(tally: Tally, rule: BoxRule, pool: Reservoir, i: int, j: int, some: int) -> None:
    """Take up the next values in the extra statistics: differences of the sums, as `Tape.values` has them."""
    count = tally.counts[i, j]
    first = count - pool.base[i, j]
    for d in range(tally.sums.shape[2]):
        before = tally.sums[i, j, d]
        for k in range(some):
            total = pool.sums[i, j, d, first + k]
            absorb(rule, tally.extra[i, j, d], float(count + k + 1), total - before, d)
            before = total


@kernel
def draw_due(due: Ints, tally: Tally, source: Source, pool: Reservoir) -> bool:
    """Draw pulls that are due; False if only the user's law can."""
    need = np.ones(tally.sums.shape[2], np.bool_)
    for i in range(due.shape[0]):
        for j in range(due.shape[1]):
            if due[i, j] > 0:
                count = tally.counts[i, j]
                if not ensure(source, pool, i, j, count, count + AHEAD, need):
                    return False
    return True


class AdaptiveLoop:
    """The compiled loop of the half that a rule belongs to."""

    def compiled(
        self, state: Any, tally: Tally, rule: Any, source: Source, pool: Reservoir, limits: Ints
    ) -> int:
        """Run the half until it ends; returns a code, and can be called again to go on."""
        if is_pareto_rule(rule):
            return run_adaptive_pareto.compiled(state, tally, rule, source, pool, limits)
        from bestgroup.drivers.exact.adaptive_best import run_adaptive_linear

        return run_adaptive_linear.compiled(state, tally, rule, source, pool, limits)

"""Exact simulation of the adaptive algorithm: its own plan and step, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestgroup.algorithms.adaptive import is_pareto_rule
from bestgroup.algorithms.adaptive_pareto_steps import AdaptiveRule, State, plan, step
from bestgroup.algorithms.adaptive_view import UNDECIDED
from bestgroup.core.arrays import Bools, Floats, Ints
from bestgroup.core.kernel import kernel
from bestgroup.core.tally import Tally
from bestgroup.simulation.exact import CAPPED, DONE, REFILL, SLICE, take
from bestgroup.simulation.rewards import AHEAD, Reservoir, Source, ensure


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
    N, K = rule.exists.shape
    need = np.ones(len(rule.scale), np.bool_)
    total = done_pulls(state.seen.counts)
    pause = total + limits[1]
    while is_open(state.duties.status):
        if total >= pause:
            return SLICE
        pulls = plan(state, tally, rule)
        planned = np.int64(0)
        for i in range(N):
            for j in range(K):
                planned += pulls[i, j]
        if total + planned > limits[0]:
            return CAPPED
        for i in range(N):
            for j in range(K):
                if pulls[i, j] > 0:
                    goal = np.int64(state.seen.counts[i, j]) + pulls[i, j]
                    if not pull_arm(tally, source, pool, i, j, goal, need):
                        return REFILL
        total += planned
        step(state, tally, rule)
    return DONE


@kernel
def done_pulls(counts: Floats) -> int:
    """Return the number of pulls that the state has taken up."""
    total = 0.0
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            total += counts[i, j]
    return int(total)


@kernel
def is_open(status: Ints) -> bool:
    """Return whether a group is undecided."""
    for i in range(len(status)):
        if status[i] == UNDECIDED:
            return True
    return False


@kernel
def pull_arm(
    tally: Tally, source: Source, pool: Reservoir, i: int, j: int, goal: int, need: Bools
) -> bool:
    """Pull an arm until it has `goal` pulls; False if only the user's law can go on."""
    while tally.counts[i, j] < goal:
        count = tally.counts[i, j]
        there = pool.base[i, j] + pool.filled[i, j]
        if there <= count:
            if not ensure(source, pool, i, j, count, count + AHEAD, need):
                return False
            there = pool.base[i, j] + pool.filled[i, j]
        take(pool, tally, i, j, min(goal, there))
    return True


class AdaptiveLoop:
    """The compiled loop of the half that a rule belongs to."""

    def compiled(
        self, state: Any, tally: Tally, rule: Any, source: Source, pool: Reservoir, limits: Ints
    ) -> int:
        """Run the half until it ends; returns a code, and can be called again to go on."""
        if is_pareto_rule(rule):
            return run_adaptive_pareto.compiled(state, tally, rule, source, pool, limits)
        from bestgroup.simulation.exact_adaptive_linear import run_adaptive_linear

        return run_adaptive_linear.compiled(state, tally, rule, source, pool, limits)

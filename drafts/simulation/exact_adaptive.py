"""Exact simulation of the adaptive algorithm for Pareto groups: its own plan and step, compiled."""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms import adaptive_pareto as pareto
from bestgroup.algorithms.adaptive_scores import UNDECIDED
from bestgroup.core.arrays import Bools, Ints
from bestgroup.core.kernel import kernel
from bestgroup.core.tally import Tally
from bestgroup.simulation.exact import CAPPED, DONE, REFILL, SLICE, take
from bestgroup.simulation.rewards import AHEAD, Reservoir, Source, ensure


@kernel
def run_adaptive_pareto(
    state: pareto.State,
    tally: Tally,
    rule: pareto.AdaptiveRule,
    source: Source,
    pool: Reservoir,
    limits: Ints,
) -> int:
    """Run the algorithm until it ends; returns a code, and can be called again to go on.

    `limits` holds the largest number of pulls, and about how many to do before returning with SLICE. A plan
    depends on the state alone, so a call that comes back in the middle of a plan goes on with it.
    """
    N, K = rule.exists.shape
    need = np.ones(len(rule.scale), np.bool_)
    total = tally.counts.sum()
    pause = total + limits[1]
    while (state.duties.status == UNDECIDED).any():
        if total >= pause:
            return SLICE
        pulls = pareto.plan(state, tally, rule)
        planned = state.seen.counts.sum() + pulls.sum()
        if planned > limits[0]:
            return CAPPED
        for i in range(N):
            for j in range(K):
                if pulls[i, j] > 0:
                    goal = np.int64(state.seen.counts[i, j]) + pulls[i, j]
                    if not pull_arm(tally, source, pool, i, j, goal, need):
                        return REFILL
        total = np.int64(planned)
        pareto.step(state, tally, rule)
    return DONE


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

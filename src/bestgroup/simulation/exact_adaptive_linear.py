"""Compiled runs of the adaptive rule for the best group, every reward drawn."""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.adaptive_linear import plan, step
from bestgroup.algorithms.adaptive_linear_state import LinearRule, State
from bestgroup.core.arrays import Ints
from bestgroup.core.kernel import kernel
from bestgroup.core.tally import Tally
from bestgroup.simulation.exact import CAPPED, DONE, REFILL, SLICE, take
from bestgroup.simulation.rewards import AHEAD, Reservoir, Source, ensure


@kernel
def run_adaptive_linear(
    state: State, tally: Tally, rule: LinearRule, source: Source, pool: Reservoir, limits: Ints
) -> int:
    """Run until the answer, or return a code that says why not; can be called again to go on.

    `limits` holds the largest number of pulls, and about how many to do before returning with
    SLICE.
    """
    total = tally.counts.sum()
    pause = total + limits[1]
    while state.answer[0] < 0:
        if total >= pause:
            return SLICE
        if state.due.sum() == 0:
            pulls = plan(state, tally, rule)
            if total + pulls.sum() > limits[0]:
                return CAPPED
            for i in range(len(pulls)):
                for j in range(pulls.shape[1]):
                    state.due[i, j] = pulls[i, j]
        if not deliver(state, tally, source, pool):
            return REFILL
        total = tally.counts.sum()
        step(state, tally, rule)
    return DONE


@kernel
def deliver(state: State, tally: Tally, source: Source, pool: Reservoir) -> bool:
    """Consume the pulls that are due; False if the user's law has to draw first."""
    N, K, D = tally.sums.shape
    need = np.ones(D, np.bool_)
    for i in range(N):
        for j in range(K):
            while state.due[i, j] > 0:
                count = tally.counts[i, j]
                some = min(state.due[i, j], AHEAD)
                if count + some > pool.base[i, j] + pool.filled[i, j]:
                    if not ensure(source, pool, i, j, count, count + AHEAD, need):
                        return False
                take(pool, tally, i, j, count + some)
                state.due[i, j] -= some
    return True

"""Compiled runs of the adaptive rule for the best group, every reward drawn."""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.adaptive.best.algorithm import advance, set_plan
from bestgroup.algorithms.adaptive.best.state import LinearRule, State, make_room
from bestgroup.compile.kernel import kernel
from bestgroup.drivers.exact.adaptive import draw_due, take_due
from bestgroup.drivers.exact.loop import CAPPED, DONE, REFILL, SLICE
from bestgroup.drivers.rewards import Reservoir, Source
from bestgroup.inference.tally import Tally, sum_of
from bestgroup.problem.arrays import Ints


@kernel
def run_adaptive_linear(
    state: State, tally: Tally, rule: LinearRule, source: Source, pool: Reservoir, limits: Ints
) -> int:
    """Run until the answer, or return a code that says why not; can be called again to go on.

    `limits` holds the largest number of pulls, and about how many to do before returning with
    SLICE.
    """
    room = make_room(rule)
    N, K = rule.exists.shape
    pulls = np.zeros((N, K), np.int64)
    due = state.due
    total = sum_of(tally.counts)
    pause = total + limits[1]
    while state.answer[0] < 0:
        if total >= pause:
            return SLICE
        if sum_of(due) == 0:
            set_plan(state, tally, rule, pulls, room.masks, room.none)
            if total + sum_of(pulls) > limits[0]:
                return CAPPED
            for i in range(N):
                for j in range(K):
                    due[i, j] = pulls[i, j]
        while not take_due(due, tally, rule.box, pool):
            if not draw_due(due, tally, source, pool):
                return REFILL
        total = sum_of(tally.counts)
        advance(state, tally, rule, room)
    return DONE

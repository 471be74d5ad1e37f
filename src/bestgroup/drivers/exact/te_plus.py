"""Exact simulation of TE+: a compiled loop that passes over stretches in which no sign can change."""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.te_plus import algorithm as te_plus
from bestgroup.algorithms.te_plus.radii import PairRule, radii_below
from bestgroup.compile.kernel import kernel
from bestgroup.drivers.exact.loop import CAPPED, DONE, REFILL, SLICE, box_of, needed_dims, take
from bestgroup.drivers.rewards import AHEAD, Reservoir, Source, ensure
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints


@kernel
def run_te_plus(
    state: te_plus.State,
    tally: Tally,
    rule: PairRule,
    source: Source,
    pool: Reservoir,
    limits: Ints,
) -> int:
    """Run TE+ until it ends; returns a code, and can be called again to go on.

    `limits` holds the largest number of pulls, and about how many to do before returning with
    SLICE.
    """
    N, K, D = state.arms.shape
    everyone = np.ones(N, np.bool_)
    need = np.zeros(D, np.bool_)
    low, high = np.zeros((N, D)), np.zeros((N, D))
    lowest = np.zeros((N, K, D))
    radii = np.zeros(3)
    total = tally.counts.sum()
    pause = total + limits[1]
    while state.groups.any():
        if total >= pause:
            return SLICE
        r = state.round[0]
        width = te_plus.plan(state, tally, rule).sum()
        if total + width > limits[0]:
            return CAPPED
        length = min(AHEAD, max(8, r // 4), (limits[0] - total) // width)
        for i in range(N):
            for j in range(K):
                if needed_dims(everyone, state.dims, state.arms, i, j, need):
                    if not ensure(source, pool, i, j, r, r + length, need):
                        return REFILL
        stretch_boxes(state, pool, r, length, low, high, lowest)
        radii_below(rule, r + length, radii)
        if te_plus.can_fire(state, low, high, lowest, radii, rule):
            for _ in range(length):
                total += one_round(state, tally, rule, pool, everyone, need)
                if not state.groups.any():
                    break
        else:
            total += width * length
            pull_to(state, tally, pool, r + length, everyone, need)
            state.round[0] += length
            te_plus.refresh_efficiency(state, tally)
    return DONE


@kernel
def stretch_boxes(
    state: te_plus.State,
    pool: Reservoir,
    r: int,
    length: int,
    low: Floats,
    high: Floats,
    lowest: Floats,
) -> None:
    """Set the box of every active efficiency over rounds r + 1, ..., r + length."""
    N, K, D = state.arms.shape
    for i in range(N):
        for d in range(D):
            if not state.dims[i, d]:
                continue
            low[i, d], high[i, d] = -np.inf, -np.inf
            for j in range(K):
                if state.arms[i, j, d]:
                    least, most = box_of(pool, i, j, d, r + 1, r + length)
                    lowest[i, j, d] = least
                    low[i, d] = max(low[i, d], least)
                    high[i, d] = max(high[i, d], most)


@kernel
def pull_to(
    state: te_plus.State, tally: Tally, pool: Reservoir, r: int, everyone: Bools, need: Bools
) -> int:
    """Set every active arm's tally to its first r pulls; returns the number of arms."""
    N, K, D = state.arms.shape
    pulled = 0
    for i in range(N):
        for j in range(K):
            if needed_dims(everyone, state.dims, state.arms, i, j, need):
                take(pool, tally, i, j, r)
                pulled += 1
    return pulled


@kernel
def one_round(
    state: te_plus.State,
    tally: Tally,
    rule: PairRule,
    pool: Reservoir,
    everyone: Bools,
    need: Bools,
) -> int:
    """Pull once and step; returns the number of pulls."""
    pulled = pull_to(state, tally, pool, state.round[0] + 1, everyone, need)
    te_plus.step(state, tally, rule)
    return pulled

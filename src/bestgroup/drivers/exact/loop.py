"""Exact simulation: every reward is drawn, every round is accounted for.

The compiled loops look at stretches of rounds. The rewards of a stretch are drawn first; if no test
can fire anywhere in the box that the means move in (`can_fire`, the algorithm's own margins at the
box's ends), its rounds are passed over, otherwise they are stepped one by one. Nothing is
approximated: rounding is monotone, so a margin at the ends of the box is at least the margin of any
round inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestgroup.algorithms import equal_effect as eecb
from bestgroup.algorithms import triple_elimination as te
from bestgroup.algorithms.protocol import Rule
from bestgroup.algorithms.uniform import UniformRule
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.drivers.rewards import AHEAD, Reservoir, Source, ensure
from bestgroup.inference.radii import radius_at, radius_below
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints

DONE, REFILL, SLICE, CAPPED, STUCK = 0, 1, 2, 3, 4


@kernel
def needed_dims(groups: Bools, dims: Bools, arms: Bools, i: int, j: int, need: Bools) -> bool:
    """Set which dims of an arm are still read, and return whether any is."""
    found = False
    for d in range(len(need)):
        need[d] = groups[i] and dims[i, d] and arms[i, j, d]
        found = found or need[d]
    return found


@kernel
def box_of(pool: Reservoir, i: int, j: int, d: int, first: int, last: int) -> tuple[float, float]:
    """Return the least and the largest mean of one dim of an arm over counts first, ..., last."""
    least, most = np.inf, -np.inf
    row = pool.sums[i, j, d]
    base = pool.base[i, j]
    for count in range(first, last + 1):
        mean = row[count - base - 1] / count
        least = min(least, mean)
        most = max(most, mean)
    return least, most


@borrowing
def take(pool: Reservoir, tally: Tally, i: int, j: int, count: int) -> None:
    """Set an arm's tally to its first `count` pulls."""
    tally.counts[i, j] = count
    for d in range(tally.sums.shape[2]):
        tally.sums[i, j, d] = pool.sums[i, j, d, count - pool.base[i, j] - 1]


@kernel
def run_elimination(
    state: te.State, tally: Tally, rule: Rule, source: Source, pool: Reservoir, limits: Ints
) -> int:
    """Run TE, AGE or GE until it ends; returns a code, and can be called again to go on.

    `limits` holds the largest number of pulls, and about how many to do before returning with
    SLICE.
    """
    N, K, D = state.arms.shape
    need = np.zeros(D, np.bool_)
    low, high = np.zeros((N, D)), np.zeros((N, D))
    lowest = np.zeros((N, K, D))
    total = np.int64(0)
    for i in range(N):
        for j in range(K):
            total += tally.counts[i, j]
    pause = total + limits[1]
    while True:
        active = False
        for i in range(N):
            active = active or state.groups[i]
        if not active:
            return DONE
        if total >= pause:
            return SLICE
        r = state.round[0]
        width = np.int64(0)
        for i in range(N):
            for j in range(K):
                if needed_dims(state.groups, state.dims, state.arms, i, j, need):
                    width += 1
        if total + width > limits[0]:
            return CAPPED
        length = max(8, r // 4)
        if width > 0:
            length = min(AHEAD, length, (limits[0] - total) // width)
        elif te.is_stuck(state, rule):
            return STUCK
        if not draw_stretch(state, tally, source, pool, length, need):
            return REFILL
        stretch_boxes(state, pool, r, length, low, high, lowest, need)
        fires = te.can_fire(state, low, high, lowest, radius_below(rule.radius, r + length), rule)
        while fires and length > AHEAD:  # rounds without pulls: the box is a point
            length //= 2
            fires = te.can_fire(
                state, low, high, lowest, radius_below(rule.radius, r + length), rule
            )
        if fires:
            for _ in range(length):
                total += one_round(state, tally, rule, pool, need)
                if not state.groups.any():
                    break
        else:
            total += width * length
            state.round[0] += length
            for i in range(N):
                for j in range(K):
                    if needed_dims(state.groups, state.dims, state.arms, i, j, need):
                        take(pool, tally, i, j, r + length)


@kernel
def draw_stretch(
    state: te.State, tally: Tally, source: Source, pool: Reservoir, length: int, need: Bools
) -> bool:
    """Draw the next `length` pulls of every active arm; False if the user's law has to."""
    N, K, D = state.arms.shape
    for i in range(N):
        for j in range(K):
            if needed_dims(state.groups, state.dims, state.arms, i, j, need):
                count = tally.counts[i, j]
                if not ensure(source, pool, i, j, count, count + length, need):
                    return False
    return True


@kernel
def stretch_boxes(
    state: te.State,
    pool: Reservoir,
    r: int,
    length: int,
    low: Floats,
    high: Floats,
    lowest: Floats,
    need: Bools,
) -> None:
    """Set the box of every efficiency over rounds r + 1, ..., r + length."""
    N, K, D = state.arms.shape
    for i in range(N):
        if not state.groups[i]:
            continue
        for d in range(D):
            low[i, d] = state.efficiency[i, d]
            high[i, d] = state.efficiency[i, d]
            if state.dims[i, d]:
                low[i, d], high[i, d] = -np.inf, -np.inf
                for j in range(K):
                    if state.arms[i, j, d]:
                        least, most = box_of(pool, i, j, d, r + 1, r + length)
                        lowest[i, j, d] = least
                        low[i, d] = max(low[i, d], least)
                        high[i, d] = max(high[i, d], most)


@kernel
def one_round(state: te.State, tally: Tally, rule: Rule, pool: Reservoir, need: Bools) -> int:
    """Pull once and step; returns the number of pulls."""
    N, K, D = state.arms.shape
    pulled = 0
    for i in range(N):
        for j in range(K):
            if needed_dims(state.groups, state.dims, state.arms, i, j, need):
                take(pool, tally, i, j, tally.counts[i, j] + 1)
                pulled += 1
    te.step(state, tally, rule)
    return pulled


@kernel
def run_equal_effect(
    state: eecb.State, tally: Tally, rule: Rule, source: Source, pool: Reservoir, limits: Ints
) -> int:
    """Run EECB until it ends; returns a code, and can be called again to go on."""
    N, K, D = state.arms.shape
    everything = np.ones((N, D), np.bool_)
    need = np.zeros(D, np.bool_)
    clock = np.zeros(D, np.int64)
    target = np.zeros((N, K), np.int64)
    total = np.int64(0)
    for i in range(N):
        for j in range(K):
            total += tally.counts[i, j]
    pause = total + limits[1]
    while state.round[0] == 0 or state.focus[0] >= 0:
        if total >= pause:
            return SLICE
        rounds = AHEAD if state.round[0] > 0 and eecb.left(state.groups) > 1 else 1
        while True:
            copy_clock(state.clock, clock)
            advance_clock(state, clock, rounds, rule)
            wanted = set_targets(state, tally, rule, clock, target)
            if total + wanted <= limits[0] or rounds == 1:
                break
            rounds = 1
        if state.round[0] > 0 and rounds > 1:
            for i in range(N):
                for j in range(K):
                    if needed_dims(state.groups, everything, state.arms, i, j, need):
                        if not ensure(source, pool, i, j, tally.counts[i, j], target[i, j], need):
                            return REFILL
            if not eecb_can_fire(state, tally, rule, pool, clock, target):
                total += wanted
                copy_clock(clock, state.clock)
                state.round[0] += rounds
                state.focus[0] = eecb.focus_at(state.clock, rule)
                for i in range(N):
                    for j in range(K):
                        if target[i, j] > tally.counts[i, j]:
                            take(pool, tally, i, j, target[i, j])
                continue
        for _ in range(rounds):
            pulls = eecb.plan(state, tally, rule)
            batch = pulls.sum()
            if total + batch > limits[0]:
                return CAPPED
            for i in range(N):
                for j in range(K):
                    if pulls[i, j] > 0:
                        needed_dims(state.groups, everything, state.arms, i, j, need)
                        count = tally.counts[i, j]
                        if not ensure(source, pool, i, j, count, count + 1, need):
                            return REFILL
            for i in range(N):
                for j in range(K):
                    if pulls[i, j] > 0:
                        take(pool, tally, i, j, tally.counts[i, j] + 1)
            total += batch
            eecb.step(state, tally, rule)
            if state.focus[0] < 0:
                break
    return DONE


@kernel
def copy_clock(source: Ints, target: Ints) -> None:
    """Copy a clock; a loop compiles in a tenth of the time that a slice takes."""
    for d in range(len(source)):
        target[d] = source[d]


@kernel
def advance_clock(state: eecb.State, clock: Ints, rounds: int, rule: Rule) -> None:
    """Move a copy of the clock over the next rounds, whose focus is the first largest effect."""
    if state.round[0] == 0:
        for d in range(len(clock)):
            clock[d] = 1
        return
    D = len(clock)
    effect = np.empty(D)
    for d in range(D):
        effect[d] = rule.weights[d] * rule.scale[d] * radius_at(rule.radius, clock[d])
    for _ in range(rounds):
        focus = 0
        for d in range(1, D):
            if effect[d] > effect[focus]:
                focus = d
        clock[focus] += 1
        effect[focus] = (
            rule.weights[focus] * rule.scale[focus] * radius_at(rule.radius, clock[focus])
        )


@kernel
def set_targets(state: eecb.State, tally: Tally, rule: Rule, clock: Ints, target: Ints) -> int:
    """Set how often each arm is pulled when the clock gets there with the sets of now.

    An arm is pulled in a round of dim d iff its count equals n^d, so its count is the largest n^d
    of its active dims, or what it was if that is more. Returns the number of pulls.
    """
    N, K, D = state.arms.shape
    wanted = 0
    for i in range(N):
        for j in range(K):
            target[i, j] = tally.counts[i, j]
            if not (state.groups[i] and rule.exists[i, j]):
                continue
            for d in range(D):
                if state.arms[i, j, d]:
                    target[i, j] = max(target[i, j], clock[d])
            wanted += target[i, j] - tally.counts[i, j]
    return wanted


@kernel
def eecb_can_fire(
    state: eecb.State, tally: Tally, rule: Rule, pool: Reservoir, clock: Ints, target: Ints
) -> bool:
    """Return whether a test of EECB could fire in a stretch that ends at `clock` and `target`."""
    N, K, D = state.arms.shape
    low, high = np.full((N, D), -np.inf), np.full((N, D), -np.inf)
    lowest = np.full((N, K, D), np.inf)
    for i in range(N):
        if not state.groups[i]:
            continue
        for j in range(K):
            for d in range(D):
                if state.arms[i, j, d]:
                    least, most = box_of(pool, i, j, d, tally.counts[i, j], target[i, j])
                    lowest[i, j, d] = least
                    low[i, d] = max(low[i, d], least)
                    high[i, d] = max(high[i, d], most)
    return eecb.can_fire(state, low, high, lowest, clock, rule)


@kernel
def run_uniform(
    tally: Tally, rule: UniformRule, source: Source, pool: Reservoir, limits: Ints
) -> int:
    """Draw all pulls of UniS into the tally; the caller steps."""
    N, K, D = tally.sums.shape
    need = np.ones(D, np.bool_)
    done = np.int64(0)
    for i in range(N):
        for j in range(K):
            if not rule.exists[i, j]:
                continue
            while tally.counts[i, j] < rule.pulls:
                if done >= limits[1]:
                    return SLICE
                count = tally.counts[i, j]
                goal = min(rule.pulls, count + AHEAD)
                if not ensure(source, pool, i, j, count, goal, need):
                    return REFILL
                take(pool, tally, i, j, goal)
                done += goal - count
    return DONE


def loop_for(algorithm: Any) -> Any:
    """Return the loop of an algorithm's family, or None for one written in plain Python."""
    if isinstance(algorithm, te.TripleElimination) and is_ours(algorithm):
        return run_elimination
    if isinstance(algorithm, eecb.EqualEffect) and is_ours(algorithm):
        return run_equal_effect
    if algorithm.name == "te-plus" and is_ours(algorithm):
        from bestgroup.drivers.exact.te_plus import run_te_plus

        return run_te_plus
    if algorithm.name == "adaptive" and is_ours(algorithm):
        from bestgroup.drivers.exact.adaptive import AdaptiveLoop

        return AdaptiveLoop()
    return None


def is_ours(algorithm: Any) -> bool:
    """Return whether plan and step are the library's own, not a user's."""
    return type(algorithm).__module__.startswith("bestgroup.algorithms.")

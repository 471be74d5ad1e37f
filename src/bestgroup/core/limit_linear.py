"""The inner problem of the limit for BestGroup: the cheapest alternative in which group k beats group i.

Arms of k rise and arms of i fall until R_k . w = R_i . w + epsilon |w|_1. Once it is chosen which arm of k serves each
dim, the problem is convex with one multiplier y: lowering i at the price y is worth G(y), whatever k does, and
the served dims enter by a pair (L, A) only, L = their weighted mean and A = what a unit of y raises it by:

    cost = max_y G(y) + y (R_i . w + epsilon |w|_1 - L) - y^2 A / 2.

Choices are walks: dims are served in blocks (single dims, or sets of dims when dims are fully dependent, because
one shift then serves all dims of the arm). A price y bounds the cost of every walk at once,
G(y) + y (...) - max over walks (y L + y^2 A / 2), and the maximum is a longest path; mostly one price proves the minimum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.core.arrays import Floats, Ints
from bestgroup.core.kernel import kernel
from bestgroup.core.limit_cover import Cover, cover
from bestgroup.core.limit_pareto import NODES, Arms

PRICES = 16  # bounds kept at a time


class Walks(NamedTuple):
    """All ways to serve the dims, as paths from state 0 to the last state; see `walks`."""

    gain: Floats  # [B, A]  weighted mean that an arm brings to a block
    total: Floats  # [B]  weight of the block
    first: Ints  # [S + 1]  steps first[s] to first[s + 1] leave state s
    block: Ints  # [T]
    next: Ints  # [T]  always a larger state


class Duel(NamedTuple):
    """Group i is to be beaten by `margin`; `order` [D, K_i] lists its arms by falling mean."""

    i: int
    margin: float
    weights: Floats  # [D]
    order: Ints  # [D, K_i]
    dependent: bool


class Bounds(NamedTuple):
    """Prices y, bounds of G there, and longest paths from every state for one group k."""

    price: Floats  # [PRICES, 2]  y and G(y)
    rest: Floats  # [PRICES, S]
    count: Ints  # [1]  prices seen; the oldest are overwritten


@kernel
def beat_by(
    arms: Arms, weight: Floats, duel: Duel, walks: Walks, k: int, cutoff: float, cut: Floats
) -> tuple[float, float]:
    """Return (cost, low) of the cheapest alternative in which group k beats group i by the margin.

    Alternatives that cost `cutoff` or more may be missed, except that one is always found; its shifts' costs
    are in `cut` [A]. `low` bounds all alternatives cheaper than `cutoff` from below.
    """
    states = len(walks.first) - 1
    bounds = Bounds(np.empty((PRICES, 2)), np.empty((PRICES, states)), np.zeros(1, dtype=np.int64))
    pick = np.empty((states, 2), dtype=np.int64)
    walk = np.empty((len(duel.weights), 2), dtype=np.int64)
    longest_paths(arms, weight, walks, k, first_price(arms, weight, duel, k), bounds.rest[0], pick)
    value, low = math.inf, 0.0
    for _ in range(6):
        length = follow(walks, pick, walk)
        cost, _ = try_walk(arms, weight, duel, walks, k, walk[:length], bounds, value, pick, cut)
        value = min(value, cost)
        low = max(low, bound_of(bounds, duel.margin, 0.0, 0.0, np.int64(0)))
        if low >= min(value, cutoff) * (1.0 - 1e-12):
            return value, min(low, value)
    return search(arms, weight, duel, walks, k, bounds, value, cutoff, cut)


@kernel
def first_price(arms: Arms, weight: Floats, duel: Duel, k: int) -> float:
    """Return a guess of the multiplier: only the best arms of k rise and only those of i fall."""
    need, rate = duel.margin, 0.0
    for d in range(len(duel.weights)):
        best = arms.start[k]
        for arm in range(arms.start[k], arms.start[k + 1]):
            if arms.mean[arm, d] > arms.mean[best, d]:
                best = arm
        need -= duel.weights[d] * arms.mean[best, d]
        rate += duel.weights[d] ** 2 * (1.0 / weight[best] + 1.0 / weight[duel.order[d, 0]])
    return max(need, 0.0) / rate


@kernel
def longest_paths(
    arms: Arms, weight: Floats, walks: Walks, k: int, y: float, rest: Floats, pick: Ints
) -> None:
    """Fill in `rest` [S] = max y L + y^2 A / 2 over walks to the end, and the steps and arms that do it."""
    last = len(rest) - 1
    rest[last] = 0.0
    for state in range(last - 1, -1, -1):
        rest[state] = -math.inf
        for step in range(walks.first[state], walks.first[state + 1]):
            block, onward = walks.block[step], rest[walks.next[step]]
            for arm in range(arms.start[k], arms.start[k + 1]):
                raised = 0.5 * (y * walks.total[block]) ** 2 / weight[arm]
                length = y * walks.gain[block, arm] + raised + onward
                if length > rest[state]:
                    rest[state], pick[state, 0], pick[state, 1] = length, step, arm


@kernel
def follow(walks: Walks, pick: Ints, walk: Ints) -> int:
    """Write the picked steps from state 0 into `walk` [D, 2] and return their number."""
    state, length = 0, 0
    while state < len(pick) - 1:
        walk[length, 0], walk[length, 1] = pick[state, 0], pick[state, 1]
        state = walks.next[pick[state, 0]]
        length += 1
    return length


@kernel
def bound_of(bounds: Bounds, margin: float, mean: float, rate: float, state: int) -> float:
    """Return a lower bound of the cost of every walk that has (mean, rate) when it reaches `state`."""
    best = 0.0
    for at in range(min(bounds.count[0], PRICES)):
        y, worth = bounds.price[at, 0], bounds.price[at, 1]
        paid = y * mean + 0.5 * y * y * rate + bounds.rest[at, state]
        best = max(best, worth + y * margin - paid)
    return best


@kernel
def try_walk(
    arms: Arms,
    weight: Floats,
    duel: Duel,
    walks: Walks,
    k: int,
    walk: Ints,
    bounds: Bounds,
    value: float,
    pick: Ints,
    cut: Floats,
) -> tuple[float, float]:
    """Return cost and bound of a walk; its price joins the bounds; if below `value`, it goes to `cut`."""
    mean, rate = 0.0, 0.0
    for at in range(len(walk)):
        block, arm = walks.block[walk[at, 0]], walk[at, 1]
        mean += walks.gain[block, arm]
        rate += walks.total[block] ** 2 / weight[arm]
    first = arms.start[duel.i]
    fall = np.zeros(arms.start[duel.i + 1] - first)
    if duel.dependent:
        cost, bound, y = fall_together(arms, weight, duel, duel.margin - mean, rate, fall)
    else:
        cost, bound, y = fall_apart(arms, weight, duel, duel.margin - mean, rate, fall)
    if cost < value:
        cut[:] = 0.0
        for right in range(len(fall)):
            cut[first + right] = fall[right]
        for at in range(len(walk)):
            rise = y * walks.total[walks.block[walk[at, 0]]] / weight[walk[at, 1]]
            cut[walk[at, 1]] += 0.5 * rise * rise
    at = bounds.count[0] % PRICES
    bounds.count[0] += 1
    bounds.price[at, 0] = y
    bounds.price[at, 1] = bound - y * (duel.margin - mean) + 0.5 * y * y * rate
    longest_paths(arms, weight, walks, k, y, bounds.rest[at], pick)
    return cost, bound


@kernel
def fall_apart(
    arms: Arms, weight: Floats, duel: Duel, gap: float, rate: float, fall: Floats
) -> tuple[float, float, float]:
    """Return cost (twice, it is exact) and y for independent dims; sum of falls^2 / 2 in `fall` [K_i].

    In each dim the arms of i above a level x_d(y) fall to it, sum weight (mu - x_d)^+ = y w_d (water filling);
    y solves gap + sum_d w_d (x_d - R_i^d) = y rate. Newton from the left is exact, the function being convex, falling
    and piecewise linear.
    """
    y, first = 0.0, arms.start[duel.i]
    while True:
        left, slope = gap, -rate
        for d in range(len(duel.weights)):
            level, mass = water_level(arms, weight, duel, d, y)
            left += duel.weights[d] * level
            slope -= duel.weights[d] ** 2 / mass
        onward = y + (left - y * rate) / -slope
        if onward <= y * (1.0 + 1e-15):
            break
        y = onward
    cost = 0.5 * y * y * rate
    for d in range(len(duel.weights)):
        level = water_level(arms, weight, duel, d, y)[0] + arms.mean[duel.order[d, 0], d]
        for arm in range(first, arms.start[duel.i + 1]):
            drop = arms.mean[arm, d] - level
            if drop > 0.0:
                fall[arm - first] += 0.5 * drop * drop
                cost += 0.5 * weight[arm] * drop * drop
    return cost, cost, y


@kernel
def water_level(
    arms: Arms, weight: Floats, duel: Duel, d: int, y: float
) -> tuple[float, float]:
    """Return the level below R_i^d (<= 0) at which y w_d is used up, and the weight of the arms that fall."""
    top = arms.mean[duel.order[d, 0], d]
    mass, above = 0.0, 0.0
    for at in range(duel.order.shape[1]):
        arm = duel.order[d, at]
        mass += weight[arm]
        above += weight[arm] * (arms.mean[arm, d] - top)
        level = (above - y * duel.weights[d]) / mass
        if at + 1 == duel.order.shape[1] or level >= arms.mean[duel.order[d, at + 1], d] - top:
            break
    return level, mass


@kernel
def fall_together(
    arms: Arms, weight: Floats, duel: Duel, gap: float, rate: float, fall: Floats
) -> tuple[float, float, float]:
    """Return cost, its bound and y for fully dependent dims; falls^2 / 2 in `fall` [K_i]."""
    dims, first, last = len(duel.weights), arms.start[duel.i], arms.start[duel.i + 1]
    need = np.empty((dims, last - first))
    for d in range(dims):
        for right in range(last - first):
            need[d, right] = arms.mean[first + right, d] - arms.mean[duel.order[d, 0], d]
    problem = Cover(need, weight[first:last], np.zeros(dims), duel.weights, rate, -gap)
    cost, bound, y = cover(problem, np.zeros(dims), fall)
    for right in range(last - first):
        fall[right] = 0.5 * fall[right] ** 2
    return cost, bound, y


@kernel
def search(
    arms: Arms,
    weight: Floats,
    duel: Duel,
    walks: Walks,
    k: int,
    bounds: Bounds,
    value: float,
    cutoff: float,
    cut: Floats,
) -> tuple[float, float]:
    """Return (cost, low) as `beat_by`, by branch and bound over the walks of group k."""
    dims, size, end = len(duel.weights), arms.start[k + 1] - arms.start[k], len(walks.first) - 2
    walk, pick = np.empty((dims, 2), dtype=np.int64), np.empty((end + 1, 2), dtype=np.int64)
    state, turn = np.zeros(dims + 1, dtype=np.int64), np.zeros(dims + 1, dtype=np.int64)
    mean, rate = np.zeros(dims + 1), np.zeros(dims + 1)
    low, nodes, depth = math.inf, 0, 0
    while depth >= 0:
        step = walks.first[state[depth]] + turn[depth] // size
        if step >= walks.first[state[depth] + 1]:
            depth -= 1
            continue
        arm, block = arms.start[k] + turn[depth] % size, walks.block[step]
        turn[depth] += 1
        mean[depth + 1] = mean[depth] + walks.gain[block, arm]
        rate[depth + 1] = rate[depth] + walks.total[block] ** 2 / weight[arm]
        onward = walks.next[step]
        bound = bound_of(bounds, duel.margin, mean[depth + 1], rate[depth + 1], onward)
        limit = min(value, cutoff)
        if bound >= limit:
            continue
        nodes += 1
        if nodes > NODES:
            low = min(low, bound)
            continue
        walk[depth, 0], walk[depth, 1] = step, arm
        if onward < end:
            depth += 1
            state[depth], turn[depth] = onward, 0
            continue
        found = walk[: depth + 1]
        cost, least = try_walk(arms, weight, duel, walks, k, found, bounds, value, pick, cut)
        value, low = min(value, cost), min(low, least)
    return value, min(low, value)


def walks(weights: Floats, means: Floats, dependent: bool) -> Walks:
    """Return the ways to serve all dims; `means` [A, D] and `weights` [D] in units of the noise scale.

    Independent dims: state d, one block a dim. Fully dependent: a state is the set of dims already served, and a
    block any set of other dims that holds the first of them.
    """
    dims = len(weights)
    if not dependent:
        ends = np.arange(dims)
        first = np.append(ends, [dims, dims])
        return Walks(np.ascontiguousarray((means * weights).T), weights, first, ends, ends + 1)
    sets = 1 << dims
    member = (np.arange(sets)[:, None] >> np.arange(dims)) & 1
    first, block, after = [0], [], []
    for served in range(sets - 1):
        free = (sets - 1) & ~served
        lead = free & -free
        for chosen in range(1, sets):
            if chosen & lead and not chosen & served:
                block.append(chosen)
                after.append(served | chosen)
        first.append(len(block))
    first.append(len(block))
    gain = np.ascontiguousarray((member * weights) @ means.T)
    return Walks(gain, member @ weights, np.array(first), np.array(block), np.array(after))

"""Alternative (a) of `limit_pareto` with fully dependent dims: group j comes to beat group i in every dim.

An arm has one shift for all dims. Once it is chosen which arm of j serves each dim (rises to R_i + epsilon there), the cost is a
`Cover`; dims are added one at a time, dearest first, and costs grow with every dim, which gives the bounds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.core.arrays import Bools, Floats, Ints
from bestgroup.core.kernel import kernel
from bestgroup.core.limit_cover import Cover, cover
from bestgroup.core.limit_pareto import Arms, balance, lowering, worth_raising


class Pair(NamedTuple):
    """Group i is to be beaten by group j; the search goes through the dims in `order`."""

    i: int
    j: int
    epsilon: Floats  # [D]
    order: Ints  # [D]
    server: Ints  # [D]  arm of j for each of the dims chosen so far, by place in `order`


@kernel
def accept_pair_dependent(
    arms: Arms, weight: Floats, epsilon: Floats, i: int, j: int, cutoff: float, cut: Floats
) -> tuple[float, float]:
    """Return (cost, low) of the cheapest alternative with R_i + epsilon <= R_j in every dim.

    Alternatives that cost `cutoff` or more may be missed, except that one alternative is always found; its
    shifts' costs are in `cut` [A]. `low` bounds all alternatives cheaper than `cutoff` from below.
    """
    dims, size = arms.mean.shape[1], arms.start[j + 1] - arms.start[j]
    order, single = dearest_first(arms, weight, epsilon, i, j)
    pair = Pair(i, j, epsilon, order, np.full(dims, -1, dtype=np.int64))
    useful = np.empty((size, dims), dtype=np.bool_)
    worth_raising(arms, weight, j, True, useful)
    option = np.empty((dims, size), dtype=np.int64)
    bound = np.empty((dims, size))
    count, turn = np.zeros(dims, dtype=np.int64), np.zeros(dims, dtype=np.int64)
    value, low, limit = math.inf, math.inf, math.inf
    depth = np.int64(0)  # a literal 0 would be compiled apart
    count[0] = list_options(arms, weight, pair, depth, single, useful, option[0], bound[0])
    while depth >= 0:
        at = turn[depth]
        if at >= count[depth] or bound[depth, at] >= limit:
            depth -= 1
            continue
        turn[depth] = at + 1
        pair.server[depth] = option[depth, at]
        if depth + 1 < dims:
            depth += 1
            turn[depth] = 0
            count[depth] = list_options(
                arms, weight, pair, depth, single, useful, option[depth], bound[depth]
            )
            continue
        cost = write_cut(arms, weight, pair, value, cut)
        value, low = min(value, cost), min(low, bound[depth, at])
        limit = min(value, cutoff)
    return value, low


@kernel
def dearest_first(
    arms: Arms, weight: Floats, epsilon: Floats, i: int, j: int
) -> tuple[Ints, Floats]:
    """Return the dims by falling cost of closing the gap in that dim alone, and these costs."""
    dims = arms.mean.shape[1]
    order, single = np.empty(dims, dtype=np.int64), np.empty(dims)
    for d in range(dims):
        least = math.inf
        for arm in range(arms.start[j], arms.start[j + 1]):
            base = arms.mean[arm, d] - epsilon[d]
            rise = balance(arms, weight, i, d, base, weight[arm])
            cost = 0.5 * weight[arm] * rise * rise + lowering(arms, weight, i, d, base + rise)
            least = min(least, cost)
        at = d
        while at > 0 and single[at - 1] < least:
            single[at], order[at] = single[at - 1], order[at - 1]
            at -= 1
        single[at], order[at] = least, d
    return order, single


@kernel
def list_options(
    arms: Arms,
    weight: Floats,
    pair: Pair,
    depth: int,
    single: Floats,
    useful: Bools,
    option: Ints,
    bound: Floats,
) -> int:
    """Fill in the arms that may serve the next dim, cheapest first, with bounds; return their number."""
    count = 0
    rest = single[depth + 1] if depth + 1 < len(single) else 0.0
    for arm in range(arms.start[pair.j], arms.start[pair.j + 1]):
        if not useful[arm - arms.start[pair.j], 0]:
            continue
        pair.server[depth] = arm
        least = max(rest, solve_pair(arms, weight, pair, depth + 1)[1])
        at = count
        while at > 0 and bound[at - 1] > least:
            bound[at], option[at] = bound[at - 1], option[at - 1]
            at -= 1
        bound[at], option[at] = least, arm
        count += 1
    return count


@kernel
def solve_pair(
    arms: Arms, weight: Floats, pair: Pair, depth: int
) -> tuple[float, float, Ints, Floats, Floats]:
    """Return cost, its bound, the arms that rise, their rises, and the falls, for the dims so far."""
    first, last = arms.start[pair.i], arms.start[pair.i + 1]
    raised = np.empty(depth, dtype=np.int64)
    gap = np.full((depth, last - first), -math.inf)
    lefts, widest = 0, 0.0
    for place in range(depth):
        d, arm = pair.order[place], pair.server[place]
        left = 0
        while left < lefts and raised[left] != arm:
            left += 1
        if left == lefts:
            raised[left] = arm
            lefts += 1
        for right in range(last - first):
            need = arms.mean[first + right, d] + pair.epsilon[d] - arms.mean[arm, d]
            gap[left, right] = max(gap[left, right], need)
            widest = max(widest, need)
    x, fall = np.zeros(lefts), np.zeros(last - first)
    if widest <= 0.0:
        return 0.0, 0.0, raised[:lefts], x, fall
    own = np.empty(lefts)
    for left in range(lefts):
        own[left] = weight[raised[left]]
    problem = Cover(gap[:lefts], weight[first:last], own, np.zeros(lefts), 1.0, 0.0)
    cost, bound, _ = cover(problem, x, fall)
    return cost, bound, raised[:lefts], x, fall


@kernel
def write_cut(arms: Arms, weight: Floats, pair: Pair, value: float, cut: Floats) -> float:
    """Return the cost of the alternative just completed; if below `value`, its shifts go to `cut`."""
    cost, _, raised, x, fall = solve_pair(arms, weight, pair, len(pair.order))
    if cost < value:
        cut[:] = 0.0
        for left in range(len(raised)):
            cut[raised[left]] = 0.5 * x[left] ** 2
        for right in range(len(fall)):
            cut[arms.start[pair.i] + right] = 0.5 * fall[right] ** 2
    return cost

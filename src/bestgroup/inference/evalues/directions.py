"""Lower bounds of R_i . v - R_k . v for all pairs of groups in fixed directions v, at all times.

For a direction v >= 0, a selection s of group i (an arm for each dim with v^d > 0) and one s' of
group k let E be the product of half-normal mixtures of `evalues.linear` over the arms of both, with
coefficients from v. By its eq. (1) the evidence against L_s + x <= L_s' is at least

    y x + relaxed(y),      relaxed(y) = y (L-hat_s - max over s' ...) - ...    for every tilt y > 0,

relaxed(y) being the bound over all s' of `evalues.search`. So, once a level is given, the gap is at
least

    (relaxed(y) - level) / y.                                                                  (3)

**Theorem.** Let shares q(v, i, k) >= 0 sum up to at most 1 over the triples (i != k) of a set, and
shares r(i, d, j) over the arms j of i, for each dim d; both are fixed, or known when counting starts.
With level log(1 / delta q(v, i, k)) + sum_d log(1 / r(i, d, s(d))), the sum over the dims with v^d > 0,
all bounds (3) of these triples hold together with probability at least 1 - delta: for all times, all
tilts, all s.

*Proof.* Fix (v, i, k) and let s* be a selection of k with L_s* = R_k . v; the means fix it. Say (3)
exceeds the gap at some time, for a selection s. Since L_s <= R_i . v it exceeds L_s - L_s*, so with
-x the bound (3) the true means satisfy L_s + x < L_s*, and the evidence against that, which has
reached the level, is at most the log of the product at the true means. That is a nonnegative
supermartingale that starts at 1, whatever x is. By Ville's inequality it ever reaches exp(level) with
probability at most exp(-level) = delta q(v, i, k) prod_d r(i, d, s(d)). The products sum up to at most
1 over all selections s, and so do the q over all triples. If counting starts at a moment of its own,
all this holds given what was known then, and shares may depend on that. QED

Precisions: each arm's mixture may have one of its own, fixed or known when counting starts. Where G
sets of them are at hand, their mixture with prior p is at least p_g times each part, so that any one
may be used at a level that is higher by log(1 / p_g); it is chosen by the counts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.linear import PRECISIONS, PRIOR, coefficients
from bestgroup.inference.evalues.search import (
    Pairwise,
    Work,
    find_blocks,
    make_pairwise,
    make_work,
    relaxed,
)
from bestgroup.problem.arrays import Bools, Floats, Ints

ROUNDING = 1e-6  # far more than floating point could add to the evidence
_TILTS = 7  # tried for a bound
_PARTS = 40  # of the selections of a group, at most
_CLOSE = 0.04  # of a tilt: closer ones are not told apart


class Directions(NamedTuple):
    """Directions as the kernels see them."""

    weights: Floats  # [V, D]
    dims: Ints  # [V, D]     those of positive weight first
    support: Ints  # [V]     how many these are
    coefficient: Floats  # [V, 2^D]  c of their sets
    level: Floats  # [V, N, N]     log(1 / (delta q))
    price: (
        Floats  # [N, K, D]     log(1 / r), r the share of an arm in a dim among those of its group
    )
    precision: Floats  # [G, N, K]  q of the arms' mixtures, G sets of them
    prior: Floats  # [G]         log(1 / p) of each set


class Space(NamedTuple):
    """Scratch space of a search."""

    boxes: Bools  # [M, n, K]  parts of the selections that are still to be looked at
    now: Bools  # [n, K]
    selection: Ints  # [2, n]
    last: Ints  # [n]
    mine: Ints  # [n]
    work: Work


@kernel
def make_space(n: int, K: int) -> Space:
    """Return scratch space for n dims and groups of at most K arms."""
    return Space(
        np.zeros((24, n, K), np.bool_),
        np.zeros((n, K), np.bool_),
        np.zeros((2, n), np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        make_work(n),
    )


def make_directions(
    weights: Floats, scale: Floats, independent: bool, level: Floats, sizes: Ints
) -> Directions:
    """Return directions [V, D] with the levels of their bounds [V, N, N]; arms have equal shares."""
    V, D = weights.shape
    dims = np.argsort(weights <= 0, axis=1, kind="stable").astype(np.int64)
    support = (weights > 0).sum(axis=1).astype(np.int64)
    coefficient = np.zeros((V, 1 << D))
    for v in range(V):
        used = dims[v, : support[v]]
        coefficient[v, : 1 << support[v]] = coefficients(
            weights[v, used] * scale[used], independent
        )
    price = np.zeros((len(sizes), int(sizes.max()), D))
    price[:] = np.log(sizes)[:, None, None]
    precision = np.ones((len(PRECISIONS), *price.shape[:2]))
    precision *= np.array(PRECISIONS)[:, None, None]
    return Directions(weights, dims, support, coefficient, level, price, precision, -np.log(PRIOR))


@kernel
def raise_bounds(
    counts: Ints,
    sums: Floats,
    sizes: Ints,
    directions: Directions,
    first: Bools,
    lead: Ints,
    bound: Floats,
) -> None:
    """Raise bound [V, N, N] where counts [N, K] and sums [N, K, D] prove more, in place.

    first [N] are the groups that are to be shown ahead, by the arms lead [N, D].
    """
    V = directions.weights.shape[0]
    N, K = counts.shape
    for v in range(V):
        n = directions.support[v]
        pair = make_pairwise(
            len(directions.prior), K, n, directions.coefficient[v, : 1 << n].copy()
        )
        space = make_space(n, K)
        for k in range(N):
            if not enter_below(counts, sums, directions, v, k, sizes[k], pair):
                continue
            for i in range(N):
                if i == k or not first[i]:
                    continue
                level = directions.level[v, i, k] + ROUNDING
                for d in range(n):
                    dim = directions.dims[v, d]
                    space.mine[d] = lead[i, dim]
                    level += directions.price[i, lead[i, dim], dim]
                found = best_bound(counts, sums, sizes, directions, v, i, k, level, pair, space)
                if found > bound[v, i, k]:
                    bound[v, i, k] = found


@borrowing
def best_bound(
    counts: Ints,
    sums: Floats,
    sizes: Ints,
    directions: Directions,
    v: int,
    i: int,
    k: int,
    level: float,
    pair: Pairwise,
    space: Space,
) -> float:
    """Return the best bound that sets of precisions for the least to the largest count give."""
    least, most = np.inf, 0.0
    for j in range(sizes[k]):
        least, most = min(least, float(counts[k, j])), max(most, float(counts[k, j]))
    for d in range(len(space.mine)):
        n = float(counts[i, space.mine[d]])
        least, most = min(least, n), max(most, n)
    best = -np.inf
    low, high = (
        precision_for(directions, i, least, level),
        precision_for(directions, i, most, level),
    )
    for g in range(low, high + 1):
        if enter_above(counts, sums, directions, v, i, space.mine, g, pair, space.work.masks):
            fill_box(space.boxes[0], sizes[k])
            best = max(best, least_bound(pair, g, level, space))
    return best


@borrowing
def fill_box(box: Bools, size: int) -> None:
    """Allow all arms of a group in all dims."""
    for d in range(box.shape[0]):
        for j in range(box.shape[1]):
            box[d, j] = j < size


@borrowing
def precision_for(directions: Directions, i: int, count: float, level: float) -> int:
    """Return the set whose precision suits a count: about n / (2 level)."""
    wanted = math.log(count + 1.0) - math.log(2.0 * level)
    best, g = np.inf, 0
    for h in range(len(directions.prior)):
        apart = abs(math.log(directions.precision[h, i, 0]) - wanted)
        if apart < best:
            best, g = apart, h
    return g


@borrowing
def enter_below(
    counts: Ints,
    sums: Floats,
    directions: Directions,
    v: int,
    k: int,
    size: int,
    pair: Pairwise,
) -> bool:
    """Enter the group that is to be shown behind; False if an arm of it was never pulled."""
    n = pair.worth.shape[1]
    for j in range(size):
        count = float(counts[k, j])
        # An arm without a pull could be anything.
        if count <= 0.0:
            return False
        for g in range(len(directions.prior)):
            q = directions.precision[g, k, j]
            pair.reach[g, j] = math.sqrt(count + q) / count
            pair.cost[g, j] = 0.5 * math.log(1.0 + count / q)
        for d in range(n):
            dim = directions.dims[v, d]
            pair.worth[j, d] = directions.weights[v, dim] * sums[k, j, dim] / count
    return True


@borrowing
def enter_above(
    counts: Ints,
    sums: Floats,
    directions: Directions,
    v: int,
    i: int,
    mine: Ints,
    g: int,
    pair: Pairwise,
    masks: Ints,
) -> bool:
    """Enter the group that is to be shown ahead, with its selection; False if an arm has no pull."""
    find_blocks(mine, masks)
    pair.ahead[0] = 0.0
    # The prior of a set of precisions is paid once, with this side.
    pair.lead_cost[g] = directions.prior[g]
    for d in range(len(mine)):
        dim, count = directions.dims[v, d], float(counts[i, mine[d]])
        if count <= 0.0:
            return False
        pair.ahead[0] += directions.weights[v, dim] * sums[i, mine[d], dim] / count
        pair.lead[g, d] = 0.0
        if masks[d] > 0:
            q = directions.precision[g, i, mine[d]]
            pair.lead[g, d] = pair.coefficient[masks[d]] * math.sqrt(count + q) / count
            pair.lead_cost[g] += 0.5 * math.log(1.0 + count / q)
    return True


@borrowing
def least_bound(pair: Pairwise, g: int, level: float, space: Space) -> float:
    """Return the largest bound (3) that holds against all selections of a box, each by a tilt of its own.

    Arms with many and with few pulls want different tilts. Where the best tilt of a box is one at
    which two selections are equally hard, the box is split between them, and the least bound of all
    parts is that of the whole.
    """
    boxes, now = space.boxes, space.now
    least, top, count = np.inf, 1, 0
    while top > 0:
        top -= 1
        for d in range(now.shape[0]):
            for j in range(now.shape[1]):
                now[d, j] = boxes[top, d, j]
        found, torn = gap_bound(pair, g, now, level, space)
        count += 1
        # This part cannot be the least.
        if found >= least:
            continue
        if torn < 0 or count >= _PARTS or top + 2 > len(boxes):
            least = found
            continue
        arm = space.selection[1, torn]
        for d in range(now.shape[0]):
            for j in range(now.shape[1]):
                boxes[top, d, j] = now[d, j] and (d != torn or j != arm)
                boxes[top + 1, d, j] = now[d, j] and (d != torn or j == arm)
        top += 2
    return least


@borrowing
def gap_bound(pair: Pairwise, g: int, box: Bools, level: float, space: Space) -> tuple[float, int]:
    """Return the largest of the bounds (3) over a box that a few tilts give, and a dim to split at.

    With relaxed(y) about a + b y - c y^2 / 2 the best tilt is sqrt(2 (level - a) / c). The dim is one
    in which the selections on both sides of the best tilt differ, -1 if they do not; they are
    selection[0] (below it) and selection[1].
    """
    last, sides = space.last, space.selection
    n = len(last)
    for d in range(n):
        last[d] = -1
        for j in range(box.shape[1]):
            if box[d, j] and (last[d] < 0 or pair.worth[j, d] > pair.worth[last[d], d]):
                last[d] = j
    # What the mixtures cost belongs to a.
    y = math.sqrt(2.0 * (level + pair.lead_cost[g] + n) / bend_of(pair, g, last))
    best, low, high = -np.inf, 0.0, np.inf
    for _ in range(_TILTS):
        value, slope = relaxed(pair, g, box, y, last, space.work)
        best = max(best, (value - level) / y)
        rising = y * slope > value - level
        for d in range(n):
            sides[0 if rising else 1, d] = last[d]
        if rising:
            low = y
        else:
            high = y
        bend = bend_of(pair, g, last)
        rest = level - value + slope * y + 0.5 * bend * y * y
        move = math.sqrt(2.0 * rest / bend) if rest > 0.0 else 0.5 * y
        if move <= low or move >= high:
            move = 2.0 * low if high == np.inf else math.sqrt(max(low, 0.25 * high) * high)
        if abs(move - y) < _CLOSE * y:
            break
        y = move
    if low > 0.0 and high < np.inf:
        for d in range(n):
            if sides[0, d] != sides[1, d]:
                return best, d
    return best, -1


@borrowing
def bend_of(pair: Pairwise, g: int, selection: Ints) -> float:
    """Return about how strongly relaxed(y) bends: the variance of the estimated gap."""
    bend = 0.0
    for d in range(len(selection)):
        reach = pair.coefficient[1 << d] * pair.reach[g, selection[d]]
        bend += pair.lead[g, d] * pair.lead[g, d] + reach * reach
    return bend

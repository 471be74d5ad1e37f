"""How `adaptive_pareto` shares delta out, and which precisions it mixes over, after scouting.

The proof allows any shares that scouting determines; these follow one thought: a proof costs a
level of minus the log of its share, so the best share of an alternative is the probability that it
will be the one that is needed. Arms, dims and rivals get a weight exp(-z^2 / 2), z being how many
standard errors they are behind the best one; groups get a weight proportional to the pulls that a
unit of evidence about them seems to cost, 1 / (gap^2 + error^2 / 2). A fifth of everything is
shared equally, so that a wrong guess costs little.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.pareto.scores import unit_of
from bestgroup.algorithms.adaptive.pareto.view import Room, Split, View
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.problem.arrays import Bools, Floats

_EQUAL = 0.2  # the part of delta that is shared equally
_OF_BET = 2.3 / math.sqrt(4.5)  # the scale of half-normal bets over the bet that suits the gap
_LEGAL = 0.95  # of a bet times the mean
_PRECISION = 4.5  # times the squared inverse of the gap: cheapest when both arms are pulled alike


def equal_split(exists: Bools, dims: int) -> Split:
    """Return equal shares."""
    N, K = exists.shape
    arms = np.array([math.log(size) for size in exists.sum(axis=1).tolist()])
    return Split(
        group=np.full(N, math.log(N)),
        arm=np.repeat(np.repeat(arms[:, None, None], K, axis=1), dims, axis=2),
        dim=np.full((N, N, dims), math.log(dims)),
        rival=np.full((N, N), math.log(max(N - 1, 1))),
    )


@kernel
def precision(gap: float, n_a: float, n_b: float) -> float:
    """Return the precision of the mixtures for a pair, from its gap and counts in scouting."""
    error = math.sqrt(1.0 / n_a + 1.0 / n_b)
    size = max(abs(gap), error)
    return _PRECISION / (size * size)


@kernel
def bet_scale(gap: float, own: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the scale of an arm's tuned bets for a pair from its gap, and (price, variance) of both.

    The bet that suits an arm is its part g of the gap over its variance plus g^2; that part goes like
    price times standard deviation. Half-normal bets of about that scale were cheapest where measured.
    """
    weight, rest = own[0] * math.sqrt(own[1]), other[0] * math.sqrt(other[1])
    part = gap * weight / (weight + rest)
    return _OF_BET * part / (own[1] + part * part)


@kernel
def largest_bet(mean: float, variance: float) -> float:
    """Return the largest tuned bet on a mean of values in [0, 1] that scouting saw, with its variance.

    A bet times m must be below 1 at the m that matter, which lie below the mean.
    """
    return _LEGAL / (mean + math.sqrt(variance))


@kernel
def dearness(price: float, own: float) -> float:
    """Return by how much an arm's precision changes with the prices of a pair; 1 if they agree.

    The cheap arm is pulled more, n sqrt(cost) being alike, and has the smaller part of the variance:
    the log of the mixture's cost, log(1 + n / q) / 2, then gains more by a larger q.
    """
    ratio = (price + own) / (2.0 * own)
    return ratio * ratio


@borrowing
def share_out(split: Split, view: View, room: Room, epsilon: Floats, exists: Bools) -> None:
    """Set the shares from what scouting has seen."""
    N, D = view.best.shape
    weights, spread, costs = room.weights, room.spread, room.costs
    for i in range(N):
        for d in range(D):
            leader = view.leader[i, d]
            spread[i, d] = view.variance[i, leader, d] / view.counts[i, leader]
            weigh_arms(split, view, exists, weights, i, d)
    total = 0.0
    for i in range(N):
        easiest = weigh_dims(split, view, epsilon, spread, weights, i)
        hardest = weigh_rivals(split, view, spread, weights, i)
        costs[i] = hardest if view.led_by[i] >= 0 else easiest
        total += costs[i]
    for i in range(N):
        split.group[i] = -math.log(_EQUAL / N + (1.0 - _EQUAL) * costs[i] / total)


@borrowing
def weigh_arms(split: Split, view: View, exists: Bools, weights: Floats, i: int, d: int) -> None:
    """Set the shares of the arms of i in dim d."""
    K = exists.shape[1]
    total, size = 0.0, 0
    for m in range(K):
        weights[m] = 0.0
        if exists[i, m]:
            size += 1
            behind = view.best[i, d] - view.mean[i, m, d]
            leader = view.leader[i, d]
            error = view.variance[i, m, d] / view.counts[i, m]
            error += view.variance[i, leader, d] / view.counts[i, leader]
            weights[m] = math.exp(-behind * behind / (2.0 * error))
            total += weights[m]
    for m in range(K):
        split.arm[i, m, d] = -math.log(_EQUAL / size + (1.0 - _EQUAL) * weights[m] / total)


@borrowing
def weigh_dims(
    split: Split, view: View, epsilon: Floats, spread: Floats, weights: Floats, i: int
) -> float:
    """Set the shares of the dims for accepting i; returns what evidence seems to cost."""
    N, D = spread.shape
    hardest, hardest_error = np.inf, 1.0
    for j in range(N):
        if j == i:
            continue
        most, most_error = -np.inf, 1.0
        for d in range(D):
            unit = unit_of(view.leader, view.deviation, i, j, d)
            gap = (view.best[i, d] - view.best[j, d] + epsilon[d]) / unit
            if gap > most:
                most, most_error = gap, (spread[i, d] + spread[j, d]) / (unit * unit)
        total = 0.0
        for d in range(D):
            unit = unit_of(view.leader, view.deviation, i, j, d)
            behind = most - (view.best[i, d] - view.best[j, d] + epsilon[d]) / unit
            error = (spread[i, d] + spread[j, d]) / (unit * unit) + most_error
            weights[d] = math.exp(-behind * behind / (2.0 * error))
            total += weights[d]
        for d in range(D):
            share = _EQUAL / D + (1.0 - _EQUAL) * weights[d] / total
            split.dim[i, j, d] = -math.log(share)
        if most < hardest:
            hardest, hardest_error = most, most_error
    return 1.0 / (hardest * hardest + hardest_error / 2.0)


@borrowing
def weigh_rivals(split: Split, view: View, spread: Floats, weights: Floats, i: int) -> float:
    """Set the shares of the rivals for rejecting i; returns what evidence seems to cost."""
    N = len(spread)
    most, most_error = -np.inf, 1.0
    for j in range(N):
        if j != i:
            gap, error = least_lead(view, spread, i, j)
            if gap > most:
                most, most_error = gap, error
    total = 0.0
    for j in range(N):
        weights[j] = 0.0
        if j != i:
            gap, error = least_lead(view, spread, i, j)
            behind = most - gap
            weights[j] = math.exp(-behind * behind / (2.0 * (error + most_error)))
            total += weights[j]
    for j in range(N):
        if j != i:
            share = _EQUAL / (N - 1) + (1.0 - _EQUAL) * weights[j] / total
            split.rival[i, j] = -math.log(share)
    return 1.0 / (most * most + most_error / 2.0)


@borrowing
def least_lead(view: View, spread: Floats, i: int, j: int) -> tuple[float, float]:
    """Return min_d (best_j - best_i), in units of a dim, and the variance of that difference."""
    least, error = np.inf, 1.0
    for d in range(spread.shape[1]):
        unit = unit_of(view.leader, view.deviation, i, j, d)
        gap = (view.best[j, d] - view.best[i, d]) / unit
        if gap < least:
            least, error = gap, (spread[i, d] + spread[j, d]) / (unit * unit)
    return least, error

"""How `adaptive` shares delta out for Pareto groups, and which precisions it mixes over, after scouting.

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

from bestgroup.algorithms.adaptive.pareto.view import PARTS, TABLED, Room, Split, View
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.problem.arrays import Bools, Floats

EQUAL = 0.2  # the part of delta that is shared equally
EVEN, SHARP = 0.05, 3.0  # where the answer is named: less of it, and weights exp(-SHARP z^2 / 2)
_OF_BET = 2.3 / math.sqrt(4.5)  # the scale of half-normal bets over the bet that suits the gap
_LEGAL = 0.95  # of a bet times the mean
_PRECISION = 4.5  # times the squared inverse of the gap: cheapest when both arms are pulled alike


def equal_split(
    exists: Bools, epsilon: Floats, most: int = TABLED, even: float = EQUAL, sharp: float = 1.0
) -> Split:
    """Return equal shares; those of pairs are kept in a table for up to `most` groups."""
    (N, K), dims = exists.shape, len(epsilon)
    rows = N if most >= N else 0
    arms = np.array([math.log(size) for size in exists.sum(axis=1).tolist()])
    pair = np.full((rows, rows, dims + 1), math.log(dims))
    pair[:, :, dims] = math.log(max(N - 1, 1))
    return Split(
        accept=np.full(N, math.log(N)),
        reject=np.full(N, math.log(N)),
        arm=np.repeat(np.repeat(arms[:, None, None], K, axis=1), dims, axis=2),
        pair=pair,
        tabled=np.ones(1, np.bool_),
        shared=np.zeros(1, np.bool_),
        epsilon=epsilon,
        best=np.zeros((N, dims)),
        error=np.zeros((N, dims)),
        deviation=np.ones((N, dims)),
        lead=np.zeros((N, 2)),
        weight=np.zeros(N),
        even=even,
        sharp=sharp,
        named=np.zeros(1, np.bool_),
        out=np.zeros(N, np.bool_),
        place=np.zeros(N, np.int64),
        part=np.zeros(PARTS),
        own=np.zeros(N),
        surprises=np.zeros(N, np.int64),
        surprised=np.zeros(N, np.bool_),
    )


@borrowing
def share_of_dim(split: Split, i: int, j: int, d: int) -> float:
    """Return minus the log of the share of dim d for accepting i against j."""
    if len(split.pair) > 0:
        return split.pair[i, j, d]
    return reckon_dim(split, i, j, d)


@borrowing
def share_of_rival(split: Split, i: int, j: int) -> float:
    """Return minus the log of the share of j for rejecting i."""
    if len(split.pair) > 0:
        return split.pair[j, i, len(split.epsilon)]
    return reckon_rival(split, i, j)


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
def share_out(split: Split, view: View, room: Room, exists: Bools) -> None:
    """Set the shares from what scouting has seen."""
    N, D = view.best.shape
    costs = room.costs
    for i in range(N):
        for d in range(D):
            leader = view.leader[i, d]
            split.best[i, d] = view.best[i, d]
            split.error[i, d] = view.variance[i, leader, d] / view.counts[i, leader]
            split.deviation[i, d] = view.deviation[i, leader, d]
            weigh_arms(split, view, exists, room.weights, i, d)
    split.shared[0] = True
    total = 0.0
    for i in range(N):
        weigh_rivals(split, i)
        costs[i] = cost_of(split, i, view.led_by[i] >= 0)
        total += costs[i]
    for i in range(N):
        share = split.even / N + (1.0 - split.even) * costs[i] / total
        split.accept[i] = split.reject[i] = -math.log(share)
    split.tabled[0] = False
    table_pairs(split)


@borrowing
def table_pairs(split: Split) -> None:
    """Set what pairs of groups have, unless it is there; plain Python leaves it to compiled code."""
    if split.tabled[0]:
        return
    split.tabled[0] = True
    N, D = split.best.shape
    for i in range(len(split.pair)):
        for j in range(N):
            if j != i:
                split.pair[j, i, D] = reckon_rival(split, i, j)
                for d in range(D):
                    split.pair[i, j, d] = reckon_dim(split, i, j, d)


@borrowing
def cost_of(split: Split, i: int, led: bool) -> float:
    """Return what evidence on group i seems to cost: for rejecting it, or for accepting it."""
    gap, error = split.lead[i, 0], split.lead[i, 1]
    if not led:
        gap, error = np.inf, 1.0
        for j in range(len(split.best)):
            if j != i:
                most, most_error = widest_lead(split, i, j)
                if most < gap:
                    gap, error = most, most_error
    return 1.0 / (gap * gap + error / 2.0)


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
            weights[m] = math.exp(-split.sharp * behind * behind / (2.0 * error))
            total += weights[m]
    for m in range(K):
        split.arm[i, m, d] = -math.log(split.even / size + (1.0 - split.even) * weights[m] / total)


@borrowing
def unit_for(split: Split, i: int, j: int, d: int) -> float:
    """Return the unit of dim d for two groups: the mean standard deviation of their leaders."""
    return 0.5 * (split.deviation[i, d] + split.deviation[j, d])


@borrowing
def widest_lead(split: Split, i: int, j: int) -> tuple[float, float]:
    """Return max_d (best_i - best_j + epsilon), in units of a dim, and the variance of it."""
    most, most_error = -np.inf, 1.0
    for d in range(len(split.epsilon)):
        unit = unit_for(split, i, j, d)
        gap = (split.best[i, d] - split.best[j, d] + split.epsilon[d]) / unit
        if gap > most:
            most, most_error = gap, (split.error[i, d] + split.error[j, d]) / (unit * unit)
    return most, most_error


@borrowing
def reckon_dim(split: Split, i: int, j: int, d: int) -> float:
    """Return minus the log of the share of dim d for accepting i against j."""
    D = len(split.epsilon)
    if not split.shared[0]:
        return math.log(D)
    most, most_error = widest_lead(split, i, j)
    total, weight = 0.0, 0.0
    for e in range(D):
        unit = unit_for(split, i, j, e)
        behind = most - (split.best[i, e] - split.best[j, e] + split.epsilon[e]) / unit
        error = (split.error[i, e] + split.error[j, e]) / (unit * unit) + most_error
        near = math.exp(-split.sharp * behind * behind / (2.0 * error))
        total += near
        if e == d:
            weight = near
    return -math.log(split.even / D + (1.0 - split.even) * weight / total)


@borrowing
def weigh_rivals(split: Split, i: int) -> None:
    """Set what the weights of the rivals of i follow from."""
    N = len(split.best)
    most, most_error = -np.inf, 1.0
    for j in range(N):
        if j != i:
            gap, error = least_lead(split, i, j)
            if gap > most:
                most, most_error = gap, error
    split.lead[i, 0], split.lead[i, 1] = most, most_error
    total = 0.0
    for j in range(N):
        if j != i:
            total += weight_of(split, i, j)
    split.weight[i] = total


@borrowing
def weight_of(split: Split, i: int, j: int) -> float:
    """Return the weight of j among the rivals of i."""
    gap, error = least_lead(split, i, j)
    behind = split.lead[i, 0] - gap
    return math.exp(-split.sharp * behind * behind / (2.0 * (error + split.lead[i, 1])))


@borrowing
def reckon_rival(split: Split, i: int, j: int) -> float:
    """Return minus the log of the share of j for rejecting i."""
    N = len(split.best)
    if not split.shared[0]:
        return math.log(max(N - 1, 1))
    weight = weight_of(split, i, j)
    return -math.log(split.even / (N - 1) + (1.0 - split.even) * weight / split.weight[i])


@borrowing
def least_lead(split: Split, i: int, j: int) -> tuple[float, float]:
    """Return min_d (best_j - best_i), in units of a dim, and the variance of that difference."""
    least, error = np.inf, 1.0
    for d in range(len(split.epsilon)):
        unit = unit_for(split, i, j, d)
        gap = (split.best[j, d] - split.best[i, d]) / unit
        if gap < least:
            least, error = gap, (split.error[i, d] + split.error[j, d]) / (unit * unit)
    return least, error

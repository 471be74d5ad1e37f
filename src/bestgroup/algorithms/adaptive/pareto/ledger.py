"""What the certificates of Pareto groups rest on: pulls since scouting, boxes, what is recorded."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.adaptive.pareto.view import TABLED, View, lists_pay
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.confidence_sequences.boxes import BoxRule, cut_box
from bestgroup.inference.evalues.wealth import (
    ALL,
    ALL_SECOND,
    ALL_SIXTH,
    CENTRE,
    COUNT,
    FIRST,
    ORDER,
    STATISTICS,
)
from bestgroup.inference.kinds import BERNOULLI, GAUSSIAN, SUBGAUSSIAN
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints, Shorts, Singles, sparse_zeros

BY_OVER, BY_WON = 0, 1  # the two tests of a duel, in `wait`
BLOCK, BOUNDS = 32, 6  # groups in a block, and what is bounded of them
GAIN = 2.0 * math.log(2.0) + 1e-6  # no evidence exceeds the strength of its duel by more


class Ledger(NamedTuple):
    """What the proofs rest on: pulls since scouting, and what scouting saw, in units of scales."""

    price: Floats  # [N, K]           square root of an arm's cost
    base_counts: Floats  # [N, K]     pulls in scouting; zeros before its end, and for boxes
    base_sums: Floats  # [N, K, D]
    base_mean: Floats  # [N, K, D]
    counts: Floats  # [N, K]          pulls since
    mean: Floats  # [N, K, D]         their means
    base_centre: Floats  # [N, K, D]  its mean as a part of the range of values
    base_variance: Floats  # [N, K, D]  of a pull, as scouting saw it
    base_extra: Floats  # [N, K, D, M]  what a noise model without a known scale had kept then
    stat: Floats  # [N, K, D, STATISTICS]  its sums since, for `wealth`
    lead_mean: Floats  # [D, N]       of the leaders' pulls since
    lead_count: Floats  # [D, N]      how many they are; 0 before there are any
    lead_level: Floats  # [D, N]      minus the logs of the leaders' shares
    least_mean: Floats  # [D, N]      least mean since of an arm with pulls since
    least_error: Floats  # [D, N]     least variance over pulls since of an arm
    # With many groups only, else empty: who stands where in the last five, dim by dim, and bounds of
    # all who are in a block; see `blocks`.
    order: Ints  # [D, N]
    place: Ints  # [D, N]
    bounds: Floats  # [D, 6, B]
    # The least strength at which a test of i above arm k of j in dim d is due, without the share of
    # the arm of i: 0 before the first one, negative if `over` alone is left, infinite if nothing is.
    due: Singles  # [N, D, N, K]      [i, d, j, k]
    due_back: Singles  # [D, N, K, N] the same at [d, j, k, i]; with many groups it is empty
    low: Floats  # [N, K, D]          for boxes: the box of an arm's mean, in the dims' own units
    high: Floats  # [N, K, D]
    sizes: Ints  # [N]                how many arms a group has
    wins: Shorts  # [N, N, D]         arms of j, in dim d, with `won[i, j, k, d]`
    beaten: Shorts  # [N, N]          (arm of i, dim) pairs with `over[j, i, k, d]`, at [j, i]
    # By how much a strength must exceed its level before a test, 0 before the first one; for bets how
    # large n_a n_b / (n_a + n_b) must be; infinite once it has succeeded. Both tests of a duel stand
    # side by side, since they are asked for together. What is zero takes no memory.
    wait: Floats  # [N, N, K, D, 2]   [i, j, k, d]: of i over arm k of j, and with epsilon
    won_by: Shorts  # [N, N, K, D]    the arm m of i that `won[i, j, k, d]` rests on
    over_by: Shorts  # [N, N, K, D]   the arm m of j that `over[j, i, k, d]` rests on
    fallen: Bools  # [N]              whether nothing of i stands against some group
    beaten_by: Ints  # [N]            who rejected i; -1 for none
    news: Bools  # [1]                whether a pair was settled or a group beaten in this step


class Levels(NamedTuple):
    """The levels of the tests, and their kind."""

    level: float  # log(1 / delta)
    epsilon: Floats  # [D]      in units of the scales
    slack: Floats  # [D]        epsilon in the dims' own units, for boxes
    boxes: bool  # boxes of single arms instead of evidence on pairs
    box: BoxRule  # what they are, or what evidence keeps of values


def make_ledger(exists: Bools, cost: Floats, levels: Levels) -> Ledger:
    """Return a ledger before any pull."""
    N, K = exists.shape
    dims, kept = len(levels.slack), len(levels.box.start)
    bets = not levels.boxes and bool((levels.box.kind != SUBGAUSSIAN).any())
    arms = (N, K, dims) if bets else (0, 0, 0)
    duels = (N, N, K, dims)
    listed = N if lists_pay(N) else 0
    back = (dims, N, K, N) if N <= TABLED else (0, 0, 0, 0)
    return Ledger(
        price=np.sqrt(cost),
        base_counts=np.zeros((N, K)),
        base_sums=np.zeros((N, K, dims)),
        base_mean=np.zeros((N, K, dims)),
        counts=np.zeros((N, K)),
        mean=np.zeros((N, K, dims)),
        base_centre=np.zeros((N, K, dims)),
        base_variance=np.ones((N, K, dims)),
        base_extra=np.zeros((*arms, kept)),
        stat=np.zeros((*arms, STATISTICS)),
        lead_mean=np.zeros((dims, N)),
        lead_count=np.zeros((dims, N)),
        lead_level=np.zeros((dims, N)),
        least_mean=np.full((dims, N), np.inf),
        least_error=np.full((dims, N), np.inf),
        order=np.repeat(np.arange(listed)[None], dims, axis=0),
        place=np.repeat(np.arange(listed)[None], dims, axis=0),
        bounds=np.zeros((dims, BOUNDS, (listed + BLOCK - 1) // BLOCK)),
        due=sparse_zeros((N, dims, N, K), np.float32),
        due_back=sparse_zeros(back, np.float32),
        low=np.full((N, K, dims), -np.inf),
        high=np.full((N, K, dims), np.inf),
        sizes=exists.sum(axis=1).astype(np.int64),
        wins=sparse_zeros((N, N, dims), np.int16),
        beaten=sparse_zeros((N, N), np.int16),
        wait=sparse_zeros((*duels, 2), np.float64),
        won_by=sparse_zeros(duels, np.int16),
        over_by=sparse_zeros(duels, np.int16),
        fallen=np.zeros(N, np.bool_),
        beaten_by=np.full(N, -1, np.int64),
        news=np.zeros(1, np.bool_),
    )


@borrowing
def by_boxes(levels: Levels) -> bool:
    """Return whether boxes of single arms prove; see `variants`."""
    return levels.boxes


@borrowing
def kind_at(kind: Ints, d: int) -> int:
    """Return the kind of noise of a dim; see `variants`."""
    return kind[d]


@borrowing
def keeps_bets(ledger: Ledger) -> bool:
    """Return whether the sums that bets need are kept; see `variants`."""
    return len(ledger.stat) > 0


@borrowing
def begin_ledger(ledger: Ledger, tally: Tally, view: View, box: BoxRule) -> None:
    """Let evidence count from now on."""
    N, K, D = view.mean.shape
    for i in range(N):
        for j in range(K):
            ledger.base_counts[i, j] = tally.counts[i, j]
            ledger.counts[i, j] = 0.0
            for d in range(D):
                ledger.base_sums[i, j, d] = tally.sums[i, j, d]
                ledger.base_mean[i, j, d] = view.mean[i, j, d]
                ledger.base_variance[i, j, d] = view.variance[i, j, d]
                centre = view.mean[i, j, d] - box.origin[d] / box.scale[d]
                ledger.base_centre[i, j, d] = centre
                if keeps_bets(ledger):
                    for k in range(ledger.base_extra.shape[3]):
                        ledger.base_extra[i, j, d, k] = tally.extra[i, j, d, k]


@borrowing
def enter_arm(ledger: Ledger, tally: Tally, scale: Floats, kind: Ints, i: int, j: int) -> None:
    """Take up the new pulls of an arm."""
    count = tally.counts[i, j] - ledger.base_counts[i, j]
    ledger.counts[i, j] = count
    for d in range(len(scale)):
        rest = tally.sums[i, j, d] - ledger.base_sums[i, j, d]
        ledger.mean[i, j, d] = rest / (count * scale[d])
        if kind_at(kind, d) != SUBGAUSSIAN:
            enter_sums(ledger, tally, kind[d], i, j, d)


@borrowing
def enter_sums(ledger: Ledger, tally: Tally, kind: int, i: int, j: int, d: int) -> None:
    """Set the sums since scouting of an arm and dim without a known scale."""
    stat, every = ledger.stat[i, j, d], float(tally.counts[i, j])
    stat[COUNT], stat[ALL] = ledger.counts[i, j], every
    if kind == BERNOULLI:
        stat[FIRST] = tally.sums[i, j, d] - ledger.base_sums[i, j, d]
        return
    extra, before = tally.extra[i, j, d], ledger.base_extra[i, j, d]
    powers = 2 if kind == GAUSSIAN else ORDER
    stat[CENTRE] = extra[0]
    if kind == GAUSSIAN:  # about one number for all arms, which an offset would drown
        stat[CENTRE] -= tally.extra[0, 0, d, 0]
    for k in range(powers):
        stat[FIRST + k] = extra[1 + k] - before[1 + k]
    stat[ALL_SECOND], stat[ALL_SIXTH] = extra[2], extra[powers]


@borrowing
def narrow_box(ledger: Ledger, tally: Tally, rule: BoxRule, i: int, j: int) -> None:
    """Cut the box of an arm by what its pulls say now: boxes hold at all times together."""
    if tally.extra.shape[3] < len(rule.start):
        raise ValueError("the tally lacks the statistics that the noise model keeps")
    n = float(tally.counts[i, j])
    for d in range(ledger.low.shape[2]):
        total, extra = tally.sums[i, j, d], tally.extra[i, j, d]
        low, high = ledger.low[i, j, d], ledger.high[i, j, d]
        ledger.low[i, j, d], ledger.high[i, j, d] = cut_box(rule, n, total, extra, d, low, high)

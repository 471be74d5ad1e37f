"""What the part of `adaptive` for limits and worths knows: its rule and its state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.adaptive.pareto.ledger import Ledger, Levels, make_ledger
from bestgroup.algorithms.adaptive.pareto.split import equal_split
from bestgroup.algorithms.adaptive.pareto.view import Split
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.problem.arrays import Bools, Floats, Ints

UNDECIDED, IN, OUT = 0, 1, 2  # the numbers of `Status`
WARMING, PROVING = 0, 1


class WorthRule(NamedTuple):
    """A setting as the kernels see it; D dims are judged, the first of `dims` that are measured."""

    exists: Bools  # [N, K]
    sizes: Ints  # [N]
    ranks: Ints  # [N]      of the arm that a group is worth; 0 for the average
    limits: Floats  # [L, 4]  see `inference.worths`
    pareto: bool
    epsilon: Floats  # [D]
    weights: Floats  # [D]
    slack: float  # of the best group: epsilon ||w||_1
    cost: Floats  # [N, K]
    box: BoxRule
    sums: bool  # averages are bounded by the sums over all arms of a group
    alpha: float  # of such a bound
    pairs: bool  # evidence on pairs of arms compares groups, boxes tell which arms count
    levels: Levels  # of that evidence, before shares
    batch: int  # pulls of a plan
    share: float  # of the pulls of an arm, that a plan adds to it; 0: `batch` counts


class State(NamedTuple):
    """What is known, and what is wanted next."""

    low: Floats  # [N, K, dims]  boxes, cut by all earlier ones
    high: Floats  # [N, K, dims]
    boxed: Ints  # [N, K]        counts that the boxes are of
    standing: Ints  # [N, K]     whether arms count, are barred, or that is open
    seems: Bools  # [N, K]       arms that count as far as is known
    means: Floats  # [N, K, dims]
    lower: Floats  # [N, D]      bounds of the worths
    upper: Floats  # [N, D]
    worth: Floats  # [N, D]      by the means; -inf for a group that seems to have too few arms
    status: Ints  # [N]
    beaten_by: Ints  # [N]       the group whose bounds have put this one out, -1 if none
    near: (
        Bools  # [N, N, K, D]  where pairs compare: i is not beaten by arm k of j in d; see `pairs`
    )
    over: Bools  # [N, N, K, D]  i is above arm k of j in d
    ledger: Ledger  # pulls since the warm-up
    split: Split  # how delta is shared out
    hopes: Bools  # [N]          groups that seemed to count when the warm-up ended
    variance: Floats  # [N, K, dims]  of a pull, in units of the scale
    pooled: Floats  # [dims]     that of all arms, by their first pulls
    phase: Ints  # [1]           WARMING or PROVING
    least: Floats  # [1]         the progress of the comparison, of those aimed at, that has least
    want: Ints  # [N, K]         pulls of the next plan
    round: Ints  # [1]


def init(rule: WorthRule) -> State:
    """Return the state before any pull."""
    N, K = rule.exists.shape
    D, dims = len(rule.epsilon), len(rule.box.kind)
    claims = (N, N, K, D) if rule.pairs else (0, 0, 0, 0)
    some = rule.exists if rule.pairs else rule.exists[:1]  # what is not used takes no room
    return State(
        low=np.full((N, K, dims), -np.inf),
        high=np.full((N, K, dims), np.inf),
        boxed=np.zeros((N, K), np.int64),
        standing=np.zeros((N, K), np.int64),
        seems=np.zeros((N, K), np.bool_),
        means=np.zeros((N, K, dims)),
        lower=np.full((N, D), -np.inf),
        upper=np.full((N, D), np.inf),
        worth=np.full((N, D), -np.inf),
        status=np.zeros(N, np.int64),
        beaten_by=np.full(N, -1, np.int64),
        near=np.zeros(claims, np.bool_),
        over=np.zeros(claims, np.bool_),
        ledger=make_ledger(some, rule.cost[: len(some)], rule.levels),
        split=equal_split(some, rule.levels.epsilon, N),  # shares here are always tabled
        hopes=np.zeros(N, np.bool_),
        variance=np.ones((N, K, dims)),
        pooled=np.zeros(dims),
        phase=np.full(1, WARMING if rule.pairs else PROVING, np.int64),
        least=np.zeros(1),
        want=np.zeros((N, K), np.int64),
        round=np.zeros(1, np.int64),
    )

"""How `adaptive` sees the variance of a pull, by arm and dim, where the noise model knows no scale.

No proof rests on it: it steers sampling, and what scouting saw fixes bets. An arm's own values count
most; a little of the variance of all arms, or of a coin that fell once on each side, keeps a few equal
values from looking like certainty.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.pareto.ledger import Levels
from bestgroup.algorithms.adaptive.pareto.view import View
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.kinds import BERNOULLI, POWERS, SUBGAUSSIAN
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints

_BEND = 0.25  # half of a gap, squared
SHARED = 2.0  # values of the pooled variance that stand with an arm's own
RARE = 0.01  # of the squared range, spread over an arm's values: what was not seen yet
LEAST = 1e-6  # of the squared range of all means: no variance is less
TINY = 1e-280


def bends(levels: Levels) -> Floats:
    """Return how much a squared gap adds to a variance in each dim, [D]."""
    unknown = levels.box.kind != SUBGAUSSIAN
    return np.where(unknown & (not levels.boxes), _BEND, 0.0)


@borrowing
def squares_of(tally: Tally, i: int, j: int, d: int) -> float:
    """Return the sum of squares about the mean of an arm, in units of a bounded dim's range."""
    n, total, square = tally.counts[i, j], tally.extra[i, j, d, 1], tally.extra[i, j, d, 2]
    return max(square - total * total / n, 0.0)


@borrowing
def set_variances(view: View, tally: Tally, kind: Ints, i: int, j: int) -> None:
    """Set the variances of an arm."""
    n = float(tally.counts[i, j])
    for d in range(len(kind)):
        if kind[d] == SUBGAUSSIAN:
            continue
        if kind[d] == BERNOULLI:
            p = (tally.sums[i, j, d] + 1.0) / (n + 2.0)
            v = p * (1.0 - p)
        else:
            v = squares_of(tally, i, j, d) + SHARED * view.pooled[d]
            if kind[d] == POWERS:
                v += RARE
            v = max(v / (n - 1.0 + SHARED), TINY)
        view.variance[i, j, d] = v
        view.deviation[i, j, d] = math.sqrt(v)


@borrowing
def pool_variances(view: View, tally: Tally, kind: Ints, exists: Bools) -> None:
    """Set the pooled variances, from the first pulls, and with them those of all arms."""
    N, K = exists.shape
    for d in range(len(kind)):
        if kind[d] != SUBGAUSSIAN and kind[d] != BERNOULLI:
            squares, values, least, most = 0.0, 0.0, np.inf, -np.inf
            for i in range(N):
                for j in range(K):
                    if exists[i, j]:
                        squares += squares_of(tally, i, j, d)
                        values += tally.counts[i, j] - 1.0
                        least = min(least, view.mean[i, j, d])
                        most = max(most, view.mean[i, j, d])
            spread = squares / values if values > 0.0 else 0.0
            view.pooled[d] = max(spread, LEAST * (most - least) * (most - least))
    for i in range(N):
        for j in range(K):
            if exists[i, j]:
                set_variances(view, tally, kind, i, j)

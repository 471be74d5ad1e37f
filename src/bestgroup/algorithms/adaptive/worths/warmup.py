"""The warm-up of `adaptive` with limits: what it sees of arms, and the evidence that begins at its end.

Variances are those of `pareto.spread`: 1 where the scale is known. They steer, and fix shares and bets at
the end of the warm-up; evidence counts later pulls only. What boxes tell of limits counts all pulls.
"""

from __future__ import annotations

import math

from bestgroup.algorithms.adaptive.pareto.ledger import Ledger, keeps_bets
from bestgroup.algorithms.adaptive.pareto.spread import LEAST, RARE, SHARED, TINY
from bestgroup.algorithms.adaptive.worths.state import State, WorthRule
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.evalues.wealth import (
    ALL,
    ALL_SECOND,
    ALL_SIXTH,
    CENTRE,
    COUNT,
    FIRST,
    KEPT,
    ORDER,
)
from bestgroup.inference.kinds import BERNOULLI, GAUSSIAN, SUBGAUSSIAN
from bestgroup.inference.tally import Tally


@borrowing
def place_of(rule: WorthRule, d: int) -> int:
    """Return where the first value and the sums about it are among what is kept of a dim."""
    return 0 if rule.box.kind[d] == GAUSSIAN else len(rule.box.start) - KEPT


@borrowing
def squares_of(tally: Tally, rule: WorthRule, i: int, j: int, d: int) -> float:
    """Return the sum of squares about the mean of an arm, in units of a bounded dim's range."""
    at, n = place_of(rule, d), tally.counts[i, j]
    total, square = tally.extra[i, j, d, at + 1], tally.extra[i, j, d, at + 2]
    return max(square - total * total / n, 0.0)


@borrowing
def pool(state: State, tally: Tally, rule: WorthRule) -> None:
    """Set the pooled variances of all dims, from the first pulls."""
    for d in range(len(state.pooled)):
        if rule.box.kind[d] == SUBGAUSSIAN or rule.box.kind[d] == BERNOULLI:
            continue
        squares, values, least, most = 0.0, 0.0, math.inf, -math.inf
        for i in range(len(rule.sizes)):
            for j in range(rule.sizes[i]):
                squares += squares_of(tally, rule, i, j, d)
                values += tally.counts[i, j] - 1.0
                mean = state.means[i, j, d] / rule.box.scale[d]
                least, most = min(least, mean), max(most, mean)
        state.pooled[d] = max(squares / values, LEAST * (most - least) * (most - least))


@borrowing
def set_variance(state: State, tally: Tally, rule: WorthRule, i: int, j: int) -> None:
    """Set the variances of an arm."""
    n = float(tally.counts[i, j])
    for d in range(len(state.pooled)):
        kind = rule.box.kind[d]
        if kind == BERNOULLI:
            p = (tally.sums[i, j, d] + 1.0) / (n + 2.0)
            state.variance[i, j, d] = p * (1.0 - p)
        elif kind != SUBGAUSSIAN:
            v = squares_of(tally, rule, i, j, d) + SHARED * state.pooled[d]
            v += 0.0 if kind == GAUSSIAN else RARE
            state.variance[i, j, d] = max(v / (n - 1.0 + SHARED), TINY)


@borrowing
def begin(state: State, tally: Tally, rule: WorthRule) -> None:
    """Let evidence count from now on."""
    ledger, D = state.ledger, state.worth.shape[1]
    for i in range(len(rule.sizes)):
        for j in range(rule.sizes[i]):
            ledger.base_counts[i, j] = tally.counts[i, j]
            for d in range(D):
                mean = state.means[i, j, d] / rule.box.scale[d]
                ledger.base_sums[i, j, d] = tally.sums[i, j, d]
                ledger.base_mean[i, j, d] = mean
                ledger.base_variance[i, j, d] = state.variance[i, j, d]
                ledger.base_centre[i, j, d] = mean - rule.box.origin[d] / rule.box.scale[d]
                for k in range(ledger.base_extra.shape[3] if keeps_bets(ledger) else 0):
                    ledger.base_extra[i, j, d, k] = tally.extra[i, j, d, k]


@borrowing
def enter(state: State, tally: Tally, rule: WorthRule, i: int, j: int) -> None:
    """Take up the new pulls of an arm as evidence."""
    ledger = state.ledger
    count = tally.counts[i, j] - ledger.base_counts[i, j]
    ledger.counts[i, j] = count
    for d in range(state.worth.shape[1]):
        rest = tally.sums[i, j, d] - ledger.base_sums[i, j, d]
        ledger.mean[i, j, d] = rest / (count * rule.box.scale[d])
        if rule.box.kind[d] != SUBGAUSSIAN:
            enter_sums(ledger, tally, rule, i, j, d)


@borrowing
def enter_sums(ledger: Ledger, tally: Tally, rule: WorthRule, i: int, j: int, d: int) -> None:
    """Set the sums since the warm-up of an arm and dim without a known scale."""
    stat, kind = ledger.stat[i, j, d], rule.box.kind[d]
    stat[COUNT], stat[ALL] = ledger.counts[i, j], float(tally.counts[i, j])
    if kind == BERNOULLI:
        stat[FIRST] = tally.sums[i, j, d] - ledger.base_sums[i, j, d]
        return
    extra, before, at = tally.extra[i, j, d], ledger.base_extra[i, j, d], place_of(rule, d)
    powers = 2 if kind == GAUSSIAN else ORDER
    stat[CENTRE] = extra[at]
    if kind == GAUSSIAN:  # about one number for all arms, which an offset would drown
        stat[CENTRE] -= tally.extra[0, 0, d, 0]
    for k in range(powers):
        stat[FIRST + k] = extra[at + 1 + k] - before[at + 1 + k]
    stat[ALL_SECOND], stat[ALL_SIXTH] = extra[at + 2], extra[at + powers]

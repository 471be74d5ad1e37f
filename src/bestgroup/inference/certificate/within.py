"""What values prove of the arms of one group among themselves, and which groups are tied.

**Arms of a group.** Each arm of group i is taken as a group of its own and judged by the goal (`judge`,
`judge_items`) with the share delta K_i / A of A arms. The shares of all groups sum up to delta, so the
statements on the arms of all groups hold together with probability at least 1 - delta: one may look
at those of the groups that won.

**Ties.** Groups i and k are tied if in every dim each is at most epsilon below the other. That is shown,
for both orders and every dim, by evidence for the leading arm of one against every arm of the other. If
i and k are not tied, some dim d and order, fixed by the truth, has R_i^d + epsilon < R_k^d, say; then the
evidence of some arm of i against the best arm of k in d reached its level though its null is true: at
most max(K_i, K_k) events. So the level log(T / delta) with T = sum_{i < k} max(K_i, K_k) does for all
pairs of groups together, at a delta of their own. For arms that may depend on each other, and for
weighted worths, the intervals of the groups decide, which hold together with probability 1 - delta.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.inference.certificate.items import ItemTable, covering, judge_items
from bestgroup.inference.certificate.judge import Verdict, beats_all_arms, leading_arm
from bestgroup.inference.certificate.worths import judge_for
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.evalues.pair_wealth import ROOM
from bestgroup.inference.evalues.wealth import BETS, STATISTICS
from bestgroup.inference.pivots import about_origin, of_values
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import Goal
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.problem import Problem
from bestgroup.problem.shape import Shape
from bestgroup.problem.worth import BEST


class Basis(NamedTuple):
    """What a verdict was read from: sums about pivots, or the values by item."""

    tally: Tally
    pivots: Floats  # [N, K, D]
    items: ItemTable | None = None


def judge_arms(basis: Basis, problem: Problem, goal: Goal, delta: float, i: int) -> Ints:
    """Return the statuses of the arms of group i among themselves, [K_i]."""
    size, whole, kept = problem.shape.sizes[i], problem.shape, problem.measure
    shape, share = Shape((1,) * size, whole.dims), delta * size / whole.total
    kept = None if kept is None or not kept.bounds else replace(kept, worth=BEST)
    if basis.items is not None:
        assert problem.shared is not None
        table = basis.items._replace(values=[[arm] for arm in basis.items.values[i]])
        return judge_items(table, shape, goal, problem.shared, share, kept).status
    own = np.s_[i, :size, None]
    counts, sums, extra = basis.tally
    alone = Tally(counts[own].copy(), sums[own].copy(), extra[own].copy())
    pivots = basis.pivots[i, :size, None]
    return judge_for(kept, alone, pivots, shape, goal, problem.noise, share).status


def tied_by_pairs(basis: Basis, problem: Problem, epsilon: Floats, delta: float) -> Bools:
    """Return which groups are proven to be within epsilon [D] of each other in every dim, [N, N]."""
    shape, noise = problem.shape, problem.noise
    events = sum(max(pair) for pair in itertools.combinations(shape.sizes, 2))
    near = np.zeros((shape.groups, shape.groups), np.bool_)
    if basis.items is not None:
        assert problem.shared is not None
        shown = covering(basis.items, shape, problem.shared, delta)
        for i, k in itertools.permutations(range(shape.groups), 2):
            near[i, k] = all(shown(i, k, d, float(epsilon[d]), events) for d in range(shape.dims))
        return near & near.T
    tally = of_values(basis.tally, basis.pivots)
    if isinstance(noise, SubGaussian):
        tally = about_origin(basis.tally, basis.pivots)[0]
    body = near_all.compiled if shape.groups**2 * shape.arms * shape.dims > 1000 else near_all
    level = math.log(max(events, 1) / delta)
    body(tally, shape.exists, noise.boxes(shape, delta), epsilon, level, near)
    return near & near.T


def tied_by_intervals(verdict: Verdict, weights: Floats | None, epsilon: Floats) -> Bools:
    """Return which groups intervals prove to be within epsilon, by dim or weighted, [N, N]."""
    low, high = verdict.interval()
    if weights is not None:
        low, high = (low @ weights)[:, None], (high @ weights)[:, None]
        epsilon = np.array([float(weights @ epsilon)])
    with np.errstate(invalid="ignore"):
        near = (high[None, :, :] - low[:, None, :] <= epsilon).all(axis=2)
    return near & near.T & ~np.eye(len(low), dtype=bool)


@kernel
def near_all(
    tally: Tally, exists: Bools, rule: BoxRule, epsilon: Floats, level: float, near: Bools
) -> None:
    """Set near[i, k]: in every dim, the leading arm of i plus epsilon is above all arms of k."""
    room = (np.zeros((2, STATISTICS)), np.zeros((ROOM, BETS)))
    for i in range(exists.shape[0]):
        for k in range(exists.shape[0]):
            if i == k:
                continue
            holds = True
            for d in range(len(epsilon)):
                m = leading_arm(tally, exists, i, d)
                if m < 0:
                    holds = False
                    break
                if not beats_all_arms(tally, exists, i, m, k, d, rule, epsilon[d], level, room):
                    holds = False
                    break
            near[i, k] = holds

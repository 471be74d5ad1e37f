"""What values on shared items prove: pairs of arms on common items, or the whole pool.

A table holds, for every arm, its values on the first units of one order (items, or clusters of them).
*Complete pool*: every mean is known; groups are judged by definition, no delta is spent. *Otherwise*
the pair process (`inference.evalues.paired`) takes the place of the evidence in `judge`, with the same
levels and the same proofs:

- i holds against j in dim d if every arm of j is shown by some arm m of i not to exceed mu_m + epsilon,
  at level N D K_i / delta; j beats k in d if every arm of k is exceeded by some arm of j at level
  N (A - K_k) / delta.
- With limits, for other worths and for the m best groups: `items_worths`. A map of weights has boxes of
  single arms, whose bounds all hold together.
- For the best group the leading selection (i, s), that of the largest means, is compared with every
  selection s' of another group at level 2 m / delta, m = sum_i K_i^D, or twice that for two slacks; the
  other half of delta is for terms of leaders on the items that all arms have passed (`items_best`),
  which pay for no choice of s. Clusters have the first only, with all of delta.

**Clusters of a population.** The estimand is E[sum of x in a cluster] / E[size], so mu_a + s <= mu_b says
that the sum over a cluster of (x_a - x_b + s) has at most mean 0: one number a cluster, in a range given
by the largest size.

Boxes, for what is reported, are the same process for one arm against the middle of its range.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bestgroup.inference.certificate.items_best import Table, behind_leader
from bestgroup.inference.certificate.items_worths import judge_known, judge_units
from bestgroup.inference.certificate.judge import Verdict, judge_boxes, settle, settle_best
from bestgroup.inference.confidence_sequences.boxes import share
from bestgroup.inference.evalues.paired import (
    Betting,
    Claim,
    betting,
    is_refuted,
    ladder,
    lower_mean,
    lower_mean_of_item,
    on_units,
    rounding,
)
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import BestGroup, Goal, ParetoGroups, TopGroups, for_goal
from bestgroup.problem.items import SharedItems
from bestgroup.problem.measure import Measure
from bestgroup.problem.shape import Shape


class ItemTable(NamedTuple):
    """Values by arm in one order of the units, larger being better."""

    values: list[list[Floats]]  # of arm j of group i: [depth, D], sums over the items of a cluster
    sizes: Floats  # [units]  items in each unit of the order
    low: Floats  # [D]        the least value of an item
    high: Floats  # [D]
    largest: float  # the declared largest size of a unit
    names: tuple[str, ...] = ()  # of the units; none if nobody has named them

    def is_complete(self, count: int) -> bool:
        """Return whether every arm has passed all units of a pool of so many items."""
        whole = len(self.sizes)
        full = all(len(arm) == whole for group in self.values for arm in group)
        return full and self.sizes.sum() == count


def judge_items(
    table: ItemTable,
    shape: Shape,
    goal: Goal,
    items: SharedItems,
    delta: float,
    measure: Measure | None = None,
) -> Verdict:
    """Return what a table of shared items proves, as arms count and groups are worth here."""
    by_units = measure is not None or isinstance(goal, TopGroups)
    if items.pool and table.is_complete(items.count):
        if by_units:
            return judge_known(arm_means(table, shape), _slop(table), shape, goal, measure)
        return _exactly(table, shape, goal)
    judge = _Judge(table, shape, items, delta)
    alpha = share(shape, delta) if measure is None else delta * measure.share(shape)
    low, high = judge.boxes(alpha)
    if by_units:
        return judge_units(judge, goal, measure, low, high)
    if goal.maps:
        return judge_boxes(low, high, goal)
    return for_goal(goal, _RULES, "certificate on shared items").judge(judge, goal, low, high)


def _pareto(judge: _Judge, goal: ParetoGroups, low: Floats, high: Floats) -> Verdict:
    """Judge by comparisons of groups in single dims."""
    shape, delta, epsilon = judge.shape, judge.delta, goal.epsilons(judge.shape.dims)
    N, D = shape.groups, shape.dims
    beats, holds = np.zeros((N, N, D), np.bool_), np.zeros((N, N, D), np.bool_)
    for i, j in itertools.permutations(range(N), 2):
        for d in range(D):
            near = N * D * shape.sizes[i] / delta
            above = N * (shape.total - shape.sizes[j]) / delta
            beats[i, j, d] = judge.covers(i, j, d, 0.0, above, True)
            # By a claim of its own: the proof counts one dim of a rival for "beats", all for "holds".
            holds[i, j, d] = judge.covers(i, j, d, float(epsilon[d]), near, False)
    return Verdict(settle(beats, holds), low, high, beats, holds, True)


def covering(
    table: ItemTable, shape: Shape, items: SharedItems, delta: float
) -> Callable[[int, int, int, float, float], bool]:
    """Return what tells whether i covers j in dim d with a shift, one of so many events.

    A complete pool is compared as it is.
    """
    if items.pool and table.is_complete(items.count):
        best = arm_means(table, shape)
        best = np.where(np.isnan(best), -np.inf, best).max(axis=1)
        return lambda i, j, d, shift, events: bool(best[i, d] + shift >= best[j, d])
    judge = _Judge(table, shape, items, delta)
    return lambda i, j, d, shift, events: judge.covers(i, j, d, shift, events / delta, False)


def arm_means(table: ItemTable, shape: Shape) -> Floats:
    """Return the means of the arms over what they have passed, [N, K, D]; NaN where there is none."""
    means = np.full((shape.groups, shape.arms, shape.dims), np.nan)
    for i, group in enumerate(table.values):
        for j, arm in enumerate(group):
            if len(arm):
                total = [math.fsum(column) for column in arm.T]
                means[i, j] = np.array(total) / table.sizes[: len(arm)].sum()
    return means


def _exactly(table: ItemTable, shape: Shape, goal: Goal) -> Verdict:
    """Judge a complete pool by definition; sums that rounding cannot tell apart are equal."""
    means = arm_means(table, shape)
    known = np.where(np.isnan(means), -np.inf, means)
    best = known.max(axis=1)
    if goal.maps:
        return judge_boxes(known, known, goal)
    slop = _slop(table)
    beats = best[:, None, :] > best[None, :, :] + slop
    holds = best[:, None, :] >= best[None, :, :] - slop
    exactly = for_goal(goal, _RULES, "certificate on shared items").exactly
    status = exactly(best, beats, holds, goal)
    return Verdict(status, known, known, beats, holds, False)


def _slop(table: ItemTable) -> Floats:
    """Return more than the rounding error of a mean over a whole pool, [D]."""
    units = len(table.sizes)
    return np.array([rounding(units, units, 0.0, r) for r in table.high - table.low]) / units


class _Judge:
    """The claims on one table."""

    def __init__(self, table: ItemTable, shape: Shape, items: SharedItems, delta: float) -> None:
        self.table, self.shape, self.items, self.delta = table, shape, items, delta
        self.reach, self.reaches = np.array(items.reach), items.reach
        self.arms: list[Floats] = [arm for group in table.values for arm in group]
        self.sizes, self.low, self.high = table.sizes, table.low, table.high
        units = len(table.sizes)
        self.mean_size = items.count / units if items.pool else 1.0
        self.rule: Betting = betting(units if items.pool else 0)
        self.fixed: Betting = ladder(units if items.pool else 0)

    def proves(self, values: Floats, sizes: Floats, claim: Claim) -> bool:
        """Return whether sums of differences over units prove a claim on the mean of an item."""
        if self.items.pool:
            scale = self.table.largest / self.mean_size
            claim = claim._replace(reach=claim.reach * scale)
            return bool(is_refuted.compiled(self.rule, values / self.mean_size, claim))
        if self.table.largest > 1.0:
            values = values + sizes * claim.shift
            claim = on_units(claim, self.table.largest)
        return bool(is_refuted.compiled(self.rule, values, claim))

    def covers(self, i: int, j: int, d: int, shift: float, need: float, strict: bool) -> bool:
        """Return whether every arm of j is shown to be below some arm of i, plus the shift."""
        claim = Claim(shift, float(self.reach[d]), need, strict)
        for lower in self.table.values[j]:
            if not any(self._above(u, lower, d, claim) for u in self._promising(i, d)):
                return False
        return True

    def _promising(self, i: int, d: int) -> list[Floats]:
        """Return the arms of a group, the one with the largest mean first."""
        arms = [arm for arm in self.table.values[i] if len(arm)]
        return sorted(arms, key=lambda arm: -arm[:, d].sum() / self.table.sizes[: len(arm)].sum())

    def _above(self, upper: Floats, lower: Floats, d: int, claim: Claim) -> bool:
        n = min(len(upper), len(lower))
        if n == 0:
            return False
        sizes = self.table.sizes[:n]
        values = upper[:n, d] - lower[:n, d]
        if values.sum() + claim.shift * sizes.sum() < 0:  # the wealth is below 1 then, or nearly
            return False
        return self.proves(values, sizes, claim)

    def boxes(self, alpha: float) -> tuple[Floats, Floats]:
        """Return bounds of the means of all arms, [N, K, D] each, which fail with probability alpha."""
        shape, table = self.shape, self.table
        low = np.full((shape.groups, shape.arms, shape.dims), -np.inf)
        high = np.full_like(low, -np.inf)
        need = 1.0 / alpha
        for i, group in enumerate(table.values):
            for j, arm in enumerate(group):
                low[i, j], high[i, j] = table.low, table.high
                for d in range(shape.dims):
                    ends = self._ends(arm[:, d], d, need)
                    low[i, j, d] = max(low[i, j, d], ends[0])
                    high[i, j, d] = min(high[i, j, d], ends[1])
        return low, high

    def _ends(self, values: Floats, d: int, need: float) -> tuple[float, float]:
        middle = (self.table.low[d] + self.table.high[d]) / 2.0
        reach = float(self.table.high[d] - self.table.low[d]) / 2.0
        if self.table.largest > 1.0 and not self.items.pool:
            return self._ends_by_clusters(values, middle, reach, need)
        centred = (values - middle * self.table.sizes[: len(values)]) / self.mean_size
        # Rounding in the centre may take a value out of the range by its last bit.
        reach = reach * self.table.largest / self.mean_size * (1.0 + 1e-12)
        low = lower_mean.compiled(self.fixed, centred, reach, need)
        high = -lower_mean.compiled(self.fixed, -centred, reach, need)
        return middle + low, middle + high

    def _ends_by_clusters(
        self, values: Floats, middle: float, half: float, need: float
    ) -> tuple[float, float]:
        """Return bounds of the mean of an item by the sums over clusters of a population."""
        sizes, most = self.table.sizes[: len(values)], self.table.largest
        centred = values - middle * sizes
        low = lower_mean_of_item.compiled(self.fixed, centred, sizes, half, most, need)
        high = -lower_mean_of_item.compiled(self.fixed, -centred, sizes, half, most, need)
        return middle + low, middle + high


def _best(judge: _Judge, goal: BestGroup, low: Floats, high: Floats) -> Verdict:
    """Judge by the selection that looks best against all selections of the other groups."""
    shape, table = judge.shape, judge.table
    weights = goal.weight_vector(shape.dims)
    means = np.where(np.isnan(m := arm_means(table, shape)), -np.inf, m)
    leader = int((means.max(axis=1) @ weights).argmax())
    front = means[leader].argmax(axis=0)
    reach, slack = float(weights @ judge.reach), float(goal.epsilon * weights.sum())
    sure, near, delta = (
        np.zeros(shape.groups, np.bool_),
        np.zeros(shape.groups, np.bool_),
        judge.delta,
    )
    if table.largest == 1.0:
        delta = judge.delta / 2.0
        start = np.concatenate([[0], np.cumsum(shape.sizes)]).astype(np.int64)
        rows = Table(_common(table), start, weights, reach, slack)
        sure, near = behind_leader(rows, judge.rule, leader, delta)
    events = sum(size**shape.dims for size in shape.sizes) * (2 if goal.epsilon else 1) / delta
    for k in range(shape.groups):
        if k != leader and not sure[k]:
            above, close = _all_behind(judge, (leader, front), k, weights, (reach, slack), events)
            sure[k], near[k] = above, near[k] or close
    status = settle_best(sure, leader if near.sum() == shape.groups - 1 else -1, goal)
    lower, upper = low.max(axis=1), high.max(axis=1)
    beats: Bools = lower[:, None, :] > upper[None, :, :]
    return Verdict(status, low, high, beats, lower[:, None, :] >= upper[None, :, :], True)


def _common(table: ItemTable) -> Floats:
    """Return the values of all arms on the items that every one of them has passed, [n, A, D]."""
    arms = [arm for group in table.values for arm in group]
    n = min(len(arm) for arm in arms)
    return np.stack([arm[:n] for arm in arms], axis=1)


def _all_behind(
    judge: _Judge,
    leader: tuple[int, Floats],
    k: int,
    weights: Floats,
    known: tuple[float, float],
    need: float,
) -> tuple[bool, bool]:
    """Return whether all selections of k are below the leader's one, and so up to the slack."""
    reach, slack = known
    sure, near = True, True
    for chosen in itertools.product(range(judge.shape.sizes[k]), repeat=judge.shape.dims):
        values, sizes = _difference(judge.table, leader, (k, chosen), weights)
        sure = sure and judge.proves(values, sizes, Claim(0.0, reach, need, True))
        near = sure or judge.proves(values, sizes, Claim(slack, reach, need, False))
        if not near:
            break
    return sure and near, near


def _difference(
    table: ItemTable,
    leader: tuple[int, Floats],
    rival: tuple[int, tuple[int, ...]],
    weights: Floats,
) -> tuple[Floats, Floats]:
    """Return the weighted differences of two selections on the units that all their arms passed."""
    ours = [table.values[leader[0]][int(j)] for j in leader[1]]
    theirs = [table.values[rival[0]][j] for j in rival[1]]
    n = min(len(arm) for arm in (*ours, *theirs))
    total = np.zeros(n)
    for d, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        total += weights[d] * (x[:n, d] - y[:n, d])
    return total, table.sizes[:n]


class _Rule(NamedTuple):
    """How a goal is judged: by claims on a table, and by efficiencies that are known."""

    judge: Callable[[_Judge, Any, Floats, Floats], Verdict]
    exactly: Callable[[Floats, Bools, Bools, Any], Ints]


def _pareto_exactly(best: Floats, beats: Bools, holds: Bools, goal: ParetoGroups) -> Ints:
    return settle(beats, holds)


def _best_exactly(best: Floats, beats: Bools, holds: Bools, goal: BestGroup) -> Ints:
    first = int((best @ goal.weight_vector(best.shape[1])).argmax())
    return settle_best(np.arange(len(best)) != first, first, goal)


_RULES: dict[type[Goal], _Rule] = {
    ParetoGroups: _Rule(_pareto, _pareto_exactly),
    BestGroup: _Rule(_best, _best_exactly),
}

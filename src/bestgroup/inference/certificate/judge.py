"""What a tally proves, whatever decided which arms were pulled and when one looks.

Two ways, of which one is used for all statements, so that all of them hold together with
probability at least 1 - delta:

**Boxes** (`confidence_sequences.boxes`), for every noise model and however pulls of different arms depend on
each other. If all bounds hold, the efficiency of group i in dim d lies in [max_j low_ij, max_j
high_ij].

**Pairs** of arms (`pairs`), for every noise model with independent arms: the evidence against
mu_a + s <= mu_b is the largest of five e-values less log 5 (a mixture with equal weights is at least
each of its parts), Ville's inequality as before. A group i is not
beaten by epsilon by j if in some dim the evidence for its leading arm against every arm of j reaches
log(N D K_i / delta); j beats k if in every dim the evidence for j's leading arm against every arm of
k reaches log(N sum_{j != k} K_j / delta).

Then a group is out if another one beats it in every dim; it is in if each group that is not out
fails to beat it by epsilon in some dim.

**Why pairs are right.** If i is in though not epsilon-optimal, some Pareto-optimal j beats it by
more than epsilon in every dim; j is out wrongly (below), or the evidence of some dim d and some arm
m of i against the best arm of j in d reached its level though its null is true: D K_i events of
probability delta / (N D K_i) each. If k is out though Pareto optimal, by j, then in a dim where R_k
>= R_j the evidence of some arm m of j against the best arm of k reached its level though its null is
true: sum_{j != k} K_j events of probability delta / (N sum_{j != k} K_j) each. No group is both. The
sum over N groups is at most delta.

For the best group boxes bound R_i . w: i is in if its lower bound plus epsilon ||w||_1 is at least
the upper bound of every other group, out if its upper bound is below another's lower bound. Evidence
on the arms of two groups at once takes their place where pairs may be used: `best_group`. Once a group
is in, those that are not out are not needed: they may be better by up to epsilon ||w||_1. With
epsilon = 0 the group that is in is at least as good as all others, which are out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.inference.certificate.best_group import behind_leader, goes_by_evidence
from bestgroup.inference.certificate.directions import (
    asked_directions,
    asked_grid,
    bounds_by_boxes,
    judge_bounds,
    prove_bounds,
)
from bestgroup.inference.certificate.pairs import is_above
from bestgroup.inference.certificate.regions import WeightRegions
from bestgroup.inference.confidence_sequences.boxes import BoxRule, all_boxes
from bestgroup.inference.evalues.pair_wealth import ROOM
from bestgroup.inference.evalues.wealth import BETS, STATISTICS
from bestgroup.inference.pivots import about_origin, of_values
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import (
    BestGroup,
    Goal,
    ParetoGroups,
    TopGroups,
    WeightMap,
    for_goal,
)
from bestgroup.problem.noise import Noise, SubGaussian
from bestgroup.problem.shape import Shape
from bestgroup.problem.status import Status

ByBoxes: TypeAlias = "tuple[Ints, Bools, WeightRegions | None]"
"""Statuses [N], who holds against whom in which dim [N, N, D], and the regions of a map."""


class Verdict(NamedTuple):
    """What is proven, in the library's view: larger is better."""

    status: Ints  # [N]         a Status each
    low: Floats  # [N, K, D]    boxes of arms
    high: Floats  # [N, K, D]
    beats: Bools  # [N, N, D]   beats[j, i, d]: R_j > R_i in d, by a test of this comparison
    holds: Bools  # [N, N, D]   holds[i, j, d]: R_i + epsilon >= R_j in d, likewise
    pairs: bool  # by evidence on pairs of arms, or on those of two groups at once; else by boxes
    estimated: bool = False  # an algorithm has decided; beats and holds are read off the estimates
    # With limits, or where a group is worth something else than its best arm (`worths`):
    worths: tuple[Floats, Floats] | None = None  # bounds of the worths, [N, D] each
    standing: Ints | None = None  # [N, K]  whether arms count, are barred, or that is open
    regions: WeightRegions | None = None  # of a map of weights

    @property
    def single(self) -> bool:
        """Whether each comparison of two groups in one dim is proven by itself.

        If all boxes hold, so do all comparisons by boxes. The proof for pairs counts, for each
        group, only those errors that would give it a wrong status: the statuses hold together with
        probability 1 - delta, single comparisons need not.
        """
        return not (self.pairs or self.estimated)

    def interval(self) -> tuple[Floats, Floats]:
        """Return bounds of what groups are worth, from the boxes, [N, D] each."""
        if self.worths is not None:
            return self.worths
        return self.low.max(axis=1), self.high.max(axis=1)

    def moved(self, origin: Floats) -> Verdict:
        """Return the verdict with boxes that were about an origin [D] about 0."""
        if not origin.any():
            return self
        return self._replace(low=self.low + origin, high=self.high + origin)


def judge_about(
    tally: Tally, pivots: Floats, shape: Shape, goal: Goal, noise: Noise, delta: float
) -> Verdict:
    """Return what a tally with sums about pivots [N, K, D] proves.

    Sub-Gaussian tests see sums about one origin; all others go by statistics of their own.
    """
    if not isinstance(noise, SubGaussian):
        return judge(of_values(tally, pivots), shape, goal, noise, delta)
    centred, origin = about_origin(tally, pivots)
    return judge(centred, shape, goal, noise, delta).moved(origin)


def judge(tally: Tally, shape: Shape, goal: Goal, noise: Noise, delta: float) -> Verdict:
    """Return what a tally proves."""
    low, high = boxes(tally, shape, noise, delta)
    if noise.arms != "independent":
        return judge_boxes(low, high, goal)
    by_evidence = for_goal(goal, _BY_EVIDENCE, "certificate")
    return by_evidence(tally, shape, goal, noise, delta, (low, high))


def _best_by_evidence(
    tally: Tally,
    shape: Shape,
    goal: BestGroup,
    noise: Noise,
    delta: float,
    ends: tuple[Floats, Floats],
) -> Verdict:
    if not goes_by_evidence(shape, noise):
        return judge_boxes(*ends, goal)
    first, sure, near = behind_leader(tally, shape, goal, noise, delta, ends[0])
    status = settle_best(sure, first if near.sum() == shape.groups - 1 else -1, goal)
    return judge_boxes(*ends, goal)._replace(status=status, pairs=True)


def _pareto_by_evidence(
    tally: Tally,
    shape: Shape,
    goal: ParetoGroups,
    noise: Noise,
    delta: float,
    ends: tuple[Floats, Floats],
) -> Verdict:
    N, D = shape.groups, shape.dims
    beats, holds = np.zeros((N, N, D), np.bool_), np.zeros((N, N, D), np.bool_)
    work = 1 if isinstance(noise, SubGaussian) else 20  # of one comparison
    body = pair_signs.compiled if work * N * N * D * shape.arms > 3000 else pair_signs
    body(tally, shape.exists, noise.boxes(shape, delta), goal.epsilons(D), delta, beats, holds)
    return Verdict(settle(beats, holds), *ends, beats, holds, True)


def _directions_by_evidence(
    tally: Tally,
    shape: Shape,
    goal: Goal,
    noise: Noise,
    delta: float,
    ends: tuple[Floats, Floats],
) -> Verdict:
    asked = asked_directions(shape, goal, noise, delta)
    if not asked.linear:
        return judge_boxes(*ends, goal)
    # Where boxes and evidence share delta, the boxes are wider than the intervals that are shown.
    narrow = boxes(tally, shape, noise, delta / 2) if asked.boxed else ends
    bound = prove_bounds(tally, shape, asked, *narrow)
    status, regions = judge_bounds(bound, asked.grid, goal)
    return judge_boxes(*ends, goal)._replace(status=status, pairs=True, regions=regions)


_BY_EVIDENCE: dict[type[Goal], Callable[..., Verdict]] = {
    ParetoGroups: _pareto_by_evidence,
    BestGroup: _best_by_evidence,
    WeightMap: _directions_by_evidence,
    TopGroups: _directions_by_evidence,
}


def judge_boxes(low: Floats, high: Floats, goal: Goal) -> Verdict:
    """Return what boxes of arms, [N, K, D] each, prove if all of them hold."""
    lower, upper = low.max(axis=1), high.max(axis=1)
    beats = lower[:, None, :] > upper[None, :, :]
    status, holds, regions = for_goal(goal, _BY_BOXES, "certificate")(lower, upper, beats, goal)
    return Verdict(status, low, high, beats, holds, False, regions=regions)


def boxes(tally: Tally, shape: Shape, noise: Noise, delta: float) -> tuple[Floats, Floats]:
    """Return the boxes of all arms, [N, K, D] each; an arm that does not exist bounds nothing."""
    low = np.full((shape.groups, shape.arms, shape.dims), -np.inf)
    high = np.full_like(low, -np.inf)
    rule = noise.boxes(shape, delta)
    body = all_boxes.compiled if shape.total * shape.dims > 50 else all_boxes
    body(rule, tally, shape.exists, low, high)
    return low, high


def settle(beats: Bools, holds: Bools) -> Ints:
    """Return which groups are in and out for the goal of Pareto groups, [N]."""
    N = len(beats)
    status = np.full(N, Status.UNDECIDED, np.int64)
    status[beats.all(axis=2).any(axis=0)] = Status.OUT
    safe = holds.any(axis=2) | np.eye(N, dtype=bool) | (status == Status.OUT)[None, :]
    status[safe.all(axis=1) & (status == Status.UNDECIDED)] = Status.IN
    return status


def settle_best(behind: Bools, first: int, goal: BestGroup) -> Ints:
    """Return the statuses for the best group, [N]: `behind` are surely not the only best.

    `first` is the group that is proven to be good enough, -1 if none is.
    """
    status = np.where(behind, Status.OUT, Status.UNDECIDED)
    if first >= 0:
        status[~behind] = Status.NOT_NEEDED if goal.epsilon > 0 else Status.OUT
        status[first] = Status.IN
    return status


def _pareto_by_boxes(lower: Floats, upper: Floats, beats: Bools, goal: ParetoGroups) -> ByBoxes:
    holds = lower[:, None, :] + goal.epsilons(lower.shape[1]) >= upper[None, :, :]
    return settle(beats, holds), holds, None


def _best_by_boxes(lower: Floats, upper: Floats, beats: Bools, goal: BestGroup) -> ByBoxes:
    weights = goal.weight_vector(lower.shape[1])
    least, most = lower @ weights, upper @ weights
    others = ~np.eye(len(lower), dtype=bool)
    behind = np.any((least[:, None] > most[None, :]) & others, axis=0)
    ahead = least[:, None] + goal.epsilon * weights.sum() >= most[None, :]
    best = np.flatnonzero((ahead | ~others).all(axis=1))
    first = int(best[np.argmax(least[best])]) if len(best) else -1
    return settle_best(behind, first, goal), lower[:, None, :] >= upper[None, :, :], None


def _directions_by_boxes(lower: Floats, upper: Floats, beats: Bools, goal: Goal) -> ByBoxes:
    grid = asked_grid(goal, lower.shape[1])
    status, regions = judge_bounds(bounds_by_boxes(lower, upper, grid.corners), grid, goal)
    return status, lower[:, None, :] >= upper[None, :, :], regions


_BY_BOXES: dict[type[Goal], Callable[..., ByBoxes]] = {
    ParetoGroups: _pareto_by_boxes,
    BestGroup: _best_by_boxes,
    WeightMap: _directions_by_boxes,
    TopGroups: _directions_by_boxes,
}


@kernel
def leading_arm(tally: Tally, exists: Bools, i: int, d: int) -> int:
    """Return the arm of i with the largest mean in dim d; -1 if none was pulled."""
    best, arm = -math.inf, -1
    for j in range(exists.shape[1]):
        if exists[i, j] and tally.counts[i, j] > 0:
            mean = tally.sums[i, j, d] / tally.counts[i, j]
            if mean > best:
                best, arm = mean, j
    return arm


@kernel
def beats_all_arms(
    tally: Tally,
    exists: Bools,
    i: int,
    m: int,
    j: int,
    d: int,
    rule: BoxRule,
    shift: float,
    level: float,
    room: tuple[Floats, Floats],
) -> bool:
    """Return whether evidence for arm m of i, plus the shift, over every arm of j reaches the level."""
    for b in range(exists.shape[1]):
        if exists[j, b] and not is_above(rule, tally, (i, m), (j, b), d, shift, level, room):
            return False
    return True


@kernel
def pair_signs(
    tally: Tally,
    exists: Bools,
    rule: BoxRule,
    epsilon: Floats,
    delta: float,
    beats: Bools,
    holds: Bools,
) -> None:
    """Set which comparisons of groups evidence on pairs of arms proves, in place."""
    N, D = len(exists), len(epsilon)
    total = exists.sum()
    room = (np.zeros((2, STATISTICS)), np.zeros((ROOM, BETS)))
    for i in range(N):
        size = exists[i].sum()
        for d in range(D):
            m = leading_arm(tally, exists, i, d)
            if m < 0:
                continue
            for j in range(N):
                if j == i:
                    continue
                # The number of claims on which a wrong statement could rest: the union that delta
                # is split over.
                above = math.log(N * (total - exists[j].sum()) / delta)
                near = math.log(N * D * size / delta)
                beats[i, j, d] = beats_all_arms(tally, exists, i, m, j, d, rule, 0.0, above, room)
                holds[i, j, d] = beats_all_arms(
                    tally, exists, i, m, j, d, rule, epsilon[d], near, room
                )

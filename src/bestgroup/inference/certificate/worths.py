"""What a tally proves where arms must keep limits, or a group is worth something else than its best arm.

Boxes of single arms (`confidence_sequences.boxes`) give bounds of the worths (`inference.worths`), for
every noise model and however pulls of different arms depend on each other. `Measure.share` is the share
of delta that one bound has.

**The average** has a bound of its own where arms are independent and a scale is known: with r pulls of
each of the K arms of a group the sum of all is that of r K centred pulls of scale sigma, and r K times
the average of their means is known up to sigma edge(r K; alpha). It holds at the moments at which the
counts are equal, whatever decided the order of the pulls. Half of delta is for these 2 N D bounds, half
for the boxes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.inference.certificate.judge import Verdict, judge_about, settle, settle_best
from bestgroup.inference.confidence_sequences.boxes import all_boxes
from bestgroup.inference.evalues.normal import mixture_edge
from bestgroup.inference.pivots import about_origin, of_values
from bestgroup.inference.tally import Tally
from bestgroup.inference.worths import limit_rows, set_standing, set_worths
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import Goal
from bestgroup.problem.measure import Measure
from bestgroup.problem.noise import Noise, SubGaussian
from bestgroup.problem.shape import Shape
from bestgroup.problem.status import Status


def check_measured_goal(goal: object) -> None:
    """Raise InvalidInput for a goal that is not answered with limits or other worths."""
    if not isinstance(goal, Goal) or goal.by_directions:
        raise InvalidInput(
            "require, and a worth other than 'best', go with ParetoGroups and BestGroup; the goal is "
            f"{type(goal).__name__}"
        )


def judge_for(
    measure: Measure | None,
    tally: Tally,
    pivots: Floats,
    shape: Shape,
    goal: Goal,
    noise: Noise,
    delta: float,
) -> Verdict:
    """Return what a tally with sums about pivots proves, as arms count and groups are worth here."""
    if measure is None:
        return judge_about(tally, pivots, shape, goal, noise, delta)
    return judge_measured(tally, pivots, shape, goal, noise, delta, measure)


def judge_measured(
    tally: Tally,
    pivots: Floats,
    shape: Shape,
    goal: Goal,
    noise: Noise,
    delta: float,
    measure: Measure,
) -> Verdict:
    """Return what a tally with sums about pivots [N, K, dims] proves."""
    origin = np.zeros(shape.dims)
    if isinstance(noise, SubGaussian):
        tally, origin = about_origin(tally, pivots)
    else:
        tally = of_values(tally, pivots)
    whole = rests_on_sums(noise, measure)
    low, high = _boxes(tally, shape, noise, delta * measure.share(shape) / (2 if whole else 1))
    found = worths_of(low + origin, high + origin, shape, measure)
    if whole:
        _cut_by_sums(tally, origin, shape, noise, delta / 2, found.lower, found.upper)
    return verdict_of(found, goal, measure)


class Worths(NamedTuple):
    """Boxes of arms, and what follows for groups if all of them hold."""

    low: Floats  # [N, K, dims]
    high: Floats
    standing: Ints  # [N, K]
    lower: Floats  # [N, D]  of the worths
    upper: Floats


def worths_of(low: Floats, high: Floats, shape: Shape, measure: Measure) -> Worths:
    """Return what boxes of arms, [N, K, dims] each, say of the worths of groups."""
    standing = np.zeros((shape.groups, shape.arms), np.int64)
    set_standing(low, high, shape.exists, limit_rows(measure), standing)
    lower = np.empty((shape.groups, measure.dims))
    upper = np.empty_like(lower)
    sizes, ranks = np.array(shape.sizes, np.int64), np.array(measure.ranks(shape), np.int64)
    set_worths(low, high, standing, sizes, ranks, lower, upper)
    return Worths(low, high, standing, lower, upper)


def rests_on_sums(noise: Noise, measure: Measure | None) -> bool:
    """Return whether averages have bounds of their own, from the sums over all arms of a group."""
    if measure is None or measure.worth.kind != "mean":
        return False
    return noise.arms == "independent" and noise.has_scale


def _boxes(tally: Tally, shape: Shape, noise: Noise, alpha: float) -> tuple[Floats, Floats]:
    """Return the boxes of all arms, [N, K, dims] each; an arm that does not exist bounds nothing."""
    low = np.full((shape.groups, shape.arms, shape.dims), -np.inf)
    high = np.full_like(low, -np.inf)
    rule = noise.boxes(shape, 0.5)._replace(alpha=alpha)
    body = all_boxes.compiled if shape.total * shape.dims > 50 else all_boxes
    body(rule, tally, shape.exists, low, high)
    return low, high


def _cut_by_sums(
    tally: Tally,
    origin: Floats,
    shape: Shape,
    noise: Noise,
    delta: float,
    lower: Floats,
    upper: Floats,
) -> None:
    """Cut the bounds of averages by those of the groups whose arms have equal counts, in place."""
    D = lower.shape[1]
    alpha, scales = delta / (2 * shape.groups * D), noise.scales(shape.dims)
    for i, size in enumerate(shape.sizes):
        counts = tally.counts[i, :size]
        if counts[0] == 0 or (counts != counts[0]).any():
            continue
        n = int(counts.sum())
        mean = tally.sums[i, :size, :D].sum(axis=0) / n + origin[:D]
        reach = scales[:D] * mixture_edge(float(n), alpha) / n
        lower[i] = np.maximum(lower[i], mean - reach)
        upper[i] = np.minimum(upper[i], mean + reach)


def verdict_of(found: Worths, goal: Goal, measure: Measure) -> Verdict:
    """Return what bounds of worths prove if all of them hold."""
    check_measured_goal(goal)
    low, high, standing, lower, upper = found
    known: Bools = np.all(lower > -np.inf, axis=1)
    barred: Bools = np.all(upper == -np.inf, axis=1)  # too few arms are left that may count
    beats = lower[:, None, :] > upper[None, :, :]
    slack: Floats = np.zeros(measure.dims)
    if goal.worth_weights(measure.dims) is None:
        slack = goal.epsilons(measure.dims)
    holds: Bools = (lower[:, None, :] + slack >= upper[None, :, :]) & known[:, None, None]
    if goal.worth_weights(measure.dims) is not None:
        status = _best(lower, upper, known, goal)
    else:
        status = settle(beats | barred[None, :, None], holds)
    status[barred] = Status.OUT
    if measure.bounds:  # a group is in only if it has an arm that counts
        status[(status == Status.IN) & ~known] = Status.UNDECIDED
    worths = (lower, upper)
    return Verdict(status, low, high, beats, holds, False, worths=worths, standing=standing)


def _best(lower: Floats, upper: Floats, known: Bools, goal: Any) -> Ints:
    """Return the statuses for the best group by bounds of worths."""
    weights = goal.weight_vector(lower.shape[1])
    least, most = lower @ weights, upper @ weights
    others = ~np.eye(len(lower), dtype=bool)
    behind = np.any((least[:, None] > most[None, :]) & others, axis=0)
    ahead = (least[:, None] + goal.epsilon * weights.sum() >= most[None, :]) & known[:, None]
    best = np.flatnonzero((ahead | ~others).all(axis=1))
    if len(lower) == 1:
        best = np.zeros(1, np.int64)
    first = int(best[np.argmax(least[best])]) if len(best) else -1
    return settle_best(behind, first, goal)

"""Boxes: bounds of the mean of every dim of every arm that hold at all times together.

A noise model says what it keeps of an arm's values besides their count and sum (`absorb`), and
which lower and upper bounds follow (`box`). Each bound is a confidence sequence for the values of
that arm alone, in their order: it fails at any time with probability at most alpha, however the
arms are sampled, whatever the other arms and dims do, and however often one looks.

**How many bounds must hold.** A proof from boxes uses that no arm's lower bound exceeds its mean (A
D bounds, A arms) and that the upper bound of a best arm of each group in each dim is not below its
mean (N D bounds; which arms those are is unknown but fixed). So alpha = delta / (D (A + N)).

If arms may come and go, for whatever reason, any arm may become a best one: both bounds of all arms
count, with room for those that come later, alpha = delta / (2 D room).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.inference.confidence_sequences.bernoulli import lower_bernoulli
from bestgroup.inference.confidence_sequences.bounded import absorb_bounded, lower_bounded
from bestgroup.inference.confidence_sequences.gaussian import absorb_gaussian, box_gaussian
from bestgroup.inference.evalues.normal import mixture_edge
from bestgroup.inference.evalues.wealth import KEPT, absorb_powers
from bestgroup.inference.kinds import BERNOULLI, BOUNDED, GAUSSIAN, POWERS, SUBGAUSSIAN, VALUES
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.shape import Shape

_SLACK = 1e-9  # far above the rounding errors of a wealth's logarithm


class BoxRule(NamedTuple):
    """A noise model as the kernels see it."""

    kind: Ints  # [D]    see `inference.kinds`
    alpha: float  # that one bound fails at any time
    origin: Floats  # [D]  the least value of a bounded dim; else 0
    scale: Floats  # [D]   sigma_d, or the length of the range; else 1
    start: Floats  # [M]   an arm's extra statistics before its first value, in every dim
    weights: Floats = np.zeros(0)  # [D]  of a sum of which as much is kept as of a dim; or empty


def kept_values(dims: int, room: int) -> BoxRule:
    """Return that the values themselves are kept, with room for so many of an arm."""
    kind = np.full(dims, VALUES, np.int64)
    return BoxRule(kind, 1.0, np.zeros(dims), np.ones(dims), np.zeros(room))


def with_sum(keep: BoxRule, weights: Floats) -> BoxRule:
    """Return that as much is kept of the weighted sums of an arm's values as of a dim."""
    start = keep.start if len(keep.start) else np.zeros(KEPT)
    return keep._replace(start=start, weights=weights)


def beyond_sums(keep: BoxRule) -> bool:
    """Return whether more than sums is kept of values, or may be: coins are treated like other values."""
    return len(keep.start) > 0 or bool((keep.kind != SUBGAUSSIAN).any())


def share(shape: Shape, delta: float) -> float:
    """Return the alpha of each bound."""
    if shape.room:
        return delta / (2.0 * shape.dims * shape.room)
    return delta / (shape.dims * (shape.total + shape.groups))


@kernel
def absorb(rule: BoxRule, extra: Floats, n: float, x: float, d: int) -> None:
    """Take up value number n of dim d of an arm, in place; `extra` [M] is that dim's."""
    kind = rule.kind[d]
    if kind == BOUNDED:
        absorb_bounded(extra, (x - rule.origin[d]) / rule.scale[d])
        absorb_powers(extra, n, (x - rule.origin[d]) / rule.scale[d])
    elif kind == POWERS:
        absorb_powers(extra, n, (x - rule.origin[d]) / rule.scale[d])
    elif kind == GAUSSIAN:
        absorb_gaussian(extra, n, x)
    elif kind == VALUES:
        extra[int(n) - 1] = x


@kernel
def absorb_sum(rule: BoxRule, extra: Floats, n: float, away: float) -> None:
    """Take up the weighted sum of value number n, in place; `extra` [D + 1, M] are all rows of the arm.

    `away` is the sum of weights times deviations: from the least values of the dims, or, where the
    noise has no range, from the arm's first values. Deviations keep the digits that an offset would drown.
    """
    D = len(rule.weights)
    if rule.kind[0] == GAUSSIAN:
        absorb_gaussian(extra[D], n, away)
        return
    whole = 0.0
    for d in range(D):
        whole += rule.weights[d] * rule.scale[d]
    # A share of the range; rounding must not take it out of that.
    absorb_powers(extra[D], n, min(max(away / whole, 0.0), 1.0))


@kernel
def deviation(rule: BoxRule, extra: Floats, x: float, d: int) -> float:
    """Return from what a weighted sum takes the value of a dim, `extra` [D + 1, M] having taken it up."""
    return x - (extra[d, 0] if rule.kind[d] == GAUSSIAN else rule.origin[d])


@kernel
def box(rule: BoxRule, n: float, total: float, extra: Floats, d: int) -> tuple[float, float]:
    """Return the bounds of one dim of an arm from n values that sum up to `total`."""
    # No value, no bound: also the range of the noise model is not assumed here.
    if n < 1.0:
        return -math.inf, math.inf
    level, kind = -math.log(rule.alpha), rule.kind[d]
    if kind == GAUSSIAN:
        return box_gaussian(n, extra, level)
    if kind == BOUNDED:
        low = lower_bounded(n, extra, 0, level + _SLACK, 0.0)
        high = 1.0 - lower_bounded(n, extra, 1, level + _SLACK, 0.0)
        return rule.origin[d] + rule.scale[d] * low, rule.origin[d] + rule.scale[d] * high
    if kind == BERNOULLI:
        return lower_bernoulli(n, total, level), 1.0 - lower_bernoulli(n, n - total, level)
    # Sub-Gaussian: symmetric, since the boundary of a sum is.
    reach = rule.scale[d] * mixture_edge(n, rule.alpha) / n
    return total / n - reach, total / n + reach


@kernel
def cut_box(
    rule: BoxRule, n: float, total: float, extra: Floats, d: int, low: float, high: float
) -> tuple[float, float]:
    """Return the bounds `low` and `high` cut by what n values say: boxes hold at all times together."""
    # A closed form is cheap; for bounded values the search begins at the bound that is known.
    if rule.kind[d] != BOUNDED or n < 1.0:
        ends = box(rule, n, total, extra, d)
        return max(low, ends[0]), min(high, ends[1])
    level = -math.log(rule.alpha) + _SLACK
    origin, scale = rule.origin[d], rule.scale[d]
    low, high = max(low, origin), min(high, origin + scale)
    floor = (low - origin) / scale
    found = lower_bounded(n, extra, 0, level, floor)
    # Intersections of boxes that hold at all times hold at all times.
    if found > floor:
        low = max(low, origin + scale * found)
    floor = 1.0 - (high - origin) / scale
    found = lower_bounded(n, extra, 1, level, floor)
    if found > floor:
        high = min(high, origin + scale * (1.0 - found))
    return low, high


@kernel
def cut_arm_box(rule: BoxRule, tally: Tally, i: int, j: int, low: Floats, high: Floats) -> None:
    """Cut the bounds of all dims of an arm, in low and high [N, K, D], by what its values say."""
    n = float(tally.counts[i, j])
    for d in range(low.shape[2]):
        total, extra = tally.sums[i, j, d], tally.extra[i, j, d]
        ends = cut_box(rule, n, total, extra, d, low[i, j, d], high[i, j, d])
        low[i, j, d], high[i, j, d] = ends


@kernel
def arm_box(rule: BoxRule, tally: Tally, i: int, j: int, low: Floats, high: Floats) -> None:
    """Set the bounds of all dims of an arm in low and high, [N, K, D]."""
    for d in range(low.shape[2]):
        ends = box(rule, tally.counts[i, j], tally.sums[i, j, d], tally.extra[i, j, d], d)
        low[i, j, d], high[i, j, d] = ends


@kernel
def all_boxes(rule: BoxRule, tally: Tally, exists: Bools, low: Floats, high: Floats) -> None:
    """Set the bounds of all arms in low and high, [N, K, D]."""
    for i in range(low.shape[0]):
        for j in range(low.shape[1]):
            if exists[i, j]:
                arm_box(rule, tally, i, j, low, high)


@kernel
def absorb_values(rule: BoxRule, extra: Floats, count: int, values: Floats) -> None:
    """Take up values [n, D] of an arm that has had `count` before, in their order.

    `extra` [D, M] is the arm's, with a row more where a weighted sum is kept.
    """
    for k in range(values.shape[0]):
        n, away = float(count + k + 1), 0.0
        for d in range(values.shape[1]):
            absorb(rule, extra[d], n, values[k, d], d)
            if len(rule.weights) > 0:
                away += rule.weights[d] * deviation(rule, extra, values[k, d], d)
        if len(rule.weights) > 0:
            absorb_sum(rule, extra, n, away)


@kernel
def take_values(rule: BoxRule, tally: Tally, i: int, j: int, values: Floats) -> None:
    """Add values [n, D] of an arm to the tally, in their order."""
    # Before the counts move: statistics number the values from the count so far.
    if tally.extra.shape[3] > 0:
        absorb_values(rule, tally.extra[i, j], tally.counts[i, j], values)
    for k in range(values.shape[0]):
        tally.counts[i, j] += 1
        for d in range(values.shape[1]):
            tally.sums[i, j, d] += values[k, d]

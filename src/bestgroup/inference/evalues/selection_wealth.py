"""Evidence of a leader against all selections of a group by wealth of bets.

For values in a range, and for symmetric noise of unknown scale. Values in a range are taken as numbers
in [0, 1], o_d = w^d times the range. For one dim of one arm K(m) and L(m) are the wealth of `wealth`
against small and against large means. An arm that serves a set B of dims has the factor

    prod_{d in B} K_d(nu_d)^theta_d,   theta_d = p_d / sum_{e in B} p_e,   p_d = o_d,

at its means nu: a weighted geometric mean of nonnegative supermartingales is one (Hoelder's inequality),
however the dims depend on each other. If they are independent all theta_d are 1. For symmetric noise o_d =
w^d, and p_d is that times a unit of the arm's values, known before those that count. Different arms are
independent given the past, so a product over arms is a supermartingale that starts at 1, and the
infimum of its log over the null (H) of `adaptive.best` is, by weak duality, for every y >= 0 at least

    y slack - sum_{a in s} sum_{d in B_a} theta_d k_ad(y o_d / theta_d)
            - sum_{b in s'} sum_{d in B_b} theta_d l_bd(y o_d / theta_d),                      (1)
    k_ad(t) = sup_m (-t m - log K_ad(m)),   l_bd(t) = sup_m (t m - log L_bd(m)).

**Conjugates.** On a cell of m the log of a wealth is at least the larger of two lines (`wealth.on_cell`),
so the suprema over the cell are attained at its ends or where the lines cross: a table of such points,
made once for each arm and dim, bounds k and l from above at every t.

**Symmetric noise.** Means are not bounded, and log K is (by n log 2), so k and l would be infinite. Boxes
of single arms (`confidence_sequences.gaussian`), with a share of delta of their own, bound the means
from the side on which wealth grows: the suprema are over m up to a box's end. On the other side K is at
least its cash, so that no point beyond the last one has a larger -t m - log K(m).

**All dims.** An arm that serves all dims has, where the sums of its pulls are kept, one wealth of the
number sum_d o_d x^d / sum_d o_d in [0, 1], or sum_d w^d x^d, in the place of the geometric mean: no
allowance for dependence, one mixture. Row D of the tables is that number's, its o the sum of all.

**All selections** of the rival: as in `search`, with the terms of (1) for those of half-normal mixtures.
With a wealth for all dims a split of what one arm serves may subtract more than the whole; so dims for
which a box has one and the same arm left are never split, and the bound for one selection is its own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.prove import PROVEN, Stack, split_box
from bestgroup.inference.evalues.search import Pairwise, Work, join_sets
from bestgroup.inference.evalues.wealth import (
    BETS,
    CENTRE,
    COUNT,
    FIRST,
    LOG_CASH,
    STATISTICS,
    on_cell,
    set_logs,
)
from bestgroup.inference.kinds import BERNOULLI, GAUSSIAN
from bestgroup.problem.arrays import Bools, Floats, Ints

# Scales of half-normal bets, from large effects to small ones, and their prior.
SCALES = tuple(4.0 * 2.0 ** (-1.5 * g) for g in range(10))
_PARTS = (2.0, 3.0, 3.0, 3.0, 2.0, 1.0, 0.5, 0.25, 0.15, 0.1)
PRIOR = tuple(part / sum(_PARTS) for part in _PARTS)

_NODES, _FROM, _STEP = 22, -2.0, 0.5  # ends of cells, in standard errors towards the other arms
_FAR, _WIDER = 6, 1.5  # for symmetric noise further ends, each so many times as far as the last
POINTS = 2 * (_NODES + _FAR + 2)
EFFECT = 0.25  # for symmetric noise: scales of bets are in units of this over the unit of an arm
_BOXES = 200  # boxes that one proof looks at, at most
_HALVINGS = 14


class Hulls(NamedTuple):
    """Points below the logs of wealth, and what a proof needs besides."""

    points: Floats  # [K + 1, R, POINTS, 2]  m and a lower bound; row K is the leader's
    sizes: Ints  # [K + 1, R]  R = D, or D + 1 with the weighted sum of all dims
    heft: Floats  # [D]      o_d
    whole: (
        Floats  # [1]     what m of the sum counts for: the sum of o_d, or 1 where it has no range
    )
    parts: Floats  # [K + 1, D]  p_d of each arm
    logs: Floats  # [2, BETS]
    sums: Floats  # [STATISTICS]


@kernel
def make_hulls(K: int, D: int, heft: Floats, rows: int) -> Hulls:
    """Return room for the points of groups of up to K arms, in D dims and perhaps their sum."""
    parts = np.zeros((K + 1, D))
    for d in range(D):
        parts[:, d] = heft[d]
    return Hulls(
        np.zeros((K + 1, rows, POINTS, 2)),
        np.zeros((K + 1, rows), np.int64),
        heft,
        np.ones(1),
        parts,
        np.zeros((2, BETS)),
        np.zeros(STATISTICS),
    )


@borrowing
def set_points(
    kind: int, stat: Floats, side: int, bets: tuple[float, float], hulls: Hulls, j: int, d: int
) -> None:
    """Set the points below the log of an arm's wealth in one dim, from 0 to 1.

    `bets` are the scale of the tuned bets and the largest, `stat` what counts.
    """
    points, logs = hulls.points[j, d], hulls.logs
    n = stat[COUNT]
    mean = stat[CENTRE] + stat[FIRST] / n
    if kind == BERNOULLI:
        # Only steers where the points lie: a mean of 0 or 1 must not give a width of 0.
        p = (stat[FIRST] + 1.0) / (n + 2.0)
        error = math.sqrt(p * (1.0 - p) / n)
    else:
        left = max(stat[FIRST + 1] - stat[FIRST] * stat[FIRST] / n, 0.0)
        error = math.sqrt(left + 0.01) / n
    x, size = 0.0, 0
    set_logs(kind, stat, side, bets, x, logs[0])
    for k in range(_NODES + 1):
        away = _FROM + _STEP * k
        if side == 0:  # the other arms are below
            away = -(_FROM + _STEP * (_NODES - 1 - k))
        end = 1.0 if k == _NODES else min(mean + away * error, 1.0)
        # Nodes beyond the range, or on top of each other.
        if end <= x + 1e-9:
            continue
        width = end - x
        set_logs(kind, stat, side, bets, end, logs[1])
        v0, s0, v1, s1 = on_cell(kind, logs[0], logs[1], bets[0], width)
        if size == 0:
            points[0, 0], points[0, 1] = x, v0
            size = 1
        # The same point as the end of the last cell: the lower of two lower bounds.
        points[size - 1, 1] = min(points[size - 1, 1], v0)
        if s1 > s0:  # where the two lines cross
            t = (v0 - v1 + s1 * width) / (s1 - s0)
            t = min(max(t, 0.0), width)
            points[size, 0], points[size, 1] = x + t, min(v0 + s0 * t, v1 - s1 * (width - t))
            size += 1
        points[size, 0], points[size, 1] = end, v1
        size += 1
        x = end
        for b in range(BETS):
            logs[0, b] = logs[1, b]
    hulls.sizes[j, d] = size


@borrowing
def set_symmetric(
    stat: Floats, side: int, scale: float, last: float, hulls: Hulls, j: int, d: int
) -> None:
    """Set the points below the log of an arm's wealth in one dim, outwards to a box's end `last`."""
    points, logs, bets = hulls.points[j, d], hulls.logs, (scale, math.inf)
    n = stat[COUNT]
    mean = stat[CENTRE] + stat[FIRST] / n
    left = max(stat[FIRST + 1] - stat[FIRST] * stat[FIRST] / n, 0.0)
    error, out = math.sqrt(left) / n, -1.0 if side == 0 else 1.0
    away, size = _FROM, 1
    x = mean + out * away * error
    # The box may end before: there is cash at least.
    if not out * (last - x) > 0.0:
        x = last
    set_logs(GAUSSIAN, stat, side, bets, x, logs[0])
    points[0, 0], points[0, 1] = x, LOG_CASH - 1e-9
    for k in range(_NODES + _FAR + 1):
        away = away + _STEP if k < _NODES else away * _WIDER
        end = mean + out * away * error
        if k == _NODES + _FAR or not out * (last - end) > 0.0:
            end = last
        width = out * (end - x)
        # Values that all but tie: ends that floating point cannot tell apart.
        if not width > 0.0:
            if end == last:
                break
            continue
        set_logs(GAUSSIAN, stat, side, bets, end, logs[1])
        if side == 1:
            v0, s0, v1, s1 = on_cell(GAUSSIAN, logs[0], logs[1], scale, width)
        else:  # outwards is to the left
            v1, s1, v0, s0 = on_cell(GAUSSIAN, logs[1], logs[0], scale, width)
            s0, s1 = -s0, -s1
        points[size - 1, 1] = min(points[size - 1, 1], v0)
        if s1 > s0:
            t = min(max((v0 - v1 + s1 * width) / (s1 - s0), 0.0), width)
            points[size, 0] = x + out * t
            points[size, 1] = min(v0 + s0 * t, v1 - s1 * (width - t))
            size += 1
        points[size, 0], points[size, 1] = end, v1
        size += 1
        x = end
        for b in range(3):
            logs[0, b] = logs[1, b]
        if end == last:
            break
    hulls.sizes[j, d] = size


@borrowing
def conjugate_at(hulls: Hulls, j: int, d: int, sign: float, t: float) -> tuple[float, float]:
    """Return the largest sign t m - f over the points of an arm and dim, and its m."""
    best, at = -math.inf, 0.0
    for k in range(hulls.sizes[j, d]):
        value = sign * t * hulls.points[j, d, k, 0] - hulls.points[j, d, k, 1]
        # Over the corners of a chain below f the maximum is at least that of f: safe.
        if value > best:
            best, at = value, hulls.points[j, d, k, 0]
    return best, at


@borrowing
def has_sum(hulls: Hulls) -> bool:
    """Return whether an arm that serves all dims has a wealth of their weighted sum."""
    return hulls.sizes.shape[1] > len(hulls.heft)


@borrowing
def term_of_sum(hulls: Hulls, j: int, sign: float, y: float) -> tuple[float, float]:
    """Return what an arm that serves all dims subtracts at tilt y by its sums, and the slope in y."""
    whole = hulls.whole[0]
    height, m = conjugate_at(hulls, j, len(hulls.heft), sign, y * whole)
    return height, sign * whole * m


@borrowing
def term(
    hulls: Hulls, independent: bool, j: int, dims: int, sign: float, y: float
) -> tuple[float, float]:
    """Return what an arm that serves a set of dims subtracts at tilt y, and its slope in y."""
    total, value, slope = 0.0, 0.0, 0.0
    D = len(hulls.heft)
    if has_sum(hulls) and dims == (1 << D) - 1:
        return term_of_sum(hulls, j, sign, y)
    for d in range(D):
        if dims >> d & 1:
            total += hulls.parts[j, d]
    for d in range(D):
        if dims >> d & 1:
            # Dims of one pull may depend: then their wealths are averaged by weight, not
            # multiplied.
            part = 1.0 if independent else hulls.parts[j, d] / total
            height, m = conjugate_at(hulls, j, d, sign, y * hulls.heft[d] / part)
            value += part * height
            slope += sign * hulls.heft[d] * m
    return value, slope


@borrowing
def lead_terms(hulls: Hulls, independent: bool, masks: Ints, y: float) -> tuple[float, float]:
    """Return what the leader's arms subtract at tilt y, and the slope; `masks` are their blocks."""
    value, slope = 0.0, 0.0
    own = hulls.sizes.shape[0] - 1
    for d in range(len(masks)):
        if masks[d] > 0:
            more, rise = term(hulls, independent, own, masks[d], -1.0, y)
            value += more
            slope += rise
    return value, slope


@borrowing
def set_bound(hulls: Hulls, box: Bools, work: Work) -> None:
    """Set work.masks: for each dim those with the same only arm; without a wealth of sums, itself."""
    D, K = box.shape
    for d in range(D):
        work.masks[d] = 1 << d
        for e in range(D):
            same, arms = has_sum(hulls), 0
            for j in range(K):
                arms += int(box[d, j])
                same = same and box[d, j] == box[e, j]
            if same and arms == 1:
                work.masks[d] |= 1 << e


@borrowing
def parts_bound(work: Work, dims: int, D: int) -> bool:
    """Return whether a set holds some but not all of the dims that one arm is bound to serve."""
    for d in range(D):
        if dims >> d & 1 and work.masks[d] & ~dims:
            return True
    return False


@borrowing
def at_box(
    hulls: Hulls, independent: bool, lead: Ints, slack: float, box: Bools, y: float, work: Work
) -> tuple[float, float]:
    """Return the bound (1) over a box of selections at tilt y and its slope; sets `work.trial`."""
    D, K = box.shape
    sets = 1 << D
    set_bound(hulls, box, work)
    for s in range(1, sets):
        work.value[s] = -np.inf
        if parts_bound(work, s, D):
            continue
        for j in range(K):
            allowed = True
            for d in range(D):
                # An arm serves a set only if the box allows it in all of its dims.
                if s >> d & 1 and not box[d, j]:
                    allowed = False
            if allowed:
                value, slope = term(hulls, independent, j, s, 1.0, y)
                if value > work.value[s]:
                    work.value[s], work.sums[s], work.pick[s] = value, slope, j
    # The rival splits the dims among its arms against us: the largest sum counts.
    join_sets(work, sets)
    value, slope = lead_terms(hulls, independent, lead, y)
    value, slope = y * slack - value - float(work.total[sets - 1]), slack - slope
    rest = sets - 1
    while rest:
        s = work.cut[rest]
        slope -= float(work.sums[s])
        for d in range(D):
            if s >> d & 1:
                work.trial[d] = work.pick[s]
        rest ^= s
    return value, slope


@borrowing
def bound_of_box(
    hulls: Hulls,
    independent: bool,
    lead: Ints,
    slack: float,
    box: Bools,
    y: float,
    level: float,
    work: Work,
) -> tuple[float, float]:
    """Return the largest bound over a box that bisection finds, from tilt y on, and its tilt.

    It ends with a value of `level`; `work.trial` is then what attains the last bound.
    """
    best, tilt = -math.inf, y
    low, high = 0.0, math.inf
    for _ in range(_HALVINGS):
        value, slope = at_box(hulls, independent, lead, slack, box, y, work)
        if value > best:
            best, tilt = value, y
        # Every tilt gives a valid bound, so enough is enough.
        if best >= level or slope == 0.0:
            break
        if slope > 0.0:
            low = y
        else:
            high = y
        if high == math.inf:
            y *= 2.0
        elif low == 0.0:
            y /= 2.0
        else:
            # Tilts range over orders of magnitude: halve on a log scale.
            y = math.sqrt(low * high)
            if high < 1.01 * low:
                break
    return best, tilt


@borrowing
def prove_by_bets(
    hulls: Hulls,
    independent: bool,
    lead: Ints,
    slack: float,
    size: int,
    y: float,
    level: float,
    selection: Ints,
    pair: Pairwise,
    work: Work,
    stack: Stack,
) -> tuple[int, float]:
    """Return PROVEN if the evidence is at least `level` against every selection, else another number.

    With it comes the least bound found; `selection` is where it failed. The search starts from tilt y.
    """
    D = len(selection)
    boxes, tilts = stack.boxes, stack.tilts
    for d in range(D):
        for j in range(boxes.shape[2]):
            boxes[0, d, j] = j < size
    tilts[0] = y
    top, least = 0, math.inf
    for _ in range(_BOXES):
        value, tilt = bound_of_box(
            hulls, independent, lead, slack, boxes[top], tilts[top], level, work
        )
        least = min(least, value)
        if value < level:
            for d in range(D):
                selection[d] = work.trial[d]
            # The same branching as for normal noise, by the means of the arms.
            if split_box(pair, boxes[top], boxes[top + 1], selection):
                tilts[top], tilts[top + 1] = tilt, tilt
                top += 1
                continue
            return PROVEN + 1, value  # one selection, with too little evidence
        top -= 1
        if top < 0:
            return PROVEN, level
    return PROVEN + 1, least

"""What a tally proves of a map of weights, or of the m best groups: bounds in fixed directions.

Bounds of R_i . v - R_k . v come from evidence on several arms at once (`evalues.directions`), for noise
with a known scale and independent arms, and from boxes of single arms otherwise. Values in a range
have both, with half of delta each: boxes know a small variance when they see one.

**Shares.** For a map every triple of a corner v and two groups i != k has a share of delta: the
vertices of the set of weights have half of it, the other corners of the triangulation the other half,
all pairs alike. For the m best groups only pairs (i, k) with i outside and k inside a true set T of m
best groups can make an answer wrong (docs/theory.md, 10): m (N - m) of them, each with the same share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestgroup.inference.certificate.best_group import MOST_DIMS
from bestgroup.inference.certificate.regions import WeightRegions, never_best
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.evalues.directions import Directions, make_directions, raise_bounds
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.goals import TopGroups, WeightMap
from bestgroup.problem.noise import Noise, SubGaussian
from bestgroup.problem.shape import Shape
from bestgroup.problem.status import Status
from bestgroup.problem.weight_grid import WeightGrid

_ALL_AHEAD = 12  # groups, beyond which only those that may lead somewhere are shown ahead
_FRONT = 3  # by the estimates at each grid weight; for the m best groups as many more
_CAUTION = 6.0  # over n, the square of what a mean of scale 1 may be too large by, about


class Asked(NamedTuple):
    """The comparisons that a goal asks for, and what proves them."""

    grid: WeightGrid
    directions: Directions
    slack: float
    scale: Floats  # [D]
    linear: bool  # evidence on several arms at once
    boxed: bool  # boxes of single arms
    box: BoxRule
    front: int  # how many groups at a weight are to be shown ahead


def asked_directions(shape: Shape, goal: Any, noise: Noise, delta: float) -> Asked:
    """Return the directions of a goal with their levels, and the grid of its weights."""
    N, D = shape.groups, shape.dims
    linear = noise.arms == "independent" and noise.has_scale and D <= MOST_DIMS
    boxed = not linear or not isinstance(noise, SubGaussian)
    part = 2.0 if linear and boxed else 1.0
    grid = asked_grid(goal, D)
    if goal.maps:
        level = np.log(part * N * max(N - 1, 1) / (delta * corner_shares(grid)))
    else:
        goal.check_groups(N)
        level = np.log([part * goal.m * max(N - goal.m, 1) / delta])
    levels = np.repeat(level, N * N).reshape(len(level), N, N)
    scale = noise.scales(D) if noise.has_scale else np.ones(D)
    sizes = np.array(shape.sizes, np.int64)
    if not linear:
        made = make_directions(grid.corners[:, :0], scale[:0], True, levels, sizes)
        made = made._replace(weights=grid.corners)
    else:
        independent = noise.dependence == "independent"
        made = make_directions(grid.corners, scale, independent, levels, sizes)
    box = noise.boxes(shape, delta)
    box = box._replace(alpha=box.alpha / part)
    return Asked(grid, made, goal.epsilon, scale, linear, boxed, box, _FRONT + goal.m)


def corner_shares(grid: WeightGrid) -> Floats:
    """Return the share of delta of each corner, [V]: half of it for the vertices of the set."""
    rest = len(grid.corners) - grid.own
    share = np.full(len(grid.corners), 1.0 / grid.own if rest == 0 else 0.5 / grid.own)
    if rest:
        share[grid.own :] = 0.5 / rest
    return share


def _with_vertices(grid: WeightGrid) -> WeightGrid:
    """Return the grid with the vertices of the set among its weights, without volume."""
    place: list[int] = []
    mix = np.zeros((grid.own, grid.cells.shape[1]))
    for v in range(grid.own):
        cell, end = np.argwhere(grid.cells == v)[0]
        place.append(int(cell))
        mix[v, end] = 1.0
    return grid._replace(
        points=np.concatenate([grid.points, grid.corners[: grid.own]]),
        place=np.concatenate([grid.place, np.array(place, np.int64)]),
        mix=np.concatenate([grid.mix, mix]),
        volume=np.concatenate([grid.volume, np.zeros(grid.own)]),
    )


def asked_grid(goal: Any, dims: int) -> WeightGrid:
    """Return the weights that a goal asks about."""
    grid = goal.grid(dims)
    return _with_vertices(grid) if goal.maps and goal.share == 1 else grid


def bounds_by_boxes(lower: Floats, upper: Floats, corners: Floats) -> Floats:
    """Return bounds of R_i . v - R_k . v, [V, N, N], from bounds of the efficiencies, [N, D] each."""
    N = len(lower)
    bound = np.empty((len(corners), N, N))
    for v, weights in enumerate(corners):
        used = weights > 0  # a dim without weight does not count, also where nothing bounds it
        least, most = lower[:, used] @ weights[used], upper[:, used] @ weights[used]
        bound[v] = least[:, None] - most[None, :]
    bound[:, np.arange(N), np.arange(N)] = 0.0
    return bound


def judge_bounds(bound: Floats, grid: WeightGrid, goal: Any) -> tuple[Ints, WeightRegions | None]:
    """Return what bounds prove: the statuses [N], and for a map its regions."""
    if goal.maps:
        return judge_map(bound, grid, goal)
    goal.check_groups(bound.shape[1])
    return judge_top(bound, goal), None


def _safe_means(tally: Tally, asked: Asked) -> Floats:
    """Return means less what they may be too large by, about, [N, K, D]; -inf without a pull."""
    with np.errstate(all="ignore"):
        n = tally.counts[:, :, None]
        return np.where(n > 0, tally.sums / n - asked.scale * np.sqrt(_CAUTION / n), -np.inf)


def leading_arms(tally: Tally, asked: Asked) -> Ints:
    """Return the arms that are to show a group ahead, [N, D]."""
    return _safe_means(tally, asked).argmax(axis=1).astype(np.int64)


def prove_bounds(tally: Tally, shape: Shape, asked: Asked, low: Floats, high: Floats) -> Floats:
    """Return bounds of R_i . v - R_k . v, [V, N, N]; low and high [N, K, D] hold at asked.box.alpha."""
    N, corners = shape.groups, asked.grid.corners
    bound = np.full((len(corners), N, N), -np.inf)
    if asked.linear:
        safe, lead = _safe_means(tally, asked), leading_arms(tally, asked)
        sizes, first = np.array(shape.sizes, np.int64), np.ones(N, np.bool_)
        if N > _ALL_AHEAD:
            worth = asked.grid.points @ np.where(np.isfinite(safe), safe, -1e300).max(axis=1).T
            first = np.isin(np.arange(N), np.argsort(-worth, axis=1)[:, : asked.front])
        body = raise_bounds.compiled if len(corners) * N * N > 12 else raise_bounds
        body(tally.counts, tally.sums, sizes, asked.directions, first, lead, bound)
    if asked.boxed:
        by_boxes = bounds_by_boxes(low.max(axis=1), high.max(axis=1), corners)
        bound = np.fmax(bound, by_boxes)
    bound[:, np.arange(N), np.arange(N)] = 0.0
    return bound


def judge_map(bound: Floats, grid: WeightGrid, goal: WeightMap) -> tuple[Ints, WeightRegions]:
    """Return what bounds prove of a map: the statuses [N], and the regions."""
    regions = WeightRegions(grid, bound, goal.epsilon)
    status = np.where(never_best(grid, bound), Status.OUT, Status.UNDECIDED)
    margins = regions.margins()
    status[(margins >= 0).any(axis=0)] = Status.IN
    mapped = (margins >= 0).any(axis=1)
    if mapped.all() or (goal.share < 1 and grid.volume[mapped].sum() >= goal.share - 1e-9):
        status[status == Status.UNDECIDED] = Status.NOT_NEEDED
    return status, regions


def judge_top(bound: Floats, goal: TopGroups) -> Ints:
    """Return what bounds in one direction prove of the m best groups, [N].

    A group is in if it is not below N - m others, by more than epsilon; out if m others are above it.
    Once m groups are not below any of the others, those that are left are not needed.
    """
    N = bound.shape[1]
    others = ~np.eye(N, dtype=bool)
    near, above = (bound[0] + goal.epsilon >= 0) & others, (bound[0] > 0) & others
    status = np.full(N, Status.UNDECIDED)
    status[above.sum(axis=0) >= goal.m] = Status.OUT
    inside = near.sum(axis=1) >= N - goal.m
    status[inside] = Status.IN
    chosen = np.flatnonzero(inside)
    if len(chosen) >= goal.m:
        # With a slack there may be more than m: those with the least to their name are left.
        least = np.where(others, bound[0], np.inf).min(axis=1)
        first = chosen[np.argsort(-least[chosen], kind="stable")][: goal.m]
        rest = np.array([k for k in range(N) if k not in first.tolist()], np.int64)
        if near[np.ix_(first, rest)].all():
            status[(status != Status.OUT)] = Status.NOT_NEEDED if goal.epsilon > 0 else Status.OUT
            status[first] = Status.IN
    return status

"""The limit for maps of weights and for the m best groups: comparisons in several directions at once.

**Maps.** The answer that is tried gives every weight its best group, but for those weights, if a share
may stay open, whose best group leads the next one by less than g, g the quantile of that lead. The
weights of one group are then a polytope, and a map is wrong in an alternative exactly if it is at a
vertex of one of these: worths are linear. So its game has the alternatives of `BestGroup` at all these
vertices, and its value bounds 1 / T* from below.

From above: at every weight that it maps, an answer solves `BestGroup` there. If all weights must be
mapped, 1 / T* is at most that of the hardest weight. If a share may stay open, one of any set of weights
with more volume than that is mapped, so 1 / T* is at most the largest value over such a set.

**The m best.** A set S is wrong where a group outside beats one inside by more than the slack.
"""

from __future__ import annotations

import itertools

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.inference.certificate.regions import WeightRegions
from bestgroup.problem.arrays import Floats
from bestgroup.problem.goals import TopGroups, WeightMap
from bestgroup.problem.weight_grid import WeightGrid, base_simplices
from bestgroup.theory.characteristic_time.answers import Best, best_group
from bestgroup.theory.characteristic_time.arms import Arms
from bestgroup.theory.characteristic_time.game import Watch, maximise
from bestgroup.theory.characteristic_time.linear import BeatenBest

_MOST_SETS = 200  # right answers to the question for the m best that are looked at
_QUICK = 12  # queries for a bound of a weight that may stay open
_SAME = 9  # digits by which vertices of neighbouring regions are told apart


class Several:
    """Oracle of a game in which any of several alternatives makes the answer wrong."""

    def __init__(self, oracles: list[BeatenBest]) -> None:
        self.oracles = oracles

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """Return a lower bound of the inner minimum at an allocation [A], and cuts [C, A]."""
        found = [oracle(weight) for oracle in self.oracles]
        lower = min(value for value, _ in found)
        # Alternatives far above the cheapest one do not bind.
        near = [cuts for value, cuts in found if value <= 1.5 * lower]
        return lower, np.concatenate(near)


def map_limit(
    arms: Arms,
    goal: WeightMap,
    scale: Floats,
    dependent: bool,
    tolerance: float,
    watch: Watch | None,
) -> Best:
    """Return bounds of 1 / T* over all maps, and the answer that attains the lower one."""
    efficiency = arms.best * scale
    grid = goal.grid(arms.dims)
    if len(grid.corners) == 1:
        return best_group(arms, grid.corners[0] * scale, goal.epsilon, dependent, tolerance, watch)
    if grid.cells.shape[1] > 3:
        raise InvalidInput("T* of a map of weights is computed for at most three dims")
    lead = _lead(grid.points, efficiency)
    least, hard = _left_open(lead, grid, goal)
    places = _vertices(goal, efficiency, least)
    if not places:
        return Best(0.0, 0.0, np.full(len(arms.mean), 1 / len(arms.mean)), frozenset())
    oracles = [
        BeatenBest(arms, weights * scale, goal.epsilon, i, dependent) for weights, i in places
    ]
    found = maximise(Several(oracles), len(arms.mean), tolerance, watch=watch)
    best = Best(found.lower, found.upper, found.allocation, frozenset(i for _, i in places))
    if len(hard):
        bounds = [_at(arms, w, goal, scale, dependent, _QUICK) for w in grid.points[hard]]
        best.upper, best.answers = max(value for value, _ in bounds), len(hard) * arms.groups
    else:
        tried = {tuple(np.round(weights, _SAME)): weights for weights, _ in places}
        some = [_at(arms, w, goal, scale, dependent, None) for w in tried.values()]
        best.upper, best.answers = min(some)
    best.upper = max(best.upper, best.lower)
    return best


def _lead(points: Floats, efficiency: Floats) -> Floats:
    worth = np.sort(points @ efficiency.T, axis=1)
    return worth[:, -1] - worth[:, -2]


def _left_open(
    lead: Floats, grid: WeightGrid, goal: WeightMap
) -> tuple[float, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return the least lead of the weights that are mapped, and hard weights of which one must be."""
    if goal.share == 1:
        return 0.0, np.zeros(0, np.int64)
    order = np.argsort(lead, kind="stable")
    open_ = np.cumsum(grid.volume[order]) <= 1 - goal.share + 1e-12
    count = int(open_.sum())
    return float(lead[order[count]]), order[: count + 1].astype(np.int64)


def _vertices(goal: WeightMap, efficiency: Floats, least: float) -> list[tuple[Floats, int]]:
    """Return the vertices of the regions in which a group leads by at least so much."""
    corners = goal.vertices(efficiency.shape[1])
    cells, _ = base_simplices(corners)
    gaps = np.einsum("vd,ikd->vik", corners, efficiency[:, None] - efficiency[None]) - least
    grid = goal.grid(efficiency.shape[1])._replace(corners=corners, cells=cells)
    regions = WeightRegions(grid, gaps, 0.0)
    found: dict[tuple[int, ...], tuple[Floats, int]] = {}
    for i in range(len(efficiency)):
        for piece in regions.pieces(i):
            for weights in piece:
                key = (i, *(round(float(w) * 10**_SAME) for w in weights))
                found.setdefault(key, (weights, i))
    return list(found.values())


def _at(
    arms: Arms,
    weights: Floats,
    goal: WeightMap,
    scale: Floats,
    dependent: bool,
    rounds: int | None,
) -> tuple[float, int]:
    """Return an upper bound of the limit's inverse for the best group at weights, and its answers."""
    score = arms.best @ (weights * scale)
    right = np.flatnonzero(score + goal.epsilon >= score.max())
    most = 0.0
    for i in right.tolist():
        oracle = BeatenBest(arms, weights * scale, goal.epsilon, i, dependent)
        most = max(most, maximise(oracle, len(arms.mean), 0.05, most, rounds=rounds).upper)
    return most, len(right)


def top_limit(
    arms: Arms,
    goal: TopGroups,
    scale: Floats,
    dependent: bool,
    tolerance: float,
    watch: Watch | None,
) -> Best:
    """Return the limit over all right sets of m groups."""
    weights = goal.weight_vector(arms.dims)
    slack, score = goal.epsilon * float(weights.sum()), arms.best @ (weights * scale)
    best = Best(answers=0)
    for chosen in _right_sets(score, goal.m, slack):
        outside = np.array([k for k in range(arms.groups) if k not in chosen], np.int64)
        oracles = [
            BeatenBest(arms, weights * scale, slack, i, dependent, outside) for i in sorted(chosen)
        ]
        found = maximise(Several(oracles), len(arms.mean), tolerance, best.lower, watch=watch)
        best.offer(found.lower, found.allocation, chosen)
        best.upper = max(best.upper, found.upper)
        best.answers += 1
    return best


def _right_sets(score: Floats, m: int, slack: float) -> list[frozenset[int]]:
    """Return the sets of m groups of which none is behind one outside by more than the slack."""
    if m >= len(score):
        raise InvalidInput(f"m must be less than the number of groups, {len(score)}; got {m}")
    order = np.argsort(-score, kind="stable").tolist()
    limit, after = score[order[m - 1]], score[order[m]]
    sure = [i for i in order[:m] if score[i] > after + slack]
    free = [i for i in order if i not in sure and score[i] + slack >= limit]
    found: list[frozenset[int]] = []
    for rest in itertools.combinations(free, m - len(sure)):
        inside = frozenset([*sure, *rest])
        outside = max(score[k] for k in range(len(score)) if k not in inside)
        if min(score[i] for i in inside) + slack >= outside:
            found.append(inside)
        if len(found) > _MOST_SETS:
            raise InvalidInput(f"more than {_MOST_SETS} answers are right; take a smaller epsilon")
    return found

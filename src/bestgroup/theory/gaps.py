"""Gaps: how far each group and each arm is from being judged otherwise (paper, sections 3 and 4).

All gaps are in the units of the means. A minimum over an empty set is +inf, so one group alone has
the gap +inf. Every loop over groups is over the optimal ones only, and memory is linear in N.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Bools, Floats, numbers, read_only
from bestgroup.problem.goals import BestGroup, Goal, ParetoGroups, check_goal, for_goal
from bestgroup.problem.instance import Instance, check_instance
from bestgroup.theory.truths import check_plain


@dataclass(frozen=True, eq=False)
class Gaps:
    """All gaps of an instance for a goal; lists hold one array [K_i] for each group.

    `group` [N] is Delta_i and `arm` Delta_ij. `effective` is what the goal's upper bound speaks of:
    for Pareto max(Delta_ij, Delta_i, epsilon) (Theorem 3.3), with the least epsilon if dims differ
    in it; for the best group min_d Delta_i ||w||_1 / (D w^d) + R_i^d - mu_ij^d (Remark 4.3).

    Pareto only: `plus` and `minus` [N] are Delta_i^+ and Delta_i^- of the optimal groups, and NaN
    for the others, for which the paper does not define them. Best group only: `lift` is alpha_ij.
    What a goal does not have is None.
    """

    group: Floats
    arm: list[Floats]
    effective: list[Floats]
    plus: Floats | None = None
    minus: Floats | None = None
    lift: list[Floats] | None = None


def gaps(instance: Instance, goal: Goal) -> Gaps:
    """Return all gaps of the paper for this goal.

    Pareto (section 3): `group_gaps` and `arm_gaps`. Best group (section 4): `weighted_gaps` and
    `arm_lifts`, with Delta_ij = max(alpha_ij, Delta_i). Groups that tie for the best have gap 0.

    >>> instance = Instance([[[1.0, 0.0], [0.5, 0.5]], [[0.25, 0.25]]])
    >>> gaps(instance, ParetoGroups(0.125)).group
    array([0.5 , 0.25])
    >>> gaps(instance, BestGroup([1, 1])).lift
    [array([0., 0.]), array([0.5])]
    """
    goal = check_goal(goal, check_plain(check_instance(instance), "gaps").dims)
    return for_goal(goal, _GAPS, "gap")(instance, goal)


def _pareto(instance: Instance, goal: ParetoGroups) -> Gaps:
    group, plus, minus = group_gaps(instance.efficiency)
    arm = arm_gaps(instance.means, instance.efficiency)
    least = float(goal.epsilons(instance.shape.dims).min())
    effective = [np.maximum(own, max(gap, least)) for own, gap in zip(arm, group, strict=True)]
    frozen = (read_only(group), _sealed(arm), _sealed(effective))
    return Gaps(*frozen, plus=read_only(plus), minus=read_only(minus))


def _best(instance: Instance, goal: BestGroup) -> Gaps:
    R = instance.efficiency
    weights = goal.weight_vector(instance.shape.dims)
    group = weighted_gaps(R, weights)
    lift = arm_lifts(instance.means, R, weights)
    arm = [np.maximum(own, gap) for own, gap in zip(lift, group, strict=True)]
    share = weights.sum() / (len(weights) * weights)
    effective = [
        (gap * share + (best - rows)).min(axis=1)
        for rows, best, gap in zip(instance.means, R, group, strict=True)
    ]
    return Gaps(read_only(group), _sealed(arm), _sealed(effective), lift=_sealed(lift))


_GAPS: dict[type[Goal], Callable[[Instance, Any], Gaps]] = {ParetoGroups: _pareto, BestGroup: _best}


def group_gaps(efficiency: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return Delta_i, Delta_i^+ and Delta_i^- for Pareto groups, each [N] (paper, section 3).

    With m the `deficit`, M the `excess` and G* the Pareto-optimal groups, Delta_i is
    max_{j in G*} m(R_i, R_j) outside G* and min(Delta_i^+, Delta_i^-) in G*, where
    Delta_i^+ = min_{j in G*, j != i} min(M(R_i, R_j), M(R_j, R_i)) and
    Delta_i^- = min_{j not in G*} (M(R_j, R_i) + 2 Delta_j). These two are NaN outside G*.

    >>> group_gaps([[1.0, 0.0], [0.0, 1.0], [-0.25, 0.5]])
    (array([1.  , 0.5 , 0.25]), array([ 1.,  1., nan]), array([1. , 0.5, nan]))
    """
    columns = _columns(efficiency)
    optimal = _undominated(columns)
    loss = _losses(columns, optimal)
    plus, minus = _plus(columns, optimal), _minus(columns, optimal, loss)
    return np.where(optimal, np.minimum(plus, minus), loss), plus, minus


def tolerant_group_gaps(efficiency: ArrayLike, epsilon: ArrayLike) -> Floats:
    """Return group gaps [N] that bound pulls when epsilon [D] differs between dims.

    With one epsilon they are Delta_i, but 0 outside G* where Delta_i <= epsilon. In general, a
    group j in G* that dominates i is sure to stay active as long as i does only if it beats i by
    more than epsilon_d in every dim d (paper, Lemma B.8). Otherwise j may be accepted first, and i
    goes on against others, which may be much closer to it. So outside G* the gap here is the
    largest m(R_i, R_j) over the sure j alone, 0 if there are none. In Delta_i^- of optimal groups
    it replaces Delta_j; where it is 0, min(Delta_j, min_d epsilon_d) does.

    >>> tolerant_group_gaps([[3.0, 3.0], [0.0, 0.0], [1.0, 5.0]], [1.0, 5.0])
    array([2., 0., 2.])
    """
    columns = _columns(efficiency)
    slack = np.broadcast_to(np.asarray(epsilon, dtype=np.float64), columns.shape[:1])
    optimal = _undominated(columns)
    loss = _losses(columns, optimal)
    sure = _losses(columns, optimal, slack)
    stand_in = np.where(sure > 0, sure, np.minimum(loss, slack.min()))
    best = np.minimum(_plus(columns, optimal), _minus(columns, optimal, stand_in))
    return np.where(optimal, best, sure)


def arm_gaps(means: Sequence[ArrayLike], efficiency: ArrayLike) -> list[Floats]:
    """Return Delta_ij = m(mu_ij, R_i) for Pareto groups, one array [K_i] a group (paper, eq. (1)).

    >>> arm_gaps([[[1.0, 0.5], [0.25, 0.25]]], [[1.0, 0.5]])
    [array([0.  , 0.25])]
    """
    best = np.asarray(efficiency, dtype=np.float64)
    lacks = (R - np.asarray(rows) for rows, R in zip(means, best, strict=True))
    return [np.maximum(lack.min(axis=1), 0.0) for lack in lacks]


def weighted_gaps(efficiency: ArrayLike, weights: ArrayLike) -> Floats:
    """Return Delta_i for the best group, [N]: (R_i* - R_i) . w / ||w||_1 (paper, section 4).

    The best group i* has the least gap of the others; groups that tie for the best have 0.

    >>> weighted_gaps([[1.0, 0.0], [0.0, 0.5], [0.25, 0.0]], [1.0, 1.0])
    array([0.25 , 0.25 , 0.375])
    """
    w = np.asarray(weights, dtype=np.float64)
    score = np.asarray(efficiency, dtype=np.float64) @ w
    gap = (score.max() - score) / w.sum()
    best = score == score.max()
    if best.sum() == 1:
        gap[best] = gap[~best].min(initial=np.inf)
    return gap


def arm_lifts(
    means: Sequence[ArrayLike], efficiency: ArrayLike, weights: ArrayLike
) -> list[Floats]:
    """Return alpha_ij for the best group, one array [K_i] a group (paper, section 4).

    alpha_ij is the infimum of what, added to all dims of arm (i, j), makes its group the best. Let
    b be R_i - mu_ij sorted increasingly, w sorted alike, and g = (R_i* - R_i) . w. Adding alpha
    gains max(0, max_k sum_{l <= k} w_l (alpha - b_l)), so that alpha_ij is exactly
    min_k (g + sum_{l <= k} w_l b_l) / sum_{l <= k} w_l. In a best group it is m(mu_ij, R_i).

    >>> arm_lifts([[[1.0, 1.0]], [[0.5, 0.0], [0.0, 0.25]]], [[1.0, 1.0], [0.5, 0.25]], [1.0, 1.0])
    [array([0.]), array([0.75 , 0.875])]
    """
    best = np.asarray(efficiency, dtype=np.float64)
    w = np.asarray(weights, dtype=np.float64)
    score = best @ w
    lifts: list[Floats] = []
    for rows, R, missing in zip(means, best, score.max() - score, strict=True):
        lack = R - np.asarray(rows)
        if missing == 0:
            lifts.append(lack.min(axis=1))
            continue
        order = np.argsort(lack, axis=1)
        sorted_lack, sorted_w = np.take_along_axis(lack, order, axis=1), w[order]
        needed = missing + np.cumsum(sorted_w * sorted_lack, axis=1)
        lifts.append((needed / np.cumsum(sorted_w, axis=1)).min(axis=1))
    return lifts


def _columns(efficiency: ArrayLike) -> Floats:
    """Return the efficiency as [D, N]: reductions over the short axis are quick that way."""
    R = numbers(efficiency, "efficiency")
    if R.ndim != 2 or R.size == 0:
        raise InvalidInput(f"efficiency must be an array [N, D]; got shape {list(R.shape)}")
    return np.ascontiguousarray(R.T)


def _undominated(columns: Floats) -> Bools:
    """Return which groups are Pareto optimal, as `pareto_groups`, comparing with survivors only.

    Strict domination is transitive, so a dominated group is dominated by an optimal one, which is
    never removed and has its turn. Large sums first: then nearly all turns are optimal groups'.
    """
    order = np.argsort(-columns.sum(axis=0), kind="stable")
    rest = columns.take(order, axis=1)
    turn = 0
    while turn < len(order):
        keep = ~np.all(rest < rest[:, turn, None], axis=0)
        turn = int(np.count_nonzero(keep[:turn])) + 1
        if not keep.all():
            rest, order = rest.compress(keep, axis=1), order[keep]
    optimal = np.zeros(columns.shape[1], dtype=bool)
    optimal[order] = True
    return optimal


def _losses(columns: Floats, optimal: Bools, slack: Floats | None = None) -> Floats:
    """Return max_{j in G*} m(R_i, R_j), [N]; with slack, over the j with R_i + slack < R_j only."""
    loss = np.zeros(columns.shape[1])
    raised = None if slack is None else columns + slack[:, None]
    for j in np.flatnonzero(optimal):
        winner = columns[:, j, None]
        lead = (winner - columns).min(axis=0)
        if raised is not None:
            lead[~(raised < winner).all(axis=0)] = 0.0
        np.maximum(loss, lead, out=loss)
    return loss


def _plus(columns: Floats, optimal: Bools) -> Floats:
    plus = np.full(columns.shape[1], np.nan)
    indices = np.flatnonzero(optimal)
    rivals = columns.take(indices, axis=1)
    for k, i in enumerate(indices):
        apart = rivals - columns[:, i, None]
        least = np.minimum(apart.max(axis=0), (-apart).max(axis=0))
        least[k] = np.inf
        plus[i] = max(least.min(), 0.0)
    return plus


def _minus(columns: Floats, optimal: Bools, loss: Floats) -> Floats:
    minus = np.full(columns.shape[1], np.nan)
    losers, twice = columns.compress(~optimal, axis=1), 2.0 * loss[~optimal]
    for i in np.flatnonzero(optimal):
        excess = np.maximum((losers - columns[:, i, None]).max(axis=0), 0.0)
        minus[i] = (excess + twice).min(initial=np.inf)
    return minus


def _sealed(arrays: list[Floats]) -> list[Floats]:
    return [read_only(array) for array in arrays]

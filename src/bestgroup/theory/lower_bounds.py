"""The paper's lower bounds for all correct algorithms, with the constants of the proofs.

Dims are divided by their noise scales, as in `caps`. The caps of the algorithms are here as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup.problem.arrays import Floats, Ints, probability, read_only
from bestgroup.problem.goals import BestGroup, Goal, ParetoGroups, check_goal, for_goal
from bestgroup.problem.instance import Instance, check_instance
from bestgroup.problem.laws import FullyDependent, Normal
from bestgroup.theory.dominance import optimal_groups
from bestgroup.theory.gaps import arm_gaps, arm_lifts, group_gaps, weighted_gaps
from bestgroup.theory.truths import check_plain
from bestgroup.theory.upper_bounds import UpperBound, scaled, upper_bound

__all__ = ["LowerBound", "UpperBound", "lower_bound", "upper_bound"]


@dataclass(frozen=True, eq=False)
class LowerBound:
    """Expected pulls that no correct algorithm can do without: `by_arm`, `by_group` [N], `value`.

    `by_arm` has one array [K_i] for each group. For the goal BestGroup the theorem bounds only the
    sum over the arms of the best group: it is in `by_group`, and these arms have 0. `value` is the
    sum of `by_group`, but NaN where the theorem says nothing about these means and this goal; the
    entries are then what its formula gives, and prove nothing. `applies` is False where `value` is
    NaN, and where the law is not fully dependent: `value` is then the bound for the fully dependent
    instance with the same means and the noise model's scales. `why_not` is the first condition that
    fails.
    """

    by_arm: list[Floats]
    by_group: Floats
    value: float
    applies: bool
    why_not: str | None


def lower_bound(instance: Instance, goal: Goal, delta: float) -> LowerBound:
    """Return the theorems' lower bounds on expected pulls, with the constants of their proofs.

    With L = max(log(1 / (2.4 delta)), 0) and fully dependent Gaussian arms (Definition B.14):

    Best group (Theorem 4.2), if it is unique and epsilon = 0: 2 L / Delta_ij^2 for each arm of the
    other groups, and 2 L / Delta_i*^2 for the best group's arms together. It is for all means, and
    binds algorithms that are right for all real means: alternatives in its proof may leave [0, 1].

    Pareto (Theorem 3.5): L / (2 g_ij^2) for arms of groups that are not optimal, 2 L / (9 g_ij^2)
    for the others, where g_ij = max(Delta_ij, Delta_i, epsilon), if the instance is in the class
    that the proof describes; groups and dims may be in any order. To the paper's conditions come
    three that the proof needs: epsilon < a1 - a2; for D >= 3, a3 - mu^d <= a1 - min(mu^1, mu^2) for
    d >= 3 and each arm of the optimal groups; and that the alternatives stay in [0, 1], where the
    paper has all its environments. The paper's own example fails the last one.

    >>> from bestgroup.problem.laws import FullyDependent
    >>> instance = Instance([[[1.0, 0.5]], [[0.5, 0.5]]], law=FullyDependent(1.0))
    >>> bound = lower_bound(instance, BestGroup([1, 1]), 0.05)
    >>> bound.applies, bound.by_group.round(1)
    (True, array([67.8, 67.8]))
    """
    goal = check_goal(goal, check_plain(check_instance(instance), "lower bounds").dims)
    need = max(-math.log(2.4 * probability(delta)), 0.0)
    dependent = _dependent_scales(instance)
    scale = instance.scale if dependent is None else dependent
    failed = None
    if (scale <= 0).any():
        scale, failed = instance.scale, "the theorem needs noise in every dim"
    need_of, objection = for_goal(goal, _THEOREMS, "lower bound")
    by_arm, by_group = need_of(instance, goal, need, scale)
    failed = failed or objection(instance, goal, scale)
    value = math.nan if failed else float(by_group.sum())
    why_not = failed
    if failed is None and dependent is None:
        why_not = f"the theorem is for fully dependent arms; the law is {instance.law}"
    sealed = [read_only(arms) for arms in by_arm]
    return LowerBound(sealed, read_only(by_group), value, why_not is None, why_not)


def _dependent_scales(instance: Instance) -> Floats | None:
    """Return the law's scales [D] if its dims share one Gaussian variable, as a single dim does."""
    dims = instance.shape.dims
    if isinstance(instance.law, FullyDependent) or (dims == 1 and isinstance(instance.law, Normal)):
        return instance.law.scales(dims)
    return None


def _best_need(
    instance: Instance, goal: BestGroup, need: float, scale: Floats
) -> tuple[list[Floats], Floats]:
    R, means = scaled(instance, scale)
    weights = goal.weight_vector(instance.shape.dims) * scale
    group = weighted_gaps(R, weights)
    lifts = arm_lifts(means, R, weights)
    by_arm = [
        _over_square(2 * need, np.maximum(lift, gap))
        for lift, gap in zip(lifts, group, strict=True)
    ]
    by_group = np.array([arms.sum() for arms in by_arm])
    for i in optimal_groups(instance, goal):
        by_arm[i] = np.zeros_like(by_arm[i])
        by_group[i] = _over_square(2 * need, group[i])
    return by_arm, by_group


def _pareto_need(
    instance: Instance, goal: ParetoGroups, need: float, scale: Floats
) -> tuple[list[Floats], Floats]:
    R, means = scaled(instance, scale)
    least = (goal.epsilons(instance.shape.dims) / scale).min()
    group, plus, _ = group_gaps(R)
    shares = np.where(np.isnan(plus), 1 / 2, 2 / 9)
    by_arm = [
        _over_square(share * need, np.maximum(own, max(gap, least)))
        for own, gap, share in zip(arm_gaps(means, R), group, shares, strict=True)
    ]
    return by_arm, np.array([arms.sum() for arms in by_arm])


def _over_square(constant: float, gap: Floats) -> Floats:
    if constant == 0:
        return np.zeros_like(gap)
    with np.errstate(divide="ignore"):
        return constant / np.square(gap)


def _outside_theorem(instance: Instance, goal: BestGroup, scale: Floats) -> str | None:
    if goal.epsilon > 0:
        return f"the theorem is for epsilon = 0; got {goal.epsilon:g}"
    if len(optimal_groups(instance, goal)) > 1:
        return "the theorem needs a unique best group; several are tied"
    return None


def _outside_class(instance: Instance, goal: ParetoGroups, scale: Floats) -> str | None:
    conditions = _class_conditions(instance, goal.epsilons(instance.shape.dims), scale)
    wanted = next((text for holds, text in conditions if not holds), None)
    return wanted and f"the instance is outside the class of the theorem, which needs {wanted}"


# What the theorem asks for, by arm and by group, and why it says nothing about an instance.
_Need = Callable[[Instance, Any, float, Floats], tuple[list[Floats], Floats]]
_Objection = Callable[[Instance, Any, Floats], str | None]
_THEOREMS: dict[type[Goal], tuple[_Need, _Objection]] = {
    ParetoGroups: (_pareto_need, _outside_class),
    BestGroup: (_best_need, _outside_theorem),
}


def _class_conditions(
    instance: Instance, epsilon: Floats, scale: Floats
) -> Iterator[tuple[bool, str]]:
    """Yield whether each condition of the class holds, and its words; later ones need earlier."""
    R, eps = instance.efficiency, float(epsilon[0])
    yield min(R.shape) >= 2, "at least 2 groups and 2 dims"
    yield _alike(epsilon) and _alike(scale), "the same epsilon and noise scale in every dim"
    yield all(((rows > 0) & (rows < 1)).all() for rows in instance.means), "means in (0, 1)"
    top = np.flatnonzero(~np.isnan(group_gaps(R)[1])).tolist()
    yield len(top) == 2, f"exactly 2 Pareto-optimal groups, not {len(top)}"
    one, two = R[top]
    low = np.delete(R, top, axis=0)
    pair, rest = np.flatnonzero(one != two), np.flatnonzero(one == two)
    swapped = len(pair) == 2 and bool((one[pair] == two[pair][::-1]).all())
    wanted = "optimal groups that swap two values in two dims and share one value in the others"
    yield swapped and _alike(one[rest]), wanted
    wanted = "groups not optimal to share one value in those two dims and one in the others"
    yield _alike(low[:, pair]) and _alike(low[:, rest]), wanted
    a1, a2 = float(one[pair].max()), float(one[pair].min())
    a3 = float(one[rest[0]]) if len(rest) else 1.0  # with two dims it is in no condition
    yield a1 < 2 * a2, "a1 < 2 a2"
    yield eps < a1 - a2, "epsilon < a1 - a2"
    yield a3 > eps, "a3 > epsilon"
    if len(low):
        a4 = float(low[0, pair[0]])
        a5 = float(low[0, rest[0]]) if len(rest) else 0.0
        yield a2 - a4 > eps, "a2 - a4 > epsilon"
        yield a1 - a2 < 2 * (a2 - a4), "a1 - a2 < 2 (a2 - a4)"
        yield a2 > 2 * a4, "a2 > 2 a4"
        yield a3 - a5 > a2 - a4, "a3 - a5 > a2 - a4"
    yield from _arm_conditions(instance, top, pair, (a1, a2, a3), eps)


def _arm_conditions(
    instance: Instance, top: list[int], pair: Ints, a: tuple[float, float, float], eps: float
) -> Iterator[tuple[bool, str]]:
    """Yield the conditions on single arms: those of optimal groups, and of the alternatives."""
    a1, a2, a3 = a
    least = [rows[:, pair].min(axis=1) for rows in instance.means]
    wanted = "arms of optimal groups with means above 2 a2 - a1 in the two dims"
    yield all((least[i] > 2 * a2 - a1).all() for i in top), wanted
    lacks = {
        i: a3 - np.delete(instance.means[i], pair, axis=1).min(axis=1, initial=a3) for i in top
    }
    wanted = "a3 - mu^d <= a1 - min(mu^1, mu^2) in the other dims for arms of optimal groups"
    yield all((lacks[i] <= a1 - least[i]).all() for i in top), wanted
    # The proof lifts one arm until its lesser mean in the two dims is at the target.
    reach = [
        float((rows.max(axis=1) + (a1 + eps if i in top else a2) - least[i]).max())
        for i, rows in enumerate(instance.means)
    ]
    # Arms of optimal groups are lifted by a little more than to the target.
    inside = all(x < 1 if i in top else x <= 1 for i, x in enumerate(reach))
    yield inside, f"alternatives with means in [0, 1]; those of the proof reach {max(reach):.3g}"


def _alike(values: Floats) -> bool:
    return values.size == 0 or bool((values == values.flat[0]).all())

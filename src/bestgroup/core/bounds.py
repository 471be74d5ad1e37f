"""The paper's theorems in numbers: caps on the pulls of its algorithms, and lower bounds for all.

Caps hold on the good event, on which every mean of r pulls is within beta(r) of its expectation, in
every dim: with probability at least 1 - delta (paper, Lemma B.1). They solve beta(r) > x over the
whole numbers instead of using the O() forms. Lower bounds have the constants of the proofs.

A dim with noise scale s takes part in every test with s beta. Dividing it by s gives the same tests
with scale 1, so everything here is computed on means / s, epsilon / s and, for the best group,
weights * s.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bestgroup.core.arrays import Floats, Ints, probability, read_only
from bestgroup.core.dominance import optimal_groups
from bestgroup.core.gaps import (
    arm_gaps,
    arm_lifts,
    group_gaps,
    tolerant_group_gaps,
    weighted_gaps,
)
from bestgroup.core.goals import BestGroup, Goal, ParetoGroups, check_goal
from bestgroup.core.laws import FullyDependent, Normal
from bestgroup.core.problem import Instance
from bestgroup.errors import InvalidInput

_ALGORITHMS = {ParetoGroups: ("te", "age", "ge"), BestGroup: ("eecb",)}
_MOST_PULLS = 2**53  # beyond it floats skip whole numbers


@dataclass(frozen=True, eq=False)
class UpperBound:
    """Caps on pulls: `by_arm` (one array [K_i] a group), `by_group` [N], `value` for all arms.

    Caps are whole numbers, or inf where nothing below 2**53 bounds the pulls. `applies` is False,
    and `why_not` says why, where `value` is inf, and where the instance's law is known to be
    noisier than its noise model says, so that the good event is not sure.
    """

    algorithm: str
    by_arm: list[Floats]
    by_group: Floats
    value: float
    applies: bool
    why_not: str | None


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


def upper_bound(
    instance: Instance, goal: Goal, delta: float, algorithm: str | None = None
) -> UpperBound:
    """Return the explicit caps on the pulls of each arm that the paper's lemmas give.

    Pareto, `algorithm` "te" (default), "age" or "ge": on the good event group i leaves by the first
    round r with beta(r) <= max(Delta_i / 12, epsilon / 4) (Lemmas B.9 to B.12), and TE and AGE drop
    arm (i, j) by the first with beta(r) <= Delta_ij / 4 (Lemma B.13; GE drops no arms). So

        N_ij <= 1 + max{r : beta(r) > max(Delta_i / 12, epsilon / 4, Delta_ij / 4)}.

    If epsilon / scale differs between dims, the lemmas hold with its least value, but Lemma B.8, on
    which B.10 and B.12 rest, only with the gaps of `tolerant_group_gaps`, which are used then.

    Best group, "eecb": an arm that is pulled while the clock of the focus d is n has n + 1 pulls
    then, and 4 beta(n) > max(Delta_i ||w||_1 / (D w^d), R_i^d - mu_ij^d) (the two halves of Lemma
    C.1). With goal epsilon > 0 there is a third bound: the group ahead leads by 0 or more, so that
    a round which does not stop has epsilon ||w||_1 <= 2 sum_d w^d beta(n^d) <= 2 D w^d beta(n). So
    N_ij is at most 1 + the largest n that these allow for some d; and one more in the best group,
    whose arms may be pulled once when it alone is left.

    >>> instance = Instance([[[4.0, 3.0], [0.0, 1.0]], [[2.0, 2.0]]])
    >>> upper_bound(instance, ParetoGroups(0.5), 0.05).by_arm
    [array([1498.,  127.]), array([2825.])]
    >>> upper_bound(instance, BestGroup([1, 1]), 0.05).by_group
    array([374., 245.])
    """
    check_goal(goal, instance.shape.dims)
    level = probability(delta)
    known = _ALGORITHMS[type(goal)]
    name = known[0] if algorithm is None else algorithm
    if name not in known:
        raise InvalidInput(
            f"algorithm must be one of {', '.join(known)} for this goal; got {algorithm!r}"
        )
    if isinstance(goal, ParetoGroups):
        caps = _pareto_caps(instance, goal, level, drops_arms=name != "ge")
    else:
        caps = _best_caps(instance, goal, level)
    by_group = np.array([cap.sum() for cap in caps])
    value = float(by_group.sum())
    why_not = _too_noisy(instance) or (None if value < math.inf else _unbounded(goal, by_group))
    sealed = [read_only(cap) for cap in caps]
    return UpperBound(name, sealed, read_only(by_group), value, why_not is None, why_not)


def _pareto_caps(
    instance: Instance, goal: ParetoGroups, delta: float, drops_arms: bool
) -> list[Floats]:
    R, means = _scaled(instance, instance.scale)
    epsilon = goal.epsilons(instance.shape.dims) / instance.scale
    same = bool((epsilon == epsilon[0]).all())
    group = group_gaps(R)[0] if same else tolerant_group_gaps(R, epsilon)
    floors = np.maximum(group / 12, epsilon.min() / 4)
    levels = [
        np.maximum(own / 4 if drops_arms else 0.0 * own, floor)
        for own, floor in zip(arm_gaps(means, R), floors, strict=True)
    ]
    return _split(instance, 1.0 + _last_rounds(np.concatenate(levels), instance, delta))


def _best_caps(instance: Instance, goal: BestGroup, delta: float) -> list[Floats]:
    R, means = _scaled(instance, instance.scale)
    weights = goal.weight_vector(instance.shape.dims)
    effect = len(weights) * weights * instance.scale
    missing = weighted_gaps(instance.efficiency, weights) * weights.sum()
    stop = goal.epsilon * weights.sum() / (2 * effect)
    # beta(n) >= stop is allowed: the next float below turns it into beta(n) > level.
    slack = np.nextafter(stop, 0.0)
    levels = [
        np.maximum(np.maximum(gap / effect, best - rows) / 4, slack).min(axis=1)
        for rows, best, gap in zip(means, R, missing, strict=True)
    ]
    caps = _split(instance, 1.0 + _last_rounds(np.concatenate(levels), instance, delta))
    if len(caps) > 1:
        for i in optimal_groups(instance, goal):
            caps[i] = caps[i] + 1.0
    return caps


def _last_rounds(levels: Floats, instance: Instance, delta: float) -> Floats:
    """Return for each level the largest r >= 0 with beta(r) > level; 0 if there is none."""
    events = float(instance.shape.total * instance.shape.dims)
    values, where = np.unique(levels, return_inverse=True)
    return np.array([_last_round(float(x), events, delta) for x in values])[where]


def _last_round(level: float, events: float, delta: float) -> float:
    if _beta(1, events, delta) <= level:
        return 0.0
    low, high = 1, 2
    while _beta(high, events, delta) > level:
        if high >= _MOST_PULLS:
            return math.inf
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _beta(middle, events, delta) > level:
            low = middle
        else:
            high = middle
    return float(low)


def _beta(r: int, events: float, delta: float) -> float:
    """Return sqrt(2 log(4 A D r^2 / delta) / r), with events = A D; it decreases in r (eq. (2))."""
    n = float(r)
    return math.sqrt(2.0 * math.log(4.0 * events * n * n / delta) / n)


def _scaled(instance: Instance, scale: Floats) -> tuple[Floats, list[Floats]]:
    """Return the efficiency [N, D] and the means with every dim divided by its scale."""
    return instance.efficiency / scale, [rows / scale for rows in instance.means]


def _split(instance: Instance, flat: Floats) -> list[Floats]:
    return [part.copy() for part in np.split(flat, np.cumsum(instance.shape.sizes)[:-1])]


def _too_noisy(instance: Instance) -> str | None:
    scales = getattr(instance.law, "scales", None)
    if scales is None or (scales(instance.shape.dims) <= instance.scale * (1 + 1e-12)).all():
        return None
    return "the law has a larger scale than the noise model allows, so the good event is not sure"


def _unbounded(goal: Goal, by_group: Floats) -> str:
    groups = np.flatnonzero(np.isinf(by_group)).tolist()
    what = "efficiencies" if isinstance(goal, ParetoGroups) else "weighted efficiencies"
    return f"nothing bounds the pulls of groups {groups}: with epsilon = 0 their {what} are tied"


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

    >>> from bestgroup.core.laws import FullyDependent
    >>> instance = Instance([[[1.0, 0.5]], [[0.5, 0.5]]], law=FullyDependent(1.0))
    >>> bound = lower_bound(instance, BestGroup([1, 1]), 0.05)
    >>> bound.applies, bound.by_group.round(1)
    (True, array([67.8, 67.8]))
    """
    check_goal(goal, instance.shape.dims)
    need = max(-math.log(2.4 * probability(delta)), 0.0)
    dependent = _dependent_scales(instance)
    scale = instance.scale if dependent is None else dependent
    failed = None
    if (scale <= 0).any():
        scale, failed = instance.scale, "the theorem needs noise in every dim"
    if isinstance(goal, ParetoGroups):
        by_arm, by_group = _pareto_need(instance, goal, need, scale)
        failed = failed or _outside_class(instance, goal, scale)
    else:
        by_arm, by_group = _best_need(instance, goal, need, scale)
        failed = failed or _outside_theorem(instance, goal)
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
    R, means = _scaled(instance, scale)
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
    R, means = _scaled(instance, scale)
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


def _outside_theorem(instance: Instance, goal: BestGroup) -> str | None:
    if goal.epsilon > 0:
        return f"the theorem is for epsilon = 0; got {goal.epsilon:g}"
    if len(optimal_groups(instance, goal)) > 1:
        return "the theorem needs a unique best group; several are tied"
    return None


def _outside_class(instance: Instance, goal: ParetoGroups, scale: Floats) -> str | None:
    conditions = _class_conditions(instance, goal.epsilons(instance.shape.dims), scale)
    wanted = next((text for holds, text in conditions if not holds), None)
    return wanted and f"the instance is outside the class of the theorem, which needs {wanted}"


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

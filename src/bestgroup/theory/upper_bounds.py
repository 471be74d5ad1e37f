"""Caps on the pulls of the paper's algorithms, from its lemmas.

Caps hold on the good event, on which every mean of r pulls is within beta(r) of its expectation, in
every dim: with probability at least 1 - delta (paper, Lemma B.1). They solve beta(r) > x over the
integers instead of using the O() forms.

A dim with noise scale s takes part in every test with s beta. Dividing it by s gives the same tests
with scale 1, so everything here is computed on means / s, epsilon / s and, for the best group,
weights * s.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.inference.radii import Radius, make_radius, radius_at
from bestgroup.problem.arrays import Floats, probability, read_only
from bestgroup.problem.goals import BestGroup, Goal, ParetoGroups, check_goal, for_goal
from bestgroup.problem.instance import Instance, check_instance
from bestgroup.theory.dominance import optimal_groups
from bestgroup.theory.gaps import arm_gaps, group_gaps, tolerant_group_gaps, weighted_gaps
from bestgroup.theory.truths import check_plain

_MOST_PULLS = 2**53  # beyond it floats skip integers


@dataclass(frozen=True, eq=False)
class UpperBound:
    """Caps on pulls: `by_arm` (one array [K_i] a group), `by_group` [N], `value` for all arms.

    Caps are integers, or inf where nothing below 2**53 bounds the pulls. `applies` is False,
    and `why_not` says why, where `value` is inf, and where the instance's law is known to be
    noisier than its noise model says, so that the good event is not sure.
    """

    algorithm: str
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
    goal = check_goal(goal, check_plain(check_instance(instance), "upper bounds").dims)
    level = probability(delta)
    known, caps_of = for_goal(goal, _BOUNDS, "upper bound")
    name = next(iter(known)) if algorithm is None else algorithm
    if name not in known:
        raise InvalidInput(
            f"algorithm must be one of {', '.join(known)} for this goal; got {algorithm!r}"
        )
    caps = caps_of(instance, goal, level, known[name])
    by_group = np.array([cap.sum() for cap in caps])
    value = float(by_group.sum())
    why_not = _too_noisy(instance)
    if why_not is None and value == math.inf:
        why_not = _unbounded(goal, by_group, instance.shape.dims)
    sealed = [read_only(cap) for cap in caps]
    return UpperBound(name, sealed, read_only(by_group), value, why_not is None, why_not)


def _pareto_caps(
    instance: Instance, goal: ParetoGroups, delta: float, drops_arms: bool
) -> list[Floats]:
    R, means = scaled(instance, instance.scale)
    epsilon = goal.epsilons(instance.shape.dims) / instance.scale
    same = bool((epsilon == epsilon[0]).all())
    group = group_gaps(R)[0] if same else tolerant_group_gaps(R, epsilon)
    floors = np.maximum(group / 12, epsilon.min() / 4)
    levels = [
        np.maximum(own / 4 if drops_arms else 0.0 * own, floor)
        for own, floor in zip(arm_gaps(means, R), floors, strict=True)
    ]
    return _split(instance, 1.0 + _last_rounds(np.concatenate(levels), instance, delta))


def _best_caps(instance: Instance, goal: BestGroup, delta: float, drops_arms: bool) -> list[Floats]:
    R, means = scaled(instance, instance.scale)
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


# Algorithms with explicit caps, whether they eliminate arms, and the caps.
_BOUNDS: dict[type[Goal], tuple[dict[str, bool], Callable[..., list[Floats]]]] = {
    ParetoGroups: ({"te": True, "age": True, "ge": False}, _pareto_caps),
    BestGroup: ({"eecb": True}, _best_caps),
}


def _last_rounds(levels: Floats, instance: Instance, delta: float) -> Floats:
    """Return for each level the largest r >= 0 with beta(r) > level; 0 if there is none."""
    radius = make_radius("paper", instance.shape, delta, 1.0)
    values, where = np.unique(levels, return_inverse=True)
    return np.array([_last_round(float(x), radius) for x in values])[where]


def _last_round(level: float, radius: Radius) -> float:
    if radius_at(radius, 1) <= level:
        return 0.0
    low, high = 1, 2
    while radius_at(radius, high) > level:
        if high >= _MOST_PULLS:
            return math.inf
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if radius_at(radius, middle) > level:
            low = middle
        else:
            high = middle
    return float(low)


def scaled(instance: Instance, scale: Floats) -> tuple[Floats, list[Floats]]:
    """Return the efficiency [N, D] and the means with every dim divided by its scale."""
    return instance.efficiency / scale, [rows / scale for rows in instance.means]


def _split(instance: Instance, flat: Floats) -> list[Floats]:
    return [part.copy() for part in np.split(flat, np.cumsum(instance.shape.sizes)[:-1])]


def _too_noisy(instance: Instance) -> str | None:
    scales = getattr(instance.law, "scales", None)
    if scales is None or (scales(instance.shape.dims) <= instance.scale * (1 + 1e-12)).all():
        return None
    return "the law has a larger scale than the noise model allows, so the good event is not sure"


def _unbounded(goal: Goal, by_group: Floats, dims: int) -> str:
    groups = np.flatnonzero(np.isinf(by_group)).tolist()
    weighted = "" if goal.worth_weights(dims) is None else "weighted "
    why = f"with epsilon = 0 their {weighted}efficiencies are tied"
    return f"nothing bounds the pulls of groups {groups}: {why}"

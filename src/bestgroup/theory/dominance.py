"""The paper's order on vectors: three dominations, deficit m, excess M, and the sets they define.

Functions of two vectors take (loser, winner). `efficiency` arrays are [N, D].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Bools, Floats, is_integer, numbers, vector_pair
from bestgroup.problem.goals import Goal, ParetoGroups, check_goal
from bestgroup.problem.goals.pareto import undominated
from bestgroup.problem.instance import Instance, check_instance
from bestgroup.problem.status import Status
from bestgroup.theory.truths import Truth, truths


def weakly_dominated(loser: ArrayLike, winner: ArrayLike) -> bool:
    """Return whether loser <= winner in every dim (paper, Definition 2.1).

    >>> weakly_dominated([1, 0], [1, 1])
    True
    """
    v, u = vector_pair(loser, winner)
    return bool(np.all(v <= u))


def dominated(loser: ArrayLike, winner: ArrayLike) -> bool:
    """Return whether loser <= winner in every dim and < in one (paper, Definition 2.1).

    >>> dominated([1, 1], [1, 1])
    False
    """
    v, u = vector_pair(loser, winner)
    return bool(np.all(v <= u) and np.any(v < u))


def strictly_dominated(loser: ArrayLike, winner: ArrayLike) -> bool:
    """Return whether loser < winner in every dim (paper, Definition 2.1).

    >>> strictly_dominated([1, 0], [1, 1])
    False
    """
    v, u = vector_pair(loser, winner)
    return bool(np.all(v < u))


def deficit(loser: ArrayLike, winner: ArrayLike) -> float:
    """Return m(v, u) = [min_d u^d - v^d]^+: what v lacks to not be strictly dominated by u.

    >>> deficit([0.25, 0.5], [0.75, 0.625])
    0.125
    """
    v, u = vector_pair(loser, winner)
    return float(max(np.min(u - v), 0.0))


def excess(loser: ArrayLike, winner: ArrayLike, alpha: ArrayLike = 0.0) -> float:
    """Return M_alpha(v, u) = [max_d v^d - u^d + alpha]^+: what u lacks to dominate v + alpha.

    >>> excess([0.25, 0.5], [0.5, 0.25], alpha=0.5)
    0.75
    """
    v, u = vector_pair(loser, winner)
    slack = ParetoGroups(alpha).epsilons(len(v))  # type: ignore[arg-type]
    return float(max(np.max(v - u + slack), 0.0))


def efficiency(means: Sequence[ArrayLike] | Floats) -> Floats:
    """Return R_i^d = max_j mu_ij^d for means of N groups, each [K_i, D] (paper, section 2).

    >>> efficiency([[[0.5, 0.0], [0.0, 0.25]], [[0.125, 0.125]]])
    array([[0.5  , 0.25 ],
           [0.125, 0.125]])
    """
    return np.array(Instance(means).efficiency)


def pareto_groups(efficiency: ArrayLike, epsilon: ArrayLike = 0.0) -> Bools:
    """Return which groups no other one beats by more than epsilon in every dim (Definition 3.1).

    Domination is strict, so weakly dominated groups belong to the set.

    >>> pareto_groups([[1, 1], [1, 0], [0.5, 0.5], [1, 1]])
    array([ True,  True, False,  True])
    """
    R = numbers(efficiency, "efficiency")
    if R.ndim != 2 or R.size == 0:
        raise InvalidInput(f"efficiency must be an array [N, D]; got shape {list(R.shape)}")
    return undominated(R, ParetoGroups(epsilon).epsilons(R.shape[1]))  # type: ignore[arg-type]


def optimal_groups(instance: Instance, goal: Goal) -> frozenset[int]:
    """Return the indices of the optimal groups: G*_0 for Pareto, all argmax of R . w for best.

    >>> optimal_groups(Instance([[[1.0, 0.0]], [[0.0, 1.0]]]), ParetoGroups())
    frozenset({0, 1})
    """
    goal = check_goal(goal, check_instance(instance).decided)
    if instance.measure is not None:
        return _optimal_in(next(truths(instance)), goal)  # of the arms that keep all limits
    return frozenset(np.flatnonzero(goal.optimal(instance.efficiency)).tolist())


def is_correct(answer: Iterable[int], instance: Instance, goal: Goal) -> bool:
    """Return whether an answer is right in the (epsilon, delta)-PAC sense of the paper.

    Pareto: G*_0 is a subset of the answer, and the answer of G*_epsilon. Best: exactly one group i,
    with (R_i + epsilon) . w at least the largest R_k . w.

    >>> instance = Instance([[[1.0, 0.0]], [[0.0, 1.0]], [[-1.0, -1.0]]])
    >>> is_correct({0, 1}, instance, ParetoGroups(0.1)), is_correct({0}, instance, ParetoGroups())
    (True, False)
    """
    goal = check_goal(goal, check_instance(instance).decided)
    try:
        chosen = frozenset(answer)
        whole = all(is_integer(i) for i in chosen)
    except TypeError:
        raise InvalidInput(f"an answer must be a set of group indices; got {answer!r}") from None
    if not whole or not chosen <= frozenset(range(instance.shape.groups)):
        raise InvalidInput(
            f"an answer must hold group indices from 0 to {instance.shape.groups - 1}; "
            f"got {set(chosen)}"
        )
    if instance.measure is not None:
        return any(_is_right(chosen, truth, goal) for truth in truths(instance))
    mask = np.isin(np.arange(instance.shape.groups), sorted(chosen))
    return goal.is_right(mask, instance.efficiency, _rounding(instance))


def _is_right(chosen: frozenset[int], truth: Truth, goal: Goal) -> bool:
    """Return whether an answer is right for one set of arms that count."""
    if truth.instance is None or not chosen <= frozenset(truth.groups):
        return truth.instance is None and not chosen
    return is_correct({truth.groups.index(i) for i in chosen}, truth.instance, goal)


def _wrong_for(given: Any, truth: Truth, goal: Goal) -> Bools:
    """Return which statuses [..., N] are false for one set of arms that count."""
    wrong = given == Status.IN
    if truth.instance is not None:
        wrong[..., truth.groups] = wrong_decisions(given[..., truth.groups], truth.instance, goal)
    return wrong


def wrong_decisions(status: Any, instance: Instance, goal: Goal) -> Bools:
    """Return which statuses [..., N] say something false of their group.

    Out is false of a Pareto-optimal group, or of the only best one; in is false of a group that
    another one beats by more than epsilon in every dim, or that is not within epsilon ||w||_1 of
    the best.

    >>> from bestgroup.problem.goals import BestGroup
    >>> instance = Instance([[[1.0]], [[0.0]]])
    >>> wrong_decisions([[Status.OUT, Status.UNDECIDED]], instance, BestGroup([1.0]))
    array([[ True, False]])
    """
    goal, given = check_goal(goal, check_instance(instance).decided), np.asarray(status)
    if instance.measure is not None:
        found = np.stack([_wrong_for(given, truth, goal) for truth in truths(instance)])
        least = found.any(axis=-1).argmin(axis=0)  # one set for all groups of a run
        return np.take_along_axis(found, least[None, ..., None], axis=0)[0]
    needed = goal.needed(instance.efficiency)
    good = goal.good(instance.efficiency, _rounding(instance))
    return ((given == Status.OUT) & needed) | ((given == Status.IN) & ~good)


def _rounding(instance: Instance) -> Floats:
    """Return the ranges of values in units of which rounding counts, [D]; 0 without shared items."""
    if instance.items is None:
        return np.zeros(instance.shape.dims)
    return np.array(
        instance.items.reach
    )  # equal sums over a pool are equal, whatever rounding says


def endless(instance: Instance, goal: Goal) -> str | None:
    """Return why no correct algorithm can stop on this instance, or None.

    >>> from bestgroup.problem.goals import BestGroup
    >>> endless(Instance([[[1.0]], [[1.0]]]), BestGroup([1.0]))
    "groups 'group 0' and 'group 1' tie for the best weighted efficiency"
    """
    if instance.measure is not None:
        found = [t.instance and endless(t.instance, goal) for t in truths(instance)]
        why = [words for words in found if words]
        return why[0] if len(why) == len(found) else None
    return goal.endless(instance.efficiency, instance.groups)


def on_a_limit(instance: Instance, goal: Goal) -> str | None:
    """Return that no answer is right whether arms on a limit keep it or, by a hair, do not; or None."""
    measure = instance.measure
    if (
        measure is None
        or not measure.bounds
        or any(bound.tolerance > 0 for bound in measure.bounds)
    ):
        return None  # within a tolerance either is right
    keeps, breaks = next(truths(instance)), next(truths(instance, measure.just_within()))
    found = [_optimal_in(truth, goal) for truth in (keeps, breaks)]
    candidates = [*found, found[0] | found[1], *(frozenset({i}) for i in keeps.groups)]
    if any(_is_right(a, keeps, goal) and _is_right(a, breaks, goal) for a in candidates):
        return None
    return "the answer rests on an arm that is exactly on a limit, which has no tolerance"


def _optimal_in(truth: Truth, goal: Goal) -> frozenset[int]:
    """Return the optimal groups for one set of arms that count."""
    if truth.instance is None:
        return frozenset()
    return frozenset(truth.groups[i] for i in optimal_groups(truth.instance, goal))

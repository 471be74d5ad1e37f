"""A goal from what a caller, a file or a request gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import is_table
from bestgroup.problem.goals.best import BestGroup
from bestgroup.problem.goals.pareto import ParetoGroups

Goal: TypeAlias = ParetoGroups | BestGroup


def goal_from_dict(given: Any, dims: Sequence[str] | None = None) -> Goal:
    """Return the goal that `to_dict` wrote, or that a file or a request describes.

    With `dims` numbers by name are put into their order, and one weight stands for all. A refusal
    begins with the entry.

    >>> goal_from_dict({"kind": "best", "weights": {"profit": 1, "returns": 0.5}}).names
    ('profit', 'returns')
    """
    if not is_table(given):
        raise InvalidInput(f"goal: must be a table with a kind; got {given!r}")
    kind, weights, epsilon = given.get("kind"), given.get("weights"), given.get("epsilon", 0.0)
    extra = set(given) - {"kind", "weights", "epsilon"}
    if extra:
        raise InvalidInput(f"goal.{sorted(extra)[0]}: is not an entry of a goal")
    if kind == ParetoGroups.kind:
        if weights is not None:
            raise InvalidInput(
                "goal.weights: only the kind 'best' has weights; the kind is 'pareto'"
            )
        return _entered("epsilon", lambda: _checked(ParetoGroups(epsilon), dims))
    if kind != BestGroup.kind:
        raise InvalidInput(f"goal.kind: must be 'pareto' or 'best'; got {kind!r}")
    if weights is None:
        raise InvalidInput("goal.weights: is missing; the kind 'best' needs one for each dim")
    if isinstance(epsilon, list | tuple | Mapping):
        raise InvalidInput("goal.epsilon: must be one number for the kind 'best'")
    if dims is not None and np.ndim(weights) == 0 and not is_table(weights):
        weights = [weights] * len(dims)
    best = _entered("weights", lambda: _checked(BestGroup(weights), dims))
    return _entered("epsilon", lambda: best.with_epsilon(epsilon))


def check_goal(goal: object, dims: int | Sequence[str]) -> Goal:
    """Return `goal` for these dims, or for so many of them, its numbers in their order."""
    if not isinstance(goal, ParetoGroups | BestGroup):
        raise InvalidInput(f"goal must be ParetoGroups(...) or BestGroup(...); got {goal!r}")
    if not isinstance(dims, int):
        goal = goal.of(dims)
        entry = "epsilon" if isinstance(goal, ParetoGroups) else "weights"
        given: float | tuple[float, ...] = getattr(goal, entry)
        if isinstance(given, tuple) and len(given) != len(dims):
            raise InvalidInput(
                f"{entry} must have one entry for each of the {len(dims)} decided dims "
                f"({', '.join(dims)}); got {len(given)}"
            )
        return goal
    if isinstance(goal, ParetoGroups):
        goal.epsilons(dims)
    else:
        goal.weight_vector(dims)
    return goal


def _checked(goal: Any, dims: Sequence[str] | None) -> Any:
    return goal if dims is None else check_goal(goal, dims)


def _entered(entry: str, make: Any) -> Any:
    """Return make(); a refusal begins with where the entry stands."""
    try:
        return make()
    except InvalidInput as error:
        raise InvalidInput(f"goal.{entry}: {str(error).removeprefix(entry + ' ')}") from None

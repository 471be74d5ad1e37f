"""A goal from what a caller, a file or a request gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import is_table
from bestgroup.problem.goals.base import Goal
from bestgroup.problem.goals.best import BestGroup
from bestgroup.problem.goals.by_dim import check_entries
from bestgroup.problem.goals.pareto import ParetoGroups
from bestgroup.problem.goals.top import TopGroups
from bestgroup.problem.goals.weight_map import WeightMap

KINDS: dict[str, type[Goal]] = {
    goal.kind: goal for goal in (ParetoGroups, BestGroup, TopGroups, WeightMap)
}


def goal_from_dict(given: Any, dims: Sequence[str] | None = None) -> Goal:
    """Return the goal that `to_dict` wrote, or that a file or a request describes.

    With `dims` numbers by name are put into their order, and one weight stands for all. A refusal
    begins with the entry.

    >>> goal_from_dict({"kind": "best", "weights": {"profit": 1, "returns": 0.5}}).names
    ('profit', 'returns')
    """
    if not is_table(given):
        raise InvalidInput(f"goal: must be a table with a kind; got {given!r}")
    extra = set(given) - {"kind"}.union(*(goal.entries for goal in KINDS.values()))
    if extra:
        raise InvalidInput(f"goal.{sorted(extra)[0]}: is not an entry of a goal")
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        listed = " or ".join(map(repr, KINDS))
        raise InvalidInput(f"goal.kind: must be {listed}; got {kind!r}")
    return KINDS[kind].read(given, dims)


def check_goal(goal: object, dims: int | Sequence[str]) -> Goal:
    """Return `goal` for these dims, or for so many of them, its numbers in their order."""
    if not isinstance(goal, Goal):
        listed = " or ".join(f"{known.__name__}(...)" for known in KINDS.values())
        raise InvalidInput(f"goal must be {listed}; got {goal!r}")
    if not isinstance(dims, int):
        return check_entries(goal, dims)
    goal.epsilons(dims)
    goal.weight_vector(dims)
    return goal

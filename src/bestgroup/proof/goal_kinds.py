"""The goals that a proof file may have, and how one is read."""

from __future__ import annotations

from typing import Any

from bestgroup.proof.goals import Best, Pareto, ProofGoal, Top
from bestgroup.proof.map_goal import Map

GOALS: dict[str, type[ProofGoal]] = {goal.kind: goal for goal in (Pareto, Best, Top, Map)}


def read_goal(given: dict[str, Any], dims: int, groups: int, version: int) -> ProofGoal:
    """Return the goal of a proof file; raises ValueError or KeyError where it cannot be."""
    if given["kind"] not in GOALS:
        raise ValueError(f"the goal must be {', '.join(GOALS)}")
    made = GOALS[given["kind"]]
    if version < made.since:
        raise ValueError(f"version {version} has no such goal")
    if not set(given) <= made.entries:
        raise ValueError("a goal has no such entry")
    goal = made.read(given, groups)
    if not goal.fits(dims):
        raise ValueError("one number for each dim is needed")
    if version < goal.first_version():
        raise ValueError(f"version {version} has no such set of weights")
    if min(goal.epsilon) < 0.0 or min(goal.weights, default=1.0) <= 0.0:
        raise ValueError("epsilon and weights: signs")
    return goal

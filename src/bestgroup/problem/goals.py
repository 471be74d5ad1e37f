"""The two questions: which groups are Pareto optimal, and which group is best for given weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats, number, numbers


@dataclass(frozen=True)
class ParetoGroups:
    """Group Pareto set identification (the paper's GPSI, section 3).

    The answer must hold every Pareto-optimal group and no group that another one beats by more than
    `epsilon` in every dimension. `epsilon` is one number, or one for each dim in the dim's own
    units.

    >>> ParetoGroups(0.01).epsilons(3)
    array([0.01, 0.01, 0.01])
    """

    epsilon: float | tuple[float, ...] = 0.0

    def __init__(self, epsilon: float | Sequence[float] = 0.0) -> None:
        if np.ndim(epsilon) == 0:
            checked: float | tuple[float, ...] = number(epsilon, "epsilon")
        else:
            checked = tuple(numbers(epsilon, "epsilon").tolist())
        if np.ndim(checked) > 1 or np.size(checked) == 0:
            raise InvalidInput(f"epsilon must be one number or one for each dim; got {epsilon}")
        if np.min(checked) < 0:
            raise InvalidInput(f"epsilon must not be negative; got {epsilon}")
        object.__setattr__(self, "epsilon", checked)

    def epsilons(self, dims: int) -> Floats:
        """Return epsilon for each dim, [D]."""
        if isinstance(self.epsilon, tuple) and len(self.epsilon) != dims:
            raise InvalidInput(
                f"epsilon must be one number or one for each of the {dims} dims; "
                f"got {len(self.epsilon)}"
            )
        return np.full(dims, self.epsilon, dtype=np.float64)


@dataclass(frozen=True)
class BestGroup:
    """Linear best group identification (the paper's LBGI, section 4).

    The answer is one group i with (R_i + epsilon) . weights at least the largest R_k . weights.
    With `epsilon` = 0, the paper's case, the best group must be unique.

    >>> BestGroup([1, 2, 3]).weights
    (1.0, 2.0, 3.0)
    """

    weights: tuple[float, ...]
    epsilon: float = 0.0

    def __init__(self, weights: Sequence[float], epsilon: float = 0.0) -> None:
        checked = numbers(weights, "weights")
        if checked.ndim != 1 or checked.size == 0:
            raise InvalidInput("weights must be a list with one positive number for each dim")
        if (checked <= 0).any():
            raise InvalidInput(
                f"weights must be positive; got {checked.tolist()} "
                "(leave a dim out of the problem instead of weighing it with zero)"
            )
        slack = number(epsilon, "epsilon")
        if slack < 0:
            raise InvalidInput(f"epsilon must not be negative; got {slack:g}")
        object.__setattr__(self, "weights", tuple(checked.tolist()))
        object.__setattr__(self, "epsilon", slack)

    def weight_vector(self, dims: int) -> Floats:
        """Return the weights, [D]."""
        if len(self.weights) != dims:
            raise InvalidInput(
                f"weights must have one entry for each of the {dims} dims; got {len(self.weights)}"
            )
        return np.array(self.weights)


Goal: TypeAlias = ParetoGroups | BestGroup


def check_goal(goal: object, dims: int) -> Goal:
    """Return `goal` after checking that it fits the number of dims."""
    if isinstance(goal, ParetoGroups):
        goal.epsilons(dims)
        return goal
    if isinstance(goal, BestGroup):
        goal.weight_vector(dims)
        return goal
    raise InvalidInput(f"goal must be ParetoGroups(...) or BestGroup(...); got {goal!r}")

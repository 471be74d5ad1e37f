"""The information-theoretic limit of a case, as commands show it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestgroup.errors import InvalidInput

if TYPE_CHECKING:
    from bestgroup.core.goals import Goal
    from bestgroup.core.problem import Instance


@dataclass(frozen=True)
class Yardstick:
    """T* with its certified relative gap, and the pulls T* kl that no correct algorithm undercuts.

    `answers` is the number of answers that would be right. With one, the factor is kl(delta,
    1 - delta); with M of them the least pulls are T* kl((1 - delta) / M, delta). `why_not` says why
    there is no T*, whose fields are then NaN.
    """

    time: float
    gap: float
    pulls: float
    answers: float
    allocation: Any = None  # [K_i] a group
    why_not: str | None = None


def binary_divergence(p: float, q: float) -> float:
    """Return kl(p, q) = p log(p / q) + (1 - p) log((1 - p) / (1 - q)).

    >>> round(binary_divergence(0.01, 0.99), 3)
    4.503
    """
    return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))


def measure(instance: Instance, goal: Goal, delta: float) -> Yardstick:
    """Return the limit for an instance, or why it is not known."""
    from bestgroup.core.limit import characteristic_time

    answers = right_answers(instance, goal)
    try:
        found = characteristic_time(instance, goal)
    except InvalidInput as error:
        return Yardstick(math.nan, math.nan, math.nan, answers, why_not=str(error))
    share = (1.0 - delta) / answers
    factor = binary_divergence(share, delta) if share > delta else 0.0
    return Yardstick(found.value, found.gap, found.value * factor, answers, found.allocation)


def right_answers(instance: Instance, goal: Goal) -> float:
    """Return how many answers are right, or a number above it; infinity if it is beyond floats.

    Pareto: an answer may leave out any group that is there only thanks to epsilon. Best: any group
    within epsilon of the best will do.
    """
    import numpy as np

    from bestgroup.core.dominance import is_correct, optimal_groups, pareto_groups
    from bestgroup.core.goals import BestGroup

    if isinstance(goal, BestGroup):
        return float(sum(is_correct({i}, instance, goal) for i in range(instance.shape.groups)))
    slack = goal.epsilons(instance.shape.dims)
    tolerated = int(np.count_nonzero(pareto_groups(instance.efficiency, slack)))
    free = tolerated - len(optimal_groups(instance, goal))
    return 2.0**free if free < 1000 else math.inf

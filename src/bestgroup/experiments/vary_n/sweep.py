"""What runs: K = 6, D = 3, ceil(0.3 N) Pareto-optimal groups, N = 5, 10, 15, 20."""

from __future__ import annotations

import math

from bestgroup.experiments.points import Plan, Point
from bestgroup.problem.goals import ParetoGroups

NAME = "vary-n"
GROUPS = (5, 10, 15, 20)  # the paper does not print its grid
ARMS = 6


def pareto_groups(groups: int) -> int:
    """Return ceil(0.3 N), in integers: 0.3 is not exact in binary.

    >>> [pareto_groups(n) for n in GROUPS]
    [2, 3, 5, 6]
    """
    return math.ceil(3 * groups / 10)


def points(plan: Plan) -> list[Point]:
    """Return the instances, by N."""
    names = plan.answering(ParetoGroups)
    return [
        Point(NAME, groups, ARMS, pareto_groups(groups), k, plan.instance_seed(k), names)
        for groups in GROUPS
        for k in range(plan.instances)
    ]

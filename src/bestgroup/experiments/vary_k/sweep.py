"""What runs: N = 5, D = 3, two Pareto-optimal groups, K = 2, 4, 6, 8, 10."""

from __future__ import annotations

from bestgroup.experiments.points import Plan, Point
from bestgroup.problem.goals import ParetoGroups

NAME = "vary-k"
GROUPS = 5
ARMS = (2, 4, 6, 8, 10)  # the paper does not print its grid
PARETO_GROUPS = 2


def points(plan: Plan) -> list[Point]:
    """Return the instances, by K; those with K = 6 are also the ones of vary-n with N = 5."""
    names = plan.answering(ParetoGroups)
    return [
        Point(NAME, GROUPS, arms, PARETO_GROUPS, k, plan.instance_seed(k), names)
        for arms in ARMS
        for k in range(plan.instances)
    ]

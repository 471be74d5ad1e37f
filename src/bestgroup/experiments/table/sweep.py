"""What runs: EECB and TEL on N = K = 5, D = 3 for the paper's five weight vectors."""

from __future__ import annotations

from bestgroup.experiments.points import Plan, Point, Weights
from bestgroup.problem.goals import BestGroup

NAME = "table"
GROUPS = 5
ARMS = 5
WEIGHTS: tuple[Weights, ...] = (
    (0.1, 0.1, 1.0),
    (1.0, 1.0, 0.1),
    (0.1, 1.0, 1.0),
    (1.0, 1.0, 1.0),
    (1.0, 2.0, 3.0),
)


def points(plan: Plan) -> list[Point]:
    """Return the instances: the first few are shown in full, all of them are counted.

    Each has gaps above 0.03 for the Pareto groups and for the best group under all five weights:
    the paper does not say which gap it bounds here.
    """
    names = plan.answering(BestGroup)
    total = max(plan.instances, plan.survey)
    return [
        Point(
            NAME,
            GROUPS,
            ARMS,
            None,
            k,
            plan.instance_seed(k),
            names,
            WEIGHTS,
            with_limit=k < plan.instances,
        )
        for k in range(total)
    ]

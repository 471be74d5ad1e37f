"""Who explains a verdict: one class for each goal."""

from __future__ import annotations

from bestgroup.inference.certificate.explain import Explainer
from bestgroup.inference.certificate.explain_best import BestExplainer
from bestgroup.inference.certificate.explain_directions import MapExplainer, TopExplainer
from bestgroup.inference.certificate.explain_pareto import ParetoExplainer
from bestgroup.inference.certificate.explain_worths import (
    BestWorthExplainer,
    ParetoWorthExplainer,
)
from bestgroup.inference.certificate.judge import Verdict
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats
from bestgroup.problem.goals import (
    BestGroup,
    Goal,
    ParetoGroups,
    TopGroups,
    WeightMap,
    for_goal,
)
from bestgroup.problem.problem import Problem

# By efficiencies, and by other worths or with limits.
_EXPLAINERS: dict[type[Goal], tuple[type[Explainer], type[Explainer]]] = {
    ParetoGroups: (ParetoExplainer, ParetoWorthExplainer),
    BestGroup: (BestExplainer, BestWorthExplainer),
    # `check_measured_goal` refuses limits and other worths with these two.
    WeightMap: (MapExplainer, MapExplainer),
    TopGroups: (TopExplainer, TopExplainer),
}


def explainer_of(
    problem: Problem,
    goal: Goal,
    delta: float,
    tally: Tally,
    verdict: Verdict,
    reach: Floats | None = None,
    proven: bool = True,
) -> Explainer:
    """Return what explains the verdict on a tally.

    `reach` [N, K, D] are half-widths times the root of the count; those of the evidence or the boxes
    if not given. `proven` says whether statuses are sure with probability 1 - delta.
    """
    plain, measured = for_goal(goal, _EXPLAINERS, "explanation")
    explain = plain if problem.measure is None else measured
    return explain(problem, goal, delta, tally, verdict, reach, proven)

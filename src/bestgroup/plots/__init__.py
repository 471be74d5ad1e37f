"""Figures of everything that has results; each returns a matplotlib `Figure` to show or save.

Objects draw themselves by `plot()`; these functions are what that calls, with more to choose.
"""

from bestgroup.plots.bars import Bar, Panel, pulls
from bestgroup.plots.calibration import calibration_view
from bestgroup.plots.certificate import intervals_view, pareto_view, pulls_view
from bestgroup.plots.problem import problem_view
from bestgroup.plots.simulation import comparison_view, simulation_view
from bestgroup.plots.study import status_view

__all__ = [
    "Bar",
    "Panel",
    "calibration_view",
    "comparison_view",
    "intervals_view",
    "pareto_view",
    "problem_view",
    "pulls",
    "pulls_view",
    "simulation_view",
    "status_view",
]

"""How it is read: pulls against N."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bestgroup.experiments import figures, pareto_reading
from bestgroup.experiments.points import Outcome, Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Varying the number of groups N (K = 6, D = 3, ceil(0.3 N) Pareto-optimal groups)"


def _groups(point: Point) -> int:
    return point.groups


def figure(outcomes: Sequence[Outcome]) -> Figure:
    """Return the figure."""
    return figures.sweep(outcomes, _groups, "groups N")


def grids(outcomes: Sequence[Outcome]) -> list[tuple[str, pareto_reading.Grid]]:
    """Return the tables, each with a caption."""
    caption = "Millions of pulls, mean ± standard deviation over runs."
    return [(caption, pareto_reading.grid(outcomes, "N", _groups))]


def findings(outcomes: Sequence[Outcome]) -> list[str]:
    """Return what the numbers say."""
    return pareto_reading.findings(outcomes)

"""How it is read: pulls against K."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bestgroup.experiments import figures, pareto_reading
from bestgroup.experiments.points import Outcome, Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Varying the number of arms a group K (N = 5, D = 3, two Pareto-optimal groups)"


def _arms(point: Point) -> int:
    return point.arms


def figure(outcomes: Sequence[Outcome]) -> Figure:
    """Return the figure."""
    return figures.sweep(outcomes, _arms, "arms a group K")


def grids(outcomes: Sequence[Outcome]) -> list[tuple[str, pareto_reading.Grid]]:
    """Return the tables, each with a caption."""
    caption = "Millions of pulls, mean ± standard deviation over runs."
    return [(caption, pareto_reading.grid(outcomes, "K", _arms))]


def findings(outcomes: Sequence[Outcome]) -> list[str]:
    """Return what the numbers say."""
    return pareto_reading.findings(outcomes)

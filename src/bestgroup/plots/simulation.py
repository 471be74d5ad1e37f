"""Figures of simulations: the pulls of many runs, and of several algorithms beside the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.plots.bars import Bar, Panel, pulls
from bestgroup.plots.canvas import BLACK, BLUE, VERMILLION, figure, fitted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bestgroup.analysis.compare import Comparison
    from bestgroup.simulation.simulate import Simulation


def simulation_view(simulation: Simulation) -> Figure:
    """Return how many runs took how many pulls; runs with a wrong answer are marked on the axis."""
    if not simulation.runs:
        raise InvalidInput("there are no runs to draw")
    result = figure(7.0, 3.8)
    axes = result.add_subplot()
    pulls_ = simulation.pulls
    axes.hist(pulls_, bins=min(40, 5 + simulation.runs // 4), color=BLUE, alpha=0.75, label="runs")
    axes.axvline(float(pulls_.mean()), color=BLACK, lw=1.6, ls="--", label="mean")
    wrong = pulls_[simulation.wrong]
    if len(wrong):
        axes.plot(wrong, np.zeros(len(wrong)), "x", color=VERMILLION, ms=8, label="wrong answer")
        axes.lines[-1].set_clip_on(False)
    axes.set_xlabel("pulls until the answer")
    axes.set_ylabel("runs")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    open_ = int((~simulation.finished).sum())
    capped = f", {open_} not finished" if open_ else ""
    axes.set_title(
        f"{simulation.algorithm}: {simulation.runs:,} runs, mean {pulls_.mean():,.0f} pulls, "
        f"{simulation.errors} wrong{capped} (delta = {simulation.delta:g})",
        fontsize=11,
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    result.legend(loc="outside lower center", ncols=3, frameon=False)
    return fitted(result)


def comparison_view(comparison: Comparison, title: str | None = None) -> Figure:
    """Return the mean pulls of each algorithm, with the limit as a line."""
    bars = [
        Bar(row["algorithm"], row["pulls"], row["sd"] or 0.0, row["guarantee"] == "proven")
        for row in comparison.to_records()
    ]
    shape = comparison.instance.shape
    words = f"{shape.groups} groups, {shape.total} arms, {shape.dims} dims, delta = "
    first = f"{words}{comparison.delta:g}" if title is None else title
    return pulls([Panel(first, bars, comparison.limit)])

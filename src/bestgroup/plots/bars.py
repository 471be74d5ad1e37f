"""Bars of pulls on a log scale, with the limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestgroup.errors import InvalidInput
from bestgroup.plots.canvas import BLACK, BLUE, ORANGE, figure, fitted, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Bar:
    """Pulls of one algorithm: mean and standard deviation over runs, and whether it is proven."""

    label: str
    mean: float
    sd: float
    proven: bool


@dataclass(frozen=True)
class Panel:
    """The bars of one question, and the least pulls that any correct algorithm needs, if known."""

    title: str
    bars: Sequence[Bar]
    limit: float | None = None


def pulls(panels: Sequence[Panel], title: str | None = None) -> Figure:
    """Return bars of mean pulls on a log scale, one panel a question, with the limit as a line.

    Whiskers are one standard deviation over runs. Algorithms without a guarantee are hatched.
    """
    if not panels or any(not panel.bars for panel in panels):
        raise InvalidInput("a plot of pulls needs at least one panel, each with a bar")
    rows = sum(len(panel.bars) for panel in panels)
    result = figure(9.0, 1.6 + 0.45 * rows + 0.35 * len(panels))
    heights = [len(panel.bars) + 0.6 for panel in panels]
    axes = result.subplots(
        len(panels), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
    )[:, 0]
    for axis, panel in zip(axes, panels, strict=True):
        _draw(axis, panel)
    low, high = _limits(panels)
    axes[0].set_xlim(low, high)
    axes[-1].set_xlabel("pulls until the answer (mean and sd over runs, log scale)", fontsize=12)
    if title:
        result.suptitle(wrapped(title, 80, 4), fontsize=13, fontweight="bold")
    _legend(result, panels)
    return fitted(result)


def _draw(axis: Any, panel: Panel) -> None:
    places = range(len(panel.bars))
    axis.set_xscale("log")
    for place, bar in zip(places, panel.bars, strict=True):
        axis.barh(
            place,
            bar.mean,
            height=0.68,
            color=BLUE if bar.proven else ORANGE,
            hatch=None if bar.proven else "///",
            edgecolor="white",
            linewidth=0,
        )
        if bar.sd > 0:
            # A whisker must not reach zero on a log scale.
            reach = [[min(bar.sd, 0.9 * bar.mean)], [bar.sd]]
            axis.errorbar(bar.mean, place, xerr=reach, color=BLACK, capsize=3, linewidth=1.2)
        axis.annotate(
            _words(bar, panel.limit),
            (bar.mean + bar.sd, place),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=11,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )
    if panel.limit is not None:
        axis.axvline(panel.limit, color="white", linewidth=4.0)  # sets the dashes off from the bars
        axis.axvline(panel.limit, color=BLACK, linestyle="--", linewidth=1.8)
    axis.set_yticks(list(places), [wrapped(bar.label) for bar in panel.bars], fontsize=12)
    axis.invert_yaxis()
    limit = "" if panel.limit is None else f"   (limit: {panel.limit:,.0f} pulls)"
    axis.set_title(wrapped(panel.title + limit, 90, 4), loc="left", fontsize=12)
    axis.tick_params(axis="x", labelsize=11)
    axis.grid(axis="x", which="major", color="#dddddd", linewidth=0.8)
    axis.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.tick_params(axis="y", length=0)


def _words(bar: Bar, limit: float | None) -> str:
    text = f"{bar.mean:,.0f}"
    if not limit:
        return text
    ratio = bar.mean / limit
    return f"{text}  ({ratio:,.1f} × limit)" if ratio < 10 else f"{text}  ({ratio:,.0f} × limit)"


def _limits(panels: Sequence[Panel]) -> tuple[float, float]:
    """Return the range of pulls: whole decades below, room for the words at the right."""
    means = [bar.mean for panel in panels for bar in panel.bars]
    known = [panel.limit for panel in panels if panel.limit]
    low = 10.0 ** math.floor(math.log10(0.7 * min(means + known)))
    return low, max(means) * (max(means) / low) ** 0.36


def _legend(result: Any, panels: Sequence[Panel]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    bars = [bar for panel in panels for bar in panel.bars]
    entries: list[Any] = []
    if any(bar.proven for bar in bars):
        entries.append(Patch(facecolor=BLUE, label="proven"))
    if any(not bar.proven for bar in bars):
        entries.append(
            Patch(facecolor=ORANGE, hatch="///", edgecolor="white", label="no guarantee")
        )
    if any(panel.limit for panel in panels):
        entries.append(
            Line2D([], [], color=BLACK, linestyle="--", label="limit for any correct algorithm")
        )
    result.legend(handles=entries, loc="outside lower center", ncols=3, fontsize=11, frameon=False)

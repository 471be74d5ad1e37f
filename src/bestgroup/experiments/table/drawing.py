"""The figure of the table: pulls on the first instance, and the ratio over all instances."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bestgroup.experiments.figures import BLACK, algorithms, styles, tidy, whisker
from bestgroup.experiments.points import Outcome, by_point, title
from bestgroup.experiments.table.analysis import PAPER, compared, ratios
from bestgroup.experiments.table.sweep import WEIGHTS
from bestgroup.plots import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(outcomes: Sequence[Outcome]) -> Figure:
    """Return one panel, or two if both EECB and TEL ran."""
    both = compared(outcomes)
    figure = canvas.figure(12.0 if both else 6.5, 5.2)
    axes = figure.subplots(1, 2 if both else 1, squeeze=False)[0]
    _draw_pulls(axes[0], outcomes)
    if both:
        _draw_ratios(axes[1], outcomes)
    for axis in axes:
        labels = [f"$w_{k + 1}$\n({', '.join(f'{x:g}' for x in w)})" for k, w in enumerate(WEIGHTS)]
        axis.set_xticks(range(len(WEIGHTS)), labels)
        axis.set_xlim(-0.6, len(WEIGHTS) - 0.4)
        tidy(axis)
        axis.tick_params(axis="x", labelsize=10, length=0)
        axis.grid(axis="x", visible=False)
    return canvas.fitted(figure)


def _draw_pulls(axis: Any, outcomes: Sequence[Outcome]) -> None:
    """Draw mean and sd of the first instance; the paper's numbers are stars."""
    first = next(iter(by_point(outcomes).values()))
    names = algorithms(first)
    axis.set_yscale("log")
    for k, name in enumerate(names):
        colour, mark = styles(names)[name]
        shift = 0.22 * (k - (len(names) - 1) / 2)
        mine = {o.weights: o for o in first if o.algorithm == name}
        for place, w in enumerate(WEIGHTS):
            axis.errorbar(
                place + shift,
                mine[w].mean,
                yerr=whisker(mine[w].mean, mine[w].sd),
                fmt=mark,
                color=colour,
                markersize=6,
                capsize=3,
                label=f"{title(name)}, instance a" if place == 0 else None,
            )
        if name in PAPER:
            places = [place + shift for place in range(len(WEIGHTS))]
            label = f"{title(name)}, the paper's"
            axis.plot(places, PAPER[name], "*", markersize=9, mfc="none", mec=colour, label=label)
    limits = [next(o.limit.pulls for o in first if o.weights == w) for w in WEIGHTS]
    axis.plot(
        range(len(WEIGHTS)), limits, "_", color=BLACK, markersize=26, label="limit, instance a"
    )
    axis.set_ylabel("pulls until the answer", fontsize=12)
    _legend(axis, 2)


def _draw_ratios(axis: Any, outcomes: Sequence[Outcome]) -> None:
    """Draw a dot an instance, the median, and how often EECB is ahead."""
    found = ratios(outcomes)
    count = len(by_point(outcomes))
    colour = styles(["eecb"])["eecb"][0]
    axis.set_yscale("log")
    axis.axhline(1.0, color=BLACK, linewidth=1.2)
    for place, w in enumerate(WEIGHTS):
        values = sorted(found[w])
        # Neighbours in size are set side by side, so that no dot hides another.
        shifts = [0.09 * ((k % 5) - 2) for k in range(len(values))]
        axis.plot(
            [place + shift for shift in shifts],
            values,
            "o",
            color=colour,
            markersize=4.5,
            alpha=0.75,
            label=f"{count} random instances" if place == 0 else None,
        )
        middle = statistics.median(values)
        axis.hlines(
            middle,
            place - 0.3,
            place + 0.3,
            color="#D55E00",
            linewidth=2.2,
            zorder=4,
            label="median" if place == 0 else None,
        )
        ahead = sum(value < 1 for value in values)
        axis.annotate(
            f"ahead on\n{ahead} of {count}",
            (place, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, -28),
            textcoords="offset points",
            ha="center",
            fontsize=10,
        )
    paper = [e / t for e, t in zip(PAPER["eecb"], PAPER["tel"], strict=True)]
    axis.plot(
        range(len(WEIGHTS)), paper, "*", markersize=10, mfc="none", mec=BLACK, label="the paper's"
    )
    low, high = axis.get_ylim()
    axis.set_ylim(low, max(high, 2.0) * 4.0)
    axis.set_ylabel("EECB's pulls / TEL's   (below 1: EECB ahead)", fontsize=12)
    _legend(axis, 3)


def _legend(axis: Any, columns: int) -> None:
    """Set the legend above the panel, an algorithm's two entries under each other."""
    handles, labels = axis.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda k: (labels[k].startswith("limit"), labels[k]))
    axis.legend(
        [handles[k] for k in order],
        [labels[k] for k in order],
        frameon=False,
        fontsize=10,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
    )

"""Figures in the manner of a paper: log scales, error bars, colours for every eye.

Algorithms of our own have broken lines, apart from the paper's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bestgroup.experiments.points import OURS, Outcome, Point, by_point, title
from bestgroup.plots import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which colour-blind readers can tell apart; marks differ as well.
_STYLES = {
    "te": ("#0072B2", "o"),
    "age": ("#E69F00", "s"),
    "ge": ("#009E73", "^"),
    "unis": ("#D55E00", "D"),
    "eecb": ("#0072B2", "o"),
    "tel": ("#D55E00", "s"),
    "te-plus": ("#56B4E9", "v"),
    "adaptive": ("#CC79A7", "P"),
}
_SPARE = (("#000000", "X"), ("#8C6D00", "h"), ("#5D3A9B", "<"), ("#1A85A0", ">"))
BLACK = "#000000"
PANELS = 3


def styles(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return colour and mark of each algorithm; the paper's always have the same."""
    others = [name for name in names if name not in _STYLES]
    spare = {name: _SPARE[k % len(_SPARE)] for k, name in enumerate(others)}
    return {name: _STYLES.get(name) or spare[name] for name in names}


def algorithms(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the names of the algorithms in the order of the sweep."""
    return list(dict.fromkeys(outcome.algorithm for outcome in outcomes))


def tidy(axis: Any) -> None:
    """Give an axis a light grid and no box."""
    axis.grid(which="major", color="#dddddd", linewidth=0.7)
    axis.grid(which="minor", axis="y", color="#eeeeee", linewidth=0.5)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.tick_params(labelsize=11)


def whisker(mean: float, sd: float) -> list[list[float]]:
    """Return the reach of an error bar that stays above zero, as a log scale needs."""
    reach = 0.0 if math.isnan(sd) else sd
    return [[min(reach, 0.9 * mean)], [reach]]


def sweep(outcomes: Sequence[Outcome], value: Callable[[Point], int], label: str) -> Figure:
    """Return pulls against a size, a panel an instance: mean and one sd over runs, and the limit.

    There are at most three panels; the tables have all instances.
    """
    letters = list(dict.fromkeys(outcome.point.letter for outcome in outcomes))[:PANELS]
    figure = canvas.figure(1.6 + 3.3 * len(letters), 4.3)
    axes = figure.subplots(1, len(letters), sharey=True, squeeze=False)[0]
    for axis, letter in zip(axes, letters, strict=True):
        shown = [outcome for outcome in outcomes if outcome.point.letter == letter]
        _draw_instance(axis, shown, value)
        axis.set_title(f"instances {letter}", fontsize=12)
        axis.set_xlabel(label, fontsize=12)
    axes[0].set_ylabel("pulls until the answer", fontsize=12)
    handles, labels = axes[0].get_legend_handles_labels()
    names = algorithms(outcomes)
    order = sorted(range(len(labels)), key=lambda k: _rank(labels[k], names))
    figure.legend(
        [handles[k] for k in order],
        [labels[k] for k in order],
        loc="outside upper center",
        ncols=5 if len(letters) > 1 else 3,
        frameon=False,
        fontsize=11,
    )
    return canvas.fitted(figure)


def _rank(label: str, names: Sequence[str]) -> int:
    titles = [title(name) for name in names]
    return titles.index(label) if label in titles else len(titles)


def _draw_instance(axis: Any, shown: Sequence[Outcome], value: Callable[[Point], int]) -> None:
    names = algorithms(shown)
    axis.set_yscale("log")
    for k, name in enumerate(names):
        colour, mark = styles(names)[name]
        mine = sorted((o for o in shown if o.algorithm == name), key=lambda o: value(o.point))
        reach = [whisker(o.mean, o.sd) for o in mine]
        axis.errorbar(
            [value(o.point) for o in mine],
            [o.mean for o in mine],
            yerr=[[low for (low,), _ in reach], [high for _, (high,) in reach]],
            color=colour,
            marker=mark,
            markersize=4.5,
            linewidth=1.5,
            linestyle="-." if name in OURS else "-",
            elinewidth=1.5,
            capsize=4,
            capthick=1.3,
            zorder=10 - 0.1 * k,  # the first algorithm on top
            label=title(name),
        )
    limits = {value(point): group[0].limit.pulls for point, group in by_point(shown).items()}
    sizes = sorted(limits)
    axis.plot(
        sizes,
        [limits[size] for size in sizes],
        color=BLACK,
        linestyle="--",
        linewidth=1.3,
        label="limit for any correct algorithm",
    )
    axis.set_xticks(sizes)
    tidy(axis)

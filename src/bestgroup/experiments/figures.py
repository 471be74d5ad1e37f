"""Figures in the manner of a paper: log scales, error bars, colours for every eye."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bestgroup.experiments.points import Outcome, Point, by_point, title

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
}
_SPARE = (("#CC79A7", "v"), ("#56B4E9", "P"), ("#000000", "X"), ("#8C6D00", "h"))
BLACK = "#000000"


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
    """Return pulls against a size: a line through the means, a mark with its sd an instance."""
    from bestgroup import plots

    figure = plots.figure(6.6, 4.6)
    axis = figure.subplots()
    axis.set_yscale("log")
    sizes = sorted({value(outcome.point) for outcome in outcomes})
    step = min((b - a for a, b in zip(sizes, sizes[1:], strict=False)), default=1)
    names = algorithms(outcomes)
    handles = []
    for k, name in enumerate(names):
        shift = step * 0.09 * (k - (len(names) - 1) / 2)
        mine = [outcome for outcome in outcomes if outcome.algorithm == name]
        handles.append(_draw_algorithm(axis, mine, value, shift, styles(names)[name]))
    limit = _draw_limit(axis, outcomes, value)
    axis.set_xticks(sizes)
    axis.set_xlabel(label, fontsize=12)
    axis.set_ylabel("pulls until the answer", fontsize=12)
    tidy(axis)
    figure.legend(
        handles=[*handles, *limit], loc="outside upper center", ncols=5, frameon=False, fontsize=11
    )
    return figure


def _draw_algorithm(
    axis: Any,
    mine: Sequence[Outcome],
    value: Callable[[Point], int],
    shift: float,
    style: tuple[str, str],
) -> Any:
    from matplotlib.lines import Line2D

    colour, mark = style
    for outcome in mine:
        axis.errorbar(
            value(outcome.point) + shift,
            outcome.mean,
            yerr=whisker(outcome.mean, outcome.sd),
            fmt=mark,
            color=colour,
            markerfacecolor="white",
            markersize=4.5,
            markeredgewidth=1.1,
            elinewidth=1.1,
            capsize=2.5,
            zorder=3,
        )
    sizes = sorted({value(outcome.point) for outcome in mine})
    means = [_mean([o.mean for o in mine if value(o.point) == size]) for size in sizes]
    places = [size + shift for size in sizes]
    axis.plot(places, means, color=colour, linewidth=1.7, marker=mark, markersize=6, zorder=4)
    return Line2D(
        [],
        [],
        color=colour,
        linewidth=1.7,
        marker=mark,
        markersize=6,
        label=title(mine[0].algorithm),
    )


def _draw_limit(axis: Any, outcomes: Sequence[Outcome], value: Callable[[Point], int]) -> list[Any]:
    """Draw the limit where it is known, and return its entry in the legend."""
    from matplotlib.lines import Line2D

    limits = {point: group[0].limit.pulls for point, group in by_point(outcomes).items()}
    known = {point: pulls for point, pulls in limits.items() if math.isfinite(pulls)}
    if not known:
        return []
    sizes = sorted({value(point) for point in known})
    means = [_mean([p for point, p in known.items() if value(point) == s]) for s in sizes]
    axis.plot(sizes, means, color=BLACK, linestyle="--", linewidth=1.4, zorder=2)
    axis.plot(
        [value(point) for point in known],
        list(known.values()),
        linestyle="none",
        marker="_",
        markersize=9,
        color=BLACK,
        zorder=2,
    )
    return [Line2D([], [], color=BLACK, linestyle="--", linewidth=1.4, marker="_", label="limit")]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)

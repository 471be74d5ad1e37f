"""The figure of a sweep: pulls against what varies, a line an algorithm, and the limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.plots.canvas import BLACK, figure, fitted, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bestgroup.simulation.cells import Cell
    from bestgroup.simulation.sweep import Sweep

# Okabe and Ito's palette, which colour-blind readers can tell apart; marks differ as well.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D00", "#5D3A9B")
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "<")
AXES = ("groups", "arms", "dims", "delta", "instance")
_LABELS = {"groups": "groups N", "arms": "arms of a group K", "dims": "dims D"}
_COLUMNS = 3


def sweep_view(sweep: Sweep, x: str | None = None) -> Figure:
    """Return pulls against `x`: mean and one standard deviation over the runs, and the limit."""
    if x is not None and x not in AXES:
        raise InvalidInput(f"x must be one of {', '.join(AXES)}; got {x!r}")
    axis_name = x or _varying(sweep.cells)
    panels = _panels(sweep.cells, axis_name)
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    result = figure(max(6.0, 1.2 + 3.9 * columns), 1.0 + 3.4 * rows)
    axes = result.subplots(rows, columns, sharey=True, squeeze=False).reshape(-1)
    names = list(dict.fromkeys(cell.algorithm for cell in sweep.cells))
    for axis, (title, cells) in zip(axes, panels.items(), strict=False):
        _draw(axis, cells, axis_name, names)
        axis.set_title(wrapped(title, 44, 3), fontsize=11)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[::columns]:
        axis.set_ylabel("pulls until the answer", fontsize=11)
    found: dict[str, Any] = {}
    for axis in axes[: len(panels)]:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    result.legend(
        list(found.values()),
        list(found),
        loc="outside lower center",
        ncols=min(4, len(found)),
        frameon=False,
        fontsize=10,
    )
    return fitted(result)


def _varying(cells: Sequence[Cell]) -> str:
    """Return the first property that is not the same for all cells."""
    for name in AXES:
        if len({_place(cell, name) for cell in cells}) > 1:
            return name
    return "instance"


def _place(cell: Cell, x: str) -> float | str:
    if x == "delta":
        return cell.delta
    return cell.instance if x == "instance" else getattr(cell.shape, x)


def _panels(cells: Sequence[Cell], x: str) -> dict[str, list[Cell]]:
    """Return the cells of each panel: by goal, and by delta if that is not the axis."""
    several = len({cell.goal_name for cell in cells}) > 1
    panels: dict[str, list[Cell]] = {}
    for cell in cells:
        words = [cell.goal_name] if several else []
        if x != "delta":
            words.append(f"delta = {cell.delta:g}")
        panels.setdefault(", ".join(words), []).append(cell)
    return panels


def _draw(axis: Any, cells: Sequence[Cell], x: str, names: Sequence[str]) -> None:
    places = list(dict.fromkeys(_place(cell, x) for cell in cells))
    if x != "instance":
        places.sort(key=float)
    spot = {place: k if x == "instance" else float(place) for k, place in enumerate(places)}
    axis.set_yscale("log")
    for k, name in enumerate(names):
        mine = [cell for cell in cells if cell.algorithm == name]
        here = [place for place in places if any(_place(cell, x) == place for cell in mine)]
        if not here:
            continue
        numbers = [_pooled([c for c in mine if _place(c, x) == place]) for place in here]
        axis.errorbar(
            [spot[place] for place in here],
            [mean for mean, _ in numbers],
            # A whisker must not reach zero on a log scale.
            yerr=[[min(sd, 0.9 * mean) for mean, sd in numbers], [sd for _, sd in numbers]],
            color=_COLOURS[k % len(_COLOURS)],
            marker=_MARKS[k % len(_MARKS)],
            linestyle="" if x == "instance" else "-",
            markersize=5,
            linewidth=1.5,
            capsize=3,
            label=name,
        )
    limits = {place: _limit([c for c in cells if _place(c, x) == place]) for place in places}
    known = [place for place in places if limits[place] is not None]
    if known:
        style = {"marker": "_", "linestyle": "", "markersize": 22} if x == "instance" else {}
        axis.plot(
            [spot[place] for place in known],
            [limits[place] for place in known],
            **{"color": BLACK, "linestyle": "--", "linewidth": 1.3, **style},
            label="limit for any correct algorithm",
        )
    _ticks(axis, x, places, spot)


def _ticks(axis: Any, x: str, places: Sequence[Any], spot: dict[Any, float]) -> None:
    if x == "delta":
        axis.set_xscale("log")
        axis.invert_xaxis()
    elif x == "instance":
        axis.set_xlim(-0.6, len(places) - 0.4)
    elif min(spot.values()) > 0 and max(spot.values()) >= 20 * min(spot.values()):
        axis.set_xscale("log")
    if x == "instance" or len(places) <= 8:
        axis.set_xticks([spot[place] for place in places], [f"{place}" for place in places])
        axis.set_xticks([], minor=True)
    if x == "instance" and max(len(str(place)) for place in places) * len(places) > 40:
        axis.tick_params(axis="x", labelrotation=90)
    axis.set_xlabel(_LABELS.get(x, x), fontsize=11)
    axis.grid(which="major", color="#dddddd", linewidth=0.7)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def _pooled(cells: Sequence[Cell]) -> tuple[float, float]:
    """Return mean and standard deviation of the pulls of all runs of some cells together."""
    pulls = np.concatenate(
        [
            np.array([float(cell.known or 0)])
            if cell.simulation is None
            else cell.simulation.pulls.astype(np.float64)
            for cell in cells
        ]
    )
    return float(pulls.mean()), float(pulls.std(ddof=1)) if len(pulls) > 1 else 0.0


def _limit(cells: Sequence[Cell]) -> float | None:
    """Return the mean limit of the instances at a place; None unless all of them have one."""
    limits = {(cell.instance, cell.goal_name, cell.delta): cell.limit for cell in cells}
    found = [limit for limit in limits.values() if limit and math.isfinite(limit)]
    return sum(found) / len(found) if found and len(found) == len(limits) else None

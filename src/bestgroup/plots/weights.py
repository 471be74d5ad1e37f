"""A map of weights: a bar for two dims, a triangle for three, bars of shares for more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bestgroup.plots.canvas import BLUE, GREEN, GREY, ORANGE, VERMILLION, figure, fitted, wrapped
from bestgroup.problem.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bestgroup.inference.certificate.regions import WeightRegions

# Told apart by colour-blind readers; the hatch tells those after the first seven apart.
COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, "#56B4E9", "#CC79A7", "#F0E442")
_HATCHES = ("", "//", "..", "xx")
_OPEN = "#EEEEEE"


def draw_map(
    groups: Sequence[str], dims: Sequence[str], regions: WeightRegions, proven: bool = True
) -> Figure:
    """Return where each group is proven best; a weight goes to the group with the largest margin."""
    best = "proven best" if proven else "best, without proof"
    best = f"{best}, within epsilon" if regions.epsilon > 0 else best
    sides, inside = regions.grid.cells.shape[1], np.flatnonzero(regions.sometimes).tolist()
    if len(dims) not in (2, 3) or sides == 1:
        return _shares(groups, regions, best)
    result = figure(7.0, 2.4 if len(dims) == 2 else 6.0)
    axes = result.subplots()
    for n, i in enumerate(inside):
        label, style = wrapped(groups[i], 24), _style(n)
        for piece in regions.pieces(i, apart=True):
            _fill(axes, piece, len(dims), sides, style, label)
            label = "_nolegend_"
    if len(dims) == 2:
        _bar(axes, dims)
    else:
        _triangle(axes, dims, regions.grid.corners[: regions.grid.own])
    axes.set_title(
        f"the group that is {best}: {100 * regions.share:.3g} % of the weights",
        fontsize=11,
        pad=24,
    )
    if inside:
        result.legend(loc="outside right upper", frameon=False, fontsize=10)
    return fitted(result)


def _style(n: int) -> dict[str, Any]:
    hatch = _HATCHES[(n // len(COLOURS)) % len(_HATCHES)]
    return {"facecolor": COLOURS[n % len(COLOURS)], "hatch": hatch, "edgecolor": "none"}


def _fill(
    axes: Any, piece: Floats, dims: int, sides: int, style: dict[str, Any], label: str
) -> None:
    if dims == 2:
        low, high = sorted((float(piece[0, 0]), float(piece[-1, 0])))
        axes.axvspan(low, high, label=label, linewidth=0, **style)
    elif sides == 2:
        at = flat(piece)
        axes.plot(at[:, 0], at[:, 1], color=style["facecolor"], linewidth=5, label=label)
    else:
        at = flat(piece)
        axes.fill(at[:, 0], at[:, 1], label=label, linewidth=0.2, **style)


def flat(weights: Floats) -> Floats:
    """Return weights of three dims, [n, 3], as points of an equilateral triangle, [n, 2]."""
    return np.stack([weights[:, 1] + weights[:, 2] / 2, weights[:, 2] * math.sqrt(3) / 2], axis=1)


def _bar(axes: Any, dims: Sequence[str]) -> None:
    axes.set_facecolor(_OPEN)
    axes.set_xlim(0, 1)
    axes.set_yticks([])
    axes.set_xlabel(f"weight of {dims[0]} (the rest is that of {dims[1]})")


def _triangle(axes: Any, dims: Sequence[str], vertices: Floats) -> None:
    corners = flat(np.eye(3))
    axes.fill(corners[:, 0], corners[:, 1], facecolor=_OPEN, edgecolor=GREY, zorder=0)
    if len(vertices) > 2:
        at = flat(vertices)
        turn = np.argsort(np.arctan2(*(at - at.mean(axis=0)).T[::-1]))
        axes.plot(*np.append(at[turn], at[turn[:1]], axis=0).T, color=GREY, linewidth=0.8)
    places = ((0, -8, "right", "top"), (0, -8, "left", "top"), (0, 6, "center", "bottom"))
    for n, (dx, dy, side, level) in enumerate(places):
        axes.annotate(
            wrapped("all on " + str(dims[n]), 22),
            corners[n],
            xytext=(dx, dy),
            textcoords="offset points",
            ha=side,
            va=level,
            fontsize=10,
        )
    axes.set_aspect("equal")
    axes.axis("off")


def _shares(groups: Sequence[str], regions: WeightRegions, best: str) -> Figure:
    shares = regions.shares
    ranked: list[int] = np.argsort(-shares, kind="stable").tolist()
    order = [i for i in ranked if regions.sometimes[i]]
    result = figure(7.0, 1.4 + 0.4 * max(len(order), 1))
    axes = result.subplots()
    axes.barh([wrapped(groups[i]) for i in order], [100 * shares[i] for i in order], color=BLUE)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel(f"% of the weights for which it is {best}")
    return fitted(result)

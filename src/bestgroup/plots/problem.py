"""The figure of a problem: groups with their arms, and what is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestgroup.plots.canvas import BLUE, GREY, figure, fitted, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bestgroup.problem.problem import Problem

_MOST_GROUPS, _MOST_ARMS = 40, 12


def problem_view(problem: Problem) -> Figure:
    """Return a row for each group with a box for each of its arms, and the dims below."""
    groups = problem.groups[:_MOST_GROUPS]
    widest = max(min(len(arms), _MOST_ARMS + 1) for arms in problem.arms)
    result = figure(2.0 + 1.25 * widest, 1.3 + 0.38 * len(groups))
    axes = result.add_subplot()
    for row, _ in enumerate(groups):
        _draw_arms(axes, problem, row)
    axes.set_xlim(-0.05, widest)
    axes.set_ylim(len(groups) - 0.4, -0.6)
    axes.set_yticks(range(len(groups)), [wrapped(name) for name in groups])
    axes.set_xticks([])
    axes.tick_params(length=0)
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)
    rest = len(problem.groups) - len(groups)
    if rest:
        axes.set_xlabel(f"and {rest} more groups", fontsize=9)
    dims = ", ".join(f"{dim.name} ({dim.direction})" for dim in problem.dims)
    result.suptitle(f"{wrapped(problem.summary(), 80, 3)}\n{wrapped(dims, 80, 3)}", fontsize=10)
    return fitted(result)


def _draw_arms(axes: Any, problem: Problem, row: int) -> None:
    names = problem.arms[row]
    for place, name in enumerate(names[:_MOST_ARMS]):
        axes.add_patch(_box(place, row, BLUE))
        words = _short(name)
        if problem.costs is not None:
            words = f"{words} ({problem.costs[row][place]:g})"
        axes.text(place + 0.47, row, words, ha="center", va="center", fontsize=8)
    if len(names) > _MOST_ARMS:
        axes.add_patch(_box(_MOST_ARMS, row, GREY))
        more = f"{len(names) - _MOST_ARMS} more"
        axes.text(_MOST_ARMS + 0.47, row, more, ha="center", va="center", fontsize=8)


def _box(place: int, row: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((place, row - 0.36), 0.94, 0.72, facecolor=colour, alpha=0.18, lw=0)


def _short(name: str, most: int = 16) -> str:
    """Return a name that fits into a box.

    >>> _short("a very long name of an arm")
    'a very long nam…'
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"

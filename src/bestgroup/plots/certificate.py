"""Figures of a certificate: statuses by colour and mark, intervals as boxes.

A filled mark is a status of the certificate. Of a study that is its algorithm's decision; where only
the observations by themselves decide a group, its mark is hollow. The title says whose proof the
statuses are: pairs of arms, and algorithms, prove more than the boxes that are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.plots.canvas import BLACK, BLUE, GREEN, GREY, ORANGE, figure, fitted, wrapped
from bestgroup.problem.status import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bestgroup.analysis.certify import Certificate

_COLOURS = {
    Status.IN: BLUE,
    Status.OUT: GREY,
    Status.NOT_NEEDED: GREEN,
    Status.UNDECIDED: ORANGE,
}
_MOST_PAIRS = 6  # panels: four dims
_MOST_NAMES = 40
_PLACES = ((5, 5, "left"), (5, -11, "left"), (-5, 5, "right"), (-5, -11, "right"))
_MARKS = {Status.IN: "o", Status.OUT: "x", Status.NOT_NEEDED: "s", Status.UNDECIDED: "D"}


def pareto_view(certificate: Certificate, *dims: str) -> Figure:
    """Return the groups in pairs of decided dims: boxes of the efficiencies, and the estimates.

    Without `dims` all pairs of up to four dims are shown; of more dims, and of one, their intervals.
    """
    chosen = _chosen([dim.name for dim in certificate.problem.decided], dims)
    pairs = list(combinations(chosen, 2))
    if len(chosen) == 1 or (not dims and len(pairs) > _MOST_PAIRS):
        return intervals_view(certificate, *dims)
    columns = min(len(pairs), 3)
    rows = -(-len(pairs) // columns)
    wide = 7.0 if len(pairs) == 1 else 4.6 * columns
    result = figure(wide, 5.2 if len(pairs) == 1 else 0.9 + 3.9 * rows)
    panels = result.subplots(rows, columns, squeeze=False).ravel()
    for axes, (a, b) in zip(panels, pairs, strict=False):
        _draw_pair(axes, certificate, a, b)
    for axes in panels[len(pairs) :]:
        axes.set_visible(False)
    _legend(result, certificate)
    result.suptitle(_title(certificate), fontsize=10)
    fitted(result)
    for axes in panels[: len(pairs)]:
        _place_names(axes)
    return fitted(result)


def _draw_pair(axes: Any, certificate: Certificate, a: int, b: int) -> None:
    """Draw the boxes of all groups in two dims, and their names."""
    low, high = certificate.intervals
    best = certificate.problem.to_user(certificate.explainer.best)
    points = np.where(np.isfinite(best), best, np.nan)
    _limits(axes, points[:, a], low[:, a], high[:, a], "x")
    _limits(axes, points[:, b], low[:, b], high[:, b], "y")
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    for i, name in enumerate(certificate.problem.groups):
        colour = _mark(certificate, i)["color"]
        x0, x1 = max(low[i, a], left), min(high[i, a], right)
        y0, y1 = max(low[i, b], bottom), min(high[i, b], top)
        axes.fill([x0, x1, x1, x0], [y0, y0, y1, y1], color=colour, alpha=0.1, lw=0)
        axes.plot([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0], color=colour, lw=0.8, alpha=0.7)
        axes.plot(points[i, a], points[i, b], **_mark(certificate, i), ms=6)
        if len(best) <= _MOST_NAMES and np.isfinite(points[i, [a, b]]).all():
            at = (points[i, a], points[i, b])
            axes.annotate(wrapped(name), at, (5, 5), textcoords="offset points", fontsize=8)
    axes.set_xlabel(_label(certificate, a))
    axes.set_ylabel(_label(certificate, b))


def _place_names(axes: Any) -> None:
    """Move names so that they do not lie on each other, where there is room."""
    taken: list[Any] = []
    for text in axes.texts:
        for x, y, side in _PLACES:
            text.set_position((x, y))
            text.set_horizontalalignment(side)
            box = text.get_window_extent()
            inside = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1
            if inside and not any(box.overlaps(other) for other in taken):
                break
        else:
            text.set_position(_PLACES[0][:2])
            text.set_horizontalalignment("left")
        taken.append(text.get_window_extent())


def intervals_view(certificate: Certificate, *dims: str) -> Figure:
    """Return the interval of every efficiency, a panel for each dim."""
    names = [dim.name for dim in certificate.problem.decided]
    chosen = _chosen(names, dims)
    groups = certificate.problem.groups
    result = figure(3.6 * min(len(chosen), 4) + 1.2, 1.4 + 0.32 * len(groups))
    panels = result.subplots(1, len(chosen), sharey=True, squeeze=False)[0]
    for d, axes in zip(chosen, panels, strict=True):
        _draw_intervals(axes, certificate, d)
    panels[0].set_yticks(list(range(len(groups))), [wrapped(name) for name in groups])
    panels[0].set_ylim(len(groups) - 0.4, -0.6)
    _legend(result, certificate)
    result.suptitle(_title(certificate), fontsize=10)
    return fitted(result)


def _draw_intervals(axes: Any, certificate: Certificate, d: int) -> None:
    low, high = certificate.intervals
    best = certificate.problem.to_user(certificate.explainer.best)
    known = np.where(np.isfinite(best[:, d]), best[:, d], np.nan)
    _limits(axes, known, low[:, d], high[:, d], "x")
    left, right = axes.get_xlim()
    for i in range(len(best)):
        ends = [max(low[i, d], left), min(high[i, d], right)]
        axes.plot(ends, [i, i], color=_mark(certificate, i)["color"], lw=3, alpha=0.5)
        axes.plot(known[i], i, **_mark(certificate, i), ms=5)
    axes.set_xlabel(_label(certificate, d))
    axes.grid(axis="x", alpha=0.3)


def pulls_view(certificate: Certificate) -> Figure:
    """Return the number of pulls of every arm, group by group."""
    problem = certificate.problem
    labels, counts, marks = [], [], []
    for i, (group, arms) in enumerate(zip(problem.groups, problem.arms, strict=True)):
        for j, arm in enumerate(arms):
            labels.append(wrapped(f"{group}: {arm}", 44))
            counts.append(int(certificate.tally.counts[i, j]))
            marks.append(_mark(certificate, i)["color"])
    result = figure(7.0, 1.2 + 0.25 * len(labels))
    axes = result.add_subplot()
    axes.barh(range(len(labels)), counts, color=marks)
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("pulls")
    axes.set_title(f"{sum(counts):,} pulls by arm", fontsize=10, color=BLACK)
    _legend(result, certificate)
    return fitted(result)


def _chosen(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the numbers of the dims to show, all without a wish."""
    for name in wanted:
        if name not in names:
            raise InvalidInput(f"there is no decided dim {name!r}; those are {', '.join(names)}")
        if wanted.count(name) > 1:
            raise InvalidInput(f"the dims of a view must differ; got {name!r} twice")
    return [names.index(name) for name in wanted] or list(range(len(names)))


def _label(certificate: Certificate, d: int) -> str:
    dim = certificate.problem.decided[d]
    unit = f" [{dim.unit}]" if dim.unit else ""
    return wrapped(f"{dim.name}{unit} ({dim.direction})", 40)


def _mark(certificate: Certificate, i: int) -> dict[str, Any]:
    """Return how a group is marked: hollow where only the observations decide it."""
    status, beyond = Status(certificate.verdict.status[i]), Status(certificate.beyond[i])
    if status == Status.UNDECIDED and beyond != Status.UNDECIDED:
        return _look(beyond, hollow=True)
    return _look(status, hollow=False)


def _look(status: Status, hollow: bool) -> dict[str, Any]:
    mark = "P" if hollow and status == Status.OUT else _MARKS[status]  # a cross has no inside
    look = {"color": _COLOURS[status], "marker": mark, "linestyle": "none"}
    return {**look, "markerfacecolor": "white"} if hollow else look


def _legend(result: Any, certificate: Certificate) -> None:
    """Name the statuses that occur, below the panels."""
    from matplotlib.lines import Line2D

    entries = [
        Line2D([], [], **_look(status, hollow=False), label=status.word)
        for status in sorted({Status(s) for s in certificate.verdict.status})
    ]
    open_ = certificate.verdict.status == Status.UNDECIDED
    for status in sorted({Status(s) for s in certificate.beyond[open_]} - {Status.UNDECIDED}):
        label = f"{status.word}, by the observations alone"
        entries.append(Line2D([], [], **_look(status, hollow=True), label=label))
    result.legend(handles=entries, frameon=False, loc="outside lower center", ncols=4)


def _title(certificate: Certificate) -> str:
    first = f"{certificate.pulls:,} observations, {certificate.risk_words()}"
    how = "boxes of single arms"
    if certificate.verdict.pairs:
        how = "boxes of single arms; what is proven comes from pairs, which is sharper"
    if certificate.data is not None:
        how = "statuses: the study's own; boxes: intervals, by a proof of their own"
    return f"{first}\n({how})"


def _limits(axes: Any, points: Any, low: Any, high: Any, axis: str) -> None:
    """Set limits that show all points and as much of the intervals as is useful."""
    if not np.isfinite(points).any():
        return
    span = max(np.nanmax(points) - np.nanmin(points), 1e-9)
    ends = [
        max(np.min(low, initial=np.inf, where=np.isfinite(low)), np.nanmin(points) - span),
        min(np.max(high, initial=-np.inf, where=np.isfinite(high)), np.nanmax(points) + span),
    ]
    if not np.isfinite(ends).all():
        ends = [np.nanmin(points) - span, np.nanmax(points) + span]
    pad = 0.05 * (ends[1] - ends[0])
    (axes.set_xlim if axis == "x" else axes.set_ylim)(ends[0] - pad, ends[1] + pad)

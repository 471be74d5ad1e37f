"""Figures of a certificate: statuses by colour and mark, intervals as boxes.

A filled mark is a status of the certificate. Of a study that is its algorithm's decision; where only
the observations by themselves decide a group, its mark is hollow. The title says whose proof the
statuses are: pairs of arms, and algorithms, prove more than the boxes that are drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.plots.pulls import BLACK, BLUE, ORANGE, figure
from bestgroup.problem.status import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bestgroup.analysis.certify import Certificate

GREEN = "#55a868"
_COLOURS = {
    Status.IN: BLUE,
    Status.OUT: "#999999",
    Status.NOT_NEEDED: GREEN,
    Status.UNDECIDED: ORANGE,
}
_MARKS = {Status.IN: "o", Status.OUT: "x", Status.NOT_NEEDED: "s", Status.UNDECIDED: "D"}


def pareto_view(certificate: Certificate, x: str | None = None, y: str | None = None) -> Figure:
    """Return the groups in two decided dims: boxes of the efficiencies, and the estimated front."""
    names = [dim.name for dim in certificate.problem.decided]
    if len(names) == 1:
        return intervals_view(certificate)
    a, b = _place(names, x, 0), _place(names, y, 1)
    if a == b:
        raise InvalidInput(f"the two dims must differ; got {names[a]!r} twice")
    low, high = certificate.intervals
    best = certificate.problem.to_user(certificate.explainer.best)
    result = figure(7.0, 5.2)
    axes = result.add_subplot()
    points = np.where(np.isfinite(best), best, np.nan)
    _limits(axes, points[:, a], low[:, a], high[:, a], "x")
    _limits(axes, points[:, b], low[:, b], high[:, b], "y")
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    for i, name in enumerate(certificate.problem.groups):
        colour = _mark(certificate, i)["color"]
        x0, x1 = max(low[i, a], left), min(high[i, a], right)
        y0, y1 = max(low[i, b], bottom), min(high[i, b], top)
        axes.fill([x0, x1, x1, x0], [y0, y0, y1, y1], color=colour, alpha=0.12, lw=0)
        axes.plot([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0], color=colour, lw=1)
        axes.plot(points[i, a], points[i, b], **_mark(certificate, i), ms=6)
        if len(best) <= 40:
            axes.annotate(
                name, (points[i, a], points[i, b]), (5, 5), textcoords="offset points", fontsize=8
            )
    _legend(axes, certificate)
    axes.set_xlabel(_label(certificate, a))
    axes.set_ylabel(_label(certificate, b))
    axes.set_title(_title(certificate), fontsize=10)
    return result


def intervals_view(certificate: Certificate) -> Figure:
    """Return the interval of every efficiency, one panel a dim."""
    dims = certificate.problem.decided
    groups = certificate.problem.groups
    low, high = certificate.intervals
    best = certificate.problem.to_user(certificate.explainer.best)
    result = figure(3.6 * len(dims) + 1.2, 1.4 + 0.32 * len(groups))
    panels = result.subplots(1, len(dims), sharey=True, squeeze=False)[0]
    rows = range(len(groups))
    for d, axes in enumerate(panels):
        _limits(
            axes, np.where(np.isfinite(best[:, d]), best[:, d], np.nan), low[:, d], high[:, d], "x"
        )
        left, right = axes.get_xlim()
        for i in rows:
            colour = _mark(certificate, i)["color"]
            axes.plot(
                [max(low[i, d], left), min(high[i, d], right)],
                [i, i],
                color=colour,
                lw=3,
                alpha=0.5,
            )
            axes.plot(best[i, d], i, **_mark(certificate, i), ms=5)
        axes.set_xlabel(_label(certificate, d))
        axes.grid(axis="x", alpha=0.3)
    panels[0].set_yticks(list(rows), groups)
    panels[0].set_ylim(len(groups) - 0.4, -0.6)
    result.suptitle(_title(certificate), fontsize=10)
    return result


def pulls_view(certificate: Certificate) -> Figure:
    """Return the number of pulls of every arm, group by group."""
    problem = certificate.problem
    labels, counts, marks = [], [], []
    for i, (group, arms) in enumerate(zip(problem.groups, problem.arms, strict=True)):
        for j, arm in enumerate(arms):
            labels.append(f"{group}: {arm}")
            counts.append(int(certificate.tally.counts[i, j]))
            marks.append(_mark(certificate, i)["color"])
    result = figure(7.0, 1.2 + 0.25 * len(labels))
    axes = result.add_subplot()
    axes.barh(range(len(labels)), counts, color=marks)
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("pulls")
    axes.set_title(f"{sum(counts):,} pulls by arm", fontsize=10, color=BLACK)
    _legend(axes, certificate)
    return result


def _place(names: list[str], wanted: str | None, default: int) -> int:
    if wanted is None:
        return default
    if wanted not in names:
        raise InvalidInput(f"there is no decided dim {wanted!r}; those are {', '.join(names)}")
    return names.index(wanted)


def _label(certificate: Certificate, d: int) -> str:
    dim = certificate.problem.decided[d]
    unit = f" [{dim.unit}]" if dim.unit else ""
    return f"{dim.name}{unit} ({dim.direction})"


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


def _legend(axes: Any, certificate: Certificate) -> None:
    """Name the statuses that occur."""
    for status in sorted({Status(s) for s in certificate.verdict.status}):
        axes.plot([], [], **_look(status, hollow=False), label=status.word)
    open_ = certificate.verdict.status == Status.UNDECIDED
    for status in sorted({Status(s) for s in certificate.beyond[open_]} - {Status.UNDECIDED}):
        label = f"{status.word}, by the observations alone"
        axes.plot([], [], **_look(status, hollow=True), label=label)
    axes.legend(frameon=False, loc="best")


def _title(certificate: Certificate) -> str:
    first = f"{certificate.pulls:,} observations, error at most {certificate.delta:g}"
    how = "boxes of single arms"
    if certificate.verdict.pairs:
        how = "boxes of single arms; what is proven comes from pairs, which is sharper"
    if certificate.data is not None:
        how = "statuses: the study's own; boxes: intervals, by a proof of their own"
    if certificate.guarantee.level == "none":
        first = f"{certificate.pulls:,} observations, decisions without proof"
    return f"{first}\n({how})"


def _limits(axes: Any, points: Any, low: Any, high: Any, axis: str) -> None:
    """Set limits that show all points and as much of the intervals as is useful."""
    span = max(np.nanmax(points) - np.nanmin(points), 1e-9)
    ends = [
        max(np.min(low, initial=np.inf, where=np.isfinite(low)), np.nanmin(points) - span),
        min(np.max(high, initial=-np.inf, where=np.isfinite(high)), np.nanmax(points) + span),
    ]
    if not np.isfinite(ends).all():
        ends = [np.nanmin(points) - span, np.nanmax(points) + span]
    pad = 0.05 * (ends[1] - ends[0])
    (axes.set_xlim if axis == "x" else axes.set_ylim)(ends[0] - pad, ends[1] + pad)

"""The figure of a study's course: how many groups are in, out and undecided over the pulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestgroup.plots.pulls import BLUE, ORANGE, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bestgroup.studies.study import Study


def status_view(study: Study) -> Figure:
    """Return groups in, out and undecided over the consumed pulls, from the stored decisions."""
    total = len(study.problem.groups)
    pulls, inside, outside = [0], [0], [0]
    for decision in study.decisions():
        if decision["group"] is None:
            continue
        pulls.append(decision["pulls"])
        inside.append(inside[-1] + (decision["kind"] == "in"))
        outside.append(outside[-1] + (decision["kind"] == "out"))
    status = study.status(forecast=False)
    pulls.append(max(status.pulls, pulls[-1]))
    inside.append(inside[-1])
    outside.append(outside[-1])
    top = [total - count for count in outside]
    result = figure(7.0, 3.6)
    axes = result.add_subplot()
    axes.fill_between(pulls, 0, inside, step="post", color=BLUE, alpha=0.8, label="in")
    axes.fill_between(pulls, inside, top, step="post", color=ORANGE, alpha=0.5, label="undecided")
    axes.fill_between(pulls, top, total, step="post", color="#999999", alpha=0.5, label="out")
    axes.set_xlim(0, max(pulls[-1], 1))
    axes.set_ylim(0, total)
    axes.set_xlabel("pulls")
    axes.set_ylabel("groups")
    axes.set_title(f"{study.name}: {status.groups_in} in, {status.groups_out} out", fontsize=10)
    axes.legend(frameon=False, loc="center right")
    return result

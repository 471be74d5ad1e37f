"""The figure of a study's course: how many groups have which status over the pulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestgroup.plots.canvas import BLUE, GREEN, GREY, ORANGE, figure, fitted, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bestgroup.studies.study import Study


def status_view(study: Study) -> Figure:
    """Return the groups of each status over the consumed pulls, from the stored decisions."""
    total, rows = len(study.problem.groups), study.proven_by_now()
    pulls: list[float] = [row["pulls"] for row in rows]
    pulls.append(1.03 * pulls[-1])  # the last decisions are seen
    inside, spare, outside = (
        [row[word] for row in (*rows, rows[-1])] for word in ("in", "not needed", "out")
    )
    top = [total - count for count in outside]
    middle = [high - count for high, count in zip(top, spare, strict=True)]
    result = figure(7.0, 3.6)
    axes = result.add_subplot()
    axes.fill_between(pulls, 0, inside, step="post", color=BLUE, alpha=0.8, label="in")
    axes.fill_between(
        pulls, inside, middle, step="post", color=ORANGE, alpha=0.5, label="undecided"
    )
    if any(spare):
        axes.fill_between(
            pulls, middle, top, step="post", color=GREEN, alpha=0.5, label="not needed"
        )
    axes.fill_between(pulls, top, total, step="post", color=GREY, alpha=0.5, label="out")
    axes.set_xlim(0, max(pulls[-1], 1))
    axes.set_ylim(0, total)
    axes.set_xlabel("pulls")
    axes.set_ylabel("groups")
    axes.locator_params(axis="y", integer=True)  # there is no half of a group
    spares = f", {spare[-1]} not needed" if any(spare) else ""
    axes.set_title(
        f"{wrapped(study.name, 60)}: {inside[-1]} in, {outside[-1]} out{spares}", fontsize=10
    )
    result.legend(frameon=False, loc="outside lower center", ncols=4)
    return fitted(result)

"""The groups in two dims: estimates, boxes, the front of the estimates, and who beats whom."""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel, Field

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats
from bestgroup.problem.goals import ParetoGroups
from bestgroup.service.numbers import LABEL, short
from bestgroup.service.standing import Standing
from bestgroup.studies.observer import Picture
from bestgroup.studies.spec import StudySpec

MOST_POINTS = 1000
ORDER = {"in": 0, "undecided": 1, "not needed": 2, "out": 3}
Ends = tuple[float | None, float | None, float | None]


class Point(BaseModel):
    """A group in the plane."""

    group: str = Field(description="its name, cut after 40 characters")
    number: int = Field(description="its place in the problem")
    status: int = Field(description="its place in `statuses`")
    x: Ends = Field(description="lower bound, estimate, upper bound")
    y: Ends
    beaten_by: int | None = Field(None, description="the group that is proven better in every dim")


class Plane(BaseModel):
    """What the chart of two dims shows."""

    x: str
    y: str
    points: list[Point]
    left_out: int
    front: list[tuple[float | None, float | None]]


def make_plane(
    spec: StudySpec, picture: Picture, standing: Standing, chosen: tuple[str, str]
) -> Plane:
    """Return boxes and estimates of the groups in two dims, and the front of the estimates."""
    names = [dim.name for dim in spec.problem.decided]
    for name in chosen:
        if name and name not in names:
            raise InvalidInput(f"there is no decided dim {name!r}; they are {', '.join(names)}")
    x = names.index(chosen[0]) if chosen[0] else 0
    y = names.index(chosen[1]) if chosen[1] else min(1, len(names) - 1)
    words = standing.words
    # Groups that are in or undecided come first: those are what one looks for.
    order = sorted(range(len(words)), key=lambda i: ORDER[words[i]])[:MOST_POINTS]
    ends = np.stack(picture.intervals)  # [3, N, D]
    winners = _winners(spec, picture, standing, order)

    def three(i: int, d: int) -> Ends:
        low, middle, high = (short(value, 4) for value in ends[:, i, d])
        return low, middle, high

    points = [
        Point(
            group=spec.problem.groups[i][:LABEL],
            number=i,
            status=list(ORDER).index(words[i]),
            x=three(i, x),
            y=three(i, y),
            beaten_by=winners.get(i),
        )
        for i in order
    ]
    return Plane(
        x=names[x],
        y=names[y],
        points=points,
        left_out=len(words) - len(points),
        front=_front(spec, picture, x, y),
    )


def _winners(
    spec: StudySpec, picture: Picture, standing: Standing, shown: list[int]
) -> dict[int, int]:
    """Return, for each group that is out, the one that is proven better in every dim by most."""
    if not isinstance(spec.goal, ParetoGroups):
        return {}
    best: Floats = picture.explainer.best
    found: dict[int, int] = {}
    for i in shown:
        if standing.words[i] != "out":
            continue
        better = np.flatnonzero(picture.verdict.beats[:, i].all(axis=1))
        better = better[better != i]
        if len(better):
            found[i] = int(better[np.argmax((best[better] - best[i]).min(axis=1))])
    return found


def _front(
    spec: StudySpec, picture: Picture, x: int, y: int
) -> list[tuple[float | None, float | None]]:
    """Return the corners of the estimates' front, from the best in x to the best in y."""
    best: Floats = picture.explainer.best
    seen = best[np.isfinite(best).all(axis=1)]
    corners: list[Floats] = []
    for row in seen[np.lexsort((-seen[:, y], -seen[:, x]))]:
        if not corners or row[y] > corners[-1][y]:
            corners.append(row)
    if not corners:
        return []
    units = spec.problem.mirror(np.array(corners))
    return [(short(row[x]), short(row[y])) for row in units[:MOST_POINTS]]

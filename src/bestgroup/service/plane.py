"""The groups in two dims: estimates, boxes, the front of the estimates, and who beats whom."""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel, Field

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats
from bestgroup.service.numbers import LABEL, short, short_ends
from bestgroup.service.proof import Proof, Standing
from bestgroup.service.schemas import Ends
from bestgroup.studies.estimates import front

MOST_POINTS = 1000
ORDER = {"in": 0, "undecided": 1, "not needed": 2, "out": 3}


class Point(BaseModel):
    """A group in the plane."""

    group: str = Field(description="its name, cut after 40 characters")
    number: int = Field(description="its place in the problem")
    status: int = Field(description="its place in `statuses`")
    x: Ends = Field(description="lower bound, estimate, upper bound")
    y: Ends
    beaten_by: int | None = Field(None, description="the group that is better in every dim")
    sure: bool = Field(False, description="that is proven of it; else its estimates are better")


class Plane(BaseModel):
    """What the chart of two dims shows."""

    x: str
    y: str
    points: list[Point]
    left_out: int
    front: list[list[float | None]] = Field(description="its corners, x and y of each")


def make_plane(proof: Proof, standing: Standing, chosen: tuple[str, str]) -> Plane:
    """Return boxes and estimates of the groups in two dims, and the front of the estimates."""
    spec, ends = proof.spec, proof.ends
    names = [dim.name for dim in spec.problem.decided]
    for name in chosen:
        if name and name not in names:
            raise InvalidInput(f"there is no decided dim {name!r}; they are {', '.join(names)}")
    x = names.index(chosen[0]) if chosen[0] else 0
    y = names.index(chosen[1]) if chosen[1] else min(1, len(names) - 1)
    words = standing.words
    # Groups that are in or undecided come first: those are what one looks for.
    order = sorted(range(len(words)), key=lambda i: ORDER[words[i]])[:MOST_POINTS]
    winners = _winners(proof, standing, order)

    def three(i: int, d: int) -> Ends:
        return short_ends(ends[:, i, d], 4)

    points = [
        Point(
            group=spec.problem.groups[i][:LABEL],
            number=i,
            status=list(ORDER).index(words[i]),
            x=three(i, x),
            y=three(i, y),
            beaten_by=winners[i][0] if i in winners else None,
            sure=i in winners and winners[i][1],
        )
        for i in order
    ]
    return Plane(
        x=names[x],
        y=names[y],
        points=points,
        left_out=len(words) - len(points),
        front=[
            [short(row[x]), short(row[y])] for row in front(proof.certificate, x, y)[:MOST_POINTS]
        ],
    )


def _winners(proof: Proof, standing: Standing, shown: list[int]) -> dict[int, tuple[int, bool]]:
    """Return who beats each group that is out by most, and whether that one is proven to."""
    if proof.worth is not None:
        return {}
    best: Floats = proof.certificate.explainer.best
    decided, data = proof.certificate.verdict, proof.certificate.data
    found: dict[int, tuple[int, bool]] = {}
    for i in shown:
        if standing.words[i] != "out":
            continue
        for verdict, sure in ((data, True), (decided, False)):
            if verdict is None or i in found:
                continue
            better = np.flatnonzero(verdict.beats[:, i].all(axis=1))
            better = better[better != i]
            if len(better):
                most = int(better[np.argmax((best[better] - best[i]).min(axis=1))])
                found[i] = most, sure
    return found

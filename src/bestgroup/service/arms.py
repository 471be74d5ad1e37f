"""The arms of a study: how often each was pulled, what it seems to be worth, where it leads."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from bestgroup.service.hub import Watched
from bestgroup.service.items import ItemsOut, items_out
from bestgroup.service.numbers import short_ends
from bestgroup.service.plane import ORDER
from bestgroup.service.proof import Proof
from bestgroup.service.schemas import Ends, GroupStatus

MOST_CHANGES = 20


class ArmsQuery(BaseModel):
    """Which page of the arms."""

    model_config = ConfigDict(extra="ignore")
    page: int = Field(0, ge=0, le=10**6)
    size: int = Field(25, ge=1, le=100)
    search: str = Field("", max_length=200, description="in the names of arm and group")
    sort: Literal["pulls", "arm", "group", "status"] = "pulls"
    down: bool = Field(False, description="the other way round")


class ArmRow(BaseModel):
    """An arm in the table."""

    group: str
    arm: str
    status: GroupStatus = Field(description="of its group")
    pulls: int
    mean: dict[str, Ends] = Field(description="lower bound, estimate, upper bound")
    leads: list[str] = Field(description="dims in which its estimate is the best of its group")


class ArmsOut(BaseModel):
    """A page of the arms."""

    rows: list[ArmRow]
    matching: int
    page: int
    pulls: int = Field(description="of all arms")
    most: int = Field(description="pulls of the arm that has most")
    unpulled: int
    items: ItemsOut | None = Field(description="none where arms share no items")
    left: int | None = Field(description="how many more arms may join; none where none can")
    changes: list[dict[str, Any]] = Field(description="the last arms that joined and left")
    groups: list[str] = Field(description="that take part, where arms come and go")


def arms(watched: Watched, query: ArmsQuery) -> ArmsOut:
    """Return a page of the arms."""
    spec, proof = watched.study.spec, watched.proof()
    now = proof.standing(watched.head(age=0.5))
    words = now.words
    counts, names = proof.certificate.tally.counts, spec.problem
    text = query.search.casefold()
    found = [
        (i, j)
        for i, group in enumerate(names.groups)
        for j, arm in enumerate(names.arms[i])
        if text in group.casefold() or text in arm.casefold()
    ]
    keys = {
        "pulls": lambda at: -counts[at],
        "arm": lambda at: names.arms[at[0]][at[1]].casefold(),
        "group": lambda at: names.groups[at[0]].casefold(),
        "status": lambda at: ORDER[words[at[0]]],
    }
    found.sort(key=keys[query.sort], reverse=query.down)
    first = query.page * query.size
    exists = spec.problem.shape.exists
    roster = spec.roster
    return ArmsOut(
        rows=[_row(proof, words[i], i, j) for i, j in found[first : first + query.size]],
        matching=len(found),
        page=query.page,
        pulls=int(counts.sum()),
        most=int(counts.max()),
        unpulled=int(((counts == 0) & exists).sum()),
        items=items_out(proof, now),
        left=None if roster is None else roster.left,
        changes=[] if roster is None else [c.to_dict() for c in roster.changes[-MOST_CHANGES:]],
        groups=[] if roster is None else list(names.groups),
    )


def _row(proof: Proof, status: GroupStatus, i: int, j: int) -> ArmRow:
    problem, found = proof.spec.problem, proof.certificate
    user, verdict, explainer = problem.to_user, found.verdict, found.explainer
    ends = np.stack([user(verdict.low[i, j]), user(verdict.high[i, j])])
    low, high, middle = ends.min(axis=0), ends.max(axis=0), user(explainer.means[i, j])
    dims = [dim.name for dim in problem.measured]
    pulled = bool(found.tally.counts[i, j])
    return ArmRow(
        group=problem.groups[i],
        arm=problem.arms[i][j],
        status=status,
        pulls=int(found.tally.counts[i, j]),
        mean={name: short_ends((low[d], middle[d], high[d]), 5) for d, name in enumerate(dims)},
        leads=[dims[d] for d in np.flatnonzero(explainer.leader[i] == j)] if pulled else [],
    )

"""The list of studies: what each one asks, how far it is, when it last moved."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bestgroup.service.hub import Hub
from bestgroup.service.schemas import STATUSES, GroupStatus, State
from bestgroup.studies.report import statuses
from bestgroup.studies.storage.base import Listed


class ListQuery(BaseModel):
    """Which page of the studies."""

    model_config = ConfigDict(extra="ignore")
    page: int = Field(0, ge=0, le=10**6)
    size: int = Field(20, ge=1, le=50)
    search: str = Field("", max_length=200)
    only: Literal["", "running", "done", "stuck"] = ""
    sort: Literal["created", "name", "told", "state"] = "created"
    down: bool = Field(False, description="the other way round")


class Shown(BaseModel):
    """A study in the list."""

    name: str
    created: float
    state: State
    told: int
    kind: str = Field(description="of the question: pareto, best, top or map")
    groups: int
    arms: int
    dims: list[str]
    counts: dict[GroupStatus, int] = Field(description="by the algorithm's decisions")
    last: float | None = Field(description="when the last observation was told")


class ListOut(BaseModel):
    """A page of the studies."""

    studies: list[Shown]
    matching: int
    all: int
    page: int


def listing(hub: Hub, query: ListQuery) -> ListOut:
    """Return a page of the studies that match a query."""
    rows, text = hub.listed(), query.search.casefold()
    found = [
        row
        for row in rows
        if text in row.name.casefold() and (not query.only or row.state == query.only)
    ]
    keys: dict[str, Any] = {
        "created": lambda row: -row.created,
        "name": lambda row: row.name.casefold(),
        "told": lambda row: -row.told,
        "state": lambda row: ("running", "stuck", "done").index(row.state),
    }
    found.sort(key=keys[query.sort], reverse=query.down)
    first = query.page * query.size
    shown = [_shown(hub, row) for row in found[first : first + query.size]]
    return ListOut(
        studies=[row for row in shown if row is not None],
        matching=len(found),
        all=len(rows),
        page=query.page,
    )


def _shown(hub: Hub, row: Listed) -> Shown | None:
    """Return what the list says of a study; None if it was deleted meanwhile."""
    glance = hub.glance(row.name)
    if glance is None:
        return None
    spec, head, last = glance
    found = Counter(status.word for status in statuses(spec, head))
    return Shown(
        name=row.name,
        created=row.created,
        state=head.state,  # type: ignore[arg-type]
        told=head.told,
        kind=spec.goal.kind,  # type: ignore[arg-type]
        groups=len(spec.problem.groups),
        arms=spec.problem.shape.total,
        dims=[dim.name for dim in spec.problem.dims][:12],
        counts={word: found[word] for word in STATUSES},
        last=last,
    )

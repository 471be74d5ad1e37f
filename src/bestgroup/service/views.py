"""What the page shows of a study: aggregates of bounded size, made on the server."""

from __future__ import annotations

import json
import math
import time
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from bestgroup.errors import InvalidInput
from bestgroup.files.json_values import plain
from bestgroup.problem.arrays import Floats
from bestgroup.problem.status import Status
from bestgroup.service.board import Watched
from bestgroup.service.schemas import DimOut, GroupStatus, StatusOut
from bestgroup.studies.observer import Picture
from bestgroup.studies.report import statuses
from bestgroup.studies.spec import StudySpec

MOST_POINTS = 1000
MOST_ARMS = 40
MOST_LISTED = 20  # failures, workers
MOST_BLOCKERS = 5
LABEL = 40  # characters of a name in a chart
ORDER = {"in": 0, "undecided": 1, "not needed": 2, "out": 3}


class ViewQuery(BaseModel):
    """Which two dims, and which page of the groups."""

    model_config = ConfigDict(extra="ignore")
    x: str = Field("", max_length=200)
    y: str = Field("", max_length=200)
    page: int = Field(0, ge=0, le=10**6)
    size: int = Field(25, ge=1, le=100)
    only: Literal["", "in", "out", "not needed", "undecided"] = ""
    search: str = Field("", max_length=200)
    sort: Literal["status", "name", "pulls", "needs"] = "status"


class GroupRow(BaseModel):
    """A group in the table."""

    group: str
    status: GroupStatus = Field(description="as the algorithm has decided")
    certificate: GroupStatus = Field(description="as the observations prove by themselves")
    pulls: int
    arms: int
    needs: float | None
    efficiency: dict[str, tuple[float | None, float | None, float | None]]


class ViewOut(BaseModel):
    """One screen of a study."""

    name: str
    goal: dict[str, Any]
    delta: float
    algorithm: str
    dims: list[DimOut]
    groups: int
    arms: int
    status: StatusOut
    answer: list[str]
    more_answers: int
    final: bool
    observed: int
    certificate: dict[GroupStatus, int]
    forecast: float | None
    seconds: float | None
    rate: float
    blockers: list[dict[str, Any]]
    plane: dict[str, Any]
    rows: list[GroupRow]
    matching: int
    page: int
    top_arms: list[dict[str, Any]]
    workers: list[dict[str, Any]]
    more_workers: int


def view(watched: Watched, query: ViewQuery) -> ViewOut:
    """Return one screen of a study."""
    spec, picture = watched.study.spec, watched.picture()
    head, status = watched.head(), watched.study.status(forecast=False)
    report = json.loads(head.report)
    letters = [status.word for status in statuses(spec, head)]
    names = spec.problem.groups
    final = head.state == "done"
    answer = (
        [names[i] for i in report["answer"]]
        if final
        else [name for name, word in zip(names, letters, strict=True) if word == "in"]
    )
    chosen = _chosen(spec, picture, letters, query)
    first = query.page * query.size
    rate = watched.activity.rate()
    forecast = 0.0 if final else picture.forecast
    workers = _workers(watched, status.workers)
    counts = np.bincount(picture.verdict.status, minlength=len(Status)).tolist()
    cut = {"workers": {}, "failures": _failures(status.failures)}
    return ViewOut(
        name=spec.name,
        goal=spec.goal.to_dict(),
        delta=spec.delta,
        algorithm=spec.algorithm,
        dims=[DimOut(name=d.name, direction=d.direction, unit=d.unit) for d in spec.problem.dims],  # type: ignore[arg-type]
        groups=len(names),
        arms=spec.problem.shape.total,
        status=StatusOut(**{**status.to_dict(), **cut}),
        answer=answer[:MOST_LISTED],
        more_answers=max(0, len(answer) - MOST_LISTED),
        final=final,
        observed=picture.observed,
        certificate=dict(zip([s.word for s in Status], counts, strict=True)),  # type: ignore[arg-type]
        forecast=forecast,
        seconds=None if not rate or forecast is None else forecast / rate,
        rate=rate,
        blockers=[] if final else _blockers(spec, picture, letters),
        plane=_plane(spec, picture, letters, query),
        rows=[_row(spec, picture, letters, i) for i in chosen[first : first + query.size]],
        matching=len(chosen),
        page=query.page,
        top_arms=_top_arms(spec, picture),
        workers=workers[:MOST_LISTED],
        more_workers=max(0, len(workers) - MOST_LISTED),
    )


def _chosen(spec: StudySpec, picture: Picture, letters: list[str], query: ViewQuery) -> list[int]:
    """Return the groups that match the query, in its order."""
    names, text = spec.problem.groups, query.search.casefold()
    found = [
        i
        for i, name in enumerate(names)
        if (not query.only or letters[i] == query.only) and text in name.casefold()
    ]
    keys: dict[str, Any] = {
        "status": lambda i: ORDER[letters[i]],
        "name": lambda i: names[i].casefold(),
        "pulls": lambda i: -picture.pulls[i],
        "needs": lambda i: -picture.needs[i],
    }
    return sorted(found, key=keys[query.sort])


def _row(spec: StudySpec, picture: Picture, letters: list[str], i: int) -> GroupRow:
    low, middle, high = picture.intervals
    efficiency = {
        dim.name: (_short(low[i, d]), _short(middle[i, d]), _short(high[i, d]))
        for d, dim in enumerate(spec.problem.decided)
    }
    return GroupRow(
        group=spec.problem.groups[i],
        status=letters[i],  # type: ignore[arg-type]
        certificate=Status(picture.verdict.status[i]).word,  # type: ignore[arg-type]
        pulls=int(picture.pulls[i]),
        arms=len(spec.problem.arms[i]),
        needs=_short(picture.needs[i]),
        efficiency=efficiency,
    )


def _blockers(spec: StudySpec, picture: Picture, letters: list[str]) -> list[dict[str, Any]]:
    """Return the undecided groups that take most, with the certificate's words."""
    if not picture.observed:
        return []
    undecided = [i for i, word in enumerate(letters) if word == "undecided"]
    open_ = [i for i in undecided if picture.verdict.status[i] == Status.UNDECIDED] or undecided
    unpulled = (picture.tally.counts == 0) & spec.problem.shape.exists
    # What was never measured keeps all others open too.
    open_ = [i for i in open_ if unpulled[i].any()] or open_
    open_.sort(key=lambda i: -picture.needs[i])
    found = []
    for i in open_[:MOST_BLOCKERS]:
        text = picture.text(i)
        if picture.verdict.status[i] != Status.UNDECIDED:
            text += f" ({spec.algorithm} has not decided it yet)"
        entry = {"group": spec.problem.groups[i], "text": text, "needs": _short(picture.needs[i])}
        found.append(entry)
    return found


def _plane(
    spec: StudySpec, picture: Picture, letters: list[str], query: ViewQuery
) -> dict[str, Any]:
    """Return boxes and estimates of the groups in two dims, and the front of the estimates."""
    names = [dim.name for dim in spec.problem.decided]
    for name in (query.x, query.y):
        if name and name not in names:
            raise InvalidInput(f"there is no decided dim {name!r}; they are {', '.join(names)}")
    x = names.index(query.x) if query.x else 0
    y = names.index(query.y) if query.y else min(1, len(names) - 1)
    low, middle, high = picture.intervals
    # Groups that are in or undecided come first: those are what one looks for.
    order = sorted(range(len(letters)), key=lambda i: ORDER[letters[i]])[:MOST_POINTS]
    points = [
        [
            spec.problem.groups[i][:LABEL],
            letters[i][0],
            *(_short(v, 4) for v in (middle[i, x], low[i, x], high[i, x])),
            *(_short(v, 4) for v in (middle[i, y], low[i, y], high[i, y])),
        ]
        for i in order
    ]
    return {
        "x": names[x],
        "y": names[y],
        "points": points,
        "left_out": len(letters) - len(points),
        "front": _front(spec, picture, x, y),
    }


def _front(spec: StudySpec, picture: Picture, x: int, y: int) -> list[list[float | None]]:
    """Return the corners of the estimates' front, from the best in x to the best in y."""
    best: Floats = picture.explainer.best
    seen = best[np.isfinite(best).all(axis=1)]
    corners: list[Floats] = []
    for row in seen[np.lexsort((-seen[:, y], -seen[:, x]))]:
        if not corners or row[y] > corners[-1][y]:
            corners.append(row)
    if not corners:
        return []
    units = spec.problem.to_user(np.array(corners))
    return [[_short(row[x]), _short(row[y])] for row in units[:MOST_POINTS]]


def _top_arms(spec: StudySpec, picture: Picture) -> list[dict[str, Any]]:
    """Return the arms with the most pulls."""
    counts = picture.tally.counts
    order = np.argsort(-counts, axis=None, kind="stable")[:MOST_ARMS]
    places = [divmod(int(place), counts.shape[1]) for place in order]
    return [
        {
            "group": spec.problem.groups[i][:LABEL],
            "arm": spec.problem.arms[i][j][:LABEL],
            "pulls": int(counts[i, j]),
        }
        for i, j in places
        if counts[i, j]
    ]


def _workers(watched: Watched, leased: dict[str, int]) -> list[dict[str, Any]]:
    """Return the workers that hold leases or were seen by this server, the last ones first."""
    now = time.time()
    seen = watched.activity.owners()
    owners = {**dict.fromkeys(seen), **dict.fromkeys(leased)}
    rows = [
        {
            "owner": owner[:LABEL],
            "leased": leased.get(owner, 0),
            "told": seen.get(owner, (0, 0.0))[0],
            "ago": round(now - seen[owner][1], 1) if owner in seen else None,
        }
        for owner in owners
    ]
    return sorted(rows, key=lambda row: (not row["leased"], row["ago"] or 0.0))


def _failures(failures: list[dict[str, Any]]) -> list[Any]:
    worst = sorted(failures, key=lambda entry: -entry["times"])[:MOST_LISTED]
    return [{**entry, "reason": entry["reason"][:200]} for entry in worst]


def explain(watched: Watched, group: str) -> dict[str, Any]:
    """Return the study's explanation of a group, with the certificate's."""
    own = watched.study.explain(group).to_dict()
    picture = watched.picture(wait=30.0)
    i = watched.study.problem.groups.index(group)
    with np.errstate(all="ignore"):
        certificate = picture.explainer.group(i).to_dict()
    for entry in certificate["reasons"]:
        entry["margin"] = _short(entry["margin"])
    certificate["reasons"] = sorted(certificate["reasons"], key=lambda r: r["proven"])[:50]
    return plain({**own, "certificate": certificate})


def _short(value: float, digits: int = 6) -> float | None:
    """Return a number with a few significant digits; None if it is not finite.

    >>> _short(0.123456789), _short(math.inf)
    (0.123457, None)
    """
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None

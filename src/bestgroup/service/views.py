"""What the page shows of a study: aggregates of bounded size, made on the server."""

from __future__ import annotations

import json
import time
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from bestgroup.files.json_values import plain
from bestgroup.problem.items import why_stuck
from bestgroup.service.hub import Seen, Watched
from bestgroup.service.numbers import LABEL, short, short_ends
from bestgroup.service.plane import ORDER, Plane, make_plane
from bestgroup.service.proof import By, Proof, Standing
from bestgroup.service.schemas import DimOut, Ends, GroupStatus, GuaranteeOut, StatusOut
from bestgroup.studies.report import StudyStatus
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.records import Head

MOST_WORTHS = 30  # groups in the chart of weighted worth
MOST_LISTED = 20  # failures, workers, groups of the answer
MOST_BLOCKERS = 8
MOST_REASONS = 50


class ViewQuery(BaseModel):
    """Which two dims, and which page of the groups."""

    model_config = ConfigDict(extra="ignore")
    x: str = Field("", max_length=200)
    y: str = Field("", max_length=200)
    page: int = Field(0, ge=0, le=10**6)
    size: int = Field(25, ge=1, le=100)
    only: Literal["", "in", "out", "not needed", "undecided"] = ""
    search: str = Field("", max_length=200)
    sort: str = Field(
        "status",
        max_length=210,
        description="status, name, pulls, needs, worth, or dim: and the name of a decided dim",
    )
    down: bool = Field(False, description="the other way round")


class GroupRow(BaseModel):
    """A group in the table."""

    group: str
    status: GroupStatus
    by: By = Field(description="who proved it")
    since: int | None = Field(None, description="pulls in all when the algorithm decided it")
    pulls: int
    arms: int
    needs: float | None = Field(description="about how many more pulls it takes")
    efficiency: dict[str, Ends] = Field(description="lower bound, estimate, upper bound")
    worth: Ends | None = Field(None, description="weighted, for the goal of the best group")


class Worth(BaseModel):
    """A group in the chart of weighted worth."""

    group: str
    status: GroupStatus
    worth: Ends


class Blocker(BaseModel):
    """An undecided group, and what it takes to decide it."""

    group: str
    text: str
    rival: str | None = None
    dim: str | None = None
    margin: float | None = None
    needs: float | None = None


class WorkerRow(BaseModel):
    """A worker that holds leases, or that this server has seen."""

    owner: str
    leased: int
    told: int
    ago: float | None = Field(description="seconds; none if not since the server started")


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
    stuck: str = Field(description="why no further pull can decide, where the state is stuck")
    observed: int = Field(description="observations that the boxes and statuses rest on")
    counts: dict[GroupStatus, int]
    ahead: int = Field(description="groups that only the observations decide so far")
    guarantee: GuaranteeOut = Field(description="of all statuses that are shown")
    notes: list[str] = Field(description="what speaks against the assumptions")
    forecast: float | None
    seconds: float | None
    rate: float
    last: float | None = Field(description="when the last observation was told")
    guess: str = Field(description="the whole answer that the values speak for, while it is open")
    arms_to_take: list[str] = Field(description="a sentence for each group that is in")
    ties: list[tuple[str, str]] = Field(description="groups proven within epsilon of each other")
    all_ties: int
    blockers: list[Blocker]
    plane: Plane
    rows: list[GroupRow]
    matching: int
    page: int
    worths: list[Worth]
    weights: dict[str, Any] | None = Field(
        None, description="of a map: which group is proven best for which weights, without overlap"
    )
    workers: list[WorkerRow]
    more_workers: int


def view(watched: Watched, query: ViewQuery, seen: Seen) -> ViewOut:
    """Return one screen of a study, with the workers that were seen."""
    spec, proof = watched.study.spec, watched.proof()
    head, status = watched.head(), watched.study.status(forecast=False)
    now = proof.standing(head)
    table = GroupTable(proof, now, watched.decided())
    chosen = table.chosen(query)
    first = query.page * query.size
    answer = _answer(spec, head, now)
    workers = _workers(seen, status.workers)
    return ViewOut(
        name=spec.name,
        goal=spec.goal.to_dict(),
        delta=spec.delta,
        algorithm=spec.algorithm,
        dims=[DimOut(name=d.name, direction=d.direction, unit=d.unit) for d in spec.problem.dims],  # type: ignore[arg-type]
        groups=len(spec.problem.groups),
        arms=spec.problem.shape.total,
        status=_cut(status),
        answer=answer[:MOST_LISTED],
        more_answers=max(0, len(answer) - MOST_LISTED),
        final=head.state == "done",
        stuck=why_stuck(spec.problem.items) if status.state == "stuck" else "",
        observed=proof.observed,
        counts=now.counts(),
        ahead=now.ahead,
        guarantee=GuaranteeOut(**proof.guarantee.to_dict()),
        notes=list(proof.certificate.notes[:MOST_LISTED]),
        **_outlook(seen.rate, head, proof),
        last=watched.last(),
        guess="" if head.state == "done" else proof.guess,
        arms_to_take=proof.arms[:MOST_LISTED],
        ties=proof.ties[:MOST_LISTED],
        all_ties=len(proof.ties),
        blockers=[] if head.state == "done" else _blockers(proof, now),
        plane=make_plane(proof, now, (query.x, query.y)),
        rows=[table.row(i) for i in chosen[first : first + query.size]],
        matching=len(chosen),
        page=query.page,
        worths=_worths(proof, now),
        weights=proof.weights,
        workers=workers[:MOST_LISTED],
        more_workers=max(0, len(workers) - MOST_LISTED),
    )


def _answer(spec: StudySpec, head: Head, now: Standing) -> list[str]:
    """Return the final answer, or the groups that are in so far."""
    names = spec.problem.groups
    if head.state == "done":
        return [names[i] for i in json.loads(head.report)["answer"]]
    return [name for name, word in zip(names, now.words, strict=True) if word == "in"]


def _outlook(rate: float, head: Head, proof: Proof) -> dict[str, Any]:
    """Return how many more observations it takes, and how long that is."""
    forecast = 0.0 if head.state == "done" else proof.forecast
    seconds = None if not rate or forecast is None else forecast / rate
    return {"forecast": forecast, "seconds": seconds, "rate": rate}


class GroupTable:
    """The groups as rows: which match a query, in which order, and what each row says."""

    def __init__(self, proof: Proof, now: Standing, decided: dict[int, int]) -> None:
        self._spec, self._proof, self._now, self._decided = proof.spec, proof, now, decided

    def chosen(self, query: ViewQuery) -> list[int]:
        """Return the groups that match the query, in its order."""
        names, text = self._spec.problem.groups, query.search.casefold()
        words = self._now.words
        found = [
            i
            for i, name in enumerate(names)
            if (not query.only or words[i] == query.only) and text in name.casefold()
        ]
        found.sort(key=self._key(query.sort), reverse=query.down)
        return found

    def _key(self, sort: str) -> Any:
        names, proof = self._spec.problem.groups, self._proof
        dims = [dim.name for dim in self._spec.problem.decided]
        if sort.startswith("dim:") and sort[4:] in dims:
            values = proof.certificate.explainer.best[:, dims.index(sort[4:])]
            return lambda i: -values[i]  # the best first, also in a dim to be minimised
        worth = np.zeros(len(names)) if proof.worth is None else proof.worth[1]
        if sort == "worth":
            return lambda i: -worth[i]
        keys: dict[str, Any] = {
            "name": lambda i: names[i].casefold(),
            "pulls": lambda i: -proof.pulls[i],
            "needs": lambda i: -proof.needs[i],
        }
        return keys.get(sort, lambda i: (ORDER[self._now.words[i]], -worth[i]))

    def row(self, i: int) -> GroupRow:
        """Return what the table says of a group."""
        spec, proof = self._spec, self._proof
        open_ = self._now.words[i] == "undecided"
        return GroupRow(
            group=spec.problem.groups[i],
            status=self._now.words[i],
            by=self._now.by[i],
            since=self._decided.get(i),
            pulls=int(proof.pulls[i]),
            arms=len(spec.problem.arms[i]),
            needs=short(proof.needs[i]) if open_ else None,
            efficiency={
                dim.name: _three(proof.ends[:, i, d]) for d, dim in enumerate(spec.problem.decided)
            },
            worth=None if proof.worth is None else _three(proof.worth[:, i]),
        )


def _worths(proof: Proof, now: Standing) -> list[Worth]:
    """Return the groups that seem to be worth most."""
    worth, names = proof.worth, proof.spec.problem.groups
    if worth is None:
        return []
    order = np.argsort(-worth[1], kind="stable")[:MOST_WORTHS]
    return [
        Worth(group=names[i], status=now.words[i], worth=_three(worth[:, i]))
        for i in order.tolist()
    ]


def _three(ends: Any) -> Ends:
    return short_ends(ends)


def _blockers(proof: Proof, now: Standing) -> list[Blocker]:
    """Return the undecided groups that take most, each with its hardest rival."""
    if not proof.observed:
        return []
    open_ = [i for i, word in enumerate(now.words) if word == "undecided"]
    unpulled = (proof.certificate.tally.counts == 0) & proof.spec.problem.shape.exists
    # What was never measured keeps all others open too.
    open_ = [i for i in open_ if unpulled[i].any()] or open_
    open_.sort(key=lambda i: -proof.needs[i])
    return [_blocker(proof, i) for i in open_[:MOST_BLOCKERS]]


def _blocker(proof: Proof, i: int) -> Blocker:
    found = proof.explain(i)
    hardest = found.reasons[0] if found.reasons else None
    return Blocker(
        group=found.group,
        text=found.text,
        rival=None if hardest is None else hardest.rival,
        dim=None if hardest is None else hardest.dim,
        margin=None if hardest is None else short(hardest.margin),
        needs=short(proof.needs[i]),
    )


def _workers(seen: Seen, leased: dict[str, int]) -> list[WorkerRow]:
    """Return the workers that hold leases or were seen by this server, the last ones first."""
    now, known = time.time(), seen.owners
    owners = {**dict.fromkeys(known), **dict.fromkeys(leased)}
    rows = [
        WorkerRow(
            owner=owner[:LABEL],
            leased=leased.get(owner, 0),
            told=known.get(owner, (0, 0.0))[0],
            ago=round(now - known[owner][1], 1) if owner in known else None,
        )
        for owner in owners
    ]
    return sorted(rows, key=lambda row: (not row.leased, row.ago or 0.0))


def _cut(status: StudyStatus) -> StatusOut:
    """Return a status without what there may be thousands of."""
    worst = sorted(status.failures, key=lambda entry: -entry["times"])[:MOST_LISTED]
    failures = [{**entry, "reason": entry["reason"][:200]} for entry in worst]
    return StatusOut(**{**status.to_dict(), "workers": {}, "failures": failures})


def explain(watched: Watched, group: str) -> dict[str, Any]:
    """Return the study's explanation of a group, with its one status and its intervals."""
    own = watched.study.explain(group).to_dict()
    proof = watched.proof(wait=30.0)
    i = watched.study.problem.groups.index(group)
    now = proof.standing(watched.head())
    found = proof.explain(i).to_dict()
    reasons = sorted(found["reasons"], key=lambda entry: entry["proven"])[:MOST_REASONS]
    dims = [dim.name for dim in watched.study.problem.decided]
    return plain(
        {
            **own,
            "status": now.words[i],
            "by": now.by[i],
            "text": found["text"],
            "reasons": [{**entry, "margin": short(entry["margin"])} for entry in reasons],
            "best_arms": found["best_arms"],
            "intervals": {name: _three(proof.ends[:, i, d]) for d, name in enumerate(dims)},
        }
    )

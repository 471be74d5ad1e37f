"""The routes under /api/v1: each one checks, calls the study and answers.

A study is named by the query's `study`, not by the path: names may hold any character.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, StreamingResponse

from bestgroup._version import __version__
from bestgroup.errors import InvalidInput, StoreError
from bestgroup.files.json_values import plain
from bestgroup.service import events, schemas, views
from bestgroup.service.auth import SCHEMES
from bestgroup.service.hub import IMPORTER, Hub, Watched
from bestgroup.service.problems import NotFound, described

log = logging.getLogger("bestgroup.service")
PACKED = b"\x1f\x8b"  # how gzip begins
router = APIRouter(prefix="/api/v1", tags=["studies"], dependencies=SCHEMES, responses=described())


def hub_of(request: Request) -> Hub:
    """Return the studies that a request may be about."""
    return request.app.state.hub


def _watched(
    request: Request,
    study: Annotated[schemas.Name, Query()],
    identity: Annotated[str, Query(max_length=64)] = "",
) -> Watched:
    """Return the study of a name; with an identity it must be that one, not a later one."""
    hub = hub_of(request)
    found = hub.find(study)
    if identity and found.study.identity != identity:
        hub.refresh()
        found = hub.find(study)
        if found.study.identity != identity:
            raise NotFound(
                f"the study {study!r} of that identity was deleted; another has its name"
            )
    request.state.study = found.study.identity  # for the log
    return found


AStudy = Annotated[Watched, Depends(_watched)]


@router.get("/session", summary="Who is asking")
def session(request: Request) -> schemas.SessionOut:
    """Return the role of the token, and the server's version."""
    return schemas.SessionOut(role=request.state.role, version=__version__)


@router.get("/studies", summary="All studies")
def studies(request: Request) -> schemas.Studies:
    """Return name, state and numbers of every study."""
    hub = hub_of(request)
    hub.refresh()
    return schemas.Studies(studies=[schemas.Listed(**r._asdict()) for r in hub.listed()])


def study_out(watched: Watched) -> schemas.StudyOut:
    """Return what a study is pinned to."""
    spec = watched.study.spec
    dims = [
        schemas.DimOut(name=d.name, direction=d.direction, unit=d.unit)  # type: ignore[arg-type]
        for d in spec.problem.dims
    ]
    return schemas.StudyOut(
        name=spec.name,
        identity=watched.study.identity,
        problem=spec.problem.to_dict(),
        dims=dims,
        goal=spec.goal.to_dict(),
        delta=spec.delta,
        algorithm=spec.algorithm,
        algorithm_version=spec.algorithm_version,
        options=spec.options,
        horizon=spec.horizon,
        seed=spec.seed,
        library=spec.library,
        state=watched.head().state,  # type: ignore[arg-type]
    )


@router.get("/study", summary="What a study is pinned to")
def study(watched: AStudy) -> schemas.StudyOut:
    """Return the problem, the question and the algorithm."""
    return study_out(watched)


@router.post("/ask", summary="Lease tickets", response_model=schemas.Asked)
def ask(request: Request, watched: AStudy, body: schemas.AskBody) -> JSONResponse:
    """Return up to n tickets; fewer, or none, if the plan has no more to hand out."""
    tickets = _ask(request, watched, body)
    state = "running" if tickets else watched.head().state  # a study that ended has no tickets
    return JSONResponse({"tickets": tickets, "state": state})


def _ask(request: Request, watched: Watched, body: schemas.AskBody) -> list[dict[str, Any]]:
    tickets = watched.study.ask(body.n, body.repeats, body.lease, body.owner)
    watched.activity.note(body.owner, 0)
    request.app.state.metrics.asked.inc(len(tickets))
    return [{"seeds": list(ticket.seeds), **ticket.to_dict()} for ticket in tickets]


@router.post(
    "/tell",
    summary="Tell results",
    response_model=schemas.Told,
    responses=described(409, 413),
)
def tell(request: Request, watched: AStudy, body: schemas.TellBody) -> JSONResponse:
    """Take results, all of them or none; told again with the same values they change nothing.

    With `ask` the answer brings the next tickets, which saves a request.
    """
    new = watched.study.tell_many(joined(body.results))
    told: dict[str, int] = {}
    for result in body.results:
        told[result.ticket.owner] = told.get(result.ticket.owner, 0) + len(result.rows)
    for owner, rows in told.items():
        watched.activity.note(owner, min(rows, new))
    request.app.state.metrics.told.inc(new)
    tickets = []
    if body.ask is not None:
        try:
            tickets = _ask(request, watched, body.ask)
        except StoreError as error:  # the results are stored all the same; who asks again is told
            log.warning("no tickets after a tell: %s", error)
    state = "running" if tickets else watched.head().state
    return JSONResponse({"new": new, "state": state, "tickets": tickets})


def joined(results: list[schemas.Result]) -> list[tuple[dict[str, Any], list[Any]]]:
    """Return (ticket, rows) pairs with neighbouring pulls of an arm put together.

    One long ticket costs the storage as little as one short one, and they are taken together anyway.

    >>> ticket = {"group": "A", "arm": "a", "index": 4}
    >>> one = schemas.Result(ticket=ticket, values=[0.5])
    >>> two = schemas.Result(ticket={**ticket, "index": 5}, values=[0.75])
    >>> [(ticket["index"], ticket["repeats"], rows) for ticket, rows in joined([two, one])]
    [(4, 2, [[0.5], [0.75]])]
    """
    pairs: list[tuple[dict[str, Any], list[Any]]] = []
    end: tuple[str, str, str, int] | None = None
    for result in sorted(results, key=lambda r: (r.ticket.group, r.ticket.arm, r.ticket.index)):
        ticket, rows = result.ticket, result.rows
        arm = ticket.identity, ticket.group, ticket.arm
        whole = len(rows) == ticket.repeats
        if pairs and end == (*arm, ticket.index) and whole:
            pairs[-1][0]["repeats"] += ticket.repeats
            pairs[-1][1].extend(rows)
        else:
            pairs.append((ticket.model_dump(), list(rows)))
        end = (*arm, ticket.index + ticket.repeats) if whole else None
    return pairs


@router.post("/fail", summary="Give a ticket back", responses=described(409))
def fail(request: Request, watched: AStudy, body: schemas.FailBody) -> schemas.Done:
    """Give a ticket back: its pulls are handed out again, with the same seeds."""
    watched.study.fail(body.ticket.model_dump(), body.reason)
    watched.activity.note(body.ticket.owner, 0)
    request.app.state.metrics.failed.inc()
    return schemas.Done()


@router.post("/heartbeat", summary="Hold leases", responses=described(409))
def heartbeat(watched: AStudy, body: schemas.BeatBody) -> schemas.Beaten:
    """Let leases end so many seconds from now; those that were lost are named by their place."""
    expires, lost = watched.study.hold([ticket.model_dump() for ticket in body.tickets], body.lease)
    watched.activity.note(body.tickets[0].owner, 0)
    return schemas.Beaten(expires=expires, lost=lost)


@router.post("/join", summary="Let arms join")
def join(request: Request, watched: AStudy, body: schemas.JoinBody) -> schemas.ChangedOut:
    """Let arms join a group, or a new group; the problem must have a reserve."""
    study, who = watched.study, request.state.who
    if body.new:
        study.add_group(body.group, body.arms, cost=body.cost, who=who)
    elif len(body.arms) == 1:
        study.add_arm(body.group, body.arms[0], cost=body.cost, who=who)
    else:
        raise InvalidInput(
            "arms join a group one at a time; a new group comes with all of its arms"
        )
    return _changed(watched)


@router.post("/withdraw", summary="Let an arm or a group leave")
def withdraw(request: Request, watched: AStudy, body: schemas.LeaveBody) -> schemas.ChangedOut:
    """Let an arm, or a whole group, leave: its tickets are gone, its observations stay in the log."""
    watched.study.withdraw(body.group, body.arm, who=request.state.who)
    return _changed(watched)


def _changed(watched: Watched) -> schemas.ChangedOut:
    study, problem = watched.study, watched.study.problem
    roster = study.spec.roster
    return schemas.ChangedOut(
        changes=study.changes(),
        left=0 if roster is None else roster.left,
        state=watched.head().state,  # type: ignore[arg-type]
        groups=dict(zip(problem.groups, map(list, problem.arms), strict=True)),
    )


@router.get("/changes", summary="Which arms joined and left")
def changes(watched: AStudy) -> schemas.ChangedOut:
    """Return which arms joined and left, and who takes part now."""
    watched.study.head()
    return _changed(watched)


@router.get("/status", summary="Where a study stands")
def status(watched: AStudy) -> schemas.StatusOut:
    """Return the numbers of pulls, groups, leases and failures."""
    return schemas.StatusOut(**watched.study.status().to_dict())


@router.get("/answer", summary="What is known so far")
def answer(watched: AStudy) -> schemas.AnswerOut:
    """Return the answer so far, with what it is worth."""
    return schemas.AnswerOut.model_validate(plain(watched.study.answer().to_dict()))


@router.get("/explain", summary="Why a group is in, out or undecided")
def explain(
    watched: AStudy,
    group: str = "",
    number: Annotated[int | None, Query(description="in place of the name", ge=0)] = None,
) -> schemas.ExplanationOut:
    """Return the status of a group, who proved it, and by which comparisons."""
    names = watched.study.problem.groups
    if number is not None and number >= len(names):
        raise InvalidInput(f"there are {len(names)} groups, numbered from 0; got {number}")
    return schemas.ExplanationOut(
        **views.explain(watched, group if number is None else names[number])
    )


@router.get("/decisions", summary="All decisions")
def decisions(watched: AStudy) -> schemas.Decisions:
    """Return the decisions in the order in which they were made."""
    return schemas.Decisions(decisions=plain(watched.study.decisions()))


@router.get("/view", summary="What the page shows")
def view(
    request: Request, watched: AStudy, query: Annotated[views.ViewQuery, Query()]
) -> views.ViewOut:
    """Return aggregates for one screen: never raw pulls, at most `size` groups in detail."""
    # Workers are seen by the process that they ask and tell, which may be another one.
    seen = getattr(request.state, "seen", None) or watched.activity.seen()
    return views.view(watched, query, seen)


@router.get(
    "/events",
    summary="Changes as they happen",
    response_class=StreamingResponse,
    responses={200: {"description": "Server-sent events", "content": {"text/event-stream": {}}}},
)
async def event_stream(request: Request, watched: AStudy) -> StreamingResponse:
    """Send an event `head` with state, plan, told and pulls whenever one of them changes."""
    return events.stream(request, watched)


@router.get(
    "/export",
    summary="All observations as CSV",
    response_class=StreamingResponse,
    responses={200: {"description": "CSV", "content": {"text/csv": {}}}},
)
def export(watched: AStudy) -> StreamingResponse:
    """Send group, arm, index and the dims of every observation."""
    with scratch(".csv") as path:
        watched.study.export(path)
        file = path.open("rb")  # the name may go, the content stays until it is sent

    def portions() -> Iterator[bytes]:
        with file:
            while part := file.read(1 << 16):
                yield part

    headers = {"Content-Disposition": 'attachment; filename="observations.csv"'}
    return StreamingResponse(portions(), media_type="text/csv", headers=headers)


@router.post(
    "/import",
    summary="Take observations made elsewhere",
    responses=described(413),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"text/csv": {"schema": {"type": "string"}}},
        }
    },
)
async def import_table(request: Request, watched: AStudy) -> schemas.Imported:
    """Take a CSV with the columns group, arm and one a dim; the same one again changes nothing."""
    from starlette.concurrency import run_in_threadpool

    body = await request.body()
    return await run_in_threadpool(_import, request, watched, body)


def _import(request: Request, watched: Watched, body: bytes) -> schemas.Imported:
    if body.startswith(PACKED):  # nobody knows how large it is
        raise InvalidInput("send the table as it is, not packed")
    with scratch(".csv") as path:
        path.write_bytes(body)
        try:
            new = watched.study.import_observations(path, who=request.state.who)
        except InvalidInput as error:
            # The sender knows the table by no name.
            raise InvalidInput(without_path(str(error), path)) from None
    watched.activity.note(IMPORTER, new)
    request.state.noted = new
    request.app.state.metrics.told.inc(new)
    return schemas.Imported(new=new, state=watched.head().state)  # type: ignore[arg-type]


def without_path(text: str, path: Path) -> str:
    """Return a sentence without the name of a file that its reader does not know."""
    for prefix in (f"{path}, ", f"{path}: "):
        text = text.replace(prefix, "")
    return text


@contextmanager
def scratch(suffix: str) -> Iterator[Path]:
    """Yield the path of a temporary file, which is removed afterwards."""
    handle, name = tempfile.mkstemp(prefix="bestgroup-", suffix=suffix)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)

"""The routes that the page reads beyond those of a client: lists, arms, the course; and the demo."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from bestgroup.service import schemas
from bestgroup.service.api import AStudy, hub_of
from bestgroup.service.arms import ArmsOut, ArmsQuery, arms
from bestgroup.service.auth import SCHEMES
from bestgroup.service.course import CourseOut
from bestgroup.service.demo import make_demo
from bestgroup.service.listing import ListOut, ListQuery, listing
from bestgroup.service.problems import described
from bestgroup.studies.html_report.page import policy, report_html

router = APIRouter(prefix="/api/v1", tags=["page"], dependencies=SCHEMES, responses=described())


@router.get("/listing", summary="The list of studies, a page of it")
def listed(request: Request, query: Annotated[ListQuery, Query()]) -> ListOut:
    """Return the question, the progress and the last activity of studies that match."""
    return listing(hub_of(request), query)


@router.get("/course", summary="How a study came to where it stands")
def course(watched: AStudy) -> CourseOut:
    """Return statuses, widths of intervals and forecasts against pulls and time, and the decisions.

    What happened before the server was asked is read from the log; `complete` says when that is done.
    """
    watched.rebuild_course()
    watched.proof()
    return watched.course.out(watched.decisions())


@router.get(
    "/report",
    summary="The study as one HTML file",
    response_class=HTMLResponse,
    responses={200: {"description": "HTML", "content": {"text/html": {}}}},
)
def report(watched: AStudy) -> HTMLResponse:
    """Return the answer, what it rests on, the figures and a digest of the data; no scripts."""
    headers = {"Content-Security-Policy": policy()}
    return HTMLResponse(report_html(watched.study), headers=headers)


@router.get("/arms", summary="The arms, a page of them")
def arm_rows(watched: AStudy, query: Annotated[ArmsQuery, Query()]) -> ArmsOut:
    """Return the pulls, the estimates and the intervals of arms."""
    return arms(watched, query)


@router.post("/demo", status_code=201, summary="Make a demo study")
def demo(request: Request) -> schemas.DemoOut:
    """Create a study of the COV-BOOST trial and have the server's own worker measure for it."""
    hub = hub_of(request)
    name = make_demo(hub)
    request.app.state.demos.start(hub.find(name))
    return schemas.DemoOut(name=name, working=True)


@router.get("/demo/work", summary="Whether the server's own worker measures for a study")
def demo_works(request: Request, watched: AStudy) -> schemas.DemoOut:
    """Return whether the built-in worker is at work; it knows demo studies only."""
    name = watched.study.name
    demos = request.app.state.demos
    return schemas.DemoOut(name=name, working=demos.works(name), demo=demos.knows(watched))


@router.post("/demo/work", summary="Start the server's own worker")
def demo_work(request: Request, watched: AStudy) -> schemas.DemoOut:
    """Have the built-in worker measure for a demo study again, after the server was restarted."""
    request.app.state.demos.start(watched)
    return schemas.DemoOut(name=watched.study.name, working=True)

"""The course of a study: statuses, widths of intervals and forecasts, against pulls and time.

What happened while nobody looked is read from the log, once, in the background: each observation is
stored with the time at which it was told. From then on a point is added with every new picture.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, Field

from bestgroup.service.numbers import short
from bestgroup.service.proof import Proof
from bestgroup.service.schemas import STATUSES, GroupStatus
from bestgroup.studies.catalog import Study
from bestgroup.studies.history import History
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.records import Entry, Head

log = logging.getLogger("bestgroup.service")
MOST = 240  # points that are kept
PIECES = 60  # points that are made of the log
PATIENCE = 8.0  # seconds of work that the log is worth
MOST_DECISIONS = 500


class PointOut(BaseModel):
    """A study at one time."""

    pulls: int = Field(description="observations so far")
    at: float = Field(description="when the last of them was told, in seconds since 1970")
    counts: dict[GroupStatus, int]
    ahead: int = Field(description="groups that only the observations decide")
    forecast: float | None = Field(description="about how many more observations it takes")
    widths: list[float | None] = Field(
        description="the median width of the intervals of groups that are not out, by dim"
    )


class DecisionOut(BaseModel):
    """When a group was decided."""

    pulls: int
    at: float | None = Field(description="when that many observations were there, about")
    plan: int
    kind: str
    group: str | None


class StepOut(BaseModel):
    """How many groups had each status, from some number of observations on."""

    pulls: int
    at: float | None
    counts: dict[GroupStatus, int]


class CourseOut(BaseModel):
    """The whole course."""

    points: list[PointOut]
    steps: list[StepOut] = Field(description="statuses at the points and at the decisions")
    complete: bool = Field(description="false while the log is being read")
    dims: list[str]
    decisions: list[DecisionOut] = Field(description="the newest 500 at most, in their order")
    more_decisions: int
    algorithm: str


class _Point(NamedTuple):
    pulls: int
    at: float
    counts: dict[GroupStatus, int]
    ahead: int
    forecast: float | None
    widths: list[float | None]


class Course:
    """Points of one study, thinned out as they become many."""

    def __init__(self, spec: StudySpec) -> None:
        self._spec = spec
        self._lock = threading.Lock()
        self._points: dict[int, _Point] = {}
        self._state = ""  # or "reading", "read"

    def add(self, proof: Proof, at: float, head: Head) -> None:
        """Add a point for what was proven when the last observation had been told."""
        made = _point(proof, at, head)
        with self._lock:
            self._points[made.pulls] = made
            if len(self._points) > MOST:
                self._thin()

    def _thin(self) -> None:
        """Drop every second point, but the first and the last."""
        order = sorted(self._points)
        for pulls in order[1:-1:2]:
            del self._points[pulls]

    def rebuild(self, study: Study, decisions: Callable[[], list[Entry]]) -> None:
        """Read the log in the background, unless that was done."""
        with self._lock:
            if self._state:
                return
            self._state = "reading"
        work = (study, decisions)
        threading.Thread(target=self._read, args=work, daemon=True).start()

    def _read(self, study: Study, decisions: Callable[[], list[Entry]]) -> None:
        try:
            self._replay(study, decisions())
        except Exception:
            log.exception("course")
        finally:
            with self._lock:
                self._state = "read"

    def _replay(self, study: Study, decisions: list[Entry]) -> None:
        """Make points at equal steps of the log; fewer of them if each takes long."""
        blocks = study.head().blocks
        ends = sorted({round(blocks * (k + 1) / PIECES) for k in range(PIECES)} - {0})
        replay, begun = History(study, decisions), time.monotonic()
        for place, end in enumerate(ends):
            spent = time.monotonic() - begun
            if place and spent > PATIENCE * place / len(ends):
                continue
            found, at, head = replay.until(end)
            self.add(Proof(self._spec, found), at, head)

    def out(self, decisions: list[Entry]) -> CourseOut:
        """Return what the page draws."""
        with self._lock:
            points = [self._points[pulls] for pulls in sorted(self._points)]
            complete = self._state == "read"
        groups = self._spec.problem.groups
        clock = [(point.pulls, point.at) for point in points]
        newest = decisions[-MOST_DECISIONS:]
        return CourseOut(
            points=[PointOut(**point._asdict()) for point in points],
            steps=_steps(len(groups), points, decisions, clock),
            complete=complete,
            dims=[dim.name for dim in self._spec.problem.decided],
            decisions=[
                DecisionOut(
                    pulls=entry.pulls,
                    at=_time_of(clock, entry.pulls),
                    plan=entry.plan,
                    kind=entry.kind,
                    group=None if entry.group < 0 else groups[entry.group],
                )
                for entry in newest
            ],
            more_decisions=len(decisions) - len(newest),
            algorithm=self._spec.algorithm,
        )


def _point(proof: Proof, at: float, head: Head) -> _Point:
    now = proof.standing(head)
    low, _, high = proof.ends
    open_ = np.array([word != "out" for word in now.words])
    with np.errstate(invalid="ignore"):
        widths = (high - low)[open_]
    middle = [short(float(np.median(column)), 4) for column in widths.T] if len(widths) else []
    done = head.state == "done"
    forecast = 0.0 if done else proof.forecast
    return _Point(
        pulls=proof.observed,
        at=at,
        counts=now.counts(),
        ahead=now.ahead,
        forecast=None if forecast is None else short(forecast, 4),
        widths=middle,
    )


def _steps(
    groups: int, points: list[_Point], decisions: list[Entry], clock: list[tuple[int, float]]
) -> list[StepOut]:
    """Return the statuses at points and decisions; between points decisions are what is known."""
    marks: list[tuple[int, int, _Point | Entry]] = [(point.pulls, 0, point) for point in points]
    marks += [(entry.pulls, 1, entry) for entry in decisions if entry.group >= 0]
    decided: Counter[str] = Counter()
    proven: dict[GroupStatus, int] = dict.fromkeys(STATUSES, 0)
    steps: dict[int, StepOut] = {}
    for pulls, _, mark in sorted(marks, key=lambda entry: entry[:2]):
        if isinstance(mark, Entry):
            decided[mark.kind] += 1
        else:
            proven = mark.counts
        counts: dict[GroupStatus, int] = {w: max(decided[w], proven[w]) for w in STATUSES}
        counts["undecided"] = max(0, groups - sum(counts[word] for word in STATUSES[:-1]))
        steps[pulls] = StepOut(pulls=pulls, at=_time_of(clock, pulls), counts=counts)
    return list(steps.values())


def _time_of(clock: list[tuple[int, float]], pulls: int) -> float | None:
    """Return when a study had so many observations, between the points that are known.

    >>> _time_of([(10, 100.0), (20, 200.0)], 15)
    150.0
    """
    if not clock:
        return None
    counts, times = zip(*clock, strict=True)
    return round(float(np.interp(pulls, counts, times)), 1)

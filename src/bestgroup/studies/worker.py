"""A worker of a served study: asks, measures, tells, until the study has ended.

A server that is away is waited for (`client.py`); an evaluation that fails gives its ticket back,
and whoever gets it next uses the same seed. The loop itself is that of `solve` (`loop.py`).
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bestgroup.errors import BestGroupError, EvaluationFailed, InvalidInput, TicketError
from bestgroup.problem.problem import Problem
from bestgroup.studies.client import Client
from bestgroup.studies.evaluators import Evaluator, Pull
from bestgroup.studies.loop import Done, Job, Loop, Pace, Reply
from bestgroup.studies.storage.backoff import Backoff

_AFTER_FAILURE = (1.0, 30.0)  # seconds


@dataclass(frozen=True)
class Plan:
    """How a worker goes about it."""

    jobs: int = 1  # evaluations at a time
    batch: int = 1  # tickets in one ask, for each of them
    repeats: int = 1  # pulls in one ticket
    lease: float = 60.0  # seconds
    failures: int = 5  # in a row, after which it gives up


class _Served:
    """A study of a server as a source of jobs."""

    def __init__(self, client: Client, plan: Plan) -> None:
        self._client = client
        self.problem = Problem.from_dict(client.describe()["problem"])
        owner = f"{socket.gethostname()}:{os.getpid()}"[:150]
        self._wish = {"repeats": plan.repeats, "lease": plan.lease, "owner": owner}

    def ask(self, n: int) -> Reply:
        """Return up to `n` jobs."""
        return _reply(self._client.ask(n, **self._wish))

    def tell(self, results: Sequence[tuple[Job, Any]], n: int) -> Reply:
        """Tell rows of values, and return up to `n` further jobs, in one request."""
        plain = [(job.ticket, [row.tolist() for row in rows]) for job, rows in results]
        try:
            return _reply(self._client.tell(plain, {"n": n, **self._wish} if n else None))
        except TicketError:
            return self._tell_each(plain)

    def _tell_each(self, results: Sequence[tuple[Any, Any]]) -> Reply:
        """Tell one by one: a ticket that is refused must not keep the others back."""
        told = lost = 0
        for result in results:
            try:
                told += self._client.tell([result])["new"]
            except TicketError:
                lost += 1
        return Reply(told=told, lost=lost)

    def fail(self, job: Job, reason: str) -> None:
        """Give a job back that could not be evaluated."""
        with suppress(TicketError):  # the lease had ended
            self._client.fail(job.ticket, f"{_place(job)}: {reason}")

    def hold(self, jobs: Sequence[Job], lease: float) -> list[int]:
        """Hold leases for some more seconds; returns the places of those that were lost."""
        return self._client.hold([job.ticket for job in jobs], lease)


class Worker(Loop):
    """Runs an evaluator on the tickets of one study, several at once."""

    def __init__(
        self, client: Client, evaluate: Callable[..., Any], plan: Plan, stop: threading.Event
    ) -> None:
        source = _Served(client, plan)
        if isinstance(evaluate, Evaluator):
            evaluate.check(source.problem)
            if source.problem.items is not None:
                evaluate.on_items()
        # Never the caller's thread: Ctrl-C there must not tear an evaluation apart.
        pace = Pace(threads=plan.jobs, ahead=plan.jobs * plan.batch, lease=plan.lease)
        super().__init__(source, evaluate, pace, stop)
        self._failures, self._bad = plan.failures, Backoff(*_AFTER_FAILURE)

    def work(self) -> Done:
        """Work until the study has ended, `stop` is set or it gives up; returns what was done."""
        self._guarded(self.run)
        return self.end()

    def end(self) -> Done:
        """Wait for the evaluations under way, after Ctrl-C, say, and return what was done."""
        self.stop.set()  # nobody waits for a server that is away
        self._guarded(self.run_out)
        self._guarded(self.close)
        return self.done

    def _guarded(self, act: Callable[[], None]) -> None:
        stopped = self.stop.is_set()
        try:
            act()
        except BestGroupError as error:
            # A server that is away when one was told to stop is no mistake.
            if not stopped:
                self.done.error = self.done.error or error

    def give_up(self, job: Job, tries: int, error: EvaluationFailed) -> None:
        """Go on after a while, but not for ever."""
        if self.in_a_row > self._failures:
            raise InvalidInput(
                f"{self.in_a_row} evaluations in a row failed; {_place(job)}: {error}"
            )
        if self.in_a_row == 1:
            self._bad.reset()
        self.stop.wait(self._bad.next())


def _place(job: Job) -> str:
    return f"{job.arm} of {job.group}, {job.where}"


def _reply(answer: dict[str, Any]) -> Reply:
    jobs = [_job(ticket) for ticket in answer.get("tickets", ())]
    return Reply(jobs, answer["state"], answer.get("new", 0))


def _job(ticket: dict[str, Any]) -> Job:
    seeds = ticket["seeds"]
    pulls = tuple(map(Pull, seeds, ticket.get("items") or [None] * len(seeds)))
    return Job(ticket["group"], ticket["arm"], ticket["index"], pulls, ticket)

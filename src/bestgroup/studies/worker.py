"""A worker of a served study: asks, measures, tells, until the study has ended.

Leases are held while a measurement takes long; a server that is away is waited for; an evaluation
that fails gives its ticket back, and whoever gets it next uses the same seed.
"""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bestgroup.errors import BestGroupError, EvaluationFailed, InvalidInput, TicketError
from bestgroup.problem.problem import Problem
from bestgroup.studies.client import Client
from bestgroup.studies.evaluators import Evaluator, Pull, floor_rows, measure

TELL_AFTER = 1.0  # seconds that a result may wait for others of its batch
LONGEST_PAUSE = 2.0  # seconds between two questions for tickets


@dataclass(frozen=True)
class Plan:
    """How a worker goes about it."""

    jobs: int = 1  # evaluations at a time
    batch: int = 1  # tickets in one ask
    repeats: int = 1  # pulls in one ticket
    lease: float = 60.0  # seconds
    failures: int = 5  # in a row, after which a job gives up


@dataclass
class Tally:
    """What a worker has done."""

    told: int = 0
    failed: int = 0
    lost: int = 0
    state: str = "running"
    error: BestGroupError | None = None
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)


class Worker:
    """Runs an evaluator on the tickets of one study, several at once."""

    def __init__(
        self,
        client: Client,
        evaluate: Callable[..., Any],
        plan: Plan,
        stop: threading.Event,
    ) -> None:
        self._client, self._evaluate, self._plan, self._stop = client, evaluate, plan, stop
        self._problem = Problem.from_dict(client.describe()["problem"])
        if isinstance(evaluate, Evaluator):
            evaluate.check(self._problem)
            if self._problem.items is not None:
                evaluate.on_items()
        self._held: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._jobs: list[threading.Thread] = []
        self._heart = threading.Thread(target=self._beat, daemon=True)
        self._ended = threading.Event()
        self.done = Tally()
        self._name = f"{socket.gethostname()}:{os.getpid()}"[:150]

    def run(self) -> Tally:
        """Work until the study has ended, `stop` is set or a job gives up; returns what was done."""
        self._jobs = [
            threading.Thread(target=self._guarded, args=(f"{self._name}:{k}",), daemon=True)
            for k in range(self._plan.jobs)
        ]
        for thread in (*self._jobs, self._heart):
            thread.start()
        return self.run_out()

    def run_out(self) -> Tally:
        """Wait for the evaluations under way, after `stop` was set, say."""
        for thread in self._jobs:
            _wait_for(thread)
        self._ended.set()
        self._stop.set()  # the heart must not wait for a server that is away
        _wait_for(self._heart)  # a beat under way would hold again what is let go here
        self._let_go()
        return self.done

    def _guarded(self, owner: str) -> None:
        try:
            self._job(owner)
        except BestGroupError as error:
            if not (self._stop.is_set() and self.done.error is None):
                with self.done.lock:
                    self.done.error = self.done.error or error
            self._stop.set()

    def _job(self, owner: str) -> None:
        plan, pause, bad = self._plan, 0.05, 0
        wish = {"n": plan.batch, "repeats": plan.repeats, "lease": plan.lease, "owner": owner}
        asked: dict[str, Any] | None = None
        while not self._stop.is_set():
            asked = asked or self._client.ask(**wish)
            self.done.state = asked["state"]
            if asked["state"] != "running":
                return
            if not asked["tickets"]:
                self._stop.wait(pause * (0.5 + random.random()))
                pause, asked = min(2 * pause, LONGEST_PAUSE), None
                continue
            pause = 0.05
            with self.done.lock:
                self._held |= {_key(ticket): ticket for ticket in asked["tickets"]}
            bad, asked = self._measure(asked["tickets"], bad, wish)
            if bad:
                self._stop.wait(min(0.5 * 2**bad, 30.0))

    def _measure(
        self, tickets: list[dict[str, Any]], bad: int, wish: dict[str, Any]
    ) -> tuple[int, dict[str, Any] | None]:
        """Evaluate and tell; returns the failures in a row, and what the last tell has brought."""
        ready: list[tuple[dict[str, Any], Any]] = []
        spoken = time.monotonic()
        for ticket in tickets:
            if self._stop.is_set():
                break
            try:
                rows = self._rows(ticket)
            except EvaluationFailed as error:
                floor = floor_rows(self._problem, len(ticket["seeds"]))
                if floor is not None:
                    ready.append((ticket, [row.tolist() for row in floor]))
                    continue
                bad += 1
                self._give_back(ticket, str(error))
                if bad > self._plan.failures:
                    self._tell(ready)
                    raise InvalidInput(f"{bad} evaluations in a row failed; {error}") from None
                continue
            except InvalidInput as error:
                self._give_back(ticket, str(error))
                raise
            bad = 0
            ready.append((ticket, rows))
            if time.monotonic() - spoken > TELL_AFTER and ticket is not tickets[-1]:
                self._tell(ready)
                ready, spoken = [], time.monotonic()
        more = None if bad or self._stop.is_set() else wish
        return bad, self._tell(ready, more)

    def _rows(self, ticket: dict[str, Any]) -> list[list[float]]:
        group, arm, seeds = ticket["group"], ticket["arm"], ticket["seeds"]
        items = ticket.get("items") or [None] * len(seeds)
        pulls = [Pull(seed, item) for seed, item in zip(seeds, items, strict=True)]
        try:
            rows = measure(self._evaluate, self._problem, group, arm, pulls)
        except EvaluationFailed as error:
            at = f"seed {seeds[0]}" if items[0] is None else f"item {items[0]!r}"
            raise EvaluationFailed(f"{arm} of {group}, {at}: {error}") from None
        return [row.tolist() for row in rows]

    def _tell(
        self, ready: list[tuple[dict[str, Any], Any]], wish: dict[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """Tell results; returns the answer if it brought tickets or the end."""
        if not ready:
            return None
        answer: dict[str, Any] | None = None
        try:
            answer = self._client.tell(ready, wish)
            told, lost = answer["new"], 0
        except TicketError:
            told, lost = self._tell_each(ready)
        with self.done.lock:
            self.done.told += told
            self.done.lost += lost
            for ticket, _ in ready:
                self._held.pop(_key(ticket), None)
        return answer if wish is not None else None

    def _tell_each(self, ready: list[tuple[dict[str, Any], Any]]) -> tuple[int, int]:
        """Tell one by one: a ticket that is refused must not keep the others back."""
        told = lost = 0
        for result in ready:
            try:
                told += self._client.tell([result])["new"]
            except TicketError:
                lost += 1
        return told, lost

    def _give_back(self, ticket: dict[str, Any], reason: str) -> None:
        with self.done.lock:
            self.done.failed += 1
            self._held.pop(_key(ticket), None)
        try:
            self._client.fail(ticket, reason)
        except TicketError:
            return  # the lease had ended

    def _beat(self) -> None:
        while not self._ended.wait(self._plan.lease / 3):
            with self.done.lock:
                held = list(self._held.values())
            try:
                lost = self._client.hold(held, self._plan.lease) if held else []
            except BestGroupError:
                continue  # the jobs meet the same trouble and say so
            with self.done.lock:
                for place in lost:
                    self._held.pop(_key(held[place]), None)

    def _let_go(self) -> None:
        """End the leases of what was not measured, so that others need not wait for it."""
        held = list(self._held.values())
        try:
            if held:
                self._client.hold(held, 1e-3)
        except BestGroupError:
            return


def _wait_for(thread: threading.Thread) -> None:
    while thread.is_alive():  # a plain join would keep Ctrl-C waiting
        thread.join(0.2)


def _key(ticket: dict[str, Any]) -> tuple[Any, ...]:
    return ticket["group"], ticket["arm"], ticket["index"]

"""Ask, evaluate, tell: the one loop of `solve` and of `bestgroup work`.

The thread that calls `run` alone speaks with the study: it asks for tickets when its queue is
empty, tells what is ready with the same call, and takes what the evaluating threads have finished.
Those threads do nothing but evaluate; with none of them the caller's thread does, so that a plain
function is called where the user is. One more thread renews leases, so that a crash frees tickets
soon and a long evaluation loses none.

Weak points: while the loop waits after a failure it starts nothing else; and a result may wait up
to `TELL_AFTER` for others of its batch, which another worker's plan may wait for.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from bestgroup.errors import BestGroupError, EvaluationFailed, InvalidInput
from bestgroup.problem.problem import Problem
from bestgroup.studies.evaluators import Pull, floor_rows, measure
from bestgroup.studies.storage.backoff import Backoff

TELL_AFTER = 1.0  # seconds that a result may wait for others
_IDLE = (0.05, 2.0)  # seconds between two questions to a study whose tickets others hold
_RETRY = (0.05, 2.0)  # seconds before an evaluation that failed is tried again


class Job(NamedTuple):
    """The pulls of a ticket, and the ticket as its source knows it."""

    group: str
    arm: str
    first: int
    pulls: tuple[Pull, ...]
    ticket: Any

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from other jobs of the study."""
        return self.group, self.arm, self.first

    @property
    def where(self) -> str:
        """The item or the seed of its first pull, for messages."""
        seed, item = self.pulls[0]
        return f"seed {seed}" if item is None else f"item {item!r}"


class Reply(NamedTuple):
    """What a source answers: new jobs, the state of the study, and what became of results."""

    jobs: Sequence[Job] = ()
    state: str = "running"
    told: int = 0
    lost: int = 0  # results whose tickets were refused


class Source(Protocol):
    """Where jobs come from and results go: a study in this process, or a server."""

    problem: Problem

    def ask(self, n: int) -> Reply:
        """Return up to `n` jobs."""
        ...

    def tell(self, results: Sequence[tuple[Job, Any]], n: int) -> Reply:
        """Tell rows of values, and return up to `n` further jobs."""
        ...

    def fail(self, job: Job, reason: str) -> None:
        """Give a job back that could not be evaluated."""
        ...

    def hold(self, jobs: Sequence[Job], lease: float) -> Sequence[int]:
        """Hold leases for some more seconds; returns the places of those that were lost."""
        ...


@dataclass(frozen=True)
class Pace:
    """How a loop goes about it."""

    threads: int = 0  # that evaluate; 0: the caller's does
    ahead: int = 1  # jobs held at a time, those under way included
    lease: float = 60.0  # seconds
    retries: int = 0  # of a job that fails, with the same seeds
    per_arm: int | None = None  # evaluations of one arm at a time, at most


@dataclass
class Done:
    """What a loop has done."""

    told: int = 0
    failed: int = 0
    lost: int = 0
    state: str = "running"
    error: BestGroupError | None = None


class Loop:
    """Keeps all evaluating threads busy until the study ends, or `stop` is set."""

    def __init__(
        self,
        source: Source,
        evaluate: Callable[..., Any],
        pace: Pace,
        stop: threading.Event | None = None,
    ) -> None:
        self.source, self.pace, self.done = source, pace, Done()
        self.stop = stop or threading.Event()
        self._evaluate = evaluate
        self._queue: deque[tuple[Job, int]] = deque()  # jobs, and how often they were tried
        self._running: dict[tuple[str, str, int], tuple[Job, int]] = {}
        self._ready: list[tuple[Job, Any]] = []
        self._held: dict[tuple[str, str, int], Job] = {}
        self._lock = threading.Lock()  # of what is held
        self._idle, self._retry = Backoff(*_IDLE), Backoff(*_RETRY)
        self._told_at = time.monotonic()
        self._hands = _Hands(pace.threads, self.rows)
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._beat, daemon=True)
        self.in_a_row = 0  # failures, in the order in which evaluations ended

    def run(self) -> None:
        """Work until nothing is left to ask, or `stop` is set; then wait for what is under way."""
        self._heart.start()
        while not self.stop.is_set() and self._turn():
            pass
        self.run_out()

    def run_out(self) -> None:
        """Wait for the evaluations under way, and tell them."""
        while self._running:
            self._collect()
        self._tell(0)

    def close(self) -> None:
        """Tell what is ready, and end the leases of the rest: others need not wait for it."""
        for key, outcome in self._hands.ended():
            if key in self._running and not isinstance(outcome, BaseException):
                self._ready.append((self._running.pop(key)[0], outcome))
        try:
            self._tell(0)
        finally:
            self._hands.close()
            self._over.set()
            if self._heart.is_alive():
                self._heart.join(5.0)  # a beat under way would hold again what is let go here
            with suppress(BestGroupError):
                if self._held:
                    self.source.hold(list(self._held.values()), 1e-3)

    def wish(self) -> int:
        """Return how many more jobs to ask for."""
        return self.pace.ahead - len(self._queue) - len(self._running)

    def rows(self, job: Job) -> Any:
        """Return the values of a job's pulls; runs in the evaluating threads."""
        return measure(self._evaluate, self.source.problem, job.group, job.arm, job.pulls)

    def give_up(self, job: Job, tries: int, error: EvaluationFailed) -> None:
        """Decide what a job's last failure means: raise to end the loop, return to go on."""
        raise error

    def try_again(self, job: Job, error: EvaluationFailed) -> None:
        """Note that a job failed and will be tried again."""

    def after_tell(self) -> None:
        """Look at what has changed; called after results were told."""

    def _turn(self) -> bool:
        """Do what can be done now; returns whether there may be more."""
        if not self._queue:
            self._exchange()
        self._start()
        if self._running:
            self._collect()
            if time.monotonic() - self._told_at > TELL_AFTER:
                self._tell(0)
            return True
        if self._queue:
            return True
        if self.done.state != "running" or self.wish() <= 0:
            return False
        self.stop.wait(self._idle.next())
        return True

    def _exchange(self) -> None:
        """Tell what is ready, and ask for more."""
        reply = self._tell(max(self.wish(), 0))
        if reply is None and self.wish() > 0:
            reply = self.source.ask(self.wish())
        if reply is None:
            return
        self.done.state = reply.state
        if reply.jobs:
            self._idle.reset()
        with self._lock:
            self._held |= {job.key: job for job in reply.jobs}
        # After a lost reply, or when a lease has run out, one may be given what one has already.
        mine = {job.key for job, _ in (*self._queue, *self._running.values(), *self._ready)}
        self._queue.extend((job, 0) for job in reply.jobs if job.key not in mine)

    def _start(self) -> None:
        """Hand jobs to the threads that are free."""
        while len(self._running) < max(self.pace.threads, 1):
            at = self._next()
            if at is None:
                return
            job, tries = self._queue[at]
            del self._queue[at]
            self._running[job.key] = job, tries
            self._hands.submit(job)

    def _next(self) -> int | None:
        """Return the place in the queue of a job that may start now."""
        most = self.pace.per_arm
        if most is None:
            return 0 if self._queue else None
        busy = Counter(key[:2] for key in self._running)
        for k, (job, _) in enumerate(self._queue):
            if busy[job.group, job.arm] < most:
                return k
        return None

    def _collect(self) -> None:
        """Take what has been evaluated, waiting for the first."""
        for key, outcome in self._hands.finished():
            job, tries = self._running.pop(key)
            if isinstance(outcome, EvaluationFailed):
                self._failed(job, tries, outcome)
            elif isinstance(outcome, InvalidInput):
                self._give_back(job, str(outcome))
                raise outcome
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                self.in_a_row = 0
                self._retry.reset()
                self._ready.append((job, outcome))

    def _failed(self, job: Job, tries: int, error: EvaluationFailed) -> None:
        """Try again with the same seeds, so that luck is not selected; or count the floor, or give up."""
        if tries < self.pace.retries and not self.stop.is_set():
            self.try_again(job, error)
            self.stop.wait(self._retry.next())
            self._queue.appendleft((job, tries + 1))
            return
        floor = floor_rows(self.source.problem, len(job.pulls))
        if floor is not None:
            self._ready.append((job, floor))
            return
        self.in_a_row += 1
        self._tell(0)
        self._give_back(job, str(error))
        self.give_up(job, tries, error)

    def _tell(self, wanted: int) -> Reply | None:
        """Tell what is ready; returns the reply if it says more than how much of it was new."""
        if not self._ready:
            return None
        results, self._ready = self._ready, []
        try:
            reply = self.source.tell(results, wanted)
        except Exception:
            raise  # refused, and it would be again
        except BaseException:
            self._ready = results  # Ctrl-C: nobody knows whether it was told; twice does no harm
            raise
        self._told_at = time.monotonic()
        self.done.told += reply.told
        self.done.lost += reply.lost
        self._let_go(job for job, _ in results)
        self.after_tell()
        return reply if wanted and not reply.lost else None

    def _give_back(self, job: Job, reason: str) -> None:
        self.done.failed += 1
        self._let_go([job])
        self.source.fail(job, reason)

    def _let_go(self, jobs: Any) -> None:
        with self._lock:
            for job in jobs:
                self._held.pop(job.key, None)

    def _beat(self) -> None:
        """Keep the leases of all that is held."""
        while not self._over.wait(self.pace.lease / 3):
            with self._lock:
                held = list(self._held.values())
            lost: Sequence[int] = ()
            with suppress(BestGroupError):  # the loop meets the same trouble and says so
                lost = self.source.hold(held, self.pace.lease) if held else ()
            self._let_go(held[place] for place in lost)


class _Hands:
    """Threads that evaluate; with none of them whoever submits evaluates."""

    def __init__(self, count: int, work: Callable[[Job], Any]) -> None:
        self._work = work
        self._todo: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[tuple[str, str, int], Any]] = queue.SimpleQueue()
        # Daemons: an evaluation that hangs must not keep the process.
        self._threads = [
            threading.Thread(target=self._serve, name=f"evaluator {k}", daemon=True)
            for k in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> None:
        """Have a job evaluated."""
        if self._threads:
            self._todo.put(job)
        else:
            self._attempt(job)

    def finished(self) -> list[tuple[tuple[str, str, int], Any]]:
        """Return what has ended, at least one: the key of a job with its values or its error."""
        found = []
        while not found or not self._done.empty():
            with suppress(queue.Empty):
                found.append(self._done.get(timeout=0.2))  # for ever would keep Ctrl-C waiting
        return found

    def ended(self) -> list[tuple[tuple[str, str, int], Any]]:
        """Return what has ended and was not taken, without waiting."""
        found = []
        with suppress(queue.Empty):
            while True:
                found.append(self._done.get_nowait())
        return found

    def close(self) -> None:
        """Have the threads end."""
        for _ in self._threads:
            self._todo.put(None)

    def _serve(self) -> None:
        while (job := self._todo.get()) is not None:
            self._attempt(job)

    def _attempt(self, job: Job) -> None:
        try:
            outcome = self._work(job)
        except Exception as error:
            outcome = error
        self._done.put((job.key, outcome))

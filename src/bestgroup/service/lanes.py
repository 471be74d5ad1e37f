"""Fairness between studies: requests wait in line for their own study, not in each other's way.

A route takes a thread while it works or waits for a lock. Without lines the workers of one study, or
a few explanations, would take all of them, and every other study would wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

from starlette.types import Scope

THREADS = 64
OF_A_STUDY = 2  # requests of one study that are worked on at a time: a storage writes one by one
HEAVY = {"import", "explain", "view", "export", "course", "report", "arms", "answer", "status"}
HEAVY |= {"proof", "links", "verified"}
HEAVY_OF_A_STUDY = 2
HEAVY_IN_ALL = 6
OUTSIDE = {"events"}  # stays open and takes no thread while it waits
PREFIX = "/api/v1/"


class Lanes:
    """A line for each study, and one for what takes long."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, bool], tuple[asyncio.Semaphore, int]] = {}
        self._heavy: asyncio.Semaphore | None = None

    @asynccontextmanager
    async def turn(self, scope: Scope) -> AsyncIterator[None]:
        """Wait until a request may go on."""
        path = scope["path"]
        route = path.removeprefix(PREFIX)
        if not path.startswith(PREFIX) or route in OUTSIDE:
            yield
            return
        study = parse_qs(scope["query_string"].decode("latin-1")).get("study", [""])[0]
        heavy = route in HEAVY
        async with self._line(study, heavy):
            if not heavy:
                yield
                return
            if self._heavy is None:
                self._heavy = asyncio.Semaphore(HEAVY_IN_ALL)
            async with self._heavy:
                yield

    @asynccontextmanager
    async def _line(self, study: str, heavy: bool) -> AsyncIterator[None]:
        key = study, heavy
        size = HEAVY_OF_A_STUDY if heavy else OF_A_STUDY
        line, users = self._lines.get(key, (asyncio.Semaphore(size), 0))
        self._lines[key] = line, users + 1
        try:
            async with line:
                yield
        finally:
            line, users = self._lines[key]
            if users == 1:
                del self._lines[key]
            else:
                self._lines[key] = line, users - 1


class Attempts:
    """Requests without a token that a host may make: so many at once, so many a second."""

    def __init__(self, burst: float = 300.0, rate: float = 10.0, hosts: int = 10_000) -> None:
        self._burst, self._rate, self._hosts = burst, rate, hosts
        self._left: dict[str, tuple[float, float]] = {}

    def allow(self, host: str, now: float) -> bool:
        """Return whether a host may fail once more.

        >>> attempts = Attempts(burst=2, rate=1.0)
        >>> [attempts.allow("a", now) for now in (0.0, 0.0, 0.0, 1.5)]
        [True, True, False, True]
        """
        left, then = self._left.pop(host, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        allowed = left >= 1.0
        self._left[host] = (left - 1.0 if allowed else left), now
        if len(self._left) > self._hosts:
            del self._left[next(iter(self._left))]
        return allowed

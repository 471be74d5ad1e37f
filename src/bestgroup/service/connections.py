"""Connections that do not lock others out: a head or a body that does not come is not waited for.

Before a request's head has come nobody knows whether it brings a token, so anybody who reaches the
port can open connections. They get a few seconds; when there are too many, the oldest of those that
have sent no request yet go first.
"""

from __future__ import annotations

import asyncio
import resource
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_SECONDS = 10.0  # to send the head of a request
BODY_SECONDS = 300.0  # to send its body: a table of 256 MB, say
SPARE = 128  # files that are kept for the storage and the like
_Base: Any = AutoHTTPProtocol


class Connection(_Base):
    """A connection with deadlines."""

    most = 900

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a head; the oldest that waits goes if there are too many."""
        super().connection_made(transport)
        self.born = self.loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._wait_for_head()
        if len(self.connections) > self.most:
            idle = [c for c in self.connections if isinstance(c, Connection) and c.is_idle()]
            min(idle, key=lambda c: c.born, default=self).transport.close()

    def is_idle(self) -> bool:
        """Return whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Take data; once the head is there the body has its own deadline."""
        before = self.cycle
        if self._timer is None and self.is_idle():
            self._wait_for_head()
        super().data_received(data)
        if self.cycle is not before:
            self._stop()
            if self.cycle is not None and self.cycle.more_body:
                self._timer = self.loop.call_later(BODY_SECONDS, self._late_body, self.cycle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._stop()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self._late_head, self.cycle)

    def _late_head(self, before: Any) -> None:
        self._timer = None
        if self.cycle is before:
            self.transport.close()

    def _late_body(self, cycle: Any) -> None:
        self._timer = None
        if self.cycle is cycle and cycle.more_body:
            self.transport.close()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def make_room() -> None:
    """Let this process open as many files as it may, and connections take all but a few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    most = 4096 if soft == resource.RLIM_INFINITY else soft - SPARE
    Connection.most = max(64, min(4096, most))

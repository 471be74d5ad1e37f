"""Server-sent events: the head of a study whenever it changes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator

from fastapi import Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from bestgroup.errors import BestGroupError
from bestgroup.service.hub import Watched
from bestgroup.service.problems import TooMany

MOST = 200  # streams at a time
PAUSE = 0.5  # seconds between two looks
QUIET = 15.0  # seconds after which a comment keeps the connection open


def stream(request: Request, watched: Watched) -> StreamingResponse:
    """Return the stream of a study's events; TooMany if there are too many streams."""
    gauge = request.app.state.metrics.streams
    if request.app.state.streams >= MOST:
        raise TooMany(f"there are {MOST} event streams already; ask for the status instead")

    async def events() -> AsyncIterator[str]:
        request.app.state.streams += 1
        gauge.inc()
        try:
            async for text in _changes(request, watched):
                yield text
        finally:
            request.app.state.streams -= 1
            gauge.dec()

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events(), media_type="text/event-stream", headers=headers)


async def _changes(request: Request, watched: Watched) -> AsyncIterator[str]:
    """Yield events until the server closes; the server ends it when the client has gone."""
    before, spoken = None, time.monotonic()
    yield "retry: 2000\n\n"
    while not request.app.state.closing.is_set():
        try:
            head = await run_in_threadpool(watched.head, PAUSE)
        except BestGroupError as error:
            yield _event("problem", {"detail": str(error)})
            return
        now = {"state": head.state, "plan": head.plan, "told": head.told, "pulls": head.pulls}
        if now != before:
            before, spoken = now, time.monotonic()
            yield _event("head", now)
        elif time.monotonic() - spoken > QUIET:
            spoken = time.monotonic()
            yield ": still here\n\n"
        await asyncio.sleep(PAUSE)


def _event(name: str, data: dict[str, object]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"

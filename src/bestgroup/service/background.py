"""Work that may take long, in a process of its own: asks and tells never share an interpreter with it.

Requests are handed over as they come, as ASGI messages over a Unix socket in a folder of ours, one
connection a request. A process that ends, for want of memory, say, is started again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import shutil
import socket
import struct
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from bestgroup.service.problems import Busy

log = logging.getLogger("bestgroup.service")
PREFIX = "/api/v1/"
# What is quick, or must be: these stay in the process that answers the network.
AT_ONCE = {"session", "ask", "tell", "fail", "heartbeat", "events", "demo", "demo/work"}
HANDED_ON = ("type", "http_version", "method", "scheme", "path", "raw_path", "query_string")
HANDED_ON += ("root_path", "headers", "client", "server")
LAG = "/lag"  # an address of the background process alone
PATIENCE = 2.0  # seconds to wait for a number
WAITING = 512  # connections that wait while the process starts
Ended = Callable[[], Awaitable[None]]
_LENGTH = struct.Struct("<Q")


class Gone(Exception):
    """The process has ended before it had answered."""


def takes(path: str) -> bool:
    """Return whether requests for an address are for the background process.

    >>> [takes(f"/api/v1/{route}") for route in ("tell", "explain")], takes("/healthz")
    ([False, True], False)
    """
    return path.startswith(PREFIX) and path.removeprefix(PREFIX) not in AT_ONCE


class Background:
    """The process, kept alive, and the way to it."""

    def __init__(self, storage: str) -> None:
        self._storage = storage
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._folder, self._path = "", ""

    async def start(self) -> None:
        """Start the process and see that there is one from now on."""
        self._folder = tempfile.mkdtemp(prefix="bestgroup-")
        self._path = str(Path(self._folder) / "socket")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(self._path)
        listener.listen(WAITING)  # those who come while it starts wait here
        self._keeper = asyncio.create_task(self._keep(listener))

    async def stop(self) -> None:
        """End the process."""
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def pid(self) -> int | None:
        """The number of the process; None while there is none."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if running and self._process is not None else None

    def memory(self) -> float:
        """Return the bytes of memory that the process holds; 0 where that cannot be read."""
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0.0
        return float(int(pages) * os.sysconf("SC_PAGE_SIZE"))

    async def _keep(self, listener: socket.socket) -> None:
        module, number = "bestgroup.service.background_process", str(listener.fileno())
        pause = 0.1
        try:
            while True:
                self._process = process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    module,
                    number,
                    stdin=asyncio.subprocess.PIPE,
                    pass_fds=(listener.fileno(),),
                )
                assert process.stdin is not None
                config = {"storage": self._storage, "level": log.getEffectiveLevel()}
                with suppress(ConnectionError):
                    # Not as an argument: an address may hold a password. The end of this pipe
                    # tells the process that we are gone, however we went.
                    process.stdin.write(json.dumps(config).encode() + b"\n")
                    await process.stdin.drain()
                begun = asyncio.get_running_loop().time()
                code = await process.wait()
                log.error("the background process has ended", extra={"entry": {"code": code}})
                lived = asyncio.get_running_loop().time() - begun
                pause = 0.1 if lived > 10.0 else min(2.0 * pause, 5.0)
                await asyncio.sleep(pause)
        finally:
            listener.close()
            if self._process is not None and self._process.returncode is None:
                self._process.kill()
                await self._process.wait()

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, ended: Ended | None = None
    ) -> None:
        """Have a request answered there; what the route has noted is added to the scope's state.

        `ended` is awaited when all is done and before whoever asked can know.
        """
        again = scope["method"] in ("GET", "HEAD")  # has no body, and changes nothing
        for attempt in (0, 1):
            exchange = _Exchange(scope, receive, send, ended)
            try:
                await exchange.run(self._path)
                return
            except (Gone, ConnectionError):
                if exchange.begun:
                    raise
                if attempt or not again:
                    break
        raise Busy("the process that does this ended and is being started again; try again")

    async def fetch(self, path: str) -> bytes:
        """Return what the process answers at an address that is there for its server alone."""
        scope: Scope = {"type": "http", "http_version": "1.1", "method": "GET", "path": path}
        scope |= {"query_string": b"", "headers": []}
        parts: list[bytes] = []

        async def receive() -> Message:
            await asyncio.sleep(PATIENCE)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            parts.append(message.get("body", b""))

        async with asyncio.timeout(PATIENCE):
            await self(scope, receive, send)
        return b"".join(parts)


class _Exchange:
    """One request on its way there and back."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, ended: Ended | None) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._ended = ended
        self.begun = False

    async def run(self, path: str) -> None:
        reader, writer = await asyncio.open_unix_connection(path)
        there = asyncio.create_task(self._hand_on(writer))
        back = asyncio.create_task(self._bring_back(reader))
        try:
            # Whoever asked may go before there is an answer: then nobody waits for it.
            done, _ = await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
            if back not in done and isinstance(there.exception(), ConnectionError):
                done = {back}  # it ended, perhaps after an answer
                await asyncio.wait(done)
            for task in done:
                task.result()
        finally:
            for task in (there, back):
                task.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
            writer.close()

    async def _hand_on(self, writer: asyncio.StreamWriter) -> None:
        kept = {key: self._scope[key] for key in HANDED_ON if key in self._scope}
        kept["state"] = dict(self._scope.get("state", {}))
        await put(writer, kept)
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return
            await put(writer, message)

    async def _bring_back(self, reader: asyncio.StreamReader) -> None:
        last: Message | None = None
        while True:
            message = await get(reader)
            if message is None:
                raise Gone
            if message["type"] == "noted":
                break
            if message["type"] == "http.response.body" and not message.get("more_body"):
                last = message
                continue
            self.begun = True
            await self._send(message)
        self._scope.setdefault("state", {}).update(message["state"])
        if self._ended is not None:
            await self._ended()
        if last is not None:
            await self._send(last)


async def put(writer: asyncio.StreamWriter, message: Message | Scope) -> None:
    """Write a message, not faster than it is read."""
    data = pickle.dumps(message)
    writer.write(_LENGTH.pack(len(data)) + data)
    await writer.drain()


async def get(reader: asyncio.StreamReader) -> Any:
    """Return the next message; None at the end."""
    try:
        (size,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(size))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None

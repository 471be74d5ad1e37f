"""The background process: the same routes over the same storage, for one server only."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import FastAPI
from starlette.types import Message

from bestgroup.service.app import create_part
from bestgroup.service.background import get, put
from bestgroup.service.middleware import log_to_stderr

NOTES = ("study", "noted")  # of a route, which the server writes down
NICE = 5  # where processors are short, asks and tells come first
REST = 2.0  # seconds that others may write for each second that this process wrote


async def answer(app: FastAPI, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the request of one connection."""
    scope = await get(reader)
    if scope is None:
        writer.close()
        return

    async def receive() -> Message:
        return await get(reader) or {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        await put(writer, message)

    scope["asgi"] = {"version": "3.0"}
    try:
        with suppress(Exception):  # logged, and answered with 500, by the app
            await app(scope, receive, send)
        state = {key: scope["state"][key] for key in NOTES if key in scope["state"]}
        state["route"] = getattr(scope.get("route"), "path", None)
        await put(writer, {"type": "noted", "state": state})
    except ConnectionError:
        pass  # whoever asked has gone
    finally:
        writer.close()


async def serve(app: FastAPI, listener: socket.socket) -> None:
    """Answer until the process ends."""
    async with await asyncio.start_unix_server(partial(answer, app), sock=listener) as server:
        await server.serve_forever()


def end_with_server() -> None:
    """End this process as soon as the server has gone; what is not committed was not answered."""
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    """Serve on the socket whose number is the argument."""
    # Ctrl-C reaches both; the server finishes its requests, and this process with it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    config: dict[str, Any] = json.loads(sys.stdin.buffer.readline() or b"{}")
    if not config:
        return
    os.nice(NICE)
    threading.Thread(target=end_with_server, daemon=True).start()
    log_to_stderr(config["level"])
    app = create_part(config["storage"], REST)
    asyncio.run(serve(app, socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    main()

"""What every request passes: who it is from, a limit on its body, safe headers, log and metrics."""

from __future__ import annotations

import json
import logging
import sys
import time
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bestgroup.errors import BestGroupError
from bestgroup.service import auth, pages, problems
from bestgroup.service.background import Background, takes
from bestgroup.service.hub import IMPORTER, Hub
from bestgroup.service.lanes import Attempts, Lanes
from bestgroup.service.metrics import Metrics
from bestgroup.service.problems import TooMany
from bestgroup.service.tokens import Holder, NamedTokens

log = logging.getLogger("bestgroup.service")
MOST_BODY = 16 * 2**20
MOST_IMPORT = 256 * 2**20
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
OPEN = ("/", "/healthz")  # the page asks for the token by itself
OPEN_FOLDER = "/static/"  # the sign-in needs its style, and there is nothing of a study in it
SAFETY = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]


class Middleware:
    """The outermost layer of the app."""

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        hub: Hub,
        tokens: auth.Tokens | None,
        named: NamedTokens | None = None,
        background: Background | None = None,
    ) -> None:
        self._app, self._metrics, self._tokens, self._named = app, metrics, tokens, named
        self._hub, self._background = hub, background
        self._lanes, self._attempts = Lanes(), Attempts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, seen = time.perf_counter(), {"status": 0}
        caches = scope["path"].startswith(OPEN_FOLDER)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
                own = {name for name, _ in message["headers"]}  # the report has a policy of its own
                headers = [*message["headers"], *(pair for pair in SAFETY if pair[0] not in own)]
                if not caches and all(name != b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
                message = {**message, "headers": headers}
            await send(message)

        try:
            if scope["path"] not in OPEN and not caches:
                holder = await self._holder(scope)
                scope.setdefault("state", {}).update(role=holder.role, who=holder.name)
            async with self._lanes.turn(scope):
                await self._limited(scope, receive, answer)
        except BestGroupError as error:  # before anything of the body was read
            await _refused(Request(scope), error)(scope, receive, answer)
        except Exception as error:
            if seen["status"]:
                raise
            await problems.unexpected(error)(scope, receive, answer)
        finally:
            self._note(scope, seen["status"], time.perf_counter() - begun)

    async def _holder(self, scope: Scope) -> Holder:
        """Return who sent a request; hosts that fail too often are told to wait."""
        request = Request(scope)
        try:
            # The named tokens may have to be read from the storage.
            return await run_in_threadpool(auth.check, request, self._tokens, self._named)
        except auth.Unauthorised:
            host = (scope.get("client") or ("",))[0]
            if not self._attempts.allow(host, time.monotonic()):
                raise TooMany(
                    "too many requests without a token from this address; wait a little"
                ) from None
            raise

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a body that is too long, whether it says so or not."""
        most = MOST_IMPORT if scope["path"].endswith("/import") else MOST_BODY
        headers = dict(scope["headers"])
        declared = headers.get(b"content-length", b"0")
        sentence = f"a body of at most {most // 2**20} MB is taken; send it in parts"
        if not declared.isdigit() or int(declared) > most:
            await problems.answer("TooLarge", 413, sentence)(scope, receive, send)
            return
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                raise HTTPException(413, sentence)
            return message

        if self._background is None or not takes(scope["path"]):
            await self._app(scope, counted, send)
            return
        study = Request(scope).query_params.get("study", "")
        scope.setdefault("state", {})["seen"] = self._hub.seen(study)
        try:
            await self._background(scope, counted, send, partial(self._catch_up, scope, study))
        except HTTPException as error:  # the body was too long
            await problems.answer("TooLarge", error.status_code, error.detail)(scope, receive, send)

    async def _catch_up(self, scope: Scope, study: str) -> None:
        """Take note of what the background process has changed."""
        state = scope["state"]
        if new := state.get("noted", 0):
            self._metrics.told.inc(new)
            self._hub.note(study, IMPORTER, new)
        if scope["method"] == "DELETE":
            self._hub.forget(study)
        elif scope["method"] == "POST" and not study:
            with suppress(BestGroupError):  # a name may stand for another study now
                await run_in_threadpool(self._hub.refresh)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route: Any = scope.get("route")
        state = scope.get("state", {})
        path = getattr(route, "path", None) or state.get("route") or "other"
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self._metrics.requests.labels(method, path, str(status)).inc()
        self._metrics.seconds.labels(path).observe(seconds)
        level = logging.INFO if status < 500 else logging.ERROR
        # The route, not the address: queries and headers may hold tokens.
        entry = {"method": method, "route": path, "status": status, "ms": round(seconds * 1e3, 2)}
        # A study by its identity: names may say what an experiment is about.
        entry |= {key: value for key in ("who", "study") if (value := state.get(key))}
        log.log(level, "request", extra={"entry": entry})


def _refused(request: Request, error: BestGroupError) -> Response:
    """Return why a request does not pass; for somebody with a browser, the way in."""
    if error.status == 401 and pages.wants_html(request):
        return pages.sign_in(request)
    return problems.refusal(error)


_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "entry", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def log_to_stderr(level: int) -> None:
    """Send the log of the service and of uvicorn to the standard error as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("bestgroup.service", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)

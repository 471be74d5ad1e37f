"""`create_app`: the service over a storage; `serve`: runs it until it is told to stop."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio.to_thread
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool

from bestgroup._version import __version__
from bestgroup.errors import BestGroupError, InvalidInput
from bestgroup.service import api, auth, looking, making, pages, problems, proof_files
from bestgroup.service.background import LAG, Background
from bestgroup.service.connections import Connection, make_room
from bestgroup.service.demo import DemoWorkers
from bestgroup.service.hub import Hub
from bestgroup.service.lanes import THREADS
from bestgroup.service.metrics import CONTENT_TYPE, Metrics
from bestgroup.service.middleware import Middleware, log_to_stderr
from bestgroup.service.pages import STATIC
from bestgroup.service.pulse import Pulse
from bestgroup.service.schemas import Health
from bestgroup.service.tokens import NamedTokens

TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
FILES = {path.name: TYPES[path.suffix] for path in STATIC.iterdir() if path.suffix in TYPES}


def create_app(storage: Any, tokens: auth.Tokens | None, apart: bool = False) -> FastAPI:
    """Return the service over a storage; `tokens` None lets everybody on this computer in.

    With `apart` what may take long is done in a process of its own, unless the storage is in memory.
    """
    hub, metrics = Hub(storage), Metrics()
    named = None if tokens is None else NamedTokens(hub.store)
    kept = hub.store.as_kept()
    background = Background(kept) if apart and isinstance(kept, str) and kept != "memory" else None
    hub.turns = None if background is None else 1

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        if background is not None:
            await background.start()
        yield
        app.state.closing.set()
        if background is not None:
            await background.stop()
        hub.close()

    app = _routed(hub, metrics, life)
    app.state.tokens, app.state.named, app.state.pulse = tokens, named, Pulse(hub.ping)
    app.state.background = background
    _add_operations(app)
    _add_page(app)
    _describe(app)
    rest: dict[str, Any] = {"tokens": tokens, "named": named, "background": background}
    app.add_middleware(Middleware, metrics=metrics, hub=hub, **rest)
    return app


def create_part(storage: str, rest: float) -> FastAPI:
    """Return what a background process answers: the same routes, for its server alone.

    After a second of writing it lets others write for `rest` seconds.
    """
    hub = Hub(storage)
    hub.store.rest = rest
    app = _routed(hub, Metrics())
    app.add_exception_handler(Exception, lambda _, error: problems.unexpected(error))

    @app.get(LAG)
    def lag() -> int:
        return hub.lag()

    return app


def _routed(hub: Hub, metrics: Metrics, life: Any = None) -> FastAPI:
    """Return the routes of studies over a hub."""
    app = FastAPI(
        title="bestgroup",
        version=__version__,
        description="Ask for tickets, tell results, and see what is proven so far.",
        lifespan=life,
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
        generate_unique_id_function=lambda route: route.name,  # the names that clients get
    )
    app.state.hub, app.state.metrics = hub, metrics
    app.state.closing, app.state.streams = threading.Event(), 0
    app.state.demos = DemoWorkers(app.state.closing)
    problems.install(app)
    app.include_router(making.router)
    app.include_router(api.router)
    app.include_router(looking.router)
    app.include_router(proof_files.router)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    return app


def _add_operations(app: FastAPI) -> None:
    hub, metrics = app.state.hub, app.state.metrics

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz", tags=["operations"], responses={503: problems.described()[503]})
    async def health() -> Health:
        """Answer if the storage can be read; needs no token, and waits for nobody's work."""
        await app.state.pulse.beat()
        return Health(version=__version__)

    @app.get(
        "/metrics",
        tags=["operations"],
        dependencies=auth.SCHEMES,
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}, **problems.described()},
    )
    async def metrics_text() -> Response:
        """Return numbers for operators, in the text format of Prometheus."""
        background: Background | None = app.state.background
        await run_in_threadpool(hub.measure, metrics)
        if background is None:
            metrics.lag.set(await run_in_threadpool(hub.lag))
        else:  # certificates are made there
            metrics.memory.set(background.memory())
            with suppress(BestGroupError, TimeoutError):  # else the last number stays
                metrics.lag.set(int(await background.fetch(LAG)))
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    @app.get("/openapi.json", include_in_schema=False)
    def openapi() -> JSONResponse:
        return JSONResponse(app.openapi())


def _add_page(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    def page(request: Request, token: str | None = None) -> Response:
        if token is not None and app.state.tokens is not None:
            return _enter(request, app, token)
        try:
            auth.check(request, app.state.tokens, app.state.named)
        except auth.Unauthorised:
            return pages.sign_in(request)
        return pages.page()

    @app.get("/static/{name}", include_in_schema=False)
    def file(name: str) -> Response:
        if name not in FILES:
            raise problems.NotFound(f"there is no file {name!r}")
        headers = {"Cache-Control": "no-cache"}
        return FileResponse(STATIC / name, media_type=FILES[name], headers=headers)


def _enter(request: Request, app: FastAPI, token: str) -> Response:
    """Keep a token in a cookie and take it out of the address."""
    if auth.holder_of(token, app.state.tokens, app.state.named) is None:
        return pages.sign_in(request, wrong=True)
    rest = [(k, v) for k, v in request.query_params.multi_items() if k != "token"]
    target = request.url.replace(query="").include_query_params(**dict(rest))
    away = RedirectResponse(f"/?{target.query}" if rest else "/", 303)
    away.set_cookie(
        auth.cookie_name(request),
        token,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return away


def _describe(app: FastAPI) -> None:
    """Put the form of problems into the OpenAPI, once."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        schema = plain()
        parts = schema.setdefault("components", {}).setdefault("schemas", {})
        parts.setdefault("Problem", problems.Problem.model_json_schema())
        return schema

    app.openapi = described  # type: ignore[method-assign]


class _Server(uvicorn.Server):
    """A server that ends its event streams when it is told to stop."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._service = app

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._service.state.closing.set()
        super().handle_exit(sig, frame)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; InvalidInput if the port is taken or not allowed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host.strip("[]"), port))
    except (OSError, OverflowError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or error
        raise InvalidInput(f"cannot listen on {host} port {port}: {why}") from None
    return listener


def serve(
    app: FastAPI,
    listener: socket.socket,
    announce: Callable[[], None],
    level: int = logging.INFO,
    tls: tuple[Path, Path] | None = None,
) -> None:
    """Answer requests until SIGINT or SIGTERM; requests under way are finished first.

    `tls` is the file of a certificate and that of its key.
    """
    certificate, key = (None, None) if tls is None else map(str, tls)
    config = uvicorn.Config(
        app,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        log_config=None,
        access_log=False,
        http=Connection,
        server_header=False,
        timeout_graceful_shutdown=10,
    )
    log_to_stderr(level)
    make_room()
    sys.setswitchinterval(0.001)  # work in threads lets requests through sooner
    announce()
    _Server(config, app).run(sockets=[listener])

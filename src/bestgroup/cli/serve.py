"""`bestgroup serve`: studies over HTTP, with a page that shows what is proven."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Json
from bestgroup.errors import InvalidInput

if TYPE_CHECKING:
    from bestgroup.service.auth import Tokens

PORT = 8350


def command(
    storage: Annotated[
        str, typer.Option(help='"sqlite:///FILE", "postgresql://..." or "memory".', metavar="URL")
    ] = "sqlite:///bestgroup.db",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = PORT,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Let everybody on this computer in; loopback only.")
    ] = False,
    tls_certificate: Annotated[
        Path | None, typer.Option(help="Serve HTTPS with this certificate.", metavar="FILE")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(help="The certificate's key.", metavar="FILE")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log warnings and errors only.")] = False,
    json: Json = False,
) -> None:
    """Serve studies to workers and browsers until Ctrl-C.

    The addresses that are printed hold the tokens; BESTGROUP_TOKEN and BESTGROUP_READER_TOKEN set
    them, otherwise they are new each time. The log goes to the standard error as JSON lines.
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise InvalidInput("serving needs more packages: pip install 'bestgroup[server]'") from None
    import logging

    from bestgroup.service.app import create_app, listen, serve
    from bestgroup.service.auth import check_binding

    tokens = None if no_auth else _tokens()
    check_binding(host, tokens)
    if (tls_certificate is None) != (tls_key is None):
        raise InvalidInput("--tls-certificate and --tls-key must be given together")
    tls = None if tls_certificate is None or tls_key is None else (tls_certificate, tls_key)
    for file in tls or ():
        if not file.is_file():
            raise InvalidInput(f"{file}: there is no such file")
    app = create_app(storage, tokens, apart=True)
    listener = listen(host, port)
    base = _base("http" if tls is None else "https", host, listener.getsockname()[1])
    level = logging.WARNING if quiet else logging.INFO
    # Ctrl-C is how one stops it; what was under way is finished by then.
    with contextlib.suppress(KeyboardInterrupt):
        serve(app, listener, lambda: _announce(base, tokens, json), level, tls)


def _tokens() -> Tokens:
    from bestgroup.service.auth import Tokens

    fresh = Tokens.random()
    return Tokens(
        os.environ.get("BESTGROUP_TOKEN") or fresh.writer,
        os.environ.get("BESTGROUP_READER_TOKEN") or fresh.reader,
    )


def _base(scheme: str, host: str, port: int) -> str:
    import socket

    shown = socket.gethostname() if host in ("0.0.0.0", "::") else host.strip("[]")
    return f"{scheme}://{f'[{shown}]' if ':' in shown else shown}:{port}/"


def _announce(base: str, tokens: Tokens | None, json: bool) -> None:
    import sys

    from bestgroup.service.auth import is_loopback

    writer = base if tokens is None else f"{base}?token={tokens.writer}"
    reader = base if tokens is None else f"{base}?token={tokens.reader}"
    if json:
        output.print_json({"writer": writer, "reader": reader})
    else:
        print("bestgroup is serving; Ctrl-C stops it")
        print(f"  to look and to tell: {writer}")
        print(f"  to look only:        {reader}")
        host = base.split("//")[1].rsplit(":", 1)[0]
        if base.startswith("http:") and not is_loopback(host):
            print("  not encrypted: give --tls-certificate, or put a proxy with TLS before it")
    sys.stdout.flush()

"""The HTML that the server sends: the page itself, the sign-in, and "there is no such page"."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template

from fastapi import Request
from fastapi.responses import HTMLResponse

from bestgroup._version import __version__

STATIC = Path(__file__).parent / "static"


def page() -> HTMLResponse:
    """Return the page; its scripts fill it."""
    return HTMLResponse((STATIC / "index.html").read_text("utf-8"))


def sign_in(request: Request, wrong: bool = False) -> HTMLResponse:
    """Return the form that asks for a token and leads on to what was wanted."""
    rest = [(k, v) for k, v in request.query_params.multi_items() if k != "token"]
    hidden = "".join(
        f'<input type="hidden" name="{escape(key)}" value="{escape(value)}">' for key, value in rest
    )
    said = "That is not a token of this server. It may have been started anew." if wrong else ""
    return _filled("signin.html", 401, hidden=hidden, said=said)


def not_found(path: str) -> HTMLResponse:
    """Return the page for an address that leads nowhere."""
    return _filled("missing.html", 404, path=escape(path[:200]))


def _filled(name: str, status: int, **parts: str) -> HTMLResponse:
    text = (STATIC / name).read_text("utf-8")
    return HTMLResponse(Template(text).substitute(version=__version__, **parts), status)


def wants_html(request: Request) -> bool:
    """Return whether a person is asking with a browser, rather than a program."""
    return "text/html" in request.headers.get("accept", "")

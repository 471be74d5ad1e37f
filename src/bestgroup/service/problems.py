"""Errors as problem JSON (RFC 9457): the library's own sentence, never a traceback."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from bestgroup.errors import BestGroupError, StoreError
from bestgroup.service import pages

log = logging.getLogger("bestgroup.service")
LONGEST = 1000  # characters of a sentence
MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """What went wrong, for programs and for people."""

    type: str = Field(description="urn:bestgroup:error: and the class of the error")
    title: str
    status: int
    detail: str = Field(description="one sentence: what must hold, what was got, what to do")


class NotFound(BestGroupError):
    """There is no such study or page."""

    status = 404


class Busy(BestGroupError):
    """The process that does the work has ended, and is being started again."""

    status = 503


class TooMany(BestGroupError):
    """Too many requests without a token, or streams that stay open."""

    status = 429


TITLES = {
    400: "Bad request",
    401: "Who is it",
    403: "Not allowed",
    404: "Not found",
    405: "No such method here",
    409: "Ticket or study refused",
    413: "Too large",
    429: "Too many requests",
    422: "Input cannot be used",
    500: "Internal error",
    503: "Storage or service not available",
}


def answer(kind: str, status: int, detail: str, headers: Any = None) -> JSONResponse:
    """Return a problem as a response."""
    body = {
        "type": f"urn:bestgroup:error:{kind}",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
    }
    return JSONResponse(body, status, dict(headers or {}), MEDIA_TYPE)


def _known(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, BestGroupError)
    name = request.query_params.get("study")
    if isinstance(error, StoreError) and name is not None:
        # Another process may have deleted the study, and made it anew.
        with suppress(StoreError):
            if name not in request.app.state.hub.refresh():
                error = NotFound(f"there is no study named {name!r}")
    return refusal(error)


def refusal(error: BestGroupError) -> JSONResponse:
    """Return one of the library's errors as a response."""
    headers = {}
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if error.status in (429, 503):
        headers["Retry-After"] = "2"
    return answer(type(error).__name__, error.status, _printable(str(error)), headers)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # the only cause that is left: a body that is not text
        return answer("InvalidInput", 422, "the body must be JSON in UTF-8")
    if error.status_code == 404 and pages.wants_html(request):
        return pages.not_found(request.url.path)
    return answer("HTTP", error.status_code, str(error.detail), error.headers)


def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return answer("InvalidInput", 422, f"the body must be JSON: {first['ctx']['error']}")
    kind = request.headers.get("content-type", "")
    if first["loc"] == ("body",) and "json" not in kind:
        return answer(
            "InvalidInput", 422, "send JSON, with the header Content-Type: application/json"
        )
    place = ".".join(str(part) for part in first["loc"])
    return answer("InvalidInput", 422, _printable(f"{place}: {first['msg']}"))


def unexpected(error: Exception) -> JSONResponse:
    """Log an error that nobody foresaw and return a response that says nothing of it."""
    log.error("unexpected", exc_info=error)
    return answer("Internal", 500, "the server failed; its log says why")


def _printable(text: str) -> str:
    """Return a text that UTF-8 can hold; of a long one, which quotes what was sent, the beginning."""
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return short.encode("utf-8", "replace").decode()


def install(app: FastAPI) -> None:
    """Have an app answer all errors so."""
    app.add_exception_handler(BestGroupError, _known)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)


def described(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problems of a route for the OpenAPI."""
    return {
        status: {
            "description": TITLES[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in sorted({401, 403, 404, 409, 422, 429, 503, *statuses})
    }

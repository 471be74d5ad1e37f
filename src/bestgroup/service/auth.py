"""Who may do what: a token for readers, one for writers, and named ones from the storage.

A token comes in the header `Authorization: Bearer TOKEN`, or in the cookie that the page's start-up
address sets. A writer may do what a reader may. Without tokens everybody on this computer may do
everything; `check_binding` refuses that for any other address than loopback.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, HTTPBearer

from bestgroup.errors import BestGroupError, InvalidInput
from bestgroup.service.tokens import Holder, NamedTokens, Role

SHORTEST = 16  # characters of a token
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Unauthorised(BestGroupError):
    """There is no token, or not one of this server's."""

    status = 401


class Forbidden(BestGroupError):
    """The token does not allow this."""

    status = 403


@dataclass(frozen=True, repr=False)
class Tokens:
    """The two tokens; `repr` shows neither."""

    writer: str
    reader: str

    def __post_init__(self) -> None:
        for token in (self.writer, self.reader):
            if len(token) < SHORTEST or not token.isascii() or not token.isprintable():
                raise InvalidInput(
                    f"a token must have at least {SHORTEST} printable ASCII characters"
                )
        if self.writer == self.reader:
            raise InvalidInput("the reader's token must differ from the writer's")

    @classmethod
    def random(cls) -> Tokens:
        """Return two new tokens."""
        return cls(secrets.token_urlsafe(24), secrets.token_urlsafe(24))

    def role(self, given: str) -> Role | None:
        """Return what a token allows; takes the same time for every wrong one."""
        seen = given.encode("utf-8", "surrogatepass")
        writer = hmac.compare_digest(seen, self.writer.encode())
        reader = hmac.compare_digest(seen, self.reader.encode())
        return "writer" if writer else "reader" if reader else None


def is_loopback(host: str) -> bool:
    """Return whether only this computer reaches a host's address.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_binding(host: str, tokens: Tokens | None) -> None:
    """Raise InvalidInput if a server without tokens would be reached from elsewhere."""
    if tokens is None and not is_loopback(host):
        raise InvalidInput(
            f"without authentication the service listens on loopback only, and {host} is reached "
            "from elsewhere; leave out --no-auth, or use --host 127.0.0.1"
        )


def cookie_name(request: Request) -> str:
    """Return the cookie's name: browsers share cookies between the ports of a host."""
    return f"bestgroup-{request.url.port or 0}"


def holder_of(token: str, tokens: Tokens, named: NamedTokens | None) -> Holder | None:
    """Return whose token this is, and what it allows; None if nobody's."""
    role = tokens.role(token)
    if role is not None:
        return Holder(role, role)
    return None if named is None or not token else named.holder(token)


def check(request: Request, tokens: Tokens | None, named: NamedTokens | None = None) -> Holder:
    """Return who sent a request; Unauthorised or Forbidden if it may not pass."""
    if tokens is None:
        _check_local(request)
        holder: Holder | None = Holder("local", "writer")
    else:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not given:
            given = request.cookies.get(cookie_name(request), "")
        holder = holder_of(given.strip(), tokens, named)
    if holder is None:
        raise Unauthorised("a token is needed: open the address that `bestgroup serve` has printed")
    if request.method not in ("GET", "HEAD"):
        if holder.role != "writer":
            raise Forbidden("this takes the writer's token; a reader may look but change nothing")
        _check_origin(request)
    return holder


def _check_local(request: Request) -> None:
    """Refuse a name that another site has made point to this computer."""
    if (request.url.hostname or "") not in _LOCAL:
        raise Forbidden("without authentication the service answers to the name localhost only")


def _check_origin(request: Request) -> None:
    """Refuse changes that the page of another site asks for with this browser's cookie."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise Forbidden("changes are taken from this server's own page only")


# Named in the OpenAPI; the decision is `check`'s, before a request reaches any route.
_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="The printed token.")
_cookie = APIKeyCookie(name="bestgroup-PORT", auto_error=False, scheme_name="cookie")
SCHEMES = [Depends(_bearer), Depends(_cookie)]

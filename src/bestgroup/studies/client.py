"""A small HTTP client of a served study: tries again while the server is away.

Asking twice is harmless (leases end), telling twice too (tickets have an identity), so every call
may be repeated.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bestgroup.errors import BestGroupError, InvalidInput, StoreError, TicketError, Unreachable
from bestgroup.studies.storage.backoff import Backoff

PATIENCE = 600.0  # seconds that a server may be away
_PASSING = (429, 502, 503, 504)
_KINDS: dict[int, type[BestGroupError]] = {409: TicketError, 500: StoreError}


class Client:
    """One study of a server. The address is the one that `bestgroup serve` prints.

    The study may be in the address as `study=`; the token, too, or in BESTGROUP_TOKEN.
    """

    def __init__(
        self,
        url: str,
        study: str | None = None,
        patience: float = PATIENCE,
        stop: threading.Event | None = None,
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise InvalidInput("this needs httpx: pip install 'bestgroup[server]'") from None
        self._errors = (httpx.TransportError,)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(f"an address must begin with http:// or https://; got {url!r}")
        query = parse_qs(parts.query)
        token = query.get("token", [os.environ.get("BESTGROUP_TOKEN", "")])[0]
        self._identity = ""
        self._patience, self._stop = patience, stop or threading.Event()
        headers = {"Accept-Encoding": "identity"}  # packing costs more than it saves here
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            base_url=f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/api/v1",
            headers=headers,
            timeout=60.0,
            trust_env=False,
        )
        self.server = f"{parts.scheme}://{parts.netloc}"
        try:
            self.study = study or query.get("study", [""])[0] or self._only()
        except BestGroupError:
            self.close()
            raise

    def _only(self) -> str:
        names = [entry["name"] for entry in self.call("GET", "/studies")["studies"]]
        if len(names) == 1:
            return names[0]
        known = ", ".join(repr(name) for name in names[:6]) or "none"
        raise InvalidInput(f"say which study with --study; the server's are: {known}")

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Return the JSON of a response; a refusal becomes the library's own error."""
        deadline, backoff = time.monotonic() + self._patience, Backoff(0.1, 10.0)
        while True:
            try:
                response = self._http.request(method, path, json=body, params=query)
            except self._errors as error:
                why = f"{self.server} does not answer ({type(error).__name__})"
            else:
                if response.status_code not in _PASSING:
                    return _content(response)
                why = f"{self.server} is not available: {_detail(response)}"
            if time.monotonic() + backoff.pause > deadline or self._stop.is_set():
                raise Unreachable(why)
            self._stop.wait(backoff.next())

    def _post(self, path: str, body: Any) -> Any:
        return self.call("POST", path, body, **self._which())

    def _which(self) -> dict[str, str]:
        """Return what names the study: once it was seen, another one of its name is not meant."""
        return {"study": self.study} | ({"identity": self._identity} if self._identity else {})

    def describe(self) -> dict[str, Any]:
        """Return what the study is pinned to; from now on only this one is meant."""
        found = self.call("GET", "/study", **self._which())
        self._identity = found.get("identity", "")
        return found

    def status(self) -> dict[str, Any]:
        """Return where the study stands."""
        return self.call("GET", "/status", **self._which())

    def answer(self) -> dict[str, Any]:
        """Return what is known so far."""
        return self.call("GET", "/answer", **self._which())

    def ask(self, n: int, repeats: int, lease: float, owner: str) -> dict[str, Any]:
        """Return tickets, and the state of the study."""
        return self._post("/ask", {"n": n, "repeats": repeats, "lease": lease, "owner": owner})

    def tell(
        self, results: Sequence[tuple[dict[str, Any], Any]], ask: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Tell the values of tickets, all or none; `ask` has the answer bring the next tickets."""
        entries = [{"ticket": _claim(ticket), "values": values} for ticket, values in results]
        return self._post("/tell", {"results": entries, "ask": ask})

    def fail(self, ticket: dict[str, Any], reason: str) -> None:
        """Give a ticket back."""
        # A command may print anything.
        text = reason.encode("utf-8", "replace").decode().replace("\0", "")[:1000]
        self._post("/fail", {"ticket": _claim(ticket), "reason": text})

    def hold(self, tickets: Sequence[dict[str, Any]], lease: float) -> list[int]:
        """Hold leases for some more seconds; returns the places of those that were lost."""
        claims = [_claim(ticket) for ticket in tickets]
        return self._post("/heartbeat", {"tickets": claims, "lease": lease})["lost"]

    def delete(self) -> None:
        """Remove the study and all that was told it, for good."""
        self.call("DELETE", "/study", **self._which())

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


def _claim(ticket: dict[str, Any]) -> dict[str, Any]:
    claim = {key: ticket[key] for key in ("group", "arm", "index", "repeats", "owner")}
    return {**claim, "identity": ticket.get("identity", "")}


def _detail(response: Any) -> str:
    try:
        return str(response.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"it answered with {response.status_code}"


def _content(response: Any) -> Any:
    if response.is_success:
        try:
            return response.json()
        except ValueError:
            raise InvalidInput("this is not the address of a bestgroup server") from None
    raise _KINDS.get(response.status_code, InvalidInput)(_detail(response))

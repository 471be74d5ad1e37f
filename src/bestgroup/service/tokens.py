"""Named tokens, kept in the storage as digests: made, listed and revoked without a restart."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from typing import Any, Literal, NamedTuple

from bestgroup.errors import InvalidInput, StoreError
from bestgroup.studies.storage import open_store
from bestgroup.studies.storage.base import Store
from bestgroup.studies.study import note

Role = Literal["reader", "writer"]
AGE = 1.0  # seconds after which a token that was revoked is refused, at most


class Holder(NamedTuple):
    """Whom a token belongs to, and what it allows."""

    name: str
    role: Role


def create_token(storage: Any, name: str, role: str) -> str:
    """Return a new token under a name; it is shown once, the storage keeps its digest."""
    if not isinstance(name, str) or not 0 < len(name.strip()) <= 200:
        raise InvalidInput("a token's name must be a text of 1 to 200 characters")
    if role not in ("reader", "writer"):
        raise InvalidInput(f"a token's role must be reader or writer; got {role!r}")
    store = open_store(storage, create=True)
    token = secrets.token_urlsafe(32)
    store.set_token(name, role, _digest(token))
    note(store, None, "create token", ("", ""), f"{name}, {role}")
    return token


def list_tokens(storage: Any) -> list[dict[str, Any]]:
    """Return name, role and time of creation of every named token."""
    found = open_store(storage).tokens()
    return [
        {"name": name, "role": role, "created": at} for name, (role, _, at) in sorted(found.items())
    ]


def revoke_token(storage: Any, name: str) -> None:
    """Remove a named token; servers refuse it from the next second on."""
    store = open_store(storage)
    store.drop_token(name)
    note(store, None, "revoke token", ("", ""), name)


class NamedTokens:
    """The named tokens of a storage, read again when they are older than a second."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: dict[str, Holder] = {}
        self._read = float("-inf")

    def holder(self, token: str) -> Holder | None:
        """Return whose token this is; None if nobody's."""
        with self._lock:
            if time.monotonic() - self._read > AGE:
                try:
                    rows = self._store.tokens()
                except StoreError:
                    return None  # who cannot be known is not let in
                self._known = {
                    digest: Holder(name, "writer" if role == "writer" else "reader")
                    for name, (role, digest, _) in rows.items()
                }
                self._read = time.monotonic()
            # A digest is looked up, not the token: how long that takes says nothing about it.
            return self._known.get(_digest(token))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()

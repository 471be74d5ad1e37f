"""`Ticket`: what a worker gets from `Study.ask`, and gives back with its values."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

from bestgroup.errors import InvalidInput, TicketError


def pull_seed(root: int, group: int, arm: int, index: int) -> int:
    """Return the seed of one pull, below 2**53, so that every language reads it exactly.

    >>> pull_seed(0, 1, 2, 3) == pull_seed(0, 1, 2, 3) != pull_seed(0, 1, 2, 4)
    True
    """
    key = struct.pack("<qqqq", root, group, arm, index)
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little") >> 11


class Ticket(NamedTuple):
    """Pulls index, ..., index + repeats - 1 of an arm, leased to `owner` until `expires`.

    `seed` is that of the first pull and `seeds` holds one for each. They depend on the study's seed
    and the pull alone, so a retry gets the same ones: a result that failed or came late is not
    replaced by a luckier one.
    """

    study: str
    group: str
    arm: str
    index: int  # pyright: ignore[reportIncompatibleMethodOverride]
    repeats: int
    owner: str
    expires: float
    place: tuple[int, int, int]  # the study's seed, the numbers of the group and the arm
    items: tuple[str, ...] = ()  # on shared items, what each pull is scored on
    numbers: tuple[int, ...] = ()  # of these items
    identity: str = ""  # the study's: another study of the same name is not meant

    @property
    def item(self) -> str | None:
        """What the first pull is scored on; None where arms share no items."""
        return self.items[0] if self.items else None

    @property
    def seed(self) -> int:
        """The seed of the first pull."""
        return self.seeds[0] if self.numbers else pull_seed(*self.place, self.index)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed of each pull; on shared items that of the item, equal for all arms."""
        if self.numbers:
            return tuple(pull_seed(self.place[0], -1, -1, number) for number in self.numbers)
        return tuple(pull_seed(*self.place, self.index + k) for k in range(self.repeats))

    def to_dict(self) -> dict[str, Any]:
        """Return the ticket as plain JSON."""
        entries: dict[str, Any] = {
            "study": self.study,
            "identity": self.identity,
            "group": self.group,
            "arm": self.arm,
            "index": self.index,
            "repeats": self.repeats,
            "owner": self.owner,
            "expires": self.expires,
            "seed": self.seed,
        }
        if self.repeats > 1:
            entries["seeds"] = list(self.seeds)
        if self.items:
            entries |= {"item": self.item, "items": list(self.items)}
        return entries


class Claim(NamedTuple):
    """What matters of a ticket that is given back."""

    group: str
    arm: str
    first: int
    repeats: int
    owner: str


def read_ticket(given: Any, study: str, identity: str) -> Claim:
    """Return what a ticket, or the JSON of one, claims; InvalidInput if it is none of the study.

    JSON without an identity is taken as it is; with one it must be the study's.
    """
    if isinstance(given, Ticket):
        if given.study != study:
            raise InvalidInput(f"this ticket belongs to the study {given.study!r}, not {study!r}")
        _check_identity(given.identity, study, identity)
        return Claim(*given[1:6])
    if not isinstance(given, Mapping):
        raise InvalidInput(f"a ticket must be one from ask(), or its JSON; got {given!r:.60}")
    if given.get("study", study) != study:
        raise InvalidInput(f"this ticket belongs to the study {given['study']!r}, not {study!r}")
    _check_identity(given.get("identity"), study, identity)
    for key in ("group", "arm", "index"):
        if key not in given:
            raise InvalidInput(f"a ticket must have the entry {key!r}; got {sorted(given)}")
    index, repeats = given["index"], given.get("repeats", 1)
    for key, value, least in (("index", index, 0), ("repeats", repeats, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**62:
            raise InvalidInput(f"{key} of a ticket must be an integer from {least}")
    owner = given.get("owner", "")
    for key, value in (("group", given["group"]), ("arm", given["arm"]), ("owner", owner)):
        if not isinstance(value, str):
            raise InvalidInput(f"{key} of a ticket must be a text; got {value!r:.60}")
    return Claim(given["group"], given["arm"], index, repeats, owner)


def _check_identity(given: Any, study: str, identity: str) -> None:
    if given and given != identity:
        raise TicketError(
            f"this ticket belongs to an earlier study named {study!r}, which was deleted; nothing "
            "was stored"
        )

"""The rows that stores and sessions speak of."""

from __future__ import annotations

from typing import NamedTuple

from bestgroup.problem.arrays import Floats
from bestgroup.problem.pull_range import PullRange


class Slot(NamedTuple):
    """Pulls of an arm that are not told."""

    pulls: PullRange
    due: int = 0
    rank: int = 1
    owner: str = ""
    expires: float = 0.0
    failures: int = 0
    reason: str = ""
    seconds: float = 0.0  # how long the lease was given for

    def part(self, first: int, stop: int) -> Slot:
        """Return the slot cut down to [first, stop)."""
        due = max(0, min(stop, self.pulls.first + self.due) - first)
        rank = 0 if due else max(1, self.rank)
        return self._replace(pulls=self.pulls.cut(first, stop), due=due, rank=rank)


class Block(NamedTuple):
    """Observations as they were told: all dims, in the user's orientation."""

    number: int
    pulls: PullRange
    values: Floats  # [n, all dims]
    at: float = 0.0  # when it was told, by the clock of the storage
    chain: bytes = b""  # checksum of this block and all before it


class Stored(NamedTuple):
    """A block as it lies in the storage, before anything of it is believed."""

    number: int
    pulls: PullRange
    data: bytes  # count rows of little-endian float64, all dims
    at: float
    chain: bytes = b""
    own: bytes | None = None  # checksum of this block alone; early blocks have none


class Tell(NamedTuple):
    """Values of pulls of an arm."""

    pulls: PullRange
    values: Floats


class Head(NamedTuple):
    """The few numbers that say where a study stands."""

    plan: int = 0
    told: int = 0
    pulls: int = 0
    blocks: int = 0  # number of the last block
    state: str = "running"  # or "done", "stuck"
    report: str = "{}"  # JSON
    chain: str = ""  # the last block's, in hexadecimal


class Entry(NamedTuple):
    """A decision as stored."""

    number: int
    plan: int
    pulls: int
    kind: str
    group: int
    evidence: str  # JSON


class Event(NamedTuple):
    """A line of the audit trail: who did what to which study."""

    at: float
    who: str
    what: str
    study: str
    identity: str
    detail: str = ""


class Listed(NamedTuple):
    """A study in a list."""

    name: str
    created: float
    state: str
    plan: int
    told: int
    pulls: int
    identity: str

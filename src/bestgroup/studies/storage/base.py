"""What a store promises, in words, and the rules about tickets that all stores share.

A store keeps studies by name, and each has a random identity, its key, that no other study ever
gets: what is meant for a deleted study never reaches one that came after it. All of a study happens
in sessions: `write(key, work)` runs
`work(session)` alone on that study and keeps all of its changes, or none if it raises; `read` sees
one state and changes nothing, and never makes a writer wait. `work` may be run again when the
database was busy or away, so it must not act on anything else.

An **observation block** is pulls first, ..., first + n - 1 of an arm with their values as told.
Blocks are numbered 1, 2, ... in the order of their sessions, never change, and never overlap.

A **slot** is a stretch of pulls that are wanted or leased and not told: slots never overlap each
other or a block. The plan waits for the first `due` pulls of a slot. Its rank is 0 (some are due),
1 (all are asked for ahead) or 2 (no longer wanted, kept because somebody holds a lease on it). A
slot without owner is free. A lease ends when its time is over; the slot stays and is handed out
again to whoever asks next.

The rules in this file speak of stretches of pulls, so that a lease may be told in parts, two leases
may be told in one go, and a ticket that was split keeps the identity of each of its pulls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from bestgroup.errors import TicketError
from bestgroup.problem.pull_range import PullRange
from bestgroup.studies.storage.book import Book, check_told
from bestgroup.studies.storage.records import (
    Block,
    Entry,
    Event,
    Head,
    Listed,
    Slot,
    Stored,
    Tell,
)

T = TypeVar("T")
FEW = 8  # arms whose slots are read arm by arm


class Session(ABC):
    """A study inside one transaction. The rules are here, how rows are kept in the subclasses."""

    head: Head
    now: float  # seconds, by the clock that leases go by
    sound: bool = True  # whether the head fits its checksum

    @abstractmethod
    def slots(self, group: int | None = None, arm: int | None = None) -> list[Slot]:
        """Return all slots, or those of one arm."""

    @abstractmethod
    def available(self, most: int) -> list[Slot]:
        """Return up to `most` slots of rank 0, then 1, that are free or whose lease has ended."""

    @abstractmethod
    def last_to_end(self, rank: int) -> Slot | None:
        """Return the slot of a rank whose lease ends last."""

    @abstractmethod
    def shorten(self) -> None:
        """Let leases that would end later than their length from now end then."""

    @abstractmethod
    def waiting(self) -> bool:
        """Return whether there is a slot of rank 0."""

    @abstractmethod
    def swap(self, old: Iterable[Slot], new: Iterable[Slot]) -> None:
        """Remove slots, then add others."""

    @abstractmethod
    def append(self, tells: Sequence[Tell]) -> None:
        """Add blocks with the next numbers; `head` counts them as told."""

    @abstractmethod
    def blocks(self, after: int, numbers: Sequence[int] = (), most: int = 2**62) -> list[Block]:
        """Return the blocks with those numbers, then up to `most` with numbers above `after`."""

    @abstractmethod
    def stored(self, after: int, most: int) -> list[Stored]:
        """Return up to `most` blocks with numbers above `after` as they lie there, unread."""

    @abstractmethod
    def rewrite(self, blocks: Sequence[Block]) -> None:
        """Put these blocks, numbered anew, in the place of the whole log: to repair it."""

    def append_again(self, blocks: Sequence[Block]) -> None:
        """Add blocks that were told before, with the times at which they were."""
        now = self.now
        for block in blocks:
            self.now = block.at
            self.append([Tell(block.pulls, block.values)])
        self.now = now

    @abstractmethod
    def observed(self, pulls: PullRange) -> list[Block]:
        """Return the blocks that hold some of these pulls."""

    @abstractmethod
    def top(self, group: int, arm: int) -> int:
        """Return the pull after the last one of an arm that was told; 0 without any."""

    @abstractmethod
    def set_head(self, head: Head) -> None:
        """Replace the head."""

    @abstractmethod
    def decide(self, entries: Sequence[Entry]) -> None:
        """Add decisions; there is no way to change or remove one."""

    @abstractmethod
    def forget_decisions(self) -> None:
        """Remove all decisions: to repair them."""

    @abstractmethod
    def decisions(self) -> list[Entry]:
        """Return all decisions in their order."""

    @abstractmethod
    def snapshot(self) -> bytes | None:
        """Return the snapshot, if there is one."""

    @abstractmethod
    def set_snapshot(self, data: bytes | None) -> None:
        """Replace or drop the snapshot."""

    @abstractmethod
    def imported(self, digest: str) -> int | None:
        """Return how many rows an import with that digest brought, or None."""

    @abstractmethod
    def add_import(self, digest: str, rows: int) -> None:
        """Remember an import."""

    def lease(self, most: int, repeats: int, owner: str, seconds: float) -> list[Slot]:
        """Lease up to `most` tickets of up to `repeats` pulls each."""
        until = self.now + seconds
        out: list[Slot] = []
        old: list[Slot] = []
        rest: list[Slot] = []
        for slot in self._available(most):
            first = slot.pulls.first
            while first < slot.pulls.stop and len(out) < most:
                stop = min(first + repeats, slot.pulls.stop)
                piece = slot if slot.pulls.size <= repeats else slot.part(first, stop)
                out.append(piece._replace(owner=owner, expires=until, seconds=seconds))
                first = stop
            if first < slot.pulls.stop:
                rest.append(slot.part(first, slot.pulls.stop)._replace(owner="", expires=0.0))
            old.append(slot)
            if len(out) == most:
                break
        self.swap(old, [*out, *rest])
        return out

    def _available(self, most: int) -> list[Slot]:
        """Return what can be leased; no lease, whoever's clock gave it, blocks for longer than its
        length from now.

        A worker whose clock is a year ahead would otherwise keep its tickets for a year.
        """
        found = self.available(most)
        if len(found) == most:
            return found
        last = [slot for rank in (0, 1) if (slot := self.last_to_end(rank)) is not None]
        if any(slot.seconds and slot.expires > self.now + slot.seconds for slot in last):
            self.shorten()
        return found

    def hold(self, mine: Slot, seconds: float) -> float:
        """Let a lease end that many seconds from now; returns the new end."""
        until = self.now + seconds
        own = self._own(mine)
        self.swap(own, [slot._replace(expires=until, seconds=seconds) for slot in own])
        return until

    def hold_all(self, claims: Sequence[Slot], seconds: float) -> tuple[float, list[int]]:
        """Hold leases as `hold` does; returns the new end and the places of those that were lost."""
        until = self.now + seconds
        books: dict[tuple[int, int], Book] = {}
        own: dict[tuple[int, int, int], Slot] = {}
        lost: list[int] = []
        for place, mine in enumerate(claims):
            arm = mine.pulls.home
            if arm not in books:
                books[arm] = Book(self.slots(*arm))
            found = [s for s in books[arm].under(mine.pulls) if s.owner == mine.owner]
            own |= {slot.pulls.start: slot for slot in found}
            if not found:
                lost.append(place)
        kept = own.values()
        self.swap(kept, [slot._replace(expires=until, seconds=seconds) for slot in kept])
        return until, lost

    def release(self, mine: Slot, reason: str) -> None:
        """End a lease: what is not told of it is free again."""
        own = self._own(mine)
        self.swap(
            own,
            [
                s._replace(owner="", expires=0.0, failures=s.failures + 1, reason=reason)
                for s in own
            ],
        )

    def _own(self, mine: Slot) -> list[Slot]:
        own = [
            slot
            for slot in self.slots(mine.pulls.group, mine.pulls.arm)
            if slot.pulls.overlaps(mine.pulls) and slot.owner == mine.owner
        ]
        if not own:
            raise TicketError(
                f"is not leased to {mine.owner!r} any more: it was told, or its lease ended and it "
                "was handed out again",
                mine.pulls.group,
                mine.pulls.arm,
                (mine.pulls.first, mine.pulls.first),
            )
        return own

    def record(self, tells: Sequence[Tell]) -> int:
        """Keep what is new of the tells and return how many pulls that is.

        What was told before must be equal. Nothing is changed if anything is refused.
        """
        if len(tells) == 1:  # nearly always the whole of one slot
            (only,) = tells
            for slot in self.slots(only.pulls.group, only.pulls.arm):
                if slot.pulls == only.pulls:
                    self.swap((slot,), ())
                    self.append(tells)
                    return slot.pulls.size
        arms = {tell.pulls.home for tell in tells}
        few = len(arms) <= FEW
        book = Book([slot for arm in arms for slot in self.slots(*arm)] if few else self.slots())
        fresh: list[Tell] = []
        for tell in tells:
            parts = book.take(tell)
            if sum(len(part.values) for part in parts) < len(tell.values):
                known = [*self.observed(tell.pulls), *fresh]
                check_told(tell, parts, known)
            fresh += parts
        if fresh:
            self.swap(book.removed(), book.added())
            self.append(fresh)
        return sum(len(part.values) for part in fresh)


class Store(ABC):
    """Studies by name."""

    url: str
    rest = 0.0  # seconds that others may write for each second that this one wrote

    @abstractmethod
    def create(
        self,
        name: str,
        spec: str,
        head: Head,
        slots: Sequence[Slot],
        entries: Sequence[Entry] = (),
    ) -> str:
        """Keep a new study and return its identity; InvalidInput if there is one of that name."""

    @abstractmethod
    def find(self, name: str) -> tuple[str, str]:
        """Return the identity and the specification of a study; NoSuchStudy if there is none."""

    @abstractmethod
    def listed(self) -> list[Listed]:
        """Return all studies, by name."""

    @abstractmethod
    def delete(self, name: str, identity: str | None = None) -> None:
        """Remove a study with everything that belongs to it; of that identity, if one is given."""

    @abstractmethod
    def write(
        self, key: str, work: Callable[[Session], T], durable: bool = True, trust: bool = False
    ) -> T:
        """Run `work` alone on a study; unless `durable`, a power cut may undo it later.

        `trust` takes a damaged head as it is, for those who repair it; so in `read`.
        """

    @abstractmethod
    def read(self, key: str, work: Callable[[Session], T], trust: bool = False) -> T:
        """Run `work` on one state of a study; it must not change anything."""

    @abstractmethod
    def note(self, event: Event) -> None:
        """Add a line to the audit trail; the time is the storage's."""

    @abstractmethod
    def trail(self, most: int) -> list[Event]:
        """Return the last lines of the audit trail, the newest first."""

    @abstractmethod
    def tokens(self) -> dict[str, tuple[str, str, float]]:
        """Return role, digest and time of creation of every named token."""

    @abstractmethod
    def set_token(self, name: str, role: str, digest: str) -> None:
        """Keep a named token; InvalidInput if there is one of that name."""

    @abstractmethod
    def drop_token(self, name: str) -> None:
        """Remove a named token; InvalidInput if there is none."""

    def as_kept(self) -> Any:
        """Return what `open_store` makes this store from again, in another process if it can."""
        return self.url

    @abstractmethod
    def ping(self) -> None:
        """Return if the storage can be read; StoreError otherwise."""

    @abstractmethod
    def faults(self) -> list[str]:
        """Return what the database finds wrong with itself."""

    @abstractmethod
    def close(self) -> None:
        """Let go of connections."""

"""A store in the memory of this process: for tests, for scripts, and for speed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from bestgroup.errors import InvalidInput, NoSuchStudy
from bestgroup.problem.pull_range import PullRange
from bestgroup.studies.storage.base import Session, Store
from bestgroup.studies.storage.checksums import link, new_identity
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


class _Study:
    """One study's rows."""

    def __init__(self, name: str, spec: str, head: Head, slots: Sequence[Slot]) -> None:
        self.name, self.spec, self.head = name, spec, head
        self.created, self.identity = time.time(), new_identity()
        self.slots: dict[tuple[int, int], dict[int, Slot]] = {}
        self.free: tuple[dict[tuple[int, int, int], Slot], ...] = ({}, {}, {})
        self.leased: tuple[dict[tuple[int, int, int], Slot], ...] = ({}, {}, {})
        self.blocks: list[Block] = []
        self.by_arm: dict[tuple[int, int], list[Block]] = {}
        self.decisions: list[Entry] = []
        self.snapshot: bytes | None = None
        self.imports: dict[str, int] = {}
        for slot in slots:
            self.put(slot)

    def put(self, slot: Slot) -> None:
        self.slots.setdefault(slot.pulls.home, {})[slot.pulls.first] = slot
        (self.leased if slot.owner else self.free)[slot.rank][slot.pulls.start] = slot

    def drop(self, slot: Slot) -> None:
        del self.slots[slot.pulls.home][slot.pulls.first]
        del (self.leased if slot.owner else self.free)[slot.rank][slot.pulls.start]


class _Session(Session):
    """A session that can undo what it did."""

    def __init__(self, study: _Study) -> None:
        self._study = study
        self.head, self.now = study.head, time.time()
        self._undo: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    def undo(self) -> None:
        for call, arguments in reversed(self._undo):
            call(*arguments)

    def slots(self, group: int | None = None, arm: int | None = None) -> list[Slot]:
        if group is not None and arm is not None:
            return list(self._study.slots.get((group, arm), {}).values())
        return [slot for slots in self._study.slots.values() for slot in slots.values()]

    def available(self, most: int) -> list[Slot]:
        found: list[Slot] = []
        for rank in (0, 1):
            for slot in self._study.free[rank].values():
                if len(found) == most:
                    return found
                found.append(slot)
            if len(found) < most:
                ended = [s for s in self._study.leased[rank].values() if s.expires <= self.now]
                found += ended[: most - len(found)]
        return found

    def last_to_end(self, rank: int) -> Slot | None:
        leased = self._study.leased[rank].values()
        return max(leased, key=lambda slot: slot.expires, default=None)

    def shorten(self) -> None:
        late = [
            slot
            for slots in self._study.leased
            for slot in slots.values()
            if slot.seconds and slot.expires > self.now + slot.seconds
        ]
        self.swap(late, [slot._replace(expires=self.now + slot.seconds) for slot in late])

    def waiting(self) -> bool:
        return bool(self._study.free[0] or self._study.leased[0])

    def swap(self, old: Iterable[Slot], new: Iterable[Slot]) -> None:
        study, undo = self._study, self._undo
        for slot in old:
            study.drop(slot)
            undo.append((study.put, (slot,)))
        for slot in new:
            study.put(slot)
            undo.append((study.drop, (slot,)))

    def append(self, tells: Sequence[Tell]) -> None:
        study, undo = self._study, self._undo
        number, told, chain = self.head.blocks, self.head.told, bytes.fromhex(self.head.chain)
        for tell in tells:
            number += 1
            told += len(tell.values)
            block = Block(number, tell.pulls, tell.values, at=self.now)
            chain = link(chain, block)
            block = block._replace(chain=chain)
            study.blocks.append(block)
            row = study.by_arm.setdefault(tell.pulls.home, [])
            row.append(block)
            undo.append((study.blocks.pop, ()))
            undo.append((row.pop, ()))
        self.set_head(self.head._replace(told=told, blocks=number, chain=chain.hex()))

    def blocks(self, after: int, numbers: Sequence[int] = (), most: int = 2**62) -> list[Block]:
        blocks = self._study.blocks
        return [*(blocks[n - 1] for n in numbers), *blocks[after : after + most]]

    def stored(self, after: int, most: int) -> list[Stored]:
        return [
            Stored(block.number, block.pulls, block.values.tobytes(), block.at, block.chain)
            for block in self.blocks(after, most=most)
        ]

    def rewrite(self, blocks: Sequence[Block]) -> None:
        study = self._study
        for name, empty in (("blocks", []), ("by_arm", {})):
            self._undo.append((setattr, (study, name, getattr(study, name))))
            setattr(study, name, empty)
        self.set_head(self.head._replace(blocks=0, told=0, chain=""))
        self.append_again(blocks)

    def observed(self, pulls: PullRange) -> list[Block]:
        row = self._study.by_arm.get(pulls.home, [])
        return [block for block in row if block.pulls.overlaps(pulls)]

    def top(self, group: int, arm: int) -> int:
        row = self._study.by_arm.get((group, arm), [])
        return max((block.pulls.stop for block in row), default=0)

    def set_head(self, head: Head) -> None:
        self._undo.append((setattr, (self._study, "head", self._study.head)))
        self.head = self._study.head = head

    def decide(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._study.decisions.append(entry)
            self._undo.append((self._study.decisions.pop, ()))

    def forget_decisions(self) -> None:
        self._undo.append((setattr, (self._study, "decisions", self._study.decisions)))
        self._study.decisions = []

    def decisions(self) -> list[Entry]:
        return list(self._study.decisions)

    def snapshot(self) -> bytes | None:
        return self._study.snapshot

    def set_snapshot(self, data: bytes | None) -> None:
        self._undo.append((setattr, (self._study, "snapshot", self._study.snapshot)))
        self._study.snapshot = data

    def imported(self, digest: str) -> int | None:
        return self._study.imports.get(digest)

    def add_import(self, digest: str, rows: int) -> None:
        self._study.imports[digest] = rows
        self._undo.append((self._study.imports.pop, (digest,)))


class MemoryStore(Store):
    """Studies that end with the process."""

    url = "memory"

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._studies: dict[str, _Study] = {}
        self._trail: list[Event] = []
        self._tokens: dict[str, tuple[str, str, float]] = {}

    def create(
        self,
        name: str,
        spec: str,
        head: Head,
        slots: Sequence[Slot],
        entries: Sequence[Entry] = (),
    ) -> str:
        with self._lock:
            if any(study.name == name for study in self._studies.values()):
                raise InvalidInput(f"there is a study named {name!r} already; choose another name")
            made = _Study(name, spec, head, slots)
            made.decisions += entries
            self._studies[made.identity] = made
            return made.identity

    def find(self, name: str) -> tuple[str, str]:
        with self._lock:
            for key, study in self._studies.items():
                if study.name == name:
                    return key, study.spec
        raise NoSuchStudy(f"there is no study named {name!r} in memory")

    def listed(self) -> list[Listed]:
        with self._lock:
            rows = [
                Listed(
                    s.name,
                    s.created,
                    s.head.state,
                    s.head.plan,
                    s.head.told,
                    s.head.pulls,
                    s.identity,
                )
                for s in self._studies.values()
            ]
        return sorted(rows)

    def delete(self, name: str, identity: str | None = None) -> None:
        with self._lock:
            key, _ = self.find(name)
            if identity not in (None, key):
                raise NoSuchStudy("this study was deleted")
            del self._studies[key]

    def write(
        self, key: str, work: Callable[[Session], T], durable: bool = True, trust: bool = False
    ) -> T:
        with self._lock:
            session = self._session(key)
            try:
                return work(session)
            except BaseException:
                session.undo()
                raise

    def read(self, key: str, work: Callable[[Session], T], trust: bool = False) -> T:
        with self._lock:
            return work(self._session(key))

    def note(self, event: Event) -> None:
        with self._lock:
            self._trail.append(event._replace(at=time.time()))

    def trail(self, most: int) -> list[Event]:
        with self._lock:
            return self._trail[::-1][:most]

    def tokens(self) -> dict[str, tuple[str, str, float]]:
        with self._lock:
            return dict(self._tokens)

    def set_token(self, name: str, role: str, digest: str) -> None:
        with self._lock:
            if name in self._tokens:
                raise InvalidInput(f"there is a token named {name!r} already; revoke it first")
            self._tokens[name] = role, digest, time.time()

    def drop_token(self, name: str) -> None:
        with self._lock:
            if self._tokens.pop(name, None) is None:
                raise InvalidInput(f"there is no token named {name!r}")

    def ping(self) -> None:
        pass

    def faults(self) -> list[str]:
        return []

    def as_kept(self) -> Any:
        return self.url if self is _shared else self

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()

    def close(self) -> None:
        pass

    def _session(self, key: str) -> _Session:
        study = self._studies.get(key)
        if study is None:
            raise NoSuchStudy("this study was deleted")
        return _Session(study)


_shared = MemoryStore()


def shared_memory() -> MemoryStore:
    """Return the store that "memory" names in this process."""
    return _shared

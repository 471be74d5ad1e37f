"""The studies of one storage, as the service sees them: opened once, observed as they grow."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from bestgroup.errors import NoSuchStudy, StoreError
from bestgroup.service.course import Course
from bestgroup.service.metrics import Metrics
from bestgroup.service.problems import NotFound
from bestgroup.service.proof import Proof
from bestgroup.studies.catalog import Study, delete_study, glance_study, load_study
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage import open_store
from bestgroup.studies.storage.records import Entry, Head, Listed

log = logging.getLogger("bestgroup.service")
MOST_OWNERS = 1000
MOST_OPEN = 200  # studies that are kept in memory
IMPORTER = "import"  # the owner of what was imported
WINDOW = 60.0  # seconds over which the rate is taken
WAIT = 0.5  # seconds that a reader waits for a new picture
SHARE = 4.0  # a picture that took t seconds is not made again for SHARE * t
LONGEST = 5.0  # seconds, at most


class Seen(NamedTuple):
    """What a server has seen of the workers of a study."""

    owners: dict[str, tuple[int, float]]  # told and last seen of each, those seen last at the end
    rate: float  # observations a second, over the last minute


class Activity:
    """What this server has seen of the workers of a study since it started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owners: dict[str, tuple[int, float]] = {}  # told, last seen
        self._told: deque[tuple[float, int]] = deque()

    def note(self, owner: str, told: int) -> None:
        """Remember that an owner was here and told so many."""
        now = time.time()
        with self._lock:
            before = self._owners.pop(owner, (0, 0.0))[0]
            self._owners[owner] = (before + told, now)
            if len(self._owners) > MOST_OWNERS:
                del self._owners[next(iter(self._owners))]
            if told:
                self._told.append((now, told))
            self._trim(now)

    def rate(self) -> float:
        """Return observations a second, over the last minute."""
        now = time.time()
        with self._lock:
            self._trim(now)
            if not self._told:
                return 0.0
            since = max(now - self._told[0][0], 1.0)
            return sum(told for _, told in self._told) / since

    def seen(self) -> Seen:
        """Return who was here, and how much is told."""
        rate = self.rate()
        with self._lock:
            return Seen(dict(self._owners), rate)

    def _trim(self, now: float) -> None:
        while self._told and self._told[0][0] < now - WINDOW:
            self._told.popleft()


class Watched:
    """One study with its activity, its course and what was proven when one last looked."""

    def __init__(self, study: Study) -> None:
        self.study, self.activity = study, Activity()
        self._lock = threading.Lock()
        self._making: threading.Event | None = None
        self._head: tuple[float, Head] | None = None
        self._next = 0.0
        self._begin()

    def _begin(self) -> None:
        """Begin with the arms that take part now."""
        self._spec = self.study.spec
        self._found: Proof | None = None
        self._decisions: tuple[int, list[Entry]] = -1, []
        self.course = Course(self._spec)
        self.__dict__.pop("_blank", None)

    def head(self, age: float = 0.0) -> Head:
        """Return the study's head, at most `age` seconds old."""
        now = time.monotonic()
        kept = self._head
        if kept is None or now - kept[0] >= age:
            kept = now, self.study.head()
            self._head = kept
        if self.study.spec is not self._spec:  # arms have come or gone
            self._begin()
        return kept[1]

    def decisions(self) -> list[Entry]:
        """Return the algorithm's decisions; read again only when there is a new plan."""
        plan, kept = self._decisions
        now = self.head(age=0.5)
        if plan != now.plan:
            kept = self.study.entries()
            self._decisions = now.plan, kept
        return kept

    def decided(self) -> dict[int, int]:
        """Return the pulls in all at which the algorithm decided each group."""
        return {entry.group: entry.pulls for entry in self.decisions() if entry.group >= 0}

    def last(self) -> float | None:
        """Return when the last observation was told."""
        return self.study.last_told()

    def rebuild_course(self) -> None:
        """Have the course read from the log, in the background; it is done once."""
        self.course.rebuild(self.study, self.decisions)

    @property
    def _proof(self) -> Proof:
        return self._blank if self._found is None else self._found

    @cached_property
    def _blank(self) -> Proof:
        return Proof.blank(self.study.spec, self.head())

    def proof(self, wait: float = WAIT) -> Proof:
        """Return what is proven; what was proven before, if that takes long to find out."""
        with self._lock:
            if self._making is None and time.monotonic() >= self._next:
                self._making = threading.Event()
                threading.Thread(target=self._renew, args=(self._making,), daemon=True).start()
            making = self._making
        if making is not None:
            making.wait(wait)
        return self._proof

    @property
    def observed(self) -> int:
        """How many observations the last certificate rests on."""
        return 0 if self._found is None else self._found.observed

    def _renew(self, made: threading.Event) -> None:
        begun, first = time.monotonic(), not self.observed
        try:
            found, at = self.study.certificate(), self.last()
            if found.problem is not self._spec.problem:
                return  # arms have come or gone meanwhile
            if self._found is None or found is not self._found.certificate:
                proof = Proof(self.study.spec, found)
                _ = proof.ends, proof.needs  # made here, where nobody waits
                self._found = proof
                if at is not None:
                    self.course.add(proof, at, self.head())
        except Exception:
            log.exception("certificate")
        finally:
            with self._lock:
                self._making = None
                # The first one compiles; later ones do not take as long.
                spent = 0.0 if first else time.monotonic() - begun
                self._next = time.monotonic() + min(SHARE * spent, LONGEST)
            made.set()


class Hub:
    """All studies of a storage."""

    def __init__(self, storage: Any) -> None:
        self.store = open_store(storage, create=True)
        self._lock = threading.Lock()
        self._open: dict[str, Watched] = {}
        self.turns: int | None = None  # of stepping that an ask or tell waits for

    def listed(self) -> list[Listed]:
        """Return all studies, by name."""
        return self.store.listed()

    def find(self, name: str) -> Watched:
        """Return a study; NotFound if there is none of that name."""
        with self._lock:
            opened = self._open.pop(name, None)
            if opened is not None:
                self._open[name] = opened  # the last one is the one that was used last
        if opened is not None:
            if opened.study.spec.roster is not None:
                opened.head()  # takes up arms that have come or gone
            return opened
        try:
            fresh = Watched(load_study(name, self.store))
            fresh.study.turns = self.turns
        except NoSuchStudy:
            raise NotFound(f"there is no study named {name!r}") from None
        with self._lock:
            while len(self._open) >= MOST_OPEN:
                del self._open[next(iter(self._open))]
            return self._open.setdefault(name, fresh)

    def seen(self, name: str) -> Seen | None:
        """Return what was seen of the workers of a study, if it is open."""
        with self._lock:
            opened = self._open.get(name)
        return None if opened is None else opened.activity.seen()

    def note(self, name: str, owner: str, told: int) -> None:
        """Remember what an owner has told a study, if it is open."""
        with self._lock:
            opened = self._open.get(name)
        if opened is not None:
            opened.activity.note(owner, told)

    def forget(self, name: str) -> None:
        """Let go of a study."""
        with self._lock:
            self._open.pop(name, None)

    def glance(self, name: str) -> tuple[StudySpec, Head, float | None] | None:
        """Return description, head and last activity of a study; None if there is none.

        A list shows many studies: none of them is opened for it.
        """
        try:
            return glance_study(name, self.store)
        except StoreError:
            return None

    def remove(self, name: str, identity: str, who: str) -> None:
        """Delete the study of that name and identity; NotFound if there is none."""
        try:
            delete_study(name, self.store, identity=identity, who=who)
        except NoSuchStudy:
            raise NotFound(f"there is no study named {name!r}") from None
        finally:
            self.forget(name)

    def refresh(self) -> set[str]:
        """Let go of studies that others have deleted, or made again; returns the names there are."""
        with self._lock:
            opened = dict(self._open)
        there = {row.name: row.identity for row in self.store.listed()}
        for name, watched in opened.items():
            if there.get(name) != watched.study.identity:
                with self._lock:
                    if self._open.get(name) is watched:
                        del self._open[name]
        return set(there)

    def ping(self) -> None:
        """Return if the storage can be read."""
        self.store.ping()

    def measure(self, metrics: Metrics) -> None:
        """Set the numbers that are read off the studies when somebody asks for them."""
        states = [row.state for row in self.listed()]
        for state in ("running", "done", "stuck"):
            metrics.studies.labels(state).set(states.count(state))
        with self._lock:
            opened = list(self._open.values())
        overdue = 0
        for watched in opened:
            with suppress(StoreError):
                overdue += watched.study.status(forecast=False).overdue
        metrics.overdue.set(overdue)

    def lag(self) -> int:
        """Return how many observations the certificate of a running study is behind, at most."""
        with self._lock:
            opened = list(self._open.values())
        behind = 0
        for watched in opened:
            with suppress(StoreError):
                head = watched.head()
                if head.state == "running":
                    behind = max(behind, head.told - watched.observed)
        return behind

    def close(self) -> None:
        """Let go of the storage."""
        self.store.close()

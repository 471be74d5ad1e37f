"""`Study`: ask, tell, and see what is known.

**Theory of operation.** The storage keeps the specification, the log of all observations, the
tickets of the current plan and a head of a few numbers. Everything else is a replay: the
algorithm's state is a function of the log (`drivers.session`), so processes that share a storage
need not know of each other, and one that dies loses nothing. `ask` hands out tickets that are
stored already and runs no algorithm. `tell` appends to the log; whoever completes a plan steps
(`runner`), writes the decisions and the tickets of the next plan in the same transaction, and only
if the plan is still the one that it began from. Observations have an identity, so telling twice,
late or out of order changes nothing.

**Weak points.** One plan at a time: with long plans a slow worker holds up all others, unless pulls
are asked for ahead (`horizon`). A process that opens an old study reads its log, from the last
snapshot on. A step is done inside a transaction or, if it takes long, in short turns between them;
in plain Python, until compiled kernels are ready, a step of hundreds of groups takes seconds.
"""

from __future__ import annotations

import getpass
import json
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from bestgroup.algorithms.protocol import Comparison
from bestgroup.analysis.certify import Certificate
from bestgroup.drivers.session import Checkpoint
from bestgroup.errors import (
    BestGroupError,
    Damaged,
    InvalidInput,
    StoreError,
    TicketError,
    WrongVersion,
)
from bestgroup.inference.certificate.data_checks import Doubt, in_words
from bestgroup.plots.study import status_view
from bestgroup.problem.arrays import LARGEST, Floats, number, positive_int
from bestgroup.problem.frames import data_frame
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.problem import Problem
from bestgroup.problem.pull_range import PullRange
from bestgroup.proof.chain import write_chain
from bestgroup.proof.format import read_key
from bestgroup.studies.by_now import proven_by_now
from bestgroup.studies.certificate import make_certificate
from bestgroup.studies.coming import entries_now, join, leave, resets
from bestgroup.studies.doubts import Doubter
from bestgroup.studies.integrity import Finding, examine, repair
from bestgroup.studies.log import last_told, read_log
from bestgroup.studies.observer import Observer
from bestgroup.studies.proofs import save_study_proof
from bestgroup.studies.reasons import Outlook, foresee, outlook
from bestgroup.studies.report import (
    Answer,
    Explanation,
    StudyStatus,
    decision_dict,
    make_answer,
    make_explanation,
    make_status,
)
from bestgroup.studies.runner import Runner
from bestgroup.studies.showing import study_html, without_password
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage import open_store
from bestgroup.studies.storage.base import Session, Store
from bestgroup.studies.storage.records import Block, Entry, Event, Head, Slot, Tell
from bestgroup.studies.ticket import Ticket, read_ticket

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")
log = logging.getLogger("bestgroup")
LEASE = 600.0  # seconds
MOST = 100_000  # tickets in one ask
A_MOMENT = 0.01  # seconds of stepping inside a transaction, while others wait
A_TURN = 0.25  # seconds of stepping between two transactions, to begin with
LONGEST_TURN = 2.0


_FIXED = object()  # the changes of a study whose arms are those that it began with


class _Changed(Exception):
    """Other arms take part than this process knows of."""


class Lease(NamedTuple):
    """Pulls index, ..., index + repeats - 1 of an arm that a worker has."""

    group: str
    arm: str
    index: int  # pyright: ignore[reportIncompatibleMethodOverride]
    repeats: int
    owner: str
    seconds: float  # until it ends; below 0 it is overdue


class Study:
    """A study in a storage; safe to use from several threads and processes."""

    def __init__(self, store: Store, key: str, spec: StudySpec) -> None:
        self._store, self._key, self.spec = store, key, spec
        self._changes: Any = _FIXED  # of arms that this process knows of, if there can be any
        if spec.problem.reserve or spec.roster is not None:
            head = store.read(key, lambda session: session.head, trust=True)
            self.spec, self._changes = spec.at(head), json.loads(head.report).get("changes")
        self._runner = Runner(self.spec)
        self._lock = threading.RLock()
        self._watch = threading.Lock()
        self._observer = Observer(self.spec)
        self._doubter, self._doubting = Doubter(self.spec), threading.Lock()
        self._certified: tuple[Any, Certificate] | None = None
        self._tries = 0
        self._runs = False
        self.turns: int | None = None  # of stepping in one ask or tell; None: all there is to step
        self.owner = f"{socket.gethostname()}:{os.getpid()}"

    @property
    def name(self) -> str:
        """The study's name."""
        return self.spec.name

    @property
    def identity(self) -> str:
        """What the study is known by for ever: a later one of the same name has another."""
        return self._key

    @property
    def problem(self) -> Problem:
        """Groups, arms and dims; fixed for the life of a study."""
        return self.spec.problem

    @property
    def storage(self) -> str:
        """Where the study is kept."""
        return self._store.url

    def ask(
        self, n: int = 1, repeats: int = 1, lease: float = LEASE, owner: str | None = None
    ) -> list[Ticket]:
        """Return up to `n` tickets of up to `repeats` pulls, leased for that many seconds.

        Fewer, or none, if the plan has no more to hand out: ask again when others have told, and
        see `status().state` for whether the study has ended.
        """
        self._check_runs()
        most = n if type(n) is int and n > 0 else positive_int(n, "n")
        size = repeats if type(repeats) is int and repeats > 0 else positive_int(repeats, "repeats")
        if most > MOST:
            raise InvalidInput(f"n must be at most {MOST}; got {most}")
        seconds = _seconds(lease)
        who = self.owner if owner is None else owner
        if not isinstance(who, str) or not 0 < len(who) <= 200:
            raise InvalidInput("owner must be a text of 1 to 200 characters")

        def work(session: Session) -> tuple[list[Slot], bool]:
            slots = session.lease(most, size, who, seconds)
            return slots, not slots and _is_stalled(session)

        slots, stalled = self._change_store(work, durable=False)
        if stalled and self._go_on():  # whoever was at it has gone
            slots, _ = self._change_store(work, durable=False)
        return [self._ticket(slot) for slot in slots]

    def tell(self, ticket: Any, values: Any) -> int:
        """Take the values of a ticket's pulls, all dims in their order; returns how many are new.

        `values` is one row of numbers, or up to `repeats` rows: fewer are kept, and the rest of the
        ticket stays open; tell it with all rows later. The same values again change nothing.
        """
        return self._record((self._tell(ticket, values),))

    def tell_many(self, pairs: Iterable[tuple[Any, Any]]) -> int:
        """Take the values of several tickets in one transaction: all of them or none."""
        tells = [self._tell(ticket, values) for ticket, values in pairs]
        return self._record(tells) if tells else 0

    def fail(self, ticket: Any, reason: str = "") -> None:
        """Give a ticket back: its pulls are handed out again, with the same seeds."""
        slot = self._slot(ticket)
        text = str(reason)[:1000]
        try:
            self._change_store(lambda session: session.release(slot, text))
        except TicketError as error:
            raise self._named(error) from None

    def heartbeat(self, ticket: Any, lease: float = LEASE) -> float:
        """Let a lease end `lease` seconds from now, and return that time.

        TicketError says that the lease was lost: it had ended and somebody else has it.
        """
        slot, seconds = self._slot(ticket), _seconds(lease)
        try:
            return self._change_store(lambda session: session.hold(slot, seconds), durable=False)
        except TicketError as error:
            raise self._named(error) from None

    def hold(self, tickets: Sequence[Any], lease: float = LEASE) -> tuple[float, list[int]]:
        """Hold many leases in one transaction; returns their new end and the places of lost ones."""
        slots, seconds = [self._slot(ticket) for ticket in tickets], _seconds(lease)
        return self._change_store(lambda session: session.hold_all(slots, seconds), durable=False)

    def head(self) -> Head:
        """Return the few numbers that say where the study stands."""
        return self._read(lambda session: session.head)

    def blocks(self, after: int = 0, most: int = 2**62) -> list[Block]:
        """Return what was told, in the order of the log: up to `most` blocks after a number."""
        return self._read(lambda session: read_log(session, after, most))

    def read(self, work: Callable[[Session], T]) -> T:
        """Return what `work` finds in one state of what is stored; it must not change anything."""
        return self._read(work)

    def last_told(self) -> float | None:
        """Return when the last observation was told, by the storage's clock; None without any."""
        return self._read(last_told)

    def status(self, forecast: bool = True) -> StudyStatus:
        """Return where the study stands, and about how many pulls are left if gaps are as they look.

        Without the forecast it reads a few rows only; with it, what was told since the last look, and
        says in `warnings` what speaks against the assumptions.
        """

        def work(session: Session) -> StudyStatus:
            status = make_status(self.spec, session)
            if not forecast:
                return status
            status = replace(status, warnings=list(warnings))
            if status.state != "running":
                return replace(status, forecast=0.0 if status.state == "done" else None)
            try:
                return replace(status, forecast=foresee(self.spec, self._runner.view(session)))
            except (WrongVersion, Damaged):  # such a study can be looked at, not stepped
                return status

        warnings = in_words(self.doubts()) if forecast else ()
        if not forecast:
            return self._read(work)
        with self._lock:
            return self._read(work)

    def answer(self, beside: bool = True) -> Answer:
        """Return what is known so far, with what it is worth; signs against its assumptions void that.

        At any time it has the best guess beside what is proven, which arm to take of each group that
        is in, and ties; `beside=False` spares working these out.
        """
        known = make_answer(self.spec, self.head()).with_doubts(self.doubts())
        return known.beside(self.certificate()) if beside else known

    def doubts(self) -> list[Doubt]:
        """Return what speaks against the assumptions: spreads, drifts, ties, skew, repeated rows."""
        with self._doubting:
            soon = self.head().state == "running"
            try:
                return self._doubter.doubts(self.blocks, soon)
            except Damaged as error:
                return [Doubt(str(error), True)]

    def certificate(self) -> Certificate:
        """Return the algorithm's decisions with their reasons, and what the observations add to them."""
        with self._watch:
            self.head()  # takes up arms that have come or gone
            self._observer.catch_up(self.blocks)
            with self._lock:
                head, look = self._read(self._look)
            state = self._observer.observed, head.plan, head.state
            if self._certified is None or self._certified[0] != state:
                made = make_certificate(self.spec, head, self._observer.picture(), look)
                self._certified = state, made.with_doubts(self.doubts())
            return self._certified[1]

    def _look(self, session: Session) -> tuple[Head, Outlook | None]:
        try:
            return session.head, outlook(self.spec, self._runner.view(session))
        except WrongVersion:  # such a study can be looked at, not stepped
            return session.head, None

    def explain(self, group: str) -> Explanation:
        """Return what is known of a group and, once it is decided, since when."""
        if group not in self.problem.groups:
            raise InvalidInput(f"there is no group {group!r} in the study {self.name!r}")
        found, number = self.certificate(), self.problem.groups.index(group)

        def work(session: Session) -> tuple[dict[str, Any], list[Entry], list[Comparison]]:
            try:
                view = self._runner.view(session)
                return view.record(), session.decisions(), view.proof(number)
            except WrongVersion:  # what is stored can be read for ever
                return {}, session.decisions(), []

        with self._lock:
            record, decisions, proof = self._read(work)
        return make_explanation(self.spec, found, record, decisions, number, proof)

    def checkpoint(self) -> Checkpoint:
        """Return where the algorithm stands: its state and the statistics of consumed pulls."""
        with self._lock:
            return self._read(lambda session: self._runner.view(session).checkpoint())

    def decisions(self) -> list[dict[str, Any]]:
        """Return the decisions in the order in which they were made; none is ever taken back.

        Where arms have joined or left, that stands among them: it opens some of the decisions again.
        """
        made = self._read(lambda session: session.decisions())
        return [decision_dict(self.spec, entry) for entry in made]

    def proven_by_now(self) -> list[dict[str, Any]]:
        """Return how many groups were in, out, not needed and undecided after how many pulls."""
        known = self.answer(beside=False)
        now = dict.fromkeys(known.inside, "in") | dict.fromkeys(known.outside, "out")
        now |= dict.fromkeys(known.not_needed, "not needed")
        made, opened = self.decisions(), resets(self.spec)
        base = self.problem if self.spec.roster is None else self.spec.roster.base
        return proven_by_now(base.groups, made, now, known.pulls, opened)

    def course(self) -> Any:
        """Return the curve "proven by now" as a data frame: pulls, and groups of each status."""
        return data_frame(self.proven_by_now())

    def entries(self) -> list[Entry]:
        """Return the decisions that hold now, by the numbers of the problem instead of names."""
        made = self._read(lambda session: session.decisions())
        return entries_now(self.spec, made)

    def verify(self) -> int:
        """Return the pulls that a replay of the whole log consumes; Damaged if anything is wrong.

        Everything stored is read and held against its checksum: a changed bit, a value that is no
        number, a block that is cut or missing are named. The replay must give the stored decisions.
        """
        examined = self._store.read(
            self._key, lambda s: examine(s, self.spec, self._key), trust=True
        )
        if examined.findings:
            shown = "; ".join(finding.what for finding in examined.findings[:5])
            more = len(examined.findings) - 5
            rest = f"; and {more} more" if more > 0 else ""
            raise Damaged(
                f"the study {self.name!r} was changed by other means than bestgroup: {shown}{rest}"
            )
        return examined.pulls

    def check(self) -> list[Finding]:
        """Return what is wrong with what is stored of the study, and what `repair` does about it."""
        found = self._read(lambda s: examine(s, self.spec, self._key), trust=True)
        return found.findings

    def repair(self) -> list[Finding]:
        """Repair what is wrong and return what it was; see `check` for what will be done.

        Observations that no checksum vouches for are dropped, and asked for again with their
        seeds; all else follows from the log. The audit trail has a line for it.
        """
        with self._lock:
            self._runner.forget()
            found = self._change_store(lambda s: repair(s, self.spec, self._key), trust=True)
        if found:
            detail = "; ".join(map(str, found))
            self._note_done(None, "repair", detail[:2000])
        return found

    def _note_done(self, who: str | None, what: str, detail: str) -> None:
        """Add to the audit trail what is stored already, so that failing would be a lie."""
        try:
            note(self._store, who, what, (self.name, self._key), detail)
        except StoreError as error:
            log.warning("this %s is not in the audit trail: %s", what, error)

    def leases(self) -> list[Lease]:
        """Return who has which pulls, and for how many seconds from now; below 0: overdue."""

        def work(session: Session) -> list[Lease]:
            return [
                Lease(*self._names(slot), slot.owner, slot.expires - session.now)
                for slot in sorted(session.slots(), key=lambda slot: slot.pulls.start)
                if slot.owner
            ]

        return self._read(work)

    def release(self, owner: str | None = None) -> int:
        """End all leases, or those of an owner; returns how many pulls are free again.

        A worker that tells one of them later is still heard if nobody was quicker.
        """

        def work(session: Session) -> int:
            held = [s for s in session.slots() if s.owner and owner in (None, s.owner)]
            session.swap(held, [slot._replace(owner="", expires=0.0) for slot in held])
            return sum(slot.pulls.size for slot in held)

        return self._change_store(work)

    def import_observations(
        self, source: Any, who: str | None = None, *, columns: Any = None, by_index: bool = False
    ) -> int:
        """Take observations made elsewhere: a CSV or Parquet file, a data frame, or rows.

        Columns group, arm and one for each dim; where arms share items, also item: such rows are taken
        up when their arm comes to the item, at no cost. The order of the items must not have been
        drawn by looking at them. Otherwise the rows of an arm are taken in their order, as its
        next pulls that nobody has a lease on. They must not have been chosen by their outcome. The
        same table again changes nothing. Returns the number of new observations.

        `columns` says what the columns are called, as in `certify`. With `by_index` the column
        `index`, as an export has it, says which pull of its arm a row is.
        """
        from bestgroup.studies.table import import_rows, read_rows

        self._check_runs()
        problem = self.problem
        table = read_rows(source, problem, columns, by_index)

        with self._lock:
            # The log is read before others have to wait for the transaction.
            self._read(lambda session: self._runner.sync(session))
            fresh = self._write(lambda session: import_rows(session, self._runner, table, problem))
        # From here on the rows are stored, whatever comes.
        self._go_on_if_possible()
        self._note_done(who, "import", f"{fresh} rows")
        return fresh

    def add_arm(
        self, group: str, arm: str, *, cost: float | None = None, who: str | None = None
    ) -> None:
        """Let an arm join a group; the problem must have a reserve (`Problem(..., reserve=10)`).

        What is out stays out but for its group, which stays in if it is; all else is open again, and
        decided anew with all that was told. An ended study goes on.
        """
        self._join(group, [arm], cost, who, False)

    def add_group(
        self,
        group: str,
        arms: str | Sequence[str],
        *,
        cost: float | None = None,
        who: str | None = None,
    ) -> None:
        """Let a new group join, with its arms; see `add_arm`."""
        self._join(group, [arms] if isinstance(arms, str) else list(arms), cost, who, True)

    def withdraw(self, group: str, arm: str | None = None, *, who: str | None = None) -> None:
        """Let an arm leave, or a whole group; its tickets are gone, what it told stays in the log.

        What is in stays in but for its group, which stays out if it is; all else is open again.
        """
        self._check_runs()
        self._write(lambda session: leave(session, self.spec, group, arm))
        self._changed("withdraw", f"{group}, {'all arms' if arm is None else arm}", who)

    def changes(self) -> list[dict[str, Any]]:
        """Return which arms joined and left, in their order, and how many may still join."""
        self.head()
        roster = self.spec.roster
        return [] if roster is None else [change.to_dict() for change in roster.changes]

    def _join(
        self, group: str, arms: list[str], cost: float | None, who: str | None, new: bool
    ) -> None:
        self._check_runs()
        self._write(lambda session: join(session, self.spec, group, arms, cost, new))
        self._changed("join", f"{group}: {', '.join(map(str, arms))}", who)

    def _changed(self, what: str, detail: str, who: str | None) -> None:
        """Take up a change of arms, and put it into the audit trail."""
        self.head()
        self._go_on_if_possible()
        try:
            note(self._store, who, what, (self.name, self._key), detail[:500])
        except StoreError as error:
            log.warning("a change of arms is not in the audit trail: %s", error)

    def to_frame(self) -> Any:
        """Return all observations as a pandas data frame: group, arm, index and the dims."""
        from bestgroup.studies.table import to_frame

        return to_frame(self.spec, self.blocks())

    def export(self, path: Any, *, chain: Any = None, key: Any = None) -> int:
        """Write all observations to a .csv or .parquet file; returns the number of rows.

        `chain` is a file for the links of the log, each of which commits to all that was told
        before it: with it `bestgroup verify` says whether a row was changed or left out since. `key`
        is a file with a key that signs the last link.
        """
        if key is not None and chain is None:
            raise InvalidInput("a key signs the chain of tells: say where to write that, too")
        return self._write_rows(self.blocks(), path, chain, key)

    def _write_rows(self, blocks: Sequence[Block], path: Any, chain: Any, key: Any) -> int:
        from bestgroup.studies.table import write_table

        secret = None if key is None else read_key(key)
        rows = write_table(self.spec, blocks, path)
        if chain is not None:
            dims = [dim.name for dim in self.problem.dims]
            write_chain(chain, self.identity, dims, blocks, secret)
        return rows

    def save_proof(self, path: Any, *, key: Any = None, rows: Any = None, chain: Any = None) -> str:
        """Write a proof file of what is decided (`bestgroup verify` checks it with an export).

        Returns the digest of the file. `key` is a file with a key that whoever checks the proof has,
        too: the proof is signed by it. `rows` and `chain` are files for what `export` writes, of
        the same moment, however fast others tell.
        """
        if chain is not None and rows is None:
            raise InvalidInput("a chain of tells is about rows: say where to write these, too")
        found, blocks = self.certificate(), self.blocks()
        status = found.verdict.status.tolist()
        digest = save_study_proof(self.spec, blocks, status, found.guarantee, path, key)
        if rows is not None:
            self._write_rows(blocks, rows, chain, key)
        return digest

    def compile(self) -> None:
        """Step with compiled kernels from now on: the same bits, some seconds to begin with.

        Pays in a process that tells tens of thousands of observations, such as a server.
        """
        with self._lock:
            self._runner.compile()

    def close(self) -> None:
        """Let go of the storage."""
        self._store.close()

    def __reduce__(self) -> Any:
        """Return how to load the study again; what is kept nowhere else is taken along."""
        return _again, (self._store.as_kept(), self._key, self.spec)

    def plot(self) -> Figure:
        """Return how many groups were in, out and undecided over the pulls."""
        return status_view(self)

    def _repr_html_(self) -> str:
        return study_html(self.spec, self.head(), self.storage)

    def __repr__(self) -> str:
        try:
            head = self.head()
            state = f"{head.state}, {head.told:,} told"
        except BestGroupError:  # deleted, or out of reach
            state = "not to be read"
        return f"Study({self.name!r}, {state}, storage={without_password(self.storage)!r})"

    def _read(self, work: Callable[[Session], T], trust: bool = False) -> T:
        """Run `work` on one state of the study, with the arms that take part in it."""
        while True:
            try:
                return self._store.read(self._key, self._gated(work), trust=trust)
            except _Changed:
                self._take_up_changes()

    def _change_store(
        self, work: Callable[[Session], T], durable: bool = True, trust: bool = False
    ) -> T:
        """Run `work` alone on the study, with the arms that take part in it."""
        while True:
            try:
                return self._store.write(self._key, self._gated(work), durable, trust)
            except _Changed:
                self._take_up_changes()

    def _gated(self, work: Callable[[Session], T]) -> Callable[[Session], T]:
        """Return `work` for arms that this process knows of; _Changed if others take part by now."""
        if self._changes is _FIXED:
            return work

        def checked(session: Session) -> T:
            if json.loads(session.head.report).get("changes") != self._changes:
                raise _Changed
            return work(session)

        return checked

    def _take_up_changes(self) -> None:
        """Begin anew with the arms that take part now: everything else follows from the log."""
        with self._lock:
            head = self._store.read(self._key, lambda session: session.head)
            self.spec, self._changes = self.spec.at(head), json.loads(head.report).get("changes")
            self._runner = self._runner.for_spec(self.spec)
            self._observer, self._doubter = Observer(self.spec), Doubter(self.spec)
            self._certified = None

    def _check_runs(self) -> None:
        """Raise WrongVersion unless the study's algorithm is here: a study that cannot step rests."""
        if not self._runs:
            self.spec.make_algorithm()
            self._runs = True

    def _record(self, tells: Sequence[Tell]) -> int:
        self._check_runs()
        self._runner.expect(len(tells))

        def work(session: Session) -> tuple[int, bool]:
            if getattr(self.problem.noise, "difference", None) is not None:
                self._runner.check_differences(session, tells)
            fresh = session.record(tells)
            if fresh and _is_stalled(session):
                if self._runner.is_quick(session):
                    self._runner.move(session, seconds=A_MOMENT)
                return fresh, _is_stalled(session)
            self._runner.keep_up(session)
            return fresh, False

        try:
            fresh, more = self._write(work)
        except TicketError as error:
            raise self._named(error) from None
        if more:
            self._go_on_if_possible()
        return fresh

    def _go_on_if_possible(self) -> None:
        """Go on after something was stored: it stays so if that fails, and the next one tries again."""
        try:
            self._go_on()
        except StoreError as error:
            log.warning("plans that can be completed were left for later: %s", error)

    def _go_on(self) -> bool:
        """Complete the plans whose pulls are told; returns whether there were any.

        The steps are taken while no transaction is open, and stored turn by turn.
        """

        def ready(session: Session) -> bool:
            if not _is_stalled(session):
                return False
            self._runner.catch_up(session, self._runner.sync(session))
            return True

        def turn(seconds: float) -> bool:
            with self._lock:
                try:
                    if not self._read(ready):
                        return False
                    self._runner.step_ahead(seconds)
                except BaseException:
                    self._runner.forget()
                    raise
                self._write(lambda session: self._runner.settle(session))
                return True

        # Whoever steps by turns answers others meanwhile, and can come back for it.
        if self.turns is not None and self._runner.should_wait():
            return False
        done = 0
        while done != self.turns and turn(min(A_TURN * 2**done, LONGEST_TURN)):
            done += 1
        return done > 0

    def _write(self, work: Callable[[Session], T]) -> T:
        """Run `work`; after a failure the runner, which may be ahead of the storage, starts anew."""
        with self._lock:
            self._tries = 0

            def once_more(session: Session) -> T:
                if self._tries:
                    self._runner.forget()
                self._tries += 1
                return work(session)

            try:
                return self._change_store(once_more)
            except TicketError:  # refused before anything was stepped
                raise
            except BaseException:
                self._runner.forget()
                raise

    def _named(self, error: TicketError) -> TicketError:
        """Return an error of the store, which knows numbers only, with names."""
        i, j = error.group, error.arm
        if not isinstance(i, int) or not isinstance(j, int):
            return error
        problem = self.spec.everyone
        return TicketError(error.what, problem.groups[i], problem.arms[i][j], error.pulls)

    def _names(self, slot: Slot) -> tuple[str, str, int, int]:
        problem = self.spec.everyone
        arm = problem.arms[slot.pulls.group][slot.pulls.arm]
        return problem.groups[slot.pulls.group], arm, slot.pulls.first, slot.pulls.size

    def _ticket(self, slot: Slot) -> Ticket:
        problem, place = self.spec.everyone, (self.spec.seed, slot.pulls.group, slot.pulls.arm)
        items = problem.items
        numbers = () if items is None else self.spec.item_numbers(slot.pulls.first, slot.pulls.stop)
        return Ticket(
            study=self.name,
            group=problem.groups[slot.pulls.group],
            arm=problem.arms[slot.pulls.group][slot.pulls.arm],
            index=slot.pulls.first,
            repeats=slot.pulls.size,
            owner=slot.owner,
            expires=slot.expires,
            place=place,
            items=() if items is None else tuple(items.name(number) for number in numbers),
            numbers=numbers,
            identity=self._key,
        )

    def _block(self, values: Any) -> Floats:
        """Return checked values [n, all dims]; a plain row of floats takes a short way."""
        plain = isinstance(values, list | tuple) and len(values) == len(self.spec.problem.dims)
        problem = self.spec.problem
        if plain and type(problem.noise) is SubGaussian and not problem.treated:
            if all(type(x) is float and -LARGEST <= x <= LARGEST for x in values):
                return np.array([values])
        return self.spec.problem.check_values(values)

    def _slot(self, ticket: Any) -> Slot:
        claim = read_ticket(ticket, self.name, self.identity)
        i, j = self._number(claim.group, claim.arm)
        return Slot(PullRange(i, j, claim.first, claim.repeats), owner=claim.owner)

    def _number(self, group: str, arm: str) -> tuple[int, int]:
        """Return the numbers in the storage of an arm that takes part."""
        try:
            return self.spec.stored(self.spec.problem.index(group, arm))
        except InvalidInput:
            if self._changes is _FIXED:
                raise
        self.head()  # it may have joined by now
        everyone = self.spec.everyone
        place = everyone.index(group, arm)
        if self.spec.local(place) is None:
            raise TicketError(
                f"the arm {arm!r} of {group!r} has left the study; nothing was stored"
            )
        return place

    def _tell(self, ticket: Any, values: Any) -> Tell:
        claim = read_ticket(ticket, self.spec.name, self._key)
        i, j = self._number(claim.group, claim.arm)
        block = self._block(values)
        if not 1 <= len(block) <= claim.repeats:
            raise InvalidInput(
                f"a ticket of {claim.repeats} pulls takes 1 to {claim.repeats} rows of values; "
                f"got {len(block)}"
            )
        return Tell(PullRange(i, j, claim.first, len(block)), block)


def _is_stalled(session: Session) -> bool:
    """Return whether the plan waits for nothing: it can be completed at once."""
    return session.head.state == "running" and not session.waiting()


def note(
    store: Store, who: str | None, what: str, study: tuple[str, str], detail: str = ""
) -> None:
    """Add a line to the audit trail; without `who` it is the user of this process."""
    if who is None:
        try:
            user = getpass.getuser()
        except (KeyError, OSError):
            user = str(os.getuid())
        who = f"{user}@{socket.gethostname()}"
    store.note(Event(0.0, who, what, *study, detail))


def _again(kept: Any, key: str, spec: StudySpec) -> Study:
    return Study(open_store(kept), key, spec)


def _seconds(lease: Any) -> float:
    if type(lease) is float and 0.0 < lease <= 1e8:
        return lease
    seconds = number(lease, "lease")
    if not 0 < seconds <= 10**8:
        raise InvalidInput(f"lease must be a positive number of seconds; got {seconds:g}")
    return seconds

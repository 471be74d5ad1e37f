"""A study's algorithm at work: catches up with the log, steps, and writes what comes next.

A runner holds a live session and remembers up to which block it has been fed. Whatever it holds may
be thrown away: `forget`, after a transaction that failed, and `sync` begins from a snapshot or from
nothing. Blocks are believed only as far as their checksums chain up to the head's. `view` steps to
where the head stands, for readers; `move` and `settle` go on and write, for those who told.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bestgroup.drivers.session import Decision, LiveSession
from bestgroup.errors import Damaged
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.status import Status
from bestgroup.studies.checkpoint import pack, unpack
from bestgroup.studies.log import check_block, read_log
from bestgroup.studies.roster import Change
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.base import Session
from bestgroup.studies.storage.records import Block, Entry, Head, Slot, Tell
from bestgroup.studies.warming import is_coming, is_ready, key_of

CHUNK = 20_000  # blocks read at a time
SNAPSHOT_AFTER = 0.05  # seconds of stepping that a later process must not repeat
FEW = 1000  # blocks that are read inside somebody's transaction
QUICK = 0.005  # seconds for a plan that is completed inside somebody's transaction
COMPILE_AFTER = 5.0  # seconds of plain Python beyond which compiling pays
WARM_AFTER = 1.0  # seconds of plain Python after which another process compiles
LARGE = 300  # arms: a step of plain Python may take a good part of a second
LONG_LIVED = 64  # tells after which a process is thought to stay, so that compiling pays


class Runner:
    """The live session of a study, as far as this process has read the log."""

    def __init__(self, spec: StudySpec) -> None:
        self.spec = spec
        self._live: LiveSession | None = None
        self._seen, self._chain = 0, b""  # the last block that was read, and its checksum
        self._loose: list[tuple[int, int, int, int]] = []  # blocks with pulls not consumed
        self._spent = self._cost = 0.0
        self._compiled, self._plain = False, 0.0  # and the seconds of plain Python so far
        self._pace = 0.0  # seconds that a plan has taken of late
        self._begun = False  # with what was told before the last change of arms
        self._tells = 0  # in this process

    def for_spec(self, spec: StudySpec) -> Runner:
        """Return a runner for other arms, which steps as this one does."""
        made = Runner(spec)
        made._compiled = self._compiled
        return made

    @cached_property
    def _kernels(self) -> str:
        return key_of(self.spec)

    def forget(self) -> None:
        """Drop everything: after a failed transaction it may be ahead of what is stored."""
        self._live = None

    def compile(self) -> None:
        """Step with compiled kernels from now on."""
        self._compiled = True
        if self._live is not None:
            self._live.compile()

    def first(self) -> tuple[Head, list[Slot], list[Entry]]:
        """Return the head, the slots and the decisions of a study without observations."""
        live, _ = self._start(None)
        made = live.decisions
        return self._head(Head(), live, made), self._slots(live, []), self._entries(live, made)

    def sync(self, session: Session, cache: bool = True) -> LiveSession:
        """Return the live session, fed with every block of the log and not stepped."""
        if self._live is not None:
            try:
                return self._read(session, self._live, ())
            except Damaged:
                # What this process has read is not what is stored: a backup may have been restored.
                self._live = None
        if cache and (snapshot := session.snapshot()) is not None:
            try:
                live, numbers = self._start(snapshot)
                return self._read(session, live, numbers)
            except Damaged:
                pass  # a snapshot of another log is no use; the log itself decides
        try:
            return self._read(session, *self._start(None))
        except Damaged:
            self._live = None
            raise

    def _read(self, session: Session, live: LiveSession, ahead: Sequence[int]) -> LiveSession:
        """Feed what was not read yet, as far as its checksums fit; Damaged if they do not."""
        if ahead:
            before = {number - 1 for number in ahead} - set(ahead) - {0}
            found = {b.number: b for b in session.blocks(2**62, [*before, *ahead])}
            for number in ahead:
                check_block(found[number], b"" if number == 1 else found[number - 1].chain)
            self._feed(live, [found[number] for number in ahead])
        self._feed_log(session, live, session.head.blocks)
        if self._chain.hex() != session.head.chain or self._seen != session.head.blocks:
            raise Damaged(
                "the log of this study is not the one that its head speaks of; `bestgroup study "
                "check` says what is wrong"
            )
        return live

    def oriented(self, values: Floats) -> Floats:
        """Return values [n, all dims] as the algorithm sees them."""
        return self.spec.problem.to_internal(values)

    def check_differences(self, session: Session, tells: Sequence[Tell]) -> None:
        """Refuse values that are further from another arm's on the same item than declared."""
        live = self.sync(session)
        for tell in tells:
            rows = self.oriented(tell.values)
            live.check_differences(*tell.pulls.start, rows)

    @property
    def _change(self) -> Change | None:
        """The last change of arms, if there was one."""
        return None if self.spec.roster is None else self.spec.roster.last

    def _carried(self, change: Change) -> Ints:
        """Return what stayed decided at a change of arms, [N]."""
        return np.array([Status.read(letter) for letter in change.groups], np.int64)

    def _feed_log(self, session: Session, live: LiveSession, end: int) -> None:
        """Feed the log up to a block; the session begins with what was told before the last change."""
        change = self._change
        if change is not None and not self._begun:
            self._feed_until(session, live, min(end, change.blocks))
            if self._seen >= change.blocks:
                live.begin_with(self._carried(change))
                self._begun = True
        self._feed_until(session, live, end)

    def _feed_until(self, session: Session, live: LiveSession, end: int) -> None:
        while self._seen < end:
            blocks = read_log(session, self._seen, min(CHUNK, end - self._seen), self._chain)
            self._feed(live, blocks)
            self._seen, self._chain = blocks[-1].number, blocks[-1].chain

    def view(self, session: Session, until: int | None = None) -> LiveSession:
        """Return the live session as the log has it, or had it after block `until`, for readers."""
        if until is None:
            live = self.sync(session)
            self.catch_up(session, live)
        else:
            live = self._live or self._start(None)[0]
            change = self._change  # before it there were other arms
            self._feed_log(session, live, until if change is None else max(until, change.blocks))
            self._step(live)
        live.decisions = []  # stored by whoever completed their plans
        return live

    def move(self, session: Session, always: bool = False, seconds: float | None = None) -> None:
        """Step as far as the log allows and write the next tickets, decisions and the head.

        With `always` they are written even if nothing has moved: to repair them. With `seconds` it
        stops after about so long, at some plan whose pulls are told already: nothing waits then, and
        whoever comes next goes on from there.
        """
        live = self.sync(session)
        before = live.plan_number, live.stuck, live.done
        self._step(live, seconds=seconds)
        if (live.plan_number, live.stuck, live.done) == before:
            if session.head.plan == live.plan_number and not always:
                return
        self._put(session, live)

    def expect(self, tells: int) -> None:
        """Have the kernels of many arms compiled before the first step, in a process that stays."""
        soon = self._tells < LONG_LIVED <= self._tells + tells
        if soon and not self._compiled and self._is_large():
            is_ready(self._kernels)
        self._tells += tells

    def _is_large(self) -> bool:
        return self.spec.problem.shape.total >= LARGE

    def should_wait(self) -> bool:
        """Return whether compiled kernels are on their way for steps that take long without them."""
        return not self._compiled and self._is_large() and is_coming(self._kernels)

    def is_quick(self, session: Session) -> bool:
        """Return whether a plan is completed so soon that others may wait for it."""
        if self.should_wait():
            return False
        return self._unread(session) <= FEW and self._pace < QUICK

    def keep_up(self, session: Session) -> None:
        """Read what was told of a long plan now and then, so that its end does not wait for it."""
        if FEW // 4 <= self._unread(session) <= FEW:
            self.sync(session)

    def _unread(self, session: Session) -> int:
        return session.head.blocks - (0 if self._live is None else self._seen)

    def step_ahead(self, seconds: float) -> None:
        """Step for about so long beyond what is stored: nobody has to wait for that."""
        if self._live is not None:
            self._step(self._live, seconds=seconds)

    def settle(self, session: Session) -> None:
        """Write what was stepped ahead, unless another process has come as far."""
        live = self.sync(session)
        self.catch_up(session, live)
        if (live.plan_number, _state(live)) != (session.head.plan, session.head.state):
            self._put(session, live)

    def _put(self, session: Session, live: LiveSession) -> None:
        """Write the next tickets, the decisions, the head and sometimes a snapshot."""
        old = session.slots()
        session.swap(old, self._slots(live, old))
        made = live.decisions
        live.decisions = []
        # Plans that others have completed are stepped here too; their decisions are stored.
        stored = sum(letter != "?" for letter in json.loads(session.head.report)["groups"])
        stored += self._offset
        entries = self._entries(live, made)
        session.decide([entry for entry in entries if entry.number > stored])
        head = self._head(session.head, live, made)
        session.set_head(head)
        # A large state takes long to store; then it is stored less often.
        if self._spent > max(SNAPSHOT_AFTER, 10 * self._cost) or head.state != "running":
            begun = time.perf_counter()
            ahead = sorted(n for n, *_ in self._loose)
            data = pack(live.checkpoint(), self._seen, ahead, self._chain)
            if data is not None:
                session.set_snapshot(data)
            self._spent, self._cost = 0.0, time.perf_counter() - begun

    def _start(self, snapshot: bytes | None) -> tuple[LiveSession, Sequence[int]]:
        spec = self.spec
        algorithm = spec.make_algorithm()
        live = LiveSession(spec.setting(), algorithm, spec.horizon, keep=False)
        self._live, self._seen, self._loose, self._spent = live, 0, [], 0.0
        self._begun = False
        self._chain = b""
        if self._compiled:
            live.compile()
        saved = None if snapshot is None else unpack(snapshot, live.checkpoint())
        if saved is None:
            return live, ()
        live.resume(saved.checkpoint)
        if (change := self._change) is not None:
            live.carry(self._carried(change))
            self._begun = True
        self._seen, self._chain = saved.seen, saved.chain
        return live, saved.ahead

    def _step(
        self, live: LiveSession, most: int | None = None, seconds: float | None = None
    ) -> None:
        """Step as far as the log allows, at most so often and for about so long."""
        long = self._plain > WARM_AFTER or (self._tells >= LONG_LIVED and self._is_large())
        if not self._compiled and long and is_ready(self._kernels):
            self.compile()
        begun, steps, portion = time.perf_counter(), 0, 4
        while most is None or steps < most:
            wanted = portion if most is None else min(portion, most - steps)
            taken = live.advance(wanted)
            steps += taken
            spent = time.perf_counter() - begun
            if taken != wanted or (seconds is not None and spent >= seconds):
                break
            # A few steps tell whether compiling pays: with hundreds of groups one takes a second.
            # Somebody who has only so long must not wait for it.
            ahead = spent / steps * live.backlog()
            if not self._compiled and seconds is None and ahead > COMPILE_AFTER:
                self.compile()
            portion = (
                10 * portion if seconds is None else max(1, int(steps * 0.2 * seconds / spent))
            )
        spent = time.perf_counter() - begun
        self._spent += spent
        self._plain += 0.0 if self._compiled else spent
        if steps:
            self._pace = spent / steps
            counts = live.checkpoint().counts
            self._loose = [entry for entry in self._loose if entry[3] > counts[entry[1:3]]]

    def catch_up(self, session: Session, live: LiveSession) -> None:
        """Step to where the head stands: plans beyond it are for whoever writes to complete."""
        ended = session.head.state != "running"
        self._step(live, None if ended else session.head.plan - live.plan_number)

    def _feed(self, live: LiveSession, blocks: list[Block]) -> None:
        if self.spec.roster is not None:
            blocks = [
                block._replace(pulls=block.pulls.moved(*arm))
                for block in blocks
                if (arm := self.spec.local(block.pulls.home)) is not None
            ]
            if not blocks:
                return
        values = np.concatenate([block.values for block in blocks])
        oriented = self.spec.problem.to_internal(values)
        self._loose += [(b.number, *b.pulls.home, b.pulls.stop) for b in blocks]
        if len(blocks) <= 16:
            at = 0
            for block in blocks:
                size = len(block.values)
                live.feed(*block.pulls.start, oriented[at : at + size])
                at += size
            return
        for group, arm, first, rows in _runs(blocks, oriented):
            live.feed(group, arm, first, rows)

    @property
    def _offset(self) -> int:
        """Decisions that were stored before the last change of arms, less those that stayed."""
        change = self._change
        if change is None:
            return 0
        return change.entries - sum(c != Status.UNDECIDED.letter for c in change.groups)

    def _entries(self, live: LiveSession, made: Sequence[Decision]) -> list[Entry]:
        """Return decisions as rows, by the numbers of the storage."""
        entries = _entries(list(made), int((live.status > 0).sum()))
        if self.spec.roster is None:
            return entries
        return [
            entry._replace(
                number=self._offset + entry.number,
                group=self.spec.stored_group(entry.group),
                evidence=json.dumps(self._evidence(decision)),
            )
            for entry, decision in zip(entries, made, strict=True)
        ]

    def _evidence(self, decision: Decision) -> dict[str, Any]:
        """Return what a decision rests on, with the arms that took part then."""
        if decision.group < 0:
            answer = [self.spec.stored_group(i) for i in decision.evidence["answer"]]
            return {**decision.evidence, "answer": answer}
        return {**decision.evidence, "arms": list(self.spec.problem.arms[decision.group])}

    def _slots(self, live: LiveSession, old: Sequence[Slot]) -> list[Slot]:
        """Return the slots for what is wanted now; those of arms that have left are gone."""
        if self.spec.roster is None:
            return _slots(live, old)
        kept = [
            slot._replace(pulls=slot.pulls.moved(*arm))
            for slot in old
            if (arm := self.spec.local(slot.pulls.home)) is not None
        ]
        return [
            slot._replace(pulls=slot.pulls.moved(*self.spec.stored(slot.pulls.home)))
            for slot in _slots(live, kept)
        ]

    def _head(self, head: Head, live: LiveSession, made: list[Decision]) -> Head:
        names = self.spec.problem.groups
        report = json.loads(head.report)
        letters = list(report.get("groups", Status.UNDECIDED.letter * len(names)))
        for decision in made:
            if decision.kind == "answer":
                report["answer"] = decision.evidence["answer"]
            else:
                letters[decision.group] = Status.read(decision.kind).letter
        report["groups"], report["not_needed"] = "".join(letters), True  # has a letter for it
        if self.spec.problem.costs is not None:
            rows = zip(self.spec.problem.costs, live.counts, strict=True)
            report["cost"] = float(sum(np.dot(costs, counts) for costs, counts in rows))
        return head._replace(
            plan=live.plan_number,
            pulls=live.pulls,
            state=_state(live),
            report=json.dumps(report),
        )


def _state(live: LiveSession) -> str:
    return "done" if live.done else "stuck" if live.stuck else "running"


def _entries(made: list[Decision], settled: int) -> list[Entry]:
    """Return decisions as rows; there is one a group, and the answer comes last."""
    number = settled - sum(decision.kind != "answer" for decision in made)
    return [
        Entry(number + k + 1, d.plan, d.pulls, d.kind, d.group, json.dumps(d.evidence))
        for k, d in enumerate(made)
    ]


def _slots(live: LiveSession, old: Sequence[Slot]) -> list[Slot]:
    """Return the slots for what is wanted now; leased and failed ones keep owner and story."""
    kept: dict[tuple[int, int], list[Slot]] = {}
    for slot in old:
        if slot.owner or slot.failures:
            kept.setdefault(slot.pulls.home, []).append(slot)
    new: list[Slot] = []
    for wanted, end in live.wanted():
        own = sorted(kept.pop(wanted.home, []), key=lambda slot: slot.pulls.first)
        for rest in live.missing(wanted):
            for slot in own:
                both = slot.pulls.overlap(rest)
                if both.size <= 0:
                    continue
                if rest.first < both.first:
                    new.append(_wanted(Slot(rest.cut(rest.first, both.first)), end))
                new.append(_wanted(slot._replace(pulls=both), end))
                rest = rest.cut(both.stop, rest.stop)
            if rest.size > 0:
                new.append(_wanted(Slot(rest), end))
        for slot in own:
            if slot.pulls.stop > wanted.stop and slot.owner:
                beyond = slot.pulls.cut(max(slot.pulls.first, wanted.stop), slot.pulls.stop)
                new.append(slot._replace(pulls=beyond, due=0, rank=2))
    new += [s._replace(due=0, rank=2) for slots in kept.values() for s in slots if s.owner]
    return new


def _wanted(slot: Slot, end: int) -> Slot:
    """Return the slot with the pulls before `end` marked as due."""
    due = max(0, min(end - slot.pulls.first, slot.pulls.size))
    return slot._replace(due=due, rank=0 if due else 1)


def _runs(blocks: list[Block], values: Floats) -> Any:
    """Yield (group, arm, first, rows) with neighbouring blocks of an arm put together."""
    table = np.array([b.pulls for b in blocks], np.int64)
    starts = np.concatenate([[0], np.cumsum(table[:-1, 3])])
    order = np.lexsort((table[:, 2], table[:, 1], table[:, 0]))
    table, starts = table[order], starts[order]
    sizes = table[:, 3]
    offsets = np.cumsum(sizes) - sizes
    rows = values[np.repeat(starts - offsets, sizes) + np.arange(sizes.sum())]
    same = (table[1:, :2] == table[:-1, :2]).all(axis=1)
    joins = same & (table[1:, 2] == table[:-1, 2] + sizes[:-1])
    heads = np.concatenate([[0], np.flatnonzero(~joins) + 1])
    ends = np.concatenate([offsets[heads[1:]], [len(rows)]])
    for head, end in zip(heads.tolist(), ends.tolist(), strict=True):
        group, arm, first, _ = table[head].tolist()
        yield group, arm, first, rows[offsets[head] : end]

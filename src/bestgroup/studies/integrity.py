"""What is wrong with a stored study, and how it is repaired.

`examine` reads everything that belongs to a study, believes none of it, and names what does not fit.
`repair` puts right what follows from the rest: a snapshot is dropped, the numbers in the head, the
tickets and the decisions are those of a replay of the log. Observations follow from nothing: a block
that a checksum vouches for is kept, wherever the log is broken; one that none does is dropped, and
its pulls are asked for again, with their seeds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bestgroup.drivers.session import Decision
from bestgroup.errors import BestGroupError, Damaged, WrongVersion
from bestgroup.problem.status import Status
from bestgroup.studies.checkpoint import is_whole
from bestgroup.studies.runner import Runner
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.base import Session
from bestgroup.studies.storage.checksums import chain_bytes, own_checksum
from bestgroup.studies.storage.records import Block, Entry, Stored

_PORTION = 20_000  # blocks read at a time
_DROPS = "drops it and has its pulls measured again, with the same seeds"


class Finding(NamedTuple):
    """Something that is wrong, where it is, and what `repair` does about it."""

    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}; repair {self.remedy}"


class Examined(NamedTuple):
    """All that is wrong, and the blocks of the log that are not."""

    findings: list[Finding]
    good: list[Block]
    pulls: int  # that a replay consumes


def examine(session: Session, spec: StudySpec, identity: str) -> Examined:
    """Return what is wrong with a study; `session` must not trust its head."""
    log = _Log(spec, identity)
    for row in _all(session):
        log.judge(row)
    findings, head = log.findings, session.head
    if not session.sound:
        findings.append(Finding("the head does not fit its checksum", "replays the log"))
    elif (head.blocks, head.chain) != (log.number, log.chain.hex()):
        what = f"the head speaks of {head.blocks} blocks, the log has {log.number}, or others"
        findings.append(Finding(what, "goes by the log"))
    snapshot = session.snapshot()
    if snapshot is not None and not is_whole(snapshot):
        findings.append(Finding("the snapshot does not fit its checksum", "drops it"))
    if findings:
        return Examined(findings, log.good, head.pulls)
    pulls, more = _replayed(session, spec)
    return Examined(more, log.good, pulls)


def _all(session: Session) -> Iterator[Stored]:
    after = 0
    while rows := session.stored(after, _PORTION):
        yield from rows
        after = rows[-1].number


class _Log:
    """Blocks in the order of the log: which of them can be believed, and what is wrong."""

    def __init__(self, spec: StudySpec, identity: str) -> None:
        self._spec, self._identity = spec, identity
        self.findings: list[Finding] = []
        self.good: list[Block] = []
        self.number, self.chain = 0, b""  # of the block that was judged last
        self._seen: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def judge(self, row: Stored) -> None:
        """Take the next block that is there."""
        follows = row.number == self.number + 1
        if not follows:
            self._miss(self.number + 1, row.number - 1)
        fault = _unreadable(self._spec, row)
        remedy = _DROPS
        if fault is None:
            fault, vouched = self._doubt(row, follows)
            if vouched:
                again = _overlap(self._seen, row)
                fault, vouched = again or fault, again is None
            if vouched:
                values = np.frombuffer(row.data, "<f8").reshape(row.pulls.size, -1)
                self.good.append(Block(row.number, row.pulls, values, row.at, row.chain))
                remedy = "keeps it, and writes its checksums anew"
        if fault is not None:
            what = f"block {row.number} ({_place(self._spec, row)}) {fault}"
            self.findings.append(Finding(what, remedy))
        self.number, self.chain = row.number, row.chain

    def _miss(self, first: int, last: int) -> None:
        what = f"blocks {first} to {last} are" if last > first else f"block {first} is"
        remedy = "goes on without, and has the pulls that were in there measured again"
        self.findings.append(Finding(f"{what} missing", f"{remedy}, with the same seeds"))

    def _doubt(self, row: Stored, follows: bool) -> tuple[str | None, bool]:
        """Return what is wrong with a block's checksums, and whether one vouches for it."""
        own = None if row.own is None else row.own == own_checksum(self._identity, row)
        if follows and chain_bytes(self.chain, row) == row.chain:
            fault = "does not fit its own checksum, but the one over the log so far"
            return (fault if own is False else None), True
        if own:  # after a gap that is as it must be
            return (
                "fits its own checksum, but not the one over the log" if follows else None
            ), True
        if own is None and not follows:
            return (
                "has no checksum of its own, as blocks of earlier versions, and what the one that it "
                "has builds on is missing: nothing shows whether it is whole"
            ), False
        return "does not fit its checksum", False


def _unreadable(spec: StudySpec, row: Stored) -> str | None:
    """Return why a block can be no block of the study, if it cannot."""
    shape, dims = spec.everyone.shape, len(spec.problem.dims)
    if not (
        0 <= row.pulls.group < shape.groups and 0 <= row.pulls.arm < shape.sizes[row.pulls.group]
    ):
        return "is of an arm that the problem does not have"
    if row.pulls.size < 1 or row.pulls.first < 0:
        return "holds no pulls"
    if len(row.data) != 8 * dims * row.pulls.size:
        return f"is cut: it has {len(row.data)} bytes where {8 * dims * row.pulls.size} belong"
    if not np.isfinite(np.frombuffer(row.data, "<f8")).all():
        return "holds a value that is not a finite number"
    return None


def _overlap(seen: dict[tuple[int, int], list[tuple[int, int]]], row: Stored) -> str | None:
    spans = seen.setdefault(row.pulls.home, [])
    first, stop = row.pulls.first, row.pulls.first + row.pulls.size
    if spans and first < spans[-1][1] and any(a < stop and first < b for a, b in spans):
        return "repeats pulls of an earlier block"
    spans.append((first, stop))
    return None


def _place(spec: StudySpec, row: Stored) -> str:
    try:
        group = spec.everyone.groups[row.pulls.group]
        arm = spec.everyone.arms[row.pulls.group][row.pulls.arm]
    except IndexError:
        group, arm = str(row.pulls.group), str(row.pulls.arm)
    last = row.pulls.first + row.pulls.size - 1
    pulls = (
        f"pull {row.pulls.first}"
        if last <= row.pulls.first
        else f"pulls {row.pulls.first} to {last}"
    )
    return f"{pulls} of arm {arm!r} of {group!r}"


def _replayed(session: Session, spec: StudySpec) -> tuple[int, list[Finding]]:
    """Replay the whole log and compare decisions, numbers and tickets with what is stored."""
    runner = Runner(spec)
    try:
        live = runner.sync(session, cache=False)
    except WrongVersion:
        return session.head.pulls, []  # the log is whole; who can step it can say more
    except Damaged as error:
        return session.head.pulls, [Finding(str(error), "goes by the log")]
    runner.catch_up(session, live)
    again = [_decided(decision) for decision in live.decisions]
    stored = [_decided(entry) for entry in _own_entries(session, spec)]
    findings: list[Finding] = []
    if again != stored:
        what = f"the log gives {len(again)} decisions that are not the {len(stored)} stored ones"
        findings.append(Finding(what, "stores those of the log"))
    head = session.head
    gone = 0 if spec.roster is None else head.told - live.told  # of arms that have left
    now = live.plan_number, live.pulls, live.told + gone
    if now != (head.plan, head.pulls, head.told):
        what = (
            f"the log gives plan, pulls and told {now}, the head says {head[0], head[2], head[1]}"
        )
        findings.append(Finding(what, "goes by the log"))
    slots = {(*s.pulls.home, k) for s in session.slots() for k in (s.pulls.first, s.pulls.stop - 1)}
    lacking = [
        pulls
        for wanted, end in live.wanted()
        for pulls in live.missing(wanted.cut(wanted.first, end))
        if pulls.moved(*spec.stored(pulls.home)).start not in slots
    ]
    if lacking:
        what = f"{len(lacking)} stretches of pulls that the plan waits for have no ticket"
        findings.append(Finding(what, "writes the tickets"))
    return live.pulls, findings


def _own_entries(session: Session, spec: StudySpec) -> list[Entry]:
    """Return the decisions since arms joined or left last, by the problem's numbers."""
    entries, roster = session.decisions(), spec.roster
    if roster is None or roster.last is None:
        return entries
    local = {there: here for here, there in enumerate(roster.groups)}
    after = roster.last.entries
    return [e._replace(group=local.get(e.group, e.group)) for e in entries if e.number > after]


def _decided(decision: Decision | Entry) -> tuple[int, int, str, int]:
    """Return what a replay must give again; early logs call out what is not needed, too."""
    kind = "out" if decision.kind == Status.NOT_NEEDED.word else decision.kind
    return decision.plan, decision.pulls, kind, decision.group


def repair(session: Session, spec: StudySpec, identity: str) -> list[Finding]:
    """Repair what can be, and return what was wrong; all of it or, if it fails, nothing."""
    examined = examine(session, spec, identity)
    if not examined.findings:
        return []
    spec.make_algorithm()  # without it there is nothing to go by
    session.set_snapshot(None)
    if spec.roster is not None and spec.roster.changes:
        return _repair_changed(session, spec, examined)
    session.rewrite(examined.good)
    session.forget_decisions()
    runner = Runner(spec)
    head, _, entries = runner.first()
    session.decide(entries)
    log = session.head
    session.set_head(head._replace(told=log.told, blocks=log.blocks, chain=log.chain))
    try:
        runner.move(session, always=True)
    except BestGroupError as error:
        raise Damaged(f"the study cannot be repaired ({error}); restore a backup") from None
    return examined.findings


def _repair_changed(session: Session, spec: StudySpec, examined: Examined) -> list[Finding]:
    """Repair a study whose arms have come and gone: what was decided before the last change is kept.

    The log must be whole: a change stands at a block of it.
    """
    if not session.sound or any(
        _DROPS in f.remedy or "missing" in f.what for f in examined.findings
    ):
        raise Damaged(
            "the log of a study whose arms have come and gone is damaged, and what was decided then does "
            "not follow from the rest; restore a backup"
        )
    assert spec.roster is not None and spec.roster.last is not None
    change, made = spec.roster.last, session.decisions()
    session.rewrite(examined.good)
    session.forget_decisions()
    session.decide([entry for entry in made if entry.number <= change.entries])
    report = {**json.loads(session.head.report), "groups": change.groups}
    report.pop("answer", None)
    session.set_head(session.head._replace(plan=0, state="running", report=json.dumps(report)))
    Runner(spec).move(session, always=True)
    return examined.findings

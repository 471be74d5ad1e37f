"""Arms join and leave a study: what is written then, and what is decided of whom since when.

A change is one transaction: it stands in the head's report and among the decisions, the tickets of arms
that have left are gone, and an algorithm for the arms that take part now has begun with all that was
told. Whoever told something for other arms before it sees a study that has changed, and looks again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import number
from bestgroup.problem.limits import check_size
from bestgroup.problem.status import Status
from bestgroup.studies.report import statuses
from bestgroup.studies.roster import JOIN, LEAVE, Change, Roster
from bestgroup.studies.runner import Runner
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.base import Session
from bestgroup.studies.storage.records import Entry

_NO_RESERVE = (
    "delta of this study is shared among the arms that it began with; to let arms join and leave, create "
    "it with a reserve, bg.Problem(..., reserve=10), and import these observations"
)


def join(session: Session, spec: StudySpec, group: Any, arms: Any, cost: Any, new: bool) -> None:
    """Let arms join a group, or a new group join."""
    roster = _roster(session, spec)
    names = list(arms) if isinstance(arms, list | tuple) else [arms]
    for name in (group, *names):
        if not isinstance(name, str):
            raise InvalidInput(f"groups and arms have texts for names; got {name!r}")
    if not names or len(set(names)) < len(names):
        raise InvalidInput("give one arm or more, each once")
    price = 1.0 if cost is None else number(cost, "cost")
    if cost is not None and (roster.base.costs is None or not 0 < price < float("inf")):
        raise InvalidInput("cost must be positive, in a problem that gives costs")
    roster.check_join(group, names, new)
    check_size([len(row) for row in roster.problem.arms] + [len(names)], len(roster.base.dims))
    _apply(session, spec, roster, (JOIN, group, tuple(names), (price,) * len(names)))


def leave(session: Session, spec: StudySpec, group: Any, arm: Any) -> None:
    """Let an arm leave, or a whole group."""
    roster = _roster(session, spec)
    arms = roster.leavers(group, arm)
    _apply(session, spec, roster, (LEAVE, group, arms, ()))


def _roster(session: Session, spec: StudySpec) -> Roster:
    roster = spec.at(session.head).roster
    if roster is None:
        raise InvalidInput(_NO_RESERVE)
    return roster


def _apply(
    session: Session,
    spec: StudySpec,
    roster: Roster,
    what: tuple[str, str, tuple[str, ...], tuple[float, ...]],
) -> None:
    """Write a change, and go on with the arms that take part after it."""
    head, made = session.head, session.decisions()
    last = made[-1].number if made else 0
    change = Change(*what, head.blocks, last + 1, head.pulls, session.now, "")
    after = Roster(roster.base, (*roster.changes, change))
    problem = after.problem  # which refuses names that are no names
    change = change._replace(
        groups=roster.carried(after, statuses(spec.at(head), head)),
    )
    report = json.loads(head.report)
    report["changes"] = [*report.get("changes", ()), list(change)]
    report["groups"] = change.groups
    report.pop("answer", None)
    stored = after.everyone.groups.index(change.group)
    evidence = json.dumps({"arms": list(change.arms), "groups": list(problem.groups)})
    session.decide([Entry(last + 1, head.plan, head.pulls, change.kind, stored, evidence)])
    session.set_snapshot(None)
    session.set_head(head._replace(plan=0, state="running", report=json.dumps(report)))
    Runner(spec.at(session.head)).move(session, always=True)


def entries_now(spec: StudySpec, entries: Sequence[Entry]) -> list[Entry]:
    """Return the decisions that hold of the arms that take part now, by the problem's numbers."""
    change = None if spec.roster is None else spec.roster.last
    if spec.roster is None or change is None:
        return list(entries)
    local = {there: here for here, there in enumerate(spec.roster.groups)}
    kept = {
        there: letter != Status.UNDECIDED.letter
        for there, letter in zip(spec.roster.groups, change.groups, strict=True)
    }
    latest: dict[int, Entry] = {}
    for entry in entries:
        if entry.kind in (JOIN, LEAVE):
            continue
        if entry.number > change.entries or kept.get(entry.group, False):
            latest[entry.group] = entry
    found = [e._replace(group=local.get(e.group, -1)) for e in latest.values()]
    return sorted(found, key=lambda entry: entry.number)


def resets(spec: StudySpec) -> dict[int, dict[str, str]]:
    """Return, by the number of its entry, the statuses of the groups after each change."""
    if spec.roster is None:
        return {}
    found: dict[int, dict[str, str]] = {}
    for k, change in enumerate(spec.roster.changes, start=1):
        names = Roster(spec.roster.base, spec.roster.changes[:k]).problem.groups
        words = [Status.read(letter).word for letter in change.groups]
        found[change.entries] = dict(zip(names, words, strict=True))
    return found

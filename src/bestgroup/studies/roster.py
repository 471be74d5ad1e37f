"""Who takes part: the arms that a study began with, those that joined and those that left.

**Why it is right.** A problem with a reserve of R arms shares delta among the bounds of A + R arms from
the start: each of the 2 D bounds of an arm, a confidence sequence of its own values, fails at any time
with probability at most delta / (2 D (A + R)), given all that is known when the arm joins. So with
probability at least 1 - delta all bounds of all arms that ever take part hold at all times, whoever
joined or left, and for whatever reason. Everything that is decided follows from these bounds alone, so
all of it is right then: docs/theory.md, "Arms that come and go".

**What stays.** That a group is *in* says that no other one beats it (by more than epsilon): true the
more, the more arms it has, and the fewer the others have. That it is *out* says that another one is
better: the other way round. So if arms join group g, what is out stays out but for g, and g stays in if
it is; if arms leave g, what is in stays in but for g, and g stays out if it is. All else is open again,
and is decided anew from the bounds, which know all that was told. "Not needed" speaks of the answer
that there was, and is always open again.

**In the storage** arms have numbers for good, in the order in which they came: those of the log, of
tickets and of decisions. An algorithm sees the arms that take part, numbered without gaps; `Roster`
translates. The changes are in the head's report, each with the number of blocks told before it, so that
a replay of the log takes them up where they were made.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from bestgroup.algorithms.protocol import Algorithm
from bestgroup.errors import InvalidInput
from bestgroup.problem.goals import Goal
from bestgroup.problem.problem import Problem
from bestgroup.problem.status import Status
from bestgroup.studies.storage.records import Head

JOIN, LEAVE = "join", "leave"


class Change(NamedTuple):
    """Arms of a group that joined or left, and where the study stood then."""

    kind: str  # JOIN or LEAVE
    group: str
    arms: tuple[str, ...]
    costs: tuple[float, ...]
    blocks: int  # told before it
    entries: int  # decisions stored before it
    pulls: int  # consumed before it
    at: float
    groups: str  # letters of the statuses that stay, for the groups that take part after it

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        what = {"kind": self.kind, "group": self.group, "arms": list(self.arms)}
        return {**what, "pulls": self.pulls, "at": self.at}


def changes_of(head: Head) -> tuple[Change, ...]:
    """Return the changes in the order in which they were made."""
    rows = json.loads(head.report).get("changes", ())
    return tuple(
        Change(row[0], row[1], tuple(row[2]), tuple(row[3]), *row[4:])  # type: ignore[misc]
        for row in rows
    )


@dataclass(frozen=True)
class Roster:
    """The arms that a study began with, and what has changed since."""

    base: Problem
    changes: tuple[Change, ...] = ()

    @property
    def last(self) -> Change | None:
        """The last change."""
        return self.changes[-1] if self.changes else None

    @cached_property
    def everyone(self) -> Problem:
        """All arms that ever took part, in the order of their numbers in the storage."""
        return _problem(self.base, self._rows(), 0)

    @cached_property
    def problem(self) -> Problem:
        """The arms that take part now."""
        gone = self._gone
        rows = {
            group: [(arm, cost) for arm, cost in arms if (group, arm) not in gone]
            for group, arms in self._rows().items()
        }
        rows = {group: arms for group, arms in rows.items() if arms}
        room = sum(map(len, self.base.arms)) + self.base.reserve
        return _problem(self.base, rows, room - sum(map(len, rows.values())))

    @property
    def left(self) -> int:
        """How many more arms may join."""
        joined = sum(len(change.arms) for change in self.changes if change.kind == JOIN)
        return self.base.reserve - joined

    @cached_property
    def local(self) -> dict[tuple[int, int], tuple[int, int]]:
        """The numbers among those that take part, by numbers in the storage."""
        return {there: here for here, there in self.stored.items()}

    @cached_property
    def stored(self) -> dict[tuple[int, int], tuple[int, int]]:
        """The numbers in the storage, by numbers among those that take part."""
        now, everyone = self.problem, self.everyone
        return {
            (i, j): everyone.index(group, arm)
            for i, group in enumerate(now.groups)
            for j, arm in enumerate(now.arms[i])
        }

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """The numbers in the storage of the groups that take part."""
        return tuple(self.everyone.groups.index(group) for group in self.problem.groups)

    @cached_property
    def _gone(self) -> frozenset[tuple[str, str]]:
        return frozenset(
            (change.group, arm)
            for change in self.changes
            if change.kind == LEAVE
            for arm in change.arms
        )

    def _rows(self) -> dict[str, list[tuple[str, float]]]:
        """Return all arms that ever took part with their costs, by group."""
        base = self.base
        rows = {
            group: [
                (arm, 1.0 if base.costs is None else base.costs[i][j])
                for j, arm in enumerate(base.arms[i])
            ]
            for i, group in enumerate(base.groups)
        }
        for change in self.changes:
            if change.kind == JOIN:
                more = list(zip(change.arms, change.costs, strict=True))
                rows.setdefault(change.group, []).extend(more)
        return rows

    def check_join(self, group: Any, arms: Sequence[Any], new: bool) -> None:
        """Refuse arms that cannot join, with one sentence."""
        now = self.problem.groups
        if new and group in self.everyone.groups:
            what = "takes part" if group in now else "has left; a name is not used twice"
            raise InvalidInput(f"there is a group {group!r} already, and it {what}")
        if not new and group not in now:
            raise InvalidInput(f"there is no group {group!r}; the groups are {', '.join(now)}")
        known = () if new else self.everyone.arms[self.everyone.groups.index(group)]
        for arm in arms:
            if arm in known:
                raise InvalidInput(
                    f"the group {group!r} has or had an arm {arm!r}: a name is not used twice"
                )
        if len(arms) > self.left:
            raise InvalidInput(
                f"{len(arms)} more arms do not fit: of the {self.base.reserve} that delta was reserved "
                f"for, {self.left} are left; a study with a larger reserve can import the observations"
            )

    def leavers(self, group: Any, arm: Any) -> tuple[str, ...]:
        """Return the arms that leave; InvalidInput if they cannot."""
        now = self.problem
        if group not in now.groups:
            raise InvalidInput(
                f"there is no group {group!r}; the groups are {', '.join(now.groups)}"
            )
        arms = now.arms[now.groups.index(group)]
        if arm is not None:
            now.index(group, arm)
        gone = arms if arm is None else (arm,)
        if len(gone) == len(arms) and len(now.groups) == 1:
            raise InvalidInput(f"{group!r} is the only group that is left; it cannot leave")
        return tuple(gone)

    def carried(self, after: Roster, status: Sequence[Status]) -> str:
        """Return the letters of what stays decided, for the groups of the roster after a change."""
        change = after.last
        assert change is not None
        before = dict(zip(self.problem.groups, status, strict=True))
        letters = []
        for group in after.problem.groups:
            was, own = before.get(group, Status.UNDECIDED), group == change.group
            if was == Status.IN:
                stays = own == (change.kind == JOIN)
            else:
                stays = was == Status.OUT and own == (change.kind == LEAVE)
            letters.append(was.letter if stays else Status.UNDECIDED.letter)
        return "".join(letters)


def check_reserved(problem: Problem, goal: Goal, algorithm: Algorithm) -> None:
    """Refuse what does not go with arms that come and go, with one sentence."""
    if not problem.reserve:
        return
    if not algorithm.takes_late_arms:
        raise InvalidInput(
            f"arms can join and leave a study that runs 'adaptive'; {algorithm.name!r} needs all arms from "
            "the start"
        )
    if goal.by_directions:
        raise InvalidInput(
            "arms can join and leave a study of ParetoGroups or BestGroup; the goal is "
            f"{type(goal).__name__}"
        )


def _problem(base: Problem, rows: dict[str, list[tuple[str, float]]], reserve: int) -> Problem:
    """Return the problem with these arms."""
    entries = base.to_dict()
    entries["groups"] = {group: [arm for arm, _ in arms] for group, arms in rows.items()}
    if base.costs is not None:
        entries["costs"] = {group: dict(arms) for group, arms in rows.items()}
    entries["reserve"] = reserve
    made = Problem.from_dict(entries)
    made.noise = base.noise  # for single arms, also where nobody may join any more
    return made

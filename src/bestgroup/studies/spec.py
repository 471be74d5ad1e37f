"""What a study is pinned to: written once when it is created, never changed.

Where arms may come and go, `at` gives the specification with those that take part now.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from typing import Any

from bestgroup._version import __version__
from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.registry import algorithm as make_algorithm
from bestgroup.algorithms.registry import pinned, versions
from bestgroup.algorithms.selection import pick
from bestgroup.errors import InvalidInput, StoreError, WrongVersion
from bestgroup.problem.goals import Goal, goal_from_dict
from bestgroup.problem.guarantee import Guarantee
from bestgroup.problem.problem import Problem
from bestgroup.studies.roster import Roster, changes_of
from bestgroup.studies.storage.records import Head


@dataclass(frozen=True)
class StudySpec:
    """Problem, question, algorithm and versions of a study."""

    name: str
    problem: Problem
    goal: Goal
    delta: float
    algorithm: str
    algorithm_version: int
    options: dict[str, Any]
    horizon: int
    seed: int
    library: str
    guarantee: dict[str, Any] | None = None  # what an answer is worth, as its maker said
    roster: Roster | None = field(
        default=None, compare=False
    )  # who takes part, if arms come and go

    def at(self, head: Head) -> StudySpec:
        """Return the specification with the arms that take part where the head stands."""
        base = self.problem if self.roster is None else self.roster.base
        if not base.reserve:
            return self
        roster = Roster(base, changes_of(head))
        return replace(self, problem=roster.problem, roster=roster)

    @property
    def everyone(self) -> Problem:
        """The problem with all arms that ever took part, by their numbers in the storage."""
        return self.problem if self.roster is None else self.roster.everyone

    def local(self, arm: tuple[int, int]) -> tuple[int, int] | None:
        """Return the numbers in the problem of an arm of the storage; None if it has left."""
        return arm if self.roster is None else self.roster.local.get(arm)

    def stored(self, arm: tuple[int, int]) -> tuple[int, int]:
        """Return the numbers in the storage of an arm of the problem."""
        return arm if self.roster is None else self.roster.stored[arm]

    def stored_group(self, group: int) -> int:
        """Return the number in the storage of a group of the problem; -1 stays."""
        return group if self.roster is None or group < 0 else self.roster.groups[group]

    def setting(self) -> Setting:
        """Return what the algorithm may know."""
        setting = Setting.of(self.problem, self.goal, self.delta)
        items, shared = self.problem.items, setting.items
        if items is None or shared is None or items.clusters is None:
            return setting
        return replace(setting, items=items.shared(shared.reach, self.seed))

    def item_numbers(self, first: int, stop: int) -> tuple[int, ...]:
        """Return the items of pulls first, ..., stop - 1 of every arm, by their numbers."""
        items = self.problem.items
        if items is None or items.count is None:
            return tuple(range(first, stop))
        return items.order(self.seed)[first:stop]

    def make_algorithm(self) -> Algorithm:
        """Return the algorithm in the study's version; WrongVersion if it is not to be had here."""
        known = versions(self.algorithm)
        if self.algorithm_version not in known:
            here = f"has version {', '.join(map(str, known))}" if known else "does not know it"
            raise WrongVersion(
                f"the study {self.name!r} runs version {self.algorithm_version} of the algorithm "
                f"{self.algorithm!r} (bestgroup {self.library}), and this bestgroup {__version__} "
                f"{here}: it can be read, exported and certified here; to go on, install "
                f"bestgroup=={self.library} or register the algorithm, or import its observations "
                "into a new study"
            )
        try:
            return pinned(self.algorithm, self.algorithm_version, self.options)
        except InvalidInput as error:
            raise WrongVersion(
                f"the study {self.name!r} runs {self.algorithm!r} with options that this bestgroup "
                f"{__version__} does not know ({error}); install bestgroup=={self.library} to go on"
            ) from None

    def is_elsewhere(self) -> bool:
        """Return whether the algorithm is not the one of that name here: such a study only rests."""
        known = versions(self.algorithm)
        return not known or self.algorithm_version != known[-1]

    def own_guarantee(self) -> Guarantee:
        """Return what the algorithm's answer is worth; as it was stored if the code is gone."""
        try:
            return self.make_algorithm().guarantee(self.setting())
        except WrongVersion:
            if self.guarantee is not None:
                return Guarantee(
                    self.guarantee["level"],
                    self.guarantee["statement"],
                    tuple(self.guarantee["assumptions"]),
                    self.guarantee.get("on_the_way", ""),
                )
        return Guarantee(
            "none",
            f"this bestgroup {__version__} does not know version {self.algorithm_version} of "
            f"{self.algorithm!r}; bestgroup {self.library} says what its answer is worth",
        )

    def to_json(self) -> str:
        """Return the specification as it is stored."""
        entries = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "roster"}
        entries |= {"problem": self.problem.to_dict(), "goal": self.goal.to_dict()}
        return json.dumps(entries, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> StudySpec:
        """Return the specification that `to_json` wrote."""
        entries = json.loads(text)
        known = {f.name: f for f in fields(cls) if f.name != "roster"}
        if new := sorted(set(entries) - set(known)):
            raise WrongVersion(
                f"this study was stored by bestgroup {entries.get('library', '?')} with "
                f"{', '.join(map(repr, new))}, which this bestgroup {__version__} does not know; "
                "upgrade bestgroup, nothing was changed"
            )
        needed = {name for name, entry in known.items() if _is_needed(entry)}
        if missing := sorted(needed - set(entries)):
            raise StoreError(f"the specification of this study lacks {', '.join(missing)}")
        problem = Problem.from_dict(entries.pop("problem"))
        return cls(problem=problem, goal=goal_from_dict(entries.pop("goal")), **entries)


def _is_needed(entry: Field[Any]) -> bool:
    return entry.default is MISSING and entry.default_factory is MISSING


def choose(name: str | Algorithm, setting: Setting, batch: Any) -> Algorithm:
    """Return the algorithm of a new study, with `batch` as its option if it has one."""
    if isinstance(name, str) and name == "auto":
        chosen = pick(setting, batch)[0]
    else:
        chosen = make_algorithm(name)
        if batch is not None and "batch" in chosen.options():
            chosen = type(chosen)(**{**chosen.options(), "batch": batch})
    chosen.check(setting)
    for option, value in chosen.options().items():
        if not isinstance(value, str | int | float | None):
            raise InvalidInput(
                f"a study keeps its options in the storage, so {option} must be a text or a "
                f"number; got {type(value).__name__}"
            )
    return chosen

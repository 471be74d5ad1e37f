"""What a study is pinned to: written once when it is created, never changed."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

from bestgroup._version import __version__
from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.registry import algorithm as make_algorithm
from bestgroup.algorithms.selection import pick
from bestgroup.errors import InvalidInput, StoreError
from bestgroup.problem.goals import Goal, goal_from_dict
from bestgroup.problem.items import drawn_order
from bestgroup.problem.problem import Problem


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

    def setting(self) -> Setting:
        """Return what the algorithm may know."""
        return Setting.of(self.problem, self.goal, self.delta)

    def item_numbers(self, first: int, stop: int) -> tuple[int, ...]:
        """Return the items of pulls first, ..., stop - 1 of every arm, by their numbers."""
        items = self.problem.items
        if items is None or items.count is None:
            return tuple(range(first, stop))
        return drawn_order(self.seed, items.count)[first:stop]

    def check_library(self) -> None:
        """Raise StoreError unless this library made the study."""
        if self.library != __version__:
            raise StoreError(
                f"the study {self.name!r} is pinned to bestgroup {self.library}, and this is "
                f"{__version__}; install bestgroup=={self.library} to go on, or export its "
                "observations and import them into a new study"
            )

    def make_algorithm(self) -> Algorithm:
        """Return the algorithm; StoreError if it is unknown here or of another version."""
        self.check_library()
        try:
            chosen = make_algorithm(self.algorithm, **self.options)
        except InvalidInput as error:
            raise StoreError(
                f"the study {self.name!r} runs the algorithm {self.algorithm!r}, which cannot be "
                f"made here ({error}); register it first"
            ) from None
        if chosen.version != self.algorithm_version:
            raise StoreError(
                f"the study {self.name!r} is pinned to version {self.algorithm_version} of "
                f"{self.algorithm!r}, and this is version {chosen.version}; go on with the code "
                "that it was created with, or import its observations into a new study"
            )
        return chosen

    def to_json(self) -> str:
        """Return the specification as it is stored."""
        entries = {field.name: getattr(self, field.name) for field in fields(self)}
        entries |= {"problem": self.problem.to_dict(), "goal": self.goal.to_dict()}
        return json.dumps(entries, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> StudySpec:
        """Return the specification that `to_json` wrote."""
        entries = json.loads(text)
        known = {field.name for field in fields(cls)}
        if set(entries) != known:
            raise StoreError("this study was stored in a form that this bestgroup does not know")
        problem = Problem.from_dict(entries.pop("problem"))
        return cls(problem=problem, goal=goal_from_dict(entries.pop("goal")), **entries)


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

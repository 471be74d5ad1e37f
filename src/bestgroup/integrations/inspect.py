"""inspect_ai: samples that can no longer change the answer are not run.

A `Race` is the question: which of these groups (models, say) of arms (tasks, prompts) are best by these
scorers over these samples. Each task gets the race's samples, which are in the race's random order,
and `early_stopping=race.arm(group, arm)`; then `eval` runs the tasks side by side:

    race = Race({"large": ["short", "long"], "small": ["short", "long"]}, samples, {"match": (0, 1)})
    tasks = [Task(race.samples, solver=..., scorer=match(), early_stopping=race.arm(g, a)) ...]
    eval(tasks, max_tasks=len(tasks))

A sample waits until the race wants it and is stopped early once the answer is proven or its arm no
longer matters. Every log says what is proven. Tasks that run one after another work too, but then
only the last ones save anything: what has not begun cannot be compared with.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from inspect_ai.dataset import Sample
from inspect_ai.scorer import value_to_float
from inspect_ai.util import EarlyStop, EarlyStopping

import bestgroup as bg
from bestgroup.problem.noise import in_range

NAME = "bestgroup"
_READ = value_to_float()


class Race:
    """A question about tasks on the same samples, which stops those that cannot matter any more.

    `scorers` gives (low, high) for each scorer that counts. `goal` is by default which groups are
    Pareto optimal. Arms that are not scored within the bounds stop the race with an error.
    """

    def __init__(
        self,
        groups: Mapping[str, Sequence[str]],
        samples: Sequence[Sample],
        scorers: Mapping[str, tuple[float, float]],
        goal: Any = None,
        delta: float = 0.05,
        *,
        seed: int = 0,
        batch: int | None = None,
    ) -> None:
        names = [str(k if sample.id is None else sample.id) for k, sample in enumerate(samples)]
        low, high = zip(*scorers.values(), strict=True)
        self.problem = bg.Problem(
            {group: list(arms) for group, arms in groups.items()},
            dict.fromkeys(scorers, "max"),
            in_range(low, high),
            items=bg.Items(names=tuple(names)),
        )
        self._name, self._scorers = f"inspect {uuid.uuid4()}", tuple(scorers)
        question = bg.ParetoGroups(0.0) if goal is None else goal
        size = batch or sum(map(len, groups.values()))
        self.study = bg.create_study(
            self._name, self.problem, question, delta, "memory", batch=size, seed=seed
        )
        by_name = dict(zip(names, samples, strict=True))
        order = self.study.spec.item_numbers(0, len(names))
        self.samples = [by_name[names[k]] for k in order]
        for name, sample in by_name.items():
            sample.id = name  # the log and the race must speak of the same samples
        self._cells: dict[tuple[str, str, str], list[float]] = {}  # scored, maybe not asked for yet
        self._wanted: dict[tuple[str, str, str], Any] = {}  # tickets of samples that may run
        self._begun: set[tuple[str, str]] = set()
        self._ended: set[tuple[str, str]] = set()
        self._changed = anyio.Event()
        self._ask()

    def arm(self, group: str, arm: str) -> EarlyStopping:
        """Return the early stopping of the task that evaluates an arm."""
        self.problem.index(group, arm)
        return _Arm(self, group, arm)

    def answer(self) -> Any:
        """Return what is known so far."""
        return self.study.answer()

    def _ask(self) -> None:
        """Take up what was scored already, and learn which samples are wanted next."""
        while True:
            told = False
            for ticket in self.study.ask(100_000):
                key = (ticket.group, ticket.arm, str(ticket.item))
                if key in self._cells:
                    self.study.tell(ticket, [self._cells[key]])
                    told = True
                else:
                    self._wanted[key] = ticket
            if not told:
                break
        self._changed.set()
        self._changed = anyio.Event()

    def _complete(self, key: tuple[str, str, str], scores: Mapping[str, Any]) -> None:
        missing = [name for name in self._scorers if name not in scores]
        if missing:
            raise bg.InvalidInput(f"sample {key[2]!r} of {key[1]!r} has no score {missing[0]!r}")
        self._cells[key] = [float(_READ(scores[name].score.value)) for name in self._scorers]
        ticket = self._wanted.pop(key, None)
        if ticket is not None:
            self.study.tell(ticket, [self._cells[key]])
        self._ask()

    async def _wait(self, key: tuple[str, str, str]) -> str | None:
        """Return why a sample need not run; None once it must."""
        while True:
            if self.study.status(forecast=False).state != "running":
                return "the answer is proven"
            if key in self._wanted or self._stuck():
                return None
            with anyio.move_on_after(1.0):
                await self._changed.wait()

    def _stuck(self) -> bool:
        """Return whether an arm that is wanted has no running task: then nobody can wait for it."""
        running = self._begun - self._ended
        return any((group, arm) not in running for group, arm, _ in self._wanted)


class _Arm(EarlyStopping):
    """The early stopping of one task."""

    def __init__(self, race: Race, group: str, arm: str) -> None:
        self.race, self.group, self.name = race, group, arm

    async def start_task(self, task: Any, samples: list[Sample], epochs: int) -> str:
        """Check that the task runs the race's samples, each once, in its order."""
        expected = [str(sample.id) for sample in self.race.samples]
        if epochs != 1 or [str(sample.id) for sample in samples] != expected:
            raise bg.InvalidInput(
                f"the task of {self.name!r} must run race.samples, in that order, one epoch"
            )
        self.race._begun.add((self.group, self.name))
        return NAME

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Wait until the sample is wanted, or is known not to matter."""
        reason = await self.race._wait((self.group, self.name, str(id)))
        return None if reason is None else EarlyStop(id=id, epoch=epoch, reason=reason)

    async def complete_sample(self, id: str | int, epoch: int, scores: dict[str, Any]) -> None:
        """Take up the scores of a sample."""
        self.race._complete((self.group, self.name, str(id)), scores)

    async def complete_task(self) -> dict[str, Any]:
        """Return what is proven, for the log."""
        self.race._ended.add((self.group, self.name))
        answer = self.race.answer()
        return {
            "group": self.group,
            "arm": self.name,
            "status": self.race.study.explain(self.group).status,
            "proven": answer.final,
            "answer": list(answer.groups),
            "guarantee": str(answer.guarantee),
        }

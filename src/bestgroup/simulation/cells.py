"""What a sweep is made of: what is wanted, a question for each cell, pieces of work, and cells."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.registry import algorithm as make_algorithm
from bestgroup.algorithms.registry import resolve
from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import number, positive_int, probability, seed_of
from bestgroup.problem.goals import Goal, check_goal
from bestgroup.problem.instance import Instance
from bestgroup.problem.shape import Shape
from bestgroup.problem.showing import brief
from bestgroup.simulation.runs import Job, Runs
from bestgroup.simulation.simulate import Simulation, choose_engine, prepare
from bestgroup.theory.characteristic_time.limit import characteristic_time


@dataclass(frozen=True)
class Cell:
    """One algorithm on one instance, for one goal and delta: its runs, and the limit."""

    instance: str
    shape: Shape
    goal: Goal
    goal_name: str
    delta: float
    algorithm: str
    seed: int
    simulation: Simulation | None  # None if the pulls are known without a run
    known: int | None  # those pulls
    limit: float | None  # a lower bound on the expected pulls; None if it was not asked for
    limit_gap: float | None  # certified relative gap of T*
    seconds: float  # spent on runs in this call

    @property
    def runs(self) -> int:
        """The number of runs."""
        return 0 if self.simulation is None else self.simulation.runs

    @property
    def mean(self) -> float:
        """The mean pulls of a run."""
        return float(self.known or 0) if self.simulation is None else self.simulation.pulls.mean()

    @property
    def engine(self) -> str:
        """The engine; "formula" if the pulls are known without a run."""
        return "formula" if self.simulation is None else self.simulation.engine

    def to_record(self) -> dict[str, Any]:
        """Return the cell as a plain dictionary."""
        sim = self.simulation
        mean = float(self.mean)
        low, high = (None, None) if sim is None else sim.error_interval()
        fixed = self.known
        return {
            **self._place(),
            "runs": self.runs,
            "pulls": mean,
            "sd": 0.0 if sim is None else float(sim.pulls.std(ddof=1)) if sim.runs > 1 else None,
            "least": fixed if sim is None else int(sim.pulls.min()),
            "most": fixed if sim is None else int(sim.pulls.max()),
            "finished": None if sim is None else int(sim.finished.sum()),
            "errors": None if sim is None else sim.errors,
            "error_rate_from": low,
            "error_rate_to": high,
            "guarantee": None if sim is None else sim.guarantee.level,
            "engine": self.engine,
            "distance_to_exact_law": 0.0 if sim is None else float(sim.distance.max()),
            "limit": self.limit,
            "limit_relative_gap": self.limit_gap,
            "times_the_limit": mean / self.limit if self.limit else None,
            "seconds": self.seconds,
        }

    def run_records(self) -> list[dict[str, Any]]:
        """Return one plain dictionary a run."""
        if self.simulation is None:
            return []
        return [{**self._place(), **record} for record in self.simulation.to_records()]

    def _place(self) -> dict[str, Any]:
        return {
            "instance": self.instance,
            "groups": self.shape.groups,
            "arms": self.shape.arms,
            "dims": self.shape.dims,
            "goal": self.goal_name,
            "algorithm": self.algorithm,
            "delta": self.delta,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Wanted:
    """What the user asked for, checked and named."""

    instances: dict[str, Instance]
    goals: dict[str, Goal]
    algorithms: tuple[str | Algorithm, ...]
    deltas: tuple[float, ...]
    runs: int
    seeds: dict[str, int]
    limits: frozenset[str]  # names of instances
    tolerance: float
    engine: str
    max_pulls: int | None

    @classmethod
    def of(
        cls,
        instances: Any,
        goals: Any,
        algorithms: Any,
        deltas: Any,
        runs: Any,
        seed: Any,
        limit: bool | Collection[str],
        tolerance: Any,
        engine: str,
        max_pulls: int | None,
    ) -> Wanted:
        """Return what is wanted, or raise InvalidInput; nothing has been done then."""
        named = _instances(instances)
        seeds = seed if isinstance(seed, Mapping) else dict.fromkeys(named, seed)
        _check_names(cast("Mapping[str, Any]", seeds), named, "seed")
        if set(named) - set(seeds):
            missing = sorted(set(named) - set(seeds))[0]
            raise InvalidInput(f"seed must have a number for every instance; {missing!r} has none")
        if isinstance(limit, str):
            raise InvalidInput(f"limit must be True, False or names of instances; got {limit!r}")
        names = (named if limit else ()) if isinstance(limit, bool) else limit
        _check_names(names, named, "limit")
        if not 1e-6 <= number(tolerance, "tolerance") < 1.0:
            raise InvalidInput(f"tolerance must be at least 1e-6 and less than 1; got {tolerance}")
        return cls(
            named,
            _goals(goals),
            _some(algorithms, "algorithms", (str, Algorithm)),
            tuple(probability(delta) for delta in _some(deltas, "deltas", (float, int, np.number))),
            positive_int(runs, "runs"),
            {name: seed_of(seeds[name]) for name in named},
            frozenset(names),
            float(tolerance),
            engine,
            None if max_pulls is None else positive_int(max_pulls, "max_pulls"),
        )


def _some(given: Any, what: str, single: tuple[type, ...]) -> tuple[Any, ...]:
    """Return one or several values, each once, as a tuple."""
    values = (given,) if isinstance(given, single) else given
    if not isinstance(values, (list, tuple, np.ndarray)) or not len(values):
        raise InvalidInput(f"{what} must be one or a list of at least one; got {given!r}")
    found: list[Any] = []
    for value in cast("Sequence[Any]", values):
        if value in found:
            raise InvalidInput(f"{what} must differ; got {value!r} twice")
        found.append(value)
    return tuple(found)


def _instances(given: Any) -> dict[str, Instance]:
    if isinstance(given, Instance):
        given = {"0": given}
    if isinstance(given, (list, tuple)):
        given = {str(k): one for k, one in enumerate(cast("Sequence[Any]", given))}
    if not isinstance(given, Mapping) or not given:
        raise InvalidInput("instances must be an Instance, a list of them, or a mapping from names")
    found = {str(name): one for name, one in cast("Mapping[Any, Any]", given).items()}
    for name, one in found.items():
        if not isinstance(one, Instance):
            raise InvalidInput(f"instances must be Instance objects; {name!r} is {one!r}")
    return found


def _goals(given: Any) -> dict[str, Goal]:
    if isinstance(given, Mapping):
        found = {str(name): goal for name, goal in cast("Mapping[Any, Any]", given).items()}
    else:
        several: Any = given if isinstance(given, (list, tuple)) else (given,)
        found = {brief(goal): goal for goal in several}
    if not found:
        raise InvalidInput("goals must hold at least one goal; got none")
    return found


def _check_names(names: Collection[Any], known: Collection[str], what: str) -> None:
    for name in names:
        if name not in known:
            raise InvalidInput(f"{what} names {name!r}, which is no instance of the sweep")


@dataclass(frozen=True)
class Question:
    """A cell before it is answered."""

    instance_name: str
    instance: Instance
    goal_name: str
    goal: Goal
    setting: Setting
    algorithm: str
    seed: int
    job: Job | None  # None if the pulls are known
    known: int | None
    limit: str | None  # the digest of its limit, if that is wanted
    tolerance: float

    @property
    def size(self) -> int:
        """About how long its runs take, to order work."""
        return self.instance.shape.total * self.instance.shape.groups

    @property
    def family(self) -> tuple[Any, ...]:
        """What shares compiled code."""
        engine = None if self.job is None else self.job.engine
        return (self.algorithm, type(self.goal), engine, type(self.setting.noise))


def questions(wanted: Wanted) -> list[Question]:
    """Return a question for every cell, in the order of the sweep."""
    found = [
        _question(wanted, name, goal_name, delta, one)
        for name in wanted.instances
        for goal_name, goal in wanted.goals.items()
        for delta in wanted.deltas
        for one in wanted.algorithms
        if _answers(one, goal)
    ]
    goals = tuple(wanted.goals.values())
    for one in wanted.algorithms:
        if not any(_answers(one, goal) for goal in goals):
            raise InvalidInput(f"{one} answers none of the goals: {', '.join(wanted.goals)}")
    return found


def _answers(one: str | Algorithm, goal: Goal) -> bool:
    return one == "auto" or isinstance(goal, make_algorithm(one).goals)


def _question(
    wanted: Wanted, name: str, goal_name: str, delta: float, one: str | Algorithm
) -> Question:
    instance = wanted.instances[name]
    goal = check_goal(wanted.goals[goal_name], instance.decided)
    setting = Setting.for_instance(instance, goal, delta)
    chosen = resolve(one, setting)
    known = _known_pulls(chosen, setting, instance) if wanted.engine == "auto" else None
    if known is not None and wanted.max_pulls is not None:
        known = None
    job = None
    if known is None:
        seed, most = wanted.seeds[name], wanted.max_pulls
        job = prepare(instance, goal, chosen, delta, seed, wanted.engine, most)
    digest = None
    if name in wanted.limits and instance.items is None:
        digest = _limit_digest(instance, goal, delta, wanted.tolerance)
    return Question(
        name,
        instance,
        goal_name,
        goal,
        setting,
        str(one) if one == "auto" else str(chosen),
        wanted.seeds[name],
        job,
        known,
        digest,
        wanted.tolerance,
    )


def _known_pulls(algorithm: Algorithm, setting: Setting, instance: Instance) -> int | None:
    """Return the pulls of uniform sampling, which never change, if drawing them all is slow."""
    known = algorithm.fixed_pulls(algorithm.rule(setting))
    slow = known is not None and choose_engine("auto", instance, setting, algorithm) == "exact"
    return known if slow else None


def _limit_digest(instance: Instance, goal: Goal, delta: float, tolerance: float) -> str:
    parts = {
        "means": [rows.tolist() for rows in instance.means],
        "scale": instance.scale.tolist(),
        "goal": repr(goal),
        "delta": delta,
        "tolerance": tolerance,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Task:
    """A piece of work: runs first, ..., first + count - 1 of a cell, or, with count 0, its limit."""

    cells: tuple[int, ...]  # several for a limit, which algorithms and deltas share
    first: int
    count: int


def do_task(
    asked: Sequence[Question], task: Task
) -> tuple[float, Runs | dict[str, tuple[float, float]]]:
    """Return the seconds spent, and runs, or limits by digest with their relative gap."""
    begun = time.perf_counter()
    question = asked[task.cells[0]]
    if task.count:
        assert question.job is not None
        runs = question.job.chunk(task.first, task.count)
        return time.perf_counter() - begun, runs
    found = characteristic_time(question.instance, question.goal, tolerance=question.tolerance)
    limits: dict[str, tuple[float, float]] = {}
    for k in task.cells:
        digest, samples = asked[k].limit, found.samples(asked[k].setting.delta)
        assert digest is not None
        limits[digest] = (samples, found.gap)
    return time.perf_counter() - begun, limits

"""The work at one point: every algorithm on one random instance, and its limit."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.registry import resolve
from bestgroup.experiments.points import DELTA, Limit, Outcome, Point, Weights
from bestgroup.problem.goals import Goal
from bestgroup.problem.instance import Instance
from bestgroup.simulation.simulate import choose_engine, simulate
from bestgroup.theory.characteristic_time.limit import characteristic_time
from bestgroup.theory.lower_bounds import lower_bound

# The limit is reported at its certified lower end, which a finer tolerance would hardly raise.
TOLERANCE = 0.05


@dataclass(frozen=True)
class Work:
    """Does points one at a time; runs that are in the folder already are not done again."""

    runs: int
    folder: Path  # of the results files
    workers: int | str = 1

    def __call__(self, point: Point) -> list[Outcome]:
        """Return an outcome for each goal and algorithm."""
        instance = point.make()
        outcomes = []
        for weights, goal in point.goals:
            limit = Limit()
            if point.with_limit:
                kept = self.folder / f"{_file_name(point, weights, 'limit')}.json"
                limit = _limit(instance, goal, kept)
            for name in point.algorithms:
                outcomes.append(self._run(point, instance, (weights, goal), name, limit))
        return outcomes

    def _run(
        self,
        point: Point,
        instance: Instance,
        question: tuple[Weights | None, Goal],
        name: str,
        limit: Limit,
    ) -> Outcome:
        weights, goal = question
        setting = Setting.for_instance(instance, goal, DELTA)
        chosen = resolve(name, setting)
        known = _known_pulls(chosen, setting, instance)
        if known is not None:
            sd = 0.0 if self.runs > 1 else math.nan
            numbers: dict[str, Any] = {"mean": float(known), "sd": sd, "least": known}
            numbers |= {"most": known, "errors": None, "engine": "formula", "distance": 0.0}
            return Outcome(point, weights, name, runs=0, **numbers, seconds=0.0, limit=limit)
        result = simulate(
            instance,
            goal,
            chosen,
            DELTA,
            self.runs,
            point.run_seed,
            workers=self.workers,
            results=self.folder / f"{_file_name(point, weights, name)}.sqlite",
            progress=False,
        )
        pulls = result.pulls
        return Outcome(
            point,
            weights,
            name,
            runs=result.runs,
            mean=float(pulls.mean()),
            sd=float(pulls.std(ddof=1)) if result.runs > 1 else math.nan,
            least=int(pulls.min()),
            most=int(pulls.max()),
            errors=result.errors,
            engine=result.engine,
            distance=float(result.distance.max()),
            seconds=result.seconds,
            limit=limit,
        )


def _known_pulls(algorithm: Algorithm, setting: Setting, instance: Instance) -> int | None:
    """Return the pulls of uniform sampling, which never change, if drawing them all is slow."""
    known = algorithm.fixed_pulls(algorithm.rule(setting))
    slow = known is not None and choose_engine("auto", instance, setting, algorithm) == "exact"
    return known if slow else None


def _file_name(point: Point, weights: Weights | None, algorithm: str) -> str:
    """Return a name for a results file; both figures share the instances that they have in common.

    The first weights are number 1, as in the paper.
    """
    question = "pareto" if weights is None else f"best{point.weights.index(weights) + 1}"
    return f"{question}-n{point.groups}-k{point.arms}-seed{point.seed}-{algorithm}"


def _limit(instance: Instance, goal: Goal, kept: Path) -> Limit:
    """Return what theory says, from the file `kept` if it is there."""
    if kept.exists():
        return Limit(**json.loads(kept.read_text()))
    time = characteristic_time(instance, goal, tolerance=TOLERANCE)
    theorem = lower_bound(instance, goal, DELTA)
    limit = Limit(
        pulls=time.samples(DELTA),
        gap=time.gap,
        bound=theorem.value,
        bound_why_not=None if theorem.applies else theorem.why_not,
    )
    # Two processes may write the limit of a shared instance at the same time.
    partial = kept.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(json.dumps(asdict(limit)))
    partial.replace(kept)
    return limit

"""`plan`: how many pulls to expect, for which epsilon and delta, before spending any.

The means and the noise are guesses; the table says what would happen if they were right. Each row is
simulated with the algorithm that a study would use, and stands next to the limit, the least number
of pulls that any algorithm with the same guarantee needs on average (T* kl(delta, 1 - delta); for
normal rewards with the scale of the noise).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm
from bestgroup.errors import InvalidInput
from bestgroup.files.problem_file import Spec
from bestgroup.problem.arrays import positive_int, probability
from bestgroup.problem.goals import BestGroup, Goal, ParetoGroups
from bestgroup.problem.instance import Instance
from bestgroup.simulation.progress import Progress
from bestgroup.simulation.simulate import simulate
from bestgroup.theory.characteristic_time.limit import characteristic_time

DELTAS = (0.1, 0.05, 0.01)
CAP = 3_000_000  # pulls after which a simulated run counts as too long


@dataclass(frozen=True)
class PlanRow:
    """What to expect for one epsilon and delta; pulls are None where runs were too long."""

    epsilon: float
    delta: float
    mean: float | None
    often: float | None  # nine of ten runs need no more
    limit: float | None
    answer: tuple[str, ...]  # the groups most often named
    share: float | None = None  # on shared items: the mean as a share of the full table


@dataclass(frozen=True)
class Plan:
    """The table over epsilon and delta, and what a budget can resolve."""

    algorithm: str
    runs: int
    rows: tuple[PlanRow, ...]
    budget: int | None = None

    def resolvable(self, budget: int | None = None) -> dict[float, float | None]:
        """Return, for each delta, the least epsilon that a budget resolves in nine of ten runs."""
        most = self.budget if budget is None else positive_int(budget, "budget")
        if most is None:
            raise InvalidInput("give a budget: a number of pulls")
        result: dict[float, float | None] = {}
        for row in self.rows:
            fits = row.often is not None and row.often <= most
            best = result.setdefault(row.delta, None)
            if fits and (best is None or row.epsilon < best):
                result[row.delta] = row.epsilon
        return result

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return asdict(self)

    def to_frame(self) -> Any:
        """Return a data frame with a row an epsilon and delta."""
        try:
            import pandas as pd
        except ImportError:
            raise InvalidInput("data frames need pandas: pip install 'bestgroup[frames]'") from None
        return pd.DataFrame([asdict(row) for row in self.rows])


def plan(
    problem: Spec | Instance,
    goal: Goal | None = None,
    *,
    epsilons: Sequence[float] | None = None,
    deltas: Sequence[float] = DELTAS,
    runs: int = 20,
    algorithm: str | Algorithm = "auto",
    budget: int | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> Plan:
    """Return the pulls to expect from a problem file with [means], or from an instance and a goal.

    >>> instance = Instance([[[0.9]], [[0.1]]])
    >>> table = plan(instance, BestGroup([1.0]), epsilons=[0.1], deltas=[0.1], algorithm="eecb")
    >>> table.rows[0].often >= table.rows[0].mean / 2
    True
    """
    if isinstance(problem, Spec):
        instance, question = problem.instance(), problem.goal if goal is None else goal
    else:
        if goal is None or not isinstance(problem, Instance):
            raise InvalidInput("plan needs a problem file (load_spec), or an Instance and a goal")
        instance, question = problem, goal
    slacks = _epsilons(instance, question, epsilons)
    levels = [probability(delta) for delta in deltas]
    positive_int(runs, "runs")
    rows: list[PlanRow] = []
    name = ""
    with Progress(len(slacks) * len(levels), "plan", progress) as bar:
        for epsilon in slacks:
            asked = (
                ParetoGroups(epsilon)
                if isinstance(question, ParetoGroups)
                else BestGroup(question.weights, epsilon)
            )
            hardness = _limit(instance, asked)
            for delta in levels:
                sim = simulate(instance, asked, algorithm, delta, runs, seed, max_pulls=CAP)
                name = sim.algorithm.name
                rows.append(_row(sim, instance, epsilon, delta, hardness))
                bar.advance(1)
    return Plan(name, runs, tuple(rows), budget)


def _epsilons(instance: Instance, goal: Goal, given: Sequence[float] | None) -> list[float]:
    if given is not None:
        if not len(given):
            raise InvalidInput("epsilons must hold at least one number; got none")
        for value in given:
            ParetoGroups(value)
        return sorted({float(value) for value in given}, reverse=True)
    own = (
        goal.epsilon
        if isinstance(goal, BestGroup)
        else float(np.min(goal.epsilons(instance.shape.dims)))
    )
    if own == 0:
        spread = instance.efficiency.max(axis=0) - instance.efficiency.min(axis=0)
        own = float(max(spread.max(), 1e-3)) / 10
    return [4 * own, 2 * own, own, own / 2]


def _limit(instance: Instance, goal: Goal) -> float | None:
    if instance.items is not None:
        return None  # T* is that of arms that share nothing
    try:
        return characteristic_time(instance, goal, tolerance=0.05).value
    except InvalidInput:
        return None  # ties, or an instance that the limit's computation does not cover


def _row(
    sim: Any, instance: Instance, epsilon: float, delta: float, hardness: float | None
) -> PlanRow:
    pulls = np.where(sim.finished, sim.pulls, np.inf)
    mean, often = float(pulls.mean()), float(np.quantile(pulls, 0.9, method="higher"))
    kl = (1 - 2 * delta) * math.log((1 - delta) / delta)
    answers = [tuple(sorted(answer)) for answer in sim.answers]
    usual = max(set(answers), key=answers.count)
    return PlanRow(
        epsilon=epsilon,
        delta=delta,
        mean=mean if math.isfinite(mean) else None,
        often=often if math.isfinite(often) else None,
        limit=None if hardness is None or not math.isfinite(hardness) else hardness * kl,
        answer=tuple(instance.groups[i] for i in usual),
        share=float(sim.share.mean()) if instance.items and instance.items.count else None,
    )

"""`plan`: how many pulls to expect, for which epsilon and delta, before spending any.

The means and the noise are guesses; the table says what would happen if they were right. Each row is
simulated with the algorithm that a study would use. For normal rewards with the scale of the noise it
stands next to the limit, the least number of pulls that any algorithm with the same guarantee needs on
average (T* kl(delta, 1 - delta)); for other laws that is no bound, and it is left out.

There is a time limit. Rows come from the easiest to the hardest, each gets its share of the time that
is left, and what does not fit says so: "more than so many pulls".
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm
from bestgroup.errors import InvalidInput
from bestgroup.files.problem_file import Spec
from bestgroup.problem.arrays import number, positive_int, probability
from bestgroup.problem.goals import Goal, check_goal
from bestgroup.problem.instance import Instance
from bestgroup.problem.laws import FullyDependent, Normal
from bestgroup.simulation.progress import Progress
from bestgroup.simulation.simulate import Simulation, simulate
from bestgroup.theory.characteristic_time.limit import characteristic_time

DELTAS = (0.1, 0.05, 0.01)
TIMES = (4.0, 2.0, 1.0, 0.5)  # of the goal's own epsilon
CAP = 3_000_000  # pulls after which a simulated run counts as too long
FIRST = 20_000  # pulls of the first run of a row
LEAST_RUNS = 3

Slack = float | tuple[float, ...]


@dataclass(frozen=True)
class PlanRow:
    """What to expect for one epsilon and delta; pulls are None where runs were too long."""

    epsilon: Slack
    delta: float
    mean: float | None
    often: float | None  # nine of ten runs need no more
    limit: float | None
    answer: tuple[str, ...]  # the groups most often named
    share: float | None = None  # on shared items: the mean as a share of the full table
    runs: int = 0  # that were simulated
    more_than: int | None = None  # pulls after which a run was given up


@dataclass(frozen=True)
class Plan:
    """The table over epsilon and delta, and what a budget can resolve."""

    algorithm: str
    runs: int
    rows: tuple[PlanRow, ...]
    budget: int | None = None
    dims: tuple[str, ...] = ()  # of an epsilon by dim
    notes: tuple[str, ...] = ()

    def resolvable(self, budget: int | None = None) -> dict[float, Slack | None]:
        """Return, for each delta, the least epsilon that a budget resolves in nine of ten runs."""
        most = self.budget if budget is None else positive_int(budget, "budget")
        if most is None:
            raise InvalidInput("give a budget: a number of pulls")
        result: dict[float, Slack | None] = {}
        for row in self.rows:
            fits = row.often is not None and row.often <= most
            best = result.setdefault(row.delta, None)
            if fits and (best is None or np.max(row.epsilon) < np.max(best)):
                result[row.delta] = row.epsilon
        return result

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return asdict(self)

    def to_frame(self) -> Any:
        """Return a data frame with a row for each epsilon and delta."""
        try:
            import pandas as pd
        except ImportError:
            raise InvalidInput("data frames need pandas: pip install 'bestgroup[frames]'") from None
        return pd.DataFrame([asdict(row) for row in self.rows])


def plan(
    problem: Spec | Instance,
    goal: Goal | None = None,
    *,
    epsilons: Sequence[Any] | None = None,
    deltas: Sequence[float] = DELTAS,
    runs: int = 20,
    algorithm: str | Algorithm = "auto",
    budget: int | None = None,
    seed: int = 0,
    seconds: float = 60.0,
    progress: bool | None = None,
) -> Plan:
    """Return the pulls to expect from a problem file with [means], or from an instance and a goal.

    `epsilons` are numbers, or one number for each dim each; by default multiples of the goal's own. It
    takes about `seconds` at most, besides the compilation of what runs for the first time.

    >>> from bestgroup.problem.goals import BestGroup
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
    question = check_goal(question, instance.decided)
    slacks = _epsilons(instance, question, epsilons)
    levels = sorted({probability(delta) for delta in deltas}, reverse=True)
    if number(seconds, "seconds") <= 0:
        raise InvalidInput(f"seconds must be positive; got {seconds:g}")
    planner = _Planner(instance, algorithm, positive_int(runs, "runs"), seed, float(seconds))
    rows: list[PlanRow] = []
    with Progress(len(slacks) * len(levels), "plan", progress) as bar:
        planner.warm_up(question.with_epsilon(slacks[0]), levels[0])
        for k, epsilon in enumerate(slacks):
            asked = question.with_epsilon(epsilon)
            hardness = planner.limit(asked)
            for j, delta in enumerate(levels):
                left = (len(slacks) - k) * len(levels) - j
                rows.append(planner.row(asked, epsilon, delta, hardness, left))
                bar.advance(1)
    dims = instance.decided if any(isinstance(epsilon, tuple) for epsilon in slacks) else ()
    return Plan(planner.name, runs, tuple(rows), budget, tuple(dims), planner.notes())


class _TooLong(Exception):
    """The time that was given to a computation is over."""


class _Planner:
    """Simulates rows within a time."""

    def __init__(
        self, instance: Instance, algorithm: str | Algorithm, runs: int, seed: int, seconds: float
    ) -> None:
        self.instance, self.algorithm = instance, algorithm
        self.runs, self.seed, self.seconds = runs, seed, seconds
        self.name = ""
        self.given_up: dict[float, int] = {}  # for each delta, pulls that were too few
        self.end = math.inf
        self.without_limit = self.cut_short = False
        law, scale = instance.law, instance.scale
        # T* is that of arms that share nothing.
        self.has_limit = (
            instance.items is None
            and isinstance(law, Normal | FullyDependent)
            and np.allclose(law.scales(len(scale)), scale, rtol=1e-9)
        )

    def warm_up(self, goal: Goal, delta: float) -> None:
        """Compile what will run, which does not count; then the clock starts."""
        self._simulate(goal, delta, 1, 1)
        self.end = time.monotonic() + self.seconds

    def _simulate(self, goal: Goal, delta: float, runs: int, most: int) -> Simulation:
        sim = simulate(
            self.instance,
            goal,
            self.algorithm,
            delta,
            runs,
            self.seed,
            max_pulls=most,
            progress=False,
        )
        self.name = sim.algorithm.name
        return sim

    def row(
        self, goal: Goal, epsilon: Slack, delta: float, hardness: float | None, left: int
    ) -> PlanRow:
        """Return a row; `left` rows share the time that is left."""
        known = [pulls for level, pulls in self.given_up.items() if level >= delta]
        if known or time.monotonic() >= self.end:  # a smaller epsilon or delta takes no fewer pulls
            self.cut_short |= not known
            return self._too_long(epsilon, delta, hardness, max(known, default=0))
        share = (self.end - time.monotonic()) / left
        begun = time.monotonic()
        sim = self._simulate(goal, delta, 1, FIRST)
        spent = max(time.monotonic() - begun, 1e-4)
        if not sim.finished.all():
            # Pulls that would take the rest of this row's share, at the speed of the first ones.
            most = int(min(CAP, FIRST * max(share - spent, 0.0) / spent))
            if most > 2 * FIRST:
                begun = time.monotonic()
                sim = self._simulate(goal, delta, 1, most)
                spent = max(time.monotonic() - begun, 1e-4)
            if not sim.finished.all():
                self.given_up[delta] = max(FIRST, int(sim.pulls.max()))
                return self._too_long(epsilon, delta, hardness, self.given_up[delta])
        runs = min(self.runs, max(LEAST_RUNS, int(share / spent)))
        if runs > 1:
            sim = self._simulate(goal, delta, runs, max(8 * int(sim.pulls[0]), FIRST))
        return self._row(sim, epsilon, delta, hardness)

    def _too_long(
        self, epsilon: Slack, delta: float, hardness: float | None, pulls: int
    ) -> PlanRow:
        limit = _samples(hardness, delta)
        return PlanRow(epsilon, delta, None, None, limit, (), None, 0, pulls or None)

    def _row(
        self, sim: Simulation, epsilon: Slack, delta: float, hardness: float | None
    ) -> PlanRow:
        pulls = np.where(sim.finished, sim.pulls, np.inf)
        mean, often = float(pulls.mean()), float(np.quantile(pulls, 0.9, method="higher"))
        answers = [tuple(sorted(answer)) for answer in sim.answers]
        items = self.instance.items
        usual = max(set(answers), key=answers.count)
        return PlanRow(
            epsilon=epsilon,
            delta=delta,
            mean=mean if math.isfinite(mean) else None,
            often=often if math.isfinite(often) else None,
            limit=_samples(hardness, delta),
            answer=tuple(self.instance.groups[i] for i in usual),
            share=float(sim.share.mean()) if items is not None and items.count else None,
            runs=sim.runs,
            more_than=None if sim.finished.all() else int(sim.pulls[~sim.finished].min()),
        )

    def limit(self, goal: Goal) -> float | None:
        """Return T*, or None for ties, or where its computation takes more than a tenth of the time."""
        if self.without_limit or not self.has_limit or time.monotonic() >= self.end:
            return None
        stop = time.monotonic() + self.seconds / 10

        def watch(gap: float) -> None:
            if time.monotonic() > stop:
                raise _TooLong

        try:
            return characteristic_time(self.instance, goal, tolerance=0.05, progress=watch).value
        except _TooLong:
            self.without_limit = True
            return None
        except InvalidInput:
            return None  # ties, or an instance that the limit's computation does not cover

    def notes(self) -> tuple[str, ...]:
        """Return what could not be computed, and why."""
        found: list[str] = []
        if self.given_up:
            found.append(
                "a row with 'more than' was given up after so many pulls of one simulated run; with "
                f"more than {self.seconds:g} seconds, a larger epsilon or fewer arms it would end"
            )
        if self.cut_short:
            found.append(f"the last rows were not simulated: {self.seconds:g} seconds were over")
        if not self.has_limit:
            found.append(
                "the limit is left out: it is for normal rewards with the scale that the noise model has"
            )
        if self.without_limit:
            found.append("the limit is left out where it takes long to compute")
        return tuple(found)


def _samples(hardness: float | None, delta: float) -> float | None:
    """Return T* kl(delta, 1 - delta)."""
    if hardness is None or not math.isfinite(hardness):
        return None
    return hardness * (1 - 2 * delta) * math.log((1 - delta) / delta)


def _epsilons(instance: Instance, goal: Goal, given: Sequence[Any] | None) -> list[Slack]:
    """Return the slacks to try, the largest first."""
    if given is not None:
        if not len(given):
            raise InvalidInput("epsilons must hold at least one number; got none")
        slacks = {check_goal(goal.with_epsilon(v), instance.decided).epsilon for v in given}
        return sorted(slacks, key=np.max, reverse=True)
    own: Slack = goal.epsilon
    worths = instance.efficiency[np.isfinite(instance.efficiency).all(axis=1)]
    spread = np.ptp(worths, axis=0) if len(worths) else np.ones(len(instance.decided))
    if np.max(own) == 0:
        wide = np.maximum(spread, 1e-3) / 10
        own = tuple(wide.tolist()) if goal.slack_by_dim else float(wide.max())
    if isinstance(own, tuple) and len(set(own)) == 1:
        own = own[0]
    return [_scaled(own, times) for times in TIMES]


def _scaled(epsilon: Slack, times: float) -> Slack:
    if isinstance(epsilon, tuple):
        return tuple(times * value for value in epsilon)
    return times * epsilon

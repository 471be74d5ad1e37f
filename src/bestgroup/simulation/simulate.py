"""`simulate`: many seeded runs of an algorithm on a known instance."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.registry import resolve
from bestgroup.drivers.jump.engine import supports
from bestgroup.errors import InvalidInput
from bestgroup.plots.simulation import simulation_view
from bestgroup.problem.arrays import Bools, Floats, Ints, positive_int, probability, seed_of
from bestgroup.problem.frames import data_frame
from bestgroup.problem.goals import Goal, check_goal
from bestgroup.problem.guarantee import Guarantee
from bestgroup.problem.instance import Instance
from bestgroup.problem.markup import card, folded, rows_table
from bestgroup.simulation.progress import Progress
from bestgroup.simulation.runs import NO_LIMIT, Job, Runs
from bestgroup.simulation.workers import check_workers, collect_runs
from bestgroup.theory.dominance import endless, is_correct, on_a_limit, wrong_decisions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Simulation:
    """Many runs: arrays and lists have one entry a run.

    `correct` is the (epsilon, delta)-PAC event of a finished run, and False of an unfinished one.
    `wrong` says which runs have decided something that is false, also before they were capped.
    """

    instance: Instance
    goal: Goal
    algorithm: Algorithm
    delta: float
    seed: int
    engine: str
    guarantee: Guarantee
    pulls: Ints  # [runs]
    counts: Ints  # [runs, N, K]  padded
    rounds: Ints  # [runs]
    answers: list[frozenset[int]]
    correct: Bools  # [runs]
    finished: Bools  # [runs]
    distance: Floats  # [runs]  bound on the total variation distance to the exact law; 0 if exact
    status: Ints  # [runs, N]  what was decided of each group, a Status each
    wrong: Bools  # [runs]
    seconds: float = field(default=0.0, compare=False)

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.pulls)

    @property
    def pulls_by_arm(self) -> list[list[Ints]]:
        """Pulls of every arm: for each run one array [K_i] a group."""
        return [self.instance.shape.rows(counts) for counts in self.counts]

    @property
    def share(self) -> Floats:
        """Pulls over those of the full table, items times arms; for a table of items only."""
        items = self.instance.items
        if items is None or not items.count:
            raise InvalidInput("share is for instances with a number of shared items")
        return self.pulls / (items.count * self.instance.shape.total)

    @property
    def errors(self) -> int:
        """The number of runs with a wrong answer or, if they were capped, a wrong decision."""
        return int(self.wrong.sum())

    def error_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the exact (Clopper-Pearson) interval of the probability of an error.

        What an unfinished run without a wrong decision would have answered is not known: the lower
        end takes it for right, the upper end for wrong.
        """
        from scipy.special import betaincinv  # `scipy.stats` takes a second to import

        n, k = self.runs, self.errors
        most = k + int((~self.finished & ~self.wrong).sum())
        tail = (1.0 - probability(level, "level")) / 2.0
        low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
        high = float(betaincinv(most + 1, n - most, 1.0 - tail)) if most < n else 1.0
        return low, high

    def to_records(self) -> list[dict[str, Any]]:
        """Return one plain dictionary a run."""
        return [
            {
                "run": run,
                "algorithm": str(self.algorithm),
                "pulls": int(self.pulls[run]),
                "rounds": int(self.rounds[run]),
                "answer": sorted(self.answers[run]),
                "correct": bool(self.correct[run]),
                "finished": bool(self.finished[run]),
                "wrong": bool(self.wrong[run]),
            }
            for run in range(self.runs)
        ]

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each run (extra `frames`)."""
        return data_frame(self.to_records())

    def plot(self) -> Figure:
        """Return how many runs took how many pulls."""
        return simulation_view(self)

    def _repr_html_(self) -> str:
        low, high = self.error_interval()
        pulls = self.pulls
        rows = [
            ("pulls, mean", f"{pulls.mean():,.0f}"),
            (
                "pulls, 5 % to 95 %",
                " to ".join(f"{q:,.0f}" for q in np.quantile(pulls, (0.05, 0.95))),
            ),
            ("wrong answers", f"{self.errors} of {self.runs:,}"),
            ("error rate, 95 % interval", f"{low:.3g} to {high:.3g}"),
            ("not finished", f"{int((~self.finished).sum()):,}"),
        ]
        facts = f"{self.runs:,} runs, delta = {self.delta:g}, engine {self.engine}"
        worth = folded(f"Guarantee: {self.guarantee.level}", [str(self.guarantee)])
        return card(f"Simulation of {self.algorithm}", facts, rows_table(["", ">"], rows), worth)

    def __repr__(self) -> str:
        mean = f"{self.pulls.mean():,.0f}" if self.runs else "none"
        return (
            f"Simulation({self.algorithm}, runs={self.runs}, mean pulls={mean}, "
            f"errors={self.errors}, engine={self.engine!r})"
        )


def simulate(
    instance: Instance,
    goal: Goal,
    algorithm: str | Algorithm = "te",
    delta: float = 0.01,
    runs: int = 20,
    seed: int = 0,
    *,
    engine: str = "auto",
    workers: int | str = 1,
    max_pulls: int | None = None,
    results: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Simulation:
    """Return `runs` independent runs of the algorithm on the instance.

    Run k depends on (seed, k) alone, whatever `workers` is. A run that would need more than
    `max_pulls` stops unfinished. `progress` shows a bar; by default on long work at a terminal.

    `engine` "exact" draws every reward, the k-th one of an arm the same for every algorithm. "jump"
    draws only what decisions need; `distance` bounds the total variation distance of each of its
    runs to the exact law. "auto" takes the one that should be quicker.

    >>> instance = Instance([[[0.0]], [[2.0]]])
    >>> from bestgroup.problem.goals import BestGroup
    >>> simulate(instance, BestGroup([1.0]), "eecb", delta=0.05, runs=3, seed=1).answers
    [frozenset({1}), frozenset({1}), frozenset({1})]
    """
    if not isinstance(instance, Instance):
        raise InvalidInput(f"simulate needs an Instance; got {type(instance).__name__}")
    total = positive_int(runs, "runs")
    job = prepare(instance, goal, algorithm, delta, seed, engine, max_pulls)
    pool = check_workers(workers)
    start = time.perf_counter()
    with Progress(total, f"{job.algorithm} x {total}", progress) as bar:
        outcome = collect_runs(job, total, pool, bar, results)
    return collect(job, outcome, time.perf_counter() - start)


def prepare(
    instance: Instance,
    goal: Goal,
    algorithm: str | Algorithm,
    delta: float,
    seed: int,
    engine: str,
    max_pulls: int | None,
) -> Job:
    """Return what every run needs, checked; a run that would never end is refused."""
    goal = check_goal(goal, instance.decided)
    setting = Setting.for_instance(instance, goal, probability(delta))
    chosen = resolve(algorithm, setting)
    limit = NO_LIMIT if max_pulls is None else positive_int(max_pulls, "max_pulls")
    name = choose_engine(engine, instance, setting, chosen)
    job = Job(instance, setting, chosen, seed_of(seed), limit, name)
    is_pool = setting.items is not None and setting.items.pool  # it decides everything at its end
    if max_pulls is None and not (chosen.always_ends or is_pool):
        for look, instead in ((endless, "epsilon > 0"), (on_a_limit, "a tolerance")):
            if why := look(instance, goal):
                raise InvalidInput(f"{why}, so no run would end; give {instead} or max_pulls")
    return job


def choose_engine(engine: str, instance: Instance, setting: Setting, algorithm: Algorithm) -> str:
    """Return the engine that will run; "auto" decides from the specification alone.

    "auto" is the jump engine where it applies and its predicted work is less.
    """
    if engine == "exact":
        return engine
    if instance.items is not None and engine == "jump":
        raise InvalidInput(
            "values on shared items are drawn one by one; use engine='exact' or 'auto'"
        )
    if engine not in ("jump", "auto"):
        raise InvalidInput(f"engine must be 'exact', 'jump' or 'auto'; got {engine!r}")
    why_not = supports(instance, algorithm)
    if engine == "jump":
        if why_not:
            raise InvalidInput(f"{why_not}; use engine='exact' or 'auto'")
        return engine
    work = None if why_not else algorithm.work(instance, setting)
    return "jump" if work is not None and work.exact > work.jump else "exact"


def collect(job: Job, runs: Runs, seconds: float) -> Simulation:
    """Return runs with what they are of, and whether they are right."""
    goal, instance = job.setting.goal, job.instance
    masks, which = np.unique(runs.answers, axis=0, return_inverse=True)
    answers = [frozenset(np.flatnonzero(mask).tolist()) for mask in masks]
    right = np.array([is_correct(answer, instance, goal) for answer in answers])
    which = which.reshape(-1)
    return Simulation(
        instance=instance,
        goal=goal,
        algorithm=job.algorithm,
        delta=job.setting.delta,
        seed=job.seed,
        engine=job.engine,
        guarantee=guarantee_for(job.algorithm, job.setting, instance),
        pulls=runs.counts.sum(axis=(1, 2)),
        counts=runs.counts,
        rounds=runs.rounds,
        answers=[answers[k] for k in which],
        correct=right[which] & runs.finished,
        finished=runs.finished,
        distance=runs.distance,
        status=runs.status,
        wrong=_wrong(runs, right[which], instance, goal),
        seconds=seconds,
    )


def _wrong(runs: Runs, right: Bools, instance: Instance, goal: Goal) -> Bools:
    """Return which runs have ended with a wrong answer, or were capped after a wrong decision."""
    false = np.any(wrong_decisions(runs.status, instance, goal), axis=1)
    return np.where(runs.finished, ~right, false)


def guarantee_for(algorithm: Algorithm, setting: Setting, instance: Instance) -> Guarantee:
    """Return the guarantee of an algorithm, void if the law breaks the assumed noise."""
    guarantee = algorithm.guarantee(setting)
    scales = getattr(instance.law, "scales", None)
    if scales is None or guarantee.level == "none":
        return guarantee
    drawn: Any = scales(instance.shape.dims)
    if (drawn > instance.scale * (1 + 1e-9)).any():
        return guarantee.void(
            f"the law's scale {np.asarray(drawn).tolist()} exceeds the assumed "
            f"{instance.scale.tolist()}, which no proof covers"
        )
    return guarantee

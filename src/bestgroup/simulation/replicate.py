"""`simulate`: many seeded runs of an algorithm on a known instance."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.registry import resolve
from bestgroup.algorithms.uniform import Uniform
from bestgroup.core.arrays import Bools, Ints, positive_int, probability, seed_of
from bestgroup.core.dominance import endless, is_correct
from bestgroup.core.goals import Goal, check_goal
from bestgroup.core.guarantee import Guarantee
from bestgroup.core.problem import Instance
from bestgroup.core.tally import empty_tally
from bestgroup.errors import InvalidInput
from bestgroup.simulation import exact
from bestgroup.simulation.progress import Progress
from bestgroup.simulation.rewards import USER, UserLaw, make_reservoir, make_source
from bestgroup.simulation.tapes import check_plan, with_radius

NO_LIMIT = 2**62
_SLICE = 4_000_000  # pulls between two looks at the keyboard and the clock


@dataclass(frozen=True)
class Run:
    """One finished or capped run."""

    answer: frozenset[int]
    counts: Ints  # [N, K]
    rounds: int
    finished: bool


@dataclass(frozen=True)
class Simulation:
    """Many runs: arrays and lists have one entry a run.

    `correct` is the (epsilon, delta)-PAC event of a finished run; an unfinished run counts as
    neither right nor wrong in `errors`, and is False in `correct`.
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
    def errors(self) -> int:
        """The number of runs that ended with a wrong answer."""
        return int((self.finished & ~self.correct).sum())

    def error_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the exact (Clopper-Pearson) interval of the probability of an error."""
        from scipy.stats import beta

        n, k = self.runs, self.errors
        tail = (1.0 - level) / 2.0
        low = float(beta.ppf(tail, k, n - k + 1)) if k else 0.0
        high = float(beta.ppf(1.0 - tail, k + 1, n - k)) if k < n else 1.0
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
            }
            for run in range(self.runs)
        ]

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row a run (extra `frames`)."""
        try:
            import pandas as pd
        except ImportError:
            raise InvalidInput("to_frame needs pandas: pip install 'bestgroup[frames]'") from None
        return pd.DataFrame(self.to_records())

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
    workers: int = 1,
    max_pulls: int | None = None,
    progress: bool | None = None,
) -> Simulation:
    """Return `runs` independent runs of the algorithm on the instance.

    Run k depends on (seed, k) alone, whatever `workers` is; the k-th reward of an arm is the same
    for every algorithm. A run that would need more than `max_pulls` stops unfinished. `progress`
    shows a bar; by default on long work at a terminal.

    >>> instance = Instance([[[0.0]], [[2.0]]])
    >>> from bestgroup.core.goals import BestGroup
    >>> simulate(instance, BestGroup([1.0]), "eecb", delta=0.05, runs=3, seed=1).answers
    [frozenset({1}), frozenset({1}), frozenset({1})]
    """
    if not isinstance(instance, Instance):
        raise InvalidInput(f"simulate needs an Instance; got {type(instance).__name__}")
    check_goal(goal, instance.shape.dims)
    setting = Setting(instance.shape, goal, instance.noise, probability(delta))
    chosen = resolve(algorithm, setting)
    job = Job(
        instance,
        setting,
        chosen,
        seed_of(seed),
        NO_LIMIT if max_pulls is None else positive_int(max_pulls, "max_pulls"),
    )
    total = positive_int(runs, "runs")
    processes = positive_int(workers, "workers")
    name = choose_engine(engine)
    if max_pulls is None:
        why = endless(instance, goal)
        if why:
            raise InvalidInput(f"{why}, so no run would end; give epsilon > 0 or max_pulls")
    start = time.perf_counter()
    bar = Progress(total, f"{chosen} x {total}", progress)
    with bar:
        results = list(_spread(job, total, processes, bar))
    return _collect(job, name, results, time.perf_counter() - start)


def choose_engine(engine: str) -> str:
    """Return the engine that will run: "exact" draws every reward."""
    if engine in ("exact", "auto"):
        return "exact"
    raise InvalidInput(f"engine must be 'exact' or 'auto'; got {engine!r}")


@dataclass(frozen=True)
class Job:
    """What every run needs; sent to worker processes."""

    instance: Instance
    setting: Setting
    algorithm: Algorithm
    seed: int
    max_pulls: int

    def run(self, index: int) -> Run:
        """Return run `index`."""
        return with_radius(self.algorithm, self.setting, lambda rule: self._run(index, rule))

    def _run(self, index: int, rule: Any) -> Run:
        source = make_source(self.instance, self.seed, index)
        pool = make_reservoir(self.instance, source.kind)
        law = UserLaw(self.instance, self.seed, index) if source.kind == USER else None
        driver = _Driver(self, rule, source, pool, law)
        loop = exact.loop_for(self.algorithm)
        if loop is not None:
            return driver.compiled(loop.compiled)
        if isinstance(self.algorithm, Uniform) and exact._is_ours(self.algorithm):
            return driver.uniform()
        return driver.plain()


class _Driver:
    """Runs one algorithm once: by a compiled loop, or in plain Python for a user's algorithm."""

    def __init__(self, job: Job, rule: Any, source: Any, pool: Any, law: UserLaw | None) -> None:
        shape = job.instance.shape
        self.job, self.rule, self.source, self.pool, self.law = job, rule, source, pool, law
        self.tally = empty_tally(shape.groups, shape.arms, shape.dims)
        self.state = job.algorithm.init(rule)
        self.limits = np.array([job.max_pulls, _SLICE])

    def compiled(self, loop: Any) -> Run:
        while True:
            code = loop(self.state, self.tally, self.rule, self.source, self.pool, self.limits)
            if code == exact.REFILL and self.law is not None:
                self.law.refill(self.pool, self.tally.counts)
            elif code != exact.SLICE:
                return self._result(code == exact.DONE, int(self.state.round[0]))

    def uniform(self) -> Run:
        if self.rule.pulls * self.job.instance.shape.total > self.job.max_pulls:
            return self._result(False, 0)
        code = exact.SLICE
        while code != exact.DONE:
            code = exact.run_uniform.compiled(
                self.tally, self.rule, self.source, self.pool, self.limits
            )
            if code == exact.REFILL and self.law is not None:
                self.law.refill(self.pool, self.tally.counts)
        self.state = self.job.algorithm.step(self.state, self.tally, self.rule)
        return self._result(True, 1)

    def plain(self) -> Run:
        algorithm, rule, tally = self.job.algorithm, self.rule, self.tally
        rounds = 0
        while not algorithm.is_done(self.state, rule):
            pulls = check_plan(
                algorithm.plan(self.state, tally, rule), self.job.instance.shape, algorithm
            )
            if tally.counts.sum() + pulls.sum() > self.job.max_pulls:
                return self._result(False, rounds)
            if not pulls.any() and algorithm.is_stuck(self.state, rule):
                return self._result(False, rounds)
            self._consume(pulls)
            self.state = algorithm.step(self.state, tally, rule)
            rounds += 1
        return self._result(True, rounds)

    def _consume(self, pulls: Ints) -> None:
        need = np.ones(self.tally.sums.shape[2], np.bool_)
        for i, j in zip(*np.nonzero(pulls), strict=True):
            left = int(pulls[i, j])
            while left > 0:
                count = int(self.tally.counts[i, j])
                goal = count + min(left, 32)
                if not exact.ensure.compiled(self.source, self.pool, i, j, count, goal, need):
                    assert self.law is not None
                    self.law.refill(self.pool, self.tally.counts)
                exact.take.compiled(self.pool, self.tally, i, j, goal)
                left -= goal - count

    def _result(self, finished: bool, rounds: int) -> Run:
        answer = self.job.algorithm.answer(self.state, self.rule)
        return Run(answer, self.tally.counts, rounds, finished)


def _spread(job: Job, total: int, workers: int, bar: Progress) -> Iterator[Run]:
    if workers == 1 or total == 1:
        for index in range(total):
            result = job.run(index)
            bar.advance(1)
            yield result
        return
    from joblib import Parallel, delayed

    size = max(1, min(1000, total // (8 * workers)))
    chunks = [range(k, min(k + size, total)) for k in range(0, total, size)]
    parallel = Parallel(n_jobs=workers, return_as="generator")
    finished: Any = parallel(delayed(_run_chunk)(job, chunk) for chunk in chunks)
    for results in finished:
        bar.advance(len(results))
        yield from results


def _run_chunk(job: Job, indices: Iterable[int]) -> list[Run]:
    return [job.run(index) for index in indices]


def _collect(job: Job, engine: str, results: list[Run], seconds: float) -> Simulation:
    goal, instance = job.setting.goal, job.instance
    finished = np.array([run.finished for run in results])
    right = [run.finished and is_correct(run.answer, instance, goal) for run in results]
    counts = np.array([run.counts for run in results])
    return Simulation(
        instance=instance,
        goal=goal,
        algorithm=job.algorithm,
        delta=job.setting.delta,
        seed=job.seed,
        engine=engine,
        guarantee=guarantee_for(job.algorithm, job.setting, instance),
        pulls=counts.sum(axis=(1, 2)),
        counts=counts,
        rounds=np.array([run.rounds for run in results]),
        answers=[run.answer for run in results],
        correct=np.array(right),
        finished=finished,
        seconds=seconds,
    )


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

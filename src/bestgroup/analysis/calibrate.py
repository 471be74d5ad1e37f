"""`calibrate`: how often an algorithm errs on an instance, and how much of its radius it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.registry import resolve
from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import number, positive_int, probability
from bestgroup.problem.goals import Goal, check_goal
from bestgroup.problem.instance import Instance, check_instance
from bestgroup.simulation.simulate import Simulation, simulate

FACTORS = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2)
SWEEP_RUNS = 10_000


@dataclass(frozen=True)
class ErrorRate:
    """Errors of an algorithm whose radius was multiplied by `factor`.

    `low` and `high` are the exact (Clopper-Pearson) interval of the error probability. A run that
    did not finish counts as an error if it had decided something that is false.
    """

    factor: float
    runs: int
    unfinished: int
    errors: int
    low: float
    high: float
    pulls: float  # mean
    sd: float  # of the pulls of one run
    engine: str
    seconds: float

    @property
    def rate(self) -> float:
        """The share of runs with a wrong answer or decision."""
        return self.errors / self.runs

    def verdict(self, delta: float) -> str:
        """Return "above", "below" or "unclear": where the interval lies against delta.

        >>> ErrorRate(1.0, 100, 0, 0, 0.0, 0.036, 500.0, 1.0, "exact", 0.1).verdict(0.05)
        'below'
        """
        if self.low > delta:
            return "above"
        return "below" if self.high < delta else "unclear"


@dataclass(frozen=True)
class Calibration:
    """Error rates against delta, one for each factor on the radius."""

    instance: Instance
    goal: Goal
    algorithm: Algorithm
    delta: float
    seed: int
    level: float
    rates: tuple[ErrorRate, ...]

    @property
    def least_safe(self) -> ErrorRate | None:
        """The least factor whose rate, and that of every larger one, is significantly below delta.

        None if the largest factor is not.
        """
        found = None
        for rate in sorted(self.rates, key=lambda rate: -rate.factor):
            if rate.verdict(self.delta) != "below":
                break
            found = rate
        return found

    def to_records(self) -> list[dict[str, Any]]:
        """Return one plain dictionary a factor."""
        return [
            {
                "factor": rate.factor,
                "algorithm": self.algorithm.name,
                "delta": self.delta,
                "runs": rate.runs,
                "unfinished": rate.unfinished,
                "errors": rate.errors,
                "rate": rate.rate,
                "low": rate.low,
                "high": rate.high,
                "level": self.level,
                "verdict": rate.verdict(self.delta),
                "mean_pulls": rate.pulls,
                "sd_pulls": rate.sd,
                "engine": rate.engine,
                "seconds": rate.seconds,
            }
            for rate in self.rates
        ]

    def __repr__(self) -> str:
        first = self.rates[0]
        return (
            f"Calibration({self.algorithm}, delta={self.delta:g}, {first.errors} errors in "
            f"{first.runs} runs, factors={[rate.factor for rate in self.rates]})"
        )


def calibrate(
    instance: Instance,
    goal: Goal,
    algorithm: str | Algorithm = "te",
    delta: float = 0.01,
    runs: int = 10_000,
    factors: Sequence[float] | None = None,
    *,
    sweep_runs: int | None = None,
    seed: int = 0,
    level: float = 0.95,
    engine: str = "auto",
    workers: int | str = 1,
    max_pulls: int | None = None,
    results: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Calibration:
    """Return error rates with exact binomial intervals, for each factor on the radius.

    The first factor gets `runs` runs, the others `sweep_runs` (by default as many, but at most
    10,000): 1 says whether delta is kept, factors below 1 how much of the radius was needed. They
    are 1, 0.8, ..., 0.2 by default, and 1 alone for an algorithm without a radius. With `results`,
    a folder, runs are kept as they finish and an interrupted sweep goes on.

    >>> instance = Instance([[[0.0]], [[0.5]]])
    >>> from bestgroup.problem.goals import BestGroup
    >>> found = calibrate(instance, BestGroup([1.0]), "eecb", 0.1, runs=50, factors=[1, 0.1])
    >>> [(rate.factor, rate.verdict(0.1)) for rate in found.rates]
    [(1.0, 'below'), (0.1, 'above')]
    """
    sweep = Sweep.checked(
        instance, goal, algorithm, delta, factors, runs=runs, sweep_runs=sweep_runs, level=level
    )
    rates = sweep.rates(
        results,
        seed=seed,
        engine=engine,
        workers=workers,
        max_pulls=max_pulls,
        progress=progress,
    )
    return sweep.collect(rates, seed)


@dataclass(frozen=True)
class Sweep:
    """A calibration that was checked and can start."""

    instance: Instance
    goal: Goal
    algorithm: Algorithm
    delta: float
    factors: tuple[float, ...]
    runs: int
    sweep_runs: int
    level: float

    @classmethod
    def checked(
        cls,
        instance: Instance,
        goal: Goal,
        algorithm: str | Algorithm,
        delta: float,
        factors: Sequence[float] | None = None,
        *,
        runs: int = 10_000,
        sweep_runs: int | None = None,
        level: float = 0.95,
    ) -> Sweep:
        """Return the sweep after checking all that is known before the first run."""
        check_instance(instance)
        goal = check_goal(goal, instance.decided)
        delta = probability(delta)
        chosen = resolve(algorithm, Setting.for_instance(instance, goal, delta))
        runs = positive_int(runs, "runs")
        others = min(runs, SWEEP_RUNS) if sweep_runs is None else sweep_runs
        return cls(
            instance,
            goal,
            chosen,
            delta,
            _check_factors(chosen, factors),
            runs,
            positive_int(others, "sweep_runs"),
            probability(level, "level"),
        )

    def at(self, factor: float) -> Algorithm:
        """Return the algorithm with its radius multiplied."""
        if factor == 1.0:
            return self.algorithm
        changed: Any = {"radius_scale": self.algorithm.options()["radius_scale"] * factor}
        return replace(self.algorithm, **changed)

    def rates(
        self, results: str | PathLike[str] | None = None, **options: Any
    ) -> Iterator[ErrorRate]:
        """Yield the error rate at each factor, as soon as it is known; options of `simulate`."""
        folder = None if results is None else _folder(Path(results))
        for k, factor in enumerate(self.factors):
            kept = None if folder is None else folder / f"factor-{factor:g}.sqlite"
            result = simulate(
                self.instance,
                self.goal,
                self.at(factor),
                self.delta,
                self.sweep_runs if k else self.runs,
                results=kept,
                **options,
            )
            yield _rate(result, factor, self.level)

    def collect(self, rates: Iterable[ErrorRate], seed: int) -> Calibration:
        """Return the rates together."""
        rest = (self.delta, seed, self.level, tuple(rates))
        return Calibration(self.instance, self.goal, self.algorithm, *rest)


def _check_factors(chosen: Algorithm, factors: Sequence[float] | None) -> tuple[float, ...]:
    has_radius = "radius_scale" in chosen.options()
    if factors is None:
        factors = FACTORS if has_radius else (1.0,)
    values = tuple(number(factor, "a factor") for factor in factors)
    if not values:
        raise InvalidInput("factors must hold at least one number; got none")
    for k, value in enumerate(values):
        if value <= 0:
            raise InvalidInput(f"factors must be positive; got {value:g}")
        if value in values[:k]:
            raise InvalidInput(f"factors must differ; {value:g} is there twice")
    if not has_radius and values != (1.0,):
        raise InvalidInput(
            f"algorithm {chosen.name!r} has no radius to multiply; the only factor is 1"
        )
    return values


def _folder(path: Path) -> Path:
    if path.exists() and not path.is_dir():
        raise InvalidInput(f"{path} is a file; the results of a calibration are a folder")
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None
    return path


def _rate(result: Simulation, factor: float, level: float) -> ErrorRate:
    low, high = result.error_interval(level)
    return ErrorRate(
        factor=factor,
        runs=result.runs,
        unfinished=int((~result.finished).sum()),
        errors=result.errors,
        low=low,
        high=high,
        pulls=float(result.pulls.mean()),
        sd=float(result.pulls.std(ddof=1)) if result.runs > 1 else float("nan"),
        engine=result.engine,
        seconds=result.seconds,
    )

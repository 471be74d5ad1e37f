"""What an experiment is made of: points (instances to run on) and outcomes (what came out)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bestgroup.algorithms.registry import algorithm
from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import positive_int, seed_of
from bestgroup.problem.goals import BestGroup, Goal, ParetoGroups
from bestgroup.problem.instance import Instance

DELTA = 0.01
EPSILON = 0.01
MIN_GAP = 3 * EPSILON
DIMS = 3
PAPERS = ("te", "age", "ge", "unis", "eecb", "tel")
OURS = ("te-plus", "adaptive")
TITLES = {"te": "TE", "age": "AGE", "ge": "GE", "unis": "UniS", "eecb": "EECB", "tel": "TEL"}
Weights = tuple[float, ...]


@dataclass(frozen=True)
class Plan:
    """What the user asked for."""

    runs: int = 20
    seed: int = 0
    instances: int = 3
    survey: int = 20
    algorithms: tuple[str, ...] = PAPERS + OURS

    def __post_init__(self) -> None:
        for what in ("runs", "instances", "survey"):
            positive_int(getattr(self, what), what)
        seed_of(self.seed)
        if self.seed >= 10**9:
            raise InvalidInput(f"seed must be below 10**9 here; got {self.seed}")
        if self.instances > 26 or self.survey > 999:
            raise InvalidInput("instances must be at most 26, survey at most 999")
        if not self.algorithms:
            raise InvalidInput("algorithms must name at least one algorithm; got none")
        for name in self.algorithms:
            algorithm(name)

    def answering(self, goal: type) -> tuple[str, ...]:
        """Return the names of the plan's algorithms that answer a kind of goal."""
        return tuple(n for n in self.algorithms if goal in algorithm(n).goals)

    def instance_seed(self, index: int) -> int:
        """Return the seed of the index-th instance of any setting."""
        return 1000 * self.seed + index


@dataclass(frozen=True)
class Point:
    """A random instance, and the goals and algorithms to run on it."""

    experiment: str
    groups: int
    arms: int
    pareto: int | None  # number of Pareto-optimal groups; None: any
    index: int  # 0, 1, 2, ...: instances a, b, c, ...
    seed: int  # of `Instance.random`
    algorithms: tuple[str, ...]
    weights: tuple[Weights, ...] = ()  # of the best group; none: Pareto groups
    with_limit: bool = True

    @property
    def letter(self) -> str:
        """The name of the instance among those of its setting."""
        return "abcdefghijklmnopqrstuvwxyz"[self.index] if self.index < 26 else str(self.index + 1)

    @property
    def run_seed(self) -> int:
        """The seed of the runs: another one for every instance and size."""
        return 10_000 * self.seed + 100 * self.groups + self.arms

    @property
    def goals(self) -> tuple[tuple[Weights | None, Goal], ...]:
        """The questions, each with its weights."""
        if not self.weights:
            return ((None, ParetoGroups(EPSILON)),)
        return tuple((w, BestGroup(w)) for w in self.weights)

    def make(self) -> Instance:
        """Return the instance."""
        options: dict[str, Any] = {}
        if self.weights:
            options = {"weights": self.weights, "linear_gap": MIN_GAP}
        return Instance.random(
            self.groups, self.arms, DIMS, self.pareto, MIN_GAP, self.seed, **options
        )


@dataclass(frozen=True)
class Limit:
    """What theory says about a goal on an instance; NaN where it says nothing."""

    pulls: float = math.nan  # T* kl(delta, 1 - delta), T* at its certified lower end
    gap: float = math.nan  # certified relative gap of T*
    bound: float = math.nan  # the theorem's lower bound
    bound_why_not: str | None = None  # why it does not apply here


@dataclass(frozen=True)
class Outcome:
    """Pulls of one algorithm for one goal on one instance."""

    point: Point
    weights: Weights | None
    algorithm: str
    runs: int
    mean: float
    sd: float  # over runs; NaN with one run
    least: int
    most: int
    errors: int | None  # None if nothing was run
    engine: str  # "exact", "jump", or "formula" if the pulls are known without a run
    distance: float  # largest bound on the total variation distance to the exact law
    seconds: float
    limit: Limit

    @property
    def title(self) -> str:
        """The algorithm as the paper writes it."""
        return title(self.algorithm)

    def record(self) -> dict[str, Any]:
        """Return a row of the CSV file."""
        point, limit = self.point, self.limit
        return {
            "experiment": point.experiment,
            "N": point.groups,
            "K": point.arms,
            "D": DIMS,
            "pareto_groups": point.pareto,
            "instance": point.letter,
            "instance_seed": point.seed,
            "run_seed": point.run_seed,
            "weights": None if self.weights is None else " ".join(f"{w:g}" for w in self.weights),
            "algorithm": self.algorithm,
            "delta": DELTA,
            "epsilon": EPSILON,
            "runs": self.runs,
            "mean": self.mean,
            "sd": self.sd,
            "min": self.least,
            "max": self.most,
            "errors": self.errors,
            "engine": self.engine,
            "distance_to_exact_law": self.distance,
            "limit": limit.pulls,
            "limit_relative_gap": limit.gap,
            "theorem_bound": limit.bound,
            "theorem_applies": limit.bound_why_not is None,
            "seconds": self.seconds,
        }


def title(name: str) -> str:
    """Return an algorithm's name as the paper writes it; ours say that they are.

    >>> title("unis"), title("te-plus")
    ('UniS', 'te-plus (ours)')
    """
    return f"{name} (ours)" if name in OURS else TITLES.get(name, name)


def by_point(outcomes: Sequence[Outcome]) -> dict[Point, list[Outcome]]:
    """Return the outcomes of each instance, in the order of the sweep."""
    found: dict[Point, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.point, []).append(outcome)
    return found

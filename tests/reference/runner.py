"""What the naive algorithms stand on: their setting, their record, and the tape reader.

A generator yields the list of arms `(i, j)` to pull once each and is sent the list of their reward
vectors; `replay` does that from a tape and counts the pulls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

Arm = tuple[int, int]
Vector = Sequence[float]
Pulls = Generator[list[Arm], list[Vector], "Outcome"]


@dataclass(frozen=True)
class Setting:
    """What every algorithm is told: the sizes, the radius, and margins for each dim."""

    sizes: tuple[int, ...]
    dims: int
    delta: float
    epsilon: tuple[float, ...]
    scale: tuple[float, ...]
    beta: Callable[[int], float]

    @property
    def groups(self) -> range:
        return range(len(self.sizes))

    @property
    def arms(self) -> list[Arm]:
        return [(i, j) for i in self.groups for j in range(self.sizes[i])]


def setting(
    sizes: Sequence[int],
    dims: int,
    *,
    delta: float = 0.05,
    epsilon: float | Vector = 0.0,
    scale: float | Vector = 1.0,
    beta: Callable[[int], float] | None = None,
) -> Setting:
    """A `Setting`; without `beta` it has the paper's, sqrt(2 log(4 A D r^2 / delta) / r)."""

    def paper_beta(r: int) -> float:
        return math.sqrt(2 * math.log(4 * sum(sizes) * dims * r**2 / delta) / r)

    return Setting(
        tuple(sizes),
        dims,
        delta,
        each_dim(epsilon, dims),
        each_dim(scale, dims),
        beta or paper_beta,
    )


def each_dim(x: float | Vector, dims: int) -> tuple[float, ...]:
    """One number for each dim."""
    return (float(x),) * dims if isinstance(x, int | float) else tuple(float(y) for y in x)


@dataclass
class Outcome:
    """What a run ends with; `log` has one dict a round, under the names the fixtures use."""

    answer: set[int]
    efficiency: list[list[float]]
    log: list[dict[str, Any]]
    left_round: list[int] = field(default_factory=list)
    resolved_round: list[list[int]] = field(default_factory=list)
    clock: list[int] = field(default_factory=list)
    repeats: int = 0
    margin: float = math.inf
    pulls: dict[Arm, int] = field(default_factory=dict)


class TapeEnd(Exception):
    """A run asked for a pull that the tape does not hold; `log` has the rounds completed so far."""

    def __init__(self, arm: Arm, log: list[dict[str, Any]]) -> None:
        super().__init__(f"the tape has no further pull of arm {arm}")
        self.arm = arm
        self.log = log


class Means:
    """The empirical means: a sum and a count for each arm."""

    def __init__(self, s: Setting) -> None:
        self.count = {arm: 0 for arm in s.arms}
        self.sum = {arm: [0.0] * s.dims for arm in s.arms}

    def add(self, arms: list[Arm], rewards: list[Vector]) -> None:
        for arm, reward in zip(arms, rewards, strict=True):
            self.count[arm] += 1
            for d, x in enumerate(reward):
                self.sum[arm][d] += x

    def __call__(self, arm: Arm, d: int) -> float:
        return self.sum[arm][d] / self.count[arm]


class Closest:
    """The least `|slack|` among all that were passed through it."""

    def __init__(self) -> None:
        self.margin = math.inf

    def __call__(self, slack: float) -> float:
        if abs(slack) < self.margin:
            self.margin = abs(slack)
        return slack


def replay(algorithm: Callable[..., Pulls], s: Setting, tape: Any, **options: Any) -> Outcome:
    """The outcome of an algorithm on `tape[k][i][j]`, the reward of the (k+1)-th pull of (i, j)."""
    log: list[dict[str, Any]] = []
    pulls = {arm: 0 for arm in s.arms}
    run = algorithm(s, log, **options)
    try:
        arms = next(run)
        while True:
            rewards = []
            for i, j in arms:
                if pulls[i, j] == len(tape):
                    raise TapeEnd((i, j), log)
                rewards.append(tape[pulls[i, j]][i][j])
                pulls[i, j] += 1
            arms = run.send(rewards)
    except StopIteration as end:
        end.value.pulls = pulls
        return end.value

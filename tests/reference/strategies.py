"""Hypothesis strategies: small problems on which every comparison is exact.

A tape is built from running means that are multiples of 1/256, so after any number of pulls the
mean `sum / count` is that dyadic number without rounding; radii, epsilons, scales and weights are
dyadic too. Ties and equalities therefore happen often, and no implementation has the excuse of
another order of operations.

Termination: with epsilon > 0 in every dim ("positive", "large") TE, AGE, GE, TEL and EECB end
within the 64 pulls an arm that a tape holds, and with "large" both versions of UniS do. With
"zero" or "any" a tie can last for ever: then the naive side raises `naive.TapeEnd` (whose `log` has
the rounds before it) and a test must ask the same of the other side.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from . import naive

PULLS = 64
UNIT = 256
EpsilonKind = Literal["positive", "zero", "any", "large"]


@dataclass(frozen=True)
class Table:
    """A strictly decreasing dyadic radius: the table, six halvings, then steps of 2^-32."""

    values: tuple[float, ...]

    def __call__(self, r: int) -> float:
        beyond = r - len(self.values)
        if beyond <= 0:
            return self.values[r - 1]
        last = self.values[-1]
        return last * 0.5**beyond if beyond <= 6 else last * 0.5**6 - (beyond - 6) * 2.0**-32


@dataclass(frozen=True)
class Case:
    """A problem with its tape: `tape[k][i][j][d]`, drawn around `means[i][j][d]`."""

    sizes: tuple[int, ...]
    dims: int
    delta: float
    epsilon: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    beta: Table
    seed: int
    means: list[list[list[float]]] = field(repr=False)
    tape: list[list[list[list[float]]]] = field(repr=False)

    def setting(self, **changes: Any) -> naive.Setting:
        """What `naive.replay` takes; `changes` override epsilon, scale, delta or beta."""
        given = {
            "delta": self.delta,
            "epsilon": self.epsilon,
            "scale": self.scale,
            "beta": self.beta,
        }
        return naive.setting(self.sizes, self.dims, **(given | changes))

    def ragged(self) -> list[np.ndarray]:
        """The tape as one array [PULLS, K_i, D] a group."""
        return [np.array([row[i] for row in self.tape]) for i in range(len(self.sizes))]

    def padded(self) -> np.ndarray:
        """The tape as one array [PULLS, N, K, D] with NaN beyond a group's size."""
        full = np.full((PULLS, len(self.sizes), max(self.sizes), self.dims), np.nan)
        for i, group in enumerate(self.ragged()):
            full[:, i, : self.sizes[i]] = group
        return full


def outcome(algorithm: Callable[..., naive.Pulls], case: Case, **options: Any) -> Any:
    """The naive outcome on a case, or None if the tape ends first."""
    try:
        return naive.replay(algorithm, case.setting(), case.tape, **options)
    except naive.TapeEnd:
        return None


def rewards_of(running: list[list[float]]) -> list[list[float]]:
    """The rewards whose running means are given: k x_k - (k - 1) x_{k-1}, exactly."""
    rewards = []
    for k, now in enumerate(running, 1):
        before = running[k - 2] if k > 1 else [0.0] * len(now)
        rewards.append([k * x - (k - 1) * y for x, y in zip(now, before, strict=True)])
    return rewards


@dataclass(frozen=True)
class Shape:
    """How a tape is drawn: means in `spread * [-levels, levels]`, errors in steps of `grain`."""

    seed: int
    spread: float
    levels: int
    noise: float
    grain: float


def draw_means(shape: Shape, sizes: tuple[int, ...], dims: int) -> list[list[list[float]]]:
    """Means on a coarse grid, one vector an arm."""
    rng = random.Random(shape.seed)

    def arm() -> list[float]:
        return [shape.spread * rng.randint(-shape.levels, shape.levels) for _ in range(dims)]

    return [[arm() for _ in range(size)] for size in sizes]


def draw_tape(
    shape: Shape, means: list[list[list[float]]], scale: tuple[float, ...], beta: Table
) -> list[list[list[list[float]]]]:
    """Running means: an arm's mean plus an error of up to `noise` radii, on the grid."""
    rng = random.Random(shape.seed + 1)

    def arm(mean: list[float]) -> list[list[float]]:
        running = []
        for k in range(1, PULLS + 1):
            reach = [int(shape.noise * beta(k) * s / shape.grain) for s in scale]
            errors = [rng.randint(-b, b) * shape.grain for b in reach]
            running.append([x + e for x, e in zip(mean, errors, strict=True)])
        return rewards_of(running)

    arms = [[arm(mean) for mean in group] for group in means]
    return [[[arm[k] for arm in group] for group in arms] for k in range(PULLS)]


@st.composite
def shapes(draw: st.DrawFn, *, large: bool) -> Shape:
    """Few levels and coarse grains make ties; noise above 1 leaves the good event."""
    return Shape(
        seed=draw(st.integers(0, 2**32 - 1)),
        spread=draw(st.sampled_from([2.0, 1.0] if large else [0.5, 0.25, 1 / 16])),
        levels=draw(st.integers(1, 6)),
        noise=draw(st.sampled_from([0.0, 0.5, 1.0, 2.0])),
        grain=draw(st.sampled_from([1 / UNIT, 1 / 32, 1 / 8])),
    )


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Between 3 and 16 distinct multiples of 1/512 up to 2, decreasing to 1/512."""
    picked = draw(st.lists(st.integers(2, 1024), min_size=2, max_size=15, unique=True))
    return Table(tuple(x / 512 for x in [*sorted(picked, reverse=True), 1]))


@st.composite
def epsilons(draw: st.DrawFn, kind: EpsilonKind, dims: int) -> tuple[float, ...]:
    """One epsilon for each dim; equal ones as often as different ones."""
    choices = {
        "positive": [1 / 64, 1 / 16, 1 / 4, 1 / 2, 1.0],
        "zero": [0.0],
        "any": [0.0, 1 / 64, 1 / 4, 1.0],
        "large": [4.0, 8.0],
    }[kind]
    one = st.sampled_from(choices)
    if draw(st.booleans()):
        return (draw(one),) * dims
    return tuple(draw(one) for _ in range(dims))


@st.composite
def cases(draw: st.DrawFn, epsilon: EpsilonKind = "positive", *, scaled: bool = True) -> Case:
    """N in 1..5 groups of 1..4 arms, D in 1..3 dims; scales are 1 when not `scaled`."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    dims = draw(st.integers(1, 3))
    by_dim = st.sampled_from([0.5, 1.0, 2.0] if scaled else [1.0])
    scale = tuple(draw(by_dim) for _ in range(dims))
    weights = tuple(draw(st.integers(1, 16)) / 4 for _ in range(dims))
    beta = draw(tables())
    shape = draw(shapes(large=epsilon == "large"))
    means = draw_means(shape, sizes, dims)
    return Case(
        sizes=sizes,
        dims=dims,
        delta=draw(st.sampled_from([0.125, 0.5])),
        epsilon=draw(epsilons(epsilon, dims)),
        scale=scale,
        weights=weights,
        beta=beta,
        seed=shape.seed,
        means=means,
        tape=draw_tape(shape, means, scale, beta),
    )

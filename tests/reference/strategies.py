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
Levels = list[list[list[float]]]
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
    means: Levels = field(repr=False)
    tape: list[Levels] = field(repr=False)

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


def outcome(
    algorithm: Callable[..., naive.Pulls], case: Case, **options: Any
) -> naive.Outcome | None:
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
    """How a tape is drawn: means in `spread * [-levels, levels]`, errors in steps of `grain`.

    Up to the count `switch` the arms have other running means, so that values jump after they were
    adhered to or an arm was dropped: the good event fails on purpose. With `cross` the jump is the
    one that leaves an active group without dims.
    """

    seed: int
    spread: float
    levels: int
    noise: float
    grain: float
    switch: int
    cross: bool


def any_levels(shape: Shape, sizes: tuple[int, ...], dims: int, rng: random.Random) -> Levels:
    """A coarse level for each arm and dim."""

    def level() -> float:
        return shape.spread * rng.randint(-shape.levels, shape.levels)

    return [[[level() for _ in range(dims)] for _ in range(size)] for size in sizes]


def cross_levels(sizes: tuple[int, ...], dims: int, rng: random.Random) -> tuple[Levels, Levels]:
    """Levels before and after a jump: one group leads in dim 0 alone, then another draws level.

    The leader's dim 0 is resolved before the jump and its other dims after it, and by then the
    rival is as good in dim 0 and better elsewhere: neither rejection nor P1 applies to the leader.
    """
    top = 8.0
    leader, rival = (rng.sample(range(len(sizes)), 2) if len(sizes) > 1 else [0, -1])[:2]
    before, after = [], []
    for i, size in enumerate(sizes):
        rest = top if i == rival else 0.0 if i == leader else rng.choice([top, -top])
        first = [top if i == leader else 0.0] + [0.0] * (dims - 1)
        later = [top if i in (leader, rival) else 0.0] + [rest] * (dims - 1)
        before.append([list(first) for _ in range(size)])
        after.append([list(later) for _ in range(size)])
    return before, after


def draw_levels(shape: Shape, sizes: tuple[int, ...], dims: int) -> tuple[Levels, Levels]:
    """What the running means are about up to the switch, and after it (the means)."""
    rng = random.Random(shape.seed)
    if shape.cross:
        return cross_levels(sizes, dims, rng)
    return any_levels(shape, sizes, dims, rng), any_levels(shape, sizes, dims, rng)


def draw_tape(
    shape: Shape, levels: tuple[Levels, Levels], scale: tuple[float, ...], beta: Table
) -> list[Levels]:
    """Running means: the level plus an error of up to `noise` radii, on the grid."""
    rng = random.Random(shape.seed + 1)
    before, after = levels

    def arm(first: list[float], later: list[float]) -> list[list[float]]:
        running = []
        for k in range(1, PULLS + 1):
            level = first if k <= shape.switch else later
            reach = [int(shape.noise * beta(k) * s / shape.grain) for s in scale]
            errors = [rng.randint(-b, b) * shape.grain for b in reach]
            running.append([x + e for x, e in zip(level, errors, strict=True)])
        return rewards_of(running)

    arms = [
        [arm(first, later) for first, later in zip(*pair, strict=True)]
        for pair in zip(before, after, strict=True)
    ]
    return [[[arm[k] for arm in group] for group in arms] for k in range(PULLS)]


@st.composite
def shapes(draw: st.DrawFn, *, large: bool) -> Shape:
    """Few levels and coarse grains make ties; noise above 1 leaves the good event."""
    cross = draw(st.sampled_from([False, False, True]))
    return Shape(
        seed=draw(st.integers(0, 2**32 - 1)),
        spread=draw(st.sampled_from([2.0, 1.0] if large else [0.5, 0.25, 1 / 16])),
        levels=draw(st.sampled_from([1, 2, 6])),
        noise=draw(st.sampled_from([0.0, 0.5, 1.0, 2.0])),
        grain=draw(st.sampled_from([1 / UNIT, 1 / 32, 1 / 8])),
        switch=draw(st.sampled_from([2, 4, 6] if cross else [0, 0, 3, 6, 9])),
        cross=cross,
    )


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Up to 16 values from 2 to 1/512: linear on a coarse grid, or losing a fraction at a time."""
    if draw(st.booleans()):
        steps = draw(st.lists(st.integers(1, 32), min_size=5, max_size=15, unique=True))
        return Table((*(x / 16 for x in sorted(steps, reverse=True)), 1 / 512))
    units = [draw(st.sampled_from([1024, 512, 256, 64]))]
    eighths = st.sampled_from([4, 6, 7])
    for keep in draw(st.lists(eighths, min_size=6, max_size=14)):
        units.append(max(units[-1] * keep // 8, 1))
    return Table(tuple(x / 512 for x in sorted({*units, 1}, reverse=True)))


@st.composite
def epsilons(draw: st.DrawFn, kind: EpsilonKind, dims: int) -> tuple[float, ...]:
    """One epsilon for each dim; equal ones as often as different ones."""
    choices = {
        "positive": [1 / 64, 1 / 16, 1 / 8, 1 / 2, 1.0],
        "zero": [0.0],
        "any": [0.0, 1 / 64, 1 / 16, 1 / 8, 1.0],
        "large": [4.0, 8.0],
    }[kind]
    one = st.sampled_from(choices)
    if draw(st.booleans()):
        return (draw(one),) * dims
    return tuple(draw(one) for _ in range(dims))


@st.composite
def cases(draw: st.DrawFn, epsilon: EpsilonKind = "positive", *, scaled: bool = True) -> Case:
    """N in 1..5 groups of 1..4 arms, D in 1..3 dims; scales are 1 when not `scaled`."""
    groups = draw(st.sampled_from([1, 2, 3, 3, 4, 4, 5, 5]))
    most = draw(st.sampled_from([1, 2, 4]))
    sizes = tuple(draw(st.integers(1, most)) for _ in range(groups))
    dims = draw(st.sampled_from([1, 2, 2, 3, 3]))
    by_dim = st.sampled_from([0.5, 1.0, 2.0] if scaled else [1.0])
    scale = tuple(draw(by_dim) for _ in range(dims))
    weights = tuple(draw(st.integers(1, 16)) / 4 for _ in range(dims))
    beta = draw(tables())
    shape = draw(shapes(large=epsilon == "large"))
    levels = draw_levels(shape, sizes, dims)
    return Case(
        sizes=sizes,
        dims=dims,
        delta=draw(st.sampled_from([0.125, 0.5])),
        epsilon=draw(epsilons(epsilon, dims)),
        scale=scale,
        weights=weights,
        beta=beta,
        seed=shape.seed,
        means=levels[1],
        tape=draw_tape(shape, levels, scale, beta),
    )

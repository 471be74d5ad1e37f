"""A problem file from pilot data: names, ranges, scales and an epsilon to begin with.

What the data cannot say is guessed and marked as such in the file: which dims are to be minimised,
and what the noise may be assumed to be. A range that was seen is not a range that is certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.files.observations import Table
from bestgroup.problem.arrays import Floats
from bestgroup.problem.goals import ParetoGroups
from bestgroup.problem.noise import Bernoulli, Bounded, Gaussian, Noise
from bestgroup.problem.problem import Problem


@dataclass(frozen=True)
class Pilot:
    """What pilot data suggest."""

    problem: Problem
    goal: ParetoGroups
    means: tuple[Floats, ...]  # [K_i, decided dims] a group
    rows: int
    notes: dict[str, str]


def read_pilot(source: Any, minimise: Sequence[str] = (), watch: Sequence[str] = ()) -> Pilot:
    """Return the problem that a table of pilot observations suggests."""
    table = Table(source)
    for dim in (*minimise, *watch):
        if dim not in table.dims:
            raise InvalidInput(
                f"{table.name}: there is no column {dim!r}; the dims are {', '.join(table.dims)}"
            )
    values: dict[str, dict[str, list[Floats]]] = {}
    rows = 0
    for portion in table.portions():
        rows += len(portion.groups)
        for group, arm, block in portion.by_arm():
            values.setdefault(group, {}).setdefault(arm, []).append(block)
    if not rows:
        raise InvalidInput(f"{table.name}: there are no observations")
    stacks = {g: {a: np.concatenate(b) for a, b in arms.items()} for g, arms in values.items()}
    direction = {
        dim: "watch" if dim in watch else "min" if dim in minimise else "max" for dim in table.dims
    }
    keep = np.array([direction[dim] != "watch" for dim in table.dims])
    if not keep.any():
        raise InvalidInput(f"{table.name}: at least one dim must not be watched")
    everything = np.concatenate([x for arms in stacks.values() for x in arms.values()])[:, keep]
    noise, why = _noise(everything)
    problem = Problem({g: list(arms) for g, arms in stacks.items()}, direction, noise)
    means = tuple(
        np.array([x[:, keep].mean(axis=0) for x in arms.values()]) for arms in stacks.values()
    )
    epsilon = _epsilon(problem, means)
    spread = _spread(stacks, keep)
    decided = [dim.name for dim in problem.decided]
    scales = ", ".join(f"{n} {s:.3g}" for n, s in zip(decided, spread, strict=True))
    return Pilot(
        problem,
        ParetoGroups(epsilon),
        means,
        rows,
        {
            "goal": "epsilon is a twentieth of the spread between groups in each dim: set it to what\n"
            "you would not pay to tell apart",
            "dims": 'directions are guesses: "max", "min" or "watch"',
            "noise": f"{why}\nlargest standard deviation within an arm: {scales}",
            "means": f"means of {rows:,} pilot observations: guesses for plan and simulate",
        },
    )


def _noise(values: Floats) -> tuple[Noise, str]:
    if np.isin(values, (0.0, 1.0)).all():
        return Bernoulli(), "all values are 0 or 1"
    if (values >= 0).all() and (values <= 1).all():
        return Bounded(0.0, 1.0), "all values seen lie in [0, 1]: check that none can lie outside"
    text = "normal values of unknown variance: a guess; if the values have a range, use\n"
    return Gaussian(), text + '"bounded" with low and high, if their scale is known, "subgaussian"'


def _epsilon(problem: Problem, means: Sequence[Floats]) -> list[float]:
    efficiency = np.array([problem.mirror(rows).max(axis=0) for rows in means])
    spread = efficiency.max(axis=0) - efficiency.min(axis=0)
    size = np.abs(efficiency).max(axis=0)
    guess = np.where(spread > 0, spread / 20, np.where(size > 0, size / 20, 0.05))
    return [float(f"{value:.2g}") for value in guess]


def _spread(stacks: dict[str, dict[str, Floats]], keep: Any) -> Floats:
    each = [x[:, keep].std(axis=0) for arms in stacks.values() for x in arms.values()]
    return np.max(each, axis=0)

"""The jump engine: runs that are exact in law but pass over the rounds in which nothing can happen.

`jump_certify` says what is taken for certain and bounds the error; `jump_walks` reveals walks lazily; `jump_calendar` orders the
tests that may fire; the other modules join them with the margins of the algorithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.triple_elimination import TripleElimination
from bestgroup.core.arrays import Bools, Floats, Ints
from bestgroup.core.laws import FullyDependent, Normal
from bestgroup.core.problem import Instance
from bestgroup.simulation.jump_certify import doubt_for
from bestgroup.simulation.jump_elimination import make_results, run_many as run_elimination
from bestgroup.simulation.jump_layout import (
    BANDS,
    EPSILONS,
    LOG,
    LOGGED,
    POINT_SIZE,
    SCALES,
    make_arrays,
)
from bestgroup.simulation.jump_walks import OutOfRoom


@dataclass(frozen=True)
class JumpRuns:
    """Results of many runs; `tv` bounds each one's total variation distance to the exact law."""

    answers: Bools  # [runs, N]
    counts: Ints  # [runs, N, K]
    rounds: Ints  # [runs]
    finished: Bools  # [runs]
    tv: Floats  # [runs]


def supports(instance: Instance, algorithm: Algorithm) -> str | None:
    """Return None if the jump engine can run this, else one sentence that says why not."""
    if not type(algorithm).__module__.startswith("bestgroup.algorithms."):
        return f"the jump engine does not know {algorithm.name!r}"
    if not isinstance(instance.law, Normal | FullyDependent):
        return f"the jump engine draws Gaussian rewards only, and the law is {instance.law}"
    if not isinstance(getattr(algorithm, "radius", "paper"), str):
        return "the jump engine needs a named radius, which is known to decrease"
    return None


class Engine:
    """Arrays and rule of one setting, reused by all runs."""

    def __init__(
        self, instance: Instance, setting: Setting, algorithm: Algorithm, log: int = 0
    ) -> None:
        self.shape, self.algorithm = instance.shape, algorithm
        self.rule: Any = algorithm.rule(setting)
        self.drifts, self.factor = _law_of(instance)
        shape = self.shape
        self.doubt = doubt_for(2000.0 + 500.0 * shape.total * shape.dims)
        self.rooms = [
            2 * shape.total * shape.dims + 64 * shape.groups + 64,
            6 * len(self.drifts) + 2048,
            log,
        ]
        self._make()

    def _make(self) -> None:
        shape, rule = self.shape, self.rule
        sizes = (shape.groups, shape.arms, shape.dims)
        Z, F = make_arrays(sizes, (self.drifts, self.factor), shape.exists, tuple(self.rooms))
        deviation = np.sqrt((self.factor**2).sum(axis=1))
        for slot, values in (
            (SCALES, rule.scale),
            (EPSILONS, rule.epsilon),
            (BANDS, deviation * math.sqrt(self.doubt / 2.0)),
        ):
            F[Z[slot] : Z[slot] + shape.dims] = values
        self.Z, self.F = Z, F

    def run(self, seed: int, first: int, count: int, max_pulls: int) -> JumpRuns:
        """Return runs first, ..., first + count - 1; each depends on (seed, run) alone."""
        shape = self.shape
        out = make_results(count, shape.groups, shape.arms, shape.dims)
        keys, done = np.array([seed, first, max_pulls], np.int64), np.zeros(1, np.int64)
        while done[0] < count:
            try:
                state = self.algorithm.init(self.rule)
                run_elimination.compiled(self.Z, self.F, self.rule, state, keys, out, done)
            except OutOfRoom:
                self.rooms[:2] = [2 * room for room in self.rooms[:2]]
                self._make()
        tv = out.certificates * math.exp(-self.doubt)
        return JumpRuns(out.accepted, out.counts, out.rounds, out.finished, tv)

    def logged(self) -> Floats:
        """Return the points of the last run: unit, count, sums; as far as there was room."""
        size, start = int(self.Z[POINT_SIZE]), int(self.Z[LOG])
        rows = int(self.Z[LOGGED])
        return self.F[start : start + rows * size].reshape(rows, size).copy()


def _law_of(instance: Instance) -> tuple[Floats, Floats]:
    """Return the drifts of all units, [U, W], and the factor of the noise, [D, M]."""
    shape, law = instance.shape, instance.law
    means = np.nan_to_num(instance.padded_means)
    arms = shape.groups * shape.arms
    if isinstance(law, Normal):
        if law.cov is not None:
            return means.reshape(arms, shape.dims), np.ascontiguousarray(law.factor(shape.dims))
        return means.reshape(arms * shape.dims, 1), law.scales(shape.dims)[:, None].copy()
    assert isinstance(law, FullyDependent)
    return means.reshape(arms, shape.dims), law.scales(shape.dims)[:, None].copy()


def run_many(
    instance: Instance, setting: Setting, algorithm: Algorithm,
    seed: int, first: int, count: int, max_pulls: int,
) -> JumpRuns:  # fmt: skip
    """Return runs first, ..., first + count - 1 of an algorithm that the engine supports."""
    return Engine(instance, setting, algorithm).run(seed, first, count, max_pulls)

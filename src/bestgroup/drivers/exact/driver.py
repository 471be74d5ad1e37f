"""One exact run: by a compiled loop, or in plain Python for a user's algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.algorithms.uniform import Uniform
from bestgroup.drivers.exact import loop as exact
from bestgroup.drivers.replay import bodies, check_plan, with_radius
from bestgroup.drivers.rewards import USER, UserLaw, make_reservoir, make_source
from bestgroup.inference.tally import empty_tally
from bestgroup.problem.arrays import Ints
from bestgroup.problem.instance import Instance

_SLICE = 4_000_000  # pulls between two looks at the keyboard and the clock


@dataclass(frozen=True)
class Run:
    """One finished or capped run."""

    answer: frozenset[int]
    counts: Ints  # [N, K]
    rounds: int
    finished: bool


def run_once(
    instance: Instance, setting: Setting, algorithm: Algorithm, key: tuple[int, int], cap: int
) -> Run:
    """Return the run with this (seed, index); it stops unfinished rather than pass `cap` pulls."""

    def run(rule: Any) -> Run:
        driver = _Driver(instance, setting, algorithm, rule, key, cap)
        loop = exact.loop_for(algorithm)
        if loop is not None:
            return driver.compiled(loop.compiled)
        if isinstance(algorithm, Uniform) and exact.is_ours(algorithm):
            return driver.uniform()
        return driver.plain()

    return with_radius(algorithm, setting, run)


class _Driver:
    """Runs one algorithm once: by a compiled loop, or in plain Python for a user's algorithm."""

    def __init__(
        self,
        instance: Instance,
        setting: Setting,
        algorithm: Algorithm,
        rule: Any,
        key: tuple[int, int],
        cap: int,
    ) -> None:
        shape = self.shape = instance.shape
        keeps_values = algorithm.reads_values and exact.is_ours(algorithm)
        self.algorithm, self.rule = algorithm, rule
        self.source = make_source(instance, *key)
        self.pool = make_reservoir(instance, self.source.kind)
        self.law = UserLaw(instance, *key) if self.source.kind == USER else None
        start = algorithm.statistics(setting).start if keeps_values else None
        self.tally = empty_tally(shape.groups, shape.arms, shape.dims, start)
        self.state = algorithm.init(rule)
        self.limits = np.array([cap, _SLICE])

    def compiled(self, loop: Any) -> Run:
        while True:
            code = loop(self.state, self.tally, self.rule, self.source, self.pool, self.limits)
            if code == exact.REFILL and self.law is not None:
                self.law.refill(self.pool, self.tally.counts)
            elif code != exact.SLICE:
                return self._result(code == exact.DONE, int(self.state.round[0]))

    def uniform(self) -> Run:
        if self.rule.pulls * self.shape.total > self.limits[0]:
            return self._result(False, 0)
        code = exact.SLICE
        while code != exact.DONE:
            code = exact.run_uniform.compiled(
                self.tally, self.rule, self.source, self.pool, self.limits
            )
            if code == exact.REFILL and self.law is not None:
                self.law.refill(self.pool, self.tally.counts)
        self.state = self.algorithm.step(self.state, self.tally, self.rule)
        return self._result(True, 1)

    def plain(self) -> Run:
        algorithm, rule, tally = self.algorithm, self.rule, self.tally
        rounds = 0
        plan, step = bodies(algorithm, exact.is_ours(algorithm))
        while not algorithm.is_done(self.state, rule):
            pulls = check_plan(plan(self.state, tally, rule), self.shape, algorithm)
            if tally.counts.sum() + pulls.sum() > self.limits[0]:
                return self._result(False, rounds)
            if not pulls.any() and algorithm.is_stuck(self.state, rule):
                return self._result(False, rounds)
            self._consume(pulls)
            self.state = step(self.state, tally, rule)
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
        answer = self.algorithm.answer(self.state, self.rule)
        return Run(answer, self.tally.counts, rounds, finished)

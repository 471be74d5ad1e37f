"""One exact run: by a compiled loop bound to the algorithm's kernels, or by its Python methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting, kernels_of, list_pulls
from bestgroup.drivers.bodies import bodies
from bestgroup.drivers.decisions import decided
from bestgroup.drivers.exact import items, plans, stretches
from bestgroup.drivers.exact.pulling import DONE, REFILL, SLICE, draw_due, take_due
from bestgroup.drivers.replay import check_plan, with_radius
from bestgroup.drivers.rewards import USER, UserLaw, make_reservoir, make_source
from bestgroup.inference.tally import empty_tally
from bestgroup.problem.arrays import Ints
from bestgroup.problem.instance import Instance
from bestgroup.problem.status import Status

_SLICE = 4_000_000  # pulls between two looks at the keyboard and the clock


@dataclass(frozen=True)
class Run:
    """One finished or capped run."""

    answer: frozenset[int]
    counts: Ints  # [N, K]
    rounds: int
    finished: bool
    status: Ints | None = None  # [N]  what a capped run had decided, if it can tell


def run_once(
    instance: Instance, setting: Setting, algorithm: Algorithm, key: tuple[int, int], cap: int
) -> Run:
    """Return the run with this (seed, index); it stops unfinished rather than pass `cap` pulls."""
    if setting.items is not None:
        return Run(*items.run_table(instance, setting, algorithm, key, cap))

    def run(rule: Any) -> Run:
        driver = _Driver(instance, setting, algorithm, rule, key)
        kernels = kernels_of(algorithm, rule)
        if kernels is None:
            return driver.plain(cap)
        if kernels.lockstep is not None:
            return driver.compiled(stretches.loop_for(kernels, kernels.lockstep), cap)
        # What is kept of values has to be taken up, whatever an algorithm says of its kernels.
        values = kernels.values or driver.tally.extra.shape[3] > 0
        return driver.compiled(plans.loop_for(kernels._replace(values=values)), cap)

    return with_radius(algorithm, setting, run)


class _Driver:
    """Runs one algorithm once."""

    def __init__(
        self,
        instance: Instance,
        setting: Setting,
        algorithm: Algorithm,
        rule: Any,
        key: tuple[int, int],
    ) -> None:
        shape = self.shape = instance.shape
        self.algorithm, self.rule, self.goal = algorithm, rule, setting.goal
        self.source = make_source(instance, *key)
        self.pool = make_reservoir(instance, self.source.kind)
        self.law = UserLaw(instance, *key) if self.source.kind == USER else None
        self.keep = algorithm.statistics(setting)
        start = self.keep.start if algorithm.reads_values else None
        summed = len(self.keep.weights) > 0
        self.tally = empty_tally(shape.groups, shape.arms, shape.dims, start, summed)
        self.state = algorithm.init(rule)

    def compiled(self, loop: Any, cap: int) -> Run:
        """Run a loop, which comes back when the user's law must draw, or now and then."""
        due, progress = np.zeros_like(self.tally.counts), plans.start(cap, _SLICE)
        code, body = SLICE, loop.compiled
        while code in (SLICE, REFILL):
            if code == REFILL:
                self._refill()
            code = body(
                self.state,
                self.tally,
                self.rule,
                self.keep,
                self.source,
                self.pool,
                due,
                progress,
            )
        return self._result(code == DONE, int(progress[2]))

    def plain(self, cap: int) -> Run:
        """Run the algorithm's methods; those that have a kernel are compiled."""
        algorithm, rule, tally = self.algorithm, self.rule, self.tally
        rounds, listed = 0, np.zeros(1 + tally.counts.size, np.int64)
        plan, step = bodies(algorithm, rule, True)
        while not algorithm.is_done(self.state, rule):
            pulls = check_plan(plan(self.state, tally, rule), self.shape, algorithm)
            if tally.counts.sum() + pulls.sum() > cap:
                return self._result(False, rounds)
            if not pulls.any() and algorithm.is_stuck(self.state, rule):
                return self._result(False, rounds)
            list_pulls.compiled(pulls, listed)
            while not take_due.compiled(pulls, listed, tally, self.keep, self.pool):
                if not draw_due.compiled(pulls, listed, tally, self.source, self.pool):
                    self._refill()
            self.state = step(self.state, tally, rule)
            rounds += 1
        return self._result(True, rounds)

    def _refill(self) -> None:
        assert self.law is not None  # no other law asks for it
        self.law.refill(self.pool, self.tally.counts)

    def _result(self, finished: bool, rounds: int) -> Run:
        answer = self.algorithm.answer(self.state, self.rule)
        if finished or not rounds:
            return Run(answer, self.tally.counts, rounds, finished)
        record = self.algorithm.record(self.state, self.rule)
        nothing = np.full(self.shape.groups, Status.UNDECIDED, np.int64)
        status = decided(record, self.goal, nothing, None)
        return Run(answer, self.tally.counts, rounds, finished, status)

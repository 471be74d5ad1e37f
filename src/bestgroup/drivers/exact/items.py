"""One run on a table of shared items: an order is drawn, then arms go through it.

The order depends on (seed, run) alone, so every algorithm meets the same items in the same order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Kernels, Setting, kernels_of
from bestgroup.compile.binding import bind
from bestgroup.compile.kernel import Kernel, kernel
from bestgroup.drivers.exact.plans import is_done, is_stuck, plan, step
from bestgroup.drivers.exact.pulling import CAPPED, DONE, REFILL, STUCK, TURN
from bestgroup.errors import InvalidInput
from bestgroup.inference.tally import Tally, empty_tally, sum_of, with_room
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.instance import Instance

RUN, PLAN, STEP = 0, 1, 2  # what the loop is to do


@kernel
def take_items(tally: Tally, pulls: Ints, table: Floats, order: Ints, start: Ints) -> None:
    """Let every arm pass its next items; `table` [n, A, D], `start` [N] the first arm of a group."""
    for i in range(pulls.shape[0]):
        for j in range(pulls.shape[1]):
            for _ in range(pulls[i, j]):
                t = tally.counts[i, j]
                for d in range(table.shape[2]):
                    value = table[order[t], start[i] + j, d]
                    tally.extra[i, j, d, t] = value
                    tally.sums[i, j, d] += value
                tally.counts[i, j] = t + 1


@kernel
def run_items(  # type: ignore[no-untyped-def]
    state,
    tally: Tally,
    rule,
    table: Floats,
    order: Ints,
    start: Ints,
    due: Ints,
    progress: Ints,
) -> int:
    """Run until the end; REFILL if the order is too short for the next plan.

    `progress` holds the largest number of pulls, the steps done, and what to do: RUN, or PLAN, which
    leaves one plan in `due` [N, K], or STEP, for which somebody else has pulled.
    """
    while progress[2] == STEP or not is_done(state, rule):
        if progress[2] != STEP:
            pulls = plan(state, tally, rule)
            wanted, deepest = sum_of(pulls), 0
            for i in range(pulls.shape[0]):
                for j in range(pulls.shape[1]):
                    due[i, j] = pulls[i, j]
                    deepest = max(deepest, tally.counts[i, j] + pulls[i, j])
            if progress[2] == PLAN:
                return TURN
            if sum_of(tally.counts) + wanted > progress[0]:
                return CAPPED
            if wanted == 0 and is_stuck(state, rule):
                return STUCK
            if deepest > len(order):
                return REFILL
            take_items(tally, pulls, table, order, start)
        step(state, tally, rule)
        progress[1] += 1
        if progress[2] == STEP:
            return TURN
    return DONE


def run_table(
    instance: Instance, setting: Setting, algorithm: Algorithm, key: tuple[int, int], cap: int
) -> tuple[frozenset[int], Ints, int, bool]:
    """Return the answer, the counts, the steps, and whether the run came to its end."""
    assert instance.table is not None and setting.items is not None
    shape, table = instance.shape, np.ascontiguousarray(instance.table)
    items = Order(instance, key)
    rule = algorithm.rule(items.met_in(setting))
    state = algorithm.init(rule)
    tally = empty_tally(shape.groups, shape.arms, shape.dims, np.zeros(len(items.order)))
    start = np.concatenate([[0], np.cumsum(shape.sizes)])[:-1].astype(np.int64)
    due, progress = np.zeros_like(tally.counts), np.array([cap, 0, RUN], np.int64)
    kernels = kernels_of(algorithm, rule)
    if kernels is None:
        raise InvalidInput(f"{algorithm.name!r} has no kernels, which runs on shared items need")
    body = loop_for(kernels).compiled
    code = REFILL
    while code == REFILL:
        code = body(state, tally, rule, table, items.order, start, due, progress)
        if code == REFILL:
            items.extend()
            tally = with_room(tally, len(items.order))
    return algorithm.answer(state, rule), tally.counts, int(progress[1]), code == DONE


class Order:
    """The items of one run, by their rows in the table; those of a cluster follow each other."""

    def __init__(self, instance: Instance, key: tuple[int, int]) -> None:
        assert instance.table is not None and instance.items is not None
        self._rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(key)))
        self._rows = len(instance.table)
        units = len(instance.clusters) or self._rows
        if instance.items.pool:
            drawn: Ints = self._rng.permutation(units).astype(np.int64)
        else:
            drawn = self._rng.integers(units, size=units if instance.items.count else 1024)
        clusters = [instance.clusters[u] for u in drawn] if instance.clusters else []
        self._sizes = tuple(len(own) for own in clusters)
        self.order: Ints = np.concatenate(clusters) if clusters else drawn

    def met_in(self, setting: Setting) -> Setting:
        """Return the setting with the clusters as this run meets them."""
        assert setting.items is not None
        return replace(setting, items=replace(setting.items, sizes=self._sizes))

    def extend(self) -> None:
        """Draw as many items again, for an endless stream."""
        more = self._rng.integers(self._rows, size=len(self.order))
        self.order = np.concatenate([self.order, more])


def loop_for(kernels: Kernels) -> Kernel[..., int]:
    """Return the loop of an algorithm with kernels."""
    own = {plan: kernels.plan, step: kernels.step}
    return bind(run_items, {**own, is_done: kernels.is_done, is_stuck: kernels.is_stuck})

"""What the observations of a study prove, kept up to date as they are told.

The observer reads the log, not the algorithm: it takes each arm's observations in the order of their
index, as far as they are told without a gap, and judges them by `inference.certificate`. Its bounds hold
at all counts together, so one may look at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bestgroup.inference.certificate.best_group import kept
from bestgroup.inference.certificate.items import ItemTable, judge_items
from bestgroup.inference.certificate.judge import Verdict
from bestgroup.inference.certificate.within import Basis
from bestgroup.inference.certificate.worths import judge_for
from bestgroup.inference.confidence_sequences.boxes import kept_values, take_values
from bestgroup.inference.pivots import add_deviations, of_values, pivot_of
from bestgroup.inference.tally import Tally, empty_tally, with_room
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.items import SharedItems
from bestgroup.problem.problem import value_ends
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.records import Block

CHUNK = 20_000  # blocks read at a time
MOST_PAIRS = 2_000_000  # comparisons of arms; beyond, boxes of single arms are used


@dataclass(frozen=True)
class Picture:
    """A verdict on the first `observed` observations."""

    spec: StudySpec
    observed: int
    tally: Tally
    verdict: Verdict
    basis: Basis | None = None  # what it was read from

    @property
    def items(self) -> ItemTable | None:
        """The values, where arms share items."""
        return None if self.basis is None else self.basis.items

    @classmethod
    def blank(cls, spec: StudySpec) -> Picture:
        """Return the picture before any observation."""
        shape = spec.problem.shape
        N, K, D, judged = shape.groups, shape.arms, shape.dims, len(spec.problem.decided)
        wide = np.full((N, K, D), np.inf)
        signs = np.zeros((N, N, judged), np.bool_)
        verdict = Verdict(np.zeros(N, np.int64), -wide, wide, signs, signs, False)
        if spec.problem.measure is not None:
            open_ = np.zeros((N, K), np.int64)
            verdict = verdict._replace(
                worths=(-wide[:, 0, :judged], wide[:, 0, :judged]), standing=open_
            )
        return cls(spec, 0, empty_tally(N, K, D), verdict)


class Observer:
    """Reads a study's log and keeps the statistics that the noise model asks for."""

    def __init__(self, spec: StudySpec) -> None:
        problem, shape = spec.problem, spec.problem.shape
        self._spec = spec
        self._rule = problem.noise.boxes(shape, spec.delta)
        if problem.measure is None:
            self._rule = kept(shape, spec.goal, problem.noise, spec.delta)
        if problem.items is not None:  # differences on common items are judged: values are kept
            self._rule = kept_values(shape.dims, problem.items.count or 256)
        self._work = 0
        self._start()

    def _start(self) -> None:
        shape = self._spec.problem.shape
        summed = len(self._rule.weights) > 0
        self._tally = empty_tally(shape.groups, shape.arms, shape.dims, self._rule.start, summed)
        self._pivots = np.zeros_like(self._tally.sums)
        noise = self._spec.problem.noise
        self._scales = noise.scales(shape.dims) if noise.has_scale else np.zeros(shape.dims)
        self._ahead: dict[tuple[int, int], dict[int, Floats]] = {}
        self._seen, self._chain = 0, b""  # the last block, and its checksum
        self.at = 0.0  # when it was told

    @property
    def observed(self) -> int:
        """How many observations were taken up."""
        return int(self._tally.counts.sum())

    def catch_up(self, read: Callable[[int, int], list[Block]], until: int | None = None) -> None:
        """Take up what was told since the last time; only up to block `until` if it is given.

        `read` is `Study.blocks`.
        """
        if self._seen and [block.chain for block in read(self._seen - 1, 1)] != [self._chain]:
            self._start()  # a backup was restored: the log is another one
        while True:
            most = CHUNK if until is None else min(CHUNK, until - self._seen)
            if most <= 0:
                return
            blocks = read(self._seen, most)
            if not blocks:
                return
            self.at = blocks[-1].at
            values = np.concatenate([block.values for block in blocks])
            oriented, at = self._spec.problem.to_internal(values), 0
            for block in blocks:
                self._take(block, oriented[at : at + len(block.values)])
                at += len(block.values)
            if len(blocks) < most:
                return

    def _take(self, block: Block, values: Floats) -> None:
        self._seen, self._chain = block.number, block.chain
        arm = self._spec.local(block.pulls.home)
        if arm is None:  # it has left
            return
        ahead = self._ahead.setdefault(arm, {})
        ahead[block.pulls.first] = values
        while (count := int(self._tally.counts[arm])) in ahead:
            self._add(arm, ahead.pop(count))

    def _add(self, arm: tuple[int, int], values: Floats) -> None:
        tally, extra = self._tally, len(self._rule.start)
        if not tally.counts[arm]:
            self._pivots[arm] = pivot_of(values[0], self._scales)
        if not extra:
            tally.counts[arm] += len(values)
            tally.sums[arm] += (values - self._pivots[arm]).sum(axis=0)
            return
        if self._spec.problem.items is not None:
            tally = self._tally = with_room(tally, int(tally.counts[arm]) + len(values))
        self._work += len(values) * extra
        body = take_values.compiled if self._work > 20_000 else take_values
        before = tally.sums[arm].copy()
        body(self._rule, tally, *arm, np.ascontiguousarray(values))
        add_deviations(tally, self._pivots[arm], *arm, before, values)

    def picture(self) -> Picture:
        """Return the verdict on what was taken up."""
        spec, shape = self._spec, self._spec.problem.shape
        old = self._tally
        tally = Tally(old.counts.copy(), old.sums.copy(), old.extra.copy())
        noise = spec.problem.noise
        pairs = shape.groups * shape.total * shape.dims
        if pairs > MOST_PAIRS:
            noise = replace(noise, arms="arbitrary")
        if spec.problem.shared is not None:
            table, verdict = self._on_items(tally)
            basis = Basis(tally, self._pivots.copy(), table)
            return Picture(spec, self.observed, of_values(tally, self._pivots), verdict, basis)
        with np.errstate(all="ignore"):
            setting = shape, spec.goal, noise, spec.delta
            verdict = judge_for(spec.problem.measure, tally, self._pivots, *setting)
            # Proofs of arms among themselves take all arms for known from the start.
            basis = None if spec.roster is not None else Basis(tally, self._pivots.copy())
            return Picture(spec, self.observed, of_values(tally, self._pivots), verdict, basis)

    def _on_items(self, tally: Tally) -> tuple[ItemTable, Verdict]:
        """Return the values by item, and what differences on common items prove."""
        problem, shared = self._spec.problem, self._spec.problem.shared
        assert shared is not None
        shape = problem.shape
        values = [
            [
                np.ascontiguousarray(tally.extra[i, j, :, : tally.counts[i, j]].T)
                for j in range(size)
            ]
            for i, size in enumerate(shape.sizes)
        ]
        assert problem.items is not None
        if problem.items.clusters is not None:
            table = self._by_clusters(values)
            return table, self._judged(table, shared)
        units = np.ones(shared.count or int(tally.counts.max(initial=0)))
        names = tuple(map(problem.items.name, self._spec.item_numbers(0, len(units))))
        table = ItemTable(values, units, *value_ends(problem), 1.0, names)
        return table, self._judged(table, shared)

    def _judged(self, table: ItemTable, shared: SharedItems) -> Verdict:
        """Return what a table of values by item proves."""
        spec = self._spec
        asked = spec.problem.shape, spec.goal, shared, spec.delta, spec.problem.measure
        return judge_items(table, *asked)

    def _by_clusters(self, values: list[list[Floats]]) -> ItemTable:
        """Return the sums over the clusters that an arm has passed as a whole."""
        problem = self._spec.problem
        items = problem.items
        assert items is not None
        names = items.units(self._spec.seed)
        sizes = np.array([len(items.members[name]) for name in names], np.int64)
        ends = np.cumsum(sizes)
        sums = [[sums_of(arm, ends) for arm in group] for group in values]
        most = float(items.most)
        return ItemTable(sums, sizes.astype(float), *value_ends(problem), most, tuple(names))


def sums_of(rows: Floats, ends: Ints) -> Floats:
    """Return the sums over whole clusters, [clusters passed, D], of values in order."""
    whole = int(np.searchsorted(ends, len(rows), side="right"))
    starts = np.concatenate([[0], ends[: max(0, whole - 1)]])[:whole]
    return np.array(
        [np.sum(rows[a:b], axis=0) for a, b in zip(starts, ends[:whole], strict=True)]
    ).reshape(whole, rows.shape[1])

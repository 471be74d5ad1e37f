"""What a table of shared items proves with limits, for other worths, and of the m best groups.

The rules are those of `algorithms.shared_items.worth_pairs`, with the same levels and the same proof
(docs/theory.md 9.6): claims on units of groups (`inference.item_units`) by the pair process, and on the
values of single arms against their limits. Where every mean is known, groups are judged by definition.
"""

from __future__ import annotations

import itertools
from typing import Any, Protocol

import numpy as np

from bestgroup.inference.certificate.directions import judge_top
from bestgroup.inference.certificate.judge import Verdict, settle, settle_best
from bestgroup.inference.certificate.worths import check_measured_goal, worths_of
from bestgroup.inference.evalues.paired import Claim
from bestgroup.inference.item_units import (
    Levels,
    Units,
    levels_of,
    reaches_of,
    slacks_of,
    units_of,
)
from bestgroup.inference.worths import BARRED, COUNTS, OPEN
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import Goal, ParetoGroups, TopGroups
from bestgroup.problem.measure import Bound, Measure
from bestgroup.problem.shape import Shape
from bestgroup.problem.status import Status

WON, OVER = 0, 1


class Prover(Protocol):
    """The claims on a table of shared items."""

    shape: Shape
    delta: float
    arms: list[Floats]  # of all arms, numbered through: [depth, dims]
    sizes: Floats  # [units of the order]  items in each
    low: Floats  # [dims]  the least value of an item
    high: Floats
    reaches: tuple[float, ...]

    def proves(self, values: Floats, sizes: Floats, claim: Claim) -> bool:
        """Return whether sums over units of the order prove a claim on the mean of an item."""
        ...


class UnitJudge:
    """Which groups are in and out by the claims on units of groups."""

    def __init__(self, prover: Prover, goal: Goal, measure: Measure | None) -> None:
        shape = prover.shape
        dims = shape.dims if measure is None else measure.dims
        self.prover, self.goal, self.measure = prover, goal, measure
        self.bounds: tuple[Bound, ...] = () if measure is None else measure.bounds
        self.units: Units = units_of(shape, goal, measure, dims)
        self.slack = slacks_of(self.units, goal)
        self.reach = reaches_of(self.units, prover.reaches)
        self.levels: Levels = levels_of(self.units, goal, shape, len(self.bounds), prover.delta)
        self.either = any(bound.tolerance > 0 for bound in self.bounds)
        self.standing: Ints = np.array([self._standing(arm) for arm in prover.arms], np.int64)
        own = [arms[arms >= 0] for arms in self.units.arms]
        self.counts: Bools = np.array([(self.standing[a] == COUNTS).all() for a in own])
        self.barred: Bools = np.array([(self.standing[a] == BARRED).any() for a in own])
        self._values = [self._value(u) for u in range(len(own))]
        self._known: dict[tuple[int, int, int, int], bool] = {}

    def _standing(self, arm: Floats) -> int:
        """Return whether an arm counts, is barred, or neither is known."""
        kept, barred = True, False
        for bound in self.bounds:
            kept = kept and self._limit(arm, bound, True)
            barred = barred or self._limit(arm, bound, False)
        return COUNTS if kept else BARRED if barred else OPEN

    def _limit(self, arm: Floats, bound: Bound, kept: bool) -> bool:
        """Return whether a limit is shown to be kept, up to its tolerance, or to be broken."""
        prover, d = self.prover, bound.dim
        sizes, half = prover.sizes[: len(arm)], (prover.high[d] - prover.low[d]) / 2.0
        middle = (prover.high[d] + prover.low[d]) / 2.0
        edge = bound.sign * (bound.at - middle)
        values = bound.sign * (arm[:, d] - middle * sizes)
        shift = edge + bound.tolerance if kept else -edge
        # Rounding in the middle may take a value out of the range by its last bit.
        claim = Claim(shift, float(half) * (1.0 + 1e-12), self.levels.limit, not kept)
        return prover.proves(-values if kept else values, sizes, claim)

    def _value(self, u: int) -> Floats:
        """Return the values of a unit on what all its arms have passed, [depth, Q]."""
        arms = self.prover.arms
        own: list[int] = self.units.arms[u].tolist()
        depth = min(len(arms[a]) for a in own if a >= 0)
        rows: list[list[int]] = self.units.parts[u].tolist()
        columns = [
            np.mean([arms[a][:depth, d] for a in parts if a >= 0], axis=0)
            for d, parts in enumerate(rows)
        ]
        values = np.stack(columns, axis=1)
        return (values @ self.units.weights)[:, None] if self.units.summed else values

    def above(self, u: int, v: int, q: int, kind: int) -> bool:
        """Return whether a claim on two units of different groups is proven."""
        key = (u, v, q, kind)
        if key not in self._known:
            i, j = self.units.home[u], self.units.home[v]
            shift = float(self.slack[q]) if kind == WON else 0.0
            need = float((self.levels.won if kind == WON else self.levels.over)[i, j])
            n = min(len(self._values[u]), len(self._values[v]))
            gaps = np.ascontiguousarray(self._values[u][:n, q] - self._values[v][:n, q])
            sizes, claim = self.prover.sizes[:n], Claim(shift, self.reach[q], need, kind == OVER)
            hopeful = n > 0 and gaps.sum() + shift * sizes.sum() >= 0  # else the wealth is below 1
            self._known[key] = hopeful and self.prover.proves(gaps, sizes, claim)
        return self._known[key]

    def of_group(self, i: int) -> range:
        """Return the units of a group."""
        return range(int(self.units.start[i]), int(self.units.start[i + 1]))

    def left(self, i: int) -> bool:
        """Return whether enough units of a group are not barred."""
        return bool((~self.barred[self.units.home == i]).sum() >= self.units.ranks[i])

    def stands(self, i: int) -> bool:
        """Return whether enough units of a group count."""
        return bool(self.counts[self.units.home == i].sum() >= self.units.ranks[i])

    def covers(self, i: int, j: int, q: int, kind: int) -> bool:
        """Return whether the worth of i is shown to be above that of j, or not below by the slack."""
        upper = [u for u in self.of_group(i) if self.counts[u]]
        upper = [u for u in upper if len(self._values[u])]  # nothing is proven of others
        upper.sort(key=lambda u: -float(self._values[u][:, q].mean()))
        free, rank = 0, int(self.units.ranks[i])
        for v in self.of_group(j):
            if not self.barred[v]:
                found = (u for u in upper if self.above(u, v, q, kind))
                free += len(list(itertools.islice(found, rank))) < rank
            if free >= self.units.ranks[j]:
                return False
        return True

    def matrices(self) -> tuple[Bools, Bools]:
        """Return who beats whom, and who is not beaten by the slack, [N, N, Q] each."""
        N, Q = len(self.units.ranks), len(self.slack)
        beats, holds = np.zeros((N, N, Q), np.bool_), np.zeros((N, N, Q), np.bool_)
        for i, j in itertools.permutations(range(N), 2):
            for q in range(Q):
                beats[i, j, q] = self.stands(i) and self.covers(i, j, q, OVER)
                holds[i, j, q] = self.stands(i) and self.covers(i, j, q, WON)
        return beats, holds

    def status(self, beats: Bools, holds: Bools) -> Ints:
        """Return which groups are in and out, [N]."""
        N = len(beats)
        lost = np.array([not self.left(i) for i in range(N)])
        stands = np.array([self.stands(i) for i in range(N)])
        settled = holds.any(axis=2) | lost[None, :] | np.eye(N, dtype=bool)
        if isinstance(self.goal, TopGroups):
            bound = np.where(beats[:, :, 0], 1.0, np.where(holds[:, :, 0], 0.0, -np.inf))
            return judge_top(bound[None], self.goal)
        out = beats.all(axis=2).any(axis=0) | lost
        if not self.either:  # one set of arms counts: who is out needs no comparison
            settled = settled | out[None, :]
        if isinstance(self.goal, ParetoGroups):
            status = np.where(out, Status.OUT, Status.UNDECIDED)
            status[settled.all(axis=1) & stands & ~out] = Status.IN
            return status
        first = np.flatnonzero(settled.all(axis=1) & stands & ~out)
        goal: Any = self.goal
        return settle_best(out, int(first[0]) if len(first) else -1, goal)


def judge_units(
    prover: Prover, goal: Goal, measure: Measure | None, low: Floats, high: Floats
) -> Verdict:
    """Return what claims on units prove; boxes [N, K, dims] are for what is reported."""
    _check(goal, measure, prover.shape)
    judge = UnitJudge(prover, goal, measure)
    beats, holds = judge.matrices()
    status = judge.status(beats, holds)
    worths, ends = None, (low.max(axis=1), high.max(axis=1))
    if measure is not None:
        found = worths_of(low, high, prover.shape, measure)
        worths = ends = found.lower, found.upper
    if judge.units.summed:  # by dim there are only the boxes
        beats = ends[0][:, None, :] > ends[1][None, :, :]
        holds = ends[0][:, None, :] >= ends[1][None, :, :]
    standing = None if measure is None else _padded(judge.standing, prover.shape)
    return Verdict(status, low, high, beats, holds, True, worths=worths, standing=standing)


def judge_known(
    means: Floats, slop: Floats, shape: Shape, goal: Goal, measure: Measure | None
) -> Verdict:
    """Return the verdict if means [N, K, dims] are known, up to the rounding error `slop` [dims]."""
    _check(goal, measure, shape)
    known = np.where(np.isnan(means), -np.inf, means)
    worth, standing, worths = known.max(axis=1), None, None
    if measure is not None:
        # No tolerance: nothing needs to be left open.
        forgiven = tuple(b._replace(tolerance=float(slop[b.dim])) for b in measure.bounds)
        exact = Measure(measure.dims, measure.worth, forgiven, measure.limits)
        found = worths_of(known, known, shape, exact)
        worth, standing, worths = found.lower, found.standing, (found.lower, found.upper)
    slop = slop[: worth.shape[1]]
    with np.errstate(invalid="ignore"):  # of groups without arms that count
        beats = worth[:, None, :] > worth[None, :, :] + slop
        holds = worth[:, None, :] >= worth[None, :, :] - slop
    status = _status_of(worth, beats, holds, goal, slop)
    return Verdict(status, known, known, beats, holds, False, worths=worths, standing=standing)


def _status_of(worth: Floats, beats: Bools, holds: Bools, goal: Goal, slop: Floats) -> Ints:
    """Return the statuses of groups whose worths are known."""
    lost = ~np.isfinite(worth).all(axis=1)
    weights = goal.worth_weights(worth.shape[1])
    if weights is None:
        status = settle(beats, holds)
    else:
        score = np.array([row @ weights if np.isfinite(row).all() else -np.inf for row in worth])
        if isinstance(goal, TopGroups):
            bound = score[:, None] - score[None, :]
            bound[np.abs(bound) <= 2.0 * float(weights @ slop)] = 0.0
            status = judge_top(bound[None], goal.with_epsilon(0.0))
            if goal.epsilon > 0:  # a group that ties with one that is in is not below it
                tied = (status == Status.OUT) & ((bound > 0).sum(axis=0) < goal.m)
                status[tied] = Status.NOT_NEEDED
            return status
        first = int(score.argmax())
        goal_: Any = goal
        # By an epsilon above 0 a group that ties is not needed; without one it is not the only best.
        behind = score < score[first] - 2.0 * float(weights @ slop)
        status = settle_best(behind, first, goal_)
    status[lost] = Status.OUT
    return status


def _check(goal: Goal, measure: Measure | None, shape: Shape) -> None:
    goal.check_groups(shape.groups)
    if measure is not None:
        check_measured_goal(goal)


def _padded(standing: Ints, shape: Shape) -> Ints:
    """Return what is known of all arms as an array [N, K]."""
    found = np.zeros((shape.groups, shape.arms), np.int64)
    found[shape.exists] = standing
    return found

"""Evidence of a leader against the selections of a rival group, from below (docs/theory.md 2.3, 6).

An arm that serves the dims B has an e-process, a function of nu = sum_{d in B} w^d mu^d; with
the tilt y >= 0 the log of the infimum of the product over the null is at least (weak duality)

    y slack - sum_{a in s} sup_nu (-y nu - log K_a(nu)) - sum_{b in s'} sup_nu (y nu - log L_b(nu)).

For a box the last sum is replaced by the largest one over all splits of the dims into sets B, each with the
arm of the box for which its term is largest; dims for which the box has one and the same arm left are in one
set (from version 4 of the format on, and with weighted sums). Where the process is one "and sums", an arm
that serves all dims has the wealth of one number a pull, the weighted sum of its dims; else a weighted
geometric mean of the wealths of its dims. A claim has a tilt for each of up to three parts g - 1, g, g + 1 of
a mixture with fixed weights; parts without one count as 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from bestgroup.proof.format import Proof
from bestgroup.proof.intervals import Interval, exp, interval, log, sqrt
from bestgroup.proof.noise import RANGED, SCALED, TWO_VALUED
from bestgroup.proof.normal_pairs import conjugate
from bestgroup.proof.observations import Observations
from bestgroup.proof.scouted import costs_of
from bestgroup.proof.wealth_pairs import Bets, Values, conjugate_of, hull_of, shares_of

NORMAL, BY_BETS, BY_SYMMETRY = 0, 1, 2
PRECISIONS = [2.0**k for k in (3, 6, 9, 12, 15, 18)]
PRIOR = [interval(p) / 12 for p in (1, 3, 3, 3, 1, 1)]
SCALES = [4.0 * 2.0 ** (-1.5 * g) for g in range(10)]
SCALES_PRIOR = [interval(p) / 300 for p in (40, 60, 60, 60, 40, 20, 10, 5, 3, 2)]

JOINED = 4  # the first version in which one arm that is left for several dims serves them together
SUMS = min(RANGED - TWO_VALUED)  # weighted sums lie in a range, and no more is known of them
AND_SUMS = " and sums"  # ends the name of a process with a wealth of weighted sums

Box = tuple[tuple[int, int], ...]  # from one rank to before another, for each dim


class Leader(NamedTuple):
    """A group with an arm for each dim, and the counts of its arms that do not count."""

    group: int
    arms: tuple[int, ...]
    before: tuple[int, ...]
    starts: list[list[int]] | None = (
        None  # of all arms, where no rival's earlier values count either
    )


class Moment(NamedTuple):
    """A leader and a rival, with the counts of the leader's arms, by dim, and of the rival's."""

    leader: int
    rival: int
    own: tuple[int, ...]  # or, with measurements of the leader, how many of them
    other: tuple[int, ...]


class Claim(NamedTuple):
    """What a row says."""

    moment: int
    slack: int  # 0: without slack; 1: with epsilon ||w||_1
    kind: int  # NORMAL, BY_BETS or BY_SYMMETRY
    tilts: dict[int, float]  # by part of the mixture
    box: Box


class Compared(NamedTuple):
    """By which weights groups are compared, and which process is the evidence."""

    weights: Sequence[Fraction]  # of the dims that decide; one without weight does not count
    kind: int  # NORMAL, BY_BETS or BY_SYMMETRY
    fine: list[list[Interval]]  # by what precisions of arms are multiplied
    expected: Interval | None = None  # about what evidence takes, in a run that scouted


def fineness(proof: Proof) -> list[list[Interval]]:
    """Return by what precisions of arms are multiplied: the geometric mean of all costs over their own."""
    costs = costs_of(proof)
    if "costs" not in proof.method:
        return costs
    logs = [log(cost) for row in costs for cost in row]
    mean = exp(sum(logs[1:], logs[0]) / float(len(logs)))
    return [[mean / cost for cost in row] for row in costs]


class View:
    """The arms of a moment as one process sees them: what each subtracts at a tilt."""

    def __init__(
        self, proof: Proof, rows: Observations, leader: Leader, moment: Moment, by: Compared
    ) -> None:
        self.proof, self.rows, self.by, self.kind = proof, rows, by, by.kind
        self.leader, self.moment = leader, moment
        self.dims = [d for d, w in enumerate(by.weights) if w > 0]  # counted from 0 below
        self.D = len(self.dims)
        if moment.rival == leader.group:
            raise ValueError("a leader is compared with other groups")
        self.lead: dict[int, int] = {}  # the dims that an arm of the leader serves, as a bit mask
        self.counts: dict[tuple[int, int], tuple[int, int]] = {}  # values of an arm that count
        self.count_lead()
        for arm, n in enumerate(moment.other):
            start = 0 if leader.starts is None else leader.starts[moment.rival][arm]
            self.counts[moment.rival, arm] = start, n
        for (i, j), (first, last) in self.counts.items():
            columns = rows.values.get((proof.groups[i], proof.arms[i][j]), [[]])
            if not first < last <= len(columns[0]):
                raise ValueError("a claim counts values that are not in the table, or none")
        weights = [by.weights[dim] for dim in self.dims]
        self.worth = {
            (i, j, d): weights[d] * self._mean(i, j, d)
            for i, j in self.counts
            for d in range(self.D)
        }
        self.origin = self.origins()
        self.ranked = [self._ranked(d) for d in range(self.D)]
        self.hefts = [w * self._size(d) for d, w in enumerate(weights)]
        self._hulls: dict[tuple[int, int, int, int], list[tuple[float, float]]] = {}
        self.summed = proof.method["process"]["name"].endswith(AND_SUMS)
        self.joins = self.summed or proof.document["version"] >= JOINED  # see `_bound`

    def count_lead(self) -> None:
        """Note which dims the leader's arms serve, and which of their values count."""
        for d, dim in enumerate(self.dims):
            arm, n = self.leader.arms[dim], self.moment.own[dim]
            self.lead[arm] = self.lead.get(arm, 0) | 1 << d
            span = self.leader.before[arm], n
            if self.counts.setdefault((self.leader.group, arm), span) != span:
                raise ValueError("an arm of the leader has two counts")

    def origins(self) -> list[Fraction]:
        """Return what means are taken from, for each dim: those of the leader's arms."""
        i, arms = self.leader.group, self.leader.arms
        return [self.worth[i, arms[dim], d] for d, dim in enumerate(self.dims)]

    def _mean(self, i: int, j: int, d: int) -> Fraction:
        first, last = self.counts[i, j]
        arm = self.proof.groups[i], self.proof.arms[i][j]
        dim = self.dims[d]
        total = self.rows.sum_of(arm, dim, last) - self.rows.sum_of(arm, dim, first)
        return self.proof.signs[dim] * total / (last - first)

    def _ranked(self, d: int) -> list[int]:
        k = self.moment.rival
        return sorted(range(self.proof.sizes[k]), key=lambda j: (-self.worth[k, j, d], j))

    def _size(self, d: int) -> Fraction:
        """Return the scale of a dim, or its range where bets are made; half the range is a scale."""
        noise = self.proof.noise[self.dims[d]]
        if noise.kind in SCALED:
            return Fraction(noise.scale)
        width = Fraction(noise.high) - Fraction(noise.low)
        return width if self.kind == BY_BETS else width / 2

    def reaches(self, tilts: dict[int, float], room: Fraction, box: Box, level: Interval) -> bool:
        """Return whether the evidence against all selections of a box, `room` ahead, reaches the level."""
        priors, total = self.priors(), 0.0
        for part, y in tilts.items():
            value = self.bound(part, interval(y), room, box)
            total = (exp(interval(value) - level) * priors[part] + total).low
        return total >= 1.0

    def priors(self) -> list[Interval]:
        """Return the weights of the parts of the mixture."""
        if self.leader.starts is not None:  # one precision for each arm
            return [interval(1.0)]
        return PRIOR if self.kind == NORMAL else SCALES_PRIOR

    def bound(self, part: int, y: Interval, room: Fraction, box: Box) -> float:
        """Return a lower bound of the log of the infimum of one part, over a box of selections."""
        term = self.term
        total = y * interval(room)
        for own in self.lead_terms(part, y):
            total = total - own
        k, best = self.moment.rival, [-math.inf] * (1 << self.D)
        bound = self._bound(box)
        for j in range(self.proof.sizes[k]):
            allowed = sum(1 << d for d, (a, b) in enumerate(box) if j in self.ranked[d][a:b])
            for dims in range(1, 1 << self.D):
                if dims & ~allowed == 0 and all(dims & own in (0, own) for own in bound):
                    best[dims] = max(best[dims], term(k, j, dims, part, y, 1).high)
        return (total - _largest_split(best)).low

    def lead_terms(self, part: int, y: Interval) -> list[Interval]:
        """Return what the leader's arms subtract at a tilt."""
        i, lead = self.leader.group, self.lead
        return [self.term(i, arm, dims, part, y, -1) for arm, dims in lead.items()]

    def _bound(self, box: Box) -> list[int]:
        """Return sets of dims that one arm must serve: all that a box has left for them."""
        only: dict[int, int] = {}
        for d, (a, b) in enumerate(box):
            if self.joins and b - a == 1:
                only[self.ranked[d][a]] = only.get(self.ranked[d][a], 0) | 1 << d
        return list(only.values())

    def all_served(self, dims: int) -> bool:
        """Return whether an arm that serves these dims has a wealth of their weighted sum."""
        return self.summed and dims == (1 << self.D) - 1

    def term(self, i: int, j: int, dims: int, part: int, y: Interval, sign: int) -> Interval:
        """Return what an arm that serves a set of dims subtracts at a tilt; `sign` 1 is the rival's."""
        term = self.normal_term if self.kind == NORMAL else self.bets_term
        return term(i, j, dims, part, y, sign)

    def normal_term(self, i: int, j: int, dims: int, part: int, y: Interval, sign: int) -> Interval:
        """Return sup_nu (sign y nu - log of the half-normal mixture), about the leader's means."""
        first, last = self.counts[i, j]
        n, q = float(last - first), self._precision(i, j, part)
        served = [d for d in range(self.D) if dims >> d & 1]
        if self.proof.independent_dims:
            size = sqrt(interval(sum((self.hefts[d] ** 2 for d in served), Fraction())))
        else:
            size = interval(sum((self.hefts[d] for d in served), Fraction()))
        ahead = sum((self.worth[i, j, d] - self.origin[d] for d in served), Fraction())
        height = conjugate(y * size * sqrt(q + n) / n) + log(1.0 + n / q) / 2.0
        return y * interval(sign * ahead) + height

    def _precision(self, i: int, j: int, part: int) -> Interval:
        """Return the precision of an arm's mixture: of a ladder, or the one that scouting fixed."""
        if self.leader.starts is None:
            return PRECISIONS[part] * self.by.fine[i][j]
        assert self.by.expected is not None
        q = interval(8.0 * self.leader.starts[i][j]) / self.by.expected
        return Interval(max(q.low, 1.0), max(q.high, 1.0))

    def bets_term(self, i: int, j: int, dims: int, part: int, y: Interval, sign: int) -> Interval:
        """Return the same for wealth of bets, of each dim or of a weighted geometric mean of them."""
        served = [d for d in range(self.D) if dims >> d & 1]
        whole, total = sum((self.hefts[d] for d in served), Fraction()), interval(0.0)
        if self.all_served(dims):
            if (i, j, self.D, part) not in self._hulls:
                self._hulls[i, j, self.D, part] = hull_of(self._sums(i, j, part, whole))
            steep = y * interval(whole)
            value = conjugate_of(self._hulls[i, j, self.D, part], steep)
            return value + steep if sign > 0 else value
        for d in served:
            theta, steep = interval(1.0), y * interval(self.hefts[d])
            if not self.proof.independent_dims:
                theta, steep = interval(self.hefts[d] / whole), y * interval(whole)
            if (i, j, d, part) not in self._hulls:
                self._hulls[i, j, d, part] = hull_of(self._values(i, j, d, part))
            value = conjugate_of(self._hulls[i, j, d, part], steep)
            # For the rival's arms m is 1 less the mean: y nu = y - y m.
            total = total + theta * (value + steep if sign > 0 else value)
        return total

    def _sums(self, i: int, j: int, part: int, whole: Fraction) -> Values:
        """Return the weighted sums of an arm's values as shares of their range, each rounded once."""
        lead, (first, last) = i == self.leader.group, self.counts[i, j]
        columns = self.rows.values[self.proof.groups[i], self.proof.arms[i][j]]
        parts: list[Callable[[float], Fraction]] = []
        for dim in self.dims:
            noise, weight = self.proof.noise[dim], self.by.weights[dim] / whole
            turn = self.proof.signs[dim] * (1 if lead else -1)
            parts.append(partial(_above_end, weight, Fraction((noise.low, noise.high)[turn < 0])))
        values = sums_of([columns[dim][:last] for dim in self.dims], parts)
        most = largest_bet(SUMS, values[:first]) if lead and first else None
        return Values(SUMS, values[first:], Bets(interval(SCALES[part]), most))

    def _values(self, i: int, j: int, d: int, part: int) -> Values:
        dim, lead = self.dims[d], i == self.leader.group
        noise = self.proof.noise[dim]
        first, last = self.counts[i, j]
        column = self.rows.values[self.proof.groups[i], self.proof.arms[i][j]][dim]
        turn = self.proof.signs[dim] * (1 if lead else -1)
        most = None
        if lead and first:
            most = largest_bet(noise.kind, shares_of(noise.low, noise.high, turn, column[:first]))
        values = shares_of(noise.low, noise.high, turn, column[first:last])
        return Values(noise.kind, values, Bets(interval(SCALES[part]), most))


def _above_end(weight: Fraction, end: Fraction, x: float) -> Fraction:
    """Return the part of a value in a weighted sum: its distance from an end of its range."""
    return weight * abs(Fraction(x) - end)


def sums_of(columns: list[list[float]], parts: list[Callable[[float], Fraction]]) -> list[float]:
    """Return the sum of all parts of each row, exact but for one rounding."""
    known: list[dict[float, Fraction]] = [{} for _ in columns]
    for found, column, part in zip(known, columns, parts, strict=True):
        for x in set(column):
            found[x] = part(x)
    rows, sums = list(zip(*columns, strict=True)), dict[tuple[float, ...], float]()
    for row in set(rows):
        given = (found[x] for found, x in zip(known, row, strict=True))
        sums[row] = float(sum(given, Fraction()))
    return [sums[row] for row in rows]


def largest_bet(kind: str, values: list[float]) -> Interval:
    """Return the largest tuned bet on an arm of the leader, from the values before it was named."""
    n, mean = len(values), sum(map(Fraction, values)) / len(values)
    if kind in TWO_VALUED:
        p = (mean * n + 1) / (n + 2)
        error = sqrt(interval(p * (1 - p) / n))
    else:
        square = sum((Fraction(u) - mean) ** 2 for u in values)
        error = sqrt(interval(square + Fraction(1, 100))) / float(n)
    return interval(95) / 100 / (interval(mean) + error)


def _largest_split(best: list[float]) -> float:
    """Return the largest sum over splits of all dims into sets, of what is best for each set."""
    total = [0.0] * len(best)
    for dims in range(1, len(best)):
        low = dims & -dims
        rest = part = dims ^ low
        total[dims] = -math.inf
        while True:
            both = (interval(best[part | low]) + total[rest ^ part]).high
            total[dims] = max(total[dims], both)
            if part == 0:
                break
            part = (part - 1) & rest
    return total[-1]

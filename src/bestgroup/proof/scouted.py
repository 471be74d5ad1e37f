"""What `adaptive` fixes when its warm-up ends: shares of delta, precisions, bets (docs/theory.md 5).

All of it is a function of the values before that moment, the first n_0 of each arm; it is computed again
here, by intervals, so that nobody can have chosen it afterwards. Evidence counts later values only.

Means and variances are in units of the scale, of the range, or of the values themselves (`gaussian`):

- The variance of a pull is 1 for a known scale; p (1 - p), p = (s + 1) / (n + 2), for 0/1 values; else (Q +
  2 P + c) / (n + 1), Q the arm's sum of squares about its mean, c = .01 for values in a range and else 0,
  and P the same of the first 8 values of all arms: sum Q / (7 A), at least 10^-6 times the squared range
  of their means.
- A share is .2 times an equal one plus .8 times one in proportion to weights exp(-z^2 / 2). Where the
  budget is "named" it is .05 and .95, with weights exp(-3 z^2 / 2), and groups have those of `named`.

With limits an arm seems to count if its mean is beyond none by more than half of the tolerance, and a
group if one of its arms does; groups that do are weighed by such arms, others have equal shares.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bestgroup.problem.arrays import Bools
from bestgroup.proof import interval_arrays as arrays
from bestgroup.proof.format import Proof, Refused, number
from bestgroup.proof.interval_arrays import Intervals
from bestgroup.proof.intervals import Interval, exp, interval, log, sqrt
from bestgroup.proof.named import Expected, expected
from bestgroup.proof.noise import RANGED, SCALED, SYMMETRIC, TWO_VALUED
from bestgroup.proof.observations import Observations, exact_sum
from bestgroup.proof.special import point

FIRST = 8
_EVEN, _NAMED_EVEN = Fraction(1, 5), Fraction(1, 20)
_NAMED_SHARP = 3.0  # instead of 1


class Seen(NamedTuple):
    """What the warm-up saw of an arm in a dim."""

    pulls: int
    mean: Interval  # y in units
    variance: Interval
    centre: Interval  # the mean as a share of the range
    price: Interval  # the square root of what a pull costs


class Leaders(NamedTuple):
    """The arms that led their groups in a dim, [N]."""

    mean: Intervals
    deviation: Intervals
    error: Intervals  # the variance of the mean


class Scouting:
    """Shares and parameters as the values before `before[i][j]` of each arm fix them."""

    def __init__(self, proof: Proof, rows: Observations, before: list[list[int]]) -> None:
        self.proof, self.rows, self.before = proof, rows, before
        self.named = proof.method["budget"] == "named"
        self._even = _NAMED_EVEN if self.named else _EVEN
        self._sharp = _NAMED_SHARP if self.named else 1.0
        if [len(part) for part in before] != list(proof.sizes):
            raise Refused("parameters", "there must be one count for each arm")
        for i, part in enumerate(before):
            for j, n in enumerate(part):
                if type(n) is not int or not FIRST <= n <= len(self._column(i, j, 0)):
                    raise Refused("parameters", "the warm-up has 8 values or more of each arm")
        N, D = len(proof.groups), len(proof.dims)
        self.costs = costs_of(proof)
        self.pooled = [self._pooled(d) for d in range(D)]
        self.seen = {
            (i, j, d): self._seen(i, j, d, before[i][j])
            for i in range(N) for j in range(proof.sizes[i]) for d in range(D)
        }  # fmt: skip
        seeming = [
            [j for j in range(size) if self.seems(i, j)] for i, size in enumerate(proof.sizes)
        ]
        self.hopes = [bool(arms) for arms in seeming]
        self.leader = {
            (i, d): max(
                seeming[i] or range(proof.sizes[i]), key=lambda j: self._mean(i, j, d, before[i][j])
            )
            for i in range(N) for d in range(D)
        }  # fmt: skip
        self.epsilon = [interval(Fraction(e) / self.unit(d)) for d, e in enumerate(proof.epsilon)]
        self._weighed: dict[int, tuple[Intervals, Interval]] = {}

    def _column(self, i: int, j: int, d: int) -> list[float]:
        name = self.proof.groups[i], self.proof.arms[i][j]
        return self.rows.values.get(name, [[] for _ in self.proof.dims])[d]

    def unit(self, d: int) -> Fraction:
        """Return what one is in a dim: the scale, the range, or the unit of the values."""
        noise = self.proof.noise[d]
        if noise.kind in SCALED:
            return Fraction(noise.scale)
        return (
            Fraction(1) if noise.kind in SYMMETRIC else Fraction(noise.high) - Fraction(noise.low)
        )

    def _mean(self, i: int, j: int, d: int, n: int) -> Fraction:
        name = self.proof.groups[i], self.proof.arms[i][j]
        return self.proof.signs[d] * self.rows.sum_of(name, d, n) / n / self.unit(d)

    def _squares(self, i: int, j: int, d: int, n: int) -> Fraction:
        """Return the sum of squares about the mean of the first values of an arm."""
        column = self._column(i, j, d)[:n]
        mean = exact_sum(column) / n
        return sum(((Fraction(x) - mean) ** 2 for x in column), Fraction()) / (
            self.unit(d) * self.unit(d)
        )

    def _pooled(self, d: int) -> Fraction:
        if self.proof.noise[d].kind in SCALED | TWO_VALUED:
            return Fraction(0)
        arms = [(i, j) for i, size in enumerate(self.proof.sizes) for j in range(size)]
        means = [self._mean(i, j, d, FIRST) for i, j in arms]
        squares = sum((self._squares(i, j, d, FIRST) for i, j in arms), Fraction())
        span = max(means) - min(means)
        return max(squares / ((FIRST - 1) * len(arms)), span * span / 10**6)

    def _seen(self, i: int, j: int, d: int, n: int) -> Seen:
        kind, mean = self.proof.noise[d].kind, self._mean(i, j, d, n)
        low = 0
        if kind in RANGED:
            noise = self.proof.noise[d]
            low = Fraction(noise.low if self.proof.signs[d] > 0 else -noise.high) / self.unit(d)
        if kind in SCALED:
            variance = Fraction(1)
        elif kind in TWO_VALUED:
            p = ((mean - low) * n + 1) / (n + 2)
            variance = p * (1 - p)
        else:
            rare = Fraction(1, 100) if kind in RANGED else 0
            variance = (self._squares(i, j, d, n) + 2 * self.pooled[d] + rare) / (n + 1)
        price = sqrt(self.costs[i][j])
        return Seen(n, interval(mean), interval(variance), interval(mean - low), price)

    def _beyond(self, i: int, j: int) -> list[tuple[int, Fraction]]:
        """Return by how much an arm is beyond each limit that it seems to break, with the dim."""
        found: list[tuple[int, Fraction]] = []
        for d, sign, at, tolerance in self.proof.limits:
            mean = self._mean(i, j, d, self.before[i][j]) * self.unit(d)
            # Rounded as the run has it: a mean that is just on the edge must be taken as it was then.
            if sign * (float(mean) - float(at)) - 0.5 * float(tolerance) > 0.0:
                found.append((d, sign * (mean - at) - tolerance / 2))
        return found

    def seems(self, i: int, j: int) -> bool:
        """Return whether an arm seemed to keep all limits."""
        return not self._beyond(i, j)

    def _excess(self, i: int, j: int) -> Interval:
        """Return the sum of squares of how far an arm is beyond limits, in standard errors."""
        total = interval(0.0)
        for d, beyond in self._beyond(i, j):
            own = self.seen[i, j, d]
            square = interval(beyond / self.unit(d)).power(2)
            total = total + square * float(own.pulls) / own.variance
        return total

    def _best(self, i: int, d: int) -> Seen:
        return self.seen[i, self.leader[i, d], d]

    def _gap(self, i: int, j: int, d: int, shift: Interval) -> tuple[Interval, Interval]:
        """Return by how much i leads j in a dim, plus the shift, in standard deviations; its variance."""
        a, b = self._best(i, d), self._best(j, d)
        unit = 0.5 * (sqrt(a.variance) + sqrt(b.variance))
        error = a.variance / float(a.pulls) + b.variance / float(b.pulls)
        return (a.mean - b.mean + shift) / unit, error / (unit * unit)

    def arm_share(self, i: int, m: int, d: int) -> Interval:
        """Return the share of arm m among the arms of i in a dim."""
        best, size, weights = self._best(i, d), self.proof.sizes[i], []
        if not self.hopes[i]:
            return interval(Fraction(1, size))
        for j in range(size):
            own = self.seen[i, j, d]
            error = own.variance / float(own.pulls) + best.variance / float(best.pulls)
            behind = best.mean - own.mean
            square = behind.power(2) / error if point(behind) > 0.0 else interval(0.0)
            weights.append(exp(-(self._sharp * square + self._excess(i, j)) / 2.0))
        return self._part(weights, m)

    def _dims(self, i: int, j: int) -> list[tuple[Interval, Interval]]:
        return [self._gap(i, j, d, e) for d, e in enumerate(self.epsilon)]

    def dim_share(self, i: int, j: int, d: int) -> Interval:
        """Return the share of a dim for showing that j does not beat i by epsilon."""
        if not (self.hopes[i] and self.hopes[j]):
            return interval(Fraction(1, len(self.epsilon)))
        gaps = self._dims(i, j)
        most, error = max(gaps, key=lambda pair: point(pair[0]))
        weights = [exp(-self._sharp * (most - g).power(2) / (2.0 * (e + error))) for g, e in gaps]
        return self._part(weights, d)

    @cached_property
    def _bests(self) -> list[Leaders]:
        """What is known of the leaders of all groups, for each dim."""
        found: list[Leaders] = []
        for d in range(len(self.epsilon)):
            seen = [self._best(i, d) for i in range(len(self.proof.groups))]
            variance = arrays.array_of([own.variance for own in seen])
            counts = arrays.array_of([interval(float(own.pulls)) for own in seen])
            mean = arrays.array_of([own.mean for own in seen])
            error = arrays.divide(variance, counts)
            found.append(Leaders(mean, arrays.root(variance), error))
        return found

    def _gaps(self, i: int, sign: int, shifts: list[Interval]) -> tuple[Intervals, Intervals]:
        """Return, [D, N], by how much all groups lead i (sign 1), or i leads them (-1), plus a shift.

        In standard deviations, with the variances: `_gap` of all groups at once.
        """
        gaps: list[Intervals] = []
        errors: list[Intervals] = []
        for best, shift in zip(self._bests, shifts, strict=True):
            own, others = best.mean.at(i), best.mean
            lead = arrays.subtract(others, own) if sign > 0 else arrays.subtract(own, others)
            unit = arrays.half(arrays.add(best.deviation, best.deviation.at(i)))
            gaps.append(arrays.divide(arrays.add(lead, shift), unit))
            both = arrays.add(best.error, best.error.at(i))
            errors.append(arrays.divide(both, arrays.square(unit)))
        return arrays.stack(gaps), arrays.stack(errors)

    def _rivals(self, i: int) -> Bools:
        """Return, [N], which groups may put i out by what the warm-up saw."""
        rivals = np.array(self.hopes)
        rivals[i] = False
        return rivals

    def _leads(self, i: int) -> tuple[Intervals, Intervals]:
        """Return, [N], the least lead of every group over i in any dim, with its variance."""
        gaps, errors = self._gaps(i, 1, [interval(0.0)] * len(self.epsilon))
        least = gaps.points().argmin(axis=0)
        return gaps.pick(least), errors.pick(least)

    def _rival_weights(self, i: int) -> tuple[Intervals, Interval]:
        """Return, [N], the weights of the groups that may put i out, and their sum."""
        if i not in self._weighed:
            leads, errors = self._leads(i)
            rivals = self._rivals(i)
            first = int(np.where(rivals, leads.points(), -np.inf).argmax())
            behind = arrays.square(arrays.subtract(leads.at(first), leads))
            both = arrays.add(errors, errors.at(first))
            ratio = arrays.times(0.5 * self._sharp, arrays.divide(behind, both))
            weight = arrays.exp(Intervals(-ratio.high, -ratio.low))
            weight = Intervals(
                np.where(rivals, weight.low, 0.0), np.where(rivals, weight.high, 0.0)
            )
            self._weighed[i] = weight, arrays.total(weight)
        return self._weighed[i]

    def rival_share(self, i: int, j: int) -> Interval:
        """Return the share of j among the groups that may put i out."""
        number_of = float(len(self.proof.groups) - 1)
        if not self._rivals(i).any():
            return interval(1.0) / number_of
        weights, total = self._rival_weights(i)
        return self._share(weights.at(j), total, number_of)

    @cached_property
    def group_shares(self) -> list[Interval]:
        """The shares of all groups."""
        costs = [self._cost(i) for i in range(len(self.proof.groups))]
        if not any(cost.high > 0.0 for cost in costs):
            return [interval(Fraction(1, len(costs)))] * len(costs)
        total = arrays.total(arrays.array_of(costs))
        return [self._share(cost, total, float(len(costs))) for cost in costs]

    def _cost(self, i: int) -> Interval:
        """Return about how many pulls a unit of evidence on a group costs; 0 without hope."""
        rivals = self._rivals(i)
        if not (rivals.any() and self.hopes[i]):
            return interval(0.0)
        ahead, _ = self._gaps(i, 1, [e / -2.0 for e in self.epsilon])
        if (rivals & (ahead.points() > 0.0).all(axis=0)).any():
            gaps, errors = self._leads(i)
            at = int(np.where(rivals, gaps.points(), -np.inf).argmax())
        else:
            every = self._gaps(i, -1, self.epsilon)
            most = every[0].points().argmax(axis=0)
            gaps, errors = every[0].pick(most), every[1].pick(most)
            at = int(np.where(rivals, gaps.points(), np.inf).argmin())
        return 1.0 / (gaps.at(at).power(2) + errors.at(at) / 2.0)

    def share(self, kind: int, i: int, m: int, j: int, d: int) -> Fraction:
        """Return the share of an over (0) or won (1) claim of arm m of i against j."""
        arm = self.arm_share(i, m, d)
        if kind == 0:
            whole = self.group_share(j, True) * self.rival_share(j, i) * arm
        else:
            whole = self.group_share(i, False) * self.dim_share(i, j, d) * arm
        return Fraction(whole.low)

    def group_share(self, i: int, out: bool) -> Interval:
        """Return the share of group i for being put out, or in."""
        return self.expected.share(i, out) if self.expected else self.group_shares[i]

    @cached_property
    def expected(self) -> Expected | None:
        """The answer that is expected; None without one."""
        if not self.named:
            return None
        margins: list[Intervals] = []
        errors: list[Intervals] = []
        for i in range(len(self.proof.groups)):
            gaps, its_errors = self._gaps(i, 1, [e / -2.0 for e in self.epsilon])
            least = gaps.points().argmin(axis=0)
            margins.append(gaps.pick(least))
            errors.append(its_errors.pick(least))
        return expected(arrays.stack(margins), arrays.stack(errors))

    def _part(self, weights: list[Interval], k: int) -> Interval:
        """Return the share of weight k."""
        return self._share(weights[k], sum(weights[1:], weights[0]), float(len(weights)))

    def _share(self, weight: Interval, total: Interval, among: float) -> Interval:
        """Return the share that a weight has of a total, where so many share."""
        return interval(self._even) / among + interval(1 - self._even) * weight / total

    def precisions(
        self, a: Seen, b: Seen, shift: Interval, scale: float
    ) -> tuple[Interval, Interval]:
        """Return the precisions of the mixtures of a pair: larger for the cheaper arm."""
        gap = (a.mean - b.mean + shift) / scale
        error = 1.0 / interval(float(a.pulls)) + 1.0 / interval(float(b.pulls))
        square = gap.power(2)
        if point(error) > point(square):
            square = error
        whole = interval(9) / 2 / square
        if self.proof.method.get("costs") is None:
            return whole, whole
        both = a.price + b.price
        return whole * (both / a.price / 2.0).power(2), whole * (both / b.price / 2.0).power(2)

    def bet(self, own: Seen, other: Seen, shift: Interval) -> Interval:
        """Return the scale of the bets of one arm of a pair; `shift` is 0 for equal means."""
        gap = (own.mean - other.mean + shift).power(2)
        error = own.variance / float(own.pulls) + other.variance / float(other.pulls)
        size = sqrt(error if point(error) > point(gap) else gap)
        weight, rest = own.price * sqrt(own.variance), other.price * sqrt(other.variance)
        part = size * weight / (weight + rest)
        return interval(23) / 10 / sqrt(interval(4.5)) * part / (own.variance + part.power(2))


def costs_of(proof: Proof) -> list[list[Interval]]:
    """Return what a pull of each arm costs; 1 if the file has no costs."""
    given = proof.method.get("costs")
    if given is None:
        return [[interval(1.0)] * size for size in proof.sizes]
    if [len(row) for row in given] != list(proof.sizes):
        raise ValueError("there must be a cost for each arm")
    costs = [[interval(number(cost)) for cost in row] for row in given]
    if not all(cost.low > 0.0 for row in costs for cost in row):
        raise ValueError("costs must be positive")
    return costs


def largest_bet(seen: Seen, mirrored: bool) -> Interval:
    """Return the largest tuned bet on values in a range."""
    centre = 1.0 - seen.centre if mirrored else seen.centre
    return interval(95) / 100 / (centre + sqrt(seen.variance / float(seen.pulls)))


def level_left(level: float, known: float) -> float:
    """Return what bets of weight .95 must reach where evidence by a scale, of weight .05, is `known`."""
    part = exp(interval(known) + log(interval(5) / 100) - level)
    if part.low >= 1.0:
        return -1.0
    left = log(1.0 - Interval(part.low, part.low)) + level - log(interval(95) / 100)
    return left.high

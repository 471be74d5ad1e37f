"""What `adaptive` fixes when its warm-up ends: shares of delta, precisions, bets (docs/theory.md 5).

All of it is a function of the values before that moment, the first n_0 of each arm; it is computed again
here, by intervals, so that nobody can have chosen it afterwards. Evidence counts later values only.

Means and variances are in units of the scale, of the range, or of the values themselves (`gaussian`):

- The variance of a pull is 1 for a known scale; p (1 - p), p = (s + 1) / (n + 2), for 0/1 values; else (Q +
  2 P + c) / (n + 1), Q the arm's sum of squares about its mean, c = .01 for values in a range and else 0,
  and P the same of the first 8 values of all arms: sum Q / (7 A), at least 10^-6 times the squared range
  of their means.
- A share is .2 times an equal one plus .8 times one in proportion to weights exp(-z^2 / 2).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from bestgroup.proof.format import Proof, Refused, number
from bestgroup.proof.intervals import Interval, exp, interval, log, sqrt
from bestgroup.proof.noise import RANGED, SCALED, SYMMETRIC, TWO_VALUED
from bestgroup.proof.observations import Observations, exact_sum
from bestgroup.proof.special import point

FIRST = 8
_EQUAL = interval(1) / 5
_REST = interval(4) / 5


class Seen(NamedTuple):
    """What the warm-up saw of an arm in a dim."""

    pulls: int
    mean: Interval  # y in units
    variance: Interval
    centre: Interval  # the mean as a share of the range
    price: Interval  # the square root of what a pull costs


class Scouting:
    """Shares and parameters as the values before `before[i][j]` of each arm fix them."""

    def __init__(self, proof: Proof, rows: Observations, before: list[list[int]]) -> None:
        self.proof, self.rows, self.before = proof, rows, before
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
        self.leader = {
            (i, d): max(range(proof.sizes[i]), key=lambda j: self._mean(i, j, d, before[i][j]))
            for i in range(N) for d in range(D)
        }  # fmt: skip
        self.epsilon = [interval(Fraction(e) / self.unit(d)) for d, e in enumerate(proof.epsilon)]

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
        best, weights = self._best(i, d), []
        for j in range(self.proof.sizes[i]):
            own = self.seen[i, j, d]
            error = own.variance / float(own.pulls) + best.variance / float(best.pulls)
            weights.append(exp(-(best.mean - own.mean).power(2) / (2.0 * error)))
        return _part(weights, m)

    def _dims(self, i: int, j: int) -> list[tuple[Interval, Interval]]:
        return [self._gap(i, j, d, e) for d, e in enumerate(self.epsilon)]

    def dim_share(self, i: int, j: int, d: int) -> Interval:
        """Return the share of a dim for showing that j does not beat i by epsilon."""
        gaps = self._dims(i, j)
        most, error = max(gaps, key=lambda pair: point(pair[0]))
        weights = [exp(-(most - g).power(2) / (2.0 * (e + error))) for g, e in gaps]
        return _part(weights, d)

    def _lead(self, i: int, j: int) -> tuple[Interval, Interval]:
        """Return the least lead of j over i in any dim, with its variance."""
        zero = interval(0.0)
        gaps = [self._gap(j, i, d, zero) for d in range(len(self.epsilon))]
        return min(gaps, key=lambda pair: point(pair[0]))

    def _rivals(self, i: int) -> list[int]:
        return [j for j in range(len(self.proof.groups)) if j != i]

    def rival_share(self, i: int, j: int) -> Interval:
        """Return the share of j among the groups that may put i out."""
        rivals = self._rivals(i)
        leads = [self._lead(i, k) for k in rivals]
        most, error = max(leads, key=lambda pair: point(pair[0]))
        weights = [exp(-(most - g).power(2) / (2.0 * (e + error))) for g, e in leads]
        return _part(weights, rivals.index(j))

    @cached_property
    def group_shares(self) -> list[Interval]:
        """The shares of all groups."""
        costs = [self._cost(i) for i in range(len(self.proof.groups))]
        return [_part(costs, i) for i in range(len(costs))]

    def _cost(self, i: int) -> Interval:
        """Return about how many pulls a unit of evidence on a group costs."""
        rivals = self._rivals(i)
        half = [e / -2.0 for e in self.epsilon]
        led = any(
            all(point(self._gap(j, i, d, h)[0]) > 0.0 for d, h in enumerate(half)) for j in rivals
        )
        if led:
            gap, error = max((self._lead(i, j) for j in rivals), key=lambda pair: point(pair[0]))
        else:
            tops = [max(self._dims(i, j), key=lambda pair: point(pair[0])) for j in rivals]
            gap, error = min(tops, key=lambda pair: point(pair[0]))
        return 1.0 / (gap.power(2) + error / 2.0)

    def share(self, kind: int, i: int, m: int, j: int, d: int) -> Fraction:
        """Return the share of an over (0) or won (1) claim of arm m of i against j."""
        arm = self.arm_share(i, m, d)
        if kind == 0:
            whole = self.group_shares[j] * self.rival_share(j, i) * arm
        else:
            whole = self.group_shares[i] * self.dim_share(i, j, d) * arm
        return Fraction(whole.low)

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


def _part(weights: list[Interval], k: int) -> Interval:
    """Return .2 / n + .8 w_k / sum w."""
    total = sum(weights[1:], weights[0])
    return _EQUAL / float(len(weights)) + _REST * weights[k] / total


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

"""Evidence against selections on normal values of unknown scale, from below (docs/theory.md 6).

As `selection_evidence` with the wealth for symmetric noise. That is bounded, so its infimum is over means
within bounds of single arms, which have a quarter of delta: lower ones of the leader's arms, upper ones
of the rival's. With z = y for the leader's arms and z = -y for the rival's, an arm subtracts in a dim

    theta sup_{m >= end} (-t m - log K(m)),   theta t = y w,

K the wealth of z against "the mean is at most m": it falls, and is never below its cash.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from bestgroup.proof.boxes import BoxClaims
from bestgroup.proof.format import Proof, Refused, fraction
from bestgroup.proof.intervals import Interval, interval, sqrt
from bestgroup.proof.observations import Observations, exact_sum
from bestgroup.proof.pairs import unit_of
from bestgroup.proof.selection_evidence import Compared, Leader, Moment, View, sums_of
from bestgroup.proof.wealth_pairs import LOG_CASH, Bets, Sums, Values, hull_of

EFFECTS = [2.0 ** (-1.5 * g) for g in range(10)]  # bets, in units of one over the unit of an arm
_LEAST = 4  # values that a unit is taken from
_BEYOND, _STEP, _NEAR = 2.0, 0.5, 9.0  # where cells end, in standard errors from the mean
_WIDER, _FAR = 1.5, 6

Corners = list[tuple[Interval, float]]  # m less an origin, and a bound of log K from below


def tail_claims(proof: Proof, rows: Observations) -> BoxClaims:
    """Return the bounds of single arms, with their quarter of delta and no claim yet."""
    boxes, A, D = proof.method.get("boxes", {}), proof.total, proof.D
    usual = Fraction(1, 8 * A * D), Fraction(1, 8 * D)
    try:
        given = fraction(boxes["low"]), fraction(boxes["high"])
        good = given == usual and boxes["budget"] == "fixed"
    except (KeyError, TypeError, ValueError) as error:
        raise Refused("shares", f"the shares cannot be read ({error})") from None
    if not good:
        raise Refused("parameters", "the shares of bounds are not those that are fixed beforehand")
    arms = [(i, j) for i, size in enumerate(proof.sizes) for j in range(size)]
    shares = dict.fromkeys(arms, usual[0]), dict.fromkeys(arms, usual[1])
    return BoxClaims(proof, rows, boxes, shares)


class _Arm(NamedTuple):
    """What is known of an arm before the values that count, a number for each dim."""

    starts: list[int]  # how many values do not count
    units: list[Interval]
    parts: list[Interval]  # what exponents are shares of


class SymmetricView(View):
    """The arms of a moment as symmetric bets see them, within bounds that have been checked."""

    def __init__(
        self,
        proof: Proof,
        rows: Observations,
        leader: Leader,
        moment: Moment,
        by: Compared,
        tails: BoxClaims,
    ) -> None:
        super().__init__(proof, rows, leader, moment, by)
        self.tails = tails
        self._arms: dict[tuple[int, int], _Arm] = {}
        self._chains: dict[tuple[int, int, int, int], Corners] = {}
        # Means are taken from these doubles, so that an offset of all values drowns nothing.
        self.zero = [float(x / by.weights[d]) for x, d in zip(self.origin, self.dims, strict=True)]

    def _size(self, d: int) -> Fraction:
        return Fraction(1)

    def term(self, i: int, j: int, dims: int, part: int, y: Interval, sign: int) -> Interval:
        """Return what an arm subtracts: a weighted geometric mean of the wealths of its dims."""
        if (i, j) not in self._arms:
            self._arms[i, j] = self._known(i, j)
        parts, total = self._arms[i, j].parts, interval(0.0)
        served = [d for d in range(self.D) if dims >> d & 1]
        if self.all_served(dims):
            key = i, j, self.D, part
            if key not in self._chains:
                self._chains[key] = self._chain_of_sums(i, j, part, sign)
            return interval(max((-(y * m) - low).high for m, low in self._chains[key]))
        whole = sum((parts[d] for d in served[1:]), parts[served[0]])
        for d in served:
            theta = interval(1.0) if self.proof.independent_dims else parts[d] / whole
            steep = y * interval(self.hefts[d]) / theta
            if (i, j, d, part) not in self._chains:
                self._chains[i, j, d, part] = self._chain(i, j, d, part, sign)
            most = max((-(steep * m) - low).high for m, low in self._chains[i, j, d, part])
            total = total + theta * most
        return total

    def _column(self, i: int, j: int, d: int) -> list[float]:
        name = self.proof.groups[i], self.proof.arms[i][j]
        return self.rows.values[name][self.dims[d]][: self.counts[i, j][1]]

    def _known(self, i: int, j: int) -> _Arm:
        """Return units and exponents: by all values before a leader was named, or the first ones."""
        dims, weights = range(self.D), [interval(w) for w in self.hefts]
        n = self.counts[i, j][0]
        if n > 0:  # an arm of a leader that was named on the way
            units = [_deviation(self._column(i, j, d)[:n]) for d in dims]
            return _Arm([n] * self.D, units, [w * u for w, u in zip(weights, units, strict=True)])
        found = [unit_of(self._column(i, j, d)) for d in dims]
        units = [unit for _, unit in found]
        at_once = all(n == _LEAST for n, _ in found)
        parts = [w * u for w, u in zip(weights, units, strict=True)] if at_once else weights
        return _Arm([n for n, _ in found], units, parts)

    def _chain(self, i: int, j: int, d: int, part: int, sign: int) -> Corners:
        """Return a chain below log K from the bound on; beyond its end there is cash."""
        dim, turn = self.dims[d], -sign
        bounds = self.tails.high if sign > 0 else self.tails.low
        if (i, j, dim) not in bounds:
            raise ValueError("an arm has no bound: that stands before what rests on it")
        end, zero = turn * bounds[i, j, dim], turn * self.zero[d]
        start, column = self._arms[i, j].starts[d], self._column(i, j, d)
        if start >= len(column):
            raise ValueError("no value of an arm counts yet")
        scale = EFFECTS[part] / self._arms[i, j].units[d]
        signs = turn * self.proof.signs[dim]
        arm = Values("gaussian", [signs * x for x in column[start:]], Bets(scale))
        ends = cell_ends(arm.centre, math.sqrt(arm.powers[1].high) / len(arm.values), end)
        corners = hull_of(arm, ends)
        corners.append((ends[-1], LOG_CASH.low))
        return [(interval(m) - zero, low) for m, low in corners]

    def _chain_of_sums(self, i: int, j: int, part: int, sign: int) -> Corners:
        """Return the same of the weighted sums of all dims, from that of the bounds on."""
        turn, end = -sign, Fraction()
        bounds = self.tails.high if sign > 0 else self.tails.low
        parts: list[Callable[[float], Fraction]] = []
        for d, dim in enumerate(self.dims):
            if (i, j, dim) not in bounds:
                raise ValueError("an arm has no bound: that stands before what rests on it")
            weight, zero = turn * self.by.weights[dim], Fraction(self.zero[d])
            end += weight * (Fraction(bounds[i, j, dim]) - zero)
            parts.append(partial(_from_origin, weight, self.proof.signs[dim], zero))
        sums = sums_of([self._column(i, j, d) for d in range(self.D)], parts)
        start = self.counts[i, j][0]
        start, unit = (start, _deviation(sums[:start])) if start else unit_of(sums)
        if start >= len(sums):
            raise ValueError("no value of an arm counts yet")
        arm = Sums("gaussian", sums[start:], Bets(EFFECTS[part] / unit))
        error = math.sqrt(arm.powers[1].high) / len(arm.values)
        ends = cell_ends(arm.centre, error, interval(end).low)
        corners = [*hull_of(arm, ends), (ends[-1], LOG_CASH.low)]
        return [(interval(m), low) for m, low in corners]


def _from_origin(weight: Fraction, sign: int, zero: Fraction, x: float) -> Fraction:
    """Return the part of a value in a weighted sum of deviations."""
    return weight * (sign * Fraction(x) - zero)


def cell_ends(mean: float, error: float, end: float) -> list[float]:
    """Return where cells end: from a bound to two standard errors above the mean, closer near it."""
    far = [_NEAR * _WIDER**k for k in range(_FAR, 0, -1)]
    steps = int((_NEAR + _BEYOND) / _STEP)
    near = [_NEAR - _STEP * k for k in range(steps + 1)]
    found = [end]
    for away in (*far, *near):
        x = mean - away * error
        if x > found[-1]:
            found.append(x)
    return found


def _deviation(column: list[float]) -> Interval:
    """Return the standard deviation of values, of which there must be four, not all equal."""
    n = len(column)
    if n < _LEAST or len(set(column)) == 1:
        raise ValueError("the values of an arm of the leader showed no unit when it was named")
    mean = exact_sum(column) / n
    return sqrt(interval(sum((Fraction(x) - mean) ** 2 for x in column) / (n - 1)))

"""Evidence on two arms whose scale is not known, from below: wealth of bets (docs/theory.md 2.2.1).

log K_a(x) + log L_b(x + s) is shown to reach a level at every x, cell by cell. For each bet the log of the
product is concave, so on a cell it is at least the chord between lower bounds at the ends, and the log
of a weighted sum of exponentials of affine functions is convex: on the cell it lies above its tangents
at both ends. Left of a point where K_a alone, times the cash of b, reaches the level nothing is to be
shown, as K_a falls; right of one where L_b does, likewise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bestgroup.proof.intervals import (
    INF,
    LOG_2,
    UNIT,
    Interval,
    exp,
    interval,
    log,
    log1p,
    sqrt,
    widen,
)
from bestgroup.proof.noise import RANGED, TWO_VALUED
from bestgroup.proof.normal_pairs import psi_and_slope

CASH = interval(1) / 100
RESERVE = tuple(2.0**-k for k in range(1, 9))
PARTS = 12
_SIZES = [exp(-(interval((k + 0.5) / 4.0).power(2)) / 2.0) for k in range(PARTS)]
_ALL = sum(_SIZES[1:], _SIZES[0])
WEIGHTS = [interval(95) / 100 * size / _ALL for size in _SIZES] + [interval(5) / 1000] * 8
LOG_WEIGHTS = [log(w) for w in WEIGHTS]
SYMMETRIC = ((1.0, 90), (0.25, 4), (4.0, 3), (1.0 / 64.0, 2))  # scales, and weights in percent
LOG_SYMMETRIC = [log(interval(w) / 100) for _, w in SYMMETRIC]
LOG_CASH = log(CASH)
_LEGAL = 0.99
_CELLS = 4000
_FINEST = 1e-9  # of the first cell
_SHORT = 1000  # values up to which products are taken as they are
_ENDS, _LOWEST, _HALF = 22, 8.5, 0.5  # ends of cells of a hull, in standard errors


@dataclass(frozen=True)
class Bets:
    """The bets of an arm: the scale of the tuned ones, and the largest of these."""

    scale: Interval
    most: Interval | None = None

    def sizes(self) -> list[Interval]:
        """Return all twenty."""
        tuned = [self.scale * (k + 0.5) / 4.0 for k in range(PARTS)]
        if self.most is not None:
            most = self.most
            tuned = [Interval(min(t.low, most.low), min(t.high, most.high)) for t in tuned]
        return [*tuned, *map(interval, RESERVE)]


@dataclass(frozen=True)
class Values:
    """The values of an arm that count, in units of the range, with mirrored ones where needed."""

    kind: str  # bounded, bernoulli or gaussian
    values: Sequence[float]  # shares of the range, rounded; or the values themselves
    bets: Bets

    @property
    def error(self) -> float:
        """How far a value may be from what it stands for: shares of a range are rounded."""
        return 0.0 if self.kind == "gaussian" else 3.0 * UNIT

    @cached_property
    def centre(self) -> float:
        """A double near the mean."""
        return math.fsum(self.values) / len(self.values)

    @cached_property
    def powers(self) -> list[Interval]:
        """The sums of the first six powers of u - c."""
        away = [u - self.centre for u in self.values]
        sizes = [[1.0] * len(away)]
        result = []
        power = [1.0] * len(away)
        for k in range(1, 7):
            power = [p * a for p, a in zip(power, away, strict=True)]
            sizes.append(list(map(abs, power)))
            slack = math.fsum(sizes[k]) * (k + 1) * UNIT
            slack += math.fsum(sizes[k - 1]) * k * self.error
            value = math.fsum(power)
            slack = slack * 1.01 + abs(value) * UNIT
            result.append(Interval(value - slack, value + slack))
        return result

    def about(self, m: Interval, most: int) -> list[Interval]:
        """Return the sums of the first powers of u - m."""
        n, a = float(len(self.values)), self.centre - m
        base = [interval(n), *self.powers]
        rise = [interval(1.0)]
        for _ in range(most):
            rise.append(rise[-1] * a)
        result = []
        for k in range(1, most + 1):
            total = base[k]
            for j in range(k):
                total = total + float(math.comb(k, j)) * base[j] * rise[k - j]
            result.append(Interval(max(total.low, 0.0), total.high) if k % 2 == 0 else total)
        return result

    def logs(self, m: Interval) -> list[float]:
        """Return, for each bet, the log of the product at m from below; -inf for one that is too large."""
        if self.kind == "bernoulli":
            return self._coins(m)
        s1, s2, s3, s4, s5, s6 = self.about(m, 6)
        found = []
        for bet in self.bets.sizes():
            t = bet * m
            if not t.high < _LEGAL:
                found.append(-INF)
                continue
            value = s4 / -4.0 + bet * s5 / 5.0 - bet * bet * _rest(t) * s6  # s6 >= 0
            value = bet * s1 + bet * bet * (s2 / -2.0 + bet * (s3 / 3.0 + bet * value))
            found.append(value.low)
        return found

    def products(self, m: float) -> list[float]:
        """Return the same from the products themselves, for values in a range: nothing is lost.

        A factor is 1 - l m, at least .01, plus what is not negative; shares and bets are rounded.
        """
        n, found = len(self.values), []
        for bet in self.bets.sizes():
            rest = (1.0 - bet * m).low
            if not (bet * m).high < _LEGAL:
                found.append(-INF)
                continue
            value, power = 1.0, 0
            for start in range(0, n, 64):
                part = math.prod(rest + bet.low * u for u in self.values[start : start + 64])
                value, k = math.frexp(value * part)
                power += k
            lost = (8.0 + 4.0 * bet.high / rest) * UNIT * (n + 2.0)
            found.append((log(value) + LOG_2 * float(power) + log1p(-lost)).low)
        return found

    def _coins(self, m: Interval) -> list[float]:
        ones = math.fsum(self.values)
        found = []
        for bet in self.bets.sizes():
            if not (bet * m).high < _LEGAL:
                found.append(-INF)
                continue
            value = interval(0.0)
            if ones:
                value = value + ones * log(1.0 + bet * (1.0 - m))
            if ones < len(self.values):
                value = value + (len(self.values) - ones) * log(1.0 - bet * m)
            found.append(value.low)
        return found

    def spread(self, m: Interval) -> tuple[float, float]:
        """Return sum (z - m) from below and sum (z - m)^2 from above."""
        s1, s2 = self.about(m, 2)
        return s1.low, s2.high


def _rest(t: Interval) -> float:
    """Return kappa_6(t) = sum_j t^j / (6 + j), which rises, from above."""
    x = max(t.high, 0.0)
    if x < 0.9:
        terms = 8 if x < 0.01 else int(-40.0 / math.log(x)) + 8
        total = 0.0
        for j in range(terms, -1, -1):
            total = total * x + 1.0 / (6 + j)
        # What is left out is below x^(terms + 1) / (1 - x) / 6, and that far below 2^-52.
        return widen(total, 3 * terms + 4).high
    rest = -log(1.0 - interval(x))
    for k in range(1, 6):
        rest = rest - interval(x).power(k) / float(k)
    return (rest / interval(x).power(6)).high


Data = list[float]  # lower bounds of the logs of the products; of symmetric noise: the two sums
Rates = Sequence[
    "Interval | None"
]  # by which they change along a cell; None: not on the whole cell


def log_wealth(arm: Values, data: Data, rates: Rates | None = None) -> tuple[Interval, Interval]:
    """Return log K, and its slope where the data change at these rates."""
    slopes = [interval(0.0)] * len(data) if rates is None else rates
    if arm.kind == "gaussian":
        fall, rise = slopes
        assert fall is not None and rise is not None
        return _weighed(_symmetric(arm, data, fall, rise))
    return _weighed(
        [
            (value + weight, slope)
            for value, weight, slope in zip(data, LOG_WEIGHTS, slopes, strict=True)
            if value > -INF and slope is not None
        ]
    )


def _weighed(pairs: Sequence[tuple[Interval, Interval]]) -> tuple[Interval, Interval]:
    """Return the log of the cash plus the sum of e^value, and its slope."""
    most = max([LOG_CASH.high, *(value.high for value, _ in pairs)])
    total, slopes = exp(LOG_CASH - most), interval(0.0)
    for value, rate in pairs:
        part = exp(value - most)
        total, slopes = total + part, slopes + part * rate
    return log(total) + most, slopes / total


def _symmetric(
    arm: Values, data: Data, fall: Interval, rise: Interval
) -> list[tuple[Interval, Interval]]:
    """Return the logs and slopes of half-normal laws of bets of four scales."""
    total, square = data
    found = []
    for (scale, _), weight in zip(SYMMETRIC, LOG_SYMMETRIC, strict=True):
        q = 1.0 / (arm.bets.scale * scale).power(2)
        both = q + square
        root = sqrt(both)
        value, slope = psi_and_slope(total / root)
        drift = -0.5 * rise / both + slope * (fall / root - total / (2.0 * both * root) * rise)
        found.append((value - log(both / q) / 2.0 + weight, drift))
    return found


class Pair:
    """Two arms: a, against small means, and b, mirrored, against large ones; and the shift."""

    def __init__(self, a: Values, b: Values, shift: Interval) -> None:
        self.arms, self.shift = (a, b), shift
        self._seen: dict[float, tuple[Data, Data]] = {}

    def at(self, x: float) -> tuple[Data, Data]:
        """Return what is known of both arms at x."""
        if x not in self._seen:
            there = -(x + self.shift)
            if self.arms[0].kind != "gaussian":
                there = 1.0 + there
            self._seen[x] = _data(self.arms[0], interval(x)), _data(self.arms[1], there)
        return self._seen[x]

    def reaches(self, level: float) -> bool:
        """Return whether the evidence is at least the level at every x."""
        alone = level - LOG_CASH.low
        if self.arms[0].kind == "gaussian":
            left, right = self._outwards(0, alone), self._outwards(1, alone)
            if left is None or right is None:
                return False
        else:
            left, right = 0.0, (1.0 - self.shift).high
            if right <= 0.0:  # no means are that far apart
                return self.shift.low > 1.0
        cells, looked = [(left, right)] if left < right else [], 0
        finest = _FINEST * (right - left)
        while cells:
            x, y = cells.pop()
            looked += 1
            if not self._cell(x, y, level, alone):
                middle = (x + y) / 2.0
                if looked > _CELLS or y - x < finest or self._lacks(middle, level):
                    return False
                cells += [(middle, y), (x, middle)]
        return True

    def _lacks(self, x: float, level: float) -> bool:
        """Return whether the evidence is below the level at x, so that no smaller cell will do."""
        values = [log_wealth(arm, data)[0] for arm, data in zip(self.arms, self.at(x), strict=True)]
        return (values[0] + values[1]).low < level

    def _outwards(self, side: int, alone: float) -> float | None:
        """Return a point at which one arm alone is enough: a to the left, b to the right."""
        arm = self.arms[side]
        mean = arm.centre if side == 0 else -arm.centre - self.shift.high
        reach = math.sqrt(max(arm.powers[1].high, 0.0) * (2.0 * alone + 2.0)) / len(arm.values)
        for _ in range(40):
            x = mean - reach if side == 0 else mean + reach
            if log_wealth(arm, self.at(x)[side])[0].low >= alone:
                return x
            reach *= 1.25
        return None

    def _cell(self, x: float, y: float, level: float, alone: float) -> bool:
        """Return whether the evidence reaches the level on a cell."""
        left, right = self.at(x), self.at(y)
        a, b = self.arms
        if log_wealth(a, right[0])[0].low >= alone or log_wealth(b, left[1])[0].low >= alone:
            return True
        width = interval(y) - x
        rates = [_chords(left[k], right[k], width) for k in (0, 1)]
        ends = []
        for end in (left, right):
            value_a, slope_a = log_wealth(a, end[0], rates[0])
            value_b, slope_b = log_wealth(b, end[1], rates[1])
            ends.append(((value_a + value_b).low, slope_a + slope_b))
        (low, fall), (high, rise) = ends
        if min(low, high) < level:
            return False
        if fall.low >= 0.0 or rise.high <= 0.0:
            return True
        # Left of x + t the tangent at x is above its value there, right of it that at y.
        t = (low - high + rise.high * width.high) / (rise.high - fall.low)
        t = min(max(t, 0.0), width.low)
        first = low + interval(fall.low) * t
        second = high - interval(rise.high) * (width - t)
        return min(first.low, second.low) >= level


def _data(arm: Values, m: Interval) -> Data:
    return list(arm.spread(m)) if arm.kind == "gaussian" else arm.logs(m)


def _chords(left: Data, right: Data, width: Interval) -> Rates:
    """Return the slopes of the chords over a cell."""
    return [
        (interval(b) - a) / width if min(a, b) > -INF else None
        for a, b in zip(left, right, strict=True)
    ]


def shares_of(low: float, high: float, sign: int, column: list[float]) -> list[float]:
    """Return values as shares of their range, mirrored if the sign is -1."""
    width = high - low
    return [(x - low) / width if sign > 0 else (high - x) / width for x in column]


class Sums(Values):
    """Weighted sums of an arm's dims, each rounded to a double; of values without a range."""

    @property
    def error(self) -> float:
        """How far a sum may be from what it stands for."""
        return UNIT * max(map(abs, self.values))


def hull_of(arm: Values, ends: list[float] | None = None) -> list[tuple[float, float]]:
    """Return corners (m, value) of a chain that lies below log K from the first to the last end.

    For values in a range that is [0, 1], and cells end where the values themselves suggest; on each the
    two tangents of a convex function below log K meet in one corner.
    """
    ends = _cell_ends(arm) if ends is None else ends
    exact = arm.kind in RANGED - TWO_VALUED and len(arm.values) <= _SHORT
    data = [arm.products(x) if exact else _data(arm, interval(x)) for x in ends]
    corners: list[tuple[float, float]] = []
    for k in range(len(ends) - 1):
        x, y = ends[k], ends[k + 1]
        width = interval(y) - x
        rates = _chords(data[k], data[k + 1], width)
        (low, fall), (high, rise) = (log_wealth(arm, data[k + e], rates) for e in (0, 1))
        if corners:
            corners[-1] = x, min(corners[-1][1], low.low)
        else:
            corners.append((x, low.low))
        steep = rise.high - fall.low
        t = (low.low - high.low + rise.high * width.low) / steep if steep > 0.0 else 0.0
        middle = min(max(x + t, x), y)
        first = low + fall * (interval(middle) - x)
        second = high - rise * (interval(y) - middle)
        corners += [(middle, min(first.low, second.low)), (y, high.low)]
    return corners


def _cell_ends(arm: Values) -> list[float]:
    """Return where cells end: 0, 1, and every half of a standard error around and below the mean."""
    n, mean = len(arm.values), arm.centre
    if arm.kind == "bernoulli":
        p = (mean * n + 1.0) / (n + 2.0)
        error = math.sqrt(p * (1.0 - p) / n)
    else:
        error = math.sqrt(max(arm.powers[1].high, 0.0) + 0.01) / n
    found = [0.0]
    for k in range(_ENDS):
        x = mean - (_LOWEST - _HALF * k) * error
        if found[-1] + 1e-9 < x < 1.0 - 1e-9:
            found.append(x)
    return [*found, 1.0]


def conjugate_of(corners: list[tuple[float, float]], steep: Interval) -> Interval:
    """Return an upper bound of sup (-t m - log K(m)) over 0 <= m <= 1 from a chain below log K."""
    most = max((-(steep * m) - value).high for m, value in corners)
    return Interval(most, most)

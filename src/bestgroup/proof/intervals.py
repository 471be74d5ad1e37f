"""Outward-rounded intervals: every operation returns an interval that holds the exact result.

Only what IEEE 754 prescribes is relied on: additions, products, quotients and square roots of doubles
are correctly rounded, so the exact result lies between the neighbours of the rounded one. `exp` and
`log` are built from these; the mathematical library only suggests where to look.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

INF = math.inf


def down(x: float) -> float:
    """Return the next double below x."""
    return math.nextafter(x, -INF)


def up(x: float) -> float:
    """Return the next double above x."""
    return math.nextafter(x, INF)


class Interval:
    """All real numbers from `low` to `high`.

    >>> third = interval(1) / 3
    >>> third.low < third.high, third.low * 3 <= 1 <= third.high * 3
    (True, True)
    """

    __slots__ = ("high", "low")

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def __repr__(self) -> str:
        return f"[{self.low!r}, {self.high!r}]"

    def __add__(self, other: Number) -> Interval:
        b = interval(other)
        return Interval(down(self.low + b.low), up(self.high + b.high))

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Number) -> Interval:
        b = interval(other)
        return Interval(down(self.low - b.high), up(self.high - b.low))

    def __rsub__(self, other: Number) -> Interval:
        return interval(other) - self

    def __mul__(self, other: Number) -> Interval:
        b = interval(other)
        if self.low >= 0.0 and b.low >= 0.0:
            return Interval(max(down(self.low * b.low), 0.0), up(self.high * b.high))
        ends = (self.low * b.low, self.low * b.high, self.high * b.low, self.high * b.high)
        return Interval(down(min(ends)), up(max(ends)))

    def __truediv__(self, other: Number) -> Interval:
        b = interval(other)
        if b.low <= 0.0 <= b.high:
            raise ZeroDivisionError("an interval that holds 0 divides nothing")
        ends = (self.low / b.low, self.low / b.high, self.high / b.low, self.high / b.high)
        return Interval(down(min(ends)), up(max(ends)))

    def __rtruediv__(self, other: Number) -> Interval:
        return interval(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def power(self, k: int) -> Interval:
        """Return the k-th power, k >= 1."""
        if k % 2 == 0 and self.low < 0.0:
            size = max(-self.low, self.high) if self.high > 0.0 else -self.low
            least = 0.0 if self.high >= 0.0 else -self.high
            return Interval(least, size).power(k)
        result = self
        for _ in range(k - 1):
            result = result * self
        return result


Number: TypeAlias = "Interval | Fraction | float"


def interval(value: Number) -> Interval:
    """Return an interval that holds a number; of a double or a small integer just that number."""
    if isinstance(value, Interval):
        return value
    rounded = float(value)
    if isinstance(value, float) or rounded == value:
        return Interval(rounded, rounded)
    return Interval(down(rounded), up(rounded))


def sqrt(x: Number) -> Interval:
    """Return the square root of what is not negative in x."""
    x = interval(x)
    if x.high < 0.0:
        raise ValueError("no root of a negative number")
    return Interval(max(down(math.sqrt(max(x.low, 0.0))), 0.0), up(math.sqrt(x.high)))


# Two neighbouring doubles with log 2 between them.
LOG_2 = Interval(0.6931471805599453, 0.6931471805599454)
_TERMS = 20
UNIT = 2.0**-52  # twice the relative error of one operation on doubles


def widen(value: float, steps: int) -> Interval:
    """Return what a positive number stands for that came from positive ones in so many operations."""
    return Interval(value * (1.0 - (steps + 2) * UNIT), value * (1.0 + (steps + 2) * UNIT))


def _small_exp(r: float) -> float:
    """Return e^r for 0 <= r <= 1, in 60 operations on positive numbers; 1 / 21! is left out."""
    value = 1.0
    for n in range(_TERMS, 0, -1):
        value = value * r / n + 1.0
    return value


def _exp(x: float) -> Interval:
    """Return e^x: 2^k e^r with 0 <= r < .7."""
    if x > 700.0:
        return Interval(1e304, INF)
    if x < -700.0:
        return Interval(0.0, 1e-303)
    k = math.floor(x / 0.6931471805599453)
    r = interval(x) - LOG_2 * float(k)
    low = widen(_small_exp(r.low), 62).low if r.low >= 0.0 else down(1.0 + r.low)
    high = widen(_small_exp(max(r.high, 0.0)), 62).high
    return Interval(math.ldexp(low, k), math.ldexp(high, k))


def exp(x: Number) -> Interval:
    """Return e^x.

    >>> one = exp(1.0)
    >>> one.low < 2.718281828459045 < one.high, one.high - one.low < 1e-13
    (True, True)
    """
    x = interval(x)
    if x.low == x.high:
        return _exp(x.low)
    return Interval(_exp(x.low).low, _exp(x.high).high)


@functools.lru_cache(maxsize=1024)  # thousands of claims have the same level
def _log(x: float) -> Interval:
    """Return log x for x > 0: y + log(1 + z) with z = x e^-y - 1 tiny."""
    if x == INF:
        return Interval(709.0, INF)
    mantissa, k = math.frexp(x)
    y = math.log(mantissa)
    z = _exp(-y) * mantissa - 1.0
    # z - z^2 <= log(1 + z) <= z for |z| <= 1/2
    rest = Interval((z - z.power(2)).low, z.high)
    return LOG_2 * float(k) + y + rest


def log(x: Number) -> Interval:
    """Return log x of what is positive in x; -inf where x reaches 0.

    >>> two = log(2.0)
    >>> two.low < 0.6931471805599453 < two.high, two.high - two.low < 1e-13
    (True, True)
    """
    x = interval(x)
    if x.high <= 0.0:
        raise ValueError("no logarithm of what is not positive")
    low = _log(x.low).low if x.low > 0.0 else -INF
    return Interval(low, _log(x.high).high)


def log1p(x: Number) -> Interval:
    """Return log(1 + x)."""
    return log(interval(x) + 1.0)


def total(values: Iterable[float]) -> Interval:
    """Return the sum of doubles; `math.fsum` rounds it once."""
    value = math.fsum(values)
    return Interval(down(value), up(value))


def log_sum(logs: list[Interval], weights: list[Interval]) -> Interval:
    """Return log sum_k w_k e^x_k."""
    most = max(x.high for x in logs)
    if most == -INF:
        return Interval(-INF, -INF)
    parts = interval(0.0)
    for x, w in zip(logs, weights, strict=True):
        parts = parts + w * exp(x - most)
    return log(parts) + most

"""Outward-rounded intervals in arrays, for what is compared among all groups (see `intervals`).

numpy adds, subtracts, multiplies, divides and takes roots of doubles as IEEE 754 prescribes, so that the
neighbours of a rounded result enclose the exact one, here as there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.problem.arrays import Floats, Ints
from bestgroup.proof.intervals import LOG_2, UNIT, Interval, down, up

_TERMS, _STEPS = 20, 62  # of the series of e^r, and operations that it takes (see `intervals`)


class Intervals(NamedTuple):
    """Intervals from `low` to `high`, element by element."""

    low: Floats
    high: Floats

    def at(self, k: int) -> Interval:
        """Return one of them."""
        return Interval(float(self.low[k]), float(self.high[k]))

    def points(self) -> Floats:
        """Return the middle of each."""
        return (self.low + self.high) / 2.0

    def pick(self, rows: Ints) -> Intervals:
        """Return those in the given row of each column, of intervals [rows, columns]."""
        at = np.arange(self.low.shape[1])
        return Intervals(self.low[rows, at], self.high[rows, at])


def stack(values: list[Intervals]) -> Intervals:
    """Return intervals [rows, columns] from one for each row."""
    return Intervals(np.stack([x.low for x in values]), np.stack([x.high for x in values]))


def array_of(values: list[Interval]) -> Intervals:
    """Return single intervals in an array."""
    return Intervals(np.array([x.low for x in values]), np.array([x.high for x in values]))


def _ends(low: Floats, high: Floats) -> Intervals:
    return Intervals(np.nextafter(low, -np.inf), np.nextafter(high, np.inf))


def add(a: Intervals | Interval, b: Intervals | Interval) -> Intervals:
    """Return a + b."""
    return _ends(np.asarray(a.low + b.low), np.asarray(a.high + b.high))


def subtract(a: Intervals | Interval, b: Intervals | Interval) -> Intervals:
    """Return a - b."""
    return _ends(np.asarray(a.low - b.high), np.asarray(a.high - b.low))


def multiply(a: Intervals, b: Intervals) -> Intervals:
    """Return a b."""
    ends = np.stack([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high])
    return _ends(ends.min(axis=0), ends.max(axis=0))


def divide(a: Intervals, b: Intervals) -> Intervals:
    """Return a / b, b positive."""
    if not (b.low > 0.0).all():
        raise ZeroDivisionError("an interval that holds 0 divides nothing")
    ends = np.stack([a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high])
    return _ends(ends.min(axis=0), ends.max(axis=0))


def square(a: Intervals) -> Intervals:
    """Return a^2."""
    low, high = np.abs(a.low), np.abs(a.high)
    least = np.where((a.low <= 0.0) & (a.high >= 0.0), 0.0, np.minimum(low, high))
    most = np.maximum(low, high)
    found = _ends(least * least, most * most)
    return Intervals(np.maximum(found.low, 0.0), found.high)


def root(a: Intervals) -> Intervals:
    """Return the square root of what is not negative."""
    found = _ends(np.sqrt(np.maximum(a.low, 0.0)), np.sqrt(a.high))
    return Intervals(np.maximum(found.low, 0.0), found.high)


def half(a: Intervals) -> Intervals:
    """Return a / 2: no rounding but below the normal numbers, which is widened away."""
    return _ends(a.low / 2.0, a.high / 2.0)


def times(factor: float, a: Intervals) -> Intervals:
    """Return a positive number times a."""
    return _ends(factor * a.low, factor * a.high)


def _series(r: Floats) -> Floats:
    value = np.ones_like(r)
    for n in range(_TERMS, 0, -1):
        value = value * r / n + 1.0
    return value


def _exp_ends(x: Floats) -> Intervals:
    """Return e^x of doubles, -700 <= x <= 0: 2^k e^r with 0 <= r < .7."""
    k = np.floor(x / 0.6931471805599453)
    by = Intervals(np.full_like(x, LOG_2.low), np.full_like(x, LOG_2.high))
    r = subtract(Intervals(x, x), multiply(by, Intervals(k, k)))
    wide = (_STEPS + 2) * UNIT
    low = np.where(
        r.low >= 0.0,
        _series(np.maximum(r.low, 0.0)) * (1.0 - wide),
        np.nextafter(1.0 + r.low, -np.inf),
    )
    high = _series(np.maximum(r.high, 0.0)) * (1.0 + wide)
    power = k.astype(np.int64)
    return Intervals(np.ldexp(low, power), np.ldexp(high, power))


def exp(a: Intervals) -> Intervals:
    """Return e^a of what is not positive; a.high above 0, by rounding, counts as 0."""
    low = _exp_ends(np.clip(a.low, -700.0, 0.0)).low
    high = _exp_ends(np.clip(a.high, -700.0, 0.0)).high
    return Intervals(np.where(a.low < -700.0, 0.0, low), high)


def total(a: Intervals) -> Interval:
    """Return the sum of all; `math.fsum` rounds it once."""
    return Interval(down(math.fsum(a.low.tolist())), up(math.fsum(a.high.tolist())))

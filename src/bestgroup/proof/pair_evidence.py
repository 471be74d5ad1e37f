"""Whether a pair's evidence has reached its level: what `pair_search` is told of two arms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bestgroup.problem.arrays import Floats
from bestgroup.proof.format import DimNoise
from bestgroup.proof.intervals import UNIT, Interval, interval
from bestgroup.proof.observations import exact_sum
from bestgroup.proof.pair_search import BETS, DEEP, NORMAL, SYMMETRIC, Side, outwards, reaches
from bestgroup.proof.wealth_pairs import LOG_SYMMETRIC, LOG_WEIGHTS, Bets
from bestgroup.proof.wealth_pairs import SYMMETRIC as SCALES

_NOTHING = np.zeros(0)
_WEIGHTS = np.array([weight.low for weight in LOG_WEIGHTS])
_SYMMETRIC = np.array([weight.low for weight in LOG_SYMMETRIC])
_FEW = 10  # times as many values as different ones: then these are counted
_PAYS = 20_000_000  # factors from which a compilation pays


class Pair(NamedTuple):
    """Values that count, as in the table, and what was fixed for them beforehand."""

    columns: tuple[Sequence[float], Sequence[float]]  # of the upper arm, of the lower one
    shift: Fraction
    q: tuple[Interval, Interval] | None  # precisions of half-normal laws, where there are any
    scales: tuple[Interval, Interval] | None = None  # of bets
    most: tuple[Interval, Interval] | None = None  # the largest tuned bets


def pays(claims: int, rows: int) -> bool:
    """Return whether so many claims, on so many rows in all, are many enough to compile for."""
    return claims * 50.0 * len(_WEIGHTS) * min(rows, 10_000.0) > _PAYS


def pair_reaches(noise: DimNoise, sign: int, pair: Pair, level: float, fast: bool) -> bool:
    """Return whether mu_a + shift <= mu_b is refuted in a dim; y = sign x."""
    find, way = (reaches.compiled, outwards.compiled) if fast else (reaches, outwards)
    sides = [_side(noise, sign if k == 0 else -sign, pair, k) for k in (0, 1)]
    a, b = sides[0][0], sides[1][0]
    mean_a, mean_b = sides[0][1], sides[1][1]  # exact; of y, and of -y or 1 - u
    turn = 1.0 if a.kind == BETS else 0.0
    shift = pair.shift / unit_of_noise(noise) if a.kind == BETS else pair.shift
    low = interval(shift).low
    if a.kind == NORMAL:
        if mean_a + mean_b + shift <= 0:
            return False
        ends = _convex_ends(a, b, float(mean_a), float(-mean_b - shift))
    elif a.kind == SYMMETRIC:
        start = interval(mean_a).low, interval(mean_b).low
        left = way(a, start[0], _step(a), level)
        right = -way(b, start[1], _step(b), level)
        if math.isinf(left) or math.isinf(right):
            return False
        right = right - low + 4.0 * UNIT * (abs(right) + abs(low))
        ends = left, right
    else:
        if shift > 1:  # no means are that far apart
            return True
        ends = 0.0, (1.0 - interval(shift)).high
    if not ends[0] < ends[1]:
        return True
    return bool(find(a, b, low, turn, np.array(ends), level, np.zeros((DEEP, 6))))


def _convex_ends(a: Side, b: Side, mean: float, other: float) -> tuple[float, float]:
    """Return points between which log K + log L, which is convex, is least (docs/theory.md 2.2)."""
    steps = [s.scale_high * math.sqrt(s.size + s.q_high) / s.size for s in (a, b)]
    room = 1e-9 * (abs(mean) + abs(other))
    return other - 1.01 * steps[0] - room, mean + 1.01 * steps[1] + room


def _step(side: Side) -> float:
    return math.sqrt(side.spread) / side.size


def unit_of_noise(noise: DimNoise) -> Fraction:
    """Return the range of values in a range."""
    return Fraction(noise.high) - Fraction(noise.low)


def _side(noise: DimNoise, sign: int, pair: Pair, k: int) -> tuple[Side, Fraction]:
    """Return what is known of one arm, and the exact mean of its values as they are judged."""
    column = pair.columns[k]
    n, mean = len(column), sign * exact_sum(list(column)) / len(column)
    q = interval(0.0) if pair.q is None else pair.q[k]
    if noise.kind == "subgaussian":
        near = interval(mean)
        return Side(
            NORMAL, float(n), near.low, near.high, 0.0, noise.scale, noise.scale, q.low, q.high,
            _NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING,
        ), mean  # fmt: skip
    assert pair.scales is not None
    if noise.kind == "gaussian":
        low, high = _precisions(pair.scales[k].low, pair.scales[k].high)
        return Side(
            SYMMETRIC, float(n), interval(mean).low, interval(mean).high, _spread(column),
            1.0, 1.0, 0.0, 0.0, _NOTHING, _NOTHING, low, high, _SYMMETRIC,
        ), mean  # fmt: skip
    least = Fraction(noise.low if sign > 0 else -noise.high)
    mean = (mean - least) / unit_of_noise(noise)
    values = _shares(noise, sign, column)
    different, times = np.unique(values, return_counts=True)
    counted = len(different) * _FEW < n or noise.kind == "bernoulli"
    top = None if pair.most is None else pair.most[k]
    most = (math.inf, math.inf) if top is None else (top.low, top.high)
    bets, width = _bets(pair.scales[k].low, pair.scales[k].high, *most)
    near = interval(mean)
    return Side(
        BETS, float(n), near.low, near.high, 0.0, 0.5, 0.5, q.low, q.high,
        different if counted else values, times.astype(np.float64) if counted else _NOTHING,
        bets, width, _WEIGHTS,
    ), mean  # fmt: skip


def _shares(noise: DimNoise, sign: int, column: Sequence[float]) -> Floats:
    """Return values as shares of their range, each to within three roundings."""
    values, width = np.array(column), noise.high - noise.low
    return (values - noise.low) / width if sign > 0 else (noise.high - values) / width


def _spread(column: Sequence[float]) -> float:
    """Return the sum of squares about the mean, from above: that about a double near it is larger."""
    centre = math.fsum(column) / len(column)
    return math.fsum((x - centre) ** 2 for x in column) * (1.0 + 8.0 * UNIT)


@lru_cache(4096)
def _bets(low: float, high: float, most_low: float, most_high: float) -> tuple[Floats, Floats]:
    """Return the largest that each bet may be, and how much less."""
    most = None if math.isinf(most_low) else Interval(most_low, most_high)
    sizes = Bets(Interval(low, high), most).sizes()
    bets = np.array([size.high for size in sizes])
    return bets, np.array([(interval(s.high) - s.low).high for s in sizes])


@lru_cache(4096)
def _precisions(low: float, high: float) -> tuple[Floats, Floats]:
    """Return the precisions of the four half-normal laws of bets, from below and from above."""
    found = [1.0 / (Interval(low, high) * scale).power(2) for scale, _ in SCALES]
    return np.array([q.low for q in found]), np.array([q.high for q in found])

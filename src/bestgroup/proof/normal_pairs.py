"""Evidence on two arms whose noise has a known scale, from below (docs/theory.md 2.2)."""

from __future__ import annotations

import math

from bestgroup.proof.intervals import INF, Interval, interval, log, log_sum, sqrt
from bestgroup.proof.special import point, psi

_ROOT_2 = math.sqrt(2.0)
_TRIES = 6


def psi_and_slope(x: Interval) -> tuple[Interval, Interval]:
    """Return psi and psi' of an interval; both rise."""
    if x.low == x.high:
        return psi(x.low)
    (low, fall), (high, rise) = psi(x.low), psi(x.high)
    return Interval(low.low, high.high), Interval(fall.low, rise.high)


def pair_value(gap: Interval, counts: tuple[int, int], q: tuple[Interval, Interval]) -> float:
    """Return a lower bound of min_u psi(s_a u) + psi(s_b (gap - u)) less the costs of both mixtures.

    The sum F is convex. With u_1 < u_2, F'(u_1) <= 0 <= F'(u_2), it is at least F(u_1) + F'(u_1)
    (u_2 - u_1) between them, and not less outside.
    """
    if gap.low <= 0.0:
        return -INF
    sides = [interval(float(n)) / sqrt(p + float(n)) for n, p in zip(counts, q, strict=True)]
    cost = interval(0.0)
    for n, p in zip(counts, q, strict=True):
        cost = cost + log(1.0 + float(n) / p) / 2.0
    u = _near(point(gap), point(sides[0]), point(sides[1]))
    reach = 1e-6 / (sides[0].high + sides[1].high)
    for _ in range(_TRIES):
        value, slope = _sum(u - reach, gap, sides)
        _, after = _sum(u + reach, gap, sides)
        if slope.high <= 0.0 <= after.low:
            width = interval(u + reach) - (u - reach)
            return (value + slope * width - cost).low
        reach *= 10.0
    return -INF


def _sum(u: float, gap: Interval, sides: list[Interval]) -> tuple[Interval, Interval]:
    a, slope_a = psi_and_slope(sides[0] * u)
    b, slope_b = psi_and_slope(sides[1] * (gap - u))
    return a + b, sides[0] * slope_a - sides[1] * slope_b


def _near(gap: float, s_a: float, s_b: float) -> float:
    """Return about where the sum is least, by bisection of its slope in plain doubles."""

    def slope(x: float) -> float:
        if x < -5.0:
            return point(psi(x)[1])
        tail = math.erfc(-x / _ROOT_2)
        return x + math.sqrt(2.0 / math.pi) * math.exp(-x * x / 2.0) / tail

    low, high = -1.0 / s_b, gap + 1.0 / s_a
    for _ in range(60):
        u = (low + high) / 2.0
        if s_a * slope(s_a * u) > s_b * slope(s_b * (gap - u)):
            high = u
        else:
            low = u
    return (low + high) / 2.0


def difference_value(total: Interval, variance: int, precisions: list[float]) -> float:
    """Return the log of the mixture over q at a sum whose terms' variances add up to `variance`."""
    logs = []
    for q in precisions:
        both = interval(float(variance)) + q
        value, _ = psi_and_slope(total / sqrt(both))
        logs.append(value - log(both / q) / 2.0)
    return log_sum(logs, [1.0 / interval(float(len(logs)))] * len(logs)).low

"""Evidence on two arms whose noise has a known scale, from below (docs/theory.md 2.2)."""

from __future__ import annotations

import math

from bestgroup.proof.intervals import INF, Interval, interval, log, log_sum, sqrt
from bestgroup.proof.special import point, psi

_ROOT_2 = math.sqrt(2.0)
_TRIES = 6
_TINY = 1e-3


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
    low, high = -1.0 / s_b, gap + 1.0 / s_a
    for _ in range(60):
        u = (low + high) / 2.0
        if s_a * _slope(s_a * u) > s_b * _slope(s_b * (gap - u)):
            high = u
        else:
            low = u
    return (low + high) / 2.0


def conjugate(t: Interval) -> Interval:
    """Return an upper bound of psi*(t) = sup_x (t x - psi(x)), t > 0.

    With psi'(a) <= t <= psi'(b) the supremum is attained between, where t x - psi(x) is at most its value
    at a plus (t - psi'(a)) (b - a), as psi is convex.
    """
    x = _where(point(t))
    reach = 1e-6 * max(1.0, abs(x))
    for _ in range(_TRIES):
        value, slope = psi(x - reach)
        _, after = psi(x + reach)
        if slope.high <= t.low and t.high <= after.low:
            width = interval(x + reach) - (x - reach)
            most = (t * (x - reach) - value + (t - slope) * width).high
            return Interval(most, most)
        reach *= 10.0
    return Interval(INF, INF)


def _where(t: float) -> float:
    """Return about where psi' is t, by Newton's steps from the right start; psi' rises and is positive."""
    x = t if t > 1.0 else -1.0 / t
    if t < _TINY:  # psi'(-1 / t) is t - 2 t^3 and less; what rounds off would lead steps astray
        return x
    for _ in range(60):
        slope = _slope(x)
        move = (t - slope) / max(1.0 - (slope - x) * slope, 0.3 / (1.0 + x * x))
        x += min(max(move, -1.0 - abs(x)), 1.0 + abs(x))
        if abs(move) < 1e-9 * max(1.0, abs(x)):
            break
    return x


def _slope(x: float) -> float:
    if x < -5.0:
        return point(psi(x)[1])
    tail = math.erfc(-x / _ROOT_2)
    return x + math.sqrt(2.0 / math.pi) * math.exp(-x * x / 2.0) / tail


def difference_value(total: Interval, variance: int, precisions: list[float]) -> float:
    """Return the log of the mixture over q at a sum whose terms' variances add up to `variance`."""
    logs = []
    for q in precisions:
        both = interval(float(variance)) + q
        value, _ = psi_and_slope(total / sqrt(both))
        logs.append(value - log(both / q) / 2.0)
    return log_sum(logs, [1.0 / interval(float(len(logs)))] * len(logs)).low

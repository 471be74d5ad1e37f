"""Whether a bound of one arm's mean has been proven: the e-processes and boundaries of single arms.

Every function takes z, an arm's first n values in a dim, mirrored where an upper bound or a dim that is
minimised is asked for, and a number m. It returns a lower bound of the log of an e-process of the null
"the mean is at most m", or how far a sum lies beyond a boundary; the claim holds where that reaches the
level log(1 / alpha), or 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bestgroup.proof.format import Proof
from bestgroup.proof.intervals import (
    INF,
    LOG_2,
    UNIT,
    Interval,
    down,
    interval,
    log,
    log1p,
    log_sum,
    sqrt,
    up,
)
from bestgroup.proof.noise import RANGED, SCALED, SUB_GAUSSIAN, SYMMETRIC, TWO_VALUED, DimNoise
from bestgroup.proof.special import incomplete_beta, log_beta, psi_of, student

BETS = tuple(2.0**k for k in (-8, -7, -6, -5, -4, -3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3))
WIDE = (8.0, 128.0, 2048.0, 32768.0)
PRECISIONS = ([*WIDE], [256.0, 4096.0, 65536.0])  # of the mixtures that may be used
_MOST = 0.99


class Side(NamedTuple):
    """A bound to check: of a dim of an arm, from below or, mirrored, from above."""

    values: Sequence[float]  # as in the table
    sign: int  # 1, or -1 for mirrored values
    m: float  # mirrored likewise
    noise: DimNoise

    def excess(self) -> Interval:
        """Return sum (z - m), each difference rounded once."""
        m = self.m
        away = [self.sign * x - m for x in self.values]
        value = math.fsum(away)
        slack = up(UNIT * math.fsum(map(abs, away)))
        return Interval(down(down(value) - slack), up(up(value) + slack))

    def range(self) -> tuple[float, float]:
        """Return the least and the largest z."""
        low, high = self.noise.low, self.noise.high
        return (low, high) if self.sign > 0 else (-high, -low)

    def scale(self) -> Interval:
        """Return the scale of the noise: half of the range of values in a range (Hoeffding)."""
        if self.noise.kind in SCALED:
            return interval(self.noise.scale)
        return (interval(self.noise.high) - self.noise.low) / 2.0


def mixture(side: Side, level: Interval, process: dict[str, Any]) -> bool:
    """Half-normal mixtures of the precisions q with equal weights, for noise of a known scale."""
    n, total = len(side.values), side.excess() / side.scale()
    logs = []
    for q in map(float, process["precisions"]):
        root = sqrt(interval(float(n)) + q)
        logs.append(psi_of(total / root) - log(interval(n + q) / q) / 2.0)
    weight = 1.0 / interval(float(len(logs)))
    return log_sum(logs, [weight] * len(logs)).low >= level.high


def union(side: Side, level: Interval, process: dict[str, Any]) -> bool:
    """Hoeffding's inequality with alpha / (2 n^2) for count n: the paper's radius."""
    n = float(len(side.values))
    return _beyond(side, 2.0 * n * (level + log(2.0 * interval(n) * n)))


def stitched(side: Side, level: Interval, process: dict[str, Any]) -> bool:
    """Howard et al. 2021, eq. (2): 1.7 sqrt(n (log log 2n + .72 log(5.2 / alpha)))."""
    n = float(len(side.values))
    inner = log(log(interval(2.0 * n))) + interval(72) / 100 * (level + log(interval(52) / 10))
    return _beyond(side, interval(289) / 100 * n * inner)


def fixed(side: Side, level: Interval, process: dict[str, Any]) -> bool:
    """Hoeffding's inequality at one count that was fixed beforehand."""
    n = len(side.values)
    return n == process["count"] and _beyond(side, 2.0 * n * level)


def _beyond(side: Side, square: Interval) -> bool:
    """Return whether the sum, in units of the scale, is at least the root of a number."""
    return (side.excess() / side.scale()).low >= sqrt(Interval(0.0, max(square.high, 0.0))).high


def betting(side: Side, level: Interval, process: dict[str, Any]) -> bool:
    """Wealth of 15 fixed bets on values in a range, with equal weights."""
    low, high = side.range()
    width = interval(high) - low
    share = (interval(side.m) - low) / width
    if share.low <= 0.0:  # no mean is below the range
        return share.high < 0.0
    logs = []
    for bet in BETS:
        if (bet * share).high < _MOST:
            logs.append(_log_wealth(side, low, (1.0 - bet * share).low, (bet / width).low))
    if not logs:
        return False
    return log_sum(logs, [1.0 / interval(float(len(BETS)))] * len(logs)).low >= level.high


def _log_wealth(side: Side, low: float, rest: float, slope: float) -> Interval:
    """Return the log of prod (rest + slope (z - low)), from below.

    All parts of a factor are positive: its relative error is that of at most five roundings.
    """
    sign, n, power, value = side.sign, len(side.values), 0, 1.0
    for start in range(0, n, 64):
        part = math.prod(rest + slope * (sign * x - low) for x in side.values[start : start + 64])
        value, k = math.frexp(value * part)
        power += k
    if not value > 0.0:
        return Interval(-INF, 0.0)
    found = log(value) + LOG_2 * float(power)
    return found + log1p(-UNIT * (6.0 * n + 4.0))


def jeffreys(side: Side, level: Interval, process: dict[str, Any]) -> bool:
    """The Jeffreys mixture of all success probabilities above m, for 0/1 values."""
    n = len(side.values)
    s = sum(1 for x in side.values if (x == 1.0) == (side.sign > 0))
    low, _ = side.range()
    p = interval(side.m) - low
    if p.low <= 0.0 or p.high >= 1.0:
        return p.high < 0.0
    q = 1.0 - p
    a, b = s + 0.5, n - s + 0.5
    above = log_beta(a, b) + log1p(-incomplete_beta(a, b, p, q))
    prior = log_beta(0.5, 0.5) + log1p(-incomplete_beta(0.5, 0.5, p, q))
    ratio = above - prior
    if s:
        ratio = ratio - float(s) * log(p)
    if n > s:
        ratio = ratio - float(n - s) * log(q)
    return ratio.low >= level.high


def t_mixture(side: Side, level: Interval, process: dict[str, Any]) -> bool:
    """The t-statistic's mixture over q = 2^3, 2^7, 2^11, 2^15, for normal values."""
    n = len(side.values)
    total = side.excess()
    m = side.m
    squares = math.fsum((side.sign * x - m) ** 2 for x in side.values)
    square = interval(squares) * Interval(1.0 - 8.0 * UNIT, 1.0 + 8.0 * UNIT)
    if n < 2 or total.low <= 0.0 or square.low <= 0.0:
        return False
    logs = []
    for q in WIDE:
        rest = square - total * total / (interval(float(n)) + q)
        if rest.low <= 0.0:  # values that are all equal refute the model
            return False
        t = total * sqrt(float(n) / ((interval(float(n)) + q) * rest))
        ratio = log(square) - log(rest)
        value = float(n) / 2.0 * ratio + log(2.0 * student(n, t)) - log1p(n / q) / 2.0
        logs.append(value)
    return log_sum(logs, [interval(0.25)] * 4).low >= level.high


Process = Callable[[Side, Interval, dict[str, Any]], bool]
PROCESSES: dict[str, Process] = {
    "mixture": mixture, "union": union, "stitched": stitched, "fixed": fixed,
    "betting": betting, "jeffreys": jeffreys, "t-mixture": t_mixture,
}  # fmt: skip
# Which noise each process is a proof for.
SERVES = {
    "mixture": SUB_GAUSSIAN,
    "union": SUB_GAUSSIAN,
    "stitched": SUB_GAUSSIAN,
    "fixed": SUB_GAUSSIAN,
    "betting": RANGED,
    "jeffreys": TWO_VALUED,
    "t-mixture": SYMMETRIC,
}


def corrected_count(proof: Proof) -> int:
    """Return the one count of corrected uniform sampling; raises where rounding cannot tell it."""
    most = 0
    for noise, epsilon in zip(proof.noise, proof.epsilon, strict=True):
        side = Side((), 1, 0.0, noise)
        ratio = side.scale() / epsilon
        events = 2 * proof.total * len(proof.dims) / proof.delta
        count = 32.0 * ratio * ratio * log(interval(events))
        if math.ceil(count.low) != math.ceil(count.high):
            raise ValueError("the count of uniform sampling lies on an integer")
        most = max(most, math.ceil(count.low))
    return most

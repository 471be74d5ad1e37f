"""Wealth of bets on the mean of one arm's values when their scale is not known.

**The process.** Bets lam_k > 0 and weights w_k >= 0, w_0 > 0 ("cash"), that sum to 1 are fixed before
the values that count. Against "the mean is at most m" stand

    K(m) = w_0 + sum_k w_k [lam_k m < .99] prod_i (1 + lam_k (x_i - m))     values in [0, 1],
    K(m) = w_0 + sum_k w_k prod_i (1 + tanh(lam_k (x_i - m)))               symmetric noise,

and against "the mean is at least m" the same of 1 - x and 1 - m, or of -x and -m. At the true mean K
is a nonnegative supermartingale that starts at 1 (1 + lam (x - mu) has mean 1 given the past; tanh is
odd), in the filtration of all pulls of all arms. K falls in m: every factor does, and terms only drop
out. It is at least w_0.

**From sums.** For even p, 0 <= t < 1 and z >= -t,

    log(1 + z) >= sum_{k < p} (-1)^(k+1) z^k / k - kappa_p(t) z^p,
    kappa_p(t) = int_0^1 u^(p-1) / (1 - u t) du.

Proof: log(1 + z) = sum_{k < p} (-1)^(k+1) z^k / k - z^p int_0^1 u^(p-1) / (1 + u z) du, and the
integral falls in z. So with p = 6 six sums of powers of an arm's values bound log prod (1 + lam (x - m))
from below at every m (t = lam m). For 0/1 values the product is exact from two counts. For symmetric
noise log(1 + tanh u) = u - log cosh u >= u - u^2 / 2, so three sums are enough, and a half-normal
mixture over lam has the closed form of `evidence`.

**On a cell** [x_0, x_1] of m the log of a product is concave in m for every bet (the log of an affine
function; u - log cosh u). So it is at least the chord between lower bounds at the ends, and log K is at
least the log of a sum of exponentials of affine functions, which is convex: `on_cell` returns its
values and slopes at both ends. A bet that is too large at one of the ends is left out on the cell.

**Rounding.** Sums are kept about an arm's first value, and what floating point may have added to a
polynomial in them is bounded by the sum of the absolute values of its terms, and subtracted.
"""

from __future__ import annotations

import math

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.normal import log_mixture_both
from bestgroup.inference.kinds import BERNOULLI, GAUSSIAN
from bestgroup.problem.arrays import Floats

# What is kept of an arm's values in a dim: how many count, the number from which deviations are taken,
# the sums of their first six powers; and, because sums that count are differences, how many values
# there are in all with their sums of second and sixth powers, which bound what rounding may have done.
ORDER = 6
COUNT, CENTRE, FIRST, ALL, ALL_SECOND, ALL_SIXTH = 0, 1, 2, 8, 9, 10
STATISTICS = 11
KEPT = (
    1 + ORDER
)  # of the values of an arm: the first one, and sums of powers of differences from it
_CASH = 0.01
_MOST = 0.99  # of a bet times m: a bet of all one has would be lost for good
_PARTS = 12  # tuned bets: a half-normal law, in steps of a quarter of its scale
_TUNED = 0.95
_RESERVE = tuple(2.0**-k for k in range(1, 9))  # where scouting misjudged the variance, or the mean
BETS = _PARTS + len(_RESERVE)
_SHARES = tuple(math.exp(-(((k + 0.5) / 4.0) ** 2) / 2.0) for k in range(_PARTS))
_LOG_WEIGHTS = tuple(math.log(_TUNED * share / sum(_SHARES)) for share in _SHARES) + tuple(
    math.log((1.0 - _TUNED - _CASH) / len(_RESERVE)) for _ in _RESERVE
)
LOG_CASH = math.log(_CASH)
# For symmetric noise: how many times as large as the tuned one the scales of half-normal bets are.
_SCALES = (1.0, 0.25, 4.0, 1.0 / 64.0)
_LOG_SCALE_WEIGHTS = (math.log(0.9), math.log(0.04), math.log(0.03), math.log(0.02))
_ROUNDING = 4e-16  # of a sum, for each of its terms: four times what floating point may do
_SLACK = 1e-9


@kernel
def rest_factor(t: float) -> float:
    """Return kappa_6(t) from above, for 0 <= t < 1.

    >>> round(rest_factor(0.0), 12), round(rest_factor(0.5), 9)
    (0.166666666667, 0.294752889)
    """
    if t < 0.25:  # the closed form cancels; those left out add up to less than t^8 / (14 (1 - t))
        total = 1.0 / 10.0 + t * (1.0 / 11.0 + t * (1.0 / 12.0 + t * (1.0 / 13.0 + t / 10.5)))
        return 1.0 / 6.0 + t * (1.0 / 7.0 + t * (1.0 / 8.0 + t * (1.0 / 9.0 + t * total)))
    rest = -math.log1p(-t) - t * (1.0 + t * (0.5 + t * (1.0 / 3.0 + t * (0.25 + t / 5.0))))
    return (rest + 1e-15) / (t * t * t * t * t * t)


@kernel
def absorb_powers(extra: Floats, n: float, x: float) -> None:
    """Take up value number n in [0, 1]: the last entries are the first value and sums about it."""
    at = len(extra) - KEPT
    # About the first value: sums of powers about 0 would cancel for means far from it.
    if n == 1.0:
        extra[at] = x
        for k in range(ORDER):
            extra[at + 1 + k] = 0.0
    power, away = 1.0, x - extra[at]
    for k in range(ORDER):
        power *= away
        extra[at + 1 + k] += power


@borrowing
def set_logs(
    kind: int, stat: Floats, side: int, bets: tuple[float, float], m: float, out: Floats
) -> None:
    """Set what an arm's wealth at m follows from: the logs for each bet, or sums about m, in place.

    `stat` [STATISTICS] are those of the values that count; `bets` are the scale of the
    tuned bets and the largest. `side` 1 is against "the mean is at least m".
    """
    if kind == GAUSSIAN:
        set_spread(stat, side, m, out)
    elif kind == BERNOULLI:
        set_successes(stat, side, bets, m, out)
    else:
        set_powers(stat, side, bets, m, out)


@borrowing
def set_spread(stat: Floats, side: int, m: float, out: Floats) -> None:
    """Set sum (x - m) from below, sum (x - m)^2 from above, and how many; mirrored on side 1."""
    n, away = stat[COUNT], stat[CENTRE] - m
    # Moved from the centre to m by the binomial theorem: values are not read again.
    total = stat[FIRST] + n * away
    square = stat[FIRST + 1] + 2.0 * away * stat[FIRST] + n * away * away
    every, far = stat[ALL], abs(away)
    size = math.sqrt(every * stat[ALL_SECOND]) + every * far
    # Rounded against the claim in both statistics, so that wealth is never too large.
    rounding = _ROUNDING * (every + 16.0)
    out[0] = (total if side == 0 else -total) - rounding * size
    out[1] = max(square, 0.0) + rounding * 2.0 * (stat[ALL_SECOND] + every * away * away)
    out[2] = n


@borrowing
def bet(k: int, bets: tuple[float, float]) -> float:
    """Return bet number k, of those with a scale and a largest one."""
    if k < _PARTS:
        # Tuned bets are multiples of one scale; none may exceed the largest.
        return min(bets[0] * (k + 0.5) / 4.0, bets[1])
    # Fixed bets for the case that the scale was tuned to a wrong variance.
    return _RESERVE[k - _PARTS]


@borrowing
def set_successes(
    stat: Floats, side: int, bets: tuple[float, float], m: float, out: Floats
) -> None:
    """Set log prod (1 + lam (x - m)) for each bet from counts of zeros and ones, [BETS]."""
    # Side 1 bets on the mirrored values 1 - x against the mirrored mean.
    ones = stat[FIRST] if side == 0 else stat[COUNT] - stat[FIRST]
    zeros = stat[COUNT] - ones
    mean = m if side == 0 else 1.0 - m
    for k in range(BETS):
        lam = bet(k, bets)
        out[k] = -math.inf
        # A factor must stay positive: a bet that could lose all is left out at this m.
        if lam * mean < _MOST:
            up, down = math.log1p(lam * (1.0 - mean)), math.log1p(-lam * mean)
            # Exact for zeros and ones, less what rounding may have added.
            out[k] = ones * up + zeros * down - 1e-15 * (ones * up - zeros * down)


@borrowing
def set_powers(stat: Floats, side: int, bets: tuple[float, float], m: float, out: Floats) -> None:
    """Set lower bounds of log prod (1 + lam (x - m)) for each bet from sums of powers, [BETS]."""
    n, sign = stat[COUNT], 1.0 if side == 0 else -1.0
    a = sign * (stat[CENTRE] - m)
    mean = m if side == 0 else 1.0 - m
    p1, p2, p3 = sign * stat[FIRST], stat[FIRST + 1], sign * stat[FIRST + 2]
    p4, p5, p6 = stat[FIRST + 3], sign * stat[FIRST + 4], stat[FIRST + 5]
    # Sums of powers of x - m, by the binomial theorem.
    s1 = p1 + n * a
    s2 = p2 + a * (2.0 * p1 + n * a)
    s3 = p3 + a * (3.0 * p2 + a * (3.0 * p1 + n * a))
    s4 = p4 + a * (4.0 * p3 + a * (6.0 * p2 + a * (4.0 * p1 + n * a)))
    s5 = p5 + a * (5.0 * p4 + a * (10.0 * p3 + a * (10.0 * p2 + a * (5.0 * p1 + n * a))))
    s6 = p4 + a * (20.0 / 15.0 * p3 + a * (p2 + a * (6.0 / 15.0 * p1 + a * n / 15.0)))
    s6 = p6 + a * (6.0 * p5 + a * 15.0 * s6)
    # |x - m|^k is at most 2^(k-1) (|x - c|^k + |c - m|^k): what the terms above add up to at most.
    every, a2 = stat[ALL], a * a
    r1 = math.sqrt(every * stat[ALL_SECOND]) + every * abs(a)
    r2 = 2.0 * (stat[ALL_SECOND] + every * a2)
    r6 = 32.0 * (stat[ALL_SIXTH] + every * a2 * a2 * a2)
    rounding = _ROUNDING * (every + 16.0)
    for k in range(BETS):
        lam = bet(k, bets)
        t = lam * mean
        out[k] = -math.inf
        if t < _MOST:
            l2, rest = lam * lam, rest_factor(t)
            l6 = l2 * l2 * l2
            # The series of log(1 + z) up to z^5; its remainder is bounded by a multiple of z^6.
            value = lam * s1 + l2 * (
                -s2 / 2.0 + lam * (s3 / 3.0 + lam * (-s4 / 4.0 + lam * s5 / 5.0))
            )
            # |z|^k <= z^2 + z^6 for 2 <= k <= 6
            size = lam * r1 + 2.0 * (l2 * r2 + l6 * r6) + rest * l6 * r6
            # From below: the remainder at its worst and the rounding come off.
            out[k] = value - rest * l6 * s6 - rounding * size


@borrowing
def at_point(kind: int, logs: Floats, scale: float) -> float:
    """Return a lower bound of the log of an arm's wealth at the point that `set_logs` was given."""
    # Some money is never bet: wealth cannot fall below it, however wrong the bets are.
    most, parts = LOG_CASH, 1.0
    if kind == GAUSSIAN:
        for k in range(len(_SCALES)):
            value, _ = half_normal(logs[0], logs[1], 0.0, 0.0, scale * _SCALES[k])
            most, parts, _ = add_term(most, parts, 0.0, value + _LOG_SCALE_WEIGHTS[k], 0.0)
        return most + math.log(parts) - _SLACK
    for k in range(BETS):
        if logs[k] > -math.inf:
            most, parts, _ = add_term(most, parts, 0.0, logs[k] + _LOG_WEIGHTS[k], 0.0)
    return most + math.log(parts) - _SLACK


@borrowing
def add_term(
    most: float, parts: float, slopes: float, value: float, slope: float
) -> tuple[float, float, float]:
    """Return the sum exp(most) parts and its slope after exp(value), with its own, is added."""
    # The largest term carries the exponent: no overflow, whatever the wealth.
    if value > most:
        shrink = math.exp(most - value)
        return value, parts * shrink + 1.0, slopes * shrink + slope
    share = math.exp(value - most)
    return most, parts + share, slopes + share * slope


@borrowing
def half_normal(
    total: float, square: float, fall: float, rise: float, scale: float
) -> tuple[float, float]:
    """Return the log of the mixture of exp(lam total - lam^2 square / 2) over half-normal lam.

    And its slope when `total` falls and `square` rises at these rates.
    """
    # The mixture over half-normal lam has a closed form in z (`normal.log_mixture`).
    q = 1.0 / (scale * scale)
    both = square + q
    root = math.sqrt(both)
    z = total / root
    value, slope = log_mixture_both(z)
    drift = -0.5 * rise / both + slope * (-fall / root - 0.5 * z * rise / both)
    return value - 0.5 * math.log(both / q), drift


@borrowing
def on_cell(
    kind: int, left: Floats, right: Floats, scale: float, width: float
) -> tuple[float, float, float, float]:
    """Return values and slopes, at both ends, of a convex function below log K on a cell.

    `left` and `right` are what `set_logs` has set for its ends; the slopes are along the cell.
    """
    m0, n0, d0 = LOG_CASH, 1.0, 0.0
    m1, n1, d1 = LOG_CASH, 1.0, 0.0
    if kind == GAUSSIAN:
        # Statistics are replaced by their chords, which lie on the safe side over the cell.
        fall, rise = (left[0] - right[0]) / width, (right[1] - left[1]) / width
        for k in range(len(_SCALES)):
            lam, weight = scale * _SCALES[k], _LOG_SCALE_WEIGHTS[k]
            value, slope = half_normal(left[0], left[1], fall, rise, lam)
            m0, n0, d0 = add_term(m0, n0, d0, value + weight, slope)
            value, slope = half_normal(right[0], right[1], fall, rise, lam)
            m1, n1, d1 = add_term(m1, n1, d1, value + weight, slope)
    else:
        for k in range(BETS):
            if left[k] > -math.inf and right[k] > -math.inf:
                # The log of one bet is concave in m: its chord is below it.
                slope = (right[k] - left[k]) / width
                m0, n0, d0 = add_term(m0, n0, d0, left[k] + _LOG_WEIGHTS[k], slope)
                m1, n1, d1 = add_term(m1, n1, d1, right[k] + _LOG_WEIGHTS[k], slope)
    return m0 + math.log(n0) - _SLACK, d0 / n0, m1 + math.log(n1) - _SLACK, d1 / n1

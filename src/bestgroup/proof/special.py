"""Special functions by intervals: the normal law, log gamma and the incomplete beta function.

All come from series of positive terms, of which a part is a lower bound and whose rest is below a
geometric series, or from continued fractions with positive terms, whose convergents lie on both sides.
"""

from __future__ import annotations

import math

from bestgroup.proof.intervals import INF, Interval, Number, exp, interval, log, sqrt, up, widen

PI = Interval(3.141592653589793, 3.1415926535897936)
ROOT_2_OVER_PI = sqrt(interval(2.0) / PI)
_MOST_TERMS = 100_000
_FAR = -30.0


def _series(x: float) -> Interval:
    """Return sum_k x^(2k+1) / (2k+1)!! for x >= 0: (Phi(x) - 1/2) / phi(x)."""
    square, term, result, k = x * x, x, x, 0
    while k < 3 or term > 1e-18 * result or 2.0 * square > 2 * k + 3:
        k += 1
        term = term * square / (2 * k + 1)
        result += term
    found = widen(result, 4 * k)  # of terms with at most 3 k + 1 operations each
    return Interval(found.low, up(found.high + 2.0 * term))


def _mills(x: float) -> Interval:
    """Return (1 - Phi(x)) / phi(x) for x >= 1.5 by convergents of its continued fraction.

    x + 1 / (x + 2 / (x + ...)): a relative error of the inner part grows by two roundings a step.
    """
    deep, ends = int((23.0 / x) ** 2 / 2.0) + 4, []
    for depth in (deep, deep + 1):
        value = x
        for k in range(depth, 0, -1):
            value = x + k / value
        ends.append(widen(1.0 / value, 2 * depth + 1))
    return Interval(min(e.low for e in ends), max(e.high for e in ends))


def two_phi(x: float) -> tuple[Interval, Interval]:
    """Return 2 Phi(x), and e^(-x^2 / 2) sqrt(2 / pi).

    >>> value, _ = two_phi(1.0)
    >>> value.low < 1.6826894921370859 < value.high
    True
    """
    density = ROOT_2_OVER_PI * exp(interval(x) * x / -2.0)  # twice the normal density
    if -2.0 < x < 2.5:
        half = density * _series(abs(x))
        return (1.0 + half if x >= 0.0 else 1.0 - half), density
    tail = density * _mills(abs(x))
    return (2.0 - tail if x > 0.0 else tail), density


def psi(x: float) -> tuple[Interval, Interval]:
    """Return x^2 / 2 + log 2 Phi(x), which docs/theory.md calls psi, and its slope x + phi(x) / Phi(x)."""
    if x < _FAR:  # e^(-x^2 / 2) cancels, and is soon too small for a double
        ratio = _mills(-x)
        return log(ROOT_2_OVER_PI * ratio), x + 1.0 / ratio
    value, density = two_phi(x)
    return interval(x) * x / 2.0 + log(value), x + density / value


def psi_of(x: Interval) -> Interval:
    """Return psi, which rises, of an interval."""
    return Interval(psi(x.low)[0].low, psi(x.high)[0].high)


# Bernoulli numbers B_2k / (2k (2k - 1)) of Stirling's series (DLMF 5.11.1).
_STIRLING = [(1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156)]
HALF_LOG_2_PI = log(2.0 * PI) / 2.0


def log_gamma(x: float) -> Interval:
    """Return log Gamma(x), x > 0; the error of Stirling's series is below its next term, with its sign.

    >>> value = log_gamma(5.0)
    >>> value.low < 3.1780538303479458 < value.high
    True
    """
    shift, z = interval(1.0), x
    while z < 16.0:
        shift, z = shift * z, z + 1.0  # x is a multiple of 1/2: exact
    y = interval(z)
    result = (y - 0.5) * log(y) - y + HALF_LOG_2_PI
    power, ends = y, result
    for k, (top, bottom) in enumerate(_STIRLING):
        before = result
        result = result + interval(float(top)) / (power * float(bottom))
        power = power * y * y
        ends = before if k == len(_STIRLING) - 1 else result
    both = Interval(min(ends.low, result.low), max(ends.high, result.high))
    return both - log(shift)


def log_beta(a: float, b: float) -> Interval:
    """Return log B(a, b)."""
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


def _beta_series(a: float, b: float, x: float) -> tuple[Interval, float]:
    """Return sum_k (a + b)_k / (a + 1)_k x^k up to where little is left, and what that is at most."""
    term, result, k = 1.0, 1.0, 0
    while k < _MOST_TERMS:
        ratio = x * (a + b + k) / (a + 1.0 + k)
        term *= ratio
        # The ratios fall towards x if b > 1 and rise towards it otherwise.
        most = max(ratio, x) * (1.0 + 1e-15)
        if most < 1.0 and term * most <= 1e-18 * result * (1.0 - most):
            # Five roundings a step: of two sums, a product, a quotient, and the product with the ratio.
            return widen(result, 6 * k + 6), widen(term / (1.0 - most), 6 * k + 20).high
        result += term
        k += 1
    return widen(result, 6 * k + 6), INF


def incomplete_beta(a: float, b: float, x: Interval, rest: Interval) -> Interval:
    """Return I_x(a, b) for x < 1; `rest` is 1 - x.

    I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) sum_k (a + b)_k / (a + 1)_k x^k (DLMF 8.17.8).

    >>> value = incomplete_beta(2.0, 3.0, interval(0.25), interval(0.75))
    >>> value.low < 0.26171875 < value.high
    True
    """
    if x.high <= 0.0:
        return interval(0.0)
    low, _ = _beta_series(a, b, max(x.low, 0.0))
    high, rest_of_it = _beta_series(a, b, x.high)
    whole = Interval(low.low, up(high.high + rest_of_it))
    front = interval(a) * log(x) + interval(b) * log(rest) - log_beta(a, b) - log(interval(a))
    found = exp(front + log(whole)) if whole.high < INF else Interval(0.0, 1.0)
    return Interval(max(found.low, 0.0), min(found.high, 1.0))


def student(n: int, t: Interval) -> Interval:
    """Return F_n(t), Student's distribution function, for t >= 0.

    >>> value = student(1, interval(1.0))
    >>> value.low < 0.75 < value.high
    True
    """
    square = t * t
    both = square + float(n)
    return 0.5 + 0.5 * incomplete_beta(0.5, n / 2.0, square / both, float(n) / both)


def point(value: Number) -> float:
    """Return a double near the middle of an interval; it only suggests."""
    found = interval(value)
    return math.fsum((found.low, found.high)) / 2.0

"""Elementary functions from below, as kernels: basic operations of IEEE 754 alone, errors bounded.

Additions, products, quotients and square roots of doubles are correctly rounded, with a relative error
of at most u = 2^-53; what follows is built from these, so that no result rests on a mathematical
library. Constants below are bounds with room, derived beside each function.
"""

from __future__ import annotations

import math

from bestgroup.compile.kernel import kernel

TINY = 2.0**-48  # of log and exp: see there
LOG_2 = 0.6931471805599453  # to within 2^-54
_HIGH, _LOW = (
    6.93147180369123816490e-01,
    1.90821492927058770002e-10,
)  # log 2 = high + low, high short
_ROOT_2_OVER_PI = 0.7978845608028654  # to within 2^-54
_PSI = 1e-12  # the error of log 2 Phi(x), see `psi_below`


@kernel
def log_near(x: float) -> float:
    """Return log x of a positive double, to within TINY (1 + |log x|).

    With x = 2^e m, m from sqrt 1/2 to sqrt 2, and s = (m - 1) / (m + 1), log m = 2 (s + s^3 / 3 + ...);
    |s| < .172, and what is left out is below 10^-20 s. m - 1 is exact, so that log m has a relative
    error of 8 u, and e log 2 one of 3 u; where they cancel neither is above 1.

    >>> abs(log_near(10.0) - 2.302585092994046) < 1e-15
    True
    """
    m, e = math.frexp(x)
    if m < 0.7071067811865476:
        m, e = 2.0 * m, e - 1
    s = (m - 1.0) / (m + 1.0)
    square, total = s * s, 0.0
    for k in range(12, 0, -1):
        total = (total + 1.0 / (2.0 * k + 1.0)) * square
    return e * LOG_2 + 2.0 * s * (1.0 + total)


@kernel
def exp_near(x: float) -> float:
    """Return e^x for x <= 0, to within a relative error of TINY; 0 below -700.

    x = k log 2 + r with |r| < .36: k times the high part of log 2 is exact, and so is its difference
    from x. The sum up to r^17 has a relative error of 8 u.

    >>> abs(exp_near(-1.0) - 0.36787944117144233) < 1e-16
    True
    """
    if x < -700.0:
        return 0.0
    k = math.floor(x / LOG_2 + 0.5)
    r = (x - k * _HIGH) - k * _LOW
    value = 1.0
    for n in range(17, 0, -1):
        value = value * r / n + 1.0
    return math.ldexp(value, int(k))


@kernel
def mills(x: float, upper: bool) -> float:
    """Return (1 - Phi(x)) / phi(x) for x >= 2 from above or below, but for 200 u of it.

    By two neighbouring convergents of x + 1 / (x + 2 / (x + ...)), one of which is above: at most 71
    steps, each of which adds two roundings.
    """
    deep = int((23.0 / x) ** 2 / 2.0) + 4
    first, second = x, x
    for k in range(deep, 0, -1):
        first = x + k / first
    for k in range(deep + 1, 0, -1):
        second = x + k / second
    return 1.0 / min(first, second) if upper else 1.0 / max(first, second)


@kernel
def psi_below(x: float) -> float:
    """Return a lower bound of psi(x) = x^2 / 2 + log 2 Phi(x), less than 10^-11 (1 + x^2) below it.

    Below -2 it is log(sqrt(2 / pi) mills(-x)). From there to 2.5 it follows from a series of positive
    terms, at most 60 of them with four roundings each: 2 Phi has an error of 3 10^-14, and is at
    least .045. Above, 2 Phi = 2 - tail.
    """
    if x <= -2.0:
        return log_near(_ROOT_2_OVER_PI * mills(-x, False)) - _PSI
    square = x * x
    density = _ROOT_2_OVER_PI * exp_near(-square / 2.0)
    if x >= 2.5:
        twice = 2.0 - density * mills(x, True)
    else:
        size, k = abs(x), 0
        term, total = size, size
        while k < 3 or term > 1e-18 * total or 2.0 * square > 2.0 * k + 3.0:
            k += 1
            term = term * square / (2.0 * k + 1.0)
            total += term
        # A part of the series is below the whole, which is below the part and twice the last term.
        twice = 1.0 + density * total if x >= 0.0 else 1.0 - density * (total + 2.0 * term)
    return square / 2.0 + log_near(twice) - _PSI - 2.0**-50 * square

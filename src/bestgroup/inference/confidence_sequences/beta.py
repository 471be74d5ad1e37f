"""The incomplete beta function and Student's t, as kernels: numba has neither.

The regularised function I_x(a, b) is x^a (1 - x)^b / (a B(a, b)) divided by a continued fraction
(DLMF 8.17.22), which converges quickly for x below (a + 1) / (a + b + 2); beyond it the symmetry
I_x(a, b) = 1 - I_{1-x}(b, a) is used.
"""

from __future__ import annotations

import math

from bestgroup.compile.kernel import kernel

_TINY = 1e-300
_TERMS = 10_000
_HALF_LOG_2_PI = math.log(2.0 * math.pi) / 2.0


@kernel
def log_gamma(x: float) -> float:
    """Return log Gamma(x) for x > 0 by Stirling's series (DLMF 5.11.1) from 12 on.

    Python's own and numba's differ in the last bits.

    >>> round(log_gamma(5.0) - math.log(24.0), 12), round(math.exp(2 * log_gamma(0.5)), 12)
    (0.0, 3.14159265359)
    """
    shift = 1.0
    while x < 12.0:
        shift *= x
        x += 1.0
    y = 1.0 / (x * x)
    series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188))))) / x
    return (x - 0.5) * math.log(x) - x + _HALF_LOG_2_PI + series - math.log(shift)


@kernel
def log_beta(a: float, b: float) -> float:
    """Return log B(a, b)."""
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


@kernel
def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of DLMF 8.17.22, by Lentz's method."""
    c, d, h = 1.0 / _TINY, 1.0, 1.0
    for k in range(1, _TERMS):
        m = k // 2
        if k % 2 == 0:
            term = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d = 1.0 + term * d
        if abs(d) < _TINY:
            d = _TINY
        d = 1.0 / d
        c = 1.0 + term / c
        if abs(c) < _TINY:
            c = _TINY
        h *= c * d
        if abs(1.0 - c * d) < 1e-15:
            break
    return h


@kernel
def log_upper_beta(a: float, b: float, x: float) -> float:
    """Return log(1 - I_x(a, b)), accurate where 1 - I is tiny, too.

    >>> round(math.exp(log_upper_beta(2.0, 3.0, 0.25)), 12)
    0.73828125
    """
    return log_upper_beta_of(a, b, x, log_beta(a, b))


@kernel
def log_upper_beta_of(a: float, b: float, x: float, whole: float) -> float:
    """Return log(1 - I_x(a, b)) for `whole` = log B(a, b), which a search over x computes once."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return -math.inf
    front = a * math.log(x) + b * math.log1p(-x) - whole
    if x > (a + 1.0) / (a + b + 2.0):
        return front - math.log(b) + math.log(_fraction(b, a, 1.0 - x))
    lower = math.exp(front - math.log(a)) * _fraction(a, b, x)
    return math.log1p(-min(lower, 1.0 - 1e-16))


@kernel
def student_cdf(t: float, n: float) -> float:
    """Return the distribution function of Student's t with n degrees of freedom, for t >= 0.

    >>> round(student_cdf(1.0, 1.0), 12)
    0.75
    """
    return student_cdf_of(t, n, log_beta(0.5, n / 2.0))


@kernel
def student_cdf_of(t: float, n: float, whole: float) -> float:
    """Return Student's distribution function for `whole` = log B(1 / 2, n / 2)."""
    # P(T > t) is half of I_x(n / 2, 1 / 2) at x = n / (n + t^2), which is 1 - I_{1-x}(1 / 2, n / 2).
    return 1.0 - 0.5 * math.exp(log_upper_beta_of(0.5, n / 2.0, t * t / (n + t * t), whole))

"""Evidence that one group is worth more than another: mixtures of likelihood ratios, and their infimum.

Take an arm whose pulls have, given the past, mean nu and sub-Gaussian noise of scale 1, and let S be the
sum of n of them. For every eta the process exp(eta (S - n nu) - eta^2 n / 2) is a nonnegative
supermartingale that starts at 1, whatever decides which arm is pulled next. So is its mixture over a
half-normal eta >= 0 with precision q,

    E(nu) = sqrt(q / (n + q)) exp psi(x),   x = (S - n nu) / sqrt(n + q),   psi(x) = x^2 / 2 + log 2 Phi(x),

and so are the mixture over eta <= 0 (x with the other sign) and every product of such mixtures over
different arms, for a pull moves one factor only. `psi` is convex and increasing.

**A linear null.** Let arm a have coefficient c_a > 0 and sign s_a, and let the null be sum_a s_a c_a nu_a + b <= 0.
With g = sum_a s_a c_a S_a / n_a + b > 0, the infimum of the product of the mixtures over the null is

    log E = inf { sum_a psi(x_a) : sum_a v_a x_a = g } - sum_a h_a,
    v_a = c_a sqrt(n_a + q_a) / n_a,   h_a = log(1 + n_a / q_a) / 2,

for the null says sum_a v_a x_a >= g, and psi is increasing. Weak duality: for every y >= 0 it is at least

    y g - sum_a (psi*(y v_a) + h_a),   psi*(t) = sup_x (t x - psi(x)).                             (1)

(1) is what is computed, at a y, the tilt, that nearly maximises it. It never overstates, because `conjugate`
is never below psi*: psi* is convex, so a chord between two points above its graph lies above it, and the
table holds upper bounds at its nodes. There psi'(low) <= t <= psi'(high), and convexity of psi gives
psi*(t) <= t low - psi(low) + (t - psi'(low)) (high - low). Below the table t |x| < 1 (Mills' ratio), so that
psi*(t) <= psi*(t_0) + log(t_0 / t); above it psi*(t) <= t^2 / 2 - log 2 + 1e-12.

If the precision is one of several, with prior weights p_1, p_2, ..., then log sum_k p_k exp(evidence_k) is a
lower bound of the log of the infimum of their mixture, which again starts at 1.

References: Robbins 1970, Annals of Mathematical Statistics 41(5); Howard, Ramdas, McAuliffe, Sekhon 2021,
Annals of Statistics 49(2); Kaufmann and Koolen 2021, JMLR 22(246).
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.core.arrays import Floats
from bestgroup.core.kernel import kernel

_ROOT_2 = math.sqrt(2.0)
_ROOT_2_PI = math.sqrt(2.0 / math.pi)
_LOG_2 = math.log(2.0)
_FAR = -5.0  # where the continued fraction of Mills' ratio takes over
_LOW, _HIGH, _PARTS = -24, 4, 64  # the table: octaves 2^-24 to 2^4, each in 64 equal parts
_FIRST, _LAST = 2.0**_LOW, 2.0**_HIGH
_BITS = 2.0**40  # nodes are multiples of 2^-40, so that they do not depend on the last bit of libm


def log_mixture(x: float) -> float:
    """Return psi(x) = x^2 / 2 + log 2 Phi(x).

    >>> round(log_mixture(0.0), 12), round(log_mixture(2.0), 12)
    (0.0, 2.670134271231)
    """
    if x > _FAR:
        return x * x / 2.0 + math.log(math.erfc(-x / _ROOT_2))
    return math.log(_ROOT_2_PI / (-x + _remainder(-x)))


def log_mixture_slope(x: float) -> float:
    """Return psi'(x) = x + phi(x) / Phi(x), without cancellation far on the left.

    >>> round(log_mixture_slope(0.0), 12)
    0.797884560803
    """
    if x > _FAR:
        return x + _ROOT_2_PI * math.exp(-x * x / 2.0) / math.erfc(-x / _ROOT_2)
    return _remainder(-x)


def _remainder(u: float) -> float:
    """Return 1 / (u + 2 / (u + 3 / ...)) = phi(u) / (1 - Phi(u)) - u, for u >= 5."""
    value = 0.0
    for k in range(40, 0, -1):
        value = k / (u + value)
    return value


def conjugate_above(t: float, guess: float | None = None) -> float:
    """Return psi*(t) from above, within 1e-11 max(1, psi*): see the module for the bracket.

    >>> round(conjugate_above(2.0), 9)
    1.331595017
    """
    x = (t if t > 1.0 else -1.0 / t) if guess is None else guess
    for _ in range(60):  # Newton's method; psi'' = 1 - r (x + r) with r = phi / Phi
        slope = log_mixture_slope(x)
        move = (t - slope) / max(1.0 - (slope - x) * slope, 0.3 / (1.0 + x * x))
        x += min(max(move, -1.0 - abs(x)), 1.0 + abs(x))
        if abs(move) < 1e-8 * max(1.0, abs(x)):
            break
    width = 1e-7 * max(1.0, abs(x))
    low, high = x - width, x + width
    while log_mixture_slope(low) > t:
        low -= 2.0 * (high - low)
    while log_mixture_slope(high) < t:
        high += 2.0 * (high - low)
    return t * low - log_mixture(low) + (t - log_mixture_slope(low)) * (high - low)


def _table() -> Floats:
    """Return upper bounds of psi* at the nodes, a few 2^-40 above what was computed."""
    nodes = (_HIGH - _LOW) * _PARTS + 1
    values = np.empty(nodes)
    for k in range(nodes):
        octave, part = divmod(k, _PARTS)
        t = 2.0 ** (_LOW + octave) * (1.0 + part / _PARTS)
        values[k] = (math.floor(conjugate_above(t) * _BITS) + 64.0) / _BITS
    return values


TABLE = _table()


@kernel
def conjugate(t: float) -> tuple[float, float]:
    """Return an upper bound of psi*(t) for t > 0, within 4e-5 max(1, t^2), and about its slope."""
    if t >= _LAST:
        return t * t / 2.0 - _LOG_2 + 1e-12, t
    if t < _FIRST:
        return TABLE[0] + math.log(_FIRST / t), -1.0 / t
    mantissa, exponent = math.frexp(t)
    place = (2.0 * mantissa - 1.0) * _PARTS
    part = int(place)
    node = (exponent - 1 - _LOW) * _PARTS + part
    rise = TABLE[node + 1] - TABLE[node]
    return TABLE[node] + (place - part) * rise, rise * _PARTS / 2.0 ** (exponent - 1)


@kernel
def climb(gap: float, v: Floats, n: int, y: float, enough: float) -> tuple[float, float]:
    """Return the largest y gap - sum_a psi*(y v_a) that Newton's method finds, and its y.

    `v` holds n entries; `y` is where to start, 0 if nothing is known. It stops at a value of `enough`.
    psi*'' is about 1 + 1 / t^2.
    """
    if y <= 0.0:
        square = 0.0
        for a in range(n):
            square += v[a] * v[a]
        y = gap / square
    best, best_y = -np.inf, y
    for _ in range(12):
        value, slope, bend = y * gap, gap, 0.0
        for a in range(n):
            height, x = conjugate(y * v[a])
            value -= height
            slope -= v[a] * x
            bend += v[a] * v[a] + 1.0 / (y * y)
        if value > best:
            best, best_y = value, y
        move = slope / bend
        if best >= enough or abs(move) < 0.01 * y:
            break
        y = min(max(y + move, 0.25 * y), 4.0 * y)
    return best, best_y

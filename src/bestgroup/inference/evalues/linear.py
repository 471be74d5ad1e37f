"""Evidence for linear comparisons of several arms: mixtures of likelihood ratios, and their infimum.

The half-normal mixture of one arm, psi and the proof that every product over different arms is a
supermartingale under any adaptive sampling are in `evidence`: with S the sum of n pulls of scale 1
and mean nu,

    E(nu) = sqrt(q / (n + q)) exp psi(x),  x = (S - n nu) / sqrt(n + q),  psi(x) = x^2 / 2 + log 2 Phi(x),

and x with the other sign for the mixture over eta <= 0.

**A linear null.** Let arm a have coefficient c_a > 0 and sign s_a, and let the null be
sum_a s_a c_a nu_a + b <= 0. With g = sum_a s_a c_a S_a / n_a + b > 0, the infimum of the product of
the mixtures over the null is

    log E = inf { sum_a psi(x_a) : sum_a v_a x_a = g } - sum_a h_a,
    v_a = c_a sqrt(n_a + q) / n_a,   h_a = log(1 + n_a / q) / 2,

for the null says sum_a v_a x_a >= g, and psi is increasing. Weak duality: for every y >= 0 it is at
least

    y g - sum_a (psi*(y v_a) + h_a),   psi*(t) = sup_x (t x - psi(x)).                         (1)

(1) is what is computed, at a y, the tilt, that nearly maximises it. It never overstates, because
`conjugate` is never below psi*: psi* is convex, so a chord between two points above its graph lies
above it, and the table holds upper bounds at its nodes. There psi'(low) <= t <= psi'(high), and
convexity of psi gives psi*(t) <= t low - psi(low) + (t - psi'(low)) (high - low). Below the table
t |x| < 1 (Mills' ratio), so that psi*(t) <= psi*(t_0) + log(t_0 / t); above it
psi*(t) <= t^2 / 2 - log 2 + 1e-12, for t x - x^2 / 2 <= t^2 / 2 and log 2 Phi(x) > log 2 - 1e-12
where x > 15.

If the precision q is one of several, with prior weights p_1, p_2, ..., then
log sum_k p_k exp(evidence_k) is a lower bound of the log of the infimum of their mixture, which
again starts at 1.

References: Robbins 1970, Annals of Mathematical Statistics 41(5); Howard, Ramdas, McAuliffe, Sekhon
2021, Annals of Statistics 49(2); Kaufmann and Koolen 2021, JMLR 22(246).
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.normal import log_mixture, log_mixture_slope
from bestgroup.problem.arrays import Floats

_LOG_2 = math.log(2.0)
_LOW, _HIGH, _PARTS = -24, 4, 64  # the table: octaves 2^-24 to 2^4, each in 64 equal parts
_FIRST, _LAST = 2.0**_LOW, 2.0**_HIGH
_BITS = 2.0**40  # nodes are multiples of 2^-40, so that they do not depend on the last bit of libm

# The precisions are those of effects from 0.4 down to 0.002 standard deviations; most problems lie in
# the middle.
PRECISIONS = tuple(2.0**k for k in (3, 6, 9, 12, 15, 18))
PRIOR = tuple(p / 12.0 for p in (1.0, 3.0, 3.0, 3.0, 1.0, 1.0))
# Where a leader is one factor (`adaptive.best.leaders`): more on gaps of .02 to .1 standard deviations.
GROUP_PRIOR = tuple(p / 100.0 for p in (2.0, 30.0, 44.0, 19.0, 4.0, 1.0))


def coefficients(scales: Floats, independent: bool) -> Floats:
    """Return c_B for every set B of dims, [2^D], from w^d sigma_d.

    >>> coefficients(np.array([3.0, 4.0]), True), coefficients(np.array([3.0, 4.0]), False)
    (array([0., 3., 4., 5.]), array([0., 3., 4., 7.]))
    """
    power = 2.0 if independent else 1.0
    sets = np.arange(1 << len(scales))[:, None] >> np.arange(len(scales)) & 1
    return (sets * scales**power).sum(axis=1) ** (1.0 / power)


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
    """Return an upper bound of psi*(t) for t > 0, within 8e-5 max(1, t^2), and about its slope."""
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


@borrowing
def climb(gap: float, v: Floats, n: int, y: float, enough: float) -> tuple[float, float]:
    """Return the largest y gap - sum_a psi*(y v_a) that Newton's method finds, and its y.

    `v` holds n entries; `y` is where to start, 0 if nothing is known. It stops at a value of `enough`.
    Steps use that psi*'(t) is about t - 1 / (2 t), psi*''(t) about 1 + 1 / t^2.
    """
    square = 0.0
    for a in range(n):
        square += v[a] * v[a]
    if y <= 0.0:
        y = (gap + math.sqrt(gap * gap + 2.0 * n * square)) / (2.0 * square)
    best, best_y = -np.inf, y
    for _ in range(12):
        value, slope = y * gap, gap
        for a in range(n):
            height, x = conjugate(y * v[a])
            value -= height
            slope -= v[a] * x
        if value > best:
            best, best_y = value, y
        move = slope / (square + n / (y * y))
        if best >= enough or slope * move < 0.004:
            break
        y = min(max(y + move, 0.25 * y), 4.0 * y)
    return best, best_y

"""A confidence sequence for the mean of normal values of unknown variance: a t-type e-process.

With S = sum (x_i - m), V = sum (x_i - m)^2 and a prior on the effect (mean - m) / sigma that is
half-normal on the positive numbers with precision q, and the right Haar prior d sigma / sigma, the
ratio of marginal likelihoods against "the mean is m" is

    E_n(m) = sqrt(q / (n + q)) (V / W)^(n / 2) 2 F_n(S sqrt(n / ((n + q) W))),  W = V - S^2 / (n + q),

F_n the distribution function of Student's t with n degrees of freedom: given sigma the effect is
normal a posteriori, 1 / sigma^2 is gamma, and the mixture of the two is Student's. E_n is the
likelihood ratio of the values up to their common scale, a maximal invariant; so at the true mean it
is a martingale in what these ratios tell, with E_1 of mean 1 (Lai 1976, Annals of Statistics 4(2);
Wang and Ramdas 2023, arXiv 2310.03722). By
Ville's inequality it ever reaches 1 / alpha with probability at most alpha. That speaks of one
arm's own values in their order, hence holds however the arms are sampled; the values must be
independent and normal with one mean and one variance.

E_n rises in S / sqrt(V), which falls in m: so the refuted m are those below a root, at S / sqrt(V)
= T, where T depends on n and alpha alone. With s^2 the sum of squares about the mean the bound is

    mean - T s / sqrt(n (n - T^2)).

Normal values never tie, so values that are all equal refute the model: they give no bound.

The mixture over q = 2^3, 2^7, 2^11, 2^15 with equal weights serves small and large n alike.
"""

from __future__ import annotations

import math

from bestgroup.compile.kernel import kernel
from bestgroup.inference.confidence_sequences.beta import log_beta, student_cdf_of
from bestgroup.problem.arrays import Floats

# The first value, and sums of deviations from it and of their squares; then, for evidence on pairs, how
# many values came before those that count, their sums, and the unit that they show: 0 before there is one.
STATISTICS, BEFORE, UNIT = 7, 3, 6
AT_LEAST = 4  # values that the unit is taken from
_FINEST, _SCALES = 8.0, 4
_STEPS = 60
_ROUGH, _FINE = 6, 12  # steps by halves, and by the false position
_PAD = 1e-11  # relative


@kernel
def absorb_gaussian(extra: Floats, n: float, x: float) -> None:
    """Take up value number n, in place; deviations from the first value keep all digits."""
    if n == 1.0:
        extra[0], extra[1], extra[2], extra[UNIT] = x, 0.0, 0.0, 0.0
    extra[1] += x - extra[0]
    extra[2] += (x - extra[0]) * (x - extra[0])
    if n >= AT_LEAST and extra[UNIT] == 0.0:
        square = extra[2] - extra[1] * extra[1] / n
        if square > 1e-14 * extra[2]:
            extra[BEFORE], extra[BEFORE + 1], extra[BEFORE + 2] = n, extra[1], extra[2]
            extra[UNIT] = math.sqrt(square / (n - 1.0))


@kernel
def log_student(n: float, t: float) -> float:
    """Return log of the mixture of E_n over q where S / sqrt(V) = t, 0 <= t < sqrt(n)."""
    return _log_student(n, t, log_beta(0.5, n / 2.0))


@kernel
def _log_student(n: float, t: float, whole: float) -> float:
    """Return that log for `whole` = log B(1 / 2, n / 2)."""
    most, parts = -math.inf, 0.0
    q = _FINEST
    for _ in range(_SCALES):
        rest = 1.0 - t * t / (n + q)  # W / V
        side = student_cdf_of(t * math.sqrt(n / ((n + q) * rest)), n, whole)
        value = -math.log1p(n / q) / 2.0 - n / 2.0 * math.log(rest) + math.log(2.0 * side)
        q *= 16.0
        if value > most:
            parts = parts * math.exp(most - value) + 1.0 if most > -math.inf else 1.0
            most = value
        else:
            parts += math.exp(value - most)
    return most + math.log(parts / _SCALES)


@kernel
def gaussian_reach(n: float, level: float) -> float:
    """Return T / sqrt(n (n - T^2)): the half-width is that times s; infinite for too few values."""
    low, high, whole = 0.0, math.sqrt(n) * (1.0 - 1e-12), log_beta(0.5, n / 2.0)
    if n < 2.0 or _log_student(n, high, whole) < level + 1e-9:
        return math.inf
    under, over = _around(n, level, whole)
    for _ in range(_STEPS):
        t = (low + high) / 2.0
        if not low < t < high:
            break
        if t >= over or (t > under and _log_student(n, t, whole) >= level + 1e-9):
            high = t
        else:
            low = t
    return high / math.sqrt(n * (n - high * high))


@kernel
def _around(n: float, level: float, whole: float) -> tuple[float, float]:
    """Return t up to which the level is not reached and t from which it is, to spare most steps.

    The ends of a bracket, found by halving and then by the false position method (Illinois), moved
    apart by far more than what rounding can turn round.
    """
    low, high, side = 0.0, math.sqrt(n) * (1.0 - 1e-12), 0
    below, above = -math.inf, math.inf
    for k in range(_ROUGH + _FINE):
        t = (low + high) / 2.0
        if k >= _ROUGH and below > -math.inf and above < math.inf:
            t = (low * above - high * below) / (above - below)
        if not low < t < high:
            break
        excess = _log_student(n, t, whole) - level - 1e-9
        if excess >= 0.0:
            below = below / 2.0 if side > 0 else below
            high, above, side = t, excess, 1
        else:
            above = above / 2.0 if side < 0 else above
            low, below, side = t, excess, -1
        if high - low <= _PAD * high:
            break
    return low * (1.0 - _PAD), high * (1.0 + _PAD)


@kernel
def box_gaussian(n: float, extra: Floats, level: float) -> tuple[float, float]:
    """Return a lower and an upper bound of the mean, each at level log(1 / alpha)."""
    shift = extra[1] / n
    spread = math.sqrt(max(extra[2] - extra[1] * shift, 0.0))
    reach = gaussian_reach(n, level)
    if not (reach < math.inf and spread > 0.0):
        return -math.inf, math.inf
    return extra[0] + shift - reach * spread, extra[0] + shift + reach * spread

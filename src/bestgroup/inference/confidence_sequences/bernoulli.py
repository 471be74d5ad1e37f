"""A confidence sequence for the probability of a success: the Jeffreys mixture above m.

Let s of n values be 1, the others 0. Against the null that the probability is at most m stands the
mixture of the likelihoods of all p > m, weighted by Jeffreys' prior beta(1/2, 1/2) restricted to
p > m:

    K_n(m) = B(s + 1/2, n - s + 1/2) (1 - I_m(s + 1/2, n - s + 1/2))
             / (B(1/2, 1/2) (1 - I_m(1/2, 1/2)) m^s (1 - m)^(n - s)).

For p > m and a true probability q <= m the factor of one value has mean q p / m + (1 - q) (1 - p) /
(1 - m), which rises in q and is 1 at q = m. So K_n(m) is a nonnegative supermartingale that starts
at 1 (Robbins 1970, Annals of Mathematical Statistics 41(5); Kaufmann and Koolen 2021, JMLR 22(246),
use such mixtures), and reaches 1 / alpha with probability at most alpha.

Where s - n m >= 1/2 it falls in m: the slope of its log is -(s - n m) / (m (1 - m)) plus the hazard
of the prior at m, which is at most 1 / (2 m (1 - m)), minus that of the posterior. Where s - n m <
1/2 it is below 2 (its largest factor is the likelihood ratio at s / n). So for alpha <= 1/2 the
refuted m are those below the root of K_n(m) = 1 / alpha.
"""

from __future__ import annotations

import math

from bestgroup.compile.kernel import kernel
from bestgroup.inference.confidence_sequences.beta import log_beta, log_upper_beta_of

_STEPS = 50
_ROUGH, _FINE = 6, 12  # steps by halves, and by the false position
_PAD = 1e-11  # relative


@kernel
def log_jeffreys(s: float, n: float, m: float) -> float:
    """Return log K_n(m) for 0 < m < 1.

    >>> log_jeffreys(0.0, 0.0, 0.3)
    0.0
    """
    return _log_jeffreys(s, n, m, log_beta(s + 0.5, n - s + 0.5), log_beta(0.5, 0.5))


@kernel
def _log_jeffreys(s: float, n: float, m: float, whole: float, first: float) -> float:
    """Return log K_n(m) for the logs of B(s + 1/2, n - s + 1/2) and B(1/2, 1/2)."""
    a, b = s + 0.5, n - s + 0.5
    above = whole + log_upper_beta_of(a, b, m, whole)
    prior = first + log_upper_beta_of(0.5, 0.5, m, first)
    return above - prior - s * math.log(m) - (n - s) * math.log1p(-m)


@kernel
def lower_bernoulli(n: float, s: float, level: float) -> float:
    """Return a lower bound of the probability from s successes in n, at level log(1 / alpha)."""
    low, high = 0.0, s / n
    whole, first = log_beta(s + 0.5, n - s + 0.5), log_beta(0.5, 0.5)
    under, over = _around(n, s, level, whole, first)
    for _ in range(_STEPS):
        m = (low + high) / 2.0
        if not low < m < high:
            break
        if m <= under or (m < over and _log_jeffreys(s, n, m, whole, first) >= level + 1e-8):
            low = m
        else:
            high = m
    return low


@kernel
def _around(n: float, s: float, level: float, whole: float, first: float) -> tuple[float, float]:
    """Return m below which all are refuted and m from which none is, to spare the search most steps.

    The ends of a bracket, found by halving and then by the false position method (Illinois), moved
    apart by far more than what rounding can turn round.
    """
    low, high, side = 0.0, s / n, 0
    below, above = math.inf, -math.inf
    for k in range(_ROUGH + _FINE):
        m = (low + high) / 2.0
        if k >= _ROUGH and below < math.inf and above > -math.inf:
            m = (low * above - high * below) / (above - below)
        if not low < m < high:
            break
        excess = _log_jeffreys(s, n, m, whole, first) - level - 1e-8
        if excess >= 0.0:
            above = above / 2.0 if side > 0 else above
            low, below, side = m, excess, 1
        else:
            below = below / 2.0 if side < 0 else below
            high, above, side = m, excess, -1
        if high - low <= _PAD * high:
            break
    return low * (1.0 - _PAD), high * (1.0 + _PAD)

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
from bestgroup.inference.confidence_sequences.beta import log_beta, log_upper_beta

_STEPS = 50


@kernel
def log_jeffreys(s: float, n: float, m: float) -> float:
    """Return log K_n(m) for 0 < m < 1.

    >>> log_jeffreys(0.0, 0.0, 0.3)
    0.0
    """
    a, b = s + 0.5, n - s + 0.5
    above = log_beta(a, b) + log_upper_beta(a, b, m)
    prior = log_beta(0.5, 0.5) + log_upper_beta(0.5, 0.5, m)
    return above - prior - s * math.log(m) - (n - s) * math.log1p(-m)


@kernel
def lower_bernoulli(n: float, s: float, level: float) -> float:
    """Return a lower bound of the probability from s successes in n, at level log(1 / alpha)."""
    low, high = 0.0, s / n
    for _ in range(_STEPS):
        m = (low + high) / 2.0
        if not low < m < high:
            break
        if log_jeffreys(s, n, m) >= level + 1e-8:
            low = m
        else:
            high = m
    return low

"""Evidence on pairs of arms: half-normal mixtures of likelihood ratios, least over a null.

**One arm.** Let S be the sum of n pulls of an arm whose noise is, given the past, sub-Gaussian with
scale 1, and nu its mean. For every eta the process exp(eta (S - n nu) - eta^2 n / 2) is a
nonnegative supermartingale that starts at 1, whatever decides which arm is pulled next. So is its
mixture over a half-normal eta >= 0 with precision q,

    E(nu) = sqrt(q / (n + q)) exp psi(x),
    x = (S - n nu) / sqrt(n + q),  psi(x) = x^2 / 2 + log 2 Phi(x).

The mixture over eta <= 0 has -x instead of x. psi is convex and increasing: it is, up to a
constant, the log of an integral of exp(eta x) over positive eta. By Ville's inequality P(E ever
reaches 1 / alpha) <= alpha.

**Two arms.** Let a and b be different arms whose pulls are independent, and consider the null nu_a
+ s <= nu_b. A pull moves one factor only, so the product of E_a over eta >= 0 and E_b over eta <= 0
at the true means is a nonnegative supermartingale that starts at 1. It falls in nu_a and rises in
nu_b, so over the null it is least at nu_b = nu_a + s. With gap = mean_a + s - mean_b the log of
that infimum is

    Ev = min_u [psi(s_a u) + psi(s_b (gap - u))] - log(1 + n_a / q_a) / 2 - log(1 + n_b / q_b) / 2,
    s_c = n_c / sqrt(n_c + q_c).

If the null holds, exp Ev never exceeds that supermartingale, so P(Ev >= log(1 / alpha) at some
time) <= alpha, under every adaptive sampling. `pair_evidence` returns a lower bound of Ev: the
bracket's two tangents of a convex function lie below it, so their crossing is below its minimum.
The bracket exists: with F the sum and c = 1 / s_b, psi'(x) < 1 / |x| for x < 0 (Mills' ratio) and
psi'(x) > x give F'(-c) < 1 / c - s_b^2 (gap + c) <= 0, and likewise F'(gap + 1 / s_a) > 0.

**Many precisions.** The mixture of E over q = 2^3, 2^7, 2^11, 2^15 with equal weights is again such
a supermartingale. It rises in S, so it has reached 1 / alpha wherever S is at least the root
`mixture_edge` of "mixture = 1 / alpha". The edge rises with n, and edge / n falls: log mixture at S
= c n is convex in n and 0 at n = 0.

References: Robbins 1970, Annals of Mathematical Statistics 41(5); Howard, Ramdas, McAuliffe, Sekhon
2021, Annals of Statistics 49(2); Kaufmann and Koolen 2021, JMLR 22(246).
"""

from __future__ import annotations

import math

from bestgroup.compile.kernel import kernel

_ROOT_2 = math.sqrt(2.0)
_ROOT_2_PI = math.sqrt(2.0 / math.pi)
_LOG_2 = math.log(2.0)
_FAR = -5.0  # left of it x^2 / 2 and log Phi cancel too much
_FRACTIONS = 60  # of the continued fraction, exact to double precision for |x| >= 5
_SLACK = 1e-9  # far above all rounding errors of an evidence, far below what it costs
_FINEST, _SCALES = 8.0, 4  # precisions 2^3, 2^7, 2^11, 2^15 of the wide mixture


@kernel
def mills_rest(u: float) -> float:
    """Return phi(u) / (1 - Phi(u)) - u = 1 / (u + 2 / (u + 3 / ...)), for u >= 5."""
    value = 0.0
    for k in range(_FRACTIONS, 0, -1):
        value = k / (u + value)
    return value


@kernel
def log_mixture(x: float) -> float:
    """Return psi(x) = x^2 / 2 + log 2 Phi(x).

    >>> round(log_mixture(0.0), 12), round(log_mixture(2.0), 12)
    (0.0, 2.670134271231)
    """
    # Below this erfc underflows or cancels; the Mills ratio does not.
    if x > _FAR:
        return x * x / 2.0 + math.log(math.erfc(-x / _ROOT_2))
    return math.log(_ROOT_2_PI / (mills_rest(-x) - x))


@kernel
def log_mixture_slope(x: float) -> float:
    """Return psi'(x) = x + phi(x) / Phi(x).

    >>> round(log_mixture_slope(0.0), 12)
    0.797884560803
    """
    if x > _FAR:
        return x + _ROOT_2_PI * math.exp(-x * x / 2.0) / math.erfc(-x / _ROOT_2)
    return mills_rest(-x)


@kernel
def log_mixture_both(x: float) -> tuple[float, float]:
    """Return psi(x) and psi'(x), the same bits as the two functions above."""
    if x > _FAR:
        tail = math.erfc(-x / _ROOT_2)
        half = x * x / 2.0
        return half + math.log(tail), x + _ROOT_2_PI * math.exp(-half) / tail
    rest = mills_rest(-x)
    return math.log(_ROOT_2_PI / (rest - x)), rest


@kernel
def pair_evidence_above(gap: float, n_a: float, n_b: float, q_a: float, q_b: float) -> float:
    """Return an upper bound of the evidence without iterations, for psi(x) <= x^2 / 2 + log 2."""
    p_a = n_a * n_a / (n_a + q_a)
    p_b = n_b * n_b / (n_b + q_b)
    cost = math.log((1.0 + n_a / q_a) * (1.0 + n_b / q_b)) / 2.0
    # The minimum of the sum of two parabolas: the usual inverse-variance weights.
    return gap * gap / 2.0 * (p_a * p_b / (p_a + p_b)) + 2.0 * _LOG_2 - cost + _SLACK


@kernel
def pair_evidence(gap: float, n_a: float, n_b: float, q_a: float, q_b: float) -> float:
    """Return a lower bound, tight to about 1e-8, of the evidence against nu_a + s <= nu_b.

    `gap` is mean_a + s - mean_b in units of the scale; -inf if it is not positive or an arm has no
    pulls.

    >>> round(pair_evidence(1.0, 50.0, 50.0, 4.0, 4.0), 6)
    10.35701
    >>> pair_evidence(-1.0, 50.0, 50.0, 4.0, 4.0)
    -inf
    """
    # "not >" also catches a NaN: no evidence rather than a wrong one.
    if not (gap > 0.0 and n_a > 0.0 and n_b > 0.0):
        return -math.inf
    s_a = n_a / math.sqrt(n_a + q_a)
    s_b = n_b / math.sqrt(n_b + q_b)
    cost = math.log((1.0 + n_a / q_a) * (1.0 + n_b / q_b)) / 2.0
    least = least_pair(gap, s_a, s_b)
    # Rounded down by more than the minimiser and the functions may be off.
    return least - cost - _SLACK * (1.0 + 1e-3 * abs(least))


@kernel
def least_pair(gap: float, s_a: float, s_b: float) -> float:
    """Return min_u psi(s_a u) + psi(s_b (gap - u)), up to rounding from below."""
    low, high = -1.0 / s_b, gap + 1.0 / s_a
    low_value, low_slope = pair_value(low, gap, s_a, s_b)
    high_value, high_slope = pair_value(high, gap, s_a, s_b)
    # Where two parabolas have their minimum: the start is exact far from 0.
    u = gap * (s_b * s_b) / (s_a * s_a + s_b * s_b)
    bound = -math.inf
    for k in range(100):
        # A step that leaves the bracket is replaced by its middle.
        if not low < u < high:
            u = (low + high) / 2.0
        value, slope = pair_value(u, gap, s_a, s_b)
        if slope <= 0.0:
            low, low_value, low_slope = u, value, slope
        else:
            high, high_value, high_slope = u, value, slope
        if slope == 0.0:
            return value
        # Convex, so tangents lie below: where they cross is a lower bound that needs no
        # convergence.
        bound = max(bound, crossing(low, low_value, low_slope, high, high_value, high_slope))
        if min(low_value, high_value) - bound <= _SLACK:
            break
        if k >= 12 and k % 3 == 0:  # Newton steps may creep where the curvature fades
            u = (low + high) / 2.0
        else:  # from the second step on twice as far, to end up on the other side
            step = slope / pair_curvature(u, gap, s_a, s_b)
            u -= step if k == 0 else 2.0 * step
    return bound


@kernel
def pair_value(u: float, gap: float, s_a: float, s_b: float) -> tuple[float, float]:
    """Return psi(s_a u) + psi(s_b (gap - u)) and its slope in u."""
    value_a, slope_a = log_mixture_both(s_a * u)
    value_b, slope_b = log_mixture_both(s_b * (gap - u))
    return value_a + value_b, s_a * slope_a - s_b * slope_b


@kernel
def pair_curvature(u: float, gap: float, s_a: float, s_b: float) -> float:
    """Return a positive number close to the second derivative; it only steers."""
    x_a, x_b = s_a * u, s_b * (gap - u)
    t_a, t_b = log_mixture_slope(x_a), log_mixture_slope(x_b)
    # Away from 0: a vanishing curvature would make a step without end.
    c_a = max(1.0 - (t_a - x_a) * t_a, 1e-3)
    c_b = max(1.0 - (t_b - x_b) * t_b, 1e-3)
    return s_a * s_a * c_a + s_b * s_b * c_b


@kernel
def crossing(
    low: float,
    low_value: float,
    low_slope: float,
    high: float,
    high_value: float,
    high_slope: float,
) -> float:
    """Return the height at which the tangents at both ends of a bracket cross."""
    width = high - low
    fall, rise = -low_slope, high_slope
    # The end itself is the minimum of the convex function.
    if fall <= 0.0:
        return low_value
    if rise <= 0.0:
        return high_value
    # low_value - fall t = high_value - rise (width - t)
    t = (low_value - high_value + rise * width) / (fall + rise)
    return low_value - fall * t


@kernel
def wide_mixture(total: float, n: float) -> tuple[float, float]:
    """Return the log of the mixture over the four scales at a sum of variance n, and its slope."""
    most, parts, slopes = -math.inf, 0.0, 0.0
    q = _FINEST
    for _ in range(_SCALES):
        root = math.sqrt(n + q)
        value, slope = log_mixture_both(total / root)
        value -= math.log((n + q) / q) / 2.0
        slope /= root
        q *= 16.0
        # Terms are added relative to the largest, so nothing overflows.
        if value > most:
            shrink = math.exp(most - value)
            parts, slopes, most = parts * shrink + 1.0, slopes * shrink + slope, value
        else:
            share = math.exp(value - most)
            parts, slopes = parts + share, slopes + share * slope
    return most + math.log(parts / _SCALES), slopes / parts


@kernel
def mixture_edge(n: float, alpha: float) -> float:
    """Return the sum at which the wide mixture reaches 1 / alpha, from above.

    A sum of sub-Gaussian terms whose variances add up to n gets there with probability at most
    alpha. The log of the mixture is convex and increasing in the sum, so Newton's steps from the
    right stay right of the root.

    >>> round(mixture_edge(1000.0, 0.01), 6)
    115.536522
    """
    level = math.log(1.0 / alpha) + _SLACK
    edge = math.inf
    q = _FINEST
    # Each q alone, at its share of alpha: the closed form of `confidence`, right of the root.
    for _ in range(_SCALES):
        ratio = math.sqrt((n + q) / q)
        bound = 2.0 * (n + q) * math.log(1.0 + _SCALES * ratio / (2.0 * alpha))
        edge = min(edge, math.sqrt(bound))
        q *= 16.0
    for _ in range(50):
        value, slope = wide_mixture(edge, n)
        step = (value - level) / slope
        # Convex and increasing: steps come from the right and never pass the root.
        if not step > 1e-12 * edge:
            break
        edge -= step
    return edge

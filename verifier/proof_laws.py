"""Bounds of single arms by e-processes that know the law of the values: 0/1, or normal."""

from functools import partial
from math import inf, log, log1p

import mpmath as mp
from verify_proof import WIDE, log_sum

beta_part = partial(mp.betainc, regularized=True)


def jeffreys(side, m):
    """Return the log of K_n(m) for 0/1 values."""
    share, ones, zeros = side.share(m), side.kept[1.0], side.kept[0.0]
    a, b, p, q = ones + 0.5, zeros + 0.5, float(share), float(1 - share)
    if q <= 0:
        return -inf
    above = mp.log(mp.beta(a, b) * beta_part(a, b, p, 1) / (mp.pi * beta_part(0.5, 0.5, p, 1)))
    return float(above - ones * mp.log(p) - zeros * mp.log(q))


def student(side, m):
    """Return the log of the mixture of t processes for normal values, of which nothing is known."""
    n, s, logs = side.n, side.away(m), []
    square = side.spread + s * s / n
    for q in WIDE:
        rest = square - s * s / (n + q)
        if n < 2 or s <= 0 or rest <= 0:
            return -inf
        y = s * s / ((n + q) * rest)
        cdf = 1 + beta_part(0.5, n / 2, 0, y / (1 + y))  # 2 F_n
        logs.append(float(mp.log(cdf)) + (n * log(square / rest) - log1p(n / q)) / 2)
    return log_sum(logs) - log(len(WIDE))


LOGS = {"jeffreys": jeffreys, "t-mixture": student}

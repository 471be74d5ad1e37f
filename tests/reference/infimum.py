"""The infimum behind joint evidence, computed without the library."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr


def psi(x):
    if x < 0:
        return math.log(erfcx(-x / math.sqrt(2)))
    return x * x / 2 + math.log(2) + log_ndtr(x)


def exact_infimum(gap, v):
    """inf { sum psi(x_a) : sum v_a x_a = gap } at a feasible point, hence not below it."""

    def point(y):
        low, high = -1.0 / (y * v), y * v  # Mills' ratio
        for _ in range(55):
            x = (low + high) / 2
            slope = x + np.exp(-x * x / 2 - 0.5 * math.log(2 * math.pi) - log_ndtr(x))
            slope = np.where(x < -1e3, -1.0 / x, slope)
            low, high = np.where(slope < y * v, x, low), np.where(slope < y * v, high, x)
        return (low + high) / 2

    y = brentq(lambda y: point(y) @ v - gap, 1e-3 * gap / (v @ v), 1e3 * gap / (v @ v) + 1e3)
    x = point(y)
    x[np.argmax(v)] += (gap - x @ v) / v.max()
    return sum(psi(z) for z in x)

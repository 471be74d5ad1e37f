"""Confidence sequences for values in [0, 1] by betting, which adapts to the variance.

**The wealth.** A gambler who suspects that the mean exceeds m bets a share lam on it before each
value x: the wealth grows by 1 + lam (x - m), which is not negative for lam <= 1 / m. If the mean
is at most m, given the past, the wealth is a nonnegative supermartingale that starts at 1, and so
is the mixture over the bets lam_1, ..., lam_L with equal weights,

    K_n(m) = (1 / L) sum_k [lam_k m < 1] prod_{i <= n} (1 + lam_k (x_i - m)).

By Ville's inequality it ever reaches 1 / alpha with probability at most alpha (Waudby-Smith and
Ramdas 2024, JRSS B 86(1), who choose the bets from the past; a fixed mixture needs no data and
keeps K_n monotone: it falls as m rises, since every factor does and terms only drop out). So the
mean is at least every m at which K_n(m) >= 1 / alpha has been seen.

**Evaluation.** K_n(m) needs all values, but lower bounds of it are enough:

- exactly, on a grid of m: a point at or above m bounds K_n(m) from below (method "betting");
- for every m from n, sum x and sum x^2 (method "bernstein"): for y >= -1 and 0 <= t < 1,
  log(1 + t y) >= t y - y^2 (-log(1 - t) - t) (Fan, Grama, Liu 2015, Electronic Journal of
  Probability 20; Howard et al. 2021, Annals of Statistics 49(2)). With y = (x - m) / m, t = lam m,

      log prod (1 + lam (x_i - m)) >= lam (sum x - n m) - (-log(1 - lam m) - lam m) V(m) / m^2,
      V(m) = sum (x_i - m)^2.

"betting" takes the larger of both for each bet. It is the same supermartingale, so nothing is paid
for using both. Upper bounds are lower bounds of 1 - x.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.problem.arrays import Floats

# Small bets suit many values, and double; large ones suit few values of small variance.
_BETS = tuple(2.0**k for k in (-8, -7, -6, -5, -4, -3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3))
_POINTS = 31  # the grid is 1/32, ..., 31/32
_GRID = tuple((g + 1) / (_POINTS + 1) for g in range(_POINTS))
STATISTICS = 2  # sum x, sum x^2; then the wealths for larger and for smaller means
WEALTHS = _POINTS * len(_BETS)
_MOST = 0.99  # a bet of all one has would be lost for good
_RICH = 1e290  # a wealth beyond it is counted as that much, which only loses
_CLOSE = 3e-8  # how close a bound comes to the root that it stands for


@kernel
def absorb_bounded(extra: Floats, x: float) -> None:
    """Take up one value in [0, 1], in place; `extra` begins with 2 entries, or 2 + 2 WEALTHS."""
    extra[0] += x
    extra[1] += x * x
    if len(extra) <= WEALTHS:
        return
    at = 2
    for side in range(2):
        # Side 1 bets that the mean is smaller, by mirroring the values.
        value = x if side == 0 else 1.0 - x
        for g in range(_POINTS):
            point = (g + 1) / (_POINTS + 1)
            for k in range(len(_BETS)):
                # A bet that could lose everything at this mean is not made.
                if _BETS[k] * point < _MOST:
                    extra[at] = min(extra[at] * (1.0 + _BETS[k] * (value - point)), _RICH)
                at += 1


_SAFE_BETS = np.array(
    [[bet if bet * point < _MOST else 0.0 for bet in _BETS] for point in _GRID]
).ravel()
_ALL_POINTS = np.repeat(_GRID, len(_BETS))


@absorb_bounded.plainly
def _absorb_at_once(extra: Floats, x: float) -> None:
    """Do the same with arrays: a hundred times as fast as the loop where that is not compiled."""
    extra[0] += x
    extra[1] += x * x
    if len(extra) > WEALTHS:
        both = extra[2 : 2 + 2 * WEALTHS].reshape(2, WEALTHS)
        for value, part in ((x, both[0]), (1.0 - x, both[1])):
            np.minimum(part * (1.0 + _SAFE_BETS * (value - _ALL_POINTS)), _RICH, out=part)


@kernel
def log_wealth(n: float, total: float, squares: float, extra: Floats, side: int, m: float) -> float:
    """Return a lower bound of log K_n(m) for 0 < m < 1; `total` and `squares` of that side's values."""
    cell = math.ceil(m * (_POINTS + 1)) - 1  # the first grid point at or above m
    known = len(extra) > WEALTHS and cell < _POINTS
    point = (cell + 1) / (_POINTS + 1)
    at = 2 + (side * _POINTS + cell) * len(_BETS)
    spread = max(squares - 2.0 * m * total + n * m * m, 0.0)
    most, parts = -math.inf, 0.0
    for k in range(len(_BETS)):
        bet, value = _BETS[k], -math.inf
        t = bet * m
        # From sums alone, for every m: a lower bound that is tight for small bets.
        if t < _MOST:
            value = bet * (total - n * m) - (-math.log1p(-t) - t) * (spread / (m * m))
        # K falls as m rises, so the wealth at the grid point above m is a lower bound at m.
        if known and bet * point < _MOST:
            wealth = float(extra[at + k])
            if wealth > 0.0:
                value = max(value, math.log(wealth))
        # Sum of exponentials relative to the largest: no overflow.
        if value > most:
            parts = parts * math.exp(most - value) + 1.0 if most > -math.inf else 1.0
            most = value
        elif value > -math.inf:
            parts += math.exp(value - most)
    if most == -math.inf or most == math.inf:
        return most
    return most + math.log(parts / len(_BETS))


@kernel
def between(low: float, high: float, gain: float, loss: float, reach: float, first: float) -> float:
    """Return where to look next for a root, by ITP (Oliveira and Takahashi 2020, ACM TOMS 47(1)).

    A step of regula falsi, moved towards the middle, and never further from it than bisection would
    allow: `reach` is to be halved with every look. `first` is how far apart the ends were at first.
    """
    middle = (low + high) / 2.0
    if gain == math.inf or loss == -math.inf:
        return middle
    m = low + (high - low) * gain / (gain - loss)
    shift = min(0.2 * (high - low) ** 2 / first, abs(middle - m))
    m += math.copysign(shift, middle - m)
    room = max(reach - (high - low) / 2.0, 0.0)
    return min(max(m, middle - room), middle + room)


@kernel
def lower_bounded(n: float, extra: Floats, side: int, level: float, floor: float) -> float:
    """Return a lower bound of the mean of x (side 0) or of 1 - x (side 1), at level log(1 / alpha).

    If none above `floor` follows, that is returned, at little cost.
    """
    # Plain numbers: without compilation those of an array are ten times as slow.
    n, total, squares = float(n), float(extra[0]), float(extra[1])
    if side == 1:
        # The sums of 1 - x follow from those of x.
        squares = n - 2.0 * total + squares
        total = n - total
    low, high = max(floor, 0.0), min(max(total / n, 0.0), 1.0)
    gain, loss = math.inf, -math.inf  # what log K is above the level at low, and at high
    if low > 0.0:
        gain = log_wealth(n, total, squares, extra, side, low) - level if low < high else -1.0
        # The floor itself is not refuted: nothing above it can be.
        if gain < 0.0:
            return low
    # How many points of the grid are refuted; wealth falls as m rises.
    least = math.floor(low * (_POINTS + 1))
    most = min(math.ceil(high * (_POINTS + 1)) - 1, _POINTS)
    # Grid points first: exact wealth is known there, and they bracket the root.
    while least < most:
        g = (least + most + 1) // 2
        over = log_wealth(n, total, squares, extra, side, g / (_POINTS + 1)) - level
        if over >= 0.0:
            least, gain = g, over
        else:
            most, loss = g - 1, over
    low = max(low, least / (_POINTS + 1))
    high = min(high, (least + 1) / (_POINTS + 1))
    reach = _CLOSE
    while reach < high - low:
        reach *= 2.0
    first = high - low
    while high - low > _CLOSE:
        m = between(low, high, gain, loss, reach, first)
        reach /= 2.0
        over = log_wealth(n, total, squares, extra, side, m) - level
        if over >= 0.0:
            # The refuted end is what is returned: stopping early costs width, never coverage.
            low, gain = m, over
        else:
            high, loss = m, over
    return low

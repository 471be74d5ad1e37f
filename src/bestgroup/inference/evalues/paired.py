"""E-values on shared items: the values of two arms on the same items, one difference an item.

D_1, D_2, ... are differences in [-r, r], one an item, in the order of the items. The null is that
their mean is at most -s; to refute it is to prove that the first arm, plus s, is above the second.

    m_t = (-n s - D_1 - ... - D_{t-1}) / (n - t + 1)    a pool of n items in random order
    m_t = -s                                            items that are independent draws
    K_t = sum_k w_k prod_{u <= t} (1 + min(l_k g_u, c / (r + m_u)) (D_u - m_u)),

g_u = n / (n - u + 1) for a pool, else 1; c < 1. In `betting` one more product, of weight 0.7, bets
what the items before u suggest: G / (v + G^2), G the mean of the differences so far less m_u and v
their variance, both drawn to 0 by ten items. `ladder` has fixed bets only: then K rises in s.

Given the items before t, D_t has at most mean m_t under the null: exactly that if the pool's mean is
-s, for then the rest of the pool has the mean m_t. Bets are known before item t and factors are
positive, so K is a nonnegative supermartingale that starts at 1 *in the filtration of the items*, and
reaches 1 / alpha with probability at most alpha, whichever arm is asked for which item and whenever
one looks, as long as no arm skips an item (docs/theory.md 9).

- If m_t < -r no completion of the pool satisfies the null: it is false for certain.
- If m_t >= r the null is certain; nothing is bet.
- After item n the sum is known: "above" needs more than -s, "not below" also takes equality.

**Rounding** never overstates. m is computed with an upper bound of its error added, and a factor falls
in m; bets are what the computed numbers are; the product is multiplied by 1 - t 2^-44 before it is
compared, which is more than its factors can have gained. Sums that differ by less than the largest
rounding error count as equal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.problem.arrays import Floats

OPEN, PROVEN, REFUTED = 0, 1, 2

_SPARE = 0.05  # the weight of all bets in reserve together
_RESERVE = 12  # smaller bets, for gaps that the others are too large for
_PLUG = 0.7  # the weight of the bet that follows the items
_DRAWN = 10.0  # items that its estimates are drawn to 0 by
_UNSEEN = 0.005  # the variance of these, in units of r^2
_UNIT = 2.0**-52  # twice the relative error of an addition or a product
_LOSS = 2.0**-44  # more than the relative error of a factor
_TINY = 1e-250  # a smaller wealth counts as nothing
_NEAR = 1e-9  # a mean this close to -r, in units of r, is taken to be this far from it


class Betting(NamedTuple):
    """How differences are bet on."""

    pool: int  # how many items it has; 0 if items are independent draws
    bets: Floats  # [L]     l_k r
    weights: Floats  # [L]  w_k
    cap: float  # c, of the largest bet that cannot lose everything
    plug: float  # the weight of the bet that follows the items; 0 for fixed bets only


class Claim(NamedTuple):
    """What is to be proven of a pair, and when it is."""

    shift: float  # s
    reach: float  # r
    need: float  # the wealth that proves it, 1 / alpha
    strict: bool  # whether equality at the end of a pool refutes it


@borrowing
def on_units(claim: Claim, largest: float) -> Claim:
    """Return a claim on the mean of an item as one on units of several: D + s z has at most mean 0.

    Of a unit z is its number of items, at most `largest`, and D the sum of their differences.
    """
    reach = largest * (claim.reach + abs(claim.shift))
    return Claim(0.0, reach, claim.need, claim.strict)


def ladder(count: int) -> Betting:
    """Return fixed bets for a pool of `count` items; 0 for independent draws, with bets in reserve.

    A pool needs no small bets: it ends.

    >>> len(ladder(100).bets), len(ladder(0).bets)
    (16, 28)
    """
    return _steps(count, 8.0, 1.6, 16, 0.95, 0.0)


def betting(count: int) -> Betting:
    """Return fewer fixed bets, and one that follows the items; for claims whose shift is fixed.

    >>> len(betting(100).bets), len(purse(betting(100)))
    (12, 13)
    """
    return _steps(count, 32.0, 2.0, 12, 0.98, _PLUG)


def _steps(count: int, largest: float, ratio: float, main: int, cap: float, plug: float) -> Betting:
    kept = main if count else main + _RESERVE
    bets = np.array([largest / ratio**k for k in range(kept)])
    weights = np.full(len(bets), 1.0 / main)
    if not count:
        weights[:main] = (1.0 - _SPARE) / main
        weights[main:] = _SPARE / _RESERVE
    return Betting(count, bets, weights, cap, plug)


def purse(rule: Betting) -> Floats:
    """Return the wealth of each bet before the first item."""
    return np.ones(purse_size(rule))


def purse_size(rule: Betting) -> int:
    """Return how many wealths a process keeps.

    >>> purse_size(ladder(100))
    16
    """
    return len(rule.bets) + (1 if rule.plug > 0.0 else 0)


@borrowing
def rounding(count: int, done: int, shift: float, reach: float) -> float:
    """Return more than the rounding error of n s plus a sum of `done` differences."""
    return _UNIT * (reach * done * (done + 32.0) + 8.0 * count * abs(shift))


@borrowing
def null_mean(count: int, done: int, total: float, shift: float, reach: float) -> float:
    """Return m_t rounded up, after `done` items with that total."""
    # A stream: every item has the mean of the null, whatever came before.
    if count == 0:
        return -shift
    slop = rounding(count, done, shift, reach)
    # A pool without replacement: what is left must make up for what was drawn (rounded up: safe).
    return (slop - count * shift - total) / (count - done)


@borrowing
def suggested(done: int, total: float, square: float, mean: float, claim: Claim) -> float:
    """Return the bet that `done` items with this sum and sum of squares suggest; at least 0."""
    count = done + _DRAWN
    # A few imagined items at the null keep the first bets small.
    gap = (total - _DRAWN * claim.shift) / count - mean
    if gap <= 0.0:
        return 0.0
    rest = max(0.0, square - total * total / max(1, done))
    variance = (_DRAWN * _UNSEEN * claim.reach * claim.reach + rest) / count
    # The bet with the largest growth to second order; it uses past items only, so it is fair.
    return gap / (variance + gap * gap)


@borrowing
def bet(
    rule: Betting,
    wealth: Floats,
    value: float,
    mean: float,
    done: int,
    reach: float,
    follows: float,
) -> float:
    """Multiply the wealth of every bet by its factor for an item; returns K_t, rounded down.

    `follows` is the bet that follows the items, if the rule has one.
    """
    # No factor may become negative: the worst value is -reach.
    cap = rule.cap / max(reach + mean, _NEAR * reach)
    # Towards the end of a pool the null mean moves faster, and so may the bets.
    stretch = 1.0 if rule.pool == 0 else rule.pool / (rule.pool - done)
    stretch = stretch / reach
    for k in range(len(wealth)):
        size = min(rule.bets[k] * stretch if k < len(rule.bets) else follows, cap)
        grown = wealth[k] * (1.0 + size * (value - mean))
        # A bet that is lost for good is 0: denormal numbers would slow all later products down.
        wealth[k] = grown if grown > _TINY else 0.0
    # Each product may be off by a unit in the last place: taken off as a whole.
    return pooled(rule, wealth) * (1.0 - (done + 1) * _LOSS)


@borrowing
def pooled(rule: Betting, wealth: Floats) -> float:
    """Return the weighted wealth of all bets."""
    average = 0.0
    for k in range(len(rule.bets)):
        average += rule.weights[k] * wealth[k]
    if rule.plug > 0.0:
        # A fixed share for the bet that follows the items: an average of fair games is fair.
        average = (1.0 - rule.plug) * average + rule.plug * wealth[len(rule.bets)]
    return average


@borrowing
def grow(
    rule: Betting,
    wealth: Floats,
    value: float,
    done: int,
    total: float,
    square: float,
    claim: Claim,
) -> float:
    """Take up the difference on the item after `done` ones, of which the sums are given.

    Returns K_t, rounded down; infinity if the null was false for certain before the item.
    """
    mean = null_mean(rule.pool, done, total, claim.shift, claim.reach)
    # The rest of the pool cannot bring the mean down to the null any more: certain, not just
    # likely.
    if mean < -claim.reach:
        return math.inf
    # The null allows every value that is left: no bet against it can gain.
    if mean >= claim.reach:
        return pooled(rule, wealth) * (1.0 - (done + 1) * _LOSS)
    follows = 0.0
    if rule.plug > 0.0:
        follows = suggested(done, total, square, mean, claim)
    return bet(rule, wealth, value, mean, done, claim.reach, follows)


@borrowing
def watch_item(
    rule: Betting,
    wealth: Floats,
    value: float,
    done: int,
    total: float,
    square: float,
    claim: Claim,
) -> int:
    """Take up the difference on the item after `done` ones; returns whether the claim is proven."""
    if grow(rule, wealth, value, done, total, square, claim) >= claim.need:
        return PROVEN
    # All items are known: the sum decides without any error probability.
    if done + 1 == rule.pool:
        return at_the_end(rule.pool, total + value, claim)
    return OPEN


@borrowing
def at_the_end(count: int, total: float, claim: Claim) -> int:
    """Return what the sum over all items of a pool says."""
    slop = rounding(count, count, claim.shift, claim.reach)
    excess = total + count * claim.shift
    # A tie proves "at least" and refutes "more than"; rounding counts against the claim.
    if claim.strict:
        return PROVEN if excess > slop else REFUTED
    return PROVEN if excess >= -slop else REFUTED


@borrowing
def follow_pair(
    rule: Betting,
    wealth: Floats,
    upper: Floats,
    lower: Floats,
    span: tuple[int, int],
    total: float,
    square: float,
    claim: Claim,
) -> int:
    """Take up items span[0], ..., span[1] - 1 of two arms; the sums are those of the items before."""
    for t in range(span[0], span[1]):
        value = upper[t] - lower[t]
        code = watch_item(rule, wealth, value, t, total, square, claim)
        # Ville: the first time counts, what comes after cannot take it back.
        if code != OPEN:
            return code
        total += value
        square += value * value
    return OPEN


@borrowing
def follow_units(
    rule: Betting,
    wealth: Floats,
    upper: Floats,
    lower: Floats,
    ends: Floats,
    span: tuple[int, int],
    claim: Claim,
    largest: float,
) -> int:
    """Take up units span[0], ..., span[1] - 1 of two arms, sums over items; ends[t] items are before t."""
    wanted = on_units(claim, largest)
    total, square = 0.0, 0.0
    for t in range(span[1]):
        value = upper[t] - lower[t] + (ends[t + 1] - ends[t]) * claim.shift
        # The units before are gone through for their sums, which depend on the shift.
        if t >= span[0]:
            code = watch_item(rule, wealth, value, t, total, square, wanted)
            if code != OPEN:
                return code
        total += value
        square += value * value
    return OPEN


@borrowing
def log_wealth(rule: Betting, wealth: Floats) -> float:
    """Return log K, at least -30; for forecasts only."""
    return math.log(max(pooled(rule, wealth), 1e-13))


@kernel
def is_refuted(rule: Betting, values: Floats, claim: Claim) -> bool:
    """Return whether the first differences of a sequence prove a claim at any time."""
    wealth = np.ones(len(rule.bets) + (1 if rule.plug > 0.0 else 0))
    total, square = 0.0, 0.0
    for t in range(len(values)):
        code = watch_item(rule, wealth, values[t], t, total, square, claim)
        if code != OPEN:
            return code == PROVEN
        total += values[t]
        square += values[t] * values[t]
    if rule.pool > 0 and len(values) < rule.pool:
        return null_mean(rule.pool, len(values), total, claim.shift, claim.reach) < -claim.reach
    return False


@kernel
def lower_mean_of_item(
    rule: Betting, sums: Floats, sizes: Floats, half: float, largest: float, need: float
) -> float:
    """Return a lower bound of the mean of an item, E[sum] / E[size], by clusters that are drawn.

    Values of items lie in [-half, half], and clusters have at most `largest`. With m for the mean, Z = sum
    - m size has the mean 0, and |Z| <= 2 half largest for every m that may be; bets are fixed in units of
    that range. So every factor falls in m, and the refuted means are a half-line (docs/theory.md 9.6).
    """
    claim = Claim(0.0, 2.0 * half * largest * (1.0 + 1e-12), need, True)
    out, within = -half, half
    for _ in range(45):
        middle = (out + within) / 2.0
        if is_refuted(rule, sums - middle * sizes, claim):
            out = middle
        else:
            within = middle
    return out


@kernel
def lower_mean(rule: Betting, values: Floats, reach: float, need: float) -> float:
    """Return a lower bound of the mean of values in [-r, r]: all means below it are refuted.

    With fixed bets (`ladder`): the larger s the larger K, so the refuted means are a half-line; a
    bisection keeps to its refuted end, so that stopping it early costs width only.
    """
    out, within = -reach, reach
    for _ in range(45):
        middle = (out + within) / 2.0
        # K falls as the mean of the null rises, so the refuted ones lie on one side.
        if is_refuted(rule, values, Claim(-middle, reach, need, True)):
            out = middle
        else:
            within = middle
    return out

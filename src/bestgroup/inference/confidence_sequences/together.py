"""Values of many arms at once, for plain Python, by NumPy; the bits are those of `take_values`.

The first plan of an algorithm mostly pulls every arm alike. One by one, a thousand groups would take
half a second for that.
"""

from __future__ import annotations

import numpy as np

from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.confidence_sequences.gaussian import AT_LEAST, BEFORE, UNIT
from bestgroup.inference.evalues.wealth import KEPT, ORDER
from bestgroup.inference.kinds import BERNOULLI, GAUSSIAN, POWERS, SUBGAUSSIAN
from bestgroup.problem.arrays import Floats

MANY = 16  # arms from which on arrays are faster
_NOTHING = (SUBGAUSSIAN, BERNOULLI)  # is kept but counts and sums


def can_absorb_together(rule: BoxRule) -> bool:
    """Return whether `absorb_together` knows what a noise model keeps."""
    return all(kind in (*_NOTHING, POWERS, GAUSSIAN) for kind in rule.kind.tolist())


def absorb_together(rule: BoxRule, extra: Floats, count: int, values: Floats) -> None:
    """Take up values [A, n, D] of arms that have each had `count` before, in `extra` [A, D, M].

    It has a row more where a weighted sum is kept.
    """
    weights, dims = rule.weights.tolist(), len(rule.kind)
    for k in range(values.shape[1]):
        n, away = float(count + k + 1), np.zeros(len(values))
        for d in range(dims):
            _absorb(rule, extra[:, d], n, values[:, k, d], d)
            if weights:
                first = extra[:, d, 0] if rule.kind[d] == GAUSSIAN else rule.origin[d]
                away += weights[d] * (values[:, k, d] - first)
        if weights:
            _absorb_sum(rule, extra[:, dims], n, away)


def _absorb(rule: BoxRule, extra: Floats, n: float, x: Floats, d: int) -> None:
    """Do `absorb` for values [A]."""
    if rule.kind[d] == POWERS:
        _absorb_powers(extra, n, (x - rule.origin[d]) / rule.scale[d])
    elif rule.kind[d] == GAUSSIAN:
        _absorb_gaussian(extra, n, x)


def _absorb_sum(rule: BoxRule, extra: Floats, n: float, away: Floats) -> None:
    """Do `absorb_sum` for weighted sums [A]."""
    if rule.kind[0] == GAUSSIAN:
        _absorb_gaussian(extra, n, away)
        return
    whole = 0.0
    for weight, scale in zip(rule.weights.tolist(), rule.scale.tolist(), strict=True):
        whole += weight * scale
    _absorb_powers(extra, n, np.minimum(np.maximum(away / whole, 0.0), 1.0))


def _absorb_powers(extra: Floats, n: float, x: Floats) -> None:
    """Do `absorb_powers` for values [A]."""
    at = extra.shape[1] - KEPT
    if n == 1.0:
        extra[:, at] = x
        extra[:, at + 1 : at + 1 + ORDER] = 0.0
    away = x - extra[:, at]
    power = away
    for k in range(ORDER):
        extra[:, at + 1 + k] += power
        power = power * away


def _absorb_gaussian(extra: Floats, n: float, x: Floats) -> None:
    """Do `absorb_gaussian` for values [A]."""
    if n == 1.0:
        extra[:, 0], extra[:, 1], extra[:, 2], extra[:, UNIT] = x, 0.0, 0.0, 0.0
    away = x - extra[:, 0]
    extra[:, 1] += away
    extra[:, 2] += away * away
    if n >= AT_LEAST:
        square = extra[:, 2] - extra[:, 1] * extra[:, 1] / n
        now = (extra[:, UNIT] == 0.0) & (square > 1e-14 * extra[:, 2])
        extra[now, BEFORE] = n
        extra[now, BEFORE + 1], extra[now, BEFORE + 2] = extra[now, 1], extra[now, 2]
        extra[now, UNIT] = np.sqrt(square[now] / (n - 1.0))

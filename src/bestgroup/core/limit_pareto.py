"""The inner problem of the limit for ParetoGroups: the cheapest alternatives that make an answer wrong.

For an answer S and an allocation w, an alternative costs sum_ij w_ij |shift of arm ij|^2 / 2. S is wrong when
(a) some i in S is beaten by a group j by more than epsilon in every dim, or (b) some k outside S is strictly
beaten by nobody. In (a) arms of j rise and arms of i fall; in (b) arms of k rise and arms of its dominators
fall. Means are in units of the noise scale. With fully dependent dims an arm has one shift for all dims.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.core.arrays import Bools, Floats, Ints
from bestgroup.core.kernel import kernel

NODES = 20_000  # of one search; beyond it the bound of the open nodes is returned


class Arms(NamedTuple):
    """All arms in one array; group i owns rows start[i] to start[i + 1]."""

    mean: Floats  # [A, D]
    start: Ints  # [N + 1]
    best: Floats  # [N, D]  efficiency


@kernel
def accept_pair(arms: Arms, weight: Floats, epsilon: Floats, i: int, j: int, cut: Floats) -> float:
    """Return the least cost of R_i + epsilon <= R_j in every dim, and its shifts' costs in `cut` [A].

    Dims are independent: in each one arm of j rises from u = mu_jl - epsilon to x and all arms of i above x fall
    to it; x is the mean, by weight, of u and of those arms.
    """
    total = 0.0
    cut[:] = 0.0
    for d in range(arms.mean.shape[1]):
        least, choice, level = math.inf, -1, 0.0
        for arm in range(arms.start[j], arms.start[j + 1]):
            u = arms.mean[arm, d] - epsilon[d]
            rise = balance(arms, weight, i, d, u, weight[arm])
            cost = 0.5 * weight[arm] * rise * rise + lowering(arms, weight, i, d, u + rise)
            if cost < least:
                least, choice, level = cost, arm, u + rise
        total += least
        if least > 0.0:
            rise = level - (arms.mean[choice, d] - epsilon[d])
            cut[choice] += 0.5 * rise * rise
            for arm in range(arms.start[i], arms.start[i + 1]):
                if arms.mean[arm, d] > level:
                    cut[arm] += 0.5 * (arms.mean[arm, d] - level) ** 2
    return total


@kernel
def balance(arms: Arms, weight: Floats, i: int, d: int, base: float, own: float) -> float:
    """Return r with own * r = sum of weight * (mu - base - r)^+ over the arms of i in dim d.

    Newton from the left on a concave piecewise linear function: increasing, exact after finitely many steps.
    """
    rise = 0.0
    while True:
        above, total = 0.0, own
        for arm in range(arms.start[i], arms.start[i + 1]):
            excess = arms.mean[arm, d] - base
            if excess > rise:
                above += weight[arm] * excess
                total += weight[arm]
        if above / total <= rise:
            return rise
        rise = above / total


@kernel
def lowering(arms: Arms, weight: Floats, i: int, d: int, level: float) -> float:
    """Return g_{i,d}(level) = sum of weight * ((mu - level)^+)^2 / 2 over the arms of i."""
    cost = 0.0
    for arm in range(arms.start[i], arms.start[i + 1]):
        excess = arms.mean[arm, d] - level
        if excess > 0.0:
            cost += 0.5 * weight[arm] * excess * excess
    return cost


@kernel
def worth_raising(
    arms: Arms, weight: Floats, k: int, dependent: bool, useful: Bools
) -> None:
    """Set `useful` [K, D] to False for an arm if another one of k is as high and as cheap to raise.

    With fully dependent dims the other arm must be as high in every dim.
    """
    start, dims = arms.start[k], arms.mean.shape[1]
    size = arms.start[k + 1] - start
    useful[:] = True
    for one in range(size):
        for other in range(size):
            cheaper = weight[start + other] < weight[start + one]
            tied = weight[start + other] == weight[start + one] and other < one
            if other == one or not (cheaper or tied):
                continue
            everywhere = True
            for d in range(dims):
                high = arms.mean[start + other, d] >= arms.mean[start + one, d]
                everywhere = everywhere and high
                if high and not dependent:
                    useful[one, d] = False
            if everywhere and dependent:
                useful[one, :] = False

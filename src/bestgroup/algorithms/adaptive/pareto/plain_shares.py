"""Shares of delta for plain Python, by NumPy: when the warm-up ends nobody waits for a table of pairs.

With a thousand groups the bodies in `split` would take a minute for that. Here what single groups have
is reckoned for all of them at once, and what pairs have when a test or a score asks for it first; until
then it is not a number in the table. Compiled code, which asks often, fills the table when it takes over
(`split.table_pairs`). The bits are the same: logs and exponentials are those of `math`, number by
number, and sums are added in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from bestgroup.algorithms.adaptive.pareto import split as shares
from bestgroup.algorithms.adaptive.pareto.view import Room, Split, View
from bestgroup.problem.arrays import Bools, Floats, Ints

FEW = 16  # groups up to which loops are as fast
_AT_ONCE = 2**14  # pairs of groups that are looked at together


def blocks(groups: int, others: int) -> Iterator[slice]:
    """Yield stretches of so many groups, each to be paired with so many others."""
    size = max(1, _AT_ONCE // max(others, 1))
    for first in range(0, groups, size):
        yield slice(first, min(first + size, groups))


def strengths(
    gap: Floats,
    bend: Floats | float,
    n_a: Floats | float,
    n_b: Floats | float,
    v_a: Floats | float,
    v_b: Floats | float,
) -> Floats:
    """Return `strength` of many duels."""
    more = bend * gap * gap
    return gap * np.abs(gap) * (n_a * n_b) / (2.0 * ((v_b + more) * n_a + (v_a + more) * n_b))


def _exps(values: Floats) -> Floats:
    found = np.fromiter(map(math.exp, values.ravel().tolist()), np.float64, values.size)
    return found.reshape(values.shape)


def _logs(values: Floats) -> Floats:
    found = np.fromiter(map(math.log, values.ravel().tolist()), np.float64, values.size)
    return found.reshape(values.shape)


def _leads(split: Split, i: Ints, j: Ints, d: int, shift: float) -> tuple[Floats, Floats]:
    """Return by how much groups i lead over groups j in a dim, in units of it, and its variance."""
    apart = split.best[i, d] - split.best[j, d]
    if shift != 0.0:
        apart = apart + shift
    error = split.error[i, d] + split.error[j, d]
    if (split.deviation == 1.0).all():
        return apart, error
    unit = 0.5 * (split.deviation[i, d] + split.deviation[j, d])
    return apart / unit, error / (unit * unit)


def _easiest(split: Split, i: Ints, j: Ints) -> tuple[Floats, Floats]:
    """Return `least_lead` of groups i and their rivals j, and its variance."""
    least, error = _leads(split, j, i, 0, 0.0)
    for d in range(1, len(split.epsilon)):
        gap, other = _leads(split, j, i, d, 0.0)
        error = np.where(gap < least, other, error)
        least = np.minimum(gap, least)
    return least, error


def _widest(split: Split, i: Ints, j: Ints) -> tuple[Floats, Floats, list[tuple[Floats, Floats]]]:
    """Return `widest_lead` of groups i over groups j, its variance, and both for every dim."""
    every = [_leads(split, i, j, d, float(e)) for d, e in enumerate(split.epsilon.tolist())]
    most, error = every[0]
    for gap, other in every[1:]:
        error = np.where(gap > most, other, error)
        most = np.maximum(gap, most)
    return most, error, every


def shares_of_dims(split: Split, i: Ints, j: Ints, d: Ints) -> Floats:
    """Return `share_of_dim` of groups i, groups j and dims d, entry by entry."""
    if len(split.pair) == 0 or not split.shared[0]:
        return _reckon_dims(split, i, j, d)
    found = split.pair[i, j, d]
    new = np.isnan(found)
    if new.any():
        i, j, d = i[new], j[new], d[new]
        found[new] = split.pair[i, j, d] = _reckon_dims(split, i, j, d)
    return found


def _reckon_dims(split: Split, i: Ints, j: Ints, d: Ints) -> Floats:
    """Return `reckon_dim` of groups i, groups j and dims d."""
    D = len(split.epsilon)
    if not split.shared[0]:
        return np.full(len(i), math.log(D))
    most, most_error, every = _widest(split, i, j)
    total, weight = np.zeros(len(i)), np.zeros(len(i))
    for e, (gap, error) in enumerate(every):
        behind = most - gap
        near = _exps(-split.sharp * behind * behind / (2.0 * (error + most_error)))
        total += near
        weight = np.where(d == e, near, weight)
    return -_logs(split.even / D + (1.0 - split.even) * weight / total)


def shares_of_rivals(split: Split, i: Ints, j: Ints) -> Floats:
    """Return `share_of_rival` of groups i and rivals j, entry by entry."""
    if len(split.pair) == 0 or not split.shared[0]:
        return _reckon_rivals(split, i, j)
    D = len(split.epsilon)
    found = split.pair[j, i, D]
    new = np.isnan(found)
    if new.any():
        i, j = i[new], j[new]
        found[new] = split.pair[j, i, D] = _reckon_rivals(split, i, j)
    return found


def _reckon_rivals(split: Split, i: Ints, j: Ints) -> Floats:
    """Return `reckon_rival` of groups i and rivals j."""
    N = len(split.best)
    if not split.shared[0]:
        return np.full(len(i), math.log(max(N - 1, 1)))
    gap, error = _easiest(split, i, j)
    weight = _weights(split, i, gap, error)
    return -_logs(split.even / (N - 1) + (1.0 - split.even) * weight / split.weight[i])


def _weights(split: Split, i: Ints, gap: Floats, error: Floats) -> Floats:
    """Return `weight_of` of rivals with such leads over groups i."""
    behind = split.lead[i, 0] - gap
    return _exps(-split.sharp * behind * behind / (2.0 * (error + split.lead[i, 1])))


@shares.share_of_dim.plainly
def _(split: Split, i: int, j: int, d: int) -> float:
    if len(split.pair) == 0:
        return shares.reckon_dim(split, i, j, d)
    found = split.pair[i, j, d]
    if found != found:
        found = split.pair[i, j, d] = shares.reckon_dim(split, i, j, d)
    return found


@shares.share_of_rival.plainly
def _(split: Split, i: int, j: int) -> float:
    if len(split.pair) == 0:
        return shares.reckon_rival(split, i, j)
    D = len(split.epsilon)
    found = split.pair[j, i, D]
    if found != found:
        found = split.pair[j, i, D] = shares.reckon_rival(split, i, j)
    return found


@shares.table_pairs.plainly
def _(split: Split) -> None:
    pass  # pair by pair, when asked for


@shares.share_out.plainly
def _(split: Split, view: View, room: Room, exists: Bools) -> None:
    N, D = view.best.shape
    if N < FEW:
        shares.share_out.body(split, view, room, exists)
        shares.table_pairs.body(split)
        return
    dims = np.arange(D, dtype=np.int64)
    groups = np.arange(N, dtype=np.int64)[:, None]
    split.best[...] = view.best
    split.error[...] = view.variance[groups, view.leader, dims] / view.counts[groups, view.leader]
    split.deviation[...] = view.deviation[groups, view.leader, dims]
    _share_arms(split, view, exists)
    split.shared[0] = True
    for rows in blocks(N, N):
        _weigh_rivals(split, groups[rows])
    costs = _costs(split, view.led_by >= 0)
    total = np.add.accumulate(costs)[-1]
    split.accept[...] = split.reject[...] = -_logs(
        split.even / N + (1.0 - split.even) * costs / total
    )
    split.pair[~np.eye(len(split.pair), dtype=np.bool_)] = np.nan
    split.tabled[0] = False


def _share_arms(split: Split, view: View, exists: Bools) -> None:
    """Do `weigh_arms` for all groups and dims."""
    counts = np.where(exists, view.counts, 1.0)[:, :, None]
    behind = view.best[:, None, :] - view.mean
    error = view.variance / counts + split.error[:, None, :]
    weights = _exps(
        np.where(exists[:, :, None], -split.sharp * behind * behind / (2.0 * error), -np.inf)
    )
    total = np.zeros_like(split.best)
    for m in range(exists.shape[1]):
        total += weights[:, m]
    size = exists.sum(axis=1)[:, None, None]
    split.arm[...] = -_logs(split.even / size + (1.0 - split.even) * weights / total[:, None, :])


def _weigh_rivals(split: Split, i: Ints) -> None:
    """Do `weigh_rivals` for groups i, [n, 1]."""
    gap, error = _easiest(split, i, np.arange(len(split.best))[None])
    rows, own = np.arange(len(i)), i[:, 0]
    gap[rows, own] = -np.inf
    at = gap.argmax(axis=1)
    split.lead[own, 0], split.lead[own, 1] = gap[rows, at], error[rows, at]
    weights = _weights(split, i, gap, error)
    split.weight[own] = np.add.accumulate(weights, axis=1)[:, -1]


def _costs(split: Split, led: Bools) -> Floats:
    """Return `cost_of` of all groups."""
    N = len(split.best)
    gap, error = split.lead[:, 0].copy(), split.lead[:, 1].copy()
    free = np.flatnonzero(~led)[:, None]
    for rows in blocks(len(free), N):
        i = free[rows]
        most, most_error, _ = _widest(split, i, np.arange(N)[None])
        here = np.arange(len(i))
        most[here, i[:, 0]] = np.inf
        at = most.argmin(axis=1)
        gap[i[:, 0]], error[i[:, 0]] = most[here, at], most_error[here, at]
    return 1.0 / (gap * gap + error / 2.0)

"""Searches over all groups for plain Python, by NumPy: a study steps so until kernels are compiled.

Each stands for the body of a kernel and gives the same bits: the operations are the same, number by
number, and of equal entries the first one is taken. With hundreds of groups the bodies would take a
second for a step. Where costs differ, and with few groups, the bodies are run.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.adaptive.pareto import choice, followers, scores
from bestgroup.algorithms.adaptive.pareto.split import share_of_dim, share_of_rival
from bestgroup.algorithms.adaptive.pareto.view import UNDECIDED, Duties, Split, View
from bestgroup.problem.arrays import Bools, Floats, Ints

_FEW = 16  # groups up to which loops are as fast


def _leading(view: View, groups: Ints) -> Floats:
    """Return the standard deviations of the leaders of groups, [n, D]."""
    dims = np.arange(view.best.shape[1], dtype=np.int64)
    return view.deviation[groups[:, None], view.leader[groups], dims]


def _units(view: View, groups: Ints, i: int) -> Floats | float:
    """Return `unit_of` of each of some groups and i, [n, D]."""
    if view.units[0]:
        return 1.0
    return 0.5 * (_leading(view, groups) + _leading(view, np.array([i])))


@choice.find_hope.plainly
def _(view: View, exists: Bools, i: int) -> None:
    every = view.below[i] < 0
    groups = view.live[: view.lives[0]] if every else view.tops[: view.top[0]]
    groups = groups[groups != i]
    if view.priced[0] or len(groups) < _FEW:
        choice.find_hope.body(view, exists, i)
        return
    hopes = ((view.upper[groups] - view.lower[i]) / _units(view, groups, i)).min(axis=1)
    at = int(hopes.argmax())
    most, by = hopes[at], int(groups[at])
    hopes[at] = -np.inf
    if view.hope_by[i] != by:
        choice.soil(view, i)
    view.most_hope[i], view.next_hope[i], view.hope_by[i] = most, hopes.max(), by


@choice.find_lead.plainly
def _(view: View, epsilon: Floats, i: int) -> None:
    view.led_by[i] = -1
    view.stirred[0] = True
    choice.soil(view, i)
    groups = view.live[: view.lives[0]]
    apart = view.best[groups] - view.best[i] - epsilon / 2.0
    ahead = (apart / _units(view, groups, i) > 0.0).all(axis=1) & (groups != i)
    if ahead.any():
        view.led_by[i] = groups[ahead.argmax()]


@choice.find_below.plainly
def _(view: View, i: int) -> None:
    view.below[i] = -1
    view.tops_stale[0] = True
    groups = view.live[: view.lives[0]]
    groups = groups[(view.below[groups] < 0) & (groups != i)]
    most, least = view.upper[groups], view.upper[i]
    room = choice.APART * (1.0 + np.abs(most) + np.abs(least))
    above = (most - least > room).all(axis=1)
    if above.any():
        view.below[i] = groups[above.argmax()]


@followers.compare_hopes.plainly
def _(view: View, status: Ints, exists: Bools, g: int, every: bool) -> None:
    groups = view.live[: view.lives[0]] if every else view.tops[: view.top[0]]
    if view.priced[0] or len(groups) < _FEW:
        followers.compare_hopes.body(view, status, exists, g, every)
        return
    other = (view.hope_by[groups] != g) & (status[groups] == UNDECIDED) & (groups != g)
    groups = groups[other]
    hopes = ((view.upper[g] - view.lower[groups]) / _units(view, groups, g)).min(axis=1)
    most = view.most_hope[groups]
    more = (hopes > most) | ((hopes == most) & (g < view.hope_by[groups]))
    rest = groups[~more]
    view.next_hope[rest] = np.maximum(view.next_hope[rest], hopes[~more])
    for i, hope in zip(groups[more].tolist(), hopes[more].tolist(), strict=True):
        followers.take_hope(view, g, i, hope)


def _strengths(
    gap: Floats, bend: Floats, n_a: Floats, n_b: Floats, v_a: Floats, v_b: Floats
) -> Floats:
    """Return `strength` of many duels."""
    more = bend * gap * gap
    return gap * np.abs(gap) * (n_a * n_b) / (2.0 * ((v_b + more) * n_a + (v_a + more) * n_b))


@scores.look_at_fall.plainly
def _(
    view: View, duties: Duties, split: Split, level: float, exists: Bools, i: int, j: int
) -> None:
    if view.priced[0]:
        scores.look_at_fall.body(view, duties, split, level, exists, i, j)
        return
    dims = np.arange(view.best.shape[1], dtype=np.int64)
    m, view.rival[i], view.fall[i] = view.leader[j], j, np.inf
    due = exists[i][:, None] & ~duties.over[j, i]
    if not due.any():
        return
    wanted = level + split.group[i] + share_of_rival(split, i, j) + split.arm[j, m, dims]
    n_b = view.counts[i][:, None]
    z = _strengths(view.mean[j, m, dims] - view.mean[i], view.bend, view.counts[j, m], n_b,
                   view.variance[j, m, dims], view.variance[i])  # fmt: skip
    view.fall[i] = np.where(due, z / wanted, np.inf).min()
    rise = view.mean[i] + view.bonus[i][:, None] * view.deviation[i]
    rise = (rise - view.lower[j]) / _units(view, np.array([i]), j)
    at = int(np.where(due, rise, -np.inf).T.argmax())  # dim by dim, as the body goes
    view.blow[i, 1], view.blow[i, 0] = divmod(at, len(rise))


def _scores(
    view: View, duties: Duties, split: Split, level: float, epsilon: Floats, exists: Bools,
    i: Ints, j: Ints,
) -> Floats:  # fmt: skip
    """Return `score_of` of accepting groups i against groups j, pair by pair, [n]."""
    wide = view.upper[i] - view.lower[j] + epsilon
    if not view.units[0]:
        wide /= 0.5 * (_leading(view, i) + _leading(view, j))
    d = wide.argmax(axis=1)
    m = view.leader[i, d]
    if len(split.pair) > 0:
        shares = split.pair[i, j, d]
    else:
        pairs = zip(i.tolist(), j.tolist(), d.tolist(), strict=True)
        shares = np.array([share_of_dim(split, *pair) for pair in pairs])
    wanted = level + split.group[i] + split.arm[i, m, d] + shares
    gap = (view.mean[i, m, d] + epsilon[d])[:, None] - view.mean[j, :, d]
    n_a, v_a = view.counts[i, m][:, None], view.variance[i, m, d][:, None]
    z = _strengths(gap, view.bend[d][:, None], n_a, view.counts[j], v_a, view.variance[j, :, d])
    due = exists[j] & ~duties.won[i, j, :, d] & ~duties.settled[i, j][:, None]
    return np.where(due, z / wanted[:, None], np.inf).min(axis=1)


@choice.find_row.plainly
def _(
    view: View, duties: Duties, split: Split, level: float, epsilon: Floats, exists: Bools, i: int
) -> None:
    groups = view.opening[: view.opens[0]]
    groups = groups[groups != i]
    if view.priced[0] or len(groups) < _FEW:
        choice.find_row.body(view, duties, split, level, epsilon, exists, i)
        return
    same = np.full(len(groups), i)
    found = _scores(view, duties, split, level, epsilon, exists, same, groups)
    at = int(found.argmin())
    least, best = found[at], int(groups[at])
    if not least < np.inf:
        best = len(view.row)
    found[at] = np.inf
    view.row[i], view.next_row[i], view.row_at[i] = least, found.min(), best
    choice.soil(view, i)


@choice.follow_scores.plainly
def _(
    view: View, duties: Duties, split: Split, level: float, epsilon: Floats, exists: Bools, j: int
) -> None:
    groups = view.opening[: view.opens[0]]
    groups = groups[(duties.status[groups] == UNDECIDED) & (groups != j)]
    if view.priced[0] or len(groups) < _FEW:
        choice.follow_scores.body(view, duties, split, level, epsilon, exists, j)
        return
    same = np.full(len(groups), j)
    found = _scores(view, duties, split, level, epsilon, exists, groups, same)
    for i, score in zip(groups.tolist(), found.tolist(), strict=True):
        choice.follow_score(view, duties, split, level, epsilon, exists, i, j, score)

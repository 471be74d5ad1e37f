"""Searches over all groups for plain Python, by NumPy: a study steps so until kernels are compiled.

Each stands for the body of a kernel and gives the same bits: the operations are the same, number by
number, and of equal entries the first one is taken. With hundreds of groups the bodies would take a
second for a step. Where costs differ, and with few groups, the bodies are run.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bestgroup.algorithms.adaptive.pareto import choice, followers, scores
from bestgroup.algorithms.adaptive.pareto.plain_shares import (
    FEW,
    blocks,
    shares_of_dims,
    shares_of_rivals,
    strengths,
)
from bestgroup.algorithms.adaptive.pareto.tree import plant_needs
from bestgroup.algorithms.adaptive.pareto.view import (
    UNDECIDED,
    Duties,
    Split,
    View,
    keeps_lists,
)
from bestgroup.problem.arrays import Bools, Floats, Ints

T = TypeVar("T", bound=np.generic)

_ONE = np.ones((1, 1))


def _units(view: View, groups: Ints, i: int | Ints) -> Floats:
    """Return `unit_of` of each of some groups and i, [n, D]; what divides alike where it is 1."""
    if view.units[0]:
        return _ONE
    return 0.5 * (view.lead_deviation[groups] + view.lead_deviation[i])


def _is_slow(view: View, groups: Ints) -> bool:
    """Return whether arrays take longer than loops, or do not do what costs ask for."""
    return bool(view.priced[0]) or len(groups) < FEW


def _soil(view: View, groups: Ints) -> None:
    """Do `soil` for groups, in their order."""
    count = view.dirt[0]
    if count >= 0:
        new = groups[~view.dirty[groups]]
        view.dirty[new] = True
        view.dirts[count : count + len(new)] = new
        view.dirt[0] += len(new)


@choice.renew_leads.plainly
def _(view: View, status: Ints, epsilon: Floats) -> None:
    live = view.live[: view.lives[0]]
    if _is_slow(view, live):
        choice.renew_leads.body(view, status, epsilon)
        return
    groups = live[status[live] == UNDECIDED]
    view.stirred[0] = view.stirred[0] or len(groups) > 0
    lead, spread = view.best[live], view.lead_deviation[live]
    own, unit = view.best[groups], view.lead_deviation[groups]
    for rows in blocks(len(groups), len(live)):
        i = groups[rows]
        ahead = live[None] != i[:, None]
        for d, slack in enumerate(epsilon.tolist()):
            apart = lead[None, :, d] - own[rows, None, d] - slack / 2.0
            if not view.units[0]:
                apart /= 0.5 * (spread[None, :, d] + unit[rows, None, d])
            ahead &= apart > 0.0
        at = ahead.argmax(axis=1)
        view.led_by[i] = np.where(ahead[np.arange(len(i)), at], live[at], -1)


@choice.renew_hopes.plainly
def _(view: View, status: Ints, exists: Bools) -> None:
    live = view.live[: view.lives[0]]
    if _is_slow(view, live):
        choice.renew_hopes.body(view, status, exists)
        return
    groups = live[status[live] == UNDECIDED]
    free = view.below[groups] < 0
    for some, others in ((groups[free], live), (groups[~free], view.tops[: view.top[0]])):
        if len(others) == 0:
            choice.renew_hopes.body(view, status, exists)
            return
        for rows in blocks(len(some), len(others)):
            _hope_anew(view, some[rows], others)


def _hope_anew(view: View, i: Ints, others: Ints) -> None:
    """Do `find_hope` for groups i, among some others, but for noting whose need may have changed."""
    hopes = np.full((len(i), len(others)), np.inf)
    spread, own = view.lead_deviation[others], view.lead_deviation[i]
    for d in range(view.best.shape[1]):
        width = view.upper[others, d][None] - view.lower[i, d][:, None]
        if not view.units[0]:
            width /= 0.5 * (spread[None, :, d] + own[:, None, d])
        np.minimum(hopes, width, out=hopes)
    hopes[others[None] == i[:, None]] = -np.inf
    rows, at = np.arange(len(i)), hopes.argmax(axis=1)
    view.most_hope[i], view.hope_by[i] = hopes[rows, at], others[at]
    hopes[rows, at] = -np.inf
    view.next_hope[i] = hopes.max(axis=1)


@choice.find_hope.plainly
def _(view: View, exists: Bools, i: int) -> None:
    every = view.below[i] < 0
    groups = view.live[: view.lives[0]] if every else view.tops[: view.top[0]]
    groups = groups[groups != i]
    if _is_slow(view, groups):
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
    ahead = _seem_ahead(view, epsilon, groups, np.array([i])) & (groups != i)
    if ahead.any():
        view.led_by[i] = groups[ahead.argmax()]


@choice.renew_below.plainly
def _(view: View, status: Ints) -> None:
    live = view.live[: view.lives[0]]
    if not view.units[0] or _is_slow(view, live):
        choice.renew_below.body(view, status)
        return
    view.below[live] = -1
    view.tops_stale[0] = True
    free = np.ones(len(live), np.bool_)  # that are below nobody so far
    for rows in blocks(len(live), len(live)):
        above = np.ones((len(live[rows]), len(live)), np.bool_)
        for d in range(view.upper.shape[1]):
            most = view.upper[live, d]
            least = most[rows, None]
            room = choice.APART * (1.0 + np.abs(most)[None] + np.abs(least))
            above &= most[None] - least > room
        for i, others in enumerate(above, rows.start):
            by = int((others & free).argmax())
            if others[by] and free[by]:
                view.below[live[i]], free[i] = live[by], False
    choice.list_tops(view)


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


def _seem_ahead(view: View, epsilon: Floats, i: Ints, j: Ints) -> Bools:
    """Return `seems_ahead` of groups i over groups j, one of which is a single one."""
    apart = view.best[i] - view.best[j] - epsilon / 2.0
    if not view.units[0]:
        apart /= _units(view, i, j)
    return np.asarray((apart > 0.0).all(axis=1))


@followers.lead_open.plainly
def _(view: View, status: Ints, epsilon: Floats, g: int) -> None:
    groups = view.opening[: view.opens[0]]
    if _is_slow(view, groups):
        followers.lead_open.body(view, status, epsilon, g)
        return
    groups = groups[(groups != g) & (status[groups] == UNDECIDED) & (view.led_by[groups] < 0)]
    for i in groups[_seem_ahead(view, epsilon, np.array([g]), groups)].tolist():
        followers.take_lead(view, g, i)


@followers.find_open_lead.plainly
def _(view: View, epsilon: Floats, i: int) -> int:
    groups = view.opening[: view.opens[0]]
    if _is_slow(view, groups):
        return followers.find_open_lead.body(view, epsilon, i)
    ahead = _seem_ahead(view, epsilon, groups, np.array([i])) & (groups != i)
    at = int(ahead.argmax())
    return int(groups[at]) if ahead[at] else -1


@followers.renew_followers.plainly
def _(view: View, status: Ints, exists: Bools, g: int, can_lead: bool) -> None:
    groups = _followers(view, followers.HOPE, g)
    if _is_slow(view, groups):
        followers.renew_followers.body(view, status, exists, g, can_lead)
        return
    groups = groups[status[groups] == UNDECIDED]
    hopes = ((view.upper[g] - view.lower[groups]) / _units(view, groups, g)).min(axis=1)
    view.most_hope[groups] = hopes
    free = view.below[groups] < 0
    lost = ~((can_lead | free) & (hopes > view.next_hope[groups]))
    for some, every in ((groups[lost & free], True), (groups[lost & ~free], False)):
        others = view.live[: view.lives[0]] if every else view.tops[: view.top[0]]
        for rows in blocks(len(some), len(others)):
            _hope_anew(view, some[rows], others)
    groups = groups[lost]
    other = groups[view.hope_by[groups] != g]
    _soil(view, other)
    view.rival[other] = -1
    for i, by in zip(other.tolist(), view.hope_by[other].tolist(), strict=True):
        followers.relink(view, followers.HOPE, i, g, by)


@followers.relist.plainly
def _(view: View) -> None:
    live = view.live[: view.lives[0]].tolist()
    for kind, field in enumerate((view.below, view.led_by, view.hope_by)):
        by, first = field.tolist(), [-1] * view.first.shape[1]
        after, before = view.after[kind].tolist(), view.before[kind].tolist()
        for i in reversed(live):
            before[i] = after[i] = -1
            if (leader := by[i]) >= 0:
                then = first[leader]
                after[i], first[leader] = then, i
                if then >= 0:
                    before[then] = i
        view.first[kind], view.after[kind], view.before[kind] = first, after, before
    other = view.rival[live] != view.hope_by[live]
    view.rival[np.array(live, np.int64)[other]] = -1


def _followers(view: View, kind: int, g: int) -> Ints:
    """Return the groups in a list of followers, in its order."""
    found: list[int] = []
    after, i = view.after[kind], int(view.first[kind, g])
    while i >= 0:
        found.append(i)
        i = int(after[i])
    return np.array(found, np.int64)


@followers.compare_hopes.plainly
def _(view: View, status: Ints, exists: Bools, g: int, every: bool) -> None:
    groups = view.live[: view.lives[0]] if every else view.tops[: view.top[0]]
    if _is_slow(view, groups):
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
    wanted = level + split.reject[i] + scores.share_of_rival(split, i, j) + split.arm[j, m, dims]
    n_b = view.counts[i][:, None]
    z = strengths(view.mean[j, m, dims] - view.mean[i], view.bend, view.counts[j, m], n_b,
                   view.variance[j, m, dims], view.variance[i])  # fmt: skip
    view.fall[i] = np.where(due, z / wanted, np.inf).min()
    rise = view.mean[i] + view.bonus[i][:, None] * view.deviation[i]
    rise = (rise - view.lower[j]) / _units(view, np.array([i]), j)
    at = int(np.where(due, rise, -np.inf).T.argmax())  # dim by dim, as the body goes
    view.blow[i, 1], view.blow[i, 0] = divmod(at, len(rise))


@choice.set_needs.plainly
def _(view: View, duties: Duties, split: Split, level: float, exists: Bools) -> None:
    some = view.dirt[0] >= 0
    groups = view.dirts[: view.dirt[0]].copy() if some else view.live[: view.lives[0]]
    if _is_slow(view, groups):
        choice.set_needs.body(view, duties, split, level, exists)
        return
    view.dirty[groups] = False
    view.need[groups] = np.inf
    groups = groups[duties.status[groups] == UNDECIDED]
    led = groups[view.led_by[groups] >= 0]
    late = led[view.rival[led] != view.hope_by[led]]
    if len(late) > 0:
        _look_at_falls(view, duties, split, level, exists, late)
    view.need[groups] = view.row[groups]
    view.need[led] = view.fall[led]
    if some and keeps_lists(view.first):
        plant_needs(view)


@plant_needs.plainly
def _(view: View) -> None:
    live, half = view.live[: view.lives[0]], len(view.tree) // 2
    leaves = np.full(half, np.inf)
    leaves[live] = np.where(view.need[live] < np.inf, view.need[live], np.inf)
    while True:
        view.tree[len(leaves) : 2 * len(leaves)] = leaves
        if len(leaves) == 1:
            return
        leaves = np.minimum(leaves[::2], leaves[1::2])


def _look_at_falls(
    view: View, duties: Duties, split: Split, level: float, exists: Bools, i: Ints
) -> None:
    """Do `look_at_fall` for groups i and those with the most hope of dominating them."""
    dims = np.arange(view.best.shape[1], dtype=np.int64)
    j = view.hope_by[i]
    view.rival[i] = j
    m, each = view.leader[j], j[:, None]
    due = exists[i][:, :, None] & ~duties.over[j, i]
    wanted = (level + split.reject[i] + shares_of_rivals(split, i, j))[:, None]
    wanted = wanted + split.arm[each, m, dims]
    gap = view.mean[each, m, dims][:, None] - view.mean[i]
    n_a, v_a = view.counts[each, m][:, None], view.variance[each, m, dims][:, None]
    z = strengths(gap, view.bend, n_a, view.counts[i][:, :, None], v_a, view.variance[i])
    view.fall[i] = np.where(due, z / wanted[:, None], np.inf).min(axis=(1, 2))
    rise = view.mean[i] + view.bonus[i][:, :, None] * view.deviation[i]
    rise = rise - view.lower[j][:, None]
    if not view.units[0]:
        rise /= _units(view, i, j)[:, None]
    # Dim by dim, as the body goes.
    rise = np.where(due, rise, -np.inf).transpose(0, 2, 1).reshape(len(i), -1)
    some, at = due.any(axis=(1, 2)), rise.argmax(axis=1)
    d, k = np.divmod(at[some], exists.shape[1])
    view.blow[i[some], 0], view.blow[i[some], 1] = k, d


def _flat(table: NDArray[T], at: Ints) -> NDArray[T]:
    """Return entries of a table by their places in its memory, which is quicker than by its axes."""
    numbers: Any = table.reshape(-1)
    return numbers.take(at)


def _scores(
    view: View, duties: Duties, split: Split, level: float, epsilon: Floats, exists: Bools,
    i: Ints, j: Ints,
) -> Floats:  # fmt: skip
    """Return `score_of` of accepting groups i against groups j, pair by pair, [n]."""
    # Number by number out of flat tables, and a dim or an arm at a time: rows of two or three numbers
    # take NumPy twice as long.
    (N, D), K = view.best.shape, exists.shape[1]
    most, d = np.full(len(i), -np.inf), np.zeros(len(i), np.int64)
    for e in range(D):
        wide = view.upper[i, e] - view.lower[j, e] + epsilon[e]
        if not view.units[0]:
            wide /= 0.5 * (view.lead_deviation[i, e] + view.lead_deviation[j, e])
        d[wide > most] = e
        most = np.maximum(most, wide)
    m = _flat(view.leader, i * D + d)
    own = (i * K + m) * D + d
    wanted = level + split.accept[i] + _flat(split.arm, own) + shares_of_dims(split, i, j, d)
    high, bend = _flat(view.mean, own) + epsilon[d], view.bend[d]
    n_a, v_a = _flat(view.counts, i * K + m), _flat(view.variance, own)
    settled = _flat(duties.settled, i * N + j)
    found = np.full(len(i), np.inf)
    for k in range(K):
        arm = j * K + k
        at = arm * D + d
        due = _flat(exists, arm) & ~settled & ~_flat(duties.won, (i * N * K + arm) * D + d)
        n_b, v_b = _flat(view.counts, arm), _flat(view.variance, at)
        z = strengths(high - _flat(view.mean, at), bend, n_a, n_b, v_a, v_b)
        found = np.minimum(found, np.where(due, z / wanted, np.inf))
    return found


@choice.renew_rows.plainly
def _(
    view: View, duties: Duties, split: Split, level: float, epsilon: Floats, exists: Bools
) -> None:
    others = view.opening[: view.opens[0]]
    groups = others[duties.status[others] == UNDECIDED]
    if _is_slow(view, others):
        choice.renew_rows.body(view, duties, split, level, epsilon, exists)
        return
    _rows_anew(view, duties, split, level, epsilon, exists, groups)


def _rows_anew(
    view: View, duties: Duties, split: Split, level: float, epsilon: Floats, exists: Bools,
    groups: Ints,
) -> None:  # fmt: skip
    """Do `find_row` for groups, but for noting that their needs may have changed."""
    others = view.opening[: view.opens[0]]
    size = len(others)
    for rows in blocks(len(groups), size):
        i = groups[rows]
        pairs = np.repeat(i, size), np.tile(others, len(i))
        found = _scores(view, duties, split, level, epsilon, exists, *pairs).reshape(-1, size)
        found[others[None] == i[:, None]] = np.inf
        here, at = np.arange(len(i)), found.argmin(axis=1)
        least = found[here, at]
        view.row[i], view.row_at[i] = least, np.where(least < np.inf, others[at], len(view.row))
        found[here, at] = np.inf
        view.next_row[i] = found.min(axis=1)


@followers.renew_late_rows.plainly
def _(
    view: View, duties: Duties, split: Split, level: float, epsilon: Floats, exists: Bools,
    moved: Bools, mover: int,
) -> None:  # fmt: skip
    groups = view.opening[: view.opens[0]]
    if _is_slow(view, groups):
        given = view, duties, split, level, epsilon, exists, moved, mover
        followers.renew_late_rows.body(*given)
        return
    by = view.row_at[groups]
    kept = (by >= len(view.open)) | view.open[np.minimum(by, len(view.open) - 1)]
    late = (groups == mover if mover >= 0 else moved[groups]) | view.fresh[groups] | ~kept
    groups = groups[late & (duties.status[groups] == UNDECIDED)]
    _rows_anew(view, duties, split, level, epsilon, exists, groups)
    _soil(view, groups)


@choice.find_row.plainly
def _(
    view: View, duties: Duties, split: Split, level: float, epsilon: Floats, exists: Bools, i: int
) -> None:
    groups = view.opening[: view.opens[0]]
    groups = groups[groups != i]
    if _is_slow(view, groups):
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
    if _is_slow(view, groups):
        choice.follow_scores.body(view, duties, split, level, epsilon, exists, j)
        return
    same = np.full(len(groups), j)
    found = _scores(view, duties, split, level, epsilon, exists, groups, same)
    _soil(view, groups)
    least, by = view.row[groups], view.row_at[groups]
    own = by == j
    less = ~own & ((found < least) | ((found == least) & (j < by)))
    rest = ~(own | less)
    view.next_row[groups[rest]] = np.minimum(view.next_row[groups[rest]], found[rest])
    now = groups[less]
    view.row[now], view.next_row[now], view.row_at[now] = found[less], least[less], j
    view.row[groups[own]] = found[own]
    behind = groups[own & ~(found < view.next_row[groups])]
    _rows_anew(view, duties, split, level, epsilon, exists, behind)

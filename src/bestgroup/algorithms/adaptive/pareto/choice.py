"""Which comparison to pull for: the least score of all that undecided groups need, kept up to date.

What groups think of each other (margins, hopes, scores) follows from a few numbers of each, and is
reckoned when it is read: nothing is kept for pairs. What is kept for every group is a group that
seems to dominate it (`led_by`), the rival with the most hope of doing so, and the least score of
accepting it (`row`). Rival and least score come with a bound on what the runner-up has. After a pull
each is compared with one new entry, and searched anew only if its own entry has fallen behind that
bound; after a decision only those are searched whose entry was of the group that is out. So a pull
costs of the order of the groups that are not rejected, and the numbers are those of a search to the
bit, ties included, which the first group wins. A group that seems to be dominated works towards its
rejection, and nobody is accepted against it.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.adaptive.pareto.scores import (
    hope_of,
    look_at_fall,
    pick_for_row,
    score_of,
    seems_ahead,
    set_pick,
)
from bestgroup.algorithms.adaptive.pareto.tree import graft_need, least_need, plant_needs
from bestgroup.algorithms.adaptive.pareto.view import (
    REJECTED,
    UNDECIDED,
    Duties,
    Split,
    View,
    keeps_lists,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Bools, Floats, Ints

APART = 1e-9  # relative: bounds further apart stay so in every difference


@borrowing
def renew_choices(
    view: View,
    duties: Duties,
    split: Split,
    level: float,
    epsilon: Floats,
    exists: Bools,
    again: bool,
) -> None:
    """Search everything anew: when all bounds have changed, or, `again`, when only shares have."""
    status = duties.status
    view.dirt[0] = -1
    view.stirred[0] = True
    if not again:
        view.tops_stale[0] = True
        renew_below(view, status)
        renew_leads(view, status, epsilon)
        renew_hopes(view, status, exists)
    list_open(view, status)
    for at in range(view.lives[0]):
        view.rival[view.live[at]] = -1
    renew_rows(view, duties, split, level, epsilon, exists)


@borrowing
def renew_rows(
    view: View, duties: Duties, split: Split, level: float, epsilon: Floats, exists: Bools
) -> None:
    """Search the least score of accepting each undecided open group."""
    for at in range(view.opens[0]):
        i = view.opening[at]
        if duties.status[i] == UNDECIDED:
            find_row(view, duties, split, level, epsilon, exists, i)


@borrowing
def renew_leads(view: View, status: Ints, epsilon: Floats) -> None:
    """Search who seems to dominate each undecided group."""
    for at in range(view.lives[0]):
        i = view.live[at]
        if status[i] == UNDECIDED:
            find_lead(view, epsilon, i)


@borrowing
def renew_hopes(view: View, status: Ints, exists: Bools) -> None:
    """Search who has the most hope of dominating each undecided group."""
    for at in range(view.lives[0]):
        i = view.live[at]
        if status[i] == UNDECIDED:
            find_hope(view, exists, i)


@borrowing
def follow_pulls(
    view: View,
    duties: Duties,
    split: Split,
    level: float,
    epsilon: Floats,
    exists: Bools,
    moved: Bools,
    mover: int,
) -> None:
    """Take up what pulls of the groups that moved, and decisions, have changed.

    A mover is the only group that moved, and nothing was decided; without one it is -1.
    """
    status, live = duties.status, view.live
    follow_below(view, status, moved, mover)
    if mover >= 0:
        follow_lead(view, status, epsilon, mover)
        follow_hopes(view, status, exists, mover, False)
    else:
        for at in range(view.lives[0]):
            g = live[at]
            if moved[g]:
                follow_lead(view, status, epsilon, g)
                follow_hopes(view, status, exists, g, False)
    for at in range(view.rises[0]):
        follow_hopes(view, status, exists, int(view.risers[at]), True)
    for at in range(view.lives[0] if mover < 0 else 0):
        i = live[at]
        if status[i] != UNDECIDED:
            continue
        if view.led_by[i] >= 0 and status[view.led_by[i]] == REJECTED:
            find_lead(view, epsilon, i)
        if view.hope_by[i] >= 0 and status[view.hope_by[i]] == REJECTED:
            find_hope(view, exists, i)
    list_open(view, status)
    for at in range(view.opens[0]):
        g = view.opening[at]
        if status[g] == UNDECIDED and (moved[g] or view.fresh[g] or not is_kept(view, g)):
            find_row(view, duties, split, level, epsilon, exists, g)
    for at in range(view.opens[0]):
        g = view.opening[at]
        if moved[g] or view.fresh[g]:
            follow_scores(view, duties, split, level, epsilon, exists, g)


@borrowing
def is_kept(view: View, i: int) -> bool:
    """Return whether the group with the least score of accepting i is still open."""
    return bool(view.row_at[i] >= len(view.open) or view.open[view.row_at[i]])


@borrowing
def list_open(view: View, status: Ints) -> None:
    """Note which groups are open, and which have just become so."""
    if not view.stirred[0]:
        return
    view.opens[0] = 0
    view.stirred[0] = False
    for at in range(view.lives[0]):
        j = view.live[at]
        now = is_open(view, status, j)
        view.fresh[j] = now and not view.open[j]
        view.open[j] = now
        if now:
            view.opening[view.opens[0]] = j
            view.opens[0] += 1
            view.stirred[0] = view.stirred[0] or view.fresh[j]


@borrowing
def soil(view: View, i: int) -> None:
    """Have the need of group i looked at again."""
    if view.dirt[0] >= 0 and not view.dirty[i]:
        view.dirty[i] = True
        view.dirts[view.dirt[0]] = i
        view.dirt[0] += 1


@borrowing
def follow_lead(view: View, status: Ints, epsilon: Floats, g: int) -> None:
    """Take up whether g seems to dominate others, and others it."""
    for at in range(view.lives[0]):
        i = view.live[at]
        by = view.led_by[i]
        if view.rival[i] == g:
            view.rival[i] = -1
            soil(view, i)
        if (by >= 0 and by != g) or i == g or status[i] != UNDECIDED:
            continue
        if by == g:
            if not seems_ahead(view, epsilon, g, i):
                find_lead(view, epsilon, i)
        elif seems_ahead(view, epsilon, g, i):
            view.led_by[i] = g
            view.stirred[0] = True
            soil(view, i)
    view.rival[g] = -1
    soil(view, g)
    if status[g] == UNDECIDED:
        by = view.led_by[g]
        if by < 0 or status[by] == REJECTED or not seems_ahead(view, epsilon, by, g):
            find_lead(view, epsilon, g)


@borrowing
def find_lead(view: View, epsilon: Floats, i: int) -> None:
    """Search a group, not rejected, that seems to dominate i."""
    view.led_by[i] = -1
    view.stirred[0] = True
    soil(view, i)
    for at in range(view.lives[0]):
        j = view.live[at]
        if j != i and seems_ahead(view, epsilon, j, i):
            view.led_by[i] = j
            return


@borrowing
def follow_hopes(view: View, status: Ints, exists: Bools, g: int, fresh: bool) -> None:
    """Take up the hopes of group g of dominating the others, and theirs of dominating it.

    Where variances are 1 and no U of g has risen its hopes have not: they are below the bounds that
    others have on them, unless g is fresh among those that can have most.
    """
    can_lead, rose = view.below[g] < 0, fresh or view.rose[g] or not view.units[0]
    view.rose[g] = False
    every = can_lead and rose
    for at in range(view.lives[0]):
        i = view.live[at]
        own, top = view.hope_by[i] == g, rose and view.below[i] < 0
        if not (own or every or top) or status[i] != UNDECIDED or i == g:
            continue
        hope, most = hope_of(view, exists, g, i), view.most_hope[i]
        if own:
            view.most_hope[i] = hope
            if not ((can_lead or view.below[i] < 0) and hope > view.next_hope[i]):
                find_hope(view, exists, i)
        elif hope > most or (hope == most and g < view.hope_by[i]):
            view.most_hope[i], view.next_hope[i], view.hope_by[i] = hope, most, g
            soil(view, i)
        else:
            view.next_hope[i] = max(view.next_hope[i], hope)
    if status[g] == UNDECIDED:
        find_hope(view, exists, g)


@borrowing
def is_above(view: View, j: int, i: int) -> bool:
    """Return whether all U of j are above those of i, by more than rounding: then its hopes are."""
    for d in range(view.upper.shape[1]):
        most, least = view.upper[j, d], view.upper[i, d]
        if not most - least > APART * (1.0 + abs(most) + abs(least)):
            return False
    return True


@borrowing
def find_below(view: View, i: int) -> None:
    """Search a group above i, among those that are below nobody."""
    view.below[i] = -1
    view.tops_stale[0] = True
    for at in range(view.lives[0]):
        j = view.live[at]
        if view.below[j] < 0 and j != i and is_above(view, j, i):
            view.below[i] = j
            return


@borrowing
def renew_below(view: View, status: Ints) -> None:
    """Search all anew, where variances are 1: only groups that are below nobody have most hope."""
    if view.units[0]:
        for at in range(view.lives[0]):
            view.below[view.live[at]] = -1
        for at in range(view.lives[0]):
            find_below(view, view.live[at])
    list_tops(view)


@borrowing
def follow_below(view: View, status: Ints, moved: Bools, mover: int) -> None:
    """Take up who is above whom, and list who is no more below another one; see `follow_pulls`."""
    view.rises[0] = 0
    for at in range(view.lives[0] if view.units[0] else 0):
        i = view.live[at]
        by = view.below[i]
        if (mover >= 0 and by != mover and i != mover) or (by < 0 and not moved[i]):
            continue
        if by < 0:
            find_below(view, i)
        elif moved[i] or moved[by] or status[by] == REJECTED:
            if status[by] == REJECTED or not is_above(view, by, i):
                find_below(view, i)
                if view.below[i] < 0:
                    view.risers[view.rises[0]] = i
                    view.rises[0] += 1
    list_tops(view)


@borrowing
def list_tops(view: View) -> None:
    """List the groups, not rejected, that are below nobody."""
    if not view.tops_stale[0]:
        return
    view.tops_stale[0] = False
    count = 0
    for at in range(view.lives[0]):
        i = view.live[at]
        view.tops[count] = i
        count += view.below[i] < 0
    view.top[0] = count


@borrowing
def follow_scores(
    view: View,
    duties: Duties,
    split: Split,
    level: float,
    epsilon: Floats,
    exists: Bools,
    j: int,
) -> None:
    """Take up the scores of accepting the other open groups against j."""
    for at in range(view.opens[0]):
        i = view.opening[at]
        if duties.status[i] != UNDECIDED or i == j:
            continue
        score = score_of(view, duties, split, level, epsilon, exists, i, j)
        follow_score(view, duties, split, level, epsilon, exists, i, j, score)


@borrowing
def follow_score(
    view: View,
    duties: Duties,
    split: Split,
    level: float,
    epsilon: Floats,
    exists: Bools,
    i: int,
    j: int,
    score: float,
) -> None:
    """Take up the score of accepting i against j."""
    least = view.row[i]
    soil(view, i)
    if view.row_at[i] == j:
        view.row[i] = score
        if not score < view.next_row[i]:
            find_row(view, duties, split, level, epsilon, exists, i)
    elif score < least or (score == least and j < view.row_at[i]):
        view.row[i], view.next_row[i], view.row_at[i] = score, least, j
    else:
        view.next_row[i] = min(view.next_row[i], score)


@borrowing
def is_open(view: View, status: Ints, j: int) -> bool:
    """Return whether others are to be accepted against j: not if it is, or is about to be, rejected."""
    if status[j] == REJECTED:
        return False
    return not (status[j] == UNDECIDED and view.led_by[j] >= 0)


@borrowing
def find_hope(view: View, exists: Bools, i: int) -> None:
    """Search the group, not rejected, with the most hope of dominating i, and the next hope.

    Whoever is above a group has more hope than it, unless that is i itself.
    """
    most, second, by = -np.inf, -np.inf, -1
    every = view.below[i] < 0
    for at in range(view.lives[0] if every else view.top[0]):
        j = view.live[at] if every else view.tops[at]
        if j == i:
            continue
        hope = hope_of(view, exists, j, i)
        if hope > most:
            most, second, by = hope, most, j
        elif hope > second:
            second = hope
    if view.hope_by[i] != by:
        soil(view, i)
    view.most_hope[i], view.next_hope[i], view.hope_by[i] = most, second, by


@borrowing
def find_row(
    view: View,
    duties: Duties,
    split: Split,
    level: float,
    epsilon: Floats,
    exists: Bools,
    i: int,
) -> None:
    """Search the least score of accepting group i against another one, and the next least."""
    least, second, best = np.inf, np.inf, len(view.row)
    for at in range(view.opens[0]):
        j = view.opening[at]
        if j == i:
            continue
        score = score_of(view, duties, split, level, epsilon, exists, i, j)
        if score < least:
            least, second, best = score, least, j
        elif score < second:
            second = score
    view.row[i], view.next_row[i], view.row_at[i] = least, second, best
    soil(view, i)


@borrowing
def set_need(view: View, duties: Duties, split: Split, level: float, exists: Bools, i: int) -> None:
    """Set the least score of what group i needs, for its rejection or its acceptance."""
    view.need[i] = np.inf
    if duties.status[i] != UNDECIDED:
        return
    if view.led_by[i] >= 0:
        j = int(view.hope_by[i])
        if view.rival[i] != j:
            look_at_fall(view, duties, split, level, exists, i, j)
        view.need[i] = view.fall[i]
    else:
        view.need[i] = view.row[i]


@borrowing
def set_needs(view: View, duties: Duties, split: Split, level: float, exists: Bools) -> None:
    """Look at the needs that may have changed."""
    some = view.dirt[0] >= 0
    for at in range(view.dirt[0] if some else view.lives[0]):
        i = view.dirts[at] if some else view.live[at]
        view.dirty[i] = False
        set_need(view, duties, split, level, exists, int(i))
        if keeps_lists(view.first) and some:
            graft_need(view, int(i))


@borrowing
def choose(
    view: View, duties: Duties, split: Split, level: float, epsilon: Floats, exists: Bools
) -> None:
    """Set the pick: the duel with the least score of all that undecided groups need."""
    some = view.dirt[0] >= 0
    set_needs(view, duties, split, level, exists)
    view.dirt[0] = 0
    least, pick = np.inf, -1
    if keeps_lists(view.first):
        if not some:
            plant_needs(view)
        least, pick = least_need(view)
    else:
        for at in range(view.lives[0]):
            i = view.live[at]
            if view.need[i] < least:
                least, pick = view.need[i], i
    view.pick[0] = -1
    view.least[0] = least
    if pick < 0:
        return
    if view.led_by[pick] >= 0:
        j, k, d = view.hope_by[pick], view.blow[pick, 0], view.blow[pick, 1]
        set_pick(view, epsilon, exists, 1, j, pick, k, d)
    else:
        pick_for_row(view, duties, epsilon, exists, pick, int(view.row_at[pick]))

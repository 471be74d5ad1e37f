"""Choices with many groups: what a pull changes is found by lists, not by a pass over all groups.

A pull of one group can change what others have only where they look at it. So with many groups
everybody that is `below` another one, is `led_by` it or hopes for it (`hope_by`) stands in a list of
that one's followers, and needs are the leaves of a tree of minima. After a pull the groups that follow
the one that was pulled are looked at, with those that no one leads and those below nobody, of which
there are few. Where everything is searched anew, or several groups have moved, the passes of `choice`
do it, and `relist` makes the lists afterwards. Decisions are the same: `choice` says why it does not
matter in which order groups are looked at, nor which one of several is the `below` or `led_by`.

A list is (`first`, `after`, `before`): the first follower of a group, and of every follower the next
one and the one before it, -1 at the ends. With few groups all of it is empty.
"""

from __future__ import annotations

from bestgroup.algorithms.adaptive.pareto.choice import (
    find_hope,
    find_lead,
    find_row,
    follow_scores,
    is_above,
    is_kept,
    list_open,
    list_tops,
    soil,
)
from bestgroup.algorithms.adaptive.pareto.scores import hope_of, seems_ahead
from bestgroup.algorithms.adaptive.pareto.view import UNDECIDED, Duties, Split, View
from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Bools, Floats, Ints

BELOW, LED, HOPE = 0, 1, 2  # the three kinds of lists


@borrowing
def relist(view: View) -> None:
    """Make all lists anew, of the groups that are not rejected."""
    for kind in range(3):
        for i in range(view.first.shape[1]):
            view.first[kind, i] = -1
    for back in range(view.lives[0]):
        i = int(view.live[view.lives[0] - 1 - back])
        link(view, BELOW, i, int(view.below[i]))
        link(view, LED, i, int(view.led_by[i]))
        link(view, HOPE, i, int(view.hope_by[i]))
        if view.rival[i] != view.hope_by[i]:
            view.rival[i] = -1  # whoever hopes for a group has no other rival


@borrowing
def link(view: View, kind: int, i: int, by: int) -> None:
    """Put a group into the list of another one, in front; -1 for none."""
    view.before[kind, i] = -1
    view.after[kind, i] = -1
    if by >= 0:
        then = view.first[kind, by]
        view.after[kind, i] = then
        if then >= 0:
            view.before[kind, then] = i
        view.first[kind, by] = i


@borrowing
def relink(view: View, kind: int, i: int, old: int, by: int) -> None:
    """Take a group out of the list of the one that it followed, and put it into that of another."""
    if old == by:
        return
    if old >= 0:
        ahead, then = view.before[kind, i], view.after[kind, i]
        if ahead >= 0:
            view.after[kind, ahead] = then
        else:
            view.first[kind, old] = then
        if then >= 0:
            view.before[kind, then] = ahead
    link(view, kind, i, by)


@borrowing
def follow_listed(
    view: View,
    duties: Duties,
    split: Split,
    level: float,
    epsilon: Floats,
    exists: Bools,
    moved: Bools,
    mover: int,
) -> None:
    """Take up what pulls of the groups that moved have changed, where nothing was decided.

    A mover is the only one; with several it is -1. See `follow_pulls`.
    """
    status, alone = duties.status, mover >= 0
    view.rises[0] = 0
    for at in range(1 if alone else view.lives[0]):
        g = mover if alone else view.live[at]
        if alone or moved[g]:
            follow_below_of(view, g)
    for at in range(1 if alone else view.lives[0]):
        g = mover if alone else view.live[at]
        if alone or moved[g]:
            follow_lead_of(view, status, epsilon, g, alone)
            follow_hopes_of(view, status, exists, g, False)
    for at in range(view.rises[0]):
        follow_hopes_of(view, status, exists, int(view.risers[at]), True)
    # Unless the list of open groups has changed, those that did not move have the rows that they had.
    only = alone and not view.stirred[0]
    list_open(view, status)
    if only and not view.open[mover]:
        return
    if only:
        if status[mover] == UNDECIDED:
            find_row(view, duties, split, level, epsilon, exists, mover)
    else:
        renew_late_rows(view, duties, split, level, epsilon, exists, moved, mover)
    for at in range(1 if only else view.opens[0]):
        i = mover if only else view.opening[at]
        if has_moved(moved, mover, i) or view.fresh[i]:
            follow_scores(view, duties, split, level, epsilon, exists, i)


@borrowing
def renew_late_rows(
    view: View,
    duties: Duties,
    split: Split,
    level: float,
    epsilon: Floats,
    exists: Bools,
    moved: Bools,
    mover: int,
) -> None:
    """Search the least scores of open groups that moved, are fresh, or whose least one is out."""
    for at in range(view.opens[0]):
        i = view.opening[at]
        if duties.status[i] == UNDECIDED:
            if has_moved(moved, mover, i) or view.fresh[i] or not is_kept(view, i):
                find_row(view, duties, split, level, epsilon, exists, i)


@borrowing
def has_moved(moved: Bools, mover: int, i: int) -> bool:
    """Return whether group i has moved; if there is a mover nobody else has."""
    return i == mover if mover >= 0 else moved[i]


@borrowing
def follow_below_of(view: View, g: int) -> None:
    """Take up who is above g, and whether g is above those that follow it."""
    list_tops(view)
    if not view.units[0]:
        return
    by = view.below[g]
    if by < 0:
        find_above(view, g)
    elif not is_above(view, by, g):
        find_above(view, g)
        note_riser(view, g)
    i = view.first[BELOW, g]
    while i >= 0:
        then = view.after[BELOW, i]
        if not is_above(view, g, i):
            find_above(view, i)
            note_riser(view, i)
        i = then


@borrowing
def note_riser(view: View, i: int) -> None:
    """List a group that has just ceased to be below another one."""
    if view.below[i] < 0:
        view.risers[view.rises[0]] = i
        view.rises[0] += 1


@borrowing
def find_above(view: View, i: int) -> None:
    """Search a group above i, among those that are below nobody, and keep these in order."""
    old, by, at = view.below[i], -1, 0
    while by < 0 and at < view.top[0]:
        j = view.tops[at]
        if j != i and is_above(view, j, i):
            by = j
        at += 1
    view.below[i] = by
    relink(view, BELOW, i, old, by)
    count = view.top[0]
    if old < 0 <= by:
        at = 0
        while view.tops[at] != i:
            at += 1
        for place in range(at, count - 1):
            view.tops[place] = view.tops[place + 1]
        view.top[0] = count - 1
    elif by < 0 <= old:
        at = count
        while at > 0 and view.tops[at - 1] > i:
            view.tops[at] = view.tops[at - 1]
            at -= 1
        view.tops[at] = i
        view.top[0] = count + 1


@borrowing
def follow_lead_of(view: View, status: Ints, epsilon: Floats, g: int, alone: bool) -> None:
    """Take up whether g seems to dominate others, and others it."""
    i = view.first[HOPE, g]
    while i >= 0:
        if view.rival[i] == g:
            view.rival[i] = -1
            soil(view, i)
        i = view.after[HOPE, i]
    loose = not alone  # whether somebody may have just ceased to be led
    i = view.first[LED, g]
    while i >= 0:
        then = view.after[LED, i]
        if status[i] == UNDECIDED and not seems_ahead(view, epsilon, g, i):
            search_lead(view, epsilon, i, True)
            if view.led_by[i] < 0:
                loose = True
        i = then
    lead_open(view, status, epsilon, g)
    view.rival[g] = -1
    soil(view, g)
    if status[g] == UNDECIDED:
        by = view.led_by[g]
        if by < 0 or not seems_ahead(view, epsilon, by, g):
            search_lead(view, epsilon, g, loose)


@borrowing
def lead_open(view: View, status: Ints, epsilon: Floats, g: int) -> None:
    """Let g lead the open groups that it seems to dominate by now."""
    for at in range(view.opens[0]):
        i = view.opening[at]
        if i != g and status[i] == UNDECIDED and view.led_by[i] < 0:
            if seems_ahead(view, epsilon, g, i):
                take_lead(view, g, i)


@borrowing
def take_lead(view: View, g: int, i: int) -> None:
    """Note that g seems to dominate i."""
    view.led_by[i] = g
    link(view, LED, i, g)
    view.stirred[0] = True
    soil(view, i)


@borrowing
def find_open_lead(view: View, epsilon: Floats, i: int) -> int:
    """Return the first open group that seems to dominate i; -1 without one."""
    for at in range(view.opens[0]):
        j = view.opening[at]
        if j != i and seems_ahead(view, epsilon, j, i):
            return j
    return -1


@borrowing
def search_lead(view: View, epsilon: Floats, i: int, every: bool) -> None:
    """Search a group, not rejected, that seems to dominate i.

    Whoever is led by a group that seems to dominate i has company: its own leader does so, too. So
    the open groups are enough, unless one has just become so; then every group is looked at.
    """
    old, stirred = view.led_by[i], view.stirred[0]
    by = find_open_lead(view, epsilon, i)
    view.led_by[i] = by
    soil(view, i)
    if by < 0 and every:
        find_lead(view, epsilon, i)
    by = view.led_by[i]
    view.stirred[0] = stirred or (old < 0) != (by < 0)
    relink(view, LED, i, old, by)


@borrowing
def follow_hopes_of(view: View, status: Ints, exists: Bools, g: int, fresh: bool) -> None:
    """Take up the hopes of group g of dominating the others, and theirs of dominating it."""
    can_lead, rose = view.below[g] < 0, fresh or view.rose[g] or not view.units[0]
    view.rose[g] = False
    renew_followers(view, status, exists, g, can_lead)
    if rose:
        compare_hopes(view, status, exists, g, can_lead)
    if status[g] == UNDECIDED:
        search_hope(view, exists, g)


@borrowing
def renew_followers(view: View, status: Ints, exists: Bools, g: int, can_lead: bool) -> None:
    """Take up what those that hope for g, or fear it, have of it now."""
    i = view.first[HOPE, g]
    while i >= 0:
        then = view.after[HOPE, i]
        if status[i] == UNDECIDED:
            hope = hope_of(view, exists, g, i)
            view.most_hope[i] = hope
            if not ((can_lead or view.below[i] < 0) and hope > view.next_hope[i]):
                search_hope(view, exists, i)
        i = then


@borrowing
def compare_hopes(view: View, status: Ints, exists: Bools, g: int, every: bool) -> None:
    """Compare the hopes of g with what others have, or with what those below nobody have."""
    for at in range(view.lives[0] if every else view.top[0]):
        i = view.live[at] if every else view.tops[at]
        if view.hope_by[i] == g or status[i] != UNDECIDED or i == g:
            continue
        hope = hope_of(view, exists, g, i)
        if hope > view.most_hope[i] or (hope == view.most_hope[i] and g < view.hope_by[i]):
            take_hope(view, g, i, hope)
        else:
            view.next_hope[i] = max(view.next_hope[i], hope)


@borrowing
def take_hope(view: View, g: int, i: int, hope: float) -> None:
    """Note that g has the most hope of dominating i."""
    old = view.hope_by[i]
    view.next_hope[i], view.most_hope[i], view.hope_by[i] = view.most_hope[i], hope, g
    view.rival[i] = -1
    relink(view, HOPE, i, old, g)
    soil(view, i)


@borrowing
def search_hope(view: View, exists: Bools, i: int) -> None:
    """Search the group, not rejected, with the most hope of dominating i, and the next hope."""
    old = view.hope_by[i]
    find_hope(view, exists, i)
    if view.hope_by[i] != old:
        view.rival[i] = -1
        relink(view, HOPE, i, old, view.hope_by[i])

"""Which comparison to pull for: the least score of all that undecided groups need, kept up to date.

A pull of an arm of group g changes what g and the other groups think of each other: a row and a column
of the matrices of a view. What is read of these matrices is kept for every group: how many groups
seem to dominate it (`leads`), the rival with the most hope of doing so, and the least score of
accepting it (`row`). Rival and least score come with a bound on what the runner-up has. After a pull
each is compared with one new entry, and searched anew only if its own entry has fallen behind that
bound. So a pull costs of the order of N, not N^2, and the numbers are those of a search to the bit, ties
included, which the first group wins. A group that seems to be dominated works towards its rejection,
and nobody is accepted against it: scores of such groups are not read, and are made once they are open
again.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.adaptive.pareto.scores import look_at_fall, score_pair, set_pick
from bestgroup.algorithms.adaptive.pareto.view import REJECTED, UNDECIDED, Duties, Split, View
from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Bools, Floats, Ints


@borrowing
def renew_choices(
    view: View, duties: Duties, split: Split, level: float, epsilon: Floats, exists: Bools
) -> None:
    """Search everything anew: after a decision, or when all scores have changed."""
    status = duties.status
    N = len(status)
    for i in range(N):
        if status[i] == UNDECIDED:
            count_leads(view, status, i)
            find_hope(view, status, i)
    for j in range(N):
        view.open[j] = is_open(view, status, j)
    for i in range(N):
        if status[i] == UNDECIDED and view.open[i]:
            for j in range(N):
                if j != i and view.open[j]:
                    score_pair(view, duties, split, level, epsilon, exists, i, j)
            find_row(view, i)


@borrowing
def follow_pulls(
    view: View,
    duties: Duties,
    split: Split,
    level: float,
    epsilon: Floats,
    exists: Bools,
    moved: Bools,
) -> None:
    """Take up what pulls of the groups that moved have changed; statuses are what they were."""
    status = duties.status
    N = len(status)
    for g in range(N):
        if moved[g] and status[g] != REJECTED:
            follow_hopes(view, status, g)
    for j in range(N):
        now = is_open(view, status, j)
        view.fresh[j] = now and not view.open[j]
        if view.open[j] and not now:
            view.open[j] = False
            follow_scores(view, status, j)
        view.open[j] = now
    # Scores are kept among open groups only: those of the others are not read.
    for g in range(N):
        if view.open[g] and (moved[g] or view.fresh[g]):
            for o in range(N):
                if o != g and view.open[o]:
                    if status[g] == UNDECIDED:
                        score_pair(view, duties, split, level, epsilon, exists, g, o)
                    if status[o] == UNDECIDED:
                        score_pair(view, duties, split, level, epsilon, exists, o, g)
    for g in range(N):
        if view.open[g] and (moved[g] or view.fresh[g]):
            follow_scores(view, status, g)
            if status[g] == UNDECIDED:
                find_row(view, g)


@borrowing
def follow_hopes(view: View, status: Ints, g: int) -> None:
    """Take up the hopes of group g of dominating the others, and theirs of dominating it."""
    for i in range(len(status)):
        if status[i] != UNDECIDED or i == g:
            continue
        hope, most = view.hope[g, i], view.most_hope[i]
        if view.hope_by[i] == g:
            view.most_hope[i] = hope
            if not hope > view.next_hope[i]:
                find_hope(view, status, i)
        elif hope > most or (hope == most and g < view.hope_by[i]):
            view.most_hope[i], view.next_hope[i], view.hope_by[i] = hope, most, g
        else:
            view.next_hope[i] = max(view.next_hope[i], hope)
    if status[g] == UNDECIDED:
        find_hope(view, status, g)


@borrowing
def follow_scores(view: View, status: Ints, j: int) -> None:
    """Take up the scores of accepting the other groups against j."""
    for i in range(len(status)):
        if status[i] != UNDECIDED or i == j or not view.open[i]:
            continue
        score, least = view.score[i, j], view.row[i]
        if view.row_at[i] == j:
            view.row[i] = score
            if not (view.open[j] and score < view.next_row[i]):
                find_row(view, i)
        elif view.open[j]:
            if score < least or (score == least and j < view.row_at[i]):
                view.row[i], view.next_row[i], view.row_at[i] = score, least, j
            else:
                view.next_row[i] = min(view.next_row[i], score)


@borrowing
def is_open(view: View, status: Ints, j: int) -> bool:
    """Return whether others are to be accepted against j: not if it is, or is about to be, rejected."""
    if status[j] == REJECTED:
        return False
    return not (status[j] == UNDECIDED and view.leads[j] > 0)


@borrowing
def count_leads(view: View, status: Ints, i: int) -> None:
    """Count the groups, not rejected, that seem to dominate i; `look_at_pairs` keeps that up."""
    view.leads[i] = 0
    for j in range(len(status)):
        if j != i and status[j] != REJECTED and view.margin[j, i] > 0.0:
            view.leads[i] += 1


@borrowing
def find_hope(view: View, status: Ints, i: int) -> None:
    """Search the group, not rejected, with the most hope of dominating i, and the next hope."""
    most, second, by = -np.inf, -np.inf, -1
    for j in range(len(status)):
        if j == i or status[j] == REJECTED:
            continue
        hope = view.hope[j, i]
        if hope > most:
            most, second, by = hope, most, j
        elif hope > second:
            second = hope
    view.most_hope[i], view.next_hope[i], view.hope_by[i] = most, second, by


@borrowing
def find_row(view: View, i: int) -> None:
    """Search the least score of accepting group i against another one, and the next least."""
    least, second, at = np.inf, np.inf, len(view.row)
    for j in range(len(view.row)):
        if j == i or not view.open[j]:
            continue
        score = view.score[i, j]
        if score < least:
            least, second, at = score, least, j
        elif score < second:
            second = score
    view.row[i], view.next_row[i], view.row_at[i] = least, second, at


@borrowing
def choose(view: View, duties: Duties, split: Split, level: float, exists: Bools) -> None:
    """Set the pick: the duel with the least score of all that undecided groups need."""
    status = duties.status
    least = np.inf
    view.pick[0] = -1
    for i in range(len(status)):
        if status[i] != UNDECIDED:
            continue
        if view.leads[i] > 0:
            j = view.hope_by[i]
            if view.rival[i] != j:
                look_at_fall(view, duties, split, level, exists, i, j)
            if view.fall[i] < least:
                least = view.fall[i]
                set_pick(view, 1, j, i, view.blow[i, 0], view.blow[i, 1])
        elif view.row[i] < least:
            least, j = view.row[i], view.row_at[i]
            set_pick(view, 0, i, j, view.duel[i, j, 0], view.duel[i, j, 1])
    view.least[0] = least

"""Who stands for a group on which items: terms of the leaders on shared items.

A *term* is a stretch of the order of items. In it every group has a *front*, a selection of it that stands
for the group, and there is a leader and a runner-up among the groups. A term is made when the deepest item
that any arm has passed is T, from what was seen by then, and begins after T; so fronts and leaders of
item t are known from the items before t. The first term has none: nothing is bet on the first items.

A term begins when the deepest item has grown by 5 %, or at once while nobody has passed an item of the
last one, or when the leader is out. The leader's arms are always among the deepest (`best.plan`), and
a group keeps its front until that has come to T, so hardly an item is asked for because of an old front.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestgroup.algorithms.shared_items.rule import ItemsRule, unit_size
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints

MOST_TERMS = 800  # growing by 5 % each, more than any run has
_STAY = 0.25  # a leader stays unless another is ahead by this share of the slack
_LATER = 1.05
_ENDLESS = 2**62


class BestRule(NamedTuple):
    """A setting with shared items and weights as the kernels see it."""

    items: ItemsRule
    owner: Ints  # [P]     the group of a selection
    arms: Ints  # [P, D]   its arm for each dim
    reach: float  # of the difference of two selections
    slack: float  # epsilon ||w||_1


class State(NamedTuple):
    """Who leads, what is put out, and how deep every arm is and needs to be.

    Row 0 of what is kept by selection is against whoever leads, without slack; row 1 + i, which there
    is with slack only, against group i.
    """

    out: Bools  # [N]
    leader: Ints  # [1]
    terms: Ints  # [1]         how many there are
    begins: Ints  # [H]        the first item of a term, counted from 0
    leads: Ints  # [H, 2]      groups of leader and runner-up; -1 for none
    fronts: Ints  # [H, N, D]
    since: Ints  # [N]         the item at which a group's present front began
    rank: Ints  # [N]          how well a group looked when the first term was made, from 1
    depth: Ints  # [A]         items that an arm has passed
    behind: Floats  # [A, D]   sum of an arm's differences to the leader's arm of the dim
    common: Ints  # [A, D]     over so many items
    term: Ints  # [R, P]       the term that a selection has come to
    passed: Ints  # [R, P]     items that it has taken up
    total: Floats  # [R, P]    sum of the differences to its opponent; NaN before they are taken
    square: Floats  # [R, P]
    wealth: Floats  # [R, P, L]
    code: Ints  # [R, P]       OPEN, or PROVEN: out
    sure: Ints  # [P]          a group that is certainly as good, up to the slack; -1 for none
    need: Floats  # [A]
    efficiency: Floats  # [N, D]
    round: Ints  # [1]


@borrowing
def row_of(rule: BestRule, i: int) -> int:
    """Return the row of what is out against group i."""
    return 0 if rule.slack == 0.0 else i + 1


@borrowing
def ends_of(state: State, h: int) -> int:
    """Return the first item after a term."""
    return state.begins[h + 1] if h + 1 < state.terms[0] else _ENDLESS


@borrowing
def opponent(state: State, rule: BestRule, row: int, h: int, p: int) -> int:
    """Return the group that selection p is compared with in a term; -1 for none."""
    if row > 0:
        return row - 1 if h > 0 and rule.owner[p] != row - 1 else -1
    # A selection of the leader itself is compared with the runner-up.
    side = 1 if state.leads[h, 0] == rule.owner[p] else 0
    return state.leads[h, side]


@borrowing
def front_depth(state: State, h: int, i: int) -> int:
    """Return how many items a group's front of a term has passed."""
    least = int(state.depth[state.fronts[h, i, 0]])
    for d in range(1, state.fronts.shape[2]):
        least = min(least, int(state.depth[state.fronts[h, i, d]]))
    return least


@borrowing
def deepest_item(state: State) -> int:
    """Return how many items the deepest arm has passed."""
    most = 0
    for a in range(len(state.depth)):
        most = max(most, int(state.depth[a]))
    return most


@kernel
def rename(state: State, tally: Tally, rule: BestRule) -> None:
    """Make a new term if others lead by now, and it may begin."""
    items, last = rule.items, state.terms[0] - 1
    compare_with_front(state, tally, items)
    begun, deepest = state.begins[last], deepest_item(state)
    # The leader was put out, or there are no items left to wait for.
    stuck = state.out[state.leader[0]] or deepest >= items.limit
    # At most so many terms: each may only begin when the items have grown by a factor.
    late = deepest >= _LATER * begun and front_depth(state, last, state.leader[0]) >= deepest
    if not (stuck or late or begun == deepest or last == 0):
        return
    before = state.fronts[last].copy()
    fronts = before.copy()
    for i in range(len(state.out)):
        choose_front(state, items, i, deepest, fronts)
    leader = find_leader(state, rule, fronts, -1)
    second = find_leader(state, rule, fronts, leader)
    if leader < 0 or is_same(state, last, leader, second, fronts):
        return
    # A term without an item yet is overwritten, not followed by another one.
    if begun != deepest or last == 0:
        if state.terms[0] == MOST_TERMS:
            return
        last = last + 1
        state.terms[0] += 1
    if last == 1 and begun == 0:
        rank_groups(state, rule, fronts)
    # Beyond the deepest arm: nobody has seen an item of the new term, so it is predictable.
    state.begins[last] = deepest
    state.leader[0], state.leads[last, 0], state.leads[last, 1] = leader, leader, second
    for i in range(len(state.out)):
        for d in range(fronts.shape[1]):
            if fronts[i, d] != before[i, d]:
                state.since[i] = deepest
            state.fronts[last, i, d] = fronts[i, d]
    for a in range(len(state.depth)):
        for d in range(fronts.shape[1]):
            # Differences are to the leader's arms, which are others now.
            state.behind[a, d], state.common[a, d] = 0.0, 0
    compare_with_front(state, tally, items)


@borrowing
def choose_front(state: State, items: ItemsRule, i: int, deepest: int, fronts: Ints) -> None:
    """Set the front of a group in the next term: its best arms, once it may change."""
    last = state.terms[0] - 1
    free = last == 0 or state.since[i] == deepest or deepest >= items.limit
    if free or front_depth(state, last, i) >= deepest:
        for d in range(fronts.shape[1]):
            fronts[i, d] = best_arm(state, items, i, d)


@borrowing
def rank_groups(state: State, rule: BestRule, fronts: Ints) -> None:
    """Rank the groups by how they look now, the best one first."""
    for i in range(len(state.rank)):
        state.rank[i] = 1
        for k in range(len(state.rank)):
            mine, other = worth(state, rule, fronts, i), worth(state, rule, fronts, k)
            if other > mine or (other == mine and k < i):
                state.rank[i] += 1


@borrowing
def is_same(state: State, last: int, leader: int, second: int, fronts: Ints) -> bool:
    """Return whether nothing would change."""
    if leader != state.leads[last, 0] or second != state.leads[last, 1]:
        return False
    for i in range(len(state.out)):
        for d in range(fronts.shape[1]):
            if fronts[i, d] != state.fronts[last, i, d]:
                return False
    return True


@borrowing
def compare_with_front(state: State, tally: Tally, items: ItemsRule) -> None:
    """Take up the differences of every arm to the leader's arm of each dim."""
    last = state.terms[0] - 1
    for d in range(len(items.epsilon)):
        f = state.fronts[last, state.leader[0], d]
        y = tally.extra[items.home[f], items.place[f], d]
        for a in range(len(items.home)):
            x = tally.extra[items.home[a], items.place[a], d]
            stop = min(state.depth[a], state.depth[f])
            # Only new items: differences add up.
            for t in range(state.common[a, d], stop):
                state.behind[a, d] += x[t] - y[t]
            state.common[a, d] = stop


@borrowing
def worth(state: State, rule: BestRule, fronts: Ints, i: int) -> float:
    """Return what a group's front is worth by the items in common with the leader's arms."""
    value = 0.0
    for d in range(fronts.shape[1]):
        value += rule.items.weights[d] * edge_of(state, fronts[i, d], d)
    return value


@borrowing
def find_leader(state: State, rule: BestRule, fronts: Ints, other: int) -> int:
    """Return the group but `other` whose front looks best; -1 if there is none."""
    most, leader = -np.inf, -1
    for i in range(len(state.out)):
        if state.out[i] or i == other:
            continue
        value = worth(state, rule, fronts, i)
        if i == state.leader[0]:
            # In the unit of the clusters that somebody has passed: what comes is not known yet.
            value += _STAY * rule.slack * unit_size(rule.items, deepest_item(state))
        if value > most or (value == most and i == state.leader[0]):
            most, leader = value, i
    return leader


@borrowing
def edge_of(state: Any, a: int, d: int) -> float:
    """Return the mean difference of an arm to the leader's arm of a dim."""
    return state.behind[a, d] / max(1, state.common[a, d])


@borrowing
def best_arm(state: State, items: ItemsRule, i: int, d: int) -> int:
    """Return the arm of a group that looks best in a dim; the present one if it is level."""
    best, arm = -np.inf, items.start[i]
    last = state.terms[0] - 1
    for a in range(items.start[i], items.start[i + 1]):
        value = edge_of(state, a, d)
        if value > best or (value == best and a == state.fronts[last, i, d]):
            best, arm = value, a
    return arm

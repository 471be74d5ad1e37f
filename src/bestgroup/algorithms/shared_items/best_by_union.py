"""The best group on shared items with a union over all leaders: version 2 of `adaptive`.

A selection s of a group names an arm for each dim; L_s = sum_d w^d mu_{s(d)}^d, and R_i . w is the
largest L_s of group i. On an item the difference of two selections is one number,

    D_t = sum_d w^d (x_{s(d)}^d - x_{s'(d)}^d),    |D_t| <= sum_d w^d r_d,

so the pair process (`inference.evalues.paired`) holds for it, with the covariances that the arms have.
At any time a *leader* (i, s) is compared with all selections s' of all other groups; s' is put out
once the process that refutes L_s + epsilon ||w||_1 < L_{s'} has reached m / delta, m = sum_i K_i^D. With
epsilon = 0 it stays out; with epsilon > 0 all come back when the leader's group changes. A group is out
when all its selections are, and the answer is the leader's group once all others are out.

**Theorem.** The answer is wrong with probability at most delta, whatever chooses leaders and items.
*Proof.* Let k* be a best group and s* a selection of it with L_{s*} = R_{k*} . w; the means fix both. If
the answer i is wrong, R_i . w + epsilon ||w||_1 < R_{k*} . w, then s* was put out by some (i', s), with
i' != k*, and i' = i if epsilon > 0. The null L_s + epsilon ||w||_1 < L_{s*} was true (for epsilon = 0 at
least L_s <= L_{s*}, which the process refutes as well; equality at the end of a pool makes i' a best
group, too). So one of at most m processes, one for each (i', s), has reached m / delta. QED

All items count for every leader, since the union is over leaders; the processes of a new leader are
computed again from the first item on.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.shared_items.best import note_depths
from bestgroup.algorithms.shared_items.forecast import NEVER, PRIOR, expected_depth
from bestgroup.algorithms.shared_items.rule import (
    FIRST,
    ItemsRule,
    keep_up,
    plan_depths,
)
from bestgroup.algorithms.shared_items.terms import edge_of
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.paired import (
    OPEN,
    PROVEN,
    Claim,
    log_wealth,
    watch_item,
)
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints

_STAY = (
    0.25  # a leader stays unless another is ahead by this share of the slack: it may win as well
)
_LATER = 1.05  # a leader is replaced when its depth has grown by this factor


class BestRule(NamedTuple):
    """A setting with shared items and weights as the kernels see it."""

    items: ItemsRule
    owner: Ints  # [P]     the group of a selection
    arms: Ints  # [P, D]   its arm for each dim
    reach: float  # of the difference of two selections
    slack: float  # epsilon ||w||_1


class State(NamedTuple):
    """Who leads, what is eliminated, and how deep every arm is and needs to be."""

    out: Bools  # [N]
    leader: Ints  # [1]
    front: Ints  # [D]        the leader's selection
    since: Ints  # [1]        its depth when it was named
    depth: Ints  # [A]        items that an arm has passed
    behind: Floats  # [A, D]  sum of an arm's differences to the leader's arm of the dim
    common: Ints  # [A, D]    over so many items
    passed: Ints  # [P]       items that a selection and the leader's have taken up
    total: Floats  # [P]
    square: Floats  # [P]
    wealth: Floats  # [P, L]
    code: Ints  # [P]         OPEN, PROVEN (eliminated) or REFUTED
    need: Floats  # [A]
    efficiency: Floats  # [N, D]
    round: Ints  # [1]


def best_rule(items: ItemsRule) -> BestRule:
    """Return the rule with all selections of all groups."""
    D = len(items.epsilon)
    owner: list[int] = []
    arms: list[tuple[int, ...]] = []
    for i in range(len(items.start) - 1):
        for chosen in itertools.product(range(items.start[i], items.start[i + 1]), repeat=D):
            owner.append(i)
            arms.append(chosen)
    reach = float(items.weights @ items.reach)
    slack = float(items.weights @ items.epsilon)
    return BestRule(items, np.array(owner, np.int64), np.array(arms, np.int64), reach, slack)


def init(rule: BestRule) -> State:
    """Return the state before any pull."""
    items = rule.items
    N, A, D, P = len(items.start) - 1, len(items.home), len(items.epsilon), len(rule.owner)
    return State(
        out=np.zeros(N, np.bool_),
        leader=np.zeros(1, np.int64),
        front=np.zeros(D, np.int64),
        since=np.zeros(1, np.int64),
        depth=np.zeros(A, np.int64),
        behind=np.zeros((A, D)),
        common=np.zeros((A, D), np.int64),
        passed=np.zeros(P, np.int64),
        total=np.zeros(P),
        square=np.zeros(P),
        wealth=np.ones((P, len(items.betting.bets))),
        code=np.zeros(P, np.int64),
        need=np.full(A, float(min(FIRST, items.limit))),
        efficiency=np.zeros((N, D)),
        round=np.zeros(1, np.int64),
    )


@kernel
def plan(state: State, tally: Tally, rule: BestRule) -> Ints:
    """Return the next items of the arms that are not as deep as they need to be."""
    return plan_depths(rule.items, state.need, state.depth, state.round[0] == 0)


@kernel
def step(state: State, tally: Tally, rule: BestRule) -> None:
    """Take up the items that arms have passed, put out what can be, and say who needs more."""
    items = rule.items
    A = len(items.home)
    state.round[0] += 1
    note_depths(state, tally, items)
    front = np.zeros(len(items.epsilon), np.int64)
    compare_with_front(state, tally, items)
    leader = find_leader(state, items, rule.slack, front)
    least = front_depth(state)
    if state.round[0] == 1 or least >= _LATER * state.since[0] or is_at_its_end(state, items):
        if leader != state.leader[0] or is_other(front, state.front) or state.round[0] == 1:
            name_leader(state, rule, leader, front, least)
            compare_with_front(state, tally, items)
    follow_selections(state, tally, rule)
    put_out(state, rule)
    set_needs(state, rule)
    live = np.zeros(A, np.bool_)
    for a in range(A):
        live[a] = not state.out[items.home[a]]
    keep_up(state.need, state.depth, live, items.limit)


@borrowing
def front_depth(state: State) -> int:
    """Return how many items the leader's selection has passed."""
    least = int(state.depth[state.front[0]])
    for d in range(1, len(state.front)):
        least = min(least, int(state.depth[state.front[d]]))
    return least


@borrowing
def is_other(front: Ints, before: Ints) -> bool:
    """Return whether two selections differ."""
    for d in range(len(front)):
        if front[d] != before[d]:
            return True
    return False


@borrowing
def is_at_its_end(state: State, items: ItemsRule) -> bool:
    """Return whether no arm that is needed can go on."""
    for a in range(len(items.home)):
        if state.depth[a] < items.limit and state.depth[a] < state.need[a]:
            return False
    return True


@borrowing
def compare_with_front(state: State, tally: Tally, items: ItemsRule) -> None:
    """Take up the differences of every arm to the leader's arm of each dim."""
    for d in range(len(items.epsilon)):
        f = state.front[d]
        y = tally.extra[items.home[f], items.place[f], d]
        for a in range(len(items.home)):
            x = tally.extra[items.home[a], items.place[a], d]
            stop = min(state.depth[a], state.depth[f])
            for t in range(state.common[a, d], stop):
                state.behind[a, d] += x[t] - y[t]
            state.common[a, d] = stop


@borrowing
def find_leader(state: State, items: ItemsRule, slack: float, front: Ints) -> int:
    """Return the group that looks best, on items in common with the leader; sets its selection."""
    most, leader = -np.inf, state.leader[0]
    for i in range(len(state.out)):
        if state.out[i]:
            continue
        value = 0.0
        for d in range(len(items.epsilon)):
            value += items.weights[d] * edge_of(state, best_arm(state, items, i, d), d)
        if i == state.leader[0]:
            value += _STAY * slack
        if value > most or (value == most and i == state.leader[0]):
            most, leader = value, i
    for d in range(len(items.epsilon)):
        front[d] = best_arm(state, items, leader, d)
    return leader


@borrowing
def best_arm(state: State, items: ItemsRule, i: int, d: int) -> int:
    """Return the arm of a group that looks best in a dim; the leader's own one if it is level."""
    best, arm = -np.inf, items.start[i]
    for a in range(items.start[i], items.start[i + 1]):
        value = edge_of(state, a, d)
        if value > best or (value == best and a == state.front[d]):
            best, arm = value, a
    return arm


@borrowing
def name_leader(state: State, rule: BestRule, leader: int, front: Ints, depth: int) -> None:
    """Set another leader; what it has to be compared with begins at the first item again."""
    keep = rule.slack == 0.0 or leader == state.leader[0]
    if not keep:
        for i in range(len(state.out)):
            state.out[i] = False
    for p in range(len(rule.owner)):
        if keep and state.code[p] == PROVEN:
            continue
        state.code[p], state.passed[p] = OPEN, 0
        state.total[p], state.square[p] = 0.0, 0.0
        for k in range(state.wealth.shape[1]):
            state.wealth[p, k] = 1.0
    for d in range(len(front)):
        if front[d] != state.front[d] or state.round[0] == 1:
            for a in range(len(state.depth)):
                state.behind[a, d], state.common[a, d] = 0.0, 0
        state.front[d] = front[d]
    state.leader[0], state.since[0] = leader, depth


@borrowing
def follow_selections(state: State, tally: Tally, rule: BestRule) -> None:
    """Take up the new items of every selection that is not put out."""
    level = math.exp(rule.items.level) * len(rule.owner)
    claim = Claim(rule.slack, rule.reach, level, False)
    least = front_depth(state)
    for p in range(len(rule.owner)):
        if rule.owner[p] == state.leader[0] or state.code[p] != OPEN or state.out[rule.owner[p]]:
            continue
        stop = least
        for d in range(rule.arms.shape[1]):
            stop = min(stop, int(state.depth[rule.arms[p, d]]))
        follow(state, tally, rule, p, stop, claim)


@borrowing
def follow(state: State, tally: Tally, rule: BestRule, p: int, stop: int, claim: Claim) -> None:
    """Take up the new items of one selection."""
    items = rule.items
    for t in range(state.passed[p], stop):
        value = 0.0
        for d in range(rule.arms.shape[1]):
            f, a = state.front[d], rule.arms[p, d]
            x = tally.extra[items.home[f], items.place[f], d, t]
            y = tally.extra[items.home[a], items.place[a], d, t]
            value += items.weights[d] * (x - y)
        if state.code[p] == OPEN:
            total, square = state.total[p], state.square[p]
            wealth = state.wealth[p]
            state.code[p] = watch_item(items.betting, wealth, value, t, total, square, claim)
        state.total[p] += value
        state.square[p] += value * value
    state.passed[p] = max(state.passed[p], stop)


@borrowing
def put_out(state: State, rule: BestRule) -> None:
    """Put out the groups whose selections are all put out."""
    for i in range(len(state.out)):
        if i != state.leader[0]:
            state.out[i] = True
    for p in range(len(rule.owner)):
        if state.code[p] != PROVEN:
            state.out[rule.owner[p]] = False


@borrowing
def set_needs(state: State, rule: BestRule) -> None:
    """Set how deep every arm needs to go for the leader to be proven."""
    items = rule.items
    for a in range(len(items.home)):
        state.need[a] = float(state.depth[a])
    lines, spread = 0.0, 0.0
    for p in range(len(rule.owner)):
        n = float(state.passed[p])
        if n > 1.0:
            spread += max(0.0, state.square[p] - state.total[p] ** 2 / n)
            lines += n - 1.0
    common = spread / lines if lines > 0.0 else 0.0
    for p in range(len(rule.owner)):
        if rule.owner[p] == state.leader[0] or state.out[rule.owner[p]]:
            continue
        wanted = selection_depth(state, rule, p, common)
        for d in range(rule.arms.shape[1]):
            a, f = rule.arms[p, d], state.front[d]
            state.need[a] = max(state.need[a], wanted)
            state.need[f] = max(state.need[f], wanted)


@borrowing
def selection_depth(state: State, rule: BestRule, p: int, common: float) -> float:
    """Return at which depth a selection is expected to be put out."""
    items, n = rule.items, state.passed[p]
    if state.code[p] == PROVEN:
        return 0.0
    if state.code[p] != OPEN:
        return NEVER
    rest = max(0.0, state.square[p] - state.total[p] ** 2 / max(1, n))
    variance = (rest + PRIOR * common) / (n - 1.0 + PRIOR)
    gap = state.total[p] / max(1, n) + rule.slack
    lack = items.level + math.log(len(rule.owner)) - log_wealth(items.betting, state.wealth[p])
    count = items.betting.pool
    depth = expected_depth(count, items.limit, n, gap, variance, rule.reach, lack)
    return max(depth, n + 1.0)

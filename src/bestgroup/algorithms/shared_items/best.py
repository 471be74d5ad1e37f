"""The best group on shared items: one process for each selection that may be the best.

A selection s of a group names an arm for each dim; L_s = sum_d w^d mu_{s(d)}^d, and R_i . w is the
largest L_s of group i. On an item the difference of two selections is one number,

    D_t = sum_d w^d (x_{s(d)}^d - x_{s'(d)}^d),    |D_t| <= sum_d w^d r_d,

so a factor of the pair process (`inference.evalues.paired`) can be made of it, with the covariances that
the arms have. The selection s that s' is compared with may be another one on every item, as long as it
is known from the items before (`terms.py` says who stands for whom on which items). So there is

- K, the wealth of s' against whoever leads (the runner-up, where the group of s' leads), without slack;
- if epsilon > 0, K_i, its wealth against the fronts of group i, with the slack epsilon ||w||_1.

With epsilon = 0 s' is out once K reaches 1 / delta. Otherwise it is out once K reaches 4 / delta, and out
against i once K_i reaches 1 / (q_i delta), q_i = 3 / (4 h H_N) for the group that looked h-th best when
the first term was made, H_N = 1 + 1/2 + ... + 1/N. A group is out when all its selections are; the answer
is the leader's group once all others are out, or out against it. In a pool s' is also out against i if a
front of i is certain to be as good up to the slack: by the last item, or as no rest can change it.

**Theorem.** The answer is wrong with probability at most delta, whatever names leaders and chooses
items. The proof is in docs/theory.md 9.3: the means fix a best group k* and a selection s* of it, and
every factor of *its* wealths has a conditional mean of at most 1, so nothing is summed over leaders'
selections, only over groups if there is slack.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from bestgroup.algorithms.shared_items.forecast import PRIOR, expected_depth
from bestgroup.algorithms.shared_items.rule import (
    FIRST,
    ItemsRule,
    keep_up,
    shallowest,
    unit_size,
)
from bestgroup.algorithms.shared_items.terms import (
    MOST_TERMS,
    BestRule,
    State,
    edge_of,
    ends_of,
    front_depth,
    opponent,
    rename,
    row_of,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.paired import (
    OPEN,
    PROVEN,
    Claim,
    at_the_end,
    grow,
    log_wealth,
    null_mean,
    on_units,
    purse_size,
)
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Ints

_FOR_GOOD = 0.25  # the share of delta for what is out whoever leads, if there is slack


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
    rows = 1 if rule.slack == 0.0 else N + 1
    return State(
        out=np.zeros(N, np.bool_),
        leader=np.zeros(1, np.int64),
        terms=np.ones(1, np.int64),
        begins=np.zeros(MOST_TERMS, np.int64),
        leads=np.full((MOST_TERMS, 2), -1, np.int64),
        fronts=np.zeros((MOST_TERMS, N, D), np.int64) + items.start[:-1, None],
        since=np.zeros(N, np.int64),
        rank=np.ones(N, np.int64),
        depth=np.zeros(A, np.int64),
        behind=np.zeros((A, D)),
        common=np.zeros((A, D), np.int64),
        term=np.zeros((rows, P), np.int64),
        passed=np.zeros((rows, P), np.int64),
        total=np.zeros((rows, P)),
        square=np.zeros((rows, P)),
        wealth=np.ones((rows, P, purse_size(items.betting))),
        code=np.zeros((rows, P), np.int64),
        sure=np.full(P, -1, np.int64),
        need=np.full(A, float(min(FIRST, items.limit))),
        efficiency=np.zeros((N, D)),
        round=np.zeros(1, np.int64),
    )


@kernel
def plan(state: State, tally: Tally, rule: BestRule) -> Ints:
    """Return the next items of the arms that need more; no arm goes deeper than the leader's."""
    items = rule.items
    pulls = np.zeros(items.exists.shape, np.int64)
    reached = state.depth.copy()
    if state.round[0] == 0:
        for a in range(len(reached)):
            reached[a] = int(state.need[a])
    elif items.size == 0:
        advance_together(state, items, reached)
    else:
        advance_singly(state, items, reached)
    for a in range(len(reached)):
        pulls[items.home[a], items.place[a]] = reached[a] - state.depth[a]
    return pulls


@borrowing
def advance_together(state: State, items: ItemsRule, reached: Ints) -> None:
    """Let all arms that lag behind, and then the leader's, go on by a share of their depth."""
    low = shallowest(state.need, reached, items.limit)
    if low < 0:
        return
    # By a share of the depth: the number of plans stays logarithmic in the items.
    top = min(state.depth[low] + max(1, int(items.share * state.depth[low])), items.limit)
    deepest = 0
    for a in range(len(reached)):
        if reached[a] < top and reached[a] < state.need[a]:
            reached[a] = min(float(top), math.ceil(state.need[a]))
            deepest = max(deepest, reached[a])
    last = state.terms[0] - 1
    for d in range(state.fronts.shape[2]):
        f = state.fronts[last, state.leader[0], d]
        # A bet on an item needs the leader's value there, so its arms keep up with the deepest.
        reached[f] = max(reached[f], deepest)


@borrowing
def advance_singly(state: State, items: ItemsRule, reached: Ints) -> None:
    """Spend a plan of a fixed size item by item, the leader's arms before the others."""
    last, left = state.terms[0] - 1, items.size
    low = shallowest(state.need, reached, items.limit)
    while low >= 0 and left > 0:
        for d in range(state.fronts.shape[2]):
            f = state.fronts[last, state.leader[0], d]
            # The leader first: without its value the others' items cannot be used.
            if reached[f] <= reached[low] and reached[f] < items.limit:
                low = f
        reached[low] += 1
        low, left = shallowest(state.need, reached, items.limit), left - 1


@kernel
def step(state: State, tally: Tally, rule: BestRule) -> None:
    """Take up the items that arms have passed, eliminate what can be, and say who needs more."""
    items = rule.items
    A = len(items.home)
    state.round[0] += 1
    note_depths(state, tally, items)
    decide(state, tally, rule)
    if state.out[state.leader[0]]:  # another one leads then
        decide(state, tally, rule)
    # From here on only sampling: no decision rests on it.
    set_needs(state, rule)
    live = np.zeros(A, np.bool_)
    for a in range(A):
        live[a] = not state.out[items.home[a]]
    # Forecasts can be wrong; nobody who may still count falls far behind.
    keep_up(state.need, state.depth, live, items.limit)


@kernel
def decide(state: State, tally: Tally, rule: BestRule) -> None:
    """Say who leads, take up what is new for every selection, and eliminate groups."""
    rename(state, tally, rule)
    for p in range(len(rule.owner)):
        if not is_out(state, rule, p):
            # Without slack: whoever leads, a selection that is out stays out.
            follow(state, tally, rule, 0, p)
            # With slack "out" is relative to a group, so each group has a wealth of its own.
            if rule.slack > 0.0 and rule.owner[p] != state.leader[0]:
                follow(state, tally, rule, row_of(rule, state.leader[0]), p)
            settle_for_certain(state, tally, rule, p)
    put_out(state, rule)


@kernel
def is_done(state: State, rule: BestRule) -> bool:
    """Return whether all groups but the leader's are out."""
    for i in range(len(state.out)):
        if i != state.leader[0] and not state.out[i]:
            return False
    # One group alone needs no item.
    return state.round[0] > 0 or len(state.out) == 1


@kernel
def is_stuck(state: State, rule: BestRule) -> bool:
    """Return whether all items are used up; a pool decides everything then."""
    items = rule.items
    return items.betting.pool == 0 and shallowest(state.need, state.depth, items.limit) < 0


@borrowing
def note_depths(state: Any, tally: Tally, items: ItemsRule) -> None:
    """Note the depths, and the largest means of each group."""
    for a in range(len(items.home)):
        i, j = items.home[a], items.place[a]
        state.depth[a] = tally.counts[i, j]
        for d in range(len(items.epsilon)):
            mean = tally.sums[i, j, d] / max(1, state.depth[a])
            if j == 0 or mean > state.efficiency[i, d]:
                state.efficiency[i, d] = mean


@borrowing
def follow(state: State, tally: Tally, rule: BestRule, row: int, p: int) -> None:
    """Take up the new items of one wealth of a selection, term by term."""
    deep, going = selection_depth(state, rule, p), True
    while going and state.passed[row, p] < deep and state.code[row, p] == OPEN:
        h = state.term[row, p]
        end = ends_of(state, h)
        i = opponent(state, rule, row, h, p)
        # Terms are fixed item ranges: who is compared on an item was settled before it.
        if state.passed[row, p] >= end:
            state.term[row, p] = h + 1
            state.total[row, p] = math.nan  # the sums are those of another pair from now on
        # No opponent in this term: its items pass without a bet.
        elif i < 0:
            state.passed[row, p] = min(end, deep)
        else:
            stop = min(end, deep, front_depth(state, h, i))
            going = stop > state.passed[row, p]
            if going:
                bet_on_items(state, tally, rule, (row, p, i), stop)


@borrowing
def bet_on_items(
    state: State, tally: Tally, rule: BestRule, which: tuple[int, int, int], stop: int
) -> None:
    """Take up the items before `stop`, all of one term, for (row, selection, opponent's group)."""
    row, p, i = which
    h, first = state.term[row, p], state.passed[row, p]
    total, square = state.total[row, p], state.square[row, p]
    # A new opponent: the sums that bets may use are those against it, of all items before.
    if math.isnan(total):
        total, square = 0.0, 0.0
        for t in range(first):
            value = number_on(state, tally, rule, (h, i, p, t), row)
            total += value
            square += value * value
    bets, need = rule.items.betting, needed(state, rule, row)
    claim = claim_of(rule, row, need)
    for t in range(first, stop):
        value = number_on(state, tally, rule, (h, i, p, t), row)
        # Ville: once is enough, later items cannot take it back; the sums go on for forecasts.
        if state.code[row, p] == OPEN:
            wealth = state.wealth[row, p]
            if grow(bets, wealth, value, t, total, square, claim) >= need:
                state.code[row, p] = PROVEN
        total += value
        square += value * value
    state.total[row, p], state.square[row, p], state.passed[row, p] = total, square, stop


@borrowing
def claim_of(rule: BestRule, row: int, need: float) -> Claim:
    """Return the claim of a wealth, on items or on clusters of several sizes."""
    claim = Claim(rule.slack if row > 0 else 0.0, rule.reach, need, row == 0)
    return on_units(claim, rule.items.largest) if len(rule.items.ends) > 0 else claim


@borrowing
def number_on(
    state: State, tally: Tally, rule: BestRule, which: tuple[int, int, int, int], row: int
) -> float:
    """Return what a wealth bets on: the difference, with the slack of its items on a cluster."""
    value, ends, t = difference(state, tally, rule, which), rule.items.ends, which[3]
    if row > 0 and len(ends) > 0:
        value += rule.slack * (ends[t + 1] - ends[t])
    return value


@borrowing
def difference(
    state: State, tally: Tally, rule: BestRule, which: tuple[int, int, int, int]
) -> float:
    """Return by how much group i's front of a term exceeds selection p on an item: (h, i, p, t)."""
    h, i, p, t = which
    items, value = rule.items, 0.0
    for d in range(rule.arms.shape[1]):
        f, a = state.fronts[h, i, d], rule.arms[p, d]
        x = tally.extra[items.home[f], items.place[f], d, t]
        y = tally.extra[items.home[a], items.place[a], d, t]
        value += items.weights[d] * (x - y)
    return value


@borrowing
def needed(state: State, rule: BestRule, row: int) -> float:
    """Return the wealth at which a selection is out."""
    level = math.exp(rule.items.level)
    if rule.slack == 0.0:
        return level
    # With slack delta is split between what is out for good and what is out against one group.
    if row == 0:
        return level / _FOR_GOOD
    harmonic = 0.0
    for h in range(len(state.out)):
        harmonic += 1.0 / (h + 1.0)
    # Shares by rank 1, 1/2, 1/3, ...: a group that looked good early pays less.
    return level * harmonic * state.rank[row - 1] / (1.0 - _FOR_GOOD)


@borrowing
def is_out(state: State, rule: BestRule, p: int) -> bool:
    """Return whether a selection is out, for good or against the leader's group."""
    i = state.leader[0]
    proven = state.code[0, p] == PROVEN or state.code[row_of(rule, i), p] == PROVEN
    return proven or state.sure[p] == i


@borrowing
def settle_for_certain(state: State, tally: Tally, rule: BestRule, p: int) -> None:
    """Put out a selection that no rest of the pool can bring above the leader's, or that is level."""
    items, last, i = rule.items, state.terms[0] - 1, state.leader[0]
    count = items.betting.pool
    if count == 0 or rule.owner[p] == i or is_out(state, rule, p):
        return
    stop = min(selection_depth(state, rule, p), front_depth(state, last, i))
    if stop < count // 2:  # nothing is certain before
        return
    total = 0.0
    for t in range(stop):
        total += difference(state, tally, rule, (last, i, p, t))
    claim = Claim(rule.slack, rule.reach, np.inf, False)
    # The whole pool is known: no error probability is spent on arithmetic.
    certain = stop == count and at_the_end(count, total, claim) == PROVEN
    if stop < count:
        certain = null_mean(count, stop, total, claim.shift, claim.reach) < -claim.reach
    if certain:
        state.sure[p] = i


@borrowing
def selection_depth(state: State, rule: BestRule, p: int) -> int:
    """Return how many items all arms of a selection have passed."""
    least = int(state.depth[rule.arms[p, 0]])
    for d in range(1, rule.arms.shape[1]):
        least = min(least, int(state.depth[rule.arms[p, d]]))
    return least


@borrowing
def put_out(state: State, rule: BestRule) -> None:
    """Put out the groups whose selections are all out, for good or against the leader."""
    for i in range(len(state.out)):
        # Out unless a selection is left: a group is as good as its best selection.
        state.out[i] = True
    for p in range(len(rule.owner)):
        if not is_out(state, rule, p):
            state.out[rule.owner[p]] = False


@borrowing
def set_needs(state: State, rule: BestRule) -> None:
    """Set how deep every arm needs to go for the leader to be proven."""
    row, common = row_of(rule, state.leader[0]), 0.0
    for a in range(len(state.depth)):
        state.need[a] = float(state.depth[a])
    lines, spread = 0.0, 0.0
    for p in range(len(rule.owner)):
        n = float(state.passed[row, p])
        # The common spread of all differences, for selections that have few items.
        if n > 1.0 and not math.isnan(state.total[row, p]):
            spread += max(0.0, state.square[row, p] - state.total[row, p] ** 2 / n)
            lines += n - 1.0
    if lines > 0.0:
        common = spread / lines
    for p in range(len(rule.owner)):
        if rule.owner[p] != state.leader[0] and not is_out(state, rule, p):
            wanted, way = wanted_depth(state, rule, 0, p, common), 0
            if row > 0:
                near = wanted_depth(state, rule, row, p, common)
                # Either wealth may do it: the one that is expected to be there first.
                if near < wanted:
                    wanted, way = near, row
            ask_for(state, rule, way, p, wanted)


@borrowing
def ask_for(state: State, rule: BestRule, row: int, p: int, wanted: float) -> None:
    """Let the arms of a selection, and those that it is compared with, go as deep as wanted."""
    for d in range(rule.arms.shape[1]):
        a = rule.arms[p, d]
        state.need[a] = max(state.need[a], wanted)
    for h in range(state.term[row, p], state.terms[0]):
        i = opponent(state, rule, row, h, p)
        if i < 0:
            continue
        for d in range(rule.arms.shape[1]):
            f = state.fronts[h, i, d]
            # Only as deep as the term goes: after it somebody else may be the opponent.
            state.need[f] = max(state.need[f], min(wanted, float(ends_of(state, h))))


@borrowing
def wanted_depth(state: State, rule: BestRule, row: int, p: int, common: float) -> float:
    """Return at which depth a selection is expected to be eliminated by one of its wealths."""
    items, n = rule.items, state.passed[row, p]
    rest, counted = 0.0, 0.0
    if not math.isnan(state.total[row, p]) and n > 1:
        rest = max(0.0, state.square[row, p] - state.total[row, p] ** 2 / n)
        counted = n - 1.0
    # Shrunk towards the common spread, so that young estimates do not jump.
    variance = (rest + PRIOR * common) / (counted + PRIOR)
    gap = rule.slack * unit_size(items, n) if row > 0 else 0.0
    for d in range(rule.arms.shape[1]):
        gap -= items.weights[d] * edge_of(state, rule.arms[p, d], d)
    claim = claim_of(rule, row, needed(state, rule, row))
    lack = math.log(claim.need) - log_wealth(items.betting, state.wealth[row, p])
    count = items.betting.pool
    depth = expected_depth(count, items.limit, n, gap, variance, claim.reach, lack)
    return max(depth, n + 1.0)

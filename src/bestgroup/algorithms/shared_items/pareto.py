"""Pareto groups on shared items: differences of arms on common items decide.

Write K(a, b, d, s) for the pair process (`inference.evalues.paired`) of arms a and b in dim d, which
refutes mu_a + s <= mu_b, at the depth of the shallower one of the two.

- `won[m, k, d]`: K(m, k, d, epsilon_d) has reached N D K_i / delta, m an arm of group i.
- `over[m, k, d]`: K(m, k, d, 0) has reached N (A - K_i) / delta, k an arm of group i.
- i is settled against j if in one dim every arm of j is won against by some arm of i.
- i is rejected if for some j every arm of i is, in every dim, beaten (`over`) by some arm of j.
- i is accepted once it is settled against every other group that is not rejected.

**Theorem.** With probability at least 1 - delta the answer holds every Pareto-optimal group and none
that another group beats by more than epsilon in every dim, whatever decides which arm goes on, and
however arms depend on each other. The proof is in docs/theory.md 9: it is that of certificates from
collected data, with the pair process for the evidence.

At the end of a pool every comparison is known, ties included: nothing stays undecided.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.shared_items.forecast import NEVER, PRIOR, expected_depth
from bestgroup.algorithms.shared_items.needs import set_needs
from bestgroup.algorithms.shared_items.rule import (
    FIRST,
    ItemsRule,
    keep_up,
    plan_depths,
    shallowest,
    unit_size,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.paired import (
    OPEN,
    PROVEN,
    Claim,
    follow_pair,
    follow_units,
    log_wealth,
    on_units,
    purse_size,
)
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints

UNDECIDED, ACCEPTED, REJECTED = 0, 1, 2
WON, OVER = 0, 1  # the two claims on a pair


class State(NamedTuple):
    """What is proven of the pairs of arms, and how deep every arm is and needs to be."""

    status: Ints  # [N]
    depth: Ints  # [A]              items that an arm has passed
    passed: Ints  # [A, A]          of these, what the pair has taken up
    total: Floats  # [A, A, D]      sum of the differences
    square: Floats  # [A, A, D]     sum of their squares
    wealth: Floats  # [A, A, D, 2, L]
    code: Ints  # [A, A, D, 2]      OPEN, PROVEN or REFUTED
    beaten_by: Ints  # [N]          who rejected a group; -1 for none
    need: Floats  # [A]             how deep an arm needs to go
    efficiency: Floats  # [N, D]
    round: Ints  # [1]


def init(rule: ItemsRule) -> State:
    """Return the state before any pull."""
    N, A, D = len(rule.start) - 1, len(rule.home), len(rule.epsilon)
    first = min(FIRST, rule.limit)
    return State(
        status=np.full(N, ACCEPTED if N == 1 else UNDECIDED, np.int64),
        depth=np.zeros(A, np.int64),
        passed=np.zeros((A, A), np.int64),
        total=np.zeros((A, A, D)),
        square=np.zeros((A, A, D)),
        wealth=np.ones((A, A, D, 2, purse_size(rule.betting))),
        code=np.zeros((A, A, D, 2), np.int64),
        beaten_by=np.full(N, -1, np.int64),
        need=np.full(A, float(first)),
        efficiency=np.zeros((N, D)),
        round=np.zeros(1, np.int64),
    )


@kernel
def plan(state: State, tally: Tally, rule: ItemsRule) -> Ints:
    """Return the next items of the arms that are not as deep as they need to be."""
    return plan_depths(rule, state.need, state.depth, state.round[0] == 0)


@kernel
def step(state: State, tally: Tally, rule: ItemsRule) -> None:
    """Take up the items that arms have passed, decide what can be, and say who needs more."""
    A, D = len(rule.home), len(rule.epsilon)
    state.round[0] += 1
    # Proofs first, from completed items only; everything after `decide` only steers.
    take_up(state, tally, rule)
    decide(state, rule)
    depths = np.zeros((A, A, D, 2))
    foresee(state, rule, depths)
    hopeful = np.zeros((A, D), np.bool_)
    find_hopeful(state, rule, hopeful)
    if rule.lockstep:
        take_all(state, rule, hopeful)
    else:
        set_needs(state.status, state.depth, rule, depths, hopeful, state.need)
    live = np.zeros(A, np.bool_)
    for a in range(A):
        live[a] = state.status[rule.home[a]] != REJECTED
    # Whatever the forecasts say, no arm that may count is forgotten: the run ends for certain.
    keep_up(state.need, state.depth, live, rule.limit)


@kernel
def is_done(state: State, rule: ItemsRule) -> bool:
    """Return whether no group is undecided."""
    for i in range(len(state.status)):
        if state.status[i] == UNDECIDED:
            return False
    return True


@kernel
def is_stuck(state: State, rule: ItemsRule) -> bool:
    """Return whether all items are used up; a pool decides everything then."""
    # On a pool the last item settles every claim; a stream that has ended cannot.
    return rule.betting.pool == 0 and shallowest(state.need, state.depth, rule.limit) < 0


@borrowing
def need_of(rule: ItemsRule, kind: int, m: int, k: int) -> float:
    """Return the wealth that proves a claim on arms m and k."""
    groups, dims, arms = len(rule.start) - 1, len(rule.epsilon), len(rule.home)
    i = rule.home[m] if kind == WON else rule.home[k]
    size = rule.start[i + 1] - rule.start[i]
    # How many claims could be wrong at once for one true answer: the union that delta pays for.
    events = groups * dims * size if kind == WON else groups * (arms - size)
    return float(events) * math.exp(rule.level)


@borrowing
def take_up(state: State, tally: Tally, rule: ItemsRule) -> None:
    """Take up what is new for every pair of arms that may still count."""
    A = len(rule.home)
    for a in range(A):
        i, j = rule.home[a], rule.place[a]
        state.depth[a] = tally.counts[i, j]
        if state.depth[a] > 0:
            for d in range(len(rule.epsilon)):
                mean = tally.sums[i, j, d] / state.depth[a]
                # Estimates for the page and for sampling; no decision reads them.
                if j == 0 or mean > state.efficiency[i, d]:
                    state.efficiency[i, d] = mean
    for a in range(A):
        for b in range(a):
            # A pair is known on the items that both arms have passed.
            stop = min(state.depth[a], state.depth[b])
            gone = state.status[rule.home[a]] == REJECTED or state.status[rule.home[b]] == REJECTED
            if stop > state.passed[a, b] and not gone:
                take_pair(state, tally, rule, a, b, stop)
                state.passed[a, b] = stop
                state.passed[b, a] = stop


@borrowing
def take_pair(state: State, tally: Tally, rule: ItemsRule, a: int, b: int, stop: int) -> None:
    """Take up the next items of a pair: both claims in both directions, then the sums."""
    first = state.passed[a, b]
    for d in range(len(rule.epsilon)):
        x = tally.extra[rule.home[a], rule.place[a], d]
        y = tally.extra[rule.home[b], rule.place[b], d]
        # Arms of one group are never compared for a proof, only to see which may be best.
        if rule.home[a] != rule.home[b]:
            for kind in range(2):
                if may_matter(state.status, rule.home, kind, a, b):
                    follow(state, rule, (a, b, d, kind), x, y, (first, stop))
                if may_matter(state.status, rule.home, kind, b, a):
                    follow(state, rule, (b, a, d, kind), y, x, (first, stop))
        # After the claims: a bet may use the items before it, not the item itself.
        total, square = state.total[a, b, d], state.square[a, b, d]
        for t in range(first, stop):
            value = x[t] - y[t]
            total += value
            square += value * value
        state.total[a, b, d], state.total[b, a, d] = total, -total
        state.square[a, b, d], state.square[b, a, d] = square, square


@borrowing
def may_matter(status: Ints, home: Ints, kind: int, m: int, k: int) -> bool:
    """Return whether a claim on arms m and k can still decide a group."""
    # WON is about the group of m, OVER about that of k; decided groups need no more proofs.
    return status[home[m] if kind == WON else home[k]] == UNDECIDED


@borrowing
def follow(
    state: State,
    rule: ItemsRule,
    claim: tuple[int, int, int, int],
    upper: Floats,
    lower: Floats,
    span: tuple[int, int],
) -> None:
    """Take up the next items for one claim on one pair."""
    m, k, d, kind = claim
    if state.code[m, k, d, kind] != OPEN:
        return
    # "Not beaten by epsilon" has the slack; "beaten" must hold without it.
    shift = rule.epsilon[d] if kind == WON else 0.0
    wanted = Claim(shift, rule.reach[d], need_of(rule, kind, m, k), kind == OVER)
    total, square = state.total[m, k, d], state.square[m, k, d]
    wealth, bets = state.wealth[m, k, d, kind], rule.betting
    if len(rule.ends) > 0:
        found = follow_units(bets, wealth, upper, lower, rule.ends, span, wanted, rule.largest)
    else:
        found = follow_pair(bets, wealth, upper, lower, span, total, square, wanted)
    state.code[m, k, d, kind] = found


@borrowing
def is_covered(state: State, rule: ItemsRule, i: int, k: int, d: int, kind: int) -> bool:
    """Return whether some arm of group i has its claim on arm k proven."""
    for m in range(rule.start[i], rule.start[i + 1]):
        if state.code[m, k, d, kind] == PROVEN:
            return True
    return False


@borrowing
def is_settled(state: State, rule: ItemsRule, i: int, j: int) -> bool:
    """Return whether j is shown not to beat i by epsilon: in one dim, by all its arms."""
    for d in range(len(rule.epsilon)):
        every = True
        for k in range(rule.start[j], rule.start[j + 1]):
            # The efficiency of j is its best arm, so every arm of j has to be covered.
            every = every and is_covered(state, rule, i, k, d, WON)
        if every:
            return True
    return False


@borrowing
def is_beaten(state: State, rule: ItemsRule, i: int, j: int) -> bool:
    """Return whether every arm of i is beaten by j in every dim."""
    for d in range(len(rule.epsilon)):
        for k in range(rule.start[i], rule.start[i + 1]):
            # All arms of i in all dims: only then is i strictly below j.
            if not is_covered(state, rule, j, k, d, OVER):
                return False
    return True


@borrowing
def decide(state: State, rule: ItemsRule) -> None:
    """Reject groups that are beaten, then accept groups that are settled against all others."""
    status, N = state.status, len(state.status)
    for i in range(N):
        for j in range(N):
            # By a rejected j too: its own beater is above i as well.
            if status[i] == UNDECIDED and j != i and is_beaten(state, rule, i, j):
                status[i] = REJECTED
                state.beaten_by[i] = j
    for i in range(N):
        safe = status[i] == UNDECIDED
        for j in range(N):
            # A rejected group needs no certificate: whoever beats it is compared with i.
            if safe and j != i and status[j] != REJECTED:
                safe = is_settled(state, rule, i, j)
        if safe:
            status[i] = ACCEPTED


@borrowing
def mean_variance(state: State, rule: ItemsRule, d: int) -> float:
    """Return the average variance of the differences of two arms in a dim."""
    total, count = 0.0, 0.0
    for a in range(len(rule.home)):
        for b in range(a):
            n = float(state.passed[a, b])
            if n > 1.0:
                # Pooled over all pairs: a pair with few items borrows the spread of the others.
                total += state.square[a, b, d] - state.total[a, b, d] ** 2 / n
                count += n - 1.0
    return total / count if count > 0.0 else 0.0


@borrowing
def foresee(state: State, rule: ItemsRule, depths: Floats) -> None:
    """Set at which depth each claim on each pair is expected to be proven; 0 if it is."""
    A = len(rule.home)
    for d in range(len(rule.epsilon)):
        common = mean_variance(state, rule, d)
        for m in range(A):
            for k in range(A):
                n = state.passed[m, k]
                if rule.home[m] == rule.home[k] or n == 0:
                    continue
                total = state.total[m, k, d]
                spread = max(0.0, state.square[m, k, d] - total * total / n)
                # So many imagined items of the common variance: forecasts of young pairs do not
                # jump.
                variance = (spread + PRIOR * common) / (n - 1.0 + PRIOR)
                for kind in range(2):
                    if may_matter(state.status, rule.home, kind, m, k):
                        pair = (m, k, d, kind)
                        depths[m, k, d, kind] = claim_depth(state, rule, pair, variance)


@borrowing
def claim_depth(
    state: State, rule: ItemsRule, claim: tuple[int, int, int, int], variance: float
) -> float:
    """Return at which depth a claim is expected to be proven."""
    m, k, d, kind = claim
    code, n = state.code[m, k, d, kind], state.passed[m, k]
    if code == PROVEN:
        return 0.0
    if code != OPEN or n >= rule.limit:
        return NEVER
    shift = rule.epsilon[d] if kind == WON else 0.0
    gap = state.total[m, k, d] / n + shift * unit_size(rule, n)
    wanted = Claim(shift, rule.reach[d], need_of(rule, kind, m, k), kind == OVER)
    if len(rule.ends) > 0:
        wanted = on_units(wanted, rule.largest)
    lack = math.log(wanted.need) - log_wealth(rule.betting, state.wealth[m, k, d, kind])
    count, limit = rule.betting.pool, rule.limit
    depth = expected_depth(count, limit, n, gap, variance, wanted.reach, lack)
    # At least one more item, or an open claim could be taken as free.
    return max(depth, n + 1.0)


@borrowing
def find_hopeful(state: State, rule: ItemsRule, hopeful: Bools) -> None:
    """Set which arms may be the best of their group in a dim, by two standard errors."""
    for i in range(len(rule.start) - 1):
        for d in range(len(rule.epsilon)):
            some = False
            for m in range(rule.start[i], rule.start[i + 1]):
                hopeful[m, d] = True
                for k in range(rule.start[i], rule.start[i + 1]):
                    if k != m and is_behind(state, rule, m, k, d):
                        hopeful[m, d] = False
                some = some or hopeful[m, d]
            for m in range(rule.start[i], rule.start[i + 1]):
                # If all look behind each other (a cycle by chance) all stay in.
                hopeful[m, d] = hopeful[m, d] or not some


@borrowing
def is_behind(state: State, rule: ItemsRule, m: int, k: int, d: int) -> bool:
    """Return whether arm m is two standard errors below arm k on their common items."""
    n = float(state.passed[m, k])
    if n < 2.0:
        return False
    total = state.total[m, k, d]
    variance = max(0.0, state.square[m, k, d] - total * total / n) / (n - 1.0)
    # Without replacement the error vanishes when the whole pool is seen.
    left = 1.0 / n - (1.0 / rule.betting.pool if rule.betting.pool > 0 else 0.0)
    return total / n + 2.0 * math.sqrt(variance * max(0.0, left)) < 0.0


@borrowing
def take_all(state: State, rule: ItemsRule, hopeful: Bools) -> None:
    """Let every arm go on that some open comparison of an undecided group may need."""
    N, D = len(state.status), len(rule.epsilon)
    for a in range(len(rule.home)):
        state.need[a] = 0.0
    for i in range(N):
        for j in range(N):
            if i == j or state.status[i] != UNDECIDED or state.status[j] == REJECTED:
                continue
            settled = is_settled(state, rule, i, j)
            for d in range(D):
                for m in range(rule.start[i], rule.start[i + 1]):
                    for k in range(rule.start[j], rule.start[j + 1]):
                        # Both ways to decide i: to hold against j in some dim, or to be beaten by
                        # it in all.
                        accept = hopeful[m, d] and not settled
                        accept = accept and not is_covered(state, rule, i, k, d, WON)
                        reject = hopeful[k, d] and not is_covered(state, rule, j, m, d, OVER)
                        if accept or reject:
                            state.need[m] = float(rule.limit)
                            state.need[k] = float(rule.limit)

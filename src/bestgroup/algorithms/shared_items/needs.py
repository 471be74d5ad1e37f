"""Which certificates to work for, and how deep every arm needs to go for them. No proof rests on it.

For each undecided group the cheaper one of two ways is taken: to be beaten by one other group in all
dims, or to be settled against every group that is not about to be rejected. What a way costs is what
it takes beyond what arms have and what is planned already, so that arms that go deep anyway are used
again. Depths are those of `forecast`.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.shared_items.rule import ItemsRule
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.problem.arrays import Bools, Floats, Ints

_UNDECIDED, _REJECTED = 0, 2
_WON, _OVER = 0, 1


@kernel
def set_needs(
    status: Ints, depth: Ints, rule: ItemsRule, depths: Floats, hopeful: Bools, need: Floats
) -> None:
    """Set how deep every arm needs to go."""
    N, A = len(status), len(depth)
    base, trial = depth.astype(np.float64), np.zeros(A)
    falls = np.zeros(N, np.bool_)
    for i in range(N):
        if status[i] != _UNDECIDED:
            continue
        trial[:] = base
        fall = reject(i, status, rule, depths, hopeful, trial)
        trial[:] = base
        stand = 0.0
        for j in range(N):
            if j != i and status[j] != _REJECTED:
                stand += settle(i, j, rule, depths, hopeful, trial)
        # The cheaper of the two ways, each priced on top of what arms have passed anyway.
        falls[i] = fall < stand
    # Priced alone above; now together, so that depths are shared between groups.
    need[:] = base
    for i in range(N):
        if status[i] == _UNDECIDED and falls[i]:
            reject(i, status, rule, depths, hopeful, need)
    for i in range(N):
        if status[i] != _UNDECIDED or falls[i]:
            continue
        for j in range(N):
            # A group that is about to be rejected will need no certificate against it.
            if j != i and status[j] != _REJECTED and not falls[j]:
                settle(i, j, rule, depths, hopeful, need)


@borrowing
def extra_cost(
    m: int, d: int, kind: int, arms: tuple[int, int], rule: ItemsRule, depths: Floats, need: Floats
) -> float:
    """Return what it takes, beyond `need`, to prove the claims of arm m on all arms of a group."""
    deepest, cost = 0.0, 0.0
    for k in range(arms[0], arms[1]):
        wanted = depths[m, k, d, kind]
        deepest = max(deepest, wanted)
        # Beyond `need` only: items that are planned already are free.
        cost += max(0.0, wanted - need[k]) * rule.cost[k]
    return cost + max(0.0, deepest - need[m]) * rule.cost[m]


@borrowing
def take_on(m: int, d: int, kind: int, arms: tuple[int, int], depths: Floats, need: Floats) -> None:
    """Let the arms of a group and arm m go as deep as these claims need."""
    for k in range(arms[0], arms[1]):
        wanted = depths[m, k, d, kind]
        need[k] = max(need[k], wanted)
        need[m] = max(need[m], wanted)


@borrowing
def settle(i: int, j: int, rule: ItemsRule, depths: Floats, hopeful: Bools, need: Floats) -> float:
    """Add the cheapest way to show that j does not beat i by epsilon; returns its cost."""
    arms = (rule.start[j], rule.start[j + 1])
    least, front, dim = np.inf, -1, 0
    for d in range(len(rule.epsilon)):
        for m in range(rule.start[i], rule.start[i + 1]):
            # An arm that is not its group's best would prove less than the best does.
            if hopeful[m, d]:
                cost = extra_cost(m, d, _WON, arms, rule, depths, need)
                if cost < least:
                    least, front, dim = cost, m, d
    take_on(front, dim, _WON, arms, depths, need)
    return least


@borrowing
def add_fall(
    i: int, j: int, rule: ItemsRule, depths: Floats, hopeful: Bools, need: Floats
) -> float:
    """Add the cheapest way to show that j beats i in every dim; returns its cost."""
    arms = (rule.start[i], rule.start[i + 1])
    total = 0.0
    for d in range(len(rule.epsilon)):
        least, front = np.inf, -1
        for m in range(rule.start[j], rule.start[j + 1]):
            if hopeful[m, d]:
                cost = extra_cost(m, d, _OVER, arms, rule, depths, need)
                if cost < least:
                    least, front = cost, m
        take_on(front, d, _OVER, arms, depths, need)
        total += least
    return total


@kernel
def reject(
    i: int, status: Ints, rule: ItemsRule, depths: Floats, hopeful: Bools, need: Floats
) -> float:
    """Add the cheapest way to show that some group beats i in every dim; returns its cost."""
    before = need.copy()
    least, rival = np.inf, -1
    for j in range(len(status)):
        if j == i or status[j] == _REJECTED:
            continue
        cost = add_fall(i, j, rule, depths, hopeful, need)
        if cost < least:
            least, rival = cost, j
        # Each rival is priced from the same start.
        need[:] = before
    if rival >= 0:
        add_fall(i, rival, rule, depths, hopeful, need)
    return least

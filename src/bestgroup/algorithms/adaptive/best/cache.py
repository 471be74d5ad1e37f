"""What a loop remembers between the steps of the best group: only what a pull changes is redone.

A pull changes one group, so the means, the worth and the variance of all others stay as they were.
What does change with every pull of the leader is the score of every group (`score_of`); but between
two checks counts only grow, so scores of groups behind the leader only rise, in floating point as
well: each operation is monotone. A score of an earlier time is therefore a lower bound, and the
least of all is found by bringing up to date the group with the least bound until it has not moved.

A new cache knows nothing, and everything is computed as if there were none: that is what a live
study does, where other things take the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import place_of
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.problem.arrays import Bools, Floats, Ints


class Cache(NamedTuple):
    """What was computed from state and tally at an earlier step."""

    valid: Bools  # [1]      the rest but for the tree is as of the last aim, and `moved` lists what is not
    tidy: (
        Bools  # [1]       `hard` has the best arms of every group, `worth` and `spread` go with it
    )
    ranked: Bools  # [1]     the tree is of this check
    total: Ints  # [1]       pulls in all, with those of the plan that is under way
    arms: Ints  # [1 + N K]  the arms of that plan, as `list_pulls` has them
    moved: Ints  # [1 + N]   groups with pulls since the last aim: how many, and which
    is_moved: Bools  # [N]
    value: Floats  # [N]     sum_d of the largest weighted means, or a little more
    size: Floats  # [N]      sum_d of their absolute values
    reach: Floats  # [N]     the largest sqrt(V) of a selection, or a little more
    base: Floats  # [N]      L_s of the selection that `optimistic` finds ...
    wide: Floats  # [N]      ... and its V, ...
    until: Floats  # [N]     ... as long as the root of the bonus is not above this
    spread: Floats  # [N]    V of the selection in `hard`
    score: Floats  # [N]     at most what `score_of` gives
    ahead: Ints  # [1 + N]   groups that are ahead of the leader: how many, and which
    tree: Ints  # [2 P]      the group with the least score below every node, -1 for none


@kernel
def make_cache(groups: int, arms: int) -> Cache:
    """Return a cache that knows nothing; one for no groups stands for having none."""
    leaves = 1
    while leaves < groups:
        leaves *= 2
    return Cache(
        np.zeros(1, np.bool_),
        np.zeros(1, np.bool_),
        np.zeros(1, np.bool_),
        np.zeros(1, np.int64),
        np.zeros(1 + groups * arms, np.int64),
        np.zeros(1 + groups, np.int64),
        np.zeros(groups, np.bool_),
        np.zeros(groups),
        np.zeros(groups),
        np.zeros(groups),
        np.zeros(groups),
        np.zeros(groups),
        np.zeros(groups),
        np.zeros(groups),
        np.zeros(groups),
        np.zeros(1 + groups, np.int64),
        np.full(2 * leaves, -1),
    )


@borrowing
def keep_plan(cache: Cache, pulls: Ints, listed: Ints) -> None:
    """Note the arms of a plan, and the pulls in all once it is done."""
    for n in range(listed[0] + 1):
        cache.arms[n] = listed[n]
    for n in range(1, listed[0] + 1):
        i, j = place_of(int(listed[n]), pulls.shape[1])
        cache.total[0] += pulls[i, j]


@borrowing
def note_moved(cache: Cache, arms: int) -> None:
    """Note that the groups of the plan have new pulls."""
    for n in range(1, cache.arms[0] + 1):
        i, _ = place_of(int(cache.arms[n]), arms)
        if not cache.is_moved[i]:
            cache.is_moved[i] = True
            cache.moved[0] += 1
            cache.moved[cache.moved[0]] = i


@borrowing
def forget_moved(cache: Cache) -> None:
    """Note that everything is as of now."""
    for n in range(1, cache.moved[0] + 1):
        cache.is_moved[cache.moved[n]] = False
    cache.moved[0] = 0
    cache.valid[0] = True


@borrowing
def lesser(cache: Cache, a: int, b: int) -> int:
    """Return the one of two groups with the lesser score, the first of equals; -1 is no group."""
    if a < 0 or (b >= 0 and cache.score[b] < cache.score[a]):
        return b
    return a


@borrowing
def build_tree(cache: Cache) -> None:
    """Set the nodes of the tree from its leaves."""
    for node in range(len(cache.tree) // 2 - 1, 0, -1):
        cache.tree[node] = lesser(cache, cache.tree[2 * node], cache.tree[2 * node + 1])


@borrowing
def set_score(cache: Cache, k: int, score: float) -> None:
    """Set a group's score, and the nodes above it."""
    cache.score[k] = score
    node = (len(cache.tree) // 2 + k) // 2
    while node > 0:
        cache.tree[node] = lesser(cache, cache.tree[2 * node], cache.tree[2 * node + 1])
        node //= 2

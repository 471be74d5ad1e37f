"""What the algorithms on shared items know before the first pull, and how a plan is filled.

Arms are numbered through: those of group i are start[i], ..., start[i + 1] - 1. An arm's *depth* is how
many items it has passed. A sampling rule says how deep every arm *needs* to go, by what is seen now;
a plan then takes the arms that are not as deep as they need to be, the shallowest first. So arms
advance together, and an arm that lags catches up on items that others have passed, where one
evaluation gives a difference with each of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Setting
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.errors import InvalidInput
from bestgroup.inference.evalues.paired import Betting, betting, ladder
from bestgroup.problem.arrays import Bools, Floats, Ints

ENDLESS = 2**40  # more items than any run passes
FIRST = 4  # items of every arm to begin with
_FLOOR = 0.1  # of the average depth, for every arm that may still count
_MOST_NUMBERS = 2**27  # wealths that are kept


class ItemsRule(NamedTuple):
    """A setting with shared items as the kernels see it."""

    exists: Bools  # [N, K]
    start: Ints  # [N + 1]     the first arm of each group
    home: Ints  # [A]          the group of an arm
    place: Ints  # [A]         its number in the group
    cost: Floats  # [A]        of a pull; it steers sampling only
    epsilon: Floats  # [D]
    reach: Floats  # [D]       two arms differ on an item by at most this
    weights: Floats  # [D]     of the goal; ones where it has none
    betting: Betting
    level: float  # log(1 / delta)
    limit: int  # items that there are
    size: int  # pulls in a plan, or 0
    share: float  # by which share of its depth an arm advances in a plan
    lockstep: bool  # all arms that may matter advance together
    ends: Floats  # [C + 1]    items before each cluster, if those of a population differ; else []
    largest: float  # no cluster has more items


def items_rule(
    setting: Setting, batch: int | float, lockstep: bool = False, older: bool = False
) -> ItemsRule:
    """Return the rule of a setting with shared items; `older` ones have fixed bets only."""
    items, shape, goal = setting.items, setting.shape, setting.goal
    assert items is not None
    sizes = np.array(shape.sizes, np.int64)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    cost = np.ones(shape.total)
    if setting.costs is not None:
        cost = np.concatenate([np.asarray(row, np.float64) for row in setting.costs])
    size, share = (batch, 0.0) if isinstance(batch, int) else (0, float(batch))
    return ItemsRule(
        exists=shape.exists,
        start=start,
        home=np.repeat(np.arange(shape.groups), sizes),
        place=np.concatenate([np.arange(int(size)) for size in sizes]),
        cost=cost / cost.min(),
        epsilon=goal.epsilons(shape.dims),
        reach=np.array(items.reach),
        weights=goal.weight_vector(shape.dims),
        betting=(ladder if older else betting)(items.count if items.pool else 0),
        level=math.log(1.0 / setting.delta),
        limit=items.count or ENDLESS,
        size=size,
        share=share,
        lockstep=lockstep,
        ends=np.concatenate([[0.0], np.cumsum(items.sizes)]) if items.sizes else np.zeros(0),
        largest=float(items.largest),
    )


def check_memory(numbers: int, what: str) -> None:
    """Refuse a setting whose wealths would not fit."""
    if numbers > _MOST_NUMBERS:
        raise InvalidInput(
            f"{what} on shared items would keep {numbers:,} numbers, more than {_MOST_NUMBERS:,}; "
            "take fewer arms"
        )


@borrowing
def unit_size(rule: ItemsRule, done: int) -> float:
    """Return the mean size of the clusters that are done, where they differ; else 1."""
    return rule.ends[done] / done if done > 0 and len(rule.ends) > 0 else 1.0


@borrowing
def go_on(need: Floats, depth: Ints, counts_for: Bools, limit: int) -> None:
    """Let all arms that may still count go on if no forecast asks for any: forecasts can be wrong."""
    for a in range(len(depth)):
        if depth[a] < limit and depth[a] < need[a]:
            return
    for a in range(len(depth)):
        if counts_for[a]:
            need[a] = float(limit)


@borrowing
def keep_up(need: Floats, depth: Ints, counts_for: Bools, limit: int) -> None:
    """Let no arm that may still count fall behind a tenth of the average depth."""
    go_on(need, depth, counts_for, limit)
    total = 0.0
    for a in range(len(depth)):
        total += depth[a]
    least = _FLOOR * total / len(depth)
    for a in range(len(depth)):
        if counts_for[a] and depth[a] < least:
            need[a] = max(need[a], least)


@borrowing
def shallowest(need: Floats, depth: Ints, limit: int) -> int:
    """Return the arm that has passed the fewest items of those that need more; -1 if none does."""
    arm = -1
    for a in range(len(depth)):
        if depth[a] < limit and depth[a] < need[a] and (arm < 0 or depth[a] < depth[arm]):
            arm = a
    return arm


@kernel
def fill_plan(rule: ItemsRule, need: Floats, depth: Ints, ahead: Ints) -> None:
    """Set how many items each arm passes in a plan, `ahead` [A]."""
    reached = depth.copy()
    low = shallowest(need, reached, rule.limit)
    if low >= 0 and rule.size == 0:
        top = min(depth[low] + max(1, int(rule.share * depth[low])), rule.limit)
        for a in range(len(depth)):
            if depth[a] < top and depth[a] < need[a]:
                reached[a] = min(float(top), math.ceil(need[a]))
    left = rule.size
    while low >= 0 and left > 0:
        reached[low] += 1
        low, left = shallowest(need, reached, rule.limit), left - 1
    for a in range(len(depth)):
        ahead[a] = reached[a] - depth[a]


@kernel
def plan_depths(rule: ItemsRule, need: Floats, depth: Ints, first: bool) -> Ints:
    """Return the next items of the arms that are not as deep as they need to be, [N, K]."""
    pulls = np.zeros(rule.exists.shape, np.int64)
    ahead = np.zeros(len(rule.home), np.int64)
    if first:
        for a in range(len(ahead)):
            ahead[a] = int(need[a])
    else:
        fill_plan(rule, need, depth, ahead)
    for a in range(len(ahead)):
        pulls[rule.home[a], rule.place[a]] = ahead[a]
    return pulls

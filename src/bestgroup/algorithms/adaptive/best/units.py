"""Plans and steps of runs whose leaders are groups: a unit is an arm, or a measurement of the leader.

A comparison is brought on by its neediest side: the arm of the rival's selection with the largest
c / (n sqrt(cost)), or all arms of the leader's at once, in proportion to c / sqrt(cost), so that they
make a measurement (`leaders`). Nothing here touches the guarantee.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.best.aim import (
    aim,
    choose_rival,
    is_stale,
    neediest,
    set_means,
    variance,
)
from bestgroup.algorithms.adaptive.best.cache import Cache, keep_plan, make_cache, note_moved
from bestgroup.algorithms.adaptive.best.costs import cost_ratio
from bestgroup.algorithms.adaptive.best.floor import fill_first, fill_short, note_short
from bestgroup.algorithms.adaptive.best.leaders import (
    check_groups,
    level_of_group,
    measure,
    note_past,
    whole_of,
)
from bestgroup.algorithms.adaptive.best.state import LinearRule, Scratch, State, make_workspace
from bestgroup.algorithms.adaptive.best.steps import is_done
from bestgroup.algorithms.adaptive.best.stopping_check import growth_until
from bestgroup.algorithms.protocol import Kernels, Workspace, list_pulls
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.search import find_blocks
from bestgroup.inference.tally import Tally, sum_of
from bestgroup.problem.arrays import Ints

_TRIED = 0.3  # of a plan's share of the lead's pulls try an arm that could be better
_EVENED = 0.05  # of the pulls that count may be spent at once to pull arms in proportion


@kernel
def plan(state: State, tally: Tally, rule: LinearRule) -> Ints:
    """Return the next pulls; choices in a batch count those before them, with means as they are."""
    N, K = tally.counts.shape
    pulls = np.zeros((N, K), np.int64)
    masks, none = np.zeros(len(rule.weights), np.int64), np.zeros(K, np.int64)
    listed = np.zeros(1 + N * K, np.int64)
    set_plan(state, tally, rule, pulls, listed, masks, none, make_cache(0, 0))
    return pulls


@borrowing
def plan_in(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, pulls: Ints, listed: Ints
) -> None:
    """Set the pulls of a plan, and list their arms."""
    set_plan(state, tally, rule, pulls, listed, space.masks, space.none, space.cache)
    keep_plan(space.cache, pulls, listed)


@borrowing
def set_plan(
    state: State,
    tally: Tally,
    rule: LinearRule,
    pulls: Ints,
    listed: Ints,
    masks: Ints,
    none: Ints,
    cache: Cache,
) -> None:
    """Set the pulls of a plan, which come as zeros; `masks` and `none` are those of `Scratch`."""
    listed[0] = 0
    if state.round[0] == 0:
        fill_first(rule, pulls)
        list_pulls(pulls, listed)
    # The floor goes first: the proof that a run ends rests on it.
    elif state.short[0]:
        fill_short(state, tally, rule, pulls)
        list_pulls(pulls, listed)
    else:
        held = 0
        while held < rule.batch:
            held += fill_unit(state, tally, rule, pulls, listed, masks, none, cache)


@borrowing
def fill_unit(
    state: State,
    tally: Tally,
    rule: LinearRule,
    pulls: Ints,
    listed: Ints,
    masks: Ints,
    none: Ints,
    cache: Cache,
) -> int:
    """Add a unit of the comparison with the least evidence to a plan; return how many pulls it has."""
    i, c = state.leader[0], whole_of(rule)
    n = counted_with(state, tally, rule, pulls, masks, none)
    k, wanted = state.rival[0], state.chase
    # No group could be ahead: pull for the comparison that is closest to undecided.
    if k < 0:
        own = c * c / n if n > 0.0 else np.inf
        k = choose_rival(state, tally, rule, pulls, masks, none, cache, own)
        wanted = state.hard[k]
    need, arm, count = neediest(tally, rule, pulls, masks, k, wanted)
    price = 0.0
    find_blocks(state.lead, masks)
    for d in range(len(masks)):
        if masks[d] > 0:
            price += rule.coefficient[masks[d]] * math.sqrt(rule.cost[i, state.lead[d]])
    # c / (n sqrt(cost)) of the leader, were it one arm: its cost for what n counts is (price / c)^2.
    if n > 0.0 and c * c / (n * price) <= need:
        # A share of the count: plans grow with the run, so there are only about log t of them.
        return add(pulls, listed, k, arm, int(rule.share * count))
    held = fill_probe(state, tally, rule, pulls, listed)
    return held + fill_lead(state, rule, pulls, listed, masks, n)


@borrowing
def counted_with(
    state: State, tally: Tally, rule: LinearRule, pulls: Ints, masks: Ints, none: Ints
) -> float:
    """Return what the leader's measurements weigh, with the one that is planned."""
    i, c = int(state.leader[0]), whole_of(rule)
    if state.share[i] == 0.0:
        return c * c / variance(rule, tally, pulls, i, state.lead, none, masks)
    # Infinite, and nothing, unless all arms of the lead are in the plan.
    return state.counted[i] + c * c / variance(rule, tally, pulls, i, state.lead, state.past, masks)


@borrowing
def add(pulls: Ints, listed: Ints, i: int, j: int, count: int) -> int:
    """Add pulls of an arm to a plan, one at least; return how many."""
    if pulls[i, j] == 0:
        listed[0] += 1
        listed[listed[0]] = i * pulls.shape[1] + j
    pulls[i, j] += max(1, count)
    return max(1, count)


@borrowing
def fill_lead(
    state: State, rule: LinearRule, pulls: Ints, listed: Ints, masks: Ints, n: float
) -> int:
    """Add a measurement of the leader: all arms of its lead; return how many pulls it has."""
    i, whole, least, held = state.leader[0], 0.0, np.inf, 0
    find_blocks(state.lead, masks)
    for d in range(len(masks)):
        if masks[d] > 0:
            part = rule.coefficient[masks[d]] / math.sqrt(rule.cost[i, state.lead[d]])
            whole, least = whole + part, min(least, part)
    # With so many pulls the arm that needs the fewest gets one.
    size = max(rule.share * n, min(whole / least, _EVENED * n))
    for d in range(len(masks)):
        if masks[d] > 0:
            part = rule.coefficient[masks[d]] / math.sqrt(rule.cost[i, state.lead[d]])
            held += add(pulls, listed, i, state.lead[d], int(size * part / whole + 0.5))
    return held


@borrowing
def fill_probe(state: State, tally: Tally, rule: LinearRule, pulls: Ints, listed: Ints) -> int:
    """Add pulls of an arm that could serve the leader better, if any; return how many."""
    i = state.leader[0]
    for d in range(len(state.lead) - 1, -1, -1):
        lead, other = state.lead[d], state.probe[d]
        often, spent = tally.counts[i, lead] + pulls[i, lead], tally.counts[i, other]
        spent += pulls[i, other]
        # Only while less was spent on it than on the lead's arm.
        outlay = spent * cost_ratio(float(rule.cost[i, other]), float(rule.cost[i, lead]))
        if other != lead and outlay < often:
            return add(pulls, listed, i, other, int(_TRIED * rule.share * often))
    return 0


@kernel
def step(state: State, tally: Tally, rule: LinearRule) -> None:
    """Count the round, and check if it is time to."""
    advance(state, tally, rule, make_workspace(state, rule))


@borrowing
def advance(state: State, tally: Tally, rule: LinearRule, space: Scratch) -> None:
    """Do a step: count the round and its measurement, check if it is time to, or take the aim anew."""
    state.round[0] += 1
    state.short[0] = False
    cache = space.cache
    if cache.valid[0]:
        note_moved(cache, tally.counts.shape[1])
    else:
        cache.total[0] = sum_of(tally.counts)
    total = int(cache.total[0])
    # Pulls that come in after the end change nothing.
    if state.answer[0] >= 0:
        return
    measure(state, tally, rule, space)
    due = total >= state.next[0]
    # Between checks the aim may be taken anew at little cost; a check proves.
    if due or is_stale(state, tally, rule, cache):
        if due or state.named[0] == 0:
            check_groups(state, tally, rule, space, total)
        else:
            set_means(tally, rule, space.means, cache)
            aim(state, tally, rule, space, total)
    if due:
        growth = growth_until(state, level_of_group(state, rule))
        state.next[0] = total + max(1, int(growth * total))
        note_short(state, tally, rule, total)
    note_past(state, tally)


KERNELS = Kernels(plan, step, is_done, workspace=Workspace(make_workspace, plan_in, advance))

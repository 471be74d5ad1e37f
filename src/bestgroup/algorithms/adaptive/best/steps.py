"""Plans and steps of the best group: the first pulls, batches, and when to check.

What a rule never does is taken out of compiled loops, see `variants`: so what serves some rules only has
a kernel of its own.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.adaptive.best.aim import (
    aim,
    choose_arm,
    is_stale,
    set_means,
)
from bestgroup.algorithms.adaptive.best.bets import set_scales
from bestgroup.algorithms.adaptive.best.boxes import check_boxes, choose_box_arm
from bestgroup.algorithms.adaptive.best.cache import (
    Cache,
    keep_plan,
    make_cache,
    note_moved,
)
from bestgroup.algorithms.adaptive.best.floor import fill_first, fill_short, note_short
from bestgroup.algorithms.adaptive.best.state import (
    LinearRule,
    Scratch,
    State,
    make_workspace,
)
from bestgroup.algorithms.adaptive.best.stopping_check import check, next_check
from bestgroup.algorithms.protocol import (
    Kernels,
    Workspace,
    list_pulls,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.tally import Tally, sum_of
from bestgroup.problem.arrays import Ints


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
    # The floor goes first, so that no arm stays unlucky for long: the proof that it ends rests on
    # it.
    if state.round[0] == 0 or state.short[0]:
        if state.round[0] == 0:
            fill_first(rule, pulls)
        else:
            fill_short(state, tally, rule, pulls)
        list_pulls(pulls, listed)
        return
    if rule.bets:
        fill_by_estimates(state, tally, rule, pulls, listed, masks, none, cache)
    else:
        fill_batch(state, tally, rule, pulls, listed, masks, none, cache)


@borrowing
def fill_by_estimates(
    state: State,
    tally: Tally,
    rule: LinearRule,
    pulls: Ints,
    listed: Ints,
    masks: Ints,
    none: Ints,
    cache: Cache,
) -> None:
    """Choose the arms of a plan where scales are estimated on the way."""
    # They take the place of those of the start.
    rule = LinearRule(*rule[:6], state.scale, state.coefficient, *rule[8:])
    fill_batch(state, tally, rule, pulls, listed, masks, none, cache)


@borrowing
def fill_batch(
    state: State,
    tally: Tally,
    rule: LinearRule,
    pulls: Ints,
    listed: Ints,
    masks: Ints,
    none: Ints,
    cache: Cache,
) -> None:
    """Choose the arms of a plan, one after the other."""
    for _ in range(rule.batch):
        if rule.boxes:
            i, j, count = choose_box_arm(state, tally, rule, pulls)
        else:
            i, j, count = choose_arm(state, tally, rule, pulls, masks, none, cache)
        if pulls[i, j] == 0:
            listed[0] += 1
            listed[listed[0]] = i * pulls.shape[1] + j
        # A share of the count: plans grow with the run, so there are only about log t of them.
        pulls[i, j] += max(1, int(rule.share * count))


@kernel
def step(state: State, tally: Tally, rule: LinearRule) -> None:
    """Count the round, and check if it is time to."""
    advance(state, tally, rule, make_workspace(state, rule))


@borrowing
def advance(state: State, tally: Tally, rule: LinearRule, space: Scratch) -> None:
    """Do a step: count the round, check if it is time to, or take the aim anew."""
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
    due = total >= state.next[0]
    if rule.bets:
        look_by_estimates(state, tally, rule, space, total, due)
    else:
        look(state, tally, rule, space, total, due)


@borrowing
def look_by_estimates(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, total: int, due: bool
) -> None:
    """Do what is due where scales are estimated on the way."""
    if due:
        set_scales(state, tally, rule)
        # Every variance has another scale now.
        space.cache.valid[0] = False
    rule = LinearRule(*rule[:6], state.scale, state.coefficient, *rule[8:])
    look(state, tally, rule, space, total, due)


@borrowing
def look(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, total: int, due: bool
) -> None:
    """Check if it is due, or take the aim anew."""
    if rule.boxes:
        if due:
            check_boxes(state, tally, rule, space)
    # Between checks the aim may be taken anew at little cost; a check proves.
    elif due or is_stale(state, tally, rule, space.cache):
        if due or state.named[0] == 0:
            check(state, tally, rule, space, total)
        else:
            set_means(tally, rule, space.means, space.cache)
            aim(state, tally, rule, space, total)
    if due:
        state.next[0] = next_check(state, rule, total)
        note_short(state, tally, rule, total)


@borrowing
def is_done(state: State, rule: LinearRule) -> bool:
    """Return whether the answer is final."""
    return state.answer[0] >= 0


KERNELS = Kernels(plan, step, is_done, workspace=Workspace(make_workspace, plan_in, advance))

"""Plan and step of `adaptive` for Pareto groups: what a plan holds, and what completed pulls change."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.adaptive.pareto.blocks import order_groups
from bestgroup.algorithms.adaptive.pareto.certificates import (
    NO_NEWS,
    REOPENED,
    News,
    Spread,
    decide,
    note_leaders,
    try_boxes,
    try_fronts,
    try_group,
)
from bestgroup.algorithms.adaptive.pareto.choice import choose, follow_pulls, renew_choices
from bestgroup.algorithms.adaptive.pareto.followers import follow_listed, relist
from bestgroup.algorithms.adaptive.pareto.ledger import (
    Ledger,
    Levels,
    begin_ledger,
    by_boxes,
    enter_arm,
    keeps_bets,
    make_ledger,
    narrow_box,
)
from bestgroup.algorithms.adaptive.pareto.naming import name_answer
from bestgroup.algorithms.adaptive.pareto.scores import (
    arm_to_pull,
    count_fewest,
    look_at_dim,
    look_at_fronts,
    note_poorest,
)
from bestgroup.algorithms.adaptive.pareto.split import (
    EVEN,
    SHARP,
    equal_split,
    share_out,
    table_pairs,
)
from bestgroup.algorithms.adaptive.pareto.spread import bends, pool_variances, set_variances
from bestgroup.algorithms.adaptive.pareto.view import (
    ACCEPTED,
    REJECTED,
    UNDECIDED,
    Duties,
    Kept,
    Room,
    Split,
    View,
    copy_groups,
    is_priced,
    keeps_lists,
    make_kept,
    make_room,
    make_view,
)
from bestgroup.algorithms.protocol import Kernels, Workspace, list_pulls, place_of
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.kinds import SUBGAUSSIAN
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints, sparse_zeros

FIRST, SCOUTING, PROVING = 0, 1, 2

_LATER = 1.1  # log t is renewed when t has grown by this factor


class AdaptiveRule(NamedTuple):
    """A setting as the kernels see it."""

    exists: Bools  # [N, K]
    scale: Floats  # [D]     sigma_d
    cost: Floats  # [N, K]   of a pull; it steers sampling only
    levels: Levels
    named: bool  # the answer, where the warm-up foresees it; see `naming`
    scouted: float  # the warm-up ends when every duel has this share of the strength it needs
    first: int  # pulls of each arm to begin with
    size: int  # pulls in a plan, or 0
    share: float  # pulls of an arm in a plan, as a share of its count


class State(NamedTuple):
    """What is decided and proven, and what the sampling rule has looked at."""

    duties: Duties
    ledger: Ledger
    split: Split
    seen: View
    efficiency: Floats  # [N, D]  largest means
    phase: Ints  # [1]      FIRST, SCOUTING, PROVING
    round: Ints  # [1]      plans completed
    clock: Floats  # [1]    the t of log t
    touched: Bools  # [N, K]  arms with new pulls in the last step
    moved: Bools  # [N]     groups with such arms


def init(rule: AdaptiveRule) -> State:
    """Return the state before any pull: nothing is decided, unless there is one group only."""
    N, K = rule.exists.shape
    D = len(rule.scale)
    duties = Duties(
        status=np.full(N, ACCEPTED if N == 1 else UNDECIDED, np.int64),
        unsettled=np.full(N, N - 1, np.int64),
        won=sparse_zeros((N, N, K, D), np.bool_),
        over=sparse_zeros((N, N, K, D), np.bool_),
        settled=sparse_zeros((N, N), np.bool_, 2**24),
    )
    return State(
        duties=duties,
        ledger=make_ledger(rule.exists, rule.cost, rule.levels),
        split=first_split(rule),
        seen=make_view(rule.cost, bends(rule.levels), int(rule.exists.sum()), has_units(rule)),
        efficiency=np.zeros((N, D)),
        phase=np.full(1, FIRST, np.int64),
        round=np.zeros(1, np.int64),
        clock=np.zeros(1),
        touched=np.zeros((N, K), np.bool_),
        moved=np.zeros(N, np.bool_),
    )


def first_split(rule: AdaptiveRule) -> Split:
    """Return equal shares, and how they are to be weighed later."""
    if rule.named:
        return equal_split(rule.exists, rule.levels.epsilon, even=EVEN, sharp=SHARP)
    return equal_split(rule.exists, rule.levels.epsilon)


@kernel
def plan(state: State, tally: Tally, rule: AdaptiveRule) -> Ints:
    """Return the first pulls of all arms, then those that help most; the state alone matters."""
    pulls = np.zeros(rule.exists.shape, np.int64)
    set_plan(state, rule, pulls)
    if rule.size > 1 and state.phase[0] != FIRST:
        fill_batch(state, rule, Ahead(make_kept(state.seen), state.moved.copy()), pulls)
    return pulls


class Ahead(NamedTuple):
    """What looking ahead within a batch writes in."""

    kept: Kept
    moved: Bools  # [N]  the group of the last one


class Scratch(NamedTuple):
    """What a loop makes once, so that plans and steps make no arrays."""

    room: Room
    ahead: Ahead
    hint: Ints  # [2]  see `take_up`


@borrowing
def plan_in(
    state: State, tally: Tally, rule: AdaptiveRule, scratch: Scratch, pulls: Ints, listed: Ints
) -> None:
    """Set the pulls of a plan, and list their arms."""
    scratch.hint[0] = set_plan(state, rule, pulls)
    if rule.size > 1 and state.phase[0] != FIRST:
        scratch.hint[0] = -1
        fill_batch(state, rule, scratch.ahead, pulls)
    if scratch.hint[0] >= 0:
        listed[0], listed[1] = 1, scratch.hint[0]
    else:
        list_pulls(pulls, listed)


@borrowing
def fill_batch(state: State, rule: AdaptiveRule, ahead: Ahead, pulls: Ints) -> None:
    """Add the other pulls of a batch; see `variants`."""
    look_ahead(state, rule, ahead, pulls)


@borrowing
def set_plan(state: State, rule: AdaptiveRule, pulls: Ints) -> int:
    """Set the pulls of a plan, zeros before, of a batch of single pulls the first one only.

    Returns the place of its arm, or -1 where all are pulled.
    """
    N, K = rule.exists.shape
    if state.phase[0] != FIRST:
        i, j, least = arm_to_pull(state.seen)
        pulls[i, j] = max(1, int(rule.share * least))
        return i * K + j
    for i in range(N):
        for j in range(K):
            pulls[i, j] = rule.first if rule.exists[i, j] else 0
    return -1


@borrowing
def look_ahead(state: State, rule: AdaptiveRule, ahead: Ahead, pulls: Ints) -> None:
    """Add the other pulls of a batch; choices count those before them, with means as they are.

    The view pretends to have seen them, and is brought back to what it was.
    """
    view, kept = state.seen, ahead.kept
    copy_groups(view, kept)
    i, j, _ = arm_to_pull(view)
    for _ in range(rule.size - 1):
        pretend_pull(state, rule, ahead.moved, i, j)
        i, j, _ = arm_to_pull(view)
        pulls[i, j] += 1
    copy_groups(kept, view)


@borrowing
def forget_lists(view: View) -> None:
    """Have lists of groups made anew, and all needs looked at."""
    view.stirred[0] = view.tops_stale[0] = True
    view.poorest[0] = view.dirt[0] = -1


@borrowing
def pretend_pull(state: State, rule: AdaptiveRule, moved: Bools, i: int, j: int) -> None:
    """Let the view see one more pull of an arm, with the mean that it has."""
    view, duties = state.seen, state.duties
    level, epsilon = rule.levels.level, rule.levels.epsilon
    view.counts[i, j] += 1.0
    view.all[0] += 1.0
    count_fewest(view, rule.exists, i)
    view.bonus[i, j] = math.sqrt(math.log(state.clock[0]) / view.counts[i, j])
    for d in range(len(rule.scale)):
        look_at_dim(view, rule.exists, i, d)
    if keeps_lists(view.first):
        follow_listed(view, duties, state.split, level, epsilon, rule.exists, moved, i)
    else:
        for g in range(len(moved)):
            moved[g] = g == i
        follow_pulls(view, duties, state.split, level, epsilon, rule.exists, moved, i)
    choose(view, duties, state.split, level, epsilon, rule.exists)
    note_poorest(view)


@kernel
def step(state: State, tally: Tally, rule: AdaptiveRule) -> None:
    """Take up the pulls, prove and decide what can be, and look what to pull next, in place."""
    advance(state, tally, rule, make_room(state.seen), np.full(2, -1, np.int64))


@kernel
def make_workspace(state: State, rule: AdaptiveRule) -> Scratch:
    """Return what plans and steps write in."""
    ahead = Ahead(make_kept(state.seen), state.moved.copy())
    return Scratch(make_room(state.seen), ahead, np.full(2, -1, np.int64))


@borrowing
def step_in(state: State, tally: Tally, rule: AdaptiveRule, scratch: Scratch) -> None:
    """Do a step in arrays that are there."""
    advance(state, tally, rule, scratch.room, scratch.hint)


@borrowing
def is_done(state: State, rule: AdaptiveRule) -> bool:
    """Return whether no group is undecided."""
    status = state.duties.status
    for i in range(len(status)):
        if status[i] == UNDECIDED:
            return False
    return True


@borrowing
def advance(state: State, tally: Tally, rule: AdaptiveRule, room: Room, hint: Ints) -> None:
    """Do a step; for the hint see `take_up`."""
    state.round[0] += 1
    table_pairs(state.split)  # after plain steps, which do without
    total = take_up(state, tally, rule, hint)
    N = len(state.duties.status)
    first, last = (hint[1], hint[1] + 1) if hint[1] >= 0 else (0, N)
    everyone = total >= _LATER * state.clock[0]
    if everyone:
        renew_clock(state, rule, total)
    if state.phase[0] == FIRST:
        if keeps_bets(state.ledger):
            pool_variances(state.seen, tally, rule.levels.box.kind, rule.exists)
        state.phase[0] = PROVING if by_boxes(rule.levels) else SCOUTING
    note_turns(state, rule, room.turned, everyone, hint[1])
    if is_priced(state.seen.priced):
        for g in range(first, last):
            if state.moved[g]:
                look_at_fronts(state.seen, rule.levels.epsilon, rule.exists, g)
    proving, decided = state.phase[0] == PROVING, False
    while proving:  # again, with all that was pulled, where a surprise has taken something back
        news = prove(state, rule, room, first, last)
        decided, proving = decided or news != NO_NEWS, news == REOPENED
        if proving:
            everyone, first, last, hint[1] = True, 0, N, -1
            stir(state, rule, room.turned)
    if decided:
        list_live(state.seen, state.duties.status)
    looks, again = 1, False
    while looks > 0:  # a second look, at everyone, once scouting is over; `look` is compiled once
        looks -= 1
        look(state, rule, everyone, decided, hint[1], again)
        if state.phase[0] == SCOUTING and state.seen.least[0] >= rule.scouted:
            state.phase[0] = PROVING
            share_out(state.split, state.seen, room, rule.exists)
            if rule.named:
                name_answer(state.split, room)
            begin_ledger(state.ledger, tally, state.seen, rule.levels.box)
            if keeps_lists(state.ledger.order):
                order_groups(state.ledger, state.seen, state.split)
            looks, again, everyone = 1, everyone, True
    note_poorest(state.seen)  # here, not where it is asked for: a plan changes nothing


@borrowing
def take_up(state: State, tally: Tally, rule: AdaptiveRule, hint: Ints) -> float:
    """Note which arms have new pulls, with their means; returns the number of all pulls.

    `hint` [2] has the place of the only arm that can have some, or -1, and the only group with some
    in the last step, or -1; the second one is set for this step.
    """
    view = state.seen
    N, K = rule.exists.shape
    first, last = (hint[1], hint[1] + 1) if hint[1] >= 0 else (0, N)
    for i in range(first, last):
        if state.moved[i]:
            state.moved[i] = False
            for j in range(K):
                state.touched[i, j] = False
    hint[1] = place_of(hint[0], K)[0] if hint[0] >= 0 else -1
    first, last = (hint[1], hint[1] + 1) if hint[1] >= 0 else (0, N)
    for i in range(first, last):
        for j in range(K):
            # Most arms have none: what follows is left to a function.
            if tally.counts[i, j] != view.counts[i, j]:
                take_arm(state, tally, rule, i, j)
    if keeps_lists(view.first) and hint[1] < 0:
        hint[1] = find_mover(state.moved)
    return view.all[0]


@borrowing
def find_mover(moved: Bools) -> int:
    """Return the only group that has moved, or -1."""
    movers, mover = 0, -1
    for i in range(len(moved)):
        if moved[i]:
            movers, mover = movers + 1, i
    return mover if movers == 1 else -1


@borrowing
def take_arm(state: State, tally: Tally, rule: AdaptiveRule, i: int, j: int) -> None:
    """Take up the new pulls of an arm."""
    view, count = state.seen, tally.counts[i, j]
    state.touched[i, j] = state.moved[i] = True
    view.all[0] += count - view.counts[i, j]
    view.counts[i, j] = count
    count_fewest(view, rule.exists, i)
    for d in range(len(rule.scale)):
        view.mean[i, j, d] = tally.sums[i, j, d] / (count * rule.scale[d])
    if state.clock[0] > 0.0:
        view.bonus[i, j] = math.sqrt(math.log(state.clock[0]) / count)
    if keeps_bets(state.ledger):
        set_variances(view, tally, rule.levels.box.kind, i, j)
    if by_boxes(rule.levels):
        narrow_box(state.ledger, tally, rule.levels.box, i, j)
    elif state.phase[0] == PROVING:
        enter_arm(state.ledger, tally, rule.scale, rule.levels.box.kind, i, j)


@borrowing
def list_live(view: View, status: Ints) -> None:
    """List the groups that are not rejected."""
    view.lives[0] = 0
    forget_lists(view)
    for i in range(len(status)):
        if status[i] == REJECTED:
            view.open[i] = False
        else:
            view.live[view.lives[0]] = i
            view.lives[0] += 1


@borrowing
def renew_clock(state: State, rule: AdaptiveRule, total: float) -> None:
    """Set the t of log t, and with it all bonuses."""
    state.clock[0] = total
    N, K = rule.exists.shape
    for i in range(N):
        for j in range(K):
            if rule.exists[i, j]:
                state.seen.bonus[i, j] = math.sqrt(math.log(total) / state.seen.counts[i, j])


@borrowing
def note_turns(state: State, rule: AdaptiveRule, turned: Bools, everyone: bool, mover: int) -> None:
    """Refresh the bounds of groups with new pulls, or of everyone, and note what has turned.

    The mover is the only group with new pulls, or -1.
    """
    only = mover >= 0 and not everyone
    for at in range(1 if only else len(state.moved)):
        g = mover if only else at
        if everyone or state.moved[g]:
            note_turn(state, rule, turned, g)


@borrowing
def note_turn(state: State, rule: AdaptiveRule, turned: Bools, g: int) -> None:
    """Refresh the bounds of group g; note the dims whose leader has new pulls or is another one."""
    view = state.seen
    for d in range(len(rule.scale)):
        before = view.leader[g, d]
        look_at_dim(view, rule.exists, g, d)
        leader = view.leader[g, d]
        turned[g, d] = leader != before or state.touched[g, leader]
        state.efficiency[g, d] = view.best[g, d] * rule.scale[d]


@borrowing
def prove(state: State, rule: AdaptiveRule, room: Room, first: int, last: int) -> int:
    """Do the tests that new pulls allow, then decide; returns what `decide` does.

    Groups with new pulls are among those from the first one to the last one, which is left out.
    """
    ledger, duties, levels, view = state.ledger, state.duties, rule.levels, state.seen
    spread = Spread(view.variance, view.bend)
    for g in range(first, last):
        if state.moved[g]:
            note_leaders(ledger, state.split, spread, view.leader, g)
    for g in range(first, last):
        if not state.moved[g]:
            continue
        if by_boxes(levels):
            try_boxes(ledger, duties, levels.slack, rule.exists, g)
        elif is_priced(view.priced):
            try_fronts(ledger, duties, state.split, levels, spread, view.front, room.proof, g)
        else:
            news = News(state.touched, room.turned, view.leader)
            try_group(ledger, duties, state.split, levels, spread, news, room, g)
    return decide(ledger, duties, state.split)


@borrowing
def stir(state: State, rule: AdaptiveRule, turned: Bools) -> None:
    """Have all tests made as if all arms had new pulls."""
    for g in range(len(state.moved)):
        state.moved[g] = True
        for j in range(rule.exists.shape[1]):
            state.touched[g, j] = rule.exists[g, j]
        for d in range(len(rule.scale)):
            turned[g, d] = True


@borrowing
def look(
    state: State, rule: AdaptiveRule, everyone: bool, decided: bool, mover: int, again: bool
) -> None:
    """Rescore the pairs of every group with new pulls, or of everyone, and choose what to pull.

    The mover is the only group with new pulls, or -1; `again` says that everyone was looked at just
    before, and that nothing but the shares is another since.
    """
    duties, split, view = state.duties, state.split, state.seen
    level, epsilon = rule.levels.level, rule.levels.epsilon
    if everyone:
        renew_choices(view, duties, split, level, epsilon, rule.exists, again)
    elif keeps_lists(view.first) and not decided:
        follow_listed(view, duties, split, level, epsilon, rule.exists, state.moved, mover)
    else:
        follow_pulls(
            view, duties, split, level, epsilon, rule.exists, state.moved, -1 if decided else mover
        )
    if keeps_lists(view.first) and (everyone or decided):
        relist(view)
    choose(view, duties, split, level, epsilon, rule.exists)


KERNELS = Kernels(plan, step, is_done, workspace=Workspace(make_workspace, plan_in, step_in))


def has_units(rule: AdaptiveRule) -> bool:
    """Return whether variances are 1, because scales are known or boxes prove."""
    return rule.levels.boxes or bool((rule.levels.box.kind == SUBGAUSSIAN).all())

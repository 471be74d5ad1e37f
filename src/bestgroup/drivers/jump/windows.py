"""Time in the jump engine: nested windows, the event queue of tests that may fire, and the loops.

An *item* is one test of the algorithm. Time is cut into nested windows (now, end]: the ends form a
stack, the nearest one on top. Every item is in one list: among those that are not yet cleared for
the window on top (LIVE), or in the list of the end up to which it is cleared. A window whose live
items are all cleared is over; otherwise it is halved, and windows of at most SPRINT rounds are
*sprinted*: gone through round by round, with every value that a live item reads. So an item near
its firing is looked at often and one far from it seldom, and all of them share the same ends, so
that few points of the walks have to be known.

In a sprint each live item has the first round at which it may fire, found from the means
themselves; the earliest, in the order of the algorithm's tests within a round, is judged by the
algorithm's margins, and fires or is looked for further on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.compile.records import bare
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.certificates import count_risk, guard_risk, reset_risk
from bestgroup.drivers.jump.families import (
    DONE,
    NOBODY,
    begin_sprint,
    candidate,
    clears,
    end_round,
    enter_window,
    follow,
    forget_sprint,
    is_dead,
    judge,
    leave_window,
    reads,
    run,
    screen,
)
from bestgroup.drivers.jump.memory import DEPTH, LIVE, SPRINT, UNUSED, Memory
from bestgroup.drivers.jump.walks import OutOfRoom, reset_walks
from bestgroup.problem.arrays import Bools, Floats, Ints

NEVER = 2**62
NOT_ALONE, WENT, FOUND = range(3)  # nothing to follow; time went on; the next round may fire


class Results(NamedTuple):
    """What many runs gave."""

    accepted: Bools  # [runs, N]
    counts: Ints  # [runs, N, K]
    rounds: Ints  # [runs]
    finished: Bools  # [runs]
    risk: Floats  # [runs]  the probability that a certificate is wrong, or more
    efficiency: Floats  # [runs, N, D]  as last known
    rejected: Bools  # [runs, N]


def make_results(runs: int, groups: int, arms: int, dims: int) -> Results:
    """Return room for results."""
    return Results(
        np.zeros((runs, groups), np.bool_),
        np.zeros((runs, groups, arms), np.int64),
        np.zeros(runs, np.int64),
        np.zeros(runs, np.bool_),
        np.zeros(runs),
        np.zeros((runs, groups, dims)),
        np.zeros((runs, groups), np.bool_),
    )


@kernel
def run_many(address: int, rule: Any, state: Any, keys: Ints, out: Results, done: Ints) -> None:
    """Do runs with keys (seed, first run, largest number of pulls, stop); done[0] counts them."""
    # One address instead of arrays: a call hands on one word.
    m = at.memory(address)
    while done[0] < keys[3]:
        k = done[0]
        begin(m, rule.exists, keys[0], keys[1] + k)
        # If room runs out in a run, done[0] still counts the whole ones, and the next call goes on
        # with this one.
        out.finished[k] = run(m, rule, state, keys[2]) == DONE
        keep_result(m, out, k)
        done[0] = k + 1


@kernel
def begin(m: Memory, existing: Bools, seed: int, index: int) -> None:
    """Set everything to the start of a run."""
    reset_walks(m, seed, index)
    reset_risk(m)
    m.now = m.retired = m.width = m.again = m.round = m.pending = m.ended = m.used = 0
    for i in range(m.N):
        group = at.group(m, i)
        group.active, group.accepted, group.blocker, group.cover = 1, 0, NOBODY, 0
        for d in range(m.D):
            env = at.envelope(m, i, d)
            env.open, env.blocker, env.row = 1, NOBODY, -1
        for j in range(m.K):
            exists = 1 if existing[i, j] else 0
            # Arms that only pad a smaller group get -1: they are neither pulled nor read.
            at.arm(m, i, j).count = exists - 1
            at.arm(m, i, j).own = 0
            m.width += exists
            for d in range(m.D):
                at.member(m, i, j, d).active = exists


@bare
def keep_result(m: Memory, out: Results, k: int) -> None:
    """Write the outcome of a run."""
    out.rounds[k], out.risk[k] = m.round, count_risk(m)
    for i in range(m.N):
        out.accepted[k, i] = at.group(m, i).accepted != 0
        out.rejected[k, i] = at.group(m, i).accepted == 0 and at.group(m, i).active == 0
        for j in range(m.K):
            out.counts[k, i, j] = max(0, at.arm(m, i, j).count)
        for d in range(m.D):
            out.efficiency[k, i, d] = at.values(m, i)[d]


@bare
def outer_length(m: Memory, now: int) -> int:
    """Return the length of the next outer window: after one without items as long as can be."""
    # Means move little once they rest on many pulls, so the length grows with the round: a run of r
    # rounds has about pace times log(r) outer windows.
    return max(1, now // m.pace if m.used > 0 else now)


@bare
def start_window(m: Memory, now: int, end: int) -> None:
    """Make (now, end] the outer window."""
    m.now, m.level, at.window(m, 0).end = now, 0, end
    guard_risk(m)


@bare
def go_through(m: Memory, rule: Any, state: Any) -> None:
    """Go through the outer window, which was screened, or up to the end of the run."""
    while m.level >= 0 and m.ended == 0:
        live = first_live(m)
        if live >= 0:
            # Alone: nearly all windows of a run are passed this way, two walks at a time.
            if at.item(m, live).after < 0:
                code = follow(m, live)
                if code == FOUND:
                    sprint(m, rule, state)
                if code != NOT_ALONE:
                    continue
            # Certificates may draw points, and whoever is cleared leaves the list, so what is left
            # is what keeps the window open.
            _clear_live(m)
        if first_live(m) < 0:
            leave_window(m)
            end_window(m)
        elif top_end(m) - m.now > SPRINT:
            # Halving, not stepping: how far an item is from firing is not known, and halves cost
            # the logarithm of it.
            halve_window(m)
            enter_window(m, rule)
        else:
            sprint(m, rule, state)


@bare
def _clear_live(m: Memory) -> None:
    """Move the live items that cannot fire in the window on top to its list."""
    now, end = m.now, top_end(m)
    item = first_live(m)
    while item >= 0:
        # Taken before the item may move to another list.
        after = at.item(m, item).after
        if is_dead(m, item):
            move(m, item, UNUSED)
        elif clears(m, item, now, end):
            move(m, item, m.level)
        item = after


@bare
def sprint(m: Memory, rule: Any, state: Any) -> None:
    """Go through a short window round by round; then all items are cleared up to its end."""
    # A new number makes all rows and stretches of earlier sprints invalid at once.
    m.stretch += 1
    m.start, m.stop = m.now, top_end(m)
    begin_sprint(m, rule)
    _find_candidates(m, m.start + 1)
    while True:
        item = earliest(m)
        when = at.item(m, item).when if item >= 0 else NEVER
        # Tests of one round see the sets as they were in the algorithm's order; what waits for the
        # end of a round (acceptances) must not be seen by tests of the same round.
        if when > m.round:  # all of the last round with events is done
            if end_round(m):
                continue
            if m.ended != 0:
                return
            if m.again != 0:
                _screen_again(m, rule, state)
                continue
        if when > m.stop:
            break
        judge(m, rule, state, item, when)
    # What was sprinted is over, and no later window may read it.
    m.stretch += 1
    item = first_live(m)
    while item >= 0:
        after = at.item(m, item).after
        move(m, item, m.level)
        item = after


@bare
def _screen_again(m: Memory, rule: Any, state: Any) -> None:
    """Screen the rest of the outer window anew, within a sprint."""
    m.again = 0
    if m.round < at.window(m, 0).end:
        # The envelopes change, so who attains an efficiency may, too: rows of the sprint are made
        # again from the same points.
        forget_sprint(m)
        screen(m, rule, state, m.round, at.window(m, 0).end)
        _find_candidates(m, m.round + 1)


@bare
def _find_candidates(m: Memory, start: int) -> None:
    """Set for every live item the first round at which it may fire."""
    item = first_live(m)
    while item >= 0:
        after = at.item(m, item).after
        schedule(m, item, candidate(m, item, start))
        item = after


@bare
def earliest(m: Memory) -> int:
    """Return the live item that may fire first, in the order of rounds and tests, or -1."""
    item, best, round_, kind = first_live(m), -1, NEVER, 0
    while item >= 0:
        test = at.item(m, item)
        after = test.after
        if is_dead(m, item):
            move(m, item, UNUSED)
        elif test.when < round_ or (test.when == round_ < NEVER and test.kind < kind):
            best, round_, kind = item, test.when, test.kind
        item = after
    return best


@bare
def reconsider(m: Memory, i: int, d: int, when: int) -> None:
    """Look again, from the next round on, at the items that read R_i^d."""
    item = at.group(m, i).own_items
    while item >= 0:
        _reconsider_item(m, item, d, when)
        item = at.item(m, item).next_own
    item = at.group(m, i).other_items
    while item >= 0:
        _reconsider_item(m, item, d, when)
        item = at.item(m, item).next_other
    item = m.blocked
    while item >= 0:
        if at.item(m, item).other == i:
            _reconsider_item(m, item, d, when)
        item = at.item(m, item).next_other


@bare
def _reconsider_item(m: Memory, item: int, d: int, when: int) -> None:
    test = at.item(m, item)
    if test.list == UNUSED or (test.list == LIVE and test.when <= when) or not reads(m, item, d):
        return
    schedule(m, item, candidate(m, item, when + 1))


@bare
def wake_blocked(m: Memory, i: int, when: int) -> None:
    """Look again, from round `when` on, at the items that group i kept from firing."""
    item = m.blocked
    while item >= 0:
        test = at.item(m, item)
        if test.other == i and test.list != UNUSED:
            if test.list != LIVE or test.when > when:
                test.when = when
            move(m, item, LIVE)
        item = test.next_other


# The lists.


@bare
def clear_items(m: Memory) -> None:
    """Drop all items."""
    for where in range(DEPTH + 2):
        at.window(m, where).first = -1
    for i in range(m.N):
        at.group(m, i).own_items = at.group(m, i).other_items = -1
    m.used, m.blocked = 0, -1


@bare
def _put(m: Memory, item: int, where: int) -> None:
    """Put an item that is in no list into one."""
    test, head = at.item(m, item), at.window(m, where).first
    test.after, test.before, test.list = head, -1, where
    if head >= 0:
        at.item(m, head).before = item
    at.window(m, where).first = item


@bare
def move(m: Memory, item: int, where: int) -> None:
    """Move an item from its list to another one."""
    test = at.item(m, item)
    before, after = test.before, test.after
    if before >= 0:
        at.item(m, before).after = after
    else:
        at.window(m, test.list).first = after
    if after >= 0:
        at.item(m, after).before = before
    _put(m, item, where)


@bare
def add_item(m: Memory, kind: int, group: int, other: int, dim: int, when: int) -> int:
    """Add a live item about a group, and return it."""
    item = m.used
    if item == m.item_room:
        raise OutOfRoom()
    m.used = item + 1
    _put(m, item, LIVE)
    test, own = at.item(m, item), at.group(m, group)
    test.kind, test.group, test.other, test.dim = kind, group, other, dim
    test.when, test.reach = when, NEVER // 4
    test.next_own, own.own_items = own.own_items, item
    return item


@bare
def add_pair(m: Memory, kind: int, group: int, other: int, dim: int) -> None:
    """Add a live item about two groups that stay the same."""
    item = add_item(m, kind, group, other, dim, 0)
    at.item(m, item).next_other = at.group(m, other).other_items
    at.group(m, other).other_items = item


@bare
def add_blocked(m: Memory, kind: int, group: int, other: int, dim: int, when: int) -> None:
    """Add a live item about a group that a blocker keeps from firing, `other` to begin with."""
    item = add_item(m, kind, group, other, dim, when)
    at.item(m, item).next_other, m.blocked = m.blocked, item


@bare
def schedule(m: Memory, item: int, when: int) -> None:
    """Set the round of a sprint at which an item may fire; if NEVER, it is cleared up to its end."""
    test, where = at.item(m, item), LIVE if when < NEVER else m.level
    test.when = when
    if test.list != where:
        move(m, item, where)


@bare
def first_live(m: Memory) -> int:
    """Return the first live item, or -1."""
    return at.window(m, LIVE).first


@bare
def top_end(m: Memory) -> int:
    """Return the end of the window on top."""
    return at.window(m, m.level).end


@bare
def end_window(m: Memory) -> None:
    """Go to the end of the window on top; the items cleared up to there become live."""
    window = at.window(m, m.level)
    m.now, item = window.end, window.first
    at.window(m, LIVE).first, window.first = item, -1
    m.level -= 1
    while item >= 0:
        at.item(m, item).list = LIVE
        item = at.item(m, item).after


@bare
def halve_window(m: Memory) -> None:
    """Push the middle of the window on top."""
    middle = m.now + (top_end(m) - m.now) // 2
    m.level += 1
    at.window(m, m.level).end, at.window(m, m.level).first = middle, -1

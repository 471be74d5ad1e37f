"""The stopping check of the best group: the leader, the evidence against groups, decisions.

Only `decide` carries the proof. It uses the evidence of `evalues.search` against every selection
of a group, proven by `evalues.prove`, at the level that the theorem of `algorithm` asks for;
the rest is free to be anything.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.best.aim import (
    aim,
    copy,
    largest,
    number_of_arms,
    set_means,
    variance,
)
from bestgroup.algorithms.adaptive.best.bets import decide_by_bets, note_before
from bestgroup.algorithms.adaptive.best.comparison import scan, set_rival
from bestgroup.algorithms.adaptive.best.costs import price_of, spare
from bestgroup.algorithms.adaptive.best.state import LinearRule, Scratch, State
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.evalues.prove import PROVEN, prove_within
from bestgroup.inference.evalues.search import at_selection, pooled
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats, Ints

ROUNDING = 1e-6  # far more than floating point could add to the evidence
_NEAR = 1.1  # pooling three precisions adds at most log 3: below level - _NEAR no proof is tried

# When a leader is named; none of these touches the guarantee.
_SETTLED, _SEEN = (
    2.5,
    30,
)  # the first: gap^2 / (2 V) of this, with so many pulls an arm on average, ...
_SURE = 6.0  # ... or of this
_AGAIN = 2  # the next: when the pulls have grown so many times since the last, ...
_WRONG, _SOON = -2.0, 1.25  # ... or so many times, when the last is behind by gap^2 / (2 V) of this

_RARELY, _OFTEN = 0.02, 0.0025  # the pulls grow by a share between these from check to check


@borrowing
def level_of(state: State, rule: LinearRule) -> float:
    """Return log(m (m + 1) / delta), the level of the leader, or of the first one before it is named."""
    # 1 / (m (m + 1)) sums to 1 over m: the theorem spends delta on leaders in this way.
    m = max(1, state.named[0])
    return math.log(m * (m + 1) / rule.delta)


@borrowing
def next_check(state: State, rule: LinearRule, total: int) -> int:
    """Return the number of pulls at the next check: rarely while the least evidence is far from its level.

    Evidence grows about like the pulls, so level / evidence says how many times they have to grow.
    """
    # Boxes are cheap to compare, and their ends move with every pull.
    if rule.boxes:
        return total + max(1, int(_OFTEN * total))
    level = level_of(state, rule) if state.named[0] > 0 else np.inf
    return total + max(1, int(growth_until(state, level) * total))


@borrowing
def growth_until(state: State, level: float) -> float:
    """Return by which share the pulls grow until the next check; the level is infinite without a leader."""
    least = np.inf
    for k in range(len(state.out)):
        if k != state.leader[0] and not state.out[k]:
            least = min(least, state.evidence[k])
    if least > 0.0 and level < np.inf:
        # An eighth of the growth that is still missing: a late check costs pulls, an early one only
        # time.
        return min(_RARELY, max(_OFTEN, 0.125 * (level / least - 1.0)))
    return _RARELY


@borrowing
def check(state: State, tally: Tally, rule: LinearRule, space: Scratch, total: int) -> None:
    """Find the evidence against every group, decide, and choose what to pull for."""
    # Scores rest on the gaps and the evidence that are found here.
    space.cache.ranked[0] = False
    # Naming comes before deciding: the evidence must be that of the leader of now.
    survey(state, tally, rule, space, total)
    if state.named[0] > 0:
        if rule.bets:
            decide_by_bets(state, tally, rule, space, level_of(state, rule) + ROUNDING, total)
        else:
            decide(state, tally, rule, space, level_of(state, rule) + ROUNDING)
        # Again: groups may have left, or come back with a new leader.
        compare(state, tally, rule, space, counted_variance(state, tally, rule, space))
    if state.answer[0] < 0:
        aim(state, tally, rule, space, total)


@borrowing
def survey(state: State, tally: Tally, rule: LinearRule, space: Scratch, total: int) -> None:
    """Find the leading group, name it as leader if it is time to, and find the evidence it has.

    Before the first leader the leading group stands for it, and gap |gap| / (2 V) for evidence.
    """
    set_means(tally, rule, space.means, space.cache)
    set_worths(state, tally, rule, space)
    front = largest(space.worth)
    copy(state.hard[front], space.lead)
    ahead, rival_cost = space.worth[front], 0.0
    # Where costs differ, a selection that is worth less may prove its lead for less.
    if rule.priced:
        ahead, rival_cost = spare(rule, space, front)
    # Nothing is spent before the first leader: the estimates lead, and may change their mind.
    if state.named[0] == 0:
        state.leader[0] = front
        copy(space.lead, state.lead)
    ease = compare(state, tally, rule, space, counted_variance(state, tally, rule, space))
    if is_time(state, rule, space, front, ahead, rival_cost, ease, total):
        name_leader(state, tally, rule, front, space.lead, total)
    if state.named[0] > 0:
        scan(state, tally, rule, space)
    else:
        for k in range(len(state.out)):
            # A stand-in with the same growth, so that sampling goes by one rule before and after.
            state.evidence[k] = state.ease[k]


@borrowing
def set_worths(state: State, tally: Tally, rule: LinearRule, space: Scratch) -> None:
    """Set the worth and the best arms of every group, or of those with new pulls."""
    cache = space.cache
    # From the first leader on selections are those with the least evidence, not the best arms.
    if cache.valid[0] and cache.tidy[0] and state.named[0] == 0:
        for n in range(1, cache.moved[0] + 1):
            set_worth(state, tally, rule, space, int(cache.moved[n]))
    else:
        for i in range(len(state.out)):
            set_worth(state, tally, rule, space, i)
    cache.tidy[0] = state.named[0] == 0


@borrowing
def set_worth(state: State, tally: Tally, rule: LinearRule, space: Scratch, i: int) -> None:
    """Set the worth and the best arms of a group, and before the first leader their variance."""
    # Groups that are out cannot lead; with epsilon > 0 a new leader brings them back.
    if state.out[i]:
        space.worth[i] = -np.inf
        return
    space.worth[i] = best_arms_of(state, rule, space.means, i)
    if state.named[0] == 0:
        chosen, idle, none = state.hard[i], space.idle, space.none
        space.cache.spread[i] = variance(rule, tally, idle, i, chosen, none, space.masks)


@borrowing
def best_arms_of(state: State, rule: LinearRule, means: Floats, i: int) -> float:
    """Set the selection and efficiency of group i to its best arms; return its worth."""
    total = 0.0
    for d in range(len(rule.weights)):
        best = 0
        for j in range(1, rule.sizes[i]):
            # Strictly: the first of equals, so that ties do not depend on rounding elsewhere.
            if means[i, j, d] > means[i, best, d]:
                best = j
        state.hard[i, d] = best
        state.efficiency[i, d] = means[i, best, d]
        total += rule.weights[d] * means[i, best, d]
    return total


@borrowing
def counted_variance(state: State, tally: Tally, rule: LinearRule, space: Scratch) -> float:
    """Return V of the leader's selection by the pulls that count."""
    w = state.leader[0]
    return variance(rule, tally, space.idle, w, state.lead, state.before, space.masks)


@borrowing
def compare(state: State, tally: Tally, rule: LinearRule, space: Scratch, counted: float) -> float:
    """Set gap and gap |gap| / (2 V) of the leader to every group; return the least by all pulls.

    `counted` is V of the leader by what counts: naming anew loses the rest.
    """
    w = state.leader[0]
    means, masks, idle, none = space.means, space.masks, space.idle, space.none
    every = variance(rule, tally, idle, w, state.lead, none, masks)
    least = np.inf
    for k in range(len(state.out)):
        if k == w or state.out[k]:
            continue
        gap = rule.slack
        for d in range(len(masks)):
            gap += rule.weights[d] * (means[w, state.lead[d], d] - means[k, state.hard[k, d], d])
        v = space.cache.spread[k]
        if state.named[0] > 0:
            v = variance(rule, tally, idle, k, state.hard[k], none, masks)
        state.gap[k] = gap
        # Signed, so that a leader that is behind shows as negative evidence.
        state.ease[k] = gap * abs(gap) / (2.0 * (counted + v))
        least = min(least, gap * abs(gap) / (2.0 * (every + v)))
    return least


@borrowing
def is_time(
    state: State,
    rule: LinearRule,
    space: Scratch,
    front: int,
    ahead: float,
    rival_cost: float,
    ease: float,
    total: int,
) -> bool:
    """Return whether the leading group, with the selection `space.lead`, should be named as leader now.

    A new leader is worth it if the run is expected to end sooner: the pulls needed go like
    1 / gap^2, less what was done, of which a new leader loses about half.
    """
    means, worth, lead, w = space.means, space.worth, space.lead, state.leader[0]
    if state.named[0] == 0:
        # A first leader that turns out wrong costs its pulls; waiting costs pulls that do not
        # count.
        return ease >= _SURE or (ease >= _SETTLED and total >= _SEEN * number_of_arms(rule))
    # The leader is clearly behind: it can prove nothing, so its pulls are lost anyway.
    if front != w and ease <= _WRONG and total >= _SOON * state.since[0]:
        return True
    # At most once a doubling: m stays of order log t, and so does the price of the level.
    if total < _AGAIN * state.since[0]:
        return False
    old, new, least = rule.slack, rule.slack + ahead, np.inf
    for d in range(len(lead)):
        old += rule.weights[d] * means[w, state.lead[d], d]
    best_of_others, second = -np.inf, -np.inf
    for k in range(len(worth)):
        if k != front:
            second = max(second, worth[k])
        if k != w and not state.out[k]:
            best_of_others = max(best_of_others, worth[k])
            least = min(least, state.evidence[k])
    old, new = old - best_of_others, new - second
    # The old leader is not ahead of all: any front that is further ahead is better.
    if old <= 0.0:
        return bool(new > old)
    if rule.priced:
        # In units of cost: a costlier selection needs a wider lead to end as soon.
        new *= (rival_cost + price_of(rule, w, state.lead)) / (
            rival_cost + price_of(rule, front, lead)
        )
    done = min(max(least / level_of(state, rule), 0.0), 0.95)
    # Pulls left go like (1 - done) / gap^2; the new one has half of them to make again, and 7 % to
    # gain.
    return bool((1.07 - 0.5 * done) * old * old < (1.0 - done) * new * new)


@borrowing
def name_leader(
    state: State, tally: Tally, rule: LinearRule, front: int, lead: Ints, total: int
) -> None:
    """Name the leading group with its selection; its pulls so far do not count as the leader's."""
    # With a slack "out" means behind this leader up to epsilon, which says nothing about another
    # one.
    if rule.slack > 0.0 and front != state.leader[0]:
        for k in range(len(state.out)):
            state.out[k] = False
    state.named[0] += 1
    state.since[0] = total
    state.leader[0] = front
    copy(lead, state.lead)
    for j in range(len(state.before)):
        # The proof wants the leader fixed before its pulls are seen: earlier ones are taken off.
        state.before[j] = tally.counts[front, j]
        for d in range(len(lead)):
            state.before_sums[j, d] = tally.sums[front, j, d]
        if rule.bets and j < rule.sizes[front]:
            note_before(state, tally, rule, front, j)


@borrowing
def decide(state: State, tally: Tally, rule: LinearRule, space: Scratch, level: float) -> None:
    """Eliminate groups with enough evidence against all selections; answer if the leader is alone.

    Where a proof fails, the selection that it fails at becomes the one to pull for.
    """
    pair, work = space.pair, space.work
    left = 0
    for k in range(len(state.out)):
        if k == state.leader[0] or state.out[k]:
            continue
        left += 1
        # The least that was found is an upper bound of the minimum: no search can prove more.
        if state.evidence[k] < level - _NEAR:
            continue
        g = state.gauge[k]
        set_rival(tally, rule, space.means, pair, k)
        _, tilt = at_selection(pair, g, state.hard[k], 0.0, np.inf, work)
        # Cheap: the worst selection that is known, before all of them are bounded.
        if pooled(pair, g, state.hard[k], tilt, level, work) < level:
            continue
        size, stack = rule.sizes[k], space.stack
        if prove_within(pair, g, size, tilt, level, state.hard[k], work, stack) == PROVEN:
            # The only place where a group leaves, and it rests on `prove_within` alone.
            state.out[k] = True
            left -= 1
        else:
            # The proof has put the selection that it failed at into `hard`.
            value, _ = at_selection(pair, g, state.hard[k], 0.0, np.inf, work)
            state.evidence[k] = min(state.evidence[k], value)
    if left == 0:
        state.answer[0] = state.leader[0]

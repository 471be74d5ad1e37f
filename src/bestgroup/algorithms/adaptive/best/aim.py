"""What the adaptive rule for the best group pulls: the arm that is due, and whom to pull for.

Nothing here touches the guarantee. Two traps are avoided. A group that is truly best but was
underestimated must not starve while two wrong ones are told apart: a group that could still be
ahead of the leader, by an upper bound on its worth, goes first. And the leader's selection must
not rest on an arm that was lucky while a better one was not: arms of its group that could be better
are pulled in place of those that are due.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.best.cache import (
    Cache,
    build_tree,
    forget_moved,
    set_score,
)
from bestgroup.algorithms.adaptive.best.costs import cost_ratio, rate_of
from bestgroup.algorithms.adaptive.best.state import LinearRule, Scratch, State
from bestgroup.algorithms.protocol import place_of
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.evalues.search import find_blocks
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats, Ints

_OPTIMISM = 1.0  # times V log t, the square of the bonus of a group's worth
_CURIOSITY = 0.5  # times log t / n, the square of the bonus of an arm of the leader's group
_MATTERS = 0.1  # of the gap: by how much an arm of the leader's group must be better to matter

_ROUNDED = 1e-9  # relative
_MANY = 16  # groups from which on a tree of scores is quicker than a look at all
_GROWN = 1.125  # the aim is taken anew when an arm's pulls have grown so many times


@borrowing
def copy(source: Ints, target: Ints) -> None:
    """Copy a selection; a loop compiles in a tenth of the time that a slice takes."""
    for d in range(len(source)):
        target[d] = source[d]


@borrowing
def choose_arm(
    state: State,
    tally: Tally,
    rule: LinearRule,
    pulls: Ints,
    masks: Ints,
    none: Ints,
    cache: Cache,
) -> tuple[int, int, int]:
    """Return the arm that is due, counting planned pulls, and how many of its pulls count.

    Of the arms in the comparison with the least evidence it is the one with the largest c / (n sqrt(cost)):
    a pull of it lowers V = sum c^2 / n most for its cost. `masks` [D] is scratch, `none` [K] zeros.
    """
    D = len(state.lead)
    k, wanted = state.rival[0], state.chase
    i = state.leader[0]
    # No group could be ahead: pull for the comparison that is closest to undecided.
    if k < 0:
        own = variance(rule, tally, pulls, i, state.lead, state.before, masks)
        k = choose_rival(state, tally, rule, pulls, masks, none, cache, own)
        wanted = state.hard[k]
    best, arm, count = neediest(tally, rule, pulls, masks, k, wanted)
    group = k
    find_blocks(state.lead, masks)
    for d in range(D):
        if masks[d] > 0:
            j = state.lead[d]
            n = tally.counts[i, j] + pulls[i, j] - state.before[j]
            # An arm of the leader without pulls that count blocks all evidence: first of all.
            need = np.inf
            if n > 0:
                need = rule.coefficient[masks[d]] / (n * math.sqrt(rule.cost[i, j]))
            if need > best:
                best, group, arm, count = need, i, j, n
                # When the leader is due, half of the pulls try arms that could serve it better.
                often = tally.counts[i, j] + pulls[i, j]
                for e in range(D - 1, -1, -1):
                    other = state.probe[e]
                    spent = tally.counts[i, other] + pulls[i, other]
                    outlay = spent * cost_ratio(float(rule.cost[i, other]), float(rule.cost[i, j]))
                    # Only a probe of a dim that this arm serves, and only while less was spent on
                    # it.
                    if masks[d] >> e & 1 and outlay < often:
                        arm = other
    return int(group), int(arm), int(count)


@borrowing
def neediest(
    tally: Tally, rule: LinearRule, pulls: Ints, masks: Ints, k: int, wanted: Ints
) -> tuple[float, int, int]:
    """Return the largest c / (n sqrt(cost)) among the arms of a selection, the arm, and its pulls."""
    best, arm, count = -1.0, 0, 0
    # An arm that serves several dims is one arm, with the coefficient of the whole set.
    find_blocks(wanted, masks)
    for d in range(len(wanted)):
        if masks[d] > 0:
            j = wanted[d]
            n = tally.counts[k, j] + pulls[k, j]
            need = rule.coefficient[masks[d]] / (n * math.sqrt(rule.cost[k, j]))
            if need > best:
                best, arm, count = need, j, n
    return best, arm, count


@borrowing
def choose_rival(
    state: State,
    tally: Tally,
    rule: LinearRule,
    pulls: Ints,
    masks: Ints,
    none: Ints,
    cache: Cache,
    own: float,
) -> int:
    """Return the group with the least evidence: V by the counts of now, gaps of the last check.

    `own` is the leader's part of V.
    """
    if len(cache.score) >= _MANY:
        if not cache.ranked[0]:
            rank(state, cache)
        # Of groups ahead of the leader the score falls with the counts.
        for n in range(1, cache.ahead[0] + 1):
            k = int(cache.ahead[n])
            set_score(cache, k, score_of(state, tally, rule, pulls, masks, none, own, k))
        while True:
            k = int(cache.tree[1])
            score = score_of(state, tally, rule, pulls, masks, none, own, k)
            if not score > cache.score[k]:
                return k
            set_score(cache, k, score)
    rival, least = -1, np.inf
    for k in range(len(state.out)):
        if not state.out[k] and k != state.leader[0]:
            score = score_of(state, tally, rule, pulls, masks, none, own, k)
            if rival < 0 or score < least:
                rival, least = k, score
    return rival


@borrowing
def rank(state: State, cache: Cache) -> None:
    """Begin the tree of scores with those of the last check, to the bit: `ease` is of its counts."""
    leaves = len(cache.tree) // 2
    cache.ahead[0] = 0
    for k in range(len(state.out)):
        here = not state.out[k] and k != state.leader[0]
        cache.tree[leaves + k] = k if here else -1
        cache.score[k] = state.evidence[k] + state.ease[k] - state.ease[k]
        if here and state.gap[k] < 0.0:
            cache.ahead[0] += 1
            cache.ahead[cache.ahead[0]] = k
    build_tree(cache)
    cache.ranked[0] = True


@borrowing
def score_of(
    state: State,
    tally: Tally,
    rule: LinearRule,
    pulls: Ints,
    masks: Ints,
    none: Ints,
    own: float,
    k: int,
) -> float:
    """Return the evidence of the last check, moved on by what new counts add to gap^2 / (2 V)."""
    v = own + variance(rule, tally, pulls, k, state.hard[k], none, masks)
    return state.evidence[k] + state.gap[k] * abs(state.gap[k]) / (2.0 * v) - state.ease[k]


@borrowing
def variance(
    rule: LinearRule,
    tally: Tally,
    pulls: Ints,
    i: int,
    selection: Ints,
    before: Ints,
    masks: Ints,
) -> float:
    """Return sum c^2 / n over the arms of a selection, infinite while one has no pulls that count."""
    find_blocks(selection, masks)
    total = 0.0
    for d in range(len(masks)):
        if masks[d] > 0:
            j = selection[d]
            # Planned pulls count as done, so that a batch does not pour into one arm.
            n = tally.counts[i, j] + pulls[i, j] - before[j]
            c = rule.coefficient[masks[d]]
            total += c * c / n if n > 0 else np.inf
    return total


@borrowing
def largest(values: Floats) -> int:
    """Return the place of the largest value, the first of equals."""
    best = 0
    for i in range(1, len(values)):
        if values[i] > values[best]:
            best = i
    return best


@borrowing
def number_of_arms(rule: LinearRule) -> int:
    """Return the number of arms."""
    total = 0
    for i in range(len(rule.sizes)):
        total += rule.sizes[i]
    return int(total)


@borrowing
def is_stale(state: State, tally: Tally, rule: LinearRule, cache: Cache) -> bool:
    """Return whether an arm has grown so much that the aim should be taken anew."""
    if cache.valid[0]:
        for n in range(1, cache.arms[0] + 1):
            i, j = place_of(int(cache.arms[n]), tally.counts.shape[1])
            if tally.counts[i, j] > _GROWN * state.aimed[i, j]:
                return True
        return False
    for i in range(len(rule.sizes)):
        for j in range(rule.sizes[i]):
            # Estimates move by steps of 1 / n: a share of growth is the scale on which they change.
            if tally.counts[i, j] > _GROWN * state.aimed[i, j]:
                return True
    return False


@borrowing
def set_means(tally: Tally, rule: LinearRule, means: Floats, cache: Cache) -> None:
    """Set the mean rewards, and what `highest` needs of them."""
    if cache.valid[0]:
        for n in range(1, cache.moved[0] + 1):
            set_group(tally, rule, means, cache, int(cache.moved[n]))
    else:
        for i in range(len(rule.sizes)):
            set_group(tally, rule, means, cache, i)


@borrowing
def set_group(tally: Tally, rule: LinearRule, means: Floats, cache: Cache, i: int) -> None:
    """Set the mean rewards of a group, and what `highest` needs of them."""
    fewest = tally.counts[i, 0]
    for j in range(rule.sizes[i]):
        fewest = min(fewest, tally.counts[i, j])
        for d in range(means.shape[2]):
            means[i, j, d] = tally.sums[i, j, d] / tally.counts[i, j]
    value, size = 0.0, abs(rule.slack)
    for d in range(means.shape[2]):
        best = -np.inf
        for j in range(rule.sizes[i]):
            best = max(best, rule.weights[d] * means[i, j, d])
        value += best
        size += abs(best)
    # A little more than they are: bounds must hold whatever rounding does.
    cache.value[i], cache.size[i] = value + _ROUNDED * size, size
    c = rule.coefficient[len(rule.coefficient) - 1]
    cache.reach[i] = c * (1.0 + _ROUNDED) / math.sqrt(fewest)
    cache.until[i] = 0.0


@borrowing
def aim(state: State, tally: Tally, rule: LinearRule, space: Scratch, total: int) -> None:
    """Choose whom to pull for until the next aim: the group that could be ahead most, or the usual."""
    means, cache = space.means, space.cache
    D = len(state.lead)
    w = state.leader[0]
    log_total = math.log(float(total))
    # What has to be exceeded: the worth of the leader, with the slack that it may lack.
    high = rule.slack
    for d in range(D):
        high += rule.weights[d] * means[w, state.lead[d], d]
    set_chase(state, tally, rule, space, high, _OPTIMISM * log_total)
    set_probes(state, tally, rule, means, log_total)
    # So that `is_stale` knows what this aim rested on.
    if cache.valid[0]:
        for n in range(1, cache.moved[0] + 1):
            note_counts(state, tally, rule, int(cache.moved[n]))
    else:
        for i in range(len(rule.sizes)):
            note_counts(state, tally, rule, i)
    forget_moved(cache)


@borrowing
def set_chase(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, high: float, bonus: float
) -> None:
    """Set the group that could be furthest ahead, the first of equals, if one could exceed `high`."""
    cache, root = space.cache, math.sqrt(bonus)
    rival = -1
    for k in range(len(state.out)):
        if k == state.leader[0] or state.out[k]:
            continue
        if root <= cache.until[k]:
            # To the bit what `optimistic` would return.
            height = cache.base[k] + math.sqrt(bonus * cache.wide[k])
        elif highest(cache, k, root) <= high:
            continue
        else:
            height = optimistic(tally, rule, space, k, bonus)
        # Optimism: pulling for the group that could be furthest ahead finds a wrong leader soon.
        if height > high:
            high, rival = height, k
    state.rival[0] = rival
    if rival >= 0:
        optimistic(tally, rule, space, rival, bonus)
        copy(space.trial[0], state.chase)


@borrowing
def note_counts(state: State, tally: Tally, rule: LinearRule, i: int) -> None:
    """Note the pulls of a group at an aim."""
    for j in range(rule.sizes[i]):
        state.aimed[i, j] = tally.counts[i, j]


@borrowing
def highest(cache: Cache, k: int, root: float) -> float:
    """Return more than `optimistic` can for group k, at less work; `root` is that of the bonus.

    V is at most the squared coefficient of all dims over the least count, whatever the selection.
    """
    return cache.value[k] + cache.reach[k] * root


@borrowing
def optimistic(tally: Tally, rule: LinearRule, space: Scratch, k: int, bonus: float) -> float:
    """Return about the largest L_s + sqrt(bonus V_s) over selections s of group k; sets space.trial[0].

    sqrt(b V) is the least of b / (2 a) + a V / 2 over a; for given a the best s is found dim by dim.
    """
    means, trial, cache = space.means, space.trial, space.cache
    D = trial.shape[1]
    height, a, root, wide, until = -np.inf, 0.0, math.sqrt(bonus), 0.0, np.inf
    for turn in range(4):
        value = 0.0
        for d in range(D):
            c, best = rule.coefficient[1 << d], -np.inf
            for j in range(rule.sizes[k]):
                v = c * c / tally.counts[k, j]
                u = rule.weights[d] * means[k, j, d]
                # The first turn has no a yet: half of the bonus for each dim is a fair start.
                u += math.sqrt(0.5 * bonus * v) if turn == 0 else 0.5 * a * v
                if u > best:
                    best = u
                    trial[1, d] = j
            value += rule.weights[d] * means[k, trial[1, d], d]
            if cache.valid[0]:
                until = min(until, steady(tally, rule, space, k, d, a / root, root))
        v = variance(rule, tally, space.idle, k, trial[1], space.none, space.masks)
        base = value
        value += math.sqrt(bonus * v)
        if turn > 0 and cache.valid[0]:
            until = min(until, still(cache, k, value - height, v, wide, root))
        # Alternating minimisation: each turn is at least as high, so it ends where it no longer
        # rises.
        if value <= height:
            break
        height, a, wide = value, math.sqrt(bonus / v), v
        cache.base[k], cache.wide[k] = base, v
        copy(trial[1], trial[0])
    cache.until[k] = until if cache.valid[0] else 0.0
    return height


@borrowing
def steady(
    tally: Tally, rule: LinearRule, space: Scratch, k: int, d: int, tilt: float, root: float
) -> float:
    """Return up to which root of the bonus `optimistic` chooses the arm in `space.trial[1]` in dim d.

    What it compares is linear in the root: at the first turn, where `tilt` = a / root is 0, and later.
    """
    means, chosen, until = space.means, space.trial[1, d], np.inf
    c = rule.coefficient[1 << d]
    for j in range(rule.sizes[k]):
        if j == chosen:
            continue
        n, m = float(tally.counts[k, chosen]), float(tally.counts[k, j])
        if tilt > 0.0:
            fall = 0.5 * tilt * c * c * (1.0 / m - 1.0 / n)
        else:
            fall = math.sqrt(0.5) * c * (1.0 / math.sqrt(m) - 1.0 / math.sqrt(n))
        margin = rule.weights[d] * (means[k, chosen, d] - means[k, j, d]) - fall * root
        until = min(until, crossing(space.cache, k, margin, fall, root))
    return until


@borrowing
def still(cache: Cache, k: int, rise: float, v: float, wide: float, root: float) -> float:
    """Return up to which root of the bonus a turn of `optimistic` rises, or does not, as it does now."""
    # The same selection again: the same numbers whatever the bonus.
    if rise == 0.0 and v == wide:
        return np.inf
    fall = math.sqrt(wide) - math.sqrt(v)
    return crossing(cache, k, abs(rise), fall if rise > 0.0 else -fall, root)


@borrowing
def crossing(cache: Cache, k: int, margin: float, fall: float, root: float) -> float:
    """Return a root of the bonus up to which a margin that falls so quickly is clearly positive."""
    # Too close to tell, by rounding: it holds for no other bonus.
    if not margin > _ROUNDED * (cache.size[k] + cache.reach[k] * root):
        return 0.0
    return root + 0.99 * margin / fall if fall > 0.0 else np.inf


@borrowing
def set_probes(
    state: State, tally: Tally, rule: LinearRule, means: Floats, log_total: float
) -> None:
    """Choose for every dim of the leader an arm that could be better than the lead's, if any.

    Only arms on which less was spent than on the lead's come into question, so that this gets at least
    half. Those pulled less than sqrt(its pulls) times go first. Where costs differ, an arm must be
    better by what its price takes away, and what a pull costs counts as so many pulls.
    """
    rate = rate_of(state, rule, means) if rule.priced else 0.0
    w = state.leader[0]
    gap = np.inf
    for k in range(len(state.out)):
        if k != w and not state.out[k]:
            gap = min(gap, state.gap[k])
    for d in range(len(state.lead)):
        lead = state.lead[d]
        state.probe[d] = lead
        often, cost = tally.counts[w, lead], rule.cost[w, lead]
        # A gain that is small against the gap would not end the run sooner.
        high = means[w, lead, d] + _MATTERS * max(gap, 0.0) / rule.weights[d]
        for j in range(rule.sizes[w]):
            n = tally.counts[w, j]
            ratio = cost_ratio(float(rule.cost[w, j]), float(cost))
            # Keeps the lead at half of what is spent, so the evidence is slowed down by 2 at most.
            if n * ratio >= often:
                continue
            bound = means[w, j, d] + rule.scale[d] * math.sqrt(_CURIOSITY * log_total / (n * ratio))
            if rule.priced:
                bound += rate * rule.scale[d] * (math.sqrt(cost) - math.sqrt(rule.cost[w, j]))
            # However bad it looked: the first few pulls of an arm may all have been unlucky.
            if n * n < often:
                bound = np.inf
            if bound > high:
                high = bound
                state.probe[d] = j

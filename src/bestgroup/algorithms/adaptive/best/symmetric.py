"""The best group for symmetric noise of unknown scale: the arms of a comparison as bets see them.

**Rule.** That of `bets` with the wealth for symmetric noise, at 3/4 of delta; each infimum is over those
means of (H) that boxes of single arms allow: none of an arm of the rival above its upper end, at delta /
(8 D), none of an arm of the leader below its lower end, at delta / (8 A D). Bets and exponents of an arm
of the rival follow from its first values, which do not count (`certificate.symmetric_arms`); those of
an arm of the leader from all its pulls before tau_m, of which none counts for the leader. So all is
known before the pulls that count: at the true means a pull multiplies one arm's factor by something
of conditional mean at most 1.

**Theorem.** The answer is wrong with probability at most delta. *Proof.* The upper ends of the arms of
s*, which the means fix, and the lower ends of all arms hold at all times with probability at least 1 -
D delta / (8 D) - A D delta / (8 A D) = 1 - delta / 4. Then the true means are among those that each
infimum is over, and the proof of `algorithm` goes through with 3/4 of delta. QED

Without boxes there would be no evidence for a long time: wealth on n values is at most 2^n, so an arm with
few of them, however bad, could have any mean.
"""

from __future__ import annotations

import math

from bestgroup.algorithms.adaptive.best.state import LinearRule, Scratch, State
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.certificate.pairs import set_sums, set_sums_of_sum
from bestgroup.inference.certificate.symmetric_arms import (
    box_end,
    set_arm,
    set_sum,
    sum_centre,
    sum_end,
)
from bestgroup.inference.confidence_sequences.gaussian import BEFORE, UNIT, gaussian_reach
from bestgroup.inference.evalues.search import is_single
from bestgroup.inference.evalues.selection_wealth import EFFECT, SCALES, set_symmetric
from bestgroup.inference.evalues.wealth import ALL, ALL_SECOND, CENTRE, COUNT, FIRST
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats


@borrowing
def set_symmetric_side(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, k: int, g: int
) -> bool:
    """Set the points of all arms of a comparison; False if one has too few values that count."""
    i, effect = state.leader[0], EFFECT * SCALES[g]
    for d in range(len(rule.weights)):
        space.origin[d] = tally.extra[i, state.lead[d], d, 0]
    if not set_lead_arms(state, tally, rule, space, effect):
        return False
    known = rule.box, rule.weights, space.origin
    for j in range(rule.sizes[k]):
        if not set_arm(tally, (k, j), 1, effect, known, rule.tails[1], space.hulls, j):
            # Pulls for this arm, then: without a bound on its mean nothing can be proven.
            for d in range(len(rule.weights)):
                state.hard[k, d] = j
            return False
    if len(rule.box.weights) > 0:
        return set_symmetric_sums(state, tally, rule, space, k, effect)
    return True


@borrowing
def set_symmetric_sums(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, k: int, effect: float
) -> bool:
    """Set the points of arms that serve all dims, by their weighted sums; False as for single dims."""
    D = len(rule.weights)
    # Where an arm of the leader serves some dims only, its sums are not needed.
    if is_single(state.lead) and not set_lead_sum(state, tally, rule, space, effect):
        return False
    for j in range(rule.sizes[k]):
        if not set_sum(
            tally, (k, j), 1, effect, (rule.box, space.origin), rule.tails[1], space.hulls, j
        ):
            for d in range(D):
                state.hard[k, d] = j
            return False
    return True


@borrowing
def set_lead_sum(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, effect: float
) -> bool:
    """Set the points of the leader's arm by its weighted sums; False if too few of them count."""
    hulls, stat, D = space.hulls, space.hulls.sums, len(rule.weights)
    i, own, a = state.leader[0], space.hulls.sizes.shape[0] - 1, state.lead[0]
    before = state.before_stat[a, D]
    unit = unit_before(before, tally.extra[i, a, D])
    set_sums_of_sum(rule.box, tally, i, a, stat)
    stat[COUNT] -= before[COUNT]
    reach = gaussian_reach(float(tally.counts[i, a]), rule.tails[0])
    if not (unit > 0.0 and stat[COUNT] > 0.0 and reach < math.inf):
        return False
    for p in range(2):
        stat[FIRST + p] -= before[FIRST + p]
    stat[CENTRE] += sum_centre(rule.box, tally, i, a, space.origin)
    last = sum_end(rule.box, tally, i, a, reach, 0, space.origin)
    set_symmetric(stat, 0, effect / unit, last, hulls, own, D)
    return True


@borrowing
def set_lead_arms(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, effect: float
) -> bool:
    """Set the points of the leader's arms, by dim; False if one has too few values that count."""
    hulls, stat = space.hulls, space.hulls.sums
    i, own = state.leader[0], space.hulls.sizes.shape[0] - 1
    for d in range(len(rule.weights)):
        a = state.lead[d]
        extra, before = tally.extra[i, a, d], state.before_stat[a, d]
        unit, n = unit_before(before, extra), float(tally.counts[i, a])
        set_sums(rule.box, tally, i, a, d, stat)
        stat[COUNT] -= before[COUNT]
        reach = gaussian_reach(n, rule.tails[0])
        # No unit: its first values were not complete when it was named, and would count twice.
        if not (unit > 0.0 and stat[COUNT] > 0.0 and reach < math.inf):
            return False
        for p in range(2):
            stat[FIRST + p] -= before[FIRST + p]
        last = box_end(n, extra, reach, 0, space.origin[d])
        stat[CENTRE] -= space.origin[d]
        hulls.parts[own, d] = rule.weights[d] * unit
        set_symmetric(stat, 0, effect / unit, last, hulls, own, d)
    return True


@borrowing
def unit_before(before: Floats, extra: Floats) -> float:
    """Return the standard deviation of an arm's values before it was named; 0 if there is none."""
    n = before[ALL]
    if not extra[UNIT] > 0.0 or extra[BEFORE] > n:
        return 0.0
    total = before[FIRST] + extra[BEFORE + 1]
    square = before[ALL_SECOND] - total * total / n
    return math.sqrt(square / (n - 1.0)) if square > 1e-14 * before[ALL_SECOND] else extra[UNIT]

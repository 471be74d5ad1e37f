"""The best group by wealth of bets, for values in a range: what the half's stopping check does otherwise.

**Rule.** That of `algorithm`, with the wealth of `selection_wealth` for the half-normal mixtures: for an
arm of the rival's selection of all its pulls, for one of the leader's of its pulls after tau_m. Scales
of bets are those of a fixed list with a fixed prior, the same for all arms of a comparison; the
exponents theta follow from weights and ranges. So all is known before the pulls that count.

**Theorem.** The answer is wrong with probability at most delta. The proof is that of `algorithm`: it uses
of a factor only that, at the true means, a pull multiplies it by something of conditional mean at most 1
(Hoelder's inequality for the dims of one pull), and of Z that it is at most the log of the average of
such products at the true means if they satisfy (H).

Sampling takes the standard deviations that all arms together show in a dim for the scales, and evidence
by half-normal mixtures with them for what bets would give; a proof by bets is tried where that is near
the level, and again only when the pulls have grown.
"""

from __future__ import annotations

import math

from bestgroup.algorithms.adaptive.best.comparison import set_rival
from bestgroup.algorithms.adaptive.best.state import LinearRule, Scratch, State
from bestgroup.algorithms.adaptive.best.symmetric import set_symmetric_side
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.certificate.pairs import error_of, set_sums, set_sums_of_sum
from bestgroup.inference.evalues.prove import PROVEN
from bestgroup.inference.evalues.search import at_selection, find_blocks, is_single
from bestgroup.inference.evalues.selection_wealth import (
    EFFECT,
    PRIOR,
    SCALES,
    prove_by_bets,
    set_points,
)
from bestgroup.inference.evalues.wealth import CENTRE, COUNT, FIRST, ORDER
from bestgroup.inference.kinds import BERNOULLI, GAUSSIAN, POWERS
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats

_ATTEMPT = 2.0  # below the level: no proof is tried where sampling sees less evidence
_AGAIN = 0.01  # by how much the pulls grow from one try to the next
_LEGAL = 0.95  # of a bet times the mean
_CLOSE = 1.5  # what another scale of bets may add


@borrowing
def set_scales(state: State, tally: Tally, rule: LinearRule) -> None:
    """Set what sampling takes for the scales: the standard deviations that all arms show together."""
    D = len(rule.weights)
    for d in range(D):
        squares, values = 0.0, 0.0
        for i in range(len(rule.sizes)):
            for j in range(rule.sizes[i]):
                n = float(tally.counts[i, j])
                values += n
                if rule.box.kind[d] == BERNOULLI:
                    p = (tally.sums[i, j, d] + 0.5) / (n + 1.0)
                    squares += n * p * (1.0 - p)
                else:
                    total, square = tally.extra[i, j, d, 1], tally.extra[i, j, d, 2]
                    rare = 0.0 if rule.box.kind[d] == GAUSSIAN else 0.01
                    squares += max(square - total * total / n, 0.0) + rare
        state.scale[d] = rule.box.scale[d] * max(math.sqrt(squares / values), 1e-140)
    for s in range(1, 1 << D):
        total = 0.0
        for d in range(D):
            if s >> d & 1:
                part = rule.weights[d] * state.scale[d]
                total += part * part if rule.independent else part
        state.coefficient[s] = math.sqrt(total) if rule.independent else total
    if len(rule.box.weights) > 0:
        state.coefficient[(1 << D) - 1] = scale_of_sum(tally, rule)


@borrowing
def scale_of_sum(tally: Tally, rule: LinearRule) -> float:
    """Return the standard deviation of weighted sums that all arms show together."""
    D, squares, values = len(rule.weights), 0.0, 0.0
    whole, rare = 1.0, 0.0
    if rule.box.kind[0] != GAUSSIAN:
        whole, rare = total_of(rule.heft), 0.01
    for i in range(len(rule.sizes)):
        for j in range(rule.sizes[i]):
            n, total = float(tally.counts[i, j]), tally.extra[i, j, D, 1]
            values += n
            squares += max(tally.extra[i, j, D, 2] - total * total / n, 0.0) + rare
    return whole * max(math.sqrt(squares / values), 1e-140)


@borrowing
def total_of(parts: Floats) -> float:
    """Return the sum of a few numbers."""
    total = 0.0
    for d in range(len(parts)):
        total += parts[d]
    return total


@borrowing
def note_before(state: State, tally: Tally, rule: LinearRule, i: int, j: int) -> None:
    """Note what was kept of an arm of the leader's group when it was named."""
    D = len(rule.weights)
    for d in range(D):
        set_sums(rule.box, tally, i, j, d, state.before_stat[j, d])
    if len(rule.box.weights) > 0:
        set_sums_of_sum(rule.box, tally, i, j, state.before_stat[j, D])


@borrowing
def decide_by_bets(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, level: float, total: int
) -> None:
    """Eliminate groups with enough evidence against all selections; answer if the leader is alone."""
    left = 0
    for k in range(len(state.out)):
        if k == state.leader[0] or state.out[k]:
            continue
        left += 1
        # The normal approximation says that it is too early; bets are costly to evaluate.
        if state.evidence[k] < level - _ATTEMPT or total < state.tried[k]:
            continue
        if is_behind(state, tally, rule, space, k, level):
            state.out[k] = True
            left -= 1
        else:
            # Not again before the pulls have grown: a proof that has just failed will fail.
            state.tried[k] = total + max(1, int(_AGAIN * total))
    if left == 0:
        state.answer[0] = state.leader[0]


@borrowing
def is_behind(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, k: int, level: float
) -> bool:
    """Return whether bets of the scale that suits, or of a neighbouring one, prove the leader ahead."""
    set_rival(tally, rule, space.means, space.pair, k)
    _, tilt = at_selection(space.pair, state.gauge[k], state.hard[k], 0.0, math.inf, space.work)
    # Not ahead at the estimates: nothing to prove.
    if not tilt > 0.0:
        return False
    spread, heft = 0.0, 0.0
    for d in range(len(rule.weights)):
        spread += rule.weights[d] * rule.scale[d]
        # Bets on symmetric noise are in units of its scale.
        symmetric = rule.box.kind[d] == GAUSSIAN
        heft += rule.weights[d] * rule.scale[d] / EFFECT if symmetric else rule.heft[d]
    # An arm of the leader that serves all dims bets on their sum.
    if len(rule.box.weights) > 0 and is_single(state.lead):
        whole = rule.coefficient[(1 << len(rule.weights)) - 1]
        heft = whole / EFFECT if rule.box.kind[0] == GAUSSIAN else heft
        spread = whole
    # The bet that suits the precision which the normal evidence found best.
    wanted = heft / (spread * math.sqrt(rule.precision[state.gauge[k]]))
    first = 0
    for g in range(len(SCALES)):
        if abs(math.log(SCALES[g] / wanted)) < abs(math.log(SCALES[first] / wanted)):
            first = g
    # The best guess first, then its neighbours: mixing over all would cost as many proofs.
    for g in (first, first - 1, first + 1):
        if 0 <= g < len(SCALES):
            value = tried_scale(state, tally, rule, space, k, g, tilt, level)
            if value >= level:
                return True
            state.evidence[k] = min(state.evidence[k], value)
            # A neighbouring scale gains less than that.
            if value < level - _CLOSE:
                return False
    return False


@borrowing
def largest_bet(stat: Floats, kind: int) -> float:
    """Return the largest bet on an arm of the leader: a bet times m must stay below 1.

    It follows from the pulls before tau_m, which do not count.
    """
    return _LEGAL / (stat[CENTRE] + stat[FIRST] / stat[COUNT] + error_of(kind, stat))


@borrowing
def tried_scale(
    state: State,
    tally: Tally,
    rule: LinearRule,
    space: Scratch,
    k: int,
    g: int,
    tilt: float,
    level: float,
) -> float:
    """Return the level if bets of scale g prove the leader ahead of k, else what they have."""
    hulls = space.hulls
    # Each scale has its prior share of the evidence.
    enough = level - math.log(PRIOR[g])
    find_blocks(state.lead, space.masks)
    ready = False
    if rule.box.kind[0] == GAUSSIAN:
        ready = set_symmetric_side(state, tally, rule, space, k, g)
    else:
        ready = set_bounded_side(state, tally, rule, space, k, g)
    if not ready:
        return -math.inf
    found, value = prove_by_bets(
        hulls,
        rule.independent,
        space.masks,
        rule.slack,
        rule.sizes[k],
        tilt,
        enough,
        state.hard[k],
        space.pair,
        space.work,
        space.stack,
    )
    return level if found == PROVEN else min(value - (enough - level), level - 1e-9)


@borrowing
def set_bounded_side(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, k: int, g: int
) -> bool:
    """Set the points of all arms of a comparison; False while the leader has no pull that counts."""
    hulls, i = space.hulls, state.leader[0]
    stat, own = hulls.sums, hulls.sizes.shape[0] - 1
    for d in range(len(rule.weights)):
        kind, a = rule.box.kind[d], state.lead[d]
        most = largest_bet(state.before_stat[a, d], kind)
        set_sums(rule.box, tally, i, a, d, stat)
        # Pulls before the leader was named fixed its bets, so they cannot count.
        stat[COUNT] -= state.before_stat[a, d, COUNT]
        for p in range(ORDER):
            stat[FIRST + p] -= state.before_stat[a, d, FIRST + p]
        # No pull counts yet: no evidence.
        if not stat[COUNT] > 0.0:
            return False
        set_points(kind, stat, 0, (SCALES[g], most), hulls, own, d)
        for j in range(rule.sizes[k]):
            set_sums(rule.box, tally, k, j, d, stat)
            set_points(kind, stat, 1, (SCALES[g], math.inf), hulls, j, d)
    if len(rule.box.weights) > 0:
        set_bounded_sums(state, tally, rule, space, k, g)
    return True


@borrowing
def set_bounded_sums(
    state: State, tally: Tally, rule: LinearRule, space: Scratch, k: int, g: int
) -> None:
    """Set the points of arms that serve all dims, by their weighted sums."""
    hulls, i, D = space.hulls, state.leader[0], len(rule.weights)
    stat, own = hulls.sums, hulls.sizes.shape[0] - 1
    hulls.whole[0] = total_of(rule.heft)
    if is_single(state.lead):
        a = state.lead[0]
        most = largest_bet(state.before_stat[a, D], POWERS)
        set_sums_of_sum(rule.box, tally, i, a, stat)
        stat[COUNT] -= state.before_stat[a, D, COUNT]
        for p in range(ORDER):
            stat[FIRST + p] -= state.before_stat[a, D, FIRST + p]
        set_points(POWERS, stat, 0, (SCALES[g], most), hulls, own, D)
    for j in range(rule.sizes[k]):
        set_sums_of_sum(rule.box, tally, k, j, stat)
        set_points(POWERS, stat, 1, (SCALES[g], math.inf), hulls, j, D)

"""What a tally proves of the best group by evidence on several arms at once.

For noise with a known scale, or with a range, and independent arms. A leader is a group i with a
selection s of it, an arm for each dim; for a rival k, a selection s' of k and a precision q let E_q be
the product of half-normal mixtures (`evalues.linear`), one for each arm that s or s' uses, of all its
pulls. Z(i, s, k, s') is the log of sum_q p_q inf E_q, p a fixed prior, each infimum over all means with

    sum_d w^d mu_{s(d)}^d + slack <= sum_d w^d mu_{s'(d)}^d.                                   (H)

Group k is behind i up to the slack if for some s and every s' Z reaches log(m / delta), m the sum
over all groups of K_i^D. It is out if it is behind some i with slack 0; i is in if all others are
behind it with slack epsilon ||w||_1. Those that are behind it with that slack only are not needed: they
may be better.

**Why it is right.** Let k* be a best group and s* a selection of it with the largest weighted mean:
both are fixed by the means. Say k* is out though it is the only best one, or i is in though it is not
within the slack: then k* is behind some i != k* with a slack for which (H) is true of i, each s of
it, k* and s*. Whatever the slack, each infimum is then at most the product at the true means. So for one
of at most m fixed pairs (i, s) this one process, a supermartingale that starts at 1, has reached m /
delta: Ville's inequality and the sum over pairs give delta. The leader may be chosen in any way, since
the sum is over all of them.

**Values in a range** are sub-Gaussian with scale (high - low) / 2 (Hoeffding's lemma), so all this holds
for them; where every dim has a range, half of the evidence is that of bets (`best_by_bets`), which know
a small variance when they see one. An average of the two is at least half of each: the level rises by
log 2, and either may reach it. **Normal values of unknown scale** have `best_by_symmetry`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.inference.certificate.best_by_bets import find_behind_by_bets
from bestgroup.inference.certificate.best_by_symmetry import (
    TAILS,
    find_behind_by_symmetry,
    tail_levels,
)
from bestgroup.inference.confidence_sequences.boxes import BoxRule, with_sum
from bestgroup.inference.evalues.linear import PRECISIONS, PRIOR, coefficients
from bestgroup.inference.evalues.prove import PROVEN, prove
from bestgroup.inference.evalues.search import (
    Pairwise,
    Work,
    at_selection,
    descend,
    find_blocks,
    make_pairwise,
    make_work,
)
from bestgroup.inference.kinds import IN_RANGE, SUBGAUSSIAN
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.goals import BestGroup, Goal
from bestgroup.problem.noise import Gaussian, Noise
from bestgroup.problem.shape import Shape

MOST_DIMS = 8  # the bound over selections takes 2^D K values of psi*

ROUNDING = 1e-6  # far more than floating point could add to the evidence


def behind_leader(
    tally: Tally, shape: Shape, goal: BestGroup, noise: Noise, delta: float, low: Floats
) -> tuple[int, Bools, Bools]:
    """Return a leader, and the groups that are behind it by nothing and by up to epsilon, [N] each.

    The leader is the group, with the arms, of the largest lower bounds.
    """
    weights = goal.weight_vector(shape.dims)
    lower = low.max(axis=1) @ weights
    i, lead = int(np.argmax(lower)), np.empty(shape.dims, np.int64)
    lead[:] = low[i].argmax(axis=0)
    sure, near = np.zeros((2, shape.groups), np.bool_)
    if not np.isfinite(lower[i]):
        return i, sure, near
    slack = goal.epsilon * float(weights.sum())
    rule = kept(shape, goal, noise, delta)
    if tally.extra.shape[2] == shape.dims:  # by whoever keeps no sums
        rule = rule._replace(weights=np.zeros(0))
    find = _finder(tally, shape, weights, noise, rule, delta)
    for found, room in ((sure, 0.0), (near, slack)):
        found |= sure
        find(i, lead, room, found)
        if not slack:
            break
    return i, sure, near | sure


def _finder(
    tally: Tally, shape: Shape, weights: Floats, noise: Noise, rule: BoxRule, delta: float
) -> Callable[[int, Ints, float, Bools], None]:
    """Return what sets which groups a leader is proven ahead of, up to a slack, in place."""
    pairs = sum(float(size) ** shape.dims for size in shape.sizes)
    independent, sizes = noise.dependence == "independent", np.array(shape.sizes, np.int64)
    if not noise.has_scale:
        level = math.log(pairs / ((1.0 - TAILS) * delta)) + ROUNDING
        known = tally, rule, sizes, weights, independent
        known = *known, tail_levels(shape.total, shape.dims, delta)
        body = find_behind_by_symmetry.compiled
        return lambda i, lead, room, found: body(*known, i, lead, room, level, found)
    by_bets = bool(np.isin(rule.kind, IN_RANGE).all())
    level = math.log(pairs * (2.0 if by_bets else 1.0) / delta) + ROUNDING
    size = coefficients(weights * noise.scales(shape.dims), independent)
    work = shape.total * shape.dims << shape.dims
    normal = find_behind.compiled if work > 500 else find_behind
    bets = find_behind_by_bets.compiled

    def find(i: int, lead: Ints, room: float, found: Bools) -> None:
        normal(tally, sizes, weights, size, i, lead, room, level, found)
        if by_bets:
            bets(tally, rule, sizes, weights, independent, i, lead, room, level, found)

    return find


def goes_by_evidence(shape: Shape, noise: Noise) -> bool:
    """Return whether evidence on several arms decides on the best group, and not boxes."""
    known = noise.has_scale or all(isinstance(one, Gaussian) for one in noise.each(shape.dims))
    return noise.arms == "independent" and known and shape.dims <= MOST_DIMS and not shape.room


def kept(shape: Shape, goal: Goal, noise: Noise, delta: float) -> BoxRule:
    """Return what is kept of an arm's values: what boxes need, and of weighted sums as much.

    Sums are kept where an arm that serves all dims is bet on by them.
    """
    rule = noise.boxes(shape, delta)
    if not isinstance(goal, BestGroup) or shape.dims == 1 or not goes_by_evidence(shape, noise):
        return rule
    unknown = bool((rule.kind != SUBGAUSSIAN).all())
    return with_sum(rule, goal.weight_vector(shape.dims)) if unknown else rule


def rests_on_symmetric_sums(shape: Shape, goal: Goal, noise: Noise, delta: float) -> bool:
    """Return whether the weighted sum of dims that may depend is taken to have symmetric noise."""
    summed = len(kept(shape, goal, noise, delta).weights) > 0
    return summed and not noise.has_scale and noise.dependence != "independent"


@kernel
def find_behind(
    tally: Tally,
    sizes: Ints,
    weights: Floats,
    coefficient: Floats,
    i: int,
    lead: Ints,
    slack: float,
    level: float,
    behind: Bools,
) -> None:
    """Set which groups the leader is proven ahead of, up to the slack, in place."""
    D = len(weights)
    work = make_work(D)
    pair = make_pairwise(len(PRECISIONS), tally.counts.shape[1], D, coefficient)
    enter_lead(tally, weights, i, lead, slack, pair, work.masks)
    selection = np.zeros(D, np.int64)
    for k in range(len(sizes)):
        # Groups that are behind without slack are behind with it: not proven again.
        if k != i and not behind[k] and enter_rival(tally, weights, pair, k, sizes[k]):
            behind[k] = is_behind(pair, sizes[k], level, selection, work)


@kernel
def enter_lead(
    tally: Tally, weights: Floats, i: int, lead: Ints, slack: float, pair: Pairwise, masks: Ints
) -> None:
    """Enter the leader's side of all comparisons."""
    find_blocks(lead, masks)
    pair.ahead[0] = slack
    for g in range(len(PRECISIONS)):
        # The prior of a precision is paid once, with the leader's side.
        pair.lead_cost[g] = -math.log(PRIOR[g])
    for d in range(len(masks)):
        n = float(tally.counts[i, lead[d]])
        pair.ahead[0] += weights[d] * tally.sums[i, lead[d], d] / n
        for g in range(len(PRECISIONS)):
            q = PRECISIONS[g]
            pair.lead[g, d] = 0.0
            if masks[d] > 0:
                pair.lead[g, d] = pair.coefficient[masks[d]] * math.sqrt(n + q) / n
                pair.lead_cost[g] += 0.5 * math.log(1.0 + n / q)


@kernel
def enter_rival(tally: Tally, weights: Floats, pair: Pairwise, k: int, size: int) -> bool:
    """Enter group k's side of a comparison; False if an arm of it was never pulled."""
    for j in range(size):
        n = float(tally.counts[k, j])
        # An arm without a pull could be anything: no evidence against the group.
        if n == 0.0:
            return False
        for g in range(len(PRECISIONS)):
            q = PRECISIONS[g]
            pair.reach[g, j] = math.sqrt(n + q) / n
            pair.cost[g, j] = 0.5 * math.log(1.0 + n / q)
        for d in range(len(weights)):
            pair.worth[j, d] = weights[d] * tally.sums[k, j, d] / n
    return True


@kernel
def is_behind(pair: Pairwise, size: int, level: float, selection: Ints, work: Work) -> bool:
    """Return whether the evidence against every selection of the rival reaches the level."""
    best, most = -1, -np.inf
    for d in range(len(selection)):
        selection[d] = 0
        for j in range(1, size):
            # The best arms first: the selection that is hardest to be ahead of, mostly.
            if pair.worth[j, d] > pair.worth[selection[d], d]:
                selection[d] = j
    for g in range(len(PRECISIONS)):
        value, _ = at_selection(pair, g, selection, 0.0, np.inf, work)
        # One precision steers the search; `prove` pools it with its neighbours.
        if value > most:
            best, most = g, value
    if best < 0 or most < level - 2.0:  # pooling adds less
        return False
    value, tilt = descend(pair, best, size, selection, work)
    if value < level - 2.0:
        return False
    return prove(pair, best, size, tilt, level, selection, work) == PROVEN

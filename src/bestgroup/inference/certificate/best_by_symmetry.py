"""The best group of normal values of unknown scale from a tally: bets by symmetry of the noise.

As in `best_by_bets`, with the wealth of `symmetric_arms`, of all values of every arm that a selection uses
but the first ones, which show the arm's unit. Of the means that the null allows only those count that
boxes of single arms allow: none of an arm of the leader below its lower end, at delta / (8 A D), none of
an arm of the rival above its upper end, at delta / (8 D). The evidence is at 3/4 of delta.

**Why it is right.** The upper ends of the arms of s*, which the means fix, and the lower ends of all A
arms hold at all times with probability at least 1 - delta / 4. Then the true means are among those
that each infimum is over, and the proof of `best_group` goes through with 3/4 of delta.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.certificate.best_by_bets import HOPELESS, enter_means
from bestgroup.inference.certificate.symmetric_arms import part_of, set_arm, set_dim, set_sum
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.confidence_sequences.gaussian import gaussian_reach
from bestgroup.inference.evalues.prove import PROVEN, Stack, make_stack
from bestgroup.inference.evalues.search import (
    Pairwise,
    Work,
    find_blocks,
    is_single,
    make_pairwise,
    make_work,
)
from bestgroup.inference.evalues.selection_wealth import (
    EFFECT,
    PRIOR,
    SCALES,
    Hulls,
    make_hulls,
    prove_by_bets,
)
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints

TAILS = 0.25  # of delta, half of it for each side


def tail_levels(arms: int, dims: int, delta: float) -> Floats:
    """Return the levels of the boxes' ends, of the leader's arms and of the rival's, [2].

    >>> [round(level, 6) for level in tail_levels(5, 2, 0.8).tolist()]
    [4.60517, 2.995732]
    """
    return np.log(2.0 * dims * np.array([arms, 1.0]) / (TAILS * delta))


@kernel
def find_behind_by_symmetry(
    tally: Tally,
    rule: BoxRule,
    sizes: Ints,
    weights: Floats,
    independent: bool,
    tails: Floats,
    i: int,
    lead: Ints,
    slack: float,
    level: float,
    behind: Bools,
) -> None:
    """Set which groups symmetric bets prove the leader to be ahead of, up to the slack, in place."""
    K, D = tally.counts.shape[1], len(weights)
    work, stack = make_work(D), make_stack(D, K)
    pair = make_pairwise(1, K, D, np.zeros(1 << D))
    hulls = make_hulls(K, D, weights, D + int(len(rule.weights) > 0))
    masks, selection, origin = np.zeros(D, np.int64), np.zeros(D, np.int64), np.zeros(D)
    find_blocks(lead, masks)
    for d in range(D):
        origin[d] = tally.extra[i, lead[d], d, 0]
    known = rule, weights, origin
    for k in range(len(sizes)):
        if k == i or behind[k]:
            continue
        gap = enter_means(tally, weights, i, lead, k, sizes[k], slack, pair)
        if gap > 0.0:
            room = (hulls, pair, work, stack)
            found = is_behind(
                tally, known, independent, tails, (i, k, sizes[k]), lead, masks,
                slack, gap, level, selection, room,
            )  # fmt: skip
            behind[k] = found


@borrowing
def is_behind(
    tally: Tally,
    known: tuple[BoxRule, Floats, Floats],
    independent: bool,
    tails: Floats,
    who: tuple[int, int, int],
    lead: Ints,
    masks: Ints,
    slack: float,
    gap: float,
    level: float,
    selection: Ints,
    room: tuple[Hulls, Pairwise, Work, Stack],
) -> bool:
    """Return whether bets of some scale prove the leader ahead of every selection of a rival.

    `who` are the leader's group, the rival and how many arms that has.
    """
    hulls, pair, work, stack = room
    best = -math.inf
    for g in range(len(SCALES)):
        if not set_hulls(tally, known, tails, who, lead, EFFECT * SCALES[g], hulls):
            return False
        enough = level - math.log(PRIOR[g])
        tilt = 2.0 * enough / gap
        found, value = prove_by_bets(
            hulls, independent, masks, slack, who[2], tilt, enough, selection, pair, work, stack
        )
        if found == PROVEN:
            return True
        value -= enough - level
        if value < best - HOPELESS:
            return False
        best = max(best, value)
    return False


@borrowing
def set_hulls(
    tally: Tally,
    known: tuple[BoxRule, Floats, Floats],
    tails: Floats,
    who: tuple[int, int, int],
    lead: Ints,
    effect: float,
    hulls: Hulls,
) -> bool:
    """Set the points of all arms, with bets of one scale; False if one has too few values."""
    rule, weights, origin = known
    i, k, size = who
    own, summed = hulls.sizes.shape[0] - 1, len(rule.weights) > 0
    for d in range(len(lead)):
        hulls.parts[own, d] = part_of(tally, i, lead[d], weights, d)
        reach = gaussian_reach(float(tally.counts[i, lead[d]]), tails[0])
        one = rule, origin[d]
        if not (
            hulls.parts[own, d] > 0.0
            and set_dim(tally, (i, lead[d]), d, 0, effect, one, reach, hulls, own)
        ):
            return False
    both = rule, origin
    if summed and is_single(lead):
        if not set_sum(tally, (i, lead[0]), 0, effect, both, tails[0], hulls, own):
            return False
    for j in range(size):
        if not set_arm(tally, (k, j), 1, effect, known, tails[1], hulls, j):
            return False
        if summed and not set_sum(tally, (k, j), 1, effect, both, tails[1], hulls, j):
            return False
    return True

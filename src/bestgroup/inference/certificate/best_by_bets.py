"""The best group of values in a range from a tally: wealth of bets on all arms of two groups.

As in `best_group`, with the wealth of `selection_wealth` for the half-normal mixtures, of all pulls of
every arm that a selection uses: for the leader's against small means, for the rival's against large
ones; of an arm that serves all dims, where they are kept, of the weighted sums of its pulls. Scales of
bets are those of a fixed list with a fixed prior, so all is known before the first pull, and the union
over leaders is that of `best_group`.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.certificate.pairs import set_sums, set_sums_of_sum
from bestgroup.inference.confidence_sequences.boxes import BoxRule
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
    PRIOR,
    SCALES,
    Hulls,
    make_hulls,
    prove_by_bets,
    set_points,
)
from bestgroup.inference.kinds import POWERS
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints

HOPELESS = 3.0  # below the level: other scales of bets do not add as much


@kernel
def find_behind_by_bets(
    tally: Tally,
    rule: BoxRule,
    sizes: Ints,
    weights: Floats,
    independent: bool,
    i: int,
    lead: Ints,
    slack: float,
    level: float,
    behind: Bools,
) -> None:
    """Set which groups bets prove the leader to be ahead of, up to the slack, in place."""
    K, D = tally.counts.shape[1], len(weights)
    work, stack = make_work(D), make_stack(D, K)
    pair = make_pairwise(1, K, D, np.zeros(1 << D))
    hulls = make_hulls(K, D, weights * rule.scale, D + int(len(rule.weights) > 0))
    masks, selection = np.zeros(D, np.int64), np.zeros(D, np.int64)
    find_blocks(lead, masks)
    for k in range(len(sizes)):
        if k == i or behind[k]:
            continue
        gap = enter_means(tally, weights, i, lead, k, sizes[k], slack, pair)
        if gap > 0.0:
            room = (hulls, pair, work, stack)
            found = is_behind(
                tally,
                rule,
                independent,
                i,
                lead,
                masks,
                k,
                sizes[k],
                slack,
                gap,
                level,
                selection,
                room,
            )
            behind[k] = found


@borrowing
def enter_means(
    tally: Tally,
    weights: Floats,
    i: int,
    lead: Ints,
    k: int,
    size: int,
    slack: float,
    pair: Pairwise,
) -> float:
    """Enter the means of a rival; returns by how much the leader is ahead of them, with the slack."""
    gap = slack
    for d in range(len(weights)):
        n = float(tally.counts[i, lead[d]])
        if n == 0.0:
            return 0.0
        best = -math.inf
        for j in range(size):
            count = float(tally.counts[k, j])
            if count == 0.0:
                return 0.0
            pair.worth[j, d] = weights[d] * tally.sums[k, j, d] / count
            best = max(best, pair.worth[j, d])
        gap += weights[d] * tally.sums[i, lead[d], d] / n - best
    return gap


@borrowing
def is_behind(
    tally: Tally,
    rule: BoxRule,
    independent: bool,
    i: int,
    lead: Ints,
    masks: Ints,
    k: int,
    size: int,
    slack: float,
    gap: float,
    level: float,
    selection: Ints,
    room: tuple[Hulls, Pairwise, Work, Stack],
) -> bool:
    """Return whether bets of some scale prove the leader ahead of every selection of k."""
    hulls, pair, work, stack = room
    best = -math.inf
    for g in range(len(SCALES)):
        set_hulls(tally, rule, i, lead, k, size, SCALES[g], hulls)
        enough = level - math.log(PRIOR[g])
        tilt = 2.0 * enough / gap
        found, value = prove_by_bets(
            hulls, independent, masks, slack, size, tilt, enough, selection, pair, work, stack
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
    tally: Tally, rule: BoxRule, i: int, lead: Ints, k: int, size: int, scale: float, hulls: Hulls
) -> None:
    """Set the points below the logs of the wealth of all arms, with bets of one scale."""
    own = hulls.sizes.shape[0] - 1
    bets = (scale, math.inf)
    for d in range(len(lead)):
        kind = rule.kind[d]
        set_sums(rule, tally, i, lead[d], d, hulls.sums)
        set_points(kind, hulls.sums, 0, bets, hulls, own, d)
        for j in range(size):
            set_sums(rule, tally, k, j, d, hulls.sums)
            set_points(kind, hulls.sums, 1, bets, hulls, j, d)
    if len(rule.weights) > 0:
        set_hulls_of_sums(tally, rule, i, lead, k, size, scale, hulls)


@borrowing
def set_hulls_of_sums(
    tally: Tally, rule: BoxRule, i: int, lead: Ints, k: int, size: int, scale: float, hulls: Hulls
) -> None:
    """Set the points of arms that serve all dims, by their weighted sums."""
    D, own, bets = len(lead), hulls.sizes.shape[0] - 1, (scale, math.inf)
    whole = 0.0
    for d in range(D):
        whole += hulls.heft[d]
    hulls.whole[0] = whole
    # Where several arms of the leader serve dims, none of them has a wealth of the sum.
    if is_single(lead):
        set_sums_of_sum(rule, tally, i, lead[0], hulls.sums)
        set_points(POWERS, hulls.sums, 0, bets, hulls, own, D)
    for j in range(size):
        set_sums_of_sum(rule, tally, k, j, hulls.sums)
        set_points(POWERS, hulls.sums, 1, bets, hulls, j, D)

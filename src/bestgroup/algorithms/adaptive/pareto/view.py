"""What the sampling rule of `adaptive_pareto` looks at, and what it has to know of the proofs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.pair_wealth import ROOM
from bestgroup.inference.evalues.wealth import BETS
from bestgroup.problem.arrays import Bools, Floats, Ints

UNDECIDED, ACCEPTED, REJECTED = 0, 1, 2


class Split(NamedTuple):
    """How delta is shared out: minus the logs of shares; see `adaptive_pareto`."""

    group: Floats  # [N]        of group i
    arm: Floats  # [N, K, D]    of arm m among those of i in dim d
    dim: Floats  # [N, N, D]    of dim d for accepting i against j
    rival: Floats  # [N, N]     of j for rejecting i


class View(NamedTuple):
    """What the sampling rule looks at; all of it follows from counts, means and what is proven."""

    price: Floats  # [N, K]      square root of an arm's cost
    priced: Bools  # [1]         whether costs differ; if not, the next three are not used
    front: Ints  # [2, N, N, D]  the arm of i that is to be shown above j: with epsilon, without
    toll: Floats  # [2, N, N, D] the price of an arm of j in such duels
    probe: Ints  # [2, N, N, D]  the arm of i to pull when its front is due
    counts: Floats  # [N, K]     pulls
    mean: Floats  # [N, K, D]
    variance: Floats  # [N, K, D]  of a pull, about: 1 where the scale is known
    deviation: Floats  # [N, K, D] its root
    pooled: Floats  # [D]        the variance of all arms, by their first pulls
    bend: Floats  # [D]          how much a gap adds to the variance of bets on it; 0 for a known scale
    bonus: Floats  # [N, K]      b
    best: Floats  # [N, D]       largest mean
    leader: Ints  # [N, D]       its arm
    upper: Floats  # [N, D]      U
    scout: Ints  # [N, D]        its arm
    lower: Floats  # [N, D]      L
    margin: Floats  # [N, N]     min_d (best_i - best_j - epsilon / 2)
    hope: Floats  # [N, N]       min_d (U_i - L_j), each for its price
    score: Floats  # [N, N]      least score of accepting i against j; inf if nothing is to do
    duel: Ints  # [N, N, 2]      its (k, d)
    lead: Floats  # [N]          largest margin over i of a group that is not rejected
    rival: Ints  # [N]           who is to reject i; -1 before the next look
    fall: Floats  # [N]          least score of rejecting i by that one
    blow: Ints  # [N, 2]         its (k, d)
    pick: Ints  # [6]            the duel (a, m, b, k, d) with the least score; a = -1 without one;
    #                            and the arm to pull when m is due
    least: Floats  # [1]         its score


class Duties(NamedTuple):
    """What is decided and proven so far, as far as the sampling rule must know it."""

    status: Ints  # [N]
    won: Bools  # [N, N, K, D]   [i, j, k, d]: arm k of j does not beat i by epsilon
    over: Bools  # [N, N, K, D]  [j, i, k, d]: j beats arm k of i
    settled: Bools  # [N, N]     [i, j]: `won` for all arms of j in some dim


def make_view(cost: Floats, bend: Floats) -> View:
    """Return a view before any pull."""
    N, K, D = *cost.shape, len(bend)
    fronts = (2, N, N, D)
    return View(
        price=np.sqrt(cost),
        priced=np.full(1, bool((cost != cost[0, 0]).any())),
        front=np.zeros(fronts, np.int64),
        toll=np.ones(fronts),
        probe=np.zeros(fronts, np.int64),
        counts=np.zeros((N, K)),
        mean=np.zeros((N, K, D)),
        variance=np.ones((N, K, D)),
        deviation=np.ones((N, K, D)),
        pooled=np.zeros(D),
        bend=bend,
        bonus=np.zeros((N, K)),
        best=np.zeros((N, D)),
        leader=np.zeros((N, D), np.int64),
        upper=np.zeros((N, D)),
        scout=np.zeros((N, D), np.int64),
        lower=np.zeros((N, D)),
        margin=np.zeros((N, N)),
        hope=np.zeros((N, N)),
        score=np.full((N, N), np.inf),
        duel=np.zeros((N, N, 2), np.int64),
        lead=np.zeros(N),
        rival=np.full(N, -1, np.int64),
        fall=np.zeros(N),
        blow=np.zeros((N, 2), np.int64),
        pick=np.full(6, -1, np.int64),
        least=np.zeros(1),
    )


class Room(NamedTuple):
    """Scratch space, so that steps make no arrays."""

    turned: Bools  # [N, D]   dims in which a group's leader has new pulls, or is another one
    weights: Floats  # [max(N, K, D)]
    spread: Floats  # [N, D]
    costs: Floats  # [N]
    proof: Floats  # [ROOM, BETS]


@kernel
def make_room(view: View) -> Room:
    """Return scratch space."""
    N, K, D = view.mean.shape
    return Room(
        np.zeros((N, D), np.bool_),
        np.zeros(max(N, K, D)),
        np.zeros((N, D)),
        np.zeros(N),
        np.zeros((ROOM, BETS)),
    )


@kernel
def copy_view(view: View) -> View:
    """Return a copy, for looking ahead within a batch."""
    return View(
        view.price,
        view.priced,
        view.front,
        view.toll,
        view.probe.copy(),
        view.counts.copy(),
        view.mean,
        view.variance,
        view.deviation,
        view.pooled,
        view.bend,
        view.bonus.copy(),
        view.best.copy(),
        view.leader.copy(),
        view.upper.copy(),
        view.scout.copy(),
        view.lower.copy(),
        view.margin.copy(),
        view.hope.copy(),
        view.score.copy(),
        view.duel.copy(),
        view.lead.copy(),
        view.rival.copy(),
        view.fall.copy(),
        view.blow.copy(),
        view.pick.copy(),
        view.least.copy(),
    )


@borrowing
def copy_numbers(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy an array into another one of its shape."""
    for place in np.ndindex(source.shape):
        target[place] = source[place]


@borrowing
def refresh_copy(view: View, copy: View) -> None:
    """Make a copy of a view equal to it again."""
    copy_numbers(view.probe, copy.probe)
    copy_numbers(view.counts, copy.counts)
    copy_numbers(view.bonus, copy.bonus)
    copy_numbers(view.best, copy.best)
    copy_numbers(view.leader, copy.leader)
    copy_numbers(view.upper, copy.upper)
    copy_numbers(view.scout, copy.scout)
    copy_numbers(view.lower, copy.lower)
    copy_numbers(view.margin, copy.margin)
    copy_numbers(view.hope, copy.hope)
    copy_numbers(view.score, copy.score)
    copy_numbers(view.duel, copy.duel)
    copy_numbers(view.lead, copy.lead)
    copy_numbers(view.rival, copy.rival)
    copy_numbers(view.fall, copy.fall)
    copy_numbers(view.blow, copy.blow)
    copy_numbers(view.pick, copy.pick)
    copy_numbers(view.least, copy.least)

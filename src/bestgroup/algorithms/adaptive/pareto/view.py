"""What the sampling rule for Pareto groups looks at, and what it has to know of the proofs."""

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
TABLED = 1500  # groups up to which tables of pairs are kept that could be done without
LISTED = 128  # groups from which on lists are kept instead of passing over all of them
PARTS = 3  # surprises from which on decisions as believed have no part besides their own share


class Split(NamedTuple):
    """How delta is shared out: minus the logs of shares; see `algorithm`."""

    accept: Floats  # [N]       of group i, for accepting it
    reject: Floats  # [N]       and for rejecting it
    arm: Floats  # [N, K, D]    of arm m among those of i in dim d
    # What pairs of groups have: [i, j, d] of dim d for accepting i against j, [i, j, D] of i for
    # rejecting j, side by side, since a test asks for both; empty with many groups, and then reckoned
    # from the rest.
    pair: Floats  # [N, N, D + 1]
    tabled: Bools  # [1]        whether that is there; plain Python reckons it pair by pair instead
    shared: Bools  # [1]        whether scouting is over; before, all is shared equally
    epsilon: Floats  # [D]
    best: Floats  # [N, D]      largest mean when scouting was over
    error: Floats  # [N, D]     the variance of that mean
    deviation: Floats  # [N, D] the standard deviation of a pull of its arm
    lead: (
        Floats  # [N, 2]      least lead over i, in its easiest dim, of its best rival; its variance
    )
    weight: Floats  # [N]       what the weights of the rivals of i add up to
    even: float  # the part of each of these that is shared equally
    sharp: float  # how fast weights fall with how far behind something is
    # Where the answer is named, see `naming`:
    named: Bools  # [1]
    out: Bools  # [N]           whether i is believed to be rejected
    place: Ints  # [N]          of i in the order
    part: Floats  # [PARTS]     for decisions as believed, by how many surprises there were before
    own: Floats  # [N]          the share of a surprise about i
    surprises: Ints  # [N]      how many there were about groups before i
    surprised: Bools  # [N]     whether i is one of them


class View(NamedTuple):
    """What the sampling rule looks at; all of it follows from counts, means and what is proven."""

    price: Floats  # [N, K]      square root of an arm's cost
    priced: Bools  # [1]         whether costs differ; if not, the next two are empty
    front: Ints  # [2, N, N, D]  the arm of i that is to be shown above j: with epsilon, without
    toll: Floats  # [2, N, N, D] the price of an arm of j in such duels
    live: Ints  # [N]            the groups that are not rejected, in order
    lives: Ints  # [1]           how many they are
    fewest: Floats  # [N]        the least pulls of an arm of i
    fewest_at: Ints  # [N]       that arm
    poorest: Ints  # [1]         the group with the least of these that is not rejected; -1: unknown
    poor: Floats  # [1]          its least
    all: Floats  # [2]           pulls of all arms, and how many arms there are
    counts: Floats  # [N, K]     pulls
    mean: Floats  # [N, K, D]
    variance: Floats  # [N, K, D]  of a pull, about: 1 where the scale is known
    deviation: Floats  # [N, K, D] its root
    pooled: Floats  # [D]        the variance of all arms, by their first pulls
    bend: Floats  # [D]          how much a gap adds to the variance of bets on it; 0 for a known scale
    bonus: Floats  # [N, K]      b
    best: Floats  # [N, D]       largest mean
    leader: Ints  # [N, D]       its arm
    lead_deviation: Floats  # [N, D]  the deviation of that
    upper: Floats  # [N, D]      U
    scout: Ints  # [N, D]        its arm
    lower: Floats  # [N, D]      L
    units: Bools  # [1]          whether variances are 1 and costs alike, so that `below` is kept
    below: Ints  # [N]           a group, not rejected, whose U are above those of i; -1 without one
    tops: Ints  # [N]            the groups, not rejected, without one, in order
    top: Ints  # [1]             how many they are
    tops_stale: Bools  # [1]     whether that list may be wrong
    risers: Ints  # [N]          those that have just ceased to have one, for looking
    rises: Ints  # [1]           how many they are
    rose: Bools  # [N]           whether a U has risen since the hopes of i were taken up
    led_by: Ints  # [N]          a group, not rejected, with a positive margin over i; or -1
    most_hope: Floats  # [N]     largest hope of dominating i of a group that is not rejected
    next_hope: Floats  # [N]     no other one has more
    hope_by: Ints  # [N]         whose the largest is
    open: Bools  # [N]           whether others are to be accepted against j
    stirred: Bools  # [1]        whether open groups, or fresh ones, may be others than those listed
    fresh: Bools  # [N]          whether it has just become so, for looking
    opening: Ints  # [N]         such groups, in order
    opens: Ints  # [1]           how many they are
    row: Floats  # [N]           least score of accepting i against such a group
    next_row: Floats  # [N]      no other one has less
    row_at: Ints  # [N]          which one has the least
    rival: Ints  # [N]           who is to reject i; -1 before the next look
    fall: Floats  # [N]          least score of rejecting i by that one
    blow: Ints  # [N, 2]         its (k, d)
    need: Floats  # [N]          the least score of what i needs; infinite if it is decided
    dirty: Bools  # [N]          whether that may have changed
    dirts: Ints  # [N]           those for which it may
    dirt: Ints  # [1]            how many they are; -1: all groups
    pick: Ints  # [6]            the duel (a, m, b, k, d) with the least score; a = -1 without one;
    #                            and the arm to pull when m is due
    least: Floats  # [1]         its score
    # With many groups only, else empty: lists of followers, and the needs as a tree.
    first: Ints  # [3, N]        see `followers`
    after: Ints  # [3, N]
    before: Ints  # [3, N]
    tree: Floats  # [2 P]        see `tree`; P the power of two from N on


class Duties(NamedTuple):
    """What is decided and proven so far, as far as the sampling rule must know it."""

    status: Ints  # [N]
    unsettled: Ints  # [N]       groups, not rejected, that i is not settled against
    won: Bools  # [N, N, K, D]   [i, j, k, d]: arm k of j does not beat i by epsilon
    over: Bools  # [N, N, K, D]  [j, i, k, d]: j beats arm k of i
    settled: Bools  # [N, N]     [i, j]: `won` for all arms of j in some dim


def lists_pay(groups: int) -> bool:
    """Return whether there are so many groups that lists of followers pay."""
    return groups >= LISTED


@borrowing
def keeps_lists(first: Ints) -> bool:
    """Return whether lists of followers are kept; see `variants`."""
    return first.shape[1] > 0


@borrowing
def is_priced(priced: Bools) -> bool:
    """Return whether costs differ; see `variants`."""
    return priced[0]


@borrowing
def spread_at(spread: Floats, i: int, m: int, d: int) -> float:
    """Return an arm's variance or deviation, of the array `spread`; see `variants`."""
    return spread[i, m, d]


@borrowing
def unit_of(lead_deviation: Floats, i: int, j: int, d: int) -> float:
    """Return the mean standard deviation of the leaders of two groups: the unit of a dim for them."""
    return 0.5 * (lead_deviation[i, d] + lead_deviation[j, d])


def make_view(cost: Floats, bend: Floats, arms: int, units: bool) -> View:
    """Return a view before any pull."""
    N, K, D = *cost.shape, len(bend)
    priced = bool((cost != cost[0, 0]).any())
    fronts = (2, N, N, D) if priced else (0, 0, 0, 0)
    listed = N if lists_pay(N) else 0
    return View(
        price=np.sqrt(cost),
        priced=np.full(1, priced),
        front=np.zeros(fronts, np.int64),
        toll=np.ones(fronts),
        live=np.arange(N),
        lives=np.full(1, N, np.int64),
        fewest=np.zeros(N),
        fewest_at=np.zeros(N, np.int64),
        poorest=np.full(1, -1, np.int64),
        poor=np.zeros(1),
        all=np.array([0.0, float(arms)]),
        counts=np.zeros((N, K)),
        mean=np.zeros((N, K, D)),
        variance=np.ones((N, K, D)),
        deviation=np.ones((N, K, D)),
        pooled=np.zeros(D),
        bend=bend,
        bonus=np.zeros((N, K)),
        best=np.zeros((N, D)),
        leader=np.zeros((N, D), np.int64),
        lead_deviation=np.ones((N, D)),
        upper=np.zeros((N, D)),
        scout=np.zeros((N, D), np.int64),
        lower=np.zeros((N, D)),
        units=np.full(1, units and not priced),
        below=np.full(N, -1, np.int64),
        tops=np.arange(N),
        top=np.full(1, N, np.int64),
        tops_stale=np.ones(1, np.bool_),
        risers=np.zeros(N, np.int64),
        rises=np.zeros(1, np.int64),
        rose=np.ones(N, np.bool_),
        led_by=np.full(N, -1, np.int64),
        most_hope=np.zeros(N),
        next_hope=np.zeros(N),
        hope_by=np.full(N, -1, np.int64),
        open=np.ones(N, np.bool_),
        stirred=np.ones(1, np.bool_),
        fresh=np.zeros(N, np.bool_),
        opening=np.zeros(N, np.int64),
        opens=np.zeros(1, np.int64),
        row=np.full(N, np.inf),
        next_row=np.full(N, np.inf),
        row_at=np.full(N, N, np.int64),
        rival=np.full(N, -1, np.int64),
        fall=np.zeros(N),
        blow=np.zeros((N, 2), np.int64),
        need=np.full(N, np.inf),
        dirty=np.zeros(N, np.bool_),
        dirts=np.zeros(N, np.int64),
        dirt=np.full(1, -1, np.int64),
        pick=np.full(6, -1, np.int64),
        least=np.zeros(1),
        first=np.full((3, listed), -1, np.int64),
        after=np.full((3, listed), -1, np.int64),
        before=np.full((3, listed), -1, np.int64),
        tree=np.full(2 << (listed - 1).bit_length() if listed else 0, np.inf),
    )


class Room(NamedTuple):
    """Scratch space, so that steps make no arrays."""

    turned: Bools  # [N, D]   dims in which a group's leader has new pulls, or is another one
    weights: Floats  # [max(N, K, D)]
    costs: Floats  # [N]
    passed: Ints  # [N + 1]   groups that may be tested
    found: Ints  # [2 N K + 1]  pairs that are, (i N + j) K + k
    proof: Floats  # [ROOM, BETS]


@kernel
def make_room(view: View) -> Room:
    """Return scratch space."""
    N, K, D = view.mean.shape
    return Room(
        np.zeros((N, D), np.bool_),
        np.zeros(max(N, K, D)),
        np.zeros(N),
        np.zeros(N + 1, np.int64),
        np.zeros(2 * N * K + 1, np.int64),
        np.zeros((ROOM, BETS)),
    )


class Kept(NamedTuple):
    """What looking ahead within a batch changes of a view, as it was before."""

    counts: Floats
    bonus: Floats
    fewest: Floats
    fewest_at: Ints
    all: Floats
    best: Floats
    leader: Ints
    lead_deviation: Floats
    upper: Floats
    scout: Ints
    lower: Floats
    below: Ints
    led_by: Ints
    most_hope: Floats
    next_hope: Floats
    hope_by: Ints
    open: Bools
    row: Floats
    next_row: Floats
    row_at: Ints
    rival: Ints
    fall: Floats
    blow: Ints
    pick: Ints
    least: Floats
    poorest: Ints
    poor: Floats
    tops: Ints
    top: Ints
    tops_stale: Bools
    risers: Ints
    rises: Ints
    rose: Bools
    stirred: Bools
    fresh: Bools
    opening: Ints
    opens: Ints
    need: Floats
    dirty: Bools
    dirts: Ints
    dirt: Ints
    first: Ints
    after: Ints
    before: Ints
    tree: Floats


@kernel
def make_kept(view: View) -> Kept:
    """Return room for what pretended pulls change."""
    return Kept(
        view.counts.copy(),
        view.bonus.copy(),
        view.fewest.copy(),
        view.fewest_at.copy(),
        view.all.copy(),
        view.best.copy(),
        view.leader.copy(),
        view.lead_deviation.copy(),
        view.upper.copy(),
        view.scout.copy(),
        view.lower.copy(),
        view.below.copy(),
        view.led_by.copy(),
        view.most_hope.copy(),
        view.next_hope.copy(),
        view.hope_by.copy(),
        view.open.copy(),
        view.row.copy(),
        view.next_row.copy(),
        view.row_at.copy(),
        view.rival.copy(),
        view.fall.copy(),
        view.blow.copy(),
        view.pick.copy(),
        view.least.copy(),
        view.poorest.copy(),
        view.poor.copy(),
        view.tops.copy(),
        view.top.copy(),
        view.tops_stale.copy(),
        view.risers.copy(),
        view.rises.copy(),
        view.rose.copy(),
        view.stirred.copy(),
        view.fresh.copy(),
        view.opening.copy(),
        view.opens.copy(),
        view.need.copy(),
        view.dirty.copy(),
        view.dirts.copy(),
        view.dirt.copy(),
        view.first.copy(),
        view.after.copy(),
        view.before.copy(),
        view.tree.copy(),
    )


@borrowing
def copy_numbers(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy an array into another one of its shape."""
    for place in np.ndindex(source.shape):
        target[place] = source[place]


@copy_numbers.plainly
def _(source: NDArray[Any], target: NDArray[Any]) -> None:
    target[...] = source


@borrowing
def copy_groups(source: View | Kept, target: View | Kept) -> None:
    """Copy all that a view has for single groups: to keep it, or to bring it back."""
    copy_numbers(source.counts, target.counts)
    copy_numbers(source.bonus, target.bonus)
    copy_numbers(source.fewest, target.fewest)
    copy_numbers(source.fewest_at, target.fewest_at)
    copy_numbers(source.all, target.all)
    copy_numbers(source.best, target.best)
    copy_numbers(source.leader, target.leader)
    copy_numbers(source.lead_deviation, target.lead_deviation)
    copy_numbers(source.upper, target.upper)
    copy_numbers(source.scout, target.scout)
    copy_numbers(source.lower, target.lower)
    copy_numbers(source.below, target.below)
    copy_numbers(source.led_by, target.led_by)
    copy_numbers(source.most_hope, target.most_hope)
    copy_numbers(source.next_hope, target.next_hope)
    copy_numbers(source.hope_by, target.hope_by)
    copy_numbers(source.open, target.open)
    copy_numbers(source.row, target.row)
    copy_numbers(source.next_row, target.next_row)
    copy_numbers(source.row_at, target.row_at)
    copy_numbers(source.rival, target.rival)
    copy_numbers(source.fall, target.fall)
    copy_numbers(source.blow, target.blow)
    copy_numbers(source.pick, target.pick)
    copy_numbers(source.least, target.least)
    copy_numbers(source.poorest, target.poorest)
    copy_numbers(source.poor, target.poor)
    copy_numbers(source.tops, target.tops)
    copy_numbers(source.top, target.top)
    copy_numbers(source.tops_stale, target.tops_stale)
    copy_numbers(source.risers, target.risers)
    copy_numbers(source.rises, target.rises)
    copy_numbers(source.rose, target.rose)
    copy_numbers(source.stirred, target.stirred)
    copy_numbers(source.fresh, target.fresh)
    copy_numbers(source.opening, target.opening)
    copy_numbers(source.opens, target.opens)
    copy_numbers(source.need, target.need)
    copy_numbers(source.dirty, target.dirty)
    copy_numbers(source.dirts, target.dirts)
    copy_numbers(source.dirt, target.dirt)
    if keeps_lists(source.first):
        copy_numbers(source.first, target.first)
        copy_numbers(source.after, target.after)
        copy_numbers(source.before, target.before)
        copy_numbers(source.tree, target.tree)

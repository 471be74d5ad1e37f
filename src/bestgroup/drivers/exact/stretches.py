"""The exact loop for lockstep algorithms: every reward is drawn, every round is accounted for.

The loop looks at stretches of rounds. The rewards of a stretch are drawn first, in the dims that
tests still read; if no test can fire anywhere in the box that the means move in (`can_fire`, the
algorithm's own margins at the box's ends), its rounds are passed over, otherwise they are stepped
one by one. Nothing is approximated: rounding is monotone, so a margin at the ends of the box is at
least the margin of any round inside.

Weak points: one test that is close to firing has all rounds of its stretch stepped, for all groups;
and a run costs the rewards that it draws, which the jump engine does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Kernels, Lockstep
from bestgroup.compile.binding import bind, hook
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import Kernel, kernel
from bestgroup.drivers.exact.plans import is_done, is_stuck, plan, step
from bestgroup.drivers.exact.pulling import CAPPED, DONE, REFILL, SLICE, STUCK, take
from bestgroup.drivers.rewards import AHEAD, Reservoir, Source, ensure
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.tally import Tally, sum_of
from bestgroup.problem.arrays import Bools, Floats, Ints


@hook
def is_active(state: Any, i: int, j: int, d: int) -> Any:
    """Return whether a test still reads that dim of the arm."""


@hook
def clock_after(state: Any, rule: Any, rounds: int, clock: Ints) -> None:
    """Set n^d so many rounds from now."""


@hook
def can_fire(state: Any, low: Floats, high: Floats, lowest: Floats, clock: Ints, rule: Any) -> Any:
    """Return whether any test can fire on the way to the clock, inside the box."""


@hook
def skip(state: Any, tally: Tally, rule: Any, rounds: int, clock: Ints) -> None:
    """Go on by rounds in which no test fired."""


@hook
def horizon(state: Any, rule: Any) -> Any:
    """Return how many rounds are worth looking ahead."""


@borrowing
def read_dims(state: Any, i: int, j: int, need: Bools) -> bool:
    """Set which dims of an arm are still read, and return whether any is."""
    found = False
    for d in range(len(need)):
        # Dims that no test reads are not drawn; each has its own stream, so others keep their bits.
        need[d] = is_active(state, i, j, d)
        found = found or need[d]
    return found


@borrowing
def set_targets(state: Any, tally: Tally, clock: Ints, target: Ints) -> int:
    """Set how often each arm is pulled when the clock gets there with the sets of now.

    An arm is pulled in a round of dim d iff it is active there and its count equals n^d, so its
    count is the largest n^d of its active dims, or what it was if that is more. Returns the number
    of pulls.
    """
    N, K = target.shape
    wanted = 0
    for i in range(N):
        for j in range(K):
            most = tally.counts[i, j]
            for d in range(len(clock)):
                # Sets can only shrink on the way, and then the stretch is stepped: those of now are
                # an upper bound.
                if clock[d] > most and is_active(state, i, j, d):
                    most = clock[d]
            target[i, j] = most
            wanted += most - tally.counts[i, j]
    return wanted


@kernel
def draw_to(
    state: Any, tally: Tally, target: Ints, source: Source, pool: Reservoir, need: Bools
) -> bool:
    """Draw every active arm's pulls up to its target; False if the user's law has to."""
    N, K = target.shape
    for i in range(N):
        for j in range(K):
            count = tally.counts[i, j]
            # An arm that is not read any more is not drawn, even where its target lies ahead.
            if target[i, j] > count and read_dims(state, i, j, need):
                if not ensure(source, pool, i, j, count, target[i, j], need):
                    return False
    return True


@borrowing
def box_of(pool: Reservoir, i: int, j: int, d: int, first: int, last: int) -> tuple[float, float]:
    """Return the least and the largest mean of one dim of an arm over counts first, ..., last."""
    least, most = np.inf, -np.inf
    row = pool.sums[i, j, d]
    base = pool.base[i, j]
    for count in range(first, last + 1):
        # The same division as in `take` and `refresh_efficiency`, so the box has their bits at its
        # ends.
        mean = row[count - base - 1] / count
        least = min(least, mean)
        most = max(most, mean)
    return least, most


@borrowing
def set_boxes(
    state: Any,
    tally: Tally,
    pool: Reservoir,
    rounds: int,
    target: Ints,
    low: Floats,
    high: Floats,
    lowest: Floats,
) -> None:
    """Set the box of every estimate on the way to the targets; what no arm moves stays a point."""
    N, K, D = lowest.shape
    for i in range(N):
        for d in range(D):
            least, most, moves = -np.inf, -np.inf, False
            for j in range(K):
                if is_active(state, i, j, d):
                    # An arm that is pulled in every round is never read at the count of now.
                    first = tally.counts[i, j]
                    if target[i, j] - first == rounds:
                        first += 1
                    ends = box_of(pool, i, j, d, first, target[i, j])
                    lowest[i, j, d] = ends[0]
                    # R is a maximum over active arms, so are the ends of its box.
                    least, most, moves = max(least, ends[0]), max(most, ends[1]), True
            # No active arm: R stays what the state says.
            if not moves:
                least, most = state.efficiency[i, d], state.efficiency[i, d]
            low[i, d], high[i, d] = least, most


@kernel
def one_round(state: Any, tally: Tally, rule: Any, pool: Reservoir) -> int:
    """Pull what is drawn and planned, and step; returns the number of pulls."""
    pulls = plan(state, tally, rule)
    pulled = 0
    for i in range(pulls.shape[0]):
        for j in range(pulls.shape[1]):
            if pulls[i, j] > 0:
                # Drawn ahead already, or `draw_to` would have come back.
                take(pool, tally, i, j, tally.counts[i, j] + pulls[i, j])
                pulled += pulls[i, j]
    step(state, tally, rule)
    return pulled


@borrowing
def take_targets(tally: Tally, target: Ints, pool: Reservoir) -> None:
    """Move every arm's tally to its target."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            # Rounds that are passed over only move the tally: no test fired in them.
            if target[i, j] > tally.counts[i, j]:
                take(pool, tally, i, j, target[i, j])


@kernel
def run_stretches(
    state: Any,
    tally: Tally,
    rule: Any,
    keep: BoxRule,
    source: Source,
    pool: Reservoir,
    due: Ints,
    progress: Ints,
) -> int:
    """Run until the end; returns a code, and can be called again to go on.

    The arguments are those of `run_plans`; `due` is used for the targets of a stretch.
    """
    N, K, D = tally.sums.shape
    # Set before they are read, wherever a test reads them; zeros would take longer to compile.
    need, clock = np.empty(D, np.bool_), np.empty(D, np.int64)
    low, high = np.empty((N, D)), np.empty((N, D))
    lowest = np.empty((N, K, D))
    total = sum_of(tally.counts)
    # Comes back now and then so that Ctrl-C is heard; the state is all in the arguments.
    pause = total + progress[1]
    while not is_done(state, rule):
        if total >= pause:
            return SLICE
        rounds = horizon(state, rule)
        clock_after(state, rule, min(rounds, AHEAD), clock)
        # At most AHEAD rounds are drawn ahead; rounds without pulls may be passed over in longer
        # stretches.
        wanted = set_targets(state, tally, clock, due)
        if wanted > 0:
            rounds = min(rounds, AHEAD)
            # Near the limit a stretch is one round, so that the cap is met exactly.
            if total + wanted > progress[0]:
                rounds = 1
                clock_after(state, rule, rounds, clock)
                wanted = set_targets(state, tally, clock, due)
                if total + wanted > progress[0]:
                    return CAPPED
            if not draw_to(state, tally, due, source, pool, need):
                return REFILL
        # Only where nothing is pulled: while R moves a test may still fire.
        elif is_stuck(state, rule):
            return STUCK
        fires = True
        if rounds > 1:
            set_boxes(state, tally, pool, rounds, due, low, high, lowest)
            if rounds > AHEAD:  # rounds without pulls: the box is a point
                clock_after(state, rule, rounds, clock)
            fires = can_fire(state, low, high, lowest, clock, rule)
            # Without pulls only the radius moves: halving finds a stretch in which nothing fires.
            while fires and rounds > AHEAD:
                rounds //= 2
                clock_after(state, rule, rounds, clock)
                fires = can_fire(state, low, high, lowest, clock, rule)
        if fires:
            # Some test may fire somewhere in the box: every round is stepped, exactly as a live
            # study would.
            for _ in range(rounds):
                total += one_round(state, tally, rule, pool)
                if is_done(state, rule):
                    break
        else:
            total += wanted
            take_targets(tally, due, pool)
            skip(state, tally, rule, rounds, clock)
        progress[2] = state.round[0]
    return DONE


def loop_for(kernels: Kernels, lockstep: Lockstep) -> Kernel[..., int]:
    """Return the loop of a lockstep algorithm."""
    hooks: dict[Kernel[..., Any], Kernel[..., Any]] = {
        plan: kernels.plan,
        step: kernels.step,
        is_done: kernels.is_done,
        is_stuck: kernels.is_stuck,
        is_active: lockstep.active,
        clock_after: lockstep.clock,
        can_fire: lockstep.can_fire,
        skip: lockstep.skip,
        horizon: lockstep.horizon,
    }
    return bind(run_stretches, hooks)

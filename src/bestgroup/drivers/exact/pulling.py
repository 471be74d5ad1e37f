"""Pulls of the exact loops: draw what is due, move it to the tally."""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.protocol import place_of
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.drivers.rewards import AHEAD, Reservoir, Source, ensure
from bestgroup.inference.confidence_sequences.boxes import BoxRule, absorb, absorb_sum, deviation
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Ints

# Why a loop comes back: the run is over; the user's law must draw; a look at the keyboard is due;
# the next round would pass the limit; nothing can end the run; a plan is made, or a step.
DONE, REFILL, SLICE, CAPPED, STUCK, TURN = 0, 1, 2, 3, 4, 5


@borrowing
def take(pool: Reservoir, tally: Tally, i: int, j: int, count: int) -> None:
    """Set an arm's tally to its first `count` pulls."""
    tally.counts[i, j] = count
    for d in range(tally.sums.shape[2]):
        # Cumulative sums are stored, not added up again: the bits are those of the tape.
        tally.sums[i, j, d] = pool.sums[i, j, d, count - pool.base[i, j] - 1]


@borrowing
def sum_listed(due: Ints, listed: Ints) -> int:
    """Return the sum of what is due, [N, K], of the arms that are listed (`list_pulls`)."""
    total = 0
    for n in range(1, listed[0] + 1):
        i, j = place_of(int(listed[n]), due.shape[1])
        total += due[i, j]
    return int(total)


@borrowing
def take_due(due: Ints, listed: Ints, tally: Tally, keep: BoxRule, pool: Reservoir) -> bool:
    """Consume pulls that are due, as far as they are drawn; returns whether that was all."""
    keeps_values = tally.extra.shape[3] > 0
    enough = True
    for n in range(1, listed[0] + 1):
        i, j = place_of(int(listed[n]), due.shape[1])
        if due[i, j] > 0:
            count = tally.counts[i, j]
            # What is drawn and not consumed, but no more than is due.
            some = min(due[i, j], pool.base[i, j] + pool.filled[i, j] - count)
            if some > 0:
                # Sums need the last value only; statistics of single values need every one in its
                # order.
                if keeps_values:
                    absorb_due(tally, keep, pool, i, j, some)
                take(pool, tally, i, j, count + some)
                due[i, j] -= some
            enough = enough and due[i, j] == 0
    return enough


@borrowing
def absorb_due(tally: Tally, keep: BoxRule, pool: Reservoir, i: int, j: int, some: int) -> None:
    """Take up the next values in the extra statistics: differences of sums, as `Tape.values` has them."""
    count = tally.counts[i, j]
    first = count - pool.base[i, j]
    for d in range(tally.sums.shape[2]):
        # Values are differences of stored sums, as replay and studies see them.
        before = tally.sums[i, j, d]
        for k in range(some):
            total = pool.sums[i, j, d, first + k]
            absorb(keep, tally.extra[i, j, d], float(count + k + 1), total - before, d)
            before = total
    if len(keep.weights) > 0:
        for k in range(some):
            away = 0.0
            for d in range(tally.sums.shape[2]):
                before = pool.sums[i, j, d, first + k - 1] if k > 0 else tally.sums[i, j, d]
                x = pool.sums[i, j, d, first + k] - before
                away += keep.weights[d] * deviation(keep, tally.extra[i, j], x, d)
            absorb_sum(keep, tally.extra[i, j], float(count + k + 1), away)


@kernel
def draw_due(due: Ints, listed: Ints, tally: Tally, source: Source, pool: Reservoir) -> bool:
    """Draw pulls that are due; False if only the user's law can."""
    need = np.ones(tally.sums.shape[2], np.bool_)
    for n in range(1, listed[0] + 1):
        i, j = place_of(int(listed[n]), due.shape[1])
        if due[i, j] > 0:
            count = tally.counts[i, j]
            # A block ahead of need: drawing one at a time costs a call each.
            if not ensure(source, pool, i, j, count, count + AHEAD, need):
                return False
    return True

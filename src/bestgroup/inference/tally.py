"""What an algorithm sees of the observations: statistics of the completed pulls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Floats, Ints


class Tally(NamedTuple):
    """Sufficient statistics of the consumed observations, padded to the largest group."""

    counts: Ints  # [N, K]        consumed pulls of each arm
    sums: Floats  # [N, K, D]     their sums, added in the order of the pulls
    extra: Floats = np.zeros((0, 0, 0, 0))  # [N, K, D, M]  what else the noise model keeps; a row
    # more, [N, K, D + 1, M], where it keeps as much of a weighted sum of the dims


def empty_tally(
    groups: int, arms: int, dims: int, start: Floats | None = None, summed: bool = False
) -> Tally:
    """Return a tally before any pull; `start` [M] are the extra statistics of a fresh arm.

    `summed` makes room for those of a weighted sum of the dims, too.
    """
    first = np.zeros(0) if start is None else start
    extra = np.tile(first, (groups, arms, dims + summed, 1))
    return Tally(np.zeros((groups, arms), np.int64), np.zeros((groups, arms, dims)), extra)


def with_room(tally: Tally, size: int) -> Tally:
    """Return the tally with room for `size` extra statistics of an arm and dim."""
    more = size - tally.extra.shape[3]
    if more <= 0:
        return tally
    pad = np.zeros((*tally.extra.shape[:3], more))
    return Tally(tally.counts, tally.sums, np.concatenate([tally.extra, pad], axis=3))


@borrowing
def sum_of(counts: Ints) -> int:
    """Return the sum of counts [N, K]."""
    total = 0
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            total += counts[i, j]
    return int(total)

"""What an algorithm sees of the observations: counts and sums of completed pulls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.core.arrays import Floats, Ints


class Tally(NamedTuple):
    """Sufficient statistics of the consumed observations, padded to the largest group."""

    counts: Ints  # [N, K]     consumed pulls of each arm
    sums: Floats  # [N, K, D]  their sums, added in the order of the pulls


def empty_tally(groups: int, arms: int, dims: int) -> Tally:
    """Return a tally before any pull."""
    return Tally(np.zeros((groups, arms), np.int64), np.zeros((groups, arms, dims)))

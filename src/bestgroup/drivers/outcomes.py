"""Outcomes of many runs of an algorithm, as the engines write them that do not go pull by pull."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.problem.arrays import Bools, Floats, Ints


class Outcomes(NamedTuple):
    """Outcomes of runs; `distance` bounds each one's total variation distance to the exact law."""

    answers: Bools  # [runs, N]
    counts: Ints  # [runs, N, K]
    rounds: Ints  # [runs]
    finished: Bools  # [runs]
    distance: Floats  # [runs]
    rejected: Bools  # [runs, N]  rejected groups, also of runs that did not finish
    efficiency: Floats  # [runs, N, D]  as last known


def room_for(runs: int, sizes: tuple[int, int, int]) -> Outcomes:
    """Return room for so many outcomes, of sizes (N, K, D)."""
    N, K, D = sizes
    return Outcomes(
        answers=np.zeros((runs, N), np.bool_),
        counts=np.zeros((runs, N, K), np.int64),
        rounds=np.zeros(runs, np.int64),
        finished=np.zeros(runs, np.bool_),
        distance=np.zeros(runs),
        rejected=np.zeros((runs, N), np.bool_),
        efficiency=np.zeros((runs, N, D)),
    )

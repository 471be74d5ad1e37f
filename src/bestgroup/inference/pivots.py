"""From where values are summed up, so that an offset does not eat the digits that decide.

A running sum of n values near m is rounded to about n m 2^-53 at every step. From |m| of about 10^12
scales on that is more than the noise, and the wrong group would be proven. So deviations from a pivot
are summed, one for each arm and dim: 0, or the arm's first value where that is more than 2^20 scales
from 0. Up to there a million values cost the mean less than 10^-6 scales.

Tests compare arms, so they see sums about one origin for all arms: of deviations from it, exact to
the last digit of the values themselves.
"""

from __future__ import annotations

import numpy as np

from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats

FAR = 2.0**20  # scales


def pivot_of(first: Floats, scales: Floats) -> Floats:
    """Return the pivot of an arm with this first value, [D]; with scale 0 always that value.

    >>> pivot_of(np.array([3.0, 1e13]), np.array([1.0, 1.0]))
    array([0.e+00, 1.e+13])
    """
    return np.where(np.abs(first) > FAR * scales, first, 0.0)


def add_deviations(
    tally: Tally, pivot: Floats, i: int, j: int, before: Floats, rows: Floats
) -> None:
    """Set the sums of an arm to what they were before plus deviations of rows [n, D], in order."""
    if pivot.any():
        chain = np.concatenate([before[None], rows - pivot])
        tally.sums[i, j] = np.cumsum(chain, axis=0)[-1]


def about_origin(tally: Tally, pivots: Floats) -> tuple[Tally, Floats]:
    """Return the tally with all sums about one origin, and the origin, [D].

    The origin is the pivot of the first arm that was pulled; `tally` has sums about `pivots`
    [N, K, D].
    """
    pulled = np.argwhere(tally.counts > 0)
    if not (len(pulled) and pivots.any()):
        return tally, np.zeros(int(tally.sums.shape[2]))
    origin: Floats = pivots[tuple(pulled[0])].copy()
    return _moved(tally, pivots - origin), origin


def of_values(tally: Tally, pivots: Floats) -> Tally:
    """Return the tally with the sums of the values themselves, for estimates to show."""
    return _moved(tally, pivots) if pivots.any() else tally


def _moved(tally: Tally, by: Floats) -> Tally:
    return tally._replace(sums=tally.sums + tally.counts[:, :, None] * by)

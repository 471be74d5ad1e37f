"""What comparisons of pairs in a run risk: how sure each must be, and what all of them add up to.

How sure a comparison must be may depend on what is known when it is made, so it may depend on what
the run has risked so far: once that is half of the tolerance, more is asked of all that follow.
"""

from __future__ import annotations

import math

from bestgroup.simulation.jump_certify import TOLERANCE
from bestgroup.simulation.jump_kernel import bare
from bestgroup.simulation.jump_layout import (
    AT_FIRST,
    DIM_COUNT,
    DOUBT,
    RISK,
    SPENT,
    SPREADS,
    SURELY,
    Reals,
    Words,
)

_SURE = 1.3  # what is so many times as sure as asked is counted as if it were just that sure
_STEP = 3.0  # L is more by this after each part of the tolerance that was spent
_PART = 0.25 * TOLERANCE


@bare
def reset_risk(Z: Words, F: Reals) -> None:
    """Begin a run."""
    F[Z[RISK] + SPENT] = 0.0
    _ask(Z, F, F[Z[RISK] + AT_FIRST])


@bare
def guard_risk(Z: Words, F: Reals) -> None:
    """Ask more of comparisons if half of the tolerance is spent, and again for each quarter."""
    at = Z[RISK]
    parts = int(F[at + SPENT] / _PART)
    doubt = F[at + AT_FIRST] + _STEP * max(0, parts - 1)
    if doubt > F[at + DOUBT]:
        _ask(Z, F, doubt)


@bare
def _ask(Z: Words, F: Reals, doubt: float) -> None:
    """Set L of comparisons: exp(-L) is what one may risk."""
    at, D = Z[RISK], Z[DIM_COUNT]
    F[at + DOUBT], F[at + SURELY] = doubt, math.exp(-_SURE * doubt)
    for d in range(Z[SPREADS], Z[SPREADS] + D):
        F[d] = F[d + D] * (doubt / 2.0)


@bare
def add_risk(Z: Words, F: Reals, times: float) -> None:
    """Count the probability exp(-times L) that a comparison of a pair is wrong, or more."""
    at = Z[RISK]
    if times < _SURE:
        F[at + SPENT] += math.exp(-F[at + DOUBT] * times)
    else:
        F[at + SPENT] += F[at + SURELY]

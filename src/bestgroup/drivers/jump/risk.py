"""What a run risks: how sure its certificates must be, and what all of them add up to.

How sure a certificate must be may depend on what is known when it is made, so it may depend on what
the run has risked so far: once that is half of the tolerance, more is asked of all that follow. A
band that was counted when it was narrower stays counted: leaving the wider one implies leaving it.
"""

from __future__ import annotations

import math

from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.certify import LOOSER, TOLERANCE
from bestgroup.drivers.jump.memory import (
    AT_FIRST,
    BAND_RISK,
    BANDS,
    COLUMNS,
    COUNTED,
    DIM_COUNT,
    DOUBT,
    LIFT,
    PAIR_DOUBT,
    PASSED,
    REVEALED,
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
    Z[PASSED] = Z[COUNTED] = 0
    F[Z[RISK] + SPENT] = 0.0
    _ask(Z, F, F[Z[RISK] + AT_FIRST])


@bare
def guard_risk(Z: Words, F: Reals) -> None:
    """Ask more of certificates if half of the tolerance is spent, and again for each quarter."""
    at = Z[RISK]
    parts = int(count_risk(Z, F) / _PART)
    doubt = F[at + AT_FIRST] + _STEP * max(0, parts - 1)
    if doubt > F[at + DOUBT]:
        _ask(Z, F, doubt)


@bare
def count_risk(Z: Words, F: Reals) -> float:
    """Return the probability that a certificate so far was wrong, or more.

    Of each revealed point it counts the two bands of the two gaps that it makes.
    """
    at, certificates = Z[RISK], 4 * Z[COLUMNS] * Z[REVEALED] + Z[PASSED]
    F[at + SPENT] += (certificates - Z[COUNTED]) * F[at + BAND_RISK]
    Z[COUNTED] = certificates
    return F[at + SPENT]


@bare
def _ask(Z: Words, F: Reals, doubt: float) -> None:
    """Set L: exp(-L) is what a band may risk; a comparison of a pair may risk more."""
    at, D = Z[RISK], Z[DIM_COUNT]
    pairs = doubt - LOOSER
    F[at + DOUBT], F[at + BAND_RISK] = doubt, math.exp(-doubt)
    F[at + PAIR_DOUBT], F[at + SURELY] = pairs, math.exp(-_SURE * pairs)
    F[Z[LIFT]] = math.sqrt(math.pi / (4.0 * doubt))
    for d in range(D):
        deviation = F[Z[SPREADS] + D + d]
        F[Z[BANDS] + d] = deviation * math.sqrt(doubt / 2.0)
        F[Z[SPREADS] + d] = deviation * deviation * (pairs / 2.0)


@bare
def add_risk(Z: Words, F: Reals, times: float) -> None:
    """Count the probability exp(-times L) that a comparison of a pair is wrong, or more."""
    at = Z[RISK]
    if times < _SURE:
        F[at + SPENT] += math.exp(-F[at + PAIR_DOUBT] * times)
    else:
        F[at + SPENT] += F[at + SURELY]

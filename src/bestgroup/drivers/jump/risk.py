"""What a run risks: how sure its certificates must be, and what all of them add up to.

How sure a certificate must be may depend on what is known when it is made, so it may depend on what
the run has risked so far: once that is half of the tolerance, more is asked of all that follow. A
band that was counted when it was narrower stays counted: leaving the wider one implies leaving it.
"""

from __future__ import annotations

import math

from bestgroup.compile.records import bare
from bestgroup.drivers.jump.certify import LOOSER, TOLERANCE
from bestgroup.drivers.jump.memory import (
    Memory,
    dim_at,
)

_SURE = 1.3  # what is so many times as sure as asked is counted as if it were just that sure
_STEP = 3.0  # L is more by this after each part of the tolerance that was spent
_PART = 0.25 * TOLERANCE


@bare
def reset_risk(m: Memory) -> None:
    """Begin a run."""
    m.passed = m.counted = 0
    m.spent = 0.0
    _ask(m, m.first_doubt)


@bare
def guard_risk(m: Memory) -> None:
    """Ask more of certificates if half of the tolerance is spent, and again for each quarter."""
    parts = int(count_risk(m) / _PART)
    doubt = m.first_doubt + _STEP * max(0, parts - 1)
    if doubt > m.doubt:
        _ask(m, doubt)


@bare
def count_risk(m: Memory) -> float:
    """Return the probability that a certificate so far was wrong, or more.

    Of each revealed point it counts the two bands of the two gaps that it makes.
    """
    certificates = 4 * m.columns * m.revealed + m.passed
    m.spent += (certificates - m.counted) * m.band_risk
    m.counted = certificates
    return m.spent


@bare
def _ask(m: Memory, doubt: float) -> None:
    """Set L: exp(-L) is what a band may risk; a comparison of a pair may risk more."""
    D = m.D
    pairs = doubt - LOOSER
    m.doubt, m.band_risk = doubt, math.exp(-doubt)
    m.pair_doubt, m.sure_risk = pairs, math.exp(-_SURE * pairs)
    m.lift = math.sqrt(math.pi / (4.0 * doubt))
    for d in range(D):
        deviation = dim_at(m, d).deviation
        dim_at(m, d).band = deviation * math.sqrt(doubt / 2.0)
        dim_at(m, d).spread = deviation * deviation * (pairs / 2.0)


@bare
def add_risk(m: Memory, times: float) -> None:
    """Count the probability exp(-times L) that a comparison of a pair is wrong, or more."""
    if times < _SURE:
        m.spent += math.exp(-m.pair_doubt * times)
    else:
        m.spent += m.sure_risk

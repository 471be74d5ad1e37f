"""What the jump engine takes for certain, and with which probability it is wrong.

Every certificate is one inequality for bridges. Let a walk with steps N(mu, s^2) be known at counts
a < b and nowhere between. Given these values its deviation from the chord is a Brownian bridge
looked at on the integers, so for h > 0

    P(the walk is ever h above its chord) <= exp(-2 h^2 / (s^2 (b - a)))    (reflection principle),

and the same below. With L = log(1 / p0), the *band* h = s sqrt(L (b - a) / 2) is left upwards with
probability at most p0. The same principle for a line: if the walk is y0 below a straight line at a
and y1 below it at b, then

    P(the walk ever reaches the line between) <= exp(-2 y0 y1 / (s^2 (b - a))).

The difference of two independent walks that are known at a and b is such a walk with s^2 doubled.
So two efficiencies are compared: "the mean of one arm is less than theta above that of another one"
says that the difference of their sums is below the line r theta.

A sum of m bridges (of any clocks) X has E sup X <= sum of sqrt(pi / 8) s sqrt(b - a) and leaves E
sup X + u with probability at most exp(-u^2 / (2 v)), v its largest variance (Borell, Tsirelson,
Ibragimov, Sudakov; e.g. Adler and Taylor 2007, Theorem 2.1.1); s^2 (b - a) / 4 is the largest
variance of one bridge. EECB's sums of efficiencies are bounded that way, once for every choice of
the arms that may attain them; variances add up over independent walks, deviations over the dims of
a group if dims depend on each other.

A mean S(r) / r lies between the chord's value plus and minus the band, divided by r; both are
monotone in r. The radius decreases, so a test that cannot fire with these bounds and the radius at
the end of a window fires at no round of it. That is all that is asked of a radius: those named in
the library decrease.

The error. The algorithm's output is a function of the array of walks. The array is revealed in an
order that depends on what was seen, each point from its exact conditional law given all that was
revealed before: the array has the right law. The engine's output differs from the algorithm's only
if some certificate is false. Each holds with conditional probability at least 1 - p0 given what was
revealed when it was made, so the probability that any fails is at most the expectation of p0 times
their number; that bounds the total variation distance to the exact law. Counted are, for every
revealed point, the two bands of the two gaps that it makes. Of a comparison of two walks its own
probability counts, which is nearly always far less than what is asked: so p0 may be larger there by
a factor exp(LOOSER). Once a run has risked half of the tolerance, p0 is less for what follows
(`guard_risk`). Rounding (normals with 53 bits, sums in double precision) is not counted.
"""

from __future__ import annotations

import math

from bestgroup.compile.records import bare
from bestgroup.drivers.jump import memory as at
from bestgroup.drivers.jump.memory import Memory

TOLERANCE = 1e-9  # the bound on the total variation distance that a run is meant to keep
ROUNDING = 1e-13  # share of a mean by which a certificate stays clear of rounding
LOOSER = 7.0  # L is less by this in comparisons of two walks
_SPARE = 8.0  # a run may use so many times the predicted number of certificates
_SURE = 1.3  # what is so many times as sure as asked is counted as if it were just that sure
_STEP = 3.0  # L is more by this after each part of the tolerance that was spent
_PART = 0.25 * TOLERANCE


def doubt_for(certificates: float) -> float:
    """Return L = log(1 / p0) such that this many certificates keep the tolerance with room to spare.

    >>> round(doubt_for(1e4), 1)
    32.0
    """
    return math.log(_SPARE * max(certificates, 1.0) / TOLERANCE)


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
    pairs = doubt - LOOSER
    m.doubt, m.band_risk = doubt, math.exp(-doubt)
    m.pair_doubt, m.sure_risk = pairs, math.exp(-_SURE * pairs)
    m.lift = math.sqrt(math.pi / (4.0 * doubt))
    for d in range(m.D):
        deviation = at.dim(m, d).deviation
        at.dim(m, d).band = deviation * math.sqrt(doubt / 2.0)
        at.dim(m, d).spread = deviation * deviation * (pairs / 2.0)


@bare
def add_risk(m: Memory, times: float) -> None:
    """Count the probability exp(-times L) that a comparison of a pair is wrong, or more."""
    if times < _SURE:
        m.spent += math.exp(-m.pair_doubt * times)
    else:
        m.spent += m.sure_risk

"""The answer that `adaptive` expects when its warm-up ends, and what it lets claims have of delta.

Each group is believed to be out if the least lead of some rival, with half of epsilon taken off, is
positive, and to be in otherwise; z is by how many standard errors the largest of these differs from 0.
Groups stand in an order: those believed to be out first, then by z^2, largest first, in whole steps
(2^-20) so that equal ones stay equal, then by number. With p = exp(-z^2 / 2) / (2 + 2.5 z) about how
likely a belief is wrong and e their sum, there is an expected answer if e < 1. Then, with b_0 = .88 (1 -
e^3) and r = 1 - b_0, b_1 = min(.3 r, b_0) and b_2 = min(.1 r, b_1); group i's own share is u_i = .6 r (.2
/ N + .8 p_i / e). Claims against a belief have u_i; those as is believed have u_i + b_h, b_h = 0 from h =
3 on, where claims against beliefs decide h groups before i in the order.

A decision for which there are claims stands, whatever comes later, if it puts a group out against the
belief; if all groups before it in the order are decided, as well; but an acceptance only if all groups
that were believed to be out are decided, too (docs/theory.md 5.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bestgroup.proof import interval_arrays as arrays
from bestgroup.proof.goals import Status
from bestgroup.proof.interval_arrays import Intervals
from bestgroup.proof.intervals import Interval, exp, interval, sqrt
from bestgroup.proof.special import point

MOST = 128  # groups
_TIE, _STEPS, _HALF = 1e-9, 2.0**20, 0.3
_TOP, _LATER = Fraction(88, 100), (Fraction(3, 10), Fraction(1, 10))
_OWN = 1 - sum(_LATER)


class Belief(NamedTuple):
    """What is believed of a group, and how far that is from doubt."""

    out: bool
    z: Interval


class Expected:
    """An expected answer: the order of groups, and shares."""

    def __init__(self, beliefs: list[Belief], doubts: list[Interval], total: Interval) -> None:
        groups = range(len(beliefs))
        self.out = [belief.out for belief in beliefs]
        steps = [math.floor(point(belief.z) ** 2 * _STEPS + _HALF) for belief in beliefs]
        self.order = sorted(groups, key=lambda i: (not self.out[i], -steps[i], i))
        first = (1.0 - total.power(3)) * interval(_TOP)
        rest = 1.0 - first
        self.parts = [first]
        for part in _LATER:
            later = rest * interval(part)
            self.parts.append(min(later, self.parts[-1], key=point))
        even = interval(Fraction(1, 5 * len(beliefs)))
        self.own = [
            rest * interval(_OWN) * (even + interval(4) / 5 * doubt / total) for doubt in doubts
        ]
        self.against: set[int] = set()

    def note(self, claims: Iterable[tuple[bool, int]]) -> None:
        """Note which groups claims put out (True) or in, for those that nobody expected."""
        self.against = {i for out, i in claims if out != self.out[i]}

    def share(self, i: int, out: bool) -> Interval:
        """Return the share of group i for being put out, or in."""
        if out != self.out[i]:
            return self.own[i]
        before = sum(j in self.against for j in self.order[: self.order.index(i)])
        return self.own[i] + self.parts[before] if before < len(self.parts) else self.own[i]

    def standing(self, status: Status) -> Status:
        """Return the decisions that stand at any time, of those that claims give."""
        decided = {*status.inside, *status.outside}
        first = next((p for p, i in enumerate(self.order) if i not in decided), len(self.order))
        known = set(self.order[:first])
        out = [j for j in status.outside if j in known or not self.out[j]]
        settled = first >= sum(self.out)
        return Status([i for i in status.inside if settled and i in known], out, [])


def expected(margins: Intervals, errors: Intervals) -> Expected | None:
    """Return the expected answer; None if too much is in doubt.

    `margins` [N, N] has in row i the least lead of every group over i, less epsilon / 2; `errors` their
    variances.
    """
    N = len(margins.low)
    if N > MOST:
        return None
    beliefs: list[Belief] = []
    for i in range(N):
        own = margins.points()[i].copy()
        own[i] = -np.inf
        j = int(own.argmax())
        margin = Intervals(margins.low[i], margins.high[i]).at(j)
        error = Intervals(errors.low[i], errors.high[i]).at(j)
        size = margin if point(margin) >= 0.0 else -margin
        beliefs.append(Belief(point(margin) > _TIE, size / sqrt(error)))
    doubts = [doubt(belief.z) for belief in beliefs]
    total = arrays.total(arrays.array_of(doubts))
    return Expected(beliefs, doubts, total) if point(total) < 1.0 else None


def doubt(z: Interval) -> Interval:
    """Return about how likely a belief is wrong."""
    return exp(-z.power(2) / 2.0) / (2.0 + 2.5 * z)

"""From bounds of arms to bounds of what groups are worth: definitions, no statistics.

Bounds are strict. If all of them hold, an arm *counts* once it is beyond no limit by more than the
tolerance, and is *barred* once it is beyond one; the worth of a group lies between the bounds of its
arm of a certain rank among those that count, or may.
"""

from __future__ import annotations

import math
from fractions import Fraction

from bestgroup.proof.format import Proof
from bestgroup.proof.goals import Known, Status

Bounds = dict[tuple[int, int, int], float]  # by (group, arm, dim); arm number K_i: the average


def standing(proof: Proof, low: Bounds, high: Bounds, i: int) -> tuple[list[int], list[int]]:
    """Return the arms of a group that are known to count, and those that are not barred."""
    sure, left = [], []
    for j in range(proof.sizes[i]):
        within, barred = True, False
        for d, sign, at, slack in proof.limits:
            near, far = (low, high) if sign > 0 else (high, low)
            least, most = near.get((i, j, d)), far.get((i, j, d))
            barred = barred or (least is not None and sign * (Fraction(least) - at) >= 0)
            within = within and most is not None and sign * (Fraction(most) - at) <= slack
        if within:
            sure.append(j)
        if within or not barred:
            left.append(j)
    return sure, left


def known_worths(proof: Proof, low: Bounds, high: Bounds) -> Known:
    """Return the bounds of the worths of all groups."""
    lower, upper, barred = [], [], set()
    for i, rank in enumerate(proof.ranks):
        sure, left = standing(proof, low, high, i)
        if len(left) < rank:
            barred.add(i)
        ends: list[list[float]] = [[], []]
        for d in range(proof.D):
            if rank == 0:
                ends[0].append(_average(low, i, proof.sizes[i], d, -math.inf))
                ends[1].append(_average(high, i, proof.sizes[i], d, math.inf))
                continue
            least = sorted((low.get((i, j, d), -math.inf) for j in sure), reverse=True)
            most = sorted((high.get((i, j, d), math.inf) for j in left), reverse=True)
            ends[0].append(least[rank - 1] if len(least) >= rank else -math.inf)
            ends[1].append(most[rank - 1] if len(most) >= rank else -math.inf)
        lower.append(ends[0])
        upper.append(ends[1])
    return Known(lower, upper, barred)


def _average(ends: Bounds, i: int, size: int, d: int, none: float) -> float:
    """Return the bound of the average of all arms: its own, or that of their bounds, rounded outward."""
    own = ends.get((i, size, d), none)
    parts = [ends.get((i, j, d), none) for j in range(size)]
    if any(math.isinf(end) for end in parts):
        return own
    exact = sum(map(Fraction, parts), Fraction()) / size
    rounded = float(exact)
    if (Fraction(rounded) > exact) == (none < 0) and Fraction(rounded) != exact:
        rounded = math.nextafter(rounded, none)
    return max(own, rounded) if none < 0 else min(own, rounded)


def by_bounds(proof: Proof, low: Bounds, high: Bounds) -> Status:
    """Return what lower and upper bounds of arms say of the groups."""
    return proof.goal.by_bounds(proof, known_worths(proof, low, high))

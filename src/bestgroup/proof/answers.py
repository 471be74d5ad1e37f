"""From bounds of arms, or comparisons of groups, to the statuses of groups: definitions, no statistics.

Bounds are strict. If all of them hold, an arm *counts* once it is beyond no limit by more than the
tolerance, and is *barred* once it is beyond one; the worth of a group lies between the bounds of its
arm of a certain rank among those that count, or may.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from fractions import Fraction
from typing import NamedTuple

from bestgroup.proof.format import Proof

Bounds = dict[tuple[int, int, int], float]  # by (group, arm, dim); arm number K_i: the average
Compared = Callable[[int, int], bool]  # two groups


class Status(NamedTuple):
    """What follows for the groups."""

    inside: list[int]
    outside: list[int]
    not_needed: list[int]


class Known(NamedTuple):
    """What bounds of arms say of the groups, [N][D]; barred groups have too few arms that may count."""

    lower: list[list[float]]
    upper: list[list[float]]
    barred: set[int]


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
    known = known_worths(proof, low, high)
    if proof.pareto:
        return _pareto(proof, known)
    least = [weighted(proof, ends) for ends in known.lower]
    most = [weighted(proof, ends) for ends in known.upper]
    if proof.goal == "top":
        near, above = top_by_worths(proof, least, most)
        return settle_top(proof, near, above)
    return _best(proof, known.barred, least, most)


def _pareto(proof: Proof, known: Known) -> Status:
    lower, upper, N, D = known.lower, known.upper, len(known.lower), proof.D
    strong = [i for i in range(N) if min(lower[i]) > -math.inf]
    out = {
        k for k in range(N) for i in strong
        if i != k and all(a >= b for a, b in zip(lower[i], upper[k], strict=True))
    } | known.barred  # fmt: skip

    def holds(i: int, j: int) -> bool:
        return any(_at_least(lower[i][d], proof.epsilon[d], upper[j][d]) for d in range(D))

    rest = [i for i in range(N) if i not in out]
    good = [i for i in rest if not proof.limits or min(lower[i]) > -math.inf]
    inside = [i for i in good if all(i == j or holds(i, j) for j in rest)]
    return Status(inside, sorted(out), [])


def _at_least(low: float, epsilon: float, high: float) -> bool:
    """Return whether low + epsilon >= high, exactly."""
    if math.isinf(low) or math.isinf(high):
        return False
    return Fraction(low) + Fraction(epsilon) >= Fraction(high)


def _best(
    proof: Proof,
    barred: Collection[int],
    least: list[Fraction | None],
    most: list[Fraction | None],
) -> Status:
    rest = [k for k in range(len(least)) if k not in barred]
    lows = [(value, -i) for i in rest if (value := least[i]) is not None]
    highs = [(value, k) for k in rest if (value := most[k]) is not None]
    slack, behind, good = proof.slack(), set(barred), []
    # Of all others the largest decides: it is among the first two.
    first, last = sorted(lows)[-2:], sorted(highs)[-2:]
    for value, k in highs:
        if any(low >= value for low, i in first if -i != k):
            behind.add(k)
    for value, i in lows:
        unbounded = [k for k in rest if most[k] is None and k != -i]
        if not unbounded and all(value + slack >= high for high, k in last if k != -i):
            good.append((value, i))
    return settle_best(proof, sorted(behind), -max(good)[1] if good else None)


def settle_best(proof: Proof, behind: list[int], first: int | None) -> Status:
    """Return the statuses for the best group: `behind` are not the only best, `first` is good enough."""
    if first is None:
        return Status([], behind, [])
    rest = [k for k in range(len(proof.groups)) if k != first]
    if proof.epsilon[0] == 0.0:
        return Status([first], rest, [])
    return Status([first], [k for k in rest if k in behind], [k for k in rest if k not in behind])


def weighted(proof: Proof, ends: list[float]) -> Fraction | None:
    """Return sum_d w^d of the bounds, exactly; None if one is missing."""
    if any(math.isinf(end) for end in ends):
        return None
    return sum(
        (Fraction(w) * Fraction(e) for w, e in zip(proof.weights, ends, strict=True)), Fraction()
    )


def top_by_worths(
    proof: Proof, least: list[Fraction | None], most: list[Fraction | None]
) -> tuple[Compared, Compared]:
    """Return who is within the slack of whom, and who is above whom, by bounds of worths."""
    slack = proof.slack()

    def by(room: Fraction) -> Compared:
        def compared(i: int, k: int) -> bool:
            low, high = least[i], most[k]
            return low is not None and high is not None and low + room >= high

        return compared

    return by(slack), by(Fraction(0))


def settle_top(proof: Proof, near: Compared, above: Compared) -> Status:
    """Return the statuses for the m best groups.

    If the groups that the file has in are m, none of them behind one outside by more than the slack,
    they are the answer. Else a group is in if it is not behind N - m others by more than that. It is
    out if m others are above it.
    """
    N, m = len(proof.groups), proof.top
    chosen = sorted(set(proof.answer["in"]))
    rest = [k for k in range(N) if k not in chosen]

    def beaten(k: int) -> bool:
        return sum(above(i, k) for i in range(N) if i != k) >= m

    if len(chosen) == min(m, N) and all(near(i, k) for i in chosen for k in rest):
        out = rest if proof.epsilon[0] == 0.0 else [k for k in rest if beaten(k)]
        return Status(chosen, out, [k for k in rest if k not in out])
    inside = [i for i in range(N) if sum(near(i, k) for k in range(N) if k != i) >= N - m]
    return Status(inside, [k for k in range(N) if k not in inside and beaten(k)], [])

"""Proofs from bounds of single arms: shares, claims, and what they say of the groups.

A claim is [group, arm, dim, side, n, m]: after n values the mean of the arm in the dim is above m (side
0) or below m (side 1), in units in which larger is better. If all claims hold then the efficiency of a
group lies above the largest of its arms' lower bounds and, where every arm has one, below the largest
of its upper bounds.

**Shares.** "fixed": `low` and `high` are those of one lower and one upper bound. All proofs use the lower
bounds of all arms and the upper bounds of one best arm of each group in each dim, which the means fix:
A D low + N D high must not exceed 1. For the best group the lower bounds of the best group itself and the
upper bounds of the others are not used: (A - K_min) D low + D high must not. Only the shares and
precisions that the library uses are accepted, as others could have been chosen afterwards. "as they
came": arm number k in the order of the table has 1 / (2 D k (k + 1)) for each of its 2 D bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from bestgroup.proof.format import (
    Proof,
    Refused,
    check_processes,
    fraction,
    integers,
    number,
)
from bestgroup.proof.intervals import interval, log
from bestgroup.proof.observations import Observations
from bestgroup.proof.sequences import PRECISIONS, PROCESSES, SERVES, Side, corrected_count

Bounds = dict[tuple[int, int, int], float]  # by (group, arm, dim)
Tick = Callable[[int], None]  # told how many claims were checked


class Status(NamedTuple):
    """What follows for the groups."""

    inside: list[int]
    outside: list[int]
    not_needed: list[int]


def check(proof: Proof, rows: Observations, tick: Tick) -> Status:
    """Return what the claims of a proof from boxes say, once each of them is checked."""
    shares = _shares(proof, rows)
    check_processes(proof, SERVES, _check_process)
    low: Bounds = {}
    high: Bounds = {}
    for k, row in enumerate(proof.claims):
        try:
            i, j, d, side, n, m = _claim(proof, row)
        except ValueError as error:
            raise Refused("claims", str(error), k) from None
        _check_claim(proof, rows, shares, (i, j, d, side, n, m), k)
        kept = high if side else low
        if (i, j, d) in kept:
            raise Refused("claims", "there are two claims of one bound", k)
        kept[i, j, d] = m
        tick(k + 1)
    return conclude(proof, low, high)


def _claim(proof: Proof, row: list[Any]) -> tuple[int, int, int, int, int, float]:
    if len(row) != 6:
        raise ValueError("a claim must be [group, arm, dim, side, n, m]")
    i, j, d, side = integers(row, (len(proof.groups), 10**9, len(proof.dims), 2))
    (n,) = integers(row[4:], (10**15,))
    if j >= proof.sizes[i] or n < 1:
        raise ValueError("there is no such arm, or no such count")
    return i, j, d, side, n, number(row[5])


def _check_claim(
    proof: Proof,
    rows: Observations,
    shares: dict[tuple[int, int, int], Fraction],
    claim: tuple[int, int, int, int, int, float],
    k: int,
) -> None:
    i, j, d, side, n, m = claim
    columns = rows.values.get((proof.groups[i], proof.arms[i][j]))
    if columns is None or len(columns[d]) < n:
        raise Refused("claims", f"the table has fewer than {n} values of this arm", k)
    alpha = proof.delta * shares[i, j, side]
    level = log(interval(1 / alpha))
    turn = -1 if side else 1
    sign = proof.signs[d] * turn
    process = proof.method["process"][d]
    values = columns[d] if len(columns[d]) == n else columns[d][:n]
    if not PROCESSES[process["name"]](Side(values, sign, turn * m, proof.noise[d]), level, process):
        raise Refused("claims", f"the {process['name']} process has not reached its level", k)


def _shares(proof: Proof, rows: Observations) -> dict[tuple[int, int, int], Fraction]:
    """Return the share of every bound, by (group, arm, side); refuses if they exceed 1 together."""
    N, D, A = len(proof.groups), len(proof.dims), proof.total
    arms = [(i, j) for i in range(N) for j in range(proof.sizes[i])]
    try:
        budget = proof.method["budget"]
        if budget == "as they came":
            places = {(proof.groups[i], proof.arms[i][j]): (i, j) for i, j in arms}
            came = [places[key] for key in rows.order]
            return {
                (i, j, side): Fraction(1, 2 * D * k * (k + 1))
                for k, (i, j) in enumerate(came, start=1)
                for side in (0, 1)
            }
        if budget != "fixed":
            raise ValueError(f"there is no budget {budget!r}")
        low, high = fraction(proof.method["low"]), fraction(proof.method["high"])
    except (KeyError, TypeError, ValueError) as error:
        raise Refused("shares", f"the shares cannot be read ({error})") from None
    used = A * D * low + N * D * high
    if not proof.pareto:
        used = (A - min(proof.sizes)) * D * low + D * high
    if used > 1:
        raise Refused("shares", f"the shares add up to {used} of delta")
    usual = [Fraction(1, D * (A + N)), Fraction(1, 2 * A * D)]
    if not proof.pareto:
        usual.append(Fraction(1, D * (A - min(proof.sizes) + 1)))
    if low != high or low not in usual:
        raise Refused("parameters", "the shares are not among those that are fixed beforehand")
    return {(i, j, side): (high if side else low) for i, j in arms for side in (0, 1)}


def _check_process(proof: Proof, process: dict[str, Any]) -> None:
    """Refuse parameters that are not fixed beforehand."""
    own = {"mixture": {"precisions"}, "fixed": {"count"}}.get(process["name"], set())
    if own != set(process) - {"name", "fixed_at"}:
        raise ValueError("it has parameters that are not its own")
    if process["name"] == "mixture" and process["precisions"] not in PRECISIONS:
        raise ValueError("its precisions are not among those that are fixed beforehand")
    if process["name"] == "fixed" and process["count"] != corrected_count(proof):
        raise ValueError("the count is not that of corrected uniform sampling")


def conclude(proof: Proof, low: Bounds, high: Bounds) -> Status:
    """Return what lower and upper bounds of arms say of the groups."""
    N, D = len(proof.groups), len(proof.dims)
    lower = [[-math.inf] * D for _ in range(N)]
    for (i, _, d), m in low.items():
        lower[i][d] = max(lower[i][d], m)
    upper = [
        [max(high.get((i, j, d), math.inf) for j in range(proof.sizes[i])) for d in range(D)]
        for i in range(N)
    ]
    return _pareto(proof, lower, upper) if proof.pareto else _best(proof, lower, upper)


def _pareto(proof: Proof, lower: list[list[float]], upper: list[list[float]]) -> Status:
    N, D = len(lower), len(proof.dims)
    strong = [i for i in range(N) if min(lower[i]) > -math.inf]
    out = {
        k for k in range(N) for i in strong
        if i != k and all(a >= b for a, b in zip(lower[i], upper[k], strict=True))
    }  # fmt: skip

    def holds(i: int, j: int) -> bool:
        return any(_at_least(lower[i][d], proof.epsilon[d], upper[j][d]) for d in range(D))

    rest = [i for i in range(N) if i not in out]
    inside = [i for i in rest if all(i == j or holds(i, j) for j in rest)]
    return Status(inside, sorted(out), [])


def _at_least(low: float, epsilon: float, high: float) -> bool:
    """Return whether low + epsilon >= high, exactly."""
    if math.isinf(low) or math.isinf(high):
        return False
    return Fraction(low) + Fraction(epsilon) >= Fraction(high)


def _best(proof: Proof, lower: list[list[float]], upper: list[list[float]]) -> Status:
    least = [_weighted(proof, ends) for ends in lower]
    most = [_weighted(proof, ends) for ends in upper]
    slack = Fraction(proof.epsilon[0]) * sum(map(Fraction, proof.weights))
    known = [i for i, value in enumerate(least) if value is not None]
    behind, good = [], []
    for k, value in enumerate(most):
        if value is not None and any(i != k and least[i] >= value for i in known):  # type: ignore[operator]
            behind.append(k)
    for i in known:
        others = [most[k] for k in range(len(most)) if k != i]
        if all(value is not None and least[i] + slack >= value for value in others):  # type: ignore[operator]
            good.append(i)
    return settle_best(proof, behind, max(good, key=lambda i: least[i]) if good else None)  # type: ignore[arg-type, return-value]


def settle_best(proof: Proof, behind: list[int], first: int | None) -> Status:
    """Return the statuses for the best group: `behind` are not the only best, `first` is good enough."""
    if first is None:
        return Status([], behind, [])
    rest = [k for k in range(len(proof.groups)) if k != first]
    if proof.epsilon[0] == 0.0:
        return Status([first], rest, [])
    return Status([first], [k for k in rest if k in behind], [k for k in rest if k not in behind])


def _weighted(proof: Proof, ends: list[float]) -> Fraction | None:
    """Return sum_d w^d of the bounds, exactly; None if one is missing."""
    if any(math.isinf(end) for end in ends):
        return None
    return sum(
        (Fraction(w) * Fraction(e) for w, e in zip(proof.weights, ends, strict=True)), Fraction()
    )

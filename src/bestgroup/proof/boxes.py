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

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bestgroup.proof.answers import Bounds, by_bounds
from bestgroup.proof.format import (
    Proof,
    Refused,
    check_processes,
    fraction,
    integers,
    number,
)
from bestgroup.proof.goals import Status
from bestgroup.proof.intervals import interval, log
from bestgroup.proof.noise import SUB_GAUSSIAN
from bestgroup.proof.observations import Observations
from bestgroup.proof.sequences import PRECISIONS, PROCESSES, SERVES, WIDE, Side, corrected_count

BOX_CLAIM = 6  # numbers of a claim
Tick = Callable[[int], None]  # told how many claims were checked
Shares = dict[tuple[int, int], Fraction]  # of the bounds of each arm


def check(proof: Proof, rows: Observations, tick: Tick) -> Status:
    """Return what the claims of a proof from boxes say, once each of them is checked."""
    bounds = BoxClaims(proof, rows, proof.method)
    for k, row in enumerate(proof.claims):
        bounds.take(row, k)
        tick(k + 1)
    return by_bounds(proof, bounds.low, bounds.high)


class BoxClaims:
    """Bounds of single arms, and of averages of all arms of a group, that have been checked.

    `shares` are those of lower and of upper bounds, where the method does not say them.
    """

    def __init__(
        self,
        proof: Proof,
        rows: Observations,
        method: dict[str, Any],
        shares: tuple[Shares, Shares] | None = None,
    ) -> None:
        self.proof, self.rows, self.method = proof, rows, method
        self.shares = (_shares(proof, rows, method),) * 2 if shares is None else shares
        check_processes(proof, SERVES, _check_process, method)
        self.low: Bounds = {}
        self.high: Bounds = {}

    def take(self, row: list[Any], k: int) -> None:
        """Check a claim and keep its bound; refuses what is not proven."""
        try:
            i, j, d, side, n, m = _claim(self.proof, row)
        except ValueError as error:
            raise Refused("claims", str(error), k) from None
        kept = self.high if side else self.low
        if (i, j, d) in kept:
            raise Refused("claims", "there are two claims of one bound", k)
        self._check(i, j, d, side, n, m, k)
        kept[i, j, d] = m

    def _check(self, i: int, j: int, d: int, side: int, n: int, m: float, k: int) -> None:
        proof = self.proof
        share = self.shares[side].get((i, j), Fraction(0))
        if share <= 0:
            raise Refused("claims", "there is no share of delta for this bound", k)
        level = log(interval(1 / (proof.delta * share)))
        turn = -1 if side else 1
        process = self.method["process"][d]
        average = j == proof.sizes[i]
        values: list[float] = []
        for arm in range(j) if average else (j,):
            columns = self.rows.values.get((proof.groups[i], proof.arms[i][arm]))
            if columns is None or len(columns[d]) < n:
                raise Refused("claims", f"the table has fewer than {n} values of this arm", k)
            values += columns[d] if len(columns[d]) == n else columns[d][:n]
        if average:
            process = {"name": "mixture", "precisions": WIDE}
        side_ = Side(values, proof.signs[d] * turn, turn * m, proof.noise[d])
        if not PROCESSES[process["name"]](side_, level, process):
            raise Refused("claims", f"the {process['name']} process has not reached its level", k)


def _claim(proof: Proof, row: list[Any]) -> tuple[int, int, int, int, int, float]:
    if len(row) != BOX_CLAIM:
        raise ValueError("a claim must be [group, arm, dim, side, n, m]")
    i, j, d, side = integers(row, (len(proof.groups), 10**9, len(proof.dims), 2))
    (n,) = integers(row[4:], (10**15,))
    average = proof.worth.kind == "mean" and j == proof.sizes[i]
    if not (j < proof.sizes[i] or average) or n < 1:
        raise ValueError("there is no such arm, or no such count")
    return i, j, d, side, n, number(row[5])


def _shares(proof: Proof, rows: Observations, method: dict[str, Any]) -> Shares:
    """Return the share of the bounds of every arm; refuses if they exceed 1 together."""
    arms = [(i, j) for i, size in enumerate(proof.sizes) for j in range(size)]
    try:
        budget = method["budget"]
        if budget == "as they came":
            places = {(proof.groups[i], proof.arms[i][j]): (i, j) for i, j in arms}
            came = [places[key] for key in rows.order]
            dims = len(proof.dims)
            return {arm: Fraction(1, 2 * dims * k * (k + 1)) for k, arm in enumerate(came, start=1)}
        if budget == "room":
            return dict.fromkeys(arms, _share_of_room(proof, method["room"]))
        if budget != "fixed":
            raise ValueError(f"there is no budget {budget!r}")
        low, high = fraction(method["low"]), fraction(method["high"])
        sums = fraction(method.get("sums", [0, 1]))
    except (KeyError, TypeError, ValueError) as error:
        raise Refused("shares", f"the shares cannot be read ({error})") from None
    if proof.gone:
        raise Refused("shares", "where arms may leave, delta is for all arms that may take part")
    part = 2 if method is not proof.method else 1
    used = part * used_by_bounds(proof, low, high, sums, part)
    if used > 1:
        raise Refused("shares", f"the shares add up to {used} of delta")
    if low != high or (low, sums) not in usual_shares(proof, part):
        raise Refused("parameters", "the shares are not among those that are fixed beforehand")
    shares = dict.fromkeys(arms, low)
    if sums > 0:
        shares |= {(i, size): sums for i, size in enumerate(proof.sizes)}
    return shares


def _share_of_room(proof: Proof, room: Any) -> Fraction:
    """Return the share of a bound where delta is for so many arms, those that may come included."""
    if proof.total + len(proof.gone) > integers([room], (10**9,))[0]:
        raise ValueError("more arms took part than delta is for")
    return Fraction(1, 2 * len(proof.dims) * room)


def used_by_bounds(
    proof: Proof, low: Fraction, high: Fraction, sums: Fraction, part: int
) -> Fraction:
    """Return the share of delta of all bounds that an error can rest on (docs/theory.md 2.4, 6, 11)."""
    N, D, A = len(proof.groups), proof.D, proof.total
    if proof.worth.kind == "mean":
        return 2 * D * A * low + 2 * D * N * sums
    if proof.limits:
        return (A * len(proof.limits) if part == 2 else _bounds_of_limits(proof)) * low
    lower, upper = proof.goal.bounds_used(proof)
    return lower * low + upper * high


def _bounds_of_limits(proof: Proof) -> int:
    """Return how many bounds an error can rest on where arms must keep limits."""
    D, L = proof.D, len(proof.limits)
    either = any(bound.tolerance > 0 for bound in proof.limits)
    return (max(D + L, 2 * D) if either else D + L) * proof.total + D * sum(proof.ranks)


def usual_shares(proof: Proof, part: int) -> list[tuple[Fraction, Fraction]]:
    """Return the shares of bounds of arms, and of averages, that are fixed beforehand.

    `part` is 2 where other claims have half of delta.
    """
    N, D, A, none = len(proof.groups), proof.D, proof.total, Fraction(0)
    if proof.worth.kind == "mean":
        found = [(Fraction(1, 2 * D * A), none)]
        if proof.independent_arms and all(n.kind in SUB_GAUSSIAN for n in proof.noise):
            found = [
                (Fraction(1, 4 * D * A), Fraction(1, 4 * D * N)),
                (none, Fraction(1, 2 * D * N)),
            ]
        return found
    if proof.limits and part == 2:  # only what tells which arms count
        return [(Fraction(1, 2 * A * len(proof.limits)), none)]
    if proof.limits:
        return [(Fraction(1, _bounds_of_limits(proof)), none)]
    usual = [Fraction(1, part * D * (A + N))]
    if part == 1:
        usual += [Fraction(1, 2 * A * D), Fraction(1, sum(proof.goal.bounds_used(proof)))]
    return [(share, none) for share in usual]


def _check_process(proof: Proof, process: dict[str, Any]) -> None:
    """Refuse parameters that are not fixed beforehand."""
    own = {"mixture": {"precisions"}, "fixed": {"count"}}.get(process["name"], set())
    if own != set(process) - {"name", "fixed_at"}:
        raise ValueError("it has parameters that are not its own")
    if process["name"] == "mixture" and process["precisions"] not in PRECISIONS:
        raise ValueError("its precisions are not among those that are fixed beforehand")
    if process["name"] == "fixed" and process["count"] != corrected_count(proof):
        raise ValueError("the count is not that of corrected uniform sampling")

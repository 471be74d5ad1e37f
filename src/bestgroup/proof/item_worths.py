"""Proofs on shared items with limits, for other worths, and of the m best groups (docs/theory.md 9.6).

A *unit* of a group is an arm, for Pareto groups; all its arms, with their average, where that is the
worth; or, with weights, a selection, an arm for each dim, with one value an item. A group is worth its
unit of a certain rank. Claims are

- [kind, i, u, j, v, q, t]: by the first t items unit u of i is above unit v of j in value q (kind 0),
  or not below it by more than the slack (kind 1);
- [kind, i, j, l, t]: by these, arm j of i keeps limit l up to its tolerance (kind 2), or breaks it (3).

Units of the order may be clusters of items; these are meant where `places` is said here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from bestgroup.proof.boxes import Tick
from bestgroup.proof.format import Proof, Refused, integers
from bestgroup.proof.goals import Status
from bestgroup.proof.item_units import Units, units_of
from bestgroup.proof.items import Difference, Table, proves, reach_of, rule_of, table_of
from bestgroup.proof.observations import Observations

OVER, WON, KEEPS, BREAKS = range(4)
_ON_PAIRS, _ON_ARMS = 7, 5  # numbers of a claim
_MANY = 10**12

Unit = tuple[tuple[int, ...], ...]  # the arms whose average is its value in each dim
Above = set[tuple[int, int, int, int, int]]  # (i, u, j, v, q)
Kept = set[tuple[int, int, int]]  # (i, j, l)


class Contest(NamedTuple):
    """The units of all groups, and how delta is shared."""

    units: list[list[Unit]]
    ranks: list[int]
    weights: list[Fraction] | None  # of dims, where a unit has one value an item
    slack: list[Fraction]  # for each value
    shares: tuple[dict[tuple[int, int], Fraction], dict[tuple[int, int], Fraction]]  # over, won
    limit: Fraction  # the share of a claim on a limit


def contest_of(proof: Proof) -> Contest:
    """Return the units of a problem; refuses what has none."""
    N, D = len(proof.groups), proof.D
    weights = [Fraction(w) for w in proof.weights] or None
    units, ranks = [], list[int]()
    for size, rank in zip(proof.sizes, proof.ranks, strict=True):
        if rank == 0:
            units.append([(tuple(range(size)),) * D])
        elif weights is None:
            units.append([((j,),) * D for j in range(size)])
        elif D > 1 and rank not in (1, size):
            raise Refused("format", "with weights arms of a certain rank are no units")
        else:
            chosen = itertools.product(range(size), repeat=D)
            units.append([tuple((j,) for j in arms) for arms in chosen])
        ranks.append(1 if rank in (0, 1) else len(units[-1]) if rank == size else rank)
    spare = [len(own) - rank + 1 for own, rank in zip(units, ranks, strict=True)]
    part = Fraction(1, 2) if proof.limits else Fraction(1)
    over, won = dict[tuple[int, int], Fraction](), dict[tuple[int, int], Fraction]()
    m = proof.goal.m
    slack = [Fraction(e) for e in proof.epsilon] if weights is None else [proof.goal.slack()]
    for i, j in itertools.permutations(range(N), 2):
        if weights is None:
            over[i, j] = part / (N * ranks[j] * (sum(spare) - spare[j]))
            won[i, j] = part / (N * D * spare[i] * ranks[j])
        else:
            both = part / (max(m * (N - m), 1) * spare[i] * ranks[j])
            over[i, j], won[i, j] = (both / 4, both * 3 / 4) if slack[0] else (both, both)
    limit = Fraction(1, 2 * proof.total * max(len(proof.limits), 1))
    return Contest(units, ranks, weights, slack, (over, won), limit)


class Judge:
    """What the claims of a proof are checked by."""

    def __init__(self, proof: Proof, rows: Observations) -> None:
        self.proof, self.contest = proof, contest_of(proof)
        self.places: Units = units_of(proof, rows)
        self.rule = rule_of(proof, self.places)
        self.table: Table = table_of(proof, rows, self.places)

    def value(self, i: int, unit: Unit, q: int, t: int) -> list[Fraction]:
        """Return value q of a unit on the first t places, which all its arms must have passed."""
        proof, weights = self.proof, self.contest.weights
        total = [Fraction(0)] * t
        for d in [q] if weights is None else range(proof.D):
            factor = proof.signs[d] * (Fraction(1) if weights is None else weights[d])
            for j in unit[d]:
                rows = self.table[i, j]
                if len(rows) < t:
                    raise ValueError("an arm has passed fewer items")
                for place in range(t):
                    total[place] += factor * Fraction(rows[place][d]) / len(unit[d])
        return total

    def reach(self, q: int) -> Fraction:
        """Return by how much two units can differ on an item."""
        weights = self.contest.weights
        if weights is None:
            return reach_of(self.proof, q)
        return sum((w * reach_of(self.proof, d) for d, w in enumerate(weights)), Fraction(0))

    def above(self, kind: int, pair: tuple[int, int, int, int, int], t: int) -> bool:
        """Return whether a claim on two units is proven."""
        i, u, j, v, q = pair
        contest = self.contest
        one, two = contest.units[i][u], contest.units[j][v]
        values = [
            a - b for a, b in zip(self.value(i, one, q, t), self.value(j, two, q, t), strict=True)
        ]
        share = contest.shares[kind][i, j]
        shift = contest.slack[q] if kind == WON else Fraction(0)
        return self._proves(values, shift, self.reach(q), share, kind == OVER)

    def on_limit(self, kind: int, place: tuple[int, int, int], t: int) -> bool:
        """Return whether a claim on an arm and a limit is proven."""
        i, j, number = place
        proof, limit = self.proof, self.proof.limits[number]
        d, sign, noise = limit.dim, limit.sign, proof.noise[limit.dim]
        reach_of(proof, d)  # it must have a range
        ends = [proof.signs[d] * Fraction(end) for end in (noise.low, noise.high)]
        middle, half = (ends[0] + ends[1]) / 2, abs(ends[1] - ends[0]) / 2
        rows = self.table[i, j]
        if len(rows) < t:
            raise ValueError("an arm has passed fewer items")
        sizes = [len(own) for own in self.places.members[:t]]
        pairs = zip(rows[:t], sizes, strict=True)
        values = [sign * (proof.signs[d] * Fraction(row[d]) - middle * n) for row, n in pairs]
        edge = sign * (limit.at - middle)
        if kind == BREAKS:
            return self._proves(values, -edge, half, self.contest.limit, True)
        values = [-x for x in values]
        return self._proves(values, edge + limit.tolerance, half, self.contest.limit, False)

    def _proves(
        self,
        values: list[Fraction],
        shift: Fraction,
        reach: Fraction,
        share: Fraction,
        strict: bool,
    ) -> bool:
        need = 1 / (self.proof.delta * share)
        return proves(
            self.rule, Difference(*self.places.placed(values, shift, reach), need, strict)
        )


def check(proof: Proof, rows: Observations, tick: Tick) -> Status:
    """Return what the claims on units say, once each of them is checked."""
    if proof.goal.maps or proof.document["version"] < 3 or proof.gone:
        raise Refused("format", "this method is not for maps of weights, nor in this version")
    judge = Judge(proof, rows)
    above: tuple[Above, Above] = (set(), set())
    kept: tuple[Kept, Kept] = (set(), set())
    for c, row in enumerate(proof.claims):
        try:
            kind, place, t = _claim(proof, judge.contest, row)
            check_of = judge.above if kind in (OVER, WON) else judge.on_limit
            good = check_of(kind, place, t)
        except ValueError as error:
            raise Refused("claims", str(error), c) from None
        if not good:
            raise Refused("claims", "the pair process has not reached its level", c)
        if kind in (OVER, WON):
            above[kind].add(place)
        else:
            kept[kind - KEEPS].add(place)
        tick(c + 1)
    return conclude(proof, judge.contest, above, kept)


def _claim(proof: Proof, contest: Contest, row: list[Any]) -> tuple[int, Any, int]:
    """Return the kind of a claim, what it is about, and how many places it counts."""
    N, (kind,) = len(proof.groups), integers(row, (4,))
    if len(row) != (_ON_PAIRS if kind in (OVER, WON) else _ON_ARMS):
        raise ValueError("a claim must be [kind, i, u, j, v, q, t] or [kind, i, j, l, t]")
    if kind in (OVER, WON):
        i, u, j, v, q, t = integers(row[1:], (N, _MANY, N, _MANY, len(contest.slack), _MANY))
        there = u < len(contest.units[i]) and v < len(contest.units[j])
        if i == j or not there or t < 1:
            raise ValueError("there is no such pair of units of two groups, or no item")
        return kind, (i, u, j, v, q), t
    i, j, number, t = integers(row[1:], (N, _MANY, len(proof.limits), _MANY))
    if j >= proof.sizes[i] or t < 1:
        raise ValueError("there is no such arm, or no item")
    return kind, (i, j, number), t


class Standing(NamedTuple):
    """Of each group: the units that are known to count, and those that are not barred."""

    sure: list[list[int]]
    left: list[list[int]]


def standing(proof: Proof, contest: Contest, kept: tuple[Kept, Kept]) -> Standing:
    """Return which units count by claims on limits."""
    numbers, found = range(len(proof.limits)), Standing([], [])
    for i, own in enumerate(contest.units):
        arms = range(proof.sizes[i])
        counts = [all((i, j, n) in kept[0] for n in numbers) for j in arms]
        barred = [not counts[j] and any((i, j, n) in kept[1] for n in numbers) for j in arms]
        members = [{j for dim in unit for j in dim} for unit in own]
        found.sure.append([u for u, has in enumerate(members) if all(counts[j] for j in has)])
        found.left.append([u for u, has in enumerate(members) if not any(barred[j] for j in has)])
    return found


def conclude(
    proof: Proof, contest: Contest, above: tuple[Above, Above], kept: tuple[Kept, Kept]
) -> Status:
    """Return the statuses."""
    known, ranks, N = standing(proof, contest, kept), contest.ranks, len(proof.groups)

    def covers(kind: int, i: int, j: int) -> Iterator[bool]:
        """Yield for each value whether the worth of i is above that of j, or not below by the slack."""
        for q in range(len(contest.slack)):
            free = 0
            for v in known.left[j]:
                over = sum((i, u, j, v, q) in above[kind] for u in known.sure[i])
                free += over < ranks[i]
            yield len(known.sure[i]) >= ranks[i] and free < ranks[j]

    pairs = list(itertools.permutations(range(N), 2))
    beats = {pair for pair in pairs if all(covers(OVER, *pair))}
    holds = {pair for pair in pairs if any(covers(WON, *pair))}
    if proof.goal.several:
        near = beats | holds
        return proof.goal.settle_compared(
            proof, lambda i, k: (i, k) in near, lambda i, k: (i, k) in beats
        )
    lost = {i for i in range(N) if len(known.left[i]) < ranks[i]}
    out = lost | {j for _, j in beats}
    # Where what counts may differ between comparisons, who is out must be compared with, too.
    aside = lost if any(limit.tolerance > 0 for limit in proof.limits) else out
    safe = [
        i
        for i in range(N)
        if i not in out
        and len(known.sure[i]) >= ranks[i]
        and all(j == i or j in aside or (i, j) in holds for j in range(N))
    ]
    return proof.goal.of_safe(proof, safe, sorted(out))

"""Proofs of maps of weights on shared items, by bounds of single arms (docs/theory.md 9.6).

A claim is [i, j, d, side, t, m]: by the first t items of the order the mean of arm j of i in dim d is above
m (side 0) or below it (side 1), by the process of one arm against the middle of its range. All bets are
fixed, so that refuted means are a half-line, and m may be any number. On clusters of a population that may
differ in size it bets on the sums over clusters, less m for each item.
"""

from __future__ import annotations

from fractions import Fraction

from bestgroup.proof.answers import Bounds, by_bounds
from bestgroup.proof.boxes import Tick
from bestgroup.proof.format import Proof, Refused, integers, number
from bestgroup.proof.goals import Status
from bestgroup.proof.item_units import units_of
from bestgroup.proof.items import Difference, proves, reach_of, rule_of, table_of
from bestgroup.proof.observations import Observations

PROCESS = {"largest": 8.0, "ratio": 1.6, "main": 16, "cap": 0.95, "plug": 0.0, "fixed_at": 0}
_MANY = 10**12


class Judge:
    """What the claims of a proof are checked by."""

    def __init__(self, proof: Proof, rows: Observations) -> None:
        self.proof, self.places = proof, units_of(proof, rows)
        if self.places.within and proof.document["version"] < 4:
            raise Refused("format", "this version has no such bounds on clusters of a population")
        self.rule = rule_of(proof, self.places, PROCESS)
        self.table = table_of(proof, rows, self.places)
        self.share = Fraction(1, proof.D * (proof.total + len(proof.groups)))

    def middle(self, d: int) -> tuple[Fraction, Fraction]:
        """Return the middle of the range of y, and half of its width."""
        reach_of(self.proof, d)  # it must have a range
        noise, sign = self.proof.noise[d], self.proof.signs[d]
        low, high = Fraction(noise.low), Fraction(noise.high)
        return sign * (low + high) / 2, (high - low) / 2

    def values(self, i: int, j: int, d: int, t: int) -> list[Fraction]:
        """Return y less the middle of its range on the first t places."""
        rows, middle = self.table[i, j], self.middle(d)[0]
        if len(rows) < t:
            raise ValueError("an arm has passed fewer items")
        pairs = zip(rows[:t], self.places.members, strict=False)
        return [self.proof.signs[d] * Fraction(row[d]) - middle * len(own) for row, own in pairs]

    def holds(self, i: int, j: int, d: int, side: int, t: int, m: float) -> bool:
        """Return whether a bound is proven."""
        turn, (middle, half) = -1 if side else 1, self.middle(d)
        values = [turn * x for x in self.values(i, j, d, t)]
        shift, need = turn * (middle - Fraction(m)), 1 / (self.proof.delta * self.share)
        if not self.places.within:
            return proves(
                self.rule, Difference(*self.places.placed(values, shift, half), need, True)
            )
        # Bets on sums less m for each item, in a range that has them for every m that may be.
        if abs(shift) > half:
            return shift > 0
        sizes = [len(own) for own in self.places.members[:t]]
        sums = [x + n * shift for x, n in zip(values, sizes, strict=True)]
        reach = 2 * half * self.places.largest
        return proves(self.rule, Difference(sums, Fraction(0), reach, need, True))


def check(proof: Proof, rows: Observations, tick: Tick) -> Status:
    """Return what bounds on shared items say, once each of them is checked."""
    if not proof.goal.maps or not proof.plain or proof.gone:
        raise Refused("format", "this method is for maps of weights")
    judge, N = Judge(proof, rows), len(proof.groups)
    ends: tuple[Bounds, Bounds] = ({}, {})
    for c, row in enumerate(proof.claims):
        try:
            if len(row) != 6:
                raise ValueError("a claim must be [group, arm, dim, side, t, m]")
            i, j, d, side, t = integers(row, (N, _MANY, proof.D, 2, _MANY))
            m = number(row[5])
            if j >= proof.sizes[i] or t < 1 or (i, j, d) in ends[side]:
                raise ValueError("there is no such arm, no item, or a claim of this bound already")
            good = judge.holds(i, j, d, side, t, m)
        except (ValueError, OverflowError) as error:
            raise Refused("claims", str(error), c) from None
        if not good:
            raise Refused("claims", "the wealth has not reached its level", c)
        ends[side][i, j, d] = m
        tick(c + 1)
    return by_bounds(proof, *ends)

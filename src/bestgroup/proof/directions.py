"""Proofs of a map of weights: bounds of differences of groups in fixed directions (docs/theory.md 10).

Leaders, moments and evidence are those of `selections`; the directions are the corners of the cells of
the set of weights, one of which takes the place of the weights. A claim is [moment, corner, g, x, y,
ranks]: at the moment part g of the process, at the tilt y, has refuted L_s + x <= L_s' for every selection
s' of a box. Where boxes hold all selections of the rival, R_i . v - R_k . v is above -x, the largest x.

**Shares.** Every triple of a corner and two groups has one, "equal" or "scouted", times those of the arms
of the leader in the dims that have weight: 1 / K_i each, or by the values before counting began.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from bestgroup.proof.answers import known_worths
from bestgroup.proof.boxes import BOX_CLAIM, BoxClaims, Tick
from bestgroup.proof.format import Proof, Refused, integers, number
from bestgroup.proof.goals import Status
from bestgroup.proof.intervals import Interval, interval, log
from bestgroup.proof.map_goal import Bound, Map
from bestgroup.proof.noise import SCALED, SYMMETRIC
from bestgroup.proof.observations import Observations
from bestgroup.proof.selection_evidence import (
    NORMAL,
    PRECISIONS,
    Box,
    Compared,
    Leader,
    Moment,
    View,
    fineness,
)
from bestgroup.proof.selections import read_box, read_leaders, read_moments, tiles
from bestgroup.proof.shares_of_arms import arm_share

CORNER_CLAIM = 5  # numbers of a claim, before the ranks


class Claim(NamedTuple):
    """What a row says."""

    moment: int
    corner: int
    part: int
    room: Fraction
    tilt: float
    box: Box


def check(proof: Proof, rows: Observations, tick: Tick) -> Status:
    """Return what claims in fixed directions say, once each of them is checked."""
    goal = proof.goal
    if not isinstance(goal, Map) or not proof.independent_arms:
        raise Refused("format", "directions are for maps of weights and independent arms")
    try:
        asked = Directions(proof, rows, goal)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise Refused("parameters", f"leaders or moments cannot be read ({error})") from None
    bounds = None
    if asked.part < 1:
        bounds = BoxClaims(proof, rows, proof.method.get("boxes", {}))
    for c, row in enumerate(proof.claims):
        tick(c + 1)
        if bounds is not None and len(row) == BOX_CLAIM:
            bounds.take(row, c)
            continue
        try:
            good = asked.take(row)
        except (ValueError, ZeroDivisionError, IndexError) as error:
            raise Refused("claims", str(error), c) from None
        if not good:
            raise Refused("claims", "the e-process has not reached its level", c)
    return goal.settle_map(proof, asked.bound(bounds))


class Directions:
    """Levels of bounds in all directions, and the bounds that have been checked."""

    def __init__(self, proof: Proof, rows: Observations, goal: Map) -> None:
        self.proof, self.rows, self.goal = proof, rows, goal
        if any(noise.kind in SYMMETRIC for noise in proof.noise):
            raise ValueError("there is no such process for normal noise of unknown variance")
        if proof.method["process"] != {"name": "normal", "fixed_at": 0}:
            raise ValueError("the process is not the one of this noise")
        self.leaders = read_leaders(proof, ("equal", "scouted"))
        self.moments, self.corners = read_moments(proof), goal.directions()
        self.scouted = proof.method["budget"] == "scouted"
        # Bounds of single arms have half of delta where values have a range.
        self.part = Fraction(1, 1 if all(n.kind in SCALED for n in proof.noise) else 2)
        self.equal = self._equal()
        self.rest, self.some = self._shares() if self.scouted else (Fraction(0), {})
        expected = self._expected() if self.scouted else None
        fine = fineness(proof)
        self.by = [Compared(v, NORMAL, fine, expected) for v in self.corners]
        self.parts = 1 if self.scouted else len(PRECISIONS)
        self.view: tuple[tuple[int, int], View] | None = None
        self.boxes: dict[tuple[int, int], list[tuple[Box, Fraction]]] = {}

    def _equal(self) -> list[Fraction]:
        """Return the share of a comparison at each corner: half of all is for the vertices."""
        N, own = len(self.proof.groups), self.goal.cells.vertices()
        pairs, rest = max(N * (N - 1), 1), len(self.corners) - len(own)
        half = Fraction(1, 2 if rest else 1)
        return [half / ((len(own) if c in own else rest) * pairs) for c in range(len(self.corners))]

    def _shares(self) -> tuple[Fraction, dict[tuple[int, int, int], Fraction]]:
        """Return the shares that scouting gave; refuses if they exceed 1 together."""
        given, N = self.proof.method["shares"], len(self.proof.groups)
        rest, some = Fraction(number(given["rest"])), dict[tuple[int, int, int], Fraction]()
        for v, i, k, share in given["some"]:
            v, i, k = integers([v, i, k], (len(self.corners), N, N))
            some[v, i, k] = Fraction(number(share))
        if any(i == k for _, i, k in some) or len(some) != len(given["some"]):
            raise ValueError("a comparison is of two groups, and has one share")
        used = sum(some.values(), (len(self.corners) * N * (N - 1) - len(some)) * rest)
        if min([rest, *some.values()]) < 0 or used > 1:
            raise ValueError("the shares of comparisons add up to more than delta")
        return rest, some

    def _expected(self) -> Interval:
        """Return the mean of the equal levels of all corners, and 3 more."""
        logs = [log(interval(1 / (self.part * self.proof.delta * share))) for share in self.equal]
        return sum(logs[1:], logs[0]) / float(len(logs)) + 3.0

    def take(self, row: list[Any]) -> bool:
        """Keep a claim and return whether it holds."""
        claim = self._read(row)
        key, moment = (claim.moment, claim.corner), self.moments[claim.moment]
        if self.view is None or self.view[0] != key:
            leader, by = self.leaders[moment.leader], self.by[claim.corner]
            self.view = key, View(self.proof, self.rows, leader, moment, by)
        self.boxes.setdefault(key, []).append((claim.box, claim.room))
        level = self._level(moment, claim.corner)
        return self.view[1].reaches({claim.part: claim.tilt}, claim.room, claim.box, level)

    def _read(self, row: list[Any]) -> Claim:
        """Return a claim [moment, corner, g, x, y, ranks...] whose numbers name what there is."""
        moment, corner, part = integers(row, (len(self.moments), len(self.corners), self.parts))
        dims = sum(w > 0 for w in self.corners[corner])
        if len(row) not in (CORNER_CLAIM, CORNER_CLAIM + 2 * dims):
            raise ValueError("a claim must be [moment, corner, g, x, y] and ranks, two a dim")
        room, tilt = Fraction(number(row[3])), number(row[4])
        if tilt <= 0.0:
            raise ValueError("a tilt must be positive")
        size = self.proof.sizes[self.moments[moment].rival]
        return Claim(moment, corner, part, room, tilt, read_box(row[CORNER_CLAIM:], size, dims))

    def _level(self, moment: Moment, corner: int) -> Interval:
        """Return the log of 1 over the share of delta of a comparison, by the arms of the leader."""
        leader = self.leaders[moment.leader]
        i, share = leader.group, self.part * self.proof.delta
        key = corner, i, moment.rival
        share *= self.some.get(key, self.rest) if self.scouted else self.equal[corner]
        for d, weight in enumerate(self.corners[corner]):
            if weight > 0:
                share *= self._arm(leader, d)
        if share <= 0:
            raise ValueError("a comparison has no share of delta")
        return log(interval(1 / share))

    def _arm(self, leader: Leader, d: int) -> Fraction:
        if leader.starts is None:
            return Fraction(1, self.proof.sizes[leader.group])
        return arm_share(self.proof, self.rows, leader, d)

    def bound(self, bounds: BoxClaims | None) -> Bound:
        """Return the bounds of R_i . v - R_k . v, by corner, i and k."""
        found: dict[tuple[int, int, int], Fraction] = {}
        for (number_, corner), claims in self.boxes.items():
            moment = self.moments[number_]
            if tiles(self.proof.sizes[moment.rival], [box for box, _ in claims]):
                key = corner, self.leaders[moment.leader].group, moment.rival
                least = -max(room for _, room in claims)
                found[key] = max(least, found.get(key, least))
        low, high = ({}, {}) if bounds is None else (bounds.low, bounds.high)
        by_arms = self.goal.bound_of(known_worths(self.proof, low, high))

        def best(v: int, i: int, k: int) -> Fraction | None:
            values = [x for x in (found.get((v, i, k)), by_arms(v, i, k)) if x is not None]
            return max(values, default=None)

        return best

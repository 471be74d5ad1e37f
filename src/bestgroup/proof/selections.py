"""Proofs of the best group by evidence on several arms at once (docs/theory.md 2.3, 6, 7).

A selection s of a group names an arm for each dim. A *leader* is a group i with a selection s; a *moment*
is a leader, a rival group k and counts of the arms of both. A claim says that at a moment
the e-process against

    sum_d w^d mu_{s(d)}^d + slack <= sum_d w^d mu_{s'(d)}^d

has reached its level for every selection s' of a *box*: the arms of k, ordered by their means in each
dim, from one rank to another. k is behind i if boxes that do not overlap hold all selections of k.
What is evidence is in `selection_evidence`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from bestgroup.proof.answers import (
    Status,
    known_worths,
    settle_best,
    settle_top,
    top_by_worths,
    weighted,
)
from bestgroup.proof.boxes import BOX_CLAIM, BoxClaims, Tick
from bestgroup.proof.format import Proof, Refused, integers, number
from bestgroup.proof.intervals import Interval, interval, log
from bestgroup.proof.noise import RANGED, SCALED, SYMMETRIC
from bestgroup.proof.observations import Observations
from bestgroup.proof.selection_evidence import (
    NORMAL,
    PRECISIONS,
    SCALES,
    Box,
    Claim,
    Leader,
    Moment,
    View,
    fineness,
)

_NEAR = Fraction(1, 10**9)  # of the largest worth: what rounding may do to a comparison of means


def check(proof: Proof, rows: Observations, tick: Tick) -> Status:
    """Return what the claims of a proof from selections say, once each of them is checked."""
    if proof.pareto or not proof.plain or not proof.independent_arms:
        raise Refused("format", "selections are for the best groups and independent arms")
    try:
        leaders, moments = _leaders(proof), _moments(proof)
        if proof.method["process"] != process_of(proof):
            raise ValueError("the process is not the one of this noise")
        fine = fineness(proof)
        levels = TopLevels(proof, leaders) if proof.goal == "top" else None
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise Refused("parameters", f"leaders or moments cannot be read ({error})") from None
    bounds = BoxClaims(proof, rows, proof.method.get("boxes", {})) if has_boxes(proof) else None
    boxes: dict[tuple[int, int, int, int], list[Box]] = {}
    views: dict[tuple[int, int], View] = {}
    for c, row in enumerate(proof.claims):
        tick(c + 1)
        if bounds is not None and len(row) == BOX_CLAIM:
            bounds.take(row, c)
            continue
        try:
            claim = read_claim(proof, moments, row)
            moment = moments[claim.moment]
            key = claim.moment, claim.kind
            if key not in views:
                views = {key: View(proof, rows, leaders[moment.leader], moment, claim.kind, fine)}
            level = (
                level_of(proof, moment.leader)
                if levels is None
                else levels.of(leaders[moment.leader], moment.rival)
            )
            good = views[key].reaches(claim, level)
        except (ValueError, ZeroDivisionError, IndexError) as error:
            raise Refused("claims", str(error), c) from None
        if not good:
            raise Refused("claims", "the e-process has not reached its level", c)
        place = moment.leader, moment.rival, claim.slack, claim.moment
        boxes.setdefault(place, []).append(claim.box)
    whole = {key[:3] for key, found in boxes.items() if tiles(proof.sizes[key[1]], found)}
    if proof.goal == "top":
        return _conclude_top(proof, leaders, whole, bounds)
    _check_names(proof, rows, leaders, whole)
    return conclude(proof, leaders, whole)


def has_boxes(proof: Proof) -> bool:
    """Return whether bounds of single arms have half of delta."""
    return proof.goal == "top" and any(noise.kind not in SCALED for noise in proof.noise)


class TopLevels:
    """The levels of comparisons for the m best groups, each with a share of delta."""

    def __init__(self, proof: Proof, leaders: list[Leader]) -> None:
        self.proof, self.part = proof, Fraction(1, 2 if has_boxes(proof) else 1)
        N, method = len(proof.groups), proof.method
        self.scouted = method["budget"] == "scouted"
        self.equal = Fraction(1, proof.top * max(N - proof.top, 1))
        self.pairs: dict[tuple[int, int], Fraction] = {}
        self.arms: dict[int, list[list[Fraction]]] = {}
        if self.scouted:
            self.equal = Fraction(number(method["shares"]["rest"]))
            for i, k, share in method["shares"]["pairs"]:
                i, k = integers([i, k], (N, N))
                self.pairs[i, k] = Fraction(number(share))
            for i, rows in method["arms"]:
                (i,) = integers([i], (N,))
                self.arms[i] = [[Fraction(number(r)) for r in row] for row in rows]
            self._check(N)

    def _check(self, N: int) -> None:
        rest = N * (N - 1) - len(self.pairs)
        parts = [
            self.equal,
            *self.pairs.values(),
            *(r for a in self.arms.values() for b in a for r in b),
        ]
        if min(parts) < 0 or sum(self.pairs.values()) + rest * self.equal > 1:
            raise ValueError("the shares of comparisons add up to more than delta")
        if any(i == k for i, k in self.pairs) or len(self.pairs) != len(
            self.proof.method["shares"]["pairs"]
        ):
            raise ValueError("a comparison is of two groups, and has one share")
        for i, rows in self.arms.items():
            sizes = [len(row) for row in rows]
            if sizes != [self.proof.sizes[i]] * self.proof.D or max(map(sum, rows)) > 1:
                raise ValueError("the shares of arms add up to more than 1")

    def of(self, leader: Leader, rival: int) -> Interval:
        """Return the log of 1 over the share of a comparison, by the arms of the leader."""
        i, share = leader.group, self.part * self.proof.delta
        share *= self.pairs.get((i, rival), self.equal)
        for d, j in enumerate(leader.arms):
            if self.scouted and i not in self.arms:
                raise ValueError("the arms of a leader have no shares")
            share *= self.arms[i][d][j] if self.scouted else Fraction(1, self.proof.sizes[i])
        if share <= 0:
            raise ValueError("a comparison has no share of delta")
        return log(interval(1 / share))


def _conclude_top(
    proof: Proof,
    leaders: list[Leader],
    whole: set[tuple[int, int, int]],
    bounds: BoxClaims | None,
) -> Status:
    """Return the statuses for the m best groups, by comparisons and, where there are, by bounds."""
    above = {(leaders[m].group, k) for m, k, slack in whole if slack == 0}
    near = {(leaders[m].group, k) for m, k, _ in whole}
    low, high = ({}, {}) if bounds is None else (bounds.low, bounds.high)
    known = known_worths(proof, low, high)
    least, most = ([weighted(proof, row) for row in ends] for ends in (known.lower, known.upper))
    close, over = top_by_worths(proof, least, most)
    return settle_top(
        proof,
        lambda i, k: (i, k) in near or close(i, k),
        lambda i, k: (i, k) in above or over(i, k),
    )


def has_ranges(proof: Proof) -> bool:
    """Return whether all dims have a range."""
    return all(noise.kind in RANGED for noise in proof.noise)


def process_of(proof: Proof) -> dict[str, Any]:
    """Return the process that the noise and the budget ask for."""
    if any(noise.kind in SYMMETRIC for noise in proof.noise):
        raise ValueError("there is no such process for normal noise of unknown variance")
    name = "normal"
    if proof.goal == "top":
        return {"name": name, "fixed_at": 0}
    if has_ranges(proof):
        name = "normal and bets" if proof.method["budget"] == "union" else "bets"
    elif proof.method["budget"] != "union" and any(n.kind not in SCALED for n in proof.noise):
        raise ValueError("leaders need one kind of noise")
    return {"name": name, "fixed_at": 0}


def level_of(proof: Proof, leader: int) -> Interval:
    """Return the log of 1 over the share of delta of a leader."""
    if proof.method["budget"] == "union":
        pairs = sum(size**proof.D for size in proof.sizes)
        return log(interval((2 if has_ranges(proof) else 1) * pairs / proof.delta))
    return log(interval((leader + 1) * (leader + 2) / proof.delta))


def _leaders(proof: Proof) -> list[Leader]:
    found, budget = [], proof.method["budget"]
    known = ("equal", "scouted") if proof.goal == "top" else ("union", "leaders")
    if budget not in known:
        raise ValueError(f"the budget must be {known[0]} or {known[1]}")
    starts = _counts(proof, proof.method["before"]) if budget == "scouted" else None
    for given in proof.method["leaders"]:
        i, arms = given[0], given[1]
        (i,) = integers([i], (len(proof.groups),))
        arms = tuple(integers(arms, (proof.sizes[i],) * proof.D))
        if len(arms) != len(given[1]):
            raise ValueError("a leader has an arm for each dim")
        before = [0] * proof.sizes[i] if starts is None else starts[i]
        if budget == "leaders":
            counts = _counts(proof, given[2])
            if min(min(part) for part in counts) < 1:
                raise ValueError("every arm has a value when a leader is named")
            before = counts[i]
        found.append(Leader(i, arms, tuple(before), starts))
    return found


def _counts(proof: Proof, given: list[list[Any]]) -> list[list[int]]:
    """Return counts of all arms, a list for each group."""
    return [integers(part, (10**15,) * size) for part, size in zip(given, proof.sizes, strict=True)]


def _moments(proof: Proof) -> list[Moment]:
    found = []
    for given in proof.method["moments"]:
        leader, rival, own, other = given
        size = len(proof.method["leaders"])
        leader, rival = integers([leader, rival], (size, len(proof.groups)))
        if len(own) != proof.D or len(other) != proof.sizes[rival]:
            raise ValueError(
                "a moment has a count for each dim of the leader and each arm of the rival"
            )
        most = 10**15
        counts = (
            tuple(integers(own, (most,) * len(own))),
            tuple(integers(other, (most,) * len(other))),
        )
        found.append(Moment(leader, rival, *counts))
    return found


def read_claim(proof: Proof, moments: Sequence[Moment], row: list[Any]) -> Claim:
    """Return a claim [moment, slack, kind, g, y, y, y, ranks...] whose numbers name what there is."""
    D = proof.D
    if len(row) not in (7, 7 + 2 * D):
        raise ValueError("a claim must be [moment, slack, kind, g, y, y, y] and ranks, two a dim")
    moment, slack, kind, g = integers(row, (len(moments), 2, 2, 10))
    names = {"normal": (0,), "bets": (1,), "normal and bets": (0, 1)}[
        proof.method["process"]["name"]
    ]
    parts = len(PRECISIONS if kind == NORMAL else SCALES)
    parts = 1 if proof.method["budget"] == "scouted" else parts
    given = {g - 1 + k: number(y) for k, y in enumerate(row[4:7]) if y != 0}
    good = all(0 <= part < parts and 0.0 < y < math.inf for part, y in given.items())
    if kind not in names or not good or not given:
        raise ValueError("there is no such part of the process, or no tilt")
    size = proof.sizes[moments[moment].rival]
    ends = integers(row[7:], (size + 1,) * (len(row) - 7)) or [0, size] * D
    box = tuple((ends[2 * d], ends[2 * d + 1]) for d in range(D))
    if any(a >= b for a, b in box):
        raise ValueError("a box must not be empty")
    return Claim(moment, slack, kind, given, box)


def tiles(size: int, boxes: list[Box]) -> bool:
    """Return whether boxes do not overlap and hold all selections."""
    volume = sum(math.prod(b - a for a, b in box) for box in boxes)
    apart = all(
        any(b <= c or d <= a for (a, b), (c, d) in zip(one, other, strict=True))
        for k, one in enumerate(boxes)
        for other in boxes[:k]
    )
    return apart and volume == size ** len(boxes[0])


def _check_names(
    proof: Proof, rows: Observations, leaders: list[Leader], whole: set[tuple[int, int, int]]
) -> None:
    """Refuse a leader that the means of the values before it was named do not name."""
    if proof.method["budget"] == "union":
        return
    weights = [Fraction(w) for w in proof.weights]
    for turn, (leader, given) in enumerate(zip(leaders, proof.method["leaders"], strict=True)):
        gone = {k for m, k, _ in whole if m < turn}
        worth = []
        for i, size in enumerate(proof.sizes):
            worth.append([Fraction()] * len(weights))
            for d, sign in enumerate(proof.signs):
                sums = [_sum(proof, rows, i, j, d, given[2][i][j]) for j in range(size)]
                means = [sign * s / n for s, n in zip(sums, given[2][i], strict=True)]
                worth[i][d] = max(means)
                if i == leader.group and "costs" not in proof.method:
                    if means[leader.arms[d]] < worth[i][d] - _NEAR * abs(worth[i][d]):
                        raise Refused(
                            "parameters", f"leader {turn} has other arms than the best ones"
                        )
        values = [sum(w * x for w, x in zip(weights, row, strict=True)) for row in worth]
        top = max(value for i, value in enumerate(values) if i not in gone or i == leader.group)
        if values[leader.group] < top - _NEAR * abs(top):
            raise Refused("parameters", f"leader {turn} is not the group that led")
    for a, b in pairwise(proof.method["leaders"]):
        if any(n > m for x, y in zip(a[2], b[2], strict=True) for n, m in zip(x, y, strict=True)):
            raise Refused("parameters", "leaders must be named one after the other")


def _sum(proof: Proof, rows: Observations, i: int, j: int, d: int, n: int) -> Fraction:
    arm = proof.groups[i], proof.arms[i][j]
    if n > len(rows.values.get(arm, [[]])[0]):
        raise Refused("parameters", "a leader was named by values that are not in the table")
    return rows.sum_of(arm, d, n)


def conclude(proof: Proof, leaders: list[Leader], whole: set[tuple[int, int, int]]) -> Status:
    """Return the statuses: `whole` has (leader, rival, slack) where all selections are refuted."""
    behind = sorted({k for _, k, slack in whole if slack == 0})
    near: dict[int, set[int]] = {}
    for m, k, _ in whole:
        near.setdefault(leaders[m].group, set()).add(k)
    if proof.epsilon[0] == 0.0:
        # A group that is behind anyone is not the only best one.
        near = {i: set(behind) for i in near}
    good = [
        leader.group
        for leader in leaders
        if len(near.get(leader.group, set()) - {leader.group}) == len(proof.groups) - 1
        and (proof.epsilon[0] > 0.0 or leader.group not in behind)
    ]
    return settle_best(proof, behind, good[-1] if good else None)

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
from typing import Any

from bestgroup.proof.boxes import BOX_CLAIM, Tick
from bestgroup.proof.contests import CONTESTS, MEASURED, MeasuredBest, OneBest
from bestgroup.proof.format import Proof, Refused, integers, number
from bestgroup.proof.goals import Status
from bestgroup.proof.observations import Observations
from bestgroup.proof.selection_evidence import (
    BY_BETS,
    BY_SYMMETRY,
    NORMAL,
    PRECISIONS,
    SCALES,
    Box,
    Claim,
    Leader,
    Moment,
    View,
)

KINDS = {  # of evidence that a process has
    "normal": (NORMAL,),
    "bets": (BY_BETS,),
    "normal and bets": (NORMAL, BY_BETS),
    "normal and bets and sums": (NORMAL, BY_BETS),
    "symmetric": (BY_SYMMETRY,),
    "bets and sums": (BY_BETS,),
    "symmetric and sums": (BY_SYMMETRY,),
}


def check(proof: Proof, rows: Observations, tick: Tick) -> Status:
    """Return what the claims of a proof from selections say, once each of them is checked."""
    made = CONTESTS.get(proof.goal.kind)
    if made is OneBest and proof.method.get("budget") == MEASURED:
        made = MeasuredBest
    if made is None or not proof.plain or not proof.independent_arms:
        raise Refused("format", "selections are for the best groups and independent arms")
    try:
        leaders, moments = read_leaders(proof, made.budgets), read_moments(proof)
        contest = made(proof, rows, leaders)
        if proof.method["process"] not in contest.processes():
            raise ValueError("the process is not the one of this noise")
        by = {kind: contest.compared(kind) for kind in KINDS[proof.method["process"]["name"]]}
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise Refused("parameters", f"leaders or moments cannot be read ({error})") from None
    bounds = contest.boxes()
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
                views = {key: contest.view(moment, by[claim.kind], bounds)}
            room = proof.goal.slack() if claim.slack else Fraction(0)
            good = views[key].reaches(claim.tilts, room, claim.box, contest.level(moment))
        except (ValueError, ZeroDivisionError, IndexError) as error:
            raise Refused("claims", str(error), c) from None
        if not good:
            raise Refused("claims", "the e-process has not reached its level", c)
        place = moment.leader, moment.rival, claim.slack, claim.moment
        boxes.setdefault(place, []).append(claim.box)
    whole = {key[:3] for key, found in boxes.items() if tiles(proof.sizes[key[1]], found)}
    return contest.conclude(whole, bounds)


def read_leaders(proof: Proof, budgets: tuple[str, ...]) -> list[Leader]:
    """Return the leaders of a proof, each with an arm for each dim."""
    found, budget = [], proof.method["budget"]
    if budget not in budgets:
        raise ValueError(f"the budget must be {' or '.join(budgets)}")
    starts = _counts(proof, proof.method["before"]) if budget == "scouted" else None
    for given in proof.method["leaders"]:
        i, arms = given[0], given[1]
        (i,) = integers([i], (len(proof.groups),))
        arms = tuple(integers(arms, (proof.sizes[i],) * proof.D))
        if len(arms) != len(given[1]):
            raise ValueError("a leader has an arm for each dim")
        before = [0] * proof.sizes[i] if starts is None else starts[i]
        if budget in ("leaders", MEASURED):
            counts = _counts(proof, given[2])
            if min(min(part) for part in counts) < 1:
                raise ValueError("every arm has a value when a leader is named")
            before = counts[i]
        found.append(Leader(i, arms, tuple(before), starts))
    return found


def _counts(proof: Proof, given: list[list[Any]]) -> list[list[int]]:
    """Return counts of all arms, a list for each group."""
    return [integers(part, (10**15,) * size) for part, size in zip(given, proof.sizes, strict=True)]


def read_moments(proof: Proof) -> list[Moment]:
    """Return the moments of a proof, each with counts that name what there is."""
    found, measured = [], proof.method["budget"] == MEASURED
    for given in proof.method["moments"]:
        leader, rival, own, other = given
        size, own = len(proof.method["leaders"]), [own] if measured else own
        leader, rival = integers([leader, rival], (size, len(proof.groups)))
        if len(own) != (1 if measured else proof.D) or len(other) != proof.sizes[rival]:
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
    moment, slack, kind, g = integers(row, (len(moments), 2, 3, 10))
    kinds = KINDS[proof.method["process"]["name"]]
    parts = len(PRECISIONS if kind == NORMAL else SCALES)
    parts = 1 if proof.method["budget"] == "scouted" else parts
    given = {g - 1 + k: number(y) for k, y in enumerate(row[4:7]) if y != 0}
    good = all(0 <= part < parts and 0.0 < y < math.inf for part, y in given.items())
    if kind not in kinds or not good or not given:
        raise ValueError("there is no such part of the process, or no tilt")
    size = proof.sizes[moments[moment].rival]
    return Claim(moment, slack, kind, given, read_box(row[7:], size, D))


def read_box(ranks: list[Any], size: int, dims: int) -> Box:
    """Return the box that ranks give, two a dim; without them it holds all selections."""
    ends = integers(ranks, (size + 1,) * len(ranks)) or [0, size] * dims
    box = tuple((ends[2 * d], ends[2 * d + 1]) for d in range(dims))
    if any(a >= b for a, b in box):
        raise ValueError("a box must not be empty")
    return box


def tiles(size: int, boxes: list[Box]) -> bool:
    """Return whether boxes do not overlap and hold all selections."""
    volume = sum(math.prod(b - a for a, b in box) for box in boxes)
    apart = all(
        any(b <= c or d <= a for (a, b), (c, d) in zip(one, other, strict=True))
        for k, one in enumerate(boxes)
        for other in boxes[:k]
    )
    return apart and volume == size ** len(boxes[0])

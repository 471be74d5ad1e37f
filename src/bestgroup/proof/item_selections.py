"""Proofs of the best group on a part of shared items (docs/theory.md 9.3).

A selection of a group names an arm for each dim. A claim is [kind, k, t, the arms of a selection s' of k]:
by the first t items s' is refuted

- kind 0: against whoever leads in each *term* (the runner-up, where k leads), without slack;
- kind 1: against the selections that stand for group `first` in each term, with slack epsilon ||w||_1;
- kind 2: for certain, against a selection of `first` whose arms follow, with that slack: no rest of the
  pool can bring s' above it;
- kinds 3, 4: against such a selection, by the pair process, without and with slack.

**Shares.** Terms: all of delta, or half of it where the table itself makes the terms; with epsilon = 0 kind 0
has all of that, else a quarter, and kind 1 has 3 / (4 h H_N), h the rank that `first` had when the first
term was made. Kinds 3 and 4 have the other half, or all of delta where there are no terms, divided by
sum_i K_i^D (twice that with epsilon > 0).

The units of the order may be clusters of items (docs/theory.md 9.5): then differences are of sums.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from bestgroup.proof.boxes import Tick
from bestgroup.proof.format import Proof, Refused, integers
from bestgroup.proof.goals import Status
from bestgroup.proof.item_units import Units, units_of
from bestgroup.proof.items import (
    Difference,
    Rule,
    Table,
    certain,
    grows,
    proves,
    reach_of,
    rule_of,
    table_of,
)
from bestgroup.proof.observations import Observations

TERMS, NEAR, CERTAIN, PAIR, NEAR_PAIR = range(5)
FIRST, LATER = 4, 1.05
_ROUNDING = Fraction(1, 10**9)

Selection = tuple[int, ...]


class Term(NamedTuple):
    """Who leads from an item on, and which selections stand for leader, runner-up and `first`."""

    begin: int
    leader: int
    second: int
    fronts: dict[int, Selection]


class Asked(NamedTuple):
    """What all claims of a proof share."""

    proof: Proof
    rule: Rule
    table: Table
    terms: list[Term]
    first: int
    rank: int
    units: Units

    def placed(
        self, claim: Difference, one: tuple[int, Selection], two: tuple[int, Selection], t: int
    ) -> Difference:
        """Return a claim with sum_d w^d (x_s - x_s') on the first t units, as that of units."""
        values = self.differences(one, two, t)
        values, shift, reach = self.units.placed(values, claim.shift, claim.reach)
        return claim._replace(values=values, shift=shift, reach=reach)

    def differences(
        self, one: tuple[int, Selection], two: tuple[int, Selection], t: int
    ) -> list[Fraction]:
        """Return sum_d w^d (x_s - x_s') on the first t units, which all arms must have passed."""
        found = [Fraction(0)] * t
        for d, (j, k) in enumerate(zip(one[1], two[1], strict=True)):
            above, below = self.table[one[0], j], self.table[two[0], k]
            if min(len(above), len(below)) < t:
                raise ValueError("an arm has passed fewer items")
            weight = Fraction(self.proof.weights[d]) * self.proof.signs[d]
            reach = reach_of(self.proof, d)
            for u in range(t):
                away = Fraction(above[u][d]) - Fraction(below[u][d])
                if abs(away) > reach * len(self.units.members[u]):
                    raise ValueError("two arms differ on an item by more than was declared")
                found[u] += weight * away
        return found


def check(proof: Proof, rows: Observations, tick: Tick) -> Status:
    """Return what the claims on selections on shared items say, once each of them is checked."""
    if not (proof.goal.answers_one and proof.plain):
        raise Refused("format", "this method is for the best group, worth its best arms")
    asked = check_method(proof, rows)
    refuted: dict[tuple[int, Selection], set[int]] = {}
    for c, row in enumerate(proof.claims):
        try:
            kind, k, t, chosen, other = read_claim(proof, row)
            good = holds(asked, kind, k, t, chosen, other)
        except (ValueError, KeyError) as error:
            raise Refused("claims", str(error), c) from None
        if not good:
            raise Refused("claims", "the wealth has not reached its level", c)
        refuted.setdefault((k, chosen), set()).add(kind)
        tick(c + 1)
    return conclude(proof, asked.first, refuted)


def check_method(proof: Proof, rows: Observations) -> Asked:
    """Return what all claims share; refuses terms that cannot be."""
    units = units_of(proof, rows)
    rule = rule_of(proof, units)
    table = table_of(proof, rows, units)
    try:
        first, rank = integers(
            [proof.method["first"], proof.method["rank"] - 1], (len(proof.groups),) * 2
        )
        terms = [_term(proof, row) for row in proof.method["terms"]]
        asked = Asked(proof, rule, table, terms, first, rank + 1, units)
        if any(a.begin >= b.begin for a, b in pairwise(terms)):
            raise ValueError("terms begin one after the other")
        _check_budget(proof, units)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise Refused("parameters", f"terms cannot be read ({error})") from None
    if proof.method["budget"] == "table":
        _check_terms(asked)
    return asked


def _check_budget(proof: Proof, units: Units) -> None:
    """Raise ValueError if there is no such way to share delta."""
    budget, pairs = proof.method["budget"], proof.method["budget"] == "pairs"
    if budget not in ("terms", "table", "pairs") or (budget == "table" and units.clustered):
        raise ValueError("the budget must be terms, table or pairs")
    if pairs and (proof.method["terms"] or proof.document["version"] < 3):
        raise ValueError("where delta is for pairs there are no terms")


def _term(proof: Proof, row: list[Any]) -> Term:
    """Return a term from [begin, leader, its arms, runner-up, its arms, the arms of `first`]."""
    begin, leader, own, second, other, front = row
    begin, leader, second = integers([begin, leader, second], (10**12, *(len(proof.groups),) * 2))
    D, fronts = len(proof.dims), {}
    for group, arms in ((leader, own), (second, other), (proof.method["first"], front)):
        found = tuple(integers(arms, (proof.sizes[group],) * D))
        if len(arms) != D or fronts.setdefault(group, found) != found:
            raise ValueError("a group has one arm for each dim in a term")
    if leader == second:
        raise ValueError("leader and runner-up are two groups")
    return Term(begin, leader, second, fronts)


def read_claim(proof: Proof, row: list[Any]) -> tuple[int, int, int, Selection, Selection]:
    """Return kind, group, count, selection and, where there is one, the selection of `first`."""
    D, N = len(proof.dims), len(proof.groups)
    kind, k, t = integers(row, (5, N, 10**12))
    size = 3 + D if kind in (TERMS, NEAR) else 3 + 2 * D
    if len(row) != size or t < 1 or (kind != TERMS and k == proof.method["first"]):
        raise ValueError("there is no such claim")
    chosen = tuple(integers(row[3 : 3 + D], (proof.sizes[k],) * D))
    first = proof.sizes[proof.method["first"]]
    return kind, k, t, chosen, tuple(integers(row[3 + D :], (first,) * (len(row) - 3 - D)))


def holds(asked: Asked, kind: int, k: int, t: int, chosen: Selection, other: Selection) -> bool:
    """Return whether a claim is proven."""
    proof = asked.proof
    weights = [Fraction(w) for w in proof.weights]
    reach = sum((w * reach_of(proof, d) for d, w in enumerate(weights)), Fraction(0))
    shift = Fraction(0)
    if kind in (NEAR, CERTAIN, NEAR_PAIR):
        shift = Fraction(proof.epsilon[0]) * sum(weights)
    claim = Difference(
        [], shift, reach, 1 / (proof.delta * share(asked, kind)), kind in (TERMS, PAIR)
    )
    if kind in (TERMS, NEAR):
        return _by_terms(asked, kind, (k, chosen), t, claim)
    claim = asked.placed(claim, (asked.first, other), (k, chosen), t)
    return certain(asked.rule, claim) if kind == CERTAIN else proves(asked.rule, claim)


def share(asked: Asked, kind: int) -> Fraction:
    """Return the share of delta of a claim; 1 where none is spent."""
    proof, slack = asked.proof, asked.proof.epsilon[0] > 0.0
    budget = proof.method["budget"]
    half = Fraction(1, 2) if budget == "table" else Fraction(1)
    if kind == CERTAIN:
        return Fraction(1)
    if kind in (TERMS, NEAR) and budget == "pairs":
        raise ValueError("there is no share for such a claim")
    if kind == TERMS:
        return half / 4 if slack else half
    if kind == NEAR and slack:
        harmonic = sum(Fraction(1, h + 1) for h in range(len(proof.groups)))
        return half * 3 / (4 * asked.rank * harmonic)
    if budget == "terms" or (kind == NEAR_PAIR and not slack) or kind == NEAR:
        raise ValueError("there is no share for such a claim")
    pairs = sum(size ** len(proof.dims) for size in proof.sizes)
    return half / (pairs * (2 if slack else 1))


def _by_terms(
    asked: Asked, kind: int, rival: tuple[int, Selection], t: int, claim: Difference
) -> bool:
    """Return whether the wealth against the selections of the terms is ever enough."""
    wealth = [1.0] * (len(asked.rule.bets) + 1)
    ends = [term.begin for term in asked.terms[1:]] + [t]
    at, spans = 0, list[tuple[int, int, tuple[int, Selection]]]()
    for term, end in zip(asked.terms, ends, strict=True):
        group = asked.first
        if kind == TERMS:
            group = term.second if term.leader == rival[0] else term.leader
        if term.begin < min(end, t):
            front = group, term.fronts[group]
            begin = term.begin
            if spans and spans[-1][2] == front and spans[-1][1] == begin:
                begin = spans.pop()[0]
            spans.append((begin, min(end, t), front))
    for at, end, front in spans:
        if grows(asked.rule, wealth, asked.placed(claim, front, rival, end), at):
            return True
    return False


def _check_terms(asked: Asked) -> None:
    """Refuse terms that the table does not make by itself (docs/theory.md 9.3)."""
    proof, begin = asked.proof, FIRST
    sums: dict[tuple[int, int], list[Fraction]] = {}
    done = 0
    for number, term in enumerate(asked.terms):
        if term.begin != begin or min(map(len, asked.table.values())) < begin:
            raise Refused("parameters", "terms do not begin where the table makes them")
        for arm, values in asked.table.items():
            own = sums.setdefault(arm, [Fraction(0)] * len(proof.dims))
            for row in values[done:begin]:
                for d, x in enumerate(row):
                    own[d] += proof.signs[d] * Fraction(proof.weights[d]) * Fraction(x)
        done = begin
        best = [
            [max(sums[i, j][d] for j in range(size)) for d in range(len(proof.dims))]
            for i, size in enumerate(proof.sizes)
        ]
        worth = [sum(row) for row in best]
        room = _ROUNDING * max(abs(value) for value in worth)
        good = all(
            sums[i, j][d] >= best[i][d] - room
            for i, arms in term.fronts.items()
            for d, j in enumerate(arms)
        )
        rest = [value for i, value in enumerate(worth) if i != term.leader]
        good = good and worth[term.leader] >= max(rest) - room
        good = good and worth[term.second] >= max(rest) - room
        ahead = sum(value > worth[asked.first] + room for value in worth)
        if not good or (number == 0 and asked.rank <= ahead):
            raise Refused("parameters", f"term {number} is not the one that the table makes")
        begin = max(begin + 1, math.ceil(LATER * begin))


def conclude(proof: Proof, first: int, refuted: dict[tuple[int, Selection], set[int]]) -> Status:
    """Return the statuses: a group is as good as its best selection."""
    alone = {TERMS, PAIR} if proof.epsilon[0] > 0.0 else {TERMS, PAIR, CERTAIN}
    sure, near = [0] * len(proof.groups), [0] * len(proof.groups)
    for (k, _), kinds in refuted.items():
        sure[k] += bool(kinds & alone)
        near[k] += 1
    full = [size ** len(proof.dims) for size in proof.sizes]
    behind = [k for k, size in enumerate(full) if sure[k] == size]
    good = all(k == first or near[k] == size for k, size in enumerate(full))
    good = good and (first not in behind or proof.epsilon[0] > 0.0)
    return proof.goal.settle_first(len(full), behind, first if good else None)

"""The best group from a table of shared items that all arms have passed alike: terms of leaders.

As in `algorithms.shared_items.best`, with terms that the table itself makes: after 4 items, and again when
their number has grown by 5 %, the front of a group is its arm with the largest sum in each dim, the
leader the group whose front has the largest weighted sum. What holds on item t follows from all arms'
values on the items before t, so docs/theory.md 9.3 applies, up to the least depth of any arm. Levels
are the same: nothing is paid for the choice of leaders' selections.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.inference.evalues.paired import Betting, Claim, grow, purse
from bestgroup.problem.arrays import Bools, Floats, Ints

_FIRST, _LATER = 4, 1.05
_FOR_GOOD = 0.25  # the share of delta for what is out whoever leads, if there is slack


class Term(NamedTuple):
    """Who leads on the items begin, ..., end - 1, and the arms that stand for the groups."""

    begin: int
    end: int
    leader: int
    second: int
    fronts: Ints  # [N, D]  arms, numbered through


class Table(NamedTuple):
    """Values [n, A, D] of all arms on the same items, and what is asked."""

    values: Floats
    start: Ints  # [N + 1]
    weights: Floats
    reach: float
    slack: float


@kernel
def take_span(rule: Betting, wealth: Floats, values: Floats, first: int, claim: Claim) -> bool:
    """Take up the differences from item `first` on; returns whether the wealth ever is enough."""
    total, square = 0.0, 0.0
    for t in range(len(values)):
        if t >= first and grow(rule, wealth, values[t], t, total, square, claim) >= claim.need:
            return True
        total += values[t]
        square += values[t] * values[t]
    return False


def make_terms(table: Table) -> list[Term]:
    """Return the terms of a table, in their order; the items before the first have none."""
    n, groups = len(table.values), len(table.start) - 1
    sums = np.cumsum(table.values, axis=0)
    found: list[Term] = []
    begin = _FIRST
    while begin < n:
        end = min(n, max(begin + 1, math.ceil(_LATER * begin)))
        fronts = np.array([
            [a + int(sums[begin - 1, a:b, d].argmax()) for d in range(len(table.weights))]
            for a, b in itertools.pairwise(table.start.tolist())
        ])  # fmt: skip
        worth = sums[begin - 1][fronts, np.arange(len(table.weights))] @ table.weights
        order = np.argsort(-worth, kind="stable")
        second = int(order[1]) if groups > 1 else -1
        found.append(Term(begin, end, int(order[0]), second, fronts))
        begin = end
    return found


def behind_leader(table: Table, rule: Betting, leader: int, delta: float) -> tuple[Bools, Bools]:
    """Return which groups are out, and which are so against the leader up to the slack, [N] each."""
    groups = len(table.start) - 1
    sure, near = np.zeros(groups, np.bool_), np.zeros(groups, np.bool_)
    terms = make_terms(table)
    if not terms:
        return sure, near
    need = (4.0 if table.slack else 1.0) / delta
    good = Claim(0.0, table.reach, need, True)
    first = terms[0].fronts
    worth = table.values[:_FIRST].sum(axis=0)[first, np.arange(first.shape[1])] @ table.weights
    rank = int(np.flatnonzero(np.argsort(-worth, kind="stable") == leader)[0]) + 1
    harmonic = sum(1.0 / h for h in range(1, groups + 1))
    close = Claim(table.slack, table.reach, harmonic * rank / ((1.0 - _FOR_GOOD) * delta), False)
    for k in range(groups):
        if k == leader:
            continue
        sure[k] = near[k] = True
        arms = range(int(table.start[k]), int(table.start[k + 1]))
        for chosen in itertools.product(arms, repeat=len(table.weights)):
            led = [(t, t.second if t.leader == k else t.leader) for t in terms]
            out = _is_out(table, rule, led, chosen, good)
            sure[k] = sure[k] and out
            if near[k] and not out:
                own = [(t, leader) for t in terms]
                near[k] = bool(table.slack) and _is_out(table, rule, own, chosen, close)
            if not near[k]:
                break
    sure &= near
    return sure, near


def _is_out(
    table: Table,
    rule: Betting,
    terms: list[tuple[Term, int]],
    chosen: tuple[int, ...],
    claim: Claim,
) -> bool:
    """Return whether a selection's wealth against the fronts of these groups is ever enough."""
    wealth, dims = purse(rule), np.arange(len(table.weights))
    rest = table.values[:, chosen, dims] @ table.weights
    for front, stretch in itertools.groupby(terms, lambda pair: tuple(pair[0].fronts[pair[1]])):
        spans = [term for term, _ in stretch]
        lead = table.values[: spans[-1].end, front, dims] @ table.weights
        values = lead - rest[: spans[-1].end]
        if take_span.compiled(rule, wealth, values, spans[0].begin, claim):
            return True
    return False

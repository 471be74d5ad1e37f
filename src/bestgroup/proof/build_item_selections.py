"""Proof documents of the best group on a part of shared items: terms of leaders, and who is out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.errors import InvalidInput
from bestgroup.inference.certificate.items_best import Table, make_terms
from bestgroup.inference.evalues.paired import PROVEN
from bestgroup.problem.arrays import Floats
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document
from bestgroup.proof.build_scouted import fed_session
from bestgroup.proof.format import Proof, parse
from bestgroup.proof.item_selections import (
    CERTAIN,
    NEAR,
    NEAR_PAIR,
    PAIR,
    TERMS,
    check_method,
    holds,
)

Values = list[list[Floats]]


def study_item_selections(
    asked: Asked, entry: dict[str, Any], algorithm: Algorithm, setting: Setting
) -> dict[str, Any]:
    """Return the proof document of a run on shared items: its run again, to see who led where."""
    session = fed_session(asked, algorithm, setting)
    while session.advance(1):
        pass
    state, rule = session.state, session.rule
    if "clusters" in entry:
        state, rule = state.inner, rule.inner
    if not hasattr(state, "fronts"):
        raise InvalidInput("there is no proof file for this version of the algorithm")
    first, start = int(state.leader[0]), rule.items.start
    fronts = state.fronts - start[:-1][None, :, None]
    terms = [
        [
            int(state.begins[h]), leader, fronts[h, leader].tolist(), second,
            fronts[h, second].tolist(), fronts[h, first].tolist(),
        ]
        for h in range(int(state.terms[0]))
        for leader, second in [state.leads[h].tolist()]
        if leader >= 0 and second >= 0
    ]  # fmt: skip
    method = {
        **entry, "budget": "terms", "first": first, "rank": int(state.rank[first]), "terms": terms
    }  # fmt: skip
    slack, claims = rule.slack > 0.0, []
    for p, k in enumerate(rule.owner.tolist()):
        chosen = (rule.arms[p] - start[k]).tolist()
        if state.code[0, p] == PROVEN:
            claims.append([TERMS, k, int(state.passed[0, p]), *chosen])
        elif slack and k != first and state.code[first + 1, p] == PROVEN:
            claims.append([NEAR, k, int(state.passed[first + 1, p]), *chosen])
        elif state.sure[p] == first and k != first:
            claims.append(_certain(asked, method, k, chosen))
    return document(asked, method, claims)


def _certain(asked: Asked, method: dict[str, Any], k: int, chosen: list[int]) -> list[Any]:
    """Return a claim that is certain: which selection of `first` it is by is looked for."""
    ready = check_method(_proof(asked, method), asked.rows)
    i = method["first"]
    for other in itertools.product(range(asked.problem.shape.sizes[i]), repeat=len(chosen)):
        depths = [len(ready.table[i, j]) for j in other] + [len(ready.table[k, j]) for j in chosen]
        if holds(ready, CERTAIN, k, min(depths), tuple(chosen), other):
            return [CERTAIN, k, min(depths), *chosen, *other]
    raise InvalidInput("no proof file was written: what was certain is not found again")


def data_item_selections(
    asked: Asked, entry: dict[str, Any], values: Values, means: Floats
) -> dict[str, Any]:
    """Return the proof document of a table of shared items; `means` [N, K, D] are those of the arms."""
    shape, goal = asked.problem.shape, asked.goal
    weights = goal.weight_vector(shape.dims)
    first = int((means.max(axis=1) @ weights).argmax())
    front = tuple(means[first].argmax(axis=0).tolist())
    n = min(len(arm) for group in values for arm in group)
    # On clusters delta is for comparisons of two selections alone.
    terms, rank = ([], 1) if "clusters" in entry else _terms(asked, values, first)
    budget = "pairs" if "clusters" in entry else "table"
    method = {**entry, "budget": budget, "first": first, "rank": rank, "terms": terms}
    ready = check_method(_proof(asked, method), asked.rows)
    slack, claims = float(goal.epsilons(shape.dims)[0]) > 0.0, []
    for k in range(shape.groups):
        if k == first or asked.status[k] == Status.UNDECIDED:
            continue
        kinds = [TERMS, PAIR]
        if slack and asked.status[k] != Status.OUT:
            kinds += [NEAR, NEAR_PAIR]
        if budget == "pairs":
            kinds = [kind for kind in kinds if kind in (PAIR, NEAR_PAIR)]
        for chosen in itertools.product(range(shape.sizes[k]), repeat=shape.dims):
            for kind in kinds:
                depth = n if kind in (TERMS, NEAR) else _depth(values, (first, front), (k, chosen))
                other = () if kind in (TERMS, NEAR) else front
                if depth and holds(ready, kind, k, depth, chosen, other):
                    claims.append([kind, k, depth, *chosen, *other])
                    break
    return document(asked, method, claims)


def _terms(asked: Asked, values: Values, first: int) -> tuple[list[list[Any]], int]:
    """Return the terms that a table makes, and the rank of a group when the first one was made."""
    shape, goal = asked.problem.shape, asked.goal
    weights = goal.weight_vector(shape.dims)
    arms = [arm for group in values for arm in group]
    n = min(len(arm) for arm in arms)
    start = np.concatenate([[0], np.cumsum(shape.sizes)]).astype(np.int64)
    common = np.stack([arm[:n] for arm in arms], axis=1)
    made = make_terms(Table(common, start, weights, 1.0, 0.0))
    terms: list[list[Any]] = []
    for term in made:
        local = term.fronts - start[:-1, None]
        chosen = [local[g].tolist() for g in (term.leader, term.second, first)]
        terms.append([term.begin, term.leader, chosen[0], term.second, chosen[1], chosen[2]])
    if not made:
        return terms, 1
    sums = common[: made[0].begin].sum(axis=0)
    worth = sums[made[0].fronts, np.arange(shape.dims)] @ weights
    return terms, int(np.flatnonzero(np.argsort(-worth, kind="stable") == first)[0]) + 1


def _depth(values: Values, one: tuple[int, Sequence[int]], two: tuple[int, Sequence[int]]) -> int:
    return min(len(values[i][j]) for i, arms in (one, two) for j in arms)


def _proof(asked: Asked, method: dict[str, Any]) -> Proof:
    """Return a proof without claims, for what its claims will be looked at by."""
    return parse(document(_undecided(asked), method, []))


def _undecided(asked: Asked) -> Asked:
    return replace(asked, status=[int(Status.UNDECIDED)] * len(asked.status))

"""Proof documents of the best group by evidence on several arms: who led when, and who was left behind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.errors import InvalidInput
from bestgroup.inference.certificate.best_group import kept
from bestgroup.inference.certificate.judge import Verdict
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document, noise_entry
from bestgroup.proof.build_boxes import Found, box_claims
from bestgroup.proof.build_scouted import costs_entry, fed_session
from bestgroup.proof.noise import RANGED, SYMMETRIC
from bestgroup.proof.selection_evidence import AND_SUMS, BY_SYMMETRY, NORMAL
from bestgroup.proof.selection_search import Bets, Compare, Event, Named, Normal, Search, cover
from bestgroup.proof.selections import KINDS
from bestgroup.proof.symmetric_search import TESTS, Symmetric, tails_entry, tails_of


def data_selections(asked: Asked, verdict: Verdict) -> dict[str, Any]:
    """Return the proof document of a verdict by evidence on several arms, all of whose values count."""
    shape, goal = asked.problem.shape, asked.goal
    weights = goal.weight_vector(shape.dims)
    i = int(np.argmax(verdict.low.max(axis=1) @ weights))
    named = Named(i, verdict.low[i].argmax(axis=0).tolist(), [])
    counts = {
        (k, j): len((asked.columns_of(k, j) or [[]])[0])
        for k, size in enumerate(shape.sizes)
        for j in range(size)
    }
    events = [
        Event(0, k, [counts[i, j] for j in named.arms], [counts[k, j] for j in range(size)])
        for k, size in enumerate(shape.sizes)
        if k != i and asked.status[k] != Status.UNDECIDED
    ]
    rule = kept(shape, goal, asked.problem.noise, asked.delta)
    return _document(asked, "union", [named], events, None, len(rule.weights) > 0)


def study_selections(asked: Asked, algorithm: Algorithm, setting: Setting) -> dict[str, Any]:
    """Return the proof document of a run of `adaptive`: its run again, to see who led when."""
    session = fed_session(asked, algorithm, setting)
    named: list[Named] = []
    events: list[Event] = []
    out = np.zeros(setting.shape.groups, np.bool_)
    while session.advance(1):
        state = session.state
        counts = [row.tolist() for row in session.counts]
        if state.named[0] > len(named):
            named.append(Named(int(state.leader[0]), state.lead.tolist(), counts))
        i = int(state.leader[0])
        for k in np.flatnonzero(state.out & ~out).tolist():
            own = [counts[i][j] for j in state.lead.tolist()]
            events.append(Event(len(named) - 1, k, own, counts[k]))
        out = state.out.copy()
    summed = len(algorithm.statistics(setting).weights) > 0
    return _document(asked, "leaders", named, events, costs_entry(setting), summed)


def _document(
    asked: Asked,
    budget: str,
    named: list[Named],
    events: list[Event],
    costs: list[list[float]] | None,
    summed: bool,
) -> dict[str, Any]:
    D = asked.problem.shape.dims
    kinds = {entry["kind"] for entry in noise_entry(asked.problem.noise, D)["dims"]}
    ranges, symmetric = kinds <= RANGED, kinds <= SYMMETRIC
    names = {
        (True, "union"): "normal and bets",
        (True, "leaders"): "bets",
    }
    name = "symmetric" if symmetric else names.get((ranges, budget), "normal")
    name += AND_SUMS if summed else ""
    method: dict[str, Any] = {
        "kind": "selections",
        "budget": budget,
        "process": {"name": name, "fixed_at": 0},
        "leaders": [[n.group, n.arms, *([n.counts] if budget == "leaders" else [])] for n in named],
        "moments": [[e.leader, e.rival, e.own, e.other] for e in events],
    }
    if costs is not None:
        method["costs"] = costs
    pairs = sum(float(size) ** D for size in asked.problem.shape.sizes) * (2 if ranges else 1)
    claims: list[list[Any]] = []
    bounds: Found = {}
    if symmetric:
        method["boxes"] = tails_entry(asked)
        bounds = tails_of(asked, named, events)
        claims = box_claims(bounds, bounds)
    delta = asked.delta * (TESTS if symmetric else 1.0)
    for number, event in enumerate(events):
        m = event.leader + 1
        level = math.log((pairs if budget == "union" else m * (m + 1)) / delta)
        slacks = _slacks(asked, budget, event.rival)
        claims += claims_for(
            asked, method, named[event.leader], event, number, level, slacks, bounds=bounds
        )
    return document(asked, method, claims)


def _slacks(asked: Asked, budget: str, rival: int) -> list[int]:
    """Return with which slacks a rival may be shown behind, the one that says more first."""
    if float(asked.goal.epsilons(asked.problem.shape.dims)[0]) == 0.0:
        return [0]
    if asked.status[rival] == Status.NOT_NEEDED or budget != "union":
        return [1]
    return [0, 1]


def claims_for(
    asked: Asked,
    method: dict[str, Any],
    named: Named,
    event: Event,
    number: int,
    level: float,
    slacks: list[int],
    expected: float = 0.0,
    bounds: Found | None = None,
) -> list[list[Any]]:
    """Return claims that hold all selections of a rival; refuses if there are none.

    `bounds` of single arms are for evidence by symmetry.
    """
    weights = asked.goal.weight_vector(asked.problem.shape.dims)
    whole = float(asked.goal.epsilons(asked.problem.shape.dims)[0] * weights.sum())
    for slack in slacks:
        compare = Compare(weights, whole if slack else 0.0, expected)
        for kind in KINDS[method["process"]["name"]]:
            search: Search
            if kind == BY_SYMMETRY:
                search = Symmetric(asked, method, named, event, compare, bounds or {})
            else:
                make = Normal if kind == NORMAL else Bets
                search = make(asked, method, named, event, compare)
            for g in search.parts():
                found = cover(search, g, level)
                if found is not None:
                    return [[number, slack, kind, g, *row] for row in found]
    name = asked.problem.groups[event.rival]
    raise InvalidInput(f"no proof file was written: the evidence against {name} is not found again")

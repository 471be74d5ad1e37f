"""Proof documents of the best group by evidence on several arms: who led when, and who was left behind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.inference.certificate.best_group import kept
from bestgroup.inference.certificate.judge import Verdict
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document, noise_entry
from bestgroup.proof.build_boxes import Found, box_claims
from bestgroup.proof.build_measured import follow, measured_document
from bestgroup.proof.build_scouted import costs_entry, fed_session
from bestgroup.proof.contests import MEASURED
from bestgroup.proof.noise import RANGED, SYMMETRIC
from bestgroup.proof.selection_claims import claims_for, slacks_of
from bestgroup.proof.selection_evidence import AND_SUMS
from bestgroup.proof.selection_search import Event, Named
from bestgroup.proof.symmetric_search import TESTS, tails_entry, tails_of


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
    if session.rule.by_group:
        slack = slacks_of(asked, MEASURED, 0)[0]
        run = follow(session, slack == 1)
        return measured_document(asked, run, costs_entry(setting), slack)
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
        slacks = slacks_of(asked, budget, event.rival)
        claims += claims_for(
            asked, method, named[event.leader], event, number, level, slacks, bounds=bounds
        )
    return document(asked, method, claims)

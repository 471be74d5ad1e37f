"""Proof documents of `adaptive` for Pareto groups: its run again, to see when what was proven."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bestgroup.algorithms.adaptive.pareto.split import share_of_dim, share_of_rival
from bestgroup.algorithms.adaptive.pareto.view import ACCEPTED, PARTS, REJECTED
from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.drivers.session import LiveSession
from bestgroup.problem.arrays import Bools, Ints, Shorts
from bestgroup.problem.noise import SubGaussian
from bestgroup.proof.build import Asked, document
from bestgroup.proof.pairs import OVER, WON

_LONG, _SLOW = 3000, 50  # pulls from which a compilation pays; those by bets are slow

Counts = dict[tuple[int, int, int, int], tuple[int, int, int]]  # (i, j, k, d): m, n_a, n_b


def scouted_document(asked: Asked, algorithm: Algorithm, setting: Setting) -> dict[str, Any]:
    """Return the proof document of a run of `adaptive` with independent arms."""
    session = fed_session(asked, algorithm, setting)
    shape = setting.shape
    seen: tuple[Counts, Counts] = ({}, {})
    before: tuple[Bools, Bools] | None = None
    surprises = session.state.split.surprises.copy()
    while session.advance(1):
        duties, split = session.state.duties, session.state.split
        now = duties.over, duties.won
        if before is not None and (split.surprises != surprises).any():
            # What surprises took back and is there now was proven again in this step.
            again = (split.surprises != surprises) & (surprises < PARTS)
            before[OVER][:, again & split.out] = before[WON][again & ~split.out] = False
            surprises = split.surprises.copy()
        for kind, by in ((OVER, session.state.ledger.over_by), (WON, session.state.ledger.won_by)):
            fresh = now[kind] if before is None else now[kind] & ~before[kind]
            if fresh.any():
                _note(seen[kind], fresh, by, session.counts)
        before = now[0].copy(), now[1].copy()
    ledger = session.state.ledger
    rows = [
        [int(ledger.base_counts[i, j]) for j in range(size)] for i, size in enumerate(shape.sizes)
    ]
    entry: dict[str, Any] = {
        "kind": "pairs",
        "budget": "named" if session.rule.named else "scouted",
        "before": rows,
        "process": [{"name": "scouted"}] * shape.dims,
    }
    costs = costs_entry(setting)
    if costs is not None:
        entry["costs"] = costs
    return document(asked, entry, _claims(asked, setting, seen, session.state))


def costs_entry(setting: Setting) -> list[list[float]] | None:
    """Return what pulls cost, by arm; None if all cost the same."""
    if setting.costs is None or len({cost for row in setting.costs for cost in row}) == 1:
        return None
    return [list(map(float, row)) for row in setting.costs]


def fed_session(asked: Asked, algorithm: Algorithm, setting: Setting) -> LiveSession:
    """Return a session that has all rows and has not stepped."""
    session = LiveSession(setting, algorithm)
    long = _LONG if isinstance(setting.noise, SubGaussian) else _SLOW
    if asked.rows.rows > long:
        session.compile()
    for i, size in enumerate(setting.shape.sizes):
        for j in range(size):
            columns = asked.columns_of(i, j)
            if columns is not None:
                values = asked.problem.mirror(np.array(columns).T)
                session.feed(i, j, 0, np.ascontiguousarray(values))
    return session


def _note(kept: Counts, fresh: Bools, by: Shorts, counts: list[Ints]) -> None:
    for i, j, k, d in np.argwhere(fresh).tolist():
        m = int(by[i, j, k, d])
        kept[i, j, k, d] = m, int(counts[i][m]), int(counts[j][k])


def _claims(
    asked: Asked, setting: Setting, seen: tuple[Counts, Counts], state: Any
) -> list[list[Any]]:
    """Return the claims that the decisions were made by."""
    shape = setting.shape
    # What stands may rest on what does not yet, where an answer was expected.
    status = state.duties.status
    made: list[list[Any]] = []

    def add(kind: int, i: int, j: int, d: int) -> None:
        for k in range(shape.sizes[j]):
            m, n_a, n_b = seen[kind][i, j, k, d]
            split = state.split
            parts = split.reject[j] + share_of_rival(split, j, i) if kind == OVER else (
                split.accept[i] + share_of_dim(split, i, j, d)
            )  # fmt: skip
            level = -math.log(asked.delta) + parts + split.arm[i, m, d]
            made.append([kind, i, m, j, k, d, n_a, n_b, 0, math.floor(1e3 * level) / 1e3])

    for k in np.flatnonzero(status == REJECTED).tolist():
        for d in range(shape.dims):
            add(OVER, int(state.ledger.beaten_by[k]), k, d)
    rest = np.flatnonzero(status != REJECTED).tolist()
    for i in np.flatnonzero(status == ACCEPTED).tolist():
        for j in rest:
            if i != j:
                dims = np.flatnonzero(state.ledger.wins[i, j] == shape.sizes[j])
                if len(dims):
                    add(WON, i, j, int(dims[0]))
    return made

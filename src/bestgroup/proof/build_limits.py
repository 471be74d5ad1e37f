"""Proof documents of `adaptive` with limits: pairs of arms, and bounds that tell which arms count."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bestgroup.algorithms.adaptive.pareto.split import share_of_dim, share_of_rival
from bestgroup.algorithms.adaptive.worths.state import PROVING
from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.inference.worths import BARRED
from bestgroup.problem.arrays import Bools
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document
from bestgroup.proof.build_boxes import BoxMethod, all_bounds, box_claims, boxes_entry
from bestgroup.proof.build_pairs import process_entry
from bestgroup.proof.build_scouted import costs_entry, fed_session
from bestgroup.proof.pairs import OVER, WON

Key = tuple[int, int, int, int, int]  # kind, i, j, k, d


class Proven(NamedTuple):
    """What a comparison was proven by: the arm, the counts of both, and the level."""

    m: int
    n_a: int
    n_b: int
    level: float


def limits_document(asked: Asked, algorithm: Algorithm, setting: Setting) -> dict[str, Any]:
    """Return the proof document of a run with limits and independent arms."""
    run = _Run(asked, algorithm, setting)
    part = Fraction(1, 2 * setting.shape.total * len(asked.problem.limits))
    method = BoxMethod(part, part, history=True)
    bounds = all_bounds(asked, method)
    limited = {bound.dim for bound in setting.measure.bounds} if setting.measure else set()
    entry = _scouted(run) if run.session.state.phase[0] == PROVING else _unscouted(run)
    entry["boxes"] = boxes_entry(asked, method)
    told = box_claims(bounds, [key for key in bounds if key[2] in limited])
    return document(asked, entry, [*told, *run.claims()])


def _scouted(run: _Run) -> dict[str, Any]:
    """Return what the warm-up has fixed: all follows from how many values it had."""
    before, shape = run.session.state.ledger.base_counts, run.setting.shape
    entry: dict[str, Any] = {
        "kind": "pairs",
        "budget": "scouted",
        "before": [[int(before[i, j]) for j in range(size)] for i, size in enumerate(shape.sizes)],
        "process": [{"name": "scouted"}] * shape.dims,
    }
    costs = costs_entry(run.setting)
    return entry if costs is None else entry | {"costs": costs}


def _unscouted(run: _Run) -> dict[str, Any]:
    """Return the same for a run that has not ended its warm-up: no pair was compared."""
    shape, D = run.setting.shape, len(run.asked.problem.decided)
    N, A = shape.groups, shape.total
    kinds = [int(kind) for kind in run.session.rule.box.kind]
    return {
        "kind": "pairs",
        "budget": "fixed",
        "over": [[1, 2 * N * max(A - size, 1)] for size in shape.sizes],
        "won": [[1, 2 * N * D * size] for size in shape.sizes],
        "stale": [[0, 1]] * N,
        "process": [process_entry(kind) for kind in kinds],
    }


class _Run:
    """A run again, with what was proven when."""

    def __init__(self, asked: Asked, algorithm: Algorithm, setting: Setting) -> None:
        self.asked, self.setting = asked, setting
        self.session = fed_session(asked, algorithm, setting)
        self.found: dict[Key, Proven] = {}
        before: list[Bools | None] = [None, None]
        while self.session.advance(1):
            state = self.session.state
            for kind, now in ((OVER, state.over), (WON, state.near)):
                last = before[kind]
                fresh = now if last is None else now & ~last
                for i, j, k, d in np.argwhere(fresh).tolist():
                    self._note(kind, i, j, k, d)
                before[kind] = now.copy()

    def _note(self, kind: int, i: int, j: int, k: int, d: int) -> None:
        state, split = self.session.state, self.session.state.split
        by = state.ledger.won_by if kind == WON else state.ledger.over_by
        m = int(by[i, j, k, d])
        level = self.session.rule.levels.level + split.arm[i, m, d]
        if kind == WON:
            level += split.accept[i] + share_of_dim(split, i, j, d)
        else:
            level += split.reject[j] + share_of_rival(split, j, i)
        counts = int(self.session.counts[i][m]), int(self.session.counts[j][k])
        self.found[kind, i, j, k, d] = Proven(m, *counts, math.floor(1e3 * level) / 1e3)

    def _left(self, j: int) -> list[int]:
        size = self.setting.shape.sizes[j]
        return [k for k in range(size) if self.session.state.standing[j, k] != BARRED]

    def _has(self, kind: int, i: int, j: int, d: int) -> bool:
        return all((kind, i, j, k, d) in self.found for k in self._left(j))

    def claims(self) -> list[list[Any]]:
        """Return the claims that the decisions were made by."""
        state, D = self.session.state, len(self.asked.problem.decided)
        status = np.asarray(self.asked.status)
        made: list[list[Any]] = []

        def add(kind: int, i: int, j: int, d: int) -> None:
            for k in self._left(j):
                m, n_a, n_b, level = self.found[kind, i, j, k, d]
                made.append([kind, i, m, j, k, d, n_a, n_b, 0, level])

        for j in np.flatnonzero(status == Status.OUT).tolist():
            by = int(state.beaten_by[j])
            for d in range(D) if by >= 0 else ():
                add(OVER, by, j, d)
        for i in np.flatnonzero(status == Status.IN).tolist():
            for j in range(len(status)):
                dims = [d for d in range(D) if self._has(WON, i, j, d)]
                if i != j and dims:
                    add(WON, i, j, dims[0])
        return made

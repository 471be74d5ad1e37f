"""Proof documents from evidence on pairs of arms that were judged without a warm-up."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from bestgroup.inference.certificate.judge import Verdict, leading_arm
from bestgroup.inference.certificate.pairs import EFFECTS, PRECISIONS, SCALES, error_of, set_sums
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.evalues.normal import pair_evidence
from bestgroup.inference.evalues.pair_wealth import ROOM, pair_lack
from bestgroup.inference.evalues.wealth import BETS, CENTRE, STATISTICS
from bestgroup.inference.kinds import GAUSSIAN, SUBGAUSSIAN
from bestgroup.inference.tally import Tally
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document
from bestgroup.proof.pairs import OVER, WON

_GRID = math.log(5.0)
_MANY = 20  # groups from which a compilation pays


def pairs_document(asked: Asked, verdict: Verdict, tally: Tally) -> dict[str, Any]:
    """Return the proof document of a verdict by pairs; `tally` has sums about one origin."""
    shape = asked.problem.shape
    N, D, A = shape.groups, shape.dims, shape.total
    rule = asked.problem.noise.boxes(shape, asked.delta)
    over = [Fraction(1, N * max(A - size, 1)) for size in shape.sizes]
    won = [Fraction(1, N * D * size) for size in shape.sizes]
    claims = _claims(asked, verdict, tally, rule, (over, won))
    entry = {
        "kind": "pairs",
        "budget": "fixed",
        "over": [[part.numerator, part.denominator] for part in over],
        "won": [[part.numerator, part.denominator] for part in won],
        "stale": [[0, 1]] * N,
        "process": [process_entry(int(kind)) for kind in rule.kind],
    }
    return document(asked, entry, claims)


def process_entry(kind: int) -> dict[str, Any]:
    """Return the process of pairs for a kind of noise."""
    if kind == SUBGAUSSIAN:
        return {"name": "normal", "parts": list(PRECISIONS), "fixed_at": 0}
    if kind == GAUSSIAN:
        return {"name": "symmetric", "parts": list(EFFECTS), "fixed_at": 0}
    return {"name": "bets", "parts": list(SCALES), "fixed_at": 0}


def _claims(
    asked: Asked,
    verdict: Verdict,
    tally: Tally,
    rule: BoxRule,
    shares: tuple[list[Fraction], list[Fraction]],
) -> list[list[Any]]:
    """Return claims that the statuses follow from: one rival for each group, one dim for each pair."""
    shape, status = asked.problem.shape, np.asarray(verdict.status)
    made: list[list[Any]] = []

    def add(kind: int, i: int, j: int, d: int, share: Fraction, shift: float) -> None:
        m = int(leading_arm(tally, shape.exists, i, d))
        for k in range(shape.sizes[j]):
            level = -math.log(asked.delta * share)
            g, value = strongest(rule, tally, (i, m), (j, k), d, shift, level)
            counts = int(tally.counts[i, m]), int(tally.counts[j, k])
            made.append([kind, i, m, j, k, d, *counts, g, math.floor(1e3 * value) / 1e3])

    for k in np.flatnonzero(status == Status.OUT).tolist():
        by = int(np.flatnonzero(verdict.beats[:, k].all(axis=1))[0])
        for d in range(shape.dims):
            add(OVER, by, k, d, shares[0][k], 0.0)
    epsilon = asked.goal.epsilons(shape.dims)  # type: ignore[union-attr]
    for i in np.flatnonzero(status == Status.IN).tolist():
        for j in np.flatnonzero(status != Status.OUT).tolist():
            if i != j:
                d = int(np.flatnonzero(verdict.holds[i, j])[0])
                add(WON, i, j, d, shares[1][i], float(epsilon[d]))
    return made


def strongest(
    rule: BoxRule,
    tally: Tally,
    above: tuple[int, int],
    below: tuple[int, int],
    d: int,
    shift: float,
    level: float,
) -> tuple[int, float]:
    """Return the part of the process that reaches the level, and a value that it reaches."""
    kind, scale = rule.kind[d], rule.scale[d]
    n_a, n_b = float(tally.counts[above]), float(tally.counts[below])
    if kind == SUBGAUSSIAN:
        gap = (tally.sums[above][d] / n_a + shift - tally.sums[below][d] / n_b) / scale
        values = [pair_evidence(gap, n_a, n_b, q, q) - _GRID for q in PRECISIONS]
        best = int(np.argmax(values))
        # With some room: a value that is only just reached takes long to check.
        return best, max(level, math.floor(10.0 * values[best]) / 10.0)
    sums, room = np.zeros((2, STATISTICS)), np.zeros((ROOM, BETS))
    unit_a = set_sums(rule, tally, *above, d, sums[0])
    unit_b = set_sums(rule, tally, *below, d, sums[1])
    if kind == GAUSSIAN:
        sums[1, CENTRE] -= sums[0, CENTRE]
        sums[0, CENTRE] = 0.0
    errors = error_of(kind, sums[0]), error_of(kind, sums[1])
    lack = pair_lack.compiled if len(tally.counts) > _MANY else pair_lack
    for g, size in enumerate(EFFECTS if kind == GAUSSIAN else SCALES):
        bets = (size / unit_a, math.inf), (size / unit_b, math.inf)
        given = kind, sums[0], sums[1], bets, errors, shift / scale, level + _GRID, room
        if lack(*given) <= 0.0:
            return g, level
    return 0, level

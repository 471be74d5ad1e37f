"""Proof documents on shared items with limits, for other worths, and of the m best groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from bestgroup.inference.evalues.paired import Claim, betting, is_refuted
from bestgroup.problem.arrays import Floats
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document
from bestgroup.proof.format import Proof, parse
from bestgroup.proof.item_worths import BREAKS, KEEPS, OVER, WON, Judge, Unit, standing
from bestgroup.proof.items import PROCESS, reach_of

Values = list[list[Floats]]  # of arm j of group i: [places, dims], larger being better
_SURE = 1.0 + 1e-9  # of a wealth: what rounding may have done is far less


def item_worths_document(asked: Asked, entry: dict[str, Any], values: Values) -> dict[str, Any]:
    """Return the proof document of what claims on units prove."""
    method = {**entry, "kind": "item units", "process": dict(PROCESS)}
    undecided = replace(asked, status=[int(Status.UNDECIDED)] * len(asked.status))
    proof = parse(document(undecided, method, []))
    return document(asked, method, _Search(asked, proof, values).claims())


class _Search:
    """Looks for the claims that the statuses follow from, in floating point."""

    def __init__(self, asked: Asked, proof: Proof, values: Values) -> None:
        self.asked, self.proof, self.values = asked, proof, values
        self.judge = Judge(proof, asked.rows)
        self.contest, self.places = self.judge.contest, self.judge.places
        self.rule = betting(self.judge.rule.pool)
        self.sizes = np.array([len(own) for own in self.places.members], np.float64)
        deep = {len(arm) for group in values for arm in group}
        self.complete = deep == {self.judge.rule.pool}
        self.made: list[list[int]] = []
        self.known = standing(proof, self.contest, self._limits())
        self.chosen = [
            [[self._value(i, unit, q) for q in range(len(self.contest.slack))] for unit in own]
            for i, own in enumerate(self.contest.units)
        ]

    def _value(self, i: int, unit: Unit, q: int) -> Floats:
        """Return value q of a unit on the places that all its arms have passed."""
        weights, D = self.contest.weights, self.proof.D
        depth = min(len(self.values[i][j]) for arms in unit for j in arms)
        columns = [
            np.mean([self.values[i][j][:depth, d] for j in unit[d]], axis=0) for d in range(D)
        ]
        if weights is None:
            return columns[q]
        return np.sum([float(w) * x for w, x in zip(weights, columns, strict=True)], axis=0)

    def _proves(
        self, values: Floats, shift: float, reach: float, share: Fraction, strict: bool
    ) -> bool:
        """Return whether differences on places prove a claim on the mean of an item."""
        n, need = len(values), float(1 / (self.proof.delta * share)) * _SURE
        # The wealth is below 1 then; at the end of a pool sums tie up to their rounding.
        below = values.sum() + shift * self.sizes[:n].sum() < 0
        if n == 0 or (below and n != self.rule.pool):
            return False
        if self.places.clustered and self.places.within:
            values = values + shift * self.sizes[:n]
            shift, reach = 0.0, self.places.largest * (reach + abs(shift))
        elif self.places.clustered:
            size = float(self.places.mean_size) if self.places.pool else self.places.largest
            shift, reach = shift * size, reach * self.places.largest
        refuted = is_refuted.compiled if n > 30 else is_refuted
        claim = Claim(shift, reach, need, strict)
        return bool(refuted(self.rule, np.ascontiguousarray(values), claim))

    def _limits(self) -> tuple[set[tuple[int, int, int]], set[tuple[int, int, int]]]:
        """Return which limits arms keep and break, and make the claims that say so."""
        found: tuple[set[tuple[int, int, int]], set[tuple[int, int, int]]] = (set(), set())
        numbers = range(len(self.proof.limits))
        for i, group in enumerate(self.values):
            for j, arm in enumerate(group):
                # A complete pool is answered without tolerances: arms between count as broken.
                over = self.complete and any(self._limit(BREAKS, i, j, n) for n in numbers)
                kept = [] if over else [n for n in numbers if self._limit(KEEPS, i, j, n)]
                if len(kept) == len(numbers):
                    found[0].update((i, j, n) for n in kept)
                    self.made += [[KEEPS, i, j, n, len(arm)] for n in kept]
                    continue
                broken = [n for n in numbers if self._limit(BREAKS, i, j, n)][:1]
                found[1].update((i, j, n) for n in broken)
                self.made += [[BREAKS, i, j, n, len(arm)] for n in broken]
        return found

    def _limit(self, kind: int, i: int, j: int, number: int) -> bool:
        limit, sign = self.proof.limits[number], self.proof.limits[number].sign
        noise, turn = self.proof.noise[limit.dim], self.proof.signs[limit.dim]
        middle, half = turn * (noise.low + noise.high) / 2.0, (noise.high - noise.low) / 2.0
        # Of the rows themselves: algorithms mirror values about the middle of their range.
        column = np.array([turn * float(row[limit.dim]) for row in self.judge.table[i, j]])
        values = sign * (column - middle * self.sizes[: len(column)])
        edge = sign * (float(limit.at) - middle)
        share = self.contest.limit
        if kind == BREAKS:
            return self._proves(values, -edge, half, share, True)
        return self._proves(-values, edge + float(limit.tolerance), half, share, False)

    def covers(self, kind: int, i: int, j: int, q: int) -> list[list[int]] | None:
        """Return claims that show the worth of i above that of j, or not below by the slack."""
        ranks, weights = self.contest.ranks, self.contest.weights
        if len(self.known.sure[i]) < ranks[i]:
            return None
        shift = float(self.contest.slack[q]) if kind == WON else 0.0
        dims = [q] if weights is None else range(self.proof.D)
        parts = [float(reach_of(self.proof, d)) for d in dims]
        reach = parts[0] if weights is None else float(np.dot(list(map(float, weights)), parts))
        share = self.contest.shares[kind][i, j]
        best = sorted(self.known.sure[i], key=lambda u: -_mean(self.chosen[i][u][q], self.sizes))
        rows: list[list[int]] = []
        free = 0
        for v in self.known.left[j]:
            own: list[list[int]] = []
            for u in best:
                one, two = self.chosen[i][u][q], self.chosen[j][v][q]
                t = min(len(one), len(two))
                if self._proves(one[:t] - two[:t], shift, reach, share, kind == OVER):
                    own.append([kind, i, u, j, v, q, t])
                if len(own) == ranks[i]:
                    break
            free += len(own) < ranks[i]
            if free >= ranks[j]:
                return None
            rows += own if len(own) == ranks[i] else []
        return rows

    def _all(self, kind: int, i: int, j: int) -> list[list[int]] | None:
        """Return claims by which i beats j in every value (over), or holds in one (won)."""
        parts = (self.covers(kind, i, j, q) for q in range(len(self.contest.slack)))
        if kind == WON:
            return next((part for part in parts if part is not None), None)
        found: list[list[int]] = []
        for part in parts:
            if part is None:
                return None
            found += part
        return found

    def claims(self) -> list[list[int]]:
        """Return the claims for all statuses; what is missing shows when the document is checked."""
        status, N, m = np.asarray(self.asked.status), len(self.proof.groups), self.proof.goal.m
        ranks, made = self.contest.ranks, self.made
        lost = [i for i in range(N) if len(self.known.left[i]) < ranks[i]]
        rest = [i for i in range(N) if i not in lost]
        outside: list[int] = []
        for k in np.flatnonzero(status == Status.OUT).tolist():
            found = [self._all(OVER, i, k) for i in self._ahead(rest, k)] if k in rest else []
            beating = [rows for rows in found if rows is not None][:m]
            if len(beating) == m:
                made += [row for rows in beating for row in rows]
                outside.append(k)
        either = any(limit.tolerance > 0 for limit in self.proof.limits)
        aside = {*lost, *(() if either or self.proof.goal.several else outside)}
        inside = np.flatnonzero(status == Status.IN).tolist()
        skip = inside if self.proof.goal.several and len(inside) == m else []
        for i in inside:
            for j in rest:
                if j not in (i, *aside, *skip):
                    made += self._all(WON, i, j) or self._all(OVER, i, j) or []
        return [list(row) for row in dict.fromkeys(map(tuple, made))]

    def _ahead(self, rest: Sequence[int], k: int) -> list[int]:
        """Return the other groups, those that are in first: they are compared in any case."""
        status = self.asked.status
        return sorted((i for i in rest if i != k), key=lambda i: status[i] != Status.IN)


def _mean(values: Floats, sizes: Floats) -> float:
    return float(values.sum() / sizes[: len(values)].sum()) if len(values) else -np.inf

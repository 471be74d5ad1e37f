"""Proof documents of TE+: sums of differences of two arms with equal counts (docs/theory.md 4)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Setting
from bestgroup.errors import InvalidInput
from bestgroup.inference.evalues.normal import wide_mixture
from bestgroup.problem.arrays import Floats
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document
from bestgroup.proof.pairs import OVER, STALE, WON, difference_shares
from bestgroup.proof.sequences import WIDE

Key = tuple[int, int, int, int, int, int]  # kind, i, m, j, k, d


class Found(NamedTuple):
    """The first count at which a claim has reached its level, and the log that it has there."""

    n: int
    value: float


def differences_document(asked: Asked, setting: Setting) -> dict[str, Any]:
    """Return the proof document of a run of TE+ with independent arms."""
    if setting.goal.worth_weights(setting.shape.dims) is not None:
        raise InvalidInput("there is no proof file for this goal")
    N = setting.shape.groups
    found = difference_shares(setting.shape.sizes, setting.shape.dims)
    over, won, stale = (part[0] for part in found)
    entry = {
        "kind": "pairs",
        "budget": "fixed",
        **{
            name: [[part.numerator, part.denominator]] * N
            for name, part in (("over", over), ("won", won), ("stale", stale))
        },
        "process": [{"name": "difference", "parts": list(WIDE), "fixed_at": 0}]
        * setting.shape.dims,
    }
    claims = _Search(asked, setting, (over, won, stale)).claims()
    return document(asked, entry, claims)


class _Search:
    """Looks for the claims that the statuses follow from."""

    def __init__(self, asked: Asked, setting: Setting, parts: tuple[Fraction, ...]) -> None:
        shape = setting.shape
        self.asked, self.shape = asked, shape
        self.epsilon = setting.goal.epsilons(shape.dims)
        self.scale = setting.noise.scales(shape.dims)
        self.levels = [-math.log(asked.delta * part) if part else math.inf for part in parts]
        self.sums: dict[tuple[int, int], Floats] = {}
        signs = np.array([1 if d.direction == "max" else -1 for d in asked.problem.decided])
        for i, size in enumerate(shape.sizes):
            for j in range(size):
                columns = asked.columns_of(i, j)
                if columns is not None:
                    self.sums[i, j] = np.cumsum(np.array(columns) * signs[:, None], axis=1)
        self.kept: dict[Key, Found | None] = {}
        self.stale = self._stale_arms()

    def find(self, key: Key) -> Found | None:
        """Return when a claim reached its level; the search goes by the strongest count."""
        if key not in self.kept:
            self.kept[key] = self._find(key)
        return self.kept[key]

    def _find(self, key: Key) -> Found | None:
        kind, i, m, j, k, d = key
        if (i, m) not in self.sums or (j, k) not in self.sums:
            return None
        a, b = self.sums[i, m][d], self.sums[j, k][d]
        n = min(len(a), len(b))
        counts = np.arange(1, n + 1)
        shift = self.epsilon[d] if kind == WON else 0.0
        total = (a[:n] - b[:n] + counts * shift) / self.scale[d]
        # What is looked at first is where the sum is large for its count.
        near = np.argsort(-total / np.sqrt(2.0 * counts + 8.0))[:40].tolist()
        best = Found(0, -math.inf)
        for c in near:
            if total[c] > 0.0:
                value = wide_mixture(float(total[c]), 2.0 * float(counts[c]))[0]
                if value > best.value:
                    best = Found(int(counts[c]), float(value))
        return best if best.value >= self.levels[kind] else None

    def _stale_arms(self) -> dict[tuple[int, int, int], Key]:
        """Return the arms that are not the best of their group in a dim, with a claim each."""
        found = {}
        for i, size in enumerate(self.shape.sizes):
            for d in range(self.shape.dims):
                for k in range(size):
                    keys = [(STALE, i, m, i, k, d) for m in range(size) if m != k]
                    good = [key for key in keys if self.find(key) is not None]
                    if good:
                        found[i, d, k] = good[0]
        return found

    def covers(self, kind: int, i: int, j: int, d: int) -> list[Key] | None:
        """Return claims of i against all arms of j in a dim; None if one is missing."""
        keys = []
        for k in range(self.shape.sizes[j]):
            arms = [(kind, i, m, j, k, d) for m in range(self.shape.sizes[i])]
            good = next((key for key in arms if self.find(key) is not None), None)
            if good is None:
                good = self.stale.get((j, d, k))
            if good is None:
                return None
            keys.append(good)
        return keys

    def claims(self) -> list[list[Any]]:
        """Return the claims for all statuses; what is missing shows when the document is checked."""
        status = np.asarray(self.asked.status)
        N, D = self.shape.groups, self.shape.dims
        chosen: set[Key] = set()
        for k in np.flatnonzero(status == Status.OUT).tolist():
            for i in range(N):
                dims = [self.covers(OVER, i, k, d) if i != k else None for d in range(D)]
                if all(part is not None for part in dims):
                    chosen.update(key for part in dims for key in part or ())
                    break
        rest = np.flatnonzero(status != Status.OUT).tolist()
        for i in np.flatnonzero(status == Status.IN).tolist():
            for j in rest:
                dims = [self.covers(WON, i, j, d) for d in range(D)] if i != j else []
                chosen.update(next((part for part in dims if part is not None), ()))
        rows = []
        for key in sorted(chosen):
            found = self.kept[key]
            assert found is not None
            value = math.floor(1e3 * (found.value - 1e-6)) / 1e3
            rows.append([*key, found.n, found.n, 0, value])
        return rows

"""The observations of one arm, by index, with their running sums."""

from __future__ import annotations

import numpy as np

from bestgroup.inference.pivots import pivot_of
from bestgroup.problem.arrays import Bools, Floats


class Stack:
    """What was told of an arm.

    Running sums are added in the order of the pulls, each pull to the sum before it, as a tape adds
    them; so they have the same bits however the pulls arrived. They are of deviations from the
    pivot, which is 0 unless the first pull is far from it in units of `scales` [D].
    """

    def __init__(self, dims: int, scales: Floats | None = None) -> None:
        self._scales = scales
        self.pivot: Floats | None = None  # [D], if it is not 0
        self._values: Floats = np.zeros((8, dims))
        self._sums: Floats = np.zeros((8, dims))
        self._known: Bools = np.zeros(8, np.bool_)
        self._base = 0  # the pull in row 0; earlier ones are forgotten
        self._before: Floats | None = None  # the sum of all pulls before row 0
        self.ready = 0  # all pulls before this one are told
        self._top = 0  # no pull from this one on is told

    def start(self, count: int, total: Floats, pivot: Floats | None = None) -> None:
        """Forget everything; the first `count` pulls have that sum of deviations from the pivot."""
        self.__init__(len(total), self._scales)
        self.pivot = pivot if pivot is not None and pivot.any() else None
        self._base = self.ready = self._top = count
        self._before = total.copy() if count else None

    def missing(self, first: int, stop: int) -> list[tuple[int, int]]:
        """Return the stretches [a, b) of [first, stop) that are not told."""
        first = max(first, self.ready)
        if first >= stop:
            return []
        if first >= self._top:
            return [(first, stop)]
        absent = np.ones(stop - first + 2, np.int8)
        absent[0] = absent[-1] = 0
        known = self._known[first - self._base : stop - self._base]
        absent[1 : 1 + len(known)] = ~known
        edges = np.flatnonzero(np.diff(absent)) + first
        return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))

    def differs(self, index: int, block: Floats) -> bool:
        """Return whether an entry of the block is known, and kept, with another value."""
        skip = max(0, self._base - index)
        low = index + skip - self._base
        high = min(index + len(block), self._top) - self._base
        if high <= low:
            return False
        known = self._known[low:high]
        given = block[skip : skip + high - low]
        return bool((self._values[low:high][known] != given[known]).any())

    def put(self, index: int, block: Floats) -> int:
        """Keep a block and return how many of its entries are new; known ones stay as they are."""
        if index < self._base:
            block = block[self._base - index :]
            index = self._base
        low, high = index - self._base, index - self._base + len(block)
        if high <= low:
            return 0
        if high > len(self._known):
            self._grow(high)
        fresh = high - low
        if index < self._top:
            fresh -= int(self._known[low:high].sum())
        self._values[low:high] = block
        self._known[low:high] = True
        self._top = max(self._top, self._base + high)
        if index <= self.ready < self._base + high:
            self._extend()
        return fresh

    def value(self, index: int) -> Floats | None:
        """Return one pull if it is told and not forgotten."""
        row = index - self._base
        known = 0 <= row < len(self._known) and self._known[row]
        return self._values[row] if known else None

    def rows(self, first: int, stop: int) -> Floats:
        """Return pulls first, ..., stop - 1, which are told and not forgotten."""
        return self._values[first - self._base : stop - self._base]

    def total(self, count: int, keep: bool = True) -> Floats:
        """Return the sum of the first `count` pulls about the pivot; unless `keep`, they may be forgotten."""
        row = count - 1 - self._base
        total = self._sums[row]
        if not keep and row >= 1023 and 2 * row >= len(self._known):
            total = total.copy()
            self._before = total
            self._values, self._sums = self._values[row + 1 :].copy(), self._sums[row + 1 :].copy()
            self._known = self._known[row + 1 :].copy()
            self._base = count
        return total

    def _extend(self) -> None:
        """Add to the running sums the pulls that have become contiguous."""
        low, top = self.ready - self._base, self._top - self._base
        span = self._known[low:top]
        high = top if span.all() else low + int(span.argmin())
        before = self._sums[low - 1] if low else self._before
        if self.ready == 0 and self._scales is not None:
            pivot = pivot_of(self._values[0], self._scales)
            self.pivot = pivot if pivot.any() else None
        rows = self._values[low:high]
        if self.pivot is not None:
            rows = rows - self.pivot
        if before is None:
            np.cumsum(rows, axis=0, out=self._sums[low:high])
        elif high == low + 1:
            np.add(before, rows[0], out=self._sums[low])
        else:
            # The sum so far takes the place of row 0, so that every pull is added in its turn.
            chain = np.concatenate([before[None], rows])
            self._sums[low:high] = np.cumsum(chain, axis=0)[1:]
        self.ready = self._base + high

    def _grow(self, rows: int) -> None:
        more = max(len(self._known), rows - len(self._known))
        pad = np.zeros((more, self._values.shape[1]))
        self._values = np.concatenate([self._values, pad])
        self._sums = np.concatenate([self._sums, pad])
        self._known = np.concatenate([self._known, np.zeros(more, np.bool_)])

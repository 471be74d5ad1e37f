"""Looks for evidence on normal values of unknown scale: symmetric bets within bounds of single arms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bestgroup.inference.confidence_sequences.gaussian import gaussian_reach
from bestgroup.inference.evalues import selection_wealth
from bestgroup.inference.evalues.wealth import ALL, ALL_SECOND, CENTRE, COUNT, FIRST, STATISTICS
from bestgroup.problem.arrays import Floats
from bestgroup.proof.build import Asked
from bestgroup.proof.build_boxes import Found
from bestgroup.proof.selection_search import Bets, Compare, Event, Named

TESTS = 0.75  # of delta is for evidence; the rest is for bounds
_LEAST = 4  # values that a unit is taken from
_ROOM = 1e-9  # of a bound's distance from the mean: what rounding may have done is far less
_LONG = 100  # bounds from which a compilation pays


def tails_entry(asked: Asked) -> dict[str, Any]:
    """Return the shares and processes of the bounds."""
    shape = asked.problem.shape
    return {
        "budget": "fixed",
        "low": [1, 8 * shape.total * shape.dims],
        "high": [1, 8 * shape.dims],
        "process": [{"name": "t-mixture", "fixed_at": 0}] * shape.dims,
    }


def tails_of(asked: Asked, named: list[Named], events: list[Event]) -> Found:
    """Return the tightest bound of each arm and dim at the counts of the events: all hold together."""
    shape, found = asked.problem.shape, Found()
    counts: dict[tuple[int, int, int, int], set[int]] = {}
    for event in events:
        leader = named[event.leader]
        for d in range(shape.dims):
            counts.setdefault((leader.group, leader.arms[d], d, 0), set()).add(event.own[d])
            for j, n in enumerate(event.other):
                counts.setdefault((event.rival, j, d, 1), set()).add(n)
    reach = gaussian_reach.compiled if len(counts) > _LONG else gaussian_reach
    for (i, j, d, side), several in counts.items():
        columns = asked.columns_of(i, j)
        assert columns is not None
        values = asked.problem.mirror(np.array(columns).T)[:, d]
        share = 8.0 * shape.dims * (1.0 if side else shape.total) / asked.delta
        ends = [(n, _end(values[:n], reach(float(n), math.log(share)), side)) for n in several]
        best = min if side else max
        found[i, j, d, side] = best(ends, key=lambda end: (end[1], end[0]))
    return {key: end for key, end in found.items() if math.isfinite(end[1])}


def _end(values: Floats, reach: float, side: int) -> float:
    """Return an upper bound of the mean (side 1) or a lower one, a little outwards."""
    mean = float(values.mean())
    width = reach * float(np.sqrt(((values - mean) ** 2).sum())) * (1.0 + _ROOM)
    width += 1e-15 * (abs(mean) + width)
    return mean + width if side else mean - width


class Symmetric(Bets):
    """By wealth of symmetric bets; the suprema are over means within bounds."""

    enough = 1e3  # where bounds alone keep the means apart it grows with the tilt for ever

    def __init__(
        self,
        asked: Asked,
        method: dict[str, Any],
        named: Named,
        event: Event,
        by: Compare,
        bounds: Found,
    ) -> None:
        super().__init__(asked, method, named, event, by)
        self.ends = bounds
        self.origin = [float(values[:, d].mean()) for d, values in enumerate(self.own)]

    def parts(self) -> list[int]:
        """Return scales that suit, the best one first; none where an arm has no bound or no unit."""
        return super().parts() if self._ready() else []

    def _ready(self) -> bool:
        lead, rival = self.named.group, self.event.rival
        own = all((lead, j, d, 0) in self.ends for d, j in enumerate(self.lead.tolist()))
        own = own and all(
            self.before[j] or _first(self.own[d][:, e]) < len(self.own[d])
            for d, j in enumerate(self.lead.tolist())
            for e in range(self.D)
        )
        cells = [(j, d) for j in range(self.size) for d in range(self.D)]
        return own and all(
            (rival, j, d, 1) in self.ends and _first(self.other[j][:, d]) < len(self.other[j])
            for j, d in cells
        )

    def _hulls(self, g: int) -> selection_wealth.Hulls:
        if g not in self.hulls:
            self.hulls[g] = self._made(selection_wealth.EFFECT * selection_wealth.SCALES[g])
        return self.hulls[g]

    def _made(self, effect: float) -> selection_wealth.Hulls:
        hulls = selection_wealth.make_hulls(self.size, self.D, self.weights, self.D + self.summed)
        set_points = selection_wealth.set_symmetric
        for d, j in enumerate(self.lead.tolist()):
            values = self._values(self.named.group, j)[: self.event.own[d]]
            n, unit, hulls.parts[self.size, d] = self._known(values, self.before[j], d)
            last = self.ends[self.named.group, j, d, 0][1] - self.origin[d]
            stat = self._sums(values[n:, d], d)
            set_points(stat, 0, effect / unit, last, hulls, self.size, d)
        for j, values in enumerate(self.other):
            for d in range(self.D):
                n, unit, hulls.parts[j, d] = self._known(values, 0, d)
                last = self.ends[self.event.rival, j, d, 1][1] - self.origin[d]
                stat = self._sums(values[n:, d], d)
                set_points(stat, 1, effect / unit, last, hulls, j, d)
        if self.summed:
            self._add_normal_sums(hulls, effect)
        return hulls

    def _known(self, values: Floats, before: int, d: int) -> tuple[int, float, float]:
        """Return how many values of an arm do not count in a dim, their unit, and the dim's part."""
        first = [before or _first(values[:, e]) for e in range(self.D)]
        unit = float(np.std(values[: first[d], d], ddof=1))
        at_once = before or max(first) == _LEAST
        return first[d], unit, float(self.weights[d]) * (unit if at_once else 1.0)

    def _add_normal_sums(self, hulls: selection_wealth.Hulls, effect: float) -> None:
        """Set the points of arms that serve all dims, by their weighted sums about the origins."""
        set_points, lead = selection_wealth.set_symmetric, self.named.group

        def last(i: int, j: int, side: int) -> float:
            ends = [self.ends[i, j, d, side][1] - self.origin[d] for d in range(self.D)]
            return float(np.dot(self.weights, ends))

        if self.masks[0] == (1 << self.D) - 1:
            j = int(self.lead[0])
            sums = (self._values(lead, j)[: self.event.own[0]] - self.origin) @ self.weights
            first = self.before[j] or _first(sums)
            unit, stat = float(np.std(sums[:first], ddof=1)), _sums_about(sums[first:])
            set_points(stat, 0, effect / unit, last(lead, j, 0), hulls, self.size, self.D)
        for j, values in enumerate(self.other):
            sums = (values - self.origin) @ self.weights
            first = _first(sums)
            unit, stat = float(np.std(sums[:first], ddof=1)), _sums_about(sums[first:])
            set_points(stat, 1, effect / unit, last(self.event.rival, j, 1), hulls, j, self.D)

    def _sums(self, values: Floats, d: int) -> Floats:
        """Return what wealth takes of values that count, less the origin of their dim."""
        stat = _sums_about(values)
        stat[CENTRE] -= self.origin[d]
        return stat


def _sums_about(values: Floats) -> Floats:
    """Return what wealth takes of values that count."""
    stat, away = np.zeros(STATISTICS), values - values[0]
    stat[COUNT] = stat[ALL] = len(values)
    stat[CENTRE] = values[0]
    stat[FIRST], stat[FIRST + 1] = away.sum(), (away**2).sum()
    stat[ALL_SECOND] = stat[FIRST + 1]
    return stat


def _first(column: Floats) -> int:
    """Return how many first values an arm's unit is taken from: four, more while all are equal."""
    n = _LEAST
    while n < len(column) and (column[:n] == column[0]).all():
        n += 1
    return n

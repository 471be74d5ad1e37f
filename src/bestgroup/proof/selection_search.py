"""Looks for tilts and boxes that prove a leader ahead of all selections of a rival, in floating point."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bestgroup.inference.evalues import linear, selection_wealth
from bestgroup.inference.evalues.search import (
    at_selection,
    bound_box,
    find_blocks,
    make_pairwise,
    make_work,
    relaxed,
)
from bestgroup.inference.evalues.wealth import (
    ALL,
    ALL_SECOND,
    ALL_SIXTH,
    CENTRE,
    COUNT,
    FIRST,
    ORDER,
    STATISTICS,
)
from bestgroup.inference.kinds import BERNOULLI, POWERS
from bestgroup.problem.arrays import Floats
from bestgroup.proof.build import Asked
from bestgroup.proof.selection_evidence import AND_SUMS

_ROOM = 1e-3  # that a tilt aims at beyond its level
_SAFE = 1e-8  # of a total that is taken for enough
_BOXES = 400

Ranks = list[tuple[int, int]]


class Event(NamedTuple):
    """A rival that a leader has left behind, with the counts at that moment."""

    leader: int
    rival: int
    own: list[int]  # of the leader's arms, by dim; or how many measurements it has
    other: list[int]


class Named(NamedTuple):
    """A leader: its group, an arm for each dim, and all counts when it was named."""

    group: int
    arms: list[int]
    counts: list[list[int]]
    course: Floats | None = (
        None  # [M, 2] n_L and n_L z_L after each of its measurements, if it has any
    )


class Compare(NamedTuple):
    """By which weights two groups are compared, and how far the one may be behind."""

    weights: Floats  # [D]; a dim without weight does not count
    slack: float
    expected: float = 0.0  # about what evidence takes, in a run that scouted
    alone: bool = False  # whether one part of the process is to be enough


def cover(search: Search, g: int, level: float) -> list[list[Any]] | None:
    """Return [g, y, y, y, ranks] of boxes that hold all selections of the rival; None if one has too little.

    A part is that of g, or for a single selection any other that is enough.
    """
    size, D = search.size, search.D
    stack: list[tuple[Ranks, float]] = [([(0, size)] * D, search.tilt)]
    found: list[list[Any]] = []
    for _ in range(_BOXES):
        if not stack:
            return found
        box, tilt = stack.pop()
        tilts, part = None, g
        for part in (g, *search.others(g, box)):
            tilts, near = search.prove(part, box, tilt, level)
            tilt = near if part == g else tilt
            if tilts is not None:
                break
        if tilts is not None:
            ranks = [] if box == [(0, size)] * D else [end for ends in box for end in ends]
            found.append([part, *(y or 0 for y in tilts), *ranks])
            continue
        halves = search.split(box)
        if halves is None:
            return None
        stack += [(half, tilt) for half in halves]
    return None


class Search:
    """A leader against a rival, in floating point: the verifier has the last word."""

    joined = False  # whether one arm that is left for all dims serves them together: version 4

    def __init__(
        self, asked: Asked, method: dict[str, Any], named: Named, event: Event, by: Compare
    ) -> None:
        shape = asked.problem.shape
        self.asked, self.named, self.event = asked, named, event
        self.dims = np.flatnonzero(by.weights > 0)  # counted from 0 below
        self.D, self.size = len(self.dims), shape.sizes[event.rival]
        self.weights, self.slack, self.expected = by.weights[self.dims], by.slack, by.expected
        self.alone = by.alone
        self.independent = asked.problem.noise.dependence == "independent"
        self.before = named.counts[named.group] if named.counts else [0] * shape.arms
        self.lead = np.array(named.arms, np.int64)[self.dims]
        self.own = [] if named.course is not None else self._own()
        start = method["before"][event.rival] if method["budget"] == "scouted" else [0] * self.size
        self.other = [self._values(event.rival, j)[start[j] : n] for j, n in enumerate(event.other)]
        self.worth = np.array([self.weights * values.mean(axis=0) for values in self.other])
        self.ranked = np.argsort(-self.worth, axis=0, kind="stable")
        self.work = make_work(self.D)
        self.selection = np.zeros(self.D, np.int64)
        self.tilt = 1.0
        self.summed = method["process"]["name"].endswith(AND_SUMS)

    def _own(self) -> list[Floats]:
        """Return the values of the leader's arms that count, by dim."""
        i, arms, own = self.named.group, self.named.arms, self.event.own
        return [self._values(i, arms[d])[self.before[arms[d]] : own[d]] for d in self.dims.tolist()]

    def _values(self, i: int, j: int) -> Floats:
        columns = self.asked.columns_of(i, j)
        assert columns is not None
        return self.asked.problem.mirror(np.array(columns).T)[:, self.dims]

    def parts(self) -> list[int]:
        """Return the parts of the mixture, the most promising one first."""
        raise NotImplementedError

    def others(self, g: int, box: Ranks) -> list[int]:
        """Return the other parts by which a box may be proven: none, but for one selection, with `joined`."""
        one = self.joined and all(b - a == 1 for a, b in box)
        return [part for part in self.parts() if part != g] if one else []

    def bounds(
        self, g: int
    ) -> tuple[float, Callable[..., tuple[float, float]], Callable[..., float]]:
        """Return the log of a part's weight, what looks for a tilt, and the bound at one."""
        raise NotImplementedError

    def prove(
        self, g: int, box: Ranks, tilt: float, level: float
    ) -> tuple[list[float] | None, float]:
        """Return the tilts of parts g - 1, g, g + 1 that prove a box, and the best one of g."""
        allowed = np.zeros((self.D, self.size), np.bool_)
        for d, (a, b) in enumerate(box):
            allowed[d, self.ranked[a:b, d]] = True
        tilts, total, kept = [0.0, 0.0, 0.0], 0.0, self.selection
        for part in (g,) if self.alone else (g, g - 1, g + 1):
            found = self._part(part, allowed, tilt, level)
            if found is None:
                continue
            value, y = found
            if part == g:
                tilt, kept = y, self.selection.copy()
            tilts[part - g + 1] = y
            total += math.exp(min(value - level, 1.0))
            if total >= 1.0 + _SAFE:
                return tilts, tilt
            if part == g and value < level - 2.0 and not self.joined:
                break
        self.selection = kept
        return None, tilt

    def _part(
        self, part: int, allowed: Any, tilt: float, level: float
    ) -> tuple[float, float] | None:
        try:
            weight, search, at = self.bounds(part)
        except IndexError:
            return None
        value, y = search(allowed, tilt, level - weight + _ROOM)
        for digits in (4, 6, 9):
            rounded = float(f"{y:.{digits}g}")
            if (less := at(allowed, rounded)) >= min(value, level - weight + 2 * _SAFE) - 1e-9:
                value, y = less, rounded
                break
        return (value + weight, y) if math.isfinite(value) else None

    def split(self, box: Ranks) -> list[Ranks] | None:
        """Return two halves of a box: far arms, then near ones of the dim that costs most; None for one."""
        dim, far = -1, -1.0
        for d, (a, b) in enumerate(box):
            best = self.worth[self.ranked[a, d], d]
            behind = best - self.worth[self.selection[d], d]
            if b - a > 1 and behind > far:
                dim, far = d, float(behind)
        if dim < 0:
            return None
        a, b = box[dim]
        best = self.worth[self.ranked[a, dim], dim]
        near = sum(best - self.worth[j, dim] < 0.5 * far for j in self.ranked[a:b, dim])
        cut = min(max(a + int(near), a + 1), b - 1)
        return [[*box[:dim], part, *box[dim + 1 :]] for part in ((cut, b), (a, cut))]


class Normal(Search):
    """By half-normal mixtures."""

    weights_of_parts: ClassVar[tuple[float, ...]] = linear.PRIOR

    def __init__(self, asked: Asked, method: dict[str, Any], *rest: Any) -> None:
        super().__init__(asked, method, *rest)
        noise = asked.problem.noise
        self.prior = [math.log(p) for p in self.weights_of_parts]
        if method["budget"] == "scouted":  # one precision for each arm
            self.prior = [0.0]
        self.scales = self.weights * noise.scales(asked.problem.shape.dims)[self.dims]
        sizes = linear.coefficients(self.scales, self.independent)
        self.pair = pair = make_pairwise(len(self.prior), self.size, self.D, sizes)
        self._set_lead(method)
        for g in range(len(self.prior)):
            for j, values in enumerate(self.other):
                n, q = float(len(values)), self._precision(method, self.event.rival, j, g)
                pair.reach[g, j] = math.sqrt(n + q) / n
                pair.cost[g, j] = 0.5 * math.log(1.0 + n / q)
        gap = float(pair.ahead[0] - pair.worth.max(axis=0).sum())
        self.tilt = 20.0 / gap if gap > 0.0 else 1.0

    def _set_lead(self, method: dict[str, Any]) -> None:
        """Enter the leader's arms, and what the rival's are worth above them."""
        pair, masks = self.pair, np.zeros(self.D, np.int64)
        find_blocks(self.lead, masks)
        origin = [float(values[:, d].mean()) for d, values in enumerate(self.own)]
        pair.ahead[0] = self.slack
        pair.worth[...] = self.worth - self.weights * np.array(origin)
        for g in range(len(self.prior)):
            for d, values in enumerate(self.own):
                n, q = (
                    float(len(values)),
                    self._precision(method, self.named.group, self.lead[d], g),
                )
                if masks[d]:
                    pair.lead[g, d] = pair.coefficient[masks[d]] * math.sqrt(n + q) / n
                    pair.lead_cost[g] += 0.5 * math.log(1.0 + n / q)

    def _precision(self, method: dict[str, Any], i: int, j: int, g: int) -> float:
        """Return the precision of an arm's mixture."""
        if method["budget"] == "scouted":
            return max(1.0, 8.0 * method["before"][i][j] / self.expected)
        fine = 1.0
        if "costs" in method:
            logs = [math.log(cost) for row in method["costs"] for cost in row]
            fine = math.exp(sum(logs) / len(logs)) / float(method["costs"][i][j])
        return float(linear.PRECISIONS[g]) * fine

    def parts(self) -> list[int]:
        """Return the precisions that suit, the best one first."""
        whole, parts = np.ones((self.D, self.size), np.bool_), range(len(self.prior))
        values = [
            self.bounds(g)[1](whole, self.tilt, math.inf)[0] + self.bounds(g)[0] for g in parts
        ]
        return sorted(parts, key=lambda g: -values[g])[:3]

    def bounds(
        self, g: int
    ) -> tuple[float, Callable[..., tuple[float, float]], Callable[..., float]]:
        """Return the log of a precision's weight, what looks for a tilt, and the bound at one."""
        if not 0 <= g < len(self.prior):
            raise IndexError(g)

        def search(box: Any, y: float, level: float) -> tuple[float, float]:
            if self._is_one(box):
                self.selection[:] = box.argmax(axis=1)
                return at_selection(self.pair, g, self.selection, y, level, self.work)
            return bound_box(self.pair, g, box, y, level, self.selection, self.work)

        def at(box: Any, y: float) -> float:
            if self._is_one(box):
                return self._at_one(g, box.argmax(axis=1), y)
            return float(relaxed(self.pair, g, box, y, self.selection.copy(), self.work)[0])

        return self.prior[g], search, at

    def _is_one(self, box: Any) -> bool:
        """Return whether a box holds one selection, whose own evidence is found, with `joined`."""
        return self.joined and int(box.sum()) == self.D

    def _at_one(self, g: int, selection: Any, y: float) -> float:
        """Return the evidence against one selection at a tilt."""
        pair, masks = self.pair, np.zeros(self.D, np.int64)
        find_blocks(selection, masks)
        value = y * float(pair.ahead[0] - sum(pair.worth[j, d] for d, j in enumerate(selection)))
        value -= float(pair.lead_cost[g])
        for d, j in enumerate(selection):
            steep = [float(pair.lead[g, d]), float(pair.coefficient[masks[d]] * pair.reach[g, j])]
            value -= sum(float(linear.conjugate(y * v)[0]) for v in steep if v > 0.0)
            value -= float(pair.cost[g, j]) if masks[d] else 0.0
        return value


class Measured(Normal):
    """By half-normal mixtures, the leader being like one arm: all its measurements."""

    weights_of_parts = linear.GROUP_PRIOR

    def _set_lead(self, method: dict[str, Any]) -> None:
        """Enter the leader, and what the rival's arms are worth above the best of them."""
        assert self.named.course is not None
        n, total = self.named.course[self.event.own[0] - 1].tolist()
        pair, origin, whole = self.pair, self.worth.max(axis=0), float(self.scales.sum())
        pair.ahead[0] = self.slack + total / n - float(origin.sum())
        pair.worth[...] = self.worth - origin
        shares = self.scales / whole
        for g in range(len(self.prior)):
            own = [self._precision(method, self.named.group, j, g) for j in self.lead.tolist()]
            q = float(shares @ own)
            pair.lead[g, 0] = whole * math.sqrt(n + q) / n
            pair.lead_cost[g] = 0.5 * math.log(1.0 + n / q)


class Bets(Search):
    """By wealth of bets."""

    enough = math.inf  # evidence beyond which no tilt is looked for

    def __init__(self, asked: Asked, method: dict[str, Any], *rest: Any) -> None:
        super().__init__(asked, method, *rest)
        noise = asked.problem.noise
        rule = noise.sums(asked.problem.shape, asked.delta)
        self.rule, self.hulls = rule, {}
        gap = self.slack - float(self.worth.max(axis=0).sum())
        gap += sum(float(self.weights[d] * v[:, d].mean()) for d, v in enumerate(self.own))
        self.tilt = 20.0 / gap if gap > 0.0 else 1.0
        self.masks = np.zeros(self.D, np.int64)
        find_blocks(self.lead, self.masks)

    def parts(self) -> list[int]:
        """Return scales that suit, the best one first: values rise to one scale and fall after it."""
        whole, values = np.ones((self.D, self.size), np.bool_), list[float]()
        for g in range(len(selection_wealth.SCALES)):
            weight, search, _ = self.bounds(g)
            values.append(search(whole, self.tilt, self.enough)[0] + weight)
            if values[-1] < max(values) - 1.0:
                break
        return sorted(range(len(values)), key=lambda g: -values[g])[:3]

    def _hulls(self, g: int) -> selection_wealth.Hulls:
        if g not in self.hulls:
            heft = self.weights * self.rule.scale
            hulls = selection_wealth.make_hulls(self.size, self.D, heft, self.D + self.summed)
            scale = selection_wealth.SCALES[g]
            for d in range(self.D):
                stat, kind = self._stat(self.own[d], d), int(self.rule.kind[d])
                bets = scale, self._most(d)
                selection_wealth.set_points(kind, stat, 0, bets, hulls, self.size, d)
                for j, values in enumerate(self.other):
                    bets, stat = (scale, math.inf), self._stat(values, d)
                    selection_wealth.set_points(kind, stat, 1, bets, hulls, j, d)
            if self.summed:
                self._add_sums(hulls, heft, scale)
            self.hulls[g] = hulls
        return self.hulls[g]

    def _add_sums(self, hulls: selection_wealth.Hulls, heft: Floats, scale: float) -> None:
        """Set the points of arms that serve all dims, by their weighted sums."""

        def shares(values: Floats) -> Floats:
            return (values - self.rule.origin) @ self.weights / hulls.whole[0]

        hulls.whole[0] = heft.sum()
        if self.masks[0] == (1 << self.D) - 1:
            j, most = int(self.lead[0]), math.inf
            if self.before[j]:
                old = _powers(shares(self._values(self.named.group, j)[: self.before[j]]))
                most = _largest(old, POWERS)
            own = _powers(shares(self.own[0]))
            selection_wealth.set_points(POWERS, own, 0, (scale, most), hulls, self.size, self.D)
        for j, values in enumerate(self.other):
            bets = scale, math.inf
            stat = _powers(shares(values))
            selection_wealth.set_points(POWERS, stat, 1, bets, hulls, j, self.D)

    def _stat(self, values: Floats, d: int) -> Floats:
        shares = (values[:, d] - self.rule.origin[d]) / self.rule.scale[d]
        if self.rule.kind[d] == BERNOULLI:
            stat = np.zeros(STATISTICS)
            stat[COUNT] = stat[ALL] = len(shares)
            stat[FIRST] = shares.sum()
            return stat
        return _powers(shares)

    def _most(self, d: int) -> float:
        """Return the largest bet on an arm of the leader, from the values before it was named."""
        j = int(self.lead[d])
        if not self.before[j]:
            return math.inf
        stat = self._stat(self._values(self.named.group, j)[: self.before[j]], d)
        return _largest(stat, int(self.rule.kind[d]))

    def bounds(
        self, g: int
    ) -> tuple[float, Callable[..., tuple[float, float]], Callable[..., float]]:
        """Return the log of a scale's weight, what looks for a tilt, and the bound at one."""
        if not 0 <= g < len(selection_wealth.SCALES):
            raise IndexError(g)

        def search(box: Any, y: float, level: float) -> tuple[float, float]:
            best, factor = self._at(g, box, y), 4.0
            while factor > 1.004 and best < level:
                # Concave in y: go where it rises, then look closer.
                near = [(self._at(g, box, other), other) for other in (y / factor, y * factor)]
                value, other = max(near)
                if value > best:
                    best, y = value, other
                else:
                    factor = math.sqrt(factor)
            self._at(g, box, y)
            return best, y

        return math.log(selection_wealth.PRIOR[g]), search, lambda box, y: self._at(g, box, y)

    def _at(self, g: int, box: Any, y: float) -> float:
        """Return the bound over a box at a tilt; `selection` is then what attains it."""
        sets = 1 << self.D
        best, pick = [-math.inf] * sets, [0] * sets
        bound = self._bound(box)
        for j in range(self.size):
            for dims in range(1, sets):
                whole = all(dims & own in (0, own) for own in bound)
                if whole and all(box[d, j] for d in range(self.D) if dims >> d & 1):
                    value = self._term(g, j, dims, 1.0, y)
                    if value > best[dims]:
                        best[dims], pick[dims] = value, j
        total, cut = [0.0] * sets, [0] * sets
        for dims in range(1, sets):
            low = dims & -dims
            parts = [part for part in range(1, dims + 1) if part & low and part & dims == part]
            cut[dims] = max(parts, key=lambda part: best[part] + total[dims ^ part])
            total[dims] = best[cut[dims]] + total[dims ^ cut[dims]]
        left = sets - 1
        while left:
            for d in range(self.D):
                if cut[left] >> d & 1:
                    self.selection[d] = pick[cut[left]]
            left ^= cut[left]
        own = sum(self._term(g, self.size, int(dims), -1.0, y) for dims in self.masks if dims)
        return y * self.slack - own - total[-1]

    def _bound(self, box: Any) -> list[int]:
        """Return sets of dims that one arm must serve: all that a box has left for them."""
        only: dict[int, int] = {}
        for d in range(self.D):
            if self.summed and box[d].sum() == 1:
                j = int(box[d].argmax())
                only[j] = only.get(j, 0) | 1 << d
        return list(only.values())

    def _term(self, g: int, j: int, dims: int, sign: float, y: float) -> float:
        """Return what an arm that serves a set of dims subtracts; number `size` is the leader's."""
        hulls, value = self._hulls(g), 0.0
        if self.summed and dims == (1 << self.D) - 1:
            points = hulls.points[j, self.D, : hulls.sizes[j, self.D]]
            steep = sign * y * float(hulls.whole[0])
            return float((steep * points[:, 0] - points[:, 1]).max())
        served = [d for d in range(self.D) if dims >> d & 1]
        whole = float(hulls.parts[j, served].sum())
        for d in served:
            theta = 1.0 if self.independent else float(hulls.parts[j, d]) / whole
            points = hulls.points[j, d, : hulls.sizes[j, d]]
            steep = sign * y * float(hulls.heft[d]) / theta
            value += theta * float((steep * points[:, 0] - points[:, 1]).max())
        return value


def _powers(shares: Floats) -> Floats:
    """Return what wealth takes of values in [0, 1]."""
    stat = np.zeros(STATISTICS)
    stat[COUNT] = stat[ALL] = len(shares)
    stat[CENTRE] = shares[0]
    away = shares - shares[0]
    for k in range(ORDER):
        stat[FIRST + k] = (away ** (k + 1)).sum()
    stat[ALL_SECOND], stat[ALL_SIXTH] = stat[FIRST + 1], stat[FIRST + 5]
    return stat


def _largest(stat: Floats, kind: int) -> float:
    """Return the largest bet on an arm of the leader, from its values before it was named."""
    n, mean = stat[COUNT], stat[CENTRE] + stat[FIRST] / stat[COUNT]
    if kind == BERNOULLI:
        p = (stat[FIRST] + 1.0) / (n + 2.0)
        return 0.95 / (mean + math.sqrt(p * (1.0 - p) / n))
    left = max(stat[FIRST + 1] - stat[FIRST] ** 2 / n, 0.0) + 0.01
    return 0.95 / (mean + math.sqrt(left) / n)

"""Proof documents from boxes: which bound of which arm at which count, and no more than are needed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.errors import InvalidInput
from bestgroup.inference.confidence_sequences.boxes import BoxRule, absorb, box
from bestgroup.inference.evalues.normal import mixture_edge
from bestgroup.inference.kinds import BY_BETS, IN_RANGE, SUBGAUSSIAN
from bestgroup.inference.radii import Radius, radius_at
from bestgroup.problem.arrays import Floats
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document
from bestgroup.proof.sequences import BETS, WIDE

_ROOM = 1e-9  # of a bound's distance from the mean: what rounding may have done is far less

Bound = tuple[int, float]  # the count, and the bound in units in which larger is better
Key = tuple[int, int, int, int]  # group, arm, dim, side
Found = dict[Key, Bound]


class BoxMethod(NamedTuple):
    """How an answer was proven by bounds of single arms."""

    low: Fraction  # the share of delta of a lower bound
    high: Fraction
    radius: Radius | None = None  # of an elimination algorithm; else the boxes of the noise model
    history: bool = False  # whether bounds of earlier counts count, too
    came: list[tuple[int, int]] | None = None  # arms as they came, if they were not fixed
    once: int | None = None  # of uniform sampling: the one count that was fixed
    scaled: bool = False  # by the scale that a range gives, not by boxes of the noise model
    sums: Fraction = Fraction(0)  # of a bound of the average of all arms of a group
    room: int = 0  # how many arms delta is for, if some may come later


RADII = {
    0: {"name": "union", "fixed_at": 0},
    1: {"name": "mixture", "precisions": [2.0**8, 2.0**12, 2.0**16], "fixed_at": 0},
    2: {"name": "stitched", "fixed_at": 0},
}


def box_document(asked: Asked, method: BoxMethod) -> dict[str, Any]:
    """Return a proof document whose claims are bounds of single arms."""
    bounds = all_bounds(asked, method)
    chosen = needed(asked, bounds)
    entry = {"kind": "boxes", **boxes_entry(asked, method)}
    return document(asked, entry, box_claims(bounds, chosen))


def box_claims(bounds: Found, chosen: Iterable[Key]) -> list[list[Any]]:
    """Return the claims of bounds."""
    return [[*key, n, m] for key in sorted(chosen) for n, m in [bounds[key]]]


def boxes_entry(asked: Asked, method: BoxMethod) -> dict[str, Any]:
    """Return the shares and processes of bounds."""
    entry: dict[str, Any] = {"budget": "fixed"}
    if method.came is not None:
        entry["budget"] = "as they came"
    elif method.room:
        entry |= {"budget": "room", "room": method.room}
    else:
        shares = {"low": method.low, "high": method.high}
        if method.sums > 0:
            shares["sums"] = method.sums
        entry |= {name: [part.numerator, part.denominator] for name, part in shares.items()}
    entry["process"] = [_process(asked, method, d) for d in range(len(asked.problem.measured))]
    return entry


def _process(asked: Asked, method: BoxMethod, d: int) -> dict[str, Any]:
    if method.radius is not None:
        return dict(RADII[method.radius.kind])
    if method.once is not None:
        return {"name": "fixed", "count": method.once, "fixed_at": 0}
    rule = asked.problem.noise.boxes(asked.problem.shape, asked.delta)
    if rule.kind[d] == SUBGAUSSIAN or method.scaled:
        return {"name": "mixture", "precisions": list(WIDE), "fixed_at": 0}
    model = asked.problem.noise.each(asked.problem.shape.dims)[d]
    return {"name": model.box_process, "fixed_at": 0}


def all_bounds(asked: Asked, method: BoxMethod) -> Found:
    """Return the best bound of every arm, dim and side, by (group, arm, dim, side)."""
    problem = asked.problem
    found: Found = {}
    if method.sums > 0:
        _bound_averages(asked, method, found)
    if method.low == 0 and method.came is None:
        return found
    D = len(problem.measured)
    mirror = np.array([dim.direction == "min" for dim in problem.measured])
    pivot = np.where(mirror, problem.noise.pivot(D), 0.0)
    rank = {} if method.came is None else {arm: k for k, arm in enumerate(method.came, start=1)}
    for i, names in enumerate(problem.arms):
        for j in range(len(names)):
            columns = asked.columns_of(i, j)
            if columns is None:
                continue
            shares = method.low, method.high
            if rank:
                part = Fraction(1, 2 * D * rank[i, j] * (rank[i, j] + 1))
                shares = part, part
            for d in range(D):
                values = np.array(columns[d])
                inner = pivot[d] - values if mirror[d] else values
                for side, bound in enumerate(_bounds(asked, method, d, inner, shares)):
                    if bound is not None:
                        found[i, j, d, side] = bound[0], float(bound[1] - pivot[d])
    return found


def _bound_averages(asked: Asked, method: BoxMethod, found: Found) -> None:
    """Add the best bounds of the averages of all arms, by the sums over equally many pulls of each."""
    problem, D = asked.problem, len(asked.problem.decided)
    scales = problem.noise.scales(problem.shape.dims)
    for i, size in enumerate(problem.shape.sizes):
        columns = [asked.columns_of(i, j) for j in range(size)]
        counts = [0 if own is None else len(own[0]) for own in columns]
        n = min(counts)
        if n == 0 or (not method.history and max(counts) > n):
            continue
        first = 1 if method.history else n
        edge = mixture_edge.compiled if n - first > 1000 else mixture_edge
        alpha = float(asked.delta * method.sums)
        rounds = np.arange(first, n + 1)
        reach = np.array([edge(float(r * size), alpha) / (r * size) for r in rounds.tolist()])
        for d in range(D):
            sign = -1.0 if problem.decided[d].direction == "min" else 1.0
            total = sum((np.cumsum(own[d][:n]) for own in columns if own), np.zeros(n))
            means = sign * total[first - 1 :] / (rounds * size)
            wide = float(scales[d]) * reach * (1.0 + _ROOM) + 4e-15 * np.abs(means)
            at, above = int((means - wide).argmax()), int((means + wide).argmin())
            found[i, size, d, 0] = first + at, float(means[at] - wide[at])
            found[i, size, d, 1] = first + above, float(means[above] + wide[above])


def _bounds(
    asked: Asked, method: BoxMethod, d: int, values: Floats, shares: tuple[Fraction, Fraction]
) -> list[Bound | None]:
    """Return the best lower and upper bound of one dim of an arm."""
    rule = asked.problem.noise.boxes(asked.problem.shape, asked.delta)
    first = len(values) if not method.history else 1
    if method.once is not None:
        values = values[: method.once]
        first = method.once
        if len(values) < first:
            return [None, None]
    known = method.radius is not None or method.once is not None or method.scaled
    if known or rule.kind[d] == SUBGAUSSIAN:
        scale = float(rule.scale[d] if rule.kind[d] == SUBGAUSSIAN else rule.scale[d] / 2.0)
        alpha = float(asked.delta * shares[0])
        reach = scale * _radii(method, alpha, first, len(values))
        start = values[0]
        counts = np.arange(first, len(values) + 1)
        means = start + np.cumsum(values - start)[first - 1 :] / counts
        reach = reach * (1.0 + _ROOM)
        at, above = int((means - reach).argmax()), int((means + reach).argmin())
        return [
            (first + at, float(means[at] - reach[at])),
            (first + above, float(means[above] + reach[above])),
        ]
    result: list[Bound | None] = []
    for side in range(2):
        part = rule._replace(alpha=float(asked.delta * shares[side]))
        best = best_box.compiled if len(values) > 50 else best_box
        n, m = best(part, values, d, first, side)
        if n and rule.kind[d] in BY_BETS:
            m = _tightened(part, values[:n], d, side, float(m))
        mean = float(values[:n].mean()) if n else 0.0
        least = 1e-12 * float(rule.scale[d]) if rule.kind[d] in IN_RANGE else 0.0
        # Bounds are strict, so that the end of a range is one only if it is passed.
        room = _ROOM * abs(mean - m) + 1e-15 * abs(m) + least
        room = room if side else -room
        result.append((n, float(m) + room) if n and math.isfinite(m) else None)
    return result


def _tightened(rule: BoxRule, values: Floats, d: int, side: int, m: float) -> float:
    """Return a bound that is not wider than m: by the products themselves, not by bounds of them."""
    u, v = ((x - rule.origin[d]) / rule.scale[d] for x in (values, m))
    if side:
        u, v = 1.0 - u, 1.0 - v
    bets, level = np.array(BETS)[:, None], -math.log(rule.alpha)
    low, high = float(v), float(u.mean())
    for _ in range(40):
        x = (low + high) / 2.0
        with np.errstate(all="ignore"):
            logs = np.log1p(bets * (u - x)).sum(axis=1)
        logs = np.where(bets[:, 0] * x < 0.99, logs, -np.inf)
        low, high = (x, high) if np.logaddexp.reduce(logs) - math.log(15) >= level else (low, x)
    return float(rule.origin[d] + rule.scale[d] * (1.0 - low if side else low))


def _radii(method: BoxMethod, alpha: float, first: int, last: int) -> Floats:
    """Return the radii of all counts, for scale 1."""
    radius = method.radius
    if method.once is not None:
        return np.array([math.sqrt(-2.0 * math.log(alpha) / last)])
    if radius is None:
        edge = mixture_edge.compiled if last - first > 1000 else mixture_edge
        return np.array([edge(float(n), alpha) / n for n in range(first, last + 1)])
    if radius.kind not in RADII:
        raise InvalidInput(
            "a radius that the user brought is not proven, so there is no proof file"
        )
    return np.array([radius_at(radius, n) for n in range(first, last + 1)])


@kernel
def best_box(rule: BoxRule, values: Floats, d: int, first: int, side: int) -> tuple[int, float]:
    """Return the count from `first` on with the tightest bound of a side, and the bound; 0 if none."""
    extra = rule.start.copy()
    total, best, at = 0.0, -math.inf, 0
    for k in range(len(values)):
        n = float(k + 1)
        total += values[k]
        if len(extra) > 0:
            absorb(rule, extra, n, values[k], d)
        if k + 1 >= first:
            low, high = box(rule, n, total, extra, d)
            value = low if side == 0 else -high
            if value > best:
                best, at = value, k + 1
    return at, best if side == 0 else -best


def needed(asked: Asked, bounds: Found) -> set[Key]:
    """Return the bounds that the statuses follow from: all that are ever compared."""
    if asked.problem.measure is not None:
        return set(bounds)
    shape = asked.problem.shape
    chosen: set[Key] = set()
    N, D = shape.groups, shape.dims
    lower = np.full((N, D), -math.inf)
    leader = np.zeros((N, D), np.int64)
    upper = np.full((N, D), -math.inf)
    for i in range(N):
        for j in range(shape.sizes[i]):
            for d in range(D):
                low = bounds.get((i, j, d, 0), (0, -math.inf))[1]
                upper[i, d] = max(upper[i, d], bounds.get((i, j, d, 1), (0, math.inf))[1])
                if low > lower[i, d]:
                    lower[i, d], leader[i, d] = low, j

    def above(i: int, dims: range | list[int]) -> None:
        chosen.update((i, int(leader[i, d]), d, 0) for d in dims if lower[i, d] > -math.inf)

    def below(k: int, dims: range | list[int]) -> None:
        arms = range(shape.sizes[k])
        chosen.update((k, j, d, 1) for j in arms for d in dims if (k, j, d, 1) in bounds)

    status = np.asarray(asked.status)
    if asked.goal.maps or asked.goal.worth_weights(D) is not None:
        open_ = Status.UNDECIDED if asked.goal.answers_one else -1  # it may be one of N - m
        for k in np.flatnonzero(status != open_).tolist():
            above(k, range(D))
            below(k, range(D))
        return chosen
    for k in np.flatnonzero(status == Status.OUT).tolist():
        margin = (lower - upper[k]).min(axis=1)
        margin[k] = -math.inf
        above(int(margin.argmax()), range(D))
        below(k, range(D))
    epsilon = asked.goal.epsilons(D)
    rest = np.flatnonzero(status != Status.OUT).tolist()
    for i in np.flatnonzero(status == Status.IN).tolist():
        for j in rest:
            if i != j:
                d = int((lower[i] + epsilon - upper[j]).argmax())
                above(i, [d])
                below(j, [d])
    return chosen

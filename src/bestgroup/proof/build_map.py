"""Proof documents of maps of weights: bounds of differences of groups in fixed directions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.inference.certificate.directions import Asked as Directed
from bestgroup.inference.certificate.directions import (
    asked_directions,
    bounds_by_boxes,
    leading_arms,
    prove_bounds,
)
from bestgroup.inference.certificate.judge import boxes
from bestgroup.inference.certificate.regions import WeightRegions
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document
from bestgroup.proof.build_boxes import (
    Found,
    all_bounds,
    box_claims,
    box_document,
    boxes_entry,
    needed,
)
from bestgroup.proof.build_scouted import fed_session
from bestgroup.proof.build_top import bounds_method, expected_level
from bestgroup.proof.selection_search import Compare, Event, Named, Normal, cover
from bestgroup.proof.weight_cells import weight_cells

_LESS = 1.0 - 1e-12  # of a share: so that their sum, in doubles, does not exceed 1
_ROUNDING = 1e-7  # of a scale: bounds of arms that were computed in two ways differ by less
_WIDER = (0.0, 1e-9, 1e-7, 1e-5, 1e-3)  # of a bound's size: what a search may lose
Triple = tuple[int, int, int]  # a corner, who is ahead, of whom


class Seen(NamedTuple):
    """What was known when bounds rose last: all arms that stand for groups, and all counts."""

    arms: list[list[int]]
    counts: list[list[int]]


class Run(NamedTuple):
    """The bounds that are to be shown, by which arms and counts, and at which levels."""

    bound: Floats  # [V, N, N]
    when: Ints  # [V, N, N]  which of `seen`
    seen: list[Seen]
    level: Floats  # [V, N, N]
    price: Floats  # [N, K, D]
    history: bool


def data_map(asked: Asked, tally: Tally) -> dict[str, Any]:
    """Return the proof document of the map that a tally, with sums about one origin, proves."""
    problem, shape = asked.problem, asked.problem.shape
    directed = _directed(asked)
    if not directed.linear:
        return box_document(asked, bounds_method(directed, asked, False))
    low, high = boxes(tally, shape, problem.noise, asked.delta / (2 if directed.boxed else 1))
    bound = prove_bounds(tally, shape, directed, low, high)
    counts = [tally.counts[i, :size].tolist() for i, size in enumerate(shape.sizes)]
    seen = [Seen(leading_arms(tally, directed).tolist(), counts)]
    when, made = np.zeros(bound.shape, np.int64), directed.directions
    entry = {"kind": "directions", "budget": "equal"}
    return _document(asked, directed, entry, Run(bound, when, seen, made.level, made.price, False))


def study_map(asked: Asked, algorithm: Algorithm, setting: Setting) -> dict[str, Any]:
    """Return the proof document of a run of `adaptive`: its run again, to see what it proved when."""
    directed = _directed(asked)
    if not directed.linear:
        return box_document(asked, bounds_method(directed, asked, True))
    session = fed_session(asked, algorithm, setting)
    bound = np.full_like(session.state.bound, -math.inf)
    when, seen = np.zeros(bound.shape, np.int64), list[Seen]()
    while session.advance(1):
        state = session.state
        rose = state.bound > bound
        if state.counting[0] and rose.any():
            counts = [row.tolist() for row in session.counts]
            when[rose] = len(seen)
            seen.append(Seen(state.lead.tolist(), counts))
            bound = state.bound.copy()
    state = session.state
    entry = {
        "kind": "directions",
        "budget": "scouted",
        "before": [state.start[i, :n].tolist() for i, n in enumerate(setting.shape.sizes)],
        "shares": _shares(state.level, session.rule.budget, _numbers(asked, directed)),
    }
    return _document(asked, directed, entry, Run(bound, when, seen, state.level, state.price, True))


def _directed(asked: Asked) -> Directed:
    """Return what is compared."""
    return asked_directions(asked.problem.shape, asked.goal, asked.problem.noise, asked.delta)


def _numbers(asked: Asked, directed: Directed) -> list[int]:
    """Return the numbers that the corners have in a proof file."""
    grid, goal = directed.grid, asked.goal
    vertices = goal.vertices(grid.corners.shape[1])  # pyright: ignore[reportAttributeAccessIssue]
    cells = weight_cells(tuple(tuple(map(Fraction, row)) for row in vertices.tolist()))
    mixed = np.array(cells.corners) @ vertices / cells.parts
    away = np.abs(grid.corners[:, None, :] - mixed[None, :, :]).max(axis=2)
    found: list[int] = away.argmin(axis=1).tolist()
    assert sorted(found) == list(range(len(cells.corners))) and away.min(axis=1).max() < 1e-9
    return found


def _shares(level: Floats, budget: float, numbers: list[int]) -> dict[str, Any]:
    """Return the shares of comparisons that the end of scouting fixed; those of arms follow."""
    share = np.exp(-level) / budget * _LESS
    pairs = ~np.eye(level.shape[1], dtype=bool)
    rest = float(share[:, pairs].min()) if pairs.any() else 0.0
    some = [
        [numbers[v], i, k, float(share[v, i, k])]
        for v, i, k in np.argwhere(share > rest * (1.0 + 1e-9)).tolist()
        if i != k
    ]
    return {"rest": rest, "some": some}


def _document(asked: Asked, directed: Directed, entry: dict[str, Any], run: Run) -> dict[str, Any]:
    """Return the document: bounds of arms where they are enough, claims for all other bounds."""
    method = bounds_method(directed, asked, run.history)
    bounds: Found = all_bounds(asked, method) if directed.boxed else {}
    by_arms = _by_arms(asked, directed, bounds)
    numbers, moments = _numbers(asked, directed), dict[tuple[Any, ...], int]()
    leaders: list[list[Any]] = []
    claims: list[list[Any]] = []
    used = False
    entry["process"] = {"name": "normal", "fixed_at": 0}
    for v, i, k in wanted(asked, directed, run.bound):
        if by_arms[v, i, k] >= run.bound[v, i, k] - _ROUNDING * float(directed.scale.max()):
            used = True
            continue
        arms, counts = run.seen[int(run.when[v, i, k])]
        if [i, arms[i]] not in leaders:
            leaders.append([i, arms[i]])
        own = [counts[i][j] for j in arms[i]]
        event = Event(leaders.index([i, arms[i]]), k, own, counts[k])
        key = event.leader, k, tuple(own), tuple(counts[k])
        moment = moments.setdefault(key, len(moments))
        found = _claims(asked, directed, entry, run, (v, i, k), event)
        used = used or not found
        claims += [[moment, numbers[v], *row] for row in found]
    entry["leaders"] = leaders
    entry["moments"] = [[*key[:2], *map(list, key[2:])] for key in moments]
    if directed.boxed:
        entry["boxes"] = boxes_entry(asked, method)
        claims += box_claims(bounds, needed(asked, bounds)) if used else []
    claims.sort(key=lambda row: len(row) == 6)
    return document(asked, entry, claims)


def _claims(
    asked: Asked, directed: Directed, entry: dict[str, Any], run: Run, triple: Triple, event: Event
) -> list[list[Any]]:
    """Return [g, x, y, ranks] of boxes that hold all selections of a rival; none if none are found."""
    v, i, _ = triple
    weights, arms = directed.grid.corners[v], run.seen[int(run.when[triple])].arms[i]
    level = float(run.level[triple]) + sum(
        float(run.price[i, j, d]) for d, j in enumerate(arms) if weights[d] > 0
    )
    named = Named(i, arms, entry.get("before", []))
    size = float((weights * directed.scale).sum())
    for wider in _WIDER:
        slack = float(f"{-run.bound[triple] + wider * size:.9g}")
        by = Compare(weights, slack, expected_level(directed), alone=True)
        search = Normal(asked, entry, named, event, by)
        for g in search.parts():
            found = cover(search, g, level)
            if found is not None:
                return [[row[0], slack, row[2], *row[4:]] for row in found]
    return []


def _by_arms(asked: Asked, directed: Directed, bounds: Found) -> Floats:
    """Return the bounds that those of single arms give, [V, N, N]; the verifier has the last word."""
    shape = asked.problem.shape
    ends = np.full((2, shape.groups, shape.dims), -math.inf)
    ends[1] = math.inf
    for i, size in enumerate(shape.sizes):
        for d in range(shape.dims):
            for side, none in ((0, -math.inf), (1, math.inf)):
                ends[side, i, d] = max(
                    bounds.get((i, j, d, side), (0, none))[1] for j in range(size)
                )
    with np.errstate(all="ignore"):
        return bounds_by_boxes(ends[0], ends[1], directed.grid.corners)


def wanted(asked: Asked, directed: Directed, bound: Floats) -> list[Triple]:
    """Return the comparisons that the map and the statuses follow from, of those that are proven."""
    grid, status = directed.grid, np.asarray(asked.status)
    margins = WeightRegions(grid, bound, directed.slack).margins() >= 0
    found: dict[Triple, None] = {}
    N = len(status)
    for i in range(N):
        for v in sorted(
            {int(v) for p in np.flatnonzero(margins[:, i]).tolist() for v in _at(grid, p)}
        ):
            found |= dict.fromkeys((v, i, k) for k in range(N) if k != i)
    for i in np.flatnonzero(status == Status.OUT).tolist():
        for cell in grid.cells.tolist():
            above = [k for k in range(N) if k != i and (bound[cell, k, i] > 0).all()]
            known = [k for k in above if all((v, k, i) in found for v in cell)]
            if above and not known:
                best = max(above, key=lambda k: float(bound[cell, k, i].min()))
                found |= dict.fromkeys((v, best, i) for v in cell)
    return list(found)


def _at(grid: Any, p: int) -> list[int]:
    """Return the corners that a weight of the grid is a mixture of."""
    cell = grid.cells[grid.place[p]]
    return [int(v) for v, part in zip(cell, grid.mix[p], strict=True) if part > 0]

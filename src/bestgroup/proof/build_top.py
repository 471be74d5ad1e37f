"""Proof documents of the m best groups: comparisons by evidence on several arms, and by bounds of arms."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.inference.certificate.directions import Asked as Directed
from bestgroup.inference.certificate.directions import asked_directions, leading_arms, prove_bounds
from bestgroup.inference.certificate.judge import boxes
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked, document
from bestgroup.proof.build_boxes import (
    BoxMethod,
    Found,
    all_bounds,
    box_claims,
    box_document,
    boxes_entry,
    needed,
)
from bestgroup.proof.build_scouted import fed_session
from bestgroup.proof.selection_claims import claims_for
from bestgroup.proof.selection_search import Event, Named

_LESS = 1.0 - 1e-12  # of a share: so that their sum, in doubles, does not exceed 1
Pair = tuple[int, int, int]  # who is ahead, of whom, and with which slack: 0 or 1


class Seen(NamedTuple):
    """When a comparison was proven: the arms of the group that is ahead, and all counts."""

    arms: list[int]
    counts: list[list[int]]


class Levels(NamedTuple):
    """The logs of 1 over the shares of comparisons, [N, N], and of arms in each dim, [N, K, D]."""

    pairs: Floats
    arms: Floats


def data_top(asked: Asked, tally: Tally) -> dict[str, Any]:
    """Return the proof document of what a tally, with sums about one origin, proves."""
    problem, shape = asked.problem, asked.problem.shape
    directed = asked_directions(shape, asked.goal, problem.noise, asked.delta)
    if not directed.linear:
        return box_document(asked, bounds_method(directed, asked, False))
    low, high = boxes(tally, shape, problem.noise, asked.delta / (2 if directed.boxed else 1))
    bound = prove_bounds(tally, shape, directed, low, high)[0]
    arms = leading_arms(tally, directed).tolist()
    counts = [tally.counts[i, :size].tolist() for i, size in enumerate(shape.sizes)]
    seen = {
        (i, k, slack): Seen(arms[i], counts)
        for i in range(shape.groups)
        for k in range(shape.groups)
        for slack in (0, 1)
    }
    levels = Levels(directed.directions.level[0], directed.directions.price)
    entry = {"kind": "selections", "budget": "equal"}
    return _document(asked, directed, entry, bound, seen, levels, False)


def study_top(asked: Asked, algorithm: Algorithm, setting: Setting) -> dict[str, Any]:
    """Return the proof document of a run of `adaptive`: its run again, to see what it proved when."""
    directed = asked_directions(setting.shape, setting.goal, setting.noise, setting.delta)
    if not directed.linear:
        return box_document(asked, bounds_method(directed, asked, True))
    session = fed_session(asked, algorithm, setting)
    seen: dict[Pair, Seen] = {}
    known: list[Bools] = [np.zeros((setting.shape.groups,) * 2, np.bool_) for _ in range(2)]
    while session.advance(1):
        state = session.state
        if not state.counting[0]:
            continue
        now = [state.bound[0] > 0.0, state.bound[0] + directed.slack >= 0.0]
        for slack in range(2):
            for i, k in np.argwhere(now[slack] & ~known[slack]).tolist():
                counts = [row.tolist() for row in session.counts]
                seen[i, k, slack] = Seen(state.lead[i].tolist(), counts)
            known[slack] |= now[slack]
    state = session.state
    before = [state.start[i, :size].tolist() for i, size in enumerate(setting.shape.sizes)]
    entry = {
        "kind": "selections",
        "budget": "scouted",
        "before": before,
        **_shares(state, session.rule.budget, setting.shape.sizes),
    }
    levels = Levels(state.level[0], state.price)
    return _document(asked, directed, entry, state.bound[0], seen, levels, True)


def _shares(state: Any, budget: float, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return the shares of comparisons that the end of scouting fixed; those of arms follow."""
    N = len(sizes)
    share = np.exp(-state.level[0]) / budget * _LESS
    rest = float(share[~np.eye(N, dtype=bool)].min()) if N > 1 else 0.0
    pairs = [
        [i, k, float(share[i, k])]
        for i, k in np.argwhere(share > rest * (1.0 + 1e-9)).tolist()
        if i != k
    ]
    return {"shares": {"rest": rest, "pairs": pairs}}


def expected_level(directed: Directed) -> float:
    """Return about what evidence takes in a run that scouts: precisions are fixed by it."""
    level = directed.directions.level
    return float(level[np.isfinite(level)].mean()) + 3.0


def bounds_method(directed: Directed, asked: Asked, history: bool) -> BoxMethod:
    """Return the shares of bounds of single arms: half of delta where evidence has the other half."""
    shape = asked.problem.shape
    part = Fraction(1, shape.dims * (shape.total + shape.groups) * (2 if directed.linear else 1))
    return BoxMethod(part, part, history=history)


def _document(
    asked: Asked,
    directed: Directed,
    entry: dict[str, Any],
    bound: Floats,
    seen: dict[Pair, Seen],
    levels: Levels,
    history: bool,
) -> dict[str, Any]:
    method = bounds_method(directed, asked, history)
    bounds: Found = all_bounds(asked, method) if directed.boxed else {}
    by_boxes = _Boxes(asked, bounds)
    leaders: list[list[Any]] = []
    claims: list[list[Any]] = []
    entry |= {"process": {"name": "normal", "fixed_at": 0}, "leaders": leaders, "moments": []}
    used = False
    for i, k, slack in wanted(asked, bound):
        if by_boxes.shows(i, k, slack):
            used = True
            continue
        arms, counts = seen[i, k, slack]
        if [i, arms] not in leaders:
            leaders.append([i, arms])
        event = Event(leaders.index([i, arms]), k, [counts[i][j] for j in arms], counts[k])
        entry["moments"].append(list(event))
        level = float(levels.pairs[i, k]) + sum(
            float(levels.arms[i, j, d]) for d, j in enumerate(arms)
        )
        named = Named(i, arms, entry.get("before", []))
        number = len(entry["moments"]) - 1
        claims += claims_for(
            asked, entry, named, event, number, level, [slack], expected_level(directed)
        )
    if directed.boxed:
        entry["boxes"] = boxes_entry(asked, method)
        claims += box_claims(bounds, needed(asked, bounds)) if used else []
    return document(asked, entry, claims)


def wanted(asked: Asked, bound: Floats) -> list[Pair]:
    """Return comparisons that the statuses follow from, of those that bounds [N, N] prove."""
    goal: Any = asked.goal
    status, N = np.asarray(asked.status), len(bound)
    inside = np.flatnonzero(status == Status.IN).tolist()
    found: dict[Pair, None] = {}
    above = np.where((bound > 0.0) & ~np.eye(N, dtype=bool), bound, -math.inf)
    for k in np.flatnonzero(status == Status.OUT).tolist():
        if (above[:, k] > 0.0).sum() >= goal.m:
            # Those that are in first: they are to be shown ahead in any case.
            order = sorted(range(N), key=lambda i: (i not in inside, -above[i, k]))
            chosen = [i for i in order if above[i, k] > 0.0][: goal.m]
            found |= dict.fromkeys((i, k, 0) for i in chosen)
    whole = len(inside) == goal.m
    for i in inside:
        others = [k for k in range(N) if k != i and not (whole and k in inside)]
        order = sorted(others, key=lambda k: -bound[i, k])[: N - goal.m]
        for k in order:
            if (i, k, 0) not in found:
                # Without a slack nothing else is proven, and with one it says more than is asked.
                found[i, k, 0 if goal.epsilon == 0.0 and bound[i, k] > 0.0 else 1] = None
    return list(found)


class _Boxes:
    """What bounds of arms show of two groups, in floating point: the verifier has the last word."""

    def __init__(self, asked: Asked, bounds: Found) -> None:
        shape, weights = asked.problem.shape, asked.goal.weight_vector(asked.problem.shape.dims)
        self.slack = float(asked.goal.epsilons(shape.dims)[0]) * float(weights.sum())
        ends = np.full((2, shape.groups, shape.dims), -math.inf)
        ends[1] = math.inf
        for d in range(shape.dims):
            for i, size in enumerate(shape.sizes):
                for side, none in ((0, -math.inf), (1, math.inf)):
                    found = [bounds.get((i, j, d, side), (0, none))[1] for j in range(size)]
                    ends[side, i, d] = max(found)
        self.least, self.most = ends @ weights

    def shows(self, i: int, k: int, slack: int) -> bool:
        """Return whether group i is ahead of k, or within the slack of it."""
        room = self.slack if slack else 0.0
        return bool(self.least[i] + room >= self.most[k] + 1e-12 * abs(self.most[k]))

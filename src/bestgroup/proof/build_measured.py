"""Proof documents of runs of `adaptive` whose leaders are groups: what each was measured to be worth."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bestgroup.drivers.session import LiveSession
from bestgroup.problem.arrays import Floats
from bestgroup.proof.build import Asked, document
from bestgroup.proof.contests import MEASURED
from bestgroup.proof.selection_claims import claims_for
from bestgroup.proof.selection_search import Event, Named

_LESS = 1.0 - 1e-12  # of shares whose exact sum is above 1 by rounding

Counts = list[list[int]]  # of all arms, a list for each group
Measurement = list[list[int]]  # an arm for each dim, its count before and its count after


class Run(NamedTuple):
    """What a run did that its proof rests on."""

    leaders: list[tuple[int, list[int], Counts]]  # a group, an arm for each dim, counts when named
    shares: list[float]
    measurements: list[list[Measurement]]  # of each leader
    events: list[Event]


def follow(session: LiveSession, slack: bool) -> Run:
    """Return what a run does, plan by plan; `slack`: groups come back when another one leads."""
    run, numbers = Run([], [], [], []), dict[int, int]()
    counts: Counts = [[0] * len(row) for row in session.counts]
    out = session.state.out.copy()
    while True:
        state = session.state
        i, lead = int(state.leader[0]), state.lead.tolist()
        if not session.advance(1):
            return run
        before, counts = counts, [row.tolist() for row in session.counts]
        first, last = ([own[i][j] for j in lead] for own in (before, counts))
        if i in numbers and all(a < b for a, b in zip(first, last, strict=True)):
            run.measurements[numbers[i]].append([lead, first, last])
        state = session.state
        for k in np.flatnonzero(state.share > 0.0).tolist():
            if k not in numbers:
                numbers[k] = len(numbers)
                run.leaders.append((k, state.first_lead[k].tolist(), counts))
                run.shares.append(float(state.share[k]))
                run.measurements.append([])
        if slack and int(state.leader[0]) != i:
            out[:] = False
        i = int(state.leader[0])
        for k in np.flatnonzero(state.out & ~out).tolist():
            m = numbers[i]
            run.events.append(Event(m, k, [len(run.measurements[m])], counts[k]))
        out = state.out.copy()


def measured_method(run: Run, costs: list[list[float]] | None) -> dict[str, Any]:
    """Return the method of a proof; a leader has the measurements that its last event counts."""
    used = [0] * len(run.leaders)
    for event in run.events:
        used[event.leader] = max(used[event.leader], event.own[0])
    shares = run.shares
    if sum(map(Fraction, shares)) > 1:
        shares = [share * _LESS for share in shares]
    leaders = zip(run.leaders, shares, strict=True)
    method: dict[str, Any] = {
        "kind": "selections",
        "budget": MEASURED,
        "process": {"name": "normal", "fixed_at": 0},
        "leaders": [[*leader, share] for leader, share in leaders],
        "measurements": [own[:n] for own, n in zip(run.measurements, used, strict=True)],
        "moments": [[e.leader, e.rival, e.own[0], e.other] for e in run.events],
    }
    return method if costs is None else {**method, "costs": costs}


def course_of(asked: Asked, group: int, measurements: list[Measurement]) -> Floats:
    """Return n_L and n_L z_L after each measurement, in floating point: [M, 2]."""
    shape, noise = asked.problem.shape, asked.problem.noise
    weights = asked.goal.weight_vector(shape.dims)
    sizes = weights * noise.scales(shape.dims)
    power = 2.0 if noise.dependence == "independent" else 1.0
    sums = [_running_sums(asked, group, j) for j in range(shape.sizes[group])]
    course, total = np.zeros((len(measurements), 2)), np.zeros(2)
    for t, (arms, first, last) in enumerate(measurements):
        blocks: dict[int, float] = {}
        z = 0.0
        for d, (j, a, b) in enumerate(zip(arms, first, last, strict=True)):
            z += float(weights[d] * (sums[j][b, d] - sums[j][a, d])) / (b - a)
            blocks[j] = blocks.get(j, 0.0) + float(sizes[d]) ** power
        pulls = {j: b - a for j, a, b in zip(arms, first, last, strict=True)}
        v = sum(size ** (2.0 / power) / pulls[j] for j, size in blocks.items())
        n = float(sizes.sum()) ** 2 / v
        total += n, n * z
        course[t] = total
    return course


def _running_sums(asked: Asked, i: int, j: int) -> Floats:
    """Return the sums of an arm's first values, [n + 1, D]."""
    columns = asked.columns_of(i, j)
    if columns is None:
        return np.zeros((1, asked.problem.shape.dims))
    values = asked.problem.mirror(np.array(columns).T)
    return np.concatenate([np.zeros((1, values.shape[1])), values.cumsum(axis=0)])


def measured_document(
    asked: Asked, run: Run, costs: list[list[float]] | None, slack: int
) -> dict[str, Any]:
    """Return the proof document of a run; with `slack` 1 groups are shown behind up to epsilon."""
    method, claims = measured_method(run, costs), list[list[Any]]()
    named = [
        Named(i, arms, [], course_of(asked, i, own))
        for (i, arms, _), own in zip(run.leaders, method["measurements"], strict=True)
    ]
    for number, event in enumerate(run.events):
        share = float(method["leaders"][event.leader][3])
        level = -math.log(asked.delta * share)
        leader = named[event.leader]
        claims += claims_for(asked, method, leader, event, number, level, [slack])
    return document(asked, method, claims)

"""Short stretches of walks that are revealed round by round."""

from __future__ import annotations

import math

import numpy as np

from bestgroup.compile.records import bare
from bestgroup.drivers.jump.memory import (
    SPRINT,
    Memory,
    factors,
    logged_at,
    logged_sums,
    means_at,
    point_at,
    sums,
    unit_at,
)
from bestgroup.drivers.jump.walks import bracket, log_value, reserve_noise

# A bridge with n steps left: the share of the way that the next step makes, and its deviation.
_SHARE = np.array([0.0] + [1.0 / n for n in range(1, SPRINT + 1)])
_ROOT = np.array([0.0] + [math.sqrt((n - 1.0) / n) for n in range(1, SPRINT + 1)])


@bare
def reveal_stretch(m: Memory, u: int, now: int, end: int) -> None:
    """Make all points of a unit after `now` up to `end` known, and write its means.

    No point in between may be known. Only the ends go into the list: the stretch is used up before
    it is left.
    """
    if unit_at(m, u).stamp == m.stretch:
        return
    unit_at(m, u).stamp = m.stretch
    bracket(m, u, now, end)
    head = point_at(m, u)
    last = point_at(m, head.next)
    if m.columns > 1:
        _stretch_jointly(m, u, now, end)
        return
    place = means_at(m, u, 0)
    value, goal = sums(head)[0], sums(last)[0]
    size, n = factors(m)[u % m.D], end - now
    normals = reserve_noise(m, n - 1)
    for k in range(n - 1):
        value += (goal - value) * _SHARE[n - k] + _ROOT[n - k] * size * normals[k]
        place[k] = value
    if m.logged < m.log_room:
        for k in range(n - 1):
            log_value(m, u, now + k + 1, place[k])
    place[n - 1] = goal
    for k in range(n):
        place[k] /= now + k + 1


@bare
def _stretch_jointly(m: Memory, u: int, now: int, end: int) -> None:
    """Write the means of a unit with several columns."""
    columns, noises, n = m.columns, m.noises, end - now
    head = point_at(m, u)
    last = point_at(m, head.next)
    for k in range(n - 1):
        normals = reserve_noise(m, noises)
        for c in range(columns):
            place = means_at(m, u, c)
            value = place[k - 1] if k > 0 else sums(head)[c]
            value += (sums(last)[c] - value) * _SHARE[n - k]
            for z in range(noises):
                value += factors(m)[c * noises + z] * _ROOT[n - k] * normals[z]
            place[k] = value
        if m.logged < m.log_room:
            q = logged_at(m, m.logged)
            m.logged += 1
            q.unit, q.time = u, now + k + 1
            for c in range(columns):
                logged_sums(q)[c] = means_at(m, u, c)[k]
    for c in range(columns):
        place = means_at(m, u, c)
        place[n - 1] = sums(last)[c]
        for k in range(n):
            place[k] /= now + k + 1

"""Short stretches of walks that are revealed round by round."""

from __future__ import annotations

import math

import numpy as np

from bestgroup.compile.pointers import bare
from bestgroup.drivers.jump.memory import (
    COLUMNS,
    DIM_COUNT,
    FACTORS,
    LOG,
    LOG_ROOM,
    LOGGED,
    NEXT,
    NOISES,
    POINT_SIZE,
    SPRINT,
    STAMPS,
    STRETCH,
    SUM,
    Reals,
    Words,
    dense_at,
    point_at,
)
from bestgroup.drivers.jump.walks import bracket, log_point, reserve_noise

# A bridge with n steps left: the share of the way that the next step makes, and its deviation.
_SHARE = np.array([0.0] + [1.0 / n for n in range(1, SPRINT + 1)])
_ROOT = np.array([0.0] + [math.sqrt((n - 1.0) / n) for n in range(1, SPRINT + 1)])


@bare
def reveal_stretch(Z: Words, F: Reals, u: int, now: int, end: int) -> None:
    """Make all points of a unit after `now` up to `end` known, and write its means.

    No point in between may be known. Only the ends go into the list: the stretch is used up before
    it is left.
    """
    if Z[Z[STAMPS] + u] == Z[STRETCH]:
        return
    Z[Z[STAMPS] + u] = Z[STRETCH]
    bracket(Z, F, u, now, end)
    head = point_at(Z, u)
    last = point_at(Z, int(F[head + NEXT]))
    if Z[COLUMNS] > 1:
        _stretch_jointly(Z, F, u, now, end)
        return
    place = dense_at(Z, u, 0)
    value, goal = F[head + SUM], F[last + SUM]
    size, n = F[Z[FACTORS] + u % Z[DIM_COUNT]], end - now
    normals = reserve_noise(Z, F, n - 1)
    for k in range(n - 1):
        value += (goal - value) * _SHARE[n - k] + _ROOT[n - k] * size * F[normals + k]
        F[place + k] = value
    if Z[LOGGED] < Z[LOG_ROOM]:
        for k in range(n - 1):
            log_point(Z, F, u, now + k + 1, place + k)
    F[place + n - 1] = goal
    for k in range(n):
        F[place + k] /= now + k + 1


@bare
def _stretch_jointly(Z: Words, F: Reals, u: int, now: int, end: int) -> None:
    """Write the means of a unit with several columns."""
    columns, noises, n = Z[COLUMNS], Z[NOISES], end - now
    head = point_at(Z, u)
    last = point_at(Z, int(F[head + NEXT]))
    for k in range(n - 1):
        normals = reserve_noise(Z, F, noises)
        for c in range(columns):
            place = dense_at(Z, u, c)
            value = F[place + k - 1] if k > 0 else F[head + SUM + c]
            value += (F[last + SUM + c] - value) * _SHARE[n - k]
            for m in range(noises):
                value += F[Z[FACTORS] + c * noises + m] * _ROOT[n - k] * F[normals + m]
            F[place + k] = value
        if Z[LOGGED] < Z[LOG_ROOM]:
            q = Z[LOG] + Z[LOGGED] * Z[POINT_SIZE]
            Z[LOGGED] += 1
            F[q], F[q + 1] = u, now + k + 1
            for c in range(columns):
                F[q + SUM + c] = F[dense_at(Z, u, c) + k]
    for c in range(columns):
        place = dense_at(Z, u, c)
        F[place + n - 1] = F[last + SUM + c]
        for k in range(n):
            F[place + k] /= now + k + 1

"""Random walks that are revealed only where somebody looks.

The rewards of an arm in a dim form a walk S(0) = 0, S(1), S(2), ... with Gaussian steps. A walk is kept as
the list of its known points (n, S(n)) from the last one that matters on. A point between two known ones is
drawn from the bridge between them, a later one from the law of the steps: by the Markov property that is
the exact conditional law given all known points, whatever made somebody look there.

Dims that depend on each other are revealed together: a *unit* is what is revealed at once, one walk
(group, arm, dim) for independent dims, one arm with D columns otherwise. Units are rows of `points`; later points
are further rows, linked by their numbers. All entries are floats, exact for counts below 2^53, so that one array
holds everything and compiled functions pass little.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestgroup.core.arrays import Floats, Ints
from bestgroup.core.kernel import kernel
from bestgroup.core.laws import FullyDependent, Normal
from bestgroup.core.problem import Instance
from bestgroup.simulation.streams import fill_normals, seed_stream

TIME, NEXT, SUM = 0, 1, 2  # columns of a row of `points`
DRAWN, FREE, REVEALED, PASSED, LOGGED, DENSE, FROM, TO = range(8)  # entries of `meter`
SPRINT = 16  # the longest stretch of rounds that is revealed completely

_KEY = 2**62  # sets the streams of this engine apart from those of single arms
_BUFFER = 256
_GUARD = 1e-14  # share of a sum that rounding can move a chord by, generously

# A bridge with n steps left: the share of the way that the next step makes, and its deviation.
_SHARE = np.array([0.0] + [1.0 / n for n in range(1, SPRINT + 1)])
_ROOT = np.array([0.0] + [math.sqrt((n - 1.0) / n) for n in range(1, SPRINT + 1)])


class OutOfRoom(Exception):
    """Rows for points or items have run out; the caller repeats the run with more of them."""


class Walks(NamedTuple):
    """All walks of a run, W columns to a unit."""

    points: Floats  # [rows, 2 + W]  rows below U: the last point that matters of each unit
    drift: Floats  # [U, W]
    factor: Floats  # [D, M]  the noise of a pull is factor @ z; [D, 1] for independent dims
    band: Floats  # [D]       deviation of a step times sqrt(log(1 / p0) / 2)
    normals: Floats  # [256]  drawn ahead
    stream: NDArray[np.uint64]  # [4]
    meter: Ints  # [8]
    dense: Floats  # [U, W, SPRINT]  means of every round of the present sprint
    stamp: Ints  # [U]        the sprint that `dense` is of
    log: Floats  # [L, 2 + W] every revealed point (unit, time, sums) while there is room


def is_joint(instance: Instance) -> bool:
    """Return whether the dims of an arm are revealed together."""
    law = instance.law
    return isinstance(law, FullyDependent) or (isinstance(law, Normal) and law.cov is not None)


def make_walks(instance: Instance, doubt: float, rows: int = 0, log: int = 0) -> Walks:
    """Return walks that know nothing yet; `doubt` is log(1 / p0), `log` how many points to log."""
    shape, law = instance.shape, instance.law
    N, K, D = shape.groups, shape.arms, shape.dims
    means = np.nan_to_num(instance.padded_means)
    if is_joint(instance):
        units, width = N * K, D
        assert isinstance(law, Normal | FullyDependent)
        factor = law.factor(D) if isinstance(law, Normal) else law.scales(D)[:, None].copy()
    else:
        units, width = N * K * D, 1
        assert isinstance(law, Normal)
        factor = law.scales(D)[:, None].copy()
    deviation = np.sqrt((factor**2).sum(axis=1))
    return Walks(
        points=np.zeros((max(rows, 6 * units + 4096), 2 + width)),
        drift=means.reshape(units, width).copy(),
        factor=np.ascontiguousarray(factor),
        band=deviation * math.sqrt(doubt / 2.0),
        normals=np.zeros(_BUFFER),
        stream=np.zeros(4, np.uint64),
        meter=np.zeros(8, np.int64),
        dense=np.zeros((units, width, SPRINT)),
        stamp=np.zeros(units, np.int64),
        log=np.zeros((log, 2 + width)),
    )


@kernel
def reset(walks: Walks, seed: int, run: int) -> None:
    """Forget all points and start the noise of a run."""
    points, units = walks.points, len(walks.drift)
    rows = len(points)
    for u in range(units):
        for column in range(points.shape[1]):
            points[u, column] = 0.0
        walks.stamp[u] = -1
    for row in range(units, rows):
        points[row, NEXT] = row + 1 if row + 1 < rows else 0
    seed_stream(walks.stream, seed, run, _KEY, 0, 0)
    walks.meter[:] = 0
    walks.meter[DRAWN] = len(walks.normals)
    walks.meter[FREE] = units


@kernel
def next_noise(walks: Walks) -> float:
    """Return a standard normal."""
    k = walks.meter[DRAWN]
    if k == len(walks.normals):
        fill_normals(walks.stream, walks.normals, k)
        k = 0
    walks.meter[DRAWN] = k + 1
    return walks.normals[k]


@kernel
def advance(walks: Walks, u: int, now: int) -> None:
    """Forget the points of a unit before its last one up to `now`."""
    points = walks.points
    row = int(points[u, NEXT])
    while row != 0 and points[row, TIME] <= now:
        for column in range(points.shape[1]):
            points[u, column] = points[row, column]
        points[row, NEXT] = walks.meter[FREE]
        walks.meter[FREE] = row
        row = int(points[u, NEXT])


@kernel
def reveal(walks: Walks, u: int, when: int) -> None:
    """Make the point of a unit at count `when` known; it must not lie before its first row."""
    points = walks.points
    row = u
    after = int(points[row, NEXT])
    while after != 0 and points[after, TIME] <= when:
        row = after
        after = int(points[row, NEXT])
    if points[row, TIME] == when:
        return
    new = walks.meter[FREE]
    if new == 0:
        raise OutOfRoom()
    walks.meter[FREE] = int(points[new, NEXT])
    walks.meter[REVEALED] += 1
    points[new, TIME] = when
    points[new, NEXT] = after
    points[row, NEXT] = new
    steps = when - points[row, TIME]
    if after == 0:
        _add_noise(walks, u, new, math.sqrt(steps))
        for c in range(walks.drift.shape[1]):
            points[new, SUM + c] += points[row, SUM + c] + steps * walks.drift[u, c]
    else:
        share = steps / (points[after, TIME] - points[row, TIME])
        _add_noise(walks, u, new, math.sqrt(steps * (1.0 - share)))
        for c in range(walks.drift.shape[1]):
            change = points[after, SUM + c] - points[row, SUM + c]
            points[new, SUM + c] += points[row, SUM + c] + share * change
    _write_log(walks, u, new)


@kernel
def _add_noise(walks: Walks, u: int, row: int, size: float) -> None:
    """Set the sums of a row to noise of the given size."""
    points, factor = walks.points, walks.factor
    width = walks.drift.shape[1]
    if width == 1:
        points[row, SUM] = size * factor[u % len(factor), 0] * next_noise(walks)
        return
    for c in range(width):
        points[row, SUM + c] = 0.0
    for m in range(factor.shape[1]):
        z = size * next_noise(walks)
        for c in range(width):
            points[row, SUM + c] += factor[c, m] * z


@kernel
def _write_log(walks: Walks, u: int, row: int) -> None:
    """Log a point, while there is room."""
    k = walks.meter[LOGGED]
    if k < len(walks.log):
        walks.meter[LOGGED] = k + 1
        walks.log[k, 0] = u
        for column in range(1, walks.log.shape[1]):
            walks.log[k, column] = walks.points[row, 0 if column == 1 else column]


@kernel
def reveal_stretch(walks: Walks, u: int, now: int, end: int) -> None:
    """Make all points of a unit after `now` up to `end` known, and write the means to `dense`.

    No point in between may be known. Only the ends go into the list: the stretch is used up before it is left.
    """
    if walks.stamp[u] == walks.meter[DENSE]:
        return
    walks.stamp[u] = walks.meter[DENSE]
    reveal(walks, u, now)
    reveal(walks, u, end)
    advance(walks, u, now)
    points, dense, factor = walks.points, walks.dense, walks.factor
    width = walks.drift.shape[1]
    last = int(points[u, NEXT])
    n = end - now
    if width == 1:
        value, goal, size = points[u, SUM], points[last, SUM], factor[u % len(factor), 0]
        for k in range(n - 1):
            left = n - k
            value += (goal - value) * _SHARE[left] + _ROOT[left] * size * next_noise(walks)
            dense[u, 0, k] = value / (now + k + 1)
            _log_inner(walks, u, now + k + 1, 0, value)
    else:
        _stretch_jointly(walks, u, now, n)
    for c in range(width):
        dense[u, c, n - 1] = points[last, SUM + c] / end


@kernel
def _stretch_jointly(walks: Walks, u: int, now: int, n: int) -> None:
    """Write the means of a unit with several columns, but for the last round."""
    points, factor = walks.points, walks.factor
    width = walks.drift.shape[1]
    last = int(points[u, NEXT])
    value = points[u, SUM:].copy()
    for k in range(n - 1):
        left = n - k
        for c in range(width):
            value[c] += (points[last, SUM + c] - value[c]) * _SHARE[left]
        for m in range(factor.shape[1]):
            z = _ROOT[left] * next_noise(walks)
            for c in range(width):
                value[c] += factor[c, m] * z
        for c in range(width):
            walks.dense[u, c, k] = value[c] / (now + k + 1)
            _log_inner(walks, u, now + k + 1, c, value[c])


@kernel
def _log_inner(walks: Walks, u: int, when: int, c: int, value: float) -> None:
    """Log one column of a point of a stretch."""
    k = walks.meter[LOGGED]
    if k < len(walks.log):
        walks.log[k, 0] = u
        walks.log[k, 1] = when
        walks.log[k, SUM + c] = value
        if c == walks.drift.shape[1] - 1:
            walks.meter[LOGGED] = k + 1


@kernel
def bounds(
    walks: Walks, u: int, c: int, band: float, first: int, last: int
) -> tuple[float, float]:
    """Return bounds of the mean of a column over counts first, ..., last.

    Between known points t1 < t2 the sum stays within `band` sqrt(t2 - t1) of the chord; chord and band divided
    by the count are monotone in it. A point at `last` or later must be known, and one before `first`.
    """
    points = walks.points
    row = u
    after = int(points[row, NEXT])
    while after != 0 and points[after, TIME] < first:
        row = after
        after = int(points[row, NEXT])
    low, high = np.inf, -np.inf
    if points[row, TIME] >= first:
        low = high = points[row, SUM + c] / points[row, TIME]
    while after != 0:
        t1, t2 = points[row, TIME], points[after, TIME]
        s1, s2 = points[row, SUM + c], points[after, SUM + c]
        begin, end = max(float(first), t1 + 1.0), min(float(last), t2 - 1.0)
        if begin <= end:
            slope = (s2 - s1) / (t2 - t1)
            base = s1 - slope * t1
            room = band * math.sqrt(t2 - t1) + _GUARD * (abs(s1) + abs(s2))
            low = min(low, slope + (base - room) / begin, slope + (base - room) / end)
            high = max(high, slope + (base + room) / begin, slope + (base + room) / end)
        if t2 <= last:
            low, high = min(low, s2 / t2), max(high, s2 / t2)
        if t2 >= last:
            return low, high
        row = after
        after = int(points[row, NEXT])
    return -np.inf, np.inf

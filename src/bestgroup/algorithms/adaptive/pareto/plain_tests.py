"""Which pairs may be tested, for plain Python, by NumPy; see `plain`.

The lists are those of the bodies in `certificates`: the same pairs in the same order.
"""

from __future__ import annotations

import numpy as np

from bestgroup.algorithms.adaptive.pareto import certificates as tests
from bestgroup.algorithms.adaptive.pareto.blocks import (
    COUNT,
    GROUP,
    LEAST_ERROR,
    LEAST_MEAN,
    LEVEL,
    MEAN,
)
from bestgroup.algorithms.adaptive.pareto.certificates import Spread, may_beat
from bestgroup.algorithms.adaptive.pareto.ledger import BLOCK, Ledger, Levels
from bestgroup.algorithms.adaptive.pareto.plain_shares import FEW, strengths
from bestgroup.algorithms.adaptive.pareto.view import REJECTED, UNDECIDED, Duties, Room, Split
from bestgroup.problem.arrays import Bools, Floats, Ints


def _floors(kind: int, wanted: Floats) -> Floats:
    """Return `least_strength` of many levels."""
    return tests.least_strength.body(kind, wanted)  # type: ignore[arg-type, return-value]


def _reach(
    gap: Floats,
    bend: float,
    n_a: Floats | float,
    n_b: Floats | float,
    v_a: Floats | float,
    v_b: Floats | float,
    floor: Floats,
) -> Bools:
    """Return `reaches` of many duels."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = strengths(gap, bend, n_a, n_b, v_a, v_b)
    return (n_a > 0.0) & (n_b > 0.0) & (z >= floor)


def _in_order(ledger: Ledger, d: int, N: int) -> Ints:
    """Return `group_at` of all places."""
    return ledger.order[d] if ledger.order.shape[1] > 0 else np.arange(N)


@tests.list_above.plainly
def _(
    ledger: Ledger,
    duties: Duties,
    split: Split,
    levels: Levels,
    spread: Spread,
    leader: Ints,
    room: Room,
    g: int,
    d: int,
) -> int:
    N, K = ledger.counts.shape
    if N < FEW:
        given = ledger, duties, split, levels, spread, leader, room, g, d
        return tests.list_above.body(*given)
    status, group, kind = duties.status, split.reject, int(levels.box.kind[d])
    m, bend = leader[g, d], spread.bend[d]
    n_a, v_a, share = ledger.counts[g, m], spread.variance[g, m, d], split.arm[g, m, d]
    level, error, own = levels.level + share, v_a / n_a, split.accept[g]
    best = float(ledger.mean[g, m, d])
    top = best + float(levels.epsilon[d])

    def near(mean: Floats, ease: Floats, groups: Floats) -> Bools:
        """Return who is not too far for a test, by least means, errors and shares."""
        wide, floor = top - mean, _floors(kind, level + np.minimum(own, groups))
        with np.errstate(invalid="ignore"):
            return (wide > 0.0) & ~(wide * wide < tests.NEARLY * floor * (error + ease))

    order = _in_order(ledger, d, N)
    passed = near(ledger.least_mean[d], ledger.least_error[d], group[order])
    if ledger.order.shape[1] > 0:
        bounds = ledger.bounds[d]
        whole = near(bounds[LEAST_MEAN], bounds[LEAST_ERROR], bounds[GROUP])
        passed &= np.repeat(whole, BLOCK)[:N]
    o = order[passed]
    kept = (o != g) & (status[o] != REJECTED)
    if status[g] != UNDECIDED:
        kept &= status[o] == UNDECIDED
    o = o[kept]
    floor = _floors(kind, level + np.minimum(own, group[o]))[:, None]
    due = ledger.due[g, d, o].astype(np.float64)
    wide = np.where(due < 0.0, best, top) - ledger.mean[o, :, d]
    target = np.where(due != 0.0, np.maximum(floor, np.abs(due) + share), floor)
    n_b, v_b = ledger.counts[o], spread.variance[o, :, d]
    held = (wide > 0.0) & _reach(wide, bend, n_a, n_b, v_a, v_b, target)
    at, k = held.nonzero()
    room.found[: len(at)] = (g * N + o[at]) * K + k
    return len(at)


@tests.list_below.plainly
def _(
    ledger: Ledger,
    duties: Duties,
    split: Split,
    levels: Levels,
    spread: Spread,
    leader: Ints,
    room: Room,
    arm: tuple[int, int, int],
    d: int,
) -> int:
    (g, k, count), (N, K) = arm, ledger.counts.shape
    if N < FEW:
        given = ledger, duties, split, levels, spread, leader, room, arm, d
        return tests.list_below.body(*given)
    status, group, kind = duties.status, split.accept, int(levels.box.kind[d])
    n_b, v_b, mean = ledger.counts[g, k], spread.variance[g, k, d], float(ledger.mean[g, k, d])
    base, own, bend = mean - float(levels.epsilon[d]), split.reject[g], spread.bend[d]
    order, means = _in_order(ledger, d, N), ledger.lead_mean[d]
    shares, counts = ledger.lead_level[d], ledger.lead_count[d]
    wide, v_a = means - base, spread.variance[order, leader[order, d], d]
    floor = _floors(kind, levels.level + shares + np.minimum(own, group[order]))
    passed = (wide > 0.0) & _reach(wide, bend, counts, n_b, v_a, v_b, floor)
    if ledger.order.shape[1] > 0:
        bounds = ledger.bounds[d]
        least = _floors(kind, levels.level + bounds[LEVEL] + np.minimum(own, bounds[GROUP]))
        ahead, most = bounds[MEAN] - base, bounds[COUNT]
        whole = (ahead > 0.0) & _reach(ahead, bend, most, n_b, 0.0, v_b, least)
        passed &= np.repeat(whole, BLOCK)[:N]
    passed &= order != g
    if not may_beat(duties, g):
        passed &= status[order] == UNDECIDED
    at = passed.nonzero()[0]
    o = order[at]
    due = ledger.due_back[d, g, k, o] if len(ledger.due_back) > 0 else ledger.due[o, d, g, k]
    due = due.astype(np.float64)
    wide = means[at] - np.where(due < 0.0, mean, base)
    target = np.where(due != 0.0, np.maximum(floor[at], np.abs(due) + shares[at]), floor[at])
    held = (wide > 0.0) & _reach(wide, bend, counts[at], n_b, v_a[at], v_b, target)
    o = o[held]
    room.found[count : count + len(o)] = (o * N + g) * K + k
    return count + len(o)


@tests.fetch_pairs.plainly
def _(ledger: Ledger, duties: Duties, split: Split, room: Room, count: int, d: int) -> None:
    pass  # it is for the processor's cache

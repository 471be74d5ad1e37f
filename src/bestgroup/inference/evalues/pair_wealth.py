"""Evidence on a pair of arms whose scale is not known: wealth of bets, least over a null.

Let a and b be different arms whose pulls are independent given the past, and let the null be
mu_a + s <= mu_b. With K_a the wealth against small means of a, which falls in m, and L_b that against
large means of b, which rises (`wealth`), take any x in [mu_a, mu_b - s]: K_a(x) <= K_a(mu_a) and
L_b(x + s) <= L_b(mu_b). A pull moves one factor of K_a(mu_a) L_b(mu_b) only, so that is a nonnegative
supermartingale that starts at 1, and

    P(inf_x K_a(x) L_b(x + s) >= 1 / alpha at some time) <= alpha

under every adaptive sampling (Ville's inequality).

`pair_lack` shows that log K_a + log L_b is at least a level at every x, cell by cell from the left: on
a cell both are at least convex functions (`wealth.on_cell`), whose sum is at least where its tangents
at the ends cross. A cell where that is not enough is halved. Left of a point at which K_a alone times
the cash of b reaches the level nothing is to be shown, since K_a falls and L_b is at least its cash;
right of one where L_b does likewise. Values in [0, 1] have no means outside.
"""

from __future__ import annotations

import math

from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.evalues.normal import crossing
from bestgroup.inference.evalues.wealth import (
    CENTRE,
    COUNT,
    FIRST,
    LOG_CASH,
    at_point,
    on_cell,
    set_logs,
)
from bestgroup.inference.kinds import GAUSSIAN
from bestgroup.problem.arrays import Floats

ROOM = 4  # rows of scratch space: logs of both arms at both ends of a cell
_CELLS = 200  # that a proof looks at, at most
_FINEST = 1.0 / 32.0  # of a standard error: the width of the smallest cell
_WIDER = 1.5  # the next cell, after one that was enough
_TRIES = 16  # steps to the left until one arm's wealth alone is enough


@borrowing
def pair_lack(
    kind: int,
    a: Floats,
    b: Floats,
    bets: tuple[tuple[float, float], tuple[float, float]],
    errors: tuple[float, float],
    shift: float,
    level: float,
    room: Floats,
) -> float:
    """Return what the evidence against mu_a + shift <= mu_b lacks to the level; <= 0 if it reaches it.

    `a`, `b` [STATISTICS] are what `wealth` keeps of the two arms, `bets` the scale of their tuned bets
    and the largest, `errors` about the standard errors of their means, which only steer; `room` [ROOM, BETS].
    """
    mean = a[CENTRE] + a[FIRST] / a[COUNT]
    gap = mean + shift - (b[CENTRE] + b[FIRST] / b[COUNT])
    # The null holds at the estimates themselves; "not >" also catches a NaN.
    if not gap > 0.0:
        return math.inf
    low, high = -math.inf, math.inf
    if kind != GAUSSIAN:
        low, high = 0.0, 1.0 - shift
        if low >= high:  # no means are that far apart
            return 0.0 if shift > 1.0 else math.inf
    # Where the two wealths together are about least: inverse variances share the gap.
    part = errors[0] * errors[0] / (errors[0] * errors[0] + errors[1] * errors[1])
    x = min(max(mean - gap * part, low), high)
    look(kind, a, b, bets, shift, x, room, 0)
    value = at_point(kind, room[0], bets[0][0]) + at_point(kind, room[2], bets[1][0])
    # One point of the null with too little is enough to know that the minimum has too little.
    if value < level:
        return level - value
    x, value = left_end(kind, a, bets[0], errors[0], mean, low, level - LOG_CASH, room)
    # Left of x the wealth of a alone must do it, with b at its cash.
    if x > low and value < level - LOG_CASH:
        return level - LOG_CASH - value
    return march(kind, a, b, bets, min(errors[0], errors[1]), shift, level, x, high, room)


@borrowing
def look(
    kind: int,
    a: Floats,
    b: Floats,
    bets: tuple[tuple[float, float], tuple[float, float]],
    shift: float,
    x: float,
    room: Floats,
    end: int,
) -> None:
    """Set the logs of both arms at x, as the left (0) or the right (1) end of a cell."""
    set_logs(kind, a, 0, bets[0], x, room[end])
    set_logs(kind, b, 1, bets[1], x + shift, room[2 + end])


@borrowing
def left_end(
    kind: int,
    a: Floats,
    bets: tuple[float, float],
    error: float,
    mean: float,
    low: float,
    level: float,
    room: Floats,
) -> tuple[float, float]:
    """Return a point at which the wealth of a alone reaches the level, or `low`; and its log."""
    reach = error * math.sqrt(2.0 * level + 2.0)
    x, value = mean, -math.inf
    for _ in range(_TRIES):
        x = max(mean - reach, low)
        set_logs(kind, a, 0, bets, x, room[0])
        value = at_point(kind, room[0], bets[0])
        if value >= level or x <= low:
            break
        # The tails of bets are heavier than normal ones: go on by a quarter until it suffices.
        reach *= 1.25
    return x, value


@borrowing
def march(
    kind: int,
    a: Floats,
    b: Floats,
    bets: tuple[tuple[float, float], tuple[float, float]],
    error: float,
    shift: float,
    level: float,
    x: float,
    high: float,
    room: Floats,
) -> float:
    """Return what is missing right of x, cell by cell; <= 0 if nothing is."""
    step = error
    look(kind, a, b, bets, shift, x, room, 0)
    for _ in range(_CELLS):
        # Right of here b alone has enough, a at its cash: the rest of the line is proven.
        if x >= high or at_point(kind, room[2], bets[1][0]) + LOG_CASH >= level:
            return 0.0
        end = min(x + step, high)
        width = end - x
        look(kind, a, b, bets, shift, end, room, 1)
        a0, slope_a0, a1, slope_a1 = on_cell(kind, room[0], room[1], bets[0][0], width)
        b0, slope_b0, b1, slope_b1 = on_cell(kind, room[2], room[3], bets[1][0], width)
        left, right = a0 + b0, a1 + b1
        # Both functions are below log K and convex: tangents at the ends bound the whole cell.
        bound = crossing(x, left, slope_a0 + slope_b0, end, right, slope_a1 + slope_b1)
        if min(bound, left, right) >= level:
            # A cell that was enough: the next may be wider.
            x, step = end, _WIDER * step
            for k in range(room.shape[1]):
                room[0, k], room[2, k] = room[1, k], room[3, k]
        # The bound is tight at this width: what is missing is missing.
        elif step <= _FINEST * error:
            return level - bound
        else:
            step /= 2.0
    return math.inf

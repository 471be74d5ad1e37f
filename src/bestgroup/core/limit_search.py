"""Branch and bound for the inner problem that makes a rejected group optimal (see `limit_pareto`).

Group k stops being beaten when each dominator j has a dim d in which R_j^d falls to, or below, the level x_d that
k rises to. One arm of k serves a dim (attains x_d). Given who goes to which dim and which arm serves it, the
cost is a sum over slots of one-dimensional convex minima; a slot is a dim or, with fully dependent dims, an
arm of k with all the dims that it serves. Costs of slots grow with the set of dominators in them, which gives the bounds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.core.arrays import Bools, Floats, Ints
from bestgroup.core.kernel import kernel
from bestgroup.core.limit_pareto import Arms, lowering, worth_raising

NODES = 100_000  # of one search; beyond it the bound of the open nodes is returned


class Board(NamedTuple):
    """A partial placement of the dominators of group k."""

    rivals: Ints  # [J]    the dominators
    placed: Bools  # [J]
    server: Ints  # [D]    arm of k that attains the level of the dim; -1 while closed
    useful: Bools  # [K, D]  arms of k worth raising
    level: Floats  # [slots]  rise of the serving arm
    cost: Floats  # [slots]
    arm: Ints  # [A]    arms that a slot lowers if they exceed its level
    excess: Floats  # [A]    over the unraised serving arm
    slot: Ints  # [A]
    top: Ints  # [1]    number of entries in the three lists above


RIVAL, COUNT, TURN, TOP, SLOT, OPENED = range(6)


class Path(NamedTuple):
    """The options of the nodes on the way to the present one, and what undoes them."""

    node: Ints  # [J, 6]  RIVAL, COUNT of options, TURN (next option); to undo: TOP, SLOT, OPENED dim
    option: Ints  # [J, O, 2]  arm, dim
    bound: Floats  # [J, O]
    before: Floats  # [J, 3]  level and cost of the slot, cost of the board


def empty_board(arms: Arms, k: int, dependent: bool) -> tuple[Board, Path]:
    """Return a board with the dominators of group k, none placed, and room for a path.

    A search leaves both as it found them, so they serve again.
    """
    dims, total = arms.best.shape[1], len(arms.mean)
    rivals = np.flatnonzero((arms.best > arms.best[k]).all(axis=1))
    size, count = int(arms.start[k + 1] - arms.start[k]), len(rivals) + 1
    slots = size if dependent else dims
    board = Board(
        rivals,
        np.zeros(len(rivals), dtype=bool),
        np.full(dims, -1),
        np.ones((size, dims), dtype=bool),
        np.zeros(slots),
        np.zeros(slots),
        np.empty(total, dtype=np.int64),
        np.empty(total),
        np.empty(total, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )
    options = (count, size * dims)
    path = Path(
        np.zeros((count, 6), dtype=np.int64),
        np.zeros((*options, 2), dtype=np.int64),
        np.zeros(options),
        np.zeros((count, 3)),
    )
    return board, path


@kernel
def reject_group(
    arms: Arms,
    weight: Floats,
    k: int,
    dependent: bool,
    board: Board,
    path: Path,
    cutoff: float,
    cut: Floats,
) -> tuple[float, float, int]:
    """Return (cost, low, nodes): the cheapest alternative in which nobody strictly beats group k.

    Alternatives that cost `cutoff` or more may be missed, except that one alternative is always found; its
    shifts' costs are in `cut` [A]. `low` is infinite, or a bound of what a search that was cut short has left.
    """
    worth_raising(arms, weight, k, dependent, board.useful)
    value, low, limit, nodes = math.inf, math.inf, math.inf, 0
    depth, total, fresh = np.int64(0), 0.0, True  # a literal 0 would be compiled apart
    while depth >= 0:
        if fresh:
            nodes += 1
            bound = expand(arms, weight, k, dependent, board, path, depth, total, limit)
            if path.node[depth, COUNT] < 0:
                if total < value:
                    value = total
                    record(arms, board, dependent, k, cut)
                limit = min(value, cutoff)
                path.node[depth, COUNT] = 0
            elif bound >= limit:
                path.node[depth, COUNT] = 0
        turn = path.node[depth, TURN]
        if turn < path.node[depth, COUNT] and path.bound[depth, turn] < limit:
            path.node[depth, TURN] = turn + 1
            if nodes >= NODES:
                low, fresh = min(low, path.bound[depth, turn]), False
                continue
            path.before[depth, 2], total = total, path.bound[depth, turn]
            place(arms, weight, k, dependent, board, path, depth)
            depth, fresh = depth + 1, True
        else:
            depth, fresh = depth - 1, False
            if depth >= 0:
                total = take_back(board, path, depth)
    return value, low, nodes


@kernel
def expand(
    arms: Arms,
    weight: Floats,
    k: int,
    dependent: bool,
    board: Board,
    path: Path,
    depth: int,
    total: float,
    limit: float,
) -> float:
    """List the options of the dominator that is dearest to place, and return a bound of the node.

    The number of options is -1 if every dominator left can be placed for nothing.
    """
    path.node[depth, TURN], path.node[depth, COUNT] = 0, -1
    dearest, rival = 0.0, np.int64(-1)
    for r in range(len(board.rivals)):
        if board.placed[r]:
            continue
        least = math.inf
        for d in range(len(board.server)):
            for arm in range(arms.start[k], arms.start[k + 1]):
                if least > dearest and is_open_to(arms, board, k, arm, d):
                    step = added(arms, weight, board, r, arm, d, slot_of(arms, k, arm, d, dependent))
                    least = min(least, step[1])
        if least > dearest:
            dearest, rival = least, r
    if rival < 0:
        return total
    path.node[depth, RIVAL], path.node[depth, COUNT] = rival, 0
    if limit < math.inf:
        rest = left_over(arms, weight, k, dependent, board, math.sqrt(2.0 * (limit - total)))
        if total + max(dearest, rest) >= limit:
            return total + max(dearest, rest)
    for d in range(len(board.server)):
        for arm in range(arms.start[k], arms.start[k + 1]):
            if is_open_to(arms, board, k, arm, d):
                step = added(arms, weight, board, rival, arm, d, slot_of(arms, k, arm, d, dependent))
                insert(path, depth, arm, d, total + step[1])
    return total + dearest


@kernel
def is_open_to(arms: Arms, board: Board, k: int, arm: int, d: int) -> bool:
    """Return whether `arm` may serve dim d: one arm serves a dim."""
    if board.server[d] >= 0:
        return board.server[d] == arm
    return board.useful[arm - arms.start[k], d]


@kernel
def slot_of(arms: Arms, k: int, arm: int, d: int, dependent: bool) -> int:
    """Return the slot that a dominator placed in dim d, served by `arm`, belongs to."""
    return arm - arms.start[k] if dependent else d


@kernel
def added(
    arms: Arms, weight: Floats, board: Board, r: int, arm: int, d: int, slot: int
) -> tuple[float, float]:
    """Return the rise of `arm`, and what the slot costs more, when dominator r joins it in dim d.

    The rise solves weight * rise = sum of weights * (excess - rise)^+ (Newton from the left, exact).
    """
    j, base, rise = board.rivals[r], arms.mean[arm, d], board.level[slot]
    while True:
        above, total = 0.0, weight[arm]
        for e in range(board.top[0]):
            if board.slot[e] == slot and board.excess[e] > rise:
                above += weight[board.arm[e]] * board.excess[e]
                total += weight[board.arm[e]]
        joined = False
        for other in range(arms.start[j], arms.start[j + 1]):
            excess = arms.mean[other, d] - base
            if excess > rise:
                joined = True
                above += weight[other] * excess
                total += weight[other]
        if not joined and rise == board.level[slot]:
            return rise, 0.0
        if above / total <= rise:
            break
        rise = above / total
    cost = 0.5 * weight[arm] * rise * rise + lowering(arms, weight, j, d, base + rise)
    for e in range(board.top[0]):
        if board.slot[e] == slot and board.excess[e] > rise:
            cost += 0.5 * weight[board.arm[e]] * (board.excess[e] - rise) ** 2
    return rise, max(cost - board.cost[slot], 0.0)


@kernel
def left_over(
    arms: Arms, weight: Floats, k: int, dependent: bool, board: Board, reach: float
) -> float:
    """Return what the dominators not yet placed cost at least, at the highest levels that can still pay.

    A slot's cost grows at least by weight * (rise - level)^2 / 2, so no rise exceeds
    level + reach / sqrt(weight), reach^2 / 2 being what is left to spend.
    """
    dims = len(board.server)
    highest = np.full(dims, -math.inf)
    for d in range(dims):
        for arm in range(arms.start[k], arms.start[k + 1]):
            if is_open_to(arms, board, k, arm, d):
                rise = board.level[slot_of(arms, k, arm, d, dependent)]
                top = arms.mean[arm, d] + rise + reach / math.sqrt(weight[arm])
                highest[d] = max(highest[d], top)
    cost = 0.0
    for r in range(len(board.rivals)):
        if not board.placed[r]:
            least = math.inf
            for d in range(dims):
                least = min(least, lowering(arms, weight, board.rivals[r], d, highest[d]))
            cost += least
    return cost


@kernel
def insert(path: Path, depth: int, arm: int, d: int, bound: float) -> None:
    """Add an option to a node, cheapest first."""
    at = path.node[depth, COUNT]
    path.node[depth, COUNT] = at + 1
    while at > 0 and path.bound[depth, at - 1] > bound:
        path.bound[depth, at] = path.bound[depth, at - 1]
        path.option[depth, at, 0] = path.option[depth, at - 1, 0]
        path.option[depth, at, 1] = path.option[depth, at - 1, 1]
        at -= 1
    path.bound[depth, at], path.option[depth, at, 0], path.option[depth, at, 1] = bound, arm, d


@kernel
def place(
    arms: Arms, weight: Floats, k: int, dependent: bool, board: Board, path: Path, depth: int
) -> None:
    """Place the node's dominator by the option before its turn."""
    turn = path.node[depth, TURN] - 1
    r, arm, d = path.node[depth, RIVAL], path.option[depth, turn, 0], path.option[depth, turn, 1]
    slot = slot_of(arms, k, arm, d, dependent)
    path.node[depth, TOP], path.node[depth, SLOT] = board.top[0], slot
    path.node[depth, OPENED] = d if board.server[d] < 0 else -1
    path.before[depth, 0], path.before[depth, 1] = board.level[slot], board.cost[slot]
    rise, more = added(arms, weight, board, r, arm, d, slot)
    board.server[d], board.placed[r] = arm, True
    board.level[slot], board.cost[slot] = rise, board.cost[slot] + more
    for other in range(arms.start[board.rivals[r]], arms.start[board.rivals[r] + 1]):
        if arms.mean[other, d] > arms.mean[arm, d]:
            e = board.top[0]
            board.arm[e], board.slot[e] = other, slot
            board.excess[e] = arms.mean[other, d] - arms.mean[arm, d]
            board.top[0] = e + 1


@kernel
def take_back(board: Board, path: Path, depth: int) -> float:
    """Undo the placement made at `depth` and return what the board cost before it."""
    slot, opened = path.node[depth, SLOT], path.node[depth, OPENED]
    board.level[slot], board.cost[slot] = path.before[depth, 0], path.before[depth, 1]
    board.top[0] = path.node[depth, TOP]
    board.placed[path.node[depth, RIVAL]] = False
    if opened >= 0:
        board.server[opened] = -1
    return path.before[depth, 2]


@kernel
def record(arms: Arms, board: Board, dependent: bool, k: int, cut: Floats) -> None:
    """Write the costs of the shifts on the board, |shift|^2 / 2 for each arm, into `cut`."""
    cut[:] = 0.0
    for d in range(len(board.server)):
        if not dependent and board.server[d] >= 0:
            cut[board.server[d]] += 0.5 * board.level[d] ** 2
    if dependent:
        for slot in range(len(board.level)):
            cut[arms.start[k] + slot] = 0.5 * board.level[slot] ** 2
    for e in range(board.top[0]):
        fall = board.excess[e] - board.level[board.slot[e]]
        if fall > 0.0:
            cut[board.arm[e]] += 0.5 * fall * fall

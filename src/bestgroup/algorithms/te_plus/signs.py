"""The signs of TE+ and what follows from them: decisions, and which dims of which groups are pulled.

A pair (i, j) *counts* while i is undecided, j not rejected and no `near[i, j, .]` recorded. Every
pair counts at first, and ceases to for good. Two tables of numbers follow the pairs that count:
`unsettled[i]`, how many there are of i, which is accepted at none; and `needs[i, d]`, how many pairs
with i, on either side, need dim d, which is active while there is one. So a decision costs what has
changed, not N^2 comparisons: each pair is closed once, in a sign or in a decision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.te_plus.radii import PairRule
from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Bools, Floats, Ints


class State(NamedTuple):
    """The sets of TE+; `dims` says which dims of a group are needed by some pair."""

    groups: Bools  # [N]         undecided groups
    dims: Bools  # [N, D]
    arms: Bools  # [N, K, D]     arms that may still attain R_i^d
    efficiency: Floats  # [N, D]  R-hat; of an inactive dim the last value
    accepted: Bools  # [N]
    rejected: Bools  # [N]
    above: Bools  # [N, N, D]    above[j, i, d]: j beats i
    near: Bools  # [N, N, D]     near[i, j, d]: i is not beaten by epsilon by j
    far: Bools  # [N, N, D]      far[j, i, d]: j beats i by epsilon
    beaten: Bools  # [N]         whether some j is above i in all dims
    unsettled: Ints  # [N]       pairs (i, .) that count
    needs: Ints  # [N, D]        pairs with i, on either side, that need dim d
    round: Ints  # [1]
    edges: Floats  # [4]         the last round that the stored edges serve, and the three edges
    radii: Floats  # [3]
    low: Floats  # [N, D]        R-hat of an active dim is in [low, high], see `watch`
    high: Floats  # [N, D]
    least: Floats  # [N, D]      between which values R-hat is known to be in rounds to come
    most: Floats  # [N, D]
    watched: Ints  # [N N]       comparisons that may be recorded
    watch: Ints  # [2]           how many; the last round that they serve
    floors: Floats  # [3]        below all radii up to that round
    levels: Floats  # [4 D]      what a comparison of each kind and dim needs, nearly


def init(rule: PairRule) -> State:
    """Return the state before any pull: everything is active, nothing recorded."""
    N, K = rule.exists.shape
    D = len(rule.epsilon)
    state = State(
        groups=np.zeros(N, np.bool_),
        dims=np.zeros((N, D), np.bool_),
        arms=np.zeros((N, K, D), np.bool_),
        efficiency=np.zeros((N, D)),
        accepted=np.zeros(N, np.bool_),
        rejected=np.zeros(N, np.bool_),
        above=np.zeros((N, N, D), np.bool_),
        near=np.zeros((N, N, D), np.bool_),
        far=np.zeros((N, N, D), np.bool_),
        beaten=np.zeros(N, np.bool_),
        unsettled=np.zeros(N, np.int64),
        needs=np.zeros((N, D), np.int64),
        round=np.zeros(1, np.int64),
        edges=np.zeros(4),
        radii=np.zeros(3),
        low=np.zeros((N, D)),
        high=np.zeros((N, D)),
        least=np.zeros((N, D)),
        most=np.zeros((N, D)),
        watched=np.zeros(N * N, np.int64),
        watch=np.zeros(2, np.int64),
        floors=np.zeros(3),
        levels=np.zeros(4 * D),
    )
    restart(state, rule)
    return state


@borrowing
def restart(state: State, rule: PairRule) -> None:
    """Make a state the one before any pull."""
    N, K, D = state.arms.shape
    alone = N == 1  # nothing to compare: the only group is optimal
    state.groups[:], state.accepted[:], state.dims[:] = not alone, alone, not alone
    state.rejected[:], state.efficiency[:], state.round[:], state.edges[:] = False, 0.0, 0, 0.0
    # Signs are kept for good, so a run that is done again must forget them all.
    state.above[:], state.near[:], state.far[:] = False, False, False
    # A group is on either side of a pair with each other one.
    state.beaten[:], state.unsettled[:], state.needs[:] = False, N - 1, 2 * (N - 1)
    # Nothing is watched before the first round.
    state.watch[:] = 0
    for i in range(N):
        for j in range(K):
            for d in range(D):
                state.arms[i, j, d] = rule.exists[i, j]


@borrowing
def lead(low: Floats, high: Floats, i: int, j: int, d: int) -> float:
    """Return R_i^d - R_j^d; over a box the largest it can be."""
    return high[i, d] - low[j, d]


@borrowing
def above_margin(behind: float, rho: float) -> float:
    """Return R_j^d - R_i^d - rho: j beats i."""
    # rho bounds the difference of two means, so it is paid once (TE pays 2 beta).
    return behind - rho


@borrowing
def near_margin(ahead: float, rho: float, epsilon: float) -> float:
    """Return R_i^d - R_j^d + epsilon - rho': i is not beaten by epsilon by j."""
    return (ahead + epsilon) - rho


@borrowing
def far_margin(behind: float, rho: float, epsilon: float) -> float:
    """Return R_j^d - R_i^d - epsilon - rho: j beats i by epsilon."""
    return (behind - epsilon) - rho


@borrowing
def stale_margin(high: float, mean: float, rho: float) -> float:
    """Return R_i^d - mean - rho: an arm leaves the dim at >= 0."""
    return (high - mean) - rho


@borrowing
def is_settled(state: State, i: int, j: int) -> bool:
    """Return whether some sign says that i is not beaten by epsilon by j."""
    for d in range(state.near.shape[2]):
        # One dim in which i holds against j is enough: then j cannot beat it everywhere.
        if state.near[i, j, d]:
            return True
    return False


@borrowing
def is_open(state: State, i: int, j: int) -> bool:
    """Return whether j could still keep an undecided i from acceptance."""
    # A rejected j needs no answer: whoever rejected it stands in its place (go up the chain).
    return not state.rejected[j] and not is_settled(state, i, j)


@borrowing
def _close(state: State, i: int, j: int) -> None:
    """Let a pair (i, j) that counts count no more."""
    state.unsettled[i] -= 1
    for d in range(state.near.shape[2]):
        # A dim in which j is far ahead cannot settle the pair: it was given up with that sign.
        if not state.far[j, i, d]:
            state.needs[i, d] -= 1
            state.needs[j, d] -= 1


@borrowing
def record_above(state: State, i: int, j: int, d: int) -> None:
    """Record that j is above i in dim d."""
    state.above[j, i, d] = True
    everywhere = True
    for e in range(state.above.shape[2]):
        # From recorded signs, which may stem from different rounds: each holds for good.
        everywhere = everywhere and state.above[j, i, e]
    if everywhere:
        state.beaten[i] = True


@borrowing
def record_near(state: State, i: int, j: int, d: int) -> None:
    """Record that i is not beaten by epsilon by j, as dim d says; the pair counts up to here."""
    # Several dims of a pair may say so in one round.
    if not is_settled(state, i, j):
        _close(state, i, j)
    state.near[i, j, d] = True


@borrowing
def record_far(state: State, i: int, j: int, d: int) -> None:
    """Record that j beats i by epsilon in dim d, which the pair needs no more."""
    # A pair that was settled in another dim of this very round needs none.
    if not state.far[j, i, d] and not is_settled(state, i, j):
        state.needs[i, d] -= 1
        state.needs[j, d] -= 1
    state.far[j, i, d] = True


@borrowing
def record_pair(
    state: State,
    low: Floats,
    high: Floats,
    i: int,
    j: int,
    radii: Floats,
    rule: PairRule,
    keep: bool,
) -> bool:
    """Record the signs of an undecided i against j; returns whether any is new, or could be in the box.

    All dims are judged by what was recorded before; with `keep` False nothing is written.
    """
    # Read once: a sign that this round records must not change what the next dim may record.
    open_pair = is_open(state, i, j)
    found = False
    for d in range(len(rule.epsilon)):
        # Counts of the two arms are equal only where both groups are active; rho(r) needs that.
        if not (state.dims[i, d] and state.dims[j, d]):
            continue
        scale, epsilon = rule.scale[d], rule.epsilon[d]
        behind, ahead = lead(low, high, j, i, d), lead(low, high, i, j, d)
        # `above` serves rejection by any j, so it is recorded whether or not the pair is open.
        above = not state.above[j, i, d] and above_margin(behind, radii[0] * scale) >= 0.0
        near = open_pair and near_margin(ahead, radii[1] * scale, epsilon) >= 0.0
        far = open_pair and not state.far[j, i, d]
        far = far and far_margin(behind, radii[0] * scale, epsilon) >= 0.0
        found = found or above or near or far
        # With a box for R this asks what could be recorded, and must leave no trace.
        if keep:
            if above:
                record_above(state, i, j, d)
            if far:
                record_far(state, i, j, d)
            if near:
                record_near(state, i, j, d)
    return found


@borrowing
def reject(state: State) -> None:
    """Reject every undecided group that some group is above in all dims."""
    # Signs alone say who is beaten, so the order does not matter: rejections are simultaneous.
    for i in range(len(state.groups)):
        if state.groups[i] and state.beaten[i]:
            _take_out(state, i)


@borrowing
def _take_out(state: State, i: int) -> None:
    """Reject a group, and close its pairs, on either side."""
    for j in range(len(state.groups)):
        if j != i:
            if is_open(state, i, j):
                _close(state, i, j)
            if state.groups[j] and not is_settled(state, j, i):
                _close(state, j, i)
    state.groups[i], state.rejected[i] = False, True


@borrowing
def accept(state: State) -> None:
    """Accept every undecided group that no group that is not rejected beats by epsilon."""
    for i in range(len(state.groups)):
        # Pairs with accepted groups count, too: they may be what i must not be beaten by. Other
        # groups go on being compared with i.
        if state.groups[i] and state.unsettled[i] == 0:
            state.accepted[i] = True
            state.groups[i] = False


@borrowing
def refresh_activity(state: State) -> None:
    """Set which dims of which groups some pair still needs."""
    N, _, D = state.arms.shape
    for i in range(N):
        for d in range(D):
            # Need never comes back, so this only ever shrinks.
            state.dims[i, d] = state.needs[i, d] > 0

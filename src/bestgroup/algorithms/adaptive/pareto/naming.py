"""The answer that is expected when the warm-up ends, and what decisions then need; see `algorithm`.

A union over all groups lets every decision pay for being one of N. But the warm-up mostly foresees the
answer, and if all that is believed were decided and one of it were wrong, a *certain* group would be
wrong: nothing need be shared. So each group is believed to be rejected or accepted, and groups stand in
an order: those believed to be rejected first, and the surest first of either kind. A decision against
the belief is a *surprise* and has a small share of its own. A decision as believed has that share, too,
and besides it a large part of delta; a smaller part once there was a surprise about a group before it,
so that what was proven for the larger part is then to be proven again.

Where many groups are in doubt the answer is hardly ever foreseen, and there is a union after all.
"""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.adaptive.pareto.ledger import BY_OVER, BY_WON, Ledger
from bestgroup.algorithms.adaptive.pareto.split import unit_for
from bestgroup.algorithms.adaptive.pareto.view import (
    ACCEPTED,
    PARTS,
    REJECTED,
    UNDECIDED,
    Duties,
    Room,
    Split,
)
from bestgroup.compile.borrowing import borrowing
from bestgroup.problem.arrays import Ints

NAMED = 128  # groups up to which an answer is named
TOP = 0.88  # of delta, for what is believed where nothing is in doubt
LATER = (0.3, 0.1)  # of the rest, for what is believed after one surprise, and after two
_SURPRISES = 1.0 - LATER[0] - LATER[1]
_EVEN = 0.2  # the part of the shares of surprises that is shared equally
_TIE = 1e-9  # a margin that is taken for rounding
_STEPS, _HALF = (
    2.0**20,
    0.3,
)  # equal numbers stay so: they are compared in steps, none at a half of one


@borrowing
def margin_over(split: Split, i: int, j: int) -> tuple[float, float]:
    """Return min_d (best_j - best_i - epsilon_d / 2), in units of a dim, and the variance of it."""
    least, error = np.inf, 1.0
    for d in range(len(split.epsilon)):
        unit = unit_for(split, i, j, d)
        gap = (split.best[j, d] - split.best[i, d] - 0.5 * split.epsilon[d]) / unit
        if gap < least:
            least, error = gap, (split.error[i, d] + split.error[j, d]) / (unit * unit)
    return least, error


@borrowing
def believe(split: Split, i: int) -> float:
    """Believe what the warm-up says of group i; returns how many standard errors it is from the other."""
    most, error = -np.inf, 1.0
    for j in range(len(split.best)):
        if j != i:
            margin, its_error = margin_over(split, i, j)
            if margin > most:
                most, error = margin, its_error
    split.out[i] = most > _TIE
    return abs(most) / math.sqrt(error)


@borrowing
def doubt(z: float) -> float:
    """Return about how likely a normal number is more than z standard deviations above its mean."""
    return math.exp(-0.5 * z * z) / (2.0 + 2.5 * z)


@borrowing
def name_answer(split: Split, room: Room) -> None:
    """Believe what the warm-up says of every group, and set the shares that follow from it."""
    N, total = len(split.out), 0.0
    if N > NAMED:
        return
    for i in range(N):
        z = believe(split, i)
        room.weights[i] = math.floor(z * z * _STEPS + _HALF)
        room.costs[i] = doubt(z)
        total += room.costs[i]
    if not total < 1.0:
        return
    split.named[0] = True
    split.part[0] = TOP * (1.0 - total * total * total)
    rest = 1.0 - split.part[0]
    for h in range(1, PARTS):
        split.part[h] = min(LATER[h - 1] * rest, split.part[h - 1])
    for i in range(N):
        even = _EVEN / N + (1.0 - _EVEN) * room.costs[i] / total
        split.own[i] = _SURPRISES * rest * even
        split.place[i] = 0
        for j in range(N):
            surer = room.weights[j] - room.weights[i]
            if split.out[j] != split.out[i]:
                split.place[i] += split.out[j]
            elif surer > 0.0 or (surer == 0.0 and j < i):
                split.place[i] += 1
    for i in range(N):
        set_shares(split, i)


@borrowing
def set_shares(split: Split, i: int) -> None:
    """Set the shares of deciding i, after as many surprises as there were before it."""
    own, count = split.own[i], split.surprises[i]
    expected = own + split.part[count] if count < PARTS else own
    split.accept[i] = -math.log(own if split.out[i] else expected)
    split.reject[i] = -math.log(expected if split.out[i] else own)


@borrowing
def take_surprises(ledger: Ledger, duties: Duties, split: Split) -> bool:
    """Have what stands behind a new surprise proven again, for less of delta; whether anything does.

    An acceptance may rest on a rejection that is taken back, if it is a surprise itself.
    """
    status, N, reopened = duties.status, len(split.out), False
    for i in range(N):
        as_believed = (status[i] == REJECTED) == split.out[i]
        if status[i] == UNDECIDED or as_believed or split.surprised[i]:
            continue
        split.surprised[i] = True
        for j in range(N):
            if split.place[j] > split.place[i]:
                split.surprises[j] += 1
                if split.surprises[j] <= PARTS:
                    set_shares(split, j)
                    reopen(ledger, duties, split, j)
                    reopened = True
    if reopened:
        for i in range(N):
            duties.unsettled[i] = 0
            for j in range(N):
                if j != i and status[j] != REJECTED and not duties.settled[i, j]:
                    duties.unsettled[i] += 1
            if status[i] == ACCEPTED and duties.unsettled[i] > 0:
                status[i] = UNDECIDED
                make_all_due(ledger, i)
    return reopened


@borrowing
def reopen(ledger: Ledger, duties: Duties, split: Split, j: int) -> None:
    """Forget what was proven for deciding j as is believed."""
    (N, K, D), status = ledger.mean.shape, duties.status
    if split.out[j]:
        if status[j] == REJECTED:
            status[j] = UNDECIDED
        ledger.fallen[j], ledger.beaten_by[j] = False, -1
    elif status[j] == ACCEPTED:
        status[j] = UNDECIDED
    for o in range(N):
        if split.out[j]:
            ledger.beaten[o, j] = 0
            for k in range(K):
                for d in range(D):
                    duties.over[o, j, k, d] = False
                    ledger.wait[o, j, k, d, BY_OVER] = 0.0
        else:
            duties.settled[j, o] = False
            for d in range(D):
                ledger.wins[j, o, d] = 0
                for k in range(K):
                    duties.won[j, o, k, d] = False
                    ledger.wait[j, o, k, d, BY_WON] = 0.0
    make_all_due(ledger, j)


@borrowing
def make_all_due(ledger: Ledger, j: int) -> None:
    """Have all tests with group j made at the next occasion: while it was decided some did not matter."""
    N, K, D = ledger.mean.shape
    for o in range(N):
        for k in range(K):
            for d in range(D):
                make_due(ledger, o, d, j, k)
                make_due(ledger, j, d, o, k)


@borrowing
def make_due(ledger: Ledger, i: int, d: int, j: int, k: int) -> None:
    """Have tests of i above arm k of j in dim d made at the next occasion."""
    ledger.due[i, d, j, k] = 0.0
    if len(ledger.due_back) > 0:
        ledger.due_back[d, j, k, i] = 0.0


def shown(split: Split, duties: Duties) -> Ints:
    """Return the statuses that are proven together, at any time; see the theorem.

    A rejection that is a surprise stands by itself. What is decided as believed stands once each group
    before it is decided, or was by surprise once; an acceptance, once each group is that was believed to
    be rejected. What stands goes on standing.
    """
    status = duties.status.copy()
    if not split.named[0]:
        return status
    order = np.argsort(split.place)
    decided = (status[order] != UNDECIDED) | split.surprised[order]
    first = len(order) if decided.all() else int(decided.argmin())
    late = order[first:]
    status[late[split.out[late] | (status[late] == ACCEPTED)]] = UNDECIDED
    if first < split.out.sum():
        status[status == ACCEPTED] = UNDECIDED
    return status

"""The certificates of `adaptive_pareto`: what is proven, and the tests that prove it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.algorithms.adaptive_scores import REJECTED, UNDECIDED, Duties, Split, strength
from bestgroup.algorithms.adaptive_split import precision
from bestgroup.core.arrays import Bools, Floats, Ints
from bestgroup.core.confidence import Radius, radius_at
from bestgroup.core.evidence import pair_evidence, pair_evidence_above
from bestgroup.core.kernel import kernel
from bestgroup.core.tally import Tally

_GAIN = 2.0 * math.log(2.0) + 1e-6  # no evidence exceeds the strength of its duel by more
_RETRY = 0.7  # a test that failed is tried again when the strength has grown by this share of what lacked


class Ledger(NamedTuple):
    """What the proofs rest on: pulls since scouting, and what scouting saw. In units of the scales."""

    base_counts: Floats  # [N, K]     pulls in scouting; zeros before its end, and for boxes
    base_sums: Floats  # [N, K, D]
    base_mean: Floats  # [N, K, D]
    counts: Floats  # [N, K]          pulls since
    mean: Floats  # [N, K, D]         their means
    reach: Floats  # [N, K]           for boxes: half-width of an arm's box
    missing: Ints  # [N, N, D]        arms of j, in dim d, without `won[i, j, l, d]`
    standing: Ints  # [N, N]          (arm of i, dim) pairs without `over[j, i, l, d]`, at [j, i]
    over_wait: Floats  # [N, N, K, D]  by how much a strength must exceed its level before a test
    won_wait: Floats  # [N, N, K, D]
    news: Bools  # [2]                whether some pair was settled, some group beaten, in this step


class Levels(NamedTuple):
    """The levels of the tests, and their kind."""

    level: float  # log(1 / delta)
    epsilon: Floats  # [D]      in units of the scales
    boxes: bool  # boxes of single arms instead of evidence on pairs
    radius: Radius  # of a box


def make_ledger(exists: Bools, dims: int) -> Ledger:
    """Return a ledger before any pull."""
    N, K = exists.shape
    sizes = exists.sum(axis=1).astype(np.int64)
    return Ledger(
        base_counts=np.zeros((N, K)),
        base_sums=np.zeros((N, K, dims)),
        base_mean=np.zeros((N, K, dims)),
        counts=np.zeros((N, K)),
        mean=np.zeros((N, K, dims)),
        reach=np.full((N, K), np.inf),
        missing=np.repeat(np.repeat(sizes[None, :, None], N, axis=0), dims, axis=2),
        standing=np.repeat(dims * sizes[None, :], N, axis=0),
        over_wait=np.full((N, N, K, dims), -_GAIN),
        won_wait=np.full((N, N, K, dims), -_GAIN),
        news=np.zeros(2, np.bool_),
    )


@kernel
def begin_ledger(ledger: Ledger, tally: Tally, mean: Floats) -> None:
    """Let evidence count from now on."""
    ledger.base_counts[:] = tally.counts
    ledger.base_sums[:] = tally.sums
    ledger.base_mean[:] = mean
    ledger.counts[:] = 0.0


@kernel
def enter_arm(
    ledger: Ledger, tally: Tally, levels: Levels, scale: Floats, i: int, j: int
) -> None:
    """Take up the new pulls of an arm."""
    count = tally.counts[i, j] - ledger.base_counts[i, j]
    ledger.counts[i, j] = count
    for d in range(len(scale)):
        rest = tally.sums[i, j, d] - ledger.base_sums[i, j, d]
        ledger.mean[i, j, d] = rest / (count * scale[d])
    if levels.boxes:
        ledger.reach[i, j] = radius_at(levels.radius, tally.counts[i, j])


@kernel
def lack(
    ledger: Ledger, arms: tuple[int, int, int, int], d: int, shift: float, level: float
) -> float:
    """Return how much is missing to prove mu_a + shift > mu_b for arms (i, m), (j, l); <= 0 if nothing."""
    i, m, j, l = arms
    n_a, n_b = ledger.counts[i, m], ledger.counts[j, l]
    gap = ledger.mean[i, m, d] - ledger.mean[j, l, d] + shift
    seen = ledger.base_mean[i, m, d] - ledger.base_mean[j, l, d] + shift
    q = precision(seen, ledger.base_counts[i, m], ledger.base_counts[j, l])
    above = pair_evidence_above(gap, n_a, n_b, q, q)
    if above < level:
        return level - above
    return level - pair_evidence(gap, n_a, n_b, q, q)


@kernel
def note_over(ledger: Ledger, duties: Duties, j: int, i: int, l: int, d: int) -> None:
    """Record that j beats arm l of i in dim d."""
    duties.over[j, i, l, d] = True
    ledger.standing[j, i] -= 1
    if ledger.standing[j, i] == 0:
        ledger.news[1] = True


@kernel
def note_won(ledger: Ledger, duties: Duties, i: int, j: int, l: int, d: int) -> None:
    """Record that arm l of j does not beat i by epsilon in dim d."""
    duties.won[i, j, l, d] = True
    ledger.missing[i, j, d] -= 1
    if ledger.missing[i, j, d] == 0:
        duties.settled[i, j] = True
        ledger.news[0] = True


@kernel
def try_group(
    ledger: Ledger,
    duties: Duties,
    split: Split,
    levels: Levels,
    leader: Ints,
    touched: Bools,
    turned: Bools,
    g: int,
) -> None:
    """Do all tests that new pulls of group g can have changed.

    `touched` [N, K] are the arms with new pulls, `turned` [D] the dims in which the leader of g is one of
    them, or is another one than before.
    """
    N, D = leader.shape
    K = touched.shape[1]
    status, counts, mean = duties.status, ledger.counts, ledger.mean
    for o in range(N):
        if o == g:
            continue
        for side in range(2):
            i, j = (g, o) if side == 0 else (o, g)
            beat = status[j] == UNDECIDED
            keep = status[i] == UNDECIDED and status[j] != REJECTED and not duties.settled[i, j]
            if not (beat or keep):
                continue
            for d in range(D):
                if side == 0 and not turned[d]:
                    continue
                m = leader[i, d]
                n_a = counts[i, m]
                for l in range(K):
                    n_b = counts[j, l]
                    if (side == 1 and not touched[g, l]) or not (n_a > 0.0 and n_b > 0.0):
                        continue
                    gap = mean[i, m, d] - mean[j, l, d]
                    level = levels.level + split.arm[i, m, d]
                    if levels.boxes:
                        rest = gap - (ledger.reach[i, m] + ledger.reach[j, l])
                        if beat and not duties.over[i, j, l, d] and rest >= 0.0:
                            note_over(ledger, duties, i, j, l, d)
                        if keep and not duties.won[i, j, l, d] and rest + levels.epsilon[d] >= 0.0:
                            note_won(ledger, duties, i, j, l, d)
                        continue
                    if beat and gap > 0.0 and not duties.over[i, j, l, d]:
                        wanted = level + split.group[j] + split.rival[j, i]
                        z = strength(gap, n_a, n_b)
                        if z >= wanted + ledger.over_wait[i, j, l, d]:
                            rest = lack(ledger, (i, m, j, l), d, 0.0, wanted)
                            ledger.over_wait[i, j, l, d] = (z - wanted) + _RETRY * rest
                            if rest <= 0.0:
                                note_over(ledger, duties, i, j, l, d)
                    gap += levels.epsilon[d]
                    if keep and gap > 0.0 and not duties.won[i, j, l, d]:
                        wanted = level + split.group[i] + split.dim[i, j, d]
                        z = strength(gap, n_a, n_b)
                        if z >= wanted + ledger.won_wait[i, j, l, d]:
                            rest = lack(ledger, (i, m, j, l), d, levels.epsilon[d], wanted)
                            ledger.won_wait[i, j, l, d] = (z - wanted) + _RETRY * rest
                            if rest <= 0.0:
                                note_won(ledger, duties, i, j, l, d)


@kernel
def decide(ledger: Ledger, duties: Duties) -> bool:
    """Reject groups that are beaten, then accept groups that are settled against all others."""
    status, N = duties.status, len(duties.status)
    if not (ledger.news[0] or ledger.news[1]):
        return False
    ledger.news[:] = False
    changed = False
    for i in range(N):
        if status[i] == UNDECIDED:
            for j in range(N):
                if j != i and ledger.standing[j, i] == 0:
                    status[i] = REJECTED
                    changed = True
                    break
    for i in range(N):
        if status[i] != UNDECIDED:
            continue
        safe = True
        for j in range(N):
            if j != i and status[j] != REJECTED and not duties.settled[i, j]:
                safe = False
                break
        if safe:
            status[i] = 1
            changed = True
    return changed

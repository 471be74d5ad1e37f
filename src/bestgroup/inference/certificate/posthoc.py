"""The best guess, with the level that the evidence for it has at this moment.

Every claim behind a verdict on pairs of arms has a share of delta and is made once its evidence, the log
of an e-value, reaches log(1 / (share delta)). Take the claims that a whole answer needs, and let E be
the least of share times e-value over them. The answer would just be proven at delta = 1 / E, so that
is found by trying deltas.

**What 1 / E is worth.** Say that the answer is wrong; then one of its claims is false, namely one of the
true nulls that the proof counts (`judge`), whose shares sum up to at most 1. E is at most share times
e-value of that one, hence at most S, the sum of these over all true nulls that the proof counts. At any
stopping time S has expectation at most 1, as each e-process has. So E [E; the answer is wrong] <= 1,
whatever chose the answer and the moment: an e-value statement. It is not a probability given the
data, and 1 / E may not be used as if delta had been fixed at it beforehand.

Boxes hold at a delta that is fixed beforehand; where only they decide, a guess has no such level. Nor
has it on shared items: a claim there is made once its wealth has reached its level after any item, a
running maximum, of which S would not keep an expectation of 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bestgroup.inference.certificate.judge import Verdict, judge_about
from bestgroup.inference.certificate.within import Basis
from bestgroup.problem.arrays import Ints
from bestgroup.problem.goals import Goal
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.problem import Problem
from bestgroup.problem.status import Status

_LEAST = 1e-12  # no level is told below this
_MOST_MAPPED = 8  # groups, beyond which a map is not judged some forty times
_FACTOR = 1.02  # by which a level may be too large


def least_level(basis: Basis, problem: Problem, goal: Goal) -> tuple[float, Ints] | None:
    """Return the least delta at which all groups are decided, and how [N]; None if there is none.

    A level of 1 goes with statuses that may be open.
    """
    if basis.items is not None or problem.measure is not None:
        return None
    if goal.by_directions:
        # Boxes, whose delta is fixed, may decide there, too, unless noise is sub-Gaussian.
        if not isinstance(problem.noise, SubGaussian) or problem.shape.groups > _MOST_MAPPED:
            return None
    elif goal.worth_weights(problem.shape.dims) is not None and not problem.noise.has_scale:
        return None  # evidence stands within boxes

    def at(delta: float) -> Verdict:
        return judge_about(basis.tally, basis.pivots, problem.shape, goal, problem.noise, delta)

    with np.errstate(all="ignore"):
        first = at(1.0)
        if not first.pairs:
            return None
        if not _is_whole(first):
            return 1.0, first.status
        return _search(at, first)


def _is_whole(verdict: Verdict) -> bool:
    return bool((verdict.status != Status.UNDECIDED).all())


def _search(at: Callable[[float], Verdict], whole: Verdict) -> tuple[float, Ints]:
    """Return the least delta, up to a factor, at which nothing is undecided."""
    low, high = math.log(_LEAST), 0.0
    while high - low > math.log(_FACTOR):
        middle = (low + high) / 2.0
        found = at(math.exp(middle))
        if _is_whole(found):
            high, whole = middle, found
        else:
            low = middle
    return math.exp(high), whole.status

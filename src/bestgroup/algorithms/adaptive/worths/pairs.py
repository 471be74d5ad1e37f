"""Evidence on pairs of arms where arms must keep limits: what it proves, and what follows.

Where arms are independent and a group is worth its best arm, half of delta is for the boxes that tell
which arms count, L bounds for each of A arms, from all pulls; half is for evidence on pairs from the
pulls after a warm-up (`warmup`), which fixes precisions, bets and shares r, q, y, p (`split`) that add up
as those of `adaptive.pareto` do. Write P for the arms known to count.

- near[i, j, k, d] is recorded, for good, once evidence for the best arm m of i in P, by its mean, plus
  epsilon_d against arm k of j has reached log(2 / (delta r(i) y(i, j, d) q(i, d, m))); over[i, j, k, d]
  once evidence without epsilon has reached log(2 / (delta r(j) p(j, i) q(i, d, m))).
- j is out once for one i, in every dim, over is recorded for all arms of j that are not barred.
- i is in once, for every j that has arms left, in one dim near is recorded for all of them that are not
  barred: also for a j that is out by another group.

**Why it is right** (docs/theory.md): what enters an error is the best arm of a group among those that
keep all limits, which the means fix and which no box bars, against an arm in P, which is beyond no limit
by more than its tolerance.
"""

from __future__ import annotations

import math

from bestgroup.algorithms.adaptive.pareto.certificates import lack
from bestgroup.algorithms.adaptive.pareto.split import share_of_dim, share_of_rival
from bestgroup.algorithms.adaptive.worths.state import OUT, UNDECIDED, State, WorthRule
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.worths import BARRED, COUNTS
from bestgroup.problem.arrays import Bools, Floats

_FAR = 0.5  # of the half-widths of two boxes: at smaller gaps no evidence is looked for


@borrowing
def leading(state: State, rule: WorthRule, i: int, d: int) -> int:
    """Return the arm of group i with the largest mean in dim d that is known to count; -1 if none is."""
    top, arm = -math.inf, -1
    for j in range(rule.sizes[i]):
        if state.standing[i, j] == COUNTS and state.means[i, j, d] > top:
            top, arm = state.means[i, j, d], j
    return arm


@borrowing
def is_left(state: State, j: int) -> bool:
    """Return whether group j has arms that may count."""
    return not (state.status[j] == OUT and state.beaten_by[j] < 0)


@borrowing
def holds_in(state: State, rule: WorthRule, found: Bools, i: int, j: int, d: int) -> bool:
    """Return whether a comparison of i with j in dim d is recorded for all arms that are not barred."""
    for k in range(rule.sizes[j]):
        if state.standing[j, k] != BARRED and not found[i, j, k, d]:
            return False
    return True


@borrowing
def is_near(state: State, rule: WorthRule, i: int, j: int) -> bool:
    """Return whether group i is proven not to be beaten by j by more than epsilon in every dim."""
    for d in range(len(rule.epsilon)):
        if holds_in(state, rule, state.near, i, j, d):
            return True
    return False


@borrowing
def is_over(state: State, rule: WorthRule, i: int, j: int) -> bool:
    """Return whether group i is proven to beat j in every dim."""
    for d in range(len(rule.epsilon)):
        if not holds_in(state, rule, state.over, i, j, d):
            return False
    return True


@borrowing
def width(state: State, i: int, j: int, d: int) -> float:
    """Return the half-width of a box."""
    return 0.5 * (state.high[i, j, d] - state.low[i, j, d])


@borrowing
def note_pairs(state: State, rule: WorthRule, i: int, j: int, room: Floats) -> None:
    """Record what evidence for the arms of i that count against those of j proves."""
    seek_near = state.status[i] == UNDECIDED and not is_near(state, rule, i, j)
    seek_over = state.status[j] == UNDECIDED
    split, levels = state.split, rule.levels
    for d in range(len(rule.epsilon)):
        m = leading(state, rule, i, d)
        if m < 0 or not (seek_near or seek_over):
            return
        own = levels.level + split.arm[i, m, d]
        for k in range(rule.sizes[j]):
            if state.standing[j, k] == BARRED or not has_both(state, (i, m), (j, k)):
                continue
            gap = state.means[i, m, d] - state.means[j, k, d]
            least = _FAR * math.hypot(width(state, i, m, d), width(state, j, k, d))
            arms = (i, m, j, k)
            if seek_near and not state.near[i, j, k, d] and gap + rule.epsilon[d] >= least:
                level = own + split.accept[i] + share_of_dim(split, i, j, d)
                rest = lack(state.ledger, arms, d, levels.epsilon[d], level, levels, room)
                if rest <= 0.0:
                    state.near[i, j, k, d] = True
                    state.ledger.won_by[i, j, k, d] = m
            if seek_over and not state.over[i, j, k, d] and gap >= least:
                level = own + split.reject[j] + share_of_rival(split, j, i)
                if lack(state.ledger, arms, d, 0.0, level, levels, room) <= 0.0:
                    state.over[i, j, k, d] = True
                    state.ledger.over_by[i, j, k, d] = m


@borrowing
def has_both(state: State, above: tuple[int, int], below: tuple[int, int]) -> bool:
    """Return whether two arms have pulls since the warm-up."""
    counts = state.ledger.counts
    return bool(counts[above[0], above[1]] > 0.0 and counts[below[0], below[1]] > 0.0)

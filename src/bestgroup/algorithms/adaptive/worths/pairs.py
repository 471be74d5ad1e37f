"""Evidence on several arms at once with limits: comparisons by pairs of arms, or of whole selections.

Where arms are independent and a group is worth its best arm, half of delta is for the boxes that tell
which arms count, L bounds for each of A arms, and half for evidence (`certificate.pairs`, and
`evalues.linear` for the best group of several dims). Write P for the arms known to count.

- near[i, j, k, d] is recorded, for good, once evidence for the best arm of i in P, by its mean, plus
  epsilon_d against arm k of j has reached log(2 N D K_i / delta); over[i, j, k, d] once evidence without
  epsilon has reached log(2 N (A - K_j) / delta).
- j is out once for one i, in every dim, over is recorded for all arms of j that are not barred.
- i is in once, for every j that has arms left, in one dim near is recorded for all of them that are not
  barred: also for a j that is out by another group.

**Why it is right** (docs/theory.md): what enters an error is the best arm of a group among those that
keep all limits, which the means fix and which no box bars, against an arm in P, which is beyond no limit
by more than its tolerance.
"""

from __future__ import annotations

import math

from bestgroup.algorithms.adaptive.worths.state import OUT, UNDECIDED, State, WorthRule
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.certificate.pairs import is_above
from bestgroup.inference.tally import Tally
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
def note_pairs(
    state: State, tally: Tally, rule: WorthRule, i: int, j: int, room: tuple[Floats, Floats]
) -> None:
    """Record what evidence for the arms of i that count against those of j proves."""
    seek_near = state.status[i] == UNDECIDED and not is_near(state, rule, i, j)
    seek_over = state.status[j] == UNDECIDED
    for d in range(len(rule.epsilon)):
        m = leading(state, rule, i, d)
        if m < 0 or not (seek_near or seek_over):
            return
        for k in range(rule.sizes[j]):
            if state.standing[j, k] == BARRED:
                continue
            gap = state.means[i, m, d] - state.means[j, k, d]
            least = _FAR * math.hypot(width(state, i, m, d), width(state, j, k, d))
            slack, level = rule.epsilon[d], rule.near_level[i]
            if seek_near and not state.near[i, j, k, d] and gap + slack >= least:
                found = is_above(rule.box, tally, (i, m), (j, k), d, slack, level, room)
                state.near[i, j, k, d] = found
            if seek_over and not state.over[i, j, k, d] and gap >= least:
                level = rule.over_level[j]
                found = is_above(rule.box, tally, (i, m), (j, k), d, 0.0, level, room)
                state.over[i, j, k, d] = found

"""The clocks of EECB: n^d after so many rounds, without going through them.

n^d is a function of the round alone. The first round pulls every arm; each later one adds 1 to the
n^d with the largest effect w^d beta(n^d), the first of equals (paper, Algorithm 2, line 12). Effects
decrease, so after r rounds the effects that were used are the r - 1 largest of all (d, n): the clock
is the vector with the right sum of which no unused effect comes before a used one. It is solved for
nearly, then put right one by one.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from bestgroup.algorithms.protocol import Rule
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.radii import radius_at
from bestgroup.problem.arrays import Ints

_TRIES = 30


class Clocked(Protocol):
    """What the clock of a later round depends on."""

    @property
    def round(self) -> Ints:
        """[1]  r."""
        ...

    @property
    def clock(self) -> Ints:
        """[D]  n^d."""
        ...


@borrowing
def effect_of(rule: Rule, d: int, n: int) -> float:
    """Return w^d beta(n)."""
    return rule.weights[d] * rule.scale[d] * radius_at(rule.radius, n)


@borrowing
def focus_at(clock: Ints, rule: Rule) -> int:
    """Return the dim with the largest w^d beta(n^d), the first of equals.     line 12."""
    best = -np.inf
    focus = 0
    for d in range(len(clock)):
        effect = effect_of(rule, d, clock[d])
        # The paper leaves ties open; the first of equals makes runs repeatable.
        if effect > best:
            best = effect
            focus = d
    return focus


@borrowing
def clock_after(state: Clocked, rule: Rule, rounds: int, clock: Ints) -> None:
    """Set n^d after so many more rounds, whose focus is the first largest effect.

    `clock` holds a guess, which may be far off; after one round it is not used.
    """
    # The focus depends on clocks alone, never on rewards: the schedule can be run ahead.
    D = len(clock)
    for d in range(D):
        if rounds == 1:
            # The first round pulls every arm, whatever the focus.
            clock[d] = state.clock[d] if state.round[0] > 0 else 1
        else:
            clock[d] = max(1, clock[d])
    if rounds > 1:
        total = state.round[0] + rounds - 1 + D
        _approach(rule, clock, total)
        _put_right(rule, clock, total)
    elif state.round[0] > 0:
        clock[focus_at(clock, rule)] += 1


@borrowing
def _approach(rule: Rule, clock: Ints, total: int) -> None:
    """Move a clock close to that with this sum whose effects are alike: beta(n) is about n^(-1/2)."""
    D = len(clock)
    # Newton's method for one common level of all effects; near enough is enough, as the next
    # function is exact.
    for _ in range(_TRIES):
        missing, weighted, widths = float(total), 0.0, 0.0
        for d in range(D):
            missing -= clock[d]
            weighted += 2.0 * clock[d]
            widths += 2.0 * clock[d] / effect_of(rule, d, clock[d])
        level, close = (weighted - missing) / widths, True
        for d in range(D):
            n = clock[d]
            step = 2.0 * n * (1.0 - level / effect_of(rule, d, n))
            # A step far off would leave the region where beta(n) is like n^(-1/2).
            clock[d] = max(1, n + round(min(max(step, -0.5 * n), 2.0 * n + 2.0)))
            # The error of the next guess is about the square of this step over n.
            close = close and (clock[d] - n) ** 2 <= n
        if close:
            return


@borrowing
def _put_right(rule: Rule, clock: Ints, total: int) -> None:
    """Move a clock to the one with this sum of which no unused effect comes before a used one."""
    # Exact, with the comparisons of the algorithm: ties go to the first dim, as in `focus_at`.
    missing = total
    for n in clock:
        missing -= n
    while True:
        first, most, last, least = -1, -1.0, -1, math.inf
        for d in range(len(clock)):
            unused = effect_of(rule, d, clock[d])
            if unused > most:
                first, most = d, unused
            if clock[d] > 1:
                used = effect_of(rule, d, clock[d] - 1)
                if used <= least:
                    last, least = d, used
        wrong = last >= 0 and (most > least or (most == least and first < last))
        if missing > 0 or (missing == 0 and wrong):
            clock[first] += 1
            missing -= 1
        elif missing < 0:
            clock[last] -= 1
            missing += 1
        else:
            return

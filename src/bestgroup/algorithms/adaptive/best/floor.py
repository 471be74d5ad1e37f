"""The floor of pulls: every arm gets a share of all, so that no arm stays unlucky for long.

That a run ends rests on it; the guarantee does not.
"""

from __future__ import annotations

import math

from bestgroup.algorithms.adaptive.best.aim import number_of_arms
from bestgroup.algorithms.adaptive.best.state import LinearRule, State
from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.tally import Tally, sum_of
from bestgroup.problem.arrays import Ints

_EVEN = 0.04  # of all pulls go to all arms alike, at least


@borrowing
def floor_of(total: int, rule: LinearRule) -> float:
    """Return how often every arm is pulled at least: t / (25 A)."""
    return _EVEN * total / number_of_arms(rule)


@borrowing
def fill_first(rule: LinearRule, pulls: Ints) -> None:
    """Plan the first pulls of every arm."""
    for i in range(pulls.shape[0]):
        for j in range(pulls.shape[1]):
            if rule.exists[i, j]:
                pulls[i, j] = rule.first


@borrowing
def fill_short(state: State, tally: Tally, rule: LinearRule, pulls: Ints) -> None:
    """Plan the pulls that arms lack to the floor."""
    least = math.ceil(floor_of(sum_of(tally.counts), rule))
    for i in range(len(rule.sizes)):
        if not state.out[i]:
            for j in range(rule.sizes[i]):
                pulls[i, j] = max(0, least - tally.counts[i, j])


@borrowing
def note_short(state: State, tally: Tally, rule: LinearRule, total: int) -> None:
    """Note whether an arm has fallen below the floor."""
    least = floor_of(total, rule)
    for i in range(len(rule.sizes)):
        if not state.out[i]:
            for j in range(rule.sizes[i]):
                # Noted here, planned next: `plan` must not change the state.
                if tally.counts[i, j] < least:
                    state.short[0] = True

"""What lockstep algorithms share whose active arms are all pulled once a round."""

from __future__ import annotations

from typing import Any, Protocol

from bestgroup.compile.borrowing import borrowing
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Ints


class Counting(Protocol):
    """A state that counts its rounds."""

    @property
    def round(self) -> Ints:
        """[1]."""
        ...


@borrowing
def one_clock(state: Counting, rule: Any, rounds: int, clock: Ints) -> None:
    """Set n^d after so many more rounds: it is the round, for every dim."""
    for d in range(len(clock)):
        clock[d] = state.round[0] + rounds


@borrowing
def count_rounds(state: Counting, tally: Tally, rule: Any, rounds: int, clock: Ints) -> None:
    """Go on by rounds in which no test fired; the next step refreshes R."""
    state.round[0] += rounds


@borrowing
def a_quarter_more(state: Counting, rule: Any) -> int:
    """Return how many rounds to go ahead at a time: means move slowly once there are many pulls."""
    return max(8, state.round[0] // 4)

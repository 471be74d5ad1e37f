"""What an answer is worth: proven, with every assumption it rests on, or not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from bestgroup.problem.goals import Goal

# What proofs on single arms need: with shared items or seeds another arm's result, which is in the
# past, may tell something about the next pull; the arm's own earlier pulls do not.
SINGLE_ARMS = (
    "given the arm's own earlier pulls, its next pull has its mean and that noise",
    "pulls of different arms may depend on each other in any way",
)
# What proofs on several arms at once need.
SEVERAL_ARMS = (
    "given the past, the next pull of an arm has its mean and that noise",
    "pulls of different arms are independent",
)
# What bets on weighted sums of normal dims need, where dims may depend on each other.
SYMMETRIC_SUMS = (
    "the weighted sum of the dims of one pull has symmetric noise, too, as that of jointly normal"
    " dims has"
)


@dataclass(frozen=True)
class Guarantee:
    """The guarantee that an answer carries.

    `level` is "proven" or "none"; `statement` says what holds, or why nothing does; `assumptions`
    are those that the proof rests on. `on_the_way` says what holds of the decisions of a run that
    has not ended; empty if the proof speaks of final answers only.
    """

    level: Literal["proven", "none"]
    statement: str
    assumptions: tuple[str, ...] = ()
    on_the_way: str = ""

    def __str__(self) -> str:
        if self.level == "none" or not self.assumptions:
            return f"{self.level}: {self.statement}"
        return f"{self.level}: {self.statement}, provided that " + "; ".join(self.assumptions)

    def void(self, why: str) -> Guarantee:
        """Return no guarantee, for the given reason."""
        return Guarantee("none", why, self.assumptions)

    def so_far(self) -> Guarantee:
        """Return what the decisions of a run that has not ended are worth."""
        if self.level == "none":
            return self
        if not self.on_the_way:
            return self.void("the run has not ended, and its proof speaks of final answers only")
        return replace(self, statement=self.on_the_way)

    def resting_on(self, *more: str) -> Guarantee:
        """Return the guarantee with further assumptions, if anything is proven."""
        if self.level == "none":
            return self
        return replace(self, assumptions=(*self.assumptions, *more))

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain JSON."""
        return {
            "level": self.level,
            "statement": self.statement,
            "assumptions": list(self.assumptions),
        }


def decisions_statement(goal: Goal, delta: float, what: str = "") -> str:
    """Return what holds of groups that are in and out; `what` says which, if not all there are.

    >>> from bestgroup.problem.goals import ParetoGroups
    >>> decisions_statement(ParetoGroups(0.1), 0.05)[:58]
    'with probability at least 0.95 no group that is out is Par'
    """
    percent = f"with probability at least {1 - delta:.10g}{what}"
    return f"{percent} {goal.decided_words()}"

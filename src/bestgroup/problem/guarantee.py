"""What an answer is worth: proven, with every assumption it rests on, or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Guarantee:
    """The guarantee that an answer carries.

    `level` is "proven" or "none"; `statement` says what holds, or why nothing does; `assumptions`
    are those that the proof rests on.
    """

    level: Literal["proven", "none"]
    statement: str
    assumptions: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.assumptions:
            return f"{self.level}: {self.statement}"
        return f"{self.level}: {self.statement}, provided that " + "; ".join(self.assumptions)

    def void(self, why: str) -> Guarantee:
        """Return no guarantee, for the given reason."""
        return Guarantee("none", why, self.assumptions)

"""What is known of a group: the one form that algorithms' decisions and certificates share."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Where a group stands; arrays hold the numbers, people and JSON get the `word`.

    Pareto groups: a group that is in is not beaten by more than epsilon in every dim; one that is
    out is not Pareto optimal. Best group: the group that is in is within epsilon ||w||_1 of the
    best; one that is out is not the only best one. With epsilon > 0 a group that might still be
    better, by no more than epsilon ||w||_1, is not needed: the question has its answer.

    >>> Status.NOT_NEEDED.word, Status.read("o")
    ('not needed', <Status.OUT: 2>)
    """

    UNDECIDED = 0
    IN = 1
    OUT = 2
    NOT_NEEDED = 3

    @property
    def word(self) -> str:
        """The status in words."""
        return self.name.lower().replace("_", " ")

    @property
    def letter(self) -> str:
        """The status as one character, for long lists."""
        return "?ion"[self]

    @classmethod
    def read(cls, text: str) -> Status:
        """Return the status that a word or a letter stands for."""
        for status in cls:
            if text in (status.word, status.letter):
                return status
        raise ValueError(f"{text!r} is no status")

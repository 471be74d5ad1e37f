"""One status for each group of a study, and who proved it.

The algorithm's decisions come first: they are the study's answer. Where it has not decided yet, what
the observations prove by themselves counts, marked as such; it holds with delta of its own.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

import numpy as np

from bestgroup.problem.status import Status
from bestgroup.service.schemas import STATUSES, GroupStatus
from bestgroup.studies.observer import Picture
from bestgroup.studies.report import statuses
from bestgroup.studies.storage.records import Head

By = Literal["algorithm", "observations", ""]


class Standing(NamedTuple):
    """The statuses of all groups, in the order of the problem."""

    words: list[GroupStatus]
    by: list[By]
    contradicted: list[int]  # groups of which the two say the opposite: an assumption fails

    def counts(self) -> dict[GroupStatus, int]:
        """Return how many groups have each status."""
        found = Counter(self.words)
        return {word: found[word] for word in STATUSES}

    @property
    def ahead(self) -> int:
        """How many groups only the observations decide so far."""
        return self.by.count("observations")


def standing(head: Head, picture: Picture) -> Standing:
    """Return the status of every group.

    With a slack a group may rightly be in by one proof and out by the other.
    """
    exact = not np.any(picture.spec.goal.epsilon)
    words: list[GroupStatus] = []
    by: list[By] = []
    contradicted: list[int] = []
    own = statuses(picture.spec, head)
    for i, (status, number) in enumerate(zip(own, picture.verdict.status, strict=True)):
        decided: GroupStatus = status.word  # type: ignore[assignment]
        proven: GroupStatus = Status(number).word  # type: ignore[assignment]
        if exact and {decided, proven} == {"in", "out"}:
            contradicted.append(i)
        if decided != "undecided":
            words.append(decided)
            by.append("algorithm")
        else:
            words.append(proven)
            by.append("" if proven == "undecided" else "observations")
    return Standing(words, by, contradicted)

"""What an algorithm has decided of each group: the one place where states and answers become statuses."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestgroup.problem.arrays import Bools, Ints
from bestgroup.problem.goals import Goal
from bestgroup.problem.status import Status


def decided(
    record: dict[str, Any], goal: Goal, before: Ints, answer: frozenset[int] | None
) -> Ints:
    """Return what an algorithm's record, and its answer once it has ended, decide, [N].

    What was decided before stays. With epsilon > 0 the best group is known up to epsilon ||w||_1,
    so that the answer puts no other group out: those are not needed.
    """
    N = len(before)
    nobody = np.zeros(N, np.bool_)
    accepted = np.asarray(record.get("accepted", nobody), np.bool_)
    outside = record.get("rejected")
    if outside is None:
        left = ~np.asarray(record["groups"]) if "groups" in record else nobody
        outside = left & ~accepted
    found = np.full(N, Status.UNDECIDED, np.int64)
    if answer is not None:
        # No answer at all: no group has an arm that counts.
        found[:] = Status.NOT_NEEDED if goal.spares_groups and answer else Status.OUT
        found[sorted(answer)] = Status.IN
    else:
        found[np.asarray(outside, np.bool_)] = Status.OUT
    if goal.accepts_each:
        found[accepted] = Status.IN
    return np.where(before == Status.UNDECIDED, found, before)


def at_stop(answers: Bools, rejected: Bools, finished: Bools, goal: Goal) -> Ints:
    """Return what runs had decided when they stopped, [runs, N].

    `answers` [runs, N] of a run that was capped are the groups that it had accepted, `rejected`
    those that it had eliminated.
    """
    rest = Status.NOT_NEEDED if goal.spares_groups else Status.OUT
    ended = np.where(answers, Status.IN, rest)
    capped = np.where(rejected, Status.OUT, Status.UNDECIDED)
    if goal.accepts_each:
        capped = np.where(answers, Status.IN, capped)
    return np.where(finished[:, None], ended, capped).astype(np.int64)

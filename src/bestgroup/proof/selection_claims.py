"""Claims that a leader is ahead of all selections of a rival: by which evidence, and at which tilts."""

from __future__ import annotations

from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.problem.status import Status
from bestgroup.proof.build import Asked
from bestgroup.proof.build_boxes import Found
from bestgroup.proof.selection_evidence import BY_SYMMETRY, NORMAL
from bestgroup.proof.selection_search import (
    Bets,
    Compare,
    Event,
    Measured,
    Named,
    Normal,
    Search,
    cover,
)
from bestgroup.proof.selections import KINDS
from bestgroup.proof.symmetric_search import Symmetric


def slacks_of(asked: Asked, budget: str, rival: int) -> list[int]:
    """Return with which slacks a rival may be shown behind, the one that says more first."""
    if float(asked.goal.epsilons(asked.problem.shape.dims)[0]) == 0.0:
        return [0]
    if asked.status[rival] == Status.NOT_NEEDED or budget != "union":
        return [1]
    return [0, 1]


def claims_for(
    asked: Asked,
    method: dict[str, Any],
    named: Named,
    event: Event,
    number: int,
    level: float,
    slacks: list[int],
    expected: float = 0.0,
    bounds: Found | None = None,
) -> list[list[Any]]:
    """Return claims that hold all selections of a rival; refuses if there are none.

    `bounds` of single arms are for evidence by symmetry.
    """
    weights = asked.goal.weight_vector(asked.problem.shape.dims)
    whole = float(asked.goal.epsilons(asked.problem.shape.dims)[0] * weights.sum())
    for slack in slacks:
        compare = Compare(weights, whole if slack else 0.0, expected)
        for kind in KINDS[method["process"]["name"]]:
            search: Search
            if kind == BY_SYMMETRY:
                search = Symmetric(asked, method, named, event, compare, bounds or {})
            else:
                make = Bets if kind != NORMAL else Normal if named.course is None else Measured
                search = make(asked, method, named, event, compare)
            for g, joined in _tries(search.parts(), kind):
                search.joined = joined
                found = cover(search, g, level)
                if found is not None:
                    return [[number, slack, kind, *row] for row in found]
    name = asked.problem.groups[event.rival]
    raise InvalidInput(f"no proof file was written: the evidence against {name} is not found again")


def _tries(parts: list[int], kind: int) -> list[tuple[int, bool]]:
    """Return with which parts claims are looked for, and whether arms may have to serve dims together."""
    tries = [(g, False) for g in parts]
    return tries + [(g, True) for g in parts] if kind == NORMAL else tries

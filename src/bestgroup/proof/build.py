"""What every proof document begins with, and how one is finished: by checking it.

A document is only handed out if its claims, checked as a stranger would, give what the answer says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup._version import __version__
from bestgroup.errors import InvalidInput
from bestgroup.problem.goals import Goal
from bestgroup.problem.noise import Noise
from bestgroup.problem.problem import Dim, Problem
from bestgroup.problem.status import Status as Word
from bestgroup.proof.contests import MEASURED
from bestgroup.proof.format import (
    FORMAT,
    VERSION,
    VERSIONS,
    Proof,
    Refused,
    Treatment,
    parse,
)
from bestgroup.proof.goal_kinds import read_goal
from bestgroup.proof.goals import Status
from bestgroup.proof.observations import Observations, read_observations, treated
from bestgroup.proof.selection_evidence import AND_SUMS, JOINED
from bestgroup.proof.verify import METHODS
from bestgroup.proof.words import assumptions_of, statement_of


@dataclass(frozen=True)
class Asked:
    """A question with the rows that answer it."""

    problem: Problem
    goal: Goal
    delta: float
    rows: Observations
    columns: dict[str, str | None]
    status: Sequence[int]  # that each group has, by the answer that is to be proven
    gaps: bool = False
    gone: Sequence[tuple[str, str]] = ()  # arms in the table that have left

    def columns_of(self, i: int, j: int) -> list[list[float]] | None:
        """Return the values of an arm, a list for each dim; None if it has none."""
        return self.rows.values.get((self.problem.groups[i], self.problem.arms[i][j]))


def ask(
    problem: Problem,
    goal: Goal,
    delta: float,
    source: Any,
    columns: dict[str, str | None],
    status: Sequence[int],
    gaps: bool = False,
) -> Asked:
    """Return the question with the rows of a table, in which values may be missing with `gaps`."""
    if isinstance(source, Observations):
        rows = source
    else:
        rows = read_observations(source, [dim.name for dim in problem.measured], columns, gaps)
    treated(rows, [treatment_of(dim).of for dim in problem.measured])
    return Asked(problem, goal, delta, rows, columns, status, gaps)


def treatment_of(dim: Dim) -> Treatment:
    """Return what is done to the values of a dim."""
    return Treatment(dim.clip, dim.transform == "log")


def _dim_entry(dim: Dim) -> list[Any]:
    entry = {"clip": dim.clip and list(dim.clip), "log": dim.transform == "log"}
    treatment = {key: value for key, value in entry.items() if value}
    return [dim.name, dim.direction, *([treatment] if treatment else [])]


def _measure_entries(problem: Problem) -> dict[str, Any]:
    """Return the worth and the limits of a problem, where it has others than usual."""
    found: dict[str, Any] = {} if problem.worth.is_best else {"worth": problem.worth.plain()}
    names = [dim.name for dim in problem.measured]
    if problem.limits:
        found["limits"] = [
            [names.index(limit.dim), limit.sense, limit.at, limit.tolerance]
            for limit in problem.limits
        ]
    return found


def document(asked: Asked, method: dict[str, Any], claims: list[list[Any]]) -> dict[str, Any]:
    """Return a proof document, once its claims have been checked."""
    problem, goal, rows = asked.problem, asked.goal, asked.rows
    D, chosen = len(problem.decided), np.asarray(asked.status) == Word.IN
    made: dict[str, Any] = {
        "format": FORMAT,
        "version": _version(method, goal.spelled_out(D).to_dict(), D, len(problem.groups)),
        "made_by": f"bestgroup {__version__}",
        "problem": {
            "groups": [[g, list(a)] for g, a in zip(problem.groups, problem.arms, strict=True)],
            "dims": [_dim_entry(dim) for dim in problem.measured],
            **_measure_entries(problem),
            **({"gone": [[group, [arm]] for group, arm in asked.gone]} if asked.gone else {}),
        },
        "noise": noise_entry(problem.noise, len(problem.measured)),
        "goal": goal.spelled_out(D).to_dict(),
        "delta": asked.delta,
        "assumptions": [],
        "statement": "",
        "data": {
            "rows": rows.rows,
            "columns": dict(asked.columns),
            "digest": rows.digest,
            **({"gaps": True} if asked.gaps else {}),
        },
        "method": method,
        "claims": claims,
        "answer": {"in": np.flatnonzero(chosen).tolist(), "out": [], "not_needed": []},
    }
    try:
        found = _checked(asked, proof := parse(made))
    except InvalidInput:
        if method["kind"] != "selections" or made["version"] >= JOINED:
            raise
        # There one arm may have to serve several dims together.
        made["version"] = JOINED
        found = _checked(asked, proof := parse(made))
    answer: dict[str, Any] = {"in": found.inside, "out": found.outside}
    answer["not_needed"] = found.not_needed
    made["answer"] = answer if found.mapped is None else {**answer, "mapped": found.mapped}
    made["assumptions"], made["statement"] = assumptions_of(proof), statement_of(proof)
    return made


def _version(method: dict[str, Any], goal: dict[str, Any], dims: int, groups: int) -> int:
    """Return the first version of the format, from 2 on, that has all that a document needs."""
    selections, name = method["kind"] == "selections", method.get("process", {})
    process = selections and ("symmetric" in name["name"] or AND_SUMS in name["name"])
    union = process and method["budget"] == "union"
    late = "clusters" in method or process or method["kind"] == "item units"
    within = method["kind"] == "item bounds" and method.get("clusters", {}).get("slack") == "within"
    named = method.get("budget") in ("named", MEASURED)
    asked = read_goal(goal, dims, groups, VERSIONS[-1]).first_version()
    return max(VERSION, asked, 3 if late else VERSION, 4 if within or union or named else VERSION)


def _checked(asked: Asked, proof: Proof) -> Status:
    """Return what the claims prove; refuses if that is less than the answer."""
    try:
        found = METHODS[proof.method["kind"]](proof, asked.rows, lambda _: None)
    except Refused as error:
        raise InvalidInput(
            f"no proof file was written: a claim could not be checked ({error.check}: {error.why})"
        ) from None
    less = missing(asked, found)
    if less is not None:
        raise InvalidInput(
            f"no proof file was written: from its claims, rounded against them, it does not follow that "
            f"{less} has the status that the answer gives it"
        )
    return found


def missing(asked: Asked, found: Status) -> str | None:
    """Return a group whose status does not follow, if there is one."""
    sets = {Word.IN: found.inside, Word.OUT: found.outside}
    sets[Word.NOT_NEEDED] = [*found.not_needed, *found.outside]
    if asked.goal.maps:  # a group to which the tighter bounds of a proof map a weight says more
        sets[Word.NOT_NEEDED] += found.inside
    for i, status in enumerate(asked.status):
        if status in sets and i not in sets[Word(status)]:
            return asked.problem.groups[i]
    return None


def noise_entry(noise: Noise, dims: int) -> dict[str, Any]:
    """Return the noise of a proof document, a model for each dim."""
    entries = [noise.at_dim(d, dims) for d in range(dims)]
    return {"dims": entries, "arms": str(noise.arms), "dependence": str(noise.dependence)}

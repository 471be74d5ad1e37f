"""Problem files, written: `save_spec` writes what `load_spec` reads."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.files.schema import key_of
from bestgroup.problem.goals import Goal
from bestgroup.problem.problem import Dim, Problem, dim_dict


def save_spec(
    path: str | os.PathLike[str],
    problem: Problem,
    goal: Goal,
    delta: float = 0.05,
    *,
    name: str | None = None,
    algorithm: str = "auto",
    evaluate: Mapping[str, str] | None = None,
    means: Sequence[Any] | None = None,
    notes: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a problem file and return its path; an existing one is kept unless `overwrite`.

    `means` has one array [K_i, decided dims] a group, in the user's view; `notes` maps a table's name
    to a comment above it.
    """
    file = Path(path)
    if file.exists() and not overwrite:
        raise InvalidInput(f"{file} exists; choose another name or remove it")
    text = spec_text(
        problem, goal, delta, name or file.stem, algorithm, evaluate, means, notes or {}
    )
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from None
    return file


def spec_text(
    problem: Problem,
    goal: Goal,
    delta: float,
    name: str,
    algorithm: str,
    evaluate: Mapping[str, str] | None,
    means: Sequence[Any] | None,
    notes: Mapping[str, str],
) -> str:
    """Return a problem file's text."""
    lines = [
        f"name = {_value(name)}",
        f"delta = {_value(float(delta))}",
        f"algorithm = {_value(algorithm)}",
    ]
    tables: list[tuple[str, dict[str, Any]]] = [("goal", _goal(goal, problem))]
    tables.append(("dims", {dim.name: _dim(dim) for dim in problem.dims}))
    noise = _noise(problem.noise.to_dict())
    tables.append(("noise", noise))
    groups = dict(zip(problem.groups, problem.arms, strict=True))
    tables.append(("groups", {group: list(arms) for group, arms in groups.items()}))
    if problem.items is not None:
        tables.append(("items", problem.items.to_dict()))
    if evaluate:
        tables.append(("evaluate", dict(evaluate)))
    if means is not None:
        rows = {g: np.asarray(m).tolist() for g, m in zip(groups, means, strict=True)}
        tables.append(("means", rows))
    for table, entries in tables:
        lines.append("")
        lines += [f"# {line}" for line in notes.get(table, "").splitlines()]
        lines.append(f"[{table}]")
        lines += [f"{key_of([key])} = {_value(value)}" for key, value in entries.items()]
    if problem.costs is not None:
        for (group, arms), row in zip(groups.items(), problem.costs, strict=True):
            lines += ["", f"[{key_of(['cost', group])}]"]
            lines += [f"{key_of([arm])} = {_value(c)}" for arm, c in zip(arms, row, strict=True)]
    return "\n".join(lines) + "\n"


def _goal(goal: Goal, problem: Problem) -> dict[str, Any]:
    """Return a goal as its table, numbers by the names of the dims."""
    names = [dim.name for dim in problem.decided]
    given = goal.of(names).to_dict()
    return {
        k: dict(zip(names, v, strict=True)) if isinstance(v, list) else v for k, v in given.items()
    }


def _dim(dim: Dim) -> Any:
    given = dim_dict(dim)
    return given if len(given) > 1 else dim.direction


def _value(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{key_of([str(k)])} = {_value(v)}" for k, v in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(entry) for entry in value)}]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def _noise(entries: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a noise model; one for each dim where they differ."""
    if "dims" in entries:
        return {name: _noise(entry) for name, entry in entries["dims"].items()}
    return {key: value for key, value in entries.items() if value is not None}

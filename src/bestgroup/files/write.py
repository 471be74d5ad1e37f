"""Problem files, written: `save_spec` writes what `load_spec` reads.

A file that is there is changed in place: comments, order and tables that nothing is said about stay.
The new text is read back before it takes the file's place, so a file that cannot be used is never
written.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable

from bestgroup.errors import InvalidInput
from bestgroup.files.columns import check_columns
from bestgroup.files.problem_file import Spec, load_spec
from bestgroup.files.replacing import check_writable, replacing
from bestgroup.problem.goals import Goal
from bestgroup.problem.problem import Dim, Problem, dim_dict
from bestgroup.problem.require import plain_require

# Tables that go with the groups and dims: those of another problem would not fit.
WIDTH = 96  # of a comment
_BOUND = ("means", "cost", "items")


def save_spec(
    path: str | os.PathLike[str],
    problem: Problem | Spec,
    goal: Goal | None = None,
    delta: float | None = None,
    *,
    name: str | None = None,
    algorithm: str | None = None,
    options: Mapping[str, Any] | None = None,
    evaluate: Mapping[str, str] | None = None,
    means: Sequence[Any] | None = None,
    law: Mapping[str, Any] | None = None,
    columns: Any = None,
    notes: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a problem file and return its path; an existing one is kept unless `overwrite`.

    `problem` may be a `Spec` from `load_spec`, of which everything is kept that is not given here.
    `means` has one array [K_i, decided dims] for each group and `law` is the table [law], in the
    user's view; `columns` says what the columns of tables are called; `notes` maps a table's name to a
    comment above it, in a new file. In an existing file comments stay, and so do tables of which
    nothing is said, unless they belong to other groups or dims.
    """
    file = Path(path)
    if file.exists() and not overwrite:
        raise InvalidInput(f"{file} exists; choose another name or remove it")
    check_writable(file)
    if isinstance(problem, Spec):
        own: dict[str, Any] = _entries_of(problem)
        label, problem, goal = name or problem.name, problem.problem, goal or problem.goal
    else:
        own, label = {}, name or file.stem
    if goal is None:
        raise InvalidInput("save_spec needs a goal, such as ParetoGroups(...) or BestGroup(...)")
    given = {
        "delta": None if delta is None else float(delta),
        "algorithm": algorithm,
        "options": None if options is None else dict(options),
        "evaluate": None if evaluate is None else dict(evaluate),
        "means": None if means is None else _means(problem, means),
        "law": None if law is None else dict(law),
        "table": None if columns is None else check_columns(columns).to_dict() or None,
    }
    own |= {key: value for key, value in given.items() if value is not None}
    own.setdefault("delta", 0.05)
    own.setdefault("algorithm", "auto")
    entries = {"name": label, **own, **_problem_tables(problem, goal)}
    _write(file, _document(file, entries, notes or {}))
    return file


def _entries_of(spec: Spec) -> dict[str, Any]:
    """Return what a file says besides its problem and goal."""
    entries = {
        "delta": spec.delta,
        "algorithm": "auto" if spec.why is not None else spec.algorithm.name,
        "options": dict(spec.options) or None,
        "evaluate": dict(spec.evaluate) or None,
        "means": None if spec.means is None else _means(spec.problem, spec.means),
        "law": spec.law_table,
        "table": spec.columns.to_dict() or None,
    }
    return {key: value for key, value in entries.items() if value is not None}


def _means(problem: Problem, means: Sequence[Any]) -> dict[str, Any]:
    return {g: np.asarray(m).tolist() for g, m in zip(problem.groups, means, strict=True)}


def _problem_tables(problem: Problem, goal: Goal) -> dict[str, Any]:
    """Return the tables that say what is asked and assumed."""
    noise = _noise(problem.noise.to_dict())
    tables: dict[str, Any] = {
        "goal": _goal(goal, problem),
        "dims": {dim.name: _dim(dim) for dim in problem.dims},
        **({"require": plain_require(problem.limits)} if problem.limits else {}),
        **({} if problem.worth.is_best else {"worth": problem.worth.plain()}),
        "noise": noise,
        "groups": {g: list(arms) for g, arms in zip(problem.groups, problem.arms, strict=True)},
    }
    ranges = [dim.range for dim in problem.measured]
    if "low" in noise and None not in ranges:
        model: Any = problem.noise
        low, high = model.ends(len(ranges))
        if [(a, b) for a, b in zip(low, high, strict=True)] == ranges:
            del noise["low"], noise["high"]  # the dims say it
    if problem.items is not None:
        noise.pop("arms", None)  # they share items, whatever the noise model would say
        given = problem.items.to_dict().items()
        tables["items"] = {key: value for key, value in given if value is not None}
    if problem.reserve:
        noise.pop("arms", None)  # single arms prove, whatever the noise model would say
        tables["reserve"] = problem.reserve
    if problem.costs is not None:
        rows = zip(problem.groups, problem.arms, problem.costs, strict=True)
        tables["cost"] = {g: dict(zip(arms, row, strict=True)) for g, arms, row in rows}
    return tables


def _noise(entries: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a noise model; one for each dim where they differ."""
    if "dims" in entries:
        return {name: _noise(entry) for name, entry in entries["dims"].items()}
    return {key: value for key, value in entries.items() if value is not None}


def _goal(goal: Goal, problem: Problem) -> dict[str, Any]:
    """Return a goal as its table, numbers by the names of the dims."""
    names = [dim.name for dim in problem.decided]
    given = goal.of(names).to_dict()
    return {k: _named(v, names) for k, v in given.items() if v is not None}


def _named(value: Any, names: list[str]) -> Any:
    """Return numbers by the names of the dims; of a map's vertices, each."""
    if not isinstance(value, list):
        return value
    if value and isinstance(value[0], list):
        return [_named(vertex, names) for vertex in value]
    return dict(zip(names, value, strict=True))


def _dim(dim: Dim) -> Any:
    given = dim_dict(dim)
    return given if len(given) > 1 else dim.direction


ORDER = (
    "name",
    "delta",
    "algorithm",
    "reserve",
    "worth",
    "options",
    "goal",
    "dims",
    "require",
    "noise",
    "groups",
    "items",
    "cost",
    "table",
    "evaluate",
    "law",
    "means",
)


def _document(file: Path, entries: dict[str, Any], notes: Mapping[str, str]) -> str:
    """Return the text of a file with these entries; an existing one keeps what else it says."""
    ordered = {key: entries[key] for key in ORDER if key in entries}
    if file.exists():
        try:
            document = tomlkit.parse(file.read_text(encoding="utf-8"))
        except (TOMLKitError, UnicodeDecodeError, OSError):
            raise InvalidInput(f"{file}: this is not a problem file; remove it first") from None
        same = all(document.get(key) == entries[key] for key in ("groups", "dims"))
        for key in list(document):
            if key not in ordered and (key not in ORDER or (key in _BOUND and not same)):
                del document[key]
        _merge(document, ordered)
        return tomlkit.dumps(document)
    document = tomlkit.document()
    for key, value in ordered.items():
        if isinstance(value, dict):
            document.add(tomlkit.nl())
            for line in notes.get(key, "").splitlines():
                for part in textwrap.wrap(line, WIDTH):
                    document.add(tomlkit.comment(part))
            table = tomlkit.table()
            for name, entry in value.items():
                table.add(name, _item(entry))
            document.add(key, table)
        else:
            document.add(key, value)
    # A comment belongs to the table below it.
    return re.sub(r"(?m)^(#.*\n)\n(?=\[)", r"\1", tomlkit.dumps(document))


def _merge(table: Any, entries: Mapping[str, Any]) -> None:
    """Set the entries of a table in place; what is equal keeps its form and its comments."""
    for key, value in entries.items():
        if key in table and table[key] == value:
            continue
        if key in table and isinstance(table[key], AbstractTable) and isinstance(value, dict):
            for name in [name for name in table[key] if name not in value]:
                del table[key][name]
            _merge(table[key], value)
        elif isinstance(value, dict) and isinstance(table, tomlkit.TOMLDocument):
            made = tomlkit.table()
            _merge(made, value)
            table[key] = made
        else:
            table[key] = _item(value)


def _item(value: Any) -> Any:
    """Return a value as TOML writes it: tables on one line, matrices with one row on each."""
    if isinstance(value, Mapping):
        made = tomlkit.inline_table()
        for key, entry in value.items():
            made[key] = _item(entry)
        return made
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        for entry in value:
            array.append(_item(entry))
        return array.multiline(len(value) > 1 and isinstance(value[0], list | tuple))
    return value


def _write(file: Path, text: str) -> None:
    """Write a text that can be read as a problem file, whole or not at all."""
    with replacing(file) as part:
        part.write_text(text, encoding="utf-8")
        try:
            load_spec(part)
        except InvalidInput as error:
            sentence = str(error).removeprefix(f"{part}: ")
            raise InvalidInput(f"{file} was not written: {sentence}") from None

"""Which column is what: the group, the arm, the item, and which of the rest are dims.

Without a problem the dims are guessed: columns of numbers, without those that only number or name the
rows. Everything that is left out is said, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats

GROUP, ARM, ITEM = "group", "arm", "item"
MOST_COLUMNS = 2_000
_MISSING = ("", "nan", "NaN", "NAN", "None", "<NA>", "NA", "N/A", "n/a", "null", "NULL", "-")
_TRUTH = {"true": 1.0, "false": 0.0, "True": 1.0, "False": 0.0, "TRUE": 1.0, "FALSE": 0.0}
_CLOCKS = ("timestamp", "ts", "date", "datetime", "when", "created", "created_at", "updated_at")
_CONSTANT = " in every row"
_NUMBERS = ("id", "index", "idx", "row", "seed", "unnamed: 0", "")


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are called; None: as the library calls them, if they are there."""

    group: str | None = None
    arm: str | None = None
    item: str | None = None
    ignore: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what differs from the library's own names."""
        entries = {GROUP: self.group, ARM: self.arm, ITEM: self.item}
        given: dict[str, Any] = {k: v for k, v in entries.items() if v is not None and v != k}
        return {**given, "ignore": list(self.ignore)} if self.ignore else given


def check_columns(given: Any) -> Columns:
    """Return the roles of columns that a caller gives: nothing, a mapping, or themselves."""
    if given is None:
        return Columns()
    if isinstance(given, Columns):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInput(f"columns must map group, arm, item to names; got {given!r}")
    known = (GROUP, ARM, ITEM, "ignore")
    for key in given:
        if key not in known:
            raise InvalidInput(f"columns must name {', '.join(known)}; got {key!r}")
    ignore = given.get("ignore", ())
    ignore = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    names = [*(given.get(key) for key in known[:3] if given.get(key) is not None), *ignore]
    if not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"names of columns must be texts; got {names!r}")
    return Columns(given.get(GROUP), given.get(ARM), given.get(ITEM), ignore)


@dataclass(frozen=True)
class Roles:
    """The columns of one table by what they are."""

    group: str
    arm: str
    item: str | None
    rest: tuple[str, ...]  # columns that may be dims
    notes: tuple[str, ...]


def find_roles(columns: Sequence[str], wanted: Columns, dims: Sequence[str] | None) -> Roles:
    """Return which column is what; a column that was asked for must be there."""
    if len(columns) > MOST_COLUMNS:
        raise InvalidInput(f"a table may have up to {MOST_COLUMNS:,} columns; got {len(columns):,}")
    seen: set[str] = set()
    for name in columns:
        if name in seen:
            raise InvalidInput(f"there are two columns {name!r}")
        seen.add(name)
    notes: list[str] = []
    group, arm, item = (
        _find(columns, own, standard)
        for own, standard in ((wanted.group, GROUP), (wanted.arm, ARM), (wanted.item, ITEM))
    )
    if group is None and arm is None:
        raise InvalidInput(
            f"there must be a column 'group', or say which one it is (--group, columns=); the "
            f"columns are {', '.join(columns) or 'none'}"
        )
    if arm is None:
        arm = group
        notes.append(f"there is no column 'arm': each value of {group!r} is a group with one arm")
    if group is None:
        group = arm
        notes.append(f"there is no column 'group': each value of {arm!r} is a group with one arm")
    assert group is not None and arm is not None
    if item is not None and wanted.item is None and item in (dims or ()):
        item = None  # a dim may be called "item"; then the column holds its numbers
    missing = [name for name in wanted.ignore if name not in columns]
    if missing and dims is None:  # where the dims are known, an export may lack what is ignored
        raise InvalidInput(
            f"there is no column {missing[0]!r} to ignore; the columns are {', '.join(columns)}"
        )
    taken = {group, arm, item, *wanted.ignore}
    rest = tuple(name for name in columns if name not in taken)
    return Roles(group, arm, item, rest, tuple(notes))


def _find(columns: Sequence[str], own: str | None, standard: str) -> str | None:
    """Return the column that was asked for, or the one of the standard name, if there is one."""
    if own is None or own in columns:
        return own if own is not None else standard if standard in columns else None
    if standard in columns:  # a table that the library wrote itself, such as an export
        return standard
    raise InvalidInput(f"there is no column {own!r}; the columns are {', '.join(columns)}")


def read_numbers(cells: Sequence[Any]) -> Floats | None:
    """Return a column of numbers, NaN where a cell is empty; None if a cell is anything else.

    >>> read_numbers(["1.5", "", "true"])
    array([1.5, nan, 1. ])
    """
    if isinstance(cells, np.ndarray):
        return cells
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except (TypeError, ValueError):
        pass
    found = np.empty(len(cells))
    for k, cell in enumerate(cells):
        value = read_number(cell)
        if value is None:
            return None
        found[k] = value
    return found


def read_number(cell: Any) -> float | None:
    """Return a cell as a number, NaN if it is empty, None if it is anything else."""
    if cell is None:
        return float("nan")
    if isinstance(cell, str):
        text = cell.strip()
        if text in _MISSING:
            return float("nan")
        if text in _TRUTH:
            return _TRUTH[text]
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


def why_not_a_dim(name: str, cells: Sequence[Any], arms: Sequence[Any]) -> str | None:
    """Return why a column is no dim, in words; None if it may be one. `arms` are the rows' arms."""
    values = read_numbers(cells)
    if values is None:
        bad = next(cell for cell in cells if read_number(cell) is None)
        shown = str(bad) if len(str(bad)) <= 30 else f"{str(bad)[:27]}..."
        hint = f"; {_HINT.format(name)}" if _once_with_each(cells, arms) else ""
        return f"it holds other things than numbers, such as {shown!r}{hint}"
    seen = values[np.isfinite(values)]
    if not len(seen):
        return "it holds no number"
    if name.strip().lower() in _CLOCKS:
        return "its name says that it holds times of day or dates"
    if len(seen) > 1 and len(set(arms)) > 1 and np.ptp(seen) == 0:
        return f"it is {seen[0]:g}{_CONSTANT}"
    if len(seen) == len(values) and (seen == np.round(seen)).all():
        return _numbering(name, seen, arms)
    return None


def _numbering(name: str, seen: Floats, arms: Sequence[Any]) -> str | None:
    """Return why a column of integers only numbers the rows; None if it may be measured."""
    if len(seen) > 2 and (np.diff(seen) == 1).all():
        return "it numbers the rows"
    low = name.strip().lower()
    if low in _NUMBERS or low.endswith(("_id", " id")) or low.startswith("id_"):
        return "its name says that it is an identifier"
    if _once_with_each(seen.tolist(), arms):
        hint = _HINT.format(name)
        return f"it is an integer that comes once with each arm, as an identifier does; {hint}"
    return None


_HINT = "if it says what all arms were measured on, give it as the item (--item {})"


def _once_with_each(cells: Sequence[Any], arms: Sequence[Any]) -> bool:
    """Return whether every cell comes once with each arm, as what arms are measured on does."""
    by_arm: dict[Any, list[str]] = {}
    for arm, cell in zip(arms, cells, strict=True):
        by_arm.setdefault(arm, []).append(str(cell))
    sets = [set(cells) for cells in by_arm.values()]
    if len(sets) < 2 or len(sets[0]) < 3 or any(one != sets[0] for one in sets):
        return False
    return all(len(cells) == len(sets[0]) for cells in by_arm.values())


def guess_dims(
    rest: Sequence[str],
    columns: Mapping[str, Sequence[Any]],
    arms: Sequence[Any],
    keep: Iterable[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that may be dims, and a sentence for each that is left out.

    Those in `keep` were asked for by name.
    """
    asked = set(keep)
    against = {name: why_not_a_dim(name, columns[name], arms) for name in rest}
    dims = [name for name, why in against.items() if why is None or name in asked]
    if not dims:  # a dim that never varies is better than none
        dims = [name for name, why in against.items() if (why or "").endswith(_CONSTANT)]
    notes = [
        f"the column {name!r} is ignored: {against[name]}" for name in rest if name not in dims
    ]
    return tuple(dims), tuple(notes)

"""Observations as tables: read from CSV, Parquet, data frames or rows, and written again."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bestgroup.drivers.session import LiveSession
from bestgroup.errors import InvalidInput
from bestgroup.files.formulas import guarded
from bestgroup.files.observations import Table
from bestgroup.files.replacing import check_writable, replacing
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.problem import Problem
from bestgroup.problem.pull_range import PullRange
from bestgroup.studies.runner import Runner
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.base import Session
from bestgroup.studies.storage.records import Block, Slot, Tell

PORTION = 8192  # pulls in one stored block
MOST_PULLS = 2**40  # of one arm
INDEX = "index"


class Rows(NamedTuple):
    """Observations by arm, each arm's in the order of the table."""

    values: dict[tuple[int, int], Floats]  # [n, all dims]
    size: int
    digest: str  # of all rows in their order
    items: dict[tuple[int, int], list[str]]  # what each row was scored on, where arms share items
    places: dict[tuple[int, int], Floats]  # which pull of its arm each row is, where the table says


def read_rows(source: Any, problem: Problem, columns: Any = None, by_index: bool = False) -> Rows:
    """Return the checked rows of a table; InvalidInput names the line of the first mistake.

    With `by_index` its column `index` says which pull of its arm a row is, as an export has it.
    """
    dims = [dim.name for dim in problem.dims]
    table = Table(source, [*dims, INDEX] if by_index else dims, columns)
    shared = problem.items is not None
    if shared and not table.has_items:
        raise InvalidInput(f"{table.name}: arms share items, so there must be a column 'item'")
    items: dict[tuple[int, int], list[str]] = {}
    hasher = hashlib.blake2b(digest_size=16)
    found: dict[tuple[int, int], list[Floats]] = {}
    places: dict[tuple[int, int], list[Floats]] = {}
    count = 0
    for part in table.portions():
        portion = replace(part, values=part.values[:, : len(dims)])
        portion.check(problem, table.name)
        if by_index:
            for group, arm, rows in part.by_arm():
                places.setdefault(problem.index(group, arm), []).append(rows[:, -1])
        for group, arm, values in portion.by_arm():
            found.setdefault(problem.index(group, arm), []).append(values)
        arms = zip(portion.groups, portion.arms, strict=True)
        numbers = np.array([problem.index(group, arm) for group, arm in arms], np.float64)
        hasher.update(np.column_stack([numbers, portion.values]).tobytes())
        count += len(numbers)
        if shared and portion.items is not None:
            hasher.update("\0".join(portion.items).encode())
            for group, arm, item in zip(portion.groups, portion.arms, portion.items, strict=True):
                items.setdefault(problem.index(group, arm), []).append(item)
    if not count:
        raise InvalidInput(f"{table.name} holds no observations")
    values = {arm: np.concatenate(parts) for arm, parts in found.items()}
    given = {arm: _checked_places(problem, arm, parts) for arm, parts in places.items()}
    return Rows(values, count, hasher.hexdigest(), items, given)


def _checked_places(problem: Problem, arm: tuple[int, int], parts: Sequence[Floats]) -> Floats:
    """Return which pull of its arm each row is; each pull is there once."""
    found = np.concatenate(parts)
    name = problem.arms[arm[0]][arm[1]]
    bad = (found < 0) | (found != np.round(found)) | (found > MOST_PULLS)
    if bad.any():
        raise InvalidInput(
            f"the index of a row of the arm {name!r} must be an integer from 0, the number of "
            f"the pull; got {found[bad][0]:g}"
        )
    seen, often = np.unique(found, return_counts=True)
    if (often > 1).any():
        raise InvalidInput(f"the arm {name!r} has the index {seen[often > 1][0]:g} twice")
    return found


def import_rows(session: Session, runner: Runner, table: Rows, read_for: Problem) -> int:
    """Give the rows of a table the next indices of their arms that nobody holds a lease on.

    Plans that they complete are left for whoever comes next. Its arms go by the numbers that they
    have in the problem `read_for`.
    """
    if session.imported(table.digest) is not None:
        return 0
    if session.head.state != "running":
        raise InvalidInput("this study has ended; import the table into a new one")
    live = runner.sync(session)
    if runner.spec.problem.arms != read_for.arms:
        raise InvalidInput("arms have joined or left while the table was read; import it again")
    tells: list[Tell] = []
    old: list[Slot] = []
    new: list[Slot] = []
    for (i, j), values in table.values.items():
        home = runner.spec.stored((i, j))  # its numbers for good, whoever has left
        slots = session.slots(*home)
        if table.items or table.places:
            parts, values = _given_places(runner, live, (i, j), table)
            parts = [part.moved(*home) for part in parts]
        else:
            held = sorted(s.pulls for s in slots if s.owner and s.expires > session.now)
            free = [part.moved(*home) for part in live.missing(PullRange(i, j, 0, 2**62))]
            parts = _places(free, held, len(values))
        _write_parts(tells, parts, values)
        _cut_slots(slots, parts, old, new)
    if getattr(runner.spec.problem.noise, "difference", None) is not None:
        runner.check_differences(session, tells)
    session.swap(old, new)
    session.append(tells)
    session.add_import(table.digest, table.size)
    report = {**json.loads(session.head.report), "imported": True}  # which the guarantee rests on
    session.set_head(session.head._replace(report=json.dumps(report)))
    return sum(len(tell.values) for tell in tells)


def _write_parts(tells: list[Tell], parts: Sequence[PullRange], values: Floats) -> None:
    """Add the values of an arm's pulls, one range after the other."""
    at = 0
    for part in parts:
        for start in range(part.first, part.stop, PORTION):
            pulls = part.cut(start, min(start + PORTION, part.stop))
            tells.append(Tell(pulls, values[at : at + pulls.size]))
            at += pulls.size


def _cut_slots(
    slots: Sequence[Slot], parts: Sequence[PullRange], old: list[Slot], new: list[Slot]
) -> None:
    """Take what is told now out of what is handed out."""
    for slot in slots:
        left = slot.pulls.without(parts)
        if left != [slot.pulls]:
            old.append(slot)
            new += [slot.part(pulls.first, pulls.stop) for pulls in left]


def _given_places(
    runner: Runner, live: LiveSession, arm: tuple[int, int], table: Rows
) -> tuple[list[PullRange], Floats]:
    """Return where an arm's rows stand among its pulls, and their values in that order.

    Rows of pulls that are told already are left out; with other values they are refused.
    """
    problem, values = runner.spec.problem, table.values[arm]
    own = _by_item(runner, arm, table) if table.items else table.places[arm].astype(np.int64)
    if table.items and table.places and (own != table.places[arm]).any():
        raise InvalidInput(
            "the items of this table come in another order than the study's seed draws; give the seed "
            "that they were drawn with"
        )
    fresh = []
    for row in np.argsort(own, kind="stable").tolist():
        place = int(own[row])
        told = live.value_on(*arm, place)
        if told is None:
            fresh.append((place, row))
        elif (runner.oriented(values[row : row + 1])[0] != told).any():
            where = repr(table.items[arm][row]) if table.items else f"pull {place}"
            raise InvalidInput(
                f"the arm {problem.arms[arm[0]][arm[1]]!r} was told other values on {where}"
            )
    parts: list[PullRange] = []
    for place, _ in fresh:
        if parts and parts[-1].stop == place:
            parts[-1] = parts[-1].cut(parts[-1].first, place + 1)
        else:
            parts.append(PullRange(*arm, place, 1))
    return parts, values[[row for _, row in fresh]]


def _by_item(runner: Runner, arm: tuple[int, int], table: Rows) -> Ints:
    """Return where an arm's rows stand in the order of the items."""
    spec, problem = runner.spec, runner.spec.problem
    assert problem.items is not None
    names = table.items[arm]
    numbers = [problem.items.index(name) for name in names]
    if len(set(numbers)) < len(numbers):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise InvalidInput(
            f"the arm {problem.arms[arm[0]][arm[1]]!r} has the item {twice!r} twice; an arm is scored "
            "once on an item"
        )
    count = problem.items.count
    order = spec.item_numbers(0, max(numbers) + 1 if count is None else count)
    places = {number: place for place, number in enumerate(order)}
    return np.array([places[number] for number in numbers], np.int64)


def _places(open_: Sequence[PullRange], held: Sequence[PullRange], size: int) -> list[PullRange]:
    """Return the first pulls of `open_` outside `held`, `size` of them together.

    >>> found = _places([PullRange(0, 0, 2, 98)], [PullRange(0, 0, 3, 1)], 4)
    >>> [(pulls.first, pulls.stop) for pulls in found]
    [(2, 3), (4, 7)]
    """
    parts: list[PullRange] = []
    for pulls in open_:
        for free in pulls.without(held):
            if size > 0:
                parts.append(free.cut(free.first, min(free.stop, free.first + size)))
                size -= parts[-1].size
    return parts


def _columns(spec: StudySpec, blocks: Sequence[Block]) -> dict[str, Any]:
    """Return all observations by group, arm and index, a column each."""
    problem = spec.everyone
    ordered = sorted(blocks, key=lambda block: block.pulls)
    sizes = [len(block.values) for block in ordered]
    dims = len(problem.dims)
    values = np.concatenate([b.values for b in ordered]) if ordered else np.zeros((0, dims))
    groups = np.repeat(np.array([problem.groups[b.pulls.group] for b in ordered], object), sizes)
    arms = np.repeat(
        np.array([problem.arms[b.pulls.group][b.pulls.arm] for b in ordered], object), sizes
    )
    index = [np.arange(b.pulls.first, b.pulls.stop) for b in ordered]
    return {
        "group": groups,
        "arm": arms,
        INDEX: np.concatenate(index) if index else np.zeros(0, np.int64),
        **_items_column(spec, ordered),
        **{dim.name: values[:, d] for d, dim in enumerate(problem.dims)},
    }


def _items_column(spec: StudySpec, blocks: Sequence[Block]) -> dict[str, Any]:
    """Return the column of what was scored on, where arms share items."""
    items = spec.problem.items
    if items is None:
        return {}
    names = [items.name(k) for b in blocks for k in spec.item_numbers(b.pulls.first, b.pulls.stop)]
    return {"item": np.array(names, object)}


def to_frame(spec: StudySpec, blocks: Sequence[Block]) -> Any:
    """Return all observations as a pandas data frame."""
    return _pandas().DataFrame(_columns(spec, blocks))


def write_table(spec: StudySpec, blocks: Sequence[Block], path: Any) -> int:
    """Write all observations to a .csv or .parquet file; returns the number of rows."""
    file = check_table_name(path)
    with replacing(file) as temporary:
        if file.suffix.lower() == ".parquet":
            frame = to_frame(spec, blocks)
            frame.to_parquet(temporary)
            return len(frame)
        columns = _columns(spec, blocks)
        texts = {key for key, column in columns.items() if column.dtype == object}
        with temporary.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(guarded(name) for name in columns)
            cells = [
                [guarded(name) for name in column] if key in texts else column.tolist()
                for key, column in columns.items()
            ]
            writer.writerows(zip(*cells, strict=True))
        return len(columns[INDEX])


def check_table_name(path: Any) -> Path:
    """Return the path of a table that can be written; refuses before any work is done."""
    file = Path(path)
    if file.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidInput(f"{file}: give a name that ends in .csv or .parquet")
    return check_writable(file)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise InvalidInput("this needs pandas: pip install 'bestgroup[frames]'") from None
    return pandas

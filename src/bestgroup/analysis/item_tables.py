"""Tables with a column `item`: rows in any order become values in one order of the items.

The order must not have been chosen by values. For a complete pool it does not matter. For an
incomplete pool it must have been declared: drawn at random before the values were there. For a
population it is taken from a digest of the items' names, so that orders cannot be shopped for.

An arm counts up to the first item of the order that it lacks. What it has beyond is left out: whether
an arm was scored on an item may depend on how it did on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.files.observations import Table
from bestgroup.inference.certificate.items import ItemTable
from bestgroup.problem.arrays import Floats
from bestgroup.problem.items import Items, digest_order
from bestgroup.problem.problem import Problem, value_ends

Cells = dict[tuple[int, int], dict[str, list[Floats]]]


@dataclass(frozen=True)
class ItemRows:
    """The rows of a table by arm and item."""

    cells: Cells  # (group, arm): item: the values [D] of its rows, larger being better
    names: tuple[str, ...]  # of the items, in the order of their first rows
    rows: int

    def full(self) -> bool:
        """Return whether every arm was scored on every item."""
        return all(len(scored) == len(self.names) for scored in self.cells.values())


def read_rows(table: Table, problem: Problem) -> ItemRows:
    """Return all rows of a table with an item column; a refusal names the line."""
    cells: Cells = {(i, j): {} for i, names in enumerate(problem.arms) for j in range(len(names))}
    names: dict[str, None] = {}
    rows = 0
    for portion in table.portions():
        portion.check(problem, table.name)
        assert portion.items is not None
        oriented = problem.to_internal(portion.values)
        keys = zip(portion.groups, portion.arms, portion.items, strict=True)
        for k, (group, arm, item) in enumerate(keys):
            names[item] = None
            cells[problem.index(group, arm)].setdefault(item, []).append(oriented[k])
        rows += len(portion.groups)
    return ItemRows(cells, tuple(names), rows)


def items_of(
    rows: ItemRows, items: Items | None, order: Sequence[str] | None
) -> tuple[Items, str | None]:
    """Return the declared items, or those of the table with a note on what was taken for granted."""
    if items is not None:
        if items.names is None and items.count is not None:
            return _named_by(rows, items, order), None
        return items, None
    if rows.full():
        note = (
            f"every arm was scored on the same {len(rows.names):,} items; the answer is about these"
        )
        return Items(names=rows.names, target="pool"), note
    note = (
        "not every arm was scored on every item; the items are taken for a sample of what one cares "
        "for, in an order given by a digest of their names"
    )
    return Items(names=rows.names, target="population"), note


def _named_by(rows: ItemRows, items: Items, order: Sequence[str] | None) -> Items:
    """Return items whose names nobody declared with those that the order or the table has."""
    from dataclasses import replace

    assert items.count is not None
    # No row names an item that nobody has come to yet; a declared order does.
    declared = tuple(dict.fromkeys(map(str, order or ())))
    if items.clusters is None and len(declared) == items.count and {*rows.names} <= {*declared}:
        return replace(items, names=declared)
    if len(rows.names) > items.count:
        raise InvalidInput(f"there are {items.count:,} items; the table has {len(rows.names):,}")
    spare = (f"(item {k} that no row names)" for k in range(items.count - len(rows.names)))
    return replace(items, names=(*rows.names, *spare))


def item_table(
    rows: ItemRows, problem: Problem, items: Items, order: Sequence[str] | None
) -> tuple[ItemTable, list[str]]:
    """Return the values of every arm in the order of the items, and notes on what was left out."""
    units, names = _units(rows, items, order)
    sizes = np.array([float(len(unit)) for unit in units])
    D = problem.shape.dims
    used = 0
    values: list[list[Floats]] = []
    for i, arms in enumerate(problem.arms):
        group = []
        for j in range(len(arms)):
            scored = rows.cells[i, j]
            passed = []
            for unit in units:
                if not all(item in scored for item in unit):
                    break
                cells = [_cell(scored[item], items, item, f"{arms[j]}") for item in unit]
                passed.append(np.sum(cells, axis=0))
                used += items.repeats * len(unit)
            group.append(np.array(passed).reshape(-1, D))
        values.append(group)
    low, high = value_ends(problem)
    table = ItemTable(values, sizes, low, high, float(items.most), tuple(names))
    check_differences(values, problem, sizes)
    notes = []
    if used < rows.rows:
        notes.append(
            f"{rows.rows - used:,} rows lie beyond an item that their arm lacks, or name no declared "
            "item, and were left out"
        )
    return table, notes


def _units(
    rows: ItemRows, items: Items, order: Sequence[str] | None
) -> tuple[list[list[str]], tuple[str, ...]]:
    """Return the units of the order, lists of items: single ones or clusters; and their names."""
    names = items.names if items.names is not None else rows.names
    labels = names if items.clusters is None else items.clusters
    members: dict[str, list[str]] = {}
    for name, label in zip(names, labels, strict=True):
        members.setdefault(label, []).append(name)
    units = list(members)
    if order is not None:
        declared = [str(label) for label in order]
        if sorted(declared) != sorted(units):
            what = "items" if items.clusters is None else "clusters"
            raise InvalidInput(f"order must name each of the {len(units):,} {what} once")
        units = declared
    elif items.pool:
        known = set(names)
        if not all(known <= set(scored) for scored in rows.cells.values()):
            raise InvalidInput(
                f"not every arm was scored on all {len(names):,} items of the pool; what a part of it "
                "proves depends on its order, which must have been drawn before the values: give "
                'order=[...] (--order), or items="population" (--items) if they are a sample'
            )
    else:
        units = [units[k] for k in digest_order(units)]
    return [members[label] for label in units], tuple(units)


def _cell(found: list[Floats], items: Items, item: str, arm: str) -> Floats:
    """Return the value of an arm on an item: the mean of its repeats."""
    if len(found) != items.repeats:
        wanted = "once" if items.repeats == 1 else f"{items.repeats} times"
        raise InvalidInput(
            f"the arm {arm!r} must be scored {wanted} on every item; on {item!r} it was "
            f"{len(found)} times (bg.Items(repeats=...) averages repeats)"
        )
    return found[0] if len(found) == 1 else np.mean(found, axis=0)


def check_differences(values: list[list[Floats]], problem: Problem, sizes: Floats) -> None:
    """Refuse two arms that differ on a unit of so many items by more than was declared."""
    if getattr(problem.noise, "difference", None) is None:
        return
    arms = [
        (f"{group}, {names[j]}", arm)
        for group, names, rows in zip(problem.groups, problem.arms, values, strict=True)
        for j, arm in enumerate(rows)
    ]
    deepest = max((len(arm) for _, arm in arms), default=0)
    most = np.full((deepest, problem.shape.dims), -np.inf)
    least = np.full_like(most, np.inf)
    for _, arm in arms:
        most[: len(arm)] = np.maximum(most[: len(arm)], arm)
        least[: len(arm)] = np.minimum(least[: len(arm)], arm)
    reach = problem.noise.reaches(problem.shape.dims)
    over = np.argwhere(most - least > sizes[:deepest, None] * reach * (1 + 1e-9))
    if len(over):
        t, d = over[0]
        raise InvalidInput(
            f"two arms differ in {problem.decided[d].name} by {most[t, d] - least[t, d]:g} on an item; "
            f"at most {reach[d]:g} was declared, on which every proof here rests"
        )

"""What a study had proven after how many pulls: its decisions, added up in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

WORDS = ("in", "out", "not needed", "undecided")


def proven_by_now(
    groups: Sequence[str],
    decisions: Sequence[dict[str, Any]],
    now: dict[str, str],
    pulls: int,
    opened: Mapping[int, dict[str, str]] = MappingProxyType({}),
) -> list[dict[str, Any]]:
    """Return a row for the start, one for each number of pulls with decisions, and one for now.

    `now` has the statuses of the decided groups, by which a decision counts: one that an earlier version
    stored as "out" may only say that a group is not needed. `opened` has, by the number of its entry, the
    statuses after each change of arms, which opens some decisions again.

    >>> made = [{"group": "A", "kind": "out", "pulls": 40}, {"group": "B", "kind": "in", "pulls": 60}]
    >>> for row in proven_by_now(["A", "B"], made, {"A": "out", "B": "in"}, 60):
    ...     print(row)
    {'pulls': 0, 'in': 0, 'out': 0, 'not needed': 0, 'undecided': 2}
    {'pulls': 40, 'in': 0, 'out': 1, 'not needed': 0, 'undecided': 1}
    {'pulls': 60, 'in': 1, 'out': 1, 'not needed': 0, 'undecided': 0}
    """
    status = dict.fromkeys(groups, "undecided")
    rows = [_row(0, status)]
    for entry in decisions:
        if entry.get("number") in opened:
            status = dict(opened[entry["number"]])
        elif entry["group"] is None:
            continue
        else:
            kind: str = entry["kind"]
            status[entry["group"]] = kind if opened else now.get(entry["group"], kind)
        at = max(entry["pulls"], rows[-1]["pulls"])  # those of arms that left no longer count
        if rows[-1]["pulls"] == at:
            rows.pop()
        rows.append(_row(at, status))
    if rows[-1]["pulls"] < pulls:
        rows.append(_row(pulls, status))
    return rows


def _row(pulls: int, status: dict[str, str]) -> dict[str, Any]:
    counts = Counter(status.values())
    return {"pulls": pulls, **{word: counts[word] for word in WORDS}}

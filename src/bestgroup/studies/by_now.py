"""What a study had proven after how many pulls: its decisions, added up in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

WORDS = ("in", "out", "not needed", "undecided")


def proven_by_now(
    groups: int, decisions: Sequence[dict[str, Any]], now: dict[str, str], pulls: int
) -> list[dict[str, Any]]:
    """Return a row for the start, one for each number of pulls with decisions, and one for now.

    `now` has the statuses of the decided groups, by which a decision counts: one that an earlier version
    stored as "out" may only say that a group is not needed.

    >>> made = [{"group": "A", "kind": "out", "pulls": 40}, {"group": "B", "kind": "in", "pulls": 60}]
    >>> for row in proven_by_now(2, made, {"A": "out", "B": "in"}, 60):
    ...     print(row)
    {'pulls': 0, 'in': 0, 'out': 0, 'not needed': 0, 'undecided': 2}
    {'pulls': 40, 'in': 0, 'out': 1, 'not needed': 0, 'undecided': 1}
    {'pulls': 60, 'in': 1, 'out': 1, 'not needed': 0, 'undecided': 0}
    """
    rows = [_row(0, Counter(), groups)]
    counts: Counter[str] = Counter()
    for entry in decisions:
        if entry["group"] is None:
            continue
        kind: str = entry["kind"]
        counts[now.get(entry["group"], kind)] += 1
        if rows[-1]["pulls"] == entry["pulls"]:
            rows.pop()
        rows.append(_row(entry["pulls"], counts, groups))
    if rows[-1]["pulls"] < pulls:
        rows.append(_row(pulls, counts, groups))
    return rows


def _row(pulls: int, counts: Counter[str], groups: int) -> dict[str, Any]:
    known = {word: counts[word] for word in WORDS[:-1]}
    return {"pulls": pulls, **known, "undecided": groups - sum(known.values())}

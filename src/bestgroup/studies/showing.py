"""What a notebook shows of a study; it reads a few rows, however long the study is."""

from __future__ import annotations

import re

from bestgroup.problem.markup import Markup, card, folded, rows_table, status_words
from bestgroup.problem.showing import brief
from bestgroup.problem.status import Status
from bestgroup.studies.report import statuses
from bestgroup.studies.spec import StudySpec
from bestgroup.studies.storage.records import Head


def study_html(spec: StudySpec, head: Head, storage: str) -> Markup:
    """Return the card of a study: its state, and the groups of each status."""
    decided = statuses(spec, head)
    rows = [
        (status_words(status), len(names), _list(names))
        for status in (Status.IN, Status.NOT_NEEDED, Status.UNDECIDED, Status.OUT)
        if (names := [g for g, s in zip(spec.problem.groups, decided, strict=True) if s == status])
    ]
    return card(
        f"Study {spec.name!r}: {head.state}",
        f"{brief(spec.goal)}, delta = {spec.delta:g}, {spec.algorithm}; {head.told:,} observations told, "
        f"{head.pulls:,} used; {without_password(storage)}",
        rows_table(["status", ">groups", "names"], rows),
        folded("Problem", [repr(spec.problem)]),
    )


def without_password(url: str) -> str:
    """Return the address of a storage as it may be shown.

    >>> without_password("postgresql://ann:secret@host/studies")
    'postgresql://ann:***@host/studies'
    """
    return re.sub(r"(//[^:/@]*):.*@", r"\1:***@", url)


def _list(names: list[str], most: int = 12) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"

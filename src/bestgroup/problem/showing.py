"""What a notebook shows of a problem."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from bestgroup.problem.markup import Markup, card, rows_table

if TYPE_CHECKING:
    from bestgroup.problem.problem import Dim, Problem

_MOST_ARMS = 12


def brief(value: Any, but: tuple[str, ...] = ()) -> str:
    """Return the numbers of a goal or a noise model, and options that are not the defaults.

    >>> from bestgroup.problem.goals import ParetoGroups
    >>> brief(ParetoGroups(0.02))
    'ParetoGroups(epsilon=0.02)'
    """
    if not is_dataclass(value):
        return str(value)
    found = [(one, getattr(value, one.name)) for one in fields(value) if one.name not in but]
    shown = [
        f"{one.name}={it!r}"
        for one, it in found
        if it is not None and (it != one.default or isinstance(it, float))
    ]
    return f"{type(value).__name__}({', '.join(shown)})"


def problem_html(problem: Problem) -> Markup:
    """Return the card of a problem: its groups with their arms, and its dims."""
    groups = [
        (name, len(arms), _list(arms))
        for name, arms in zip(problem.groups, problem.arms, strict=True)
    ]
    dims = [(dim.name, dim.direction, _range(dim)) for dim in problem.dims]
    return card(
        "Problem",
        problem.summary(),
        rows_table(["dim", "wanted", "range"], dims),
        rows_table(["group", ">arms", "names"], groups),
    )


def _list(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_MOST_ARMS])
    return shown if len(names) <= _MOST_ARMS else f"{shown} and {len(names) - _MOST_ARMS:,} more"


def _range(dim: Dim) -> str:
    ends = (dim.low, dim.high)
    known = "" if None in ends else f"{ends[0]:g} to {ends[1]:g}"
    return " ".join(part for part in (known, dim.unit) if part)

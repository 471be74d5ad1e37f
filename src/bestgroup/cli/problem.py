"""What the commands on a problem file share: its options, and how goals and answers read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestgroup.errors import InvalidInput

if TYPE_CHECKING:
    from bestgroup.files.columns import Columns
    from bestgroup.files.problem_file import Spec
    from bestgroup.problem.goals import Goal
    from bestgroup.problem.instance import Instance

ProblemFile = Annotated[Path, typer.Argument(metavar="PROBLEM", help="Problem file (TOML).")]
Delta = Annotated[
    float | None, typer.Option(help="Error probability, in place of the file's.", metavar="D")
]
Epsilon = Annotated[
    float | None,
    typer.Option(help="Slack in every dim, in place of the file's.", metavar="E"),
]
GroupColumn = Annotated[
    str | None, typer.Option("--group", help="Column of the group.", metavar="COLUMN")
]
ArmColumn = Annotated[
    str | None, typer.Option("--arm", help="Column of the arm.", metavar="COLUMN")
]
ItemColumn = Annotated[
    str | None,
    typer.Option("--item", help="Column of what all arms were measured on.", metavar="COLUMN"),
]
IgnoreColumn = Annotated[
    list[str] | None,
    typer.Option("--ignore", help="A column to ignore; may be repeated.", metavar="COLUMN"),
]
AlgorithmName = Annotated[
    str | None,
    typer.Option("--algorithm", help="Algorithm, in place of the file's.", metavar="NAME"),
]
AlgorithmOptions = Annotated[
    list[str] | None,
    typer.Option("--option", help="Option of the algorithm; may be repeated.", metavar="KEY=VALUE"),
]
Processes = Annotated[
    str,
    typer.Option("--workers", help="Processes that share the runs, or a cluster's address."),
]
MostPulls = Annotated[
    int | None, typer.Option("--max-pulls", help="Pulls after which a run stops unfinished.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True)
class Case:
    """A problem file with means, and what the command line has put in place of its entries."""

    spec: Spec
    instance: Instance
    goal: Goal
    delta: float


def read_case(path: Path, delta: float | None, epsilon: float | None) -> Case:
    """Return the known instance of a file, with its goal and delta."""
    from bestgroup.files.problem_file import load_spec
    from bestgroup.problem.arrays import probability

    spec = load_spec(path)
    goal = spec.goal
    if epsilon is not None:
        goal = goal.with_epsilon(epsilon)
    level = spec.delta if delta is None else probability(delta)
    return Case(spec, spec.instance(), goal, level)


def columns_of(
    group: str | None,
    arm: str | None,
    item: str | None,
    ignore: Sequence[str] | None,
    own: Columns | None = None,
) -> Columns:
    """Return what columns are called: as the options say, or else as the problem file does."""
    from bestgroup.files.columns import Columns

    own = own or Columns()
    return Columns(
        group or own.group, arm or own.arm, item or own.item, tuple(ignore or own.ignore)
    )


def read_numbers(text: str, name: str) -> list[float]:
    """Return the numbers of an option, with commas between them.

    >>> read_numbers("0.1,0.05", "--deltas")
    [0.1, 0.05]
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(
            f"{name} must hold numbers with commas between them; got {text!r}"
        ) from None


def read_options(pairs: Sequence[str]) -> dict[str, Any]:
    """Return options given as key=value; a value is JSON if it can be read so, otherwise text.

    >>> read_options(["radius=mixture", "radius_scale=0.5"])
    {'radius': 'mixture', 'radius_scale': 0.5}
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise InvalidInput(f"--option must be given as key=value; got {pair!r}")
        if key in options:
            raise InvalidInput(f"--option {key} is given twice")
        try:
            options[key] = json.loads(text)
        except (ValueError, RecursionError):
            options[key] = text
    return options


def goal_words(case: Case) -> str:
    """Return the question in words, with the names of the dims."""
    return case.goal.words(case.instance.decided)


def case_record(case: Case) -> dict[str, Any]:
    """Return what every JSON document says about its problem."""
    return {
        "problem": case.spec.name,
        "goal": case.goal.to_dict(),
        "delta": case.delta,
        "groups": list(case.instance.groups),
        "arms": [list(arms) for arms in case.instance.arms],
        "dims": [{"name": d.name, "direction": d.direction} for d in case.spec.decided],
    }


def case_title(case: Case) -> str:
    """Return one line: the problem's name, its size and its question."""
    shape = case.instance.shape
    size = f"{shape.groups} groups, {shape.total} arms, {shape.dims} dims"
    return f"{case.spec.name}: {size}; {goal_words(case)}, delta {case.delta:g}"


def names_of(answer: Iterable[int], instance: Instance) -> str:
    """Return the names of groups, at most eight of them."""
    names = [instance.groups[i] for i in sorted(answer)]
    if not names:
        return "no group"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(names[:8]) + more

"""Numbers by dim: a list in the order of the decided dims, or a mapping from their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import is_table, number
from bestgroup.problem.goals.base import Goal

T = TypeVar("T")
G = TypeVar("G", bound=Goal)


def entries(given: Any, what: str) -> tuple[Any, tuple[str, ...] | None]:
    """Return numbers and the names that they were given with, or None."""
    if not is_table(given):
        return given, None
    if not given or not all(isinstance(name, str) for name in given):
        raise InvalidInput(f"{what} by name must map at least one dim to a number; got {given!r}")
    return [number(value, f"{what} of {name!r}") for name, value in given.items()], tuple(given)


def refuse_names(names: tuple[str, ...] | None, what: str) -> None:
    """Refuse numbers by name where the names of the dims are not known."""
    if names is not None:
        raise InvalidInput(
            f"{what} by name ({', '.join(names)}) needs the names of the dims: a problem, or an "
            "instance with dims=[...]"
        )


def check_names(given: Mapping[str, float], dims: Sequence[str], what: str) -> None:
    """Refuse a name that is not that of a dim that decides."""
    for name in given:
        if name not in dims:
            raise InvalidInput(
                f"{what} names the dim {name!r}; the dims that decide are {', '.join(dims)}"
            )


def plain(values: float | tuple[float, ...], names: tuple[str, ...] | None) -> Any:
    """Return numbers as they were given, as plain JSON."""
    if not isinstance(values, tuple):
        return values
    return list(values) if names is None else dict(zip(names, values, strict=True))


def check_entries(goal: G, dims: Sequence[str] | None) -> G:
    """Return the goal with its numbers in the order of these dims, if there are any."""
    if dims is None:
        return goal
    ordered: Any = goal.of(dims)
    given: float | tuple[float, ...] = getattr(ordered, goal.by_dim)
    if isinstance(given, tuple) and len(given) != len(dims):
        raise InvalidInput(
            f"{goal.by_dim} must have one entry for each of the {len(dims)} decided dims "
            f"({', '.join(dims)}); got {len(given)}"
        )
    return ordered


def entered(entry: str, make: Callable[[], T]) -> T:
    """Return make(); a refusal begins with where the entry stands."""
    try:
        return make()
    except InvalidInput as error:
        raise InvalidInput(f"goal.{entry}: {str(error).removeprefix(entry + ' ')}") from None

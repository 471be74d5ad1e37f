"""`Limit`: a limit that the mean of an arm must keep for the arm to count.

A limit has a tolerance. An arm whose mean keeps the limit counts, one whose mean is beyond it by more
than the tolerance does not; between the two either is right. Without a tolerance an arm whose mean lies
on the limit can never be told apart from arms beyond it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import is_list, is_table, number

SENSES = ("<=", ">=")
_FORM = (
    'must be ("<=", number) or (">=", number), with a tolerance as a third entry if there is one'
)


@dataclass(frozen=True)
class Limit:
    """A limit of one dim, in the units in which the dim is judged."""

    dim: str
    sense: str  # "<=" or ">="
    at: float
    tolerance: float = 0.0

    def in_words(self) -> str:
        """Return the limit as people write it.

        >>> Limit("latency", "<=", 2.0, 0.1).in_words()
        'latency <= 2 (tolerance 0.1)'
        """
        slack = f" (tolerance {self.tolerance:g})" if self.tolerance else ""
        return f"{self.dim} {self.sense} {self.at:.15g}{slack}"

    def excess(self, mean: float) -> float:
        """Return how far a mean is beyond the limit; at most 0 if it is kept."""
        return mean - self.at if self.sense == "<=" else self.at - mean

    def plain(self) -> list[Any]:
        """Return the limit as JSON and TOML have it: sense, number, tolerance if there is one."""
        return [self.sense, self.at, *([self.tolerance] if self.tolerance else [])]


def check_require(given: Any, dims: Sequence[str]) -> tuple[Limit, ...]:
    """Return the limits that a user gives by dim: one each, or a list of them.

    >>> check_require({"latency": ("<=", 2.0)}, ["latency"])
    (Limit(dim='latency', sense='<=', at=2.0, tolerance=0.0),)
    """
    if given is None:
        return ()
    if not is_table(given):
        raise InvalidInput(f"require must map dims to limits; got {given!r}")
    limits: list[Limit] = []
    for dim, entry in given.items():
        if dim not in dims:
            raise InvalidInput(f"require names the dim {dim!r}; the dims are {', '.join(dims)}")
        several = is_list(entry) and len(entry) > 0 and all(is_list(one) for one in entry)
        for one in entry if several else [entry]:
            limits.append(_limit(dim, one))
    return tuple(limits)


def _limit(dim: str, given: Any) -> Limit:
    where = f"require of {dim!r}"
    if not is_list(given) or len(given) not in (2, 3) or given[0] not in SENSES:
        raise InvalidInput(f"{where} {_FORM}; got {given!r}")
    at = number(given[1], f"the limit of {dim!r}")
    slack = number(given[2], f"the tolerance of {dim!r}") if len(given) == 3 else 0.0
    if slack < 0:
        raise InvalidInput(f"the tolerance of {dim!r} must not be negative; got {slack:g}")
    return Limit(dim, given[0], at, slack)


def plain_require(limits: Sequence[Limit]) -> dict[str, Any]:
    """Return limits as JSON and TOML have them; `check_require` reads it back."""
    by_dim: dict[str, list[list[Any]]] = {}
    for limit in limits:
        by_dim.setdefault(limit.dim, []).append(limit.plain())
    return {dim: own[0] if len(own) == 1 else own for dim, own in by_dim.items()}

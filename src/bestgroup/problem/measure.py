"""`Measure`: which arms of a group count, and what the group is worth, as proofs and algorithms see it.

A problem without limits in which a group is worth its best arm has none. Dims that have a limit but are
not judged by the goal come after those that are.

**What is asked.** F_0 are the arms whose means keep all limits, F_1 those that are beyond none by more
than its tolerance. An answer is right if it is right for some set F of arms with F_0 <= F <= F_1: the
worth of a group is that of its arms in F, and a group with fewer of them than its rank asks for is out.
Without a tolerance F_0 = F_1, and there is one F.

**How many bounds must hold** is `share`; docs/theory.md has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Bools, Floats
from bestgroup.problem.require import Limit, check_require
from bestgroup.problem.shape import Shape
from bestgroup.problem.worth import BEST, Worth, check_worth

MOST_BETWEEN = 12  # arms of an instance between a limit and its tolerance


class Bound(NamedTuple):
    """A limit as the kernels see it: sign * (mean - at) <= 0 keeps it."""

    dim: int
    sign: float
    at: float
    tolerance: float


@dataclass(frozen=True)
class Measure:
    """The limits and the worth of a setting; larger is better in every dim that is judged."""

    dims: int  # that the goal judges, the first ones
    worth: Worth = BEST
    bounds: tuple[Bound, ...] = ()
    limits: tuple[Limit, ...] = ()  # the same for people

    def ranks(self, shape: Shape) -> tuple[int, ...]:
        """Return the rank of the arm that each group is worth; 0 for the average."""
        return tuple(self.worth.rank(size) for size in shape.sizes)

    def share(self, shape: Shape) -> float:
        """Return the share of delta that a bound of a single arm has."""
        return 1.0 / self.errors(shape)

    def errors(self, shape: Shape) -> int:
        """Return how many bounds of single arms an error can rest on."""
        D, L = self.dims, len(self.bounds)
        if self.worth.kind == "mean":
            return 2 * D * shape.total
        if not self.bounds:
            return D * (shape.total + shape.groups)
        either = any(bound.tolerance > 0 for bound in self.bounds)
        of_arm = max(D + L, 2 * D) if either else D + L
        return of_arm * shape.total + D * sum(self.ranks(shape))

    def excess(self, means: Floats) -> tuple[Floats, Floats]:
        """Return how far means [..., dims] are beyond the limits, and the tolerances, [..., L]."""
        beyond = [bound.sign * (means[..., bound.dim] - bound.at) for bound in self.bounds]
        slack = np.array([bound.tolerance for bound in self.bounds])
        return np.stack(beyond, axis=-1) if beyond else np.zeros((*means.shape[:-1], 0)), slack

    def true_worths(self, means: Sequence[Floats]) -> Iterator[Floats]:
        """Yield the worths [N, D] of groups with these means for each F that is right.

        A group that is out is worth -inf. The first is that of F_0.
        """
        keeps, between = self._kept(means)
        free = [(i, int(j)) for i, own in enumerate(between) for j in np.flatnonzero(own)]
        if len(free) > MOST_BETWEEN:
            raise InvalidInput(
                f"at most {MOST_BETWEEN} arms may lie between a limit and its tolerance for an answer "
                f"to be checked; got {len(free)}"
            )
        for chosen in chain.from_iterable(combinations(free, n) for n in range(len(free) + 1)):
            counts = [own.copy() for own in keeps]
            for i, j in chosen:
                counts[i][j] = True
            rows = [self._worth(rows, own) for rows, own in zip(means, counts, strict=True)]
            yield np.array(rows)

    def just_within(self) -> Measure:
        """Return the same with limits that arms on them break."""
        bounds = [
            bound._replace(at=math.nextafter(bound.at, -bound.sign * math.inf))
            for bound in self.bounds
        ]
        return replace(self, bounds=tuple(bounds))

    def _kept(self, means: Sequence[Floats]) -> tuple[list[Bools], list[Bools]]:
        """Return which arms are in F_0, and which in F_1 alone, an array [K_i] for each group."""
        keeps: list[Bools] = []
        between: list[Bools] = []
        for rows in means:
            beyond, slack = self.excess(rows)
            keeps.append(np.all(beyond <= 0, axis=1))
            between.append(np.all(beyond <= slack, axis=1) & ~keeps[-1])
        return keeps, between

    def _worth(self, means: Floats, counts: Bools) -> Floats:
        """Return the worth of a group of whose arms some count."""
        if self.bounds and counts.sum() < self.worth.rank(len(means)):
            return np.full(self.dims, -np.inf)
        return self.worth.of(means[counts, : self.dims])

    def in_words(self) -> str:
        """Return what counts and what a group is worth, in words."""
        parts: list[str] = []
        if self.limits:
            kept = " and ".join(limit.in_words() for limit in self.limits)
            parts.append(f"an arm counts only if its mean keeps {kept}")
            if any(limit.tolerance for limit in self.limits):
                parts.append("within a tolerance beyond its limit either is right")
            few = "without such an arm" if self.worth.is_best else "with too few such arms"
            parts.append(f"a group {few} is out")
        if not self.worth.is_best:
            parts.append(self.worth.in_words())
        return "; ".join(parts)


def check_measure(worth: Worth, limits: Sequence[Limit]) -> None:
    """Raise InvalidInput if limits and worth do not go together."""
    if limits and worth.kind not in ("best", "kth"):
        raise InvalidInput(
            f"require goes with worth 'best' or ('kth', k); with {worth.plain()!r} the worth would "
            "change with the number of arms that keep the limits"
        )


class Asked(NamedTuple):
    """What a user says of limits and worths where larger is better in every dim."""

    require: Any = None
    worth: Any = "best"
    watch: Sequence[str] = ()  # dims that have a limit and are not judged


def measure_of(
    dims: Sequence[str], groups: Sequence[str], shape: Shape, asked: Asked
) -> tuple[tuple[str, ...], Measure | None]:
    """Return the dims that goals judge, and which arms count and what groups are worth."""
    limits, worth = check_require(asked.require, dims), check_worth(asked.worth)
    check_measure(worth, limits)
    worth.check_sizes(shape.sizes, groups)
    limited = {limit.dim for limit in limits}
    for name in asked.watch:
        if name not in limited:
            raise InvalidInput(f"watch names {name!r}, which has no limit in require")
    decided = tuple(name for name in dims if name not in asked.watch)
    if not decided or tuple(dims[: len(decided)]) != decided:
        raise InvalidInput("dims in watch must come last, after at least one that is judged")
    if worth.is_best and not limits:
        return decided, None
    signs = {"<=": 1.0, ">=": -1.0}
    bounds = tuple(
        Bound(dims.index(limit.dim), signs[limit.sense], limit.at, limit.tolerance)
        for limit in limits
    )
    return decided, Measure(len(decided), worth, bounds, limits)


def words_of(measure: Measure | None) -> str:
    """Return what counts and what a group is worth, to be put behind a statement; "" if as usual."""
    return "" if measure is None else f"; here {measure.in_words()}"

"""`Worth`: what a group is worth in a dim, given the means of its arms there.

"best" is the largest mean, as in the paper; "worst" the least, ("kth", k) the k-th largest, ("quantile",
q) the least mean that at least the share q of the arms do not exceed, "mean" the average; "large" means
good, so in a dim to be minimised it is the other way round. All but the average are the mean of one of
the arms, the one of a certain rank from the top.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats, is_list, number, positive_int

_FORMS = 'worth must be "best", "mean", "worst", ("kth", k) or ("quantile", q)'


@dataclass(frozen=True)
class Worth:
    """What a group is worth; `check_worth` makes it from what a user gives."""

    kind: str = "best"  # "best", "mean", "worst", "kth" or "quantile"
    number: float | None = None  # k or q

    @property
    def is_best(self) -> bool:
        """Whether a group is worth what its best arm is."""
        return self.kind == "best" or (self.kind == "kth" and self.number == 1)

    def rank(self, size: int) -> int:
        """Return which arm from the top a group of that size is worth; 0 if it is the average.

        >>> [Worth(kind, n).rank(5) for kind, n in (("worst", None), ("kth", 2), ("quantile", 0.5))]
        [5, 2, 3]
        """
        if self.kind == "mean":
            return 0
        if self.kind == "worst":
            return size
        if self.kind == "kth":
            return int(self.number or 1)
        if self.kind == "quantile":
            share = float(self.number or 0.0)
            return size - max(1, math.ceil(share * size - 1e-9)) + 1
        return 1

    def of(self, means: Floats) -> Floats:
        """Return the worth of a group with these means [K, D], [D]; too few arms are worth -inf."""
        rank = self.rank(len(means))
        if rank == 0 and len(means):
            return np.asarray(np.sum(means, axis=0)) / len(means)
        if not 0 < rank <= len(means):
            return np.full(int(means.shape[1]), -np.inf, dtype=np.float64)
        return np.sort(means, axis=0)[len(means) - rank]

    def check_sizes(self, sizes: Sequence[int], names: Sequence[str]) -> None:
        """Raise InvalidInput if a group has no arm of that rank."""
        for size, name in zip(sizes, names, strict=True):
            if self.rank(size) > size:
                raise InvalidInput(
                    f"worth is that of the arm of rank {self.rank(size)}, and the group {name!r} has "
                    f"{size} arm{'s' if size > 1 else ''} only"
                )

    def in_words(self) -> str:
        """Return what a group is worth, in words.

        >>> check_worth(("kth", 3)).in_words()
        'a group is worth in each dim what its arm of rank 3 there is'
        """
        if self.kind == "mean":
            return "a group is worth in each dim the average of its arms' means"
        if self.kind == "worst":
            return "a group is worth in each dim what its worst arm there is"
        if self.kind == "kth":
            return f"a group is worth in each dim what its arm of rank {self.number:g} there is"
        if self.kind == "quantile":
            return (
                f"a group is worth in each dim what its arm at quantile {self.number:g} there is, counted "
                "from the worst"
            )
        return "a group is worth in each dim what its best arm there is"

    def plain(self) -> str | list[Any]:
        """Return the worth as JSON and TOML have it."""
        if self.number is None:
            return self.kind
        return [self.kind, int(self.number) if self.kind == "kth" else self.number]


BEST = Worth()


def check_worth(given: Any) -> Worth:
    """Return the worth that a user asks for.

    >>> check_worth(["quantile", 0.9])
    Worth(kind='quantile', number=0.9)
    """
    if isinstance(given, Worth):
        return given
    if given is None:
        return BEST
    if isinstance(given, str) and given in ("best", "mean", "worst"):
        return Worth(given)
    if not is_list(given) or len(given) != 2 or given[0] not in ("kth", "quantile"):
        raise InvalidInput(f"{_FORMS}; got {given!r}")
    if given[0] == "kth":
        return Worth("kth", positive_int(given[1], "k of worth"))
    share = number(given[1], "q of worth")
    if not 0 <= share <= 1:
        raise InvalidInput(f"q of worth must lie between 0 and 1; got {share:g}")
    return Worth("quantile", share)

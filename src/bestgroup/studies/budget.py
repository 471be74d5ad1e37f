"""What `solve` may spend: a number of pulls, an amount of cost, or of a dim that is measured.

Costs that the problem gives are known before a pull, so a limit on them is never passed: nothing more
is asked for once the dearest arm no longer fits. A measured dim, seconds or tokens, is known only
afterwards: nothing more is begun once its sum has reached the limit, and what is under way is told.
Stopping so is a stopping time, at which everything that is proven, and the level of a guess, holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import number, positive_int
from bestgroup.problem.problem import Problem
from bestgroup.studies.storage.records import Block


class Budget:
    """The limits of a run, and what is spent so far; what earlier runs spent counts."""

    def __init__(
        self,
        problem: Problem,
        pulls: Any = None,
        cost: Any = None,
        everyone: Callable[[], Problem] | None = None,
    ) -> None:
        """Check the limits; `everyone` gives the problem with all arms that ever took part."""
        self.pulls = None if pulls is None else positive_int(pulls, "budget")
        self._everyone = everyone or (lambda: problem)
        dims = [dim.name for dim in problem.dims]
        self._limits: dict[int, float] = {}  # by dim; -1: the problem's costs
        if isinstance(cost, Mapping):
            self._limits = {_dim(name, dims): _limit(value) for name, value in cost.items()}
        elif cost is not None:
            self._limits = {-1: _limit(cost)}
        if -1 in self._limits and problem.costs is None:
            raise InvalidInput(
                "budget_cost needs costs in the problem, or the name of a dim that is measured: "
                f"budget_cost={{{dims[0]!r}: {self._limits[-1]:g}}}"
            )
        self.spent = dict.fromkeys(self._limits, 0.0)
        self.told = 0

    def before(self, blocks: Iterable[Block]) -> None:
        """Take up what is in the log already."""
        for block in blocks:
            self._add(block.pulls.group, block.pulls.arm, block.values)

    def add(self, group: str, arm: str, rows: Any) -> None:
        """Take up rows of values that were told, all dims in their order."""
        place = self._everyone().index(group, arm)
        self._add(*place, np.atleast_2d(np.asarray(rows, float)))

    def _add(self, i: int, j: int, values: Any) -> None:
        costs = self._everyone().costs
        self.told += len(values)
        for d in self._limits:
            if d >= 0:
                self.spent[d] += float(np.sum(values[:, d]))
            elif costs is not None:
                self.spent[d] += len(values) * costs[i][j]

    def left(self, under_way: Sequence[tuple[str, str]]) -> float:
        """Return how many more pulls may be begun while others of these arms are under way."""
        most = math.inf
        if self.pulls is not None:
            most = self.pulls - self.told - len(under_way)
        for d, limit in self._limits.items():
            rest = limit - self.spent[d]
            now = self._everyone()
            if d < 0 and now.costs is not None:
                rest -= sum(now.costs[i][j] for i, j in (now.index(*arm) for arm in under_way))
                most = min(most, math.floor(rest / max(map(max, now.costs)) + 1e-9))
            elif rest <= 0:
                most = 0
            else:
                mean = self.spent[d] / self.told if self.told else 0.0
                likely = math.ceil(rest / mean) if mean > 0 else 1
                most = min(most, max(likely - len(under_way), 0 if under_way else 1))
        return most


def _dim(name: Any, dims: Sequence[str]) -> int:
    if name not in dims:
        raise InvalidInput(f"budget_cost names a dim {name!r}; there are {', '.join(dims)}")
    return dims.index(name)


def _limit(value: Any) -> float:
    found = number(value, "budget_cost")
    if not 0 < found < math.inf:
        raise InvalidInput(f"budget_cost must be positive; got {found:g}")
    return found

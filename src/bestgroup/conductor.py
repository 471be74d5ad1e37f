"""The conductor: runs an algorithm on observations that arrive in any order, in any portions.

Pure: no clock, no storage, no draws. Its state is a function of the set of observations told, not
of when or in which order they were told: observations have an identity (group, arm, index) and are
consumed in the order of their index, when the plan that asks for them is complete. If quick results
were used first and speed went with value, the means would be biased.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Setting
from bestgroup.core.arrays import Bools, Floats, Ints, numbers
from bestgroup.core.tally import empty_tally
from bestgroup.errors import InvalidInput, TicketError


@dataclass(frozen=True)
class Ticket:
    """A request: pulls index, ..., index + repeats - 1 of an arm, counted from 0."""

    group: int
    arm: int
    index: int
    repeats: int


class Conductor:
    """An algorithm in the middle of a study.

    `horizon` is how many pulls of each planned arm are asked for beyond the plan, so that workers
    need not wait at a round's end. What is told ahead counts in `told`, and in `pulls` only once it
    is consumed.
    """

    def __init__(self, setting: Setting, algorithm: Algorithm, horizon: int = 0) -> None:
        algorithm.check(setting)
        self.setting, self.algorithm, self.horizon = setting, algorithm, horizon
        shape = setting.shape
        self._rule = algorithm.rule(setting)
        self._state = algorithm.init(self._rule)
        self._tally = empty_tally(shape.groups, shape.arms, shape.dims)
        self._stacks = [[_Stack(shape.dims) for _ in range(size)] for size in shape.sizes]
        self.plan_number = 0
        self._plan = np.zeros((shape.groups, shape.arms), np.int64)
        self._advance()

    @property
    def done(self) -> bool:
        """Whether the answer is final."""
        return self.algorithm.is_done(self._state, self._rule)

    @property
    def pulls(self) -> int:
        """Observations that the algorithm has consumed."""
        return int(self._tally.counts.sum())

    @property
    def told(self) -> int:
        """Observations that were told, those ahead of the plan included."""
        return sum(stack.told for stacks in self._stacks for stack in stacks)

    @property
    def counts(self) -> list[Ints]:
        """Consumed pulls, one array [K_i] a group."""
        return [row.copy() for row in self.setting.shape.rows(self._tally.counts)]

    def answer(self) -> frozenset[int]:
        """Return the groups that the algorithm names so far; final when `done`."""
        return self.algorithm.answer(self._state, self._rule)

    def record(self) -> dict[str, Any]:
        """Return what a trace shows of the state."""
        return self.algorithm.record(self._state, self._rule)

    def tickets(self, size: int = 1) -> Iterator[Ticket]:
        """Yield what is wanted and not yet told, in portions of up to `size` pulls of an arm.

        The plan's own pulls come first, then those ahead.
        """
        if self.done:
            return
        consumed = self._tally.counts
        for extra in (False, True):
            for i, j in zip(*np.nonzero(self._plan), strict=True):
                first = int(consumed[i, j])
                stop = first + int(self._plan[i, j])
                if extra:
                    first, stop = stop, stop + self.horizon
                yield from self._gaps(int(i), int(j), first, stop, size)

    def tell(self, group: int, arm: int, index: int, values: Any) -> int:
        """Take observations index, index + 1, ... of an arm; returns how many were new.

        Told again with the same values they change nothing; with others they are refused. An
        operation that is refused leaves everything as it was.
        """
        stack = self._stack(group, arm)
        block = np.atleast_2d(numbers(values, "observations"))
        if block.shape[1] != self.setting.shape.dims:
            raise InvalidInput(
                f"an observation must have {self.setting.shape.dims} numbers; got {block.shape[1]}"
            )
        if isinstance(index, bool) or not isinstance(index, int | np.integer) or index < 0:
            raise InvalidInput(f"index must be a whole number from 0; got {index!r}")
        if stack.differs(int(index), block):
            raise TicketError(
                f"pull {index} of arm {arm} of group {group} was told before with other values"
            )
        fresh = stack.put(int(index), block)
        if fresh:
            self._advance()
        return fresh

    def _stack(self, group: int, arm: int) -> _Stack:
        sizes = self.setting.shape.sizes
        if not 0 <= group < len(sizes) or not 0 <= arm < sizes[group]:
            raise InvalidInput(f"there is no arm {arm} in group {group}")
        return self._stacks[group][arm]

    def _gaps(self, i: int, j: int, first: int, stop: int, size: int) -> Iterator[Ticket]:
        """Yield tickets for the pulls from first to stop that are not told."""
        missing = [k for k in range(first, stop) if not self._stacks[i][j].has(k)]
        while missing:
            portion = missing[:1]
            while len(portion) < min(size, len(missing)) and missing[len(portion)] == (
                portion[-1] + 1
            ):
                portion.append(missing[len(portion)])
            yield Ticket(i, j, portion[0], len(portion))
            missing = missing[len(portion) :]

    def _advance(self) -> None:
        """Step as long as plans are complete; make the next plan."""
        while not self.done:
            if self.plan_number == 0 or self._complete():
                if self.plan_number:
                    self._consume()
                    self._state = self.algorithm.step(self._state, self._tally, self._rule)
                if self.done:
                    return
                self._plan = np.asarray(
                    self.algorithm.plan(self._state, self._tally, self._rule), dtype=np.int64
                )
                self.plan_number += 1
                if not self._plan.any() and self.algorithm.is_stuck(self._state, self._rule):
                    raise InvalidInput("the algorithm is stuck: no pull can decide any more")
            else:
                return

    def _complete(self) -> bool:
        counts = self._tally.counts
        return all(
            self._stacks[i][j].ready >= counts[i, j] + self._plan[i, j]
            for i, j in zip(*np.nonzero(self._plan), strict=True)
        )

    def _consume(self) -> None:
        counts, sums = self._tally
        for i, j in zip(*np.nonzero(self._plan), strict=True):
            first, stop = int(counts[i, j]), int(counts[i, j] + self._plan[i, j])
            for value in self._stacks[i][j].values[first:stop]:
                sums[i, j] += value
            counts[i, j] = stop


class _Stack:
    """The observations of one arm, by index."""

    def __init__(self, dims: int) -> None:
        self.values: Floats = np.zeros((16, dims))
        self._known: Bools = np.zeros(16, np.bool_)
        self.told = 0
        self.ready = 0  # all pulls before this one are told

    def has(self, index: int) -> bool:
        return index < len(self._known) and bool(self._known[index])

    def differs(self, index: int, block: Floats) -> bool:
        """Return whether an entry of the block is known with another value."""
        stop = min(index + len(block), len(self._known))
        if stop <= index:
            return False
        known = self._known[index:stop]
        return bool((self.values[index:stop][known] != block[: stop - index][known]).any())

    def put(self, index: int, block: Floats) -> int:
        """Keep a block and return how many of its entries are new."""
        stop = index + len(block)
        if stop > len(self._known):
            more = max(len(self._known), stop - len(self._known))
            self.values = np.vstack([self.values, np.zeros((more, block.shape[1]))])
            self._known = np.concatenate([self._known, np.zeros(more, np.bool_)])
        fresh = int((~self._known[index:stop]).sum())
        self.values[index:stop] = block
        self._known[index:stop] = True
        self.told += fresh
        while self.ready < len(self._known) and self._known[self.ready]:
            self.ready += 1
        return fresh

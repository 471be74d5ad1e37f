"""`bodies`: plan and step of an algorithm for drivers that pull by themselves, plain or compiled.

The loop of a simulation comes back after a plan, or after a step, if it is asked to. So a live study
and a replay compile what a simulation does, and find it compiled where there was one. Algorithms that
pass over rounds have loops that do not stop at each; their plans and steps are small, and compiled by
themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Kernels, has_kernel
from bestgroup.drivers.exact import items, plans
from bestgroup.drivers.rewards import Reservoir, Source
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats, Ints

# What loops draw from, where somebody else pulls: nothing reads it.
_NONE: Floats = np.zeros(0)
_NO_COUNTS: Ints = np.zeros((0, 0), np.int64)
_NO_VALUES = BoxRule(np.zeros(0, np.int64), 1.0, _NONE, _NONE, _NONE)
_NO_SOURCE = Source(
    0, np.zeros((0, 0, 0)), _NONE, np.zeros((0, 0)), np.zeros((0, 0, 0, 0), np.uint64)
)
_NO_POOL = Reservoir(
    np.zeros((0, 0, 0, 0)), _NO_COUNTS, _NO_COUNTS, np.zeros((0, 0, 0)), np.zeros((0, 0))
)


def bodies(
    algorithm: Algorithm, rule: Any, compiled: bool
) -> tuple[Callable[..., Ints], Callable[..., Any]]:
    """Return `plan` and `step` of an algorithm, compiled where asked for and possible."""
    kernels = algorithm.kernels_for(rule) if compiled else None
    plan, step = algorithm.plan, algorithm.step
    if kernels is None:
        return plan, step
    turns = _turns(kernels)
    if has_kernel(algorithm, "plan"):
        plan = turns.plan
    if has_kernel(algorithm, "step"):
        step = turns.step
    return plan, step


def digests(algorithm: Algorithm, rule: Any) -> tuple[str, ...]:
    """Return what names the code that `bodies` compiles; nothing if there is none."""
    kernels = algorithm.kernels_for(rule)
    return () if kernels is None else tuple(item.digest for item in _turns(kernels).compiles)


def _turns(kernels: Kernels) -> _Alone | _Turns | _ItemTurns:
    if kernels.lockstep is not None:
        return _Alone(kernels)
    return _ItemTurns(kernels) if kernels.items else _Turns(kernels)


class _Alone:
    """Plans and steps that are compiled by themselves."""

    def __init__(self, kernels: Kernels) -> None:
        self.compiles = kernels.plan, kernels.step

    def plan(self, state: Any, tally: Tally, rule: Any) -> Ints:
        """Return the pulls of a plan."""
        return self.compiles[0].compiled(state, tally, rule)

    def step(self, state: Any, tally: Tally, rule: Any) -> Any:
        """Return the state after a step, which changes it in place."""
        self.compiles[1].compiled(state, tally, rule)
        return state


class _Turns:
    """Plans and steps by the loop of simulations."""

    def __init__(self, kernels: Kernels) -> None:
        self.compiles = (plans.loop_for(kernels),)

    def plan(self, state: Any, tally: Tally, rule: Any) -> Ints:
        """Return the pulls of a plan."""
        due = np.zeros_like(tally.counts)
        self._turn(state, tally, rule, due, plans.turn(stepping=False))
        return due

    def step(self, state: Any, tally: Tally, rule: Any) -> Any:
        """Return the state after a step, which changes it in place."""
        self._turn(state, tally, rule, np.zeros_like(tally.counts), plans.turn(stepping=True))
        return state

    def _turn(self, state: Any, tally: Tally, rule: Any, due: Ints, progress: Ints) -> None:
        self.compiles[0].compiled(
            state, tally, rule, _NO_VALUES, _NO_SOURCE, _NO_POOL, due, progress
        )


class _ItemTurns:
    """Plans and steps by the loop of simulations on shared items."""

    def __init__(self, kernels: Kernels) -> None:
        self.compiles = (items.loop_for(kernels),)

    def plan(self, state: Any, tally: Tally, rule: Any) -> Ints:
        """Return the pulls of a plan."""
        return self._turn(state, tally, rule, items.PLAN)

    def step(self, state: Any, tally: Tally, rule: Any) -> Any:
        """Return the state after a step, which changes it in place."""
        self._turn(state, tally, rule, items.STEP)
        return state

    def _turn(self, state: Any, tally: Tally, rule: Any, what: int) -> Ints:
        due, none = np.zeros_like(tally.counts), np.zeros(0, np.int64)
        progress = np.array([0, 0, what], np.int64)
        self.compiles[0].compiled(
            state, tally, rule, np.zeros((0, 0, 0)), none, none, due, progress
        )
        return due

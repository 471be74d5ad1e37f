"""The exact loop for any algorithm with kernels: plan, draw, step, until it is done.

Weak points: every plan is made and every reward is drawn in all dims, so an algorithm that decides
rarely pays for each round; `stretches` is for those whose tests are margins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Kernels, list_pulls
from bestgroup.compile.binding import bind, hook, left_out
from bestgroup.compile.kernel import Kernel, kernel
from bestgroup.drivers.exact.pulling import (
    CAPPED,
    DONE,
    REFILL,
    SLICE,
    STUCK,
    TURN,
    absorb_due,
    draw_due,
    sum_listed,
    take_due,
)
from bestgroup.drivers.rewards import Reservoir, Source
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.tally import Tally, sum_of
from bestgroup.problem.arrays import Ints


@hook
def plan(state: Any, tally: Tally, rule: Any) -> Any:
    """Return the pulls of a plan."""


@hook
def step(state: Any, tally: Tally, rule: Any) -> None:
    """Decide what the pulls allow, in place."""


@hook
def is_done(state: Any, rule: Any) -> Any:
    """Return whether the answer is final."""


@hook
def is_stuck(state: Any, rule: Any) -> Any:
    """Return whether nothing can end the run."""


@hook
def make_workspace(state: Any, rule: Any) -> Any:
    """Return what plans and steps write in."""


@hook
def plan_in(state: Any, tally: Tally, rule: Any, workspace: Any, pulls: Ints, listed: Ints) -> None:
    """Set the pulls of a plan, and list their arms."""


@hook
def step_in(state: Any, tally: Tally, rule: Any, workspace: Any) -> None:
    """Decide what the pulls allow, in place."""


@kernel
def no_workspace(state: Any, rule: Any) -> int:
    """Return nothing worth the name."""
    return 0


@kernel
def copy_plan(
    state: Any, tally: Tally, rule: Any, workspace: Any, pulls: Ints, listed: Ints
) -> None:
    """Set the pulls of a plan that comes as an array of its own."""
    made = plan(state, tally, rule)
    for i in range(pulls.shape[0]):
        for j in range(pulls.shape[1]):
            pulls[i, j] = made[i, j]
    list_pulls(pulls, listed)


@kernel
def just_step(state: Any, tally: Tally, rule: Any, workspace: Any) -> None:
    """Do a step that makes its own scratch arrays."""
    step(state, tally, rule)


@kernel
def go_on(
    state: Any,
    tally: Tally,
    rule: Any,
    keep: BoxRule,
    source: Source,
    pool: Reservoir,
    due: Ints,
    progress: Ints,
    workspace: Any,
    listed: Ints,
) -> int:
    """Run with a workspace at hand; the other arguments are those of `run_plans`."""
    total = sum_of(tally.counts)
    pause = total + progress[1]
    while progress[3] == 1 or not is_done(state, rule):
        # Comes back now and then so that Ctrl-C is heard; the state is all in the arguments.
        if total >= pause:
            return SLICE
        # A plan that is under way is not made again when the loop is called again.
        if progress[3] == 0:
            plan_in(state, tally, rule, workspace, due, listed)
            if progress[4] == 1:
                return TURN
        wanted = sum_listed(due, listed)
        if progress[3] == 0:
            # Before anything of the plan is pulled: a run that is cut off ends between two plans.
            if total + wanted > progress[0]:
                return CAPPED
            # An empty plan is legal; only one that can never change anything is the end.
            if wanted == 0 and is_stuck(state, rule):
                return STUCK
            progress[3] = 1
        # Plans may be longer than what is drawn ahead: drawn and consumed in turns.
        while not take_due(due, listed, tally, keep, pool):
            if wanted > progress[1] and sum_of(tally.counts) >= pause:
                return SLICE
            if not draw_due(due, listed, tally, source, pool):
                return REFILL
        total += wanted
        step_in(state, tally, rule, workspace)
        progress[2] += 1
        progress[3] = 0
        if progress[4] == 1:
            return TURN
    return DONE


@kernel
def run_plans(
    state: Any,
    tally: Tally,
    rule: Any,
    keep: BoxRule,
    source: Source,
    pool: Reservoir,
    due: Ints,
    progress: Ints,
) -> int:
    """Run until the end; returns a code, and can be called again to go on.

    `due` [N, K] is what the current plan still lacks. `progress` holds the largest number of pulls,
    about how many to do before returning with SLICE, the steps done, whether a plan is under way, and
    whether to come back after each plan and each step, for somebody else to pull.
    """
    # Once a run: plans and steps that make arrays anew would spend their time on that.
    workspace = make_workspace(state, rule)
    # A plan is small against the number of arms: what is done for each goes by a list.
    listed = np.zeros(1 + due.size, np.int64)
    list_pulls(due, listed)
    return go_on(state, tally, rule, keep, source, pool, due, progress, workspace, listed)


def loop_for(kernels: Kernels) -> Kernel[..., int]:
    """Return the loop of an algorithm with kernels."""
    hooks: dict[Kernel[..., Any], Kernel[..., Any]] = {
        is_done: kernels.is_done,
        is_stuck: kernels.is_stuck,
        **dict(kernels.instead),
    }
    if not kernels.values:
        hooks |= dict([left_out(absorb_due)])
    if kernels.workspace is not None:
        make, planning, stepping = kernels.workspace
        hooks |= {make_workspace: make, plan_in: planning, step_in: stepping}
    else:
        own = {plan: kernels.plan, step: kernels.step}
        hooks[make_workspace] = no_workspace
        hooks |= {plan_in: bind(copy_plan, own), step_in: bind(just_step, own)}
    return bind(run_plans, hooks)


def start(cap: int, pause: int) -> Ints:
    """Return the progress of a run that has not begun."""
    return np.array([cap, pause, 0, 0, 0], np.int64)


def turn(stepping: bool) -> Ints:
    """Return the progress of a run that is to make a plan, or a step for which all pulls are in."""
    most = np.iinfo(np.int64).max
    return np.array([most, most, 0, stepping, 1], np.int64)

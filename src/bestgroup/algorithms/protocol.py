"""What an algorithm is: a pure state machine over completed pulls.

A driver (replay, simulation, live study) does, until `is_done`:

1. `plan(state, tally, rule)` says how often to pull each arm now, [N, K]; all zeros is legal;
2. the driver gets those pulls, in order, and adds them to the tally;
3. `step(state, tally, rule)` decides what it can.

Nothing here draws, reads a clock or stores. Plain Python is enough for an algorithm of your own:
subclass `Algorithm`, then `bestgroup.testing.check_algorithm` runs the contract suite on it, and
`bestgroup.register` makes its name known.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.radii import Radius, check_radius, make_radius
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints, number
from bestgroup.problem.goals import BestGroup, Goal, ParetoGroups
from bestgroup.problem.guarantee import SINGLE_ARMS, Guarantee, decisions_statement
from bestgroup.problem.noise import Noise
from bestgroup.problem.problem import Problem
from bestgroup.problem.shape import Shape


@dataclass(frozen=True)
class Setting:
    """All that an algorithm may know before the first pull."""

    shape: Shape
    goal: Goal
    noise: Noise
    delta: float
    costs: tuple[tuple[float, ...], ...] | None = None  # of a pull, an entry an arm; None: all 1

    @classmethod
    def of(cls, problem: Problem, goal: Goal, delta: float) -> Setting:
        """Return the setting of a problem: its decided dims, its noise, its costs."""
        return cls(problem.shape, goal, problem.noise, delta, problem.costs)


class Rule(NamedTuple):
    """A setting as the kernels see it."""

    exists: Bools  # [N, K]  which cells of the padded arrays are arms
    epsilon: Floats  # [D]
    scale: Floats  # [D]     sigma_d
    weights: Floats  # [D]   ones where the goal has none
    radius: Radius
    options: Any  # the algorithm's own switches, a NamedTuple


@dataclass(frozen=True)
class Algorithm:
    """Base of all algorithms. Options are the dataclass fields of a subclass.

    The methods below are the whole interface. `rule` prepares the setting for the other methods; an
    algorithm that needs no preparation leaves it alone and gets the `Setting` itself.
    """

    name: ClassVar[str] = ""
    version: ClassVar[int] = 1
    goals: ClassVar[tuple[type, ...]] = (ParetoGroups, BestGroup)
    # A round decides, then pulls (EECB); others pull, then decide.
    decides_first: ClassVar[bool] = False
    always_ends: ClassVar[bool] = False  # on instances with ties, too
    reads_values: ClassVar[bool] = False  # of an arm, beyond their count and sums

    def check(self, setting: Setting) -> None:
        """Raise InvalidInput if this algorithm cannot work on the setting."""
        if not isinstance(setting.goal, self.goals):
            wanted = " or ".join(goal.__name__ for goal in self.goals)
            got = type(setting.goal).__name__
            raise InvalidInput(f"algorithm {self.name!r} answers {wanted}; the goal is {got}")

    def statistics(self, setting: Setting) -> BoxRule:
        """Return what drivers keep of an arm's values: what the noise model needs for boxes."""
        return setting.noise.boxes(setting.shape, setting.delta)

    def rule(self, setting: Setting) -> Any:
        """Return what the other methods get as `rule`."""
        return setting

    def init(self, rule: Any) -> Any:
        """Return the state before any pull."""
        raise NotImplementedError

    def plan(self, state: Any, tally: Tally, rule: Any) -> Ints:
        """Return how often to pull each arm now, [N, K]."""
        raise NotImplementedError

    def step(self, state: Any, tally: Tally, rule: Any) -> Any:
        """Return the state after the planned pulls; it may be the same object, changed."""
        raise NotImplementedError

    def is_done(self, state: Any, rule: Any) -> bool:
        """Return whether the answer is final."""
        raise NotImplementedError

    def is_stuck(self, state: Any, rule: Any) -> bool:
        """Return whether no further pull or step can end the run; asked when a plan is empty."""
        return False

    def answer(self, state: Any, rule: Any) -> frozenset[int]:
        """Return the indices of the groups that the algorithm names."""
        raise NotImplementedError

    def record(self, state: Any, rule: Any) -> dict[str, Any]:
        """Return what a trace shows of the state: padded copies by the trace's field names."""
        return {}

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return what an answer of this algorithm is worth."""
        return Guarantee("none", f"no proof is known to the library for {self.name!r}")

    def options(self) -> dict[str, Any]:
        """Return the options that this object was made with."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        changed = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in fields(self)
            if getattr(self, f.name) != f.default
        ]
        return self.name + (f"({', '.join(changed)})" if changed else "")


@dataclass(frozen=True)
class RadiusAlgorithm(Algorithm):
    """Base of the elimination algorithms, which differ in their tests but share radii.

    `radius` is "paper", "mixture", "stitched", a table or a function of the round; `radius_scale`
    multiplies it (below 1 nothing is proven any more).
    """

    radius: Any = "paper"
    radius_scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check_radius(self.radius))
        object.__setattr__(self, "radius_scale", check_factor(self.radius_scale))

    def base_rule(self, setting: Setting, epsilon: Floats, options: Any) -> Rule:
        """Return the rule with this algorithm's radius."""
        dims = setting.shape.dims
        goal = setting.goal
        weights = goal.weight_vector(dims) if isinstance(goal, BestGroup) else np.ones(dims)
        radius = make_radius(self.radius, setting.shape, setting.delta, self.radius_scale)
        scale = setting.noise.scales(dims)
        return Rule(setting.shape.exists, epsilon, scale, weights, radius, options)

    def radius_guarantee(self, setting: Setting) -> Guarantee:
        """Return the PAC property as proven unless the radius was shrunk or brought by the user."""
        proven = shrunk(proven_for(setting, *SINGLE_ARMS), self.radius_scale)
        if self.radius_scale >= 1 and not isinstance(self.radius, str):
            return proven.void(
                "the radius was brought by the user and is not checked by the library"
            )
        return proven


def check_factor(radius_scale: Any) -> float:
    """Return a factor on radii, which must be positive."""
    factor = number(radius_scale, "radius_scale")
    if factor <= 0:
        raise InvalidInput(f"radius_scale must be positive; got {factor:g}")
    return factor


def shrunk(proven: Guarantee, radius_scale: float) -> Guarantee:
    """Return the guarantee, void if radii were made smaller than the proof's."""
    if radius_scale < 1:
        return proven.void(f"radius_scale={radius_scale:g} is below 1, which voids the proof")
    return proven


def proven_for(setting: Setting, *pulls: str) -> Guarantee:
    """Return the PAC property as proven under what the noise model and `pulls` assume."""
    return Guarantee(
        "proven",
        pac_statement(setting),
        (*setting.noise.assumptions(), *pulls),
        decisions_statement(setting.goal, setting.delta),
    )


def pac_statement(setting: Setting) -> str:
    """Return the (epsilon, delta)-PAC property of a setting in words."""
    percent = f"with probability at least {1 - setting.delta:.10g}"
    goal = setting.goal
    if isinstance(goal, ParetoGroups):
        slack = "no group that another one beats by more than epsilon in every dim"
        return f"{percent} the answer holds every Pareto-optimal group and {slack}"
    if goal.epsilon == 0:
        return f"{percent} the answer is the group with the largest weighted efficiency"
    return f"{percent} the answer is within epsilon ||w||_1 of the largest weighted efficiency"

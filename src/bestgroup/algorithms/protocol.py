"""What an algorithm is: a pure state machine over completed pulls.

A driver (replay, simulation, live study) does, until `is_done`:

1. `plan(state, tally, rule)` says how often to pull each arm now, [N, K]; all zeros is legal;
2. the driver gets those pulls, in order, and adds them to the tally;
3. `step(state, tally, rule)` decides what it can.

Nothing here draws, reads a clock or stores. Plain Python is enough for an algorithm of your own:
subclass `Algorithm`, then `bestgroup.testing.check_algorithm` runs the contract suite on it, and
`bestgroup.register` makes its name known.

**An algorithm is a value: drivers never ask who it is.** What they may compile, and what lets them
pass over rounds in which nothing happens, hangs on the class as `kernels`. The methods of the base
class run those very kernels as plain Python, so there is one definition. A subclass that overrides
`plan`, `step`, `is_done` or `is_stuck` below the class that brings `kernels` is run by its own
methods, in every driver (`bodies`, `kernels_of`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple

from bestgroup.algorithms.work import Work
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import Kernel
from bestgroup.errors import InvalidInput
from bestgroup.inference.certificate.regions import WeightRegions
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.inference.radii import PAPER, Radius, check_radius, make_radius
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints, number
from bestgroup.problem.goals import BestGroup, Goal, ParetoGroups
from bestgroup.problem.guarantee import SEVERAL_ARMS, SINGLE_ARMS, Guarantee, decisions_statement
from bestgroup.problem.instance import Instance
from bestgroup.problem.items import SharedItems
from bestgroup.problem.measure import Measure, words_of
from bestgroup.problem.noise import Noise, SubGaussian
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
    items: SharedItems | None = None  # that all arms are scored on
    measure: Measure | None = (
        None  # which arms count, and what a group is worth; None: its best arm
    )

    @classmethod
    def of(cls, problem: Problem, goal: Goal, delta: float) -> Setting:
        """Return the setting of a problem: its dims, its noise, its costs, its limits and worth."""
        parts = problem.costs, problem.shared, problem.measure
        return cls(problem.shape, goal, problem.noise, delta, *parts)

    @classmethod
    def for_instance(cls, instance: Instance, goal: Goal, delta: float) -> Setting:
        """Return the setting of a known instance."""
        parts = None, instance.items, instance.measure
        return cls(instance.shape, goal, instance.noise, delta, *parts)


class Rule(NamedTuple):
    """A setting as the kernels see it."""

    exists: Bools  # [N, K]  which cells of the padded arrays are arms
    epsilon: Floats  # [D]
    scale: Floats  # [D]     sigma_d
    weights: Floats  # [D]   ones where the goal has none
    radius: Radius
    options: Any  # the algorithm's own switches, a NamedTuple


class Grounds(NamedTuple):
    """What decisions follow from, as a proof file needs it."""

    # bounds of single arms, differences of two, pairs whose bets a warm-up fixed, several arms, or
    # pairs of arms that bounds of single ones show to keep limits
    kind: Literal["bounds", "differences", "warm-up", "several arms", "limits"]
    share: Fraction = Fraction(0)  # of delta, that a bound of a single arm has
    radius: Radius | None = None  # of an elimination algorithm; else the boxes of the noise model
    once: int | None = None  # the one count at which bounds hold, if that was fixed
    scaled: bool = False  # by the scale that a range gives, not by boxes of the noise model
    sums: Fraction = Fraction(0)  # of delta, that a bound of the average of a group's arms has


def box_ends(shape: Shape) -> Fraction:
    """Return the share of a bound where all lower ends count, and the upper ones of best arms."""
    if shape.room:
        return Fraction(1, 2 * shape.dims * shape.room)
    return Fraction(1, shape.dims * (shape.total + shape.groups))


def all_ends(shape: Shape) -> Fraction:
    """Return the share of a bound where both ends of all arms count."""
    return Fraction(1, 2 * shape.dims * shape.total)


@borrowing
def never(state: Any, rule: Any) -> bool:
    """Return False: the `is_stuck` of an algorithm that can always go on."""
    return False


class Lockstep(NamedTuple):
    """What lets a driver pass over rounds: pulls by a clock, tests that are margins.

    The state of such an algorithm has `efficiency` [N, D], the estimates that its tests read, and
    `round` [1]. Between two changes of its sets its pulls do not depend on the data: after so many
    rounds an arm has max_d n^d pulls, over the dims in which it is active, or what it had if that
    is more. Sets only shrink, and a smaller set never asks for more pulls.
    """

    active: Kernel[..., bool]  # (state, i, j, d): whether a test still reads that dim of the arm
    # (state, rule, rounds, clock): set n^d, [D], so many rounds from now; it holds a guess, any
    clock: Kernel[..., None]
    # (state, low, high, lowest, clock, rule): whether any test can fire on the way to that clock
    # while the estimates [N, D] stay between low and high and means of active arms [N, K, D] above
    # lowest. True is always right.
    can_fire: Kernel[..., bool]
    # (state, tally, rule, rounds, clock): go on by rounds in which no test fired; the tally has
    # their pulls.
    skip: Kernel[..., None]
    horizon: Kernel[..., int]  # (state, rule): how many rounds are worth looking ahead; from 1 on


@borrowing
def list_pulls(pulls: Ints, listed: Ints) -> None:
    """Set `listed` [1 + N K] to the arms with pulls: how many, then i K + j of each."""
    listed[0] = 0
    for i in range(pulls.shape[0]):
        for j in range(pulls.shape[1]):
            if pulls[i, j] > 0:
                listed[0] += 1
                listed[listed[0]] = i * pulls.shape[1] + j


@borrowing
def place_of(place: int, arms: int) -> tuple[int, int]:
    """Return the group and the arm that stand for i K + j in a list of arms."""
    return place // arms, place % arms


class Workspace(NamedTuple):
    """`plan` and `step` for a loop that makes their scratch arrays once.

    Such a loop does in turn a plan, all of its pulls, and a step, so a workspace may remember what
    it knows of state and tally. One that is new knows nothing.
    """

    make: Kernel[..., Any]  # (state, rule) -> workspace
    # (state, tally, rule, workspace, pulls, listed): set the pulls [N, K], which come as zeros, and
    # list their arms as `list_pulls` does
    plan: Kernel[..., None]
    step: Kernel[..., None]  # (state, tally, rule, workspace)


class Kernels(NamedTuple):
    """What drivers run of an algorithm, plain or compiled."""

    plan: Kernel[..., Ints]  # (state, tally, rule) -> pulls [N, K]
    step: Kernel[..., None]  # (state, tally, rule): changes the state in place
    is_done: Kernel[..., bool]  # (state, rule)
    is_stuck: Kernel[..., bool] = never  # (state, rule)
    workspace: Workspace | None = None
    lockstep: Lockstep | None = None
    # The module that brings `FAMILY` for the jump engine; "": it cannot run the algorithm.
    jump: str = ""
    # Kernels that stand for others in compiled loops: the same bits, faster for some rules.
    instead: tuple[tuple[Kernel[..., Any], Kernel[..., Any]], ...] = ()
    values: bool = False  # their loop takes up values also where counts and sums say it all
    items: bool = False  # they are for shared items, which have a loop of their own


class Comparison(NamedTuple):
    """A proven comparison: arm `upper` of group `above` against arm `lower` of group `below`.

    The mean of the first in `dim`, plus `slack`, is above that of the second: the slack is 0 in a
    rejection and epsilon in an acceptance.
    """

    above: int
    upper: int
    below: int
    lower: int
    dim: int
    slack: float


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
    kernels: ClassVar[Kernels | None] = None  # in place of plan, step, is_done and is_stuck
    takes_late_arms: ClassVar[bool] = False  # arms may join and leave a study that runs it
    takes_items: ClassVar[bool] = False  # works on arms that are scored on the same items
    takes_measure: ClassVar[bool] = (
        False  # works with limits, and with other worths than the best arm
    )
    needs_scale: ClassVar[bool] = False  # a sub-Gaussian scale of every dim
    needs_budget: ClassVar[bool] = False  # a number of pulls that is fixed beforehand

    def check(self, setting: Setting) -> None:
        """Raise InvalidInput if this algorithm cannot work on the setting."""
        if not isinstance(setting.goal, self.goals):
            wanted = " or ".join(goal.__name__ for goal in self.goals)
            got = type(setting.goal).__name__
            raise InvalidInput(f"algorithm {self.name!r} answers {wanted}; the goal is {got}")
        if setting.items is not None and not self.takes_items:
            raise InvalidInput(
                f"algorithm {self.name!r} does not work on shared items; use 'adaptive'"
            )
        if setting.measure is not None and not self.takes_measure:
            raise InvalidInput(
                f"algorithm {self.name!r} knows neither limits (require) nor worths other than 'best'; "
                "use 'adaptive'"
            )
        if self.needs_scale and not setting.noise.has_scale:
            raise InvalidInput(
                f"algorithm {self.name!r} needs a known scale, which {setting.noise.kind} noise has "
                "not; 'adaptive' works without one"
            )

    def statistics(self, setting: Setting) -> BoxRule:
        """Return what drivers keep of an arm's values: what the noise model needs for boxes."""
        return setting.noise.boxes(setting.shape, setting.delta)

    def by_pairs(self, setting: Setting) -> bool:
        """Return whether proofs rest on several arms at once, not on each by itself."""
        return isinstance(setting.noise, SubGaussian) and setting.noise.arms == "independent"

    def rule(self, setting: Setting) -> Any:
        """Return what the other methods get as `rule`."""
        return setting

    def init(self, rule: Any) -> Any:
        """Return the state before any pull."""
        raise NotImplementedError

    def kernels_for(self, rule: Any) -> Kernels | None:
        """Return the kernels that work on this rule; None for an algorithm in plain Python.

        `rule` is None where an engine asks what the algorithm is, before there is any.
        """
        return self.kernels

    def plan(self, state: Any, tally: Tally, rule: Any) -> Ints:
        """Return how often to pull each arm now, [N, K]."""
        return self._must_have(rule).plan(state, tally, rule)

    def step(self, state: Any, tally: Tally, rule: Any) -> Any:
        """Return the state after the planned pulls; it may be the same object, changed."""
        self._must_have(rule).step(state, tally, rule)
        return state

    def is_done(self, state: Any, rule: Any) -> bool:
        """Return whether the answer is final."""
        return bool(self._must_have(rule).is_done(state, rule))

    def is_stuck(self, state: Any, rule: Any) -> bool:
        """Return whether no further pull or step can end the run; asked when a plan is empty."""
        kernels = self.kernels_for(rule)
        return kernels is not None and bool(kernels.is_stuck(state, rule))

    def _must_have(self, rule: Any) -> Kernels:
        kernels = self.kernels_for(rule)
        if kernels is None:
            raise NotImplementedError(f"{type(self).__name__} must bring plan, step and is_done")
        return kernels

    def answer(self, state: Any, rule: Any) -> frozenset[int]:
        """Return the indices of the groups that the algorithm names."""
        raise NotImplementedError

    def record(self, state: Any, rule: Any) -> dict[str, Any]:
        """Return what a trace shows of the state: padded copies by the trace's field names."""
        return {}

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return what an answer of this algorithm is worth."""
        return Guarantee("none", f"no proof is known to the library for {self.name!r}")

    def grounds(self, setting: Setting) -> Grounds | None:
        """Return what the decisions follow from, for proof files; None if there are none of it."""
        return None

    def jump_objection(self) -> str | None:
        """Return one sentence that says why the jump engine cannot run this; None if it can."""
        kernels = kernels_of(self, None) if has_kernel(self, "init") else None
        if kernels is None or not kernels.jump:
            return f"the jump engine does not know the algorithm {self.name!r}"
        return None

    def work(self, instance: Instance, setting: Setting) -> Work | None:
        """Return about how much work a run is in either engine; None if nobody can say."""
        return None

    def fixed_pulls(self, rule: Any) -> int | None:
        """Return the pulls of every run; None if they depend on the data."""
        return None

    def rival(self, state: Any, rule: Any, group: int) -> int | None:
        """Return the group by which a rejected one was proven to be beaten; None if unknown."""
        return None

    def regions(self, state: Any, rule: Any) -> WeightRegions | None:
        """Return what a state proves of a map of weights; None if it is about something else."""
        return None

    def remaining(self, state: Any, rule: Any) -> float | None:
        """Return about how many more pulls the run takes by the algorithm's own reckoning."""
        return None

    def proof(self, state: Any, rule: Any, group: int) -> list[Comparison]:
        """Return the comparisons of arms that decided a group; none if the state does not tell."""
        return []

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


def end_of(algorithm: Algorithm, rule: Any) -> Callable[..., bool]:
    """Return the kernel that stands for `is_done`, run as plain Python, or the method.

    Looked up once: an algorithm that is one of several takes longer to say which than to answer.
    """
    kernels = algorithm.kernels_for(rule)
    if kernels is not None and has_kernel(algorithm, "is_done"):
        return kernels.is_done
    return algorithm.is_done


def kernels_of(algorithm: Algorithm, rule: Any) -> Kernels | None:
    """Return the kernels of an algorithm if nothing of them is overridden, else None."""
    methods = ("plan", "step", "is_done", "is_stuck")
    whole = all(has_kernel(algorithm, method) for method in methods)
    return algorithm.kernels_for(rule) if whole else None


def has_kernel(algorithm: Algorithm, method: str) -> bool:
    """Return whether a kernel stands for a method: no subclass below the kernels overrides it."""
    for cls in type(algorithm).__mro__:
        if "kernels" in vars(cls) or "kernels_for" in vars(cls):
            return True
        if method in vars(cls):
            return False
    return False


@dataclass(frozen=True)
class RadiusAlgorithm(Algorithm):
    """Base of the elimination algorithms, which differ in their tests but share radii.

    `radius` is "paper", "mixture", "stitched", a table or a function of the round; `radius_scale`
    multiplies it (below 1 nothing is proven any more).
    """

    needs_scale: ClassVar[bool] = True
    radius: Any = "paper"
    radius_scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check_radius(self.radius))
        object.__setattr__(self, "radius_scale", check_factor(self.radius_scale))

    def jump_objection(self) -> str | None:
        """Return why the jump engine cannot run this: it needs a radius that decreases."""
        why_not = super().jump_objection()
        if why_not is None and not isinstance(self.radius, str):
            return "the jump engine needs a named radius, which is known to decrease"
        return why_not

    def base_rule(self, setting: Setting, epsilon: Floats, options: Any) -> Rule:
        """Return the rule with this algorithm's radius."""
        dims = setting.shape.dims
        weights = setting.goal.weight_vector(dims)
        radius = make_radius(self.radius, setting.shape, setting.delta, self.radius_scale)
        scale = setting.noise.scales(dims)
        return Rule(setting.shape.exists, epsilon, scale, weights, radius, options)

    def grounds(self, setting: Setting) -> Grounds:
        """Return the bounds of single arms that a radius gives."""
        radius = make_radius(self.radius, setting.shape, setting.delta, 1.0)
        share = all_ends(setting.shape) if radius.kind == PAPER else box_ends(setting.shape)
        return Grounds("bounds", share, radius)

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


def proven_for(setting: Setting, *pulls: str, boxes_too: bool = False) -> Guarantee:
    """Return the PAC property as proven under what the noise model and `pulls` assume.

    `boxes_too`: evidence on several arms needs what boxes do as well.
    """
    noise = setting.noise
    evidence = pulls == SEVERAL_ARMS and not boxes_too
    words = noise.evidence_assumptions() if evidence else noise.assumptions()
    return Guarantee(
        "proven",
        pac_statement(setting) + words_of(setting.measure),
        (*words, *pulls),
        decisions_statement(setting.goal, setting.delta) + words_of(setting.measure),
    )


def pac_statement(setting: Setting) -> str:
    """Return the (epsilon, delta)-PAC property of a setting in words."""
    percent = f"with probability at least {1 - setting.delta:.10g}"
    return f"{percent} {setting.goal.answer_words()}"

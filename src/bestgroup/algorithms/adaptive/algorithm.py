"""`Adaptive`: evidence gathered where it decides, for both goals.

A half for each goal, `pareto` and `best`, has its proof, its tests and its sampling rule; on shared
items those of `shared_items` take their place, and that of `worths` with limits or where a group is worth
something else than its best arm. A half is an `Algorithm` of its own with the same options; the goal, and
later the kind of the rule, says which one works.

**Theory of operation.** What is proven and what is pulled are kept apart. A proof is an e-process:
a product of factors of mean at most 1 given the past, whatever rule chose the pull. When it reaches
the inverse of its share of the error budget, the comparison holds, by Ville's inequality, at any
time and for any sampling rule. So the sampling rule may be as greedy as it likes: it estimates
which comparison is closest to undecided, and pulls the arm that brings it on most for its cost.
Everything that the proofs fix (shares, precisions, the leader) is fixed from pulls that do not
count for them.

**Weak points.** The first pulls serve to fix what the proofs use and prove nothing: on easy
problems that is a good part of the run. Several undecided groups with close estimates are served
one after the other, so a plan of many pulls is spent less well than single ones. A step for
Pareto groups passes a few times over all groups, a nanosecond or two each, though it compares arms
only where a test can be due. What is recorded of pairs of groups takes memory where a test was made,
in pages; where all pairs come to be tested that is of the order of N^2 K D numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bestgroup.algorithms.protocol import Algorithm, Comparison, Grounds, Kernels, Setting
from bestgroup.errors import InvalidInput
from bestgroup.inference.certificate.regions import WeightRegions
from bestgroup.inference.certificate.worths import check_measured_goal
from bestgroup.inference.confidence_sequences.boxes import BoxRule
from bestgroup.problem.arrays import number, positive_int
from bestgroup.problem.goals import BestGroup, ParetoGroups, TopGroups, WeightMap
from bestgroup.problem.guarantee import Guarantee


@dataclass(frozen=True)
class Adaptive(Algorithm):
    """Sequential evidence, gathered where it decides most.

    `batch` says how many pulls a plan holds: an integer, or a share below 1 of the pulls that
    the less pulled of two compared arms has had (at least one pull). A plan that measures a leader of
    the best group, which takes pulls of several arms at once, may hold more.

    >>> str(Adaptive(batch=8))
    'adaptive(batch=8)'
    """

    batch: int | float = 0.01

    name: ClassVar[str] = "adaptive"
    version: ClassVar[int] = 7
    goals: ClassVar[tuple[type, ...]] = (ParetoGroups, BestGroup, TopGroups, WeightMap)
    by_boxes: ClassVar[bool] = False
    fixed_bets: ClassVar[bool] = False  # on shared items
    normal_by_boxes: ClassVar[bool] = False  # `Gaussian()`, for the best group
    by_dims: ClassVar[bool] = False  # best group: an arm that serves all dims is bet on dim by dim
    by_union: ClassVar[bool] = False  # Pareto groups: delta is shared among all groups
    by_selections: ClassVar[bool] = False  # best group: leaders have a selection for good
    reads_values: ClassVar[bool] = True
    takes_items: ClassVar[bool] = True
    takes_late_arms: ClassVar[bool] = True
    takes_measure: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "batch", check_batch(self.batch))

    def check(self, setting: Setting) -> None:
        """Raise InvalidInput if this algorithm cannot work on the setting."""
        super().check(setting)
        if setting.measure is not None:
            check_measured_goal(setting.goal)
        self._for_setting(setting).check(setting)

    def statistics(self, setting: Setting) -> BoxRule:
        """Return what drivers keep of an arm's values."""
        return self._for_setting(setting).statistics(setting)

    def by_pairs(self, setting: Setting) -> bool:
        """Return whether the half that answers the goal goes by evidence on several arms."""
        return self._for_setting(setting).by_pairs(setting)

    def rule(self, setting: Setting) -> Any:
        """Return the rule of the half that answers the goal."""
        return self._for_setting(setting).rule(setting)

    def init(self, rule: Any) -> Any:
        """Return the state before any pull."""
        return self._for_rule(rule).init(rule)

    def kernels_for(self, rule: Any) -> Kernels | None:
        """Return the kernels of the half that a rule belongs to."""
        return self._for_rule(rule).kernels_for(rule)

    def answer(self, state: Any, rule: Any) -> frozenset[int]:
        """Return the groups that are named."""
        return self._for_rule(rule).answer(state, rule)

    def record(self, state: Any, rule: Any) -> dict[str, Any]:
        """Return what a trace shows of the state."""
        return self._for_rule(rule).record(state, rule)

    def rival(self, state: Any, rule: Any, group: int) -> int | None:
        """Return the group that has been proven to beat this one."""
        return self._for_rule(rule).rival(state, rule, group)

    def regions(self, state: Any, rule: Any) -> WeightRegions | None:
        """Return what a state proves of a map of weights."""
        return self._for_rule(rule).regions(state, rule)

    def remaining(self, state: Any, rule: Any) -> float | None:
        """Return about how many more pulls the run takes, if the half reckons it."""
        return self._for_rule(rule).remaining(state, rule)

    def proof(self, state: Any, rule: Any, group: int) -> list[Comparison]:
        """Return the comparisons of arms that decided a group."""
        return self._for_rule(rule).proof(state, rule, group)

    def grounds(self, setting: Setting) -> Grounds | None:
        """Return what the decisions of the half follow from."""
        return self._for_setting(setting).grounds(setting)

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the PAC property that the half proves."""
        return self._for_setting(setting).guarantee(setting)

    def _for_setting(self, setting: Setting) -> Algorithm:
        if setting.items is not None:
            from bestgroup.algorithms.shared_items.algorithm import for_setting

            return for_setting(setting, self.batch, older=self.fixed_bets)
        if setting.measure is not None:
            return self._worths()
        if setting.goal.by_directions:
            return self._directions()
        return self._half(setting.goal.worth_weights(setting.shape.dims) is None)

    def _for_rule(self, rule: Any) -> Algorithm:
        from bestgroup.algorithms.shared_items.algorithm import for_rule

        if is_worth_rule(rule):
            return self._worths()
        if is_directions_rule(rule):
            return self._directions()
        return for_rule(rule, self.batch) or self._half(is_pareto_rule(rule))

    def _worths(self) -> Algorithm:
        from bestgroup.algorithms.adaptive.worths.algorithm import AdaptiveWorths

        return AdaptiveWorths(self.batch)

    def _directions(self) -> Algorithm:
        from bestgroup.algorithms.adaptive.directions.algorithm import AdaptiveDirections

        return AdaptiveDirections(self.batch)

    def _half(self, pareto: bool) -> Algorithm:
        # Each half is imported when it is used: a run needs one of them.
        if pareto:
            from bestgroup.algorithms.adaptive.pareto.algorithm import AdaptivePareto

            return AdaptivePareto(self.batch, self.by_boxes, self.by_union)
        from bestgroup.algorithms.adaptive.best.algorithm import AdaptiveLinear

        return AdaptiveLinear(
            self.batch, self.by_boxes, self.normal_by_boxes, self.by_dims, self.by_selections
        )


@dataclass(frozen=True)
class AdaptiveBySelections(Adaptive):
    """Version 6, for studies that it began: leaders of the best group have a selection for good."""

    version: ClassVar[int] = 6
    by_selections: ClassVar[bool] = True


@dataclass(frozen=True)
class AdaptiveByUnion(AdaptiveBySelections):
    """Version 5, for studies that it began: a union over all groups for Pareto groups."""

    version: ClassVar[int] = 5
    by_union: ClassVar[bool] = True


@dataclass(frozen=True)
class AdaptiveByDims(AdaptiveByUnion):
    """Version 4, for studies that it began: for the best group bets on single dims of an arm."""

    version: ClassVar[int] = 4
    by_dims: ClassVar[bool] = True


@dataclass(frozen=True)
class AdaptiveNormalByBoxes(AdaptiveByDims):
    """Version 3, for studies that it began: `Gaussian()` goes by boxes for the best group."""

    version: ClassVar[int] = 3
    normal_by_boxes: ClassVar[bool] = True


@dataclass(frozen=True)
class AdaptiveByFixedBets(AdaptiveNormalByBoxes):
    """Version 2, for studies that it began: fixed bets, and a union over leaders, on shared items."""

    version: ClassVar[int] = 2
    fixed_bets: ClassVar[bool] = True


@dataclass(frozen=True)
class AdaptiveByBoxes(AdaptiveByFixedBets):
    """Version 1, for studies that it began: noise models without a known scale go by boxes."""

    version: ClassVar[int] = 1
    by_boxes: ClassVar[bool] = True


def is_worth_rule(rule: Any) -> bool:
    """Return whether a rule is that of the part for limits and other worths."""
    from bestgroup.algorithms.adaptive.worths.state import WorthRule

    return isinstance(rule, WorthRule)


def is_pareto_rule(rule: Any) -> bool:
    """Return whether a rule is that of the half for Pareto groups."""
    from bestgroup.algorithms.adaptive.pareto.algorithm import AdaptiveRule

    return isinstance(rule, AdaptiveRule)


def is_directions_rule(rule: Any) -> bool:
    """Return whether a rule is that of the part for maps and for the m best groups."""
    from bestgroup.algorithms.adaptive.directions.state import DirectionsRule

    return isinstance(rule, DirectionsRule)


def check_batch(batch: Any) -> int | float:
    """Return a legal batch: an integer of pulls, or a share below 1.

    >>> check_batch(8.0), check_batch(0.01)
    (8, 0.01)
    """
    size = number(batch, "batch")
    if size >= 1:
        return positive_int(int(size) if size.is_integer() else batch, "batch")
    if size <= 0:
        raise InvalidInput(
            "batch must be an integer of pulls, or a share between 0 and 1 of an arm's pulls; "
            f"got {batch!r}"
        )
    return size

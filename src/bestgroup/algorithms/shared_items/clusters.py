"""Clusters of shared items: the algorithms on items, with a cluster for an item.

Items of a cluster (questions on one passage) follow each other in the order, and a plan ends where a
cluster ends. What counts is the sum over a cluster. If the C clusters hold n items, the mean over a
pool of these sums is n / C times the mean over its items, so differences of arms, epsilon and reach
are those of items in another unit: epsilon times n / C, and reach times the size of the largest
cluster. The inner algorithm then works on clusters as if they were items, under its own theorem.

For a population this holds where all clusters are equally large. Otherwise the mean size is unknown,
and each claim is one on the sum over a cluster of difference and slack, as in `certify` (docs/theory.md
9.5). Sizes of clusters that nobody has passed yet steer no bet and name no leader.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bestgroup.algorithms.protocol import Algorithm, Comparison, Kernels, Setting, proven_for
from bestgroup.algorithms.shared_items import best, pareto
from bestgroup.algorithms.shared_items.rule import ItemsRule
from bestgroup.compile.borrowing import borrowing
from bestgroup.compile.kernel import kernel
from bestgroup.inference.confidence_sequences.boxes import BoxRule, kept_values
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Floats, Ints
from bestgroup.problem.goals import BestGroup
from bestgroup.problem.guarantee import Guarantee
from bestgroup.problem.items import SharedItems


class ClusterRule(NamedTuple):
    """The rule of the inner algorithm, and where clusters end."""

    inner: Any
    ends: Ints  # [C]  items up to the end of each cluster, in the order in which they are taken


class ClusterState(NamedTuple):
    """The state of the inner algorithm, and the sums that it reads."""

    inner: Any
    counts: Ints  # [N, K]        clusters that an arm has passed as a whole
    sums: Floats  # [N, K, D]     of the values of these
    extra: Floats  # [N, K, D, C] the sum over each of them


@borrowing
def take_sums(state: ClusterState, tally: Tally, rule: ClusterRule) -> None:
    """Add up the clusters that arms have passed as a whole since the last step."""
    N, K, D = tally.sums.shape
    for i in range(N):
        for j in range(K):
            unit = state.counts[i, j]
            while unit < len(rule.ends) and rule.ends[unit] <= tally.counts[i, j]:
                first = rule.ends[unit - 1] if unit > 0 else 0
                for d in range(D):
                    # In the order of the items, so that plain and compiled bodies agree to the bit.
                    total = 0.0
                    for t in range(first, rule.ends[unit]):
                        total += tally.extra[i, j, d, t]
                    state.extra[i, j, d, unit] = total
                    state.sums[i, j, d] += total
                unit += 1
            state.counts[i, j] = unit


@kernel
def in_items(state: ClusterState, rule: ClusterRule, planned: Ints) -> Ints:
    """Return the items of the clusters that are planned, [N, K]."""
    N, K = planned.shape
    pulls = np.zeros((N, K), np.int64)
    for i in range(N):
        for j in range(K):
            if planned[i, j] > 0:
                unit = state.counts[i, j]
                first = rule.ends[unit - 1] if unit > 0 else 0
                pulls[i, j] = rule.ends[unit + planned[i, j] - 1] - first
    return pulls


@kernel
def plan_pareto(state: ClusterState, tally: Tally, rule: ClusterRule) -> Ints:
    """Return the items of the clusters that Pareto groups need next."""
    units = Tally(state.counts, state.sums, state.extra)
    return in_items(state, rule, pareto.plan(state.inner, units, rule.inner))


@kernel
def step_pareto(state: ClusterState, tally: Tally, rule: ClusterRule) -> None:
    """Take up whole clusters, then decide as on items."""
    take_sums(state, tally, rule)
    pareto.step(state.inner, Tally(state.counts, state.sums, state.extra), rule.inner)


@kernel
def is_pareto_done(state: ClusterState, rule: ClusterRule) -> bool:
    """Return whether no group is undecided."""
    return pareto.is_done(state.inner, rule.inner)


@kernel
def is_pareto_stuck(state: ClusterState, rule: ClusterRule) -> bool:
    """Return whether all clusters are used up."""
    return pareto.is_stuck(state.inner, rule.inner)


@kernel
def plan_best(state: ClusterState, tally: Tally, rule: ClusterRule) -> Ints:
    """Return the items of the clusters that the best group needs next."""
    units = Tally(state.counts, state.sums, state.extra)
    return in_items(state, rule, best.plan(state.inner, units, rule.inner))


@kernel
def step_best(state: ClusterState, tally: Tally, rule: ClusterRule) -> None:
    """Take up whole clusters, then decide as on items."""
    take_sums(state, tally, rule)
    best.step(state.inner, Tally(state.counts, state.sums, state.extra), rule.inner)


@kernel
def is_best_done(state: ClusterState, rule: ClusterRule) -> bool:
    """Return whether the best group is named."""
    return best.is_done(state.inner, rule.inner)


@kernel
def is_best_stuck(state: ClusterState, rule: ClusterRule) -> bool:
    """Return whether all clusters are used up."""
    return best.is_stuck(state.inner, rule.inner)


PARETO = Kernels(plan_pareto, step_pareto, is_pareto_done, is_pareto_stuck, items=True)
BEST = Kernels(plan_best, step_best, is_best_done, is_best_stuck, items=True)


@dataclass(frozen=True)
class OnClusters(Algorithm):
    """An algorithm on shared items that sees clusters in their place."""

    inner: Algorithm

    name: ClassVar[str] = "adaptive"
    reads_values: ClassVar[bool] = True
    takes_items: ClassVar[bool] = True
    always_ends: ClassVar[bool] = True

    def check(self, setting: Setting) -> None:
        """Raise InvalidInput if there are too many."""
        super().check(setting)
        self.inner.check(by_clusters(setting))

    def statistics(self, setting: Setting) -> BoxRule:
        """Return that the values are kept."""
        assert setting.items is not None
        return kept_values(setting.shape.dims, setting.items.count)

    def rule(self, setting: Setting) -> ClusterRule:
        """Return the rule for the kernels."""
        assert setting.items is not None
        ends = np.cumsum(np.array(setting.items.sizes, np.int64))
        return ClusterRule(self.inner.rule(by_clusters(setting)), ends)

    def init(self, rule: ClusterRule) -> ClusterState:
        """Return the state before any pull."""
        items = _items_of(rule)
        counts = np.zeros(items.exists.shape, np.int64)
        sums = np.zeros((*counts.shape, len(items.weights)))
        extra = np.zeros((*sums.shape, len(rule.ends)))
        return ClusterState(self.inner.init(rule.inner), counts, sums, extra)

    def kernels_for(self, rule: Any) -> Kernels | None:
        """Return the kernels around those of the inner algorithm."""
        return BEST if self.inner.goals == (BestGroup,) else PARETO

    def answer(self, state: ClusterState, rule: ClusterRule) -> frozenset[int]:
        """Return the groups that the inner algorithm names."""
        return self.inner.answer(state.inner, rule.inner)

    def record(self, state: ClusterState, rule: ClusterRule) -> dict[str, Any]:
        """Return what a trace shows of a plan, with efficiencies per item."""
        found = self.inner.record(state.inner, rule.inner)
        if not len(_items_of(rule).ends):
            return found | {"efficiency": found["efficiency"] / _mean_size(rule)}
        passed = np.concatenate([[0], rule.ends])[state.counts]
        means = state.sums / np.maximum(passed, 1)[:, :, None]
        return found | {"efficiency": np.where(passed[:, :, None] > 0, means, -np.inf).max(axis=1)}

    def rival(self, state: ClusterState, rule: ClusterRule, group: int) -> int | None:
        """Return the group that has been proven to beat this one."""
        return self.inner.rival(state.inner, rule.inner, group)

    def remaining(self, state: ClusterState, rule: ClusterRule) -> float | None:
        """Return how many items arms still need to pass, by what is seen now."""
        left = self.inner.remaining(state.inner, rule.inner)
        return None if left is None else left * _mean_size(rule)

    def proof(self, state: ClusterState, rule: ClusterRule, group: int) -> list[Comparison]:
        """Return the comparisons of arms on common clusters that decided a group."""
        size = 1.0 if len(_items_of(rule).ends) else _mean_size(rule)
        found = self.inner.proof(state.inner, rule.inner, group)
        return [comparison._replace(slack=comparison.slack / size) for comparison in found]

    def guarantee(self, setting: Setting) -> Guarantee:
        """Return the PAC property of the inner algorithm, for an order of clusters."""
        items = setting.items
        assert items is not None
        whole = f"these {items.count:,} items" if items.pool else "the population of clusters"
        same = "all of one size" if not _differ(items) else f"of at most {items.largest:,} items"
        return proven_for(
            setting,
            f"means are those of {whole}, each arm scored once on each item",
            "every arm goes through the clusters of items in one order without skipping any, which "
            + ("was drawn at random before any value was seen" if items.pool else "no value chose"),
            "what an arm scores on an item does not depend on the item's place in the order"
            if items.pool
            else f"clusters are independent draws, {same}; every item counts alike",
            "arms may depend on each other in any way",
        )


def by_clusters(setting: Setting) -> Setting:
    """Return the setting of the sums over clusters, in whose unit all differences are."""
    items = setting.items
    assert items is not None
    sizes = np.array(items.sizes)
    if _differ(items):  # claims are on the mean of an item, and know the sizes
        return replace(setting, items=replace(items, count=len(sizes)))
    epsilon = np.asarray(setting.goal.epsilon, np.float64) * sizes.mean()
    reach = tuple(float(r) * int(sizes.max()) for r in items.reach)
    return replace(
        setting,
        goal=setting.goal.with_epsilon(epsilon.tolist()),
        items=SharedItems(len(sizes), items.pool, reach),
    )


def _differ(items: SharedItems) -> bool:
    """Return whether clusters of a population may be of several sizes."""
    return not items.pool and min(items.sizes) < items.largest


def _items_of(rule: ClusterRule) -> ItemsRule:
    return rule.inner if isinstance(rule.inner, ItemsRule) else rule.inner.items


def _mean_size(rule: ClusterRule) -> float:
    return int(rule.ends[-1]) / len(rule.ends)

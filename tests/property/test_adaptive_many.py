"""Lists of followers and blocks of groups change nothing: few groups with them equal the naive version.

They are kept from a number of groups on at which the naive version would take hours, so the number is
lowered here. Runs with more groups are compared with runs without lists, to the bit.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import bestgroup as bg
from bestgroup.algorithms.adaptive.pareto import choice, followers, scores, view
from bestgroup.algorithms.adaptive.pareto.algorithm import AdaptivePareto
from bestgroup.algorithms.adaptive.pareto.blocks import sort_groups
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.session import LiveSession
from property.test_adaptive_pareto import cases, cases_without_scale, check

SOME = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def listed(monkeypatch):
    """Lists are kept for any number of groups."""
    monkeypatch.setattr(view, "LISTED", 1)


@given(case=cases())
@SOME
def test_compiled_with_lists_equals_naive(listed, case):
    check(case, compiled=True)


@given(case=cases())
@settings(SOME, max_examples=8)
def test_plain_with_lists_equals_naive(listed, case):
    check(case, compiled=False)


@given(case=cases_without_scale())
@settings(SOME, max_examples=8)
def test_compiled_with_lists_equals_naive_without_a_scale(listed, case):
    check(case, compiled=True)


@pytest.mark.verify
@given(case=cases())
@MANY
def test_lists_equal_naive_on_many(listed, case):
    check(case, compiled=True)


def run(instance, batch, most, epsilon=0.1):
    algorithm = bg.algorithm("adaptive", batch=batch)
    goal = bg.ParetoGroups(epsilon)
    return bg.simulate(instance, goal, algorithm, 0.1, 2, seed=3, engine="exact", max_pulls=most)


@pytest.mark.parametrize("batch", [0.01, 1, 5])
@pytest.mark.parametrize("few", [True, False])
def test_runs_with_lists_equal_runs_without(monkeypatch, batch, few):
    """Whole runs, in which everything is decided: forty groups, of which a few count, or all may."""
    means = np.random.default_rng(1).random((40, 2, 2))
    if few:
        means *= 0.25
        means[::8] += 0.75
    # Values of a coarse grid tie often.
    instance = bg.Instance(np.round(2.0 * means, 1), bg.laws.Normal(0.4), bg.SubGaussian(0.4))
    found = []
    for least in (1, 1000):
        monkeypatch.setattr(view, "LISTED", least)
        found.append(run(instance, batch, 400_000))
    assert found[0].finished.all()
    assert found[0].pulls.tolist() == found[1].pulls.tolist()
    assert found[0].answers == found[1].answers


def test_lists_are_kept_with_many_groups_only():
    """What is measured as many is many: no list where passes are shorter."""
    shapes = []
    for groups in (view.LISTED - 1, view.LISTED):
        instance = bg.Instance(np.zeros((groups, 1, 1)))
        setting = Setting(instance.shape, bg.ParetoGroups(0.1), bg.SubGaussian(1.0), 0.1)
        chosen = AdaptivePareto()
        state = chosen.init(chosen.rule(setting))
        shapes.append((state.seen.first.shape[1], state.ledger.order.shape[1]))
    assert shapes == [(0, 0), (view.LISTED, view.LISTED)]


@pytest.mark.parametrize("size", [1, 2, 3, 32, 33, 100])
def test_sorting_by_a_heap_equals_numpy(size):
    best = np.random.default_rng(size).integers(0, 9, (size, 2)) / 4.0
    orders = []
    for body in (sort_groups.plain, sort_groups.body, sort_groups.compiled):
        order = np.repeat(np.arange(size)[None], 2, axis=0)
        for d in range(2):
            body(order, best, d)
        orders.append(order.tolist())
    assert orders[0] == orders[1] == orders[2]


STANDING = (choice.find_hope, choice.find_lead, choice.find_below, choice.find_row,
            choice.follow_scores, scores.look_at_fall, followers.compare_hopes,
            sort_groups, view.copy_numbers)  # fmt: skip


def leaves(state):
    """All arrays of a state."""
    if isinstance(state, tuple):
        return [leaf for entry in state for leaf in leaves(entry)]
    return [state]


def states(noise, plans, batch, priced):
    """Yield plans, and the bits of the state after each, of forty groups that tie now and then."""
    rng = np.random.default_rng(5)
    means = np.round(rng.random((40, 3, 2)) * 2.0, 1) / 2.0
    kind = bg.Bounded(0, 1) if noise == "bounded" else bg.SubGaussian(0.2)
    costs = None
    if priced:
        costs = tuple(tuple(row) for row in rng.choice([1.0, 4.0], (40, 3)).tolist())
    shape = bg.Instance(means).shape
    setting = Setting(shape, bg.ParetoGroups(0.1), kind, 0.2, costs)
    live = LiveSession(setting, bg.algorithm("adaptive", batch=batch), keep=False)
    for _ in range(plans):
        for pulls, end in list(live.wanted()):
            size = (end - pulls.first, 2)
            mean = means[pulls.group, pulls.arm]
            values = mean + 0.2 * rng.standard_normal(size)
            if noise == "bounded":
                values = (rng.random(size) < mean).astype(float)
            live.feed(pulls.group, pulls.arm, pulls.first, values)
        if not live.advance(1):
            return
        yield [leaf.tobytes() for leaf in leaves(live.state)]


@pytest.mark.parametrize(
    ("noise", "batch", "priced"),
    [("known", 8, False), ("known", 0.05, False), ("bounded", 8, False), ("known", 4, True)],
)
def test_numpy_stands_for_bodies_to_the_bit(monkeypatch, listed, noise, batch, priced):
    """What stands for the bodies of searches in plain Python leaves the same state, plan by plan."""
    plans = 60 if batch == 0.05 else 25
    found = list(states(noise, plans, batch, priced))
    for item in STANDING:
        assert item.plain is not item.body
        monkeypatch.setattr(item, "plain", item.body)
    expected = list(states(noise, plans, batch, priced))
    assert len(found) == len(expected) == plans
    assert found == expected

"""Lists of followers and blocks of groups change nothing: few groups with them equal the naive version.

They are kept from a number of groups on at which the naive version would take hours, so the number is
lowered here. Runs with more groups are compared with runs without lists, to the bit.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import bestgroup as bg
from bestgroup.algorithms.adaptive.pareto import (
    blocks,
    certificates,
    choice,
    followers,
    ledger,
    plain,
    plain_shares,
    plain_steps,
    plain_tests,
    scores,
    split,
    spread,
    steps,
    tree,
    view,
)
from bestgroup.algorithms.adaptive.pareto.algorithm import AdaptivePareto
from bestgroup.algorithms.adaptive.pareto.blocks import sort_groups
from bestgroup.algorithms.protocol import Setting
from bestgroup.compile.kernel import Kernel
from bestgroup.drivers.session import LiveSession
from property.test_adaptive_pareto import SURPRISES, cases, cases_without_scale, check

SOME = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def listed(monkeypatch):
    """Lists are kept for any number of groups."""
    monkeypatch.setattr(view, "LISTED", 1)


def of_one_price(case):
    """The case with equal costs, plans of one arm, and evidence on pairs: it has a loop of its own."""
    return replace(case, batch=min(case.batch, 0.3), costs=None, boxes=False)


# Of the three loops with lists two are compiled here, and one under verify.
@given(case=cases().map(of_one_price))
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


@pytest.mark.parametrize(
    "case", [SURPRISES[0], SURPRISES[3], pytest.param(SURPRISES[1], marks=pytest.mark.verify)]
)
def test_lists_equal_naive_after_a_surprise(listed, case):
    check(case, compiled=True, plans=600)


@pytest.mark.verify
@given(case=cases() | cases_without_scale())
@MANY
def test_lists_equal_naive_on_many(listed, case):
    check(case, compiled=True)


def run(instance, batch, most, epsilon=0.1):
    algorithm = bg.algorithm("adaptive", batch=batch)
    goal = bg.ParetoGroups(epsilon)
    return bg.simulate(instance, goal, algorithm, 0.1, 2, seed=3, engine="exact", max_pulls=most)


# Batches have a compiled loop of their own, which runs under verify.
@pytest.mark.parametrize("batch", [0.01, 1, pytest.param(5, marks=pytest.mark.verify)])
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


MODULES = (
    blocks,
    certificates,
    choice,
    followers,
    ledger,
    scores,
    split,
    spread,
    steps,
    tree,
    view,
)
STANDING = {
    item.body.__qualname__: item
    for module in MODULES
    for item in vars(module).values()
    if isinstance(item, Kernel) and item.plain is not item.body
}


def leaves(state):
    """All arrays of a state."""
    if isinstance(state, tuple):
        return [leaf for entry in state for leaf in leaves(entry)]
    return [state]


def with_table(state):
    """The state with the table of pairs that plain Python leaves to compiled code."""
    shares = state.split
    whole = shares._replace(pair=shares.pair.copy(), tabled=shares.tabled.copy())
    split.table_pairs.body(whole)
    return state._replace(split=whole)


def begin(noise, batch, sigma=0.2, priced=False, groups=40):
    """Return a live session of groups that tie now and then, and what tells it all that it wants."""
    rng = np.random.default_rng(5)
    means = np.round(rng.random((groups, 3, 2)) * 2.0, 1) / 2.0
    kinds = {"known": bg.SubGaussian(sigma), "bounded": bg.Bounded(0, 1), "coins": bg.Bernoulli(),
             "normal": bg.Gaussian()}  # fmt: skip
    costs = None
    if priced:
        costs = tuple(tuple(row) for row in rng.choice([1.0, 4.0], (groups, 3)).tolist())
    shape = bg.Instance(means).shape
    setting = Setting(shape, bg.ParetoGroups(0.1), kinds[noise], 0.2, costs)
    live = LiveSession(setting, bg.algorithm("adaptive", batch=batch), keep=False)

    def tell():
        for pulls, end in list(live.wanted()):
            size, mean = (end - pulls.first, 2), means[pulls.group, pulls.arm]
            values = mean + sigma * rng.standard_normal(size)
            if noise in ("bounded", "coins"):
                values = (rng.random(size) < mean).astype(float)
            live.feed(pulls.group, pulls.arm, pulls.first, values)

    return live, tell


def states(plans, *given):
    """Return the bits of the state after each plan, and the last state."""
    (live, tell), found = begin(*given), []
    for _ in range(plans):
        tell()
        if not live.advance(1):
            break
        found.append([np.asarray(leaf).tobytes() for leaf in leaves(with_table(live.state))])
    return found, live.state


@pytest.mark.parametrize(
    ("noise", "batch", "sigma", "priced", "proves"),
    [
        ("known", 8, 0.2, False, False),
        ("known", 0.05, 0.2, False, False),
        ("known", 8, 0.02, False, True),  # the first pulls end the warm-up
        ("known", 0.3, 0.05, False, True),
        ("bounded", 8, 0.2, False, False),
        ("coins", 8, 0.2, False, False),
        ("normal", 8, 0.01, False, True),
        ("known", 4, 0.2, True, False),
    ],
)
def test_numpy_stands_for_bodies_to_the_bit(
    monkeypatch, listed, noise, batch, sigma, priced, proves
):
    """What stands for the bodies of searches in plain Python leaves the same state, plan by plan."""
    plans = 60 if batch < 1 else 25
    given = noise, batch, sigma, priced
    found, last = states(plans, *given)
    assert (last.phase[0] == steps.PROVING) == proves
    for item in STANDING.values():
        monkeypatch.setattr(item, "plain", item.body)
    expected, _ = states(plans, *given)
    assert len(found) == len(expected) == plans
    assert found == expected


def test_what_stands_for_bodies_is_all_compared():
    """The names are those of all modules whose kernels have another form for plain Python."""
    assert {"find_row", "share_out", "table_pairs", "list_below", "take_up"} <= STANDING.keys()
    assert len(STANDING) >= 30


@pytest.mark.parametrize("lists", [1, 1000])
def test_compiled_code_takes_over_from_plain_python_while_proving(monkeypatch, lists):
    """The table of pairs is made by the first step that asks for it; bodies are what is compiled."""
    monkeypatch.setattr(view, "LISTED", lists)
    stories = []
    for turn in (None, 12):
        live, tell = begin("known", 8, 0.02)
        with monkeypatch.context() as patch:
            story = []
            for plan in range(25):
                if plan == turn:
                    assert not live.state.split.tabled[0]
                    for item in STANDING.values():
                        patch.setattr(item, "plain", item.body)
                tell()
                live.advance(1)
                assert live.state.phase[0] == steps.PROVING
                story.append(live.checkpoint().plan.tolist())
            stories.append(story)
            assert live.state.split.tabled[0] == (turn is not None)
    assert stories[0] == stories[1]


@given(case=cases())
@settings(SOME, max_examples=8)
def test_arrays_for_few_groups_equal_naive(listed, monkeypatch, case):
    for module in (plain, plain_shares, plain_steps, plain_tests):
        monkeypatch.setattr(module, "FEW", 2)
    check(case, compiled=False)

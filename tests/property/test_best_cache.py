"""A loop that remembers plans and decides as one that computes everything anew at every step."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.best import algorithm as al
from bestgroup.algorithms.protocol import Setting, kernels_of
from bestgroup.drivers.bodies import bodies
from bestgroup.drivers.exact.driver import run_once
from bestgroup.drivers.replay import Tape, consume, keep_values
from bestgroup.inference.tally import empty_tally

ARMS, DIMS, CAP = 2, 2, 4000
KEY = 7, 0


def costs_of(kind, groups):
    if "costs" not in kind:
        return None
    prices = np.random.default_rng(5).uniform(1, 9, (groups, ARMS))
    return tuple(tuple(row.tolist()) for row in prices)


def step_by_step(setting, algorithm, tape):
    """Return the answer, the pulls of each arm and the steps of a run whose every turn begins anew."""
    rule, keep = algorithm.rule(setting), algorithm.statistics(setting)
    state, shape = algorithm.init(rule), setting.shape
    tally = empty_tally(shape.groups, ARMS, DIMS, keep.start, len(keep.weights) > 0)
    plan, step = bodies(algorithm, rule, True)
    steps = 0
    while state.answer[0] < 0:
        pulls = plan(state, tally, rule)
        if tally.counts.sum() + pulls.sum() > CAP:
            break
        consume(tape, tally, pulls)
        if len(keep.start):
            keep_values(tape, tally, pulls, keep, True)
        step(state, tally, rule)
        steps += 1
    assert state.named[0] > 0  # the time before the first leader was seen, and that after
    return algorithm.answer(state, rule), tally.counts.tolist(), steps


# "known" and "costs": leaders that are selections; "groups": that are groups.
@pytest.mark.parametrize(
    "kind, batch, groups",
    [
        ("known", 1, 24),
        ("bounded", 0.05, 24),
        ("costs", 3, 24),
        ("groups", 1, 20),
        ("groups", 0.05, 40),
        ("groups with costs", 3, 24),
    ],
)
def test_a_kept_workspace_changes_nothing(kind, batch, groups):
    means = np.random.default_rng(7).random((groups, ARMS, DIMS))
    noise = bg.Bounded(0, 1) if kind == "bounded" else bg.SubGaussian(0.3)
    law = bg.laws.Bernoulli() if kind == "bounded" else bg.laws.Normal(0.3)
    instance, goal = bg.Instance(means, law, noise), bg.BestGroup([1.0, 2.0], 0.01)
    setting = Setting(instance.shape, goal, noise, 0.1, costs_of(kind, groups))
    algorithm = al.AdaptiveLinear(batch, by_selections="groups" not in kind)
    assert kernels_of(algorithm, algorithm.rule(setting)).workspace is not None
    run = run_once(instance, setting, algorithm, KEY, CAP)
    answer, counts, steps = step_by_step(setting, algorithm, Tape.draw(instance, 1500, *KEY))
    assert run.rounds == steps > 100
    assert run.counts.tolist() == counts
    assert run.answer == answer

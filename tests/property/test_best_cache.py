"""A loop that remembers plans and decides as one that computes everything anew at every step."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.best import algorithm as al
from bestgroup.algorithms.adaptive.best import steps, units
from bestgroup.algorithms.adaptive.best.state import make_workspace
from bestgroup.algorithms.protocol import Setting, list_pulls
from bestgroup.inference.confidence_sequences.boxes import take_values
from bestgroup.inference.tally import empty_tally
from bestgroup.problem.shape import Shape

ARMS, DIMS = 2, 2


def costs_of(kind, groups):
    if "costs" not in kind:
        return None
    prices = np.random.default_rng(5).uniform(1, 9, (groups, ARMS))
    return tuple(tuple(row.tolist()) for row in prices)


def values_of(kind, mean, count, rng):
    if kind == "bounded":
        return (rng.random((count, DIMS)) < mean).astype(float)
    return mean + 0.3 * rng.standard_normal((count, DIMS))


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
    noise = bg.Bounded(0, 1) if kind == "bounded" else bg.SubGaussian(0.3)
    goal, shape = bg.BestGroup([1.0, 2.0], 0.01), Shape((ARMS,) * groups, DIMS)
    setting = Setting(shape, goal, noise, 0.1, costs_of(kind, groups))
    algorithm = al.AdaptiveLinear(batch, by_selections="groups" not in kind)
    module = units if "groups" in kind else steps
    rule, keep = algorithm.rule(setting), algorithm.statistics(setting)
    tally = empty_tally(groups, ARMS, DIMS, keep.start, len(keep.weights) > 0)
    state, other = algorithm.init(rule), algorithm.init(rule)
    kept, rng = make_workspace.compiled(state, rule), np.random.default_rng(7)
    means = rng.random((groups, ARMS, DIMS))
    listed, again = (np.zeros(1 + groups * ARMS, np.int64) for _ in range(2))
    for _ in range(1500):
        pulls = np.zeros((groups, ARMS), np.int64)
        module.plan_in.compiled(state, tally, rule, kept, pulls, listed)
        assert (pulls == module.plan.compiled(other, tally, rule)).all()
        list_pulls.compiled(pulls, again)
        assert sorted(listed[1 : listed[0] + 1]) == again[1 : again[0] + 1].tolist()
        for i, j in np.argwhere(pulls).tolist():
            rows = values_of(kind, means[i, j], pulls[i, j], rng)
            take_values.compiled(keep, tally, i, j, rows)
        module.advance.compiled(state, tally, rule, kept)
        module.advance.compiled(other, tally, rule, make_workspace.compiled(other, rule))
        for name, value in state._asdict().items():
            assert value.tobytes() == getattr(other, name).tobytes(), name
        if state.answer[0] >= 0:
            break
    assert state.named[0] > 0  # the time before the first leader was seen, and that after

"""Leaders that are groups: what is said of them rests on measurements, and on nothing else."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.session import LiveSession

SIZES = (2, 3, 1, 2)


def steps(seed, epsilon, offset):
    """Yield the states of a run with close groups, whose means all have an offset."""
    rng = np.random.default_rng(seed)
    means = [rng.normal(offset, 0.1, (size, 2)) for size in SIZES]
    means[3] -= 0.5
    groups = {f"g{i}": [f"a{j}" for j in range(size)] for i, size in enumerate(SIZES)}
    problem = bg.Problem(groups, {"u": "max", "v": "max"}, bg.SubGaussian(0.5))
    setting = Setting.of(problem, bg.BestGroup([1.0, 1.0], epsilon), 0.1)
    session = LiveSession(setting, bg.algorithm("adaptive"))
    for i, size in enumerate(SIZES):
        for j in range(size):
            session.feed(i, j, 0, rng.normal(means[i][j], 0.5, (1500, 2)))
    while session.advance(1):
        yield session.state


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("offset", [-5.0, 0.0, 5.0])
def test_no_group_leaves_before_its_leader_was_measured(epsilon, offset):
    for seed in range(3):
        for state in steps(seed, epsilon, offset):
            assert not state.out.any() or (state.counted[state.share > 0.0] > 0.0).any()


def test_a_run_does_not_depend_on_where_0_is():
    for seed in range(3):
        runs = [[state.out.tolist() for state in steps(seed, 0.1, x)] for x in (-8.0, 0.0, 8.0)]
        assert runs[0] == runs[1] == runs[2]

"""Error rates and tails of the adaptive rule for the best group; run by `make verify`.

A rate counts as too high if the lower end of its 99.9 % interval exceeds delta.
"""

import numpy as np
import pytest

import bestgroup as bg

pytestmark = pytest.mark.verify

RUNS, FEWER = 10_000, 3_000
LAWS = {
    "fully dependent": bg.laws.FullyDependent(1.0),
    "negatively correlated": bg.laws.Normal(cov=[[1.0, -0.95], [-0.95, 1.0]]),
}
# Wrong answers are just beyond epsilon ||w||_1: one best group, and others that lie as far below.
NEAR = {
    "single arms": ([[[0.5, 0.5]], [[0.0, -0.02]], [[-0.01, -0.01]]], 0.5),
    "groups": (
        [[[0.31, 0.0], [0.0, 0.31]], [[0.0, 0.0], [-0.1, 0.0]], [[0.0, -0.1], [-0.1, 0.0]]],
        0.3,
    ),
}


def report(label, sim):
    low, high = sim.error_interval(0.999)
    print(
        f"{label}: {sim.errors} errors in {sim.runs} runs "
        f"(99.9 % interval {low:.5f} to {high:.5f}, delta {sim.delta}), "
        f"mean pulls {sim.pulls.mean():,.0f}, finished {int(sim.finished.sum())}"
    )
    assert low <= sim.delta and sim.finished.all()


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("single arms", "fully dependent"),
        ("groups", "fully dependent"),
        ("groups", "negatively correlated"),
    ],
)
@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_errors_just_beyond_epsilon(kind, law, delta):
    means, epsilon = NEAR[kind]
    instance = bg.Instance(means, law=LAWS[law])
    goal = bg.BestGroup([1.0, 1.0], epsilon=epsilon)
    sim = bg.simulate(instance, goal, "adaptive", delta, RUNS, 4)
    report(f"adaptive, {kind}, epsilon {epsilon}, {law}", sim)


def test_errors_with_independent_dims_assumed():
    means, epsilon = NEAR["groups"]
    noise = bg.SubGaussian(1.0, dependence="independent")
    instance = bg.Instance(means, noise=noise)
    sim = bg.simulate(
        instance, bg.BestGroup([1.0, 1.0], epsilon=epsilon), "adaptive", 0.1, FEWER, 5
    )
    report("adaptive, groups, dims assumed independent", sim)


def test_errors_at_epsilon_zero():
    """Large gaps, so that the run is short: what counts is the first few looks."""
    instance = bg.Instance([[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5]]], law=LAWS["fully dependent"])
    sim = bg.simulate(instance, bg.BestGroup([1.0, 1.0]), "adaptive", 0.1, FEWER, 6)
    report("adaptive, epsilon 0, fully dependent", sim)


def tied_wrong_leaders(gap):
    """A best group whose arms look plain, and two wrong groups that tie with each other."""
    best = [[1.0 + gap, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.5]]
    wrong = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.5]]
    return bg.Instance([wrong, best, wrong, wrong])


@pytest.mark.parametrize(("gap", "runs"), [(0.1, 10_000), (0.03, 200)])
def test_every_run_ends_without_a_long_tail(gap, runs):
    instance = bg.Instance([[[0.5]], [[0.5 + gap]], [[0.4]]])
    sim = bg.simulate(instance, bg.BestGroup([1.0]), "adaptive", 0.1, runs, 7, max_pulls=50_000_000)
    print(
        f"gap {gap}: mean {sim.pulls.mean():,.0f}, largest {sim.pulls.max():,}, {sim.errors} errors"
    )
    assert sim.finished.all()


def test_no_long_tail_with_near_tied_wrong_leaders():
    sim = bg.simulate(
        tied_wrong_leaders(0.3), bg.BestGroup([1.0, 1.0, 1.0]), "adaptive", 0.01, 100, 8
    )
    ratio = sim.pulls.max() / sim.pulls.mean()
    print(f"tied wrong leaders: mean {sim.pulls.mean():,.0f}, largest / mean {ratio:.2f}")
    assert sim.finished.all() and ratio <= 3.0 and np.all(sim.pulls > 0)

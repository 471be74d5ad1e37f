"""Certificates of the best group by bets, looked at while pulls go to whoever seems ahead.

The attacks of `test_bets_errors`, for what a table proves: a run is wrong if any look is. One look
serves both deltas. By `make verify`.
"""

import numpy as np
import pytest
from scipy.stats import binomtest
from test_bets_errors import ATTACKS, RareRuin

import bestgroup as bg
from bestgroup.inference.certificate import best_group
from bestgroup.inference.certificate.judge import settle_best
from bestgroup.inference.confidence_sequences.boxes import take_values, with_sum
from bestgroup.inference.tally import empty_tally
from bestgroup.problem.status import Status

pytestmark = pytest.mark.verify
RUNS, LOOKS, FIRST = 300, 18, 16
DELTAS = (0.3, 0.05)


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    monkeypatch.setattr(best_group, "find_behind", best_group.find_behind.compiled)


def is_wrong(status, means, goal):
    """Return whether a status contradicts the means."""
    worth = [max_of(arms) @ np.array(goal.weights) for arms in means]
    slack = goal.epsilon * sum(goal.weights)
    best, top = int(np.argmax(worth)), max(worth)
    good = [value + slack >= top - 1e-12 for value in worth]
    inside = np.flatnonzero(status == Status.IN)
    return status[best] == Status.OUT or not all(good[i] for i in inside)


def max_of(arms):
    return np.asarray(arms).max(axis=0)


def run(rng, law, noise, goal, means, shape):
    """Return whether a run went wrong and whether it decided anything, at each delta."""
    rule = noise.sums(shape, DELTAS[0])  # what boxes keep besides is not read here
    if shape.dims > 1:
        rule = with_sum(rule, goal.weight_vector(shape.dims))
    tally = empty_tally(shape.groups, shape.arms, shape.dims, rule.start, len(rule.weights) > 0)
    wrong, decided = [False] * len(DELTAS), [False] * len(DELTAS)
    for look in range(LOOKS):
        for i, arms in enumerate(means):
            for j, mean in enumerate(arms):
                n, more = int(tally.counts[i, j]), FIRST
                if look:
                    worth = (tally.sums / np.maximum(tally.counts, 1)[:, :, None]).max(axis=1)
                    ahead = int(np.argmax(worth @ np.array(goal.weights)))
                    more = 1 + n // (2 if i == ahead else 3)
                take_values.compiled(rule, tally, i, j, law.sample(rng, np.asarray(mean), more))
        means_so_far = tally.sums / np.maximum(tally.counts, 1)[:, :, None]
        for d, delta in enumerate(DELTAS):
            # The leader may be chosen in any way; by boxes, as `judge` does, would take most of the time.
            lead, sure, near = best_group.behind_leader(
                tally, shape, goal, noise, delta, means_so_far
            )
            first = lead if near.sum() == len(means) - 1 else -1
            status = settle_best(sure, first, goal)
            wrong[d] |= is_wrong(status, means, goal)
            decided[d] |= bool((status != Status.UNDECIDED).any())
    return wrong, decided


@pytest.mark.parametrize("attack", ATTACKS)
def test_errors_of_certificates(attack):
    noise, law, goal, means = ATTACKS[attack]
    shape = bg.Instance(means, law=law, noise=noise).shape
    rng = np.random.default_rng(9)
    found = np.array([run(rng, law, noise, goal, means, shape) for _ in range(RUNS)])
    for d, delta in enumerate(DELTAS):
        errors, decided = found[:, :, d].sum(axis=0).tolist()
        interval = binomtest(errors, RUNS).proportion_ci(0.999, "exact")
        print(
            f"certificates by bets, {attack}: {errors} errors in {RUNS} runs (99.9 % interval "
            f"{interval.low:.5f} to {interval.high:.5f}, delta {delta}), something decided in {decided}"
        )
        assert interval.low <= delta
    assert found[:, 1, 0].sum() > RUNS / 50, (
        "hardly anything is decided, so hardly anything is wrong"
    )


def test_skewed_values_are_not_normal_and_are_caught_by_this_count():
    """The count sees errors where the assumption fails: a mean that rests on a few pulls."""
    noise, goal, means = bg.Gaussian(), bg.BestGroup([1]), [[[0.45]], [[0.5]]]
    shape, rng = bg.Instance(means, law=RareRuin(), noise=noise).shape, np.random.default_rng(3)
    found = [run(rng, RareRuin(), noise, goal, means, shape) for _ in range(100)]
    assert np.array(found)[:, 0, 0].mean() > 0.3

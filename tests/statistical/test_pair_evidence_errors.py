"""How often evidence on pairs of arms, or on the arms of two groups, refutes a true null: looked at often.

A rate counts as too high if the lower end of its 99.9 % interval exceeds delta; a quick run in the suite
has few paths, `make verify` has many. False alarms: at most one run in 1,000 of a test whose error rate is
delta itself, and rates here are far below.
"""

import numpy as np
import pytest

import bestgroup as bg


class Skewed:
    """Mostly a little above the mean, now and then 0, the same pulls in all dims."""

    share = 0.05

    def sample(self, rng, mean, n):
        hit = rng.random((n, 1)) < self.share
        return np.where(hit, 0.0, np.asarray(mean) / (1 - self.share))


class SharedCoin:
    """Coins in all dims that fall by one number: as dependent as dims can be."""

    def sample(self, rng, mean, n):
        return (rng.random((n, 1)) < np.asarray(mean)).astype(float)


class Laplace:
    """Symmetric, not normal: what evidence under Gaussian() assumes holds, what boxes assume does not."""

    def scales(self, dims):
        return np.full(dims, 0.3)

    def sample(self, rng, mean, n):
        return rng.laplace(mean, 0.3 / np.sqrt(2), (n, len(mean)))


MODELS = {
    "coins": (bg.Bernoulli(), bg.laws.Bernoulli()),
    "dependent coins": (bg.Bernoulli(), SharedCoin()),
    "bounded coins": (bg.Bounded(0, 1), bg.laws.Bernoulli()),
    "beta": (bg.Bounded(0, 1), bg.laws.Beta(0.15)),
    "rare losses": (bg.Bounded(0, 1), Skewed()),
    "normal": (bg.Gaussian(), bg.laws.Normal(0.3)),
    "fully dependent normal": (bg.Gaussian(), bg.laws.FullyDependent(0.3)),
    "Laplace": (bg.Gaussian(), Laplace()),
}
NULLS = {
    # The second group is just beyond epsilon below the first in every dim: it must not be accepted.
    "near epsilon": (bg.ParetoGroups(0.3), [[[0.66, 0.66]], [[0.35, 0.35]]]),
    # A tie in one dim: a rejection, or missing the second group, is wrong; runs end by epsilon.
    "tie": (bg.ParetoGroups(0.15), [[[0.6, 0.7]], [[0.6, 0.4]]]),
    # The best group leads by just more than epsilon; its rival has two arms that tie.
    "best": (bg.BestGroup([1, 1], 0.3), [[[0.66, 0.66]], [[0.35, 0.2], [0.2, 0.35]]]),
    # Near the end of the range, three arms of which two tie for the lead.
    "near one": (bg.ParetoGroups(0.1), [[[0.93, 0.9], [0.9, 0.93]], [[0.82, 0.82]]]),
}


def check(model, null, delta, runs):
    noise, law = MODELS[model]
    goal, means = NULLS[null]
    instance = bg.Instance(means, law=law, noise=noise)
    sim = bg.simulate(instance, goal, "adaptive", delta, runs, 5, max_pulls=10**6, progress=False)
    low, high = sim.error_interval(0.999)
    print(
        f"{null}, {model}: {sim.errors} errors in {sim.runs} runs (99.9 % interval {low:.5f} to "
        f"{high:.5f}, delta {delta}), mean pulls {sim.pulls.mean():,.0f}"
    )
    assert sim.finished.all() and low <= delta


@pytest.mark.parametrize("model", ["dependent coins", "beta", "normal"])
def test_error_rates_quickly(model):
    check(model, "near epsilon", 0.1, 150)


@pytest.mark.parametrize("model", ["dependent coins", "rare losses"])
def test_error_rates_for_the_best_group_quickly(model):
    check(model, "best", 0.1, 150)


@pytest.mark.verify
@pytest.mark.parametrize("delta", [0.1, 0.01])
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("model", MODELS)
def test_error_rates(model, null, delta):
    check(model, null, delta, 2_000)

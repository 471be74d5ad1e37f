"""Error rates of the adaptive algorithm with the noise models that learn the spread; by `make verify`.

A rate counts as too high if the lower end of its 99.9 % interval exceeds delta.
"""

import numpy as np
import pytest

import bestgroup as bg

pytestmark = pytest.mark.verify


class RareLosses:
    """Mostly a value a little above the mean, now and then 0: little variance is seen for long."""

    share = 0.02

    def sample(self, rng, mean, n):
        hit = rng.random((n, 1)) < self.share  # the same pulls in all dims
        return np.where(hit, 0.0, np.asarray(mean) / (1 - self.share))


MODELS = {
    "betting, beta law": (bg.Bounded(0, 1), bg.laws.Beta(0.25)),
    "betting, rare losses in all dims": (bg.Bounded(0, 1), RareLosses()),
    "empirical Bernstein, rare losses": (bg.Bounded(0, 1, method="bernstein"), RareLosses()),
    "Bernoulli": (bg.Bernoulli(), bg.laws.Bernoulli()),
    "unknown variance, Gaussian": (bg.Gaussian(), bg.laws.Normal(0.3)),
    "unknown variance, fully dependent": (bg.Gaussian(), bg.laws.FullyDependent(0.3)),
}
GOALS = {
    # The second group is just beyond epsilon below the first in every dim.
    "Pareto": (bg.ParetoGroups(0.3), [[[0.66, 0.66]], [[0.35, 0.35]]]),
    # The best group leads by just more than epsilon; its rival has two arms that tie.
    "best": (bg.BestGroup([1, 1], 0.3), [[[0.66, 0.66]], [[0.35, 0.2], [0.2, 0.35]]]),
}


@pytest.mark.parametrize("delta", [0.1, 0.01])
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("model", MODELS)
def test_error_rates(model, goal, delta):
    noise, law = MODELS[model]
    question, means = GOALS[goal]
    instance = bg.Instance(means, law=law, noise=noise)
    sim = bg.simulate(
        instance, question, "adaptive", delta, 2_000, 2, max_pulls=10**6, progress=False
    )
    low, high = sim.error_interval(0.999)
    print(
        f"{goal}, {model}: {sim.errors} errors in {sim.runs} runs (99.9 % interval {low:.5f} to "
        f"{high:.5f}, delta {delta}), mean pulls {sim.pulls.mean():,.0f}"
    )
    assert sim.finished.all() and low <= delta

"""Attacks on the best group by bets, for values in a range, 0/1 and normal ones; by `make verify`.

Near ties, the edge of epsilon, skewed laws, dims that depend on each other, arms that share the work of
a group, runs that are capped (every decision counts), delta up to .3. A rate counts as too high if the
lower end of its 99.9 % interval exceeds delta.
"""

import numpy as np
import pytest
from scipy.stats import binomtest

import bestgroup as bg

pytestmark = pytest.mark.verify
RUNS, CAP = 1_000, 5_000


class SharedCoin:
    """0/1 values of all dims from one draw."""

    def sample(self, rng, mean, n):
        return (rng.random((n, 1)) < np.asarray(mean)).astype(float)


class OpposedCoins:
    """0/1 values of two dims that are as opposed as their means allow."""

    def sample(self, rng, mean, n):
        u = rng.random(n)
        return np.stack([u < mean[0], 1.0 - u < mean[1]], axis=1).astype(float)


class RareLosses:
    """Mostly a value a little above the mean, now and then 0: little variance is seen for long."""

    share = 0.02

    def sample(self, rng, mean, n):
        hit = rng.random((n, 1)) < self.share
        return np.where(hit, 0.0, np.asarray(mean) / (1 - self.share))


class RarePrizes:
    """Mostly 0, now and then 1, in all dims at once: the mean rests on a few pulls."""

    def sample(self, rng, mean, n):
        return (rng.random((n, 1)) < np.asarray(mean)).astype(float)


class SharedNoise:
    """Normal values of all dims from one draw; arms of a smaller mean vary less."""

    def scales(self, dims):
        return np.full(dims, 0.3)

    def sample(self, rng, mean, n):
        return np.asarray(mean) * (1.0 + 0.4 * rng.normal(size=(n, 1)))


class RareRuin:
    """Normal values, but for the lower arm: it looks better, and loses much in a pull of a thousand."""

    def scales(self, dims):
        return np.full(dims, 0.05)

    def sample(self, rng, mean, n):
        mean = np.asarray(mean)
        hit = rng.random((n, 1)) < 0.001
        extra = np.where(hit, -99.9, 0.1) * (mean < 0.47)
        return mean + extra + 0.05 * rng.normal(size=(n, len(mean)))


class OpposedNoise:
    """Normal values of two dims that are as opposed as can be, of unequal variance."""

    def scales(self, dims):
        return np.array([0.3, 0.05])

    def sample(self, rng, mean, n):
        return np.asarray(mean) + rng.normal(size=(n, 1)) * np.array([0.3, -0.05])


ONE, TWO = [[[0.5], [0.3]], [[0.499], [0.2]], [[0.2], [0.1]]], [1, 1]
# The best group owes its worth to two arms; the rival to one, just below, or just beyond epsilon.
SPLIT = [[[0.8, 0.2], [0.2, 0.8]], [[0.76, 0.76], [0.1, 0.1]]]
EDGE = [[[0.8, 0.3], [0.3, 0.8]], [[0.69, 0.69], [0.1, 0.1]]]
COINS, RANGE, NORMAL = bg.Bernoulli(), bg.Bounded(0, 1), bg.Gaussian()
ATTACKS = {
    "near tie, 0/1": (COINS, bg.laws.Bernoulli(), bg.BestGroup([1]), ONE),
    "near tie, beta law": (RANGE, bg.laws.Beta(0.2), bg.BestGroup([1]), ONE),
    "near tie, coins in a range": (RANGE, bg.laws.Bernoulli(), bg.BestGroup([1]), ONE),
    "near tie of two arms with one, independent dims": (
        COINS,
        bg.laws.Bernoulli(),
        bg.BestGroup(TWO),
        SPLIT,
    ),
    "near tie of two arms with one, one coin for both dims": (
        COINS,
        SharedCoin(),
        bg.BestGroup(TWO),
        SPLIT,
    ),
    "edge of epsilon, one coin for both dims": (
        RANGE,
        SharedCoin(),
        bg.BestGroup(TWO, epsilon=0.1),
        EDGE,
    ),
    "edge of epsilon, opposed coins": (COINS, OpposedCoins(), bg.BestGroup(TWO, epsilon=0.1), EDGE),
    "edge of epsilon, beta law": (RANGE, bg.laws.Beta(0.1), bg.BestGroup(TWO, epsilon=0.1), EDGE),
    "near tie, normal": (NORMAL, bg.laws.Normal(0.3), bg.BestGroup([1]), ONE),
    "three dims, normal": (
        NORMAL,
        bg.laws.Normal(0.3),
        bg.BestGroup([1, 1, 1]),
        [[[0.5, 0.5, 0.5]], [[0.35, 0.45, 0.5]], [[0.45, 0.4, 0.5]]],
    ),
    "near tie of two arms with one, one normal draw for both dims": (
        NORMAL,
        SharedNoise(),
        bg.BestGroup(TWO),
        SPLIT,
    ),
    "edge of epsilon, one normal draw for both dims": (
        NORMAL,
        SharedNoise(),
        bg.BestGroup(TWO, epsilon=0.1),
        EDGE,
    ),
    "edge of epsilon, opposed normal values": (
        NORMAL,
        OpposedNoise(),
        bg.BestGroup(TWO, epsilon=0.1),
        EDGE,
    ),
    "rare losses": (RANGE, RareLosses(), bg.BestGroup([1]), [[[0.70], [0.5]], [[0.68], [0.69]]]),
    "rare prizes": (RANGE, RarePrizes(), bg.BestGroup([1]), [[[0.05]], [[0.02], [0.02], [0.02]]]),
    "uneven weights": (
        RANGE,
        SharedCoin(),
        bg.BestGroup([5, 1], epsilon=0.02),
        [[[0.6, 0.1], [0.1, 0.9]], [[0.58, 0.7], [0.5, 0.5]]],
    ),
}


def count(label, noise, law, goal, means, delta):
    """Return the lower end of the interval of the share of runs with a wrong decision."""
    instance = bg.Instance(means, law=law, noise=noise)
    sim = bg.simulate(instance, goal, "adaptive", delta, RUNS, 4, max_pulls=CAP, progress=False)
    interval = binomtest(sim.errors, sim.runs).proportion_ci(0.999, "exact")
    decided = int((sim.status != 0).any(axis=1).sum())
    print(
        f"best group by bets, {label}: {sim.errors} errors in {sim.runs} runs (99.9 % interval "
        f"{interval.low:.5f} to {interval.high:.5f}, delta {delta}), something decided in "
        f"{decided}, ended in {int(sim.finished.sum())}, mean pulls {sim.pulls.mean():,.0f}"
    )
    assert decided > RUNS / 50, "hardly anything is decided, so hardly anything can be wrong"
    return interval.low


@pytest.mark.parametrize("delta", [0.3, 0.05])
@pytest.mark.parametrize("attack", ATTACKS)
def test_errors_of_the_best_group_by_bets(attack, delta):
    noise, law, goal, means = ATTACKS[attack]
    assert count(attack, noise, law, goal, means, delta) <= delta


def test_a_scale_that_is_false_is_caught_by_this_count():
    """The count sees errors where there are some: coins do not have scale .02."""
    low = count(
        "a false scale", bg.SubGaussian(0.02), bg.laws.Bernoulli(), bg.BestGroup([1]), ONE, 0.3
    )
    assert low > 0.3


def test_skewed_values_are_not_normal_and_are_caught_by_this_count():
    """The count sees errors where the assumption fails: a mean that rests on a few pulls."""
    means = [[[0.45]], [[0.5]]]
    assert count("skewed", NORMAL, RareRuin(), bg.BestGroup([1]), means, 0.3) > 0.3

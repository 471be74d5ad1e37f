"""The best group by bets, claim by claim: no means of the null have less evidence than the level."""

import math

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.best.algorithm import AdaptiveLinear
from bestgroup.algorithms.protocol import Setting
from bestgroup.drivers.bodies import bodies
from bestgroup.inference.certificate.best_by_bets import find_behind_by_bets
from bestgroup.inference.certificate.best_group import kept
from bestgroup.inference.confidence_sequences.boxes import take_values
from bestgroup.inference.tally import empty_tally
from reference.bets_naive import Claim, least_evidence, selections


def draw(rng, mean, n, coins):
    """Return n values [n, D] with these means, dims depending on each other."""
    shared = rng.random((n, 1))
    x = np.where(rng.random((n, len(mean))) < 0.5, shared, rng.random((n, len(mean))))
    if coins:
        return (x < mean).astype(float)
    return np.clip(mean + 0.3 * (x - 0.5), 0.0, 1.0)


def random_case(rng):
    """Return sizes, weights, slack, noise, means and whether dims are taken to be independent."""
    D, coins = int(rng.integers(1, 4)), rng.random() < 0.5
    sizes = rng.integers(1, 3, size=int(rng.integers(2, 4))).tolist()
    dependence = "independent" if rng.random() < 0.3 else "arbitrary"
    noise = (
        bg.Bernoulli(dependence=dependence) if coins else bg.Bounded(0, 1, dependence=dependence)
    )
    means = [rng.uniform(0.2, 0.6, size=(size, D)) for size in sizes]
    means[0] += 0.3
    goal = bg.BestGroup(rng.choice([0.5, 1.0, 2.0], size=D).tolist(), float(rng.choice([0, 0.05])))
    return goal, noise, means, coins


def largest_bets(values, lead, coins):
    """Return the largest legal bets on a leader, from its values before it was named."""
    found = []
    for d, arm in enumerate(lead):
        x = values[arm][:, d]
        n, mean = len(x), x.mean()
        p = (x.sum() + 1) / (n + 2)
        error = math.sqrt(p * (1 - p) / n) if coins else math.sqrt(n * n * x.var() / n + 0.01) / n
        found.append(0.95 / (mean + error))
    return found


def check_run(seed, compiled):
    """Run `adaptive` and check every group that goes out; returns how many did."""
    rng = np.random.default_rng([5, seed])
    goal, noise, means, coins = random_case(rng)
    instance = bg.Instance(means, noise=noise, law=bg.laws.Bernoulli())
    setting = Setting.for_instance(instance, goal, 0.1)
    algorithm = AdaptiveLinear(0.05)
    rule, shape = algorithm.rule(setting), instance.shape
    assert rule.bets
    state, keep = algorithm.init(rule), algorithm.statistics(setting)
    assert (len(keep.weights) > 0) == (shape.dims > 1)
    tally = empty_tally(shape.groups, shape.arms, shape.dims, keep.start, shape.dims > 1)
    plan, step = bodies(algorithm, rule, compiled)
    seen = [[np.zeros((0, shape.dims)) for _ in range(size)] for size in shape.sizes]
    named, before, checked, leader = 0, None, 0, -1
    while state.answer[0] < 0 and sum(len(x) for row in seen for x in row) < 40_000:
        pulls = plan(state, tally, rule)
        for i, j in np.argwhere(pulls):
            new = draw(rng, means[i][j], int(pulls[i, j]), coins)
            take_values(keep, tally, i, j, new)
            seen[i][j] = np.concatenate([seen[i][j], new])
        out = state.out.copy()
        state = step(state, tally, rule)
        if state.named[0] != named:
            named, before = int(state.named[0]), [[len(x) for x in row] for row in seen]
            if goal.epsilon and state.leader[0] != leader:  # groups come back with another group
                out[:] = False
            leader = int(state.leader[0])
        for k in np.flatnonzero(state.out & ~out):
            check_claim(rng, state, seen, before, goal, noise, named, int(k), coins)
            checked += 1
    return checked


def check_claim(rng, state, seen, before, goal, noise, named, k, coins):
    i, lead = int(state.leader[0]), state.lead.tolist()
    old = [x[:n] for x, n in zip(seen[i], before[i], strict=True)]
    new = [x[n:] for x, n in zip(seen[i], before[i], strict=True)]
    level = math.log(named * (named + 1) / 0.1)
    heft = np.array(goal.weights)
    for rival in selections(len(seen[k]), len(heft)):
        claim = Claim(
            new,
            lead,
            seen[k],
            list(rival),
            heft,
            goal.epsilon * heft.sum(),
            noise.dependence == "independent",
            largest_bets(old, lead, coins),
            largest_bets([x @ heft[:, None] / heft.sum() for x in old], lead[:1], False)[0],
        )
        assert least_evidence(claim, rng) >= level - 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_no_claim_of_a_run_has_less_evidence_than_its_level(seed):
    assert check_run(seed, compiled=True) >= 1


@pytest.mark.verify
def test_claims_of_thousands_of_runs():
    assert sum(check_run(seed, compiled=True) for seed in range(10, 2010)) > 2000


def test_nothing_is_certified_with_less_evidence_than_its_level():
    assert sum(check_certificate(seed, 5.0) for seed in range(12)) >= 6


@pytest.mark.verify
def test_certificates_of_thousands_of_tables():
    assert sum(check_certificate(seed, 5.0) for seed in range(10, 2010)) > 1000


def check_certificate(seed, level):
    rng = np.random.default_rng([6, seed])
    goal, noise, means, coins = random_case(rng)
    shape = bg.Instance(means, noise=noise, law=bg.laws.Bernoulli()).shape
    rule = kept(shape, goal, noise, 0.1)
    summed = len(rule.weights) > 0
    assert summed == (shape.dims > 1)
    tally = empty_tally(shape.groups, shape.arms, shape.dims, rule.start, summed)
    seen = []
    for i, rows in enumerate(means):
        seen.append([draw(rng, mean, int(rng.integers(20, 300)), coins) for mean in rows])
        for j, x in enumerate(seen[-1]):
            take_values(rule, tally, i, j, x)
    heft, slack = np.array(goal.weights), goal.epsilon * sum(goal.weights)
    lead = np.array([np.argmax([x[:, d].mean() for x in seen[0]]) for d in range(shape.dims)])
    behind = np.zeros(shape.groups, np.bool_)
    independent = noise.dependence == "independent"
    find_behind_by_bets.compiled(
        tally, rule, np.array(shape.sizes), heft, independent, 0, lead, slack, level, behind
    )
    for k in np.flatnonzero(behind):
        for rival in selections(shape.sizes[k], shape.dims):
            most = [np.inf] * shape.dims
            claim = Claim(
                seen[0], lead.tolist(), seen[k], list(rival), heft, slack, independent, most, np.inf
            )
            assert least_evidence(claim, rng) >= level - 1e-6
    return int(behind.sum())


@pytest.mark.parametrize("noise", [bg.Bernoulli(), bg.Bounded(0, 1), bg.Gaussian()])
def test_weighted_sums_are_kept_where_they_are_bet_on(noise):
    shape = bg.Instance([[[0.1, 0.2]], [[0.3, 0.4]]], noise=noise, law=bg.laws.Normal(1.0)).shape
    for goal, dims in ((bg.BestGroup([1, 2]), 2), (bg.TopGroups(1, [1, 2]), 0)):
        assert len(kept(shape, goal, noise, 0.1).weights) == dims

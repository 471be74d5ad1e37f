"""Certificates of the best group by joint evidence: against brute force, against boxes, error rates."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest

import bestgroup as bg
from bestgroup.inference.certificate.best_group import find_behind
from bestgroup.inference.certificate.judge import judge
from bestgroup.inference.evalues.linear import PRECISIONS, PRIOR, coefficients
from bestgroup.inference.tally import Tally
from bestgroup.problem.status import Status
from reference.infimum import exact_infimum


def _shape(N, K, D, noise):
    groups = {f"g{i}": [f"a{i}{j}" for j in range(K)] for i in range(N)}
    return bg.Problem(groups, {f"d{d}": "max" for d in range(D)}, noise).shape


def _tally(counts, sums):
    return Tally(counts, sums, np.zeros((*sums.shape, 0)))


def _blocks(group, selection, size):
    """Return (arm, coefficient) for each arm that a selection uses."""
    for arm in dict.fromkeys(selection):
        mask = sum(1 << d for d, s in enumerate(selection) if s == arm)
        yield group, arm, size[mask]


def _evidence(tally, weights, size, i, lead, k, rival, slack):
    """Return log sum_q p_q inf E_q by definition; -inf if the leader is not ahead."""
    means = tally.sums / tally.counts[:, :, None]
    gap = slack + sum(w * means[i, lead[d], d] for d, w in enumerate(weights))
    gap -= sum(w * means[k, rival[d], d] for d, w in enumerate(weights))
    if gap <= 0:
        return -math.inf
    arms = [*_blocks(i, lead, size), *_blocks(k, rival, size)]
    parts = []
    for q, p in zip(PRECISIONS, PRIOR, strict=True):
        n = np.array([float(tally.counts[g, j]) for g, j, _ in arms])
        v = np.array([c for *_, c in arms]) * np.sqrt(n + q) / n
        parts.append(math.log(p) + exact_infimum(gap, v) - 0.5 * np.log(1 + n / q).sum())
    return float(np.logaddexp.reduce(parts))


@pytest.mark.parametrize("dependence", ["arbitrary", "independent"])
@pytest.mark.parametrize("cases", [8, pytest.param(100, marks=pytest.mark.verify)])
def test_nothing_is_proven_that_enumeration_does_not_prove(dependence, cases):
    rng = np.random.default_rng(11)
    seen = {True: 0, False: 0}
    for _ in range(cases):
        K, D = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        noise = bg.SubGaussian(1.0, dependence=dependence)
        counts = rng.integers(30, 400, (2, K))
        means = rng.normal(0, 0.3, (2, K, D))
        means[0] += rng.uniform(0.1, 0.6)
        tally = _tally(counts, means * counts[:, :, None])
        weights = rng.uniform(0.3, 2, D)
        size = coefficients(weights, noise.dependence == "independent")
        lead, slack, level = means[0].argmax(axis=0), float(rng.choice([0.0, 0.3])), 6.0
        behind = np.zeros(2, bool)
        sizes = np.array([K, K])
        find_behind(tally, sizes, weights, size, 0, lead, slack, level, behind)
        least = min(
            _evidence(tally, weights, size, 0, lead.tolist(), 1, rival, slack)
            for rival in itertools.product(range(K), repeat=D)
        )
        seen[bool(behind[1])] += 1
        if behind[1]:
            assert least >= level - 1e-6
        else:
            assert least < level + 1.2  # three of six precisions are pooled
    assert min(seen.values()) >= 2


def test_joint_evidence_takes_fewer_pulls_than_boxes():
    means = np.zeros((3, 2, 3))
    means[0, 0] = 0.4
    goal, needed = bg.BestGroup([1, 1, 1]), {}
    for arms in ("independent", "arbitrary"):
        noise = bg.SubGaussian(1.0, arms=arms)
        for n in np.unique(np.geomspace(10, 5000, 120).astype(int)):
            counts = np.full((3, 2), n)
            shape = _shape(3, 2, 3, noise)
            verdict = judge(_tally(counts, means * n), shape, goal, noise, 0.05)
            if (verdict.status == Status.IN).any():
                assert verdict.status.tolist() == [Status.IN, Status.OUT, Status.OUT]
                assert verdict.pairs == (arms == "independent")
                needed[arms] = n
                break
    assert needed["independent"] < 0.6 * needed["arbitrary"]


def test_epsilon_brings_the_witness_in_where_the_rest_is_not_out():
    noise = bg.SubGaussian(1.0)
    counts = np.full((2, 1), 2000)
    means = np.array([[[0.5, 0.5]], [[0.5, 0.5]]])
    shape = _shape(2, 1, 2, noise)
    tally = _tally(counts, means * 2000)
    assert (judge(tally, shape, bg.BestGroup([1, 1]), noise, 0.05).status == 0).all()
    assert (judge(tally, shape, bg.BestGroup([1, 1], 0.2), noise, 0.05).status != 0).all()


def test_an_arm_never_pulled_leaves_its_group_undecided():
    noise = bg.SubGaussian(1.0)
    counts = np.array([[500, 500], [500, 0]])
    sums = np.zeros((2, 2, 1))
    sums[0] = 500.0
    verdict = judge(_tally(counts, sums), _shape(2, 2, 1, noise), bg.BestGroup([1]), noise, 0.05)
    assert (verdict.status == 0).all()


@pytest.mark.verify
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_error_rate_when_looked_at_again_and_again(epsilon, delta):
    """Group 1 is the best by just more than epsilon; pulls go to whoever seems ahead."""
    rng, runs, wrong = np.random.default_rng(8), 2000, 0
    noise, goal = bg.SubGaussian(1.0), bg.BestGroup([1, 1], epsilon)
    shape = _shape(2, 2, 2, noise)
    means = np.zeros((2, 2, 2))
    means[1] += epsilon + 1e-6
    for _ in range(runs):
        counts = np.full((2, 2), 2)
        sums = means * 2 + rng.normal(0, math.sqrt(2), means.shape)
        for _ in range(40):
            verdict = judge(_tally(counts, sums), shape, goal, noise, delta)
            if verdict.status[0] == Status.IN or verdict.status[1] == Status.OUT:
                wrong += 1
                break
            ahead = (sums / counts[:, :, None]).sum(axis=2)
            for i, j in itertools.product(range(2), range(2)):
                more = 1 + counts[i, j] // (5 if ahead[i, j] == ahead.max() else 10)
                counts[i, j] += more
                sums[i, j] += more * means[i, j] + rng.normal(0, math.sqrt(more), 2)
    print(f"epsilon {epsilon}, delta {delta}: {wrong} wrong certificates in {runs} runs")
    assert binomtest(wrong, runs, delta, "greater").pvalue > 1e-3

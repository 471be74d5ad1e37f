"""Uniform sampling by jumps: the sums of all pulls of an arm are drawn at once."""

from __future__ import annotations

import math

import numpy as np

from bestgroup.algorithms.uniform import Uniform, UniformRule, step
from bestgroup.inference.tally import Tally
from bestgroup.problem.arrays import Bools, Floats, Ints

_KEY = 0x756E6973  # sets these streams apart from any other use of the seed


def run_uniform(
    means: Floats,
    roots: Floats,
    algorithm: Uniform,
    rule: UniformRule,
    keys: tuple[int, int, int],
    max_pulls: int,
) -> tuple[Bools, Ints, Ints, Bools]:
    """Return answers, counts, rounds and which runs finished, for keys (seed, first run, runs).

    The sum of n pulls is n mu + sqrt(n) F z, with F F^T the covariance, `roots` [D, M], and z
    standard normal: the exact law.
    """
    seed, first, runs = keys
    N, K = rule.exists.shape
    answers, counts = np.zeros((runs, N), np.bool_), np.zeros((runs, N, K), np.int64)
    finished = rule.pulls * int(rule.exists.sum()) <= max_pulls
    if finished:
        counts[:] = np.where(rule.exists, rule.pulls, 0)
    for k in range(runs if finished else 0):
        rng = np.random.default_rng([_KEY, seed, first + k])
        noise = rng.standard_normal((N * K, roots.shape[1])) @ roots.T
        sums = rule.pulls * means + math.sqrt(rule.pulls) * noise
        state = algorithm.init(rule)
        step.compiled(state, Tally(counts[k], sums.reshape(N, K, -1)), rule)
        answers[k] = state.accepted
    rounds = np.full(runs, 1 if finished else 0, np.int64)
    return answers, counts, rounds, np.full(runs, finished)

"""Algorithms with one plan: the sums of all pulls of an arm are drawn at once.

The sum of n pulls is n mu + sqrt(n) F z, with F F^T the covariance and z standard normal: the exact
law, so the distance to it is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestgroup.algorithms.protocol import Algorithm
from bestgroup.drivers.bodies import bodies
from bestgroup.drivers.jump.families import Family
from bestgroup.drivers.outcomes import Outcomes, room_for
from bestgroup.drivers.rewards import gaussian
from bestgroup.inference.tally import Tally
from bestgroup.problem.instance import Instance

_KEY = 0x756E6973  # sets these streams apart from any other use of the seed


def _run_at_once(
    instance: Instance, algorithm: Algorithm, rule: Any, keys: tuple[int, int, int, int]
) -> Outcomes:
    """Return runs with keys (seed, first run, runs, largest number of pulls)."""
    (means, root, _), (seed, first, runs, limit) = gaussian(instance), keys
    plan, step = bodies(algorithm, rule, compiled=True)
    N, K = rule.exists.shape
    empty = Tally(np.zeros((N, K), np.int64), np.zeros((N, K, means.shape[1])))
    pulls = plan(algorithm.init(rule), empty, rule)
    finished = int(pulls.sum()) <= limit
    out = room_for(runs, (N, K, means.shape[1]))
    for k in range(runs if finished else 0):
        out.counts[k], out.rounds[k], out.finished[k] = pulls, 1, True
        rng, n = np.random.default_rng([_KEY, seed, first + k]), pulls.reshape(-1, 1)
        noise = rng.standard_normal((N * K, root.shape[1])) @ root.T
        sums = n * means + np.sqrt(n) * noise
        state = step(algorithm.init(rule), Tally(out.counts[k], sums.reshape(N, K, -1)), rule)
        out.answers[k, list(algorithm.answer(state, rule))] = True
        out.rejected[k] = ~out.answers[k]
    return out


FAMILY = Family(at_once=_run_at_once)

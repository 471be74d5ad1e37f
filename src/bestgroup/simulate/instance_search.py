"""Three ways to draw efficiency vectors under a condition: rejection, a Markov chain, splitting.

The unconditional law is that of means iid uniform on [0, 1]: all entries R_i^d are independent and R_i^d is the largest of
K_i uniforms, Beta(K_i, 1). All effort is bounded by counts, never by a clock.
"""

from __future__ import annotations

import numpy as np

from bestgroup.core.arrays import Bools, Floats, Ints
from bestgroup.simulate.instance_limits import lattice_start
from bestgroup.simulate.instance_walk import Region, roam

TRIES_WORK = 20_000_000  # entries of means and of comparisons that rejection may look at
BLOCK_WORK = 1_000_000
WALK_WORK = 2_500_000_000  # entries of comparisons that a walk may look at
SWEEPS, FEWEST_SWEEPS = 5_000, 500
CROWD, CROWD_SWEEPS, LEVELS, LAST_SWEEPS = 128, 2, 120, 500
CLIMB_SWEEPS = 1_000


def reach(efficiency: Floats) -> Floats:
    """Return m_k = max_{j != k} min_d (R_j^d - R_k^d) for tables [..., N, D], as [..., N].

    The sign says whether k is optimal (m_k <= 0), and min_k |m_k| is the least gap; see `instance_walk`.
    """
    first = efficiency[..., 0]
    lead = first[..., None, :] - first[..., :, None]
    for d in range(1, efficiency.shape[-1]):
        entry = efficiency[..., d]
        np.minimum(lead, entry[..., None, :] - entry[..., :, None], out=lead)
    diagonal = np.arange(efficiency.shape[-2])
    lead[..., diagonal, diagonal] = -np.inf
    return lead.max(axis=-1)


def clearance(efficiency: Floats, weights: Floats) -> Floats:
    """Return the lead in R.w of the best over the second-best group, [..., W] for tables [..., N, D]."""
    if efficiency.shape[-2] == 1:
        return np.full((*efficiency.shape[:-2], len(weights)), np.inf)
    values = np.zeros((*efficiency.shape[:-2], len(weights), efficiency.shape[-2]))
    for d in range(efficiency.shape[-1]):
        values += efficiency[..., None, :, d] * weights[:, d, None]
    values.sort(axis=-1)
    return values[..., -1] - values[..., -2]


def in_region(efficiency: Floats, region: Region) -> Bools:
    """Return which tables [..., N, D] lie in the region."""
    reaches = reach(efficiency)
    good = (np.abs(reaches) > region.gap).all(axis=-1)
    if region.pareto:
        good &= (reaches < 0.0).sum(axis=-1) == region.pareto
    if region.margins.size:
        good &= (clearance(efficiency, region.weights) > region.margins).all(axis=-1)
    return good


def reject(rng: np.random.Generator, sizes: Ints, dims: int, region: Region) -> Floats | None:
    """Return means [N, K, D] from the conditional law exactly, or None when the tries are used up.

    Draws all means and keeps the first table in the region. Rows beyond a group's size are 0.
    """
    groups, arms = len(sizes), int(sizes.max())
    work = groups * dims * (groups + arms)
    tries, block = max(1, TRIES_WORK // work), 1
    missing = np.arange(arms) >= sizes[:, None]
    while tries > 0:
        count = min(block, tries)
        means = rng.random((count, groups, arms, dims))
        means[:, missing] = 0.0
        found = np.flatnonzero(in_region(means.max(axis=2), region))
        if found.size:
            return means[found[0]]
        tries -= count
        block = min(4 * block, max(1, BLOCK_WORK // work))
    return None


def sweep_work(groups: int, dims: int) -> int:
    """Return about how many comparisons one sweep of the chain makes."""
    return groups**2 * (2 * groups + 16 * dims + dims**2)


def chain(rng: np.random.Generator, sizes: Ints, dims: int, region: Region) -> Floats | None:
    """Return efficiencies [N, D] from a Markov chain that keeps the conditional law.

    It starts at a constructed table in the region and runs 10,000 sweeps, fewer (at least 1,000) for large problems. None
    when the problem is too large or no start satisfies the margins.
    """
    sweeps = min(SWEEPS, WALK_WORK // sweep_work(len(sizes), dims))
    if sweeps < FEWEST_SWEEPS:
        return None
    table = lattice_start(rng, len(sizes), dims, region.pareto, region.gap)
    table = _climb(rng, table, sizes, region)
    if table is None or not in_region(table, region):
        return None
    roam.compiled(rng, table, sizes, region, sweeps)
    return table


def _climb(rng: np.random.Generator, table: Floats, sizes: Ints, region: Region) -> Floats | None:
    """Return a table in the region, from one that may miss the margins only."""
    for _ in range(CLIMB_SWEEPS):
        share = min(
            1.0, float(np.min(clearance(table, region.weights) / region.margins, initial=2.0))
        )
        if in_region(table, region):
            return table
        # Whatever clearance is reached so far is not given up again, so the walk can only climb.
        ledge = region._replace(margins=region.margins * share * (1.0 - 2.0**-40))
        roam.compiled(rng, table, sizes, ledge, 1)
    return None


def split(rng: np.random.Generator, sizes: Ints, dims: int, region: Region) -> Floats | None:
    """Return efficiencies [N, D] by adaptive splitting, or None when its levels are used up.

    128 tables start from the unconditional law. At each level the better half under the score
    ``min(min_i Delta_i / gap, clearance / margin)`` survives, is copied over the other half, and every table makes 2 sweeps of
    the chain above the level; at score 1 one table is picked and makes 500 more sweeps. The law of the result
    differs from the conditional law by a term of the order of 1/128.
    """
    levels = min(LEVELS, WALK_WORK // (sweep_work(len(sizes), dims) * CROWD * CROWD_SWEEPS))
    missing = np.arange(int(sizes.max())) >= sizes[:, None]
    draws = 1.0 - rng.random((CROWD, *missing.shape, dims))
    draws[:, missing] = 0.0
    crowd = draws.max(axis=2)
    for _ in range(levels):
        scores = _score(crowd, region)
        level = min(1.0, float(np.sort(scores)[CROWD // 2]))
        alive = np.flatnonzero(scores > level)
        if not alive.size:
            return None
        dead = np.flatnonzero(scores <= level)
        crowd[dead] = crowd[alive[rng.integers(alive.size, size=dead.size)]]
        here = region._replace(gap=region.gap * level, margins=region.margins * level)
        for table in crowd:
            roam.compiled(rng, table, sizes, here, CROWD_SWEEPS)
        if level == 1.0:
            chosen = crowd[rng.integers(CROWD)].copy()
            roam.compiled(rng, chosen, sizes, region, LAST_SWEEPS)
            return chosen
    return None


def _score(crowd: Floats, region: Region) -> Floats:
    scores = np.full(len(crowd), np.inf)
    if region.gap > 0.0:
        scores = np.abs(reach(crowd)).min(axis=-1) / region.gap
    if region.margins.size:
        share = (clearance(crowd, region.weights) / region.margins).min(axis=-1)
        scores = np.minimum(scores, share)
    return scores

"""Three ways to draw efficiency vectors under a condition: rejection, a Markov chain, splitting.

The unconditional law is that of means iid uniform on [0, 1]: the entries R_i^d are independent,
and R_i^d is the largest of K_i uniforms, Beta(K_i, 1). All effort is bounded by counts, never by
a clock.
"""

from __future__ import annotations

import numpy as np

from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.random_instances.limits import lattice_start
from bestgroup.problem.random_instances.walk import Region, roam

TRIES_WORK = 20_000_000  # entries of means and of comparisons that rejection may look at
BLOCK_WORK = 1_000_000  # and those of one array
WALK_WORK = 4_000_000_000  # entries of comparisons that a walk may look at
SWEEPS, FEWEST_SWEEPS = 10_000, 500
CROWD = 128
LEVELS, PILOT_LEVELS = 200, 20
LAST_SWEEPS = 500


def reach(efficiency: Floats) -> Floats:
    """Return m_k = max_{j != k} min_d (R_j^d - R_k^d) for tables [..., N, D], as [..., N].

    Group k is optimal when m_k <= 0, and min_k |m_k| is the least gap: see `walk`.
    """
    first = efficiency[..., 0]
    lead = first[..., None, :] - first[..., :, None]
    for d in range(1, efficiency.shape[-1]):
        entry = efficiency[..., d]
        np.minimum(lead, entry[..., None, :] - entry[..., :, None], out=lead)
    diagonal = np.arange(int(efficiency.shape[-2]))
    lead[..., diagonal, diagonal] = -np.inf
    return lead.max(axis=-1)


def clearance(efficiency: Floats, weights: Floats) -> Floats:
    """Return by how much the best R.w exceeds the second best, [..., W] for tables [..., N, D]."""
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
    return np.asarray(good)


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


def walk(rng: np.random.Generator, sizes: Ints, dims: int, region: Region) -> Floats | None:
    """Return efficiencies [N, D] for a given number of optimal groups, or None when out of reach.

    Without weights: a Markov chain that keeps the conditional law, from a constructed table in
    the region, 10,000 sweeps, fewer (at least 500) for large problems. With weights: the same
    chain under the other conditions gives 128 tables along its way, and `climb` takes them to the
    margins.
    """
    sweeps = min(SWEEPS, WALK_WORK // sweep_work(len(sizes), dims))
    if sweeps < FEWEST_SWEEPS:
        return None
    table = lattice_start(rng, len(sizes), dims, region.pareto, region.gap)
    open_region = region._replace(weights=np.zeros((0, dims)), margins=np.zeros(0))
    if not in_region(table, open_region):
        return None
    if not region.margins.size:
        roam.compiled(rng, table, sizes, region, sweeps)
        return table
    crowd = np.empty((CROWD, *table.shape))
    for i in range(CROWD):
        roam.compiled(rng, table, sizes, open_region, sweeps // CROWD)
        crowd[i] = table
    return climb(rng, crowd, sizes, region)


def split(rng: np.random.Generator, sizes: Ints, dims: int, region: Region) -> Floats | None:
    """Return efficiencies [N, D] for any number of optimal groups, or None when out of reach.

    `climb` takes 128 tables from the unconditional law to the region.
    """
    missing = np.arange(int(sizes.max())) >= sizes[:, None]
    means = 1.0 - rng.random((CROWD, *missing.shape, dims))
    means[:, missing] = 0.0
    return climb(rng, means.max(axis=2), sizes, region)


def climb(rng: np.random.Generator, crowd: Floats, sizes: Ints, region: Region) -> Floats | None:
    """Return one table of the region by adaptive splitting of a crowd, or None when out of reach.

    A level is a share of the margins and, where the number of optimal groups is free, of the gap.
    Each round takes the median share in the crowd as the level, copies random tables above it
    over those that are not, and moves every table by one sweep of the chain above the level. At
    level 1 one table is picked and moves 500 sweeps more.
    """
    _, groups, dims = crowd.shape
    rounds = min(LEVELS, WALK_WORK // (sweep_work(groups, dims) * CROWD))
    for done in range(rounds):
        shares = _shares(crowd, region)
        level = min(1.0, float(np.sort(shares)[CROWD // 2]))
        above = np.flatnonzero(shares > level)
        # The level grows about in proportion to the rounds: what will not arrive is not tried.
        if not above.size or (done >= PILOT_LEVELS and level * rounds < done):
            return None
        rest = np.flatnonzero(shares <= level)
        crowd[rest] = crowd[above[rng.integers(above.size, size=rest.size)]]
        here = region._replace(margins=region.margins * level)
        if not region.pareto:
            here = here._replace(gap=region.gap * level)
        for table in crowd:
            roam.compiled(rng, table, sizes, here, 1)
        if level == 1.0:
            chosen = crowd[rng.integers(CROWD)].copy()
            roam.compiled(rng, chosen, sizes, region, LAST_SWEEPS)
            return chosen
    return None


def sweep_work(groups: int, dims: int) -> int:
    """Return about how many comparisons one sweep of the chain makes."""
    return groups**2 * (2 * groups + 16 * dims + dims**2)


def _shares(crowd: Floats, region: Region) -> Floats:
    """Return the least share of the gap and of the margins that each table has."""
    shares = np.full(len(crowd), np.inf)
    if region.gap > 0.0:
        shares = np.abs(reach(crowd)).min(axis=-1) / region.gap
    if region.margins.size:
        margin = (clearance(crowd, region.weights) / region.margins).min(axis=-1)
        shares = np.minimum(shares, margin)
    return shares

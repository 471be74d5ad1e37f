"""Markov moves on tables of efficiency vectors that keep a conditional law of random instances.

Write ``lead[j, k] = min_d (R_j^d - R_k^d)`` and ``m_k = max_{j != k} lead[j, k]``. Group k is
Pareto optimal exactly when ``m_k <= 0``, and ``min_k Delta_k = min_k |m_k|`` (paper, section 3),
because

- if k is not optimal, ``m_k = Delta_k``: whoever leads k and is not optimal itself is led by an
  optimal group, which leads k by more;
- if k is optimal, ``M(R_k, R_j) = -lead[j, k]``, so the optimal j together give the least term of
  all ``Delta^+``. A j that is not optimal has an optimal i with ``lead[i, j] = Delta_j``; then
  ``lead[i, k] > lead[j, k]`` for i other than k, and ``-lead[j, k] >= Delta_j`` for i = k. So it
  never makes the least |m_k| too small, nor does its term ``M(R_j, R_k) + 2 Delta_j`` ever decide
  the least gap.

So one number a group judges a table, and a move of one group changes one row and column of `lead`.

Only +, -, *, / and comparisons act on the values, so a seed gives the same bits on every machine.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestgroup.compile.kernel import kernel
from bestgroup.problem.arrays import Floats, Ints

# A redraw takes the largest of at most this many uniforms; a ratio makes up for the other arms.
FEW = 12


class Region(NamedTuple):
    """The condition: which tables of efficiency vectors are wanted."""

    gap: float  # every |m_k| is above it
    pareto: int  # number of Pareto-optimal groups, 0: any number
    weights: Floats  # [W, D]
    margins: Floats  # [W]     (R_best - R_i).w is above it for every other group i


class Walk(NamedTuple):
    """The state of a walk."""

    values: Floats  # [D, N]  R, a row for each dim
    sizes: Ints  # [N]     K_i
    lead: Floats  # [N, N]  lead[j, k]; -inf on the diagonal


class Scratch(NamedTuple):
    """What a move of one group needs to know of the others."""

    rest: Floats  # [N]     m_k without the moving group
    best: Floats  # [W]     largest R_k.w of the others
    second: Floats  # [W]     second largest
    trial: Floats  # [D]     the moving group's vector
    up: Floats  # [N]     min over the fixed dims of trial - R_k
    down: Floats  # [N]     min over the fixed dims of R_k - trial


@kernel
def power(base: float, exponent: int) -> float:
    """Return base ** exponent by repeated squaring, for exponent >= 0."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@kernel
def compare(walk: Walk, scratch: Scratch, free: int) -> None:
    """Fill `up` and `down` from every dim of the trial vector but `free` (D: from all)."""
    dims, groups = walk.values.shape
    for k in range(groups):
        scratch.up[k] = math.inf
        scratch.down[k] = math.inf
    for d in range(dims):
        if d == free:
            continue
        value = scratch.trial[d]
        for k in range(groups):
            ahead = value - walk.values[d, k]
            # A comparison in the place of min(): the loop over groups becomes vector code.
            scratch.up[k] = ahead if ahead < scratch.up[k] else scratch.up[k]
            scratch.down[k] = -ahead if -ahead < scratch.down[k] else scratch.down[k]


@kernel
def place(walk: Walk, scratch: Scratch, i: int) -> None:
    """Bring row i and column i of `lead` up to date."""
    dims, groups = walk.values.shape
    for d in range(dims):
        scratch.trial[d] = walk.values[d, i]
    compare(walk, scratch, dims)
    for k in range(groups):
        walk.lead[i, k] = scratch.up[k]
        walk.lead[k, i] = scratch.down[k]
    # A group is no rival of its own.
    walk.lead[i, i] = -math.inf


@kernel
def survey(walk: Walk, region: Region, scratch: Scratch, i: int) -> None:
    """Fill `scratch` with what the groups other than i are among themselves."""
    dims, groups = walk.values.shape
    for k in range(groups):
        scratch.rest[k] = -math.inf
    for j in range(groups):
        if j == i:
            continue
        for k in range(groups):
            ahead = walk.lead[j, k]
            # What the others are among themselves stays while only i moves: once a group, not once
            # a try.
            scratch.rest[k] = ahead if ahead > scratch.rest[k] else scratch.rest[k]
    for w in range(region.margins.size):
        scratch.best[w] = -math.inf
        scratch.second[w] = -math.inf
        for k in range(groups):
            if k == i:
                continue
            value = 0.0
            for d in range(dims):
                value += walk.values[d, k] * region.weights[w, d]
            # The two best in one pass: i will join as a third.
            scratch.second[w] = max(scratch.second[w], min(value, scratch.best[w]))
            scratch.best[w] = max(scratch.best[w], value)
    for d in range(dims):
        scratch.trial[d] = walk.values[d, i]


@kernel
def fits_weights(region: Region, scratch: Scratch) -> bool:
    """Return whether the trial vector leaves one clear winner for every weight vector."""
    for w in range(region.margins.size):
        value = 0.0
        for d in range(scratch.trial.size):
            value += scratch.trial[d] * region.weights[w, d]
        winner = max(value, scratch.best[w])
        runner = max(scratch.second[w], min(value, scratch.best[w]))
        # Not only i may break the margin: its move can bring the two others together.
        if winner - runner <= region.margins[w]:
            return False
    return True


@kernel
def fits(walk: Walk, region: Region, scratch: Scratch, i: int, free: int) -> bool:
    """Return whether group i at the trial vector leaves the region's conditions true."""
    value = scratch.trial[free]
    own = -math.inf
    optimal = 0
    for k in range(walk.sizes.size):
        if k == i:
            continue
        ahead = value - walk.values[free, k]
        reach = max(scratch.rest[k], min(scratch.up[k], ahead))
        # The gap is asked for on both sides: clearly optimal, or clearly dominated.
        if abs(reach) <= region.gap:
            return False
        if reach < 0.0:
            optimal += 1
        own = max(own, min(scratch.down[k], -ahead))
    if abs(own) <= region.gap:
        return False
    if own < 0.0:
        optimal += 1
    # The number of optimal groups is part of the region where it was asked for.
    if region.pareto > 0 and optimal != region.pareto:
        return False
    return fits_weights(region, scratch)


@kernel
def redraw(rng: np.random.Generator, walk: Walk, region: Region, scratch: Scratch, i: int) -> None:
    """Propose a fresh vector for group i: a Metropolis step with an independent proposal."""
    size = walk.sizes[i]
    # The law of the largest of K uniforms concentrates at 1: proposals from fewer are accepted more
    # often.
    few = min(size, FEW)
    ratio = 1.0
    for d in range(scratch.trial.size):
        top = 0.0
        for _ in range(few):
            top = max(top, 1.0 - rng.random())
        scratch.trial[d] = top
        # What the proposal lacks of the target density R^(K - 1), new over old.
        ratio *= power(top / walk.values[d, i], size - few)
    last = scratch.trial.size - 1
    compare(walk, scratch, last)
    # Cheapest test first: `fits` looks at all groups.
    if rng.random() < ratio and fits(walk, region, scratch, i, last):
        for d in range(scratch.trial.size):
            walk.values[d, i] = scratch.trial[d]
    else:
        for d in range(scratch.trial.size):
            scratch.trial[d] = walk.values[d, i]


@kernel
def slide(
    rng: np.random.Generator, walk: Walk, region: Region, scratch: Scratch, at: tuple[int, int]
) -> None:
    """Move one entry by slice sampling, shrinking from all of (0, 1) (Neal 2003, figure 5)."""
    i, d = at
    compare(walk, scratch, d)
    now = walk.values[d, i]
    # The slice: all values whose density is above a random share of that of now.
    height = rng.random()
    low = 0.0
    high = 1.0
    while True:
        value = low + (high - low) * rng.random()
        # Shrunk to a point by rounding: staying is always allowed.
        if not low < value < high:
            scratch.trial[d] = now
            return
        scratch.trial[d] = value
        if power(value / now, walk.sizes[i] - 1) > height and fits(walk, region, scratch, i, d):
            walk.values[d, i] = value
            return
        # Shrinking towards the value of now keeps the law (Neal 2003).
        if value < now:
            low = value
        else:
            high = value


@kernel
def swap(rng: np.random.Generator, walk: Walk, scratch: Scratch, i: int) -> None:
    """Propose that group i and another one exchange vectors; every region is blind to the order."""
    dims, groups = walk.values.shape
    k = int(rng.random() * (groups - 1))
    if k >= i:
        k += 1
    # Only the difference of the sizes matters: equal groups swap freely.
    large, small = (i, k) if walk.sizes[i] >= walk.sizes[k] else (k, i)
    extra = walk.sizes[large] - walk.sizes[small]
    ratio = 1.0
    for d in range(dims):
        ratio *= power(walk.values[d, small] / walk.values[d, large], extra)
    if rng.random() < ratio:
        for d in range(dims):
            kept = walk.values[d, i]
            walk.values[d, i] = walk.values[d, k]
            walk.values[d, k] = kept
        place(walk, scratch, i)
        place(walk, scratch, k)


@kernel
def roam(
    rng: np.random.Generator, efficiency: Floats, sizes: Ints, region: Region, sweeps: int
) -> None:
    """Run `sweeps` sweeps on `efficiency` [N, D] in place.

    A sweep proposes a fresh vector for every group, slides each of its entries, and proposes one
    swap a group. Each move keeps the law with density proportional to ``prod R_i^d ** (K_i - 1)``
    on the region. `efficiency` must lie in the region.
    """
    groups, dims = efficiency.shape
    walk = Walk(np.empty((dims, groups)), sizes, np.empty((groups, groups)))
    scratch = Scratch(
        np.empty(groups),
        np.empty(region.margins.size),
        np.empty(region.margins.size),
        np.empty(dims),
        np.empty(groups),
        np.empty(groups),
    )
    for i in range(groups):
        for d in range(dims):
            walk.values[d, i] = efficiency[i, d]
    for i in range(groups):
        place(walk, scratch, i)
    for _ in range(sweeps):
        for i in range(groups):
            survey(walk, region, scratch, i)
            redraw(rng, walk, region, scratch, i)
            for d in range(dims):
                slide(rng, walk, region, scratch, (i, d))
            # `lead` is kept up to date after each group, since the next one reads it.
            place(walk, scratch, i)
        for i in range(groups):
            swap(rng, walk, scratch, i)
    for i in range(groups):
        for d in range(dims):
            efficiency[i, d] = walk.values[d, i]

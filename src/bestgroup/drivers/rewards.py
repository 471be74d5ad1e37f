"""Rewards as running sums, drawn ahead in blocks and kept until they are used.

The k-th reward of an arm depends on (seed, run, group, arm) alone: not on the algorithm, on the
size of the blocks or on what other arms do. Only dims that will be read are drawn; each has a
stream of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestgroup.compile.kernel import kernel
from bestgroup.drivers.streams import fill_normals, fill_uniforms, seed_stream
from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Bools, Floats, Ints
from bestgroup.problem.instance import Instance
from bestgroup.problem.laws import Bernoulli, FullyDependent, Normal

INDEPENDENT, CORRELATED, SHARED, BERNOULLI, USER = 0, 1, 2, 3, 4

AHEAD = 64  # the longest stretch of pulls that a loop looks ahead
_USER_FIRST, _USER_LAST = 64, 4096  # blocks of a user's law double from the first size to the last


class Source(NamedTuple):
    """How rewards are drawn, with the streams of one run."""

    kind: int
    means: Floats  # [N, K, D]
    scale: Floats  # [D]
    factor: Floats  # [D, D]    for correlated dims
    streams: NDArray[np.uint64]  # [N, K, D, 4]


class Reservoir(NamedTuple):
    """Running sums of pulls `base` + 1, ..., `base` + `filled` of each arm."""

    sums: Floats  # [N, K, D, C]
    base: Ints  # [N, K]
    filled: Ints  # [N, K]
    last: Floats  # [N, K, D]  the sum at `base` + `filled`
    scratch: Floats  # [D, C]


def make_source(instance: Instance, seed: int, run: int) -> Source:
    """Return the rewards of one run of an instance."""
    shape, law = instance.shape, instance.law
    dims = shape.dims
    scale, factor = np.ones(dims), np.eye(dims)
    kind = USER
    if isinstance(law, Normal):
        factor = law.factor(dims)
        scale = law.scales(dims)
        kind = INDEPENDENT if law.cov is None else CORRELATED
    elif isinstance(law, FullyDependent):
        kind, scale = SHARED, law.scales(dims)
    elif isinstance(law, Bernoulli):
        kind = BERNOULLI
    streams = np.zeros((shape.groups, shape.arms, dims, 4), np.uint64)
    if kind != USER:
        seed_streams.compiled(streams, seed, run)
    return Source(kind, np.nan_to_num(instance.padded_means), scale, factor, streams)


def gaussian(instance: Instance) -> tuple[Floats, Floats, bool]:
    """Return the means, [N K, D] padded, a root of the covariance, [D, M], and whether dims depend."""
    dims, law = instance.shape.dims, instance.law
    assert isinstance(law, Normal | FullyDependent)
    means = np.nan_to_num(instance.padded_means).reshape(-1, dims)
    joint = isinstance(law, FullyDependent) or law.cov is not None
    return means, np.ascontiguousarray(law.factor(dims)), joint


def make_reservoir(instance: Instance, kind: int) -> Reservoir:
    """Return an empty reservoir for an instance."""
    N, K, D = instance.shape.groups, instance.shape.arms, instance.shape.dims
    # What is drawn ahead, and the sum before it, which is still read (`make_room`).
    capacity = AHEAD + 1 + (_USER_LAST if kind == USER else 0)
    return Reservoir(
        sums=np.zeros((N, K, D, capacity)),
        base=np.zeros((N, K), np.int64),
        filled=np.zeros((N, K), np.int64),
        last=np.zeros((N, K, D)),
        scratch=np.zeros((D, capacity)),
    )


@kernel
def seed_streams(streams, seed, run):  # type: ignore[no-untyped-def]
    """Set all streams of a run."""
    N, K, D, _ = streams.shape
    for i in range(N):
        for j in range(K):
            for d in range(D):
                # Keyed by run, group, arm and dim: algorithms that pull differently see the same
                # rewards.
                seed_stream(streams[i, j, d], seed, run, i, j, d)


@kernel
def make_room(pool: Reservoir, i: int, j: int, count: int) -> None:
    """Drop what lies before pull `count`, which is still read."""
    drop = count - 1 - pool.base[i, j]
    if drop <= 0:
        return
    keep = pool.filled[i, j] - drop
    for d in range(pool.sums.shape[2]):
        row = pool.sums[i, j, d]
        for k in range(keep):
            # Moved down rather than a ring: readers index by count, without a modulo.
            row[k] = row[k + drop]
    pool.base[i, j] += drop
    pool.filled[i, j] = keep


@kernel
def ensure(
    source: Source, pool: Reservoir, i: int, j: int, count: int, wanted: int, need: Bools
) -> bool:
    """Draw until pull `wanted` of an arm is there; False if only the user's law can do that.

    `count` pulls are consumed. `need` [D] are the dims that will be read, now or later.
    """
    missing = wanted - pool.base[i, j] - pool.filled[i, j]
    if missing <= 0:
        return True
    # Python must draw: the loop comes back and is called again.
    if source.kind == USER:
        return False
    make_room(pool, i, j, count)
    start = pool.filled[i, j]
    if source.kind == INDEPENDENT or source.kind == BERNOULLI:
        _draw_independent(source, pool, i, j, missing, need)
    else:
        _draw_joint(source, pool, i, j, missing)
    D = len(need)
    for d in range(D):
        if need[d]:
            # Cumulative sums in the order of pulls: one order of additions, whatever is drawn at a
            # time.
            total = pool.last[i, j, d]
            row = pool.sums[i, j, d]
            for k in range(missing):
                total += pool.scratch[d, k]
                row[start + k] = total
            pool.last[i, j, d] = total
    pool.filled[i, j] = start + missing
    return True


@kernel
def _draw_independent(source: Source, pool: Reservoir, i: int, j: int, n: int, need: Bools) -> None:
    """Write n rewards of the needed dims to the scratch rows."""
    for d in range(len(need)):
        # It is never read again; the streams of the other dims do not notice.
        if not need[d]:
            continue
        row = pool.scratch[d]
        mean = source.means[i, j, d]
        if source.kind == BERNOULLI:
            fill_uniforms(source.streams[i, j, d], row, n)
            for k in range(n):
                row[k] = 1.0 if row[k] < mean else 0.0
        else:
            fill_normals(source.streams[i, j, d], row, n)
            scale = source.scale[d]
            for k in range(n):
                row[k] = mean + scale * row[k]


@kernel
def _draw_joint(source: Source, pool: Reservoir, i: int, j: int, n: int) -> None:
    """Write n rewards of all dims to the scratch rows, from common noise."""
    D = len(source.scale)
    if source.kind == SHARED:
        fill_normals(source.streams[i, j, 0], pool.scratch[0], n)
        # From the last dim down: row 0 holds the shared noise until it is used up.
        for d in range(D - 1, -1, -1):
            for k in range(n):
                pool.scratch[d, k] = source.means[i, j, d] + source.scale[d] * pool.scratch[0, k]
        return
    z = np.empty(D)
    for d in range(D):
        fill_normals(source.streams[i, j, d], pool.scratch[d], n)
    for k in range(n):
        for d in range(D):
            z[d] = pool.scratch[d, k]
        for d in range(D):
            value = source.means[i, j, d]
            for e in range(D):
                value += source.factor[d, e] * z[e]
            pool.scratch[d, k] = value


class UserLaw:
    """Draws blocks of a user's law; the sizes of the blocks depend on nothing but their order."""

    def __init__(self, instance: Instance, seed: int, run: int) -> None:
        self._instance = instance
        self._key = (seed, run)
        self._rngs: dict[tuple[int, int], np.random.Generator] = {}
        self._sizes: dict[tuple[int, int], int] = {}

    def refill(self, pool: Reservoir, counts: Ints) -> None:
        """Draw a block for every arm that has less than a stretch of unused pulls."""
        unused = pool.base + pool.filled - counts
        for i, size in enumerate(self._instance.shape.sizes):
            for j in range(size):
                if unused[i, j] < AHEAD:
                    self._draw(pool, i, j, int(counts[i, j]))

    def _draw(self, pool: Reservoir, i: int, j: int, count: int) -> None:
        make_room.compiled(pool, i, j, count)
        rng = self._rngs.get((i, j))
        if rng is None:
            entropy = np.random.SeedSequence((*self._key, i, j))
            rng = self._rngs[i, j] = np.random.Generator(np.random.PCG64(entropy))
        n = self._sizes.get((i, j), _USER_FIRST)
        self._sizes[i, j] = min(2 * n, _USER_LAST)
        block = self._check(self._instance.law.sample(rng, self._instance.means[i][j], n), n)
        start = int(pool.filled[i, j])
        sums = np.cumsum(np.vstack([pool.last[i, j][None, :], block]), axis=0)[1:]
        pool.sums[i, j, :, start : start + n] = sums.T
        pool.last[i, j] = sums[-1]
        pool.filled[i, j] = start + n

    def _check(self, block: Any, n: int) -> Floats:
        dims = self._instance.shape.dims
        array = np.asarray(block, dtype=np.float64)
        if array.shape != (n, dims):
            raise InvalidInput(
                f"the law's sample(rng, mean, n) must return an array [n, D] = [{n}, {dims}]; "
                f"got {list(array.shape)}"
            )
        if not np.isfinite(array).all():
            raise InvalidInput("the law's sample(rng, mean, n) returned NaN or infinity")
        return array

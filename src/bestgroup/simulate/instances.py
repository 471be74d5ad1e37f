"""Random instances as in section 5 of the paper, and large ones with few optimal groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bestgroup.core.arrays import Floats, Ints, number, numbers, positive_int, seed_of
from bestgroup.errors import InvalidInput
from bestgroup.simulate.instance_limits import MOST, largest_gap
from bestgroup.simulate.instance_search import chain, reject, split
from bestgroup.simulate.instance_walk import Region

LARGEST_TABLE = 100_000_000


def random_means(
    groups: int,
    arms: int | Sequence[int],
    dims: int,
    pareto: int | None = None,
    min_gap: float = 0.0,
    seed: int = 0,
    weights: Sequence[Any] | None = None,
    linear_gap: float | None = None,
) -> Floats | list[Floats]:
    """Return random means [N, K, D], or a list of N arrays [K_i, D] when `arms` is a sequence.

    The law wanted: all means iid uniform on [0, 1], conditioned on

    - exactly `pareto` Pareto-optimal groups (strict domination; None: any number),
    - min_i Delta_i > `min_gap`, the group gaps of the Pareto problem (paper, section 3), and
    - for every vector w of `weights`, if given: (R_best - R_i).w / ||w||_1 > `linear_gap` for every group i other than
      the best one (paper, section 4); `linear_gap` is `min_gap` by default.

    The law drawn: first plain rejection, a fixed number of tries (40,000,000 / (N D (N + K)), at least one); a
    success has the wanted law exactly. When every try fails:

    - `pareto` given: a Markov chain on the efficiencies whose stationary law is the wanted one, started from a
      constructed table that satisfies the conditions and run for a fixed number of sweeps (10,000; fewer, but at
      least 1,000, above about 50 groups), so the law is the wanted one up to what the chain still
      remembers of its start; close to the largest possible `min_gap` that memory is long.
    - `pareto` None: adaptive splitting with 128 tables, whose law differs from the wanted one by a term of the order of 1/128.

    Either way the means given the efficiencies have the wanted law exactly: in each dim one arm, chosen uniformly, attains
    the maximum and the others are uniform below it. The method depends on the arguments alone, and
    so does the result, on every machine.

    >>> means = random_means(5, 6, 3, pareto=2, min_gap=0.03, seed=1)
    >>> means.shape, int((means.max(axis=1) > 0.9).sum())
    ((5, 6, 3), 6)
    """
    sizes = _read_sizes(groups, arms)
    dims = positive_int(dims, "dims")
    region = _read_region(len(sizes), dims, pareto, min_gap, (weights, linear_gap))
    means = _draw(np.random.Generator(np.random.PCG64(seed_of(seed))), sizes, dims, region)
    return _unpad(means, sizes, isinstance(arms, int | np.integer))


def sparse_means(
    groups: int,
    arms: int | Sequence[int],
    dims: int,
    pareto: int = 10,
    min_gap: float = 0.06,
    seed: int = 0,
) -> Floats | list[Floats]:
    """Return means of a large instance with few Pareto-optimal groups, shaped as `random_means` does.

    Exactly p = min(`pareto`, N) groups are optimal and min_i Delta_i > `min_gap`. The law drawn:

    1. A uniformly random set of p + 1 groups (N if p = N) gets means from `random_means` with p optimal groups and
       the same `min_gap`.
    2. Each other group picks, independently, one optimal vector R_j with R_j^d > `min_gap` in every dim, uniformly among these, and
       a scale s uniform on (0, 1); its arms are iid uniform on the box prod_d [0, s (R_j^d - min_gap)].

    So gaps of the groups that are not optimal spread from `min_gap` to nearly 1, and most are far from the front. Group sizes
    enter step 1 only through the sizes of its p + 1 groups.

    >>> means = sparse_means(1000, 6, 3, seed=0)
    >>> means.shape
    (1000, 6, 3)
    """
    sizes = _read_sizes(groups, arms)
    dims = positive_int(dims, "dims")
    optimal = min(positive_int(pareto, "pareto"), len(sizes))
    core = min(optimal + 1, len(sizes))
    region = _read_region(core, dims, optimal, min_gap, (None, None))
    rng = np.random.Generator(np.random.PCG64(seed_of(seed)))
    order = rng.permutation(len(sizes))
    first = _draw(rng, sizes[order[:core]], dims, region)
    efficiency = first.max(axis=1)
    roofs = efficiency[_is_optimal(efficiency)] - region.gap
    roofs = roofs[(roofs > 0.0).all(axis=1)]
    means = np.zeros((len(sizes), int(sizes.max()), dims))
    means[order[:core], : first.shape[1]] = first
    others = order[core:]
    if others.size:
        roof = roofs[rng.integers(len(roofs), size=others.size)]
        roof = roof * rng.random((others.size, 1))
        means[others] = roof[:, None, :] * rng.random((others.size, *means.shape[1:]))
    return _unpad(means, sizes, isinstance(arms, int | np.integer))


def _is_optimal(efficiency: Floats) -> Any:
    below = (efficiency[:, None, :] < efficiency[None, :, :]).all(axis=2)
    return ~below.any(axis=1)


def _draw(rng: np.random.Generator, sizes: Ints, dims: int, region: Region) -> Floats:
    """Return means [N, K, D] in the region; rows beyond a group's size hold no arm."""
    conditioned = region.gap > 0.0 or region.pareto or region.margins.size
    if not conditioned:
        return rng.random((len(sizes), int(sizes.max()), dims))
    means = reject(rng, sizes, dims, region)
    if means is not None:
        return means
    efficiency = (chain if region.pareto else split)(rng, sizes, dims, region)
    if efficiency is None:
        raise InvalidInput(_too_rare(len(sizes), region))
    return _arms_below(rng, efficiency, sizes)


def _too_rare(groups: int, region: Region) -> str:
    advice = ["lower min_gap" if not region.margins.size else "lower min_gap or linear_gap"]
    if not region.pareto:
        advice.append("give pareto")
    if groups > 30:
        advice.append("take fewer groups or sparse_means")
    return (
        f"no random instance of {groups} groups with these conditions was found, "
        f"they are too rare for the search; {', or '.join(advice)}"
    )


def _arms_below(rng: np.random.Generator, efficiency: Floats, sizes: Ints) -> Floats:
    """Return means [N, K, D] given their maxima: one arm attains each, the others are uniform below."""
    groups, dims = efficiency.shape
    means = efficiency[:, None, :] * rng.random((groups, int(sizes.max()), dims))
    winner = (rng.random((groups, dims)) * sizes[:, None]).astype(np.int64)
    means[np.arange(groups)[:, None], winner, np.arange(dims)] = efficiency
    return means


def _unpad(means: Floats, sizes: Ints, equal: bool) -> Floats | list[Floats]:
    return means if equal else [rows[:size].copy() for rows, size in zip(means, sizes, strict=True)]


def _read_sizes(groups: Any, arms: Any) -> Ints:
    groups = positive_int(groups, "groups")
    if np.ndim(arms) == 0 or isinstance(arms, str):
        sizes = np.full(groups, positive_int(arms, "arms"))
    else:
        if len(arms) != groups:
            raise InvalidInput(
                f"arms must be one number or one for each of the {groups} groups; got {len(arms)}"
            )
        sizes = np.array([positive_int(size, f"arms of group {i}") for i, size in enumerate(arms)])
    return sizes.astype(np.int64)


def _read_region(
    groups: int, dims: int, pareto: Any, min_gap: Any, linear: tuple[Any, Any]
) -> Region:
    gap = number(min_gap, "min_gap")
    if gap < 0.0:
        raise InvalidInput(f"min_gap must be at least 0; got {gap:g}")
    wanted = 0 if pareto is None else positive_int(pareto, "pareto")
    _check_possible(groups, dims, wanted, gap)
    vectors, margins = _read_linear(groups, dims, gap, linear)
    if groups > MOST and (wanted or gap or margins.size):
        raise InvalidInput(
            f"conditions on random instances need at most {MOST} groups; got {groups}; take sparse_means"
        )
    return Region(gap, wanted, vectors, margins)


def _check_possible(groups: int, dims: int, pareto: int, gap: float) -> None:
    if pareto > groups:
        raise InvalidInput(f"pareto must be at most the number of groups, {groups}; got {pareto}")
    limit = largest_gap(groups, dims, pareto or 1)
    if limit == 0.0:
        raise InvalidInput(
            f"pareto must be 1 in one dim, where ties have probability 0; got {pareto}"
        )
    if gap >= limit:
        what = f" with {pareto} Pareto-optimal" if pareto else ""
        raise InvalidInput(
            f"min_gap must be below {limit:.6g} for {groups} groups{what} in {dims} dims, "
            f"as means lie in [0, 1]; got {gap:g}"
        )


def _read_linear(groups: int, dims: int, gap: float, linear: tuple[Any, Any]) -> Any:
    weights, linear_gap = linear
    if weights is None:
        if linear_gap is not None:
            raise InvalidInput("linear_gap needs weights; give the weight vectors that it is for")
        return np.zeros((0, dims)), np.zeros(0)
    vectors = np.atleast_2d(numbers(weights, "weights"))
    if vectors.ndim != 2 or vectors.shape[1] != dims:
        raise InvalidInput(
            f"weights must be vectors of {dims} numbers; got shape {list(np.shape(weights))}"
        )
    if not (vectors > 0.0).all():
        raise InvalidInput(f"weights must be above 0; got {vectors.min():g}")
    least = gap if linear_gap is None else number(linear_gap, "linear_gap")
    if least < 0.0 or (least >= 1.0 and groups > 1):
        raise InvalidInput(f"linear_gap must be at least 0 and below 1; got {least:g}")
    return vectors, least * vectors.sum(axis=1)

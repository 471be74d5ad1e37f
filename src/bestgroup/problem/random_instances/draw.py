"""Random instances as in section 5 of the paper, and large ones with few optimal groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Floats, Ints, is_list, number, numbers, positive_int, seed_of
from bestgroup.problem.random_instances.limits import MOST, largest_gap
from bestgroup.problem.random_instances.search import reach, reject, split, walk
from bestgroup.problem.random_instances.walk import Region

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
    - min_i Delta_i > `min_gap` for the group gaps of the Pareto problem (paper, section 3), and,
    - if `weights` (one vector or several) is given, (R_best - R_i).w / ||w||_1 > `linear_gap` for
      each of them and every group i but the best (paper, section 4); `linear_gap` is `min_gap` by
      default.

    The law drawn: first plain rejection, 20,000,000 / (N D (N + K)) tries with K the largest
    group; a success has the wanted law exactly. When all tries fail, the efficiencies R [N, D]
    come from

    - `pareto` given, no weights: a Markov chain with the wanted law as its stationary law,
      started from a constructed table that meets the conditions and run for 10,000 sweeps (for
      large problems 4e9 / (N^2 (2 N + 16 D + D^2)), at least 500). It is the wanted law up to what
      the chain remembers of its start: nothing that could be measured at gaps like the paper's,
      more close to the largest possible `min_gap`, where the chain is slow.
    - `pareto` given, with weights: 128 tables along such a chain without the weights, taken to
      `linear_gap` by adaptive splitting.
    - `pareto` None: 128 unconditioned tables, taken to the gaps by adaptive splitting.

    Splitting with 128 tables has the wanted law up to a term of the order of 1/128. In all three
    cases the means given R have the wanted law exactly: in each dim one arm, chosen uniformly,
    attains R_i^d and the others are uniform below it. Which way is taken, and the result, depend
    on the arguments alone; the effort is bounded by counts, and what it does not reach is
    refused.

    >>> from bestgroup.theory.dominance import pareto_groups
    >>> means = random_means(5, 6, 3, pareto=2, min_gap=0.03, seed=1)
    >>> means.shape, int(pareto_groups(means.max(axis=1)).sum())
    ((5, 6, 3), 2)
    """
    dims = positive_int(dims, "dims")
    sizes = _read_sizes(groups, arms, dims)
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
    """Return means of a large instance with few optimal groups, in the shape of `random_means`.

    Exactly p = min(`pareto`, N) groups are optimal, and min_i Delta_i > `min_gap`. The law drawn:

    1. p + 1 groups (all, if p = N), a set chosen uniformly, get means as from `random_means` for
       these groups alone, with p optimal ones and the same `min_gap`.
    2. Each other group picks, independently, one optimal R_j uniformly among those above
       `min_gap` in every dim, and a scale s uniform on [0, 1); its arms are iid uniform on the
       box prod_d [0, s (R_j^d - min_gap)].

    Step 2 leaves the optimal groups and their gaps above `min_gap` as they are. The gaps of the
    other groups spread from `min_gap` to nearly 1, so most groups are far from the front.

    >>> means = sparse_means(1000, 6, 3, seed=0)
    >>> means.shape
    (1000, 6, 3)
    """
    dims = positive_int(dims, "dims")
    sizes = _read_sizes(groups, arms, dims)
    optimal = min(positive_int(pareto, "pareto"), len(sizes))
    core = min(optimal + 1, len(sizes))
    region = _read_region(core, dims, optimal, min_gap, (None, None))
    rng = np.random.Generator(np.random.PCG64(seed_of(seed)))
    order = rng.permutation(len(sizes))
    first = _draw(rng, sizes[order[:core]], dims, region)
    efficiency = first.max(axis=1)
    roofs = efficiency[reach(efficiency) < 0.0] - region.gap
    roofs = roofs[(roofs > 0.0).all(axis=1)]
    means = np.zeros((len(sizes), int(sizes.max()), dims))
    means[order[:core], : first.shape[1]] = first
    others = order[core:]
    if others.size:
        roof = roofs[rng.integers(len(roofs), size=others.size)]
        roof = roof * rng.random((others.size, 1))
        means[others] = roof[:, None, :] * rng.random((others.size, *means.shape[1:]))
    return _unpad(means, sizes, isinstance(arms, int | np.integer))


def _draw(rng: np.random.Generator, sizes: Ints, dims: int, region: Region) -> Floats:
    """Return means [N, K, D] in the region; rows beyond a group's size hold no arm."""
    if not (region.pareto or region.gap > 0.0 or region.margins.size):
        return rng.random((len(sizes), int(sizes.max()), dims))
    means = reject(rng, sizes, dims, region)
    if means is not None:
        return means
    efficiency = (walk if region.pareto else split)(rng, sizes, dims, region)
    if efficiency is None:
        raise InvalidInput(_too_rare(len(sizes), region))
    return _arms_below(rng, efficiency, sizes)


def _too_rare(groups: int, region: Region) -> str:
    advice = "lower min_gap or linear_gap" if region.margins.size else "lower min_gap"
    if not region.pareto:
        advice += ", or give pareto"
    if groups > 30:
        advice += ", or take fewer groups, or sparse_means"
    return f"these conditions are too rare to be found among random {groups} groups; {advice}"


def _arms_below(rng: np.random.Generator, efficiency: Floats, sizes: Ints) -> Floats:
    """Return means [N, K, D] given their maxima: one arm attains each, the others lie below."""
    groups, dims = efficiency.shape
    means = efficiency[:, None, :] * rng.random((groups, int(sizes.max()), dims))
    winner = (rng.random((groups, dims)) * sizes[:, None]).astype(np.int64)
    means[np.arange(groups)[:, None], winner, np.arange(dims)] = efficiency
    return means


def _unpad(means: Floats, sizes: Ints, equal: bool) -> Floats | list[Floats]:
    return means if equal else [rows[:size].copy() for rows, size in zip(means, sizes, strict=True)]


def _read_sizes(groups: Any, arms: Any, dims: int) -> Ints:
    groups = positive_int(groups, "groups")
    if isinstance(arms, np.ndarray):
        arms = cast(Ints, arms).tolist()
    if is_list(arms):
        if np.shape(arms)[:1] != (groups,):
            raise InvalidInput(
                f"arms must be one number or one for each of the {groups} groups; got {len(arms)}"
            )
        sizes = [positive_int(size, f"arms of group {i}") for i, size in enumerate(arms)]
    else:
        sizes = [positive_int(arms, "arms")]
    if groups * max(sizes) * dims > LARGEST_TABLE:
        raise InvalidInput(
            f"groups x arms x dims must be at most {LARGEST_TABLE}; "
            f"got {groups * max(sizes) * dims}"
        )
    return np.broadcast_to(np.array(sizes, dtype=np.int64), groups).copy()


def _read_region(
    groups: int, dims: int, pareto: Any, min_gap: Any, linear: tuple[Any, Any]
) -> Region:
    gap = number(min_gap, "min_gap")
    if gap < 0.0:
        raise InvalidInput(f"min_gap must be at least 0; got {gap:g}")
    wanted = 0 if pareto is None else positive_int(pareto, "pareto")
    vectors, margins = _read_linear(groups, dims, gap, linear)
    if wanted > groups:
        raise InvalidInput(f"pareto must be at most the number of groups, {groups}; got {wanted}")
    if groups > MOST and (wanted or gap > 0.0 or margins.size):
        raise InvalidInput(
            f"conditions on random groups need at most {MOST} of them; got {groups}; "
            f"sparse_means gives larger instances with few Pareto-optimal groups"
        )
    _check_possible(groups, dims, wanted, gap)
    return Region(gap, wanted, vectors, margins)


def _check_possible(groups: int, dims: int, pareto: int, gap: float) -> None:
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
    # A clear winner has probability 1, so a gap of 0 is no condition.
    vectors = vectors if least > 0.0 else vectors[:0]
    return vectors, least * vectors.sum(axis=1)

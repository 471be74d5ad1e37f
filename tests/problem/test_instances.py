"""Random instances: their conditions, the law that each method draws, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.sparse.csgraph import maximum_bipartite_matching

from bestgroup.errors import InvalidInput
from bestgroup.problem.random_instances import search
from bestgroup.problem.random_instances.draw import _arms_below, random_means, sparse_means
from bestgroup.problem.random_instances.limits import largest_gap, lattice_start, levels_needed
from bestgroup.problem.random_instances.walk import Region, roam
from bestgroup.theory.gaps import group_gaps, weighted_gaps
from reference import definitions

PAPER_WEIGHTS = [(0.1, 0.1, 1), (1, 1, 0.1), (0.1, 1, 1), (1, 1, 1), (1, 2, 3)]


def region(gap: float, pareto: int, weights: Sequence[Any] = (), margin: float = 0.0) -> Region:
    vectors = np.array(weights, dtype=float) if len(weights) else np.zeros((0, 1))
    return Region(gap, pareto, vectors, margin * vectors.sum(axis=1))


def check(means: Any, pareto: int | None, gap: float) -> np.ndarray:
    R = np.array([rows.max(axis=0) for rows in means])
    assert all(((rows >= 0) & (rows <= 1)).all() for rows in means)
    delta, plus, _ = group_gaps(R)
    assert delta.min() > gap
    assert pareto is None or (~np.isnan(plus)).sum() == pareto
    return R


# The least gap and the optimal groups from one number a group


@pytest.mark.parametrize("dims", [1, 2, 3, 5])
def test_reach_gives_least_gap_and_optimal_groups_of_the_definitions(dims):
    rng = np.random.default_rng(dims)
    for _ in range(200):
        R = rng.random((rng.integers(1, 9), dims))
        m = search.reach(R)
        gaps = definitions.pareto_gaps([[row] for row in R.tolist()])
        assert set(np.flatnonzero(m <= 0).tolist()) == definitions.pareto(R.tolist())
        assert np.abs(m).min() == min(gaps.group) == group_gaps(R)[0].min()


def test_clearance_is_the_least_weighted_gap():
    R = np.random.default_rng(0).random((6, 3))
    weights = np.array(PAPER_WEIGHTS)
    expected = [weighted_gaps(R, w).min() * w.sum() for w in weights]
    assert search.clearance(R, weights) == pytest.approx(expected)
    assert np.isinf(search.clearance(R[:1], weights)).all()


# Which gaps are possible


@pytest.mark.parametrize(("levels", "dims"), [(2, 2), (2, 5), (3, 2), (3, 3), (4, 3), (3, 4)])
def test_levels_needed_agrees_with_dilworth(levels, dims):
    points = list(itertools.product(range(levels), repeat=dims))
    below = [
        [a != b and all(x <= y for x, y in zip(a, b, strict=True)) for b in points] for a in points
    ]
    matching = maximum_bipartite_matching(sparse.csr_matrix(np.array(below)))
    width = len(points) - int((matching >= 0).sum())
    assert levels_needed(width, dims, width) <= levels < levels_needed(width + 1, dims, width + 1)


def test_largest_gaps_known_by_hand():
    assert largest_gap(1, 3, 1) == np.inf
    assert largest_gap(2, 3, 1) == largest_gap(2, 2, 2) == 1.0
    assert largest_gap(3, 2, 2) == 0.5  # one more group needs room below an optimal one
    assert largest_gap(30, 2, 30) == 1 / 29
    assert largest_gap(30, 40, 29) == 0.5
    assert largest_gap(3, 1, 2) == 0.0


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_start_lies_in_the_region_up_to_the_largest_gap(data):
    groups = data.draw(st.integers(2, 40))
    pareto = data.draw(st.integers(1, groups))
    dims = data.draw(st.integers(2 if pareto > 1 else 1, 16))
    share = data.draw(st.floats(0.0, 1.0 - 1e-9))
    gap = share * largest_gap(groups, dims, pareto)
    table = lattice_start(np.random.default_rng(0), groups, dims, pareto, gap)
    assert search.in_region(table, region(gap, pareto))
    assert (table > 0).all() and (table <= 1).all()


# The conditions hold


@pytest.mark.parametrize(
    ("groups", "arms", "dims", "pareto", "gap"),
    [
        (1, 3, 2, 1, 0.5),
        (5, 2, 3, 2, 0.03),
        (5, 10, 3, 2, 0.03),
        (5, 6, 3, 2, 0.03),
        (10, 6, 3, 3, 0.03),
        (15, 6, 3, 5, 0.03),
        (20, 6, 3, 6, 0.03),
        (30, 10, 5, 9, 0.03),
        (30, 10, 5, 28, 0.05),
        (30, 10, 2, 15, 0.03),
        (30, 10, 2, 30, 0.0344),
        (30, 10, 5, 30, 0.1),
        (30, 10, 5, 1, 0.1),
        (8, 1, 4, 8, 0.1),
        (6, 40, 2, 1, 0.2),
        (12, 4, 1, 1, 0.05),
        (20, 6, 3, None, 0.03),
        (30, 10, 3, None, 0.0),
    ],
)
def test_conditions_hold(groups, arms, dims, pareto, gap):
    means = random_means(groups, arms, dims, pareto=pareto, min_gap=gap, seed=7)
    assert isinstance(means, np.ndarray) and means.shape == (groups, arms, dims)
    check(means, pareto, gap)


@pytest.mark.parametrize(("pareto", "gap"), [(3, 0.02), (9, 0.01), (1, 0.3), (None, 0.05)])
def test_conditions_hold_for_unequal_groups(pareto, gap):
    sizes = [1, 2, 3, 4, 5, 6, 7, 8, 30]
    means = random_means(9, sizes, 3, pareto=pareto, min_gap=gap, seed=1)
    assert isinstance(means, list) and [rows.shape for rows in means] == [(k, 3) for k in sizes]
    check(means, pareto, gap)


@pytest.mark.parametrize(("groups", "arms", "pareto"), [(5, 5, 2), (20, 6, 6), (12, 6, None)])
def test_conditions_hold_for_the_papers_weights(groups, arms, pareto):
    means = random_means(groups, arms, 3, pareto, 0.03, seed=2, weights=PAPER_WEIGHTS)
    R = check(means, pareto, 0.03)
    assert all(weighted_gaps(R, w).min() > 0.03 for w in PAPER_WEIGHTS)


def test_linear_gap_stands_by_itself_and_zero_is_no_condition():
    means = random_means(6, 3, 2, seed=4, weights=[1, 3], linear_gap=0.2)
    assert weighted_gaps(np.asarray(means).max(axis=1), [1, 3]).min() > 0.2
    free = random_means(6, 3, 2, seed=4, weights=[1, 3], linear_gap=0.0)
    assert np.array_equal(free, random_means(6, 3, 2, seed=4))


# The laws. Every comparison is at level 1e-4, on fixed seeds.


def statistics(R: np.ndarray) -> list[float]:
    m = search.reach(R)
    front = R[m < 0]
    return [
        np.abs(m).min(),
        R.mean(),
        front.mean(),
        front.min(),
        R.min(),
        R[:, 0].std(),
        len(front),
    ]


def same_law(first: np.ndarray, second: np.ndarray) -> None:
    """Compare two samples of tables [n, N, D] by statistics, by each group, by who is optimal."""
    for a, b in zip(
        *(np.array([statistics(R) for R in x]).T for x in (first, second)), strict=True
    ):
        assert stats.ks_2samp(a, b).pvalue > 1e-4
    for i in range(first.shape[1]):
        assert stats.ks_2samp(first[:, i, 0], second[:, i, 0]).pvalue > 1e-4
        table = []
        for tables in (first, second):
            yes = int((search.reach(tables)[:, i] < 0).sum())
            table.append([yes, len(tables) - yes])
        assert stats.fisher_exact(table).pvalue > 1e-4


def conditioned(seed: int, sizes: Any, dims: int, where: Region, n: int) -> np.ndarray:
    """Draw n tables by the definition of the law: uniform means, kept if the conditions hold."""
    rng = np.random.default_rng(seed)
    found: list[np.ndarray] = []
    while sum(map(len, found)) < n:
        R = np.stack([rng.random((20_000, k, dims)).max(axis=1) for k in sizes], axis=1)
        found.append(R[search.in_region(R, where)])
    return np.concatenate(found)[:n]


CHAINED = [
    ([6] * 5, 3, region(0.03, 2)),
    ([1] * 6, 2, region(0.02, 3)),
    ([4] * 4, 3, region(0.05, 4)),
    ([1, 2, 5, 40, 60], 2, region(0.01, 2)),
]
SPLIT = [
    (6, search.split, region(0.05, 0)),
    (5, search.walk, region(0.02, 2, [(1, 1, 1), (1, 2, 3)], 0.05)),
    (5, search.split, region(0.02, 0, [(1, 1, 1), (1, 2, 3)], 0.05)),
]


@pytest.mark.parametrize(("sizes", "dims", "where"), CHAINED)
def test_chain_keeps_the_conditional_law(sizes, dims, where):
    exact = conditioned(1, sizes, dims, where, 2000)
    rng = np.random.default_rng(2)
    table = lattice_start(rng, len(sizes), dims, where.pareto, where.gap)
    chain = np.empty((2000, *table.shape))
    for i in range(len(chain)):
        roam.compiled(rng, table, np.array(sizes), where, 40)
        chain[i] = table
    same_law(exact, chain)


def drawn(method: Any, n: int, *arguments: Any) -> np.ndarray:
    return np.array([method(np.random.default_rng(i), *arguments) for i in range(n)])


@pytest.mark.verify
@pytest.mark.parametrize(("sizes", "dims", "where"), CHAINED)
def test_chain_reaches_the_conditional_law_from_its_start(monkeypatch, sizes, dims, where):
    monkeypatch.setattr(search, "SWEEPS", 500)
    chain = drawn(search.walk, 2000, np.array(sizes), dims, where)
    same_law(conditioned(3, sizes, dims, where, 20_000), chain)


@pytest.mark.parametrize("n", [60, pytest.param(600, marks=pytest.mark.verify)])
@pytest.mark.parametrize(("groups", "method", "where"), SPLIT)
def test_splitting_reaches_the_conditional_law(monkeypatch, groups, method, where, n):
    monkeypatch.setattr(search, "LAST_SWEEPS", 50)
    monkeypatch.setattr(search, "SWEEPS", 1000)
    split = drawn(method, n, np.full(groups, 4), 3, where)
    same_law(conditioned(4, [4] * groups, 3, where, 3000), split)


def test_rejection_draws_uniform_means():
    means = search.reject(np.random.default_rng(5), np.full(300, 7), 4, region(0.0, 0))
    assert means is not None
    assert stats.kstest(means.ravel(), "uniform").pvalue > 1e-4


def test_arms_given_their_maxima_have_the_uniform_law():
    rng = np.random.default_rng(6)
    sizes = np.tile([1, 2, 5, 9], 1000)
    R = rng.random((len(sizes), 2)) ** (1 / sizes[:, None])
    means = _arms_below(rng, R, sizes)
    for size in (2, 5, 9):
        rows = means[sizes == size, :size]
        best = R[sizes == size]
        assert np.array_equal(rows.max(axis=1), best)
        assert stats.kstest(rows.ravel(), "uniform").pvalue > 1e-4
        below = (rows / best[:, None])[rows < best[:, None]]
        assert stats.kstest(below, "uniform").pvalue > 1e-4
        winner = rows.argmax(axis=1)
        assert stats.chisquare(np.bincount(winner[:, 0], minlength=size)).pvalue > 1e-4
        pairs = np.bincount(winner[:, 0] * size + winner[:, 1], minlength=size**2)
        assert stats.chisquare(pairs).pvalue > 1e-4  # dims are independent


# Reproducible


@pytest.mark.parametrize(("weights", "margin"), [((), 0.0), ([(1.0, 2.0)], 0.01)])
def test_compiled_and_plain_walks_agree_to_the_bit(weights, margin):
    where = region(0.02, 2, weights, margin)
    sizes = np.array([1, 3, 14, 6])
    table = conditioned(8, sizes, 2, where, 1)[0]
    plain, compiled = table.copy(), table.copy()
    roam(np.random.default_rng(9), plain, sizes, where, 20)
    roam.compiled(np.random.default_rng(9), compiled, sizes, where, 20)
    assert np.array_equal(plain, compiled) and not np.array_equal(plain, table)


def test_seed_decides_the_result():
    for arguments in [(5, 6, 3, 2, 0.03), (8, 6, 3, 3, 0.2), (8, 6, 3, None, 0.15)]:
        first, again = (np.asarray(random_means(*arguments, seed=11)) for _ in range(2))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, random_means(*arguments, seed=12))
    first, again, other = (sparse_means(20, 3, 3, pareto=3, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("draw", "arguments", "first", "last"),
    [
        (random_means, (5, 6, 3, 2, 0.03), 0.4110272862688771, 0.3194374519870904),  # rejection
        (random_means, (20, 6, 3, 6, 0.03), 0.09046813678518335, 0.8301049039726129),  # chain
        (random_means, (8, 6, 3, None, 0.15), 0.510903409338629, 0.8267523906299101),  # splitting
        (sparse_means, (100, 6, 3), 0.3335374678684306, 0.02943927233214401),
    ],
)
def test_seed_gives_the_same_bits_everywhere(draw, arguments, first, last):
    means = draw(*arguments, seed=3)
    assert (means[0, 0, 0], means[-1, -1, -1]) == (first, last)


# Conditions that cannot be met, and bad input


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"groups": 0}, "groups must be"),
        ({"groups": 2.5}, "groups must be an integer"),
        ({"groups": "5"}, "groups must be an integer"),
        ({"groups": True}, "groups must be an integer"),
        ({"arms": 0}, "arms must be"),
        ({"arms": 1.5}, "arms must be an integer"),
        ({"arms": "6"}, "arms must be an integer"),
        ({"arms": [1, 2]}, "one for each of the 5 groups; got 2"),
        ({"arms": [1, 2, 0, 3, 4]}, "arms of group 2 must be"),
        ({"arms": [1, 2, "x", 3, 4]}, "arms of group 2 must be an integer"),
        ({"arms": 10**9}, "groups x arms x dims must be at most"),
        ({"dims": 0}, "dims must be"),
        ({"dims": None}, "dims must be an integer"),
        ({"pareto": 0}, "pareto must be"),
        ({"pareto": 6}, "pareto must be at most the number of groups, 5; got 6"),
        ({"pareto": 2.0}, "pareto must be an integer"),
        ({"pareto": 2, "dims": 1}, "pareto must be 1 in one dim"),
        ({"min_gap": float("nan")}, "min_gap must be finite"),
        ({"min_gap": -0.1}, "min_gap must be at least 0; got -0.1"),
        ({"min_gap": "big"}, "min_gap must be a number"),
        ({"min_gap": 1.0}, "min_gap must be below 1 for 5 groups in 3 dims"),
        ({"pareto": 2, "min_gap": 0.5}, "min_gap must be below 0.5 for 5 groups with 2 Pareto"),
        ({"pareto": 4, "min_gap": 0.4, "dims": 2}, "min_gap must be below 0.333333"),
        ({"seed": -1}, "seed must be an integer"),
        ({"seed": 0.5}, "seed must be an integer"),
        ({"seed": None}, "seed must be an integer"),
        ({"linear_gap": 0.1}, "linear_gap needs weights"),
        ({"weights": [[1, 2]]}, "weights must be vectors of 3 numbers"),
        ({"weights": [[1, 2, 3], [1, 2]]}, "weights must be numbers in a regular array"),
        ({"weights": []}, "weights must be vectors of 3 numbers"),
        ({"weights": [1, 0, 1]}, "weights must be above 0"),
        ({"weights": [1, 1, 1], "linear_gap": 1.0}, "linear_gap must be at least 0 and below 1"),
        ({"weights": [1, 1, 1], "linear_gap": -0.1}, "linear_gap must be at least 0 and below 1"),
        ({"groups": 2000, "pareto": 5}, "need at most 1000"),
        ({"groups": 500, "pareto": 50, "min_gap": 0.02}, "too rare"),
        ({"groups": 30, "arms": 10, "dims": 5, "min_gap": 0.5}, "give pareto"),
        ({"weights": PAPER_WEIGHTS, "pareto": 5, "linear_gap": 0.9}, "lower min_gap or linear_gap"),
    ],
)
def test_refused_with_one_sentence(change, said):
    arguments = {"groups": 5, "arms": 6, "dims": 3, "seed": 0} | change
    with pytest.raises(InvalidInput) as caught:
        random_means(**arguments)
    assert said in str(caught.value) and "\n" not in str(caught.value)


# Large instances


@pytest.mark.parametrize("groups", [1000, 10_000])
def test_sparse_means_have_few_optimal_groups(groups):
    means = sparse_means(groups, 6, 3, seed=1)
    assert isinstance(means, np.ndarray) and means.shape == (groups, 6, 3)
    R = check(means, 10, 0.06)
    delta, plus, _ = group_gaps(R)
    far = delta[np.isnan(plus)]
    assert np.median(far) > 0.3 and (far < 0.1).mean() < 0.15


def test_sparse_means_of_other_shapes():
    sizes = [1, 2, 3, 4] * 50
    means = sparse_means(200, sizes, 2, pareto=4, min_gap=0.1, seed=3)
    assert isinstance(means, list) and [len(rows) for rows in means] == sizes
    check(means, 4, 0.1)
    for groups, dims, pareto, gap in [(3, 3, 10, 0.06), (50, 1, 1, 0.3), (11, 3, 10, 0.06)]:
        check(sparse_means(groups, 4, dims, pareto, gap, seed=3), min(groups, pareto), gap)


def test_sparse_groups_are_uniform_below_the_front():
    means = np.asarray(sparse_means(4000, 3, 2, pareto=1, min_gap=0.1, seed=4))
    delta, plus, _ = group_gaps(means.max(axis=1))
    best = int(np.flatnonzero(~np.isnan(plus))[0])
    roof = means[best].max(axis=0) - 0.1
    share = np.delete(means, best, axis=0) / roof
    # An arm's entry is s u with s and u uniform: P(s u <= x) = x (1 - log x).
    first = share[:, 0, 0]
    assert (share < 1).all()
    assert stats.kstest(first, lambda x: x * (1 - np.log(x))).pvalue > 1e-4


def test_sparse_means_refuse_bad_input():
    for change, said in [
        ({"pareto": 20, "dims": 2}, "min_gap must be below 0.0526316 for 21 groups"),
        ({"pareto": 0}, "pareto must be"),
        ({"pareto": None}, "pareto must be an integer"),
        ({"min_gap": -1}, "min_gap must be at least 0"),
        ({"pareto": 1500}, "at most 1000"),
        ({"groups": 10**9}, "groups x arms x dims must be at most"),
        ({"seed": "x"}, "seed must be an integer"),
    ]:
        arguments = {"groups": 5000, "arms": 6, "dims": 3} | change
        with pytest.raises(InvalidInput, match=said):
            sparse_means(**arguments)

"""Certificates of the best group on shared items by terms of leaders: by definition, and error rates."""

import numpy as np
import pytest
from scipy.stats import binomtest

import bestgroup as bg
from bestgroup.inference.certificate.items import ItemTable, judge_items
from bestgroup.inference.certificate.items_best import Table, behind_leader, make_terms
from bestgroup.inference.evalues.paired import betting
from bestgroup.problem.status import Status
from reference.items_best_naive import NaiveBest

START = np.array([0, 2, 3, 5])
GROUPS = [[0, 1], [2], [3, 4]]


def draw(rng, n, gap):
    """Return values of five arms that share how hard an item is."""
    skill = np.array([gap, gap, 0.0, -gap, 0.0])[None, :, None]
    noise = rng.normal(size=(n, 1, 2)) + 0.6 * rng.normal(size=(n, 5, 2))
    return np.round(1 / (1 + np.exp(-(skill + noise))), 3)


@pytest.mark.parametrize("pool", [False, True])
@pytest.mark.parametrize("slack", [0.0, 0.1])
def test_what_is_out_is_out_by_definition(slack, pool):
    rng = np.random.default_rng(4)
    seen = set()
    for _ in range(12):
        n = int(rng.integers(6, 70))
        values = draw(rng, n, float(rng.uniform(0, 1.5)))
        table = Table(values, START, np.array([1.0, 2.0]), 3.0, slack)
        rule, leader = betting(n + 9 if pool else 0), int(rng.integers(3))
        sure, near = behind_leader(table, rule, leader, 0.1)
        naive = NaiveBest(values, GROUPS, [1.0, 2.0], slack / 3.0, 0.1, "population", np.ones(2))
        naive.pool, naive.depth = rule.pool, [n] * 5
        naive.terms += [
            (t.begin, t.leader, t.second, {i: tuple(t.fronts[i]) for i in range(3)})
            for t in make_terms(table)
        ]
        if len(naive.terms) > 1:
            first = naive.terms[1][3]
            sums = values[:4].sum(axis=0)
            worth = [sums[first[i][0], 0] + 2 * sums[first[i][1], 1] for i in range(3)]
            order = sorted(range(3), key=lambda i: -worth[i])
            naive.rank = {i: order.index(i) + 1 for i in range(3)}
        for k in range(3):
            mine = [w for w, (i, _) in enumerate(naive.selections) if i == k]
            good = [naive.wealth_reaches(None, w) for w in mine]
            close = [slack > 0 and naive.wealth_reaches(leader, w) for w in mine]
            both = all(a or b for a, b in zip(good, close, strict=True))
            assert sure[k] == (k != leader and all(good))
            assert near[k] == (k != leader and both)
            seen.add((bool(sure[k]), bool(near[k])))
    assert {(True, True), (False, False)} <= seen


def wrong(rng, n, delta):
    """Return whether one of two groups that are equally good is called out."""
    hard = rng.random((n, 1, 1))
    values = np.where(hard < 0.3, 0.0, (rng.random((n, 4, 2)) < 0.6).astype(float))
    shape = bg.Problem(
        {"A": ["a", "b"], "B": ["c", "d"]}, {"x": "max", "y": "max"}, bg.Bounded(0, 1)
    ).shape
    items = bg.Instance.from_table(values, [0, 0, 1, 1], "population").items
    assert items is not None
    arms = [[values[:, 0], values[:, 1]], [values[:, 2], values[:, 3]]]
    table = ItemTable(arms, np.ones(n), np.zeros(2), np.ones(2), 1.0)
    status = judge_items(table, shape, bg.BestGroup([1, 1]), items, delta).status
    return bool((status == Status.OUT).any())


def test_groups_that_tie_are_rarely_called_out():
    rng = np.random.default_rng(8)
    # At a rate of .2, 19 or more of 40 have a probability below 2e-4.
    assert sum(wrong(rng, 120, 0.2) for _ in range(40)) < 19


@pytest.mark.verify
@pytest.mark.parametrize("n", [60, 300])
def test_groups_that_tie_in_many_tables(n):
    rng = np.random.default_rng(9)
    errors = sum(wrong(rng, n, 0.1) for _ in range(2000))
    print(f"n = {n}: {errors} of 2,000 at delta .1")
    assert binomtest(errors, 2000, 0.1, "greater").pvalue > 1e-4

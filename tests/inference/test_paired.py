"""The pair process against exact arithmetic, at its ends, and on boundary nulls."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestgroup.inference.evalues.paired import (
    OPEN,
    PROVEN,
    REFUTED,
    Claim,
    bet,
    betting,
    follow_pair,
    is_refuted,
    ladder,
    lower_mean,
    lower_mean_of_item,
    null_mean,
    purse,
    suggested,
    watch_item,
)
from reference.paired_naive import naive_path


def path_of(rule, values, n, shift, reach):
    """Return K_t after each item, the bets that follow the items, and where it was certain.

    A bet is None where nothing is bet at all.
    """
    wealth, total, square, path, follows = purse(rule), 0.0, 0.0, [], []
    for t, value in enumerate(values):
        mean = null_mean(n, t, total, shift, reach)
        if mean < -reach:
            return path, follows, t + 1
        bets = mean < reach
        claim = Claim(shift, reach, 1.0, True)
        follows.append(suggested(t, total, square, mean, claim) if bets else None)
        if bets:
            path.append(bet(rule, wealth, value, mean, t, reach, follows[-1]))
        else:
            path.append(path[-1] if path else 1.0)
        total += value
        square += value * value
    return path, follows, None


@settings(deadline=None, max_examples=60)
@given(
    values=st.lists(st.sampled_from([-1.0, -0.3, 0.0, 0.1, 0.7, 1.0]), min_size=1, max_size=40),
    extra=st.integers(0, 30),
    shift=st.sampled_from([0.0, 0.05, 0.2, -0.1]),
    pool=st.booleans(),
    make=st.sampled_from([betting, ladder]),
)
def test_never_above_exact_arithmetic_and_close_to_it(values, extra, shift, pool, make):
    n = len(values) + extra if pool else 0
    rule = make(n)
    ours, follows, our_stop = path_of(rule, values, n, shift, 1.0)
    follows += [0.0] * (len(values) - len(follows))
    exact, stop = naive_path(values, n, shift, 1.0, rule, follows)
    assert our_stop is None or (stop is not None and stop <= our_stop)
    for got, want in zip(ours, exact, strict=False):
        assert Fraction(got) <= want or want == 0
        if want > Fraction(1, 10**9):
            assert got == pytest.approx(float(want), rel=1e-6)


def test_plain_and_compiled_agree():
    rng = np.random.default_rng(0)
    upper, lower = rng.random(50), rng.random(50) * 0.9
    for n in (0, 80):
        rule, claim = betting(n), Claim(0.05, 1.0, 1e9, True)
        plain, fast = purse(rule), purse(rule)
        follow_pair(rule, plain, upper, lower, (0, 50), 0.0, 0.0, claim)
        follow_pair.compiled(rule, fast, upper, lower, (0, 50), 0.0, 0.0, claim)
        assert plain.tobytes() == fast.tobytes()


def test_the_logical_stop_is_certain():
    # 6 of 10 items won: the other four cannot bring the sum below zero by 3.
    upper, lower = np.ones(10), np.zeros(10)
    rule, wealth = betting(10), purse(betting(10))
    claim = Claim(0.0, 1.0, math.inf, True)
    assert follow_pair(rule, wealth, upper, lower, (0, 6), 0.0, 0.0, claim) == OPEN
    assert follow_pair(rule, wealth, upper, lower, (6, 7), 6.0, 6.0, claim) == PROVEN
    assert not is_refuted(rule, (upper - lower)[:5], claim)
    assert is_refuted(rule, (upper - lower)[:6], claim)


@pytest.mark.parametrize(
    ("total", "strict", "code"),
    [(0.0, True, REFUTED), (0.0, False, PROVEN), (1.0, True, PROVEN), (-1.0, False, REFUTED)],
)
def test_ties_at_the_end_of_a_pool(total, strict, code):
    values = [1.0, -1.0, 1.0, -1.0, total]
    rule, wealth, before, squares = betting(5), purse(betting(5)), 0.0, 0.0
    found = OPEN
    claim = Claim(0.0, 1.0, math.inf, strict)
    for t, value in enumerate(values):
        found = watch_item(rule, wealth, value, t, before, squares, claim)
        before += value
        squares += value * value
    assert found == code


def test_decimal_ties_are_ties():
    # 0.1 ten times against 1.0 once and zeros: equal sums, up to rounding.
    upper = np.full(10, 0.1)
    lower = np.array([1.0] + [0.0] * 9)
    for strict, code in ((True, REFUTED), (False, PROVEN)):
        for order in (np.arange(10), np.arange(10)[::-1]):
            rule, wealth = betting(10), purse(betting(10))
            claim = Claim(0.0, 1.0, math.inf, strict)
            found = follow_pair(rule, wealth, upper[order], lower[order], (0, 10), 0.0, 0.0, claim)
            assert found == code


@pytest.mark.parametrize("n", [0, 300])
def test_lower_means_hold_and_shrink_with_the_pool(n):
    rng = np.random.default_rng(3)
    values = np.where(rng.random(300) < 0.1, 0.5, 0.01)
    short = lower_mean(ladder(n), values[:100], 1.0, 20.0)
    long = lower_mean(ladder(n), values[:290], 1.0, 20.0)
    assert short < long < values.mean() + 1e-9
    if n:
        assert long > values.mean() - 0.02


def null_table(kind, n, rng):
    """Return differences with mean exactly 0 in [-1, 1]."""
    if kind == "binary":
        values = np.repeat([1.0, -1.0, 0.0], [n // 10, n // 10, n - 2 * (n // 10)])
    elif kind == "skewed":
        values = np.repeat([0.1, -0.9], [n - n // 10, n // 10])
        values -= values.mean()
    else:  # one heavy item
        values = np.full(n, 1.0 / (n - 1))
        values[0] = -1.0
    return rng.permutation(values)


def crossings(kind, n, runs, alpha, seed):
    rng = np.random.default_rng(seed)
    rule, claim = betting(n), Claim(0.0, 1.0, 1.0 / alpha, True)
    return sum(is_refuted.compiled(rule, null_table(kind, n, rng), claim) for _ in range(runs))


@pytest.mark.parametrize("kind", ["binary", "skewed", "heavy"])
@pytest.mark.parametrize("n", [100, 1000])
def test_boundary_nulls_are_crossed_at_most_at_their_level(kind, n):
    # At a rate of .05, more than 137 of 2,000 has a probability below 1e-4.
    assert crossings(kind, n, 2000, 0.05, 11) <= 137


@pytest.mark.verify
@pytest.mark.parametrize("kind", ["binary", "skewed", "heavy"])
@pytest.mark.parametrize("n", [100, 1000, 5000])
def test_boundary_nulls_in_many_orders(kind, n):
    # At a rate of .05, more than 5,258 of 100,000 has a probability below 1e-4.
    assert crossings(kind, n, 100_000, 0.05, 12) <= 5258


class Adversary:
    """Asks for items of a and b in prefix order, as it likes, and looks at the process all the time."""

    def __init__(self, table, rng):
        self.a, self.b = table
        self.rng = rng

    def runs(self, policy):
        """Yield every moment (n_a, n_b) that a policy comes to."""
        na = nb = 0
        n = len(self.a)
        while na < n or nb < n:
            if policy == "b only while a looks good":
                more_a = nb >= na or (na > 3 and self.a[:na].mean() < 0.5 and na < n)
            elif policy == "b only after a failed":
                more_a = na < n and (na == nb or (na > nb and self.a[nb] > 0.5 and na - nb < 9))
            else:  # every item of both
                more_a = na <= nb
            if more_a and na < n:
                na += 1
            elif nb < n:
                nb += 1
            else:
                na += 1
            yield na, nb


@pytest.mark.parametrize(
    "policy", ["b only while a looks good", "b only after a failed", "every item"]
)
def test_no_policy_crosses_more_often(policy):
    rng = np.random.default_rng(5)
    n, alpha, hits, runs = 120, 0.1, 0, 400
    base = np.repeat([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [40, 40, 40], axis=0)
    rule, claim = betting(n), Claim(0.0, 1.0, 1.0 / alpha, True)
    for _ in range(runs):
        table = rng.permutation(base).T
        seen = 0
        for moment in Adversary(table, rng).runs(policy):
            seen = max(seen, min(moment))
        values = (table[0] - table[1])[:seen]
        hits += bool(is_refuted.compiled(rule, values, claim))
    # At a rate of .1, more than 65 of 400 has a probability below 1e-4.
    assert hits <= 65


def drawn_clusters(rng, count):
    """Return sums and sizes of clusters whose larger ones have larger scores, all less 1/2."""
    sizes = rng.choice([1.0, 2.0, 5.0], count, p=[0.6, 0.3, 0.1])
    share = rng.binomial(sizes.astype(int), np.where(sizes == 5, 0.8, 0.3))
    return share - 0.5 * sizes, sizes


MEAN_OF_AN_ITEM = (0.6 * 0.3 + 0.6 * 0.3 + 0.5 * 0.8) / (0.6 + 0.6 + 0.5) - 0.5


def misses_of_clusters(runs, need, seed=0):
    """Return in how many runs of 150 clusters a bound of the mean of an item was wrong, each side."""
    rng, rule, wrong = np.random.default_rng(seed), ladder(0), [0, 0]
    for _ in range(runs):
        sums, sizes = drawn_clusters(rng, 150)
        low = lower_mean_of_item.compiled(rule, sums, sizes, 0.5, 5.0, need)
        high = -lower_mean_of_item.compiled(rule, -sums, sizes, 0.5, 5.0, need)
        wrong[0] += low > MEAN_OF_AN_ITEM
        wrong[1] += high < MEAN_OF_AN_ITEM
    return wrong


def test_bounds_by_clusters_hold_and_are_those_of_the_definition():
    rng, rule = np.random.default_rng(3), ladder(0)
    for _ in range(5):
        sums, sizes = drawn_clusters(rng, 40)
        found = lower_mean_of_item(rule, sums, sizes, 0.5, 5.0, 20.0)

        def reached(m, sums=sums, sizes=sizes):
            wealth, most = [1.0] * len(rule.bets), 0.0
            for total, size in zip(sums, sizes, strict=True):
                wealth = [
                    w * (1 + min(b, rule.cap) / 5.0 * (total - m * size))
                    for w, b in zip(wealth, rule.bets, strict=True)
                ]
                most = max(most, float(np.dot(rule.weights, wealth)))
            return most

        grid = np.linspace(-0.5, 0.5, 201)
        levels = [reached(m) for m in grid]
        assert all(a >= b for a, b in itertools.pairwise(levels))  # refuted means are a half-line
        assert reached(found - 1e-9) >= 20.0 > reached(found + 1e-6) or found == -0.5
    assert max(misses_of_clusters(300, 10.0)) <= 45  # 30 are allowed on average


def test_bounds_by_clusters_close_in():
    rng, rule = np.random.default_rng(5), ladder(0)
    sums, sizes = drawn_clusters(rng, 20_000)
    low = lower_mean_of_item.compiled(rule, sums, sizes, 0.5, 5.0, 20.0)
    assert MEAN_OF_AN_ITEM - 0.05 < low < MEAN_OF_AN_ITEM


@pytest.mark.verify
def test_bounds_by_clusters_in_many_draws():
    wrong = misses_of_clusters(10_000, 10.0, seed=1)
    print(f"bounds of the mean of an item by clusters at level .1: wrong {wrong} of 10,000")
    assert max(wrong) <= 1_100

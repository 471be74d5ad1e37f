"""The best group on shared items, decision by decision, against a reference from the definition."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.algorithms.registry import algorithm as make
from bestgroup.drivers.bodies import bodies
from bestgroup.inference.tally import empty_tally
from reference.items_best_naive import NaiveBest


def random_case(rng):
    """Return a table, labels, a goal, a target, delta and a batch."""
    n, D = int(rng.integers(8, 70)), int(rng.integers(1, 4))
    sizes = rng.integers(1, 4 if D < 3 else 3, size=int(rng.integers(2, 5)))
    A = int(sizes.sum())
    skill = rng.normal(scale=rng.choice([0.0, 0.3, 1.0]), size=(1, A, D))
    noise = rng.normal(size=(n, 1, D)) + 0.5 * rng.normal(size=(n, A, D))
    values = 1 / (1 + np.exp(-(skill + noise)))
    if rng.random() < 0.5:
        values = (values > 0.5).astype(float)
    weights = rng.choice([0.5, 1.0, 2.0], size=D).tolist()
    epsilon = float(rng.choice([0.0, 0.01, 0.1]))
    target = str(rng.choice(["pool", "pool", "population"]))
    batch = [0.01, 0.3, 1, 3][int(rng.integers(4))]
    labels = np.repeat(np.arange(len(sizes)), sizes)
    goal = bg.BestGroup(weights, epsilon)
    return values, labels, goal, target, float(rng.choice([0.05, 0.2])), batch


def in_clusters(rng, values):
    """Return sizes of clusters, their sums, and the values in order."""
    sizes = rng.integers(1, 4, size=len(values))
    spread = np.repeat(values, sizes, axis=0)
    spread = np.where(rng.random(spread.shape) < 0.7, spread, rng.random(spread.shape))
    ends = np.cumsum(sizes)
    parts = zip(ends - sizes, ends, strict=True)
    sums = [np.cumsum(spread[a:b], axis=0)[-1] for a, b in parts]
    return sizes.tolist(), np.array(sums), spread


def check_clusters(seed, compiled):
    """Run one case on clusters of a population that differ in size, and compare after every plan."""
    rng = np.random.default_rng([78, seed])
    values, labels, goal, _, delta, batch = random_case(rng)
    sizes, sums, spread = in_clusters(rng, values)
    largest = 3 + seed % 2
    told = [f"{k}" for k, size in enumerate(sizes) for _ in range(size)]
    items = bg.Items(len(spread), "population", clusters=told, largest=largest)
    shape = bg.Instance.from_table(values, labels.tolist()).shape
    shared = items.shared([1.0] * shape.dims)
    setting = Setting(shape, goal, bg.Bounded(0, 1).on_shared_items(), delta, None, shared)
    groups = [np.flatnonzero(labels == i).tolist() for i in range(shape.groups)]
    naive = NaiveBest(
        sums, groups, list(goal.weights), goal.epsilon, delta, "population",
        np.ones(shape.dims), sizes, largest,
    )  # fmt: skip
    ends = np.cumsum(sizes).tolist()
    for state, counts in steps(make("adaptive", batch=batch), setting, spread, compiled):
        depth = [ends.index(int(n)) + 1 if n else 0 for n in counts]
        naive.step(depth)
        compare(state.inner, naive, seed)


def steps(algorithm, setting, values, compiled):
    """Yield the state and the counts of the arms after every plan."""
    shape, rule = setting.shape, algorithm.rule(setting)
    state = algorithm.init(rule)
    tally = empty_tally(shape.groups, shape.arms, shape.dims, np.zeros(len(values)))
    starts = np.concatenate([[0], np.cumsum(shape.sizes)])
    plan, step = bodies(algorithm, rule, compiled)
    while not (algorithm.is_done(state, rule) or algorithm.is_stuck(state, rule)):
        pulls = plan(state, tally, rule)
        assert pulls.any()
        for i, j in np.argwhere(pulls):
            t, more = tally.counts[i, j], pulls[i, j]
            new = values[t : t + more, starts[i] + j]
            tally.extra[i, j, :, t : t + more] = new.T
            tally.counts[i, j] += more
            tally.sums[i, j] += new.sum(axis=0)
        state = step(state, tally, rule)
        yield state, [int(tally.counts[i, j]) for i, j in np.argwhere(shape.exists)]


def check(seed, compiled):
    """Run one case and compare after every plan."""
    values, labels, goal, target, delta, batch = random_case(np.random.default_rng([77, seed]))
    instance = bg.Instance.from_table(values, labels.tolist(), target)
    shape = instance.shape
    algorithm = make("adaptive", batch=batch)
    setting = Setting.for_instance(instance, goal, delta)
    groups = [np.flatnonzero(labels == i).tolist() for i in range(shape.groups)]
    naive = NaiveBest(
        values, groups, list(goal.weights), goal.epsilon, delta, target, np.ones(shape.dims)
    )
    for state, counts in steps(algorithm, setting, values, compiled):
        naive.step(counts)
        compare(state, naive, seed)


def compare(state, naive, seed):
    assert set(np.flatnonzero(state.out).tolist()) == naive.out, seed
    assert state.leader[0] == naive.leader, seed
    assert state.terms[0] == len(naive.terms), seed
    begun, leader, second, fronts = naive.terms[-1]
    last = state.terms[0] - 1
    assert state.begins[last] == begun, seed
    assert state.leads[last].tolist() == [-1 if x is None else x for x in (leader, second)], seed
    assert [tuple(f) for f in state.fronts[last].tolist()] == [fronts[i] for i in sorted(fronts)]


@pytest.mark.parametrize("seed", range(8))
def test_every_decision_is_that_of_the_reference(seed):
    check(seed, compiled=seed % 4 > 0)


@pytest.mark.parametrize("seed", range(6))
def test_every_decision_on_clusters_that_differ_in_size_is_that_of_the_reference(seed):
    check_clusters(seed, compiled=seed % 3 > 0)


@pytest.mark.verify
def test_decisions_on_clusters_on_a_thousand_tapes():
    for seed in range(100, 1100):
        check_clusters(seed, compiled=True)


@pytest.mark.verify
def test_decisions_on_thousands_of_tapes():
    for seed in range(100, 3100):
        check(seed, compiled=True)

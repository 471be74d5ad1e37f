"""The best group on shared items, decision by decision, against a reference from the definition."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting, bodies
from bestgroup.algorithms.registry import algorithm as make
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


def check(seed, compiled):
    """Run one case and compare after every plan."""
    values, labels, goal, target, delta, batch = random_case(np.random.default_rng([77, seed]))
    instance = bg.Instance.from_table(values, labels.tolist(), target)
    shape = instance.shape
    algorithm = make("adaptive", batch=batch)
    setting = Setting.for_instance(instance, goal, delta)
    rule = algorithm.rule(setting)
    state = algorithm.init(rule)
    groups = [np.flatnonzero(labels == i).tolist() for i in range(shape.groups)]
    naive = NaiveBest(
        values, groups, list(goal.weights), goal.epsilon, delta, target, np.ones(shape.dims)
    )
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
        naive.step(
            [int(tally.counts[i, a - starts[i]]) for i in range(shape.groups) for a in groups[i]]
        )
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


@pytest.mark.verify
def test_decisions_on_thousands_of_tapes():
    for seed in range(100, 3100):
        check(seed, compiled=True)

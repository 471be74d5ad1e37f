"""Limits, other worths and the m best groups on shared items, against a reference from scratch."""

import itertools

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.algorithms.registry import algorithm as make
from bestgroup.algorithms.shared_items.worth_state import ACCEPTED, REJECTED
from bestgroup.drivers.bodies import bodies
from bestgroup.drivers.exact.items import Order, run_table
from bestgroup.errors import InvalidInput
from bestgroup.inference.tally import empty_tally
from reference.items_worths_naive import NaiveWorths, truth

GROUPS = ["A", "A", "B", "C", "C", "C"]
ASKED = [
    (bg.ParetoGroups(0.03), {"require": {"x": (">=", 0.5, 0.02)}}),
    (bg.ParetoGroups(0.0), {"require": {"y": ("<=", 0.55)}}),
    (bg.ParetoGroups(0.03), {"require": {"x": [(">=", 0.3), ("<=", 0.7)]}, "worth": ("kth", 1)}),
    (bg.ParetoGroups(0.03), {"worth": "worst"}),
    (bg.ParetoGroups(0.03), {"worth": ("quantile", 0.5)}),
    (bg.ParetoGroups(0.03), {"worth": "mean"}),
    (bg.BestGroup([1.0, 2.0], 0.02), {"require": {"x": (">=", 0.5, 0.02)}}),
    (bg.BestGroup([1.0, 1.0], 0.0), {"worth": "worst"}),
    (bg.BestGroup([1.0, 1.0], 0.02), {"worth": "mean"}),
    (bg.TopGroups(2, [1.0, 1.0], 0.02), {}),
    (bg.TopGroups(2, [1.0, 1.0], 0.0), {}),
]


def table_of(n, seed, binary=False):
    """Return values of six arms that share how hard an item is."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(-1, 1, size=(1, 6, 2))
    noise = rng.normal(size=(n, 1, 2)) + 0.5 * rng.normal(size=(n, 6, 2))
    values = 1 / (1 + np.exp(-(skill + noise)))
    return (values > 0.5).astype(float) if binary else np.round(values, 3)


def reference(instance, goal, table, delta, kind):
    """Return the reference of an instance, on the table in the order of a run."""
    shape, measure = instance.shape, instance.measure
    starts = np.concatenate([[0], np.cumsum(shape.sizes)])
    groups = [list(range(starts[i], starts[i + 1])) for i in range(shape.groups)]
    ranks = [1] * shape.groups if measure is None else measure.ranks(shape)
    limits = [] if measure is None else [tuple(bound) for bound in measure.bounds]
    weights = goal.worth_weights(2)
    top = 0 if weights is None else getattr(goal, "m", 1)
    weights = None if weights is None else weights.tolist()
    asked = ranks, limits, weights, goal.epsilons(2).tolist(), delta, kind, top
    return NaiveWorths(table, groups, *asked)


def run(instance, goal, key, compiled, kind, algorithm):
    """Run to the end, or to the end of the items; a plain run compares every step with the reference."""
    delta = 0.2
    setting = Setting.for_instance(instance, goal, delta)
    rule = algorithm.rule(setting)
    state, shape = algorithm.init(rule), instance.shape
    order = Order(instance, key).order
    table = instance.table[order]
    tally = empty_tally(shape.groups, shape.arms, shape.dims, np.zeros(len(order)))
    starts = np.concatenate([[0], np.cumsum(shape.sizes)])
    naive = reference(instance, goal, table, delta, kind)
    plan, step = bodies(algorithm, rule, compiled)
    while not algorithm.is_done(state, rule):
        pulls = plan(state, tally, rule)
        if not pulls.any():
            assert algorithm.is_stuck(state, rule)
            break
        for i, j in np.argwhere(pulls):
            for _ in range(pulls[i, j]):
                t = tally.counts[i, j]
                tally.extra[i, j, :, t] = table[t, starts[i] + j]
                tally.sums[i, j] += table[t, starts[i] + j]
                tally.counts[i, j] += 1
        state = step(state, tally, rule)
        if not compiled:
            naive.step([int(n) for i, n in enumerate(tally.counts[shape.exists])])
            compare(state, naive)
    return algorithm.answer(state, rule), tally.counts


def compare(state, naive):
    """Check that both have decided the same."""
    found = [{ACCEPTED: "in", REJECTED: "out"}.get(int(s), "open") for s in state.status]
    if naive.top == 0:
        assert found == naive.status
        return
    assert [s == "out" for s in found] == [s == "out" for s in naive.status]
    named = {i for i, s in enumerate(found) if s == "in"}
    if named:
        assert named in naive.named
    elif naive.top == 1:
        assert not naive.named


def agree(goal, counted, kind, table, seed, batch):
    """Check that the reference, plain and compiled bodies and the driver decide the same."""
    algorithm = make("adaptive", batch=batch)
    instance = bg.Instance.from_table(table, GROUPS, kind, dims=["x", "y"], **counted)
    answer, counts = run(instance, goal, (seed, 0), False, kind, algorithm)
    again = run(instance, goal, (seed, 0), True, kind, algorithm)
    assert again[0] == answer and (again[1] == counts).all()
    setting = Setting.for_instance(instance, goal, 0.2)
    driven = run_table(instance, setting, algorithm, (seed, 0), 10**9)
    assert driven[0] == answer and (driven[1] == counts).all()


@pytest.mark.parametrize("which", range(len(ASKED)))
def test_every_step_decides_what_the_reference_does(which):
    kind = "pool" if which % 3 else "population"
    agree(*ASKED[which], kind, table_of(30, which, which % 2 == 1), which, 0.3)


@pytest.mark.verify
@pytest.mark.parametrize("which", range(len(ASKED)))
@pytest.mark.parametrize("kind", ["pool", "population"])
def test_many_runs_decide_what_the_reference_does(which, kind):
    for seed in range(20):
        n, batch = 15 + 7 * (seed % 6), [1, 7, 0.1, 0.01][seed % 4]
        agree(*ASKED[which], kind, table_of(n, 100 + seed, seed % 3 == 1), seed, batch)


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_a_pool_ends_within_the_table_and_is_right_without_chance(asked):
    goal, counted = asked
    for seed in range(3):
        table = table_of(
            12, 10 + seed, seed > 0
        )  # too few items to prove anything before their end
        instance = bg.Instance.from_table(table, GROUPS, dims=["x", "y"], **counted)
        sim = bg.simulate(instance, goal, "adaptive", delta=0.01, runs=20, seed=seed)
        assert sim.finished.all() and sim.correct.all()
        assert (sim.share <= 1.0).all()


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_a_complete_pool_is_answered_by_definition(asked):
    goal, counted = asked
    for seed in range(4):
        table = table_of(30, 20 + seed, seed % 2 == 1)
        instance = bg.Instance.from_table(table, GROUPS, dims=["x", "y"], **counted)
        found = bg.certify(rows_of(table), goal, noise=bg.Bounded(0, 1), **counted)
        measure, shape = instance.measure, instance.shape
        ranks = [1] * 3 if measure is None else measure.ranks(shape)
        limits = [] if measure is None else measure.bounds
        worth = truth(instance.means, ranks, limits, 2)
        named = {"ABC".index(g) for g in found.accepted}
        assert named in right_answers(goal, worth)
        assert not found.undecided


def rows_of(table, names="abcdef"):
    """Return the rows of a table of items as `certify` takes them."""
    return [
        {"group": GROUPS[a], "arm": names[a], "item": f"i{t}", "x": x, "y": y}
        for t, row in enumerate(table.tolist())
        for a, (x, y) in enumerate(row)
    ]


def right_answers(goal, worth):
    """Return all right answers, by definition and without slack, of groups with these worths."""
    alive = [i for i in range(len(worth)) if np.isfinite(worth[i]).all()]
    if isinstance(goal, bg.ParetoGroups):
        beaten = {i for i in alive for j in alive if (worth[j] > worth[i] + 1e-12).all()}
        return [set(alive) - beaten]
    score = {i: float(worth[i] @ goal.weight_vector(2)) for i in alive}
    many = min(getattr(goal, "m", 1), len(alive))
    return [
        set(chosen)
        for chosen in itertools.combinations(alive, many)
        if all(score[i] >= score[j] - 1e-12 for i in chosen for j in alive if j not in chosen)
    ]


def test_what_certify_finds_in_a_part_of_a_pool_is_what_the_reference_does():
    table = table_of(120, 5)
    order = [f"i{t}" for t in range(120)]
    depth = [120, 90, 100, 70, 110, 60]
    rows = [
        row for row in rows_of(table) if int(row["item"][1:]) < depth["abcdef".index(row["arm"])]
    ]
    for goal, counted in ASKED:
        instance = bg.Instance.from_table(table, GROUPS, dims=["x", "y"], **counted)
        naive = reference(instance, goal, table, 0.2, "pool")
        naive.step(depth)
        items = bg.Items(names=order)
        noise = bg.Bounded(0, 1)
        found = bg.certify(rows, goal, noise=noise, items=items, order=order, delta=0.2, **counted)
        named = {"ABC".index(g) for g in found.accepted}
        out = {"ABC".index(g) for g in found.rejected}
        expected = {i for i, s in enumerate(naive.status) if s == "out"}
        if naive.top == 0:
            assert named == {i for i, s in enumerate(naive.status) if s == "in"}
            assert out == expected
        elif naive.top == 1:
            assert ({*named} in naive.named) if naive.named else not named
        assert expected <= out


def test_orders_of_groups_arms_and_dims_do_not_matter_for_a_complete_pool():
    table, rng = table_of(25, 7), np.random.default_rng(0)
    for goal, counted in ASKED[:6]:
        first = bg.certify(rows_of(table), goal, noise=bg.Bounded(0, 1), **counted)
        mixed = rows_of(table)
        rng.shuffle(mixed)
        again = bg.certify(mixed, goal, noise=bg.Bounded(0, 1), **counted)
        assert set(first.accepted) == set(again.accepted)


def test_what_has_no_rule_is_refused_in_a_sentence():
    table = table_of(20, 1)
    instance = bg.Instance.from_table(table, GROUPS[:3] + ["C"] * 3, dims=["x", "y"], worth="worst")
    with pytest.raises(InvalidInput, match="go with ParetoGroups and BestGroup"):
        bg.simulate(instance, bg.TopGroups(1, [1, 1]), "adaptive", runs=1)
    second = bg.Instance.from_table(table, ["A"] * 3 + ["B"] * 3, dims=["x", "y"], worth=("kth", 2))
    with pytest.raises(InvalidInput, match="not bounded by pairs"):
        bg.simulate(second, bg.BestGroup([1, 1]), "adaptive", runs=1)
    clustered = bg.Instance.from_table(
        table, GROUPS, dims=["x", "y"], worth="worst", clusters=[t // 2 for t in range(20)]
    )
    with pytest.raises(InvalidInput, match="certify takes a table with clusters"):
        bg.simulate(clustered, bg.ParetoGroups(0.1), "adaptive", runs=1)


def test_clusters_of_a_pool_are_judged_with_limits():
    table = table_of(40, 3)
    clusters = [f"c{t // 2}" for t in range(40)]
    items = bg.Items(names=[f"i{t}" for t in range(40)], clusters=clusters)
    found = bg.certify(
        rows_of(table), bg.ParetoGroups(0.0), noise=bg.Bounded(0, 1), items=items,
        require={"x": (">=", 0.5)},
    )  # fmt: skip
    plain = bg.certify(
        rows_of(table), bg.ParetoGroups(0.0), noise=bg.Bounded(0, 1), require={"x": (">=", 0.5)}
    )
    assert found.accepted == plain.accepted and found.limits_kept() == plain.limits_kept()

"""The algorithms on shared items, against certificates that are computed from scratch."""

import math

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.algorithms.registry import algorithm as make
from bestgroup.drivers.bodies import bodies
from bestgroup.drivers.exact.items import Order, run_table
from bestgroup.errors import InvalidInput
from bestgroup.inference.certificate.items import ItemTable, judge_items
from bestgroup.inference.tally import empty_tally
from bestgroup.problem.status import Status

GROUPS = ["A", "A", "B", "C", "C", "C"]


def table_of(n, seed, binary=False):
    """Return values of six arms that share how hard an item is."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(-1, 1, size=(1, 6, 2))
    values = 1 / (
        1 + np.exp(-(skill + rng.normal(size=(n, 1, 2)) + 0.5 * rng.normal(size=(n, 6, 2))))
    )
    return (values > 0.5).astype(float) if binary else np.round(values, 3)


def run_by_hand(instance, goal, algorithm, delta, key, compiled):
    """Return the state, the rule and the tally of a run, pull by pull in plain Python."""
    setting = Setting.for_instance(instance, goal, delta)
    rule = algorithm.rule(setting)
    state, shape = algorithm.init(rule), instance.shape
    order = Order(instance, key).order
    tally = empty_tally(shape.groups, shape.arms, shape.dims, np.zeros(len(order)))
    starts = np.concatenate([[0], np.cumsum(shape.sizes)])
    plan, step = bodies(algorithm, rule, compiled)
    while not algorithm.is_done(state, rule):
        pulls = plan(state, tally, rule)
        assert pulls.any() or not algorithm.is_stuck(state, rule)
        for i, j in np.argwhere(pulls):
            for _ in range(pulls[i, j]):
                t = tally.counts[i, j]
                value = instance.table[order[t], starts[i] + j]
                tally.extra[i, j, :, t] = value
                tally.sums[i, j] += value
                tally.counts[i, j] += 1
        state = step(state, tally, rule)
    return state, rule, tally


GOALS = [
    bg.ParetoGroups(0.05),
    bg.ParetoGroups(0.0),
    bg.BestGroup([1.0, 2.0], 0.02),
    bg.BestGroup([1.0, 1.0], 0.0),
]


@pytest.mark.parametrize("goal", GOALS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_plain_compiled_and_driver_agree_and_a_certificate_confirms(goal, seed):
    instance = bg.Instance.from_table(table_of(60, seed, seed == 1), GROUPS)
    names = ["adaptive", "te-plus"] if isinstance(goal, bg.ParetoGroups) else ["adaptive"]
    for name in names:
        algorithm = make(name)
        setting = Setting.for_instance(instance, goal, 0.1)
        answer, counts, _, finished = run_table(instance, setting, algorithm, (seed, 0), 10**9)
        assert finished
        for compiled in (False, True):
            state, rule, tally = run_by_hand(instance, goal, algorithm, 0.1, (seed, 0), compiled)
            assert algorithm.answer(state, rule) == answer
            assert (tally.counts == counts).all()
        confirm(instance, goal, tally, answer)


def confirm(instance, goal, tally, answer):
    """Check the answer by the certificate of what the arms have passed."""
    values = [
        [tally.extra[i, j, :, : tally.counts[i, j]].T for j in range(size)]
        for i, size in enumerate(instance.shape.sizes)
    ]
    n = instance.items.count
    table = ItemTable(values, np.ones(n), np.zeros(2), np.ones(2), 1.0)
    verdict = judge_items(table, instance.shape, goal, instance.items, 0.1)
    named = set(np.flatnonzero(verdict.status == Status.IN).tolist())
    if isinstance(goal, bg.ParetoGroups):
        assert named == answer or table.is_complete(n)
    else:  # the certificate has one leader and pays for a second slack, so it may know less
        assert named in ({*answer}, set())


@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_a_pool_always_ends_within_the_table(goal):
    for seed in range(4):
        instance = bg.Instance.from_table(table_of(25, seed, True), GROUPS)
        sim = bg.simulate(instance, goal, "adaptive", delta=0.05, runs=20, seed=seed)
        assert sim.finished.all()
        assert sim.correct.all()
        assert (sim.share <= 1.0).all()
        assert sim.engine == "exact"


def test_exact_ties_are_decided_at_the_end_of_a_pool():
    values = np.zeros((40, 2, 2))
    values[:20, 0, 0] = values[20:, 1, 0] = 1.0  # a tie in dim 0
    values[:, 0, 1] = np.linspace(0, 1, 40)
    values[:, 1, 1] = 0.4
    instance = bg.Instance.from_table(values, ["A", "B"])
    sim = bg.simulate(instance, bg.ParetoGroups(0.0), "adaptive", delta=0.1, runs=100)
    assert sim.errors <= 25
    assert sim.finished.all()


@pytest.mark.parametrize("batch", [1, 7, 100, 0.2])
def test_batches(batch):
    instance = bg.Instance.from_table(table_of(80, 5), GROUPS)
    algorithm = bg.algorithm("adaptive", batch=batch)
    sim = bg.simulate(instance, bg.ParetoGroups(0.05), algorithm, delta=0.1, runs=10)
    assert sim.finished.all() and sim.correct.all()


def test_all_algorithms_meet_the_same_items():
    instance = bg.Instance.from_table(table_of(80, 5), GROUPS)
    first = Order(instance, (3, 7)).order
    assert (Order(instance, (3, 7)).order == first).all()
    assert sorted(first.tolist()) == list(range(80))


def test_a_population_that_is_used_up_stays_undecided():
    instance = bg.Instance.from_table(table_of(20, 1, True), GROUPS, "population")
    sim = bg.simulate(
        instance, bg.ParetoGroups(0.001), "adaptive", delta=0.01, runs=5, max_pulls=10**6
    )
    assert not sim.finished.any()
    assert (sim.pulls <= 20 * 6).all()


def test_a_stream_goes_on_until_it_is_proven():
    instance = bg.Instance.from_table(table_of(400, 2), GROUPS, "stream")
    sim = bg.simulate(instance, bg.ParetoGroups(0.1), "adaptive", delta=0.05, runs=5)
    assert sim.finished.all() and sim.correct.all()
    with pytest.raises(InvalidInput, match="number of shared items"):
        sim.share  # noqa: B018


def test_what_does_not_fit_is_refused():
    instance = bg.Instance.from_table(table_of(20, 1), GROUPS)
    goal = bg.ParetoGroups(0.05)
    with pytest.raises(InvalidInput, match="does not work on shared items"):
        bg.simulate(instance, goal, "te", delta=0.05)
    with pytest.raises(InvalidInput, match="exact"):
        bg.simulate(instance, goal, "adaptive", delta=0.05, engine="jump")
    with pytest.raises(InvalidInput, match="differ"):
        bg.Instance.from_table(table_of(20, 1), GROUPS, noise=bg.Bounded(0, 1, difference=0.01))
    with pytest.raises(InvalidInput, match="label"):
        bg.Instance.from_table(table_of(20, 1), ["A"])
    with pytest.raises(InvalidInput, match="independent"):
        noise = bg.Bounded(0, 1, arms="independent")
        bg.Instance.from_table(table_of(20, 1), GROUPS, noise=noise)


@pytest.mark.parametrize("goal", GOALS[::2], ids=str)
def test_a_replay_gives_what_the_run_gave(goal):
    instance = bg.Instance.from_table(table_of(60, 4), GROUPS)
    setting = Setting.for_instance(instance, goal, 0.1)
    answer, counts, _, _ = run_table(instance, setting, make("adaptive"), (4, 2), 10**9)
    ordered = instance.table[Order(instance, (4, 2)).order]
    tape = [ordered[:, :2], ordered[:, 2:3], ordered[:, 3:]]
    for compiled in (False, True):
        trace = bg.replay(
            tape, goal, "adaptive", 0.1, noise=bg.Bounded(0, 1), items=60, compiled=compiled
        )
        assert trace.answer == answer
        assert [row.tolist() for row in trace.pulls_by_arm] == [
            row.tolist() for row in instance.shape.rows(counts)
        ]


@pytest.mark.parametrize("goal", GOALS[::2], ids=str)
@pytest.mark.parametrize("target", ["pool", "population"])
def test_clusters_are_drawn_as_wholes_and_a_replay_of_them_gives_what_the_run_gave(goal, target):
    labels = ["a"] * 20 + [f"c{k // 4}" for k in range(40)]
    if target == "population":
        labels = [f"c{k // 2}" for k in range(20)] + [f"c{k // 3 + 20}" for k in range(40)]
    shuffled = np.random.default_rng(1).permutation(60)
    own = [labels[k] for k in shuffled]
    values = table_of(60, 4)
    values[:, 3:] *= 0.2  # so that a population is decided in Pareto groups
    instance = bg.Instance.from_table(values, GROUPS, target, clusters=own)
    setting = Setting.for_instance(instance, goal, 0.1)
    answer, counts, _, ended = run_table(instance, setting, make("adaptive"), (4, 2), 10**9)
    order = Order(instance, (4, 2))
    met = [own[k] for k in order.order]
    sizes = order.met_in(setting).items.sizes
    count = sum(sizes)  # of a population so many clusters as the table has, of other sizes
    assert target == "population" or sorted(order.order) == list(range(60))
    ends = np.cumsum(sizes)
    assert all(len(set(met[end - size : end])) == 1 for size, end in zip(sizes, ends, strict=True))
    told = [
        f"{k}" for k, size in enumerate(sizes) for _ in range(size)
    ]  # one that comes twice is two
    ordered = instance.table[order.order]
    tape = [ordered[:, :2], ordered[:, 2:3], ordered[:, 3:]]
    items = bg.Items(count, target, clusters=told, largest=3 if target == "population" else None)
    given = {"noise": bg.Bounded(0, 1), "items": items}
    if not ended:
        with pytest.raises(InvalidInput, match=f"all {count} items are used up"):
            bg.replay(tape, goal, "adaptive", 0.1, **given)
        return
    trace = bg.replay(tape, goal, "adaptive", 0.1, **given)
    assert trace.answer == answer
    assert [row.tolist() for row in trace.pulls_by_arm] == [
        row.tolist() for row in instance.shape.rows(counts)
    ]


def lopsided():
    """Return a table in clusters: b is ahead of a per item, by its large clusters; a on most clusters."""
    sizes = [1] * 30 + [6] * 10
    labels = [f"c{k}" for k, size in enumerate(sizes) for _ in range(size)]
    small = np.array([1] * 30 + [0] * 60, bool)
    values = np.zeros((90, 2, 1))
    values[small, 0], values[small, 1] = 0.8, 0.2
    values[~small, 0], values[~small, 1] = 0.35, 0.652
    return values, labels, sizes


@pytest.mark.parametrize("goal", [bg.ParetoGroups(0.0), bg.BestGroup([1.0], 0.0)], ids=str)
def test_every_item_of_a_population_of_clusters_counts_alike(goal):
    values, labels, sizes = lopsided()
    means = values.mean(axis=0)[:, 0]
    assert means[1] > means[0]  # barely: the null of every claim for a
    values = np.tile(values, (8, 1, 1))
    labels = [f"{k}{label}" for k in range(8) for label in labels]
    instance = bg.Instance.from_table(values, ["A", "B"], "population", clusters=labels)
    setting, runs = Setting.for_instance(instance, goal, 0.3), 300
    wrong = 0
    for k in range(runs):
        answer, _, _, ended = run_table(instance, setting, make("adaptive"), (9, k), 10**9)
        wrong += ended and 0 in answer
    assert 0 < wrong <= 0.3 * runs + 3 * math.sqrt(0.21 * runs), wrong
    # The control: with clusters for items the answer is about the mean of clusters, which is A's.
    by_cluster = np.concatenate([values[:30], values[30:90:6]])
    other = bg.Instance.from_table(np.tile(by_cluster, (8, 1, 1)), ["A", "B"], "population")
    runs = [run_table(other, Setting.for_instance(other, goal, 0.3), make("adaptive"), (9, k), 10**9)
            for k in range(30)]  # fmt: skip
    assert sum(ended and answer == {0} for answer, _, _, ended in runs) > 25


def test_clusters_that_do_not_fit_are_refused():
    values = table_of(20, 1)
    with pytest.raises(InvalidInput, match="a cluster for each of the 20 items; got 3"):
        bg.Instance.from_table(values, GROUPS, clusters=["a", "b", "c"])
    with pytest.raises(InvalidInput, match="not for an endless stream"):
        bg.Instance.from_table(values, GROUPS, "stream", clusters=["a"] * 20)
    with pytest.raises(InvalidInput, match="must be a list"):
        bg.Instance.from_table(values, GROUPS, clusters="a" * 20)


def test_results_of_another_table_are_not_taken_for_those_of_this_one(tmp_path):
    """Two tables may have the same means, and a table may be a pool or a population."""
    values, goal, file = table_of(40, 5), bg.ParetoGroups(0.05), tmp_path / "results.db"
    turned = values.copy()
    turned[:, 0] = turned[::-1, 0]  # the same means, in another order of the items
    labels = [f"{k // 4}" for k in range(40)]
    given = {"runs": 3, "delta": 0.1, "progress": False}
    instances = [
        bg.Instance.from_table(values, GROUPS),
        bg.Instance.from_table(turned, GROUPS),
        bg.Instance.from_table(values, GROUPS, "population"),
        bg.Instance.from_table(values, GROUPS, clusters=labels),
    ]
    bg.simulate(instances[0], goal, "adaptive", **given, results=file)
    for other in instances[1:]:
        with pytest.raises(InvalidInput, match="another specification"):
            bg.simulate(other, goal, "adaptive", **given, results=file)


def test_costs_steer_but_do_not_decide():
    """Of two arms of a group that are equally good the cheap one goes deep."""
    rng = np.random.default_rng(2)
    hard = rng.normal(size=(400, 1, 1))
    skill = np.array([0.3, 0.3, 0.0, -0.2])[None, :, None]
    values = 1 / (1 + np.exp(-(skill + hard + 0.3 * rng.normal(size=(400, 4, 1)))))
    instance = bg.Instance.from_table(values, ["A", "A", "B", "C"])
    goal, spent = bg.ParetoGroups(0.0), {}
    for name, costs in (("equal", None), ("dear", ((50.0, 1.0), (1.0,), (1.0,)))):
        setting = Setting(instance.shape, goal, instance.noise, 0.1, costs, instance.items)
        runs = [run_table(instance, setting, make("adaptive"), (0, k), 10**9) for k in range(10)]
        assert all(0 in answer for answer, *_ in runs)
        spent[name] = sum(counts[0, 0] for _, counts, *_ in runs)
    assert spent["dear"] < 0.7 * spent["equal"]


def test_plan_compare_and_calibrate_take_tables():
    instance = bg.Instance.from_table(table_of(60, 3), GROUPS)
    goal = bg.ParetoGroups(0.05)
    table = bg.plan(instance, goal, epsilons=[0.1], deltas=[0.1], runs=3)
    assert 0 < table.rows[0].share <= 1
    assert table.rows[0].limit is None
    both = bg.compare(instance, goal, delta=0.1, runs=2)
    assert [sim.algorithm.name for sim in both.simulations] == ["te-plus", "adaptive"]
    assert bg.calibrate(instance, goal, "adaptive", delta=0.1, runs=20).rates[0].errors <= 8

"""Studies whose items come in clusters."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.errors import InvalidInput

GROUPS = {"A": ["a1", "a2"], "B": ["b1"], "C": ["c1"]}
ARMS = ["a1", "a2", "b1", "c1"]
PASSAGES, N = 60, 150
GOALS = [bg.ParetoGroups(0.03), bg.BestGroup([1.0, 1.0], 0.02), bg.BestGroup([1.0, 2.0])]


def table(seed):
    """Return values on the grid of 1/64, so that sums are exact, and the cluster of each item."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(PASSAGES), rng.integers(0, PASSAGES, N - PASSAGES)])
    rng.shuffle(labels)
    skill = np.array([1.2, 0.4, 0.2, -0.9])[None, :, None]
    hard = rng.normal(size=(PASSAGES, 1, 1))[labels]
    raw = skill + hard + 0.5 * rng.normal(size=(N, 4, 2))
    return np.round(64 / (1 + np.exp(-raw))) / 64, [f"p{label}" for label in labels]


TABLE, LABELS = table(3)
NAMES = [f"i{t}" for t in range(N)]


def problem(labels=LABELS, **items):
    own = bg.Items(names=NAMES[: len(labels)], clusters=labels, **items)
    return bg.Problem(GROUPS, {"x": "max", "y": "max"}, bg.Bounded(0, 1), items=own)


def evaluate(group, arm, item):
    return TABLE[int(item[1:]), ARMS.index(arm)]


def best():
    means = TABLE.mean(axis=0)
    return np.stack([means[:2].max(axis=0), means[2], means[3]])


def in_order(seed):
    return list(problem().items.order(seed))


def test_the_order_keeps_clusters_together_and_is_the_seeds():
    order, members = in_order(5), problem().items.members
    assert sorted(order) == list(range(N)) and order != in_order(6)
    labels = [LABELS[k] for k in order]
    starts = [t for t in range(N) if t == 0 or labels[t] != labels[t - 1]]
    assert len(starts) == PASSAGES == len(members)
    assert [labels[t] for t in starts] == problem().items.units(5)


@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_solve_goes_cluster_by_cluster_and_finds_the_truth(goal):
    asked = {}

    def watched(group, arm, item):
        asked.setdefault(arm, []).append(int(item[1:]))
        return evaluate(group, arm, item)

    found = bg.solve(problem(), goal, watched, 0.1, seed=5)
    order, ends = in_order(5), set()
    for label in problem().items.units(5):
        ends.add(max(ends, default=0) + LABELS.count(label))
    assert found.proven and found.answer.pulls == sum(map(len, asked.values())) < 4 * N
    for own in asked.values():
        assert own == order[: len(own)] and len(own) in ends
    worth = best() @ np.ones(2) if isinstance(goal, bg.ParetoGroups) else best() @ goal.weights
    assert "ABC"[int(worth.argmax())] in found.answer.groups
    assert "clusters of items" in str(found.answer.guarantee)


@pytest.mark.parametrize("goal", GOALS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_a_run_on_clusters_is_the_run_on_their_sums(goal, seed):
    values, labels = table(seed + 10)
    items = bg.Items(names=NAMES, clusters=labels)
    order = list(items.order(seed))
    tape = values[order].reshape(N, 4, 2)
    rows = [tape[:, :2], tape[:, 2:3], tape[:, 3:]]
    ordered = [labels[k] for k in order]
    clusters = bg.Items(names=[NAMES[k] for k in order], clusters=ordered)
    noise = bg.Bounded(0, 1)
    kwargs = {"algorithm": "adaptive", "delta": 0.1}
    ours = bg.replay(rows, goal, noise=noise, items=clusters, **kwargs)
    units = items.units(seed)
    sizes = [labels.count(unit) for unit in units]
    ends = np.cumsum(sizes)
    sums = np.stack([tape[e - s : e].sum(axis=0) for s, e in zip(sizes, ends, strict=True)])
    wide = bg.Bounded(0, max(sizes))
    scaled = goal.with_epsilon(np.asarray(goal.epsilon) * N / PASSAGES)
    parts = [sums[:, :2], sums[:, 2:3], sums[:, 3:]]
    naive = bg.replay(parts, scaled, noise=wide, items=PASSAGES, **kwargs)
    assert ours.answer == naive.answer and len(ours.rounds) == len(naive.rounds)
    for mine, other in zip(ours.pulls_by_arm, naive.pulls_by_arm, strict=True):
        reached = [0 if c == 0 else int(ends[c - 1]) for c in other]
        assert list(mine) == reached


def test_compiled_and_plain_agree():
    order = in_order(1)
    tape = TABLE[order]
    rows = [tape[:, :2], tape[:, 2:3], tape[:, 3:]]
    items = bg.Items(names=[NAMES[k] for k in order], clusters=[LABELS[k] for k in order])
    for goal in GOALS[:2]:
        runs = [
            bg.replay(rows, goal, "adaptive", 0.1, noise=bg.Bounded(0, 1), items=items, compiled=c)
            for c in (False, True)
        ]
        assert runs[0].answer == runs[1].answer and runs[0].pulls == runs[1].pulls
        assert len(runs[0].rounds) == len(runs[1].rounds)


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
def test_a_study_on_clusters_comes_back_and_its_table_is_certified(storage, tmp_path):
    where = "memory" if storage == "memory" else f"sqlite:///{tmp_path}/s.db"
    bg.create_study("passages", problem(), GOALS[0], 0.1, where, seed=5)
    while True:
        study = bg.load_study("passages", where)  # as another process would
        tickets = study.ask(3)
        if not tickets:
            break
        for ticket in tickets:
            study.tell(ticket, evaluate(ticket.group, ticket.arm, ticket.item))
    direct = bg.solve(problem(), GOALS[0], evaluate, 0.1, seed=5)
    assert set(study.answer().groups) == set(direct.answer.groups)
    assert study.answer().pulls == direct.answer.pulls and study.verify() >= 0
    frame = study.to_frame()
    order = problem().items.units(5)
    again = bg.certify(frame, GOALS[0], problem(), 0.1, order=order)
    mine = study.certificate()
    assert mine.to_frame().equals(again.to_frame())
    if storage == "memory":
        bg.delete_study("passages", where)


def test_clusters_of_a_population_may_differ_in_size():
    sample = problem(target="population")
    goal, most = bg.ParetoGroups(0.7), max(map(LABELS.count, LABELS))
    found = bg.solve(sample, goal, evaluate, 0.3, seed=1)
    assert "A" in found.answer.groups and found.proven
    assert f"of at most {most} items" in str(found.answer.guarantee)
    with pytest.raises(InvalidInput, match=f"a cluster of {most} items here"):
        problem(target="population", largest=most - 1)
    for wrong in ({"largest": 19}, {"largest": 19, "clusters": None, "target": "population"}):
        with pytest.raises(InvalidInput, match="clusters of a population"):
            bg.Items(**{"names": NAMES, "clusters": LABELS, **wrong})
    wide = problem(target="population", largest=2 * most)
    assert bg.Problem.from_dict(wide.to_dict()) == wide and wide != sample
    slow = bg.solve(wide, goal, evaluate, 0.3, seed=1)
    assert slow.answer.pulls > found.answer.pulls  # a larger cluster may come


@pytest.mark.parametrize("seed", range(4))
def test_pareto_groups_of_a_population_of_clusters_are_decided_when_certify_does(seed):
    """Not a plan earlier, not a plan later: the claims and their levels are the same."""
    values, labels = table(seed + 20)
    values[:, 2:] *= 0.3
    items = bg.Items(names=NAMES, clusters=labels, target="population", largest=12)
    order = list(items.order(seed))
    tape, met = values[order], [labels[k] for k in order]
    told = bg.Items(names=NAMES, clusters=met, target="population", largest=12)
    rows = [tape[:, :2], tape[:, 2:3], tape[:, 3:]]
    goal = bg.ParetoGroups(0.3)
    trace = bg.replay(rows, goal, "adaptive", 0.2, noise=bg.Bounded(0, 1), items=told)
    pulls = np.array([np.concatenate(r.pulled) for r in trace.rounds]).cumsum(axis=0)
    for counts in pulls[-3:]:
        seen = [
            {"group": g, "arm": arm, "item": NAMES[t], "x": tape[t, a, 0], "y": tape[t, a, 1]}
            for a, (g, arm) in enumerate(zip("AABC", ARMS, strict=True))
            for t in range(counts[a])
        ]
        own = bg.Problem(GROUPS, {"x": "max", "y": "max"}, bg.Bounded(0, 1), items=told)
        order = list(dict.fromkeys(met))
        found = bg.certify(seen, goal, own, 0.2, order=order)
        assert bool(found.undecided) == bool((counts != pulls[-1]).any())
    assert set(found.accepted) == {"ABC"[i] for i in trace.answer}


def test_clusters_of_one_size():
    even = problem([f"p{k // 3}" for k in range(N)], target="population")
    found = bg.solve(even, bg.ParetoGroups(0.4), evaluate, 0.3, seed=1)
    assert found.answer.pulls % 3 == 0


def test_a_tape_keeps_clusters_together():
    rows = [TABLE[:, :2], TABLE[:, 2:3], TABLE[:, 3:]]
    items = bg.Items(N, clusters=LABELS)
    with pytest.raises(InvalidInput, match="follow each other"):
        bg.replay(rows, GOALS[0], "adaptive", noise=bg.Bounded(0, 1), items=items)

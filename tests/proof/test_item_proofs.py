"""Proofs on shared items: complete pools, parts of pools, populations, studies."""

import json

import numpy as np
import pytest
from cases import proof_of, write
from stranger import stranger_says
from test_accepted import accepted

import bestgroup as bg
from bestgroup.proof.format import digest_of
from bestgroup.proof.verify import verify_document
from cells import every_other

MEANS = {"A": (0.7, 0.7), "B": (0.4, 0.45), "C": (0.75, 0.3)}


def rows_on(items=200, seed=1, coins=False):
    """Return rows of six arms on the same items, in a random order, and the order."""
    rng, rows = np.random.default_rng(seed), []
    order = [f"q{t}" for t in rng.permutation(items)]
    for item in order:
        hard = rng.normal(0, 0.2)
        for group, means in MEANS.items():
            for arm, less in (("x", 0.0), ("y", 0.1)):
                u, v = (float(np.clip(m - less + hard + rng.normal(0, 0.1), 0, 1)) for m in means)
                if coins:
                    u, v = float(u > 0.5), float(v > 0.5)
                rows.append({"group": group, "arm": arm, "item": item, "u": u, "v": v})
    return rows, order


@pytest.mark.parametrize("coins", [False, True])
@pytest.mark.parametrize("goal", [bg.ParetoGroups(0.02), bg.BestGroup([1.0, 1.0], 0.01)], ids=str)
def test_a_complete_pool(goal, coins, tmp_path):
    rows, _ = rows_on(60, coins=coins)
    table = write(rows, tmp_path / "rows.csv")
    noise = bg.Bernoulli() if coins else bg.Bounded(0, 1)
    found = bg.certify(table, goal, noise=noise, items="pool")
    document = proof_of(found, tmp_path)
    assert document["method"]["kind"] == "pool"
    accepted(document, table)
    short = write(rows[:-1], tmp_path / "short.csv")
    with pytest.raises(AssertionError):
        accepted(document, short)


PARETO, BEST, NEAR = bg.ParetoGroups(0.05), bg.BestGroup([1.0, 1.0]), bg.BestGroup([1.0, 2.0], 0.02)


@pytest.mark.parametrize(
    ("coins", "goal"), every_other([False, True], [PARETO, BEST, NEAR]), ids=str
)
def test_a_part_of_a_pool_and_a_population(goal, coins, tmp_path):
    noise = bg.Bernoulli() if coins else bg.Bounded(0, 1)
    rows, order = rows_on(300, coins=coins)
    pool = bg.Items(names=sorted(order), target="pool")
    part = rows[: 6 * 150]
    for data, given in ((part, {"items": pool, "order": order}), (rows, {"items": "population"})):
        table = write(data, tmp_path / "rows.csv")
        found = bg.certify(table, goal, noise=noise, **given)
        assert found.accepted
        accepted(proof_of(found, tmp_path), table)


@pytest.mark.parametrize("goal", [PARETO, NEAR], ids=str)
@pytest.mark.parametrize("whole", [False, True])
def test_repeats_are_averaged(goal, whole, tmp_path):
    rows, order = rows_on(120)
    again = rows_on(120, seed=2)[0]
    twice = {(row["group"], row["arm"], row["item"]): row for row in again}
    count = len(rows) if whole else 6 * 70
    data = [
        two for row in rows[:count] for two in (row, twice[row["group"], row["arm"], row["item"]])
    ]
    table = write(data, tmp_path / "rows.csv")
    items = bg.Items(names=sorted(order), target="pool", repeats=2)
    found = bg.certify(table, goal, noise=bg.Bounded(0, 1), items=items, order=order)
    assert found.accepted
    document = proof_of(found, tmp_path)
    assert document["method"]["repeats"] == 2
    assert any("mean of 2 rows" in words for words in document["assumptions"])
    accepted(document, table)
    less = write(data[1:], tmp_path / "less.csv")
    document["data"]["rows"] -= 1
    with pytest.raises(AssertionError):
        accepted(document, less)


def clustered(order, equal):
    """Return the label of the cluster of every item: threes in a row, or one to four."""
    rng, labels = np.random.default_rng(0), {}
    while len(labels) < len(order):
        size = 3 if equal else int(rng.integers(1, 5))
        name = f"passage {len(labels)}"
        labels |= dict.fromkeys(order[len(labels) : len(labels) + size], name)
    return labels


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("target", ["pool", "population", "declared"])
def test_clusters_of_items(target, equal, tmp_path):
    rows, order = rows_on(240)
    labels, names = clustered(order, equal), sorted(order)
    given, part = {}, rows
    if target == "pool":
        given, part = (
            {"order": list(dict.fromkeys(labels[item] for item in order))},
            rows[: 6 * 180],
        )
    items = bg.Items(
        names=names,
        target="pool" if target == "pool" else "population",
        clusters=[labels[name] for name in names],
        largest=6 if target == "declared" else None,
    )
    table = write(part, tmp_path / "rows.csv")
    found = bg.certify(table, bg.ParetoGroups(0.1), noise=bg.Bounded(0, 1), items=items, **given)
    assert found.accepted
    document = proof_of(found, tmp_path)
    accepted(document, table)
    largest = 6 if target == "declared" else (3 if equal else 4)
    slack = "apart" if target == "pool" else "within"
    assert document["method"]["clusters"] == {"largest": largest, "slack": slack}
    assert document["version"] == 3
    assert any("clusters" in words for words in document["assumptions"])


@pytest.mark.parametrize(("declared", "equal"), every_other([None, 6], [False, True]))
def test_maps_on_clusters_of_a_population(equal, declared, tmp_path):
    rows, order = rows_on(240)
    labels, names = clustered(order, equal), sorted(order)
    clusters = [labels[name] for name in names]
    items = bg.Items(names=names, target="population", clusters=clusters, largest=declared)
    table = write(rows, tmp_path / "rows.csv")
    goal = bg.WeightMap(epsilon=0.45 if declared is None else 0.6)
    found = bg.certify(table, goal, noise=bg.Bounded(0, 1), items=items)
    assert found.accepted
    document = proof_of(found, tmp_path)
    accepted(document, table)
    assert document["version"] == 4 and document["method"]["clusters"]["slack"] == "within"
    assert {document["problem"]["groups"][i][0] for i in document["answer"]["in"]} == set(
        found.accepted
    )
    # A bound below the range says nothing, and holds; one above it never does.
    for end, fine in ((-0.5, True), (1.5, False)):
        other = json.loads(json.dumps(document))
        lower = next(row for row in other["claims"] if row[3] == 0)
        lower[5] = end
        other["answer"]["in"], other["digest"] = [], ""
        other["digest"] = digest_of(other)
        ours, theirs = verify_document(other, table), stranger_says(other, table)
        assert (ours.failed == "answer") == fine == theirs.startswith("answer")


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.verify) for seed in range(4, 12))]
)
def test_complete_pools_whose_arms_lie_between_a_limit_and_its_tolerance(seed, tmp_path):
    rng = np.random.default_rng(seed)
    fine, means = int(rng.choice([2, 5, 1000])), rng.random((3, 2, 2))
    rows = [
        {"group": f"g{i}", "arm": f"a{j}", "item": f"q{q}", "u": float(u), "v": float(v)}
        for q in range(12)
        for i in range(3)
        for j in range(2)
        for u, v in [np.round(np.clip(rng.normal(means[i, j], 0.2), 0, 1) * fine) / fine]
    ]
    at = float(np.mean([row["v"] for row in rows if (row["group"], row["arm"]) == ("g0", "a0")]))
    table = write(rows, tmp_path / "rows.csv")
    for goal in (PARETO, BEST, NEAR):
        for limit in ((">=", at, 0.0), (">=", at, 0.3), ("<=", at + 0.01, 0.2), (">=", 0.5, 0.1)):
            found = bg.certify(
                table, goal, noise=bg.Bounded(0, 1), items="pool", require={"v": limit}
            )
            document = proof_of(found, tmp_path)
            accepted(document, table)
            inside = {document["problem"]["groups"][i][0] for i in document["answer"]["in"]}
            assert inside == set(found.accepted)


def test_a_complete_pool_with_a_tie_and_a_slack_leaves_the_tied_group_open(tmp_path):
    means = {"A": 0.6, "B": 0.6, "C": 0.2}
    rows = [
        {"group": g, "arm": "x", "item": f"q{q}", "u": m + 0.1 * (q % 2), "v": m - 0.1 * (q % 2)}
        for q in range(10)
        for g, m in means.items()
    ]
    table = write(rows, tmp_path / "rows.csv")
    for goal, given in ((bg.TopGroups(1, [1, 1], 0.1), {}), (NEAR, {"worth": "mean"})):
        found = bg.certify(table, goal, noise=bg.Bounded(0, 1), items="pool", **given)
        assert found.accepted == ("A",) and found.rejected == ("C",)
        accepted(proof_of(found, tmp_path), table)


def test_a_complete_pool_of_clusters_is_one_of_items(tmp_path):
    rows, order = rows_on(60)
    labels, names = clustered(order, False), sorted(order)
    items = bg.Items(names=names, target="pool", clusters=[labels[name] for name in names])
    table = write(rows, tmp_path / "rows.csv")
    for goal in (PARETO, BEST):
        found = bg.certify(table, goal, noise=bg.Bounded(0, 1), items=items)
        document = proof_of(found, tmp_path)
        assert document["method"]["kind"] == "pool" and "clusters" not in document["method"]
        accepted(document, table)


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("target", ["pool", "population"])
def test_runs_on_clusters(target, equal, tmp_path):
    rng = np.random.default_rng(3)
    order = [f"q{k}" for k in range(399)]
    labels = clustered(order, equal)
    items = bg.Items(names=order, target=target, clusters=[labels[name] for name in order])
    problem = bg.Problem(
        {g: ["x", "y"] for g in MEANS}, {"u": "max", "v": "max"}, bg.Bounded(0, 1), items=items
    )

    def evaluate(group, arm, item):
        return [
            float(np.clip(m - 0.1 * (arm == "y") + rng.normal(0, 0.1), 0, 1)) for m in MEANS[group]
        ]

    found = bg.solve(problem, bg.ParetoGroups(0.15), evaluate)
    found.save(tmp_path / "rows.csv")
    document = proof_of(found, tmp_path)
    accepted(document, tmp_path / "rows.csv")
    if document["method"]["kind"] == "items":
        apart = target == "pool" or equal
        assert document["method"]["clusters"]["slack"] == ("apart" if apart else "within")


@pytest.mark.parametrize("goal", [BEST, NEAR], ids=["best", "near"])
@pytest.mark.parametrize("equal", [True, False], ids=["one size", "sizes differ"])
@pytest.mark.parametrize("target", ["pool", "population"])
def test_the_best_group_on_a_part_of_clusters(target, equal, goal, tmp_path):
    rows, order = rows_on(300)
    labels, names = clustered(order, equal), sorted(order)
    items = bg.Items(names=names, target=target, clusters=[labels[name] for name in names])
    given = {"order": list(dict.fromkeys(labels.values()))} if target == "pool" else {}
    if target == "pool":
        rows = [row for row in rows if row["item"] in order[:210]]
    table = write(rows, tmp_path / "rows.csv")
    found = bg.certify(table, goal, noise=bg.Bounded(0, 1), items=items, **given)
    assert found.accepted
    document = proof_of(found, tmp_path)
    assert document["method"]["budget"] == "pairs" and document["version"] == 3
    accepted(document, table)
    changed = {**document, "method": {**document["method"], "budget": "terms"}}
    changed["digest"] = digest_of(changed)
    assert not verify_document(changed, table).verified
    assert stranger_says(changed, table) is not None


@pytest.mark.parametrize("goal", [BEST, NEAR], ids=["best", "near"])
@pytest.mark.parametrize("equal", [True, False], ids=["one size", "sizes differ"])
@pytest.mark.parametrize("target", ["pool", "population"])
def test_the_best_group_of_runs_on_clusters(target, equal, goal, tmp_path):
    rng = np.random.default_rng(3)
    order = [f"q{t}" for t in range(300)]
    labels = clustered(order, equal)
    items = bg.Items(names=order, target=target, clusters=[labels[name] for name in order])
    problem = bg.Problem(
        {g: ["x", "y"] for g in MEANS}, {"u": "max", "v": "max"}, bg.Bounded(0, 1), items=items
    )

    def evaluate(group, arm, item):
        return [
            float(np.clip(m - 0.1 * (arm == "y") + rng.normal(0, 0.1), 0, 1)) for m in MEANS[group]
        ]

    found = bg.solve(problem, goal, evaluate)
    found.save(tmp_path / "rows.csv")
    document = proof_of(found, tmp_path)
    accepted(document, tmp_path / "rows.csv")
    assert document["method"]["budget"] == "terms"


def test_a_declared_difference(tmp_path):
    rows, order = rows_on(300)
    low = {}
    for row in rows:  # values within .6 of the item's lowest one
        key = row["item"]
        low[key] = min(low.get(key, (1, 1))[0], row["u"]), min(low.get(key, (1, 1))[1], row["v"])
    for row in rows:
        row["u"], row["v"] = (
            min(row["u"], low[row["item"]][0] + 0.6),
            min(row["v"], low[row["item"]][1] + 0.6),
        )
    table = write(rows, tmp_path / "rows.csv")
    found = bg.certify(
        table, bg.ParetoGroups(0.05), noise=bg.Bounded(0, 1, difference=0.625), items="population"
    )
    document = proof_of(found, tmp_path)
    assert document["noise"]["dims"][0]["difference"] == 0.625
    accepted(document, table)


def looked_up(scores):
    return lambda group, arm, item: scores[group, arm, item]


def test_close_groups_on_a_part_of_a_pool(tmp_path):
    """Leaders change, some selections are out by the union or for certain, some up to epsilon only."""
    kinds = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        order = [f"q{t}" for t in rng.permutation(120)]
        means = {"A": 0.6, "B": 0.57, "C": 0.4}
        scores = {
            (g, a, item): [float(np.clip(m - 0.02 * (a == "y") + rng.normal(0, 0.1), 0, 1))]
            for item in order
            for g, m in means.items()
            for a in "xy"
        }
        problem = bg.Problem(
            {g: ["x", "y"] for g in means},
            {"u": "max"},
            noise=bg.Bounded(0, 1),
            items=bg.Items(names=sorted(order), target="pool"),
        )
        found = bg.solve(
            problem,
            bg.BestGroup([1.0], 0.02 * (seed % 2)),
            looked_up(scores),
            delta=0.05,
        )
        found.save(tmp_path / "rows.csv")
        document = proof_of(found, tmp_path)
        accepted(document, tmp_path / "rows.csv")
        kinds |= {claim[0] for claim in document["claims"]}
    assert {0, 1} <= kinds


@pytest.mark.parametrize("goal", [PARETO, BEST, NEAR], ids=str)
@pytest.mark.parametrize("algorithm", ["adaptive", "te-plus"])
@pytest.mark.parametrize("target", ["pool", "population"])
def test_studies_on_shared_items(algorithm, target, goal, tmp_path):
    rows, order = rows_on(150, seed=4)
    scores = {(r["group"], r["arm"], r["item"]): [r["u"], r["v"]] for r in rows}
    problem = bg.Problem(
        {g: ["x", "y"] for g in MEANS},
        {"u": "max", "v": "max"},
        noise=bg.Bounded(0, 1),
        items=bg.Items(names=sorted(order), target=target),
    )
    if algorithm == "te-plus" and goal is not PARETO:
        return
    found = bg.solve(
        problem,
        goal,
        lambda group, arm, item: scores[group, arm, item],
        delta=0.05,
        algorithm=bg.algorithm(algorithm),
    )
    found.save(tmp_path / "rows.csv")
    if not found.proven:
        pytest.skip("the sample ends before the answer")
    document = proof_of(found, tmp_path)
    accepted(document, tmp_path / "rows.csv")
    names = [document["problem"]["groups"][i][0] for i in document["answer"]["in"]]
    assert set(names) == set(found.answer.groups)


def test_a_wrong_order_is_refused(tmp_path):
    rows, _ = rows_on(200)
    table = write(rows, tmp_path / "rows.csv")
    noise = bg.Bounded(0, 1)
    found = bg.certify(table, bg.ParetoGroups(0.05), noise=noise, items="population")
    document = proof_of(found, tmp_path)
    from mutants import renew
    from stranger import stranger_says

    from bestgroup.proof.verify import verify_document

    document["method"]["order"][3:5] = document["method"]["order"][4:2:-1]
    renew(document, table)
    assert verify_document(document, table).failed == "data"
    assert stranger_says(document, table).startswith("data")


@pytest.mark.parametrize("goal", [BEST, NEAR], ids=str)
def test_both_verifiers_agree_on_mutants_of_selections_on_items(goal, tmp_path):
    from mutants import mutants
    from stranger import stranger_says

    from bestgroup.proof.verify import verify_document

    rows, _ = rows_on(60)
    found = bg.certify(rows, goal, noise=bg.Bounded(0, 1), items="population")
    document = proof_of(found, tmp_path)
    assert document["method"]["kind"] == "item selections" and document["claims"]
    for name, other, table, renewed in mutants(document, rows, 25, 3):
        checked = verify_document(other, table)
        assert renewed or not checked.verified, name
        if renewed and "in words" not in (checked.why or ""):
            theirs = stranger_says(other, write(table, tmp_path / "mutant.csv"))
            assert (theirs is None) == checked.verified, (name, theirs, checked.lines())

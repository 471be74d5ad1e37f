"""Proofs on shared items with limits, for other worths, and of the m best groups."""

import numpy as np
import pytest
from cases import proof_of, write
from stranger import stranger_says
from test_accepted import accepted

import bestgroup as bg
from bestgroup.proof.format import digest_of
from bestgroup.proof.verify import verify_document
from cells import every_other

MEANS = {"A": (0.75, 0.7), "B": (0.3, 0.25), "C": (0.8, 0.2)}
DIMS = {"u": "max", "v": "min"}
PARETO, BEST = bg.ParetoGroups(0.1), bg.BestGroup([1.0, 2.0])
ASKED = {
    "worst, pareto": (PARETO, {"worth": "worst"}),
    "mean, near best": (bg.BestGroup([1.0, 2.0], 0.1), {"worth": "mean"}),
    "second, pareto": (PARETO, {"worth": ("kth", 2)}),
    "limit, pareto": (PARETO, {"require": {"v": ("<=", 0.6, 0.02)}}),
    "limit, best": (BEST, {"require": {"v": ("<=", 0.6)}}),
    "two best": (bg.TopGroups(2, [2.0, 1.0]), {}),
    "two near best": (bg.TopGroups(2, [2.0, 1.0], 0.1), {}),
    "map": (bg.WeightMap(epsilon=0.15), {}),
    "part of a map": (bg.WeightMap([[1, 0], [1, 1]], 0.15, 0.8), {}),
}


def value(rng, group, arm):
    """Return what an arm scores on an item; v is to be minimised."""
    u, v = (m - 0.05 * (arm == "y") + rng.normal(0, 0.05) for m in MEANS[group])
    return [float(np.clip(u, 0, 1)), float(np.clip(1 - v, 0, 1))]


def rows_on(order):
    rng = np.random.default_rng(1)
    return [
        {"group": g, "arm": a, "item": item, **dict(zip(DIMS, value(rng, g, a), strict=True))}
        for item in order
        for g in MEANS
        for a in "xy"
    ]


@pytest.mark.parametrize(
    ("asked", "part"), every_other(ASKED, ["pool", "part of a pool", "population", "clusters"])
)
def test_every_table(asked, part, tmp_path):
    goal, measure = ASKED[asked]
    order = [f"q{t}" for t in np.random.default_rng(2).permutation(120)]
    rows, names, given = rows_on(order), sorted(order), {}
    items = bg.Items(names=names, target="population" if part == "population" else "pool")
    if part == "clusters":
        label = {item: f"c{t // 2}" for t, item in enumerate(order)}
        items = bg.Items(names=names, target="pool", clusters=[label[name] for name in names])
        given = {"order": list(dict.fromkeys(label.values()))}
    elif part == "part of a pool":
        given = {"order": order}
    if part in ("part of a pool", "clusters"):
        rows = rows[: 6 * 100]
    problem = bg.Problem(
        {g: ["x", "y"] for g in MEANS}, DIMS, bg.Bounded(0, 1), items=items, **measure
    )
    table = write(rows, tmp_path / "rows.csv")
    found = bg.certify(table, goal, problem, **given)
    assert found.accepted
    document = proof_of(found, tmp_path)
    kind = "item bounds" if goal.maps else "item units"
    assert document["method"]["kind"] == kind and document["version"] == 3
    accepted(document, table)
    assert {"ABC"[i] for i in document["answer"]["in"]} == set(found.accepted)


@pytest.mark.parametrize(("asked", "target"), every_other(ASKED, ["pool", "population"]))
def test_every_run(asked, target, tmp_path):
    goal, measure = ASKED[asked]
    rng = np.random.default_rng(3)
    items = bg.Items(names=[f"q{t}" for t in range(150)], target=target)
    problem = bg.Problem(
        {g: ["x", "y"] for g in MEANS}, DIMS, bg.Bounded(0, 1), items=items, **measure
    )
    found = bg.solve(problem, goal, lambda group, arm, item: value(rng, group, arm))
    assert found.proven
    found.save(tmp_path / "rows.csv")
    accepted(proof_of(found, tmp_path), tmp_path / "rows.csv")


def test_what_is_not_shown_is_refused(tmp_path):
    order = [f"q{t}" for t in range(120)]
    goal, measure = ASKED["limit, pareto"]
    items = bg.Items(names=order, target="population")
    problem = bg.Problem(
        {g: ["x", "y"] for g in MEANS}, DIMS, bg.Bounded(0, 1), items=items, **measure
    )
    table = write(rows_on(order), tmp_path / "rows.csv")
    document = proof_of(bg.certify(table, goal, problem), tmp_path)
    # Without a claim on a limit an arm does not count, with the other one it is barred.
    limits = [k for k, row in enumerate(document["claims"]) if row[0] == 2]
    for change in ("drop", "turn", "version", "early"):
        other = {**document, "claims": [list(row) for row in document["claims"]]}
        if change == "drop":
            other["claims"] = [row for k, row in enumerate(other["claims"]) if k not in limits]
        elif change == "turn":
            other["claims"][limits[0]][0] = 3
        elif change == "version":
            other["version"] = 2
        else:
            other["claims"][-1][-1] = 1
        other["digest"] = digest_of(other)
        assert not verify_document(other, table).verified, change
        assert stranger_says(other, table) is not None, change

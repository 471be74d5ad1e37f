"""Limits, other worths and the m best groups: every noise model gives files that both verifiers accept."""

import json

import numpy as np
import pytest
from cases import proof_of, write
from test_accepted import accepted
from test_matrix import NOISE, written

import bestgroup as bg

MEANS = {  # the last dim has a limit and is not judged
    "A": [(0.8, 0.8, 0.1), (0.6, 0.7, 0.9)],
    "B": [(-0.8, -0.6, 0.1), (-0.7, -0.8, 0.0)],
    "C": [(0.9, -0.8, 0.2), (0.2, -0.9, 0.1)],
    "D": [(0.2, 0.1, 0.9), (0.3, 0.2, 0.9)],
}
GROUPS = {group: ["x", "y"] for group in MEANS}
PARETO, BEST = bg.ParetoGroups(0.4), bg.BestGroup([1.0, 2.0], 0.2)
MEASURES = {
    "worst": {"worth": "worst"},
    "mean": {"worth": "mean"},
    "second": {"worth": ("kth", 2)},
    "median": {"worth": ("quantile", 0.5)},
    "a limit": {"require": {"w": ("<=", 0.6, 0.2)}},
    "limits": {"require": {"w": ("<=", 0.6), "u": (">=", -0.3, 0.1)}},
}
SLOW = ("bounded", "bernoulli", "gaussian")
TOPS = {"two": bg.TopGroups(2, [1.0, 2.0], 0.2), "one": bg.TopGroups(1, [1.0, 2.0])}


def value(rng, kind, group, arm):
    """Return what an arm gives once; the second dim is to be minimised."""
    mean = np.array(MEANS[group]["xy".index(arm)])
    if kind == "bernoulli":
        u, v, w = (rng.random(3) < 0.5 + mean / 2).astype(float).tolist()
        return [u, 1.0 - v, w]
    u, v, w = rng.normal(mean, 0.2)
    if kind == "bounded":
        u, v, w = np.clip((u, v, w), -1, 1)
    return [float(u), float(-v), float(w)]


def problem_of(kind, arms, **measure):
    dims = {"u": "max", "v": "min"} | ({"w": "watch"} if "require" in measure else {})
    return bg.Problem(GROUPS, dims, noise=NOISE[kind](arms=arms), **measure)


def certified(kind, goal, folder, arms, count=150, **measure):
    """Return the proof of a table, once both verifiers have accepted it."""
    rng = np.random.default_rng(1)
    rows = [
        {"group": g, "arm": a, **dict(zip("uvw", value(rng, kind, g, a), strict=True))}
        for _ in range(count)
        for g in GROUPS
        for a in "xy"
    ]
    table = write(rows, folder / "rows.csv")
    found = bg.certify(table, goal, problem_of(kind, arms, **measure), delta=0.1)
    document = proof_of(found, folder)
    accepted(document, table)
    names = [document["problem"]["groups"][i][0] for i in document["answer"]["in"]]
    assert names == list(found.accepted)
    return document, found


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kind", NOISE)
def test_tables_with_limits_or_other_worths(kind, measure, tmp_path):
    goal = (PARETO, BEST)[(list(NOISE).index(kind) + list(MEASURES).index(measure)) % 2]
    document, found = certified(kind, goal, tmp_path, "independent", **MEASURES[measure])
    assert found.accepted or found.rejected or kind == "bernoulli"
    assert document["statement"].split("; here ")[1] == found.problem.measure.in_words()
    alone = "pulls of different arms may depend on each other in any way" in document["assumptions"]
    assert alone == ("sums" not in document["method"])
    assert any(words.startswith("limits, and what") for words in document["assumptions"])


@pytest.mark.parametrize("arms", ["independent", "arbitrary"])
@pytest.mark.parametrize("goal", TOPS)
@pytest.mark.parametrize("kind", NOISE)
def test_tables_of_the_best_groups(kind, goal, arms, tmp_path):
    document, found = certified(kind, TOPS[goal], tmp_path, arms)
    assert found.accepted or kind == "bernoulli"
    linear = arms == "independent" and kind != "gaussian"
    assert document["method"]["kind"] == ("selections" if linear else "boxes")


def solved(kind, goal, folder, arms="independent", **measure):
    rng = np.random.default_rng(5)
    problem = problem_of(kind, arms, **measure)
    width = len(problem.dims)
    found = bg.solve(problem, goal, lambda g, a: value(rng, kind, g, a)[:width], delta=0.1)
    assert found.proven
    return written(found, folder)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("goal", [PARETO, BEST], ids=["pareto", "best"])
@pytest.mark.parametrize(
    "kind", ["subgaussian", *(pytest.param(k, marks=pytest.mark.verify) for k in SLOW)]
)
def test_runs_with_limits_or_other_worths(kind, goal, measure, tmp_path):
    document = solved(kind, goal, tmp_path, **MEASURES[measure])
    pairs = "require" in MEASURES[measure] and goal is PARETO
    assert document["method"]["kind"] == ("pairs" if pairs else "boxes")


@pytest.mark.parametrize("goal", TOPS)
@pytest.mark.parametrize("kind", ["subgaussian", "bounded", "gaussian"])
def test_runs_for_the_best_groups(kind, goal, tmp_path):
    document = solved(kind, TOPS[goal], tmp_path)
    assert document["method"]["budget"] == ("fixed" if kind == "gaussian" else "scouted")


@pytest.mark.parametrize("goal", [bg.ParetoGroups(0.1), bg.BestGroup([1.0], 0.1)])
def test_arms_that_come_and_go(goal, tmp_path):
    means = {"a": 0.0, "b": 0.8, "c": 1.6, "d": 2.4}
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(0.3), reserve=3)
    study = bg.create_study("late", problem, goal, 0.1, f"sqlite:///{tmp_path}/late.db")
    rng = np.random.default_rng(0)

    def work():
        while tickets := study.ask(4):
            for ticket in tickets:
                study.tell(ticket, [float(rng.normal(means[ticket.arm], 0.3))])

    work()
    for change in (
        lambda: study.add_group("C", ["c"]),
        lambda: study.add_arm("A", "d"),
        lambda: study.withdraw("B"),
    ):
        change()
        work()
        study.save_proof(tmp_path / "proof.json", rows=tmp_path / "rows.csv")
        document = json.loads((tmp_path / "proof.json").read_text())
        accepted(document, tmp_path / "rows.csv")
        assert document["method"]["room"] == 5
        inside = [document["problem"]["groups"][i][0] for i in document["answer"]["in"]]
        assert set(inside) == set(study.answer().groups)
    assert document["problem"]["gone"] == [["B", ["b"]]]


def test_a_file_of_version_1_says_nothing_of_limits(tmp_path):
    from stranger import stranger_says

    from bestgroup.proof.format import digest_of
    from bestgroup.proof.verify import verify_document

    document, _ = certified("subgaussian", PARETO, tmp_path, "arbitrary", worth="worst")
    document["version"] = 1
    document["digest"] = digest_of(document)
    found = verify_document(document, tmp_path / "rows.csv")
    assert not found.verified and found.failed == "format"
    assert stranger_says(document, tmp_path / "rows.csv").startswith("format")

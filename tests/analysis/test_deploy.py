"""Which arm to deploy, and which groups are tied."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.inference.certificate.data_checks import Doubt
from bestgroup.problem.status import Status
from bestgroup.studies.html_report.page import report_html

MEANS = {
    ("A", "a1"): (0.9, 0.3),
    ("A", "a2"): (0.4, 0.8),
    ("A", "a3"): (0.3, 0.2),
    ("B", "b1"): (0.6, 0.6),
    ("C", "c1"): (0.6, 0.6),
    ("D", "d1"): (0.1, 0.1),
}
NOISE = [bg.Bernoulli(), bg.Bounded(0, 1), bg.SubGaussian(0.5), bg.Bernoulli(arms="arbitrary")]


def coins(rows: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    made = []
    for (group, arm), mean in MEANS.items():
        for x, y in (rng.random((rows, 2)) < mean).astype(float):
            made.append({"group": group, "arm": arm, "x": x, "y": y})
    return made


@pytest.mark.parametrize("noise", NOISE, ids=str)
def test_a_group_that_owes_its_worth_to_two_arms_says_so(noise: Any) -> None:
    (choice,) = bg.certify(coins(2000), bg.ParetoGroups(0.1), noise=noise).deploy()
    assert choice.group == "A" and choice.one is False and choice.arm is None
    assert choice.by_dim == {"x": ("a1", True), "y": ("a2", True)}
    assert choice.arms == {"a1": "in", "a2": "in", "a3": "out"}
    assert "no single arm has it all" in str(choice)


def test_the_best_single_arm_falls_short_of_what_the_group_is_worth() -> None:
    (choice,) = bg.certify(
        coins(2000), bg.BestGroup([2, 1], 0.1), noise=bg.SubGaussian(0.5)
    ).deploy()
    assert (choice.arm, choice.how) == ("a1", "best weighted mean")
    assert choice.behind == pytest.approx(0.5, abs=0.1)  # 2 * .9 + .8 against 2 * .9 + .3


def test_one_arm_that_is_best_everywhere_is_named() -> None:
    rows = [row for row in coins(2000) if row["arm"] != "a2"]
    found = bg.certify(rows, bg.BestGroup([1, 0.2]), noise=bg.Bernoulli())
    (choice,) = found.deploy()
    assert (choice.arm, choice.how, choice.one) == ("a1", "attains every dim", True)
    assert found.to_dict()["deploy"][0]["arm"] == "a1"


def test_little_data_leaves_the_arms_open() -> None:
    found = bg.certify(coins(2000), bg.ParetoGroups(0.1), noise=bg.Bernoulli())
    few = bg.certify(coins(30), bg.BestGroup([5, 5]), noise=bg.Bernoulli())
    assert few.deploy() == [] and found.deploy()


def test_nothing_is_proven_of_arms_where_an_assumption_fails() -> None:
    rows = coins(2000)
    for row in rows:
        row["x"] = 100 * row["x"]  # the spread is far above the scale
    found = bg.certify(rows, bg.ParetoGroups(0.1), noise=bg.SubGaussian(0.5))
    assert found.guarantee.level == "none" and found.ties() == []
    for choice in found.deploy():
        assert choice.arm is None or len(choice.arms) == 1
        assert not any(proven for _, proven in choice.by_dim.values())


@pytest.mark.parametrize("noise", NOISE[:3], ids=str)
def test_groups_that_are_close_are_proven_tied(noise: Any) -> None:
    found = bg.certify(coins(2000), bg.ParetoGroups(0.1), noise=noise)
    assert found.ties() == [("B", "C")]
    assert found.ties(0.001) == []


def test_ties_by_weighted_worth_and_by_intervals() -> None:
    best = bg.certify(coins(4000), bg.BestGroup([1, 1], 0.2), noise=bg.SubGaussian(0.5))
    assert best.ties() == [("B", "C")]
    apart = bg.certify(coins(4000), bg.ParetoGroups(0.2), noise=NOISE[3])
    assert ("B", "C") in apart.ties()


def test_ties_need_an_epsilon() -> None:
    found = bg.certify(coins(20), bg.ParetoGroups(0.0), noise=bg.Bernoulli())
    with pytest.raises(bg.InvalidInput, match="epsilon above 0"):
        found.ties()
    with pytest.raises(bg.InvalidInput):
        found.ties(-1)


def test_on_shared_items() -> None:
    rng = np.random.default_rng(1)
    hard = rng.random(600)
    order = [str(t) for t in rng.permutation(600)]
    rows = []
    for (group, arm), (x, y) in MEANS.items():
        for t in map(int, order[:500]):
            value = {"x": float(hard[t] < x), "y": float(1 - hard[t] < y)}
            rows.append({"group": group, "arm": arm, "item": str(t), **value})
    items = bg.Items(names=tuple(str(t) for t in range(600)))
    found = bg.certify(rows, bg.ParetoGroups(0.1), noise=bg.Bernoulli(), items=items, order=order)
    (choice,) = found.deploy()
    assert choice.group == "A" and choice.arms == {"a1": "in", "a2": "in", "a3": "out"}
    assert found.ties() == [("B", "C")]


def test_a_solution_names_the_arms() -> None:
    rng = np.random.default_rng(3)
    problem = bg.Problem(
        {"A": ["a1", "a2"], "B": ["b"]}, {"x": "max", "y": "min"}, bg.SubGaussian(1)
    )
    means = {"a1": (5.0, 4.0), "a2": (0.0, 0.0), "b": (-3.0, 9.0)}
    found = bg.solve(
        problem, bg.ParetoGroups(0.5), lambda g, arm: rng.normal(means[arm], 1.0), progress=False
    )
    (choice,) = found.deploy()
    assert choice.group == "A" and set(choice.by_dim) == {"x", "y"}
    assert choice.by_dim["y"][0] == "a2"
    assert found.ties() == []


@pytest.mark.parametrize(
    ("noise", "runs"),
    [
        (bg.SubGaussian(0.5), 60),
        pytest.param(bg.SubGaussian(0.5), 1000, marks=pytest.mark.verify),
        pytest.param(bg.Bernoulli(), 300, marks=pytest.mark.verify),
    ],
)
def test_errors_on_arms_and_ties_are_rare(noise: Any, runs: int) -> None:
    """Two groups whose distance is just above epsilon, arms that tie: looked at all along."""
    delta, wrong_arms, wrong_ties = 0.3, 0, 0
    truth = {"A": [0.5, 0.5, 0.499], "B": [0.39]}
    for run in range(runs):
        rng = np.random.default_rng([7, run])
        rows: dict[tuple[str, str], list[float]] = {
            (g, str(j)): [] for g, arms in truth.items() for j in range(len(arms))
        }
        bad_arm = bad_tie = False
        for look in (50, 200, 800, 2000):
            for (g, j), values in rows.items():
                values.extend((rng.random(look - len(values)) < truth[g][int(j)]).astype(float))
            table = {
                "group": [g for (g, _), v in rows.items() for _ in v],
                "arm": [j for (_, j), v in rows.items() for _ in v],
                "x": list(itertools.chain(*rows.values())),
            }
            found = bg.certify(table, bg.ParetoGroups(0.1), noise=noise, delta=delta)
            bad_tie |= bool(found.ties())
            for choice in found.deploy():
                if choice.group == "A":
                    bad_arm |= choice.arms["0"] == "out" and choice.arms["1"] == "out"
                    bad_arm |= choice.by_dim["x"] == ("2", True)
        wrong_arms, wrong_ties = wrong_arms + bad_arm, wrong_ties + bad_tie
    assert wrong_arms <= delta * runs * 0.5 and wrong_ties <= delta * runs * 0.5


def test_statuses_of_arms_are_words_of_a_status() -> None:
    words = {status.word for status in Status}
    for choice in bg.certify(coins(500), bg.ParetoGroups(0.1), noise=bg.Bernoulli()).deploy():
        assert set(choice.arms.values()) <= words


def test_arms_alone_are_groups_of_one(tmp_path: Path) -> None:
    alone = bg.Problem(None, {"x": "max"}, bg.Bernoulli(), arms=["a", "b"])
    assert alone == bg.Problem({"a": ["a"], "b": ["b"]}, {"x": "max"}, bg.Bernoulli())
    file = tmp_path / "arms.toml"
    file.write_text(
        'arms = ["a", "b"]\n[goal]\nkind = "best"\nweights = { x = 1 }\n'
        '[dims]\nx = "max"\n[noise]\nkind = "bernoulli"\n'
    )
    assert bg.load_spec(file).problem == alone
    rng = np.random.default_rng(0)
    found = bg.solve(
        alone, bg.BestGroup([1]), lambda g, a: float(rng.random() < {"a": 0.9, "b": 0.2}[a])
    )
    assert found.answer.groups == ("a",) and str(found.deploy()[0]) == "a: a, its only arm"


@pytest.mark.parametrize(
    ("groups", "arms"),
    [(None, None), (None, []), (None, ["a", "a"]), (None, "a"), ({"A": ["a"]}, ["a"])],
)
def test_arms_alone_that_make_no_sense_are_refused(groups: Any, arms: Any) -> None:
    with pytest.raises(bg.InvalidInput):
        bg.Problem(groups, {"x": "max"}, bg.Bernoulli(), arms=arms)


def test_a_guess_stands_beside_what_is_proven() -> None:
    found = bg.certify(coins(200), bg.ParetoGroups(0.1), noise=bg.SubGaussian(0.5))
    guess = found.guess()
    assert guess.groups == ("A",) and guess.level is not None and found.undecided
    at = bg.certify(coins(200), bg.ParetoGroups(0.1), noise=bg.SubGaussian(0.5), delta=guess.level)
    below = bg.certify(
        coins(200), bg.ParetoGroups(0.1), noise=bg.SubGaussian(0.5), delta=guess.level / 1.1
    )
    assert not at.undecided and below.undecided  # the least delta at which all is proven
    assert found.to_dict()["guess"]["level"] == guess.level


def test_boxes_give_a_guess_without_a_level() -> None:
    found = bg.certify(coins(60), bg.ParetoGroups(0.1), noise=bg.Bernoulli(arms="arbitrary"))
    assert found.guess().groups == ("A",) and found.guess().level is None
    few = bg.certify(coins(5), bg.BestGroup([1, 1]), noise=bg.SubGaussian(0.5))
    assert few.guess().level == 1.0


def test_a_budget_that_is_spent_leaves_a_guess() -> None:
    rng = np.random.default_rng(0)
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1))
    found = bg.solve(
        problem,
        bg.BestGroup([1]),
        lambda g, arm: rng.normal({"a": 0.4, "b": 0.0}[arm], 1.0),
        budget=40,
        progress=False,
    )
    assert not found.proven and found.guess().groups == ("A",)


@pytest.mark.verify
def test_a_wrong_guess_has_an_e_value_of_at_most_one_on_the_mean() -> None:
    """Two equal groups, stopped when the guess looks good: the worst that a person can do."""
    total, runs = 0.0, 300
    for run in range(runs):
        rng = np.random.default_rng([11, run])
        values = rng.normal(size=(2, 400))
        for look in range(10, 401, 10):
            table = {
                "group": ["A"] * look + ["B"] * look,
                "x": [*values[0, :look], *values[1, :look]],
            }
            found = bg.certify(table, bg.ParetoGroups(0.0), noise=bg.SubGaussian(1.0)).guess()
            if len(found.groups) == 1 and found.level is not None and found.level < 0.4:
                total += 1.0 / found.level  # wrong: both are Pareto optimal
                break
    print(f"mean e-value of wrong guesses: {total / runs:.3f} over {runs} runs")
    assert 0.0 < total / runs <= 1.0


def test_a_guess_on_shared_items_has_no_level() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"group": g, "arm": "a", "item": str(t), "x": float(rng.random() < p)}
        for g, p in (("A", 0.7), ("B", 0.5))
        for t in range(40)
    ]
    order = [str(t) for t in range(400)]
    found = bg.certify(
        rows,
        bg.BestGroup([1]),
        noise=bg.Bernoulli(),
        items=bg.Items(names=tuple(order)),
        order=order,
    )
    assert found.undecided and found.guess().groups == ("A",) and found.guess().level is None


@pytest.mark.parametrize("rows", [20, 60, 200])
@pytest.mark.parametrize("noise", [*NOISE, bg.Gaussian()], ids=str)
def test_a_guess_contradicts_nothing_that_is_decided(noise: Any, rows: int) -> None:
    table = coins(rows)
    if isinstance(noise, bg.Gaussian):
        rng = np.random.default_rng(5)
        table = [
            {**row, "x": row["x"] + rng.normal(), "y": row["y"] + rng.normal()} for row in table
        ]
    asked = bg.ParetoGroups(0.3), bg.BestGroup([1, 1], 0.3), bg.WeightMap(epsilon=0.3)
    for goal in (*asked, bg.TopGroups(2, [1, 1], 0.3)):
        found = bg.certify(table, goal, noise=noise)
        if found.undecided:
            guess = set(found.guess().groups)
            assert set(found.accepted) <= guess and not guess & set(found.rejected)


def test_a_guess_keeps_what_is_in_and_leaves_out_what_is_out() -> None:
    worth, inside = np.array([[0.1, 0.3], [0.9, 0.1], [0.2, 0.8]]), np.array([True, False, False])
    assert bg.BestGroup([1, 1]).guessed(worth, inside).tolist() == [True, False, False]
    assert bg.TopGroups(2, [1, 1]).guessed(worth, inside).tolist() == [True, True, False]
    assert bg.WeightMap().guessed(worth, inside).tolist() == [True, True, True]
    assert bg.WeightMap().guessed(worth, ~inside & False).tolist() == [False, True, True]
    rng, means = np.random.default_rng(0), {"A": (0.6, 0.6), "B": (0.62, 0.58), "C": (0.1, 0.1)}
    rows = [
        {"group": g, "arm": "a", "x": x, "y": y}
        for g, mean in means.items()
        for x, y in rng.normal(mean, 0.3, (150, 2))
    ]
    found = bg.certify(rows, bg.WeightMap(epsilon=0.15), noise=bg.SubGaussian(0.3))
    halved = found.verdict._replace(status=np.array([Status.IN, Status.UNDECIDED, Status.OUT]))
    doubted = replace(found, verdict=halved, basis=None).guess().groups
    assert "A" in doubted and "C" not in doubted


def test_doubts_void_what_rows_prove_also_where_the_algorithm_has_no_proof() -> None:
    found = bg.certify(coins(2000), bg.ParetoGroups(0.1), noise=bg.SubGaussian(0.5))
    none = found.guarantee.void("its algorithm has no proof")
    study = replace(found, guarantee=none, together=found.guarantee, own_proof=False)
    assert study.ties()
    doubted = study.with_doubts([Doubt("the spread is above the scale", True)])
    assert doubted.together is not None and doubted.together.level == "none"
    assert doubted.ties() == [] and doubted.guarantee == none


def limited(arms: dict[str, tuple[float, float, float]], goal: Any, rows: int = 300) -> Any:
    """Return the certificate of groups A (all arms but the last) and B, where s must be at most 1."""
    rng, last = np.random.default_rng(1), list(arms)[-1]
    table = [
        {"group": "B" if arm == last else "A", "arm": arm, "x": x, "y": y, "s": s}
        for arm, mean in arms.items()
        for x, y, s in rng.normal(mean, 0.1, (rows, 3))
    ]
    limits = {"require": {"s": ("<=", 1.0, 0.1)}, "watch": ["s"]}
    return bg.certify(table, goal, noise=bg.SubGaussian([0.1] * 3), **limits)


def test_an_arm_that_breaks_a_limit_is_not_called_beaten_or_worse() -> None:
    """Arm a is the best in every dim and breaks the limit."""
    arms = {"a": (0.9, 0.9, 1.5), "b": (0.8, 0.7, 0.5), "z": (0.85, 0.5, 0.9), "c": (0.3, 0.2, 0.2)}
    (own,) = limited(arms, bg.ParetoGroups(0.05)).deploy()
    assert own.arms["a"] == "out" and "breaks a limit: a" in own.text
    assert "not beaten by another of its arms that keeps the limits: b, z" in own.text
    assert "beaten in every dim" not in own.text
    (own,) = limited(arms, bg.BestGroup([1, 1], 0.05)).deploy()
    assert own.arm == "b" and "best weighted mean of its arms that keep the limits" in own.text
    del arms["z"]
    (own,) = limited(arms, bg.BestGroup([1, 1], 0.05)).deploy()
    assert own.arm == "b" and "arms that keep the limits" in own.text


@pytest.mark.parametrize("goal", [bg.ParetoGroups(0.05), bg.BestGroup([1], 0.05)], ids=str)
def test_no_group_is_an_answer_in_words(goal: Any) -> None:
    dims, noise = {"x": "max", "s": "watch"}, bg.SubGaussian([0.1, 0.1])
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, dims, noise, require={"s": ("<=", 0.5)})

    def evaluate(group: str, arm: str, seed: int) -> list[float]:
        return np.random.default_rng(seed).normal((0.5, 2.0), 0.1).tolist()

    found = bg.solve(problem, goal, evaluate)
    assert found.proven and str(found).endswith(": no group has an arm that keeps the limits")
    assert ": none. Proven out: 2." in str(found.certificate)
    assert found.guess().text.endswith("no group")
    assert "No group has an arm that keeps the limits" in report_html(found.study)


@pytest.mark.parametrize(
    ("worth", "words"), [("worst", "its worth is estimated"), ("best", "its best arms are")]
)
def test_a_study_says_worth_where_it_is_not_that_of_the_best_arms(worth: str, words: str) -> None:
    groups, noise = {"A": ["a", "b"], "B": ["c"]}, bg.SubGaussian(0.1)
    problem = bg.Problem(groups, {"x": "max"}, noise, worth=worth)

    def evaluate(group: str, arm: str) -> float:
        return {"a": 0.9, "b": 0.5, "c": 0.1}[arm]

    found = bg.solve(problem, bg.BestGroup([1]), evaluate, budget=30)
    assert words in str(found.explanations["A"])


def test_arms_are_judged_by_what_the_guarantee_assumes():
    """Top groups of normal values go by boxes, which allow arms to depend: so do their arms."""
    rng = np.random.default_rng(0)
    problem = bg.Problem({"a": ["1", "2"], "b": ["1"]}, {"x": "max", "y": "max"}, bg.Gaussian())
    means = {("a", "1"): 0.4, ("a", "2"): 1.0, ("b", "1"): -2.0}
    rows = [
        {"group": group, "arm": arm, "x": x, "y": y}
        for (group, arm), mean in means.items()
        for x, y in (mean + rng.normal(size=(120, 2))).tolist()
    ]
    top = bg.certify(rows, bg.TopGroups(1, [1, 1]), problem, 0.1)
    best = bg.certify(rows, bg.BestGroup([1, 1]), problem, 0.1)
    assert "may depend on each other in any way" in " ".join(top.guarantee.assumptions[-3:])
    assert any("weighted sum" in words for words in best.guarantee.assumptions)
    (by_boxes,), (by_evidence,) = top.deploy(), best.deploy()
    assert by_evidence.arms == {"1": "out", "2": "in"}
    assert by_boxes.arms == {"1": "undecided", "2": "undecided"}

"""Every goal with limits, every worth, a reserve, costs and items: an answer, or one true sentence."""

import numpy as np
import pytest

import bestgroup as bg

GOALS = {
    "Pareto": bg.ParetoGroups(0.1),
    "best": bg.BestGroup([1, 1], 0.05),
    "map": bg.WeightMap(epsilon=0.15),
    "top": bg.TopGroups(2, [1, 2], 0.05),
}
ARMS = {"A": ["a", "b"], "B": ["c"], "C": ["d", "e"]}
MEANS = {"a": (0.9, 0.2), "b": (0.5, 0.1), "c": (0.6, 0.5), "d": (0.1, 0.8), "e": (0.2, 0.9)}
OPTIONS = {
    "a limit": {"require": {"y": ("<=", 0.6, 0.05)}},
    "mean": {"worth": "mean"},
    "worst": {"worth": "worst"},
    "second": {"worth": ("kth", 1)},
    "quantile": {"worth": ("quantile", 0.5)},
}
SENTENCE = "require, and a worth other than 'best', go with ParetoGroups and BestGroup"


def problem(items=None, **options):
    return bg.Problem(ARMS, {"x": "max", "y": "min"}, bg.Bounded(0, 1), items=items, **options)


def evaluate(group, arm, seed):
    rng = np.random.default_rng(seed)
    return [float(value) for value in np.clip(rng.normal(MEANS[arm], 0.1), 0, 1)]


def by_item(group, arm, item):
    return evaluate(group, arm, [int(item), ord(arm)])


@pytest.mark.parametrize("items", [None, 60])
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("goal", GOALS)
def test_limits_and_worths(goal, option, items):
    asked, given = GOALS[goal], problem(items, **OPTIONS[option])
    rate = evaluate if items is None else by_item
    measured = given.measure is not None  # ("kth", 1) is the best arm
    if goal in ("map", "top") and measured:
        with pytest.raises(bg.InvalidInput, match=SENTENCE) as refused:
            bg.solve(given, asked, rate, budget=40)
        assert str(refused.value).endswith(type(asked).__name__)
        return
    found = bg.solve(given, asked, rate, budget=40)
    assert found.answer.told <= 40 and set(found.explanations) == set(ARMS)


@pytest.mark.parametrize(
    ("goal", "words"), [("map", "alone"), ("top", "alone"), ("best", "fewest")]
)
def test_auto_says_why_it_picks_adaptive(goal, words, tmp_path):
    bg.save_spec(tmp_path / "p.toml", problem(), GOALS[goal])
    assert words in bg.load_spec(tmp_path / "p.toml").why


@pytest.mark.parametrize("goal", ["Pareto", "best", "top"])
@pytest.mark.parametrize("worth", ["best", "mean"])
def test_an_arm_without_any_value_proves_nothing_and_disturbs_nothing(goal, worth):
    if goal == "top" and worth != "best":
        return
    items = bg.Items(names=[f"i{t}" for t in range(40)], target="population")
    rows = [
        {
            "group": g,
            "arm": arm,
            "item": f"i{t}",
            **dict(zip("xy", by_item(g, arm, t), strict=True)),
        }
        for g, arms in ARMS.items()
        for arm in arms
        for t in range(40 if arm != "e" else 0)
    ]
    found = bg.certify(rows, GOALS[goal], problem(items, worth=worth))
    assert found.explain("A").group == "A" and "A" not in found.rejected


def test_sequential_halving_is_not_said_to_be_undecided_or_sure_by_itself():
    given = bg.Problem(ARMS, {"x": "max", "y": "min"}, bg.SubGaussian(0.1))
    halving = {"algorithm": "sequential-halving", "budget": 100}
    found = bg.solve(given, bg.BestGroup([1, 1]), evaluate, **halving)
    said = str(found.explanations["A"])
    assert "by the observations alone, what the algorithm has decided is not proven" in said
    assert "has not decided yet" not in said and str(found).startswith("answered without proof")


def test_advice_on_shared_items_names_an_algorithm_that_answers_the_goal():
    for goal in (GOALS["best"], GOALS["Pareto"]):
        name = "sequential-halving" if goal is GOALS["best"] else "te"
        options = {"algorithm": name, "budget": 90}
        with pytest.raises(bg.InvalidInput) as refused:
            bg.solve(problem(60), goal, by_item, **options)
        assert str(refused.value).endswith("use 'adaptive'")

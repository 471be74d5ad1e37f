"""`Problem`: names, directions, costs; what is refused, and with which sentence."""

import json

import numpy as np
import pytest

import bestgroup as bg

GROUPS = {"A": ["a1", "a2"], "B": ["b1"]}
DIMS = {"profit": "max", "returns": {"direction": "min", "unit": "%"}, "latency": "watch"}


def test_decided_dims_are_mirrored_and_watched_ones_dropped():
    problem = bg.Problem(GROUPS, DIMS)
    assert problem.shape.sizes == (2, 1) and problem.shape.dims == 2
    assert [dim.name for dim in problem.decided] == ["profit", "returns"]
    assert problem.oriented([1.0, 2.0, 3.0]).tolist() == [[1.0, -2.0]]
    assert problem.oriented(np.ones((4, 3))).shape == (4, 2)
    assert problem.mirror(problem.mirror([[0.3, 0.7]])).tolist() == [[0.3, 0.7]]
    assert problem.index("B", "b1") == (1, 0)


def test_a_problem_survives_json():
    problem = bg.Problem(
        GROUPS, DIMS, bg.SubGaussian([1.0, 0.5], "independent"), {"a1": 2.5, "B": {"b1": 3}}
    )
    again = bg.Problem.from_dict(json.loads(json.dumps(problem.to_dict())))
    assert again == problem and again.costs == ((2.5, 1.0), (3.0,))
    assert bg.Setting.of(again, bg.ParetoGroups(0.1), 0.05).costs == again.costs
    assert bg.Problem(GROUPS, DIMS) != problem


BAD = {
    "no groups": (lambda: bg.Problem({}, DIMS), "groups must map"),
    "empty group": (lambda: bg.Problem({"A": []}, DIMS), "at least one arm"),
    "arms as a text": (lambda: bg.Problem({"A": "abc"}, DIMS), "at least one arm"),
    "arm twice": (lambda: bg.Problem({"A": ["x", "x"]}, DIMS), "the arm 'x' twice"),
    "empty name": (lambda: bg.Problem({" ": ["x"]}, DIMS), "name of a group"),
    "no dims": (lambda: bg.Problem(GROUPS, {}), "at least one dim"),
    "direction": (lambda: bg.Problem(GROUPS, {"x": "up"}), '"max", "min" or "watch"'),
    "only watched": (lambda: bg.Problem(GROUPS, {"x": "watch"}), "nothing to decide on"),
    "range": (
        lambda: bg.Problem(GROUPS, {"x": {"direction": "max", "low": 1, "high": 0}}),
        "must be below high",
    ),
    "dim entry": (lambda: bg.Problem(GROUPS, {"x": {"direction": "max", "top": 1}}), "no entry"),
    "noise": (lambda: bg.Problem(GROUPS, DIMS, noise=1.0), "noise model"),
    "scales": (lambda: bg.Problem(GROUPS, DIMS, bg.SubGaussian([1, 1, 1])), "each of the 2 dims"),
    "cost zero": (lambda: bg.Problem(GROUPS, DIMS, costs={"a1": 0}), "must be positive"),
    "cost NaN": (lambda: bg.Problem(GROUPS, DIMS, costs={"a1": float("nan")}), "finite"),
    "cost of nobody": (lambda: bg.Problem(GROUPS, DIMS, costs={"z": 1}), "in no group"),
    "cost of two": (
        lambda: bg.Problem({"A": ["x"], "B": ["x"]}, DIMS, costs={"x": 1}),
        "several groups",
    ),
    "length": (lambda: bg.Problem(GROUPS, DIMS).oriented([1.0, 2.0]), "must have 3 numbers"),
    "NaN": (lambda: bg.Problem(GROUPS, DIMS).oriented([1.0, float("nan"), 3.0]), "finite"),
    "unknown group": (lambda: bg.Problem(GROUPS, DIMS).index("C", "a1"), "no group 'C'"),
    "unknown arm": (lambda: bg.Problem(GROUPS, DIMS).index("A", "b1"), "has no arm 'b1'"),
    "not a problem": (lambda: bg.Problem.from_dict({"groups": GROUPS}), "not the description"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_problems_are_refused(case):
    make, words = BAD[case]
    with pytest.raises(bg.InvalidInput) as caught:
        make()
    assert words in str(caught.value) and "\n" not in str(caught.value)

"""`Problem`: names, directions, costs; what is refused, and with which sentence."""

import json

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.problem.goals import goal_from_dict

GROUPS = {"A": ["a1", "a2"], "B": ["b1"]}
DIMS = {"profit": "max", "returns": {"direction": "min", "unit": "%"}, "latency": "watch"}
NOISE = bg.SubGaussian(1.0)


def test_decided_dims_are_mirrored_and_watched_ones_dropped():
    problem = bg.Problem(GROUPS, DIMS, NOISE)
    assert problem.shape.sizes == (2, 1) and problem.shape.dims == 2
    assert [dim.name for dim in problem.decided] == ["profit", "returns"]
    assert problem.to_internal([[1.0, 2.0, 3.0]]).tolist() == [[1.0, -2.0]]
    assert problem.to_user(problem.to_internal([[1.0, 2.0, 3.0]])).tolist() == [[1.0, 2.0]]
    assert problem.to_internal(np.ones((4, 3))).shape == (4, 2)
    assert problem.mirror(problem.mirror([[0.3, 0.7]])).tolist() == [[0.3, 0.7]]
    assert problem.index("B", "b1") == (1, 0)


def test_a_problem_survives_json():
    problem = bg.Problem(
        GROUPS, DIMS, bg.SubGaussian([1.0, 0.5], "independent"), {"a1": 2.5, "B": {"b1": 3}}
    )
    again = bg.Problem.from_dict(json.loads(json.dumps(problem.to_dict())))
    assert again == problem and again.costs == ((2.5, 1.0), (3.0,))
    assert bg.Setting.of(again, bg.ParetoGroups(0.1), 0.05).costs == again.costs
    assert bg.Problem(GROUPS, DIMS, NOISE) != problem


def ranged(**more):
    return {"direction": "min", "low": 1, "high": 100, **more}


def test_noise_is_never_assumed_unasked():
    for dims in (DIMS, {"profit": ranged(), "returns": "min"}, {"profit": ranged(high=None)}):
        with pytest.raises(bg.InvalidInput, match="noise must be given"):
            bg.Problem(GROUPS, dims)
    dims = {"a": {"direction": "max", "low": 0, "high": 1}, "w": "watch", "b": ranged()}
    assert bg.Problem(GROUPS, dims).noise == bg.Bounded([0, 1], [1, 100])
    again = bg.Problem.from_dict({"groups": GROUPS, "dims": dims})
    assert again.noise == bg.Bounded([0, 1], [1, 100])


def test_values_are_clipped_and_transformed_before_anything():
    dims = {"time": ranged(transform="log", clip=[2, 50]), "w": "watch", "gain": "max"}
    problem = bg.Problem(GROUPS, dims, bg.Bounded([0, -5], [4, 5]))
    values = [[1.0, 7.0, 0.5], [10.0, 7.0, 0.5], [1e6, 7.0, 0.5]]
    judged = problem.judged(values)
    assert np.allclose(judged[:, 0], np.log([2, 10, 50])) and (judged[:, 1] == 0.5).all()
    assert np.allclose(problem.to_internal(values)[:, 0], 4 - np.log([2, 10, 50]))
    assert np.allclose(problem.to_user(problem.to_internal(values)), judged)
    assert problem.check_values(values).tolist() == values  # what was measured is what is kept
    (sentence,) = problem.treatment()
    assert "clipped to 2 .. 50" in sentence and "natural logarithm" in sentence
    assert bg.Problem.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem
    clipped = bg.Problem(GROUPS, {"time": {"direction": "min", "clip": [2, 50]}})
    assert clipped.noise == bg.Bounded([2], [50]), "a clipped dim has a range"
    logs = bg.Problem(GROUPS, {"time": ranged(transform="log")})
    assert logs.noise == bg.Bounded([0.0], [np.log(100)])
    with pytest.raises(bg.InvalidInput, match="time must be positive, since its logarithm"):
        logs.check_values([[0.0]])


def test_goals_by_name():
    dims = ["profit", "returns"]
    assert bg.ParetoGroups({"returns": 0.1}).of(dims) == bg.ParetoGroups([0.0, 0.1])
    assert bg.BestGroup({"returns": 0.5, "profit": 1}, 0.1).of(dims) == bg.BestGroup([1, 0.5], 0.1)
    problem = bg.Problem(GROUPS, DIMS, NOISE)
    study = bg.create_study(
        "named", problem, bg.BestGroup({"returns": 0.5, "profit": 1}), 0.1, "memory"
    )
    assert study.spec.goal == bg.BestGroup([1, 0.5])
    bg.delete_study("named", "memory")
    instance = bg.Instance([[[0.9, 0.1]], [[0.1, 0.2]]], dims=dims)
    one, other = bg.ParetoGroups({"returns": 0.1}), bg.ParetoGroups([0.0, 0.1])
    assert bg.gaps(instance, one).group.tolist() == bg.gaps(instance, other).group.tolist()
    for goal in (
        one,
        other,
        bg.BestGroup([1, 2], 0.1),
        bg.BestGroup({"a": 1}),
        bg.ParetoGroups(0.5),
    ):
        assert goal_from_dict(json.loads(json.dumps(goal.to_dict()))) == goal
    for goal, sentence in (
        (
            bg.ParetoGroups({"retruns": 0.1}),
            "epsilon names the dim 'retruns'; the dims that decide",
        ),
        (bg.ParetoGroups({"latency": 0.1}), "epsilon names the dim 'latency'"),
        (bg.BestGroup({"profit": 1}), "weights must have an entry for the dim 'returns'"),
    ):
        with pytest.raises(bg.InvalidInput, match=sentence):
            bg.create_study("named", problem, goal, 0.1, "memory")
    with pytest.raises(bg.InvalidInput, match="needs the names of the dims"):
        bg.replay(np.zeros((3, 2, 1, 2)), bg.ParetoGroups({"x": 0.1}))


BAD = {
    "transform": (lambda: bg.Problem(GROUPS, {"x": ranged(transform="sqrt")}), "must be 'log'"),
    "clip": (lambda: bg.Problem(GROUPS, {"x": ranged(clip=[3])}), "must be [low, high]"),
    "clip turned": (lambda: bg.Problem(GROUPS, {"x": ranged(clip=[3, 1])}), "low below high"),
    "log of 0": (lambda: bg.Problem(GROUPS, {"x": ranged(low=0, transform="log")}), "be positive"),
    "clip to 0": (
        lambda: bg.Problem(GROUPS, {"x": ranged(clip=[0, 1], transform="log")}),
        "must begin above 0",
    ),
    "clip of a watched dim": (
        lambda: bg.Problem(GROUPS, {"x": "max", "y": {"direction": "watch", "clip": [0, 1]}}),
        "only watched",
    ),
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
    "cost zero": (lambda: bg.Problem(GROUPS, DIMS, NOISE, costs={"a1": 0}), "must be positive"),
    "cost NaN": (lambda: bg.Problem(GROUPS, DIMS, NOISE, costs={"a1": float("nan")}), "finite"),
    "cost of nobody": (lambda: bg.Problem(GROUPS, DIMS, NOISE, costs={"z": 1}), "in no group"),
    "cost of two": (
        lambda: bg.Problem({"A": ["x"], "B": ["x"]}, DIMS, NOISE, costs={"x": 1}),
        "several groups",
    ),
    "length": (
        lambda: bg.Problem(GROUPS, DIMS, NOISE).check_values([1.0, 2.0]),
        "must have 3 numbers",
    ),
    "NaN": (
        lambda: bg.Problem(GROUPS, DIMS, NOISE).check_values([1.0, float("nan"), 3.0]),
        "finite",
    ),
    "unknown group": (lambda: bg.Problem(GROUPS, DIMS, NOISE).index("C", "a1"), "no group 'C'"),
    "unknown arm": (lambda: bg.Problem(GROUPS, DIMS, NOISE).index("A", "b1"), "has no arm 'b1'"),
    "not a problem": (lambda: bg.Problem.from_dict({"groups": GROUPS}), "not the description"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_problems_are_refused(case):
    make, words = BAD[case]
    with pytest.raises(bg.InvalidInput) as caught:
        make()
    assert words in str(caught.value) and "\n" not in str(caught.value)

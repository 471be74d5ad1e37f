"""What a problem must be is said once: Python, problem files and HTTP refuse with the same sentence."""

import pytest
import tomlkit

import bestgroup as bg
from bestgroup.problem.goals import goal_from_dict
from bestgroup.service.app import create_app
from bestgroup.service.auth import Tokens
from stories.walk import TestClient

GOOD = {
    "groups": {"A": ["a"], "B": ["b", "c"]},
    "dims": {"x": "max", "y": "min"},
    "noise": {"kind": "subgaussian", "scale": 1.0},
}
CASES = {
    "no groups": ({"groups": {}}, "must map at least one group to its arms; got none"),
    "no arms": ({"groups": {"A": []}}, "must be a list of at least one arm; got []"),
    "an arm twice": ({"groups": {"A": ["a", "a"]}}, "has the arm 'a' twice"),
    "an arm without a name": (
        {"groups": {"A": [" "]}},
        "must be a text that is not empty; got ' '",
    ),
    "nothing decides": ({"dims": {"x": "watch"}}, "there is nothing to decide on"),
    "no direction": ({"dims": {"x": "up"}}, "or a table with such a direction; got 'up'"),
    "an unknown entry": ({"dims": {"x": {"direction": "max", "lo": 1}}}, "has no entry 'lo'; its"),
    "an empty range": (
        {"dims": {"x": {"direction": "max", "low": 1, "high": 0}}},
        "must be below high; got 1 and 0",
    ),
    "an unknown transform": (
        {"dims": {"x": {"direction": "max", "transform": "sqrt"}}},
        "must be 'log'; got 'sqrt'",
    ),
    "unknown noise": ({"noise": {"kind": "poisson"}}, "must be one of subgaussian, bounded"),
    "a scale is never assumed": (
        {"noise": {"kind": "subgaussian"}},
        "is missing; the kind 'subgaussian' needs it",
    ),
    "a scale that none has": (
        {"noise": {"kind": "gaussian", "scale": 1}},
        "the kind 'gaussian' has no scale",
    ),
    "unknown dependence": (
        {"noise": {"kind": "gaussian", "dependence": "some"}},
        "must be 'arbitrary' or 'independent'; got 'some'",
    ),
    "a cost below 0": ({"costs": {"a": -1}}, "must be positive; got -1"),
    "a cost of nothing": ({"costs": {"q": 1}}, "the arm 'q' is in no group"),
    "delta": ({"delta": 2}, "must lie strictly between 0 and 1; got 2"),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('http') / 's.db'}"
    token = "writer-token-0123456789"
    app = create_app(url, Tokens(token, "reader-token-0123456789"))
    head = {"Authorization": f"Bearer {token}"}
    return TestClient(app, base_url="http://localhost", headers=head)


@pytest.mark.parametrize("case", CASES)
def test_the_sentence_is_the_same_everywhere(case, client, tmp_path):
    change, sentence = CASES[case]
    given = {**GOOD, **change}
    delta = given.pop("delta", 0.05)
    goal = {"kind": "pareto", "epsilon": 0.1}
    with pytest.raises(bg.InvalidInput) as refused:
        problem = bg.Problem.from_dict(given)
        bg.create_study("s", problem, goal_from_dict(goal), delta, f"sqlite:///{tmp_path}/x.db")
    assert sentence in str(refused.value)
    body = {"name": "s", "problem": given, "goal": goal, "delta": delta}
    answer = client.post("/api/v1/studies", json=body)
    assert answer.status_code == 422 and answer.json()["detail"] == str(refused.value)
    tables = {**given, "goal": goal, "delta": delta}
    if "costs" in tables:
        tables["cost"] = tables.pop("costs")
    file = tmp_path / "p.toml"
    file.write_text(tomlkit.dumps(tables))
    with pytest.raises(bg.InvalidInput) as refused:
        bg.load_spec(file)
    assert sentence in str(refused.value) and "Traceback" not in str(refused.value)

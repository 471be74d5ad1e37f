"""A study with limits over HTTP: made, run to its end, explained and shown."""

import random

import pytest
from test_service import client_of, get, post

from bestgroup.service.app import create_app
from bestgroup.service.auth import Tokens
from bestgroup.studies.storage.memory import MemoryStore
from serving import READER, WRITER

TRUTH = {"a1": (0.9, 3.0), "a2": (0.7, 1.0), "b1": (0.3, 1.0), "c1": (0.95, 4.0)}
BODY = {
    "name": "limits",
    "problem": {
        "groups": {"A": ["a1", "a2"], "B": ["b1"], "C": ["c1"]},
        "dims": {"value": "max", "seconds": "watch"},
        "noise": {"kind": "bounded", "low": [0, 0], "high": [1, 6]},
        "require": {"seconds": ["<=", 2.0, 0.2]},
    },
    "goal": {"kind": "best", "weights": [1.0], "epsilon": 0.05},
    "delta": 0.1,
}


def draw(arm, seed):
    rng, (value, seconds) = random.Random(seed), TRUTH[arm]
    return [float(rng.random() < value), min(6.0, max(0.0, rng.gauss(seconds, 0.4)))]


@pytest.fixture
def client():
    return client_of(create_app(MemoryStore(), Tokens(WRITER, READER)))


def test_a_study_with_limits_is_served(client):
    made = client.post("/api/v1/studies", json=BODY)
    assert made.status_code == 201, made.text
    for _ in range(400):
        asked = post(client, "ask", {"n": 50, "owner": "w", "repeats": 50}, "limits").json()
        if asked["state"] != "running":
            break
        told = [
            {"ticket": ticket, "values": [draw(ticket["arm"], seed) for seed in ticket["seeds"]]}
            for ticket in asked["tickets"]
        ]
        assert post(client, "tell", {"results": told}, "limits").status_code == 200
    answer = get(client, "answer", "limits")
    assert answer["final"] and answer["groups"] == ["A"] and "C" in answer["out"]
    assert "seconds <= 2" in answer["guarantee"]["statement"]
    text = get(client, "explain", "limits", group="C")["text"]
    assert text.startswith("C is out") and "no arm of it keeps seconds <= 2" in text
    view = get(client, "view", "limits")
    assert {row["group"]: row["status"] for row in view["rows"]}["C"] == "out"
    arms = get(client, "arms", "limits")
    assert set(arms["rows"][0]["mean"]) == {"value", "seconds"}


def test_a_wrong_limit_is_refused_with_a_sentence(client):
    body = {**BODY, "problem": {**BODY["problem"], "require": {"seconds": ["<", 2.0]}}}
    refused = client.post("/api/v1/studies", json=body)
    assert refused.status_code == 422 and "require of 'seconds' must be" in refused.json()["detail"]
    body = {**BODY, "problem": {**BODY["problem"], "worth": "mean"}}
    refused = client.post("/api/v1/studies", json=body)
    assert refused.status_code == 422 and "require goes with" in refused.json()["detail"]

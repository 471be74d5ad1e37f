"""Maps of weights and the m best groups over HTTP: made, run to the end, shown."""

import random

import pytest
from test_service import client_of, get, post

from bestgroup.service.app import create_app
from bestgroup.service.auth import Tokens
from bestgroup.studies.storage.memory import MemoryStore
from serving import READER, WRITER

TRUTH = {"a1": (1.0, 0.0), "b1": (0.0, 1.0), "c1": (-0.5, -0.5)}
BODY = {
    "problem": {
        "groups": {"A": ["a1"], "B": ["b1"], "C": ["c1"]},
        "dims": {"x": "max", "y": "max"},
        "noise": {"kind": "subgaussian", "scale": 0.1},
    },
    "delta": 0.1,
}
MAP = {**BODY, "name": "map", "goal": {"kind": "map", "epsilon": 0.1}}
TOP = {**BODY, "name": "top", "goal": {"kind": "top", "m": 2, "weights": [1, 2]}}


@pytest.fixture
def client():
    return client_of(create_app(MemoryStore(), Tokens(WRITER, READER)))


def finish(client, body):
    made = client.post("/api/v1/studies", json=body)
    assert made.status_code == 201, made.text
    for _ in range(400):
        asked = post(client, "ask", {"n": 50, "owner": "w", "repeats": 50}, body["name"]).json()
        if asked["state"] != "running":
            break
        told = []
        for ticket in asked["tickets"]:
            rng = [random.Random(seed) for seed in ticket["seeds"]]
            values = [[m + r.gauss(0, 0.1) for m in TRUTH[ticket["arm"]]] for r in rng]
            told.append({"ticket": ticket, "values": values})
        assert post(client, "tell", {"results": told}, body["name"]).status_code == 200
    return get(client, "answer", body["name"]), get(client, "view", body["name"])


def test_a_map_is_served(client):
    answer, view = finish(client, MAP)
    assert answer["final"] and sorted(answer["groups"]) == ["A", "B"]
    shown = view["weights"]
    assert shown["share"] == 1 and shown["always"] == [] and "C" in shown["never"]
    assert sum(region["share"] for region in shown["regions"]) == pytest.approx(1)
    assert "for" in get(client, "explain", "map", group="A")["text"]


def test_the_m_best_groups_are_served(client):
    answer, view = finish(client, TOP)
    assert answer["final"] and sorted(answer["groups"]) == ["A", "B"]
    assert view["weights"] is None and len(view["worths"]) == 3


def test_a_wrong_goal_is_refused_with_a_sentence(client):
    refused = client.post(
        "/api/v1/studies", json={**TOP, "goal": {"kind": "top", "weights": [1, 1]}}
    )
    assert refused.status_code == 422 and "goal.m: is missing" in refused.json()["detail"]
    body = {**MAP, "goal": {"kind": "map", "weights": [[1, 2, 3]]}}
    refused = client.post("/api/v1/studies", json=body)
    assert refused.status_code == 422 and "one entry for each of the 2 dims" in refused.text

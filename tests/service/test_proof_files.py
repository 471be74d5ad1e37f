"""Proof files over HTTP: made of one moment, and called verified by the verifier alone."""

import json
import subprocess

import pytest
from test_service import client_of, finish, get, make

from bestgroup.proof.verify import verify_proof
from bestgroup.service import proof_files
from bestgroup.service.app import create_app
from bestgroup.service.auth import Tokens
from bestgroup.studies.storage.memory import MemoryStore
from serving import READER, WRITER, description


@pytest.fixture(scope="module")
def client():
    made = client_of(create_app(MemoryStore(), Tokens(WRITER, READER)))
    make(made, horizon=200)
    finish(made)
    return made


def sent(client, route, study="demo"):
    response = client.get(f"/api/v1/{route}", params={"study": study})
    assert response.status_code == 200, response.text
    return response


def test_the_verifier_runs_before_verified_is_said(client, tmp_path, monkeypatch):
    found = get(client, "verified", study="demo")
    assert found["verified"] and found["failed"] is None
    assert found["lines"][-1] == f"verified {found['digest']}"
    assert any(line.startswith("provided that") for line in found["lines"])
    proof = sent(client, "proof")
    assert 'filename="proof.json"' in proof.headers["content-disposition"]
    assert json.loads(proof.text)["digest"] == found["digest"]
    files = {
        "proof.json": proof,
        "rows.csv": sent(client, "export"),
        "links.csv": sent(client, "links"),
    }
    for name, response in files.items():
        (tmp_path / name).write_bytes(response.content)
    checked = verify_proof(
        tmp_path / "proof.json", tmp_path / "rows.csv", chain=tmp_path / "links.csv"
    )
    assert checked.verified, checked.lines()


def test_what_the_verifier_refuses_is_not_called_verified(client, monkeypatch):
    class Changed(proof_files.Files):
        def __init__(self, watched):
            super().__init__(watched)
            text = self.rows.read_text().splitlines()
            self.rows.write_text("\n".join(text[:-1]))

    monkeypatch.setattr(proof_files, "Files", Changed)
    found = get(client, "verified", study="demo")
    assert not found["verified"]
    assert found["failed"] == "data" and found["lines"][-1] == "NOT verified"


def test_a_study_without_a_proof_says_why(client):
    make(
        client,
        name="tel",
        algorithm="tel",
        goal={"kind": "best", "weights": [1, 1], "epsilon": 0.1},
    )
    for route in ("proof", "verified"):
        response = client.get(f"/api/v1/{route}", params={"study": "tel"})
        assert response.status_code == 422
        assert "nothing is proven, so there is no proof file" in response.json()["detail"]


def test_before_the_first_tell_there_is_a_proof_of_nothing(client):
    body = description(name="untouched")
    assert client.post("/api/v1/studies", json=body).status_code == 201
    found = get(client, "verified", study="untouched")
    assert found["verified"] and found["failed"] is None


def test_a_verifier_that_breaks_is_said_and_is_no_5xx(client, monkeypatch):
    broken = subprocess.CompletedProcess([], 1, stdout=b"", stderr=b"ValueError: no such thing")
    monkeypatch.setattr(proof_files.subprocess, "run", lambda *_, **__: broken)
    response = client.get("/api/v1/verified", params={"study": "demo"})
    assert response.status_code == 422 and "no such thing" in response.json()["detail"]

"""What operators rely on: identity, limits, fairness, versions, tokens, metrics and the log."""

import json
import socket
import sqlite3
import time
import warnings

import httpx
import pytest

import bestgroup as bg
from bestgroup.service import events, lanes
from bestgroup.service.app import create_app
from bestgroup.service.auth import Tokens
from bestgroup.service.tokens import create_token, list_tokens, revoke_token
from bestgroup.studies.catalog import audit_trail
from bestgroup.studies.client import Client
from bestgroup.studies.storage.checksums import text_checksum
from bestgroup.studies.storage.memory import MemoryStore
from servers import KINDS, storage
from serving import READER, WRITER, Served, description

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def client():
    app = create_app(MemoryStore(), Tokens(WRITER, READER))
    with TestClient(app, base_url="http://localhost", headers=bearer(WRITER)) as made:
        yield made


def post(client, path, body, **query):
    return client.post(f"/api/v1/{path}", json=body, params=query)


@pytest.mark.parametrize("kind", KINDS)
def test_a_late_tell_over_http_reaches_no_other_study(kind, tmp_path):
    app = create_app(storage(kind, tmp_path), Tokens(WRITER, READER))
    with TestClient(app, base_url="http://localhost", headers=bearer(WRITER)) as client:
        first = post(client, "studies", description("first")).json()
        asked = post(client, "ask", {"n": 2, "owner": "w"}, study="first").json()["tickets"]
        assert asked[0]["identity"] == first["identity"]
        assert client.delete("/api/v1/study", params={"study": "first"}).status_code == 200
        post(client, "studies", description("second"))
        late = {"results": [{"ticket": asked[0], "values": [1.0, 1.0]}]}
        assert post(client, "tell", late, study="first").status_code == 404
        again = post(client, "studies", description("first")).json()
        assert again["identity"] != first["identity"]
        refused = post(client, "tell", late, study="first")
        assert refused.status_code == 409 and "earlier study" in refused.json()["detail"]
        gone = post(client, "ask", {"owner": "w"}, study="first", identity=first["identity"])
        assert gone.status_code == 404 and "of that identity" in gone.json()["detail"]
        for name in ("first", "second"):
            status = client.get("/api/v1/status", params={"study": name}).json()
            assert status["told"] == 0


def test_a_study_that_another_process_made_anew_is_not_mistaken(tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    app = create_app(url, Tokens(WRITER, READER))
    with TestClient(app, base_url="http://localhost", headers=bearer(WRITER)) as client:
        post(client, "studies", description("one"))
        (ticket,) = post(client, "ask", {"owner": "w"}, study="one").json()["tickets"]
        bg.delete_study("one", url)
        problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0))
        other = bg.create_study("one", problem, bg.BestGroup([1]), 0.1, url)
        late = {"results": [{"ticket": ticket, "values": [1.0, 1.0]}]}
        assert post(client, "tell", late, study="one").status_code in (404, 409)
        assert other.status().told == 0
        other.close()


def test_a_post_that_fails_has_stored_nothing(client):
    many = description("many", groups={f"g{k}": ["a"] for k in range(100_000)})
    refused = post(client, "studies", many)
    assert refused.status_code == 422 and "groups" in refused.json()["detail"]
    text = ".".join("a" * 60_000) + " = 1"
    begun = time.monotonic()
    assert post(client, "studies/file", {"text": text, "name": "x"}).status_code == 422
    assert time.monotonic() - begun < 3
    assert client.get("/api/v1/studies").json()["studies"] == []


def test_a_server_without_the_algorithms_version_answers_409_with_both(tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    app = create_app(url, Tokens(WRITER, READER))
    with TestClient(app, base_url="http://localhost", headers=bearer(WRITER)) as client:
        post(client, "studies", description("one"))
        tickets = post(client, "ask", {"n": 5, "owner": "w"}, study="one").json()["tickets"]
        results = [{"ticket": ticket, "values": [0.5, 0.5]} for ticket in tickets]
        assert post(client, "tell", {"results": results}, study="one").json()["new"] == 5
    with sqlite3.connect(tmp_path / "x.db") as connection:
        (text,) = connection.execute("SELECT spec FROM bestgroup_studies").fetchone()
        spec = json.dumps({**json.loads(text), "algorithm_version": 9, "library": "3.2.1"})
        connection.execute(
            "UPDATE bestgroup_studies SET spec=?, spec_checksum=?", [spec, text_checksum(spec)]
        )
    connection.close()
    app = create_app(url, Tokens(WRITER, READER))
    with TestClient(app, base_url="http://localhost", headers=bearer(WRITER)) as client:
        refused = post(client, "ask", {"owner": "w"}, study="one")
        assert refused.status_code == 409 and "retry-after" not in refused.headers
        detail = refused.json()["detail"]
        assert "version 9 of the algorithm 'te'" in detail and "has version 1" in detail
        assert refused.json()["type"].endswith("WrongVersion")
        for path in (
            "status",
            "answer",
            "decisions",
            "view",
            "export",
            "study",
            "course",
            "report",
        ):
            got = client.get(f"/api/v1/{path}", params={"study": "one"})
            assert got.status_code == 200, (path, got.text)
        explained = client.get("/api/v1/explain", params={"study": "one", "group": "alpha"})
        assert explained.status_code == 200


def test_head_on_health_and_metrics(client):
    assert client.head("/healthz").status_code == 200
    assert client.get("/healthz", headers={"Authorization": ""}).json()["status"] == "ok"
    post(client, "studies", description("one"))
    post(client, "ask", {"owner": "w", "lease": 0.01, "n": 2}, study="one")
    time.sleep(0.05)
    text = client.get("/metrics").text
    assert "bestgroup_overdue_pulls 2.0" in text and "bestgroup_certificate_lag" in text
    assert "process_resident_memory_bytes" in text


def test_named_tokens_are_made_and_revoked_without_a_restart(tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    app = create_app(url, Tokens(WRITER, READER))
    with TestClient(app, base_url="http://localhost") as client:
        lab, eye = create_token(url, "lab-7", "writer"), create_token(url, "eye", "reader")
        made = client.post("/api/v1/studies", json=description("one"), headers=bearer(lab))
        assert made.status_code == 201
        seen = client.get("/api/v1/studies", headers=bearer(eye))
        assert seen.status_code == 200
        refused = client.post("/api/v1/studies", json=description("two"), headers=bearer(eye))
        assert refused.status_code == 403
        assert [row["name"] for row in list_tokens(url)] == ["eye", "lab-7"]
        with pytest.raises(bg.InvalidInput, match="'eye' already"):
            create_token(url, "eye", "writer")
        revoke_token(url, "lab-7")
        time.sleep(1.1)
        gone = client.delete("/api/v1/study", params={"study": "one"}, headers=bearer(lab))
        assert gone.status_code == 401
        assert client.get("/api/v1/studies", headers=bearer(WRITER)).status_code == 200
    data = (
        (tmp_path / "x.db").read_bytes() + (tmp_path / "x.db-wal").read_bytes()
        if (tmp_path / "x.db-wal").exists()
        else (tmp_path / "x.db").read_bytes()
    )
    assert lab.encode() not in data and eye.encode() not in data
    trail = [(event["who"], event["what"], event["study"]) for event in audit_trail(url)]
    assert ("lab-7", "create", "one") in trail and trail[0][1] == "revoke token"


def test_creates_deletes_and_imports_leave_a_trail(client):
    identity = post(client, "studies", description("one")).json()["identity"]
    table = "group,arm,profit,speed\nalpha,a1,1,0\n"
    got = client.post("/api/v1/import", content=table, params={"study": "one"})
    assert got.json()["new"] == 1
    client.delete("/api/v1/study", params={"study": "one"})
    events = client.app.state.hub.store.trail(9)
    assert [event.what for event in events] == ["delete", "import", "create"]
    assert {event.identity for event in events} == {identity} and events[0].who == "writer"


def test_hosts_that_fail_too_often_wait(client):
    codes = []
    # Ten more are allowed each second, so a busy machine may need more than three hundred.
    while 429 not in codes and len(codes) < 3_000:
        codes.append(client.get("/api/v1/studies", headers=bearer("no")).status_code)
    assert codes[:-1] == [401] * (len(codes) - 1) and codes[-1] == 429 and len(codes) > 290
    assert client.get("/api/v1/studies").status_code == 200  # who has a token is let in


def test_half_open_requests_lock_nobody_out(tmp_path, monkeypatch):
    shorter = "from bestgroup.service import connections as c; c.HEAD_SECONDS /= 4"
    served = Served(tmp_path, before=shorter)
    with served.client() as client:
        assert client.get("/studies").status_code == 200  # its second process has begun
    host, port = "127.0.0.1", served.port
    idle = []
    try:
        for k in range(1_200):
            connection = socket.create_connection((host, port), timeout=5)
            connection.sendall(
                b"GET /api/v1/studies HTTP/1.1\r\nHost: x\r\nX-Slow: " if k % 2 else b""
            )
            idle.append(connection)
        begun = time.monotonic()
        with served.client() as client:
            assert client.get("/studies").status_code == 200
        assert time.monotonic() - begun < 5
        deadline = time.monotonic() + 15
        closed = 0
        while closed < len(idle) and time.monotonic() < deadline:
            closed = sum(_is_closed(connection) for connection in idle)
            time.sleep(0.5)
        assert closed == len(idle)  # nobody waits for them for ever
    finally:
        for connection in idle:
            connection.close()
        served.stop()


def _is_closed(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_the_log_names_studies_by_identity(tmp_path):
    served = Served(tmp_path)
    with served.client() as client:
        identity = client.post("/studies", json=description("secret name")).json()["identity"]
        client.post("/ask", params={"study": "secret name"}, json={"owner": "w"})
    served.stop()
    text = served.log.read_text()
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    asked = [line for line in lines if line.get("route") == "/api/v1/ask"]
    assert asked[0]["study"] == identity and asked[0]["who"] == "writer"
    assert "secret name" not in text and WRITER not in text


def test_health_does_not_wait_for_work(client, monkeypatch):
    """A study whose requests all take long keeps neither health nor another study waiting."""
    import asyncio

    async def scene():
        app = client.app
        transport = httpx.ASGITransport(app=app)
        address = "http://localhost"
        async with httpx.AsyncClient(transport=transport, base_url=address) as http:
            http.headers.update(bearer(WRITER))
            for name in ("slow", "quick"):
                await http.post("/api/v1/studies", json=description(name))
            slow = app.state.hub.find("slow").study
            monkeypatch.setattr(slow, "ask", lambda *a: time.sleep(0.5) or [])
            body = {"owner": "w"}
            crowd = [
                asyncio.create_task(http.post("/api/v1/ask?study=slow", json=body))
                for _ in range(3 * lanes.THREADS)
            ]
            await asyncio.sleep(0.2)
            begun = time.monotonic()
            assert (await http.get("/healthz")).status_code == 200
            assert (await http.post("/api/v1/ask?study=quick", json=body)).json()["tickets"]
            spent = time.monotonic() - begun
            for task in crowd:
                task.cancel()
            await asyncio.gather(*crowd, return_exceptions=True)
            return spent

    assert asyncio.run(scene()) < 0.4


def test_a_worker_means_one_study(tmp_path):
    served = Served(tmp_path)
    try:
        with served.client() as http:
            http.post("/studies", json=description("one"))
            worker = Client(served.url, "one", patience=1.0)
            worker.describe()
            http.delete("/study", params={"study": "one"})
            http.post("/studies", json=description("one"))
            with pytest.raises(bg.BestGroupError, match="of that identity was deleted"):
                worker.ask(1, 1, 60.0, "w")
            worker.close()
    finally:
        served.stop()


def test_too_many_event_streams_are_a_limit_and_no_fault_of_the_server(client, monkeypatch):
    assert post(client, "studies", description()).status_code == 201
    monkeypatch.setattr(events, "MOST", 0)
    refused = client.get("/api/v1/events", params={"study": "demo"})
    assert refused.status_code == 429 and refused.headers["retry-after"] == "2"
    assert "event streams already; ask for the status" in refused.json()["detail"]

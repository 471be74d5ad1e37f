"""The HTTP service: what it answers, to whom, and with which sentence."""

import csv
import io
import json
import logging
import time
import warnings

import numpy as np
import pytest

from bestgroup.errors import InvalidInput
from bestgroup.inference.certificate.judge import judge
from bestgroup.service.app import FILES, create_app, listen
from bestgroup.service.auth import Tokens, check_binding
from bestgroup.service.middleware import JsonLines
from bestgroup.studies.storage.memory import MemoryStore
from servers import storage
from serving import GROUPS, MEANS, READER, WRITER, description, evaluate

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

NASTY = [
    "<script>alert(1)</script>",
    "'; DROP TABLE studies; --",
    "../../etc/passwd",
    "a/b?c=d&e#f%2e",
    "{{7*7}} ${x}",
    "名前 – ünïcode \u202e",
    '" onmouseover="x',
]


@pytest.fixture
def app():
    return create_app(MemoryStore(), Tokens(WRITER, READER))


def client_of(app, token=WRITER):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return TestClient(app, base_url="http://localhost", headers=headers)


@pytest.fixture
def client(app):
    return client_of(app)


def make(client, **changes):
    response = client.post("/api/v1/studies", json=description(**changes))
    assert response.status_code == 201, response.text
    return response.json()


def post(client, path, body, study="demo"):
    return client.post(f"/api/v1/{path}", params={"study": study}, json=body)


def view_of(client, **query):
    """Return a view of all that was told: it may be a little behind."""
    while (view := get(client, "view", **query))["observed"] < view["status"]["told"]:
        time.sleep(0.05)
    return view


def get(client, path, study="demo", **query):
    response = client.get(f"/api/v1/{path}", params={"study": study, **query})
    assert response.status_code == 200, response.text
    return response.json()


def ask(client, n=10, **rest):
    response = post(client, "ask", {"n": n, "owner": "w1", **rest})
    assert response.status_code == 200, response.text
    return response.json()["tickets"]


def finish(client, study="demo", n=500):
    while True:
        asked = post(client, "ask", {"n": n, "owner": "w1", "repeats": 50}, study).json()
        if asked["state"] != "running":
            return
        results = [
            {
                "ticket": ticket,
                "values": [evaluate(ticket["group"], ticket["arm"], s) for s in ticket["seeds"]],
            }
            for ticket in asked["tickets"]
        ]
        assert post(client, "tell", {"results": results}, study).status_code == 200


def test_a_study_from_nothing_to_proven(client):
    made = make(client, horizon=200)
    assert made["state"] == "running" and made["algorithm"] == "te"
    finish(client)
    answer = get(client, "answer")
    assert answer["final"] and answer["in"] == ["alpha", "beta"] and answer["out"] == ["gamma"]
    assert answer["guarantee"]["level"] == "proven"
    status = get(client, "status")
    assert status["state"] == "done" and 0 < status["pulls"] <= status["told"]
    kinds = [entry["kind"] for entry in get(client, "decisions")["decisions"]]
    assert sorted(kinds) == ["answer", "in", "in", "out"]
    why = get(client, "explain", group="gamma")
    assert why["status"] == "out" and why["text"].startswith("gamma is out (")
    listed = client.get("/api/v1/studies").json()["studies"]
    assert [(row["name"], row["state"]) for row in listed] == [("demo", "done")]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_databases_serve_as_well(kind, tmp_path):
    app = create_app(storage(kind, tmp_path), Tokens(WRITER, READER))
    with client_of(app) as client:
        make(client, name=NASTY[0], groups={**GROUPS, NASTY[1]: [NASTY[2]]}, horizon=3)
        tickets = post(client, "ask", {"n": 50, "owner": NASTY[3]}, NASTY[0]).json()["tickets"]
        assert len(tickets) == 24
        results = [{"ticket": t, "values": [0.5, 0.5]} for t in tickets[:-1]]
        assert post(client, "tell", {"results": results}, NASTY[0]).json()["new"] == 23
        assert post(client, "tell", {"results": results}, NASTY[0]).json()["new"] == 0
        assert post(client, "fail", {"ticket": tickets[-1]}, NASTY[0]).status_code == 200
        status = get(client, "status", study=NASTY[0])
        assert status["told"] == 23 and len(status["failures"]) == 1
        assert get(client, "view", study=NASTY[0])["groups"] == 4
        assert client.get("/healthz").status_code == 200


def test_the_view_shows_what_certify_proves(client, app):
    make(client, horizon=200)
    finish(client)
    view = view_of(client)
    study = app.state.hub.find("demo").study
    rows = list(csv.DictReader(io.StringIO(client.get("/api/v1/export?study=demo").text)))
    assert len(rows) == view["observed"] == view["status"]["told"]
    from bestgroup.analysis.certify import certify

    table = [{**row, "profit": float(row["profit"]), "speed": float(row["speed"])} for row in rows]
    found = certify(table, study.spec.goal, study.problem, study.spec.delta)
    low, high = found.intervals
    for row in view["rows"]:
        i = study.problem.groups.index(row["group"])
        for d, dim in enumerate(("profit", "speed")):
            assert row["efficiency"][dim][0] == pytest.approx(low[i, d], rel=1e-5)
            assert row["efficiency"][dim][2] == pytest.approx(high[i, d], rel=1e-5)
        proven = found.explain(row["group"]).status
        assert row["by"] == "algorithm" and proven in (row["status"], "undecided")
    assert view["counts"] == {"in": 2, "out": 1, "not needed": 0, "undecided": 0}
    assert view["ahead"] == 0 and view["notes"] == []
    assert view["forecast"] == 0.0 and view["blockers"] == []


def test_pulls_needed_are_those_of_the_explainer():
    from bestgroup.inference.certificate.explainers import explainer_of
    from bestgroup.inference.certificate.forecast import pulls_needed
    from bestgroup.inference.tally import empty_tally
    from bestgroup.problem.goals import ParetoGroups
    from bestgroup.problem.noise import Bounded, SubGaussian
    from bestgroup.problem.problem import Problem

    rng = np.random.default_rng(3)
    for noise in (SubGaussian(0.5), Bounded(0, 1, method="bernstein")):
        problem = Problem(
            {f"g{i}": [f"a{i}{j}" for j in range(3)] for i in range(6)},
            {"x": "max", "y": "max"},
            noise,
        )
        rule = noise.boxes(problem.shape, 0.1)
        tally = empty_tally(6, 3, 2, rule.start)
        from bestgroup.inference.confidence_sequences.boxes import take_values

        for i in range(6):
            for j in range(3):
                values = rng.random((20 + 10 * j, 2)) * rng.random(2)
                take_values(rule, tally, i, j, values)
        goal = ParetoGroups(0.01)
        verdict = judge(tally, problem.shape, goal, noise, 0.1)
        explainer = explainer_of(problem, goal, 0.1, tally, verdict)
        needs = pulls_needed(explainer)
        assert (needs > 0).any()
        for i in range(6):
            more = explainer.group(i).forecast
            assert needs[i] == pytest.approx(np.inf if more is None else more)


def test_telling_twice_changes_nothing_and_other_values_are_refused(client):
    make(client)
    ticket = ask(client, 1)[0]
    body = {"results": [{"ticket": ticket, "values": [0.5, 0.25]}]}
    assert post(client, "tell", body).json() == {"new": 1, "state": "running", "tickets": []}
    assert post(client, "tell", body).json()["new"] == 0
    body["results"][0]["values"] = [0.5, 0.5]
    refused = post(client, "tell", body)
    assert refused.status_code == 409
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["type"] == "urn:bestgroup:error:TicketError"
    assert "told before with other values" in refused.json()["detail"]
    assert get(client, "status")["told"] == 1


def test_a_tell_may_bring_the_next_tickets(client):
    make(client, horizon=5)
    wish = {"n": 2, "owner": "w1"}
    asked = post(client, "ask", wish).json()
    results = [{"ticket": ticket, "values": [0.5, 0.5]} for ticket in asked["tickets"]]
    answer = post(client, "tell", {"results": results, "ask": wish}).json()
    assert answer["new"] == 2 and len(answer["tickets"]) == 2
    assert get(client, "status")["leased"] == 2


def test_a_batch_is_taken_whole_or_not_at_all(client):
    make(client)
    first, second = ask(client, 2)
    bad = {"results": [{"ticket": first, "values": [0, 0]}, {"ticket": second, "values": [0, 7]}]}
    response = post(client, "tell", bad)
    assert response.status_code == 422 and "between" in response.json()["detail"]
    assert get(client, "status")["told"] == 0


def test_fail_and_heartbeat(client):
    make(client)
    one, two = ask(client, 2, lease=5)
    assert post(client, "fail", {"ticket": one, "reason": "spilled"}).json() == {"ok": True}
    status = get(client, "status")
    assert status["failures"][0]["reason"] == "spilled" and status["leased"] == 1
    beaten = post(client, "heartbeat", {"tickets": [one, two], "lease": 100}).json()
    assert beaten["lost"] == [0] and beaten["expires"] > two["expires"] + 90
    assert post(client, "fail", {"ticket": one}).status_code == 409
    assert len(ask(client, 3)) == 3
    same = [two, {**two, "owner": "other"}, two]
    assert post(client, "heartbeat", {"tickets": same, "lease": 100}).json()["lost"] == [1]
    assert get(client, "status")["leased"] == 4
    again = ask(client, 10)
    assert (one["seed"], one["index"]) in {(t["seed"], t["index"]) for t in again}


def test_import_names_the_bad_row_and_keeps_nothing(client):
    make(client)
    table = "group,arm,profit,speed\nalpha,a1,1,0\nbeta,b1,zero,1\n"
    query = {"study": "demo"}
    response = client.post("/api/v1/import", params=query, content=table)
    assert response.status_code == 422
    assert response.json()["detail"] == "line 3: profit must be a finite number; got 'zero'"
    assert get(client, "status")["told"] == 0
    good = table.replace("zero", "0")
    assert client.post("/api/v1/import", params=query, content=good).json()["new"] == 2
    assert client.post("/api/v1/import", params=query, content=good).json()["new"] == 0
    assert client.post("/api/v1/import", params=query, content=b"\xff\xfe").status_code == 422
    assert client.post("/api/v1/import", params=query, content=b"").status_code == 422


@pytest.mark.parametrize("name", NASTY)
def test_names_of_any_kind_are_kept_as_they_are(client, name):
    groups = {name: [name, "x"], "other": ["y"]}
    make(client, name=name, groups=groups)
    assert get(client, "study", study=name)["problem"]["groups"] == groups
    assert get(client, "view", study=name)["name"] == name
    assert get(client, "explain", study=name, group=name)["group"] == name
    tickets = post(client, "ask", {"n": 9, "owner": name}, name).json()["tickets"]
    results = [{"ticket": ticket, "values": [1, 0]} for ticket in tickets]
    assert post(client, "tell", {"results": results}, name).json()["new"] == 3
    assert name in [row["owner"] for row in get(client, "view", study=name)["workers"]]
    head = client.get("/api/v1/export", params={"study": name})
    assert len(list(csv.reader(io.StringIO(head.text)))) == 4


ROUTES = [
    ("GET", "/metrics", "reader"),
    ("GET", "/openapi.json", "reader"),
    ("GET", "/", "reader"),
]


def routes(app):
    for path, methods in app.openapi()["paths"].items():
        for method in methods:
            if path != "/healthz":
                yield method.upper(), path, "reader" if method == "get" else "writer"


def test_the_openapi_names_and_describes_everything(app):
    schema = app.openapi()
    operations = [entry for path in schema["paths"].values() for entry in path.values()]
    names = [entry["operationId"] for entry in operations]
    assert len(set(names)) == len(names) and {"ask", "tell", "fail", "heartbeat"} <= set(names)
    for entry in operations:
        content = next(iter(entry["responses"].items()))[1]["content"]
        assert content and entry["description"]
        if entry["operationId"] != "health":
            assert {"401", "403"} <= set(entry["responses"]) and entry["security"]


def test_every_route_asks_for_a_token(app):
    found = {*routes(app), *ROUTES}
    assert len(found) >= 21
    for method, path, role in found:
        for token in (None, "", "wrong-token-of-some-length", READER[:-1], WRITER + "x", "ünï"):
            headers = {} if token is None else {"Authorization": f"Bearer {token}".encode()}
            plain = client_of(app, None)
            response = plain.request(method, path, params={"study": "demo"}, headers=headers)
            assert response.status_code == 401, (method, path, token, response.text)
        response = client_of(app, READER).request(method, path, params={"study": "demo"})
        if role == "writer":
            assert response.status_code == 403, (method, path, response.text)
        else:
            assert response.status_code not in (401, 403), (method, path)


def test_health_needs_no_token_and_metrics_count(app, client):
    assert client_of(app, None).get("/healthz").json()["status"] == "ok"
    make(client)
    ask(client, 3)
    text = client.get("/metrics").text
    assert "bestgroup_tickets_asked_total 3.0" in text
    assert 'bestgroup_studies{state="running"} 1.0' in text
    assert 'route="/api/v1/ask",status="200"' in text


def test_the_start_up_address_sets_a_cookie_and_hides_the_token(app):
    plain = client_of(app, None)
    response = plain.get(f"/?token={READER}&study=a%26b", follow_redirects=False)
    assert response.status_code == 303 and response.headers["location"] == "/?study=a%26b"
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert plain.get("/api/v1/session").json()["role"] == "reader"
    assert client_of(app, None).get("/?token=wrong").status_code == 401


def test_another_sites_page_cannot_change_anything(app):
    plain = client_of(app, None)
    plain.get(f"/?token={WRITER}")
    body = description()
    evil = plain.post("/api/v1/studies", json=body, headers={"Origin": "http://evil.example"})
    assert evil.status_code == 403
    own = plain.post("/api/v1/studies", json=body, headers={"Origin": "http://localhost"})
    assert own.status_code == 201
    assert "access-control-allow-origin" not in own.headers


def test_without_tokens_only_this_computer_is_served():
    with pytest.raises(InvalidInput, match="loopback only"):
        check_binding("0.0.0.0", None)
    for host in ("127.0.0.1", "localhost", "::1"):
        check_binding(host, None)
    app = create_app(MemoryStore(), None)
    assert client_of(app, None).get("/api/v1/session").json()["role"] == "writer"
    rebound = TestClient(app, base_url="http://evil.example")
    assert rebound.get("/api/v1/session").status_code == 403


def test_headers_for_safety_and_no_other_hosts(client):
    assert {"main.js", "chart.js", "plane.js", "page.css", "charts.css", "icon.svg"} <= set(FILES)
    for path in ("/", *(f"/static/{name}" for name in FILES), "/healthz"):
        response = client.get(path)
        assert response.status_code == 200
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "http" not in policy and "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "http" not in response.text.replace("http://www.w3.org/2000/svg", "")
        assert "innerHTML" not in response.text and "eval(" not in response.text
    assert client.get("/static/../app.py").status_code == 404


def test_tokens_are_checked_and_never_shown(app, caplog):
    with pytest.raises(InvalidInput, match="at least 16"):
        Tokens("short", READER)
    with pytest.raises(InvalidInput, match="must differ"):
        Tokens(WRITER, WRITER)
    assert WRITER not in repr(Tokens(WRITER, READER))
    caplog.set_level(logging.WARNING, "httpx")  # the tests' own client
    caplog.set_level(logging.INFO, "bestgroup.service")
    plain = client_of(app, None)
    plain.get(f"/?token={WRITER}")
    client_of(app).get("/api/v1/session", params={"token": WRITER})
    assert caplog.records
    lines = [JsonLines().format(record) for record in caplog.records]
    assert all("status" in json.loads(line) for line in lines if '"request"' in line)
    assert WRITER not in caplog.text and not any(WRITER in line for line in lines)


def test_bodies_and_batches_have_limits(client, monkeypatch):
    from bestgroup.service import middleware

    make(client)
    too_many = post(client, "ask", {"n": 10_001, "owner": "w"})
    assert too_many.status_code == 422
    assert post(client, "ask", {"n": 10_000, "repeats": 11, "owner": "w"}).status_code == 422
    monkeypatch.setattr(middleware, "MOST_BODY", 1000)
    long = {"n": 1, "owner": "w", "x": "y" * 2000}
    assert post(client, "ask", long).status_code == 413

    def portions():
        yield from (b"y" * 100 for _ in range(20))

    chunked = client.post("/api/v1/ask?study=demo", content=portions())
    assert chunked.status_code == 413
    assert chunked.json()["detail"].startswith("a body of at most")


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("studies", {"name": ""}, 422, "body.name"),
        ("studies", description(name="a" * 201), 422, "body.name"),
        ("studies", description(delta=2.0), 422, "delta"),
        ("studies", description(algorithm="nonsense"), 422, "nonsense"),
        ("studies", description(goal={"kind": "best"}), 422, "goal.weights"),
        ("studies", description(groups={}), 422, "groups"),
        ("ask", {"n": 0, "owner": "w"}, 422, "body.n"),
        ("ask", {"n": 1, "owner": "w", "extra": 1}, 422, "body.extra"),
        ("tell", {"results": []}, 422, "body.results"),
    ],
)
def test_mistakes_get_one_sentence(client, path, body, status, words):
    make(client)
    response = post(client, path, body)
    assert response.status_code == status, response.text
    assert words in response.json()["detail"] and "Traceback" not in response.text


def test_what_is_not_there_is_not_found(client):
    for path in ("status", "answer", "view", "export", "events"):
        response = client.get(f"/api/v1/{path}", params={"study": "none"})
        assert response.status_code == 404 and "no study" in response.json()["detail"]
    assert client.get("/nothing").json()["status"] == 404
    make(client)
    assert client.post("/api/v1/studies", json=description()).status_code == 422
    response = client.get("/api/v1/explain", params={"study": "demo", "group": "delta"})
    assert response.status_code == 422 and "no group 'delta'" in response.json()["detail"]
    assert client.get("/api/v1/view?study=demo&x=height").status_code == 422


def test_a_study_that_others_delete_and_make_again(client, app):
    from bestgroup.studies.catalog import delete_study

    make(client)
    assert ask(client, 1)
    delete_study("demo", app.state.hub.store)
    for _ in range(2):
        response = post(client, "ask", {"owner": "w"})
        assert response.status_code == 404, response.text
    make(client, horizon=3)
    assert len(ask(client, 100)) == 20
    assert get(client, "view")["status"]["told"] == 0


def test_a_study_can_be_removed_and_made_again(client):
    make(client)
    tickets = ask(client, 1)
    refused = client.delete("/api/v1/study", params={"study": "other"})
    assert refused.status_code == 404 and "no study named 'other'" in refused.json()["detail"]
    assert client.delete("/api/v1/study", params={"study": "demo"}).json() == {"ok": True}
    assert client.delete("/api/v1/study", params={"study": "demo"}).status_code == 404
    body = {"results": [{"ticket": tickets[0], "values": [1, 0]}]}
    assert post(client, "tell", body).status_code == 404
    assert client.get("/api/v1/studies").json() == {"studies": []}
    make(client)
    assert get(client, "status")["leased"] == 0


TOML = """
name = "bundles"
delta = 0.1
algorithm = "te"
[goal]
kind = "pareto"
epsilon = 0.1
[dims]
profit = "max"
cost = "min"
[noise]
kind = "bounded"
low = 0.0
high = 1.0
[groups]
A = ["a1", "a2"]
B = ["b1"]
"""


def test_a_study_from_a_problem_file(client):
    made = client.post("/api/v1/studies/file", json={"text": TOML, "horizon": 3})
    assert made.status_code == 201, made.text
    assert made.json()["name"] == "bundles" and made.json()["horizon"] == 3
    assert made.json()["problem"]["groups"] == {"A": ["a1", "a2"], "B": ["b1"]}
    renamed = client.post("/api/v1/studies/file", json={"text": TOML, "name": "other"})
    assert renamed.json()["name"] == "other" and renamed.json()["algorithm"] == "te"
    for text, words in [
        (TOML, "already"),
        (TOML.replace('name = "bundles"', ""), "name: is missing"),
        (TOML.replace("bundles", "\\u0000"), "name: "),
        (TOML.replace("B =", '"\\u0000" ='), "groups."),
        (TOML.replace("epsilon", "epsilom"), "goal.epsilom"),
        ("groups = [", "this is not valid TOML"),
    ]:
        response = client.post("/api/v1/studies/file", json={"text": text})
        assert response.status_code == 422, text
        assert words in response.json()["detail"] and "bestgroup-" not in response.json()["detail"]


def test_a_thousand_groups_fit_in_an_update(client):
    groups = {f"group number {i}": [f"a{i}-{j}" for j in range(2)] for i in range(1000)}
    make(client, groups=groups)
    tickets = ask(client, 2000)
    rng = np.random.default_rng(0)
    results = [{"ticket": t, "values": rng.random(2).tolist()} for t in tickets]
    post(client, "tell", {"results": results})
    view_of(client)
    response = client.get("/api/v1/view?study=demo&size=25")
    assert len(response.content) < 200_000
    view = response.json()
    assert len(view["plane"]["points"]) == 1000 and len(view["rows"]) == 25
    assert view["matching"] == 1000
    page = get(client, "view", search="number 99", page=1, size=5)
    assert page["matching"] == 11 and len(page["rows"]) == 5


def test_the_queries_of_the_view(client):
    make(client, horizon=200)
    finish(client)
    assert [r["group"] for r in view_of(client, only="out")["rows"]] == ["gamma"]
    swapped = get(client, "view", x="speed", y="profit")["plane"]
    assert (swapped["x"], swapped["y"]) == ("speed", "profit")
    front = get(client, "view")["plane"]["front"]
    assert len(front) == 2 and front[0][0] > front[1][0] and front[0][1] < front[1][1]
    most = max(row["pulls"] for row in get(client, "view")["rows"])
    assert get(client, "view", sort="pulls")["rows"][0]["pulls"] == most
    assert set(MEANS) == {row["group"] for row in get(client, "view", sort="needs")["rows"]}


def test_a_best_group_and_dims_to_be_minimised(client):
    body = description()
    body["problem"]["dims"] = {"cost": "min", "score": "max", "note": "watch"}
    body["goal"] = {"kind": "best", "weights": [1, 1], "epsilon": 0.3}
    body["algorithm"] = "eecb"
    assert client.post("/api/v1/studies", json=body).status_code == 201
    view = get(client, "view")
    assert view["observed"] == 0 and view["forecast"] is None
    assert view["blockers"] == []
    for ticket in [ticket for _ in range(30) for ticket in ask(client, 100)]:
        group = {"alpha": [0.1, 0.9], "beta": [0.5, 0.5], "gamma": [0.9, 0.1]}[ticket["group"]]
        values = [[*group, 5.0]] * ticket["repeats"]
        post(client, "tell", {"results": [{"ticket": ticket, "values": values}]})
    rows = {row["group"]: row for row in view_of(client)["rows"]}
    assert rows["alpha"]["efficiency"]["cost"][1] == pytest.approx(0.1)
    assert rows["alpha"]["efficiency"]["cost"][0] <= 0.1 <= rows["alpha"]["efficiency"]["cost"][2]
    assert "note" not in rows["alpha"]["efficiency"]


def test_what_nobody_foresaw_is_logged_and_not_shown(client, app, monkeypatch, caplog):
    def broken():
        raise RuntimeError("secret detail")

    monkeypatch.setattr(app.state.hub, "listed", broken)
    response = client.get("/metrics")
    assert response.status_code == 500 and "secret" not in response.text
    assert response.json()["type"] == "urn:bestgroup:error:Internal"
    assert "content-security-policy" in response.headers
    assert "secret detail" in caplog.text


def test_a_port_that_is_taken_is_a_sentence():
    taken = listen("127.0.0.1", 0)
    taken.listen()
    with pytest.raises(InvalidInput, match="cannot listen"):
        listen("127.0.0.1", taken.getsockname()[1])
    taken.close()

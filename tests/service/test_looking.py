"""What the page reads: lists, arms, the course, the demo; and the pages that are plain HTML."""

import time
from dataclasses import replace

import numpy as np
import pytest
from test_service import client_of, finish, get, make, post, view_of

from bestgroup.service.app import create_app
from bestgroup.service.auth import Tokens
from bestgroup.service.course import MOST
from bestgroup.service.demo import NAME, OWNER, work_once
from bestgroup.studies.storage.memory import MemoryStore
from serving import GROUPS, READER, WRITER, description

HTML = {"Accept": "text/html"}


@pytest.fixture
def app():
    return create_app(MemoryStore(), Tokens(WRITER, READER))


@pytest.fixture
def client(app):
    return client_of(app)


def listing(client, **query):
    response = client.get("/api/v1/listing", params=query)
    assert response.status_code == 200, response.text
    return response.json()


def course_of(client, study="demo"):
    while not (found := get(client, "course", study=study))["complete"]:
        time.sleep(0.02)
    return found


def test_the_list_says_what_is_asked_how_far_it_is_and_when_it_moved(client):
    assert listing(client) == {"studies": [], "matching": 0, "all": 0, "page": 0}
    make(client, horizon=200)
    best = description(name="Best of all")
    best["goal"] = {"kind": "best", "weights": [1, 2], "epsilon": 0.1}
    best["algorithm"] = "adaptive"
    assert client.post("/api/v1/studies", json=best).status_code == 201
    finish(client)
    found = listing(client, sort="name")
    assert [row["name"] for row in found["studies"]] == ["Best of all", "demo"]
    first, second = found["studies"]
    assert first["kind"] == "best" and first["last"] is None and first["told"] == 0
    assert first["counts"] == {"in": 0, "out": 0, "not needed": 0, "undecided": 3}
    assert second["kind"] == "pareto" and second["state"] == "done"
    assert second["counts"] == {"in": 2, "out": 1, "not needed": 0, "undecided": 0}
    assert (second["groups"], second["arms"], second["dims"]) == (3, 5, ["profit", "speed"])
    assert abs(second["last"] - time.time()) < 600
    assert [r["name"] for r in listing(client, search="best")["studies"]] == ["Best of all"]
    assert [r["name"] for r in listing(client, only="done")["studies"]] == ["demo"]
    assert next(r["name"] for r in listing(client, sort="name", down=True)["studies"]) == "demo"
    page = listing(client, size=1, page=1, sort="name")
    assert (page["matching"], page["all"], len(page["studies"])) == (2, 2, 1)


def test_the_arms_are_found_sorted_and_paged(client):
    make(client, horizon=200)
    nothing = get(client, "arms")
    assert nothing["unpulled"] == 5 and nothing["most"] == 0
    assert all(row["leads"] == [] for row in nothing["rows"])
    finish(client)
    view_of(client)
    found = get(client, "arms")
    pulls = [row["pulls"] for row in found["rows"]]
    assert pulls == sorted(pulls, reverse=True) and sum(pulls) == found["pulls"]
    assert found["most"] == pulls[0] and found["unpulled"] == 0
    rows = {row["arm"]: row for row in found["rows"]}
    assert rows["a1"]["leads"] == ["profit"] and rows["a2"]["leads"] == ["speed"]
    assert rows["a1"]["status"] == "in" and rows["c1"]["status"] == "out"
    for row in rows.values():
        for low, middle, high in row["mean"].values():
            assert low <= middle <= high
    assert {r["arm"] for r in get(client, "arms", search="gamma")["rows"]} == {"c1", "c2"}
    by_name = [row["arm"] for row in get(client, "arms", sort="arm", size=2, page=1)["rows"]]
    assert by_name == ["b1", "c1"]


def test_the_course_is_read_from_the_log_and_goes_on(client, app):
    make(client, horizon=20)
    empty = course_of(client)
    assert empty["points"] == [] and empty["decisions"] == []
    finish(client, n=50)
    app.state.hub._open.clear()  # as a server that was started just now
    found = course_of(client)
    pulls = [point["pulls"] for point in found["points"]]
    assert len(pulls) >= 10 and pulls == sorted(set(pulls))
    assert pulls[-1] == get(client, "status")["told"]
    times = [point["at"] for point in found["points"]]
    assert times == sorted(times) and abs(times[-1] - time.time()) < 600
    last = found["points"][-1]
    assert last["counts"] == {"in": 2, "out": 1, "not needed": 0, "undecided": 0}
    assert last["forecast"] == 0
    sure = [3 - step["counts"]["undecided"] for step in found["steps"]]
    assert sure == sorted(sure) and {*pulls} <= {step["pulls"] for step in found["steps"]}
    for entry in found["decisions"][:-1]:
        step = next(s for s in found["steps"] if s["pulls"] == entry["pulls"])
        assert step["counts"][entry["kind"]] >= 1
    widths = [point["widths"][0] for point in found["points"] if point["widths"]]
    known = [width for width in widths if width is not None]
    assert known[-1] < known[0]
    kinds = [(entry["kind"], entry["group"]) for entry in found["decisions"]]
    assert kinds[-1] == ("answer", None)
    assert {group for _, group in kinds[:-1]} == set(GROUPS)
    assert all(times[0] - 1 <= entry["at"] <= times[-1] + 1 for entry in found["decisions"])


def test_a_long_course_is_thinned(client, app):
    make(client)
    watched = app.state.hub.find("demo")
    proof, head = watched.proof(), watched.head()
    for k in range(1, 3 * MOST + 1):
        tally = proof.certificate.tally
        counts = np.full_like(tally.counts, k)
        grown = replace(proof.certificate, tally=tally._replace(counts=counts))
        watched.course.add(replace(proof, certificate=grown), float(k), head)
    points = watched.course.out([]).points
    assert MOST / 2 <= len(points) <= MOST
    assert points[0].at == 1.0 and points[-1].at == 3.0 * MOST


def test_one_status_for_each_group_with_who_proved_it(client, app):
    make(client, horizon=200)
    finish(client)
    rows = {row["group"]: row for row in view_of(client)["rows"]}
    decided = app.state.hub.find("demo").decided()
    for i, group in enumerate(GROUPS):
        assert rows[group]["by"] == "algorithm" and rows[group]["since"] == decided[i]
        why = get(client, "explain", group=group)
        assert (why["status"], why["by"]) == (rows[group]["status"], "algorithm")
        low, middle, high = why["intervals"]["profit"]
        assert low <= middle <= high
        assert get(client, "explain", number=i)["group"] == group
    beyond = client.get("/api/v1/explain", params={"study": "demo", "number": 3})
    assert beyond.status_code == 422 and "3 groups" in beyond.json()["detail"]


def test_what_the_observations_prove_alone_is_marked(client):
    """TE plans rounds: a table that is brought proves a group before its rule gets there."""
    make(client, horizon=0)
    lines = ["group,arm,profit,speed"]
    for k in range(400):
        lines += [f"alpha,a1,{int(k % 10 > 0)},{int(k % 5 == 0)}", f"alpha,a2,0,{k % 2}"]
        lines += [f"beta,b1,{int(k % 5 == 0)},{int(k % 10 > 0)}", "gamma,c1,0,0", "gamma,c2,0,0"]
    query = {"study": "demo"}
    assert client.post("/api/v1/import", params=query, content="\n".join(lines)).is_success
    view = view_of(client)
    marked = [row for row in view["rows"] if row["by"] == "observations"]
    assert len(marked) == view["ahead"] and all(row["since"] is None for row in marked)
    assert view["ahead"] + view["status"]["groups_in"] + view["status"]["groups_out"] == 3


def test_weighted_worth_holds_the_weights_and_both_ends(client):
    body = description()
    body["problem"]["dims"] = {"cost": "min", "score": "max"}
    body["goal"] = {"kind": "best", "weights": [1, 2], "epsilon": 0.1}
    body["algorithm"] = "adaptive"
    assert client.post("/api/v1/studies", json=body).status_code == 201
    for _ in range(3):
        asked = post(client, "ask", {"n": 50, "owner": "w"}).json()["tickets"]
        values = {"alpha": [0.1, 0.9], "beta": [0.5, 0.5], "gamma": [0.9, 0.1]}
        results = [{"ticket": t, "values": [values[t["group"]]] * t["repeats"]} for t in asked]
        post(client, "tell", {"results": results})
    view = view_of(client)
    assert [entry["group"] for entry in view["worths"]] == ["alpha", "beta", "gamma"]
    low, middle, high = view["worths"][0]["worth"]
    assert middle == pytest.approx(-0.1 + 2 * 0.9, abs=1e-4)
    assert (low is None or low <= middle) and (high is None or high >= middle)
    ordered = [row["group"] for row in get(client, "view", sort="worth")["rows"]]
    assert ordered == ["alpha", "beta", "gamma"]
    cheap = [row["group"] for row in get(client, "view", sort="dim:cost")["rows"]]
    assert cheap == ["alpha", "beta", "gamma"]
    assert next(r["group"] for r in get(client, "view", sort="dim:cost", down=True)["rows"]) == (
        "gamma"
    )


def test_the_demo_is_a_real_study_with_a_real_worker(client, app):
    made = client.post("/api/v1/demo")
    assert made.status_code == 201 and made.json() == {"name": NAME, "working": True, "demo": True}
    deadline = time.monotonic() + 60
    while get(client, "status", study=NAME)["told"] < 48:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert get(client, "demo/work", study=NAME)["working"]
    assert OWNER in [row["owner"] for row in get(client, "view", study=NAME)["workers"]]
    second = client.post("/api/v1/demo").json()["name"]
    assert second == f"{NAME} 2"
    app.state.closing.set()
    while get(client, "demo/work", study=NAME)["working"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    watched = app.state.hub.find(NAME)
    before = watched.head().told
    while not watched.head().pulls:  # the first plan pulls every arm a few times
        assert work_once(watched)
    assert watched.head().told > before and watched.study.verify() > 0


def test_the_demos_worker_knows_no_other_study(client):
    make(client)
    assert not get(client, "demo/work")["demo"]
    refused = post(client, "demo/work", {})
    assert refused.status_code == 422 and "no demo study" in refused.json()["detail"]


def test_a_stranger_with_a_browser_is_asked_for_a_token(app):
    plain = client_of(app, None)
    for path in ("/", "/?study=a%22b", "/nowhere", "/metrics"):
        response = plain.get(path, headers=HTML)
        assert response.status_code == 401 and 'name="token"' in response.text, path
        assert "not a token" not in response.text
    assert 'name="study" value="a&quot;b"' in plain.get("/?study=a%22b", headers=HTML).text
    assert "not a token" in plain.get("/?token=wrong&study=x", headers=HTML).text
    assert plain.get("/nowhere").json()["status"] == 401  # programs get problem JSON
    assert plain.get("/static/page.css").status_code == 200


def test_an_address_that_leads_nowhere_has_a_page(client):
    response = client.get("/nowhere/<b>", headers=HTML)
    assert response.status_code == 404 and "There is no such page" in response.text
    assert "<b>" not in response.text and "default-src 'none'" in str(response.headers)
    assert client.get("/nowhere").json()["status"] == 404


def test_shared_items_show_what_was_saved_and_which_tell_groups_apart(client):
    body = description(groups={"left": ["l"], "right": ["r"], "low": ["z"]})
    body["problem"]["items"] = {"count": 40, "names": [f"question {k}" for k in range(40)]}
    body |= {"algorithm": "adaptive", "goal": {"kind": "pareto", "epsilon": 0.05}}
    made = client.post("/api/v1/studies", json=body)
    assert made.status_code == 201, made.text
    assert get(client, "arms")["items"]["share"] == 0
    odd = None
    while (asked := post(client, "ask", {"n": 20, "owner": "w"}).json())["tickets"]:
        odd = odd or asked["tickets"][0]["items"][0]  # the first in the order that was drawn
        results = []
        for ticket in asked["tickets"]:
            rows = {"left": [0.6, 0.4], "right": [0.4, 0.6], "low": [0.1, 0.1]}[ticket["group"]]
            strange = [
                [1.0 if item == odd and rows[0] == 0.6 else rows[0], rows[1]]
                for item in ticket["items"]
            ]
            results.append({"ticket": ticket, "values": strange})
        assert post(client, "tell", {"results": results}).status_code == 200
    view = view_of(client)
    assert view["counts"]["in"] == 2 and view["final"]
    found = get(client, "arms")["items"]
    assert found["count"] == 40 and found["contenders"] == 2 and found["common"] >= 1
    told = get(client, "status")["told"]
    assert found["share"] == pytest.approx(told / 120, rel=1e-3) and told < 120
    assert "these 40 items" in found["question"]
    first = found["apart"][0]
    assert first["item"] == odd and first["best"] == {"profit": "left", "speed": "right"}
    assert first["spread"] == {"profit": pytest.approx(0.6), "speed": pytest.approx(0.2)}

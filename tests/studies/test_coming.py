"""Arms that come and go: every interface, bad input, tickets, crashes, files."""

import json
import random

import pytest
from typer.testing import CliRunner

import bestgroup as bg
from bestgroup.cli.main import app as command
from bestgroup.errors import InvalidInput, TicketError
from bestgroup.studies.catalog import audit_trail
from bestgroup.studies.storage.memory import MemoryStore

MEANS = {
    "a3": (0.0, 0.0),
    "c2": (0.0, 0.0),
    "a1": (1.0, 0.2),
    "a2": (0.5, 0.9),
    "b1": (0.3, 0.1),
    "c1": (2.0, 0.5),
    "d1": (1.6, 1.6),
}
GROUPS = {"A": ["a1", "a2"], "B": ["b1"]}
DIMS = {"x": "max", "y": "max"}
PROBLEM = bg.Problem(GROUPS, DIMS, bg.SubGaussian(0.3), reserve=4)
GOAL = bg.ParetoGroups(0.05)


def work(study, most=10**9):
    for _ in range(most):
        tickets = study.ask(4)
        if not tickets:
            return study.answer()
        for ticket in tickets:
            draw = random.Random(ticket.seed)
            study.tell(ticket, [draw.gauss(mean, 0.3) for mean in MEANS[ticket.arm]])
    return study.answer()


@pytest.fixture
def study():
    return bg.create_study("late", PROBLEM, GOAL, 0.1, MemoryStore())


def test_a_story_of_arms(study):
    first = work(study)
    assert first.final and first.inside == ("A",) and first.outside == ("B",)
    study.add_group("C", ["c1"])
    opened = study.answer()
    assert not opened.final and opened.outside == ("B",) and opened.undecided == ("A", "C")
    assert opened.guess is not None and opened.guess.level is None  # boxes decide
    assert work(study).inside == ("A", "C")
    study.add_arm("B", "d1")
    assert study.answer().undecided == ("A", "B", "C")
    found = work(study)
    assert "B" in found.inside and found.guarantee.level == "proven"
    assert any("because of what was seen" in words for words in found.guarantee.assumptions)
    study.withdraw("B", "d1")
    assert work(study).inside == ("A", "C")  # at once: all was told
    assert study.answer().told == found.told
    assert [change["kind"] for change in study.changes()] == ["join", "join", "leave"]
    assert study.verify() == study.answer().pulls
    rows = study.proven_by_now()
    assert [row["pulls"] for row in rows] == sorted(row["pulls"] for row in rows)
    assert {row["group"] for row in study.to_frame().to_dict("records")} == {"A", "B", "C"}


def test_bounds_are_those_of_all_arms_that_may_ever_come(study):
    alphas = {study.spec.setting().noise.boxes(study.problem.shape, 0.1).alpha}
    study.add_group("C", ["c1", "c2"])
    study.withdraw("A", "a2")
    alphas.add(study.spec.setting().noise.boxes(study.problem.shape, 0.1).alpha)
    best = bg.create_study("best", PROBLEM, bg.BestGroup([1, 1]), 0.1, MemoryStore())
    algorithm = best.spec.make_algorithm()
    alphas.add(algorithm.rule(best.spec.setting()).box.alpha)
    assert alphas == {0.1 / (2 * 2 * 7)}


def test_tables_reach_their_own_arms_after_others_have_left(study):
    study.add_group("C", ["c1"])
    rows = [{"group": "A", "arm": "a1", "x": 9.0, "y": 9.0}]
    study.import_observations(rows)
    study.withdraw("A", "a1")
    study.withdraw("B")
    later = [{"group": g, "arm": a, "x": float(k), "y": 0.0} for k in range(3)
             for g, a in (("A", "a2"), ("C", "c1"))]  # fmt: skip
    assert study.import_observations(later) == 6
    kept = study.to_frame()
    told = {(row.group, row.arm): [] for row in kept.itertuples()}
    for row in kept.itertuples():
        told[row.group, row.arm].append(row.x)
    assert told == {("A", "a1"): [9.0], ("A", "a2"): [0.0, 1.0, 2.0], ("C", "c1"): [0.0, 1.0, 2.0]}
    assert study.verify() >= 0 and not study.check()
    with pytest.raises(InvalidInput, match="a1"):
        study.import_observations(rows * 2)


def test_tickets_of_arms_that_left_are_gone(study):
    tickets = {ticket.arm: ticket for ticket in study.ask(40)}
    told = study.answer().told
    study.withdraw("A", "a2")
    with pytest.raises(TicketError, match="has left the study; nothing was stored"):
        study.tell(tickets["a2"], [0.0, 0.0])
    with pytest.raises(TicketError, match="has left"):
        study.fail(tickets["a2"])
    assert study.answer().told == told
    study.tell(tickets["a1"], [1.0, 0.2])  # others go on
    assert study.answer().told == told + 1
    assert all(lease.arm != "a2" for lease in study.leases())


def test_other_processes_take_changes_up(tmp_path):
    storage = f"sqlite:///{tmp_path}/late.db"
    one = bg.create_study("late", PROBLEM, GOAL, 0.1, storage)
    two = bg.load_study("late", storage)
    work(one, 3)
    two.add_group("C", ["c1"])
    work(two, 3)
    assert one.ask(1)[0].arm in MEANS
    assert one.answer(beside=False) == two.answer(beside=False)
    one.release()
    again = bg.load_study("late", storage)
    again.withdraw("A", "a1")
    final = work(one)
    assert final.final and final == two.answer() == again.answer()
    assert two.problem.arms == (("a2",), ("b1",), ("c1",))


def test_a_name_is_used_once_and_delta_has_its_limit(study):
    for change, words in [
        (lambda: study.add_group("A", ["x"]), "takes part"),
        (lambda: study.add_arm("A", "a1"), "not used twice"),
        (lambda: study.add_arm("Z", "x"), "there is no group 'Z'"),
        (lambda: study.add_group("C", [f"c{k}" for k in range(5)]), "do not fit"),
        (lambda: study.add_group("C", []), "one arm or more"),
        (lambda: study.add_group("C", ["c", "c"]), "each once"),
        (lambda: study.add_arm("A", 7), "texts for names"),
        (lambda: study.add_arm("A", "x", cost=2), "cost"),
        (lambda: study.withdraw("Z"), "there is no group 'Z'"),
        (lambda: study.withdraw("A", "zzz"), "has no arm 'zzz'"),
    ]:
        before = study.head()
        with pytest.raises(bg.InvalidInput, match=words):
            change()
        assert study.head() == before
    study.withdraw("B")
    with pytest.raises(bg.InvalidInput, match="has left; a name"):
        study.add_group("B", ["x"])
    with pytest.raises(bg.InvalidInput, match="the only group"):
        study.withdraw("A")


def test_what_does_not_go_together_is_refused():
    plain = bg.create_study(
        "plain", bg.Problem(GROUPS, DIMS, bg.SubGaussian(0.3)), GOAL, 0.1, MemoryStore()
    )
    with pytest.raises(bg.InvalidInput, match="create it with a reserve"):
        plain.add_arm("A", "x")
    with pytest.raises(bg.InvalidInput, match="runs 'adaptive'"):
        bg.create_study("te", PROBLEM, GOAL, 0.1, MemoryStore(), algorithm="te")
    with pytest.raises(bg.InvalidInput, match="shared items"):
        bg.Problem(GROUPS, DIMS, bg.Bounded(0, 1), items=10, reserve=2)
    with pytest.raises(bg.InvalidInput, match="reserve must be"):
        bg.Problem(GROUPS, DIMS, bg.Bounded(0, 1), reserve=-1)


def test_costs_of_those_who_join():
    problem = bg.Problem(GROUPS, DIMS, bg.SubGaussian(0.3), costs={"a1": 2}, reserve=2)
    study = bg.create_study("priced", problem, GOAL, 0.1, MemoryStore())
    study.add_group("C", "c1", cost=5)
    assert study.problem.costs == ((2.0, 1.0), (1.0,), (5.0,))
    found = work(study)
    counts = study.to_frame().groupby("arm").size()
    assert found.cost <= counts["a1"] * 2 + counts["a2"] + counts["b1"] + counts["c1"] * 5


def test_the_command_line(tmp_path):
    storage = f"sqlite:///{tmp_path}/late.db"
    spec = tmp_path / "late.toml"
    bg.save_spec(spec, PROBLEM, GOAL, delta=0.1)
    assert bg.load_spec(spec).problem == PROBLEM

    def run(*words):
        done = CliRunner().invoke(command, ["study", *words, "--storage", storage])
        return done

    assert run("create", str(spec), "--name", "late").exit_code == 0
    done = run("add-group", "late", "C", "c1", "c2", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["left"] == 2
    assert run("add-arm", "late", "A", "a3").exit_code == 0
    assert "1 more arms may join" in run("withdraw", "late", "C", "c2").output
    bad = run("withdraw", "late", "Z")
    assert bad.exit_code != 0
    assert bg.load_study("late", storage).problem.groups == ("A", "B", "C")
    work(bg.load_study("late", storage), 2)
    assert run("course", "late", "--json").exit_code == 0
    assert run("check", "late").exit_code == 0


def test_the_service():
    import warnings

    from bestgroup.service.app import create_app
    from bestgroup.service.auth import Tokens

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from fastapi.testclient import TestClient
    store = MemoryStore()
    study = bg.create_study("late", PROBLEM, GOAL, 0.1, store)
    work(study, 3)
    headers = {"Authorization": f"Bearer {'w' * 40}"}
    app = create_app(store, Tokens("w" * 40, "r" * 40))
    client = TestClient(app, base_url="http://localhost", headers=headers)

    def call(method, path, body=None):
        return client.request(method, f"/api/v1/{path}", params={"study": "late"}, json=body)

    assert call("GET", "arms").json()["left"] == 4
    joined = call("POST", "join", {"group": "C", "arms": ["c1"], "new": True})
    assert joined.status_code == 200, joined.text
    assert joined.json()["left"] == 3 and joined.json()["groups"]["C"] == ["c1"]
    for path in ("view", "arms", "course", "status", "answer", "decisions", "changes", "study"):
        found = call("GET", path)
        assert found.status_code == 200, (path, found.text)
    assert call("GET", "view").json()["groups"] == 3
    work(study)
    answer = call("GET", "answer").json()
    assert answer["final"] and answer["in"] == ["A", "C"]
    assert [row["group"] for row in answer["deploy"]] == ["A", "C"]
    left = call("POST", "withdraw", {"group": "A"})
    assert left.status_code == 200 and list(left.json()["groups"]) == ["B", "C"]
    assert call("GET", "view").json()["groups"] == 2
    assert call("GET", "answer").json()["in"] == ["C"]
    assert call("POST", "withdraw", {"group": "Z"}).status_code in (400, 422)
    assert call("POST", "join", {"group": "C", "arms": ["x", "y"]}).status_code in (400, 422)
    trail = audit_trail(store)
    assert [row["what"] for row in trail if row["what"] != "create"] == ["withdraw", "join"]
    read = TestClient(
        app, base_url="http://localhost", headers={"Authorization": f"Bearer {'r' * 40}"}
    )
    refused = read.post("/api/v1/withdraw", params={"study": "late"}, json={"group": "C"})
    assert refused.status_code == 403

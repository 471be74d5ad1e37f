"""The study API: tickets, leases, answers, tables, versions; and that bad input changes nothing."""

import json
import pickle
import time

import numpy as np
import pandas as pd
import pytest

import bestgroup as bg
from bestgroup.inference.confidence_sequences.boxes import take_values
from bestgroup.inference.tally import empty_tally
from bestgroup.problem.problem import Problem
from bestgroup.studies import runner as study_runner
from bestgroup.studies.storage.memory import MemoryStore
from servers import KINDS, storage

PROBLEM = Problem(
    {"A": ["a1", "a2"], "B": ["b1"], "C": ["c1"]},
    {"profit": "max", "latency": "watch", "returns": "min"},
    bg.SubGaussian(1.0),
)
MEANS = {"a1": (1, 5, 0), "a2": (0, 5, 1), "b1": (5, 5, -3), "c1": (3, 5, 3)}
GOAL = bg.ParetoGroups(0.5)


@pytest.fixture(params=KINDS)
def place(request, tmp_path):
    return storage(request.param, tmp_path)


@pytest.fixture
def study(place):
    made = bg.create_study("one", PROBLEM, GOAL, 0.1, place, algorithm="te", seed=3)
    yield made
    made.close()


@pytest.fixture
def quick():
    """A study in memory, under a name of its own."""
    made = bg.create_study("quick", PROBLEM, GOAL, 0.1, "memory", algorithm="te")
    yield made
    bg.delete_study("quick", "memory")


def measure(ticket):
    rng = np.random.default_rng(ticket.seed)
    return np.array(MEANS[ticket.arm]) + 0.5 * rng.standard_normal(3)


def finish(study, n=4):
    while tickets := study.ask(n):
        for ticket in tickets:
            study.tell(ticket, measure(ticket))
    return study.answer()


def everything(study):
    return study._store.read(
        study._key, lambda s: (s.head, sorted(s.slots()), len(s.blocks(0)), s.decisions())
    )


def test_from_the_first_ticket_to_the_answer(study):
    answer = study.answer()
    assert not answer.final and answer.undecided == ("A", "B", "C")
    assert study.status().free == 4
    answer = finish(study)
    assert answer.final and answer.groups == ("B",) and answer.outside == ("A", "C")
    status = study.status()
    assert status.state == "done" and status.pulls == status.told == answer.pulls > 50
    assert status.free == status.leased == 0 and study.ask(5) == []
    assert answer.guarantee.level == "proven"
    assert any("whether it fails" in sentence for sentence in answer.guarantee.assumptions)
    assert study.verify() == status.pulls
    made = study.decisions()
    assert [d["kind"] for d in made].count("in") == 1 and made[-1]["evidence"]["answer"] == ["B"]
    assert json.dumps([made, answer.to_dict(), status.to_dict()])


def test_compiled_kernels_give_the_same_study(quick):
    other = bg.create_study("fast", PROBLEM, GOAL, 0.1, MemoryStore(), algorithm="te")
    other.compile()
    assert finish(other) == finish(quick) and other.decisions() == quick.decisions()
    assert other.explain("A") == quick.explain("A")


def test_the_default_storage_is_a_file_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = bg.create_study("one", PROBLEM, GOAL, 0.1, algorithm="te")
    assert (tmp_path / "bestgroup.db").exists() and bg.load_study("one").status() == made.status()
    assert [row["name"] for row in bg.list_studies()] == ["one"]
    made.close()


def test_explain_speaks_in_the_users_units(study):
    early = study.explain("A")
    assert early.status == "undecided" and early.arms[0]["mean"] is None
    finish(study)
    why = study.explain("B")
    assert why.status == "in" and "B is in the answer" in str(why)
    assert (
        abs(why.efficiency["returns"] - -3) < 0.5 and abs(why.arms[0]["mean"]["profit"] - 5) < 0.5
    )
    assert why.decision["evidence"]["pulls"]["b1"] > 0 and json.dumps(why.to_dict())
    assert study.explain("C").status == "out"
    with pytest.raises(bg.InvalidInput, match="no group 'X'"):
        study.explain("X")


def test_another_process_goes_on_where_this_one_stopped(study, place):
    undisturbed = finish(bg.create_study("two", PROBLEM, GOAL, 0.1, place, algorithm="te", seed=3))
    for ticket in study.ask(3):
        study.tell(ticket, measure(ticket))
    again = bg.load_study("one", place)
    assert again.status() == study.status()
    assert finish(again).groups == undisturbed.groups
    assert again.status().pulls == undisturbed.pulls
    assert [row["name"] for row in bg.list_studies(place)] == ["one", "two"]
    bg.delete_study("two", place)
    with pytest.raises(bg.StoreError, match="no study named 'two'"):
        bg.load_study("two", place)
    again.close()


def test_seeds_belong_to_pulls(study):
    (first,) = study.ask(1)
    study.fail(first, "broke")
    tickets = study.ask(4, owner="other")
    (again,) = [t for t in tickets if (t.arm, t.index) == (first.arm, first.index)]
    assert again.seed == first.seed and len({t.seed for t in tickets}) == 4
    assert study.status().failures[0]["reason"] == "broke"
    assert study.status().workers == {"other": 4}


def test_an_ended_lease_goes_to_the_next_who_asks(study):
    late = study.ask(4, lease=0.02)
    time.sleep(0.05)
    assert study.status().overdue == 4
    again = study.ask(4, owner="b")
    assert [(t.arm, t.index, t.seed) for t in again] == [(t.arm, t.index, t.seed) for t in late]
    with pytest.raises(bg.TicketError, match="not leased"):
        study.heartbeat(late[0])
    assert study.heartbeat(again[0], 1000) > again[0].expires
    assert study.tell(late[0], [1, 2, 3]) == 1  # late, and nobody else told
    assert study.tell(again[0], [1, 2, 3]) == 0
    with pytest.raises(bg.TicketError, match=r"arm 'a1' of 'A' was told before with other values"):
        study.tell(again[0], [1, 2, 4])


def test_horizon_batches_and_parts(place):
    made = bg.create_study("ahead", PROBLEM, GOAL, 0.1, place, algorithm="te", horizon=9)
    tickets = made.ask(4, repeats=10)
    assert [t.repeats for t in tickets] == [10] * 4 and len(tickets[0].seeds) == 10
    rows = {t.arm: np.arange(30.0).reshape(10, 3) for t in tickets}
    for ticket in tickets[:3]:
        assert made.tell(ticket, rows[ticket.arm]) == 10
    assert made.status().pulls == 0 and made.status().told == 30
    assert made.tell(tickets[3], rows["c1"][:4]) == 4
    assert made.status().pulls == 16 and made.status().leased == 6
    assert made.tell(tickets[3], rows["c1"]) == 6
    assert made.status().pulls == 40 == made.verify()
    made.close()


def test_refused_tells_change_nothing(quick):
    (ticket,) = quick.ask(1)
    before = everything(quick)
    good = ticket.to_dict()
    for given, values, error in (
        (ticket, [1.0], bg.InvalidInput),
        (ticket, [1.0, 2.0, float("nan")], bg.InvalidInput),
        (ticket, ["x", 1.0, 2.0], bg.InvalidInput),
        (ticket, [[1.0] * 3] * 2, bg.InvalidInput),
        (ticket, [], bg.InvalidInput),
        ("ticket", [1.0] * 3, bg.InvalidInput),
        ({"group": "A"}, [1.0] * 3, bg.InvalidInput),
        ({**good, "arm": "zz"}, [1.0] * 3, bg.InvalidInput),
        ({**good, "study": "other"}, [1.0] * 3, bg.InvalidInput),
        ({**good, "index": -1}, [1.0] * 3, bg.InvalidInput),
        ({**good, "index": 99}, [1.0] * 3, bg.TicketError),
        ({**good, "repeats": 2**70}, [1.0] * 3, bg.InvalidInput),
    ):
        with pytest.raises(error) as caught:
            quick.tell(given, values)
        assert len(str(caught.value)) > 15 and everything(quick) == before
    for call in (
        lambda: quick.ask(0),
        lambda: quick.ask(1, lease=-1),
        lambda: quick.ask(1, owner=""),
        lambda: quick.ask(10**9),
    ):
        with pytest.raises(bg.InvalidInput):
            call()
    assert everything(quick) == before and quick.tell(good, [1.0] * 3) == 1


def test_a_step_that_fails_loses_nothing(quick, monkeypatch):
    tickets = quick.ask(4)
    for ticket in tickets[:3]:
        quick.tell(ticket, [1, 2, 3])

    def broken(*_):
        raise RuntimeError("bug")

    with monkeypatch.context() as patch:
        patch.setattr(study_runner.LiveSession, "advance", broken)
        with pytest.raises(RuntimeError):
            quick.tell(tickets[3], [1, 2, 3])
    assert quick.status().told == 3
    assert quick.tell(tickets[3], [1, 2, 3]) == 1 and quick.status().pulls == 4 == quick.verify()


def test_bad_studies_are_refused(tmp_path):
    for arguments, options in (
        (("", PROBLEM, GOAL, 0.1), {}),
        (("x", "problem", GOAL, 0.1), {}),
        (("x", PROBLEM, bg.BestGroup([1.0]), 0.1), {}),
        (("x", PROBLEM, GOAL, 1.5), {}),
        (("x", PROBLEM, GOAL, 0.1, "mysql://x"), {}),
        (("x", PROBLEM, GOAL, 0.1, "nonsense"), {}),
        (("x", PROBLEM, GOAL, 0.1, "sqlite://"), {}),
        (("x", PROBLEM, GOAL, 0.1, f"sqlite:///{tmp_path}/no/x.db"), {}),
        (("x", PROBLEM, GOAL, 0.1, "memory"), {"horizon": -1}),
        (("x", PROBLEM, GOAL, 0.1, "memory"), {"algorithm": "eecb"}),
        (
            ("x", PROBLEM, GOAL, 0.1, "memory"),
            {"algorithm": bg.algorithm("te", radius=lambda r: 1.0)},
        ),
    ):
        with pytest.raises(bg.BestGroupError) as caught:
            bg.create_study(*arguments, **options)
        assert "\n" not in str(caught.value)
    with pytest.raises(bg.StoreError, match="no database file"):
        bg.load_study("x", f"sqlite:///{tmp_path}/none.db")
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("this is not a database, but long enough to be looked at")
    with pytest.raises(bg.StoreError, match="not an SQLite database"):
        bg.load_study("x", f"sqlite:///{tmp_path}/text.db")


def test_versions_are_pinned(place, monkeypatch):
    made = bg.create_study("one", PROBLEM, GOAL, 0.1, place, algorithm="te")
    tickets = made.ask(4)
    made.tell(tickets[0], [1, 2, 3])
    monkeypatch.setattr("bestgroup.studies.spec.__version__", "9.9")
    other = bg.load_study("one", place)  # another library alone is no error
    assert other.tell(tickets[1], [1, 2, 3]) == 1
    monkeypatch.undo()
    monkeypatch.setattr("bestgroup.algorithms.triple_elimination.TripleElimination.version", 77)
    other = bg.load_study("one", place)
    for call in (lambda: other.ask(1), lambda: other.tell(tickets[2], [1, 2, 3])):
        with pytest.raises(bg.WrongVersion, match=r"version 1 of .*'te'.*has version 77"):
            call()
    assert other.status().told == 2 and len(other.to_frame()) == 2
    monkeypatch.undo()
    assert made.tell(tickets[2], [1, 2, 3]) == 1
    assert made.tell(tickets[3], [1, 2, 3]) == 1 and made.status().pulls == 4
    made.close()
    other.close()


def test_snapshots_are_a_cache(place, monkeypatch):
    monkeypatch.setattr(study_runner, "SNAPSHOT_AFTER", 0.0)
    made = bg.create_study("one", PROBLEM, GOAL, 0.1, place, algorithm="te")
    for _ in range(5):
        for ticket in made.ask(4):
            made.tell(ticket, measure(ticket))
    good = made._store.read(made._key, lambda s: s.snapshot())
    plain = made.explain("A")
    for data in (good, None, b"", b"garbage" * 9, good[:-3], good[:40]):
        made._store.write(made._key, lambda s, d=data: s.set_snapshot(d))
        assert bg.load_study("one", made._store).explain("A") == plain
    assert finish(bg.load_study("one", made._store)).groups == ("B",)
    made.close()


def test_import_takes_free_pulls_and_is_done_once(study, tmp_path):
    tickets = study.ask(4)
    (held,) = [t for t in tickets if t.arm == "b1"]
    for ticket in tickets:
        if ticket is not held:
            study.fail(ticket)
    rows = [{"group": "B", "arm": "b1", "profit": k, "latency": 0, "returns": -k} for k in range(3)]
    rows += [{"group": "A", "arm": "a2", "profit": 1, "latency": 0, "returns": 0}]
    table = pd.DataFrame(rows)
    table.to_csv(tmp_path / "t.csv", index=False)
    assert study.import_observations(tmp_path / "t.csv") == 4
    assert study.import_observations(table) == study.import_observations(rows) == 0
    frame = study.to_frame()
    # The first pull of b1 is leased, so the table's rows are the second to fourth.
    assert frame[frame.arm == "b1"]["index"].tolist() == [1, 2, 3]
    assert frame[frame.arm == "b1"]["profit"].tolist() == [0, 1, 2]
    assert study.tell(held, [9, 9, 9]) == 1
    assert finish(study).final and study.verify() > 0
    with pytest.raises(bg.InvalidInput, match="has ended"):
        study.import_observations([{**rows[0], "profit": 7}])


def test_bad_tables_name_the_row(quick, tmp_path):
    good = "group,arm,profit,latency,returns\nA,a1,1,2,3\n"
    before = everything(quick)
    for text, sentence in (
        ("group,arm,profit,latency\nA,a1,1,2\n", "there is no column for the dim 'returns'"),
        (good + "A,zz,1,2,3\n", "line 3: the group 'A' has no arm 'zz'"),
        (good + "Z,a1,1,2,3\n", "line 3: there is no group 'Z'"),
        (good + "A,a1,1,,3\n", "line 3: latency is missing"),
        (good + "A,a1,1,x,3\n", "line 3: latency must be a finite number; got 'x'"),
        (good + "A,a1,1,inf,3\n", "line 3: latency must be a finite number; got 'inf'"),
        (good + "A,a1,1\n", "line 3 must have 5 cells; got 3"),
        ("group,arm,profit,latency,returns\n", "no observations"),
    ):
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(bg.InvalidInput, match=sentence):
            quick.import_observations(tmp_path / "bad.csv")
        assert everything(quick) == before
    with pytest.raises(bg.InvalidInput, match="No such file"):
        quick.import_observations(tmp_path / "none.csv")
    with pytest.raises(bg.InvalidInput, match="must be a CSV"):
        quick.import_observations(7)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_export_and_import_give_the_same_study(quick, tmp_path, suffix):
    finish(quick)
    rows = quick.export(tmp_path / f"all.{suffix}")
    assert rows == quick.status().told
    other = bg.create_study("copy", PROBLEM, GOAL, 0.1, "memory", algorithm="te")
    try:
        assert other.import_observations(tmp_path / f"all.{suffix}") == rows
        assert other.answer().groups == quick.answer().groups
        assert (
            other.status().pulls == quick.status().pulls and other.decisions() == quick.decisions()
        )
    finally:
        bg.delete_study("copy", "memory")
    with pytest.raises(bg.InvalidInput, match=r"ends in \.csv or \.parquet"):
        quick.export(tmp_path / "all.xlsx")


def test_verify_finds_a_changed_log(tmp_path):
    import sqlite3

    made = bg.create_study("one", PROBLEM, GOAL, 0.1, f"sqlite:///{tmp_path}/x.db", algorithm="te")
    finish(made)
    made.close()
    with sqlite3.connect(tmp_path / "x.db") as connection:
        data = np.array([900.0, 0.0, -900.0]).tobytes()
        connection.execute("UPDATE bestgroup_observations SET data=? WHERE number=1", [data])
    connection.close()
    with pytest.raises(bg.StoreError, match=r"block 1 \(pull 0 of arm 'a1' of 'A'\) does not fit"):
        bg.load_study("one", f"sqlite:///{tmp_path}/x.db").verify()


def test_a_stuck_study_says_so(monkeypatch):
    kind = type(bg.algorithm("te"))
    monkeypatch.setattr(kind, "plan", lambda self, state, tally, rule: 0 * tally.counts)
    monkeypatch.setattr(kind, "is_stuck", lambda self, state, rule: True)
    made = bg.create_study("stuck", PROBLEM, GOAL, 0.1, MemoryStore(), algorithm="te")
    assert made.status().state == "stuck" and made.ask(1) == [] and not made.answer().final


@pytest.mark.parametrize("horizon", [0, 5])
def test_noise_models_that_keep_more_than_sums(horizon, monkeypatch):
    monkeypatch.setattr(study_runner, "SNAPSHOT_AFTER", 0.0)
    problem = Problem({"A": ["a", "c"], "B": ["b"]}, {"x": "max", "y": "min"}, bg.Bounded(0, 1))
    store = MemoryStore()
    options = {"algorithm": "adaptive", "horizon": horizon, "batch": 4}
    made = bg.create_study("bounded", problem, bg.ParetoGroups(0.3), 0.1, store, **options)
    rng, told = np.random.default_rng(4), {}
    while tickets := bg.load_study("bounded", store).ask(6, 3):
        for k in rng.permutation(len(tickets)).tolist():
            t = tickets[k]
            rows = [
                np.random.default_rng(seed).random(2) * "abc".index(t.arm) / 2 for seed in t.seeds
            ]
            told |= {(t.group, t.arm, t.index + n): row for n, row in enumerate(rows)}
            bg.load_study("bounded", store).tell(t, rows)
    assert made.answer().final
    last = store.read(made._key, lambda s: made._runner.view(s).checkpoint())
    rule = made.spec.make_algorithm().statistics(made.spec.setting())
    tally = empty_tally(2, 2, 2, rule.start)
    for (group, arm, _), row in sorted(told.items()):
        i, j = problem.index(group, arm)
        if tally.counts[i, j] < last.counts[i, j]:
            take_values(rule, tally, i, j, problem.to_internal(np.atleast_2d(row)))
    assert tally.extra.size and tally.extra.tobytes() == last.extra.tobytes()
    assert tally.sums.tobytes() == last.sums.tobytes()
    with pytest.raises(bg.InvalidInput):
        made.tell({"group": "A", "arm": "a", "index": 0}, [1.5, 0.0])


def test_a_study_can_be_sent_to_another_process(tmp_path):
    made = bg.create_study("one", PROBLEM, GOAL, 0.1, f"sqlite:///{tmp_path}/x.db", algorithm="te")
    again = pickle.loads(pickle.dumps(made))
    assert again.name == "one" and again.status() == made.status()
    made.close()
    again.close()

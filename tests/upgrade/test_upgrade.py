"""Databases of released schemas open; those of newer ones are refused and left alone."""

import json
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import bestgroup as bg
from bestgroup.studies.storage import migrations
from bestgroup.studies.storage.checksums import text_checksum
from bestgroup.studies.storage.migrations import NEWEST

HERE = Path(__file__).parent


@pytest.fixture
def kept(tmp_path):
    """Return the URL of a copy of the stored database of the first schema."""
    shutil.copy(HERE / "schema_1.db", tmp_path / "x.db")
    return f"sqlite:///{tmp_path}/x.db"


def change_spec(url, name, **entries):
    """Change what a study is pinned to, as a bestgroup of another version would have written it."""
    bg.list_studies(url)  # brings the database to the newest schema
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        (text,) = connection.execute(
            "SELECT spec FROM bestgroup_studies WHERE name=?", [name]
        ).fetchone()
        spec = json.dumps({**json.loads(text), **entries})
        connection.execute(
            "UPDATE bestgroup_studies SET spec=?, spec_checksum=? WHERE name=?",
            [spec, text_checksum(spec), name],
        )
    connection.close()


def test_every_schema_is_kept():
    files = sorted(path.name for path in HERE.glob("schema_*.db"))
    assert [f"schema_{k}.db" for k in range(1, NEWEST + 1)] == files


def test_an_old_study_opens_and_goes_on(kept):
    study = bg.load_study("kept", kept)
    status = study.status()
    assert status.state == "running" and status.told > status.pulls > 10
    assert status.failures[0]["reason"] == "an example of a failure" and status.overdue == 1
    assert study.verify() == status.pulls
    assert "undecided" in str(study.explain("A"))
    for _ in range(500):
        for ticket in study.ask(6):
            study.tell(ticket, [float(ticket.group == "A"), 0.0, -2.0 * (ticket.arm == "a1")])
    assert study.answer().groups == ("A",) and study.verify() > status.pulls
    study.close()


@pytest.mark.parametrize("number", range(1, NEWEST + 1))
def test_studies_of_every_algorithm_open_untouched_and_go_on(number, tmp_path):
    shutil.copy(HERE / f"schema_{number}.db", tmp_path / "x.db")
    url = f"sqlite:///{tmp_path}/x.db"
    rows = bg.list_studies(url)
    assert len(rows) == 19 and len({row["identity"] for row in rows}) == 19
    for row in rows:
        study = bg.load_study(row["name"], url)
        pulls = study.verify()
        assert study.answer().final == (row["state"] == "done")
        for ticket in study.ask(3):
            study.tell(ticket, [6.0 * (ticket.group == "A"), 0.0, 0.0])
        assert study.verify() >= pulls and len(study.to_frame()) == study.status().told
        study.close()


def test_blocks_of_the_second_schema_get_a_checksum_if_the_chain_vouches_for_them(tmp_path):
    shutil.copy(HERE / "schema_2.db", tmp_path / "x.db")
    url = f"sqlite:///{tmp_path}/x.db"
    with sqlite3.connect(tmp_path / "x.db") as connection:
        (key,) = connection.execute("SELECT id FROM bestgroup_studies WHERE name='kept'").fetchone()
        connection.execute(
            "UPDATE bestgroup_observations SET at=at+1 WHERE study=? AND number=3", [key]
        )
    assert len(bg.load_study("kept", url).check()) == 1
    without = connection.execute(
        "SELECT study, number FROM bestgroup_observations WHERE checksum IS NULL"
    ).fetchall()
    assert without == [(key, 3)]
    (lost,) = connection.execute(
        "SELECT sum(count) FROM bestgroup_observations WHERE study=? AND number IN (3, 5)", [key]
    ).fetchone()
    connection.execute("DELETE FROM bestgroup_observations WHERE study=? AND number=5", [key])
    connection.commit()
    connection.close()
    study = bg.load_study("kept", url)
    told = study.status().told
    found = [str(finding) for finding in study.repair()]
    assert "block 3 " in found[0] and "drops it" in found[0] and len(found) == 2
    assert "block 5 is missing" in found[1] and study.check() == []
    assert study.status().told == told - lost
    study.close()


def test_a_new_database_gets_the_newest_tables_and_the_stamp_but_no_step(tmp_path, monkeypatch):
    """Steps are for upgrades: they alter tables that a new database never had."""

    def never(_connection):
        raise AssertionError("a step on a new database")

    monkeypatch.setattr(migrations, "STEPS", dict.fromkeys(migrations.STEPS, never))
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0))
    bg.create_study("new", problem, bg.ParetoGroups(0.1), storage=f"sqlite:///{tmp_path}/n.db")
    with sqlite3.connect(tmp_path / "n.db") as connection:
        (stamp,) = connection.execute("SELECT version FROM bestgroup_schema").fetchall()
    connection.close()
    assert stamp == (NEWEST,)
    assert bg.load_study("new", f"sqlite:///{tmp_path}/n.db").status().told == 0


@dataclass(frozen=True)
class First(bg.Algorithm):
    """Asks every arm twice and then names the first group."""

    name: ClassVar[str] = "of-two-versions"
    goals: ClassVar[tuple[type, ...]] = (bg.ParetoGroups,)
    rounds: ClassVar[int] = 2

    def init(self, rule):
        return {"rounds": 0}

    def plan(self, state, tally, rule):
        return rule.shape.exists.astype(int)

    def step(self, state, tally, rule):
        return {"rounds": state["rounds"] + 1}

    def is_done(self, state, rule):
        return state["rounds"] >= self.rounds

    def answer(self, state, rule):
        return frozenset({self.rounds - 2})


@dataclass(frozen=True)
class Second(First):
    """Asks three times and names the second group."""

    version: ClassVar[int] = 2
    rounds: ClassVar[int] = 3


def test_when_an_algorithm_changes_its_old_version_goes_on_with_its_open_studies(tmp_path):
    url = f"sqlite:///{tmp_path}/v.db"
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0))
    bg.register(First)
    given = problem, bg.ParetoGroups(0.1), 0.05, url
    old = bg.create_study("old", *given, algorithm="of-two-versions")
    for ticket in old.ask(2):
        old.tell(ticket, [1.0])
    bg.register(Second)
    new = bg.create_study("new", *given, algorithm="of-two-versions")
    old = bg.load_study("old", url)
    for study in (old, new):
        while tickets := study.ask(2):
            study.tell_many([(ticket, [1.0]) for ticket in tickets])
    assert (old.spec.algorithm_version, old.answer().groups, old.status().pulls) == (1, ("A",), 4)
    assert (new.spec.algorithm_version, new.answer().groups, new.status().pulls) == (2, ("B",), 6)
    assert old.verify() == 4 and new.verify() == 6


def test_another_library_version_alone_is_no_error(kept):
    change_spec(kept, "te running", library="0.0.1")
    study = bg.load_study("te running", kept)
    tickets = study.ask(3)
    assert study.tell_many([(t, [1.0, 1.0, 1.0]) for t in tickets]) == len(tickets) > 0
    assert study.verify() > 0 and study.spec.library == "0.0.1"
    study.close()


def test_a_study_of_an_algorithm_version_that_is_gone_can_be_read_but_not_run(kept):
    change_spec(kept, "te later", library="0.0.1", algorithm_version=7)
    change_spec(kept, "te running", library="0.0.1", algorithm_version=7)
    ended, running = bg.load_study("te later", kept), bg.load_study("te running", kept)
    for study in (ended, running):
        assert study.status().told == len(study.to_frame()) > 10
        assert study.decisions() is not None and str(study.answer()) and study.explain("A").arms
    assert ended.answer().final and ended.answer().groups == ("A", "B")
    sentence = r"version 7 of the algorithm 'te' \(bestgroup 0\.0\.1\).*has version 1"
    (ticket,) = bg.load_study("age running", kept).ask(1)
    entry = {
        key: value for key, value in ticket.to_dict().items() if key in ("group", "arm", "index")
    }
    for call in (
        lambda: running.ask(1),
        lambda: running.tell(entry, [0.0, 0.0, 0.0]),
        lambda: running.import_observations([{"group": "A", "arm": "a1", "x": 1, "w": 1, "y": 1}]),
    ):
        before = running.status().told
        with pytest.raises(bg.WrongVersion, match=sentence) as caught:
            call()
        assert caught.value.status == 409 and running.status().told == before
    for study in (ended, running):
        study.close()


def test_entries_of_a_newer_version_are_refused_by_name(kept):
    change_spec(kept, "kept", library="9.1.0", patience=3)
    with pytest.raises(bg.WrongVersion, match=r"bestgroup 9\.1\.0 with 'patience'.*upgrade"):
        bg.load_study("kept", kept)
    assert bg.load_study("te running", kept).status().told == 12


def test_a_newer_schema_is_refused(kept):
    path = kept.removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE bestgroup_schema SET version={NEWEST + 1}")
    connection.close()
    before = Path(path).read_bytes()
    with pytest.raises(bg.StoreError, match=r"newer bestgroup.*upgrade bestgroup") as caught:
        bg.load_study("kept", kept)
    assert "nothing was changed" in str(caught.value)
    with sqlite3.connect(path) as connection:
        (found,) = connection.execute("SELECT version FROM bestgroup_schema").fetchone()
    connection.close()
    assert found == NEWEST + 1 and len(Path(path).read_bytes()) == len(before)

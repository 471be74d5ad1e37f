"""Databases of released schemas open; those of newer ones are refused and left alone."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import bestgroup as bg
from bestgroup.studies.storage.migrations import NEWEST

HERE = Path(__file__).parent


@pytest.fixture
def kept(tmp_path):
    """Return the URL of a copy of the stored database, pinned to the library that runs."""
    shutil.copy(HERE / "schema_1.db", tmp_path / "x.db")
    return f"sqlite:///{tmp_path}/x.db"


def pin(url, version):
    path = url.removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        (text,) = connection.execute(
            "SELECT spec FROM bestgroup_studies WHERE name='kept'"
        ).fetchone()
        spec = {**json.loads(text), "library": version}
        connection.execute(
            "UPDATE bestgroup_studies SET spec=? WHERE name='kept'", [json.dumps(spec)]
        )
    connection.close()


def test_every_schema_is_kept():
    assert [f"schema_{k}.db" for k in range(1, NEWEST + 1)] == sorted(
        path.name for path in HERE.glob("schema_*.db")
    )


def test_an_old_study_opens_and_goes_on(kept):
    pin(kept, bg.__version__)
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


def test_a_study_of_another_version_can_be_read_but_not_run(kept):
    pin(kept, "0.0.1")
    study = bg.load_study("kept", kept)
    assert study.status().told == len(study.to_frame()) > 10
    for call in (lambda: study.ask(1), lambda: study.explain("A")):
        with pytest.raises(
            bg.StoreError, match=r"pinned to bestgroup 0\.0\.1.*install bestgroup==0"
        ):
            call()
    study.close()


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

"""A full disk, a read-only file, a database that is away: a clear sentence or patience."""

import sqlite3
import threading
import time

import pytest

import bestgroup as bg
from bestgroup.studies.runner import Runner
from bestgroup.studies.storage import dialects, open_store
from crash.laboratory import GOAL, OPTIONS, PROBLEM, measure
from servers import Server


def tell_all(study, most=10**9):
    told = 0
    while told < most and (tickets := study.ask(8, 3, lease=0.2)):
        told += study.tell_many([(ticket, measure(ticket)) for ticket in tickets])
    return told


def test_a_full_disk(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/x.db"
    study = bg.create_study("one", PROBLEM, GOAL, 0.1, url, **OPTIONS)
    tell_all(study, 100)
    study.close()
    plain = dialects.SQLite._prepare

    def small(connection, record):
        plain(connection, record)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages + 2}")

    with monkeypatch.context() as patch:
        patch.setattr(dialects.SQLite, "_prepare", staticmethod(small))
        tight = bg.load_study("one", url)
        with pytest.raises(bg.StoreError, match=r"disk is full.*nothing of this call was stored"):
            tell_all(tight)
        told = tight.status().told
        assert told >= 100 and tight.verify() == tight.status().pulls
        tight.close()
    again = bg.load_study("one", url)
    assert again.status().told == told
    time.sleep(0.3)  # what was asked for and could not be told is handed out again
    tell_all(again)
    assert again.answer().final and again.verify() > told
    again.close()


def test_a_read_only_file(tmp_path):
    study = bg.create_study("one", PROBLEM, GOAL, 0.1, f"sqlite:///{tmp_path}/x.db", **OPTIONS)
    (ticket,) = study.ask(1)
    reader = bg.load_study("one", f"sqlite:///file:{tmp_path}/x.db?mode=ro&uri=true")
    assert reader.status().leased == 1
    for call in (lambda: reader.ask(1), lambda: reader.tell(ticket, measure(ticket))):
        with pytest.raises(bg.StoreError, match="read-only"):
            call()
    assert study.tell(ticket, measure(ticket)) == 1 and reader.status().told == 1
    study.close()
    reader.close()


def test_a_file_that_another_program_locks(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/x.db"
    study = bg.create_study("one", PROBLEM, GOAL, 0.1, url, **OPTIONS)
    first, second = study.ask(2)
    other = sqlite3.connect(tmp_path / "x.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    assert study.status().told == 0  # readers go on
    monkeypatch.setattr(dialects, "WAIT", 0.05)
    hasty = bg.load_study("one", open_store(url, patience=0.2))
    with pytest.raises(bg.StoreError, match="locked by another program"):
        hasty.tell(first, measure(first))
    release = threading.Timer(1.5, lambda: other.execute("COMMIT"))
    release.start()
    begun = time.monotonic()
    assert study.tell(second, measure(second)) == 1 and time.monotonic() - begun > 1
    assert hasty.tell(first, measure(first)) == 1
    release.join()
    for thing in (other, study, hasty):
        thing.close()


def wait_for_a_server(seconds):
    server = Server()
    url = server.database()
    study = bg.create_study("one", PROBLEM, GOAL, 0.1, url, **OPTIONS)
    first, second = study.ask(2)
    server.kill()
    hasty = bg.load_study
    with pytest.raises(bg.StoreError, match="does not answer"):
        hasty("one", open_store(url, patience=0.3))
    restart = threading.Timer(seconds, server.start)
    restart.start()
    begun = time.monotonic()
    assert study.tell(first, measure(first)) == 1 and time.monotonic() - begun > seconds * 0.9
    restart.join()
    assert study.tell(second, measure(second)) == 1 and study.status().told == 2
    study.close()


def test_a_server_that_is_away():
    wait_for_a_server(2.0)


@pytest.mark.verify
def test_a_server_that_is_away_for_ten_seconds():
    wait_for_a_server(10.0)


@pytest.mark.parametrize("how", ["tell", "import"])
def test_what_is_stored_is_confirmed_if_the_next_plan_cannot_be(how, tmp_path, monkeypatch):
    """A disk that is full after the observations were stored does not make them unstored."""
    study = bg.create_study("one", PROBLEM, GOAL, 0.1, f"sqlite:///{tmp_path}/x.db", **OPTIONS)
    tickets = study.ask(100)
    rows = [
        {"group": t.group, "arm": t.arm, **dict(zip("xyw", measure(t)[0], strict=True))}
        for t in tickets
    ]

    def full(runner, session):
        raise bg.StoreError("the disk is full; nothing of this call was stored")

    with monkeypatch.context() as patch:
        patch.setattr(Runner, "settle", full)
        patch.setattr(Runner, "is_quick", lambda runner, session: False)
        if how == "tell":
            assert study.tell_many([(t, measure(t)) for t in tickets]) == len(tickets)
        else:
            study.release()
            assert study.import_observations(rows) == len(rows)
        assert study.status().told == len(tickets) and study.head().plan == 1
        with pytest.raises(bg.StoreError, match="full"):
            study.ask(1)
    assert study.ask(1) and study.head().plan > 1 and study.check() == []
    study.close()

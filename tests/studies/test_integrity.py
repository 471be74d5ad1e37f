"""What is stored looks after itself: checksums, repair, backups, files that go, clocks that lie."""

import os
import re
import shutil
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import create_engine, text

import bestgroup as bg
from bestgroup.problem.problem import Problem
from bestgroup.studies import runner
from bestgroup.studies.storage import memory
from servers import KINDS, postgres, storage

PROBLEM = Problem(
    {"A": ["a1", "a2"], "B": ["b1"]}, {"x": "max", "w": "watch", "y": "min"}, bg.SubGaussian(1.0)
)
GOAL = bg.ParetoGroups(1.0)


def make(place, name="one", goal=GOAL, **options):
    return bg.create_study(name, PROBLEM, goal, 0.1, place, algorithm="te", seed=3, **options)


def measure(ticket):
    rng = np.random.default_rng(ticket.seed)
    return rng.standard_normal((ticket.repeats, 3)) + np.array([3.0 * (ticket.group == "A"), 0, 0])


def tell_some(study, rounds=4):
    for _ in range(rounds):
        for ticket in study.ask(6, 2):
            study.tell(ticket, measure(ticket))


def finish(study):
    while tickets := study.ask(50, 4):
        study.tell_many([(ticket, measure(ticket)) for ticket in tickets])
    return study.answer()


@pytest.mark.parametrize("kind", KINDS)
def test_a_late_tell_of_a_deleted_study_reaches_no_other(kind, tmp_path):
    place = storage(kind, tmp_path)
    first = make(place, "first")
    tickets = first.ask(2)
    bg.delete_study("first", place)
    second = make(place, "second")
    again = make(place, "first")
    with pytest.raises(bg.StoreError, match="deleted"):
        first.tell(tickets[0], [123.0, 0.0, 0.0])
    for given in (tickets[0], tickets[0].to_dict()):
        with pytest.raises(bg.TicketError, match="earlier study named 'first'"):
            again.tell(given, [123.0, 0.0, 0.0])
    assert second.status().told == again.status().told == 0
    assert len({first.identity, second.identity, again.identity}) == 3


def damage(path, line, *terms):
    with sqlite3.connect(path) as connection:
        assert connection.execute(line, terms).rowcount == 1
    connection.close()


def flipped(path, number, bit):
    with sqlite3.connect(path) as connection:
        (data,) = connection.execute(
            "SELECT data FROM bestgroup_observations WHERE number=?", [number]
        ).fetchone()
    connection.close()
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


DAMAGE = {
    "a flipped bit": ("does not fit its checksum", lambda path: flipped(path, 3, 17)),
    "a NaN": ("not a finite number", lambda path: np.full(3, np.nan).tobytes()),
    "a cut block": ("is cut: it has 16 bytes where 24 belong", lambda path: bytes(16)),
    "an empty block": ("is cut: it has 0 bytes", lambda path: b""),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_found_named_and_mended(what, tmp_path):
    path = tmp_path / "x.db"
    undisturbed = finish(make(memory.MemoryStore()))
    study = make(f"sqlite:///{path}")
    tell_some(study)
    place = study.blocks()[2]
    study.close()
    words, data = DAMAGE[what]
    damage(path, "UPDATE bestgroup_observations SET data=? WHERE number=3", data(path))
    broken = bg.load_study("one", f"sqlite:///{path}")
    arm = PROBLEM.arms[place.pulls.group][place.pulls.arm]
    for call in (broken.verify, lambda: str(broken.check()[0])):
        try:
            sentence = call()
        except bg.Damaged as error:
            sentence = str(error)
        assert f"block 3 (pull {place.pulls.first} of arm {arm!r}" in sentence
        assert words in sentence
    broken._store.write(broken._key, lambda session: session.set_snapshot(None))
    with pytest.raises(bg.Damaged, match=r"block 3 .*bestgroup study"):
        bg.load_study("one", f"sqlite:///{path}").explain("A")
    told = broken.status().told
    (finding,) = broken.repair()
    assert words in finding.what and broken.check() == []
    assert broken.status().told == told - 1 and broken.verify() == broken.status().pulls
    again = finish(broken)  # the pulls that were lost are measured again, with their seeds
    assert again == undisturbed
    broken.close()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("UPDATE bestgroup_studies SET pulls=pulls+1", "head does not fit its checksum"),
        ("UPDATE bestgroup_studies SET state='done'", "head does not fit its checksum"),
        ("DELETE FROM bestgroup_observations WHERE number=2", "block 2 is missing"),
        ("DELETE FROM bestgroup_observations WHERE number=(SELECT max(number) FROM "
         "bestgroup_observations)", "the head speaks of"),
        ("UPDATE bestgroup_observations SET grp=7 WHERE number=2", "an arm that the problem does"),
        ("UPDATE bestgroup_observations SET first=first+5 WHERE number=4", "checksum"),
        ("DELETE FROM bestgroup_tickets WHERE rowid=(SELECT min(rowid) FROM bestgroup_tickets)",
         "have no ticket"),
    ],
)  # fmt: skip
def test_other_damage(line, words, tmp_path):
    path = tmp_path / "x.db"
    study = make(f"sqlite:///{path}")
    tell_some(study)
    study.close()
    damage(path, line)
    broken = bg.load_study("one", f"sqlite:///{path}")
    with pytest.raises(bg.Damaged, match=words):
        broken.verify()
    assert broken.repair() and broken.check() == []
    assert broken.verify() == broken.status().pulls
    assert finish(broken) == finish(make(memory.MemoryStore()))
    broken.close()


def change(place, line, **terms):
    """Change a database behind the library's back."""
    engine = create_engine(place.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        assert connection.execute(text(line), terms).rowcount >= 1
    engine.dispose()


LOST = {
    "one block": ("DELETE FROM bestgroup_observations WHERE number=3", ["block 3 is missing"], 1),
    "two blocks": (
        "DELETE FROM bestgroup_observations WHERE number IN (3, 4)",
        ["blocks 3 to 4 are missing"],
        2,
    ),
    "the first block": (
        "DELETE FROM bestgroup_observations WHERE number=1",
        ["block 1 is missing"],
        1,
    ),
    "a link of the chain": (
        "UPDATE bestgroup_observations SET chain=:mark WHERE number=3",
        ["block 3 .*fits its own checksum, but not", "block 4 .*fits its own checksum, but not"],
        0,
    ),
    "a checksum of its own": (
        "UPDATE bestgroup_observations SET checksum=:mark WHERE number=3",
        ["block 3 .*does not fit its own checksum, but the one over the log"],
        0,
    ),
}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("what", LOST)
def test_what_a_checksum_vouches_for_is_kept(what, kind, tmp_path):
    place = storage(kind, tmp_path)
    study = make(place)
    tell_some(study)
    told, blocks = study.status().told, study.blocks()
    study.close()
    line, words, lost = LOST[what]
    change(place, line, **({"mark": bytes(16)} if ":mark" in line else {}))
    broken = bg.load_study("one", place)
    found = broken.check()
    assert len(found) == len(words)
    assert all(re.search(w, str(f)) for w, f in zip(words, found, strict=True)), found
    assert ("keeps it" in str(found[0])) == (lost == 0)
    assert broken.repair() == found and broken.check() == []
    assert broken.status().told == told - lost
    rest = {block.pulls: block.values.tolist() for block in blocks}
    for block in broken.blocks():
        assert rest.pop(block.pulls) == block.values.tolist()
    assert len(rest) == lost and finish(broken) == finish(make(memory.MemoryStore()))
    (line,) = [event for event in broken._store.trail(9) if event.what == "repair"]
    assert str(found[0]) in line.detail
    broken.close()


def test_a_block_of_another_study_is_none_of_this_one(tmp_path):
    place = storage("sqlite", tmp_path)
    one, other = make(place), make(place, "other")
    for study in (one, other):
        tell_some(study)
        study.close()
    change(place, "DELETE FROM bestgroup_observations WHERE study=1 AND number IN (2, 3)")
    change(place, "UPDATE bestgroup_observations SET study=1 WHERE study=2 AND number=3")
    found = [str(finding) for finding in bg.load_study("one", place).check()]
    assert len(found) == 3 and "block 2 is missing" in found[0]
    assert "block 3 " in found[1] and "does not fit its checksum; repair drops it" in found[1]
    assert "block 4 " in found[2] and "repair keeps it" in found[2]


def test_a_block_of_an_earlier_version_after_a_gap_is_dropped_in_words(tmp_path):
    place = storage("sqlite", tmp_path)
    study = make(place)
    tell_some(study)
    told = study.status().told
    study.close()
    change(place, "UPDATE bestgroup_observations SET checksum=NULL")
    whole = bg.load_study("one", place)
    assert whole.check() == []
    whole.close()
    change(place, "DELETE FROM bestgroup_observations WHERE number=3")
    broken = bg.load_study("one", place)
    found = [str(finding) for finding in broken.repair()]
    assert len(found) == 2 and "block 3 is missing" in found[0]
    assert "block 4 " in found[1] and "has no checksum of its own" in found[1]
    assert "repair drops it" in found[1] and broken.status().told == told - 2
    assert finish(broken) == finish(make(memory.MemoryStore()))
    broken.close()


def test_changed_decisions_are_found_and_mended(tmp_path):
    path = tmp_path / "x.db"
    study = make(f"sqlite:///{path}")
    answer = finish(study)
    decisions = study.decisions()
    study.close()
    damage(path, "UPDATE bestgroup_decisions SET kind='out' WHERE kind='in' AND number=1")
    broken = bg.load_study("one", f"sqlite:///{path}")
    assert "decisions" in broken.check()[0].what
    broken.repair()
    assert broken.decisions() == decisions and broken.answer() == answer
    broken.close()


def test_a_specification_that_was_changed_is_refused(tmp_path):
    path = tmp_path / "x.db"
    make(f"sqlite:///{path}").close()
    damage(path, "UPDATE bestgroup_studies SET spec=replace(spec, '0.1', '0.4')")
    with pytest.raises(bg.Damaged, match=r"specification of 'one'.*restore a backup"):
        bg.load_study("one", f"sqlite:///{path}")


def test_a_broken_snapshot_is_dropped_and_rebuilt(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "SNAPSHOT_AFTER", 0.0)
    path = tmp_path / "x.db"
    study = make(f"sqlite:///{path}")
    tell_some(study)
    plain = study.explain("A")
    (data,) = [study._store.read(study._key, lambda s: s.snapshot())]
    study.close()
    changed = bytearray(data)
    changed[-3] ^= 4  # inside a number: it would be read without complaint
    damage(path, "UPDATE bestgroup_snapshots SET data=?", bytes(changed))
    other = bg.load_study("one", f"sqlite:///{path}")
    assert "snapshot" in other.check()[0].what
    assert other.explain("A") == plain
    tell_some(other, 1)
    assert other.check() == [] and other.verify() > 0
    other.close()


@pytest.mark.parametrize("how", ["removed", "replaced", "its log removed"])
def test_a_tell_is_never_confirmed_when_the_file_has_gone(how, tmp_path):
    path = tmp_path / "x.db"
    study = make(f"sqlite:///{path}")
    first, second, third = study.ask(3)
    study.tell(first, [1.0, 1.0, 1.0])
    bg.backup_studies(tmp_path / "copy.db", f"sqlite:///{path}")
    if how == "its log removed":
        os.unlink(f"{path}-wal")
    else:
        for end in ("", "-wal", "-shm"):
            os.unlink(f"{path}{end}")
    if how == "replaced":
        shutil.copy(tmp_path / "copy.db", path)
    with pytest.raises(bg.StoreError, match="removed or replaced while it was open"):
        study.tell(second, [1.0, 1.0, 1.0])
    if how == "replaced":  # by a copy of the same study, so it goes on
        assert study.tell(second, [1.0, 1.0, 1.0]) == 1 and study.tell(third, [1, 1, 1]) == 1
        assert study.verify() == 3
    elif how == "removed":
        for _ in range(2):
            with pytest.raises(bg.StoreError, match="is gone"):
                study.tell(second, [1.0, 1.0, 1.0])
        assert not path.exists()
    study.close()


def test_a_file_that_goes_during_a_tell_is_noticed_too(tmp_path, monkeypatch):
    path = tmp_path / "x.db"
    study = make(f"sqlite:///{path}")
    (ticket,) = study.ask(1)
    plain = type(study._store._dialect).commit

    def commit(dialect, connection):
        plain(dialect, connection)
        os.rename(path, tmp_path / "elsewhere.db")

    monkeypatch.setattr(type(study._store._dialect), "commit", commit)
    with pytest.raises(bg.StoreError, match="what this call told is not kept"):
        study.tell(ticket, [1.0, 1.0, 1.0])
    study.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_backups_are_taken_while_workers_go_on(kind, tmp_path):
    place = storage(kind, tmp_path)
    study, other = make(place), make(place, "other")
    tell_some(study)
    tell_some(other, 1)
    copy = tmp_path / "copy.db"
    assert bg.backup_studies(copy, place) == ["one", "other"]
    assert not Path(f"{copy}-wal").exists()
    kept = bg.load_study("one", f"sqlite:///{copy}")
    assert kept.identity == study.identity and kept.verify() == study.verify()
    kept.close()
    tickets = study.ask(2)
    tell_some(study, 2)
    later = study.status().told
    with pytest.raises(bg.InvalidInput, match="'one' already"):
        bg.restore_studies(copy, place, ["one"])
    assert study.status().told == later
    assert bg.restore_studies(copy, place, ["one"], replace=True) == ["one"]
    assert study.status().told < later  # the same object sees the restored study
    study.tell(tickets[0], measure(tickets[0]))  # told late, and still wanted
    assert finish(study) == finish(make(memory.MemoryStore())) and study.verify() > 0
    assert other.status().told == bg.load_study("other", place).status().told
    with pytest.raises(bg.NoSuchStudy, match="'nobody'"):
        bg.backup_studies(tmp_path / "x.db", place, ["nobody"])
    assert not (tmp_path / "x.db").exists()
    study.close()
    other.close()


def test_a_study_moves_from_a_file_to_a_server(tmp_path):
    study = make(f"sqlite:///{tmp_path}/x.db")
    tell_some(study)
    bg.backup_studies(tmp_path / "copy.db", study.storage)
    study.close()
    url = postgres().database()
    bg.restore_studies(tmp_path / "copy.db", url)
    moved = bg.load_study("one", url)
    assert finish(moved) == finish(make(memory.MemoryStore())) and moved.check() == []
    moved.close()


@pytest.mark.parametrize("kind", KINDS)
def test_one_worker_a_year_ahead_blocks_nobody_for_a_year(kind, tmp_path, monkeypatch):
    study = make(storage(kind, tmp_path))
    year = 365.25 * 86400.0
    with monkeypatch.context() as patch:
        plain = time.time
        patch.setattr(time, "time", lambda: plain() + year)
        ahead = study.ask(9, lease=0.5, owner="ahead")
    assert len(ahead) == 3
    assert study.ask(9, owner="here") == []
    time.sleep(0.7)
    assert len(study.ask(9, owner="here")) == 3
    study.close()


@pytest.mark.parametrize("kind", KINDS)
def test_leases_are_listed_and_released(kind, tmp_path):
    study = make(storage(kind, tmp_path))
    study.ask(2, owner="a", lease=100.0)
    study.ask(1, owner="b", lease=0.01)
    time.sleep(0.05)
    leases = study.leases()
    assert [lease.owner for lease in leases] == ["a", "a", "b"]
    assert leases[0].seconds > 90 and leases[2].seconds < 0 and leases[0].group == "A"
    assert study.release("a") == 2 and [lease.owner for lease in study.leases()] == ["b"]
    assert study.release() == 1 and study.leases() == [] and len(study.ask(9)) == 3
    study.close()


@pytest.mark.parametrize("how", ["closed", "with a log", "old"])
def test_read_only_media_open_for_looking(how, tmp_path, monkeypatch):
    folder = tmp_path / "media"
    folder.mkdir()
    name = "one"
    if how == "old":
        shutil.copy(Path(__file__).parents[1] / "upgrade" / "schema_1.db", folder / "x.db")
        name = "kept"
    else:
        study = make(f"sqlite:///{tmp_path}/x.db")
        tell_some(study)
        if how == "closed":
            study.close()
        for end in ("", "-wal"):
            if (tmp_path / f"x.db{end}").exists():
                shutil.copy(tmp_path / f"x.db{end}", folder / f"x.db{end}")
        study.close()
    # Root may write everywhere, so the media say of themselves that nobody may.
    plain = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and plain(path, mode))
    before = {part.name: part.read_bytes() for part in folder.iterdir()}
    reader = bg.load_study(name, f"sqlite:///{folder}/x.db")
    assert reader.status().told == len(reader.to_frame()) > 8 and reader.verify() > 0
    assert reader.answer().guarantee.level == "proven" and str(reader.explain("A"))
    with pytest.raises(bg.StoreError, match="read-only"):
        reader.ask(1)
    with pytest.raises(bg.StoreError, match="read-only"):
        make(f"sqlite:///{folder}/x.db", "another")
    reader.close()
    assert {part.name: part.read_bytes() for part in folder.iterdir()} == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_import_is_stepped_in_turns_and_others_go_on_with_it(kind, tmp_path, monkeypatch):
    from bestgroup.studies import study as module

    monkeypatch.setattr(module, "A_TURN", 0.0)
    rng = np.random.default_rng(1)
    rows = [
        {"group": group, "arm": arm, "x": 0.2 * (group == "A") + x, "w": 0.0, "y": y}
        for group, arms in zip(PROBLEM.groups, PROBLEM.arms, strict=True)
        for arm in arms
        for x, y in rng.standard_normal((150, 2))
    ]
    goal = bg.ParetoGroups(0.5)  # which takes more than is imported
    whole = make(memory.MemoryStore(), goal=goal)
    whole.import_observations(rows)
    place = storage(kind, tmp_path)
    cut = make(place, goal=goal)
    plain, calls = runner.Runner.settle, []

    def dies(runner, session):
        plain(runner, session)
        calls.append(session.head.plan)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runner.Runner, "settle", dies)
        with pytest.raises(KeyboardInterrupt):
            cut.import_observations(rows)
    assert calls == sorted(set(calls)) and cut.head().told == 450
    assert 1 < cut.head().plan < whole.head().plan  # in the middle, and whole as it is
    assert cut.verify() == cut.status().pulls and str(cut.explain("A")) and cut.check() == []
    other = bg.load_study("one", place)
    assert other.ask(1)  # whoever comes next completes the plans
    assert other.head()[:5] == whole.head()[:5] and other.decisions() == whole.decisions()
    assert other.verify() == whole.verify()
    cut.close()
    other.close()

"""What every store promises, run on memory, SQLite and PostgreSQL."""

import threading
import time

import numpy as np
import pytest

from bestgroup.errors import InvalidInput, StoreError, TicketError
from bestgroup.problem.pull_range import PullRange
from bestgroup.studies.storage import open_store
from bestgroup.studies.storage.records import Entry, Head, Slot, Tell
from servers import KINDS, storage

HEAD = Head(plan=1, report='{"groups": "??"}')
SLOTS = [
    Slot(PullRange(0, 0, 0, 4), 4, 0),
    Slot(PullRange(1, 2, 0, 1), 1, 0),
    Slot(PullRange(0, 0, 4, 6)),
]


def tell(group, arm, first, rows):
    return Tell(PullRange(group, arm, first, len(rows)), rows)


def values(*rows):
    return np.array(rows, float).reshape(len(rows), -1)


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    made = open_store(storage(request.param, tmp_path), create=True)
    yield made
    made.close()


@pytest.fixture
def key(store):
    return store.create("one", '{"spec": 1}', HEAD, SLOTS)


def everything(store, key):
    def work(session):
        return (
            session.head,
            sorted(session.slots()),
            [(b.number, *b.pulls.start, b.values.tolist()) for b in session.blocks(0)],
            session.decisions(),
            session.snapshot(),
        )

    return store.read(key, work)


def lease(store, key, most, repeats=1, owner="w", seconds=60.0):
    return store.write(key, lambda session: session.lease(most, repeats, owner, seconds))


def record(store, key, *tells):
    return store.write(key, lambda session: session.record([tell(*given) for given in tells]))


def test_studies_by_name(store, key):
    assert store.find("one") == (key, '{"spec": 1}')
    with pytest.raises(InvalidInput, match="named 'one' already"):
        store.create("one", "{}", HEAD, [])
    strange = "x'; DROP TABLE bestgroup_studies; -- \u00e9\u4e2d"
    other = store.create(strange, '{"spec": "\u00e9"}', Head(told=5), [])
    assert store.find(strange) == (other, '{"spec": "\u00e9"}')
    assert [row.name for row in store.listed()] == ["one", strange]
    assert store.listed()[1].told == 5 and abs(store.listed()[0].created - time.time()) < 60
    store.delete("one")
    assert [row.name for row in store.listed()] == [strange]
    for call in (lambda: store.find("one"), lambda: store.delete("one")):
        with pytest.raises(StoreError, match="no study named 'one'"):
            call()
    with pytest.raises(StoreError, match="deleted"):
        lease(store, key, 1)


def test_a_deleted_study_leaves_nothing_behind(store, key):
    record(store, key, (0, 0, 0, values([1.0])))
    store.delete("one")
    again = store.create("one", "{}", HEAD, SLOTS)
    assert store.read(again, lambda session: session.blocks(0)) == []
    assert sorted(store.read(again, lambda session: session.slots())) == sorted(SLOTS)


def test_leases_take_the_plan_first_and_never_twice(store, key):
    first = lease(store, key, 3, repeats=2, owner="a")
    assert sum(slot.rank for slot in first) == 0 and {slot.owner for slot in first} == {"a"}
    second = lease(store, key, 9, repeats=4, owner="b")
    taken = [
        (s.pulls.group, s.pulls.arm, k)
        for s in (*first, *second)
        for k in range(s.pulls.first, s.pulls.stop)
    ]
    assert sorted(taken) == [(0, 0, k) for k in range(10)] + [(1, 2, 0)]
    assert [slot.pulls.size for slot in second] == [4, 2] and {s.rank for s in second} == {1}
    assert lease(store, key, 9) == []
    assert all(slot.expires > time.time() + 30 for slot in (*first, *second))


def test_an_ended_lease_is_handed_out_again_with_the_same_identity(store, key):
    mine = lease(store, key, 1, repeats=4, owner="a", seconds=0.05)
    assert len(mine) == 1
    time.sleep(0.1)
    again = [s for s in lease(store, key, 9, repeats=4, owner="b") if s.pulls == mine[0].pulls]
    assert [slot.pulls.size for slot in again] == [4]
    for call in (lambda s: s.hold(mine[0], 5.0), lambda s: s.release(mine[0], "")):
        with pytest.raises(TicketError, match="not leased to 'a' any more"):
            store.write(key, call)
    # The late teller comes first: accepted. The other one brings other values: refused.
    assert record(store, key, (*mine[0].pulls.start, values([1], [2], [3], [4]))) == 4
    with pytest.raises(TicketError, match="other values"):
        record(store, key, (*mine[0].pulls.start, values([1], [2], [9], [4])))


def test_a_lease_that_is_held_goes_on(store, key):
    (mine,) = lease(store, key, 1, repeats=4, seconds=0.3)
    until = store.write(key, lambda session: session.hold(mine, 60.0))
    assert until > time.time() + 30
    time.sleep(0.35)
    others = lease(store, key, 9, repeats=9)
    assert mine.pulls.start not in [slot.pulls.start for slot in others]


def test_a_released_lease_is_free_and_remembers_why(store, key):
    (mine,) = lease(store, key, 1, repeats=4, owner="a")
    record(store, key, (*mine.pulls.start, values([1.0])))
    store.write(key, lambda session: session.release(mine, "broke"))
    (again,) = [
        s for s in lease(store, key, 9, repeats=9, owner="b") if s.pulls.home == mine.pulls.home
    ][:1]
    assert (again.pulls.first, again.pulls.size) == (mine.pulls.first + 1, mine.pulls.size - 1)
    assert (again.failures, again.reason, again.owner) == (1, "broke", "b")


def test_what_is_told_is_kept_to_the_bit(store, key):
    odd = values([-0.0, 5e-324], [1e100, 0.1 + 0.2], [np.nextafter(1, 2), -1 / 3])
    assert record(store, key, (0, 0, 1, odd)) == 3
    (block,) = store.read(key, lambda session: session.blocks(0))
    assert block.values.tobytes() == odd.tobytes() and (block.number, *block.pulls.start) == (
        1,
        0,
        0,
        1,
    )
    assert abs(block.at - time.time()) < 3600  # the clock is the storage's own
    head = store.read(key, lambda session: session.head)
    assert (head.told, head.blocks) == (3, 1)


def test_told_twice_told_in_parts_and_told_across_slots(store, key):
    rows = values(*([float(k)] for k in range(10)))
    assert record(store, key, (0, 0, 2, rows[2:4])) == 2
    assert record(store, key, (0, 0, 2, rows[2:4])) == 0
    assert record(store, key, (0, 0, 0, rows[:6])) == 4  # two parts of it are new
    assert record(store, key, (0, 0, 5, rows[5:7]), (0, 0, 6, rows[6:])) == 4
    assert record(store, key, (0, 0, 0, rows)) == 0
    found = store.read(key, lambda session: session.observed(PullRange(0, 0, 0, 10)))
    told = {b.pulls.first + k: row for b in found for k, row in enumerate(b.values.tolist())}
    assert told == {k: [float(k)] for k in range(10)}
    assert store.read(key, lambda session: session.top(0, 0)) == 10
    assert store.read(key, lambda session: session.top(1, 0)) == 0
    assert store.read(key, lambda session: session.slots()) == [Slot(PullRange(1, 2, 0, 1), 1, 0)]
    assert store.read(key, lambda session: session.waiting())
    record(store, key, (1, 2, 0, values([7.0])))
    assert not store.read(key, lambda session: session.waiting())


def test_refusals_change_nothing(store, key):
    record(store, key, (0, 0, 0, values([1.0], [2.0])))
    before = everything(store, key)
    for tells, sentence in (
        ([(0, 0, 1, values([3.0], [4.0]))], "other values"),
        ([(1, 2, 0, values([5.0])), (0, 0, 0, values([9.0]))], "other values"),
        ([(1, 2, 0, values([5.0])), (1, 2, 0, values([6.0]))], "other values"),
        ([(0, 0, 9, values([3.0], [4.0]))], "not asked for"),
        ([(1, 0, 0, values([3.0]))], "not asked for"),
    ):
        with pytest.raises(TicketError, match=sentence):
            record(store, key, *tells)
        assert everything(store, key) == before


def test_a_session_that_raises_leaves_everything_as_it_was(store, key):
    record(store, key, (0, 0, 0, values([1.0], [2.0])))
    before = everything(store, key)

    def work(session):
        session.record([tell(1, 2, 0, values([1.0]))])
        session.lease(2, 1, "w", 60.0)
        session.decide([Entry(1, 1, 1, "in", 0, "{}")])
        session.set_snapshot(b"abc")
        session.add_import("digest", 4)
        session.set_head(session.head._replace(plan=2, state="done"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.write(key, work)
    assert everything(store, key) == before
    assert store.read(key, lambda session: session.imported("digest")) is None


def test_blocks_by_number(store, key):
    for k in range(6):
        record(store, key, (0, 0, k, values([float(k)])))
    numbers = [b.number for b in store.read(key, lambda session: session.blocks(3))]
    assert numbers == [4, 5, 6]
    some = store.read(key, lambda session: session.blocks(3, [2, 1], 2))
    assert sorted(b.number for b in some[:2]) == [1, 2] and [b.number for b in some[2:]] == [4, 5]
    found = store.read(key, lambda session: session.observed(PullRange(0, 0, 2, 2)))
    assert sorted(b.pulls.first for b in found) == [2, 3]


def test_head_decisions_snapshot_and_imports(store, key):
    entries = [Entry(k, 1, 2, "out", k, '{"a": 1.5}') for k in (1, 2, 3)]

    def work(session):
        session.set_head(session.head._replace(plan=2, pulls=7, state="stuck", report="{}"))
        session.decide(entries)
        session.set_snapshot(b"old")
        session.set_snapshot(bytes(range(256)))
        session.add_import("abc", 12)

    store.write(key, work)
    assert store.read(key, lambda s: s.head) == Head(2, 0, 7, 0, "stuck", "{}")
    assert store.read(key, lambda s: s.decisions()) == entries
    assert store.read(key, lambda s: s.snapshot()) == bytes(range(256))
    assert store.read(key, lambda s: (s.imported("abc"), s.imported("x"))) == (12, None)
    store.write(key, lambda session: session.set_snapshot(None))
    assert store.read(key, lambda s: s.snapshot()) is None


def test_writers_take_turns(store, key):
    def work(session):
        plan = session.head.plan
        time.sleep(0.001)
        session.set_head(session.head._replace(plan=plan + 1))

    def many():
        for _ in range(20):
            store.write(key, work, durable=False)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.read(key, lambda session: session.head.plan) == 81


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_readers_see_what_is_finished_and_do_not_wait(kind, tmp_path):
    store = open_store(storage(kind, tmp_path), create=True)
    key = store.create("one", "{}", HEAD, SLOTS)
    inside, leave = threading.Event(), threading.Event()

    def work(session):
        session.record([tell(0, 0, 0, values([1.0]))])
        inside.set()
        leave.wait(20)

    writer = threading.Thread(target=lambda: store.write(key, work))
    writer.start()
    assert inside.wait(20)
    begun = time.monotonic()
    assert store.read(key, lambda session: (session.head.told, session.blocks(0))) == (0, [])
    assert time.monotonic() - begun < 5
    leave.set()
    writer.join()
    assert store.read(key, lambda session: session.head.told) == 1
    store.close()


def test_a_number_may_come_again_an_identity_never(store):
    first = store.create("first", "{}", HEAD, SLOTS)
    store.delete("first")
    second = store.create("second", "{}", HEAD, SLOTS)
    assert first != second
    before = everything(store, second)
    with pytest.raises(StoreError, match="deleted"):
        record(store, first, (0, 0, 0, values([123.0])))
    with pytest.raises(StoreError):
        store.delete("second", first)
    assert everything(store, second) == before

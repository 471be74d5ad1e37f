"""kill -9 of workers, servers, their background processes and PostgreSQL, with backups in between.

Every so many kills a backup is taken while all goes on, checked, and restored some kills later.
Pulls told in between are lost with the restore, asked for again with the same seeds, and so told
the same values: the study ends as the one that nobody disturbed. `BESTGROUP_KILLS` sets how many
kills; `make verify` takes 200 on each storage.
"""

import json
import os
import random
import signal
import time
from collections import Counter
from types import SimpleNamespace

import pytest

import bestgroup as bg
from bestgroup.errors import BestGroupError
from bestgroup.studies.client import Client
from crash.laboratory import FORK, GOAL, OPTIONS, PROBLEM, measure, undisturbed
from servers import Server, storage
from serving import Served

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
EVERY = 12  # kills between two backups
LATER = 5  # kills from a backup to its restore


def note(log, begun, group, arm, index, values):
    line = json.dumps([begun, time.time(), group, arm, index, values])
    os.write(log, line.encode() + b"\n")


def work_by_storage(place, name, receipts):
    """Ask and tell without a server until the study has ended."""
    log = os.open(receipts, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    study = None
    while True:
        try:
            study = study or bg.load_study(name, place)
            tickets = study.ask(2, 3, lease=0.5)
            if not tickets and study.head().state != "running":
                os._exit(0)
            for ticket in tickets:
                begun, values = time.time(), measure(ticket)
                study.tell(ticket, values)
                note(log, begun, ticket.group, ticket.arm, ticket.index, values)
        except BestGroupError:  # a lease that was lost, or a restore between ask and tell
            time.sleep(0.05)
        time.sleep(0.06)


def work_by_server(url, name, receipts):
    """Ask and tell over HTTP until the study has ended."""
    log = os.open(receipts, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    client = Client(url, name, patience=120.0)
    while True:
        try:
            asked = client.ask(2, 3, 0.5, f"w{os.getpid()}")
            if not asked["tickets"] and asked["state"] != "running":
                os._exit(0)
            for ticket in asked["tickets"]:
                begun, values = time.time(), measure(SimpleNamespace(**ticket))
                client.tell([(ticket, values)])
                note(log, begun, ticket["group"], ticket["arm"], ticket["index"], values)
        except BestGroupError:
            time.sleep(0.05)
        time.sleep(0.06)


class Scene:
    """A storage, a server on it, four workers, and somebody who kills them."""

    def __init__(self, kind, folder, seed):
        self.folder, self.rng = folder, random.Random(seed)
        self.database = Server() if kind == "postgresql" else None
        self.place = storage(kind, folder) if self.database is None else self.database.database()
        self.served = Served(folder, self.place)
        self.killed, self.restores = Counter(), 0
        self.aims = [self.kill_worker, self.kill_worker, self.kill_server, self.kill_background]
        if self.database is not None:
            self.aims.append(self.kill_database)

    def begin(self, name):
        self.name, self.receipts = name, f"{self.folder}/receipts-{name}"
        bg.create_study(name, PROBLEM, GOAL, 0.1, self.place, **OPTIONS).close()
        self.gaps, self.saved = [], None  # (from, to) of what a restore has undone
        self.workers = [self.spawn(k) for k in range(4)]

    def spawn(self, k):
        target, way = [(work_by_server, self.served.url), (work_by_storage, self.place)][k % 2]
        process = FORK.Process(target=target, args=(way, self.name, self.receipts), daemon=True)
        process.start()
        return process

    def running(self):
        study = bg.load_study(self.name, self.place)
        state = study.head().state
        study.close()
        return state == "running"

    def kill(self):
        time.sleep(self.rng.uniform(0.05, 0.3))
        aim = self.rng.choice(self.aims)
        aim()
        self.killed[aim.__name__.removeprefix("kill_")] += 1
        done = self.killed.total()
        if done % EVERY == 0:
            self.back_up()
        if done % EVERY == LATER and self.saved is not None:
            self.restore()

    def kill_worker(self):
        k = self.rng.randrange(len(self.workers))
        self.workers[k].kill()
        self.workers[k].join()
        self.workers[k] = self.spawn(k)

    def kill_server(self):
        self.served.kill()
        self.served.start()

    def kill_background(self):
        number = self.served.process.pid
        with open(f"/proc/{number}/task/{number}/children") as file:
            for child in file.read().split():
                os.kill(int(child), signal.SIGKILL)

    def kill_database(self):
        self.database.kill()
        self.database.start()

    def back_up(self):
        begun, copy = time.time(), self.folder / f"copy-{self.killed.total()}.db"
        bg.backup_studies(copy, self.place, [self.name])
        kept = bg.load_study(self.name, f"sqlite:///{copy}")
        assert kept.check() == []
        kept.close()
        self.saved = begun, copy

    def restore(self):
        (begun, copy), self.saved = self.saved, None
        bg.restore_studies(copy, self.place, [self.name], replace=True)
        self.gaps.append((begun, time.time()))
        self.restores += 1

    def finish(self, wanted):
        """Nothing lost, nothing twice, nothing damaged, the same answer."""
        deadline = time.monotonic() + 300
        for worker in self.workers:
            worker.join(max(0.1, deadline - time.monotonic()))
            assert worker.exitcode == 0, worker.exitcode
        study = bg.load_study(self.name, self.place)
        mine, other = study.answer(), wanted.answer()
        assert mine.final and mine.groups == other.groups and mine.pulls == other.pulls
        assert study.check() == [] and study.verify() == mine.pulls
        assert study.decisions() == wanted.decisions()
        stored = {}
        for block in study.blocks():
            for k, row in enumerate(block.values.tolist()):
                assert (*block.pulls.home, block.pulls.first + k) not in stored
                stored[*block.pulls.home, block.pulls.first + k] = row
        study.close()
        with open(self.receipts) as file:
            lines = [json.loads(line) for line in file]
        for begun, ended, group, arm, index, values in lines:
            # What was told while a backup was taken, or after it, may have gone with the restore.
            lost = any(begun <= end and ended >= start for start, end in self.gaps)
            for k, row in enumerate(values):
                pull = (*PROBLEM.index(group, arm), index + k)
                assert stored[pull] == row if not lost else stored.get(pull, row) == row
        return len(lines)

    def close(self):
        for worker in self.workers:
            worker.kill()
            worker.join()
        self.served.stop()


def kill_all(kind, kills, folder):
    wanted, scene, receipts, turn = undisturbed(), Scene(kind, folder, 7), 0, 0
    try:
        while scene.killed.total() < kills:
            scene.begin(f"trial {turn}")
            turn += 1
            while scene.killed.total() < kills and scene.running():
                scene.kill()
            receipts += scene.finish(wanted)
        lines = scene.served.log.read_text()
    finally:
        scene.close()
    story = ", ".join(f"{number} {what}" for what, number in sorted(scene.killed.items()))
    print(
        f"{kind}: {scene.killed.total()} kills ({story}), {scene.restores} backups restored, "
        f"{turn} studies, {receipts} confirmed tells: nothing lost, nothing twice, same answers"
    )
    assert '"status": 500' not in lines and scene.restores >= kills // EVERY // 3


@pytest.mark.verify
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_everything_is_killed_two_hundred_times(kind, tmp_path):
    kill_all(kind, int(os.environ.get("BESTGROUP_KILLS", "200")), tmp_path)


def test_a_few_kills_of_everything(tmp_path):
    kill_all("sqlite", 8, tmp_path)

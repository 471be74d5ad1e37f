"""Workers that are killed, and what must be true afterwards."""

import json
import multiprocessing
import os
import random
import time
from typing import Any, NamedTuple

import bestgroup as bg
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.problem import Problem
from bestgroup.studies.storage.memory import MemoryStore

GROUPS = {"A": ["a1", "a2", "a3"], "B": ["b1", "b2"], "C": ["c1", "c2"], "D": ["d1"]}
DIMS = {"x": "max", "y": "min", "w": "watch"}


class Setting(NamedTuple):
    """A study that workers work on."""

    problem: Problem
    goal: Any
    options: dict[str, Any]


ALONE = Setting(
    Problem(GROUPS, DIMS, SubGaussian(1.0)),
    bg.ParetoGroups(1.0),
    {"algorithm": "te", "horizon": 3, "seed": 5},
)
PROBLEM, GOAL, OPTIONS = ALONE
ON_ITEMS = Setting(
    Problem(GROUPS, DIMS, bg.Bounded(-9, 9), items=bg.Items(150)),
    bg.BestGroup([1, 1], 0.01),
    {"algorithm": "adaptive", "seed": 5},
)
FORK = multiprocessing.get_context("fork")


def measure(ticket):
    """Return the values of a ticket's pulls: a function of the arm and the seeds alone.

    The seeds of shared items are those of the items, so arms then depend on each other.
    """
    rows = []
    for seed in ticket.seeds:
        draw = random.Random(seed)
        centre = ord(ticket.arm[0]) - 96 + 0.3 * int(ticket.arm[1])
        rows.append([centre + draw.gauss(0, 1), draw.gauss(0, 1) - centre / 2, draw.random()])
    return rows


def work(storage, name, receipts, pause=0.0):
    """Ask and tell until the study has ended; a line in `receipts` for each tell that returned."""
    study = bg.load_study(name, storage)
    log = os.open(receipts, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        tickets = study.ask(random.choice([1, 2, 4]), random.choice([1, 3]), lease=0.5)
        if not tickets:
            if study.status().state != "running":
                os._exit(0)
            time.sleep(0.02)
        for ticket in tickets:
            values = measure(ticket)
            time.sleep(pause * random.random())
            study.tell(ticket, values)
            line = json.dumps([ticket.group, ticket.arm, ticket.index, values])
            os.write(log, line.encode() + b"\n")


def undisturbed(setting=ALONE):
    """Return the study that nobody disturbed."""
    problem, goal, options = setting
    study = bg.create_study("undisturbed", problem, goal, 0.1, MemoryStore(), **options)
    while tickets := study.ask(50, 3):
        for ticket in tickets:
            study.tell(ticket, measure(ticket))
    return study


class Trial:
    """One study with three workers, of which one after the other is killed."""

    def __init__(self, storage, folder, seed, setting=ALONE):
        self.problem, goal, options = setting
        self.storage, self.receipts = storage, f"{folder}/receipts-{seed}"
        self.name = f"trial {seed}"
        self.study = bg.create_study(self.name, self.problem, goal, 0.1, storage, **options)
        self.rng = random.Random(seed)
        self.workers = [self.spawn() for _ in range(3)]

    def spawn(self):
        arguments = (self.storage, self.name, self.receipts, 0.004)
        process = FORK.Process(target=work, args=arguments, daemon=True)
        process.start()
        return process

    def running(self):
        return self.study.status().state == "running"

    def kill_one(self):
        time.sleep(self.rng.uniform(0.02, 0.3))
        k = self.rng.randrange(len(self.workers))
        self.workers[k].kill()
        self.workers[k].join()
        self.workers[k] = self.spawn()

    def finish(self):
        deadline = time.monotonic() + 240
        for worker in self.workers:
            worker.join(max(0.1, deadline - time.monotonic()))
            assert worker.exitcode == 0, worker.exitcode

    def check(self, other):
        """Nothing lost, nothing twice, the same answer."""
        mine, wanted = self.study.answer(), other.answer()
        assert mine.final and mine.groups == wanted.groups and mine.pulls == wanted.pulls
        assert self.study.verify() == mine.pulls
        assert self.study.decisions() == other.decisions()
        blocks = self.study._store.read(self.study._key, lambda session: session.blocks(0))
        stored = {}
        for block in blocks:
            for k, row in enumerate(block.values.tolist()):
                pull = *block.pulls.home, block.pulls.first + k
                assert pull not in stored
                stored[pull] = row
        assert len(stored) == self.study.status().told
        with open(self.receipts) as file:
            for line in file:
                group, arm, index, values = json.loads(line)
                place = self.problem.index(group, arm)
                for k, row in enumerate(values):
                    assert stored[(*place, index + k)] == row
        self.study.close()

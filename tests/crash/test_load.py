"""Many processes on one storage, and a reader that looks all the while."""

import json
import multiprocessing
import os
import time

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.problem.noise import SubGaussian
from bestgroup.problem.problem import Problem
from servers import storage

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
FORK = multiprocessing.get_context("fork")
PROBLEM = Problem(
    {f"g{i}": [f"a{j}" for j in range(5)] for i in range(4)},
    {"x": "max", "y": "min"},
    SubGaussian(1.0),
)


def work(url, log, batch, repeats):
    """Tell until nothing is left; write down each lease with its beginning and end."""
    study = bg.load_study("load", url)
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        asked = time.time()
        tickets = study.ask(batch, repeats, 60.0)
        if not tickets:
            if study.status().state != "running":
                os._exit(0)
            time.sleep(0.01)
            continue
        pairs = []
        for t in tickets:
            rng = np.random.default_rng(t.seed)
            centre = int(t.group[1]) + 0.1 * int(t.arm[1])
            pairs.append((t, centre + rng.standard_normal((t.repeats, 2))))
        study.tell_many(pairs)
        told = time.time()
        rows = [[t.group, t.arm, t.index, t.repeats, asked, told] for t in tickets]
        os.write(file, json.dumps(rows).encode() + b"\n")


def load(kind, folder, workers, epsilon, repeats):
    url = storage(kind, folder)
    goal = bg.ParetoGroups(epsilon)
    study = bg.create_study("load", PROBLEM, goal, 0.1, url, algorithm="unis", horizon=0)
    logs = [f"{folder}/log-{k}" for k in range(workers)]
    crew = [FORK.Process(target=work, args=(url, log, 4, repeats)) for log in logs]
    for process in crew:
        process.start()
    slowest, looks, told = 0.0, 0, 0
    while any(process.is_alive() for process in crew):
        begun = time.monotonic()
        status = study.status()
        slowest = max(slowest, time.monotonic() - begun)
        assert status.told >= told
        told, looks = status.told, looks + 1
        time.sleep(0.1)
    assert [process.exitcode for process in crew] == [0] * workers
    assert study.answer().final and study.verify() == study.status().told
    check_leases(logs)
    total = study.status().told
    study.close()
    return total, looks, slowest


def check_leases(logs):
    """No pull was leased twice: leases never ended here, so each pull has one."""
    taken = set()
    for log in logs:
        if not os.path.exists(log):
            continue
        with open(log) as file:
            for line in file:
                for group, arm, index, repeats, _, _ in json.loads(line):
                    for k in range(repeats):
                        pull = group, arm, index + k
                        assert pull not in taken
                        taken.add(pull)


@pytest.mark.parametrize(("kind", "workers"), [("sqlite", 4), ("postgresql", 4)])
def test_a_small_crowd(kind, workers, tmp_path):
    total, looks, _ = load(kind, tmp_path, workers, 0.8, 10)
    assert total > 1500 and looks >= 1


@pytest.mark.verify
@pytest.mark.parametrize(("kind", "workers"), [("sqlite", 8), ("postgresql", 16)])
def test_a_crowd(kind, workers, tmp_path):
    begun = time.monotonic()
    total, looks, slowest = load(kind, tmp_path, workers, 0.1, 25)
    seconds = time.monotonic() - begun
    print(
        f"{workers} processes on {kind}: {total} observations in {seconds:.0f} s, "
        f"{looks} looks at the status, the slowest took {slowest * 1000:.0f} ms"
    )
    assert total >= 100_000

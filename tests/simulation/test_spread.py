"""Runs spread over processes and a real Dask cluster: the same results, whatever happens."""

import contextlib
import importlib.util
import math
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import psutil
import pytest

import bestgroup as bg
from bestgroup.algorithms.triple_elimination import TripleElimination
from bestgroup.errors import StoreError, Unreachable
from bestgroup.experiments.folder import Folder
from bestgroup.experiments.points import Plan
from bestgroup.experiments.reproduce import reproduce
from bestgroup.experiments.vary_k import sweep as vary_k
from bestgroup.simulation import clusters
from bestgroup.simulation import workers as spread
from bestgroup.simulation.results import SqliteResults
from bestgroup.simulation.runs import Job

INSTANCE = bg.Instance(
    [[[0.5, 0.1], [0.2, 0.6]], [[0.45, 0.62], [0.3, 0.3]], [[0.2, 0.3], [0.1, 0.3]]]
)
GOAL = bg.ParetoGroups(0.02)
RUNS = 96  # a run takes some 20 ms, so that there is a middle in which to kill
SCRIPT = """
import sys, bestgroup as bg
from test_spread import simulate
simulate(results=sys.argv[1])
"""


def simulate(**options):
    given = {"delta": 0.05, "runs": RUNS, "seed": 3, "engine": "exact", **options}
    return bg.simulate(INSTANCE, GOAL, "te", **given)


@pytest.fixture(scope="module")
def expected():
    return simulate()


def assert_same(found, wanted):
    assert found.runs == wanted.runs
    for field in ("pulls", "counts", "rounds", "correct", "finished", "distance"):
        np.testing.assert_array_equal(getattr(found, field), getattr(wanted, field))
    assert found.answers == wanted.answers


@pytest.fixture
def pieces(monkeypatch):
    """The pieces of work that this process does itself, in order."""
    done = []
    real = Job.chunk

    def chunk(job, first, count):
        done.append((first, count))
        return real(job, first, count)

    monkeypatch.setattr(Job, "chunk", chunk)
    return done


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster with two worker processes, each under a nanny, and a scheduler."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as made:
        yield made


def finished(path):
    """Return the number of runs in a SQLite results file, without locking it."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            return db.execute("SELECT COUNT(*) FROM runs").fetchone()[0]
    except sqlite3.Error:  # it is not there yet, or locked
        return 0


class Killer:
    """Kills one process when the first runs are written.

    It does so in the thread that writes them, which then goes on: a busy machine could finish all
    runs before another thread had looked.
    """

    def __init__(self, path, find, monkeypatch):
        self.at, write = None, SqliteResults.append

        def append(file, first, runs):
            write(file, first, runs)
            if self.at is None and (pid := find()) is not None:
                os.kill(pid, signal.SIGKILL)
                self.at = finished(path)

        monkeypatch.setattr(SqliteResults, "append", append)


def loky_process():
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if any("popen_loky" in word for word in child.cmdline()):
                return child.pid
    return None


def test_two_processes_give_the_same(expected):
    assert_same(simulate(workers=2), expected)


def test_more_processes_than_runs(expected):
    few = simulate(workers=3, runs=2)
    assert few.pulls.tolist() == expected.pulls[:2].tolist()


def test_a_killed_process_is_replaced(expected, tmp_path, monkeypatch):
    path = tmp_path / "runs.sqlite"
    killer = Killer(path, loky_process, monkeypatch)
    found = simulate(workers=2, results=path)
    assert killer.at is not None and 0 < killer.at < RUNS
    assert_same(found, expected)


def test_a_dask_cluster_gives_the_same(expected, cluster):
    assert_same(simulate(workers=address(cluster)), expected)


def test_a_killed_dask_worker_is_replaced(expected, cluster, tmp_path, monkeypatch):
    path = tmp_path / "runs.sqlite"
    victim = cluster.workers[0].pid
    killer = Killer(path, lambda: victim, monkeypatch)
    found = simulate(workers=address(cluster), results=path)
    assert killer.at is not None and 0 < killer.at < RUNS
    assert_same(found, expected)


def test_experiments_on_a_cluster(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(vary_k, "ARMS", (2,))
    plan = Plan(runs=4, instances=1, algorithms=("te",))
    here, there = (
        reproduce(["vary-k"], plan, Folder(tmp_path / name), workers)[0].outcomes[0].record()
        for name, workers in (("here", 1), ("there", address(cluster)))
    )
    assert {**here, "seconds": 0} == {**there, "seconds": 0}
    assert (tmp_path / "there" / "runs.sqlite").exists()


def address(cluster):
    return cluster.scheduler_address.replace("tcp://", "dask://")


@pytest.mark.parametrize("name", ["runs.sqlite", "runs.parquet"])
def test_a_killed_session_goes_on_where_it_was(expected, tmp_path, pieces, name):
    path = tmp_path / name
    root = os.path.dirname(__file__)
    session = subprocess.Popen([sys.executable, "-c", SCRIPT, str(path)], cwd=root)
    try:
        parts = (lambda: finished(path)) if name.endswith("sqlite") else lambda: parquet_runs(path)
        wait_for(lambda: parts() > 0, session)
    finally:
        session.kill()
        session.wait()
    kept = parts()
    assert 0 < kept < RUNS
    assert_same(simulate(results=path), expected)
    assert sum(count for _, count in pieces) == RUNS - kept
    assert min(first for first, _ in pieces) == kept
    pieces.clear()
    assert_same(simulate(results=path), expected)
    assert pieces == []  # nothing is left to do


def parquet_runs(path):
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(part).num_rows for part in path.glob("part-*.parquet"))


def wait_for(condition, session):
    end = time.monotonic() + 120
    while not condition():
        assert session.poll() is None and time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["runs.sqlite", "runs.parquet"])
def test_ctrl_c_keeps_what_is_done(expected, tmp_path, monkeypatch, name):
    path = tmp_path / name
    real = Job.chunk

    def interrupted(job, first, count):
        if first >= RUNS // 2:
            raise KeyboardInterrupt
        return real(job, first, count)

    with monkeypatch.context() as patch:
        patch.setattr(Job, "chunk", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulate(results=path)
    again = simulate(results=path, workers=2)  # another number of processes may go on
    assert_same(again, expected)


@pytest.mark.parametrize("name", ["runs.sqlite", "runs.parquet"])
def test_fewer_and_more_runs_from_one_file(expected, tmp_path, pieces, name):
    path = tmp_path / name
    assert simulate(results=path, runs=10).pulls.tolist() == expected.pulls[:10].tolist()
    assert simulate(results=path, runs=4).pulls.tolist() == expected.pulls[:4].tolist()
    assert sum(count for _, count in pieces) == 10
    assert simulate(results=path, runs=24).pulls.tolist() == expected.pulls[:24].tolist()
    assert sum(count for _, count in pieces) == 24


def snapshot(path):
    """Return the content of a file, or of every file in a folder."""
    if path.is_file():
        return path.read_bytes()
    return {part.name: part.read_bytes() for part in path.iterdir()}


@pytest.mark.parametrize("name", ["runs.sqlite", "runs.parquet"])
@pytest.mark.parametrize(
    "change", [{"seed": 4}, {"delta": 0.06}, {"max_pulls": 10**9}], ids=lambda c: next(iter(c))
)
def test_another_specification_is_refused(tmp_path, name, change):
    path = tmp_path / name
    simulate(results=path, runs=2)
    before = snapshot(path)
    with pytest.raises(bg.InvalidInput, match="holds runs of another specification"):
        simulate(results=path, runs=2, **change)
    assert snapshot(path) == before


def test_another_instance_is_refused(tmp_path):
    path = tmp_path / "runs.sqlite"
    simulate(results=path, runs=2)
    other = bg.Instance([[[1.0]], [[0.0]]])
    with pytest.raises(bg.InvalidInput, match="another specification"):
        bg.simulate(other, bg.ParetoGroups(0.1), "te", 0.05, 2, 3, results=path)


def foreign_database(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE precious (x INTEGER)")
        db.commit()


def foreign_folder(path):
    path.mkdir()
    (path / "notes.txt").write_text("precious")


REFUSED = {
    "ending": ("runs.csv", None, "results must end in .sqlite or .parquet; got 'runs.csv'"),
    "no folder": ("none/runs.sqlite", None, "the folder .* does not exist"),
    "no folder for parquet": ("none/runs.parquet", None, "the folder .* does not exist"),
    "other database": ("runs.db", foreign_database, "is not a results file of bestgroup"),
    "other file": (
        "runs.sqlite",
        lambda path: path.write_text("precious" * 500),
        "file is not a database",
    ),
    "other folder": ("runs.parquet", foreign_folder, "is not a results folder of bestgroup"),
    "folder for sqlite": ("runs.sqlite", lambda path: path.mkdir(), "is a folder"),
    "file for parquet": ("runs.parquet", lambda path: path.write_text("precious"), "is a file"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_ours_is_refused_and_left_alone(tmp_path, case):
    name, make, sentence = REFUSED[case]
    path = tmp_path / name
    if make is not None:
        make(path)
    before = snapshot(path) if path.exists() else None
    with pytest.raises(bg.BestGroupError, match=sentence) as error:
        simulate(results=path, runs=2)
    assert "\n" not in str(error.value)
    assert (snapshot(path) if path.exists() else None) == before


@pytest.mark.parametrize("name", ["runs.sqlite", "runs.parquet"])
def test_an_unwritable_folder(tmp_path, name):
    if os.geteuid() == 0:
        folder = "/proc"  # where even root cannot write
    else:
        folder = tmp_path / "locked"
        folder.mkdir(mode=0o500)
    with pytest.raises(StoreError, match="cannot write results to "):
        simulate(results=f"{folder}/{name}", runs=2)


@pytest.mark.parametrize(
    ("workers", "sentence"),
    [
        (0, "workers must be at least 1; got 0"),
        (-1, "workers must be at least 1; got -1"),
        (1.5, "workers must be an integer; got 1.5"),
        (True, "workers must be an integer; got True"),
        (None, "workers must be an integer; got None"),
        ("2", "workers must be a number of processes, 'dask://host:port' or 'ray://host:port'"),
        ("dask://", "workers must be a number of processes"),
        ("ssh://host:22", "got 'ssh://host:22'"),
    ],
)
def test_bad_workers(workers, sentence):
    with pytest.raises(bg.InvalidInput, match=sentence):
        simulate(workers=workers, runs=2)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(clusters, "CLUSTER_WAIT", 1.0)
    with socket.socket() as taken:  # bound but not listening: nothing can be there
        taken.bind(("127.0.0.1", 0))
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Unreachable, match=f"no Dask scheduler answers at tcp://{where}"):
            simulate(workers=f"dask://{where}", runs=2)


def test_a_cluster_without_workers(monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(clusters, "CLUSTER_WAIT", 1.0)
    with (
        LocalCluster(n_workers=0, processes=True, dashboard_address=":0") as empty,
        pytest.raises(Unreachable, match="has no workers"),
    ):
        simulate(workers=address(empty), runs=2)


@pytest.fixture(scope="module")
def ray_cluster():
    """Return the address of a Ray cluster on this machine, where Ray is installed."""
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--head", f"--port={port}", "--num-cpus=2", "--include-dashboard=false"]
    command = [sys.executable, "-m", "ray.scripts.scripts"]
    subprocess.run([*command, "start", *words, "--disable-usage-stats"], check=True)
    yield f"ray://127.0.0.1:{port}"
    subprocess.run([*command, "stop", "--force"], check=True)


def test_a_ray_cluster_gives_the_same_even_if_a_worker_is_killed(
    expected, ray_cluster, tmp_path, monkeypatch
):
    def victim():
        names = (
            (p.info["pid"], p.info["cmdline"]) for p in psutil.process_iter(["cmdline", "pid"])
        )
        return next(pid for pid, line in names if line and line[0].startswith("ray::PoolActor"))

    assert_same(simulate(workers=ray_cluster), expected)
    path = tmp_path / "runs.sqlite"
    killer = Killer(path, victim, monkeypatch)
    found = simulate(workers=ray_cluster, results=path)
    assert killer.at is not None and 0 < killer.at < RUNS
    assert_same(found, expected)


def test_a_ray_cluster_that_is_not_there():
    pytest.importorskip("ray")
    with pytest.raises(Unreachable, match="no Ray cluster answers at"):
        simulate(workers="ray://127.0.0.1:1", runs=2)


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="ray is installed")
def test_ray_is_an_extra():
    with pytest.raises(bg.InvalidInput, match=r"needs pip install 'bestgroup\[ray\]'"):
        simulate(workers="ray://127.0.0.1:1", runs=2)


@dataclass(frozen=True)
class Deadly(TripleElimination):
    """Ends every process that runs it, but for the one that made it."""

    home: int = 0

    def rule(self, setting):
        if os.getpid() != self.home:
            os._exit(1)
        return super().rule(setting)


def test_processes_that_keep_dying_are_given_up():
    with pytest.raises(bg.BestGroupError, match="worker processes died 4 times"):
        bg.simulate(INSTANCE, GOAL, Deadly(home=os.getpid()), runs=4, workers=2)


def test_work_that_is_given_up_says_nothing():
    some = spread.each(math.sqrt, range(50), 2)
    number, root = next(some)
    assert root == math.sqrt(number)
    some.close()  # a warning would be an error

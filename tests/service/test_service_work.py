"""`bestgroup work` against a real server: leases, failures, restarts, and kill -9 in the middle."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from bestgroup.errors import EvaluationFailed, InvalidInput, Unreachable
from bestgroup.problem.problem import Problem
from bestgroup.studies.catalog import load_study
from bestgroup.studies.client import Client
from bestgroup.studies.evaluators import Evaluator
from bestgroup.studies.worker import Plan, Worker
from serving import MEANS, READER, Served, description, evaluate, evaluate_hard, worker


@pytest.fixture
def served(tmp_path):
    server = Served(tmp_path)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server for the tests that leave it alone; each makes a study of its own name."""
    server = Served(tmp_path_factory.mktemp("shared"))
    yield server
    server.stop()


def create(served, **changes):
    with served.client() as client:
        assert client.post("/studies", json=description(**changes)).status_code == 201


def finished(process, seconds=120):
    out, error = process.communicate(timeout=seconds)
    return process.returncode, out, error


def observations(served, study="demo"):
    with served.client() as client:
        return sorted(client.get("/export", params={"study": study}).text.splitlines())


def undisturbed(measure=evaluate, **changes):
    """Return the answer and the pulls of the same study, run in this process."""
    from bestgroup.problem.goals import ParetoGroups
    from bestgroup.studies.catalog import create_study
    from bestgroup.studies.storage.memory import MemoryStore

    body = description(**changes)
    problem = Problem.from_dict(body["problem"])
    study = create_study(
        "demo",
        problem,
        ParetoGroups(body["goal"]["epsilon"]),
        body["delta"],
        MemoryStore(),
        algorithm=body["algorithm"],
        horizon=body.get("horizon", 0),
    )
    while study.status().state == "running":
        study.tell_many([(t, measure(t.group, t.arm, t.seed)) for t in study.ask(5000)])
    return study.answer(), study.decisions()


def test_a_worker_takes_a_study_to_its_end(served, tmp_path):
    create(served, horizon=50)
    process = worker(served.url, "--jobs", "3", "--batch", "25", "--repeats", "2", folder=tmp_path)
    code, out, error = finished(process)
    assert code == 0, error
    report = json.loads(out)
    assert report["state"] == "done" and report["failed"] == report["lost"] == 0
    answer, decisions = undisturbed(horizon=50)
    with served.client() as client:
        found = client.get("/answer", params={"study": "demo"}).json()
        stored = client.get("/decisions", params={"study": "demo"}).json()["decisions"]
    assert tuple(found["groups"]) == answer.groups and found["pulls"] == answer.pulls
    assert stored == decisions
    assert report["told"] == found["told"]
    assert "token" not in served.log.read_text().replace("tokens", "")


def test_a_command_is_an_evaluator_too(shared, tmp_path):
    create(shared, name="command", goal={"kind": "pareto", "epsilon": 0.9}, delta=0.5)
    script = tmp_path / "measure.py"
    script.write_text("import sys; print(int(sys.argv[1] != 'gamma'), 0.5)")
    line = f"{sys.executable} -S {script} {{group}} {{arm}} {{seed}}"
    words = [
        "work",
        shared.url,
        "--study",
        "command",
        "--command",
        line,
        "--jobs",
        "2",
        "--batch",
        "3",
        "--json",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "bestgroup", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    code, out, error = finished(process)
    assert code == 0, error
    assert json.loads(out)["told"] > 0


def test_kill_the_server_in_the_middle_and_lose_nothing(served, tmp_path):
    create(served, horizon=20)
    workers = [
        worker(served.url, "--jobs", "2", "--batch", "10", "--lease", "3", folder=tmp_path)
        for _ in range(2)
    ]
    kept = []
    for _ in range(2):
        seen, deadline = len(kept), time.monotonic() + 120
        while len(kept) < seen + 150:
            assert time.monotonic() < deadline
            kept = observations(served)
            time.sleep(0.05)
        served.kill()
        served.start()
        assert set(kept) <= set(observations(served))
    for process in workers:
        code, out, error = finished(process)
        assert code == 0, error
        assert json.loads(out)["state"] == "done"
    answer, decisions = undisturbed(horizon=20)
    study = load_study("demo", f"sqlite:///{tmp_path}/served.db")
    assert study.answer().groups == answer.groups and study.decisions() == decisions
    assert study.verify() == answer.pulls
    check_values(observations(served))


def check_values(lines, measure=evaluate):
    """Every observation is there once, with the value that its seed gives."""
    from bestgroup.studies.ticket import pull_seed

    problem = Problem.from_dict(description()["problem"])
    rows = [line.split(",") for line in lines if not line.startswith("group,")]
    assert len({tuple(row[:3]) for row in rows}) == len(rows)
    for group, arm, index, *values in rows:
        seed = pull_seed(0, *problem.index(group, arm), int(index))
        assert [float(v) for v in values] == measure(group, arm, seed)


def test_failures_give_the_ticket_back_and_end_the_worker(shared):
    create(shared, name="failing")
    calls = []

    def broken(group, arm, seed):
        calls.append((group, arm, seed))
        raise EvaluationFailed("\0\ud800it raised Spill")

    stop = threading.Event()
    client = Client(shared.url, "failing", stop=stop)
    done = Worker(client, broken, Plan(failures=1), stop).work()
    assert isinstance(done.error, InvalidInput) and "2 evaluations in a row" in str(done.error)
    assert done.failed == 2 and done.told == 0
    status = client.status()
    assert status["leased"] == 0
    assert status["failures"][0]["reason"].endswith("it raised Spill")
    client.close()
    assert calls[0] == calls[1] or len({call[:2] for call in calls}) == 2


def test_a_worker_scores_items(shared):
    problem = {
        "groups": {"A": ["a"], "B": ["b"]},
        "dims": {"x": "max"},
        "noise": {"kind": "bounded", "low": 0.0, "high": 1.0},
        "items": {"names": [f"i{k}" for k in range(20)]},
    }
    goal = {"kind": "best", "weights": [1.0], "epsilon": 0.0}
    body = {"name": "items", "problem": problem, "goal": goal, "delta": 0.1}
    create(shared, **body, algorithm="auto")
    seen = []

    def scored(group, arm, item):
        seen.append((arm, item))
        return [{"a": 0.6, "b": 0.5}[arm] + int(item[1:]) / 100]

    stop = threading.Event()
    client = Client(shared.url, "items", stop=stop)
    done = Worker(client, Evaluator(scored), Plan(repeats=4), stop).work()
    assert done.error is None and done.state == "done"
    assert len(seen) == len(set(seen)) == done.told <= 40
    assert client.status()["groups_in"] == 1
    client.close()


class LateBeats(Client):
    """A client whose heartbeats are long on their way."""

    def hold(self, tickets, lease):
        if lease > 0.5:
            time.sleep(0.5)
        return super().hold(tickets, lease)


@pytest.mark.parametrize("kind", [Client, LateBeats])
def test_a_long_evaluation_keeps_its_lease_and_a_stopped_worker_lets_go(shared, kind):
    name = kind.__name__
    create(shared, name=name)
    stop = threading.Event()
    seen = []
    with closing(kind(shared.url, name, stop=stop)) as client:

        def slow(group, arm, seed):
            time.sleep(2.75)  # late beats are on their way in the second half of each second
            seen.append(client.status())
            stop.set()
            return evaluate(group, arm, seed)

        done = Worker(client, slow, Plan(batch=5, lease=1.5), stop).work()
        assert seen[0]["leased"] == 5 and seen[0]["overdue"] == 0
        assert done.told == 1
        time.sleep(0.5)  # a late beat would have arrived
        assert client.status()["leased"] == 0


def test_values_outside_the_bounds_stop_everything(shared):
    create(shared, name="outside")
    stop = threading.Event()
    client = Client(shared.url, "outside", stop=stop)
    done = Worker(client, lambda group, arm, seed: [7.0, 0.0], Plan(), stop).work()
    assert isinstance(done.error, InvalidInput) and "between" in str(done.error)
    client.close()


def test_a_study_that_is_removed_ends_its_workers(shared):
    create(shared, name="removed")
    client = Client(shared.url, "removed")

    def remove(group, arm, seed):
        client.delete()
        return evaluate(group, arm, seed)

    reader = Client(f"{shared.base}?token={READER}", "removed")
    with pytest.raises(InvalidInput, match="writer's token"):
        reader.delete()
    reader.close()
    done = Worker(client, remove, Plan(), threading.Event()).work()
    assert done.told == 0 and "no study named 'removed'" in str(done.error)
    with pytest.raises(InvalidInput, match="no study named 'removed'"):
        client.delete()
    client.close()


def test_mistakes_of_a_worker_are_sentences(served):
    with pytest.raises(InvalidInput, match="the server's are: none"):
        Client(served.url)
    create(served)
    with pytest.raises(InvalidInput, match="token"):
        Client(f"{served.base}?token=wrong-token-of-no-use")
    reader = Client(f"{served.base}?token={READER}")
    with pytest.raises(InvalidInput, match="writer's token"):
        reader.ask(1, 1, 60, "w")
    reader.close()
    with pytest.raises(InvalidInput, match="http://"):
        Client("localhost:8350")
    served.stop()
    with pytest.raises(Unreachable, match="does not answer"):
        Client(served.url, patience=0.2)
    run = subprocess.run(
        [sys.executable, "-m", "bestgroup", "work", served.url],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2 and run.stderr.startswith("error: give one evaluator")


def test_the_server_stops_gracefully_with_an_open_stream(served):
    create(served)
    with (
        served.client() as client,
        client.stream("GET", "/events", params={"study": "demo"}) as stream,
    ):
        lines = stream.iter_lines()
        while not next(lines).startswith("event: head"):
            pass
        assert json.loads(next(lines).removeprefix("data: "))["state"] == "running"
        begun = time.monotonic()
        served.process.terminate()
        served.process.wait(20)
        assert time.monotonic() - begun < 8
    log = [json.loads(line) for line in served.log.read_text().splitlines()]
    assert any(entry["event"] == "Application shutdown complete." for entry in log)


def test_ctrl_c_stops_server_and_worker_without_complaint(served, tmp_path):
    create(served)
    process = worker(served.url, "--jobs", "2", folder=tmp_path)
    while len(observations(served)) < 5:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    code, out, error = finished(process)
    assert code == 0 and error == "", error
    assert json.loads(out)["state"] == "running"
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(20) == 0
    assert "Traceback" not in served.log.read_text()


def test_it_refuses_to_serve_strangers_without_tokens(tmp_path):
    words = ["serve", "--host", "0.0.0.0", "--no-auth", "--storage", "memory"]
    run = subprocess.run(
        [sys.executable, "-m", "bestgroup", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ},
    )
    assert run.returncode == 2
    assert run.stderr.startswith("error: without authentication the service listens on loopback")


def test_the_evaluator_of_the_tests_covers_all_arms():
    assert {g: list(arms) for g, arms in MEANS.items()} == description()["problem"]["groups"]


@pytest.mark.verify
def test_fifty_workers_twenty_thousand_observations_five_kills(served, tmp_path):
    changes = {"horizon": 100, "goal": {"kind": "pareto", "epsilon": 0.05}}
    create(served, **changes)
    options = ("--jobs", "10", "--batch", "20", "--lease", "5")
    workers = [
        worker(served.url, *options, folder=tmp_path, function="evaluate_hard") for _ in range(5)
    ]
    kept: list[str] = []
    for kill in range(5):
        while len(kept) < 3500 * (kill + 1):
            assert any(process.poll() is None for process in workers)
            kept = observations(served)
            time.sleep(0.2)
        served.kill()
        served.start()
        assert set(kept) <= set(observations(served))
    for process in workers:
        code, out, error = finished(process, 900)
        assert code == 0, error
        assert json.loads(out)["state"] == "done"
    answer, decisions = undisturbed(evaluate_hard, **changes)
    study = load_study("demo", f"sqlite:///{tmp_path}/served.db")
    assert study.decisions() == decisions and study.verify() == answer.pulls
    lines = observations(served)
    check_values(lines, evaluate_hard)
    print(f"{len(lines) - 1} observations by 50 workers, 5 kills of the server; none lost")
    assert len(lines) > 20_000

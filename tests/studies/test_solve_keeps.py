"""Nothing paid for is lost: what `solve` has measured can be had, whatever ends it."""

import copy
import pickle
import signal
import subprocess
import sys
import time

import pytest

import bestgroup as bg
from bestgroup.studies import catalog
from bestgroup.studies.solve_progress import SolveProgress, duration

PROBLEM = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0))
GOAL = bg.BestGroup([1])


def value(group, arm):
    return {"a": 5.0, "b": 0.0}[arm]


def test_a_solution_keeps_its_observations(tmp_path):
    before = catalog.list_studies("memory")  # of other tests of this process
    found = bg.solve(PROBLEM, GOAL, value)
    frame = found.to_frame()
    assert len(frame) == found.answer.told > 0 and set(frame.columns) == {
        "group",
        "arm",
        "index",
        "x",
    }
    assert found.save(tmp_path / "rows.csv") == len(frame)
    again = bg.certify(tmp_path / "rows.csv", GOAL, problem=PROBLEM)
    assert again.tally.counts.sum() == len(frame)
    for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert other.answer == found.answer and other.to_frame().equals(frame)
        assert str(other) == str(found) and other.study.verify() == found.answer.pulls
    assert catalog.list_studies("memory") == before


def test_a_failed_solve_says_where_its_rows_are(tmp_path):
    calls = []

    def breaks(group, arm):
        calls.append(arm)
        if len(calls) > 9:
            raise RuntimeError("no more")
        return value(group, arm)

    with pytest.raises(bg.EvaluationFailed) as caught:
        bg.solve(PROBLEM, GOAL, breaks, retries=0)
    error = caught.value
    assert len(error.study.to_frame()) == 9 and "the 9 rows" in error.__notes__[0]
    assert error.arm in ("a", "b") and error.group in ("A", "B") and isinstance(error.seed, int)
    calls.clear()
    url = f"sqlite:///{tmp_path}/x.db"
    with pytest.raises(bg.EvaluationFailed) as caught:
        bg.solve(PROBLEM, GOAL, breaks, retries=0, storage=url)
    assert url in caught.value.__notes__[0] and caught.value.study is None


def test_an_interrupted_solve_keeps_its_rows():
    calls = []

    def stops(group, arm):
        calls.append(arm)
        if len(calls) > 5:
            raise KeyboardInterrupt
        return value(group, arm)

    with pytest.raises(KeyboardInterrupt) as caught:
        bg.solve(PROBLEM, GOAL, stops)
    assert len(caught.value.study.to_frame()) == 5


FILE = """
delta = 0.05
noise = {{ kind = "subgaussian", scale = 1.0 }}
[goal]
kind = "best"
weights = [1.0]
[groups]
A = ["a"]
B = ["b"]
[dims]
x = "max"
[evaluate]
command = "{command}"
"""


def run(folder, *arguments, **options):
    line = [sys.executable, "-m", "bestgroup", "solve", "problem.toml", *arguments]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, **options)


def test_the_command_writes_rows(tmp_path):
    (tmp_path / "problem.toml").write_text(FILE.format(command="printf %s {seed}5e-15"))
    done = run(tmp_path, "--csv", "rows.csv", "--budget", "6")
    assert done.returncode == 0, done.stderr
    assert "6 rows in rows.csv" in done.stderr
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 7
    refused = run(tmp_path, "--csv", "rows.txt")
    assert refused.returncode == 2 and "ends in .csv" in refused.stderr


def test_the_command_says_where_rows_are_after_a_failure(tmp_path):
    script = tmp_path / "measure.sh"
    script.write_text("echo x >> calls; [ $(wc -l < calls) -gt 7 ] && exit 3; echo 0.5\n")
    (tmp_path / "problem.toml").write_text(FILE.format(command="sh measure.sh {arm}"))
    done = run(tmp_path, "--retries", "0")
    assert done.returncode == 2 and "ended with code 3" in done.stderr
    assert "7 rows that were measured are in problem-rows.csv" in " ".join(done.stderr.split())
    assert len((tmp_path / "problem-rows.csv").read_text().splitlines()) == 8


def test_the_command_says_where_rows_are_after_ctrl_c(tmp_path):
    (tmp_path / "problem.toml").write_text(FILE.format(command="sh measure.sh"))
    (tmp_path / "measure.sh").write_text("echo x >> calls; sleep 0.05; echo 0.5\n")
    calls = tmp_path / "calls"
    line = [sys.executable, "-m", "bestgroup", "solve", "problem.toml"]
    process = subprocess.Popen(
        line, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not calls.exists() or len(calls.read_text().splitlines()) < 30:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and "rows that were measured are in problem-rows.csv" in errors
    rows = len((tmp_path / "problem-rows.csv").read_text().splitlines()) - 1
    assert f"the {rows} rows" in errors and rows > 3


def test_rate_and_time_left_after_a_resume(tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(20.0))
    bg.solve(problem, GOAL, value, storage=url, budget=400)
    study = bg.load_study("solve", url)
    with SolveProgress(study, True, None) as bar:
        time.sleep(0.3)
        bar.update()
        words = bar._bar.tasks[0].description
    assert "400 pulls (0/s)" in words, words
    assert duration(90) == "90 s" and duration(7200) == "2.0 h"
    study.close()

"""Files of other tools: written by the tools themselves, here or before (promptfoo, hyperfine).

The sample files of lm-evaluation-harness follow its documented format; it is not installed here.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bestgroup as bg

FILES = Path(__file__).with_name("readers")

TASKS = """
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, match, mean, scorer
from inspect_ai.solver import solver
import sys

SUMS = [("1+1", "2"), ("2+3", "5"), ("7-4", "3"), ("6*7", "42")]

@scorer(metrics=[mean()])
def brevity():
    async def score(state, target):
        return Score(value={"text": 1 / (1 + len(state.output.completion)), "words": 1.0})
    return score

@solver
def canned(style, known):
    async def solve(state, generate):
        k = int(str(state.sample_id)[1:])
        answer = SUMS[k][1] if k < known else "no idea"
        text = answer if style == "short" else "The answer is " + answer
        state.output = ModelOutput.from_content("none", text)
        return state
    return solve

@task
def sums(style, known):
    samples = [Sample(id=f"q{k}", input=q, target=a) for k, (q, a) in enumerate(SUMS)]
    return Task(dataset=samples, solver=canned(style, known), scorer=[match("end"), brevity()])

for model, known in (("large", 3), ("small", 1)):
    for style in ("short", "long"):
        eval(sums(style, known), model="mockllm/" + model, log_dir=sys.argv[1], display="none",
             log_format=sys.argv[2], epochs=int(sys.argv[3]))
"""


@pytest.mark.parametrize(("kind", "epochs"), [("eval", 2), ("json", 1)])
def test_inspect_logs(tmp_path, kind, epochs):
    pytest.importorskip("inspect_ai")
    subprocess.run(
        [sys.executable, "-c", TASKS, str(tmp_path / "logs"), kind, str(epochs)],
        check=True,
        capture_output=True,
        cwd=tmp_path,
    )
    found = bg.read(tmp_path / "logs")
    assert len(found) == 16
    assert set(found.groups) == {"mockllm/large", "mockllm/small"}
    short, long = "sums(style=short, known=3)", "sums(style=long, known=3)"
    assert set(found.groups["mockllm/large"]) == {short, long}  # logs of one second in any order
    assert found.items == ["q0", "q1", "q2", "q3"]
    assert found.dims == ("match", "brevity.text", "brevity.words")
    right = [row["match"] for row in found if row["group"] == "mockllm/small"]
    assert right == [1, 0, 0, 0] * 2
    rows = {(row["group"], row["arm"], row["item"]): row for row in found}
    assert rows["mockllm/large", short, "q0"]["brevity.text"] == 0.5


def test_an_inspect_run_that_was_cut_is_refused(tmp_path):
    log = {"eval": {"task": "t", "model": "m"}, "plan": {}, "status": "cancelled", "samples": []}
    (tmp_path / "log.json").write_text(json.dumps(log))
    with pytest.raises(bg.InvalidInput, match="ended with 'cancelled'"):
        bg.read(tmp_path)


def test_lm_eval_samples():
    found = bg.read(FILES / "lm-eval")
    assert found.groups == {
        name: ["sums (strict-match)", "sums (flexible-extract)"]
        for name in ("org__big-model", "org__small-model")
    }
    assert found.items == [0, 1, 2, 3]
    assert found.dims == ("exact_match",)
    assert sum(row["exact_match"] for row in found) == 3 + 4 + 1 + 2


def test_promptfoo_results():
    found = bg.read(FILES / "promptfoo.json")
    assert found.groups == {
        name: ["Say {{word}}", "Please repeat: {{word}}"] for name in ("parrot", "second")
    }
    assert found.items == [0, 1]
    assert found.dims == ("score", "said", "short", "latency_ms")
    assert found.directions["latency_ms"] == "min"


def test_hyperfine_results():
    found = bg.read(FILES / "hyperfine.json")
    assert found.groups["ls"] == ["ls /usr", "ls -l /usr"]
    assert len(found) == 15
    assert found.directions == {"seconds": "min"}


def test_hyperfine_runs_that_failed_are_refused(tmp_path):
    document = json.loads((FILES / "hyperfine.json").read_text())
    document["results"][1]["exit_codes"][2] = 1
    (tmp_path / "x.json").write_text(json.dumps(document))
    with pytest.raises(bg.InvalidInput, match="some runs of 'ls -l /usr' failed"):
        bg.read(tmp_path / "x.json")


BENCHMARKS = """
import pytest, zlib
@pytest.mark.benchmark(group="zlib")
@pytest.mark.parametrize("level", [1, 9])
def test_zlib(benchmark, level):
    benchmark.pedantic(zlib.compress, (b"text " * 99, level), rounds=5)
def test_alone(benchmark):
    benchmark.pedantic(sum, ([1, 2],), rounds=5)
"""


def test_pytest_benchmark(tmp_path):
    (tmp_path / "test_speed.py").write_text(BENCHMARKS)
    call = [sys.executable, "-m", "pytest", "-q", "--benchmark-json=out.json", "test_speed.py"]
    # Under xdist the plugin measures nothing; the call is a session of its own.
    alone = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    subprocess.run(
        [*call, "-p", "no:cacheprovider"], cwd=tmp_path, check=True, capture_output=True, env=alone
    )
    found = bg.read(tmp_path / "out.json")
    assert found.groups == {"zlib": ["test_zlib[1]", "test_zlib[9]"], "test_alone": ["test_alone"]}
    assert len(found) == 15
    document = json.loads((tmp_path / "out.json").read_text())
    del document["benchmarks"][0]["stats"]["data"]  # as --benchmark-save leaves it out by default
    (tmp_path / "out.json").write_text(json.dumps(document))
    with pytest.raises(bg.InvalidInput, match="--benchmark-save-data"):
        bg.read(tmp_path / "out.json")


def test_what_is_read_can_be_certified_saved_and_shown(tmp_path):
    found = bg.read(FILES / "promptfoo.json")
    assert repr(found).startswith("<Observations: 8 rows, 2 groups, 4 arms, 2 items, dims score")
    found.save(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text().splitlines()[0].startswith("group,arm,item,score")
    assert list(found.to_frame().columns)[:3] == ["group", "arm", "item"]


@pytest.mark.parametrize("text", ["{", "[1]", "{}"])
def test_other_files_are_refused_in_words(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(bg.InvalidInput, match=r"cannot be read|can be read"):
        bg.read(path)
    with pytest.raises(bg.InvalidInput, match="no such file"):
        bg.read(tmp_path / "none.json")
    with pytest.raises(bg.InvalidInput, match="kind must be one of"):
        bg.read(path, kind="x")

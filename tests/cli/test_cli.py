"""The command line: what each command prints, in words and as JSON, and what it writes."""

import csv
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bestgroup as bg
from bestgroup.cli import demo, output
from bestgroup.cli.main import run
from bestgroup.compile.kernel import kernel, on_compile
from bestgroup.files.replacing import replacing

EXAMPLE = Path(__file__).parents[2] / "examples" / "bundles.toml"
PROBLEM = """
name = "two by two"
delta = 0.05
algorithm = "te"
[goal]
kind = "pareto"
epsilon = 0.2
[dims]
profit = "max"
returns = "min"
[noise]
kind = "subgaussian"
scale = 0.5
[groups]
good = ["a", "b"]
"[bad]" = ["c"]
[means]
good = [[2.0, 0.5], [1.0, 0.0]]
"[bad]" = [[0.0, 1.0]]
"""
BEST = PROBLEM.replace('kind = "pareto"\nepsilon = 0.2', 'kind = "best"\nweights = [1, 2]')
BEST = BEST.replace('algorithm = "te"', 'algorithm = "eecb"')


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(PROBLEM)
    (tmp_path / "best.toml").write_text(BEST)
    return tmp_path


@pytest.fixture
def call(capsys):
    """Run a command and return what it prints, or of one that fails what it says."""

    def caller(*arguments, code=0):
        with pytest.raises(SystemExit) as stop:
            run(arguments)
        assert stop.value.code == code
        return capsys.readouterr()[code != 0]

    return caller


def test_help_lists_the_commands(call):
    text = call("--help")
    assert text == call("-h") == call()
    for name in ("demo", "simulate", "bounds", "--version"):
        assert name in text


@pytest.mark.parametrize("command", ["demo", "simulate", "bounds"])
def test_every_command_has_help_and_json(call, command):
    assert "--json" in call(command, "--help")


def test_version(call):
    assert call("--version") == f"bestgroup {bg.__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["simulate", "--help"], ["guess"]])
def test_help_and_mistakes_load_nothing_heavy(arguments):
    code = (
        "import sys; from bestgroup.cli.main import run\n"
        f"try: run({arguments!r})\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'numba', 'matplotlib', 'rich', 'joblib'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_simulate_json_is_what_the_library_gives(call, folder):
    found = json.loads(call("simulate", "p.toml", "--runs", "3", "--seed", "5", "--json"))
    spec = bg.load_spec("p.toml")
    result = bg.simulate(spec.instance(), spec.goal, "te", delta=0.05, runs=3, seed=5)
    assert found["problem"] == "two by two"
    assert found["goal"] == {"kind": "pareto", "epsilon": 0.2}
    assert (found["algorithm"], found["delta"], found["seed"], found["runs"]) == ("te", 0.05, 5, 3)
    assert found["pulls"] == {
        "mean": result.pulls.mean(),
        "sd": result.pulls.std(ddof=1),
        "min": result.pulls.min(),
        "max": result.pulls.max(),
    }
    assert found["rounds"]["mean"] == result.rounds.mean()
    assert found["answers"] == [{"groups": ["good"], "runs": 3, "correct": True}]
    assert found["errors"] == 0
    interval = found["error_interval"]
    assert (interval["low"], interval["high"]) == result.error_interval()
    assert found["guarantee"]["level"] == "proven"
    assert found["guarantee"]["assumptions"] == list(result.guarantee.assumptions)
    assert sum(map(sum, found["mean_pulls_by_arm"])) == pytest.approx(result.pulls.mean())
    assert [len(row) for row in found["mean_pulls_by_arm"]] == [2, 1]


def test_simulate_in_words(call, folder):
    text = call("simulate", "p.toml", "--runs", "3")
    assert "two by two: 2 groups, 3 arms, 2 dims; Pareto groups, epsilon 0.2, delta 0.05" in text
    for words in ("te, 3 runs, seed 0", "mean", "sd", "min", "max", "pulls", "rounds"):
        assert words in text
    assert "errors: 0 of 3 runs; the error probability is in [0, 0.7076]" in text
    assert "answer (3 runs, right): good" in text
    assert "truth: good" in text
    assert "guarantee: proven: with probability at least 0.95" in text
    assert "  - the noise of every dim is sub-Gaussian with scale 0.5" in text
    assert "time: " in text


def test_names_are_never_taken_for_markup(call, folder):
    assert "[bad]" in call("bounds", "p.toml")


def test_one_run_has_no_standard_deviation(call, folder):
    assert json.loads(call("simulate", "p.toml", "--runs", "1", "--json"))["pulls"]["sd"] is None


def test_csv_has_a_row_a_run(call, folder):
    call("simulate", "p.toml", "--runs", "4", "--csv", "runs.csv")
    with open("runs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    result = bg.simulate(*_loaded("p.toml"), "te", delta=0.05, runs=4)
    assert [int(row["pulls"]) for row in rows] == result.pulls.tolist()
    assert {row["answer"] for row in rows} == {"good"}
    assert sorted(os.listdir(folder)) == ["best.toml", "p.toml", "runs.csv"]


def _loaded(path):
    spec = bg.load_spec(path)
    return spec.instance(), spec.goal


def test_the_command_line_overrides_the_file(call, folder):
    text = call(
        "simulate", "p.toml", "--algorithm", "unis", "--epsilon", "0.5", "--delta", "0.2", "--json"
    )
    found = json.loads(text)
    assert (found["algorithm"], found["delta"]) == ("unis", 0.2)
    assert found["goal"]["epsilon"] == 0.5
    assert found["guarantee"]["level"] == "none"
    result = bg.simulate(_loaded("p.toml")[0], bg.ParetoGroups(0.5), "unis", delta=0.2, runs=1)
    assert found["pulls"]["mean"] == result.pulls[0]


def test_epsilon_overrides_that_of_the_best_group(call, folder):
    found = json.loads(call("simulate", "best.toml", "--epsilon", "0.25", "--json"))
    assert found["goal"] == {"kind": "best", "weights": [1, 2], "epsilon": 0.25}
    assert found["algorithm"] == "eecb"


def test_options_join_those_of_the_file(call, folder):
    Path("q.toml").write_text(PROBLEM + '[options]\nradius = "mixture"\n')
    found = json.loads(call("simulate", "q.toml", "--option", "radius_scale=0.5", "--json"))
    assert found["options"] == {"radius": "mixture", "radius_scale": 0.5}
    assert found["guarantee"]["level"] == "none"
    found = json.loads(call("simulate", "q.toml", "--algorithm", "ge", "--json"))
    assert found["options"]["radius"] == "paper"


def test_unfinished_runs_are_counted(call, folder):
    text = call("simulate", "p.toml", "--runs", "2", "--max-pulls", "10")
    assert "unfinished: 2 runs reached the limit of pulls" in text
    assert "answer (" not in text
    found = json.loads(call("simulate", "p.toml", "--runs", "2", "--max-pulls", "10", "--json"))
    assert (found["finished"], found["answers"]) == (0, [])


def test_costs_are_added_up(call, folder):
    Path("q.toml").write_text(PROBLEM + "[cost]\na = 2\nb = 3\nc = 5\n")
    found = json.loads(call("simulate", "q.toml", "--runs", "2", "--json"))
    (a, b), (c,) = found["mean_pulls_by_arm"]
    assert found["mean_cost"] == pytest.approx(2 * a + 3 * b + 5 * c)
    assert "cost: " in call("simulate", "q.toml", "--runs", "2")


def test_bounds_json_is_what_the_library_gives(call, folder):
    found = json.loads(call("bounds", "best.toml", "--json"))
    instance, goal = _loaded("best.toml")
    gaps, upper = bg.gaps(instance, goal), bg.upper_bound(instance, goal, 0.05)
    lower, time = bg.lower_bound(instance, goal, 0.05), bg.characteristic_time(instance, goal)
    assert found["efficiency"] == [[2.0, 0.0], [0.0, 1.0]]
    assert found["optimal"] == ["good"]
    assert found["gaps"]["group"] == gaps.group.tolist()
    assert found["gaps"]["arm"] == [row.tolist() for row in gaps.arm]
    assert found["gaps"]["plus"] is None
    assert found["upper_bound"]["value"] == upper.value
    assert found["upper_bound"]["by_arm"] == [row.tolist() for row in upper.by_arm]
    assert found["lower_bound"]["value"] == lower.value
    assert (found["lower_bound"]["applies"], found["lower_bound"]["why_not"]) == (
        lower.applies,
        lower.why_not,
    )
    assert found["characteristic_time"]["value"] == time.value
    assert found["characteristic_time"]["gap"] == time.gap
    kl = 0.9 * math.log(0.95 / 0.05)
    assert found["characteristic_time"]["pulls"] == pytest.approx(time.lower * kl)


def test_bounds_in_words(call, folder):
    text = call("bounds", "p.toml", "--delta", "0.1", "--epsilon", "0.1")
    assert "Pareto groups, epsilon 0.1, delta 0.1" in text
    for words in ("profit", "returns (min)", "optimal", "effective gap", "share at the limit"):
        assert words in text
    assert "limit: every correct algorithm needs at least" in text
    assert "lower bound of the theorem: says nothing here: " in text
    assert "upper bound for 'te': " in text


def test_bounds_of_many_arms_lists_groups_only(call, folder, monkeypatch):
    monkeypatch.setattr("bestgroup.cli.bounds.MOST_ARMS", 2)
    text = call("bounds", "p.toml")
    assert "3 arms: --json lists them" in text
    assert "effective gap" not in text


def test_infinite_bounds_are_null_in_json_and_words_on_the_screen(call, folder):
    Path("tie.toml").write_text(PROBLEM.replace("[[0.0, 1.0]]", "[[2.0, 0.0]]"))
    found = json.loads(call("bounds", "tie.toml", "--epsilon", "0", "--json"))
    assert found["upper_bound"]["value"] is None
    assert not found["upper_bound"]["applies"]
    assert found["characteristic_time"]["value"] is None
    text = call("bounds", "tie.toml", "--epsilon", "0")
    assert "unbounded" in text
    assert "no correct algorithm can ever stop" in text


def test_several_right_answers_are_said(call, folder):
    Path("near.toml").write_text(PROBLEM.replace("[[0.0, 1.0]]", "[[1.9, 0.1]]"))
    text = " ".join(call("bounds", "near.toml").split())
    assert "2 answers are right" in text
    time = bg.characteristic_time(*_loaded("near.toml"))
    found = json.loads(call("bounds", "near.toml", "--json"))["characteristic_time"]
    assert (found["right_answers"], found["pulls"]) == (2, time.samples(0.05))


def test_bounds_without_the_limit(call, folder):
    assert (
        json.loads(call("bounds", "p.toml", "--no-limit", "--json"))["characteristic_time"] is None
    )
    assert "T* =" not in call("bounds", "p.toml", "--no-limit")


def test_demo_fits_one_screen_and_writes_its_files(call, folder):
    text = call("demo", "--runs", "2", "--out", "shown/here")
    lines = text.splitlines()
    assert len(lines) < 46
    assert max(map(len, lines)) <= 100
    for words in ("TE", "AGE", "GE", "UniS", "EECB", "TEL", "the limit", "times the limit"):
        assert words in text
    assert "All 18 answers are right." in text
    assert "times fewer pulls than the paper's TE" in text
    assert "UniS as printed is not (epsilon, delta)-PAC" in text
    assert Path("shown/here/demo.png").read_bytes().startswith(b"\x89PNG")
    assert Path("shown/here/bundles.toml").read_bytes() == EXAMPLE.read_bytes()
    assert sorted(os.listdir("shown/here")) == ["bundles.toml", "demo.png", "digits.csv.gz"]
    assert "neighbours, svm" in call(
        *("certify", "shown/here/digits.csv.gz", "--noise", "bounded:0,1", "--epsilon", "0.02")
    )


def test_certify_is_told_what_the_items_are(call, folder):
    table = bg.datasets.digits()
    table.save("scores.csv")
    asked = ("certify", "scores.csv", "--noise", "bounded:0,1", "--epsilon", "0.05")
    assert "the answer is certain" in call(*asked)
    assert "population that the 400 items were drawn from" in " ".join(
        call(*asked, "--items", "population").split()
    )
    names = list(table.items)
    Path("order.txt").write_text("\n".join(names))
    kept = {*names[:380]}
    lines = Path("scores.csv").read_text().splitlines()
    part = [line for line in lines[1:] if line.split(",")[2] in kept]
    Path("part.csv").write_text("\n".join([lines[0], *part]))
    asked = ("certify", "part.csv", *asked[2:], "--item", "item")
    found = json.loads(call(*asked, "--items", "400", "--order", "order.txt", "--json"))
    assert "svm" in found["accepted"]
    for given, words in (
        (("--items", "some"), "--items must be pool, population or a number; got 'some'"),
        (("--order", "none.txt"), "--order: none.txt cannot be read"),
        (("--items", "400"), "not every arm was scored on all 400 items"),
    ):
        assert words in call(*asked, *given, code=2)


def test_demo_json(call, folder):
    Path("demo-output").mkdir()
    Path("demo-output/bundles.toml").write_text("edited")
    found = json.loads(call("demo", "--runs", "1", "--json"))
    pareto, best = found["questions"]
    paper = ["te", "age", "ge", "unis"]
    assert [e["algorithm"] for e in pareto["algorithms"]] == [*paper, "te-plus", "adaptive"]
    assert [e["algorithm"] for e in best["algorithms"]] == ["eecb", "tel", "adaptive"]
    assert pareto["optimal"] == ["starter", "family", "office"]
    assert best["optimal"] == ["family"]
    te = pareto["algorithms"][0]
    assert te["times_the_limit"] == pytest.approx(te["pulls"] / pareto["limit"])
    assert te["times_the_limit"] > 1
    levels = [entry["guarantee"] for entry in pareto["algorithms"]]
    assert levels == ["proven", "proven", "proven", "none", "proven", "proven"]
    assert Path(found["files"]["plot"]) == Path("demo-output/demo.png")
    assert Path("demo-output/bundles.toml").read_text() == "edited"


def test_demo_without_matplotlib_says_what_is_missing(call, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    text = call("demo", "--runs", "1")
    assert "pip install 'bestgroup[plots]'" in text
    assert sorted(os.listdir("demo-output")) == ["bundles.toml", "digits.csv.gz"]


def test_the_demo_is_the_example():
    assert demo.PROBLEM.read_bytes() == EXAMPLE.read_bytes()


def test_ctrl_c_exits_with_130_and_a_sentence(folder, capsys, monkeypatch):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(bg, "simulate", interrupted)
    with pytest.raises(SystemExit) as stop:
        run(["simulate", "p.toml", "--csv", "runs.csv"])
    assert stop.value.code == 130
    assert capsys.readouterr().err == "stopped by Ctrl-C\n"
    assert "runs.csv" not in os.listdir(folder)


@kernel
def _double(x: float) -> float:
    return 2.0 * x


def test_the_first_compilation_is_announced(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("BESTGROUP_CACHE", str(tmp_path))
    output.announce_compilation()
    try:
        assert _double.compiled(2.0) == 4.0
    finally:
        on_compile(None)
    assert capsys.readouterr().err.startswith("bestgroup: compiling")


def test_a_file_that_fails_half_way_leaves_the_old_one(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.csv"]

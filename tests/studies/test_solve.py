"""`solve`, evaluators, `plan`, `init` and saved problem files."""

import asyncio
import random
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.studies.evaluators import Evaluator, load_evaluator, read_output, row_of

GROUPS = {"A": ["a1", "a2"], "B": ["b1"], "C": ["c1"]}
PROBLEM = bg.Problem(GROUPS, {"score": "max", "loss": "min"}, bg.SubGaussian(0.2))
GOAL = bg.ParetoGroups(0.1)
MEANS = {"a1": (0.9, 0.5), "a2": (0.4, 0.2), "b1": (0.6, 0.8), "c1": (0.2, 0.1)}


def evaluate(group, arm, seed):
    draw = random.Random(seed)
    return [draw.gauss(mean, 0.2) for mean in MEANS[arm]]


def solve(function=evaluate, **options):
    return bg.solve(PROBLEM, GOAL, function, 0.05, algorithm="te-plus", **options)


def test_the_answer_is_proven_and_explained():
    found = solve()
    assert found.proven and found.answer.groups == ("A", "C")
    assert set(found.explanations) == set(GROUPS)
    assert found.answer.guarantee.level == "proven"
    assert "says nothing about its value" in found.answer.guarantee.assumptions[-1]
    assert str(found).startswith("proven after")


async def later(group, arm, seed):
    await asyncio.sleep(0.001)
    return evaluate(group, arm, seed)


@pytest.mark.parametrize(
    "options",
    [{"workers": 4}, {"function": later}, {"function": later, "workers": 3}, {"rate": 2000.0}],
    ids=["threads", "async", "async side by side", "rate"],
)
def test_how_evaluations_run_does_not_change_the_answer(options):
    assert solve(**options).answer == solve().answer


def test_a_function_without_seed_and_a_dict_by_dim():
    draw = random.Random(1)

    def by_name(group, arm):
        score, loss = MEANS[arm]
        return {"loss": draw.gauss(loss, 0.2), "score": draw.gauss(score, 0.2)}

    assert solve(by_name).answer.groups == ("A", "C")


def test_a_budget_gives_the_anytime_answer_and_storage_goes_on(tmp_path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    first = solve(storage=url, name="s", budget=30)
    assert not first.proven and first.answer.told == 30 and first.answer.undecided
    assert "not decided after 30 pulls" in str(first)
    assert f"; best guess: {', '.join(first.guess().groups)}" in str(first)
    again = solve(storage=url, name="s")
    assert again.answer == solve().answer
    with pytest.raises(bg.InvalidInput, match="has another goal"):
        bg.solve(PROBLEM, bg.ParetoGroups(0.2), evaluate, 0.05, storage=url, name="s")


def test_failures_are_retried_with_the_same_seed():
    seen = {}

    def flaky(group, arm, seed):
        seen[seed] = seen.get(seed, 0) + 1
        if seen[seed] == 1 and seed % 3 == 0:
            raise RuntimeError("no luck")
        return evaluate(group, arm, seed)

    assert solve(flaky).answer == solve().answer
    assert max(seen.values()) == 2


WRONG = {
    "raises": (lambda g, a, s: 1 / 0, "raised ZeroDivisionError"),
    "NaN": (lambda g, a, s: [1.0, float("nan")], "loss must be a finite number"),
    "too few": (lambda g, a, s: [1.0], "must give 2 numbers"),
    "text": (lambda g, a, s: "good", "gave 'good' instead of numbers"),
    "nothing": (lambda g, a, s: None, "gave None"),
    "missing dim": (lambda g, a, s: {"score": 1.0}, "no value for the dim 'loss'"),
    "an object": (lambda g, a, s: object(), "instead of numbers"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("workers", [1, 2])
def test_an_evaluator_that_fails_for_good_pauses_the_study(case, workers, tmp_path):
    function, words = WRONG[case]
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with pytest.raises(bg.EvaluationFailed) as caught:
        solve(function, storage=url, name="s", retries=1, workers=workers)
    text = str(caught.value)
    assert words in text and "failed 2 times for the arm" in text and "\n" not in text
    status = bg.load_study("s", url).status()
    assert status.told == 0 and status.failures[0]["times"] >= 1
    assert solve(storage=url, name="s").answer == solve().answer


def test_a_value_outside_the_bounds_stops_everything():
    problem = bg.Problem(GROUPS, {"score": "max"}, bg.Bounded(0, 1))
    with pytest.raises(bg.InvalidInput, match="score must lie between 0 and 1"):
        bg.solve(problem, GOAL, lambda g, a, s: 1.5, 0.05, algorithm="te-plus")


def slow(group, arm, seed):
    if arm == "b1":
        time.sleep(60)
    return evaluate(group, arm, seed)


def test_a_function_that_hangs_is_ended():
    begun = time.monotonic()
    with pytest.raises(bg.EvaluationFailed, match=r"longer than 0.3 s"):
        solve(slow, timeout=0.3, retries=0)
    assert time.monotonic() - begun < 50


def test_commands(tmp_path):
    script = tmp_path / "measure.py"
    script.write_text(
        "import random, sys\n"
        "group, arm, seed = sys.argv[1:]\n"
        "means = {'a1': (.9, .5), 'a2': (.4, .2), 'b1': (.6, .8), 'c1': (.2, .1)}[arm]\n"
        "draw = random.Random(int(seed))\n"
        "print('measuring', group)\n"
        "print(*[draw.gauss(mean, .2) for mean in means])\n"
    )
    found = solve(f"{sys.executable} {script} {{group}} {{arm}} {{seed}}", workers=2)
    assert found.answer == solve().answer
    bad = {
        f"{sys.executable} -c 'import sys; sys.exit(3)'": "ended with code 3",
        f"{sys.executable} -c pass": "printed nothing",
        f"{sys.executable} -c 'print(\"hello\")'": "neither numbers nor JSON",
        "no-such-program-here {arm}": "cannot be run",
    }
    for command, words in bad.items():
        with pytest.raises(bg.EvaluationFailed, match=words):
            solve(command, retries=0)
    with pytest.raises(bg.EvaluationFailed, match=r"longer than 0.2 s"):
        solve(f"{sys.executable} -c 'import time; time.sleep(30)'", retries=0, timeout=0.2)
    for command in ("", "run {group", "run {nobody}"):
        with pytest.raises(bg.InvalidInput, match="command must"):
            solve(command)
    assert read_output('{"score": 1, "loss": 2}') == {"score": 1, "loss": 2}
    assert row_of({"score": 1, "loss": 2}, PROBLEM).tolist() == [1.0, 2.0]


def test_bad_options_and_evaluators():
    for options, words in (
        ({"workers": 0}, "workers"),
        ({"retries": -1}, "retries"),
        ({"rate": 0}, "rate"),
        ({"budget": 0}, "budget"),
        ({"timeout": -1.0}, "timeout"),
        ({"callbacks": [3]}, "callbacks must be functions"),
        ({"callbacks": None}, "callbacks must be functions"),
    ):
        with pytest.raises(bg.InvalidInput, match=words):
            solve(**options)
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        solve(speed=1)
    with pytest.raises(bg.InvalidInput, match="function or a command"):
        solve(3)
    with pytest.raises(bg.InvalidInput, match="must take"):
        Evaluator(lambda: 1)
    for given, words in (
        ({}, "no evaluator"),
        ({"python": "os"}, "module:function"),
        ({"python": "no_such_module_x:f"}, "cannot be imported"),
        ({"python": "os:no_such"}, "no function 'no_such'"),
    ):
        with pytest.raises(bg.InvalidInput, match=words):
            load_evaluator(given)


SPEC = """
delta = 0.05
algorithm = "te-plus"
[goal]
kind = "pareto"
epsilon = 0.1
[dims]
score = "max"
loss = "min"
[noise]
kind = "subgaussian"
scale = 0.2
[groups]
A = ["a1", "a2"]
B = ["b1"]
[evaluate]
python = "measure_for_test:evaluate"
[means]
A = [[0.9, 0.5], [0.4, 0.2]]
B = [[0.6, 0.8]]
"""


def command(capsys, *arguments):
    from bestgroup.cli.main import run

    with pytest.raises(SystemExit) as stop:
        run([str(a) for a in arguments])
    printed = capsys.readouterr()
    return stop.value.code, printed.out, printed.err


def test_the_commands_solve_and_plan(tmp_path, capsys, monkeypatch):
    import json

    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(SPEC)
    (tmp_path / "measure_for_test.py").write_text(
        "import random\n"
        "means = {'a1': (.9, .5), 'a2': (.4, .2), 'b1': (.6, .8)}\n"
        "def evaluate(group, arm, seed):\n"
        "    draw = random.Random(seed)\n"
        "    return [draw.gauss(m, .2) for m in means[arm]]\n"
    )
    code, out, _ = command(capsys, "solve", "p.toml", "--storage", "sqlite:///s.db", "--budget", 20)
    assert code == 0 and "not decided after 20 pulls" in out
    code, out, _ = command(capsys, "solve", "p.toml", "--storage", "sqlite:///s.db", "--json")
    record = json.loads(out)
    assert code == 0 and record["final"] and record["groups"] == ["A"]
    code, out, _ = command(
        capsys,
        "plan",
        "p.toml",
        "--algorithm",
        "te-plus",
        "--deltas",
        "0.1",
        "--budget",
        5000,
        "--json",
    )
    record = json.loads(out)
    assert code == 0 and len(record["rows"]) == 4 and record["resolvable"][0]["epsilon"] is not None
    code, _, err = command(capsys, "solve", "p.toml", "--algorithm", "nobody")
    assert code == 2 and err.startswith("error: ")
    (tmp_path / "q.toml").write_text(
        SPEC.replace('[evaluate]\npython = "measure_for_test:evaluate"', "")
    )
    code, _, err = command(capsys, "solve", "q.toml")
    assert code == 2 and "evaluate: is missing" in err


def test_plan_from_an_instance():
    instance = bg.Instance(
        [[[0.9, 0.5]], [[0.2, 0.1]]], law=bg.laws.Normal(0.2), noise=bg.SubGaussian(0.2)
    )
    table = bg.plan(instance, GOAL, epsilons=[0.2, 0.4], deltas=[0.1], runs=5, algorithm="te-plus")
    assert [row.epsilon for row in table.rows] == [0.4, 0.2]
    assert all(row.limit < row.mean <= 2 * row.often for row in table.rows)
    assert table.resolvable(10**6) == {0.1: 0.2} and table.resolvable(1) == {0.1: None}
    assert table.to_frame().shape == (2, 9)
    for call, words in (
        (lambda: bg.plan(instance), "needs a problem file"),
        (lambda: bg.plan(instance, GOAL, epsilons=[]), "at least one"),
        (lambda: bg.plan(instance, GOAL, epsilons=[-1]), "negative"),
        (lambda: bg.plan(instance, GOAL, deltas=[2]), "delta"),
        (lambda: table.resolvable(), "give a budget"),
    ):
        with pytest.raises(bg.InvalidInput, match=words):
            call()


def test_a_saved_file_loads_again(tmp_path):
    problem = bg.Problem(
        {'quo"ted': ["a 1", "ä"], "B": ["b"]},
        {"x": {"direction": "max", "unit": "EUR", "low": 0, "high": 5}, "y": "min", "z": "watch"},
        bg.Bounded([0, 0], [5, 1], arms="arbitrary"),
        {"B": {"b": 2.5}},
    )
    for goal in (bg.ParetoGroups([0.1, 0.2]), bg.ParetoGroups(0.5), bg.BestGroup([1, 2], 0.1)):
        path = bg.save_spec(tmp_path / "p.toml", problem, goal, 0.02, overwrite=True)
        spec = bg.load_spec(path)
        assert spec.problem == problem and spec.goal == goal and spec.delta == 0.02
    with pytest.raises(bg.InvalidInput, match="exists"):
        bg.save_spec(path, problem, goal)
    with pytest.raises(bg.InvalidInput, match="cannot be written"):
        bg.save_spec(tmp_path / "no" / "p.toml", problem, goal)


@pytest.mark.parametrize("kind", ["bounded", "bernoulli", "gaussian"])
def test_init_writes_a_file_that_every_command_reads(tmp_path, capsys, kind):
    rng = np.random.default_rng(0)
    rows = ["group,arm,good,bad,note"]
    for group, arm, p in (("A", "a", 0.8), ("B", "b", 0.3)):
        for _ in range(60):
            x = rng.random(2) * p
            x = (x < p / 2).astype(float) if kind == "bernoulli" else x + 5 * (kind == "gaussian")
            rows.append(f"{group},{arm},{x[0]},{x[1]},1")
    data = tmp_path / "pilot.csv"
    data.write_text("\n".join(rows) + "\n")
    code, out, _ = command(capsys, "init", data, "--min", "bad", "--watch", "note")
    assert code == 0 and "guesses" in out
    spec = bg.load_spec(tmp_path / "pilot.toml")
    assert spec.noise.kind == kind and [d.direction for d in spec.dims] == ["max", "min", "watch"]
    assert bg.certify(data, spec.goal, spec.problem).pulls == 120
    code, _, err = command(capsys, "init", data)
    assert code == 2 and "exists" in err
    code, _, err = command(capsys, "init", data, "--out", tmp_path / "x.toml", "--min", "nobody")
    assert code == 2 and "no column 'nobody'" in err and not Path(tmp_path / "x.toml").exists()


def test_the_course_of_a_study_is_drawn_from_its_decisions(tmp_path):
    from bestgroup.plots.study import status_view

    url = f"sqlite:///{tmp_path / 'study.db'}"
    found = solve(storage=url, name="s")
    axes = status_view(found.study).axes[0]
    # A little beyond the last pull, so that no text is cut.
    assert found.answer.pulls <= axes.get_xlim()[1] <= 1.05 * found.answer.pulls
    assert axes.get_ylim()[1] == 3
    axes.figure.savefig(tmp_path / "view.png")
    assert (tmp_path / "view.png").stat().st_size > 5000

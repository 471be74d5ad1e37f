"""Bad input: one clear sentence, in Python and on the command line, and nothing is written."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.cli.main import run

GOOD = bg.Instance([[[0.2, 0.9], [0.4, 0.1]], [[0.0, 0.3]]])
TIED = bg.Instance([[[1.0, 0.0]], [[1.0, 0.0]]])
WEAK = bg.Instance([[[1.0, 1.0]], [[1.0, 0.0]]])  # the second is weakly below the first
PARETO, BEST = bg.ParetoGroups(0.1), bg.BestGroup([1.0, 1.0])
TAPE = np.zeros((5, 2, 1, 1))


def simulate(*, instance=GOOD, goal=PARETO, algorithm="te", **options):
    return lambda: bg.simulate(instance, goal, algorithm, **{"runs": 2, **options})


IN_PYTHON = {
    "no groups": (lambda: bg.Instance([]), "means must hold at least one group; got none"),
    "empty group": (
        lambda: bg.Instance([[[1.0]], []]),
        "group 1 must hold at least one arm; got []",
    ),
    "no dims": (lambda: bg.Instance([[[]]]), "arms must have at least one dim"),
    "flat means": (
        lambda: bg.Instance(np.zeros((2, 2))),
        "the means of group 0 must be an array [K_i, D]; got shape [2]",
    ),
    "four axes": (lambda: bg.Instance(np.zeros((2, 2, 2, 2))), "must be an array [K_i, D]"),
    "ragged arms": (
        lambda: bg.Instance([[[1.0, 2.0], [1.0]]]),
        "the means of group 0 must be numbers in a regular array",
    ),
    "ragged dims": (
        lambda: bg.Instance([[[1.0, 2.0]], [[1.0]]]),
        "every arm must have the same number of dims; group 0 has 2, group 1 has 1",
    ),
    "nan": (lambda: bg.Instance([[[np.nan]]]), "the means of group 0 must be finite; got NaN"),
    "infinity": (lambda: bg.Instance([[[np.inf]]]), "the means of group 0 must be finite"),
    "text": (lambda: bg.Instance([[["a"]]]), "the means of group 0 must be numbers"),
    "none": (lambda: bg.Instance(None), "means must be an array [N, K, D] or a list"),
    "groups twice": (
        lambda: bg.Instance([[[1.0]], [[0.0]]], groups=["a", "a"]),
        "names of groups must differ; 'a' is there twice",
    ),
    "arms twice": (
        lambda: bg.Instance([[[1.0], [0.0]]], arms=[["a", "a"]]),
        "names of arms of group 0 must differ; 'a' is there twice",
    ),
    "dims twice": (
        lambda: bg.Instance([[[1.0, 0.0]]], dims=["x", "x"]),
        "names of dims must differ; 'x' is there twice",
    ),
    "too many names": (
        lambda: bg.Instance([[[1.0]]], groups=["a", "b"]),
        "there must be a name for each of the 1 groups; got 2",
    ),
    "weights too few": (
        lambda: bg.optimal_groups(GOOD, bg.BestGroup([1.0])),
        "weights must have one entry for each of the 2 decided dims (dim 0, dim 1); got 1",
    ),
    "weights too few in a run": (
        simulate(goal=bg.BestGroup([1.0]), algorithm="eecb"),
        "weights must have one entry for each of the 2 decided dims (dim 0, dim 1); got 1",
    ),
    "weight zero": (lambda: bg.BestGroup([1, 0]), "weights must be positive; got [1.0, 0.0]"),
    "weight negative": (lambda: bg.BestGroup([1, -1]), "weights must be positive; got [1.0, -1.0]"),
    "weights nan": (lambda: bg.BestGroup([np.nan]), "weights must be finite"),
    "weights a text": (lambda: bg.BestGroup("ab"), "weights must be numbers"),
    "no weights": (lambda: bg.BestGroup([]), "weights must be a list with one positive number"),
    "delta 0": (simulate(delta=0), "delta must lie strictly between 0 and 1; got 0"),
    "delta 1": (simulate(delta=1), "delta must lie strictly between 0 and 1; got 1"),
    "delta nan": (simulate(delta=float("nan")), "delta must be finite; got nan"),
    "delta of a replay": (
        lambda: bg.replay(TAPE, PARETO, "te", delta=2),
        "delta must lie strictly between 0 and 1; got 2",
    ),
    "delta of a bound": (
        lambda: bg.lower_bound(GOOD, PARETO, 0),
        "delta must lie strictly between 0 and 1; got 0",
    ),
    "epsilon negative": (
        lambda: bg.ParetoGroups(-0.1),
        "epsilon must not be negative; got -0.1",
    ),
    "epsilon of a dim negative": (
        lambda: bg.ParetoGroups([0.1, -0.1]),
        "epsilon must not be negative; got [0.1, -0.1]",
    ),
    "epsilon of the best negative": (
        lambda: bg.BestGroup([1.0], -1),
        "epsilon must not be negative; got -1",
    ),
    "epsilon nan": (lambda: bg.ParetoGroups(np.nan), "epsilon must be finite; got nan"),
    "epsilon for too many": (
        lambda: bg.gaps(GOOD, bg.ParetoGroups([0.1] * 3)),
        "epsilon must have one entry for each of the 2 decided dims (dim 0, dim 1); got 3",
    ),
    "unis with epsilon 0": (
        simulate(goal=bg.ParetoGroups(0), algorithm="unis"),
        "algorithm 'unis' needs epsilon > 0 in every dim; got 0",
    ),
    "unis-corrected with epsilon 0": (
        simulate(goal=bg.ParetoGroups([0.1, 0]), algorithm="unis-corrected"),
        "algorithm 'unis-corrected' needs epsilon > 0 in every dim; got 0",
    ),
    "unis with epsilon 0 on a tape": (
        lambda: bg.replay(TAPE, bg.ParetoGroups(0), "unis"),
        "algorithm 'unis' needs epsilon > 0 in every dim; got 0",
    ),
    "tied best groups": (
        simulate(instance=TIED, goal=BEST, algorithm="eecb"),
        "groups 'group 0' and 'group 1' tie for the best weighted efficiency, so no run would end",
    ),
    "tied Pareto groups": (
        simulate(instance=TIED, goal=bg.ParetoGroups(0)),
        "so no run would end; give epsilon > 0 or max_pulls",
    ),
    "weakly dominated group": (
        simulate(instance=WEAK, goal=bg.ParetoGroups(0)),
        "group 'group 1' is not strictly below group 'group 0'",
    ),
    "tape too short": (
        lambda: bg.replay(TAPE, PARETO, "te"),
        "the tape holds 5 pulls of each arm, and arm 0 of group 0 needs 6; give a longer tape",
    ),
    "tape of three axes": (
        lambda: bg.replay(np.zeros((5, 2, 1)), PARETO, "te"),
        "a tape must be an array [R, N, K, D] without empty axes; got [5, 2, 1]",
    ),
    "tape without pulls": (
        lambda: bg.replay(np.zeros((0, 2, 1, 1)), PARETO, "te"),
        "without empty axes",
    ),
    "tape with nan": (lambda: bg.replay(TAPE * np.nan, PARETO, "te"), "a tape must be finite"),
    "ragged tape": (
        lambda: bg.replay([np.zeros((3, 1, 1)), np.zeros((4, 1, 1))], PARETO),
        "all groups of a tape must have the same number of pulls and of dims",
    ),
    "unknown algorithm": (
        simulate(algorithm="magic"),
        "algorithm must be one of auto, te, age, ge, eecb, tel, unis, unis-corrected",
    ),
    "unknown option": (
        lambda: bg.algorithm("te", speed=9),
        "algorithm 'te' has no option 'speed'; its options are radius, radius_scale",
    ),
    "option of another algorithm": (
        lambda: bg.algorithm("unis", radius="paper"),
        "algorithm 'unis' has no option 'radius'",
    ),
    "option's value": (
        lambda: bg.algorithm("te", radius_scale=0),
        "radius_scale must be positive; got 0",
    ),
    "best-group algorithm for Pareto": (
        simulate(algorithm="eecb"),
        "algorithm 'eecb' answers BestGroup; the goal is ParetoGroups",
    ),
    "Pareto algorithm for the best": (
        simulate(goal=BEST),
        "algorithm 'te' answers ParetoGroups; the goal is BestGroup",
    ),
    "runs 0": (simulate(runs=0), "runs must be at least 1; got 0"),
    "runs not whole": (simulate(runs=1.5), "runs must be an integer; got 1.5"),
    "seed negative": (simulate(seed=-1), "seed must be an integer from 0 to 2**63 - 1; got -1"),
    "workers 0": (simulate(workers=0), "workers must be at least 1; got 0"),
    "max_pulls 0": (simulate(max_pulls=0), "max_pulls must be at least 1; got 0"),
    "engine": (simulate(engine="warp"), "engine must be"),
    "no goal": (
        simulate(goal=None),
        "goal must be ParetoGroups(...) or BestGroup(...) or TopGroups(...) or WeightMap(...); got None",
    ),
    "no instance": (simulate(instance=[[[1.0]]]), "simulate needs an Instance; got list"),
}


@pytest.mark.parametrize("case", IN_PYTHON)
def test_python(case):
    call, sentence = IN_PYTHON[case]
    with pytest.raises(bg.InvalidInput) as caught:
        call()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


GOAL = '[goal]\nkind = "pareto"\nepsilon = 0.1\n'
BEST_GOAL = '[goal]\nkind = "best"\nweights = [1, 1]\n'
DIMS = '[dims]\nprofit = "max"\nreturns = "min"\n'
NOISE = '[noise]\nkind = "subgaussian"\nscale = 1.0\n'
GROUPS = '[groups]\nA = ["a1", "a2"]\nB = ["b1"]\n'
MEANS = "[means]\nA = [[0.2, 0.9], [0.4, 0.1]]\nB = [[0.0, 0.7]]\n"
TIES = "[means]\nA = [[0.2, 0.9], [0.4, 0.1]]\nB = [[0.4, 0.1]]\n"


def problem(head="", goal=GOAL, dims=DIMS, noise=NOISE, groups=GROUPS, means=MEANS):
    return head + goal + dims + noise + groups + means


ON_THE_COMMAND_LINE = {
    "no groups": (
        problem(groups="[groups]\n", means=""),
        [],
        "groups: must map at least one group",
    ),
    "empty group": (
        problem(groups="[groups]\nA = []\n", means=""),
        [],
        "groups.A: must be a list of at least one arm",
    ),
    "no means": (problem(means=""), [], "means: is missing"),
    "no dims": (problem(dims="[dims]\n"), [], "dims: must map at least one dim"),
    "ragged": (
        problem(means="[means]\nA = [[0.2, 0.9], [0.4]]\nB = [[0.0, 0.7]]\n"),
        [],
        "means.A: the row of 'a2' must have 2 numbers (profit, returns); got 1",
    ),
    "arms without means": (
        problem(means="[means]\nA = [[0.2, 0.9]]\nB = [[0.0, 0.7]]\n"),
        [],
        "means.A: must have one row for each of the 2 arms; got 1",
    ),
    "nan": (
        problem(means="[means]\nA = [[0.2, nan], [0.4, 0.1]]\nB = [[0.0, 0.7]]\n"),
        [],
        "means.A: row 1 must be a finite number; got nan",
    ),
    "infinity": (
        problem(means="[means]\nA = [[0.2, -inf], [0.4, 0.1]]\nB = [[0.0, 0.7]]\n"),
        [],
        "means.A: row 1 must be a finite number; got -inf",
    ),
    "text": (
        problem(means='[means]\nA = [[0.2, "x"], [0.4, 0.1]]\nB = [[0.0, 0.7]]\n'),
        [],
        "means.A: row 1 must be a number; got 'x'",
    ),
    "group twice": (problem(groups=GROUPS + 'A = ["a3"]\n'), [], "Cannot overwrite a value"),
    "arm twice": (
        problem(groups='[groups]\nA = ["a1", "a1"]\nB = ["b1"]\n'),
        [],
        "groups.A: has the arm 'a1' twice",
    ),
    "weights too few": (
        problem(goal='[goal]\nkind = "best"\nweights = [1]\n'),
        [],
        "goal.weights: must have one entry for each of the 2 decided dims",
    ),
    "weight zero": (
        problem(goal='[goal]\nkind = "best"\nweights = { profit = 1, returns = 0 }\n'),
        [],
        "goal.weights: must be positive; got [1.0, 0.0]",
    ),
    "weight negative": (
        problem(goal='[goal]\nkind = "best"\nweights = [1, -1]\n'),
        [],
        "goal.weights: must be positive; got [1.0, -1.0]",
    ),
    "delta 0 in the file": (problem(head="delta = 0\n"), [], "delta: must lie strictly between"),
    "delta 0": (problem(), ["--delta", "0"], "delta must lie strictly between 0 and 1; got 0"),
    "delta 1": (problem(), ["--delta", "1"], "delta must lie strictly between 0 and 1; got 1"),
    "delta nan": (problem(), ["--delta", "nan"], "delta must be finite; got nan"),
    "delta a text": (problem(), ["--delta", "small"], "Invalid value for '--delta'"),
    "epsilon negative in the file": (
        problem(goal='[goal]\nkind = "pareto"\nepsilon = -1\n'),
        [],
        "goal.epsilon: must not be negative; got -1",
    ),
    "epsilon negative": (
        problem(),
        ["--epsilon", "-0.5"],
        "epsilon must not be negative; got -0.5",
    ),
    "unis with epsilon 0": (
        problem(),
        ["--algorithm", "unis", "--epsilon", "0"],
        "algorithm 'unis' needs epsilon > 0 in every dim; got 0",
    ),
    "tied best groups": (
        problem(goal=BEST_GOAL, means=TIES),
        [],
        "groups 'A' and 'B' tie for the best weighted efficiency, so no run would end",
    ),
    "tied Pareto groups": (
        problem(means=TIES),
        ["--epsilon", "0"],
        "so no run would end; give epsilon > 0 or max_pulls",
    ),
    "unknown algorithm": (
        problem(),
        ["--algorithm", "magic"],
        "algorithm must be one of auto, te, age",
    ),
    "unknown option": (
        problem(),
        ["--algorithm", "te", "--option", "speed=9"],
        "algorithm 'te' has no option 'speed'; its options are radius, radius_scale",
    ),
    "option called name": (
        problem(),
        ["--algorithm", "te", "--option", "name=x"],
        "'te' has no option 'name'",
    ),
    "option without value": (
        problem(),
        ["--option", "radius"],
        "--option must be given as key=value; got 'radius'",
    ),
    "option twice": (
        problem(),
        ["--option", "radius=paper", "--option", "radius=mixture"],
        "--option radius is given twice",
    ),
    "option's value": (
        problem(),
        ["--algorithm", "te", "--option", "radius=tiny"],
        "radius must be one of paper, mixture, stitched",
    ),
    "best-group algorithm for Pareto": (
        problem(),
        ["--algorithm", "eecb"],
        "algorithm 'eecb' answers BestGroup; the goal is ParetoGroups",
    ),
    "Pareto algorithm for the best": (
        problem(goal=BEST_GOAL),
        ["--algorithm", "te"],
        "algorithm 'te' answers ParetoGroups; the goal is BestGroup",
    ),
    "runs 0": (problem(), ["--runs", "0"], "runs must be at least 1; got 0"),
    "runs a text": (problem(), ["--runs", "many"], "Invalid value for '--runs'"),
    "seed negative": (problem(), ["--seed", "-1"], "seed must be an integer from 0"),
    "workers 0": (problem(), ["--workers", "0"], "workers must be at least 1; got 0"),
    "max-pulls 0": (problem(), ["--max-pulls", "0"], "max_pulls must be at least 1; got 0"),
    "engine": (problem(), ["--engine", "warp"], "engine must be"),
    "unknown flag": (problem(), ["--speed", "9"], "No such option"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys, *arguments):
    """Return the sentence of a refusal, after checking how it came."""
    with pytest.raises(SystemExit) as stop:
        run(arguments)
    seen = capsys.readouterr()
    assert stop.value.code == 2
    assert seen.out == ""
    lines = seen.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.mark.parametrize("case", ON_THE_COMMAND_LINE)
def test_simulate(case, folder, capsys):
    text, arguments, sentence = ON_THE_COMMAND_LINE[case]
    Path("p.toml").write_text(text)
    line = refused(capsys, "simulate", "p.toml", "--csv", "out.csv", *arguments)
    assert sentence in line
    assert os.listdir(folder) == ["p.toml"]


@pytest.mark.parametrize(
    "case", ["no means", "nan", "weight zero", "delta 0", "delta nan", "epsilon negative"]
)
def test_bounds(case, folder, capsys):
    text, arguments, sentence = ON_THE_COMMAND_LINE[case]
    Path("p.toml").write_text(text)
    assert sentence in refused(capsys, "bounds", "p.toml", "--json", *arguments)
    assert os.listdir(folder) == ["p.toml"]


@pytest.mark.parametrize("command", ["simulate", "bounds"])
def test_files_that_are_no_problem(command, folder, capsys):
    Path("binary.toml").write_bytes(b"\x00\xff\xfe")
    Path("broken.toml").write_text("goal = {")
    Path("other.toml").write_text('[project]\nname = "x"\n')
    expected = {
        "none.toml": "none.toml: there is no such file",
        ".": "this is a folder; give a problem file (TOML)",
        "binary.toml": "binary.toml: this is not a text file in UTF-8",
        "broken.toml": "broken.toml: this is not valid TOML:",
        "other.toml": "other.toml: project: is not a key here; those are name, delta",
    }
    for name, sentence in expected.items():
        assert sentence in refused(capsys, command, name)


def test_demo(folder, capsys):
    Path("taken").write_text("mine")
    assert "runs must be at least 1; got 0" in refused(capsys, "demo", "--runs", "0")
    assert "seed must be an integer" in refused(capsys, "demo", "--seed", "-1")
    assert "taken is not a folder" in refused(capsys, "demo", "--out", "taken")
    assert "taken is not a folder" in refused(capsys, "demo", "--out", "taken/deeper")
    assert os.listdir(folder) == ["taken"]
    assert Path("taken").read_text() == "mine"


def test_results_that_cannot_be_written(folder, capsys):
    Path("p.toml").write_text(problem())
    line = refused(capsys, "simulate", "p.toml", "--csv", "missing/out.csv")
    assert "missing/out.csv cannot be written: there is no folder missing" in line
    assert "is a folder" in refused(capsys, "simulate", "p.toml", "--csv", ".")
    line = refused(capsys, "simulate", "p.toml", "--csv", "p.toml")
    assert "p.toml is the problem file; give another name" in line
    assert os.listdir(folder) == ["p.toml"]


def test_unknown_command(capsys):
    assert "No such command 'guess'" in refused(capsys, "guess")


@pytest.mark.parametrize("arguments", [["simulate", "none.toml"], ["simulate"], ["guess"]])
def test_a_process_prints_no_traceback(arguments, folder):
    done = subprocess.run(
        [sys.executable, "-m", "bestgroup", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_one_group_is_legal_and_answered_at_once(folder, capsys):
    lone = bg.Instance([[[0.5, 0.5], [0.4, 0.6]]])
    assert bg.simulate(lone, bg.ParetoGroups(0), "te", runs=2).answers == [frozenset({0})] * 2
    assert bg.simulate(lone, BEST, "eecb", runs=2).answers == [frozenset({0})] * 2
    trace = bg.replay(np.zeros((1, 1, 2, 2)), bg.ParetoGroups(0), "te")
    assert (trace.answer, trace.pulls, len(trace.rounds)) == (frozenset({0}), 2, 1)
    Path("p.toml").write_text(
        problem(groups='[groups]\nA = ["a1"]\n', means="[means]\nA = [[0.2, 0.9]]\n")
    )
    with pytest.raises(SystemExit) as stop:
        run(["simulate", "p.toml", "--epsilon", "0", "--runs", "2"])
    assert stop.value.code == 0
    assert "answer (2 runs, right): A" in capsys.readouterr().out

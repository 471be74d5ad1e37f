"""`calibrate`: error rates, exact intervals and what is said about them."""

import csv
import json
import os
from pathlib import Path

import pytest
from scipy.stats import binomtest

import bestgroup as bg
from bestgroup.analysis.calibrate import FACTORS, Calibration, ErrorRate, Sweep, calibrate
from bestgroup.cli.main import run
from bestgroup.simulation.runs import Job

INSTANCE = bg.Instance([[[0.9, 0.2], [0.1, 0.8]], [[0.3, 0.3]], [[0.6, 0.7]]])
PARETO, BEST = bg.ParetoGroups(0.3), bg.BestGroup([1.0, 1.0])
PROBLEM = """
name = "three"
delta = 0.05
algorithm = "te"
[goal]
kind = "pareto"
epsilon = 0.3
[dims]
profit = "max"
returns = "min"
[noise]
kind = "subgaussian"
scale = 1.0
[groups]
first = ["a", "b"]
second = ["c"]
[means]
first = [[0.9, -0.2], [0.1, -0.8]]
second = [[0.1, 0.4]]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(PROBLEM)
    return tmp_path


@pytest.fixture
def call(capsys):
    def caller(*arguments, code=0):
        with pytest.raises(SystemExit) as stop:
            run(["calibrate", *arguments])
        captured = capsys.readouterr()
        assert stop.value.code == code, captured.err
        return captured.out if code == 0 else captured.err

    return caller


def test_rates_are_those_of_simulate():
    found = calibrate(INSTANCE, PARETO, "te", 0.1, 60, [1, 0.25], sweep_runs=40, seed=7)
    for rate, scale, runs in zip(found.rates, (1.0, 0.25), (60, 40), strict=True):
        algorithm = bg.algorithm("te", radius_scale=scale)
        sim = bg.simulate(INSTANCE, PARETO, algorithm, 0.1, runs, 7)
        assert (rate.factor, rate.runs, rate.errors) == (scale, runs, sim.errors)
        assert (rate.low, rate.high) == sim.error_interval()
        assert (rate.pulls, rate.sd) == (sim.pulls.mean(), sim.pulls.std(ddof=1))
        assert rate.rate == sim.errors / runs
    assert found.rates[1].errors > 0


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_the_interval_is_the_exact_one(level):
    found = calibrate(INSTANCE, PARETO, "te", 0.1, 50, [0.2], level=level)
    rate = found.rates[0]
    exact = binomtest(rate.errors, rate.runs).proportion_ci(level, method="exact")
    assert 0 < rate.errors < 50
    assert (rate.low, rate.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_a_factor_multiplies_the_scale_that_is_there():
    half = bg.algorithm("eecb", radius_scale=0.5)
    found = calibrate(INSTANCE, BEST, half, 0.1, 10, [1, 0.5])
    quarter = bg.simulate(INSTANCE, BEST, bg.algorithm("eecb", radius_scale=0.25), 0.1, 10)
    assert found.rates[1].pulls == quarter.pulls.mean()
    assert found.algorithm == half


@pytest.mark.parametrize("name", ["te", "age", "ge"])
def test_default_factors_and_runs(name):
    sweep = Sweep.checked(INSTANCE, PARETO, name, 0.1, runs=100_000)
    assert (sweep.factors, sweep.runs, sweep.sweep_runs) == (FACTORS, 100_000, 10_000)
    assert Sweep.checked(INSTANCE, PARETO, name, 0.1, runs=50).sweep_runs == 50


def test_an_algorithm_without_a_radius_has_one_factor():
    found = calibrate(INSTANCE, PARETO, "unis", 0.1, 5)
    assert [rate.factor for rate in found.rates] == [1.0]
    with pytest.raises(bg.InvalidInput, match="'unis' has no radius to multiply"):
        calibrate(INSTANCE, PARETO, "unis", 0.1, 5, [1, 0.5])


def rate_of(factor, errors, runs, delta=0.1):
    interval = binomtest(errors, runs).proportion_ci(0.95, method="exact")
    return ErrorRate(
        factor, runs, 0, errors, interval.low, interval.high, 100 * factor, 1.0, "exact", 0.0
    )


def calibration(*rates):
    return Calibration(INSTANCE, PARETO, bg.algorithm("te"), 0.1, 0, 0.95, rates)


@pytest.mark.parametrize(
    ("errors", "runs", "verdict"),
    [
        (0, 100, "below"),
        (0, 10, "unclear"),
        (10, 100, "unclear"),
        (40, 100, "above"),
        (17, 100, "above"),
    ],
)
def test_a_verdict_needs_the_whole_interval(errors, runs, verdict):
    assert rate_of(1.0, errors, runs).verdict(0.1) == verdict


def test_the_least_safe_factor_has_no_unsafe_one_above_it():
    below, unclear, above = (0, 1000), (100, 1000), (500, 1000)
    cases = [
        ([below, below, above], 0.5),
        ([below, unclear, below], 1.0),
        ([below, below, below], 0.2),
    ]
    for outcomes, factor in cases:
        rates = [rate_of(f, *o) for f, o in zip((1.0, 0.5, 0.2), outcomes, strict=True)]
        safe = calibration(*rates[::-1]).least_safe  # whatever their order
        assert safe is not None and safe.factor == factor
    assert calibration(rate_of(1.0, *unclear)).least_safe is None


def test_two_processes_give_the_same():
    one = calibrate(INSTANCE, PARETO, "te", 0.1, 40, [1, 0.3])
    two = calibrate(INSTANCE, PARETO, "te", 0.1, 40, [1, 0.3], workers=2)
    for a, b in zip(one.to_records(), two.to_records(), strict=True):
        assert {**a, "seconds": 0} == {**b, "seconds": 0}


def counted(monkeypatch):
    done = []
    real = Job.chunk

    def chunk(job, first, count):
        done.append(count)
        return real(job, first, count)

    monkeypatch.setattr(Job, "chunk", chunk)
    return done


def test_results_are_kept_and_not_done_again(tmp_path, monkeypatch):
    done = counted(monkeypatch)
    kept = tmp_path / "kept"
    first = calibrate(INSTANCE, PARETO, "te", 0.1, 30, [1, 0.3], results=kept)
    assert sum(done) == 60
    again = calibrate(INSTANCE, PARETO, "te", 0.1, 40, [1, 0.3], sweep_runs=30, results=kept)
    assert sum(done) == 70
    assert again.rates[1].errors == first.rates[1].errors
    with pytest.raises(bg.InvalidInput, match="another specification"):
        calibrate(INSTANCE, PARETO, "te", 0.2, 30, [1, 0.3], results=kept)


BAD = {
    "no factor": ({"factors": []}, "factors must hold at least one number; got none"),
    "zero": ({"factors": [1, 0]}, "factors must be positive; got 0"),
    "twice": ({"factors": [1, 0.5, 1.0]}, "factors must differ; 1 is there twice"),
    "text": ({"factors": ["a"]}, "a factor must be a number; got 'a'"),
    "infinite": ({"factors": [float("inf")]}, "a factor must be finite"),
    "runs": ({"runs": 0}, "runs must be at least 1; got 0"),
    "sweep_runs": ({"sweep_runs": -1}, "sweep_runs must be at least 1; got -1"),
    "level": ({"level": 1.0}, "level must lie strictly between 0 and 1; got 1"),
    "delta": ({"delta": 2}, "delta must lie strictly between 0 and 1; got 2"),
    "goal": ({"algorithm": "eecb"}, "algorithm 'eecb' answers BestGroup"),
    "instance": ({"instance": None}, "an Instance is needed; got NoneType"),
    "workers": ({"workers": 0}, "workers must be at least 1; got 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    change, sentence = BAD[case]
    given = {"instance": INSTANCE, "goal": PARETO, "algorithm": "te", "delta": 0.1, "runs": 2}
    with pytest.raises(bg.InvalidInput, match=sentence):
        calibrate(**{**given, **change})


def test_json_is_what_the_library_gives(call, folder):
    text = call("p.toml", "--runs", "30", "--factors", "1,0.2", "--seed", "3", "--json")
    found = json.loads(text)
    spec = bg.load_spec("p.toml")
    wanted = calibrate(spec.instance(), spec.goal, "te", 0.05, 30, [1, 0.2], seed=3)
    assert found["algorithm"] == "te" and found["problem"] == "three"
    for a, b in zip(found["rates"], wanted.to_records(), strict=True):
        assert {**a, "seconds": 0} == {**b, "seconds": 0}


def test_words_say_plainly_what_is_above(call, folder):
    text = call("p.toml", "--runs", "200", "--factors", "1,0.15", "--workers", "1")
    assert "te: errors against delta = 0.05" in text
    assert "At factor 1: the error rate is significantly below delta: 0 errors in 200" in text
    assert "ABOVE delta" in text
    assert "Significantly above delta at factor 0.15." in text
    few = call("p.toml", "--runs", "3", "--factors", "1", "--workers", "1")
    assert "these runs do not tell whether the error rate is above delta" in few


def test_csv_and_plot(call, folder):
    call(
        "p.toml", "--runs", "20", "--factors", "1,0.2", "--workers", "1", "--csv", "r.csv",
        "--plot", "r.png",
    )  # fmt: skip
    with open("r.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["factor"] for row in rows] == ["1.0", "0.2"]
    assert Path("r.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(os.listdir()) == ["p.toml", "r.csv", "r.png"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--factors", "1,x"], "--factors must be numbers with commas between; got '1,x'"),
        (["--plot", "rates.gif"], "a plot's file must end in .png, .svg or .pdf; got 'rates.gif'"),
        (["--plot", "none/r.png"], "there is no folder none"),
        (["--csv", "p.toml"], "p.toml is the problem file"),
        (["--results", "p.toml"], "p.toml is a file; the results of a calibration are a folder"),
        (["--workers", "many"], "workers must be a number of processes"),
        (["--algorithm", "guess"], "algorithm must be one of"),
        (["--runs", "0"], "runs must be at least 1; got 0"),
    ],
)
def test_mistakes_on_the_command_line(call, folder, arguments, sentence):
    text = call("p.toml", "--runs", "2", *arguments, code=2)
    assert text.startswith("error: ") and sentence in text
    assert text.count("\n") == 1
    assert Path("p.toml").read_text() == PROBLEM


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ([], "--results DIR would have kept the runs"),
        (["--results", "kept"], "finished runs are in kept; the same command goes on"),
    ],
)
def test_ctrl_c_says_how_to_go_on(call, folder, monkeypatch, extra, sentence):
    real = Job.chunk

    def chunk(job, first, count):
        if job.algorithm.radius_scale < 1:
            raise KeyboardInterrupt
        return real(job, first, count)

    monkeypatch.setattr(Job, "chunk", chunk)
    given = ["p.toml", "--runs", "8", "--factors", "1,0.5", "--workers", "1", *extra]
    assert f"stopped by Ctrl-C; {sentence}" in call(*given, code=130)
    monkeypatch.setattr(Job, "chunk", real)
    if extra:
        done = counted(monkeypatch)
        call(*given)
        assert sum(done) == 8  # only those of the second factor

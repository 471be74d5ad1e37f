"""`bestgroup reproduce`: the sweeps are the paper's, the numbers the library's, nothing is lost."""

import csv
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.cli.main import run
from bestgroup.experiments import pareto_reading
from bestgroup.experiments.folder import MARKER, Folder
from bestgroup.experiments.points import Limit, Outcome, Plan, Point
from bestgroup.experiments.table import analysis as table_analysis
from bestgroup.experiments.table import sweep as table
from bestgroup.experiments.vary_k import sweep as vary_k
from bestgroup.experiments.vary_n import sweep as vary_n
from bestgroup.simulation.runs import Job

EXACT = ("mean", "sd", "min", "max", "errors", "limit", "instance_seed", "run_seed")


@pytest.fixture
def call(capsys):
    def caller(*arguments, code=0):
        with pytest.raises(SystemExit) as stop:
            run(["reproduce", *arguments])
        captured = capsys.readouterr()
        assert stop.value.code == code, captured.err
        return captured.out if code == 0 else captured.err

    return caller


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Grids that run in a moment, and a folder of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(vary_n, "GROUPS", (5,))
    monkeypatch.setattr(vary_k, "ARMS", (2, 4))
    return ["--runs", "2", "--instances", "1", "--survey", "2", "--workers", "1", "--out", "out"]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_vary_n_is_the_papers():
    points = vary_n.points(Plan(instances=2))
    assert [(p.groups, p.arms, p.pareto) for p in points[::2]] == [
        (5, 6, 2),
        (10, 6, 3),
        (15, 6, 5),
        (20, 6, 6),
    ]
    assert {p.algorithms for p in points} == {("te", "age", "ge", "unis", "te-plus", "adaptive")}
    assert [p.letter for p in points[:2]] == ["a", "b"]


def test_vary_k_is_the_papers():
    points = vary_k.points(Plan(instances=1))
    assert [(p.groups, p.arms, p.pareto) for p in points] == [(5, k, 2) for k in (2, 4, 6, 8, 10)]
    shared = vary_n.points(Plan(instances=1))[0]
    assert (points[2].seed, points[2].run_seed) == (shared.seed, shared.run_seed)


def test_the_table_is_the_papers():
    points = table.points(Plan(instances=2, survey=3))
    assert [(p.groups, p.arms, p.with_limit) for p in points] == [
        (5, 5, True),
        (5, 5, True),
        (5, 5, False),
    ]
    assert [goal.weights for _, goal in points[0].goals] == [
        (0.1, 0.1, 1),
        (1, 1, 0.1),
        (0.1, 1, 1),
        (1, 1, 1),
        (1, 2, 3),
    ]
    assert all(goal.epsilon == 0 for _, goal in points[0].goals)
    assert points[0].algorithms == ("eecb", "tel", "adaptive")


@pytest.mark.parametrize("seed", [0, 1])
def test_instances_have_the_gaps_and_the_pareto_groups(seed):
    plan = Plan(instances=1, survey=2, seed=seed)
    for point in [vary_n.points(plan)[1], vary_k.points(plan)[0], *table.points(plan)]:
        instance = point.make()
        goal = bg.ParetoGroups(0.01)
        assert bg.gaps(instance, goal).group.min() > 0.03
        if point.pareto is not None:
            assert len(bg.optimal_groups(instance, goal)) == point.pareto
        for weights in point.weights:
            assert bg.gaps(instance, bg.BestGroup(weights)).group.min() > 0.03


def test_seeds_of_instances_and_runs_differ():
    plan = Plan(instances=4)
    points = [*vary_n.points(plan), *vary_k.points(plan), *table.points(plan)]
    seeds = {(p.groups, p.arms, p.seed): p.run_seed for p in points}
    assert len(set(seeds.values())) == len(seeds)
    other = {p.seed for p in vary_n.points(Plan(instances=4, seed=1))}
    assert not other & {p.seed for p in points}


def test_everything_at_once(call, small, chunks):
    found = json.loads(call("all", *small, "--json"))
    # Every cell that is not a formula was run twice, and nothing more.
    ran = [row for part in found["experiments"] for row in part["outcomes"] if row["runs"]]
    assert sum(chunks) == 2 * len(ran)
    assert [part["experiment"] for part in found["experiments"]] == ["vary-n", "vary-k", "table"]
    stems = ("vary-n", "vary-k", "table")
    wanted = {f"out/{stem}.{end}" for stem in stems for end in ("csv", "png", "svg", "pdf")}
    assert set(found["files"]) == wanted | {"out/report.md", "out/runs.sqlite", f"out/{MARKER}"}
    for stem in stems:
        assert Path(f"out/{stem}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in Path(f"out/{stem}.svg").read_text()
    for part in found["experiments"]:
        rows = rows_of(f"out/{part['experiment']}.csv")
        assert len(rows) == len(part["outcomes"])
        for row, outcome in zip(rows, part["outcomes"], strict=True):
            for key in EXACT:
                assert row[key] == ("" if outcome[key] is None else str(outcome[key])), key
    _check_pareto_numbers(rows_of("out/vary-k.csv"))
    _check_table_numbers(rows_of("out/table.csv"))
    _check_report(Path("out/report.md").read_text())


def _check_pareto_numbers(rows):
    """Every number follows from the library and the seeds in the file."""
    assert len(rows) == 12
    for row in rows:
        shape = (int(row["N"]), int(row["K"]), int(row["D"]))
        instance = bg.Instance.random(
            *shape, int(row["pareto_groups"]), 0.03, int(row["instance_seed"])
        )
        goal = bg.ParetoGroups(0.01)
        if row["engine"] == "formula":
            each = math.ceil(8 / 0.01**2 * math.log(2 * math.prod(shape) / 0.01))
            assert row["algorithm"] == "unis" and row["errors"] == ""
            assert float(row["mean"]) == shape[0] * shape[1] * each
            continue
        sim = bg.simulate(instance, goal, row["algorithm"], 0.01, 2, int(row["run_seed"]))
        assert float(row["mean"]) == sim.pulls.mean()
        assert float(row["sd"]) == sim.pulls.std(ddof=1)
        assert int(row["errors"]) == sim.errors
        time = bg.characteristic_time(instance, goal)
        assert float(row["limit"]) == pytest.approx(time.samples(0.01), rel=0.05)
        assert row["theorem_applies"] == "False"


def _check_table_numbers(rows):
    assert len(rows) == 2 * 5 * 3
    tel = [float(row["mean"]) for row in rows if row["algorithm"] == "tel"]
    assert len(set(tel)) == 2  # the weights do not matter to TEL's pulls
    row = rows[0]
    weights = [float(w) for w in row["weights"].split()]
    instance = bg.Instance.random(
        5, 5, 3, None, 0.03, int(row["instance_seed"]), weights=table.WEIGHTS, linear_gap=0.03
    )
    sim = bg.simulate(instance, bg.BestGroup(weights), "eecb", 0.01, 2, int(row["run_seed"]))
    assert float(row["mean"]) == sim.pulls.mean()
    assert [row["limit"] != "" for row in rows] == [True] * 15 + [False] * 15


def _check_report(text):
    for words in (
        "| EECB | the paper's | 225,766 | 534,801 | 209,423 | 124,603 | 141,455 |",
        "| TEL | the paper's | 7,176,441 | 7,176,441 | 7,176,441 | 7,176,441 | 7,176,441 |",
        "Its instances, its grids of N and K, and the number of instances behind a figure are not",
        "| EECB below TEL | 2 |",
        "bestgroup reproduce all --runs 2 --instances 1 --survey 2 --out out",
        "![Varying the number of groups N",
        "(vary-n.png)",
        "Theorem 3.5, applies to 0 of",
        "the theorem is for fully dependent arms",
    ):
        assert words in text, words


def test_words_on_the_screen(call, small):
    text = call("table", *small, "--algorithms", "eecb,tel")
    assert "EECB against TEL for five weight vectors" in text
    assert "the paper's" in text and "EECB below TEL" in text
    assert "of 2 random instances it takes fewer pulls on" in " ".join(text.split())
    assert "report: out/report.md" in text


@pytest.fixture
def chunks(monkeypatch):
    """The number of runs that are really done."""
    done = []
    real = Job.chunk

    def chunk(job, first, count):
        done.append(count)
        return real(job, first, count)

    monkeypatch.setattr(Job, "chunk", chunk)
    return done


def test_a_second_call_goes_on(call, small, chunks):
    call("vary-k", *small, "--algorithms", "te")
    first = Path("out/vary-k.csv").read_text()
    assert sum(chunks) == 2 * 2
    call("vary-k", *small, "--algorithms", "te")
    assert sum(chunks) == 2 * 2  # nothing again
    same = [{**row, "seconds": 0} for row in rows_of("out/vary-k.csv")]
    assert same == [{**row, "seconds": 0} for row in csv.DictReader(first.splitlines())]
    more = [*small[2:], "--runs", "3"]
    call("vary-k", *more, "--algorithms", "te")
    assert sum(chunks) == 2 * 3
    assert [row["runs"] for row in rows_of("out/vary-k.csv")] == ["3", "3"]


def test_ctrl_c_keeps_the_finished_and_says_how_to_go_on(call, small, chunks, monkeypatch):
    real = Job.chunk

    def chunk(job, first, count):
        if sum(chunks) == 2:
            raise KeyboardInterrupt
        return real(job, first, count)

    with monkeypatch.context() as patch:
        patch.setattr(Job, "chunk", chunk)
        text = call("vary-k", *small, "--algorithms", "te", code=130)
    again = "bestgroup reproduce vary-k --runs 2 --instances 1 --survey 2 --algorithms te --out out"
    assert text == (f"stopped by Ctrl-C; finished runs are in out; to go on: {again} --workers 1\n")
    assert len(rows_of("out/vary-k.csv")) == 1
    call(*again.split()[2:], "--workers", "1")
    assert sum(chunks) == 4  # two before, two after
    assert len(rows_of("out/vary-k.csv")) == 2


def test_two_processes_give_the_same(call, small, monkeypatch):
    monkeypatch.setattr(vary_k, "ARMS", (2, 3, 4))
    given = ["vary-k", *small[:-4], "--algorithms", "te,age"]
    call(*given, "--workers", "1", "--out", "one")
    call(*given, "--workers", "2", "--out", "two")
    one, two = (
        [{**row, "seconds": 0} for row in rows_of(f"{name}/vary-k.csv")] for name in ("one", "two")
    )
    assert one == two and len(one) == 6


def other_files(out):
    out.mkdir()
    (out / "thesis.tex").write_text("precious")


def other_marker(out):
    out.mkdir()
    (out / MARKER).write_text('{"made_by": "somebody else"}')


def older_version(out):
    out.mkdir()
    (out / MARKER).write_text('{"made_by": "bestgroup reproduce", "version": "0.0.1"}')


FOLDERS = {
    "other files": (other_files, "out holds files that are no report of ours"),
    "other marker": (other_marker, "out holds files that are no report of ours"),
    "older version": (older_version, "out holds a report of version 0.0.1"),
    "a file": (lambda out: out.write_text("precious"), "out is not a folder"),
    "below a file": (
        lambda out: out.write_text("precious"),
        "out/sub cannot be written: out is not a folder",
    ),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_folders_that_are_not_ours_are_left_alone(call, small, chunks, case):
    make, sentence = FOLDERS[case]
    out = Path("out")
    make(out)
    before = {p.name: p.read_text() for p in out.iterdir()} if out.is_dir() else out.read_text()
    target = "out/sub" if case == "below a file" else "out"
    text = call("vary-k", *small[:-1], target, code=2)
    assert text.startswith("error: ") and text.count("\n") == 1 and sentence in text
    after = {p.name: p.read_text() for p in out.iterdir()} if out.is_dir() else out.read_text()
    assert after == before and chunks == []


def test_an_unwritable_folder(call, small):
    if os.geteuid() == 0:
        target = "/proc/reproduce"  # where even root cannot write
    else:
        Path("locked").mkdir(mode=0o500)
        target = "locked/out"
    text = call("vary-k", *small[:-1], target, code=2)
    assert text.startswith(f"error: {target} cannot be written") and text.count("\n") == 1


def test_an_empty_folder_is_fine(tmp_path):
    Folder(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["vary-d"], "the experiment must be all, vary-n, vary-k, table; got 'vary-d'"),
        (["--runs", "0"], "runs must be at least 1; got 0"),
        (["--instances", "0"], "instances must be at least 1; got 0"),
        (["--instances", "27"], "instances must be at most 26"),
        (["--seed", "-1"], "seed must be an integer"),
        (["--algorithms", "te,guess"], "algorithm must be one of"),
        (["--algorithms", ","], "algorithms must name at least one algorithm; got none"),
        (["table", "--algorithms", "te"], "none of te answers the question of table"),
        (["--workers", "0"], "workers must be at least 1; got 0"),
        (["--workers", "few"], "workers must be a number of processes"),
    ],
)
def test_mistakes(call, small, arguments, sentence):
    text = call(*arguments, "--out", "out", code=2)
    assert text.startswith("error: ") and text.count("\n") == 1 and sentence in text
    assert not Path("out").exists()


def test_all_skips_what_no_algorithm_answers(call, small):
    found = json.loads(call("all", *small, "--algorithms", "te", "--json"))
    assert [part["experiment"] for part in found["experiments"]] == ["vary-n", "vary-k"]


def outcome(point, algorithm, mean, weights=None, errors=0):
    limit = Limit(pulls=10.0, gap=0.01, bound=math.nan, bound_why_not="it is outside the class")
    numbers = {"mean": mean, "sd": 1.0, "least": 1, "most": 9, "errors": errors}
    return Outcome(
        point, weights, algorithm, 20, engine="exact", distance=0.0, seconds=0.0, limit=limit,
        **numbers,
    )  # fmt: skip


def test_findings_name_the_instances_where_te_is_not_the_least():
    points = [Point("vary-n", 5, 6, 2, k, k, ("te", "age", "ge")) for k in range(2)]
    means = [(100.0, 110.0, 120.0), (104.0, 100.0, 90.0)]
    outcomes = [
        outcome(p, name, mean, errors=int(name == "ge"))
        for p, row in zip(points, means, strict=True)
        for name, mean in zip(("te", "age", "ge"), row, strict=True)
    ]
    text = " ".join(pareto_reading.findings(outcomes))
    assert "TE has the least mean on 1 of 2 instances" in text
    assert "N=5 K=6 b: GE takes 13.5 % less (44.3 standard errors)" in text
    assert "TE <= AGE <= GE in mean pulls on 1 of 2 instances." in text
    assert "Wrong answers in 120 runs: 2 by GE." in text
    assert "TE takes 10 to 10 times the limit's pulls." in text


def test_findings_count_where_eecb_is_ahead():
    points = [
        Point("table", 5, 5, None, k, k, ("eecb", "tel"), table.WEIGHTS, k == 0) for k in range(3)
    ]
    ratio = np.full((3, 5), 0.5)
    ratio[1, 0] = ratio[2, 0] = ratio[2, 4] = 2.0
    outcomes = [
        outcome(p, name, 1e6 * (ratio[p.index, k] if name == "eecb" else 1.0), w)
        for p in points
        for k, w in enumerate(table.WEIGHTS)
        for name in ("eecb", "tel")
    ]
    text = " ".join(table_analysis.findings(outcomes))
    assert "EECB is not ahead of TEL on every instance" in text
    assert "of 3 random instances it takes fewer pulls on 1, 3, 3, 3, 2" in text
    assert "for all five weights on 1." in text
    ahead = [o for o in outcomes if o.point.index == 0]
    assert "ahead of TEL for all five weights on every instance" in " ".join(
        table_analysis.findings(ahead)
    )

"""Tables as people have them: separators, compression, names of columns, what is no dim, gaps."""

import csv
import gzip
import json

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.files.observations import Table

RNG = np.random.default_rng(7)
ROWS = [
    {
        "id": k,
        "model": model,
        "prompt": prompt,
        "when": f"2026-03-{1 + k % 28:02d}",
        "correct": bool(RNG.random() < 0.5),
        "latency": round(float(RNG.exponential()), 3),
    }
    for k in range(40)
    for model, prompt in (("big", "short"), ("big", "long"), ("small", "short"))
]
COLUMNS = {"group": "model", "arm": "prompt"}


def written(path, separator=",", decimal=".", pack=False):
    opener = gzip.open if pack else open
    with opener(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(ROWS[0])
        for row in ROWS:
            cells = [str(cell) for cell in row.values()]
            cells[-1] = cells[-1].replace(".", decimal)
            writer.writerow(cells)
    return path


def everything(source, **options):
    table = Table(source, columns=COLUMNS, **options)
    parts = list(table.portions())
    values = np.concatenate([part.values for part in parts])
    arms = [arm for part in parts for arm in part.arms]
    return table, arms, values


FILES = {
    "comma": lambda d: written(d / "t.csv"),
    "tab": lambda d: written(d / "t.tsv", "\t"),
    "tab without its suffix": lambda d: written(d / "t.txt", "\t"),
    "semicolon": lambda d: written(d / "t.csv", ";"),
    "semicolon, decimal comma": lambda d: written(d / "t.csv", ";", ","),
    "bar": lambda d: written(d / "t.csv", "|"),
    "gzip": lambda d: written(d / "t.csv.gz", pack=True),
    "gzip without its suffix": lambda d: written(d / "t.csv", ";", pack=True),
}


@pytest.mark.parametrize("case", FILES)
def test_every_form_gives_the_same_rows(tmp_path, case):
    table, arms, values = everything(FILES[case](tmp_path))
    assert table.dims == ("correct", "latency")
    assert arms == [row["prompt"] for row in ROWS]
    assert values.tolist() == [[float(r["correct"]), r["latency"]] for r in ROWS]


@pytest.mark.parametrize("pack", [False, True])
def test_json_lines_and_lists(tmp_path, pack):
    lines = "\n".join(map(json.dumps, ROWS))
    for name, text in (("t.jsonl", lines), ("t.json", json.dumps(ROWS))):
        path = tmp_path / (name + (".gz" if pack else ""))
        path.write_bytes(gzip.compress(text.encode()) if pack else text.encode())
        table, _, values = everything(path)
        assert table.dims == ("correct", "latency") and len(values) == len(ROWS)
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"group": "a"}\n{oops\n')
    with pytest.raises(bg.InvalidInput, match="line 2: this is not JSON"):
        Table(broken)


def test_what_is_no_dim_is_ignored_with_a_word(tmp_path):
    table, _, _ = everything(ROWS)
    words = " ".join(table.notes)
    assert "'when' is ignored: it holds other things than numbers, such as '2026-03-01'" in words
    assert "'id' is ignored: its name says that it is an identifier" in words
    renamed = [{("task" if k == "id" else k): v for k, v in row.items()} for row in ROWS]
    table, _, _ = everything(renamed)
    assert table.dims == ("correct", "latency")
    assert "integer that comes once with each arm" in " ".join(table.notes)
    assert "--item task" in " ".join(table.notes)
    numbered = [{**row, "n": k, "size": 1000} for k, row in enumerate(ROWS)]
    table, _, _ = everything(numbered)
    assert table.dims == ("correct", "latency")
    assert "'n' is ignored: it numbers the rows" in " ".join(table.notes)
    assert "'size' is ignored: it is 1000 in every row" in " ".join(table.notes)
    ratings = [{**row, "stars": int(RNG.integers(1, 6))} for row in ROWS]
    assert "stars" in everything(ratings)[0].dims, "integers may be measured, too"
    assert "id" in everything(ROWS, keep=["id"])[0].dims, "what is asked for by name is a dim"


def test_one_arm_a_group_where_there_is_no_second_name():
    rows = [{"model": m, "acc": a} for m in "ab" for a in (0.1, 0.5)]
    table = Table(rows, columns={"group": "model"})
    (part,) = table.portions()
    assert part.groups == part.arms == ["a", "a", "b", "b"]
    assert "each value of 'model' is a group with one arm" in table.notes[0]
    (part,) = Table(rows, columns={"arm": "model"}).portions()
    assert part.groups == part.arms


def test_a_table_that_the_library_wrote_fits_a_problem_with_other_names():
    rows = [{"group": "a", "arm": "x", "acc": 0.5}]
    assert Table(rows, columns=COLUMNS).dims == ("acc",)


BAD = {
    "no such group": ({"columns": {"group": "modle"}}, "there is no column 'modle'; the columns"),
    "no such ignore": (
        {"columns": {**COLUMNS, "ignore": ["x"]}},
        "there is no column 'x' to ignore",
    ),
    "unknown role": ({"columns": {"grup": "model"}}, "columns must name group, arm, item, ignore"),
    "no role": ({}, "say which one it is"),
    "no dim": ({"columns": {**COLUMNS, "ignore": ["correct", "latency"]}}, "no column of numbers"),
    "group as a dim": ({"dims": ["model"], "columns": COLUMNS}, "cannot be a dim, too"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_columns_are_refused(case):
    options, words = BAD[case]
    with pytest.raises(bg.InvalidInput) as caught:
        Table(ROWS, **options)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_certify_with_other_names_and_directions():
    goal, noise = bg.ParetoGroups(0.5), bg.Bounded(0, [1, 20])
    options = {"columns": COLUMNS, "noise": noise, "minimise": ["latency"]}
    found = bg.certify(ROWS, goal, **options)
    assert [dim.direction for dim in found.problem.dims] == ["max", "min"]
    assert any("'when' is ignored" in note for note in found.notes)
    watched = bg.certify(ROWS, goal, columns=COLUMNS, noise=bg.Bernoulli(), watch=["latency"])
    assert [dim.name for dim in watched.problem.decided] == ["correct"]
    with pytest.raises(bg.InvalidInput, match="cannot be minimised and only watched"):
        bg.certify(
            ROWS, goal, columns=COLUMNS, noise=noise, minimise=["latency"], watch=["latency"]
        )
    with pytest.raises(bg.InvalidInput, match="there is no column 'speed'"):
        bg.certify(ROWS, goal, columns=COLUMNS, noise=noise, minimise=["speed"])


@pytest.mark.parametrize("goal", [bg.ParetoGroups(0.05), bg.BestGroup([1, 1], 0.05)])
@pytest.mark.parametrize("noise", [bg.Bounded(0, 1), bg.SubGaussian(0.1), bg.Gaussian()])
def test_a_dim_that_is_measured_in_some_rows_only(goal, noise):
    rng = np.random.default_rng(3)
    groups = {"A": ["a"], "B": ["b"]}
    problem = bg.Problem(groups, {"x": "max", "y": "max", "w": "watch"}, noise)
    rows = []
    for k in range(600):
        for group, arm, mean in (("A", "a", 0.8), ("B", "b", 0.3)):
            x, y = (mean + rng.uniform(-0.1, 0.1, 2)).tolist()
            missing = k % 3 > 0
            rows.append({"group": group, "arm": arm, "x": x, "y": None if missing else y, "w": ""})
    found = bg.certify(rows, goal, problem)
    assert found.accepted == ("A",) and found.rejected == ("B",)
    assert found.pulls == len(rows)
    assert any("y is missing in 800 of 1,200 rows" in note for note in found.notes)
    assert any("whether a value is missing" in words for words in found.guarantee.assumptions)
    low, high = found.intervals
    whole = bg.certify([{**row, "y": row["x"], "w": 0} for row in rows], goal, problem)
    full = np.subtract(*reversed(whole.intervals))
    assert ((high - low)[:, 0] <= full[:, 0] + 1e-12).all(), "x loses nothing"
    third = bg.certify([r for r in rows if r["y"] is not None], goal, problem)
    few = np.subtract(*reversed(third.intervals))
    assert (high - low)[:, 1] == pytest.approx(few[:, 1]), "y has what its own rows give"
    explained = found.explain("B")
    assert "B" in str(explained)


def test_an_arm_without_any_value_of_a_dim_stays_unknown():
    rows = [{"group": g, "arm": g, "x": 0.5, "y": 0.5 if g == "A" else ""} for g in "AB"] * 20
    problem = bg.Problem({"A": ["A"], "B": ["B"]}, {"x": "max", "y": "max"}, bg.Bounded(0, 1))
    found = bg.certify(rows, bg.ParetoGroups(0.9), problem)
    assert not found.rejected
    assert [str(found.explain(group)) for group in "AB"]


def test_clipped_logarithms_are_judged_and_stated():
    dims = {"time": {"direction": "min", "transform": "log", "clip": [0.01, 100]}}
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, dims)
    rng = np.random.default_rng(0)
    rows = [
        {"group": g, "arm": g.lower(), "time": float(m * rng.lognormal())}
        for _ in range(400)
        for g, m in (("A", 0.3), ("B", 3.0))
    ]
    rows[0]["time"] = 1e9
    found = bg.certify(rows, bg.BestGroup([1]), problem)
    assert found.accepted == ("A",)
    assert any("clipped to 0.01 .. 100" in words for words in found.guarantee.assumptions)
    low, high = found.intervals
    assert low[0, 0] <= np.log(0.3) <= high[0, 0] and low[1, 0] <= np.log(3) <= high[1, 0]
    with pytest.raises(bg.InvalidInput, match=r"line 1: .*must be positive"):
        bad = bg.Problem(
            {"A": ["a"], "B": ["b"]},
            {"time": {"direction": "min", "transform": "log"}},
            bg.Gaussian(),
        )
        bg.certify([{**rows[0], "time": 0.0}], bg.BestGroup([1]), bad)


def test_an_export_may_lack_a_column_that_the_problem_file_ignores(tmp_path):
    """init --ignore split writes it into the file, and a study's rows have no such column."""
    rows = [{"m": g, "split": k, "x": 0.1 * k} for g in "AB" for k in range(4)]
    columns = {"group": "m", "ignore": ["split"]}
    problem = bg.Problem({"A": ["A"], "B": ["B"]}, {"x": "max"}, bg.Bounded(0, 1))
    goal = bg.ParetoGroups(0.1)
    assert bg.certify(rows, goal, problem, columns=columns).pulls == 8
    study = bg.create_study("x", problem, goal, storage=f"sqlite:///{tmp_path / 's.db'}")
    study.import_observations(rows, columns=columns)
    study.export(tmp_path / "rows.csv")
    assert bg.certify(tmp_path / "rows.csv", goal, problem, columns=columns).pulls == 8

"""Walks a table from end to end; every number and status must agree with every other.

init, edit, plan, certify, solve (stopped by a budget, then to its end), study, page, export, certify
again. Run it on a table of your own:

    PYTHONPATH=src:tests python -m stories.walk data.csv --group model --arm prompt --min cost
"""

import csv
import json
import shlex
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import bestgroup as bg
from bestgroup.cli.main import app as commands
from bestgroup.service.app import create_app
from bestgroup.service.auth import Tokens

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

LAB = """
import json, random
from pathlib import Path

ROWS = json.loads(Path({path!r}).read_text())


def evaluate(group, arm, {last}):
    rows = ROWS[json.dumps([group, arm])]
    return rows[{last}] if {by_item} else random.Random({last}).choice(rows)
"""


def run(*words):
    """Run a command and return what it prints."""
    result = CliRunner().invoke(commands, [str(word) for word in words])
    if result.exit_code != 0:
        raise AssertionError(f"{words}: {result.output} {result.exception!r}")
    return result.stdout


def read_json(*words):
    """Run a command with --json."""
    return json.loads(run(*words, "--json"))


def write_lab(folder, name, table, spec, columns):
    """Write an evaluator that draws from the rows of the table: its means are the truth."""
    dims = [dim.name for dim in spec.dims]
    rows = {}
    with open(table, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = json.dumps([row[columns["group"]], row[columns["arm"]]])
            values = [{"True": 1.0, "False": 0.0}.get(row[d]) for d in dims]
            values = [float(row[d]) if v is None else v for d, v in zip(dims, values, strict=True)]
            if columns.get("item"):
                rows.setdefault(key, {})[row[columns["item"]]] = values
            else:
                rows.setdefault(key, []).append(values)
    data = Path(folder) / f"{name}_rows.json"
    data.write_text(json.dumps(rows))
    last = "item" if columns.get("item") else "seed"
    text = LAB.format(path=str(data), last=last, by_item=bool(columns.get("item")))
    (Path(folder) / f"{name}_lab.py").write_text(text)
    return rows


def truth(spec, rows):
    """Return the efficiencies of the table's own means, in the algorithms' view, [N, D]."""
    problem = spec.problem
    result = []
    for group, arms in zip(problem.groups, problem.arms, strict=True):
        means = []
        for arm in arms:
            cells = rows[json.dumps([group, arm])]
            block = np.array(list(cells.values()) if isinstance(cells, dict) else cells)
            means.append(problem.to_internal(block).mean(axis=0))
        result.append(np.max(means, axis=0))
    return np.array(result)


def check_truth(spec, worth, inside, outside):
    """Check decisions against the truth: in means not beaten by epsilon, out means beaten."""
    eps = spec.goal.epsilons(worth.shape[1])
    for name in inside:
        i = spec.groups.index(name)
        beaten = (worth > worth[i] + eps + 1e-9).all(axis=1)
        assert not beaten.any(), f"{name} is in, and beaten"
    for name in outside:
        i = spec.groups.index(name)
        assert (worth >= worth[i] - 1e-9).all(axis=1).sum() > 1, f"{name} is out, and not beaten"


class Page:
    """What the page sees of a storage."""

    def __init__(self, url, study):
        token = "writer-token-for-stories"
        self._client = TestClient(
            create_app(url, Tokens(token, "reader-token-for-stories")),
            base_url="http://localhost",
            headers={"Authorization": f"Bearer {token}"},
        )
        self._study = study

    def get(self, path, **query):
        """Return one answer of the service."""
        response = self._client.get(f"/api/v1/{path}", params={"study": self._study, **query})
        assert response.status_code == 200, response.text
        return response

    def view(self):
        """Return the view of all that was told: it may be a little behind."""
        for _ in range(600):
            view = self.get("view", size=100).json()
            if view["observed"] >= view["status"]["told"]:
                return view
            time.sleep(0.05)
        raise AssertionError("the page stays behind what was told")


def statuses_of(parts):
    """Return a status for each group from lists by word."""
    return {name: word for word, names in parts.items() for name in names}


def look(study, url, spec):
    """Compare everything that is said of a study; returns the status of each group."""
    answer, status, found = study.answer(), study.status(), study.certificate()
    page = Page(url, study.name)
    view = page.view()
    told = json.loads(run("study", "answer", study.name, "--storage", url, "--json"))
    by_command = read_json("study", "status", study.name, "--storage", url)
    assert told["pulls"] == answer.pulls == status.pulls == by_command["pulls"]
    assert told["told"] == answer.told == status.told == view["status"]["told"] == found.pulls
    own = statuses_of(
        {
            "in": answer.inside,
            "out": answer.outside,
            "not needed": answer.not_needed,
            "undecided": answer.undecided,
        }
    )
    assert set(own) == set(spec.groups)
    assert own == statuses_of({w: told[w.replace(" ", "_")] for w in set(own.values())})
    assert own == dict(zip(spec.groups, found.to_frame()["status"], strict=True))
    counts = [status.groups_in, status.groups_out, status.not_needed, status.undecided]
    words = ("in", "out", "not needed", "undecided")
    assert counts == [list(own.values()).count(word) for word in words]
    check_http(page, told, by_command)
    rows = {row["group"]: row for row in view["rows"]}
    low, high = found.intervals
    for i, name in enumerate(spec.groups):
        explained = study.explain(name)
        assert explained.status == own[name] == found.explain(name).status
        row, over_http = rows[name], page.get("explain", group=name).json()
        assert over_http["status"] == row["status"] and over_http["arms"] == explained.arms
        if row["by"] != "observations":
            assert row["status"] == own[name], (name, row, own[name])
        else:
            assert own[name] == "undecided" and found.beyond[i]
        assert row["pulls"] == sum(arm["pulls"] for arm in explained.arms)
        for d, dim in enumerate(spec.decided):
            ends = row["efficiency"][dim.name]
            for shown, held in ((ends[0], low[i, d]), (ends[2], high[i, d])):
                assert shown is None or np.isclose(shown, held, rtol=1e-4, atol=1e-9)
    assert answer.guarantee.level == found.guarantee.level
    if not view["ahead"]:
        assert view["guarantee"]["level"] == answer.guarantee.level
    assert view["notes"] == list(found.notes[: len(view["notes"])])
    assert set(status.warnings) <= set(found.notes)
    check_forecasts(status, found, view, own)
    assert found.plot().axes
    return own


def check_http(page, answer, status):
    """Check that the service says what the command line does."""
    asked = page.get("answer").json()
    assert asked == {key: answer[key] for key in asked}
    asked = page.get("status").json()
    assert asked == {key: status[key] for key in asked}
    assert len(page.get("export").text.splitlines()) == 1 + status["told"]


def check_forecasts(status, found, view, own):
    """Forecasts agree, and what is undecided takes something."""
    if status.state == "done":
        assert status.forecast == 0.0 and view["final"] and view["forecast"] in (0.0, None)
        return
    if "undecided" in own.values() and status.forecast is not None:
        assert status.forecast >= 1.0
    for i, name in enumerate(own):
        more = found.explain(name).forecast
        if own[name] == "undecided" and more is not None and not found.beyond[i]:
            assert more >= 1.0, (name, more)


def certify_again(study, spec, path, own, seen):
    """Export, certify, and hold the table's certificate against the study's."""
    rows = study.export(path)
    items = spec.items
    rest = {"columns": spec.columns}
    if items is not None:  # what a part of a pool proves depends on the order that was drawn
        rest["order"] = [items.name(k) for k in study.spec.item_numbers(0, items.count)]
    again = bg.certify(path, spec.goal, spec.problem, spec.delta, **rest)
    assert again.pulls == rows == study.status().told
    for name in spec.groups:
        word = again.explain(name).status
        assert {word, own[name]} != {"in", "out"}, (name, word, own[name])
    low, high = again.intervals
    found = study.certificate()
    if items is None:
        mine = found.intervals
        assert np.allclose(low, mine[0], rtol=1e-6, atol=1e-9), "one table, two lower ends"
        assert np.allclose(high, mine[1], rtol=1e-6, atol=1e-9), "one table, two upper ends"
    if items is None:
        record = json.loads(run("certify", path, "--problem", spec.path, "--json"))
        assert record["pulls"] == rows and record["accepted"] == list(again.accepted)
    assert seen(again)
    decide_again(study, path, own)


def decide_again(study, path, own):
    """Give the exported rows to the study's algorithm again: it takes nothing back."""
    file = Path(path).with_suffix(".study.toml")
    words = ("study", "export", study.name, path, "--problem", file, "--storage", study.storage)
    command = shlex.split(read_json(*words)["again"])
    told, found = read_json(*command[1:]), study.certificate()
    assert own == {row["group"]: row["status"] for row in told["groups"]}
    assert told["pulls"] == found.pulls and told["accepted"] == list(found.accepted)
    assert told["guarantee"]["level"] == found.guarantee.level
    assert told["guarantee"]["statement"] == found.guarantee.statement
    assert told["notes"] == list(found.notes)


def walk(table, options, columns, folder, larger=3.0, budget=60):
    """Walk a table from end to end in a folder; returns the last certificate."""
    folder = Path(folder)
    name = Path(table).stem
    problem_file = folder / f"{name}.toml"
    said = read_json("init", table, "--out", problem_file, *options)
    assert said["guesses"] and problem_file.exists()
    spec = bg.load_spec(problem_file)
    rows = write_lab(folder, name, table, spec, columns)
    pilot = bg.certify(table, spec.goal, spec.problem, spec.delta, columns=spec.columns)
    assert pilot.pulls == said["rows"]
    spec = edit(spec, name, larger, rows, bool(columns.get("item")))
    worth = truth(spec, rows)
    planned = read_json("plan", problem_file, "--seconds", 4, "--runs", 3, "--deltas", 0.05)
    assert len(planned["rows"]) == 4 and (
        planned["notes"] or all(row["mean"] for row in planned["rows"])
    )
    url = f"sqlite:///{folder / (name + '.db')}"
    solve = ["solve", problem_file, "--storage", url, "--name", name]
    part = read_json(*solve, "--budget", budget)
    assert part["told"] <= budget and part["final"] == (not part["undecided"])
    study = bg.load_study(name, url)
    own = look(study, url, spec)
    certify_again(study, spec, folder / f"{name}-part.csv", own, lambda found: found.pulls >= 1)
    last = read_json(*solve)
    assert last["final"], last
    study = bg.load_study(name, url)
    own = look(study, url, spec)
    assert sorted(last["groups"]) == sorted(n for n, word in own.items() if word == "in")
    assert read_json(*solve)["told"] == last["told"], "an answer is not paid for twice"
    if study.answer().guarantee.level == "proven":
        check_truth(spec, worth, last["groups"], [n for n, w in own.items() if w == "out"])
    certify_again(study, spec, folder / f"{name}-all.csv", own, lambda found: found.pulls)
    return study.certificate()


def edit(spec, name, larger, rows, by_item):
    """Edit the file as a person would: a larger epsilon, an evaluator, items where there are some."""
    goal = bg.ParetoGroups([larger * e for e in spec.goal.epsilons(len(spec.decided))])
    problem = spec
    if by_item:
        names = tuple(next(iter(rows.values())))
        made = spec.problem.with_items(bg.Items(names=names))
        bg.save_spec(
            spec.path,
            made,
            goal,
            0.1,
            evaluate={"python": f"{name}_lab:evaluate"},
            means=spec.means,
            overwrite=True,
        )
    else:
        bg.save_spec(
            spec.path,
            problem,
            goal,
            0.1,
            evaluate={"python": f"{name}_lab:evaluate"},
            overwrite=True,
        )
    again = bg.load_spec(spec.path)
    assert again.goal == goal and again.delta == 0.1 and again.law == spec.law
    assert again.columns == spec.columns
    return again


def main(words):
    """Walk the table that the command line names."""
    given = dict(zip(words[1::2], words[2::2], strict=True))
    columns = {key: given[f"--{key}"] for key in ("group", "arm", "item") if f"--{key}" in given}
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        print(walk(Path(words[0]).resolve(), words[1:], columns, folder))


if __name__ == "__main__":
    main(sys.argv[1:])

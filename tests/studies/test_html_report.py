"""The report: one file that says what the study says, and nothing that a name could smuggle in."""

import hashlib
import re
from html.parser import HTMLParser

import pytest

import bestgroup as bg
from bestgroup.cli.main import run
from bestgroup.studies.html_report.page import policy, report_html, style

NASTY = "<script>alert(1)</script> & \"'"


class Parsed(HTMLParser):
    """All tags with their attributes, and the text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.open = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).split())


def main(words):
    with pytest.raises(SystemExit) as ended:
        run(words)
    return ended.value.code


def finished(goal, dims, storage="memory", name="reported", algorithm="adaptive"):
    groups = {"alpha": ["a1", "a2"], NASTY: ["b"], "gamma": ["c"]}
    problem = bg.Problem(groups, dims, noise=bg.Bounded(0, 1))
    study = bg.create_study(name, problem, goal, 0.1, storage, algorithm=algorithm)
    means = {"a1": 0.9, "a2": 0.5, "b": 0.5, "c": 0.1}
    while study.status(forecast=False).state == "running":
        for ticket in study.ask(50, repeats=20):
            share = means[ticket.arm]
            rows = [
                [float(seed % 1000 < 1000 * share), float(seed % 997 < 997 * (1 - share))][
                    : len(problem.dims)
                ]
                for seed in ticket.seeds
            ]
            study.tell(ticket, rows)
    return study


GOALS = [
    (bg.ParetoGroups(0.2), {"profit": "max", "cost": "min"}),
    (bg.ParetoGroups(0.2), {"profit": "max"}),
    (bg.BestGroup([2, 1], 0.2), {"profit": "max", "cost": "min"}),
]


@pytest.mark.parametrize(("goal", "dims"), GOALS, ids=["plane", "one dim", "best"])
def test_the_report_says_what_the_study_says(goal, dims, tmp_path):
    study = finished(goal, dims, name=f"reported {len(dims)} {goal.kind}")
    html = report_html(study)
    seen = Parsed(html)
    assert not seen.open and {tag for tag, _ in seen.tags}.isdisjoint({"script", "img", "link"})
    assert not re.search(r"(?:src|href)=", html) and "http" not in html.replace("http-equiv", "")
    answer = study.answer()
    for group in answer.groups:
        assert group in seen.words
    assert ("Pareto set" if goal.kind == "pareto" else "is the best group") in seen.words
    assert answer.guarantee.statement in seen.words
    for words in answer.guarantee.assumptions:
        assert words in seen.words
    for status in ("in", "out", "not needed", "undecided"):
        assert re.search(rf"\d+ {status}", seen.words)
    assert f"{study.status().told:,} observations" in seen.words
    study.export(tmp_path / "o.csv")
    assert hashlib.sha256((tmp_path / "o.csv").read_bytes()).hexdigest() in seen.words
    rows = [1 for tag, _ in seen.tags if tag == "tr"]
    assert len(rows) == 1 + 3 + 1 + len(study.decisions())


def test_a_study_without_observations_has_a_report():
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, noise=bg.Bounded(0, 1))
    study = bg.create_study("untouched", problem, bg.ParetoGroups(0.1), 0.1, "memory")
    seen = Parsed(report_html(study))
    assert "No group is in yet; 2 of 2 are undecided." in seen.words
    assert "0 observations" in seen.words
    bg.delete_study("untouched", "memory")


def test_the_command_writes_it_whole_or_not_at_all(tmp_path, capsys):
    storage = f"sqlite:///{tmp_path}/s.db"
    finished(bg.ParetoGroups(0.3), {"x": "max", "y": "max"}, storage).close()
    file = tmp_path / "report.html"
    assert main(["study", "report", "reported", str(file), "--storage", storage]) == 0
    assert file.read_text().startswith("<!doctype html>")
    assert main(["study", "report", "reported", f"{tmp_path}/r.txt", "--storage", storage]) == 2
    assert "ends in .html" in capsys.readouterr().err
    wrong = ["study", "report", "reported", f"{tmp_path}/no/r.html", "--storage", storage]
    assert main(wrong) == 2 and "cannot be written" in capsys.readouterr().err


def test_a_server_may_show_it_with_its_own_style_only():
    assert "'unsafe" not in policy() and "sha256-" in policy()
    assert style() in report_html(
        finished(bg.ParetoGroups(0.3), {"x": "max", "y": "max"}, name="styled")
    )

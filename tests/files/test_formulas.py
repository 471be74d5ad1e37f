"""Exported names start no formula, hide nothing, and come back as they were."""

import bestgroup as bg
from bestgroup.files.formulas import guarded, unguarded
from bestgroup.problem.markup import tag
from bestgroup.problem.visible import visible
from bestgroup.studies.storage.memory import MemoryStore

NAMES = ["=1+1", "a\u202ebc", "\u2066-x\u2069", r"a\u{202E}b", r"\u{5C}u{", "'s", "\\", "plain"]


def test_names_go_to_a_table_and_back(tmp_path):
    assert [unguarded(guarded(name)) for name in NAMES] == NAMES
    problem = bg.Problem({name: [f"{name} arm"] for name in NAMES}, {"x": "max"}, bg.Bernoulli())
    study = bg.create_study("one", problem, bg.ParetoGroups(0.1), 0.1, MemoryStore(), horizon=9)
    for ticket in study.ask(20):
        study.tell(ticket, [1.0])
    study.export(tmp_path / "x.csv")
    text = (tmp_path / "x.csv").read_text()
    assert "\u202e" not in text and "\u2066" not in text and r"a\u{202E}bc" in text
    assert not any(line.startswith(("=", "-", "+", "@")) for line in text.splitlines())
    again = bg.create_study("two", problem, bg.ParetoGroups(0.1), 0.1, MemoryStore())
    assert again.import_observations(tmp_path / "x.csv") == study.status().told >= len(NAMES)


def test_nothing_is_hidden_in_reports_and_lines():
    assert visible("a\u202eb\u200b") == r"a\u202eb\u200b" and visible("two\nlines") == "two\nlines"
    assert tag("p", "a\u202eb", title="\u2066") == r'<p title="\u2066">a\u202eb</p>'

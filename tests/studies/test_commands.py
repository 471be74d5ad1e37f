"""Names reach a command as arguments or environment, and a command ends with all it has started."""

import os
import time

import pytest

import bestgroup as bg
from bestgroup.cli.output import visible
from bestgroup.errors import EvaluationFailed, InvalidInput
from bestgroup.studies.commands import Command, split_command
from bestgroup.studies.evaluators import Evaluator

NASTY = [
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "a b\tc",
    "x; touch pwned",
    "$HOME ${PATH} *",
    "\\' touch pwned",
    "a\nb",
]


def words_of(line, tmp_path, **values):
    out = Command(line).run({"group": "g", "arm": "a", "item": None, "seed": 1, **values}, 20)
    assert not (tmp_path / "pwned").exists()
    return out


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize(
    "line",
    [
        "printf %s {arm}",
        "sh -c 'printf %s {arm}'",
        """sh -c 'printf %s "{arm}"'""",
        '''sh -c "printf %s '{arm}'"''',
        """bash -ec 'x={arm}; printf %s "$x"'""",
        """env X=1 dash -c 'printf %s "$BESTGROUP_ARM"'""",
        """sh -c 'printf %s "$1"' sh {arm}""",
    ],
)
def test_a_name_is_never_shell_text(line, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if line.startswith("bash") and not os.path.exists("/bin/bash"):
        pytest.skip("no bash here")
    assert words_of(line, tmp_path, arm=name) == name


@pytest.mark.parametrize(
    "line",
    [
        "ssh lab measure {arm}",
        "sh -c 'eval echo {arm}'",
        """sh -c "bash -c 'echo {arm}'" """,
        "fish -c 'echo {group}'",
        "csh -c 'echo {item}'",
    ],
)
def test_what_reads_names_as_code_in_its_own_way_is_refused(line):
    with pytest.raises(InvalidInput, match="BESTGROUP_ARM"):
        split_command(line)
    assert split_command(line.replace("{arm}", "x").replace("{group}", "x").replace("{item}", "x"))


def test_a_name_that_begins_with_a_dash_is_no_option(tmp_path):
    problem = bg.Problem({"A": ["--help"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0))
    with pytest.raises(InvalidInput, match=r"arm '--help' for an option; write --arm=\{arm\}"):
        bg.solve(problem, bg.BestGroup([1]), "printf {arm}")
    for line in ("printf %s --arm={arm}", "printf %s -- {arm}", "sh -c 'printf %s {arm}'"):
        Evaluator(line).check(problem)
    assert words_of("printf -- %s {arm}", tmp_path, arm="-n") == "-n"


def test_a_timeout_ends_the_whole_group(tmp_path):
    mark = tmp_path / "still-there"
    line = f"sh -c '(sleep 1.5; touch {mark}) & sleep 30'"
    begun = time.monotonic()
    with pytest.raises(EvaluationFailed, match=r"longer than 0\.3 s"):
        Evaluator(line, 0.3)("g", "a", 1)
    assert time.monotonic() - begun < 5
    time.sleep(1.7)
    assert not mark.exists()


def starts_another(group, arm, seed):
    import subprocess
    import sys

    code = f"import time; time.sleep(2.5); open({group!r}, 'w')"
    subprocess.Popen([sys.executable, "-c", code])
    time.sleep(60)


def test_so_does_the_timeout_of_a_function(tmp_path):
    mark = tmp_path / "still-there"
    evaluator = Evaluator(starts_another, 1.0)
    with pytest.raises(EvaluationFailed, match="longer than 1 s"):
        evaluator(str(mark), "a", 1)
    evaluator.close()
    time.sleep(3)
    assert not mark.exists()


def test_exported_tables_start_no_formula(tmp_path):
    groups = {"=1+1": ["@sum", "+2"], "-3": ["'=x", "plain"]}
    problem = bg.Problem(groups, {"=y": "max", "z": "max"}, bg.SubGaussian(1.0))
    place = f"sqlite:///{tmp_path}/x.db"
    study = bg.create_study("one", problem, bg.ParetoGroups(0.5), 0.1, place, algorithm="te")
    for ticket in study.ask(9):
        study.tell(ticket, [0.25, -1.0])
    study.export(tmp_path / "x.csv")
    lines = (tmp_path / "x.csv").read_text().splitlines()
    cells = [cell for line in lines for cell in line.split(",")]
    assert not [c for c in cells if c[:1] in ("=", "+", "@") or (c[:1] == "-" and c != "-1.0")]
    other = bg.create_study("two", problem, bg.ParetoGroups(0.5), 0.1, place, algorithm="te")
    assert other.import_observations(tmp_path / "x.csv") == 4
    assert other.to_frame().equals(study.to_frame())
    study.close()
    other.close()


def test_hidden_characters_are_shown():
    assert visible("a\u202eb\u2066c\x1b[31m\x00") == "a\\u202eb\\u2066c\\x1b[31m\\x00"
    assert visible("héllo 中") == "héllo 中"

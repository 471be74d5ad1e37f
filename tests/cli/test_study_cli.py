"""`bestgroup study`: every command, from pipes too, and its mistakes."""

import io
import json
import subprocess
import sys

import pytest

import bestgroup as bg
from bestgroup.cli.main import run

PROBLEM = """
name = "bundles"
delta = 0.1
algorithm = "te"
[goal]
kind = "pareto"
epsilon = 0.5
[dims]
profit = "max"
returns = "min"
[noise]
kind = "subgaussian"
scale = 1.0
[groups]
"bundle A" = ["a1", "a2"]
"bundle B" = ["b1"]
"""
VALUES = {"a1": [1.0, 0.5], "a2": [0.0, 1.0], "b1": [3.0, -2.0]}


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    (tmp_path / "p.toml").write_text(PROBLEM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BESTGROUP_STORAGE", raising=False)

    def command(*arguments, text=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            run(["study", *map(str, arguments)])
        out = capsys.readouterr()
        return end.value.code, out.out, out.err

    def good(*arguments, text=""):
        code, out, err = command(*arguments, text=text)
        assert code == 0, err
        return out

    command.good = good
    return command


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def answered(text):
    return "\n".join(json.dumps({**t, "values": VALUES[t["arm"]]}) for t in lines(text))


def test_a_study_from_creation_to_answer(call):
    assert "created bundles" in call.good("create", "p.toml")
    call.good("create", "p.toml", "--name", "other", "--algorithm", "ge", "--horizon", 2, "--json")
    assert "a1" in call.good("ask", "bundles", "--lease", 0.001)
    for _ in range(200):
        asked = call.good("ask", "bundles", "-n", 8, "--json", "--lease", 0.001)
        if not asked:
            break
        told = call.good("tell", "bundles", "--batch", 8, "--json", text=answered(asked))
        assert json.loads(told)["new"] == len(lines(asked))
    status = json.loads(call.good("status", "bundles", "--json"))
    assert status["state"] == "done" and status["pulls"] == status["told"]
    answer = json.loads(call.good("answer", "bundles", "--json"))
    assert answer["groups"] == ["bundle B"] == answer["in"] and answer["out"] == ["bundle A"]
    why = json.loads(call.good("explain", "bundles", "bundle B", "--json"))
    assert why["status"] == "in" and why["efficiency"]["returns"] == -2.0
    for command in (["status"], ["answer"], ["ask"]):
        assert call.good(command[0], "bundles")
    assert "bundle B is in the answer" in call.good("explain", "bundles", "bundle B")
    assert {row["name"] for row in json.loads(call.good("list", "--json"))} == {"bundles", "other"}
    assert "bundles" in call.good("list")


def test_tables_failures_and_deletion(call, tmp_path):
    call.good("create", "p.toml")
    (ticket,) = lines(call.good("ask", "bundles", "--json"))
    assert call.good("fail", "bundles", "--reason", "broke", "--json", text=json.dumps(ticket))
    assert "broke" in call.good("status", "bundles")
    (tmp_path / "t.csv").write_text("group,arm,profit,returns\nbundle B,b1,3,-2\n")
    assert json.loads(call.good("import", "bundles", "t.csv", "--json")) == {"new": 1}
    assert json.loads(call.good("export", "bundles", "out.csv", "--json"))["rows"] == 1
    assert "bundle B,b1,0,3.0,-2.0" in (tmp_path / "out.csv").read_text()
    code, _, err = call("delete", "bundles")
    assert code == 2 and "nothing was removed" in err
    call.good("delete", "bundles", "--yes")
    assert json.loads(call.good("list", "--json")) == []


def test_the_loop_answers_line_by_line(call):
    call.good("create", "p.toml")
    (ticket,) = lines(call.good("ask", "bundles", "--json"))
    requests = [
        {"do": "ask", "n": 1},
        {"do": "tell", "ticket": ticket, "values": [1.0, 0.5]},
        {"do": "tell", "ticket": ticket, "values": [1.0, 0.6]},
        {"do": "heartbeat", "ticket": ticket},
        {"do": "status"},
        {"do": "answer"},
        {"do": "explain", "group": "bundle A"},
        {"do": "dance"},
        {"do": "ask", "x": 1},
    ]
    text = "\n".join(map(json.dumps, requests)) + "\n\nnot json\n[1]\n"
    replies = lines(call.good("loop", "bundles", text=text))
    assert len(replies[0]["tickets"]) == 1 and replies[1] == {"new": 1}
    assert "other values" in replies[2]["error"] and "not leased" in replies[3]["error"]
    assert replies[4]["told"] == 1 and replies[5]["final"] is False
    assert replies[6]["group"] == "bundle A"
    assert all("error" in reply for reply in replies[7:]) and len(replies) == 11


@pytest.mark.parametrize(
    ("arguments", "text", "sentence"),
    [
        (["status", "nobody"], "", "no study named 'nobody'"),
        (["status", "x", "--storage", "memory"], "", "ends with each command"),
        (["ask", "bundles", "-n", "0"], "", "at least 1"),
        (["tell", "bundles"], "{}", "line 1: the entry 'values' is missing"),
        (["tell", "bundles"], "oops", "line 1: this is not JSON"),
        (["tell", "bundles"], '{"values": [1, 2]}', "must have the entry 'group'"),
        (["tell", "bundles", "none.jsonl"], "", "no such file"),
        (["create", "p.toml"], "", "named 'bundles' already"),
        (["create", "p.toml", "--algorithm", "eecb"], "", "BestGroup"),
        (["explain", "bundles", "Z"], "", "no group 'Z'"),
        (["import", "bundles", "none.csv"], "", "No such file"),
    ],
)
def test_mistakes_get_a_sentence(call, arguments, text, sentence):
    call.good("create", "p.toml")
    code, out, err = call(*arguments, text=text)
    assert code == 2 and not out and sentence in err and err.startswith("error: ")


def test_pipes_and_what_is_imported(tmp_path):
    (tmp_path / "p.toml").write_text(PROBLEM)
    lab = (
        "import json, sys\n"
        f"values = {VALUES!r}\n"
        "for line in sys.stdin:\n"
        "    ticket = json.loads(line)\n"
        "    print(json.dumps({**ticket, 'values': values[ticket['arm']]}))\n"
    )
    (tmp_path / "lab.py").write_text(lab)
    program = f"{sys.executable} -m bestgroup study"
    script = (
        f"{program} create p.toml && "
        f"{program} ask bundles -n 3 --json | {sys.executable} lab.py | {program} tell bundles"
    )
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, check=True, capture_output=True)
    study = bg.load_study("bundles", f"sqlite:///{tmp_path}/bestgroup.db")
    assert study.status().told == 3 and study.status().plan == 2
    study.close()
    code = (
        "import sys, json\n"
        "from bestgroup.cli.main import run\n"
        "try: run(['study', sys.argv[1], 'bundles', *sys.argv[2:]])\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = {'numba', 'scipy', 'matplotlib', 'pandas', 'fastapi'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    text = ""
    for arguments in (["ask", "-n", "3", "--json"], ["tell"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=tmp_path,
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        text = answered(done.stdout) if arguments[0] == "ask" else ""


def test_care(tmp_path, capsys, monkeypatch):
    import sqlite3

    from bestgroup.cli.main import run

    monkeypatch.chdir(tmp_path)
    problem = bg.Problem({"A": ["a1"], "B": ["b1"]}, {"x": "max"}, bg.SubGaussian(1.0))
    study = bg.create_study("one", problem, bg.BestGroup([1]), 0.1, algorithm="eecb")
    for _ in range(3):
        for ticket in study.ask(2):
            study.tell(ticket, [1.0])
    study.ask(1, owner="lab-7")
    study.close()

    def call(*arguments):
        with pytest.raises(SystemExit) as caught:
            run(["study", *arguments])
        out = capsys.readouterr()
        return caught.value.code, out.out, out.err

    code, out, _ = call("leases", "one")
    assert (code == 0 and "lab-7" in out and "in 60" in out) or "in 59" in out
    assert "1 pulls are free" in call("leases", "one", "--release", "--owner", "lab-7")[2]
    assert call("check")[0] == 0 and call("backup", "copy.db")[0] == 0
    assert "there is a study named 'one' already" in call("restore", "copy.db")[2]
    with sqlite3.connect("bestgroup.db") as connection:
        connection.execute("UPDATE bestgroup_observations SET data=zeroblob(8) WHERE number=2")
    connection.close()
    code, out, err = call("check", "one")
    assert code == 2 and "block 2 (pull 0 of arm" in out and "study repair" in err
    code, out, _ = call("repair", "one", "--json")
    assert code == 0 and json.loads(out)["mended"] and call("check")[0] == 0
    assert call("restore", "copy.db", "--replace")[0] == 0
    assert bg.load_study("one").status().told == 6 and call("check", "--json")[0] == 0

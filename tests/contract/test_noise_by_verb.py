"""Every noise model, every goal, every verb: in Python, by command and over HTTP.

The problem is easy, so that each case ends soon; the values depend on the ticket's seed only, so that
all three ways must come to the same answer after the same pulls.
"""

import json
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import bestgroup as bg
from bestgroup.cli.main import app as commands
from bestgroup.service.app import create_app
from bestgroup.service.auth import Tokens
from bestgroup.studies.storage.memory import MemoryStore
from cells import every_other

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

GROUPS = {"A": ["a1", "a2"], "B": ["b1"], "C": ["c1"]}
DIMS = {"gain": "max", "loss": "min", "time": "watch"}
MEANS = {"a1": (0.9, 0.1), "a2": (0.7, 0.3), "b1": (0.4, 0.6), "c1": (0.1, 0.9)}
NOISES = {
    "subgaussian": bg.SubGaussian([0.05, 0.06]),
    "bounded": bg.Bounded(0.0, 1.0),
    "gaussian": bg.Gaussian(),
    "bernoulli": bg.Bernoulli(),
}
GOALS = {"pareto": bg.ParetoGroups(0.1), "best": bg.BestGroup([1.0, 0.5], 0.05)}
CASES = [(noise, goal) for noise in NOISES for goal in GOALS]
SOME = every_other(NOISES, GOALS)  # in Python all are run; by other ways the same must come out


def evaluate_for(kind):
    """Return an evaluator of which the seed decides everything."""

    def evaluate(group, arm, seed):
        rng, mean = np.random.default_rng(seed), np.array(MEANS[arm])
        if kind == "bernoulli":
            values = (rng.random(2) < mean).astype(float)
        else:
            values = mean + 0.05 * rng.standard_normal(2)
        if kind == "bounded":
            values = np.clip(values, 0.0, 1.0)
        return [*values.tolist(), float(rng.exponential())]

    return evaluate


def problem_of(noise):
    return bg.Problem(GROUPS, DIMS, NOISES[noise])


def kind_of(noise):
    return NOISES[noise].kind


def write_problem(path, noise, goal, evaluate=None):
    means = [[MEANS[arm] for arm in arms] for arms in GROUPS.values()]
    bg.save_spec(path, problem_of(noise), GOALS[goal], 0.05, evaluate=evaluate, means=means)


def run(*arguments):
    result = CliRunner().invoke(commands, [str(part) for part in arguments])
    assert result.exit_code == 0, (arguments, result.output, result.exception)
    return result.stdout


@pytest.mark.parametrize(("noise", "goal"), CASES)
def test_in_python(noise, goal, tmp_path):
    problem, asked, evaluate = problem_of(noise), GOALS[goal], evaluate_for(kind_of(noise))
    found = bg.solve(problem, asked, evaluate, 0.05)
    assert found.proven and found.answer.groups == ("A",), found
    assert set(found.explanations) == set(GROUPS)
    study = bg.create_study("matrix", problem, asked, 0.05, f"sqlite:///{tmp_path}/s.db")
    told = 0
    while tickets := study.ask(1):
        for ticket in tickets:
            told += study.tell(ticket, evaluate(ticket.group, ticket.arm, ticket.seed))
        if told in (1, 9):
            status = study.status()
            assert status.told == told and status.undecided == 3
            for group in GROUPS:
                assert study.explain(group).status == "undecided"
    assert study.answer().groups == ("A",) and study.status().state == "done"
    assert study.status().forecast == 0.0
    for group in GROUPS:
        assert study.explain(group).status in (("in",) if group == "A" else ("out", "not needed"))
    rows = tmp_path / "rows.csv"
    assert study.export(rows) == told == len(study.to_frame())
    certificate = bg.certify(rows, asked, problem, 0.05)
    assert certificate.pulls == told
    assert "B" not in certificate.accepted and "C" not in certificate.accepted
    for group in GROUPS:
        assert str(certificate.explain(group)).startswith(group)
    assert certificate.plot().axes
    bg.delete_study("matrix", f"sqlite:///{tmp_path}/s.db")


@pytest.mark.parametrize(("noise", "goal"), CASES)
def test_plan_and_compare(noise, goal, tmp_path):
    write_problem(tmp_path / "p.toml", noise, goal)
    spec = bg.load_spec(tmp_path / "p.toml")
    table = bg.plan(spec, epsilons=[0.1], deltas=[0.05], runs=2)
    assert table.rows[0].mean is not None and table.rows[0].answer == ("A",)
    found = bg.compare(spec.instance(), spec.goal, runs=1, delta=0.05, limit=False)
    assert {row["algorithm"] for row in found.to_records()} >= {"adaptive"}
    left_out = dict(found.left_out)
    if NOISES[noise].has_scale:
        assert not left_out
        assert len(found.simulations) == (7 if goal == "pareto" else 4)
    else:
        assert all("needs a known scale" in why for why in left_out.values())
        assert len(left_out) + len(found.simulations) == (7 if goal == "pareto" else 4)


@pytest.mark.parametrize(("noise", "goal"), SOME)
def test_by_command(noise, goal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = f"lab_{noise.replace(' ', '_')}_{goal}"
    (tmp_path / f"{name}.py").write_text(
        "from test_noise_by_verb import evaluate_for\n"
        f"evaluate = evaluate_for({kind_of(noise)!r})\n"
    )
    write_problem("p.toml", noise, goal, {"python": f"{name}:evaluate"})
    solved = json.loads(run("solve", "p.toml", "--json"))
    assert solved["final"] and solved["groups"] == ["A"]
    assert json.loads(
        run("plan", "p.toml", "--epsilons", "0.1", "--deltas", "0.1", "--runs", "2", "--json")
    )["rows"]
    compared = json.loads(run("compare", "p.toml", "--runs", "1", "--no-limit", "--json"))
    assert bool(compared["left_out"]) != NOISES[noise].has_scale
    run("study", "create", "p.toml", "--name", "s", "--option", "batch=40")
    looked = False
    evaluate = evaluate_for(kind_of(noise))
    while lines := run("study", "ask", "s", "-n", 200, "--json").splitlines():
        tickets = [json.loads(line) for line in lines]
        for ticket in tickets:
            ticket["values"] = evaluate(ticket["group"], ticket["arm"], ticket["seed"])
        (tmp_path / "told.jsonl").write_text("\n".join(map(json.dumps, tickets)))
        run("study", "tell", "s", "told.jsonl", "--batch", 200)
        if not looked:
            looked = True
            run("study", "status", "s")
            for group in GROUPS:
                run("study", "explain", "s", group)
    run("study", "explain", "s", "A")
    assert json.loads(run("study", "answer", "s", "--json"))["groups"] == ["A"]
    assert json.loads(run("study", "status", "s", "--json"))["state"] == "done"
    run("study", "export", "s", "rows.csv")
    record = json.loads(
        run("certify", "rows.csv", "--problem", "p.toml", "--json", "--plot", "v.png")
    )
    assert set(record["accepted"]) <= {"A"}
    assert "Guarantee" in run("certify", "rows.csv", "--problem", "p.toml")


@pytest.mark.parametrize(("noise", "goal"), SOME)
def test_over_http(noise, goal):
    token = "writer-token-for-tests"
    client = TestClient(
        create_app(MemoryStore(), Tokens(token, "reader-token-for-tests")),
        base_url="http://localhost",
        headers={"Authorization": f"Bearer {token}"},
    )
    problem, asked, evaluate = problem_of(noise), GOALS[goal], evaluate_for(kind_of(noise))
    body = {
        "name": "s",
        "problem": problem.to_dict(),
        "goal": asked.to_dict(),
        "delta": 0.05,
        "batch": 40,
    }
    assert client.post("/api/v1/studies", json=body).status_code == 201

    def get(path, **query):
        response = client.get(f"/api/v1/{path}", params={"study": "s", **query})
        assert response.status_code == 200, (path, response.text)
        return response

    def look():
        get("status"), get("view")
        for group in GROUPS:
            assert get("explain", group=group).json()["group"] == group

    told = 0
    while tickets := client.post(
        "/api/v1/ask", params={"study": "s"}, json={"n": 200, "owner": "w"}
    ).json()["tickets"]:
        results = [
            {"ticket": t, "values": evaluate(t["group"], t["arm"], t["seed"])} for t in tickets
        ]
        told += client.post(
            "/api/v1/tell", params={"study": "s"}, json={"results": results}
        ).json()["new"]
        if told == len(results):
            look()
    look()
    answer = get("answer").json()
    assert answer["final"] and answer["groups"] == ["A"] and answer["told"] == told
    view = get("view").json()
    assert view["final"] and view["answer"] == ["A"]
    assert len(get("export").text.splitlines()) == told + 1

"""Noise by dim: a model for each dim goes through every verb, and says what it assumes."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.problem.noise import NoiseByDim, noise_from_dict
from bestgroup.problem.problem import Problem

GROUPS = {"A": ["a1", "a2"], "B": ["b1"], "C": ["c1"]}
DIMS = {"correct": "max", "cost": "min", "seconds": "min"}
NOISE = {"correct": bg.Bernoulli(), "cost": bg.Bounded(0, 2), "seconds": bg.Gaussian()}
MEANS = {"a1": (0.9, 0.3, 1.0), "a2": (0.5, 1.2, 2.0), "b1": (0.4, 1.0, 1.8), "c1": (0.7, 1.5, 0.4)}
GOALS = [bg.ParetoGroups(0.1), bg.BestGroup([1, 1, 1], 0.1)]
ARMS = [(group, arm) for group, arms in GROUPS.items() for arm in arms]


def values(rng, arm, n=1):
    p, cost, seconds = MEANS[arm]
    columns = (
        rng.random(n) < p,
        2 * rng.beta(4 * cost / 2, 4 - 2 * cost, n),
        rng.normal(seconds, 0.2, n),
    )
    return np.column_stack(columns).astype(float)


def problem():
    return Problem(GROUPS, DIMS, NOISE)


def rows(n, seed=1):
    rng = np.random.default_rng(seed)
    return [
        {"group": group, "arm": arm, **dict(zip(DIMS, row, strict=True))}
        for group, arm in ARMS
        for row in values(rng, arm, n).tolist()
    ]


def test_it_is_written_and_read_back():
    noise = problem().noise
    assert isinstance(noise, NoiseByDim) and noise.names == tuple(DIMS)
    assert noise_from_dict(noise.to_dict()) == noise
    assert Problem.from_dict(problem().to_dict()) == problem()


def test_every_dim_says_what_it_assumes():
    words = " / ".join(problem().noise.assumptions())
    assert "correct: all values are 0 or 1" in words and "cost: all values lie between 0" in words
    assert "seconds: the values of an arm are independent and normal" in words
    setting = Setting.of(problem(), GOALS[0], 0.1)
    proof = str(bg.algorithm("adaptive").guarantee(setting))
    assert "seconds: the noise of every dim is symmetric" in proof
    # Intervals are t-type bounds, which need more than symmetry.
    assert "independent and normal" in str(bg.certify(rows(20), GOALS[0], problem()).guarantee)


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        ({"correct": bg.Bernoulli()}, "noise has no model for the dim 'cost'"),
        ({**NOISE, "time": bg.Gaussian()}, "a model for 'time', which is no decided dim"),
        ({**NOISE, "cost": 3}, "noise of cost must be a noise model"),
        ({**NOISE, "cost": bg.Bounded(0, [1, 2])}, "noise of cost: high must be one number"),
        ({**NOISE, "cost": bg.Bounded(0, 1, arms="arbitrary")}, "must have the same arms"),
    ],
)
def test_bad_models_are_refused(noise, words):
    with pytest.raises(bg.InvalidInput, match=words):
        Problem(GROUPS, DIMS, noise)


def test_values_are_checked_by_dim():
    bad = [*rows(2), {"group": "A", "arm": "a1", "correct": 0.5, "cost": 1, "seconds": 1}]
    with pytest.raises(bg.InvalidInput, match="correct must be 0 or 1"):
        bg.certify(bad, GOALS[0], problem())


@pytest.mark.parametrize("goal", GOALS)
def test_solve_certify_and_explain(goal):
    rng = np.random.default_rng(2)

    def evaluate(group, arm):
        return values(rng, arm)[0].tolist()

    answer = bg.solve(problem(), goal, evaluate, 0.1)
    wanted = ("A", "C") if isinstance(goal, bg.ParetoGroups) else ("A",)
    assert set(answer.answer.groups) == set(wanted)
    found = bg.certify(rows(300), goal, problem(), delta=0.1)
    assert not found.undecided and "B" in str(found.explain("B"))


@pytest.mark.parametrize("goal", GOALS)
def test_simulate_and_plan_from_a_file(goal, tmp_path):
    kind = "pareto" if isinstance(goal, bg.ParetoGroups) else "best"
    weights = "" if kind == "pareto" else "weights = [1, 1, 1]\n"
    (tmp_path / "p.toml").write_text(
        f"""
delta = 0.1
[goal]
kind = "{kind}"
epsilon = 0.1
{weights}
[dims]
correct = "max"
cost = "min"
seconds = "min"
[noise]
correct = {{kind = "bernoulli"}}
cost = {{kind = "bounded", low = 0, high = 2}}
seconds = {{kind = "gaussian"}}
[groups]
A = ["a1", "a2"]
B = ["b1"]
[means]
A = [[0.9, 0.3, 1.0], [0.5, 1.2, 2.0]]
B = [[0.4, 1.0, 9.0]]
"""
    )
    spec = bg.load_spec(tmp_path / "p.toml")
    assert isinstance(spec.noise, NoiseByDim)
    sim = bg.simulate(spec.instance(), spec.goal, "adaptive", 0.1, 3, 1, progress=False)
    assert sim.finished.all() and sim.errors == 0
    table = bg.plan(spec, epsilons=[0.1], deltas=[0.1], runs=2)
    assert table.rows[0].mean is not None


def test_a_file_names_the_dim_that_is_wrong(tmp_path):
    text = """
[goal]
kind = "pareto"
[dims]
x = "max"
[noise]
y = {kind = "bernoulli"}
[groups]
A = ["a"]
B = ["b"]
"""
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(bg.InvalidInput, match=r"noise\.y: is no decided dim; those are x"):
        bg.load_spec(tmp_path / "p.toml")


def test_a_study_keeps_it(tmp_path):
    rng = np.random.default_rng(3)
    where = f"sqlite:///{tmp_path}/s.db"
    study = bg.create_study("mixed", problem(), bg.ParetoGroups(0.5), 0.1, storage=where)
    for _ in range(40):
        tickets = study.ask(1)
        if not tickets:
            break
        for ticket in tickets:
            study.tell(ticket, values(rng, ticket.arm)[0].tolist())
    again = bg.load_study("mixed", storage=where)
    assert again.problem.noise == problem().noise and again.status().pulls == 40

"""No changed proof is accepted, unless what it still says is proven by the changed data as well.

What "still proven" means is asked of the naive reference: the independent verifier, which shares no code
with the one under test, must agree on every mutant; and a mutant that is accepted must say nothing
that is false of the means that the data were drawn from.
"""

import numpy as np
import pytest
from cases import GOALS, MEANS, draw, noise_of, proof_of, rows_of, write
from mutants import mutants
from stranger import stranger_says

import bestgroup as bg
from bestgroup.proof.verify import verify_document

TRUTH = {"bernoulli": lambda m: 0.5 + m / 5}


def is_true(document, kind):
    """Return whether the statuses in a document are right for the true means, as it defines them."""
    turn = TRUTH.get(kind, lambda m: m)
    sign = [1 if way == "max" else -1 for _, way in document["problem"]["dims"]]
    arms = {g: [[turn(a - less) for a in MEANS[g]] for less in (0.0, 0.3)] for g in MEANS}
    worth = [
        [max(s * arm[d] for arm in arms[g]) for d, s in enumerate(sign)]
        for g, _ in document["problem"]["groups"]
    ]
    answer, goal = document["answer"], document["goal"]
    if goal["kind"] == "pareto":
        beaten = [
            any(all(b > a for a, b in zip(one, two, strict=True)) for two in worth) for one in worth
        ]
        far = [
            any(
                all(b > a + e for a, e, b in zip(one, goal["epsilon"], two, strict=True))
                for two in worth
            )
            for one in worth
        ]
        return all(beaten[i] for i in answer["out"]) and not any(far[i] for i in answer["in"])
    value = [sum(w * r for w, r in zip(goal["weights"], one, strict=True)) for one in worth]
    slack = goal["epsilon"] * sum(goal["weights"])
    best = max(value)
    return all(value[i] < best for i in answer["out"]) and all(
        value[i] + slack >= best for i in answer["in"]
    )


def survivors(document, rows, kind, count, seed, tmp_path, agree):
    """Check all mutants; returns how many were accepted."""
    kept = 0
    for k, (name, other, table, renewed) in enumerate(mutants(document, rows, count, seed)):
        found = verify_document(other, table)
        if not renewed:
            assert not found.verified, (name, found.lines())
        if found.verified:
            kept += 1
            assert is_true(other, kind), (name, other["answer"])
        if renewed and k % agree == 1:
            theirs = stranger_says(other, write(table, tmp_path / "mutant.csv"))
            if "in words" not in (found.why or ""):  # the other one judges no words
                assert (theirs is None) == found.verified, (name, theirs, found.lines())
    return kept


@pytest.mark.parametrize("goal", ["pareto", "best"])
@pytest.mark.parametrize("kind", ["subgaussian", "bernoulli", "gaussian"])
def test_mutants_of_boxes(kind, goal, tmp_path):
    rows = rows_of(kind, 400 if kind == "bernoulli" else 150)
    document = proof_of(bg.certify(rows, GOALS[goal], noise=noise_of(kind)), tmp_path)
    survivors(document, rows, kind, 30, 5, tmp_path, 4)


@pytest.mark.parametrize("kind", ["subgaussian", "bernoulli", "gaussian", "bounded"])
def test_mutants_of_pairs(kind, tmp_path):
    rows = rows_of(kind, 200 if kind == "bernoulli" else 60)
    noise = noise_of(kind, "independent")
    document = proof_of(bg.certify(rows, GOALS["pareto"], noise=noise), tmp_path)
    assert document["claims"]
    survivors(document, rows, kind, 30, 6, tmp_path, 4)


@pytest.mark.parametrize("kind", ["subgaussian", "bernoulli", "bounded"])
def test_mutants_of_selections(kind, tmp_path):
    rows = rows_of(kind, {"subgaussian": 60, "bounded": 120, "bernoulli": 250}[kind])
    noise = noise_of(kind, "independent")
    document = proof_of(bg.certify(rows, GOALS["best"], noise=noise), tmp_path)
    assert document["method"]["kind"] == "selections" and document["claims"]
    survivors(document, rows, kind, 30, 7, tmp_path, 4)


@pytest.mark.parametrize("kind", ["subgaussian", "bernoulli"])
def test_mutants_of_leaders(kind, tmp_path):
    document, rows = warmed_up(kind, tmp_path, GOALS["best"])
    assert document["method"]["budget"] == "leaders"
    survivors(document, rows, kind, 30, 9, tmp_path, 4)


def warmed_up(kind, folder, goal):
    """Return the proof of a run of `adaptive` on the means of the cases, and its rows."""
    rng = np.random.default_rng(1)
    problem = bg.Problem(
        {group: ["x", "y"] for group in MEANS},
        {"u": "max", "v": "max"},
        noise=noise_of(kind, "independent"),
    )

    def evaluate(group, arm):
        return [draw(rng, kind, mean - 0.3 * (arm == "y")) for mean in MEANS[group]]

    found = bg.solve(problem, goal, evaluate, delta=0.05, algorithm="adaptive")
    rows = found.to_frame().to_dict("records")
    return proof_of(found, folder), rows


@pytest.mark.parametrize("kind", ["subgaussian", "bernoulli"])
def test_mutants_of_a_run_with_a_warm_up(kind, tmp_path):
    document, rows = warmed_up(kind, tmp_path, bg.ParetoGroups(0.5))
    assert document["method"]["budget"] == "scouted"
    survivors(document, rows, kind, 30, 8, tmp_path, 4)


@pytest.mark.verify
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["subgaussian", "bounded", "bernoulli", "gaussian"])
@pytest.mark.parametrize("arms", ["independent", "arbitrary"])
def test_ten_thousand_mutants(kind, arms, seed, tmp_path):
    rows = rows_of(kind, 250 if kind == "bernoulli" else 80, seed=seed)
    document = proof_of(bg.certify(rows, GOALS["pareto"], noise=noise_of(kind, arms)), tmp_path)
    survivors(document, rows, kind, 250, seed, tmp_path, 20)

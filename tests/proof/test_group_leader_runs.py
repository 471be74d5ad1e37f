"""Runs of `adaptive` whose leaders are groups give files that both verifiers accept; so do older versions."""

import json

import numpy as np
import pytest
from cases import proof_of
from stranger import stranger_says
from test_accepted import accepted

import bestgroup as bg
from bestgroup.algorithms.registry import pinned
from bestgroup.proof.format import digest_of
from bestgroup.proof.verify import verify_document
from cells import every_other

SIZES = {"A": "xyz", "B": "x", "C": "xy", "D": "xyz"}
WAYS = {"u": "max", "v": "min", "w": "max"}
SCALES = (0.5, 0.3, 0.4)


def instance(dims, seed):
    """Return means of groups of unequal sizes, two of which are close; larger is better."""
    rng = np.random.default_rng(seed)
    means = {g: rng.normal(0.0, 0.3, (len(own), dims)) for g, own in SIZES.items()}
    means["A"][0] += 0.8
    means["C"] = means["A"][:2] - 0.08
    return means


def run(dims, epsilon, dependence, costs=None, seed=0, version=None, watched=False, **options):
    """Return the solution of a small problem by Python API."""
    rng, means = np.random.default_rng(seed), instance(dims, seed)
    ways = dict(list(WAYS.items())[:dims]) | ({"seen": "watch"} if watched else {})
    turn = [-1.0 if way == "min" else 1.0 for way in list(ways.values())[:dims]]
    noise = bg.SubGaussian(list(SCALES[:dims]), dependence=dependence)
    if watched:
        noise = bg.SubGaussian(0.5)
    problem = bg.Problem({g: list(own) for g, own in SIZES.items()}, ways, noise=noise, costs=costs)

    def evaluate(group, arm):
        values = rng.normal(means[group][SIZES[group].index(arm)], SCALES[:dims])
        return [*(turn * values).tolist(), *([7.0] if watched else [])]

    algorithm = "adaptive" if version is None else pinned("adaptive", version, {})
    goal = bg.BestGroup([1.0, 0.5, 0.8][:dims], epsilon)
    chosen = bg.algorithm(algorithm, **options)
    return bg.solve(problem, goal, evaluate, delta=0.1, algorithm=chosen)


def written(found, folder):
    """Return the proof of an answer, once both verifiers have accepted it."""
    found.save(folder / "rows.csv")
    document = proof_of(found, folder)
    accepted(document, folder / "rows.csv")
    names = [document["problem"]["groups"][i][0] for i in document["answer"]["in"]]
    assert tuple(names) == tuple(found.answer.groups)
    return document


PRICES = {"A": {"x": 4.0}, "C": {"y": 3.0}, "D": {"z": 0.5}}


@pytest.mark.parametrize(
    ("dims", "epsilon", "dependence", "costs", "seed"),
    every_other((1, 2, 3), (0.0, 0.1), ("arbitrary", "independent"), (None, PRICES), range(2)),
)
def test_runs_of_all_kinds(dims, epsilon, dependence, costs, seed, tmp_path):
    found = run(dims, epsilon, dependence, costs, seed)
    document = written(found, tmp_path)
    method = document["method"]
    assert (method["kind"], method["budget"], document["version"]) == ("selections", "measured", 4)
    assert ("costs" in method) == (costs is not None)
    assert len(method["measurements"]) == len(method["leaders"]) >= 1
    counted = [moment[2] for moment in method["moments"]]
    assert max(counted) == max(map(len, method["measurements"]))


@pytest.mark.parametrize("batch", [1, 7, 0.05])
def test_batches(batch, tmp_path):
    written(run(2, 0.1, "arbitrary", batch=batch), tmp_path)


def test_a_dim_that_is_only_watched(tmp_path):
    document = written(run(2, 0.1, "arbitrary", watched=True), tmp_path)
    assert document["method"]["budget"] == "measured"


@pytest.mark.parametrize("version", [4, 5, 6])
def test_versions_before_have_their_files(version, tmp_path):
    document = written(run(2, 0.1, "arbitrary", version=version), tmp_path)
    assert document["method"]["budget"] == "leaders"
    assert document["version"] == 4  # one arm must serve both dims of a rival
    document["version"] = 2
    document["digest"] = digest_of(document)
    assert verify_document(document, tmp_path / "rows.csv").failed == "claims"
    assert stranger_says(document, tmp_path / "rows.csv").startswith("claims")
    assert "measurements" not in document["method"]


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_replays(epsilon, tmp_path):
    rng = np.random.default_rng(4)
    means = rng.normal(0.0, 0.3, (4, 2, 2))
    tape = means + rng.normal(0.0, 0.5, (6000, *means.shape))
    proof, rows = tmp_path / "p.json", tmp_path / "r.csv"
    trace = bg.save_replay_proof(
        tape, bg.BestGroup([1.0, 2.0], epsilon), "adaptive", 0.05,
        noise=bg.SubGaussian(0.5), proof=proof, rows=rows,
    )  # fmt: skip
    document = json.loads(proof.read_text())
    accepted(document, rows)
    assert set(document["answer"]["in"]) == trace.answer
    assert document["method"]["budget"] == "measured"


def test_a_study_that_is_not_done_has_a_file_of_what_it_knows(tmp_path):
    rng, means = np.random.default_rng(1), instance(2, 1)
    problem = bg.Problem(
        {g: list(own) for g, own in SIZES.items()}, {"u": "max", "v": "max"}, bg.SubGaussian(0.5)
    )
    storage = f"sqlite:///{tmp_path}/s.db"
    study = bg.create_study("s", problem, bg.BestGroup([1.0, 1.0]), 0.05, storage)
    while study.status(forecast=False).groups_out == 0:
        for ticket in study.ask(8):
            mean = means[ticket.group][SIZES[ticket.group].index(ticket.arm)]
            study.tell(ticket, rng.normal(mean, SCALES[:2]).tolist())
    study.save_proof(tmp_path / "p.json", rows=tmp_path / "r.csv")
    document = json.loads((tmp_path / "p.json").read_text())
    accepted(document, tmp_path / "r.csv")
    assert document["answer"]["out"] and not document["answer"]["in"]

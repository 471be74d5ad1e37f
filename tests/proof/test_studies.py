"""Decisions of every algorithm that is called proven give proof files; those of others cannot be written."""

import json

import numpy as np
import pytest
from cases import proof_of
from test_accepted import accepted

import bestgroup as bg

MEANS = {
    "A": [(1.0, 1.0), (0.6, 0.4)],
    "B": [(-0.4, -0.6), (-0.9, 0.0)],
    "C": [(1.6, -0.8), (0.2, 0.0)],
}
GROUPS = {group: ["x", "y"] for group in MEANS}


def solved(goal, algorithm, noise, seed=0, dims=None, scale=1.0, **options):
    """Return the solution of a small problem with noise of the given kind."""
    rng = np.random.default_rng(seed)
    problem = bg.Problem(GROUPS, dims or {"u": "max", "v": "max"}, noise=noise)
    turn = [-1.0 if way == "min" else 1.0 for way in (dims or {"u": "max", "v": "max"}).values()]

    def evaluate(group, arm):
        mean = MEANS[group]["xy".index(arm)]
        if noise.kind == "bernoulli":
            return [float(rng.random() < 0.5 + t * m / 4) for t, m in zip(turn, mean, strict=True)]
        values = rng.normal(mean, scale)
        if noise.kind == "bounded":
            values = np.clip(rng.normal(mean, 0.7), -3, 3)
        return (turn * values).tolist()

    algorithm = bg.algorithm(algorithm, **options)
    return bg.solve(problem, goal, evaluate, delta=0.05, algorithm=algorithm)


def checked(found, folder):
    found.save(folder / "rows.csv")
    document = proof_of(found, folder)
    accepted(document, folder / "rows.csv")
    names = [document["problem"]["groups"][i][0] for i in document["answer"]["in"]]
    assert set(names) == set(found.answer.groups)
    return document


PARETO, BEST = bg.ParetoGroups(0.5), bg.BestGroup([1.0, 1.0], 0.2)


@pytest.mark.parametrize("radius", ["paper", "mixture", "stitched"])
@pytest.mark.parametrize(
    ("name", "goal"),
    [("te", PARETO), ("age", PARETO), ("ge", PARETO), ("eecb", BEST), ("se", BEST)],
)
def test_elimination_by_radii(name, goal, radius, tmp_path):
    found = solved(goal, name, bg.SubGaussian(0.5), scale=0.5, radius=radius)
    document = checked(found, tmp_path)
    assert document["method"]["process"][0]["name"] in ("union", "mixture", "stitched")


def test_a_best_group_without_epsilon_and_bounded_values(tmp_path):
    checked(solved(bg.BestGroup([1.0, 2.0]), "eecb", bg.Bounded(-3, 3), radius="mixture"), tmp_path)


def test_corrected_uniform_sampling(tmp_path):
    found = solved(bg.ParetoGroups(1.5), "unis-corrected", bg.SubGaussian(0.5), scale=0.5)
    assert checked(found, tmp_path)["method"]["process"][0]["name"] == "fixed"


@pytest.mark.parametrize("arms", ["independent", "arbitrary"])
def test_te_plus(arms, tmp_path):
    found = solved(PARETO, "te-plus", bg.SubGaussian(0.5, arms=arms), scale=0.5)
    assert checked(found, tmp_path)["method"]["kind"] == (
        "pairs" if arms == "independent" else "boxes"
    )


@pytest.mark.parametrize("goal", [PARETO, BEST], ids=["pareto", "best"])
@pytest.mark.parametrize(
    "noise",
    [
        bg.SubGaussian(0.5, arms="arbitrary"),
        bg.Bounded(-3, 3, arms="arbitrary"),
        bg.Bernoulli(arms="arbitrary"),
        bg.Gaussian(arms="arbitrary"),
    ],
    ids=lambda noise: noise.kind,
)
def test_adaptive_by_boxes(goal, noise, tmp_path):
    checked(solved(goal, "adaptive", noise, scale=0.5, batch=4), tmp_path)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "noise",
    [bg.SubGaussian(0.5), bg.Bounded(-3, 3), bg.Bernoulli(), bg.Gaussian()],
    ids=lambda noise: noise.kind,
)
def test_adaptive_by_pairs(noise, seed, tmp_path):
    way = "min" if seed == 1 else "max"
    found = solved(PARETO, "adaptive", noise, seed, {"u": "max", "v": way}, scale=0.5)
    document = checked(found, tmp_path)
    assert document["method"]["budget"] == "scouted"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "noise",
    [bg.SubGaussian(0.5), bg.Bounded(-3, 3), bg.Bernoulli(dependence="independent")],
    ids=lambda noise: noise.kind,
)
@pytest.mark.parametrize("goal", [BEST, bg.BestGroup([1.0, 2.0])], ids=["epsilon", "0"])
def test_the_best_group_by_several_arms(goal, noise, seed, tmp_path):
    way = "min" if seed == 1 else "max"
    found = solved(goal, "adaptive", noise, seed, {"u": "max", "v": way}, scale=0.5)
    document = checked(found, tmp_path)
    assert (document["method"]["kind"], document["method"]["budget"]) == ("selections", "leaders")


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("tel", {}, "no proof"),
        ("eecb", {"radius_scale": 0.5}, "radius_scale=0.5 is below 1"),
        ("eecb", {"radius": lambda r: 3.0 / r**0.5}, "brought by the user"),
    ],
)
def test_what_is_not_proven_cannot_be_written(name, options, why, tmp_path):
    if callable(options.get("radius")):
        options = {"radius": [3.0 / r**0.5 for r in range(1, 3000)]}
    problem = bg.Problem(GROUPS, {"u": "max", "v": "max"}, noise=bg.SubGaussian(0.5))
    algorithm = bg.algorithm(name, **options)
    try:
        study = bg.create_study(
            "s",
            problem,
            BEST,
            delta=0.05,
            algorithm=algorithm,
            storage=f"sqlite:///{tmp_path}/s.db",
        )
    except bg.InvalidInput as error:  # a study cannot store a table of radii
        assert "radius" in str(error)
        return
    with pytest.raises(
        bg.InvalidInput, match="nothing is proven, so there is no proof file"
    ) as told:
        study.save_proof(tmp_path / "proof.json")
    assert why in str(told.value) or "proof" in str(told.value)
    assert not (tmp_path / "proof.json").exists()


def test_uniform_sampling_as_printed_cannot_be_written(tmp_path):
    problem = bg.Problem(GROUPS, {"u": "max", "v": "max"}, noise=bg.SubGaussian(0.5))
    study = bg.create_study(
        "s",
        problem,
        PARETO,
        delta=0.05,
        algorithm=bg.algorithm("unis"),
        storage=f"sqlite:///{tmp_path}/s.db",
    )
    with pytest.raises(bg.InvalidInput, match="nothing is proven"):
        study.save_proof(tmp_path / "proof.json")


@pytest.mark.parametrize(("name", "goal"), [("te", PARETO), ("adaptive", PARETO), ("eecb", BEST)])
def test_replays(name, goal, tmp_path):
    rng = np.random.default_rng(2)
    means = np.array(list(MEANS.values()))
    tape = means + rng.normal(0, 0.5, (4000, *means.shape))
    trace = bg.save_replay_proof(
        tape,
        goal,
        name,
        0.05,
        noise=bg.SubGaussian(0.5),
        proof=tmp_path / "p.json",
        rows=tmp_path / "r.csv",
    )
    document = json.loads((tmp_path / "p.json").read_text())
    accepted(document, tmp_path / "r.csv")
    assert set(document["answer"]["in"]) == trace.answer
    with pytest.raises(bg.InvalidInput, match="nothing is proven"):
        bg.save_replay_proof(
            tape,
            BEST,
            "tel",
            noise=bg.SubGaussian(0.5),
            proof=tmp_path / "q.json",
            rows=tmp_path / "q.csv",
        )
    assert not (tmp_path / "q.json").exists()

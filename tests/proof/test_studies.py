"""Decisions of every algorithm that is called proven give proof files; those of others cannot be written."""

import json

import numpy as np
import pytest
from cases import proof_of
from stranger import stranger_says
from test_accepted import accepted
from vectors import changed

import bestgroup as bg
from bestgroup.algorithms.adaptive.pareto.algorithm import AdaptivePareto
from bestgroup.algorithms.adaptive.pareto.naming import shown
from bestgroup.algorithms.adaptive.pareto.view import ACCEPTED, REJECTED
from bestgroup.algorithms.registry import pinned
from bestgroup.problem.status import Status
from bestgroup.proof.build import ask
from bestgroup.proof.format import digest_of
from bestgroup.proof.verify import verify_document
from bestgroup.studies.replay_proofs import COLUMNS, study_document
from cells import every_other
from property.test_adaptive_pareto import SURPRISES, drive

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

    algorithm = bg.algorithm(algorithm, **options)  # a name, or one with its options
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


@pytest.mark.parametrize(
    ("noise", "seed"),
    every_other([bg.SubGaussian(0.5), bg.Bounded(-3, 3), bg.Bernoulli(), bg.Gaussian()], range(3)),
    ids=str,
)
def test_adaptive_by_pairs(noise, seed, tmp_path):
    way = "min" if seed == 1 else "max"
    found = solved(PARETO, "adaptive", noise, seed, {"u": "max", "v": way}, scale=0.5)
    document = checked(found, tmp_path)
    assert (document["method"]["budget"], document["version"]) == ("named", 4)


@pytest.mark.parametrize("noise", [bg.SubGaussian(0.5), bg.Bernoulli()], ids=lambda n: n.kind)
def test_adaptive_by_pairs_as_version_5_had_it(noise, tmp_path):
    found = solved(PARETO, pinned("adaptive", 5, {}), noise, 0, scale=0.5)
    document = checked(found, tmp_path)
    assert (document["method"]["budget"], document["version"]) == ("scouted", 2)


def replayed(case, plans, folder):
    """Return the statuses that a run shows after so many plans, and what its proof file says."""
    tape, chosen = case.tape(3000), bg.algorithm("adaptive", batch=case.batch)
    *_, (_, state, rule) = drive(case, True, plans)
    counts = state.seen.counts.astype(int)
    with (folder / "rows.csv").open("w") as file:
        print("group,arm,index", *[f"d{d}" for d in range(tape.shape.dims)], sep=",", file=file)
        for i, size in enumerate(case.sizes):
            for j in range(size):
                for k, row in enumerate(tape.values(i, j, 0, int(counts[i, j])).tolist()):
                    print(f"g{i},a{j},{k}", *map(repr, row), sep=",", file=file)
    setting = case.setting(tape)
    problem = bg.Problem(
        {f"g{i}": [f"a{j}" for j in range(size)] for i, size in enumerate(case.sizes)},
        {f"d{d}": "max" for d in range(tape.shape.dims)},
        setting.noise,
    )
    seen = AdaptivePareto().record(state, rule)
    status = np.where(seen["accepted"], Status.IN, np.where(seen["rejected"], Status.OUT, 0))
    asked = ask(problem, setting.goal, case.delta, folder / "rows.csv", COLUMNS, status.tolist())
    document = study_document(asked, chosen, setting)
    document["digest"] = digest_of(document)
    accepted(document, folder / "rows.csv")
    return state, document


@pytest.mark.parametrize("case", SURPRISES)
def test_a_run_whose_warm_up_was_wrong(case, tmp_path):
    """Both verifiers take what stands, whole or in part, and nothing that does not stand yet."""
    last, after, part = None, 0, 0
    for n, (_, state, _) in enumerate(drive(case, True, 600)):
        shown_now = shown(state.split, state.duties)
        if (shown_now != state.duties.status).any():
            part = n + 1  # something is decided that does not stand yet
        after, last = n + 1, state
    assert last.split.surprised.any()
    state, document = replayed(case, after, tmp_path)
    both = {*document["answer"]["in"], *document["answer"]["out"]}
    stands = np.flatnonzero(shown(state.split, state.duties)).tolist()
    assert both == set(stands)
    if part:
        state, document = replayed(case, part, tmp_path)
        stands = shown(state.split, state.duties)
        for word, decided in (("in", ACCEPTED), ("out", REJECTED)):
            assert document["answer"][word] == np.flatnonzero(stands == decided).tolist()
            more = np.flatnonzero(state.duties.status == decided).tolist()
            if more != document["answer"][word]:
                other = changed(document, ["answer", word], more)
                assert not verify_document(other, tmp_path / "rows.csv").verified
                assert stranger_says(other, tmp_path / "rows.csv") is not None


@pytest.mark.parametrize(
    ("goal", "noise", "seed"),
    every_other(
        [BEST, bg.BestGroup([1.0, 2.0])],
        [bg.SubGaussian(0.5), bg.Bounded(-3, 3), bg.Bernoulli(dependence="independent")],
        range(2),
    ),
    ids=str,
)
def test_the_best_group_by_several_arms(goal, noise, seed, tmp_path):
    way = "min" if seed == 1 else "max"
    found = solved(goal, "adaptive", noise, seed, {"u": "max", "v": way}, scale=0.5)
    document = checked(found, tmp_path)
    budget = "measured" if noise.kind == "subgaussian" else "leaders"
    assert (document["method"]["kind"], document["method"]["budget"]) == ("selections", budget)


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

"""Every noise model, goal and algorithm that is proven gives a file that is accepted, no other does."""

import json

import numpy as np
import pytest
from cases import proof_of, write
from stranger import stranger_says
from test_accepted import accepted

import bestgroup as bg
from bestgroup.algorithms.registry import names
from bestgroup.proof.format import digest_of
from bestgroup.proof.verify import verify_document
from cells import every_other

MEANS = {
    "A": [(0.8, 0.8), (0.6, 0.7)],
    "B": [(-0.8, -0.6), (-0.7, -0.8)],
    "C": [(0.9, -0.8), (0.2, -0.9)],
}
GROUPS = {group: ["x", "y"] for group in MEANS}
GROUP_NAMES = list(GROUPS)
DIMS = {"u": "max", "v": "min"}
NOISE = {
    "subgaussian": lambda **k: bg.SubGaussian(0.2, **k),
    "bounded": lambda **k: bg.Bounded(-1, 1, **k),
    "bernoulli": lambda **k: bg.Bernoulli(**k),
    "gaussian": lambda **k: bg.Gaussian(**k),
}
GOALS = {
    "pareto": bg.ParetoGroups(0.6),
    "best": bg.BestGroup([1.0, 1.0]),
    "near best": bg.BestGroup([1.0, 2.0], 0.3),
}
# There is no theorem that gives a probability of an error.
UNPROVEN = {"tel": {}, "unis": {}, "sequential-halving": {"budget": 600}}


def value(rng, kind, group, arm):
    """Return what an arm gives once; the second dim is to be minimised."""
    u, v = MEANS[group]["xy".index(arm)]
    if kind == "bernoulli":
        return [float(rng.random() < 0.5 + u / 2), float(rng.random() < 0.5 - v / 2)]
    u, v = rng.normal((u, v), 0.2)
    if kind == "bounded":
        u, v = np.clip((u, v), -1, 1)
    return [float(u), float(-v)]


def solved(kind, goal, algorithm, **options):
    """Return the answer of an algorithm; None if it is not for this goal or noise."""
    rng = np.random.default_rng(5)
    noise = NOISE[kind](**{k: options.pop(k) for k in ("arms", "dependence") if k in options})
    problem = bg.Problem(GROUPS, DIMS, noise=noise, costs=options.pop("costs", None))
    if algorithm in ("unis", "unis-corrected") and isinstance(goal, bg.ParetoGroups):
        goal = bg.ParetoGroups(1.5)
    try:
        return bg.solve(
            problem,
            goal,
            lambda group, arm: value(rng, kind, group, arm),
            delta=0.1,
            algorithm=bg.algorithm(algorithm, **options),
        )
    except bg.InvalidInput as error:
        assert "answers" in str(error) or "needs a known scale" in str(error), error
        return None


def written(found, folder):
    """Return the proof that an answer writes, once the verifiers have accepted it."""
    found.save(folder / "rows.csv")
    found.save_proof(folder / "proof.json")
    document = json.loads((folder / "proof.json").read_text())
    accepted(document, folder / "rows.csv")
    inside = [document["problem"]["groups"][i][0] for i in document["answer"]["in"]]
    assert set(inside) == set(found.answer.groups)
    return document


def refused(kind, goal, algorithm, folder, **options):
    """Check that an algorithm without a theorem is told so when a proof is asked for."""
    problem = bg.Problem(GROUPS, DIMS, noise=NOISE[kind]())
    algorithm = bg.algorithm(algorithm, **options)
    try:
        study = bg.create_study(
            "s", problem, goal, algorithm=algorithm, storage=f"sqlite:///{folder}/s.db"
        )
    except bg.InvalidInput as error:
        assert "answers" in str(error) or "needs a known scale" in str(error), error
        return
    with pytest.raises(bg.InvalidInput, match="nothing is proven, so there is no proof file"):
        study.save_proof(folder / "proof.json")
    assert not (folder / "proof.json").exists()


@pytest.mark.parametrize(
    ("algorithm", "kind", "goal", "arms"),
    every_other(
        [name for name in names() if name not in UNPROVEN],
        NOISE,
        GOALS,
        ["independent", "arbitrary"],
    ),
)
def test_every_algorithm(algorithm, kind, goal, arms, tmp_path):
    found = solved(kind, GOALS[goal], algorithm, arms=arms)
    if found is not None:
        assert found.proven
        written(found, tmp_path)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("algorithm", UNPROVEN)
def test_what_has_no_theorem_has_no_file(algorithm, kind, goal, tmp_path):
    refused(kind, GOALS[goal], algorithm, tmp_path, **UNPROVEN[algorithm])


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("algorithm", ["te", "age", "ge", "eecb", "se"])
def test_a_radius_below_what_is_proven_has_no_file(algorithm, goal, tmp_path):
    refused("subgaussian", GOALS[goal], algorithm, tmp_path, radius_scale=0.9)


def table_of(kind, folder):
    """Write a table of 120 rows of every arm, and return its path."""
    rng = np.random.default_rng(6)
    rows = [
        {"group": g, "arm": a, **dict(zip(DIMS, value(rng, kind, g, a), strict=True))}
        for _ in range(120)
        for g in GROUPS
        for a in "xy"
    ]
    return write(rows, folder / "rows.csv")


@pytest.mark.parametrize("arms", ["independent", "arbitrary"])
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("kind", NOISE)
def test_every_table(kind, goal, arms, tmp_path):
    table = table_of(kind, tmp_path)
    problem = bg.Problem(GROUPS, DIMS, noise=NOISE[kind](arms=arms))
    found = bg.certify(table, GOALS[goal], problem, delta=0.1)
    assert found.accepted or kind == "bernoulli"
    document = proof_of(found, tmp_path)
    accepted(document, table)
    assert [GROUP_NAMES[i] for i in document["answer"]["in"]] == list(found.accepted)


@pytest.mark.parametrize("kind", NOISE)
def test_independent_dims(kind, tmp_path):
    found = solved(kind, GOALS["near best"], "adaptive", dependence="independent")
    assert written(found, tmp_path)["noise"]["dependence"] == "independent"


@pytest.mark.parametrize(("kind", "goal"), every_other(NOISE, GOALS))
def test_costs(kind, goal, tmp_path):
    found = solved(kind, GOALS[goal], "adaptive", costs={g: {"x": 3.0} for g in GROUPS})
    written(found, tmp_path)


MAPS = {
    "all weights, near": bg.WeightMap(epsilon=0.3),
    "most weights": bg.WeightMap(),
    "some weights, near": bg.WeightMap([[1, 0], [1, 1]], 0.2, 0.9),
}
# Of runs a few are quick; those of all noise models, without a slack, are long.
RUNS = [("subgaussian", "independent"), ("bounded", "independent"), ("gaussian", "arbitrary")]


@pytest.mark.parametrize("arms", ["independent", "arbitrary"])
@pytest.mark.parametrize("goal", MAPS)
@pytest.mark.parametrize("kind", NOISE)
def test_every_map_of_a_table(kind, goal, arms, tmp_path):
    table = table_of(kind, tmp_path)
    problem = bg.Problem(GROUPS, DIMS, noise=NOISE[kind](arms=arms))
    found = bg.certify(table, MAPS[goal], problem, delta=0.1)
    document = proof_of(found, tmp_path)
    accepted(document, table)
    by_arms = arms == "arbitrary" or kind == "gaussian"
    assert document["method"]["kind"] == ("boxes" if by_arms else "directions")
    assert [GROUP_NAMES[i] for i in document["answer"]["in"]] == list(found.accepted)
    mapped = document["answer"]["mapped"]
    if kind == "subgaussian":  # bounds of arms by bets are tighter in a proof
        assert mapped["some"] / mapped["of"] == pytest.approx(found.map.share, abs=0.02)


def mapped_run(kind, arms, goal, folder):
    found = solved(kind, MAPS[goal], "adaptive", arms=arms)
    document = written(found, folder)
    mapped = document["answer"]["mapped"]
    assert mapped["some"] >= (MAPS[goal].share - 1e-9) * mapped["of"]


@pytest.mark.parametrize(("kind", "arms"), RUNS)
def test_maps_of_runs(kind, arms, tmp_path):
    mapped_run(kind, arms, "all weights, near", tmp_path)


@pytest.mark.verify
@pytest.mark.parametrize("goal", MAPS)
@pytest.mark.parametrize("arms", ["independent", "arbitrary"])
@pytest.mark.parametrize("kind", NOISE)
def test_every_map_of_a_run(kind, arms, goal, tmp_path):
    mapped_run(kind, arms, goal, tmp_path)


def test_a_map_of_three_dims(tmp_path):
    rng = np.random.default_rng(1)
    means = rng.normal(size=(6, 2, 3))
    rows = [
        {"group": f"g{i}", "arm": f"m{j}", **dict(zip("abc", row, strict=True))}
        for _ in range(60)
        for i in range(6)
        for j in range(2)
        for row in [(means[i, j] + rng.normal(0, 0.3, 3)).tolist()]
    ]
    table = write(rows, tmp_path / "rows.csv")
    found = bg.certify(table, bg.WeightMap(epsilon=0.1), noise=bg.SubGaussian(0.3))
    document = proof_of(found, tmp_path)
    accepted(document, table)
    assert document["answer"]["mapped"]["of"] == 16 * 64 + 3
    sizes = [len(json.dumps(row, separators=(",", ":"))) for row in document["claims"]]
    assert np.mean(sizes) <= 40


def test_weights_of_a_map_have_the_sum_1(tmp_path):
    table = write(skewed(150), tmp_path / "rows.csv")
    found = bg.certify(table, bg.WeightMap(epsilon=0.5), noise=bg.SubGaussian(1.5))
    document = proof_of(found, tmp_path)
    accepted(document, table)
    document["goal"]["weights"] = [[0.001, 0.0], [0.0, 0.001]]
    document["digest"] = digest_of(document)
    assert verify_document(document, table).failed == "format"
    assert stranger_says(document, table).startswith("format")


SHAPES = {
    "a square in four dims": [[1, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1]],
    "a pentagon": [[3, 1, 1, 0], [1, 3, 1, 0], [1, 1, 3, 0], [2, 3, 1, 0], [1, 2, 3, 0]],
    "a vertex inside": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0]],
    "an octahedron": [
        [2, 2, 0, 0], [2, 0, 2, 0], [2, 0, 0, 2], [0, 2, 2, 0], [0, 2, 0, 2], [0, 0, 2, 2],
    ],
}  # fmt: skip


def four_dims(count, seed=3):
    """Return rows of four groups of two arms in four dims."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(-0.4, 0.4, size=(4, 2, 4))
    return [
        {"group": f"g{i}", "arm": f"m{j}", **dict(zip("abcd", row, strict=True))}
        for _ in range(count)
        for i in range(4)
        for j in range(2)
        for row in [np.clip(means[i, j] + rng.normal(0, 0.1, 4), -1, 1).tolist()]
    ]


@pytest.mark.parametrize(
    ("kind", "shape"), every_other(["subgaussian", "bounded", "gaussian"], SHAPES)
)
def test_sets_of_weights_of_other_shapes(shape, kind, tmp_path):
    table = write(four_dims(120 if kind == "bounded" else 60), tmp_path / "rows.csv")
    goal = bg.WeightMap(SHAPES[shape], 0.3, 0.9 if shape == "a pentagon" else None)
    found = bg.certify(table, goal, noise=NOISE[kind]())
    document = proof_of(found, tmp_path)
    accepted(document, table)
    inside = {document["problem"]["groups"][i][0] for i in document["answer"]["in"]}
    # Bounds of arms by bets are tighter in a proof.
    assert inside >= set(found.accepted) and inside
    assert kind == "bounded" or inside == set(found.accepted)
    assert document["version"] == 4
    mapped = document["answer"]["mapped"]
    equal = shape in ("a square in four dims", "an octahedron", "a vertex inside")
    if kind == "subgaussian" and equal:
        assert mapped["some"] / mapped["of"] == pytest.approx(found.map.share, abs=0.02)
    document["version"] = 3
    document["digest"] = digest_of(document)
    assert verify_document(document, table).failed == "format"
    assert stranger_says(document, table).startswith("format")


def test_a_set_of_weights_of_a_run(tmp_path):
    goal = bg.WeightMap([[1, 0], [1, 1], [0, 1]], 0.3)
    assert written(solved("subgaussian", goal, "adaptive"), tmp_path)["version"] == 4


def test_many_dims_have_a_grid_of_their_own(tmp_path):
    rng = np.random.default_rng(8)
    dims = [f"d{k}" for k in range(7)]
    rows = [
        {"group": g, "arm": "x", **{d: float(rng.normal(m, 0.2)) for d in dims}}
        for _ in range(60)
        for g, m in (("A", 1.0), ("B", 0.0))
    ]
    table = write(rows, tmp_path / "rows.csv")
    found = bg.certify(table, bg.WeightMap(epsilon=0.2), noise=bg.SubGaussian(0.2))
    document = proof_of(found, tmp_path)
    accepted(document, table)
    assert document["answer"]["in"] == [0] and document["answer"]["mapped"]["of"] == 508 + 7


def skewed(count=150, seed=0):
    """Return rows of two groups: u is positive, v to be minimised."""
    rng = np.random.default_rng(seed)
    return [
        {
            "group": g,
            "arm": a,
            "u": float(np.exp(rng.normal(m, 0.5))),
            "v": float(rng.normal(-m, 1)),
        }
        for _ in range(count)
        for g, m in (("A", 1.0), ("B", -0.3))
        for a in "xy"
    ]


@pytest.mark.parametrize("goal", GOALS)
def test_dims_that_are_clipped_or_judged_by_their_logarithm(goal, tmp_path):
    dims = {
        "u": {"direction": "max", "clip": [0.05, 20], "transform": "log"},
        "v": {"direction": "min", "clip": [-4, 4]},
    }
    noise = bg.Bounded([float(np.log(0.05)), -4], [float(np.log(20)), 4])
    problem = bg.Problem({g: ["x", "y"] for g in "AB"}, dims, noise=noise)
    table = write(skewed(), tmp_path / "rows.csv")
    found = bg.certify(table, GOALS[goal], problem)
    assert found.accepted == ("A",)
    document = proof_of(found, tmp_path)
    accepted(document, table)
    assert document["problem"]["dims"][0] == ["u", "max", {"clip": [0.05, 20.0], "log": True}]
    assert any("natural logarithm" in words for words in document["assumptions"])


@pytest.mark.parametrize("goal", GOALS)
def test_values_that_are_missing(goal, tmp_path):
    rows = skewed()
    for k, row in enumerate(rows):
        row["u"], row["v"] = "" if k % 7 == 0 else row["u"], "NA" if k % 11 == 3 else row["v"]
    problem = bg.Problem({g: ["x", "y"] for g in "AB"}, DIMS, noise=bg.SubGaussian(1.5))
    table = write(rows, tmp_path / "rows.csv")
    found = bg.certify(table, GOALS[goal], problem)
    assert found.accepted == ("A",)
    document = proof_of(found, tmp_path)
    accepted(document, table)
    assert any("is missing" in words for words in document["assumptions"])

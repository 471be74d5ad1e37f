"""Pilots: what is guessed of the noise and why, and files that lead somewhere."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.analysis.guess import guess
from bestgroup.analysis.pilot import read_pilot

RNG = np.random.default_rng(11)


def arms(draw, number=4, size=60):
    return [draw(k, size) for k in range(number)]


LAWS = {
    "0/1": (lambda k, n: (RNG.random(n) < 0.2 + 0.2 * k).astype(float), "bernoulli", False, False),
    "shares": (lambda k, n: RNG.beta(2 + k, 3, n), "bounded", False, False),
    "stars": (lambda k, n: RNG.integers(1, 6, n).astype(float), "bounded", False, False),
    "grid": (lambda k, n: np.round(RNG.normal(k, 1.5, n)) * 0.25 + 7, "bounded", True, False),
    "normal": (lambda k, n: RNG.normal(50 + k, 2 + k, n), "gaussian", False, False),
    "lognormal": (lambda k, n: np.exp(RNG.normal(k, 1.0, n)), "gaussian", False, True),
    "exponential": (lambda k, n: 5 * RNG.exponential(1 + k, n), "bounded", True, False),
    "skewed about 0": (lambda k, n: RNG.exponential(1, n) * 30 - 20, "bounded", True, False),
    "heavy tails": (lambda k, n: RNG.standard_t(1.5, n) * 10, "bounded", True, False),
    "always the same": (lambda k, n: np.full(n, 100.25 + k), "bounded", True, False),
    "small seconds": (lambda k, n: np.exp(RNG.normal(-7 + k / 4, 0.3, n)), "gaussian", False, True),
    "few": (lambda k, n: RNG.normal(50 + k, 2, 3), "bounded", True, False),
}


@pytest.mark.parametrize("law", LAWS)
def test_normal_noise_is_guessed_only_where_nothing_speaks_against_it(law):
    draw, kind, clip, log = LAWS[law]
    found = guess(arms(draw))
    assert (found.kind, found.clip, found.log) == (kind, clip, log), found
    assert found.why
    if clip:
        values = np.concatenate(arms(draw))
        assert found.low <= values.min() + 30 and found.high >= values.mean()
        assert "which makes the range certain" in found.why


def table(**columns):
    rows = []
    for k, group in enumerate(("A", "B")):
        for j in range(2):
            drawn = {name: draw(2 * k + j, 50) for name, draw in columns.items()}
            rows += [
                {"group": group, "arm": f"{group}{j}", **{n: float(x[i]) for n, x in drawn.items()}}
                for i in range(50)
            ]
    return rows


CASES = {
    "all 0/1": (("0/1", "0/1"), "bernoulli"),
    "all normal": (("normal", "lognormal"), "gaussian"),
    "mixed": (("0/1", "normal"), "by-dim"),
    "mixed with logs": (("stars", "lognormal"), "by-dim"),
    "ranges": (("stars", "shares"), "bounded"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_pilot_becomes_a_file_with_the_spreads_that_were_measured(tmp_path, case):
    laws, kind = CASES[case]
    rows = table(x=LAWS[laws[0]][0], y=LAWS[laws[1]][0])
    pilot = read_pilot(rows, minimise=["y"])
    assert pilot.problem.noise.kind == kind
    assert len([words for words in pilot.guesses if words.startswith(("x (max)", "y (min)"))]) == 2
    path = bg.save_spec(
        tmp_path / "p.toml",
        pilot.problem,
        pilot.goal,
        means=pilot.means,
        law=pilot.law,
        notes=pilot.notes,
    )
    spec = bg.load_spec(path)
    assert spec.problem == pilot.problem and spec.goal == pilot.goal.of(["x", "y"])
    instance = spec.instance()
    if kind != "bernoulli":
        judged = [
            spec.problem.judged(np.array([[r["x"], r["y"]] for r in rows if r["arm"] == arm]))
            for arm in ("A0", "A1", "B0", "B1")
        ]
        seen = np.sqrt(np.mean([x.var(axis=0, ddof=1) for x in judged], axis=0))
        scales = instance.law.scales(2)
        measured = [d for d in range(2) if laws[d] != "0/1"]
        assert scales[measured] == pytest.approx(seen[measured], rel=0.01)
    assert bg.certify(rows, spec.goal, spec.problem).pulls == 200


def test_epsilon_depends_on_the_noise():
    quiet = read_pilot(table(x=lambda k, n: RNG.normal(50 + k, 0.1, n)))
    noisy = read_pilot(table(x=lambda k, n: RNG.normal(50 + k, 20.0, n)))
    assert quiet.goal.epsilon[0] == pytest.approx(0.1, rel=0.3)  # a twentieth of about 2
    assert noisy.goal.epsilon[0] == pytest.approx(4.0, rel=0.2)  # a fifth of the spread within arms
    assert "pulls of an arm" in noisy.notes["goal"]


def test_items_make_arms_dependent_and_say_so():
    rows = [{**row, "id": k % 50} for k, row in enumerate(table(x=LAWS["normal"][0]))]
    pilot = read_pilot(rows, columns={"item": "id"})
    assert pilot.problem.noise.kind == "bounded" and pilot.problem.noise.arms == "arbitrary"
    assert any("same items" in words for words in pilot.guesses)
    assert any("'id' is ignored" in words for words in read_pilot(rows).guesses)


def test_an_arm_without_a_value_is_named():
    rows = [
        {"group": g, "arm": g, "x": k + 0.5, "y": k + 0.25 if g == "A" else ""}
        for g in "AB"
        for k in range(3)
    ]
    with pytest.raises(bg.InvalidInput, match="the arm 'B' of 'B' has no value of y"):
        read_pilot(rows)


def rows_of(means, draw, n=60):
    return [{"group": g, "arm": "x", "t": draw(m)} for g, m in means.items() for _ in range(n)]


def test_what_init_takes_for_normal_certify_does_not_void():
    """Two digits tie now and then: normal values never do, so init and certify say the same."""
    rng = np.random.default_rng(2)
    means = {"A": 5.0, "B": 6.0, "C": 7.0}
    rows = rows_of(means, lambda m: round(m + rng.standard_normal(), 2))
    found = bg.read_pilot(rows)
    assert found.problem.noise.kind == "bounded" and "have come before" in found.guesses[0]
    assert bg.certify(rows, found.goal, found.problem).guarantee.level == "proven"
    rows = rows_of(means, lambda m: m + rng.standard_normal())
    found = bg.read_pilot(rows)
    assert found.problem.noise.kind == "gaussian"
    assert bg.certify(rows, found.goal, found.problem).guarantee.level == "proven"


@pytest.mark.parametrize("digits", [3, 16])
@pytest.mark.parametrize("offset", [0.0, 1e9, -7657519671075.258])
def test_a_pilot_far_from_zero_keeps_what_tells_groups_apart(tmp_path, offset, digits):
    rng = np.random.default_rng(3)
    means = {"A": offset, "B": offset + 0.5, "C": offset + 3.0}
    rows = rows_of(means, lambda m: round(m + rng.standard_normal(), digits))
    found = bg.read_pilot(rows)
    (epsilon,) = found.goal.of(["t"]).epsilons(1)
    assert 0.1 < epsilon < 0.5  # of values that spread by 1
    seen = np.concatenate(found.means).ravel() - offset
    assert np.allclose(seen, [0.0, 0.5, 3.0], atol=0.6) and len(set(seen)) == 3
    clip = found.problem.dims[0].clip
    assert clip is None or clip[1] - clip[0] < 30
    made = bg.save_spec(tmp_path / "p.toml", found.problem, found.goal, 0.05, means=found.means)
    assert np.allclose(bg.load_spec(made).means, found.means, rtol=0, atol=1e-3)
    assert bg.certify(rows, found.goal, found.problem).accepted == ("C",)

"""No silent assumption: what speaks against it is said in time and stands in the guarantee."""

import logging

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.inference.certificate.data_checks import Checker

GROUPS = {"A": ["a"], "B": ["b"]}


def latency(group, arm, seed):
    return [100 + (arm == "b") + 60 * np.random.default_rng(seed).standard_normal()]


def correct(group, arm, seed):
    return [float(np.random.default_rng(seed).random() < (0.3 if arm == "b" else 0.8))]


def waiting(group, arm, seed):
    return [np.random.default_rng(seed).exponential(1.0 if arm == "b" else 2.0)]


CASES = {
    "spread above the scale": (bg.SubGaussian(1.0), latency, 60, "more than its declared scale"),
    "0/1 under normal noise": (
        bg.Gaussian(),
        correct,
        200,
        "values that are 0 or 1 have Bernoulli",
    ),
    "skew under normal noise": (bg.Gaussian(), waiting, 400, "has skewness"),
}


@pytest.mark.parametrize("case", CASES)
def test_solve_says_it_in_time_and_the_answer_is_void(case, caplog, tmp_path):
    noise, evaluate, budget, words = CASES[case]
    problem = bg.Problem(GROUPS, {"x": "min"}, noise)
    goal = bg.BestGroup([1], 1e-6)
    with caplog.at_level(logging.WARNING, logger="bestgroup"):
        found = bg.solve(problem, goal, evaluate, 0.05, budget=budget)
    assert not found.proven
    for guarantee in (found.answer.guarantee, found.certificate.guarantee):
        assert guarantee.level == "none"
        assert "speak against an assumption" in guarantee.statement and words in guarantee.statement
    assert any(words in note for note in found.certificate.notes)
    assert any(words in line for line in found.study.status().warnings)
    assert any(words in record.message for record in caplog.records)
    found.save(tmp_path / "rows.csv")
    again = bg.certify(tmp_path / "rows.csv", goal, problem, 0.05)
    assert again.guarantee.level == "none"
    assert set(again.notes) >= set(found.certificate.notes)


def test_a_study_shows_drift_while_it_runs():
    problem = bg.Problem(GROUPS, {"x": "max"}, bg.Bounded(0, 1))
    study = bg.create_study("drift", problem, bg.BestGroup([1], 0.001), 0.05, "memory")
    rng = np.random.default_rng(0)
    for k in range(120):
        level = 0.2 if k < 60 else 0.7
        for ticket in study.ask(2):
            study.tell(ticket, [level + 0.1 * rng.random()])
    status = study.status()
    assert status.state == "running" and any("drifts" in words for words in status.warnings)
    assert study.answer().guarantee.level == "none"
    assert study.status(forecast=False).warnings == []
    bg.delete_study("drift", "memory")


def test_what_fits_raises_no_doubt():
    rng = np.random.default_rng(1)
    fits = [
        (bg.SubGaussian(1.0), lambda n: rng.normal(size=(n, 2))),
        (bg.Gaussian(), lambda n: rng.normal(5, 3, size=(n, 2))),
        (bg.Bounded(0, 1), lambda n: rng.beta(0.3, 4, size=(n, 2))),
        (bg.Bernoulli(), lambda n: (rng.random((n, 2)) < 0.02).astype(float)),
    ]
    for noise, draw in fits:
        checker = Checker(noise, ["x", "y"], 40)
        for arm in range(40):
            for n in (1, 2, 5, 30, 200):
                checker.add(str(arm), draw(n))
        assert checker.doubts() == []
        assert checker.doubts(soon=True) == []


def test_one_kind_of_doubt_does_not_bury_the_others():
    rng = np.random.default_rng(2)
    checker = Checker(bg.Gaussian(), ["x", "y"], 9)
    for arm in range(9):
        checker.add(str(arm), np.round(rng.normal(size=(80, 2)) ** 3, 1))  # ties, and skew in some
    kinds = [doubt.kind for doubt in checker.doubts()]
    assert kinds.count("ties") == 18
    sentences = checker.warnings()
    assert len(sentences) == sum(min(kinds.count(kind), 2) for kind in set(kinds)) < 9
    assert any(words.endswith("(and 16 more warnings of this kind)") for words in sentences)


def test_noise_left_out_is_refused_everywhere():
    with pytest.raises(bg.InvalidInput, match="noise must be given"):
        bg.Problem(GROUPS, {"ms": "min"})
    ranged = {"ms": {"direction": "min", "low": 0, "high": 500}}
    assert bg.Problem(GROUPS, ranged).noise == bg.Bounded([0], [500])

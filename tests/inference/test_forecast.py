"""Forecasts of what is left: near the truth, and the same by arrays as group by group."""

from __future__ import annotations

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.studies.storage.memory import MemoryStore

MEANS = np.array([[[0.9, 0.2], [0.3, 0.1]], [[0.1, 0.8], [0.2, 0.2]], [[0.3, 0.1], [0.2, 0.3]]])
GROUPS = {"A": ["a1", "a2"], "B": ["b1", "b2"], "C": ["c1", "c2"]}


def _study(goal, algorithm, costs=None, noise=None):
    problem = bg.Problem(GROUPS, {"x": "max", "y": "max"}, noise or bg.SubGaussian(0.3), costs)
    return bg.create_study("s", problem, goal, 0.05, MemoryStore(), algorithm=algorithm)


def _feed(study, rng, most=None):
    """Tell tickets until the end, or at least `most` pulls; yields after each round of tickets."""
    names = list(GROUPS)
    while study.status(forecast=False).state == "running":
        for ticket in study.ask(n=50, repeats=50):
            i, j = names.index(ticket.group), GROUPS[ticket.group].index(ticket.arm)
            noise = 0.3 * rng.standard_normal((ticket.repeats, 2))
            study.tell(ticket, np.clip(MEANS[i, j] + noise, -1, 2).tolist())
        yield study


@pytest.mark.parametrize(
    ("goal", "algorithm"),
    [
        (bg.ParetoGroups(0.1), "adaptive"),
        (bg.ParetoGroups(0.1), "te"),
        (bg.ParetoGroups(0.1), "te-plus"),
        (bg.BestGroup([1, 1]), "adaptive"),
        (bg.BestGroup([1, 1], 0.2), "eecb"),
    ],
)
def test_forecasts_are_near_what_is_left(goal, algorithm):
    """In most runs: a forecast goes by gaps as they look, and in one run they may look wrong for long."""
    assert 0.2 < np.median([_ratio(goal, algorithm, seed) for seed in range(5, 10)]) < 5


def _ratio(goal, algorithm, seed):
    """Return the median of what is foreseen over what is left, in the middle of a study."""
    study = _study(goal, algorithm)
    seen = []
    for k, now in enumerate(_feed(study, np.random.default_rng(seed))):
        if k % 6 == 0:
            status = now.status()
            if status.state == "running" and status.forecast is not None:
                seen.append((status.pulls, status.forecast))
    total = study.status().pulls
    ratios = [left / (total - pulls) for pulls, left in seen if 0.25 < pulls / total < 0.75]
    assert ratios, "no forecast in the middle of the study"
    assert study.status().forecast == 0.0
    return np.median(ratios)


def test_nothing_is_foreseen_before_every_arm_was_pulled():
    study = _study(bg.ParetoGroups(0.1), "adaptive")
    assert study.status().forecast is None
    assert study.status(forecast=False).forecast is None


@pytest.mark.parametrize("noise", [bg.SubGaussian(0.5), bg.Bounded(0, 1, method="bernstein")])
def test_the_whole_takes_no_more_than_all_groups_one_by_one(noise):
    from bestgroup.inference.certificate.forecast import arms_needed, pulls_needed

    rng = np.random.default_rng(3)
    rows = [
        {
            "group": g,
            "arm": a,
            "x": rng.random() * (0.4 + 0.1 * k),
            "y": rng.random() * (1 - 0.1 * k),
        }
        for _ in range(30)
        for k, (g, arms) in enumerate(GROUPS.items())
        for a in arms
    ]
    problem = bg.Problem(GROUPS, {"x": "max", "y": "max"}, noise)
    found = bg.certify(rows, bg.ParetoGroups(0.05), problem, 0.1)
    explainer = found.explainer
    assert (found.verdict.status == 0).any()
    need = arms_needed(explainer)
    assert need.shape == (3, 2) and (need >= 0).all()
    assert found.forecast() == np.maximum(need - found.tally.counts, 0).sum()
    single = [explainer.group(i).forecast for i in range(3)]
    given = [np.inf if more is None else more for more in single]
    np.testing.assert_allclose(pulls_needed(explainer), given, rtol=1e-12)
    open_ = found.verdict.status == 0
    needs = pulls_needed(explainer)[open_]
    assert (needs >= 1).all(), "what is undecided takes something"
    assert needs.max() <= found.forecast() <= needs.sum() * (1 + 1e-12)


def test_costs_are_reported():
    costs = {"A": {"a1": 5.0}, "b2": 3.0}
    study = _study(bg.ParetoGroups(0.1), "te", costs)
    assert study.status().cost == 0.0
    for _ in _feed(study, np.random.default_rng(1)):
        pass
    counts = study.checkpoint().counts
    expected = float((counts * np.array([[5.0, 1.0], [1.0, 3.0], [1.0, 1.0]])).sum())
    assert study.answer().cost == expected == study.status().cost
    assert _study(bg.ParetoGroups(0.1), "te").status().cost is None

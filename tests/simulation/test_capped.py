"""Runs that are capped: what they had decided counts, right or wrong."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.problem.status import Status
from bestgroup.theory.dominance import wrong_decisions

PARETO = bg.Instance([[[1.0, 1.0]], [[0.95, 0.95]], [[-3.0, -3.0]]])
BEST = bg.Instance([[[1.0]], [[0.95]], [[-3.0]]])


@pytest.mark.parametrize("engine", ["exact", "jump"])
@pytest.mark.parametrize(
    ("name", "instance", "goal", "cap"),
    [
        ("te", PARETO, bg.ParetoGroups(0.01), 3_000),
        ("te-plus", PARETO, bg.ParetoGroups(0.01), 3_000),
        ("eecb", BEST, bg.BestGroup([1]), 3_000),
    ],
)
def test_what_was_decided_before_the_cap_is_known(engine, name, instance, goal, cap):
    sim = bg.simulate(instance, goal, name, 0.05, 20, engine=engine, max_pulls=cap)
    assert not sim.finished.any() and not sim.correct.any()
    assert (sim.status[:, 2] == Status.OUT).all()  # far behind: decided in the first rounds
    assert (sim.status[:, :2] != Status.OUT).all()
    wrong = sim.status[:, 1] == Status.IN  # it is behind by more than epsilon
    assert (sim.wrong == wrong).all() and sim.errors == wrong.sum() <= 1
    low, high = sim.error_interval()
    assert high == 1.0 and (low == 0.0) == (sim.errors == 0)  # their answers are not known


# Two groups of which one is a little better, and two that tie, which no run can tell apart.
MEANS = [[[0.0, 5.0]], [[0.3, 5.3]], [[5.0, 0.0]], [[5.0, 0.0]]]
GOAL = bg.ParetoGroups(0.0)


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("te", "exact"),
        ("te", "jump"),
        ("te-plus", "exact"),
        ("te-plus", "jump"),
        ("adaptive", "exact"),
    ],
)
def test_wrong_decisions_of_capped_runs_are_errors(name, engine):
    """Radii a quarter of what is proven, or of the noise: runs go wrong before they are capped."""
    if name == "adaptive":
        noise = bg.SubGaussian(0.3)
        instance = bg.Instance(MEANS, law=bg.laws.Normal(1.0), noise=noise)
        algorithm = bg.algorithm(name)
    else:
        instance = bg.Instance(MEANS)
        algorithm = bg.algorithm(name, radius_scale=0.25)
    sim = bg.simulate(instance, GOAL, algorithm, 0.05, 200, 1, engine=engine, max_pulls=150)
    capped = ~sim.finished
    assert (sim.wrong & capped).sum() > 5 and sim.errors == sim.wrong.sum()
    assert (sim.wrong[sim.finished] == ~sim.correct[sim.finished]).all()
    false = wrong_decisions(sim.status, instance, GOAL).any(axis=1)
    assert (false == sim.wrong).all()
    assert sim.error_interval()[0] > 0.05
    assert all(record["wrong"] == sim.wrong[k] for k, record in enumerate(sim.to_records()))


@pytest.mark.parametrize("ending", ["kept.sqlite", "kept.parquet"])
def test_a_results_file_keeps_what_was_decided(tmp_path, ending):
    instance = bg.Instance(MEANS)
    given = (instance, GOAL, bg.algorithm("te", radius_scale=0.25), 0.05)
    plain = bg.simulate(*given, 60, 1, max_pulls=150)
    for runs in (30, 60):
        kept = bg.simulate(*given, runs, 1, max_pulls=150, results=tmp_path / ending)
    assert (kept.status == plain.status).all() and (kept.wrong == plain.wrong).all()


def test_a_calibration_counts_them():
    found = bg.calibrate(
        bg.Instance(MEANS), GOAL, "te", 0.05, runs=100, factors=[1.0, 0.25], max_pulls=150
    )
    proven, shrunk = found.rates
    assert proven.errors == 0 and proven.unfinished == 100
    assert shrunk.errors > 5 and shrunk.unfinished > 90 and shrunk.low > 0.02


def test_what_is_false_of_a_group():
    I, O, N, U = Status.IN, Status.OUT, Status.NOT_NEEDED, Status.UNDECIDED
    near = bg.Instance([[[1.0, 1.0]], [[0.9, 0.9]], [[0.0, 0.0]]])
    rows = np.array([[I, O, O], [I, I, U], [O, U, U], [U, U, I], [N, N, N]])
    found = wrong_decisions(rows, near, bg.ParetoGroups(0.2)).any(axis=1)
    assert found.tolist() == [False, False, True, True, False]
    one = bg.Instance([[[1.0]], [[0.9]], [[0.0]]])
    rows = np.array([[I, O, O], [N, I, O], [O, I, N], [U, U, I]])
    assert wrong_decisions(rows, one, bg.BestGroup([1], 0.2)).any(axis=1).tolist() == [
        False,
        False,
        True,
        True,
    ]
    tied = bg.Instance([[[1.0]], [[1.0]]])
    assert not wrong_decisions([[O, I]], tied, bg.BestGroup([1])).any()

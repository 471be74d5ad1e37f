"""An offset of the values changes no decision, up to what their own digits hold."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.drivers.stack import Stack
from bestgroup.inference.pivots import FAR, about_origin, of_values, pivot_of
from bestgroup.inference.tally import Tally
from bestgroup.studies.storage.memory import MemoryStore

OFFSET = 7657519671075.258


def rows(seed, offset, n, more, gap=0.5):
    """The sizes differ: plain sums of values go wrong by what each size rounds to."""
    rng = np.random.default_rng(seed)
    return {
        "group": ["A"] * n + ["B"] * more,
        "arm": ["a"] * n + ["b"] * more,
        "x": np.concatenate([rng.normal(offset, 1, n), rng.normal(offset + gap, 1, more)]),
    }


@pytest.mark.parametrize("goal", [bg.BestGroup([1]), bg.ParetoGroups(0.0)])
@pytest.mark.parametrize("arms", ["independent", "arbitrary"])
@pytest.mark.parametrize("offset", [OFFSET, -OFFSET, 1e13])
def test_certify_proves_the_right_group_at_any_offset(goal, arms, offset):
    for sizes in ((300, 20_000), (20_000, 300), (2_000, 2_000)):
        table = rows(5, offset, *sizes)
        found = bg.certify(table, goal, noise=bg.SubGaussian(1.0, arms=arms))
        assert found.accepted == ("B",) and found.rejected == ("A",)
        low, high = found.intervals
        assert (low[:, 0] - offset < [0.1, 0.6]).all() and (high[:, 0] - offset > [-0.1, 0.4]).all()


def test_unknown_variance_and_ranges_keep_their_estimates_at_any_offset():
    for noise in (bg.Gaussian(), bg.Bounded(OFFSET - 8, OFFSET + 8)):
        found = bg.certify(rows(1, OFFSET, 300, 20_000), bg.BestGroup([1]), noise=noise)
        assert found.accepted == ("B",)
        means = found.tally.sums[:, 0, 0] / found.tally.counts[:, 0] - OFFSET
        assert np.abs(means - [0.0, 0.5]).max() < 0.2


def test_offsets_that_differ_from_arm_to_arm():
    rng = np.random.default_rng(3)
    table = []
    for group, mean in (("A", 0.0), ("B", 0.5), ("C", 1e13), ("D", 1e13 + 0.5)):
        table += [{"group": group, "arm": "x", "y": v} for v in rng.normal(mean, 1, 2_000)]
    found = bg.certify(table, bg.ParetoGroups(0.0), noise=bg.SubGaussian(1.0))
    assert found.accepted == ("D",) and set(found.rejected) == {"A", "B", "C"}


@pytest.mark.parametrize(
    ("algorithm", "goal"),
    [
        ("te", bg.ParetoGroups(0.1)),
        ("te-plus", bg.ParetoGroups(0.1)),
        ("adaptive", bg.ParetoGroups(0.1)),
        ("adaptive", bg.BestGroup([1])),
        ("eecb", bg.BestGroup([1])),
    ],
)
def test_studies_decide_at_an_offset_as_they_do_without(algorithm, goal):
    noise = bg.SubGaussian(1.0)
    problem = bg.Problem({"A": ["a", "c"], "B": ["b"]}, {"x": "max"}, noise)
    answers = []
    for offset in (0.0, 2.0**44):
        study = bg.create_study("far", problem, goal, 0.05, MemoryStore(), algorithm=algorithm)
        rng = np.random.default_rng(7)
        while tickets := study.ask(64):
            # Multiples of 2^-8, which are exact at both offsets.
            draws = np.round(rng.standard_normal(len(tickets)) * 256) / 256
            study.tell_many(
                [
                    (t, [offset + z + (0.25 if t.group == "B" else 0.0)])
                    for t, z in zip(tickets, draws, strict=True)
                ]
            )
        answers.append(study.answer())
        assert study.verify() == study.answer().pulls
        why = study.explain("B")
        assert abs(why.efficiency["x"] - offset - 0.25) < 0.25
        assert abs(why.arms[0]["mean"]["x"] - offset - 0.25) < 0.25
        assert abs(why.decision["evidence"]["efficiency"]["x"] - offset - 0.25) < 0.25
        low, high = study.certificate().intervals
        assert low[1, 0] - offset < 0.25 < high[1, 0] - offset
    assert answers[0] == answers[1] and answers[0].groups == ("B",)


def test_a_study_goes_on_from_its_snapshot_with_the_pivots_it_had():
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0))
    store, values = MemoryStore(), np.random.default_rng(2).normal(OFFSET, 1, 4_000)
    study = bg.create_study("s", problem, bg.ParetoGroups(0.1), 0.05, store, algorithm="te")
    for k in range(300):
        for ticket in study.ask(2):
            study.tell(ticket, [values[2 * k] + (ticket.group == "B") * 0.2])
    checkpoint = study.checkpoint()
    study._runner.forget()
    again = study.checkpoint()
    assert (again.deviations == checkpoint.deviations).all() and (
        again.pivots == checkpoint.pivots
    ).all()
    assert np.abs(checkpoint.deviations).max() < 1e3 < np.abs(checkpoint.pivots).min()


def test_near_values_are_summed_as_they_are():
    assert (pivot_of(np.array([FAR, -FAR, 5.0]), np.ones(3)) == 0.0).all()
    near = Stack(1, np.ones(1))
    near.put(0, np.array([[1.5], [2.5]]))
    assert near.pivot is None and near.total(2) == 4.0
    far = Stack(1, np.ones(1))
    far.put(1, np.array([[OFFSET + 1]]))
    assert far.pivot is None
    far.put(0, np.array([[OFFSET]]))
    assert far.pivot == OFFSET and far.total(2) == 1.0


def test_sums_about_one_origin():
    counts = np.array([[2], [3]])
    pivots = np.array([[[1e13]], [[1e13 + 1]]])
    tally = Tally(counts, np.array([[[0.5]], [[0.25]]]))
    centred, origin = about_origin(tally, pivots)
    assert origin == 1e13 and centred.sums.ravel().tolist() == [0.5, 3.25]
    assert of_values(tally, pivots).sums.ravel().tolist() == [2e13 + 0.5, 3e13 + 3.25]
    unpulled = Tally(np.zeros((2, 1), int), np.zeros((2, 1, 1)))
    assert about_origin(unpulled, np.zeros((2, 1, 1)))[0] is unpulled

"""In, out, not needed, undecided: what each word claims, in certificates, answers and decisions."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.adaptive.best.algorithm import AdaptiveLinear
from bestgroup.algorithms.adaptive.best.boxes import check_boxes
from bestgroup.algorithms.adaptive.best.state import init, make_workspace
from bestgroup.analysis.certify import certificate_from
from bestgroup.inference.tally import Tally
from bestgroup.problem.status import Status
from bestgroup.studies.storage.memory import MemoryStore

NEAR = bg.BestGroup([1], epsilon=0.2)


def one_arm_each(means, counts):
    """Return a problem of single arms, and the tally of a table with these means."""
    groups = {name: ["arm"] for name, _ in zip("ABCDEF", means, strict=False)}
    n = np.array(counts)[:, None]
    sums = n[:, :, None] * np.array(means, float)[:, None, None]
    tally = Tally(n, sums, np.zeros((*sums.shape, 0)))
    return groups, tally


@pytest.mark.parametrize("arms", ["independent", "arbitrary"])
def test_a_better_group_is_not_put_out_because_another_one_is_near_enough(arms):
    groups, tally = one_arm_each([0.50, 0.55, -1.0], [10**6, 3_000, 3_000])
    problem = bg.Problem(groups, {"score": "max"}, bg.SubGaussian(1.0, arms=arms))
    found = certificate_from(tally, problem, NEAR, 0.05)
    assert found.accepted == ("A",) and found.rejected == ("C",)
    assert found.not_needed == ("B",) and found.undecided == ()
    assert "within epsilon of the best: A" in str(found) and "Not needed: 1" in str(found)
    assert "maybe better" in found.explain("B").text
    assert "is the best" not in found.guarantee.statement
    assert found.explain("A").text.startswith("A is within epsilon of the best group")
    assert [entry["status"] for entry in found.to_dict()["groups"]] == ["in", "not needed", "out"]
    assert found.to_dict()["not_needed"] == ["B"]


def test_without_slack_the_others_are_out():
    groups, tally = one_arm_each([0.5, 0.0], [4_000, 4_000])
    problem = bg.Problem(groups, {"score": "max"}, bg.SubGaussian(1.0))
    found = certificate_from(tally, problem, bg.BestGroup([1]), 0.05)
    assert found.accepted == ("A",) and found.rejected == ("B",) and found.not_needed == ()
    assert "Proven best: A" in str(found) and found.explain("A").text.startswith("A is the best")


@pytest.mark.parametrize("algorithm", ["adaptive", "eecb"])
def test_an_algorithm_that_stops_at_epsilon_calls_the_rest_not_needed(algorithm):
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"score": "max"}, bg.SubGaussian(0.1))
    store = MemoryStore()
    goal = bg.BestGroup([1], epsilon=0.5)
    study = bg.create_study("near", problem, goal, 0.05, store, algorithm=algorithm)
    while tickets := study.ask(4):
        for ticket in tickets:
            study.tell(ticket, [0.55 if ticket.group == "A" else 0.50])
    answer, status = study.answer(), study.status()
    assert answer.final and len(answer.groups) == len(answer.not_needed) == 1
    assert answer.outside == () and status.not_needed == 1 and status.groups_out == 0
    rest = answer.not_needed[0]
    assert study.explain(rest).status == "not needed"
    assert [d["kind"] for d in study.decisions()].count("not needed") == 1
    assert study.verify() == answer.pulls


@pytest.mark.parametrize("goal", [bg.ParetoGroups(0.1), bg.BestGroup([1, 1])])
@pytest.mark.parametrize("algorithm", ["te", "te-plus", "adaptive", "eecb"])
def test_a_partial_answer_carries_the_guarantee_of_what_it_says(goal, algorithm):
    if isinstance(goal, bg.ParetoGroups) == (algorithm == "eecb"):
        return
    if isinstance(goal, bg.BestGroup) and algorithm in ("te", "te-plus"):
        return
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max", "y": "max"}, bg.SubGaussian(1.0))
    study = bg.create_study("part", problem, goal, 0.05, MemoryStore(), algorithm=algorithm)
    partial = study.answer()
    assert not partial.final
    assert "the answer" not in partial.guarantee.statement
    assert "group that is out" in partial.guarantee.statement
    assert "on_the_way" not in partial.to_dict()["guarantee"]
    while tickets := study.ask(16):
        study.tell_many([(t, [4.0, 4.0] if t.group == "A" else [0.0, 0.0]) for t in tickets])
    assert study.answer().final and "the answer" in study.answer().guarantee.statement


def test_a_proof_of_final_answers_says_nothing_of_a_run_that_goes_on():
    guarantee = bg.Guarantee("proven", "the answer is right", ("all is well",))
    assert guarantee.so_far().level == "none" and "has not ended" in str(guarantee.so_far())
    assert bg.Guarantee("none", "no proof").so_far() == bg.Guarantee("none", "no proof")


def test_assumptions_name_the_past_that_each_proof_needs():
    shape = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0)).shape
    own = "given the arm's own earlier pulls, its next pull has its mean and that noise"
    for noise, name, goal, single in [
        (bg.SubGaussian(1.0), "te", bg.ParetoGroups(0.1), True),
        (bg.SubGaussian(1.0), "eecb", bg.BestGroup([1]), True),
        (bg.SubGaussian(1.0), "unis-corrected", bg.ParetoGroups(0.1), True),
        (bg.SubGaussian(1.0), "te-plus", bg.ParetoGroups(0.1), False),
        (bg.SubGaussian(1.0, arms="arbitrary"), "te-plus", bg.ParetoGroups(0.1), True),
        (bg.SubGaussian(1.0), "adaptive", bg.ParetoGroups(0.1), False),
        (bg.SubGaussian(1.0), "adaptive", bg.BestGroup([1]), False),
        (bg.SubGaussian(1.0, arms="arbitrary"), "adaptive", bg.ParetoGroups(0.1), True),
        (bg.SubGaussian(1.0, arms="arbitrary"), "adaptive", bg.BestGroup([1]), True),
    ]:
        found = bg.algorithm(name).guarantee(bg.Setting(shape, goal, noise, 0.05)).assumptions
        assert (own in found) == single, name
        assert ("pulls of different arms are independent" in found) == (not single), name


def test_a_group_is_not_put_out_by_its_own_box():
    """The proof for the best group by boxes counts the lows of the other groups only."""
    noise, goal = bg.SubGaussian(1.0, arms="arbitrary"), bg.BestGroup([1])
    shape = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, noise).shape
    rule = AdaptiveLinear().rule(bg.Setting(shape, goal, noise, 0.05))
    state, counts = init(rule), np.full((2, 1), 10)
    tally = Tally(counts, np.array([[[7.0]], [[2.0]]]), np.zeros((2, 1, 1, 0)))
    state.boxed[:] = counts
    state.low[:, 0, 0], state.high[:, 0, 0] = [0.9, 0.1], [0.5, 0.3]  # a wrong low of A
    check_boxes(state, tally, rule, make_workspace(state, rule))
    assert state.out.tolist() == [False, True]


@pytest.mark.parametrize("value", [5.0, 0.1])
def test_equal_values_prove_nothing_of_normal_ones_and_are_told(value):
    rows = [{"group": "A", "arm": "a", "x": value}] * 30
    rows += [{"group": "B", "arm": "b", "x": value - 3 + 0.1 * k} for k in range(20)]
    found = bg.certify(rows, bg.BestGroup([1]), noise=bg.Gaussian())
    assert found.undecided == ("A", "B") and np.isinf(found.intervals[0][0]).all()
    assert any("30 times; normal values never tie" in note for note in found.notes)
    twice = [*rows[30:], rows[30]]
    told = bg.certify(twice, bg.BestGroup([1]), noise=bg.Gaussian()).notes
    assert any("2 times" in note for note in told)


def test_a_comparison_counts_as_proven_only_where_it_is_by_itself():
    groups, tally = one_arm_each([0.9, 0.3], [4_000, 4_000])
    for arms, proven in (("independent", False), ("arbitrary", True)):
        problem = bg.Problem(groups, {"score": "max"}, bg.SubGaussian(1.0, arms=arms))
        for goal in (bg.ParetoGroups(0.0), bg.BestGroup([1])):
            found = certificate_from(tally, problem, goal, 0.05)
            assert found.rejected == ("B",)
            assert all(r.proven == proven for r in found.explain("B").reasons)


def test_single_dims_of_the_best_group_are_not_proven_by_its_being_best():
    counts = np.full((2, 1), 2_000)
    sums = np.array([[[2_000.0, 100.0]], [[0.0, 90.0]]])
    noise = bg.SubGaussian(1.0, arms="arbitrary")
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max", "y": "max"}, noise)
    tally = Tally(counts, sums, np.zeros((2, 1, 2, 0)))
    found = certificate_from(tally, problem, bg.BestGroup([1, 1]), 0.05)
    assert found.accepted == ("A",)
    assert {r.dim: r.proven for r in found.explain("A").reasons} == {"x": True, "y": False}


def test_statuses_have_one_word_and_one_letter_each():
    assert [s.word for s in Status] == ["undecided", "in", "out", "not needed"]
    for status in Status:
        assert Status.read(status.word) is Status.read(status.letter) is status
    with pytest.raises(ValueError, match="no status"):
        Status.read("maybe")

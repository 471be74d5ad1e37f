"""One study, one certificate: what `solve`, `explain`, plots and the page say of a group is one thing."""

import json

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.cli.main import run
from bestgroup.cli.study import proof_text
from bestgroup.plots.certificate import intervals_view, pareto_view, pulls_view
from bestgroup.plots.study import status_view
from bestgroup.problem.status import Status
from bestgroup.studies.html_report.page import report_html
from bestgroup.studies.storage.memory import MemoryStore
from stories.walk import look

GROUPS = {"g1": ["a", "b"], "g2": ["c"], "g3": ["d"]}
MEANS = {"a": 0.2, "b": 0.0, "c": 0.3, "d": 0.9}


def measure(group, arm, seed):
    return MEANS[arm] + np.random.default_rng(seed).standard_normal()


@pytest.mark.parametrize("algorithm", ["adaptive", "eecb"])
def test_the_certificate_of_a_solution_is_its_answer(algorithm):
    problem = bg.Problem(GROUPS, {"score": "max"}, bg.SubGaussian(1.0))
    found = bg.solve(problem, bg.BestGroup([1]), measure, 0.05, algorithm=algorithm)
    proof = found.certificate
    assert str(found).startswith("proven after") and found.answer.groups == ("g3",)
    assert proof.accepted == ("g3",) and proof.rejected == ("g1", "g2")
    assert "Proven best: g3" in str(proof) and proof.contradictions == ()
    for name, why in found.explanations.items():
        assert why.status == proof.explain(name).status
    entries = proof.to_dict()["groups"]
    assert [entry["status"] for entry in entries] == ["out", "out", "in"]
    assert proof.guarantee == found.answer.guarantee and proof.forecast() == 0.0
    named = [text.get_text() for text in pulls_view(proof).legends[0].get_texts()]
    assert named == ["in", "out"]


def test_reasons_read_off_estimates_are_not_called_proven():
    problem = bg.Problem(GROUPS, {"score": "max"}, bg.SubGaussian(1.0))
    found = bg.solve(problem, bg.ParetoGroups(0.2), measure, 0.05, algorithm="te-plus")
    reasons = [r for why in found.explanations.values() for r in why.reasons]
    assert reasons and not any(reason["proven"] for reason in reasons)
    assert "by the estimates" in found.explanations["g1"].because


def ahead_of_the_algorithm():
    """Return a study of which the observations prove more than its slow algorithm has decided."""
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max", "y": "max"}, bg.SubGaussian(1.0))
    study = bg.create_study(
        "slow", problem, bg.ParetoGroups(0.05), 0.05, MemoryStore(), algorithm="te"
    )
    while not study.certificate().beyond.all():
        for ticket in study.ask(8):
            study.tell(ticket, [1.0, 1.0] if ticket.group == "A" else [0.0, 0.0])
    return study


def test_what_the_data_prove_beyond_the_decisions_is_marked_with_what_both_hold_with():
    study = ahead_of_the_algorithm()
    proof = study.certificate()
    assert study.answer().undecided == proof.undecided == ("A", "B")
    assert [Status(s).word for s in proof.beyond] == ["in", "out"]
    plain = proof.to_dict()
    assert plain["beyond"]["accepted"] == ["A"] and plain["beyond"]["rejected"] == ["B"]
    assert "at least 0.9 " in plain["beyond"]["guarantee"]["statement"]
    assert "at least 0.95 " in plain["guarantee"]["statement"]
    assert "observations by themselves prove in: A; out: B" in str(proof)
    why = study.explain("B")
    assert why.status == "undecided" and why.because.startswith("B is out (95% sure): ")
    drawn = pareto_view(proof)
    words = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert "in, by the observations alone" in words and "in" not in words
    assert status_view(study).axes[0].get_title() == "slow: 0 in, 0 out"
    # Whatever shows both says what both hold with.
    both = "error at most 0.05, with what the observations prove beyond at most 0.1"
    card = proof._repr_html_()
    assert both in title(drawn) and both in card and "added up" in card
    assert "at least 0.9 " in report_html(study)


def test_a_decision_that_the_data_contradict_is_a_sign_that_an_assumption_fails():
    problem = bg.Problem(
        {"A": ["a"], "B": ["b"], "C": ["c"]}, {"x": "max", "y": "max"}, bg.SubGaussian(1.0)
    )
    goal = bg.ParetoGroups(0.05)
    study = bg.create_study("drift", problem, goal, 0.05, MemoryStore(), algorithm="te")
    for k in range(2000):
        level = 9.0 if "A" not in study.answer().outside else -30.0
        values = {"A": [0.0, 0.0], "B": [level, level], "C": [level, level]}
        study.tell_many([(t, values[t.group]) for t in study.ask(8)])
        if level < 0 and k % 50 == 0 and study.certificate().contradictions:
            break
    proof = study.certificate()
    assert proof.rejected == ("A",)
    assert len(proof.contradictions) == 1 and "an assumption fails" in proof.contradictions[0]
    assert proof.contradictions[0] in proof.notes
    assert proof.to_dict()["contradictions"] == list(proof.contradictions)


def test_with_epsilon_in_and_out_need_not_contradict_each_other():
    """A group may be beaten, so be out, by no more than epsilon, so be in."""
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0))
    goal = bg.BestGroup([1], epsilon=1.0)
    study = bg.create_study("near", problem, goal, 0.05, MemoryStore(), algorithm="adaptive")
    while tickets := study.ask(4):
        study.tell_many([(t, [0.5 if t.group == "A" else 0.4]) for t in tickets])
    assert study.certificate().contradictions == ()


def test_an_answer_without_proof_is_not_called_proven():
    problem = bg.Problem(GROUPS, {"score": "max"}, bg.SubGaussian(1.0))
    found = bg.solve(problem, bg.BestGroup([1]), measure, 0.05, algorithm="tel")
    assert found.answer.final and not found.proven
    assert "without proof" in str(found) and "Proven" not in str(found.certificate)
    assert "without proof" in intervals_view(found.certificate).get_suptitle()


def test_what_was_decided_before_says_the_pulls_of_that_time():
    problem = bg.Problem(GROUPS, {"score": "max"}, bg.SubGaussian(1.0))
    found = bg.solve(problem, bg.BestGroup([1]), measure, 0.05)
    for why in found.explanations.values():
        then = sum(why.decision["evidence"]["pulls"].values())
        assert f" and {then} of its own arms" in why.sentence
        assert then <= why.decision["pulls"]


def test_an_export_says_what_certify_would_leave_open(tmp_path, capsys):
    means = np.random.default_rng(1).random((4, 3, 2))
    groups = {f"g{i}": [f"a{i}{j}" for j in range(3)] for i in range(4)}
    problem = bg.Problem(groups, {"x": "max", "y": "max"}, bg.SubGaussian(0.3))

    def draw(group, arm, seed):
        noise = 0.3 * np.random.default_rng(seed).standard_normal(2)
        return (means[int(arm[1]), int(arm[2])] + noise).tolist()

    place, goal = f"sqlite:///{tmp_path / 'study.db'}", bg.BestGroup([1, 1])
    found = bg.solve(problem, goal, draw, 0.05, storage=place, name="s")
    assert found.proven and found.certificate.accepted == found.answer.groups
    proof, path = found.study.certificate(), tmp_path / "rows.csv"
    less = proof.not_from_data()
    assert less and set(less) <= set(problem.groups)
    with pytest.raises(SystemExit) as stop:
        run(["study", "export", "s", str(path), "--storage", place])
    said = capsys.readouterr().err
    assert stop.value.code == 0 and f"leaves {', '.join(less)} undecided" in said
    again = bg.certify(path, goal, problem, 0.05)
    assert again.undecided == less
    assert any("what its algorithm has decided stands" in note for note in again.notes)
    # The numbers agree: the same rows give the same intervals.
    assert np.allclose(again.intervals, proof.intervals, rtol=0, atol=1e-9)
    assert (again.tally.counts == proof.tally.counts).all()


def test_two_proofs_at_a_large_delta_guarantee_nothing_together():
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max", "y": "max"}, bg.SubGaussian(1.0))
    goal = bg.ParetoGroups(0.05)
    study = bg.create_study("wide", problem, goal, 0.6, MemoryStore(), algorithm="te")
    while not study.certificate().beyond.any():
        study.tell_many([(t, [1.0, 1.0] if t.group == "A" else [0.0, 0.0]) for t in study.ask(8)])
    found = study.certificate()
    assert found.together.level == "none" and "1.2" not in title(pareto_view(found))


def test_imported_rows_add_the_assumption_that_they_were_not_seen():
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0))
    study = bg.create_study("in", problem, bg.ParetoGroups(0.1), 0.05, MemoryStore())
    words = "none was seen when groups, arms, dims, weights and delta were fixed"
    assert words not in str(study.answer().guarantee)
    study.import_observations([{"group": "A", "arm": "a", "x": 0.5}] * 3)
    assert words in str(study.answer().guarantee) and words in str(study.certificate().guarantee)
    for ticket in study.ask(4):
        study.tell(ticket, [0.1])
    assert words in str(study.answer().guarantee)


def test_the_shell_says_what_the_observations_prove_beyond_the_answer(tmp_path, capsys):
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max", "y": "max"}, bg.SubGaussian(1.0))
    place, goal = f"sqlite:///{tmp_path / 'slow.db'}", bg.ParetoGroups(0.05)
    study = bg.create_study("slow", problem, goal, 0.05, place, algorithm="te")
    while not study.certificate().beyond.all():
        study.tell_many([(t, [1.0, 1.0] if t.group == "A" else [0.0, 0.0]) for t in study.ask(8)])
    with pytest.raises(SystemExit):
        run(["study", "answer", "slow", "--storage", place])
    said = " ".join(capsys.readouterr().out.split())
    assert "undecided: A, B" in said and "by themselves prove in: A; out: B" in said
    assert "guarantee of both: proven: with probability at least 0.9 " in said
    with pytest.raises(SystemExit):
        run(["study", "answer", "slow", "--storage", place, "--json"])
    assert json.loads(capsys.readouterr().out)["beyond"]["accepted"] == ["A"]


def test_the_proof_of_a_decision_names_the_arms_that_were_compared():
    problem = bg.Problem(GROUPS, {"score": "max"}, bg.SubGaussian(1.0))
    study = bg.create_study(
        "told", problem, bg.ParetoGroups(0.1), 0.05, MemoryStore(), algorithm="adaptive"
    )
    assert study.explain("g1").proof == []
    while tickets := study.ask(64):
        for ticket in tickets:
            study.tell(ticket, [measure(ticket.group, ticket.arm, ticket.seed)])
    out, best = study.explain("g1").proof, study.explain("g3").proof
    # All arms of a rejected group are beaten, by one group; means say that it is true.
    assert {entry["worse"][1] for entry in out} == {"a", "b"}
    assert len({entry["better"][0] for entry in out}) == 1
    for entry in out + best:
        assert MEANS[entry["better"][1]] + entry["slack"] > MEANS[entry["worse"][1]]
    assert all(entry["slack"] == 0.0 for entry in out)
    text = proof_text(study.explain("g1"))
    assert text.startswith("the proof of 'out' compares 2 pairs of arms:\n  score: ")
    assert "is better than a of g1" in text


def title(figure):
    return f"{figure.get_suptitle()} {figure.axes[0].get_title()}"


def legends(figure):
    own = [axes.get_legend() for axes in figure.axes]
    return [legend for legend in (*own, *figure.legends) if legend is not None]


@pytest.fixture
def four(tmp_path):
    """A finished study whose rows prove less by themselves than its algorithm did."""
    means = np.random.default_rng(1).random((4, 3, 2))
    groups = {f"g{i}": [f"a{i}{j}" for j in range(3)] for i in range(4)}
    problem = bg.Problem(groups, {"x": "max", "y": "max"}, bg.SubGaussian(0.3))

    def draw(group, arm, seed):
        noise = 0.3 * np.random.default_rng(seed).standard_normal(2)
        return (means[int(arm[1]), int(arm[2])] + noise).tolist()

    place = f"sqlite:///{tmp_path / 'study.db'}"
    found = bg.solve(problem, bg.BestGroup([1, 1]), draw, 0.05, storage=place, name="s", batch=3)
    return found, place


def test_what_the_rows_alone_leave_open_is_decided_everywhere(four):
    """Page, command line, explanations, counts and figures show the study's decisions."""
    found, place = four
    assert found.study.certificate().not_from_data()
    own = look(found.study, place, found.study.problem)
    assert sorted(own.values()) == ["in", "out", "out", "out"]
    assert found.certificate.accepted == found.answer.groups
    figure = pareto_view(found.certificate)
    shown = {text.get_text() for legend in legends(figure) for text in legend.get_texts()}
    assert shown & {"in", "out", "undecided"} == {"in", "out"}


def test_an_export_is_decided_again_as_the_study_did(four, tmp_path, capsys):
    (found, place), rows, file = four, tmp_path / "rows.csv", tmp_path / "s.toml"
    with pytest.raises(SystemExit) as stop:
        words = ["--problem", str(file), "--storage", place, "--json"]
        run(["study", "export", "s", str(rows), *words])
    said = json.loads(capsys.readouterr().out)
    assert stop.value.code == 0 and said["not_proven_by_the_rows_alone"]
    assert said["again"] == f"bestgroup certify {rows} --problem {file} --as-study"
    with pytest.raises(SystemExit) as stop:
        run([*said["again"].split()[1:], "--json"])
    again, own = json.loads(capsys.readouterr().out), found.certificate.to_dict()
    assert stop.value.code == 0 and found.proven
    for key in ("accepted", "rejected", "not_needed", "undecided", "pulls", "delta"):
        assert again[key] == own[key], key
    assert again["guarantee"]["statement"] == own["guarantee"]["statement"]
    words = "the algorithm, its options and the seed were fixed before the values were seen"
    assert words in again["guarantee"]["assumptions"] and words not in str(own["guarantee"])
    for ours, theirs in zip(own["groups"], again["groups"], strict=True):
        assert ours["status"] == theirs["status"]
        for dim, ends in ours["efficiency"].items():  # sums in other portions: the last bit differs
            assert theirs["efficiency"][dim] == pytest.approx(ends, rel=1e-12)
    # Without the option another plan asks for other pulls: the rows then need not do.
    with pytest.raises(SystemExit):
        run(["study", "export", "s", str(tmp_path / "more.csv"), "--storage", place, "--json"])
    short = json.loads(capsys.readouterr().out)["again"]
    assert "--problem PROBLEM --as-study --algorithm adaptive --option batch=3" in short


def test_an_export_with_a_gap_is_decided_again_up_to_it(tmp_path):
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0))
    goal, store = bg.ParetoGroups(0.1), MemoryStore()
    study = bg.create_study("gap", problem, goal, 0.05, store, algorithm="te", horizon=4)
    left = None
    for _ in range(6):
        for ticket in study.ask(16):
            if left is None and ticket.group == "B" and ticket.index == 1:
                left = ticket  # its worker is slow
            else:
                study.tell(ticket, [9.0 if ticket.group == "A" else 0.0])
    own = study.certificate()
    assert left is not None and study.head().pulls < study.head().told
    study.export(tmp_path / "gap.csv")
    again = bg.certify_as_study(tmp_path / "gap.csv", goal, problem, 0.05, "te")
    assert (again.verdict.status == own.verdict.status).all()
    assert (again.tally.counts == own.tally.counts).all()


def test_a_running_index_of_the_whole_table_does_not_number_pulls():
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0))
    rows = [
        {"index": k, "group": "AB"[k % 2], "arm": "ab"[k % 2], "x": 9.0 * (1 - k % 2)}
        for k in range(40)
    ]
    found = bg.certify_as_study(rows, bg.BestGroup([1]), problem, 0.05)
    assert found.accepted == ("A",) and found.pulls == 40


def test_rows_of_shared_items_are_decided_again_with_their_seed(tmp_path):
    items = bg.Items(200)
    problem = bg.Problem(
        {"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.Bounded(0, 1, arms="arbitrary"), items=items
    )
    goal = bg.BestGroup([1])
    found = bg.solve(problem, goal, lambda group, arm, item: 0.9 if arm == "a" else 0.2, seed=3)
    found.save(tmp_path / "rows.csv")
    again = bg.certify_as_study(tmp_path / "rows.csv", goal, problem, seed=3)
    assert again.accepted == found.certificate.accepted == ("A",)
    with pytest.raises(bg.InvalidInput, match="give the seed that they were drawn with"):
        bg.certify_as_study(tmp_path / "rows.csv", goal, problem)


def test_an_index_that_is_none_is_refused():
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"x": "max"}, bg.SubGaussian(1.0))
    study = bg.create_study("bad", problem, bg.ParetoGroups(0.1), 0.05, MemoryStore())
    row = {"group": "A", "arm": "a", "x": 0.5}
    for index in (-1, 0.5, 1e300):
        with pytest.raises(bg.InvalidInput, match="must be an integer from 0"):
            study.import_observations([{**row, "index": index}], by_index=True)
    with pytest.raises(bg.InvalidInput, match="has the index 4 twice"):
        study.import_observations([{**row, "index": 4}] * 2, by_index=True)
    with pytest.raises(bg.InvalidInput, match="there is no column for the dim 'index'"):
        study.import_observations([row], by_index=True)
    assert study.head().told == 0


def test_what_a_void_assumption_leaves_is_not_called_proven():
    """Values that tie are not normal: neither the algorithm nor the rows prove anything then."""
    dims = {"x": "max", "y": "max"}
    problem = bg.Problem({"A": ["a"], "B": ["b"], "C": ["c"]}, dims, bg.Gaussian())
    goal = bg.ParetoGroups(0.05)
    # A plan of 300 pulls: the rows alone have decided something long before the algorithm has.
    algorithm = bg.algorithm("adaptive", batch=300)
    study = bg.create_study("tied", problem, goal, 0.05, MemoryStore(), algorithm=algorithm)
    rng = np.random.default_rng(3)
    for _ in range(60):  # ratings from 1 to 5
        if study.certificate().data.status.any():
            break
        better = {"A": 4, "B": 1, "C": 1}
        pairs = [(t, rng.integers(better[t.group], better[t.group] + 2, 2)) for t in study.ask(6)]
        study.tell_many([(t, values.tolist()) for t, values in pairs])
    found = study.certificate()
    assert found.guarantee.level == "none" and "proven" not in str(found).lower()
    assert "prove" not in str(found).replace("without proof", "")
    for group in problem.groups:
        assert "sure" not in found.explain(group).text
    assert "without proof" in title(pareto_view(found))
    table = bg.certify(study.to_frame(), goal, problem, 0.05)
    assert table.guarantee.level == "none"
    assert "without proof" in title(pareto_view(table))

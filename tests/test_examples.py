"""The worked examples run, and give what they say."""

import importlib.util
import sys
from pathlib import Path

import pytest

import bestgroup as bg

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / name / "run.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_model_selection_on_a_budget(tmp_path):
    example = load("model_selection")
    found = example.solve(bg.Bounded(example.LOW, example.HIGH), budget=120)
    assert found.answer.told == 120
    low, high = found.certificate.intervals
    assert ((low >= (0, 2)) & (high <= (1, 7))).all()
    found.certificate.plot("size", "accuracy").savefig(tmp_path / "view.png")
    assert (tmp_path / "view.png").stat().st_size > 5000


def test_limits_exclude_the_largest_models():
    spec = bg.load_spec(EXAMPLES / "limits" / "serving.toml")
    found = bg.simulate(spec.instance(), spec.goal, spec.algorithm, spec.delta, 5, progress=False)
    assert {spec.groups[i] for answer in found.answers for i in answer} == {"medium"}
    assert found.correct.all()


def test_one_vaccine_is_best_for_all_weights():
    whole, part = load("weights").certify(3000)
    assert whole.map.always == part.map.always == ("m1273",)


@pytest.mark.verify
def test_model_selection_to_the_end():
    example = load("model_selection")
    found = example.solve(bg.Bounded(example.LOW, example.HIGH))
    assert found.answer.groups == ("nearest neighbours", "decision tree", "ridge")
    plain = example.by_the_range(found)
    pulls, seconds = found.answer.pulls, found.seconds
    print(f"models: {pulls} pulls in {seconds:.0f} s; {plain:.0f} by the range alone")
    assert plain > 5 * found.answer.pulls


def test_digits_on_shared_items_on_a_budget():
    example = load("digits_items")
    found = example.solve(budget=100)
    assert found.answer.told == 100
    assert "1,797 items" in str(found.answer.guarantee)


@pytest.mark.verify
def test_shared_items_to_the_end():
    found = load("digits_items").solve()
    assert found.proven and "neighbours" in found.answer.groups
    found = load("codec_items").solve()
    assert found.proven and {"zlib", "lzma"} <= set(found.answer.groups)


def test_codecs_on_shared_items_on_a_budget():
    example = load("codec_items")
    found = example.solve(budget=60)
    assert found.answer.told == 60
    assert (found.certificate.tally.counts[:, 0] > 0).all()


def test_cov_boost_by_vaccine():
    found = load("cov_boost").solve()
    instance = bg.datasets.cov_boost(group_by="vaccine")
    answer = frozenset(instance.groups.index(name) for name in found.answer.groups)
    assert found.proven and bg.is_correct(answer, instance, bg.ParetoGroups(0.1))
    assert set(found.explanations) == set(instance.groups)


def test_a_command_as_the_evaluator(monkeypatch):
    monkeypatch.chdir(EXAMPLES / "command")
    spec = bg.load_spec("compressors.toml")
    line = spec.evaluate["command"].replace("python", sys.executable, 1)
    found = bg.solve(spec.problem, spec.goal, line, spec.delta, workers=2, budget=40)
    assert found.answer.told == 40 and (found.certificate.tally.counts > 0).all()


def test_late_arms():
    answers = load("late_arms").play(delta=0.1)
    assert answers[1] == ("m1273",) and answers[2] == answers[0]

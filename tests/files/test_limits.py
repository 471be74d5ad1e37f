"""Limits hold with a sentence, before time or memory is spent."""

import resource
import time
import tracemalloc

import pytest

import bestgroup as bg
from bestgroup.files.toml_limits import check_toml
from bestgroup.studies.storage.memory import MemoryStore

HEAD = 'noise = {kind = "subgaussian", scale = 1.0}\n[goal]\nkind = "pareto"\n[dims]\nx = "max"\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (".".join("a" * 60_000) + " = 1\n", "line 1: a key may have up to 32 parts"),
        (f"x = 1\n[{'.'.join('ab' * 30_000)}]\n", "line 2: a key may have up to 32 parts"),
        ("x = {" + " . ".join("a" * 9_000) + " = 1}\n", "a key may have up to 32 parts"),
        ('"a"' + '."b"' * 60_000 + " = 1\n", "a key may have up to 32 parts"),
        ("x = " + "[" * 50_000 + "]" * 50_000, "nested too deeply"),
        ("x = " + "{a=" * 20_000, "nested too deeply"),
        (HEAD + "delta = " + "9" * 100_000 + "\n", "digits"),
    ],
)
def test_hostile_toml_is_refused_at_once(text, sentence, tmp_path):
    (tmp_path / "x.toml").write_text(text)
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(bg.InvalidInput, match=sentence):
        bg.load_spec(tmp_path / "x.toml")
    assert time.process_time() - begun < 5 and tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()


def test_dots_in_strings_numbers_and_comments_are_no_keys():
    numbers = ", ".join(["1.5"] * 5_000)
    check_toml(f'# {"." * 900}\nx = [{numbers}]\ny = "{"." * 900}"\nz = """\n{"." * 900}\n"""\n')
    check_toml("w = '''" + ".[" * 500 + "'''\nv = '" + ".{" * 500 + "'\n")


@pytest.mark.parametrize(
    ("groups", "dims", "sentence"),
    [
        ({f"g{k}": ["a"] for k in range(100_001)}, 1, "up to 100,000 groups; got 100,001"),
        ({"g": [f"a{k}" for k in range(1_000_001)]}, 1, "up to 1,000,000 arms"),
        ({"g": ["a"]}, 1_001, "up to 1,000 dims; got 1,001"),
        ({"g": [f"a{k}" for k in range(30_000)], **{f"h{k}": ["b"] for k in range(2_000)}}, 1,
         "arms of the largest group"),
        ({"g" * 1_001: ["a"]}, 1, "a group may have up to 1,000 characters"),
        ({"g": ["a" * 1_001]}, 1, "an arm of the group 'g' may have up to 1,000 characters"),
    ],
)  # fmt: skip
def test_problems_that_are_too_large(groups, dims, sentence):
    with pytest.raises(bg.InvalidInput, match=sentence):
        bg.Problem(groups, {f"x{d}": "max" for d in range(dims)}, bg.SubGaussian(1.0))


def test_a_study_with_more_groups_than_can_be_compared_stores_nothing():
    store = MemoryStore()
    many = bg.Problem({f"g{k}": ["a"] for k in range(20_000)}, {"x": "max"}, bg.SubGaussian(1.0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(bg.InvalidInput, match="up to 14,142 groups; got 20,000"):
        bg.create_study("one", many, bg.ParetoGroups(0.5), 0.1, store)
    assert store.listed() == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


def test_an_arm_that_is_there_many_times_is_refused_at_once():
    begun = time.process_time()
    with pytest.raises(bg.InvalidInput, match="has the arm 'a' twice"):
        bg.Problem({"g": ["a"] * 200_000}, {"x": "max"}, bg.SubGaussian(1.0))
    assert time.process_time() - begun < 2


def table_refused(text, sentence, tmp_path):
    problem = bg.Problem({"g": ["a"]}, {"x": "max"}, bg.SubGaussian(1.0))
    study = bg.create_study("one", problem, bg.ParetoGroups(0.1), 0.1, MemoryStore())
    (tmp_path / "x.csv").write_text(text)
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(bg.InvalidInput, match=sentence):
        study.import_observations(tmp_path / "x.csv")
    spent, most = time.process_time() - begun, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert study.status().told == 0
    return spent, most


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("group,arm,x," + ",".join(f"c{k}" for k in range(100_000)) + "\n", "up to 2,000 columns"),
        ("group,arm,x" + ",a" * 4_000_000 + "\n", "line 1 must have less than 2,000,000 char"),
        ('"group\n",arm,x' + ",a" * 4_000_000 + "\n", "line 2 must have less than 2,000,000 char"),
        ("group,arm,x\ng,a,1" + ",a" * 4_000_000 + "\n", "line 2 must have less than"),
        ("group,arm,x\n" + ("g,a,1" + ",a" * 400_000 + "\n") * 9, "line 2 must have 3 cells"),
    ],
)
def test_wide_tables_are_refused_before_memory_is_spent(text, sentence, tmp_path):
    spent, most = table_refused(text, sentence, tmp_path)
    assert spent < 10 and most < 2**27

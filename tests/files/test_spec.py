"""Problem files: what they give, and one sentence with the key for every mistake."""

import copy
import json
import math
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bestgroup as bg
from bestgroup.files.problem_file import Dim
from bestgroup.files.schema import key_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "bundles.toml"

HEAD = """
name = "small"
delta = 0.05
"""
GOAL = """
[goal]
kind = "pareto"
epsilon = 0.02
"""
BEST = """
[goal]
kind = "best"
weights = { profit = 1.0, returns = 0.5 }
"""
DIMS = """
[dims]
profit = "max"
latency = "watch"
returns = { direction = "min", unit = "share", low = 0, high = 1 }
"""
NOISE = """
[noise]
kind = "subgaussian"
scale = { profit = 2.0, returns = 0.5 }
"""
GROUPS = """
[groups]
"bundle A" = ["a1", "a2"]
B = ["b1"]
"""
MEANS = """
[means]
"bundle A" = [[0.2, 0.9], [0.4, 0.1]]
B = [[0.3, 0.3]]
"""


@pytest.fixture
def load(tmp_path):
    def loader(text):
        path = tmp_path / "problem.toml"
        path.write_text(text)
        return bg.load_spec(path)

    return loader


def whole(head=HEAD, goal=GOAL, dims=DIMS, noise=NOISE, groups=GROUPS, means=MEANS, more=""):
    return head + goal + dims + noise + groups + means + more


def test_everything_is_read(load):
    spec = load(whole(head='name = "small"\ndelta = 0.05\nalgorithm = "ge"\n'))
    assert (spec.name, spec.delta, spec.algorithm.name) == ("small", 0.05, "ge")
    assert spec.goal == bg.ParetoGroups(0.02)
    assert spec.dims == (
        Dim("profit", "max"),
        Dim("latency", "watch"),
        Dim("returns", "min", "share", 0.0, 1.0),
    )
    assert [dim.name for dim in spec.decided] == ["profit", "returns"]
    assert spec.noise == bg.SubGaussian([2.0, 0.5])
    assert spec.law == bg.laws.Normal([2.0, 0.5])
    assert spec.groups == ("bundle A", "B")
    assert spec.arms == (("a1", "a2"), ("b1",))
    assert spec.costs is None
    assert spec.evaluate == {}


def test_noise_kinds(load):
    bounded = load(whole(noise='[noise]\nkind = "bounded"\nlow = -5\nhigh = [5, 1]\n'))
    assert bounded.noise == bg.Bounded(-5, (5, 1)) and isinstance(bounded.law, bg.laws.Beta)
    assert bounded.problem.noise == bounded.noise
    dims = (
        '[dims]\nprofit = { direction = "max", low = 0, high = 9 }\n'
        'returns = { direction = "min", low = 0, high = 1 }\n'
    )
    ranged = load(whole(dims=dims, noise='[noise]\nkind = "bounded"\n', means=""))
    assert ranged.noise == bg.Bounded((0, 0), (9, 1))
    assert load(whole(noise='[noise]\nkind = "gaussian"\n')).noise == bg.Gaussian()
    coin = load(whole(noise='[noise]\nkind = "bernoulli"\narms = "arbitrary"\n', means=""))
    assert coin.noise == bg.Bernoulli(arms="arbitrary") and coin.law == bg.laws.Bernoulli()


def test_defaults(load):
    spec = load(whole(head="", goal='[goal]\nkind = "pareto"\n'))
    assert (spec.name, spec.delta, spec.algorithm.name) == ("problem", 0.01, "adaptive")
    assert spec.goal == bg.ParetoGroups(0.0)
    assert load(whole(goal=BEST)).algorithm.name == "adaptive"


def test_min_dims_are_mirrored_and_watched_ones_dropped(load):
    instance = load(whole()).instance()
    assert instance.dims == ("profit", "returns")
    assert instance.groups == ("bundle A", "B")
    assert instance.arms == (("a1", "a2"), ("b1",))
    assert instance.means[0].tolist() == [[0.2, -0.9], [0.4, -0.1]]
    assert instance.efficiency.tolist() == [[0.4, -0.1], [0.3, -0.3]]


def test_rows_may_hold_the_watched_dims(load):
    means = '[means]\n"bundle A" = [[0.2, 7.0, 0.9], [0.4, 7.0, 0.1]]\nB = [[0.3, 7.0, 0.3]]\n'
    short, long = load(whole()).instance(), load(whole(means=means)).instance()
    assert all((a == b).all() for a, b in zip(short.means, long.means, strict=True))


def test_a_mirrored_problem_gives_the_same_answers(load):
    mirrored = whole(
        dims='[dims]\nprofit = "max"\nkept = "max"\n',
        noise=NOISE.replace("returns", "kept"),
        means='[means]\n"bundle A" = [[0.2, -0.9], [0.4, -0.1]]\nB = [[0.3, -0.3]]\n',
    )
    results = [
        bg.simulate(spec.instance(), spec.goal, "te", delta=0.05, runs=3, max_pulls=200_000)
        for spec in (load(whole()), load(mirrored))
    ]
    assert results[0].pulls.tolist() == results[1].pulls.tolist()
    assert results[0].answers == results[1].answers


def test_mirror_goes_both_ways(load):
    spec = load(whole())
    assert spec.mirror(spec.instance().efficiency).tolist() == [[0.4, 0.1], [0.3, 0.3]]
    spec = load(whole(more='[law]\nkind = "bernoulli"\n'))
    assert spec.mirror(spec.instance().efficiency) == pytest.approx(
        np.array([[0.4, 0.1], [0.3, 0.3]])
    )


@pytest.mark.parametrize(
    ("given", "weights"),
    [
        ("{ returns = 0.5, profit = 1.0 }", (1.0, 0.5)),
        ("[1, 0.5]", (1.0, 0.5)),
        ("2", (2.0, 2.0)),
    ],
)
def test_weights_by_name_by_order_or_one_for_all(load, given, weights):
    goal = f'[goal]\nkind = "best"\nweights = {given}\nepsilon = 0.25\n'
    assert load(whole(goal=goal)).goal == bg.BestGroup(weights, 0.25)


def test_epsilon_by_name(load):
    goal = '[goal]\nkind = "pareto"\nepsilon = { returns = 0.01, profit = 0.5 }\n'
    assert load(whole(goal=goal)).goal == bg.ParetoGroups([0.5, 0.01])


def test_options_reach_the_algorithm(load):
    spec = load(whole(head='algorithm = "te"\n', more='[options]\nradius = "mixture"\n'))
    assert spec.algorithm == bg.algorithm("te", radius="mixture")
    auto = load(whole(more="[options]\nbatch = 100\n"))
    assert auto.algorithm == bg.algorithm("te-plus")


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        ('kind = "normal"', bg.laws.Normal([2.0, 0.5])),
        ('kind = "normal"\nscale = 0.25', bg.laws.Normal(0.25)),
        ('kind = "bernoulli"', bg.laws.Bernoulli()),
        # Mirroring returns turns the sign of what it shares with profit.
        (
            'kind = "normal"\ncov = [[1.0, 0.5], [0.5, 1.0]]',
            bg.laws.Normal(cov=[[1, -0.5], [-0.5, 1]]),
        ),
        ('kind = "fully-dependent"', bg.laws.Normal(cov=[[4.0, -1.0], [-1.0, 0.25]])),
    ],
)
def test_laws(load, law, expected):
    assert load(whole(more=f"[law]\n{law}\n")).law == expected


def test_fully_dependent_stays_so_without_mirrored_dims(load):
    text = whole(more='[law]\nkind = "fully-dependent"\n').replace('"min"', '"max"')
    assert load(text).law == bg.laws.FullyDependent([2.0, 0.5])


def test_bernoulli_means_are_mirrored_inside_the_unit_interval(load):
    instance = load(whole(more='[law]\nkind = "bernoulli"\n')).instance()
    assert instance.means[0] == pytest.approx(np.array([[0.2, 0.1], [0.4, 0.9]]))


def test_costs_by_arm_and_by_group(load):
    spec = load(whole(more='[cost]\nb1 = 3\n[cost."bundle A"]\na2 = 2.5\n'))
    assert spec.costs == ((1.0, 2.5), (3.0,))


def test_evaluator(load):
    spec = load(whole(more='[evaluate]\ncommand = "./measure {group} {arm} {seed}"\n'))
    assert spec.evaluate == {"command": "./measure {group} {arm} {seed}"}


def test_means_are_needed_only_for_an_instance(load):
    spec = load(whole(means=""))
    assert spec.means is None
    with pytest.raises(bg.InvalidInput, match=r"problem\.toml: means: is missing; simulation"):
        spec.instance()


def test_the_example_loads():
    spec = bg.load_spec(EXAMPLE)
    instance = spec.instance()
    assert instance.shape.sizes == (4, 4, 4, 3, 5)
    names = {instance.groups[i] for i in bg.optimal_groups(instance, spec.goal)}
    assert names == {"starter", "family", "office"}


def test_keys_read_as_in_toml():
    assert key_of(["means", "bundle A", 2]) == 'means."bundle A"[2]'


MISTAKES = {
    "no goal": (whole(goal=""), "goal: is missing"),
    "no dims": (whole(dims=""), "dims: is missing"),
    "no noise": (whole(noise=""), "noise: is missing"),
    "no groups": (whole(groups="", means=""), "groups: is missing"),
    "empty groups": (whole(groups="[groups]\n", means=""), "groups: must map at least one group"),
    "empty group": (
        whole(groups='[groups]\n"bundle A" = []\n'),
        'groups."bundle A": must be a list of at least one arm; got []',
    ),
    "group without a name": (
        whole(groups='[groups]\n"" = ["a"]\n', means=""),
        "groups: the name of a group must be a text that is not empty; got ''",
    ),
    "arms not a list": (
        whole(groups="[groups]\nB = 3\n"),
        "groups.B: must be a list of at least one arm; got 3",
    ),
    "arm not a text": (
        whole(groups="[groups]\nB = [3]\n"),
        "groups.B: the name of an arm must be a text",
    ),
    "arms twice": (
        whole(groups='[groups]\nB = ["b", "b"]\n'),
        "groups.B: has the arm 'b' twice",
    ),
    "groups a list": (whole(head="groups = [1]\n", groups="", means=""), "groups: must be a table"),
    "unknown key": (
        whole(head='nam = "x"\n'),
        "nam: is not a key here; those are name, delta, algorithm, reserve, options, goal, dims, worth",
    ),
    "unknown key of the goal": (
        whole(goal=GOAL + "epsilom = 1\n"),
        "goal.epsilom: is not a key here; those are kind, epsilon, weights, m, share",
    ),
    "misspelt key": (
        whole(goal='[goal]\nknd = "pareto"\n'),
        "goal.knd: is not a key here; those are kind, epsilon, weights, m, share",
    ),
    "unknown key of a dim": (
        whole(dims='[dims]\nprofit = { direction = "max", units = "EUR" }\n'),
        "dims.profit: has no entry 'units'; its entries are direction, unit, low, high",
    ),
    "goal kind": (
        whole(goal='[goal]\nkind = "worst"\n'),
        "goal.kind: must be 'pareto', 'best', 'top' or 'map'; got 'worst'",
    ),
    "noise kind": (
        whole(noise='[noise]\nkind = "cauchy"\n'),
        "noise.kind: must be one of subgaussian, bounded, gaussian, bernoulli; got 'cauchy'",
    ),
    "scale of bounded noise": (
        whole(noise='[noise]\nkind = "bounded"\nscale = 1\n'),
        "noise: the kind 'bounded' has no scale",
    ),
    "no range": (whole(noise='[noise]\nkind = "bounded"\nlow = 0\n'), "noise.high: is missing"),
    "empty range": (
        whole(noise='[noise]\nkind = "bounded"\nlow = 1\nhigh = 1\n'),
        "noise.low: must be below high",
    ),
    "normal law of bounded noise": (
        whole(
            noise='[noise]\nkind = "bounded"\nlow = -5\nhigh = 5\n', more='[law]\nkind = "normal"\n'
        ),
        "law: 'normal' rewards leave the range",
    ),
    "beta law of other noise": (
        whole(more='[law]\nkind = "beta"\nscale = 0.1\n'),
        "law: the kind 'beta' needs noise",
    ),
    "no scale": (whole(noise='[noise]\nkind = "subgaussian"\n'), "noise.scale: is missing"),
    "scale zero": (
        whole(noise='[noise]\nkind = "subgaussian"\nscale = 0\n'),
        "noise.scale: must be positive; got 0",
    ),
    "scale for too many": (
        whole(noise='[noise]\nkind = "subgaussian"\nscale = [1, 2, 3]\n'),
        "noise.scale: must have one entry for each of the 2 decided dims (profit, returns); got 3",
    ),
    "dependence": (
        whole(noise=NOISE + 'dependence = "some"\n'),
        "noise.dependence: must be 'arbitrary' or 'independent'; got 'some'",
    ),
    "direction": (
        whole(dims='[dims]\nprofit = "up"\n'),
        'dims.profit: must be "max", "min" or "watch", or a table with such a direction; got \'up\'',
    ),
    "dim a number": (
        whole(dims="[dims]\nprofit = 1\n"),
        'dims.profit: must be "max", "min" or "watch", or a table with such a direction; got 1',
    ),
    "dim without direction": (
        whole(dims='[dims]\nprofit = { unit = "EUR" }\n'),
        'dims.profit: must be "max", "min" or "watch", or a table with such a direction; got {',
    ),
    "dim range": (
        whole(dims='[dims]\nprofit = { direction = "max", low = 1, high = 1 }\n'),
        "dims.profit: low must be below high; got 1 and 1",
    ),
    "nothing to decide": (
        whole(dims='[dims]\nprofit = "watch"\n'),
        'dims: at least one dim must be "max" or "min"',
    ),
    "delta 0": (whole(head="delta = 0\n"), "delta: must lie strictly between 0 and 1; got 0"),
    "delta 1": (whole(head="delta = 1.0\n"), "delta: must lie strictly between 0 and 1; got 1"),
    "delta a text": (whole(head='delta = "0.1"\n'), "delta: must be a number; got '0.1'"),
    "delta true": (whole(head="delta = true\n"), "delta: must be a number; got True"),
    "delta nan": (whole(head="delta = nan\n"), "delta: must be finite; got nan"),
    "name empty": (whole(head='name = ""\n'), "name: must be a text that is not empty; got ''"),
    "epsilon negative": (
        whole(goal='[goal]\nkind = "pareto"\nepsilon = -0.1\n'),
        "goal.epsilon: must not be negative; got -0.1",
    ),
    "epsilon infinite": (
        whole(goal='[goal]\nkind = "pareto"\nepsilon = inf\n'),
        "goal.epsilon: must be a finite number; got inf",
    ),
    "epsilon too large an integer": (
        whole(goal=f'[goal]\nkind = "pareto"\nepsilon = 1{"0" * 400}\n'),
        "goal.epsilon: must be a finite number; got 1000",
    ),
    "epsilon a text": (
        whole(goal='[goal]\nkind = "pareto"\nepsilon = "small"\n'),
        "goal.epsilon: must be a number, a list of numbers or a table by dim; got 'small'",
    ),
    "epsilon of a dim": (
        whole(goal='[goal]\nkind = "pareto"\nepsilon = { profit = "x", returns = 0 }\n'),
        "goal.epsilon: the entry of 'profit' must be a number; got 'x'",
    ),
    "epsilon by unknown dim": (
        whole(goal='[goal]\nkind = "pareto"\nepsilon = { profits = 0.1 }\n'),
        "goal.epsilon.profits: the dim 'profits' is not in [dims]",
    ),
    "epsilon by watched dim": (
        whole(goal='[goal]\nkind = "pareto"\nepsilon = { latency = 0.1 }\n'),
        "goal.epsilon.latency: the dim 'latency' is only watched and takes none",
    ),
    "epsilon by dim for the best": (
        whole(goal=BEST + "epsilon = [0.1, 0.1]\n"),
        "goal.epsilon: must be one number for the kind 'best'",
    ),
    "epsilon empty": (
        whole(goal='[goal]\nkind = "pareto"\nepsilon = []\n'),
        "goal.epsilon: must be one number or one for each dim; got []",
    ),
    "weights missing": (
        whole(goal='[goal]\nkind = "best"\n'),
        "goal.weights: is missing; the kind 'best' needs one for each dim",
    ),
    "weight missing": (
        whole(goal='[goal]\nkind = "best"\nweights = { profit = 1 }\n'),
        "goal.weights: must have an entry for the dim 'returns'",
    ),
    "weight zero": (
        whole(goal='[goal]\nkind = "best"\nweights = [1, 0]\n'),
        "goal.weights: must be positive; got [1.0, 0.0]",
    ),
    "weight negative": (
        whole(goal='[goal]\nkind = "best"\nweights = [1, -2]\n'),
        "goal.weights: must be positive; got [1.0, -2.0]",
    ),
    "weights for too few": (
        whole(goal='[goal]\nkind = "best"\nweights = [1]\n'),
        "goal.weights: must have one entry for each of the 2 decided dims (profit, returns); got 1",
    ),
    "weights for pareto": (
        whole(goal=GOAL + "weights = [1, 1]\n"),
        "goal.weights: only the kind 'best' has weights; the kind is 'pareto'",
    ),
    "algorithm": (
        whole(head='algorithm = "magic"\n'),
        "algorithm: must be one of auto, te, age, ge, eecb, tel, unis, unis-corrected",
    ),
    "algorithm for the other goal": (
        whole(head='algorithm = "eecb"\n'),
        "algorithm: 'eecb' does not answer the goal's kind, 'pareto'",
    ),
    "option": (
        whole(head='algorithm = "te"\n', more="[options]\nspeed = 9\n"),
        "options: algorithm 'te' has no option 'speed'; its options are radius, radius_scale",
    ),
    "option called name": (
        whole(head='algorithm = "te"\n', more='[options]\nname = "x"\n'),
        "options: algorithm 'te' has no option 'name'",
    ),
    "option's value": (
        whole(head='algorithm = "te"\n', more='[options]\nradius = "tiny"\n'),
        "options: radius must be one of paper, mixture, stitched",
    ),
    "law kind": (
        whole(more='[law]\nkind = "cauchy"\n'),
        "law.kind: must be 'normal', 'fully-dependent', 'bernoulli' or 'beta'; got 'cauchy'",
    ),
    "law scale and cov": (
        whole(more='[law]\nkind = "normal"\nscale = 1\ncov = [[1]]\n'),
        "law: takes a scale or a cov, not both",
    ),
    "law cov of another size": (
        whole(more='[law]\nkind = "normal"\ncov = [[1]]\n'),
        "law.cov: must be [2, 2]; got [1, 1]",
    ),
    "law cov not a matrix": (
        whole(more='[law]\nkind = "normal"\ncov = [1, 2]\n'),
        "law.cov: row 1 must be a list of numbers; got 1",
    ),
    "law cov of dependent dims": (
        whole(more='[law]\nkind = "fully-dependent"\ncov = [[1, 0], [0, 1]]\n'),
        "law.cov: only the kind 'normal' has one",
    ),
    "law scale of bernoulli": (
        whole(more='[law]\nkind = "bernoulli"\nscale = 1\n'),
        "law: the kind 'bernoulli' has neither scale nor cov",
    ),
    "cost of nobody": (whole(more="[cost]\nz = 1\n"), "cost.z: the arm 'z' is in no group"),
    "cost zero": (whole(more="[cost]\na1 = 0\n"), "cost.a1: must be positive; got 0"),
    "cost of an arm of two groups": (
        whole(groups='[groups]\nA = ["x"]\nB = ["x"]\n', means="", more="[cost]\nx = 1\n"),
        "cost.x: the arm 'x' is in several groups",
    ),
    "cost of no group": (
        whole(more="[cost.Z]\na1 = 1\n"),
        "cost.Z: there is no group 'Z'",
    ),
    "cost of another group's arm": (
        whole(more="[cost.B]\na1 = 1\n"),
        "cost.B.a1: the group 'B' has no arm 'a1'",
    ),
    "evaluate twice": (
        whole(more='[evaluate]\npython = "m:f"\ncommand = "x"\n'),
        "evaluate: must have either python or command",
    ),
    "means of nobody": (
        whole(means=MEANS + "C = [[1, 1]]\n"),
        "means.C: the group 'C' is not in [groups]",
    ),
    "means of one group": (
        whole(means="[means]\nB = [[0.3, 0.3]]\n"),
        'means."bundle A": is missing; every group needs its means',
    ),
    "means of too few arms": (
        whole(means='[means]\n"bundle A" = [[0.2, 0.9]]\nB = [[0.3, 0.3]]\n'),
        'means."bundle A": must have one row for each of the 2 arms; got 1',
    ),
    "means of too many dims": (
        whole(means='[means]\n"bundle A" = [[0.2, 0.9], [1, 1, 1, 1]]\nB = [[0.3, 0.3]]\n'),
        "means.\"bundle A\": the row of 'a2' must have 2 numbers (profit, returns), or of all 3",
    ),
    "means nan": (
        whole(means='[means]\n"bundle A" = [[0.2, nan], [0.4, 0.1]]\nB = [[0.3, 0.3]]\n'),
        'means."bundle A": row 1 must be a finite number; got nan',
    ),
    "means a text": (
        whole(means='[means]\n"bundle A" = [[0.2, "x"], [0.4, 0.1]]\nB = [[0.3, 0.3]]\n'),
        "means.\"bundle A\": row 1 must be a number; got 'x'",
    ),
    "means flat": (
        whole(means='[means]\n"bundle A" = [0.2, 0.9]\nB = [[0.3, 0.3]]\n'),
        'means."bundle A": row 1 must be a list of numbers; got 0.2',
    ),
    "means outside the range": (
        whole(means='[means]\n"bundle A" = [[0.2, 0.9], [0.4, 1.1]]\nB = [[0.3, 0.3]]\n'),
        "means.\"bundle A\": returns of 'a2' must be at most 1, the high of that dim; got 1.1",
    ),
    "not toml": ("name = \n", "this is not valid TOML: Invalid value (at line 1"),
    "group twice": (
        whole(groups=GROUPS + 'B = ["b2"]\n'),
        "this is not valid TOML: Cannot overwrite a value",
    ),
    "deep nesting": ("x = " + "[" * 100_000, "line 1: lists are nested too deeply"),
    "nothing": ("", "goal: is missing"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_named(tmp_path, case):
    text, sentence = MISTAKES[case]
    path = tmp_path / "problem.toml"
    path.write_text(text)
    with pytest.raises(bg.InvalidInput) as caught:
        bg.load_spec(path)
    assert str(caught.value).startswith(f"{path}: {sentence}")
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(bg.InvalidInput, match="there is no such file"):
        bg.load_spec(tmp_path / "none.toml")
    with pytest.raises(bg.InvalidInput, match="this is a folder; give a problem file"):
        bg.load_spec(tmp_path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(bytes(range(256)))
    with pytest.raises(bg.InvalidInput, match="this is not a text file in UTF-8"):
        bg.load_spec(binary)
    long_name = tmp_path / ("x" * 300)
    with pytest.raises(bg.InvalidInput, match="cannot be read: File name too long"):
        bg.load_spec(long_name)


def test_bernoulli_means_outside_the_unit_interval(load):
    text = whole(more='[law]\nkind = "bernoulli"\n').replace("[0.2, 0.9]", "[1.2, 0.9]")
    spec = load(text)
    with pytest.raises(bg.InvalidInput, match=r"problem\.toml: means of Bernoulli rewards must"):
        spec.instance()


def test_numbers_keep_their_bits(load):
    value = math.nextafter(0.1, 1.0)
    text = whole(means=f'[means]\n"bundle A" = [[{value!r}, 0.9], [0.4, 0.1]]\nB = [[0.3, 0.3]]\n')
    assert load(text).instance().means[0][0, 0] == value


def dump(value):
    """Return a value as TOML on one line."""
    if isinstance(value, dict):
        entries = ", ".join(f"{json.dumps(key)} = {dump(entry)}" for key, entry in value.items())
        return f"{{ {entries} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(dump, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return json.dumps(value)


def places(value, path=()):
    """Return the paths of all entries, tables and lists included."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, entry in inner:
        found.append((*path, key))
        if isinstance(entry, dict | list):
            found += places(entry, (*path, key))
    return found


LAW = '[law]\nkind = "normal"\ncov = [[1, 0], [0, 1]]\n'
FULL = tomllib.loads(whole(more=LAW + '[cost]\na1 = 2\n[options]\nradius = "paper"\n'))
JUNK = st.one_of(
    st.sampled_from([[], {}, "", "x", True, 0, -1, 1e308, 10**400, math.nan, math.inf, -0.0]),
    st.sampled_from([[1], [[1]], [["x"]], {"a": 1}, {"profit": 1}, {"": {}}, [[]], [{}]]),
    st.floats(),
    st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=5),
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.sampled_from(places(FULL)), JUNK, st.sampled_from(["change", "drop", "rename"]))
def test_whatever_stands_in_a_file_it_loads_or_is_refused(tmp_path_factory, place, junk, how):
    data = copy.deepcopy(FULL)
    holder = data
    for key in place[:-1]:
        holder = holder[key]
    if how == "change":
        holder[place[-1]] = junk
    else:
        entry = holder.pop(place[-1])
        if how == "rename" and isinstance(holder, dict):
            holder[str(junk)] = entry
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text("".join(f"{json.dumps(key)} = {dump(entry)}\n" for key, entry in data.items()))
    try:
        bg.load_spec(path).instance()
    except bg.InvalidInput as error:
        assert str(error).startswith(f"{path}: ")
        assert "\n" not in str(error)

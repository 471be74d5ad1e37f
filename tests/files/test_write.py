"""Problem files that are written again: nothing is lost, nothing broken is ever written."""

import pytest

import bestgroup as bg

TEXT = """# what this is about
name = "bundles" # our name
delta = 0.05
algorithm = "adaptive"

[options]
batch = 4 # of our lab

# the question
[goal]
kind = "pareto"
epsilon = { profit = 0.1, returns = 0.02 } # agreed in May

[dims]
profit = "max"
returns = { direction = "min", low = 0, high = 1 }
latency = "watch"

[noise]
kind = "subgaussian"
scale = [1.0, 0.5]

[groups]
"bundle A" = ["a1", "a2"]
B = ["b1"]

[cost]
a1 = 2.5 # dear

[table]
group = "bundle"
ignore = ["when"]

[evaluate]
command = "./measure {group} {arm}"

[law]
kind = "normal"
cov = [[1.0, 0.1], [0.1, 0.25]]

[means]
"bundle A" = [[0.2, 0.9], [0.4, 0.1]]
B = [[0.3, 0.3]]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(TEXT)
    return path


def facts(path):
    spec = bg.load_spec(path)
    return (
        spec.problem,
        spec.goal,
        spec.delta,
        spec.algorithm,
        spec.options,
        spec.law,
        spec.columns,
        spec.evaluate,
        [rows.tolist() for rows in spec.means],
        spec.name,
    )


def test_a_loaded_file_is_written_as_it_was(file, tmp_path):
    spec = bg.load_spec(file)
    before = facts(file)
    bg.save_spec(file, spec, overwrite=True)
    assert facts(file) == before
    for words in ("# what this is about", "# our name", "# of our lab", "# agreed in May"):
        assert words in file.read_text()
    other = bg.save_spec(tmp_path / "other.toml", spec)
    assert facts(other) == before


def test_a_change_leaves_the_rest_alone(file):
    spec = bg.load_spec(file)
    bg.save_spec(
        file, spec, bg.ParetoGroups({"profit": 0.3, "returns": 0.02}), 0.01, overwrite=True
    )
    again = bg.load_spec(file)
    assert again.goal == bg.ParetoGroups([0.3, 0.02]) and again.delta == 0.01
    text = file.read_text()
    changed = [line for line in TEXT.splitlines() if line not in text.splitlines()]
    assert len(changed) <= 4, changed  # delta, epsilon, and costs and options spelt out
    assert "# of our lab" in text and "# the question" in text
    assert again.law == spec.law and again.options == {"batch": 4}


def test_tables_of_another_problem_go(file):
    problem = bg.Problem({"C": ["c"]}, {"profit": "max"}, bg.Bounded(0, 1))
    bg.save_spec(
        file, problem, bg.BestGroup([1]), law={"kind": "beta", "scale": 0.1}, overwrite=True
    )
    again = bg.load_spec(file)
    assert again.problem == problem and again.means is None and again.costs is None
    assert again.evaluate == {"command": "./measure {group} {arm}"}


def test_what_could_not_be_read_is_never_written(file):
    spec = bg.load_spec(file)
    before = file.read_bytes()
    with pytest.raises(bg.InvalidInput, match="was not written: law"):
        bg.save_spec(file, spec, law={"kind": "beta", "scale": 0.1}, overwrite=True)
    with pytest.raises(bg.InvalidInput, match="delta: must lie strictly"):
        bg.save_spec(file, spec, delta=2, overwrite=True)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["p.toml"]
    with pytest.raises(bg.InvalidInput, match="needs a goal"):
        bg.save_spec(file, spec.problem, overwrite=True)
    file.write_text("not = [toml")
    with pytest.raises(bg.InvalidInput, match="not a problem file; remove it first"):
        bg.save_spec(file, spec, overwrite=True)

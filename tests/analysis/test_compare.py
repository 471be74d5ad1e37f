import json

import pytest
from typer.testing import CliRunner

import bestgroup as bg
from bestgroup.cli.main import app

INSTANCE = bg.Instance([[[2.0, 0.0]], [[0.0, 2.0]], [[-2.0, -2.0]]])


def test_all_fitting_algorithms_next_to_the_limit():
    found = bg.compare(INSTANCE, bg.ParetoGroups(0.5), runs=2, delta=0.1)
    rows = found.to_records()
    assert [row["algorithm"] for row in rows][:3] == ["te", "age", "ge"]
    assert found.limit is not None and found.limit > 0
    for row in rows:
        assert row["times_the_limit"] == pytest.approx(row["pulls"] / found.limit)
        assert row["finished"] == 2
    assert rows[0]["ratio_to_first"] == 1.0


def test_chosen_algorithms_and_no_limit():
    goal = bg.BestGroup([1.0, 2.0])
    found = bg.compare(INSTANCE, goal, ["eecb"], runs=1, delta=0.1, limit=False, max_pulls=5000)
    assert found.limit is None and len(found.simulations) == 1


def test_the_best_group_has_the_limit_of_dims_that_may_depend():
    """Raising both dims of an arm at once costs half as much if they share one noise."""
    goal, means = bg.BestGroup([1.0, 1.0]), [[[1.0, 1.0]], [[0.5, 0.5]]]
    found = bg.compare(bg.Instance(means), goal, ["adaptive"], runs=1, delta=0.1)
    assert found.limit_at_worst == pytest.approx(2.0 * found.limit, rel=0.01)
    apart = bg.Instance(means, noise=bg.SubGaussian(1.0, dependence="independent"))
    assert bg.compare(apart, goal, ["adaptive"], runs=1, delta=0.1).limit_at_worst is None
    pareto = bg.compare(bg.Instance(means), bg.ParetoGroups(), ["te-plus"], runs=1, delta=0.1)
    assert pareto.limit is not None and pareto.limit_at_worst is None


def test_bad_input_is_refused_before_anything_runs():
    with pytest.raises(bg.InvalidInput, match="at least one algorithm"):
        bg.compare(INSTANCE, bg.ParetoGroups(0.5), [])
    with pytest.raises(bg.InvalidInput, match="answers BestGroup"):
        bg.compare(INSTANCE, bg.ParetoGroups(0.5), ["eecb"])
    with pytest.raises(bg.InvalidInput, match="an Instance is needed"):
        bg.compare(3, bg.ParetoGroups(0.5))


def test_bounds_and_compare_print_the_limit_of_the_assumption(tmp_path):
    problem = tmp_path / "best.toml"
    problem.write_text(
        'delta = 0.1\ngoal = {kind = "best", weights = [1, 1]}\ndims = {u = "max", v = "max"}\n'
        'noise = {kind = "subgaussian", scale = 1.0}\n[groups]\nA = ["a"]\nB = ["b"]\n'
        "[means]\nA = [[1, 1]]\nB = [[0, 0]]\n"
    )
    run = CliRunner()
    told = run.invoke(app, ["bounds", str(problem)])
    assert "if the dims of a pull share one noise" in " ".join(told.output.split())
    found = json.loads(run.invoke(app, ["bounds", str(problem), "--json"]).output)
    worst, plain = (found[f"characteristic_time{end}"]["value"] for end in ("_at_worst", ""))
    assert worst == pytest.approx(2.0 * plain, rel=0.01)
    told = run.invoke(app, ["compare", str(problem), "--algorithms", "adaptive", "--runs", "1"])
    assert "pull share one noise it is" in " ".join(told.output.split())


def test_command_line(tmp_path):
    plot = tmp_path / "compare.png"
    arguments = ["compare", "examples/bundles.toml", "--algorithms", "te,ge", "--runs", "1"]
    arguments += ["--epsilon", "0.2", "--delta", "0.1", "--json", "--plot", str(plot)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [row["algorithm"] for row in found["algorithms"]] == ["te", "ge"]
    assert plot.read_bytes().startswith(b"\x89PNG")

"""`plan`: an answer in time, epsilon by dim, the spreads of the file, and when there is no answer."""

import json
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import bestgroup as bg
from bestgroup.cli.main import app

MEANS = [[[0.8, 40.0], [0.7, 60.0]], [[0.6, 30.0]], [[0.2, 10.0]]]


def instance(scale=(0.1, 5.0), noise=None):
    return bg.Instance(
        MEANS, bg.laws.Normal(scale), noise or bg.SubGaussian(scale), dims=["acc", "speed"]
    )


def test_epsilon_by_dim_is_scaled_as_a_whole():
    table = bg.plan(instance(), bg.ParetoGroups({"acc": 0.1, "speed": 2.0}), deltas=[0.1], runs=2)
    assert [row.epsilon for row in table.rows] == [
        pytest.approx((0.4, 8.0)),
        pytest.approx((0.2, 4.0)),
        pytest.approx((0.1, 2.0)),
        pytest.approx((0.05, 1.0)),
    ]
    assert table.dims == ("acc", "speed")
    assert all(row.limit is not None and row.mean is not None for row in table.rows)
    fit = table.resolvable(10**6)
    assert fit[0.1] == pytest.approx((0.05, 1.0))
    without = bg.plan(instance(), bg.ParetoGroups(0), deltas=[0.1], runs=2)
    assert without.rows[2].epsilon == pytest.approx((0.06, 5.0)), (
        "a tenth of the spread in each dim"
    )


def test_the_limit_is_left_out_where_it_is_no_bound():
    table = bg.plan(
        instance(noise=bg.SubGaussian([1.0, 50.0])), bg.ParetoGroups(0.5), deltas=[0.1], runs=2
    )
    assert all(row.limit is None for row in table.rows)
    assert any("the limit is left out" in note for note in table.notes)


def test_what_takes_too_long_says_so_in_time():
    hard = bg.Instance([[[0.5 + k * 1e-5, 0.5]] for k in range(6)], bg.laws.Normal(1.0))
    bg.plan(
        hard, bg.ParetoGroups(0.5), deltas=[0.1], runs=1, epsilons=[2.0]
    )  # compiled from here on
    begun = time.monotonic()
    table = bg.plan(hard, bg.ParetoGroups(1e-6), runs=20, seconds=3.0)
    assert time.monotonic() - begun < 15
    assert len(table.rows) == 12
    for row in table.rows:
        assert row.mean is None and row.often is None
        assert row.more_than is None or row.more_than >= 20_000
    assert any("more than 3 seconds" in note for note in table.notes)
    assert table.resolvable(10**9) == {0.1: None, 0.05: None, 0.01: None}
    with pytest.raises(bg.InvalidInput, match="seconds must be positive"):
        bg.plan(hard, bg.ParetoGroups(0.1), seconds=0)


def test_a_pilot_of_unknown_variance_is_planned_with_the_spread_that_was_seen(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    lines = ["model,split,acc,ms"]
    for model, acc, ms in (("forest", 0.92, 31.0), ("tree", 0.85, 2.0), ("linear", 0.80, 1.0)):
        for split in range(30):
            lines.append(
                f"{model},{split},{acc + 0.01 * rng.normal():.9f},{ms + 0.1 * rng.normal():.9f}"
            )
    (tmp_path / "scores.csv").write_text("\n".join(lines))

    def run(*words):
        result = CliRunner().invoke(app, list(words))
        assert result.exit_code == 0, (words, result.output)
        return result.stdout

    said = run("init", "scores.csv", "--group", "model", "--min", "ms", "--json")
    laws = json.loads(said)["law"]  # one for all dims, or one for each
    found = [laws] if "kind" in laws else [laws[dim] for dim in ("acc", "ms")]
    assert {law["kind"] for law in found} <= {"normal", "beta"}
    begun = time.monotonic()
    planned = json.loads(run("plan", "scores.toml", "--runs", "3", "--seconds", "10", "--json"))
    assert time.monotonic() - begun < 90
    own = [row for row in planned["rows"] if row["delta"] == 0.05]
    assert own[2]["mean"] is not None and own[2]["mean"] < 50_000
    shown = run("plan", "scores.toml", "--runs", "2", "--deltas", "0.1", "--budget", "100000")
    assert "epsilon acc" in shown and "epsilon ms" in shown and "pulls resolve" in shown

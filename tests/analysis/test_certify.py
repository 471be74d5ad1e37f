"""`certify`: what tables of observations prove, in any order, and what is refused."""

import csv
from dataclasses import replace

import numpy as np
import pytest

import bestgroup as bg

GROUPS = {"north": ["n1", "n2"], "south": ["s1"], "east": ["e1", "e2"]}
DIMS = {"yield": "max", "waste": "min", "time": "watch"}
MEANS = {"n1": (0.8, 0.3), "n2": (0.5, 0.2), "s1": (0.4, 0.6), "e1": (0.3, 0.05), "e2": (0.6, 0.25)}
GOAL = bg.ParetoGroups(0.05)
PROBLEM = bg.Problem(GROUPS, DIMS, bg.Bounded(0, 1))


def table(pulls, seed=0, means=MEANS, strength=20):
    rng = np.random.default_rng(seed)
    rows = []
    for group, arms in GROUPS.items():
        for arm in arms:
            a, b = means[arm]
            x = rng.beta(strength * a, strength * (1 - a), pulls)
            y = rng.beta(strength * b, strength * (1 - b), pulls)
            rows += [
                {"group": group, "arm": arm, "yield": float(u), "waste": float(v), "time": 1.0}
                for u, v in zip(x, y, strict=True)
            ]
    return rows


ROWS = table(400)


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize(
    "noise",
    [
        bg.Bounded(0, 1),
        bg.Bounded(0, 1, "bernstein"),
        bg.Gaussian(),
        bg.SubGaussian(0.12),
        bg.SubGaussian(0.12, arms="arbitrary"),
    ],
    ids=["betting", "bernstein", "gaussian", "pairs", "boxes"],
)
def test_enough_data_decide_everything(noise):
    found = bg.certify(ROWS, GOAL, bg.Problem(GROUPS, DIMS, noise), 0.05)
    assert found.accepted == ("north", "east") and found.rejected == ("south",)
    assert found.undecided == () and found.forecast() == 0.0
    low, high = found.intervals
    truth = np.array([[0.8, 0.2], [0.4, 0.6], [0.6, 0.05]])
    assert (low <= truth).all() and (truth <= high).all()
    if noise.kind == "gaussian":  # beta values near 0 are skewed, which voids what rests on it
        assert found.guarantee.level == "none" and "has skewness" in found.guarantee.statement
        return
    assert found.guarantee.level == "proven"
    several = "pulls of different arms are independent" in found.guarantee.assumptions
    assert several == found.verdict.pairs


def test_few_data_leave_groups_undecided_and_say_what_is_missing():
    found = bg.certify(table(12), GOAL, PROBLEM)
    assert found.undecided
    for group in found.undecided:
        explanation = found.explain(group)
        assert explanation.status == "undecided" and "undecided" in str(explanation)
        assert (explanation.reasons and explanation.forecast is None) or explanation.forecast > 0
    more = found.forecast()
    assert more is None or more > 0


def test_the_order_between_arms_does_not_matter_nor_does_the_source(tmp_path):
    import pandas as pd

    expected = bg.certify(ROWS, GOAL, PROBLEM).to_dict()
    order = np.random.default_rng(1).permutation(len(ROWS))
    arms = np.array([row["arm"] for row in ROWS])
    shuffled: list = [None] * len(ROWS)
    for arm in np.unique(arms):  # the order of an arm's own values stays
        places = np.sort(order[arms == arm])
        for place, k in zip(places, np.flatnonzero(arms == arm), strict=True):
            shuffled[place] = ROWS[k]
    frame = pd.DataFrame(shuffled)
    frame.to_parquet(tmp_path / "rows.parquet")
    sources = [
        shuffled,
        frame,
        {name: list(frame[name]) for name in frame.columns},
        write(tmp_path / "rows.csv", shuffled),
        tmp_path / "rows.parquet",
    ]
    for source in sources:
        assert bg.certify(source, GOAL, PROBLEM).to_dict() == expected


def test_explanations_name_rival_dim_arms_and_pulls():
    found = bg.certify(ROWS, GOAL, PROBLEM)
    out = found.explain("south")
    assert out.status == "out" and {r.dim for r in out.reasons} == {"yield", "waste"}
    # Evidence on pairs proves the status of a group, not each comparison by itself.
    assert all(r.pulls == 400 and not r.proven for r in out.reasons)
    north = found.explain("north")
    assert north.best_arms["yield"] == ("n1", True) and north.best_arms["waste"] == ("n2", True)
    words = "south is out (95% sure): ~0.393 behind north (n2) in waste, no less in yield"
    assert str(out) == words
    with pytest.raises(bg.InvalidInput, match="no group 'up'"):
        found.explain("up")


def test_a_min_dim_gives_the_same_answer_as_the_mirrored_one():
    mirrored = [{**row, "waste": 1 - row["waste"]} for row in ROWS]
    problem = bg.Problem(GROUPS, {**DIMS, "waste": "max"}, bg.Bounded(0, 1))
    one, other = bg.certify(ROWS, GOAL, PROBLEM), bg.certify(mirrored, GOAL, problem)
    assert one.accepted == other.accepted and one.rejected == other.rejected
    assert one.intervals[0][:, 1] == pytest.approx(1 - other.intervals[1][:, 1], abs=1e-9)


def test_arms_never_measured_count_as_unknown():
    groups = {**GROUPS, "south": ["s1", "s2"]}
    found = bg.certify(ROWS, GOAL, bg.Problem(groups, DIMS, bg.Bounded(0, 1)))
    assert "south" in found.undecided and "s2 was never measured" in str(found.explain("south"))
    assert not found.accepted  # an unknown arm may be better than all others


def test_without_a_problem_the_arms_are_those_in_the_table():
    rows = [{k: v for k, v in row.items() if k != "time"} for row in ROWS]
    found = bg.certify(rows, bg.BestGroup([1, 1]), noise=bg.Bounded(0, 1))
    assert found.accepted == ("north",) or found.undecided
    assert "arms are those in the table" in found.notes[0]
    assert found.to_frame().shape == (3, 7)


def test_best_group_with_weights():
    found = bg.certify(ROWS, bg.BestGroup([1, 2]), PROBLEM)
    assert found.rejected and "south" in found.rejected
    texts = [str(found.explain(group)) for group in GROUPS]
    assert any("best group" in text or "undecided" in text for text in texts)
    single = bg.certify([ROWS[0]], bg.BestGroup([1, 1, 1]), noise=bg.Bounded(0, 1))
    assert single.accepted == ("north",)


@pytest.mark.parametrize("goal", [bg.BestGroup([1, 2]), bg.ParetoGroups(0.05)])
def test_explanations_are_short_and_say_how_sure(goal):
    found = bg.certify(ROWS, goal, PROBLEM, delta=0.025)
    assert found.rejected
    for group in GROUPS:
        because = found.explain(group)
        assert len(because.text.split()) <= 20 and because.text.startswith(f"{group} is ")
        assert ("(97.5% sure): " in because.text) == (because.status != "undecided")
    without = replace(found, guarantee=found.guarantee.void("an assumption fails"))
    for group in found.rejected:
        assert f"{group} is out (no guarantee): " in without.explain(group).text


def change(k, **cells):
    return [{**row, **cells} if n == k else row for n, row in enumerate(ROWS)]


BAD = {
    "text in a number column": (change(7, **{"yield": "high"}), "line 9: yield must be a finite"),
    "infinity": (change(7, waste="inf"), "line 9: waste must be a finite number"),
    "unknown group": (change(3, group="west"), "line 5: there is no group 'west'"),
    "unknown arm": (change(3, arm="n9"), "line 5: the group 'north' has no arm 'n9'"),
    "missing group": (change(3, group=""), "line 5: the group is missing"),
    "out of bounds": (change(3, **{"yield": 1.5}), "line 5: yield must lie between 0 and 1"),
    "missing column": ([{"group": "north", "arm": "n1", "yield": 0.5}], "no column for the dim"),
    "neither group nor arm": ([{"yield": 0.5}], "there must be a column 'group'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_refused_with_the_line(tmp_path, case):
    rows, words = BAD[case]
    with pytest.raises(bg.InvalidInput) as caught:
        bg.certify(write(tmp_path / "rows.csv", rows), GOAL, PROBLEM)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_bad_calls_are_refused(tmp_path):
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("group,arm,yield\nnorth,n1,0.5\nnorth,n1\n")
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"group,arm,yield\n\xff\xfe\x00\x01")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"not parquet")
    bounded = bg.Bounded(0, 1)
    calls = [
        (lambda: bg.certify(ROWS, GOAL), "needs noise="),
        (lambda: bg.certify(ROWS, GOAL, PROBLEM, noise=bounded), "not twice"),
        (lambda: bg.certify(ROWS, GOAL, PROBLEM, 1.5), "delta"),
        (lambda: bg.certify(ROWS, bg.BestGroup([1]), PROBLEM), "2 decided dims"),
        (lambda: bg.certify(ROWS, "pareto", PROBLEM), "goal must be"),
        (lambda: bg.certify([], GOAL, PROBLEM), "observations must be"),
        (lambda: bg.certify(42, GOAL, PROBLEM), "observations must be"),
        (lambda: bg.certify(ragged, GOAL, noise=bounded), "line 3 must have 3 cells"),
        (lambda: bg.certify(binary, GOAL, noise=bounded), "not a CSV file"),
        (lambda: bg.certify(broken, GOAL, noise=bounded), "cannot be read"),
        (lambda: bg.certify(tmp_path / "none.csv", GOAL, noise=bounded), "cannot be read"),
        (lambda: bg.certify(ROWS, GOAL, PROBLEM).plot("yield", "yield"), "must differ"),
        (lambda: bg.certify(ROWS, GOAL, PROBLEM).plot("time"), "no decided dim 'time'"),
    ]
    for call, words in calls:
        with pytest.raises(bg.InvalidInput) as caught:
            call()
        assert words in str(caught.value), str(caught.value)


def test_plots_show_the_intervals_of_the_statements(tmp_path):
    from bestgroup.plots.certificate import intervals_view, pulls_view

    found = bg.certify(ROWS, GOAL, PROBLEM)
    low, high = found.intervals
    axes = found.plot("yield", "waste").axes[0]
    drawn = {tuple(np.round(line.get_xdata(), 9)) for line in axes.lines}
    for i in range(3):
        a, b = np.round(low[i, 0], 9), np.round(high[i, 0], 9)
        assert (a, b, b, a, a) in drawn
    for view in (intervals_view, pulls_view):
        view(found).savefig(tmp_path / "view.png")
        assert (tmp_path / "view.png").stat().st_size > 5000


def test_the_command(tmp_path, capsys):
    import json

    from bestgroup.cli.main import run

    path = write(tmp_path / "rows.csv", ROWS)
    for arguments, code in (
        (["certify", str(path), "--noise", "bounded:0,1", "--json"], 0),
        (["certify", str(path)], 2),
        (["certify", str(path), "--noise", "cauchy"], 2),
        (["certify", str(path), "--noise", "bounded:0,1", "--weights", "a"], 2),
    ):
        with pytest.raises(SystemExit) as stop:
            run(arguments)
        assert stop.value.code == code
        printed = capsys.readouterr()
        if code == 0:
            assert set(json.loads(printed.out)) >= {"accepted", "rejected", "undecided", "groups"}
        else:
            assert printed.err.startswith("error: ") and printed.err.count("\n") == 1
    plot = tmp_path / "view.png"
    with pytest.raises(SystemExit):
        run(["certify", str(path), "--noise", "bounded:0,1", "--plot", str(plot)])
    assert "Guarantee: proven" in capsys.readouterr().out and plot.stat().st_size > 5000


def warned(values, noise):
    rows = [{"group": "g", "arm": "a", "x": float(v)} for v in values]
    rows += [{"group": "h", "arm": "b", "x": 0.0}]
    return " ".join(bg.certify(rows, bg.BestGroup([1]), noise=noise).notes[1:])


def test_data_that_speak_against_the_assumptions_are_warned_of():
    rng = np.random.default_rng(2)
    good = rng.normal(size=400)
    assert warned(good, bg.SubGaussian(1.0)) == "" and warned(good, bg.Gaussian()) == ""
    assert "declared scale" in warned(good, bg.SubGaussian(0.5))
    assert "drifts" in warned(good + np.linspace(0, 1.5, 400), bg.Gaussian())
    assert "seed used twice" in warned(np.concatenate([good, good[:40]]), bg.Gaussian())
    coin = (rng.random(400) < 0.5).astype(float)
    assert warned(coin, bg.Bernoulli()) == "" and warned(coin, bg.Bounded(0, 1)) == ""

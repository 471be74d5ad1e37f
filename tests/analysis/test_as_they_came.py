"""Groups and arms that were added on the way: what is assumed, and shares that do not assume it."""

import json

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.cli.main import run
from bestgroup.inference.evalues.normal import mixture_edge

RNG = np.random.default_rng(0)
ROWS = [
    {"group": g, "arm": a, "x": RNG.normal(m, 1)}
    for g, a, m in [("B", "b", 0.0), ("A", "a1", 3.0), ("C", "c", 1.0), ("A", "a2", 2.0)]
    for _ in range(200)
]
NOISE = bg.SubGaussian(1.0)


def test_the_assumption_that_arms_were_fixed_stands_in_the_answer():
    found = bg.certify(ROWS, bg.BestGroup([1]), noise=NOISE)
    words = "groups, arms, dims, weights and delta were fixed before the values were seen"
    assert words in found.guarantee.assumptions and words in str(found.guarantee)
    free = bg.certify(ROWS, bg.BestGroup([1]), noise=NOISE, arms_fixed=False)
    assert words not in free.guarantee.assumptions
    assert any(
        "may have been added because of what was seen" in w for w in free.guarantee.assumptions
    )


@pytest.mark.parametrize("goal", [bg.BestGroup([1]), bg.ParetoGroups(0.0)])
def test_clear_data_decide_whatever_order_arms_came_in(goal):
    found = bg.certify(ROWS, goal, noise=NOISE, arms_fixed=False)
    assert found.accepted == ("A",) and set(found.rejected) == {"B", "C"}
    assert not found.verdict.pairs and all(r.proven for r in found.explain("B").reasons)


def test_arm_number_k_gets_its_share_in_the_order_of_the_rows():
    """Shares are delta / (k (k + 1)), whatever comes after."""
    delta = 0.1
    found = bg.certify(ROWS, bg.ParetoGroups(0.0), noise=NOISE, delta=delta, arms_fixed=False)
    came = {"B": 1, "C": 3}
    low, high = found.intervals
    for group, k in came.items():
        i = found.problem.groups.index(group)
        reach = mixture_edge(200.0, delta / (2 * k * (k + 1))) / 200
        assert np.isclose(high[i, 0] - low[i, 0], 2 * reach)
    later = bg.certify(
        [*ROWS, *({"group": f"D{k}", "arm": "d", "x": 0.0} for k in range(50))],
        bg.ParetoGroups(0.0),
        noise=NOISE,
        delta=delta,
        arms_fixed=False,
    )
    assert (later.intervals[0][:3] == low).all()  # unmoved by fifty more groups


def test_other_noise_models_and_a_problem_with_arms_nobody_pulled():
    table = [{**row, "x": float(np.clip(row["x"] / 8 + 0.5, 0, 1))} for row in ROWS]
    groups = {"A": ["a1", "a2"], "B": ["b"], "C": ["c", "never"]}
    problem = bg.Problem(groups, {"x": "max"}, bg.Bounded(0, 1))
    found = bg.certify(table, bg.ParetoGroups(0.0), problem, arms_fixed=False)
    assert "C" in found.undecided and "B" in found.rejected
    assert np.isinf(found.intervals[1][2, 0])


def test_from_the_shell(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    lines = ["group,arm,x", *(f"{r['group']},{r['arm']},{r['x']}" for r in ROWS)]
    path.write_text("\n".join(lines))
    how = ["--noise", "subgaussian:1", "--weights", "1", "--arms-as-they-came", "--json"]
    with pytest.raises(SystemExit) as stop:
        run(["certify", str(path), *how])
    found = json.loads(capsys.readouterr().out)
    assert stop.value.code == 0 and found["accepted"] == ["A"]
    assert any("added because" in words for words in found["guarantee"]["assumptions"])


def test_shared_items_need_fixed_arms():
    rows = [{**row, "item": str(k % 200), "x": k % 7 / 7} for k, row in enumerate(ROWS)]
    with pytest.raises(bg.InvalidInput, match="arms_fixed=False is not for arms that share items"):
        bg.certify(
            rows, bg.BestGroup([1]), noise=bg.Bounded(0, 1), items=bg.Items(200), arms_fixed=False
        )

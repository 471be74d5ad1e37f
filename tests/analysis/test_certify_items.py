"""Certificates from tables with an item column."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.errors import InvalidInput

NOISE = bg.Bounded(0, 1)


def latent_table(n, seed, groups=3, arms=2, step=0.12):
    """Return correct-or-not [n, A, 2] of arms that share how hard an item is."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=(n, 1, 1))
    own = rng.normal(size=(n, groups * arms, 2)) * 0.6
    skill = np.repeat(np.arange(groups)[::-1] * step * 3, arms)[None, :, None]
    return (hard + own < skill + 0.5).astype(float)


def rows_of(table, arms=2, order=None, drop=()):
    n, A, _ = table.shape
    rows = []
    for t in range(n) if order is None else order:
        for a in range(A):
            if (t, a) not in drop:
                x, y = table[t, a]
                row = {"group": f"g{a // arms}", "arm": f"a{a}", "item": f"i{t}"}
                rows.append({**row, "x": x, "y": y})
    return rows


def exact(table, arms=2):
    means = table.mean(axis=0)
    best = means.reshape(-1, arms, 2).max(axis=1)
    return {f"g{i}" for i in np.flatnonzero(bg.pareto_groups(best))}


def test_a_complete_pool_is_answered_exactly_in_any_order_of_rows():
    table = latent_table(60, 1, step=0.01)
    rng = np.random.default_rng(0)
    rows = rows_of(table)
    for shuffled in (rows, [rows[k] for k in rng.permutation(len(rows))]):
        found = bg.certify(shuffled, bg.ParetoGroups(0.05), noise=NOISE, items=60)
        assert set(found.accepted) == exact(table)
        assert not found.undecided
        assert "certain" in found.guarantee.statement
        low, high = found.intervals
        assert (low == high).all()
    assert len(bg.certify(rows, bg.BestGroup([1, 1]), noise=NOISE).accepted) == 1


def test_ties_in_a_complete_pool():
    rows = [
        {"group": g, "arm": "a", "item": str(t), "x": x}
        for g, values in (("A", [0.1] * 10), ("B", [1.0] + [0.0] * 9))
        for t, x in enumerate(values)
    ]
    found = bg.certify(rows, bg.ParetoGroups(), noise=NOISE)
    assert set(found.accepted) == {"A", "B"}


def test_pairs_decide_what_boxes_cannot():
    table = latent_table(1000, 2)
    items = bg.Items(1000, target="population")
    paired = bg.certify(rows_of(table), bg.ParetoGroups(0.05), noise=NOISE, items=items)
    plain = [{k: v for k, v in row.items() if k != "item"} for row in rows_of(table)]
    noise = bg.Bounded(0, 1, arms="arbitrary")
    boxes = bg.certify(plain, bg.ParetoGroups(0.05), noise=noise)
    assert len(paired.undecided) < len(boxes.undecided)
    assert not paired.undecided


def test_a_population_takes_the_order_from_the_names():
    table = latent_table(300, 3)
    groups = {f"g{i}": [f"a{2 * i}", f"a{2 * i + 1}"] for i in range(3)}
    items = bg.Items(300, target="population")
    problem = bg.Problem(groups, {"x": "max", "y": "max"}, NOISE, items=items)
    goal = bg.ParetoGroups(0.05)
    rng = np.random.default_rng(1)
    rows = rows_of(table)
    first = bg.certify(rows, goal, problem)
    again = bg.certify([rows[k] for k in rng.permutation(len(rows))], goal, problem)
    assert first.to_dict() == again.to_dict()
    assert "digest" in str(first.guarantee)


def test_the_items_of_a_table_may_be_called_a_sample():
    rows = rows_of(latent_table(300, 3))
    goal = bg.ParetoGroups(0.05)
    by_word = bg.certify(rows, goal, noise=NOISE, items="population")
    declared = bg.Items(300, target="population")
    assert by_word.to_dict() == bg.certify(rows, goal, noise=NOISE, items=declared).to_dict()
    with pytest.raises(InvalidInput, match="target"):
        bg.certify(rows, goal, noise=NOISE, items="everything")


def test_a_part_of_a_pool_needs_an_order():
    table = latent_table(400, 4)
    part = rows_of(table[:300])
    with pytest.raises(InvalidInput, match="order"):
        bg.certify(part, bg.ParetoGroups(0.05), noise=NOISE, items=400)
    names = [f"i{t}" for t in range(400)]
    items = bg.Items(names=names)
    found = bg.certify(part, bg.ParetoGroups(0.1), noise=NOISE, items=items, order=names)
    assert found.pulls == 300 * 6
    by_number = bg.certify(part, bg.ParetoGroups(0.1), noise=NOISE, items=400, order=names)
    by_word = bg.certify(part, bg.ParetoGroups(0.1), noise=NOISE, items="pool", order=names)
    assert by_word.to_dict() == by_number.to_dict() == found.to_dict()
    assert set(found.accepted) >= exact(table) - set(found.undecided)
    with pytest.raises(InvalidInput, match="once"):
        bg.certify(part, bg.ParetoGroups(0.1), noise=NOISE, items=items, order=names[1:])


def test_an_arm_counts_up_to_the_first_item_that_it_lacks():
    table = latent_table(50, 5)
    names = [f"i{t}" for t in range(50)]
    rows = rows_of(table, drop={(10, 3)})
    found = bg.certify(
        rows, bg.ParetoGroups(0.1), noise=NOISE, items=bg.Items(names=names), order=names
    )
    assert found.tally.counts.tolist() == [[50, 50], [50, 10], [50, 50]]
    assert any("left out" in note for note in found.notes)


def test_clusters_and_repeats():
    table = latent_table(60, 6)
    labels = [f"c{t // 3}" for t in range(60)]
    names = [f"i{t}" for t in range(60)]
    items = bg.Items(names=names, clusters=labels)
    found = bg.certify(rows_of(table), bg.ParetoGroups(), noise=NOISE, items=items)
    assert set(found.accepted) == exact(table)
    order = sorted(set(labels), key=labels.index)
    part = rows_of(table[:30])
    some = bg.certify(part, bg.ParetoGroups(0.3), noise=NOISE, items=items, order=order)
    assert some.pulls == 30 * 6
    sample = bg.Items(names=names, clusters=labels, target="population")
    assert bg.certify(rows_of(table), bg.ParetoGroups(0.5), noise=NOISE, items=sample).accepted
    twice = rows_of(table) + rows_of(table)
    with pytest.raises(InvalidInput, match="repeats"):
        bg.certify(twice, bg.ParetoGroups(), noise=NOISE, items=60)
    found = bg.certify(twice, bg.ParetoGroups(), noise=NOISE, items=bg.Items(60, repeats=2))
    assert set(found.accepted) == exact(table)


def test_declared_differences_are_checked():
    rows = rows_of(latent_table(20, 7))
    with pytest.raises(InvalidInput, match=r"at most 0\.5 was declared"):
        bg.certify(rows, bg.ParetoGroups(), noise=bg.Bounded(0, 1, difference=0.5))


def test_independent_arms_are_refused_together_with_items():
    with pytest.raises(InvalidInput, match="not independent"):
        bg.Problem({"A": ["a"]}, {"x": "max"}, bg.Bounded(0, 1, arms="independent"), items=5)
    problem = bg.Problem({"A": ["a"]}, {"x": "max"}, bg.Bounded(0, 1), items=bg.Items(5))
    assert problem.noise.arms == "arbitrary"
    assert bg.Problem.from_dict(problem.to_dict()) == problem
    with pytest.raises(InvalidInput, match="range"):
        bg.Problem({"A": ["a"]}, {"x": "max"}, bg.SubGaussian(1.0), items=5)


def test_the_best_group_by_selections():
    table = latent_table(500, 8)
    items = bg.Items(500, target="population")
    found = bg.certify(rows_of(table), bg.BestGroup([1, 1], 0.02), noise=NOISE, items=items)
    assert found.accepted == ("g0",)


@pytest.mark.parametrize("delta", [0.1])
def test_error_rate_of_parts_of_a_pool(delta):
    """All groups are equal up to a tie in one dim: any group that is out is an error."""
    rng = np.random.default_rng(9)
    base = np.zeros((80, 3, 2))
    base[:40, :, 0] = 1.0  # exact ties in dim 0
    base[..., 1] = rng.random((80, 3))
    names = [f"i{t}" for t in range(80)]
    errors = 0
    for _ in range(60):
        table = np.stack([base[rng.permutation(80), a] for a in range(3)], axis=1)
        rows = rows_of(table[:60], arms=1)
        found = bg.certify(
            rows,
            bg.ParetoGroups(0.0),
            noise=NOISE,
            delta=delta,
            items=bg.Items(names=names),
            order=names,
        )
        errors += bool(found.rejected)
    assert errors <= 14  # more than 14 of 60 has a probability below .001 at a rate of .1


@pytest.mark.parametrize(("epsilon", "says"), [(0.0, False), (0.3, True)])
def test_a_group_that_is_only_near_the_best_is_not_called_best(epsilon, says):
    """Of a complete pool one group beats the other in every dim, by less than the larger epsilon."""
    table = np.zeros((10, 2, 2))
    table[:6, 0], table[:5, 1] = 1.0, 1.0
    found = bg.certify(rows_of(table, arms=1), bg.WeightMap(epsilon=epsilon), noise=NOISE)
    assert found.accepted == (("g0", "g1") if says else ("g0",))
    assert ("within epsilon" in found.map.words()) == says
    assert "within epsilon of the best for some weights" in found.guarantee.statement

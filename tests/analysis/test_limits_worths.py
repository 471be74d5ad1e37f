"""Limits that arms must keep, and other worths of a group: what boxes prove, and how it is said."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.inference.certificate.worths import verdict_of, worths_of
from bestgroup.problem.measure import Bound, Measure
from bestgroup.problem.shape import Shape
from bestgroup.problem.status import Status
from bestgroup.problem.worth import check_worth
from reference import worths_naive as naive

WORTHS = ("best", "mean", "worst", ("kth", 2), ("quantile", 0.4))


def random_case(rng):
    sizes = tuple(rng.integers(2, 5, rng.integers(1, 5)).tolist())
    D, extra = int(rng.integers(1, 3)), int(rng.integers(0, 2))
    worth = check_worth(WORTHS[rng.integers(len(WORTHS))])
    bounds = []
    if worth.kind in ("best", "kth"):
        for _ in range(rng.integers(0, 3)):
            tolerance = float(rng.choice([0.0, 0.1, 0.3]))
            sign = float(rng.choice([-1, 1]))
            bounds.append(
                Bound(int(rng.integers(D + extra)), sign, float(rng.choice([0.3, 0.5])), tolerance)
            )
    means = [
        np.round(rng.random((size, D + extra)), 1) for size in sizes
    ]  # ties, and arms on limits
    K = max(sizes)
    low = np.full((len(sizes), K, D + extra), -np.inf)
    high = np.full_like(low, -np.inf)
    wide = rng.choice([0.02, 0.1, 0.3])
    for i, rows in enumerate(means):
        low[i, : sizes[i]] = rows - wide * rng.random(rows.shape)
        high[i, : sizes[i]] = rows + wide * rng.random(rows.shape)
    goal = bg.ParetoGroups(float(rng.choice([0, 0.05])))
    if rng.random() < 0.5:
        goal = bg.BestGroup((0.5 + rng.random(D)).tolist(), float(rng.choice([0, 0.05])))
    return Shape(sizes, D + extra), Measure(D, worth, tuple(bounds)), goal, means, low, high


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(s, marks=pytest.mark.verify) for s in range(6, 60))]
)
def test_boxes_that_hold_prove_nothing_false_and_what_the_naive_judge_does(seed):
    rng = np.random.default_rng(seed)
    decided = 0
    for _ in range(150):
        shape, measure, goal, means, low, high = random_case(rng)
        found = verdict_of(worths_of(low, high, shape, measure), goal, measure)
        status = [Status(s).word for s in found.status]
        limits = [tuple(bound) for bound in measure.bounds]
        ranks = measure.ranks(shape)
        eps = [goal.epsilon] * measure.dims if isinstance(goal, bg.ParetoGroups) else goal.epsilon
        weights = getattr(goal, "weights", None)
        boxes = [
            [ends[i, :size].tolist() for i, size in enumerate(shape.sizes)] for ends in (low, high)
        ]
        assert status == naive.statuses(*boxes, limits, ranks, measure.dims, eps, weights)
        keeps, tolerable = naive.truth_sets([rows.tolist() for rows in means], limits)
        rows = [m.tolist() for m in means]
        assert any(
            not naive.is_false(status, naive.worths(rows, F, ranks, measure.dims), eps, weights)
            for F in naive.sets_between(keeps, tolerable)
        )
        decided += sum(word != "undecided" for word in status)
    assert decided > 100


def test_true_worths_are_those_of_the_definition():
    rng = np.random.default_rng(5)
    for _ in range(300):
        shape, measure, _, means, _, _ = random_case(rng)
        limits = [tuple(bound) for bound in measure.bounds]
        keeps, tolerable = naive.truth_sets([rows.tolist() for rows in means], limits)
        rows = [m.tolist() for m in means]
        wanted = [
            naive.worths(rows, F, measure.ranks(shape), measure.dims)
            for F in naive.sets_between(keeps, tolerable)
        ]
        found = [
            [None if np.isinf(row).any() else row.tolist() for row in R]
            for R in measure.true_worths(means)
        ]
        key = lambda R: repr([None if r is None else np.round(r, 12).tolist() for r in R])  # noqa: E731
        assert sorted(map(key, found)) == sorted(map(key, wanted))


def table(seed=1, n=1500):
    means = {
        "A": {"a1": (0.9, 3.0), "a2": (0.7, 1.0)},
        "B": {"b1": (0.5, 1.2), "b2": (0.4, 1.9)},
        "C": {"c1": (0.95, 2.8), "c2": (0.2, 4.0)},
    }
    rng = np.random.default_rng(seed)
    rows = [
        {
            "group": g,
            "arm": a,
            "right": float(rng.random() < m[0]),
            "seconds": float(np.clip(m[1] + rng.normal() / 2, 0, 6)),
        }
        for _ in range(n)
        for g, arms in means.items()
        for a, m in arms.items()
    ]
    return {g: list(arms) for g, arms in means.items()}, rows


NOISE = {"right": bg.Bernoulli(), "seconds": bg.Bounded(0, 6)}


def test_the_best_group_is_that_of_the_arms_that_keep_the_limit():
    groups, rows = table()
    dims = {"right": "max", "seconds": "watch"}
    limit = {"seconds": ("<=", 2.0, 0.1)}
    problem = bg.Problem(groups, dims, NOISE, require=limit)
    found = bg.certify(rows, bg.BestGroup([1]), problem)
    assert found.accepted == ("A",) and set(found.rejected) == {"B", "C"}
    assert found.limits_kept()["A"] == {"a1": "breaks", "a2": "keeps"}
    assert "no arm of it keeps seconds <= 2 (tolerance 0.1)" in str(found.explain("C"))
    assert "seconds <= 2" in found.guarantee.statement
    assert [choice.arm for choice in found.deploy()] == ["a2"]
    free = bg.certify(
        rows,
        bg.BestGroup([1]),
        bg.Problem(groups, {"right": "max", "seconds": "watch"}, NOISE["right"]),
    )
    assert free.accepted == ("C",)
    assert bg.Problem.from_dict(problem.to_dict()) == problem
    assert found.to_dict()["limits"]["C"] == {"c1": "breaks", "c2": "breaks"}


def test_no_group_may_be_left():
    groups, rows = table(n=400)
    problem = bg.Problem(
        groups, {"right": "max", "seconds": "min"}, NOISE, require={"seconds": ("<=", 0.2)}
    )
    found = bg.certify(rows, bg.ParetoGroups(0.05), problem)
    assert found.accepted == () and len(found.rejected) == 3


def test_limits_of_dims_to_be_minimised_are_mirrored_and_shifts_change_nothing():
    groups, rows = table(n=300)
    moved = [{**row, "seconds": row["seconds"] + 100} for row in rows]
    noise = bg.SubGaussian([0.5, 0.6])
    for goal in (bg.ParetoGroups(0.05), bg.BestGroup([1, 0.2])):
        problem = bg.Problem(
            groups, {"right": "max", "seconds": "min"}, noise, require={"seconds": ("<=", 2)}
        )
        other = bg.Problem(
            groups, {"right": "max", "seconds": "min"}, noise, require={"seconds": ("<=", 102)}
        )
        one, two = bg.certify(rows, goal, problem), bg.certify(moved, goal, other)
        assert (one.verdict.status == two.verdict.status).all()
        assert one.limits_kept() == two.limits_kept()
        turned = [{**row, "seconds": -row["seconds"]} for row in rows]
        upside = bg.Problem(
            groups, {"right": "max", "seconds": "max"}, noise, require={"seconds": (">=", -2)}
        )
        three = bg.certify(turned, goal, upside)
        assert (one.verdict.status == three.verdict.status).all()


def test_names_and_order_do_not_matter():
    groups, rows = table(n=300)
    problem = bg.Problem(groups, {"right": "max", "seconds": "min"}, NOISE, worth="worst")
    back = {g: list(reversed(arms)) for g, arms in reversed(groups.items())}
    turned = bg.Problem(back, {"right": "max", "seconds": "min"}, NOISE, worth="worst")
    goal = bg.ParetoGroups(0.02)
    one, two = bg.certify(rows, goal, problem), bg.certify(rows, goal, turned)
    assert set(one.accepted) == set(two.accepted) and set(one.rejected) == set(two.rejected)


def test_the_average_is_known_far_better_than_by_boxes_where_counts_are_equal():
    rng = np.random.default_rng(2)
    groups = {g: [f"{g}{k}" for k in range(8)] for g in "AB"}
    rows = [
        {"group": g, "arm": a, "x": float(rng.normal() + (g == "A") * 0.3)}
        for _ in range(300)
        for g, arms in groups.items()
        for a in arms
    ]
    problem = bg.Problem(groups, {"x": "max"}, bg.SubGaussian(1), worth="mean")
    found = bg.certify(rows, bg.BestGroup([1]), problem)
    assert found.accepted == ("A",)
    alike = bg.Problem(groups, {"x": "max"}, bg.SubGaussian(1, arms="arbitrary"), worth="mean")
    assert bg.certify(rows, bg.BestGroup([1]), alike).accepted == ()
    assert bg.certify(rows[:-1], bg.BestGroup([1]), problem).accepted == ()  # counts differ
    assert "average" in found.guarantee.statement


def test_rows_with_gaps_and_arms_that_came_later():
    groups, rows = table()
    problem = bg.Problem(
        groups, {"right": "max", "seconds": "watch"}, NOISE, require={"seconds": ("<=", 2, 0.1)}
    )
    gaps = [{**row, "seconds": np.nan} if k % 7 == 0 else row for k, row in enumerate(rows)]
    assert "C" in bg.certify(gaps, bg.BestGroup([1]), problem).rejected
    late = bg.certify(rows, bg.BestGroup([1]), problem, arms_fixed=False)
    assert late.accepted == ("A",)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"require": {"x": ("<=", 1)}}, "require names the dim 'x'"),
        ({"require": {"right": ("<", 1)}}, "must be"),
        ({"require": {"right": (">=", 0.5, -1)}}, "must not be negative"),
        ({"require": [1]}, "require must map dims to limits"),
        ({"require": {"right": (">=", 0.5)}, "worth": "mean"}, "require goes with worth 'best'"),
        ({"worth": ("kth", 3)}, "has 2 arms only"),
        ({"worth": "median"}, "worth must be"),
        ({"worth": ("quantile", 2)}, "between 0 and 1"),
    ],
)
def test_what_does_not_go_together_is_refused(options, sentence):
    groups, _ = table(n=1)
    with pytest.raises(bg.InvalidInput, match=sentence):
        bg.Problem(groups, {"right": "max"}, **{"noise": bg.Bernoulli(), **options})


def test_other_algorithms_refuse():
    groups, _ = table(n=50)
    problem = bg.Problem(groups, {"right": "max", "seconds": "min"}, NOISE, worth="worst")
    with pytest.raises(bg.InvalidInput, match="use 'adaptive'"):
        bg.create_study("s", problem, bg.ParetoGroups(0.1), algorithm="te")


@pytest.mark.parametrize("goal", [bg.BestGroup([1], 0.01), bg.ParetoGroups(0.01)])
def test_runs_that_wait_for_an_arm_on_a_limit_are_refused(goal):
    def instance(quality, *limit):
        return bg.Instance(
            [[[0.5, 1.0]], [[quality, 0.5]]],
            noise=bg.SubGaussian(0.1),
            dims=["quality", "seconds"],
            require={"seconds": ("<=", *limit)},
            watch=["seconds"],
        )

    rests = instance(0.4, 1.0)  # out, or the better one
    with pytest.raises(bg.InvalidInput, match=r"exactly on a limit.*give a tolerance or max_pulls"):
        bg.simulate(rests, goal, "adaptive", 0.1, 1)
    assert not bg.simulate(rests, goal, "adaptive", 0.1, 1, max_pulls=40).finished.any()
    for ends in (instance(0.6, 1.0), instance(0.4, 1.0, 0.1), instance(0.4, 1.001)):
        assert bg.simulate(ends, goal, "adaptive", 0.1, 1).errors == 0

import math

import numpy as np
import pytest
from tests.reference import directions_naive as naive

import bestgroup as bg
from bestgroup.inference.certificate.directions import asked_directions, prove_bounds
from bestgroup.inference.certificate.judge import boxes, judge
from bestgroup.inference.tally import Tally
from bestgroup.problem.shape import Shape
from bestgroup.problem.status import Status
from bestgroup.problem.weight_grid import subdivision, weight_grid


def random_tally(seed, sizes=(3, 2, 1), dims=3, scale=1.0, most=400):
    rng = np.random.default_rng(seed)
    shape = Shape(sizes, dims)
    N, K = shape.groups, shape.arms
    counts = np.where(shape.exists, rng.integers(1, most, (N, K)), 0)
    means = rng.normal(size=(N, K, dims))
    noise = scale * rng.standard_normal((N, K, dims)) / np.sqrt(np.maximum(counts, 1))[:, :, None]
    sums = (means + noise) * counts[:, :, None]
    return shape, Tally(counts, sums, np.zeros((N, K, dims, 0))), means


@pytest.mark.parametrize("independent", [False, True])
def test_bounds_are_those_of_the_definition(independent):
    noise = bg.SubGaussian(1.3, dependence="independent" if independent else "arbitrary")
    loss = []
    for seed in range(4):
        shape, tally, _ = random_tally(seed, scale=1.3)
        asked = asked_directions(shape, bg.WeightMap(epsilon=0.1), noise, 0.05)
        found = prove_bounds(tally, shape, asked, *boxes(tally, shape, noise, 0.05))
        with np.errstate(all="ignore"):
            n = tally.counts[:, :, None]
            safe = np.where(n > 0, tally.sums / n - asked.scale * np.sqrt(6.0 / n), -np.inf)
        lead = safe.argmax(axis=1)
        arms = [
            tally.sums[i, :size] / tally.counts[i, :size, None]
            for i, size in enumerate(shape.sizes)
        ]
        counts = [tally.counts[i, :size] for i, size in enumerate(shape.sizes)]
        for v in (0, 2, 4, 8):
            weights = asked.grid.corners[v]
            for i, k in ((0, 1), (1, 0), (2, 0)):
                price = (weights > 0).sum() * math.log(shape.sizes[i])
                level = asked.directions.level[v, i, k] + price
                wanted = naive.bound(
                    arms, counts, i, lead[i], k, weights, asked.scale, independent, level
                )
                # The reference tries a grid of tilts.
                assert found[v, i, k] <= wanted + 1e-3 * (1 + abs(wanted))
                loss.append(wanted - found[v, i, k])
                gap = (arms[i].max(axis=0) - arms[k].max(axis=0)) @ weights
                assert loss[-1] < 0.15 * (gap - wanted)
    assert np.mean(loss) < 0.05


def test_the_triangulation_covers_the_set_without_overlap():
    for dims, parts in ((1, 1), (2, 5), (3, 4), (4, 3), (5, 2)):
        cells = subdivision(dims - 1, parts)
        assert len(cells) == parts ** (dims - 1)
        volumes = [abs(np.linalg.det(cell)) for cell in cells]
        assert np.allclose(volumes, parts ** -(dims - 1.0))
    grid = weight_grid(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.2, 0.2)))
    assert grid.volume.sum() == pytest.approx(1)
    assert np.allclose(grid.volume @ grid.points, 1 / 3)
    assert np.allclose(grid.at_points(grid.corners), grid.points)


def test_regions_are_those_of_the_definition():
    for seed in range(6):
        shape, tally, _ = random_tally(seed, sizes=(2, 2, 2, 1), most=3000)
        goal = bg.WeightMap(epsilon=0.05 * (seed % 2))
        verdict = judge(tally, shape, goal, bg.SubGaussian(1.0), 0.1)
        found = verdict.regions
        rng = np.random.default_rng(seed)
        for weights in rng.dirichlet(np.ones(3), 12):
            wanted = naive.regions(
                found.grid.corners, found.grid.cells, found.bound, goal.epsilon, weights
            )
            assert set(np.flatnonzero(found.at(weights)).tolist()) == wanted
        for i in range(4):
            for piece in found.pieces(i):
                inside = piece.mean(axis=0)
                assert found.at(inside)[i]
        area = [sum(_area(p) for p in found.pieces(i)) for i in range(4)]
        assert np.allclose(area, found.shares, atol=0.03)
        assert ((verdict.status == Status.IN) == found.sometimes).all()


def _area(piece):
    """Return the area of a polygon of weights, that of the whole triangle being 1."""
    x, y = piece[:, 1], piece[:, 2]
    return abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


def test_pieces_that_are_kept_apart_do_not_overlap():
    shape, tally, _ = random_tally(3, sizes=(2, 2, 2), most=4000)
    found = judge(tally, shape, bg.WeightMap(epsilon=0.3), bg.SubGaussian(1.0), 0.1).regions
    apart = sum(_area(p) for i in range(3) for p in found.pieces(i, apart=True))
    assert apart <= found.share + 0.03 <= 1.03


def test_one_vertex_asks_what_best_group_asks():
    agreed = 0
    for seed in range(40):
        shape, tally, _ = random_tally(seed, sizes=(3, 3, 2), most=300)
        epsilon = 0.1 * (seed % 2)
        weights = [1.0, 2.0, 0.5]
        noise = bg.SubGaussian(1.0)
        best = judge(tally, shape, bg.BestGroup(weights, epsilon), noise, 0.05).status
        found = judge(tally, shape, bg.WeightMap([weights], epsilon, share=1), noise, 0.05)
        top = judge(tally, shape, bg.TopGroups(1, weights, epsilon), noise, 0.05).status
        if epsilon == 0 and (best == Status.IN).any() and (found.status == Status.IN).any():
            assert (best == Status.IN).tolist() == (found.status == Status.IN).tolist()
            agreed += 1
        if (best == Status.IN).any() and (top == Status.IN).any() and epsilon == 0:
            assert (best == top).all()
    assert agreed >= 4


def test_best_for_some_weight_is_pareto_optimal():
    rng = np.random.default_rng(5)
    for _ in range(200):
        R = rng.random((6, 3))
        best = bg.WeightMap().needed(R)
        assert (best <= bg.pareto_groups(R)).all()
        worth = bg.WeightMap().grid(3).points @ R.T
        assert best[worth.argmax(axis=1)].all()
    # Pareto optimal, and below a mixture of two others: best for no weight.
    R = np.array([[1.0, 0.0], [0.0, 1.0], [0.4, 0.4]])
    assert bg.pareto_groups(R).tolist() == [True] * 3
    assert bg.WeightMap().needed(R).tolist() == [True, True, False]
    assert bg.WeightMap(epsilon=0.1).good(R, np.zeros(2)).tolist() == [True] * 3


def test_bounds_hold_for_boxes_and_for_values_in_a_range():
    rng = np.random.default_rng(0)
    rows = {"group": [], "arm": [], "x": [], "y": []}
    for group, mean in (("A", (0.9, 0.8)), ("B", (0.3, 0.2)), ("C", (0.5, 0.9))):
        for x, y in (rng.random((400, 2)) < mean).astype(float):
            rows["group"].append(group)
            rows["arm"].append("a")
            rows["x"].append(x)
            rows["y"].append(y)
    for noise in (
        bg.Bernoulli(),
        bg.Bounded(0, 1),
        bg.SubGaussian(0.5, arms="arbitrary"),
        bg.SubGaussian(0.5),
    ):
        found = bg.certify(rows, bg.WeightMap(epsilon=0.05), noise=noise)
        assert "B" in found.map.never
        assert found.map.at([1, 0]) == ("A",)
        assert set(found.map.at({"y": 1})) <= {"A", "C"}


def test_shifting_and_reordering_groups_changes_nothing():
    shape, tally, _ = random_tally(1, sizes=(2, 2, 2), most=2000)
    goal, noise = bg.WeightMap(), bg.SubGaussian(1.0)
    found = judge(tally, shape, goal, noise, 0.1)
    moved = Tally(tally.counts, tally.sums + 5.0 * tally.counts[:, :, None], tally.extra)
    again = judge(moved, shape, goal, noise, 0.1)
    assert (again.status == found.status).all()
    assert np.allclose(again.regions.bound, found.regions.bound, atol=1e-9)
    turn = [2, 0, 1]
    turned = Tally(tally.counts[turn], tally.sums[turn], tally.extra[turn])
    other = judge(turned, shape, goal, noise, 0.1)
    assert np.allclose(other.regions.bound, found.regions.bound[:, turn][:, :, turn], atol=1e-9)
    dims = [1, 2, 0]
    by_dim = Tally(tally.counts, tally.sums[:, :, dims].copy(), tally.extra)
    mixed = judge(by_dim, shape, goal, noise, 0.1)
    assert mixed.regions.share == pytest.approx(found.regions.share, abs=0.02)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: bg.WeightMap({"a": 1}), "list of vertices"),
        (lambda: bg.WeightMap([1, 2]), "list of vertices"),
        (lambda: bg.WeightMap([[1, 2], [1]]), "list of vertices"),
        (lambda: bg.WeightMap([[0, 0]]), "above 0"),
        (lambda: bg.WeightMap([[1, -1]]), "not be negative"),
        (lambda: bg.WeightMap(epsilon=-1), "epsilon must not be negative"),
        (lambda: bg.WeightMap(share=0), "share must be above 0"),
        (lambda: bg.WeightMap([]), "1 to 64 vertices"),
        (lambda: bg.WeightMap([[1, 2]]).vertices(3), "one entry for each of the 3 dims"),
        (lambda: bg.WeightMap([{"a": 1}]).of(["b"]), "names the dim 'a'"),
        (lambda: bg.TopGroups(0, [1]), "m must be"),
        (lambda: bg.TopGroups(2, [1, 0]), "weights must be positive"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(make, words):
    with pytest.raises(bg.InvalidInput, match=words):
        make()


def test_goals_are_written_and_read():
    from bestgroup.problem.goals import goal_from_dict

    for goal in (
        bg.WeightMap(),
        bg.WeightMap([[1, 0], [1, 1]], 0.1, share=0.9),
        bg.WeightMap([{"a": 1}, {"a": 1, "b": 2}]),
        bg.TopGroups(2, [1, 2], 0.1),
        bg.TopGroups(2, {"a": 1, "b": 2}),
    ):
        assert goal_from_dict(goal.to_dict()) == goal
        assert goal_from_dict(goal.to_dict(), ["a", "b"]) == goal.of(["a", "b"])

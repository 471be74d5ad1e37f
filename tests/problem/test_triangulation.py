"""Sets of weights are cut into simplices that cover them once, the same in both verifiers."""

import itertools
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from bestgroup.problem.triangulation import triangulate
from bestgroup.problem.weight_grid import weight_grid

sys.path.insert(0, str(Path(__file__).parents[2] / "verifier"))

from proof_maps import simplices_of


def exact(points):
    return [[Fraction(float(x)) for x in point] for point in points]


def inside(simplex, point):
    """Return whether a point is in a simplex, by barycentric coordinates; None near its border."""
    shares = np.linalg.solve(np.vstack([np.ones(len(simplex)), simplex.T]), np.append(1.0, point))
    return None if abs(shares.min()) < 1e-9 else bool(shares.min() > 0)


@pytest.mark.parametrize("dims", [2, 3, 4])
def test_every_point_of_the_hull_is_in_one_simplex(dims):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        points = rng.integers(0, 4, (dims + 1 + seed, dims)) / 3  # many on common planes
        points = np.unique(points, axis=0)
        rng.shuffle(points)
        if np.linalg.matrix_rank(points - points[0]) < dims:
            continue
        found = triangulate(exact(points))
        hull = ConvexHull(points)
        volume = sum(abs(np.linalg.det(points[list(s[1:])] - points[s[0]])) for s, _ in found)
        assert volume / np.prod(np.arange(1, dims + 1)) == pytest.approx(hull.volume)
        for point in rng.dirichlet(np.ones(len(points)), 40) @ points:
            places = [inside(points[list(s)], point) for s, _ in found]
            assert None in places or sum(places) == 1


def test_both_verifiers_find_the_same_simplices():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        dims, count = int(rng.integers(1, 6)), int(rng.integers(1, 12))
        points = exact(rng.dirichlet(np.ones(dims), count))
        assert dict(triangulate(points)) == simplices_of(points)


def test_points_that_rounding_moved_off_a_line_make_no_slivers():
    for a, b in itertools.product((0.1, 0.3, 1 / 3, 0.7), repeat=2):
        points = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [a, 1 - a, 0], [0, b, 1 - b], [1 / 3] * 3]
        assert [s for s, _ in triangulate(exact(points))] == [(0, 1, 2)]


def test_a_vertex_that_the_hull_does_not_need_is_no_corner():
    three = weight_grid(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    four = weight_grid(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.2, 0.2)))
    assert np.array_equal(three.corners, four.corners) and three.own == four.own == 3

"""Shared items: names, places and a constant in a dim do not matter, for every goal and option."""

import numpy as np
import pytest

import bestgroup as bg
from bestgroup.algorithms.protocol import Setting
from bestgroup.algorithms.registry import algorithm as make
from bestgroup.drivers.exact.items import run_table

GROUPS = ["A", "A", "B", "C", "C", "C"]
NO = {}
ASKED = [
    (bg.ParetoGroups(0.0625), NO),
    (bg.BestGroup([1.0, 2.0], 0.03125), NO),
    (bg.TopGroups(2, [1.0, 2.0], 0.03125), NO),
    (bg.WeightMap(epsilon=0.125), NO),
    (bg.ParetoGroups(0.0625), {"require": [("x", ">=", 0.5, 0.03125)]}),
    (bg.BestGroup([1.0, 2.0], 0.03125), {"require": [("y", "<=", 0.625, 0.03125)]}),
    (bg.ParetoGroups(0.0625), {"worth": "worst"}),
    (bg.ParetoGroups(0.0625), {"worth": ("quantile", 0.5)}),
    (bg.BestGroup([1.0, 2.0], 0.03125), {"worth": "mean"}),
]


def table_of(seed):
    """Return values of six arms in steps of 2^-10, so that a shift by 64 loses nothing."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(-1, 1, size=(1, 6, 2))
    noise = rng.normal(size=(60, 1, 2)) + 0.5 * rng.normal(size=(60, 6, 2))
    return np.round(2.0**10 / (1 + np.exp(-(skill + noise)))) / 2.0**10


def play(table, groups, kind, goal, counted, dims="xy", shift=0.0):
    """Return the labels of the answer, and the pulls of each arm by its place in the table."""
    names = sorted(set(groups), key=groups.index)
    options = dict(counted)
    if "require" in options:
        options["require"] = {d: (s, at + shift, tol) for d, s, at, tol in options["require"]}
    noise = bg.Bounded(shift, 1.0 + shift)
    instance = bg.Instance.from_table(
        table + shift, groups, kind, noise=noise, dims=list(dims), **options
    )
    setting = Setting.for_instance(instance, goal, 0.2)
    answer, counts, *_ = run_table(instance, setting, make("adaptive", batch=1), (7, 0), 10**9)
    places = [[a for a, label in enumerate(groups) if label == name] for name in names]
    pulls = {a: int(counts[i, j]) for i, own in enumerate(places) for j, a in enumerate(own)}
    return {names[i] for i in answer}, pulls


@pytest.mark.parametrize("kind", ["pool", "population"])
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_places_and_a_shift_change_nothing(asked, kind):
    goal, counted = asked
    for seed in range(3):
        table, rng = table_of(seed), np.random.default_rng(seed)
        answer, pulls = play(table, GROUPS, kind, goal, counted)
        order = rng.permutation(6)
        # Pulls may differ: of two arms that are needed alike the first in place goes first.
        moved, _ = play(table[:, order], [GROUPS[a] for a in order], kind, goal, counted)
        assert moved == answer, seed
        swapped, _ = play(table[:, :, ::-1], GROUPS, kind, goal.turned([1, 0]), counted, "yx")
        assert swapped == answer, seed
        shifted, again = play(table, GROUPS, kind, goal, counted, shift=64.0)
        assert shifted == answer and again == pulls, seed

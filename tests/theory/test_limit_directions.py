import numpy as np
import pytest

import bestgroup as bg


def instance(seed, groups=4, arms=3, dims=3):
    rng = np.random.default_rng(seed)
    return bg.Instance(rng.random((groups, arms, dims)), noise=bg.SubGaussian(1.0))


def test_one_vertex_and_one_group_have_the_limit_of_the_best_group():
    given, weights = instance(3), [1.0, 2.0, 0.5]
    for epsilon in (0.0, 0.05):
        best = bg.characteristic_time(given, bg.BestGroup(weights, epsilon))
        top = bg.characteristic_time(given, bg.TopGroups(1, weights, epsilon))
        one = bg.characteristic_time(given, bg.WeightMap([weights], epsilon))
        assert top.value == pytest.approx(best.value, rel=0.004)
        assert one.value == pytest.approx(best.value, rel=0.004)
        assert one.answer == top.answer == best.answer


def test_the_limit_of_a_map_is_not_below_that_of_any_weight():
    given, goal = instance(5), bg.WeightMap(epsilon=0.1)
    found = bg.characteristic_time(given, goal)
    for weights in ([1, 1, 1], [3, 1, 1], [1, 4, 1]):
        at = bg.characteristic_time(given, bg.BestGroup(weights, 0.1))
        assert at.lower <= found.upper * 1.001
    assert 0 < found.lower <= found.upper < np.inf
    given = instance(3)  # where several groups are best for some weights
    assert bg.characteristic_time(given, bg.WeightMap(share=1)).value == np.inf
    narrow = bg.characteristic_time(given, bg.WeightMap(share=0.8))
    assert narrow.value < bg.characteristic_time(given, bg.WeightMap(share=0.95)).value


def test_top_groups_of_singletons_in_one_dim():
    given = bg.Instance([[[1.0]], [[0.5]], [[0.0]]], noise=bg.SubGaussian(1.0))
    found = bg.characteristic_time(given, bg.TopGroups(2, [1.0]))
    alone = bg.characteristic_time(bg.Instance([[[0.5]], [[0.0]]]), bg.BestGroup([1.0]))
    assert found.answer == {0, 1}
    assert found.value >= alone.value * 0.999
    with pytest.raises(bg.InvalidInput, match="less than the number of groups"):
        bg.characteristic_time(given, bg.TopGroups(3, [1.0]))

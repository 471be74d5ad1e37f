"""COV-BOOST: exact numbers, names, and how they are grouped."""

import math

import numpy as np
import pytest

import bestgroup as bg

VARIANCES = (0.70437039, 0.82845749, 1.53743137)


def test_strategies_are_twenty_singletons():
    instance = bg.datasets.cov_boost()
    assert instance.shape.sizes == (1,) * 20
    assert instance.dims == ("anti-spike IgG", "NT50", "cellular response")
    assert instance.groups[0] == "BNT/BNT + ChAd"
    assert instance.groups[12] == "ChAd/ChAd + NVX half"
    assert instance.means[0].tolist() == [[9.50479943, 6.85646198, 4.56226268]]
    assert instance.means[8].tolist() == [[10.42726889, 7.61035762, 4.71849887]]
    assert instance.means[19].tolist() == [[8.29304914, 5.92157842, 3.86702564]]


def test_numbers_add_up():
    # Column sums, added by hand from the table, catch a digit that was mistyped.
    means = np.concatenate(bg.datasets.cov_boost().means)
    expected = [
        9.50479943 + 9.29302574 + 9.05368656 + 10.21251518 + 10.04680837 + 8.34379173 + 8.22174773
        + 9.74560492 + 10.42726889 + 8.93761259 + 7.80669637 + 8.85008761 + 8.4411757 + 9.92900909
        + 9.68315255 + 7.51479976 + 7.26542972 + 8.61558951 + 10.34531673 + 8.29304914,
        6.85646198 + 6.64118217 + 6.40687999 + 7.48941208 + 7.19967835 + 5.66642669 + 5.45532112
        + 7.2730926 + 7.61035762 + 6.18826412 + 5.26269019 + 6.58892648 + 6.15273269 + 7.39079852
        + 7.20340552 + 5.3082677 + 4.99043259 + 6.33327963 + 7.769801 + 5.92157842,
        4.56226268 + 4.03600899 + 3.56388296 + 4.42843301 + 4.36182393 + 3.51154544 + 3.64021428
        + 4.7095302 + 4.71849887 + 3.84374416 + 3.97029191 + 4.7335634 + 4.5890408 + 4.74927053
        + 4.91191932 + 3.95508249 + 4.01638302 + 4.66343909 + 5.00327494 + 3.86702564,
    ]  # fmt: skip
    assert means.sum(axis=0) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("group_by", ["strategy", "vaccine"])
def test_law_and_noise_have_the_pooled_variances(group_by):
    instance = bg.datasets.cov_boost(group_by)
    scale = [math.sqrt(variance) for variance in VARIANCES]
    assert instance.scale.tolist() == scale
    assert instance.law == bg.laws.Normal(scale)
    assert instance.noise == bg.SubGaussian(scale)


def test_vaccines_are_seven_groups_of_unequal_size():
    instance = bg.datasets.cov_boost("vaccine")
    assert instance.groups == ("ChAd", "NVX", "BNT", "VLA", "Ad26", "m1273", "CVn")
    assert instance.shape.sizes == (2, 4, 4, 4, 2, 2, 2)
    assert instance.arms[1] == (
        "after BNT/BNT, full",
        "after BNT/BNT, half",
        "after ChAd/ChAd, full",
        "after ChAd/ChAd, half",
    )
    assert instance.arms[5] == ("after BNT/BNT", "after ChAd/ChAd")
    assert instance.means[1][2].tolist() == [8.85008761, 6.58892648, 4.7335634]


def test_both_groupings_hold_the_same_arms():
    rows = [np.concatenate(bg.datasets.cov_boost(by).means) for by in ("strategy", "vaccine")]
    assert sorted(rows[0].tolist()) == sorted(rows[1].tolist())


def test_truth():
    strategies = bg.datasets.cov_boost()
    best = bg.optimal_groups(strategies, bg.ParetoGroups())
    assert {strategies.groups[i] for i in best} == {"BNT/BNT + m1273", "ChAd/ChAd + m1273"}
    vaccines = bg.datasets.cov_boost("vaccine")
    best = bg.optimal_groups(vaccines, bg.ParetoGroups())
    assert {vaccines.groups[i] for i in best} == {"m1273"}


@pytest.mark.parametrize("group_by", ["booster", "", None, 3, ["strategy"]])
def test_other_groupings_are_refused(group_by):
    with pytest.raises(bg.InvalidInput, match="group_by must be 'strategy' or 'vaccine'; got"):
        bg.datasets.cov_boost(group_by)

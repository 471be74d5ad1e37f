"""What a map of weights says above the picture."""

import numpy as np
import pytest

import bestgroup as bg


def certified(epsilon, noise, dims="xy"):
    rng = np.random.default_rng(0)
    means = {"A": np.linspace(0.9, 0.1, len(dims)), "B": np.linspace(0.1, 0.9, len(dims))}
    rows = [
        {"group": group, "arm": "a", **dict(zip(dims, np.round(row, 1).tolist(), strict=True))}
        for group, mean in means.items()
        for row in rng.normal(mean, 0.2, (400, len(dims)))
    ]
    return bg.certify(rows, bg.WeightMap(epsilon=epsilon), noise=noise)


@pytest.mark.parametrize(
    ("epsilon", "noise", "words"),
    [
        (0.0, bg.SubGaussian(0.3), "the group that is proven best: "),
        (0.1, bg.SubGaussian(0.3), "the group that is proven best, within epsilon: "),
        # Values that tie speak against normal ones of unknown variance.
        (0.1, bg.Gaussian(), "the group that is best, without proof, within epsilon: "),
    ],
)
def test_the_title_claims_what_is_proven_and_no_more(epsilon, noise, words):
    figure = certified(epsilon, noise).map.plot()
    assert figure.axes[0].get_title().startswith(words)


def test_shares_of_more_dims_say_it_too():
    figure = certified(0.1, bg.SubGaussian(0.3), "wxyz").map.plot()
    label = figure.axes[0].get_xlabel()
    assert label == "% of the weights for which it is proven best, within epsilon"

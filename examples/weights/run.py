"""Which booster vaccine is best, for whatever the three immune responses are worth to you?

COV-BOOST (Munro et al. 2021, as tabulated by Kone et al.), vaccines as groups, dims in units of their
noise. The published means are the truth: a table of simulated participants is drawn, and `certify` says
for which weights which vaccine is proven best; then the same with the first response counting most.

    python examples/weights/run.py [--participants 3000] [--figure map.png]

With 500 participants of each strategy two fifths of the weights are mapped, with 3,000 all of them.
"""

from __future__ import annotations

import argparse

import numpy as np

import bestgroup as bg

DELTA, SLACK = 0.05, 0.1


def draw(participants: int, seed: int = 0) -> tuple[bg.Problem, list[dict[str, object]]]:
    """Return the problem, and a row for each simulated participant of each strategy."""
    given = bg.datasets.cov_boost(group_by="vaccine")
    rng = np.random.default_rng(seed)
    rows = [
        {"group": group, "arm": arm, **dict(zip(given.dims, values.tolist(), strict=True))}
        for i, group in enumerate(given.groups)
        for j, arm in enumerate(given.arms[i])
        for values in rng.normal(given.means[i][j] / given.scale, 1.0, (participants, 3))
    ]
    groups = dict(zip(given.groups, given.arms, strict=True))
    return bg.Problem(groups, dict.fromkeys(given.dims, "max"), bg.SubGaussian(1.0)), rows


def certify(participants: int) -> tuple[bg.Certificate, bg.Certificate]:
    """Return what the table proves for all weights, and for those that favour the first dim."""
    problem, rows = draw(participants)
    most = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]  # at least half for the first
    return (
        bg.certify(rows, bg.WeightMap(epsilon=SLACK), problem=problem, delta=DELTA),
        bg.certify(rows, bg.WeightMap(most, epsilon=SLACK), problem=problem, delta=DELTA),
    )


def main() -> None:
    """Print both maps, and draw the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--participants", type=int, default=3000)
    parser.add_argument("--figure", help="where to draw the map of all weights")
    given = parser.parse_args()
    whole, part = certify(given.participants)
    print("All weights:", whole.map, sep="\n")
    print("\nThe first response counts most:", part.map, sep="\n")
    if given.figure:
        whole.map.plot().savefig(given.figure)


if __name__ == "__main__":
    main()

"""Families of models for handwritten digits: which are accurate, small, or both.

Groups are families of models, arms are their settings. One pull fits a model on a random half of
scikit-learn's bundled digits (1,797 images) and measures it on the other half. Decided dims are the
accuracy (to be maximised) and the size of the pickled model (log10 of bytes, to be minimised); the
time to fit is watched.

What is estimated is the mean over random splits of this data set. It is not the performance on
other data: for that a pull would have to draw new images.

    python examples/model_selection/run.py [--out FOLDER]
"""

from __future__ import annotations

import argparse
import math
import pickle
import time
from functools import cache
from pathlib import Path

import numpy as np

import bestgroup as bg

FAMILIES = {
    "nearest neighbours": ["k=1", "k=5", "k=20"],
    "decision tree": ["depth=3", "depth=6", "depth=12"],
    "naive Bayes": ["gaussian", "bernoulli"],
    "ridge": ["alpha=1", "alpha=100"],
}
DIMS = {
    "accuracy": {"direction": "max", "low": 0.0, "high": 1.0},
    "size": {"direction": "min", "unit": "log10 bytes", "low": 2.0, "high": 7.0},
    "fit time": {"direction": "watch", "unit": "s"},
}
GOAL = bg.ParetoGroups([0.02, 0.1])
DELTA = 0.05


def make(group: str, arm: str):
    """Return an unfitted model."""
    from sklearn.linear_model import RidgeClassifier
    from sklearn.naive_bayes import BernoulliNB, GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    value = arm.partition("=")[2]
    if group == "nearest neighbours":
        return KNeighborsClassifier(int(value))
    if group == "decision tree":
        return DecisionTreeClassifier(max_depth=int(value), random_state=0)
    if group == "naive Bayes":
        return GaussianNB(var_smoothing=1e-3) if arm == "gaussian" else BernoulliNB(binarize=8.0)
    return RidgeClassifier(float(value))


@cache
def digits():
    """Return images and labels."""
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


def evaluate(group: str, arm: str, seed: int) -> dict[str, float]:
    """Fit on one half, measure on the other; the seed is the split."""
    x, y = digits()
    order = np.random.default_rng(seed).permutation(len(y))
    half = len(y) // 2
    train, test = order[:half], order[half:]
    begun = time.perf_counter()
    model = make(group, arm).fit(x[train], y[train])
    seconds = time.perf_counter() - begun
    return {
        "accuracy": float((model.predict(x[test]) == y[test]).mean()),
        "size": math.log10(len(pickle.dumps(model))),
        "fit time": seconds,
    }


LOW, HIGH = (0.0, 2.0), (1.0, 7.0)


def solve(noise: bg.Bounded | bg.SubGaussian, budget: int | None = None) -> bg.Solution:
    """Run until the answer is proven, or the budget is spent."""
    return bg.solve(
        bg.Problem(FAMILIES, DIMS, noise),
        GOAL,
        evaluate,
        DELTA,
        budget=budget,
        algorithm="adaptive",
    )


def by_the_range(found: bg.Solution) -> float:
    """Return the pulls that the same means would take if only the range were used.

    Simulated, since it is far more than one would fit models for: normal values with the means that
    were found, and sub-Gaussian noise of half the range, as Hoeffding's lemma gives it.
    """
    scale = [(high - low) / 2 for low, high in zip(LOW, HIGH, strict=True)]
    certificate = found.certificate
    counts = certificate.tally.counts
    means = [
        certificate.tally.sums[i, :size] / counts[i, :size, None]
        for i, size in enumerate(certificate.problem.shape.sizes)
    ]
    instance = bg.Instance(means, law=bg.laws.Normal(0.02), noise=bg.SubGaussian(scale))
    return float(bg.simulate(instance, GOAL, "adaptive", DELTA, runs=3).pulls.mean())


def main() -> None:
    """Solve, print the reasons, and draw the Pareto view."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, default=Path("."))
    out = arguments.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    found = solve(bg.Bounded(LOW, HIGH))
    print(f"{found} ({found.seconds:.0f} s)")
    for explanation in found.explanations.values():
        print(f"  {explanation}")
    path = out / "model_selection.png"
    found.certificate.plot("size", "accuracy").savefig(path)
    print(f"Pareto view: {path}")
    print(f"Pulls, bounded values whose variance is adapted to: {found.answer.pulls:,}")
    print(f"Pulls, the same means by the range alone: {by_the_range(found):,.0f}")


if __name__ == "__main__":
    main()

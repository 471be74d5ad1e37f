"""Families of classifiers on the same 1,797 handwritten digits, which need not all be classified.

Groups are families of models, arms are their settings, items are the images of scikit-learn's digits.
An image is classified by a model that was fitted on the four fifths of the images that it is not in.
Decided dims: whether the class is right, and the Brier score of the probabilities. The answer is about
these 1,797 images, each model once on each: what scoring everything would show.

    python examples/digits_items/run.py
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import bestgroup as bg

FAMILIES = {
    "neighbours": ["k=1", "k=5", "k=25"],
    "tree": ["depth=4", "depth=8", "depth=16"],
    "naive Bayes": ["smooth=1e-9", "smooth=1e-2"],
    "discriminant": ["linear", "shrunk"],
    "forest": ["trees=10", "trees=40"],
}
GOAL = bg.ParetoGroups(0.02)
DELTA = 0.05
FOLDS = 5


def make(group: str, arm: str) -> Any:
    """Return an unfitted model."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    value = arm.partition("=")[2]
    if group == "neighbours":
        return KNeighborsClassifier(int(value), algorithm="kd_tree")  # one image at a time
    if group == "tree":
        return DecisionTreeClassifier(max_depth=int(value), random_state=0)
    if group == "naive Bayes":
        return GaussianNB(var_smoothing=float(value))
    if group == "discriminant":
        shrink = None if arm == "linear" else 0.1
        return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrink)
    return RandomForestClassifier(int(value), random_state=0)


@cache
def digits() -> tuple[Any, Any]:
    """Return the images and their classes."""
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


@cache
def fitted(group: str, arm: str, fold: int) -> Any:
    """Return a model fitted on all images outside a fold."""
    x, y = digits()
    rest = np.arange(len(y)) % FOLDS != fold
    return make(group, arm).fit(x[rest], y[rest])


def evaluate_many(group: str, arm: str, items: list[str]) -> list[tuple[float, float]]:
    """Return, for each image, whether its class is right, and the Brier score over 2."""
    x, y = digits()
    rows = []
    for t in map(int, items):
        p = fitted(group, arm, t % FOLDS).predict_proba(x[t : t + 1])[0]
        rows.append((float(p.argmax() == y[t]), float(((p - np.eye(10)[y[t]]) ** 2).sum() / 2)))
    return rows


def problem() -> bg.Problem:
    """Return what is known before the first image."""
    items = bg.Items(len(digits()[1]))
    return bg.Problem(FAMILIES, {"right": "max", "brier": "min"}, bg.Bounded(0, 1), items=items)


def solve(**options: Any) -> bg.Solution:
    """Return the proven answer."""
    return bg.solve(problem(), GOAL, evaluate_many=evaluate_many, delta=DELTA, **options)


def main() -> None:
    """Solve, and say what was saved."""
    found = solve()
    print(found)
    for group, why in found.explanations.items():
        print(
            f"  {group}: {why.status}; images classified: "
            + ", ".join(f"{arm['arm']} {arm['pulls']:,}" for arm in why.arms)
        )
    total = len(digits()[1]) * sum(map(len, FAMILIES.values()))
    share = found.answer.pulls / total
    print(
        f"{found.answer.pulls:,} of {total:,} cells of the table were scored: {1 - share:.0%} saved"
    )


if __name__ == "__main__":
    main()

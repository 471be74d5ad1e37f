"""Writes the table that ships: classifiers of scikit-learn on the same images of handwritten digits.

Every classifier predicts each of 400 images while it was trained on others (five folds). Groups are
kinds of classifiers, arms their settings, items the images; dims: whether the prediction is right, and
how much probability it gave to the right digit. Run it with the folder to write to.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

IMAGES = 400


def classifiers():
    for k in (1, 3, 9):
        yield "neighbours", f"k={k}", KNeighborsClassifier(k)
    for depth in (5, 12):
        yield "tree", f"depth={depth}", DecisionTreeClassifier(max_depth=depth, random_state=0)
    for c in (0.01, 1.0):
        yield (
            "logistic",
            f"C={c:g}",
            make_pipeline(StandardScaler(), LogisticRegression(C=c, max_iter=2000)),
        )
    for trees in (10, 200):
        yield "forest", f"trees={trees}", RandomForestClassifier(trees, random_state=0)
    for c in (1.0, 10.0):
        yield "svm", f"C={c:g}", SVC(C=c, probability=True, random_state=0)
    yield "naive Bayes", "plain", GaussianNB()


def main(folder):
    images, digits = load_digits(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    kept = np.sort(np.random.default_rng(0).permutation(len(digits))[:IMAGES])
    rows = []
    for group, arm, model in classifiers():
        chances = cross_val_predict(model, images, digits, cv=folds, method="predict_proba")[kept]
        truth = digits[kept]
        right = chances.argmax(axis=1) == truth
        sure = chances[np.arange(IMAGES), truth]
        rows += [
            (group, arm, f"image-{i}", int(r), f"{s:.4f}")
            for i, r, s in zip(kept, right, sure, strict=True)
        ]
        print(group, arm, right.mean().round(3), sure.mean().round(3))
    with (Path(folder) / "digits.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("group", "arm", "item", "correct", "confidence"))
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1])

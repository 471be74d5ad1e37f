"""The search inside scikit-learn: the answer of the full grid, from fewer fits."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import bestgroup as bg
from bestgroup.integrations.sklearn import BestGroupSearchCV

FAMILIES = {
    "neighbours": (KNeighborsClassifier(), {"n_neighbors": [1, 9]}),
    "stump": (DecisionTreeClassifier(random_state=0), {"max_depth": [1]}),
    "Bayes": GaussianNB(),
    "guess": (DummyClassifier(random_state=0), {"strategy": ["stratified", "prior"]}),
}


def full_grid(X, y, cv, scoring, families=FAMILIES):
    """Mean scores [arms, scorers] of every setting on every split."""
    search = BestGroupSearchCV(families, scoring=scoring)
    models = search._models()
    means = []
    for model in models.values():
        found = cross_validate(clone(model), X, y, cv=cv, scoring=scoring)
        means.append([found[f"test_{name}"].mean() for name in scoring])
    return [family for family, _ in models], np.array(means)


def test_the_best_family_is_that_of_the_full_grid():
    X, y = load_wine(return_X_y=True)
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=10, random_state=1)
    search = BestGroupSearchCV(FAMILIES, cv=cv, difference=0.9).fit(X, y)
    families, means = full_grid(X, y, cv, ["accuracy"])
    assert search.families_ == (families[int(means[:, 0].argmax())],)
    assert search.best_family_ == "Bayes"
    assert search.n_fits_full_ == 6 * 40
    assert search.n_fits_ < 0.8 * search.n_fits_full_
    assert search.answer_.final
    assert "these 40 items" in str(search.guarantee_)
    assert search.score(X, y) > 0.95
    assert list(search.classes_) == [0, 1, 2]
    assert search.predict_proba(X).shape == (178, 3)
    assert search.cv_results_["n_splits"].sum() == search.n_fits_
    assert search.cv_results_["status"] == ["out", "out", "out", "in", "out", "out"]


def test_the_settings_of_a_single_family_go_through_all_splits():
    X, y = load_iris(return_X_y=True)
    families = {"tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]})}
    cv = KFold(6, shuffle=True, random_state=0)
    search = BestGroupSearchCV(families, scoring=["accuracy"], cv=cv).fit(X, y)
    _, means = full_grid(X, y, cv, ["accuracy"], families)
    assert search.families_ == ("tree",) and search.best_params_["max_depth"] == 3
    assert search.n_fits_ == search.n_fits_full_ == 12
    assert search.cv_results_["mean_test_accuracy"].tolist() == pytest.approx(means[:, 0].tolist())


def test_the_front_is_that_of_the_full_grid():
    X, y = load_iris(return_X_y=True)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=10, random_state=1)
    scoring = ["accuracy", "precision_macro"]
    search = BestGroupSearchCV(FAMILIES, scoring=scoring, cv=cv, epsilon=0.001, refit="accuracy")
    with pytest.warns(UserWarning):  # a guess may leave a class without predictions
        search.fit(X, y)
        families, means = full_grid(X, y, cv, scoring)
    names = list(dict.fromkeys(families))
    worth = np.array([means[[f == n for f in families]].max(axis=0) for n in names])
    truth = {n for n, best in zip(names, bg.pareto_groups(worth), strict=True) if best}
    almost = {n for n, best in zip(names, bg.pareto_groups(worth, 0.001), strict=True) if best}
    assert truth <= set(search.families_) <= almost
    assert search.n_fits_ <= search.n_fits_full_


def test_scores_below_the_floor_count_as_the_floor():
    X, y = load_wine(return_X_y=True)
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=10, random_state=1)
    options = {"scoring": "accuracy", "cv": cv}
    plain = BestGroupSearchCV(FAMILIES, **options).fit(X, y)
    search = BestGroupSearchCV(FAMILIES, floor={"accuracy": 0.8}, **options).fit(X, y)
    assert search.families_ == plain.families_ == ("Bayes",)
    assert search.n_fits_ < 0.8 * plain.n_fits_
    assert "clipped to 0.8 .. 1" in str(search.guarantee_)
    means = np.array(search.cv_results_["mean_test_accuracy"])
    assert means.min() < 0.7  # reported as they are


DIGITS = {
    "neighbours": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 9]}),
    "svm": (SVC(), {"C": [0.1, 1, 10]}),
    "logistic": (LogisticRegression(max_iter=300), {"C": [0.01, 1]}),
    "forest": (RandomForestClassifier(random_state=0), {"n_estimators": [10, 50]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [5, 12]}),
    "Bayes": GaussianNB(var_smoothing=1e-2),
    "discriminant": LinearDiscriminantAnalysis(),
    "ridge": (RidgeClassifier(), {"alpha": [1.0, 10.0]}),
}


@pytest.mark.verify
def test_digits_with_eight_families():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=20, random_state=0)
    scoring, least = ["accuracy", "f1_macro"], {"accuracy": 0.9, "f1_macro": 0.9}
    search = BestGroupSearchCV(DIGITS, scoring=scoring, cv=cv, floor=least, refit=False).fit(X, y)
    families, means = full_grid(X, y, cv, scoring, DIGITS)
    names = list(dict.fromkeys(families))
    worth = np.array([means[[f == n for f in families]].max(axis=0) for n in names])
    front = {n for n, best in zip(names, bg.pareto_groups(worth), strict=True) if best}
    print(f"digits: front {front}, {search.n_fits_:,} of {search.n_fits_full_:,} fits")
    assert set(search.families_) == front
    assert search.n_fits_ <= 0.5 * search.n_fits_full_


def test_bad_input_is_refused_before_anything_is_fitted():
    X, y = load_iris(return_X_y=True)
    for options, words in (
        ({"families": {}}, "families must map names"),
        ({"scoring": "neg_log_loss"}, "the range of 'neg_log_loss' is not known"),
        ({"scoring": "accuracy", "floor": {"accuracy": 1.5}}, "floor must lie in the range"),
        ({"scoring": "accuracy", "floor": {"f1": 0.5}}, "floor must lie in the range"),
    ):
        with pytest.raises(bg.InvalidInput, match=words):
            BestGroupSearchCV(**{"families": FAMILIES, **options}).fit(X, y)
    regressors = {"line": LinearRegression(), "mean": DummyRegressor()}
    with pytest.raises(bg.InvalidInput, match="the range of 'score' is not known"):
        BestGroupSearchCV(regressors).fit(X, y)


def test_a_difference_that_was_promised_too_small_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(bg.BestGroupError, match="differ"):
        BestGroupSearchCV(FAMILIES, cv=KFold(5, shuffle=True, random_state=0), difference=0.01).fit(
            X, y
        )


@parametrize_with_checks(
    [
        BestGroupSearchCV(
            {"centre": NearestCentroid(), "Bayes": GaussianNB()},
            cv=KFold(2, shuffle=True, random_state=0),
        )
    ]
)
def test_scikit_learn_takes_it_for_an_estimator(estimator, check):
    check(estimator)

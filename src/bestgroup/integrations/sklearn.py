"""scikit-learn: a search over families of models that stops fitting what can no longer matter.

Families are groups, their settings arms, the splits of cross-validation shared items. Every setting
goes through the splits in one random order, and comparisons are made split by split. The answer is
about the mean score *over these splits*: splits of one data set share most of their training data, so
it says no more about new data than cross-validation does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, RepeatedKFold, RepeatedStratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import indexable

import bestgroup as bg
from bestgroup.integrations.sklearn_delegates import Delegates
from bestgroup.problem.noise import in_range

# Scorers whose values lie between 0 and 1, by the beginning of their names.
_UNIT = ("accuracy", "balanced_accuracy", "top_k_accuracy", "average_precision", "f1", "precision")
_UNIT += ("recall", "jaccard", "roc_auc")


class BestGroupSearchCV(Delegates, BaseEstimator):
    """Finds the families that are proven best in cross-validation, with as few fits as possible.

    `families` maps names to an estimator or to (estimator, grid of parameters). `scoring` is a
    scorer, its name, a list of names, or a dict of scorers; all are made as large as possible.
    `bounds` gives (low, high) for scorers that do not lie in [0, 1] by their definition.

    The answer is about the mean over the splits of `cv`, exact if all of them are fitted. What saves
    fits is a narrow range: `floor`, by scorer, counts lower scores as that much (how bad a bad one is
    decides nothing, and needs no assumption); `difference`, one number or one for each scorer, says by
    how much two settings can differ on one split at most, an assumption that every split checks.

    With `weights`, one for each scorer, or with one scorer, the question is which family is best;
    otherwise which ones are Pareto optimal. `refit` names the scorer by which `best_estimator_` is
    chosen among the settings of the families that were found (by their means so far, which is no
    proof), or is False; True takes the weights, or else the first scorer. `cv` is a splitter, or a
    number of folds that are drawn ten times.
    """

    def __init__(
        self,
        families: Mapping[str, Any],
        *,
        scoring: Any = None,
        cv: Any = 5,
        weights: Any = None,
        epsilon: Any = 0.0,
        delta: float = 0.05,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        floor: Mapping[str, float] | None = None,
        difference: Any = None,
        refit: Any = True,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.families, self.scoring, self.cv, self.weights = families, scoring, cv, weights
        self.epsilon, self.delta, self.bounds, self.floor = epsilon, delta, bounds, floor
        self.difference, self.refit = difference, refit
        self.n_jobs, self.random_state = n_jobs, random_state

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Any:
        """Fit settings on splits until the answer is proven, then the best one on all data."""
        X, y = indexable(X, y)
        models = self._models()
        scorers = self._scorers(models)
        splits = list(self._splitter(y).split(X, y, groups))
        rows: dict[tuple[str, str], list[list[float]]] = {}
        failures: list[Exception] = []

        def evaluate(group: str, arm: str, item: str) -> list[float]:
            train, test = splits[int(item)]
            try:
                model: Any = clone(models[group, arm])
                model.fit(*_part(X, y, train))
                held = _part(X, y, test)
                scores = [float(scorer(model, *held)) for scorer in scorers.values()]
            except Exception as error:
                failures.append(error)
                raise
            rows.setdefault((group, arm), []).append(scores)
            return scores

        problem = self._problem(models, scorers, len(splits))
        best = self.weights is not None or len(scorers) == 1
        weights = [1.0] if self.weights is None else self.weights
        goal = bg.BestGroup(weights, self.epsilon) if best else bg.ParetoGroups(self.epsilon)
        options: dict[str, Any] = {"seed": self.random_state, "progress": False, "retries": 0}
        options["workers"] = effective_n_jobs(self.n_jobs or 1)
        try:
            found = bg.solve(problem, goal, evaluate, self.delta, **options)
        except bg.EvaluationFailed as error:
            raise (failures or [error])[0] from None
        self.answer_, self.explanations_ = found.answer, found.explanations
        self.families_, self.guarantee_ = tuple(found.answer.groups), found.answer.guarantee
        if not rows:  # one family has no rival; its settings have each other
            rows |= {key: [evaluate(*key, str(k)) for k in range(len(splits))] for key in models}
        self.n_fits_, self.n_fits_full_ = sum(map(len, rows.values())), len(models) * len(splits)
        self.cv_results_ = self._results(models, scorers, rows)
        if self.refit is not False:
            self._choose(models, list(scorers))
            self.best_estimator_.fit(X, y)
            self.n_features_in_ = getattr(self.best_estimator_, "n_features_in_", None)
        return self

    def _models(self) -> dict[tuple[str, str], Any]:
        """Return the estimators by family and by the words for their parameters."""
        if not isinstance(self.families, Mapping) or not self.families:
            raise bg.InvalidInput("families must map names to (estimator, grid of parameters)")
        found: dict[tuple[str, str], Any] = {}
        for name, entry in self.families.items():
            model, grid = entry if isinstance(entry, tuple | list) else (entry, {})
            for point in ParameterGrid(grid):
                words = ", ".join(f"{key}={value!r}" for key, value in dict(point).items())
                found[name, words or "default"] = clone(model).set_params(**dict(point))
        return found

    def _scorers(self, models: Mapping[Any, Any]) -> dict[str, Any]:
        given = self.scoring
        if given is None or isinstance(given, str) or callable(given):
            given = {given if isinstance(given, str) else "score": given}
        elif not isinstance(given, Mapping):
            given = {name: name for name in given}
        first = next(iter(models.values()))
        return {name: check_scoring(first, scoring=scorer) for name, scorer in given.items()}

    def _splitter(self, y: Any) -> Any:
        if not isinstance(self.cv, int):
            return check_cv(self.cv, y)
        discrete = y is not None and type_of_target(y) in ("binary", "multiclass")
        kind = RepeatedStratifiedKFold if discrete else RepeatedKFold
        return kind(n_splits=self.cv, n_repeats=10, random_state=self.random_state)

    def _problem(self, models: Any, scorers: Mapping[str, Any], splits: int) -> bg.Problem:
        known = dict(self.bounds or {})
        kinds = {get_tags(model).estimator_type for model in models.values()}
        if self.scoring is None and kinds == {"classifier"}:
            known.setdefault("score", (0.0, 1.0))  # a classifier's own score is its accuracy
        for name in scorers:
            if name not in known and not name.startswith(_UNIT):
                raise bg.InvalidInput(
                    f"the range of {name!r} is not known; give bounds={{{name!r}: (low, high)}}"
                )
        ends = {name: known.get(name, (0.0, 1.0)) for name in scorers}
        dims: dict[str, Any] = dict.fromkeys(scorers, "max")
        for name, least in dict(self.floor or {}).items():
            if name not in ends or not ends[name][0] <= least < ends[name][1]:
                raise bg.InvalidInput(
                    f"floor must lie in the range of a scorer; got {name}: {least}"
                )
            ends[name] = (least, ends[name][1])
            dims[name] = {"direction": "max", "clip": ends[name]}
        low, high = zip(*ends.values(), strict=True)
        groups: dict[str, list[str]] = {}
        for family, words in models:
            groups.setdefault(family, []).append(words)
        noise = in_range(low, high, difference=self.difference)
        return bg.Problem(groups, dims, noise, items=bg.Items(splits))

    def _results(self, models: Any, scorers: Any, rows: Any) -> dict[str, Any]:
        table = [np.array(rows.get(key, []), float).reshape(-1, len(scorers)) for key in models]
        result: dict[str, Any] = {
            "family": [family for family, _ in models],
            "setting": [words for _, words in models],
            "params": [model.get_params() for model in models.values()],
            "status": [self.explanations_[family].status for family, _ in models],
            "n_splits": np.array([len(values) for values in table]),
        }
        for d, name in enumerate(scorers):
            means = [values[:, d].mean() if len(values) else np.nan for values in table]
            result[f"mean_test_{name}"] = np.array(means)
        return result

    def _choose(self, models: Mapping[tuple[str, str], Any], names: list[str]) -> None:
        if self.refit is not True and self.refit not in names:
            raise bg.InvalidInput(f"refit must be True, False or one of {', '.join(names)}")
        weights = self.weights
        if self.refit is not True or weights is None:
            weights = np.array(names) == (names[0] if self.refit is True else self.refit)
        score = np.asarray(weights, float) @ [self.cv_results_[f"mean_test_{n}"] for n in names]
        chosen = np.where(np.isin(self.cv_results_["family"], self.families_), score, -np.inf)
        self.best_index_ = int(np.nanargmax(chosen))
        self.best_score_ = float(score[self.best_index_])
        key = list(models)[self.best_index_]
        self.best_family_, self.best_params_ = key[0], models[key].get_params()
        self.best_estimator_ = clone(models[key])


def _part(X: Any, y: Any, places: Sequence[int]) -> tuple[Any, Any]:
    return _safe_indexing(X, places), None if y is None else _safe_indexing(y, places)

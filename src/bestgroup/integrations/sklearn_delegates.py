"""What a search does as an estimator: it stands for the model that it found."""

from __future__ import annotations

from typing import Any

from sklearn.base import MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def _has(name: str) -> Any:
    return available_if(lambda self: hasattr(self._fitted_or_first(), name))


class Delegates(MetaEstimatorMixin):
    """Predicts and scores by `best_estimator_`, and has its tags."""

    families: Any
    best_estimator_: Any

    def _fitted_or_first(self) -> Any:
        if hasattr(self, "best_estimator_"):
            return self.best_estimator_
        entry = next(iter(self.families.values()))
        return entry[0] if isinstance(entry, tuple | list) else entry

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        """Return the tags of what is searched."""
        above: Any = super()
        tags, inner = above.__sklearn_tags__(), get_tags(self._fitted_or_first())
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "input_tags"):
            setattr(tags, name, getattr(inner, name))
        entries = [e[0] if isinstance(e, tuple | list) else e for e in self.families.values()]
        tags.input_tags.sparse = all(get_tags(model).input_tags.sparse for model in entries)
        return tags

    @property
    def classes_(self) -> Any:
        """The classes of a classifier."""
        return self._best().classes_

    @_has("predict")
    def predict(self, X: Any) -> Any:
        """Predict with the best estimator."""
        return self._best().predict(X)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Predict probabilities with the best estimator."""
        return self._best().predict_proba(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the score of the best estimator, by its own scorer."""
        return self._best().score(X, y)

"""What classifiers share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d, validate_data

from riata.estimators.arrays import (
    classes_and_codes,
    codes_of,
    is_canonical_csr,
    sample_weights,
)
from riata.estimators.base import LinearEstimator
from riata.estimators.events import ClassifierEvents
from riata.estimators.tables import (
    checked_labels,
    is_stream,
    note_columns,
)
from riata.labels import as_python
from riata.learners.base import Floats
from riata.metrics import class_probabilities
from riata.record import Model, Record, Settings


def _has_probability(estimator: LinearEstimator) -> bool:
    learner = (
        estimator.model_.learner if hasattr(estimator, "model_") else estimator._make_learner(1)
    )
    if learner.probability(np.zeros((1, learner.outputs))) is None:
        raise AttributeError(f"loss={learner.parameters().get('loss')!r} gives no probabilities")
    return True


class LinearClassifier(ClassifierMixin, ClassifierEvents, LinearEstimator):  # type: ignore[misc]
    """Two classes in one column of weights, more in one column a class (one against the rest)."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels in the order of `predict_proba`'s columns: ascending, and behind them what joined later."""
        self._fitted()
        assert self.model_.classes is not None
        return self.model_.classes

    def _factors(self, classes: NDArray[Any], y: NDArray[Any]) -> dict[float, float] | None:
        """class_weight by class code."""
        if self.class_weight is None:
            return None
        factors = compute_class_weight(self.class_weight, classes=classes, y=y)
        return dict(enumerate(map(float, factors)))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **reading: Any) -> Self:
        """Learn the rows of X from the start, `passes` times over.

        X is a matrix, or a frame whose columns may hold numbers, names and texts. Without y it is anything
        that `open_source` takes, labels and all: `fit(df, label="clicked")`, `fit("log.csv", ignore=["id"])`.
        """
        if y is None and (reading or is_stream(X)):
            return self._fit_examples(X, reading, self.class_weight)
        table = self._table(X, y, sample_weight, reading)
        if table is None:
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse=True,
                dtype=[np.float32, np.float64],
                ensure_all_finite=False,
            )
        else:
            y = checked_labels(self, X, y)
        classes, codes = classes_and_codes(y)
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only, {classes.tolist()[0]!r}: a classifier needs at least two"
            )
        labels = codes.astype(np.float64)
        source = (
            self._source(X, labels, sample_weight) if table is None else table.with_labels(labels)
        )
        factors = self._factors(classes, y)
        model = self._fit(source, list(range(len(classes))), factors)
        if factors is not None:  # by label, not by code
            weights = list(zip(map(as_python, classes), factors.values(), strict=True))
            model.record.settings = replace(model.record.settings, class_weight=weights)
        self.model_ = Model(model.learner, classes, model.record)
        if table is not None:
            note_columns(self, X, model.schema)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning, one pass over the rows of X in their order. The first call names all `classes`."""
        with self._turn():
            return self._partial_fit(X, y, classes, sample_weight)

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        first = not hasattr(self, "model_")
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit")
            if self.class_weight == "balanced":
                raise ValueError(
                    "class_weight='balanced' needs all of y at once: give a dict to partial_fit"
                )
            names = np.unique(np.asarray(classes))
            learner = self._make_learner(1 if len(names) <= 2 else len(names))
            record = Record(data=["partial_fit"], settings=Settings())
        else:
            names, learner, record = self.classes_, self.model_.learner, self.model_.record
            if classes is not None and not np.array_equal(names, np.unique(np.asarray(classes))):
                raise ValueError(
                    f"classes={classes!r} is not the same as on the first call: {names!r}"
                )
        if (table := self._table_to_go_on(X, y, first)) is not None:
            y = checked_labels(self, X, y)
        elif first or not (is_canonical_csr(X) and X.shape[1] == self.n_features_in_):
            X, y = validate_data(
                self, X, y, accept_sparse=True, dtype=[np.float32, np.float64],
                ensure_all_finite=False, reset=first,
            )  # fmt: skip
        codes = codes_of(names, y if isinstance(y, np.ndarray) else column_or_1d(y))
        weights = self._weights(X, codes, names, sample_weight)
        self._learn_more(learner, record, X, codes, weights, table)
        if first:
            self.model_ = Model(learner, names, record)
        return self

    def _weights(
        self, X: Any, codes: Floats, names: NDArray[Any], sample_weight: Any
    ) -> Floats | None:
        """Sample weight times class weight, or None where neither is given."""
        weights = sample_weights(X, sample_weight)
        if self.class_weight is None:
            return weights
        factors = np.array([float(self.class_weight.get(label, 1)) for label in names.tolist()])
        by_class = factors[codes.astype(np.intp)]
        return by_class if weights is None else weights * by_class

    def learn(self, source: Any, **options: Any) -> Self:
        if isinstance(self.class_weight, Mapping | str):
            options.setdefault("class_weight", self.class_weight)
        return super().learn(source, **options)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is right; without y of anything that brings its labels along."""
        if y is None:
            return float(self._evaluated(X)["accuracy"])
        return float(super().score(X, y, sample_weight))

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: (n,) for two classes, (n, classes) for more."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        scores = self._scores(X)
        codes = (
            (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        )
        return np.asarray(self.classes_[np.minimum(codes, len(self.classes_) - 1)])

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, (n, classes), given that exactly one is right."""
        return self._normalised(self._scores(X))

    def _normalised(self, scores: Floats) -> Floats:
        probability = self._fitted().probability(scores)
        if probability is None:
            raise AttributeError("this loss gives no probabilities")
        return class_probabilities(probability)

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @property
    def coef_(self) -> Floats:
        """The weights, (1, features) for two classes or (classes, features), brought current."""
        return np.asarray(self.sparse_coef_.toarray())

"""What regressors share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from riata.estimators.arrays import (
    is_canonical_csr,
    sample_weights,
)
from riata.estimators.base import LinearEstimator
from riata.estimators.events import RegressorEvents
from riata.estimators.tables import (
    checked_labels,
    is_stream,
    note_columns,
)
from riata.learners.base import Floats
from riata.record import Model, Record, Settings


class LinearRegressor(RegressorMixin, RegressorEvents, LinearEstimator):  # type: ignore[misc]
    """One number a row."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **reading: Any) -> Self:
        """Learn the rows of X from the start, `passes` times over: as `LinearClassifier.fit`."""
        if y is None and (reading or is_stream(X)):
            return self._fit_examples(X, reading, None)
        table = self._table(X, y, sample_weight, reading)
        if table is not None:
            labels = checked_labels(self, X, y, numeric=True).astype(np.float64)
            self.model_ = self._fit(table.with_labels(labels), None, None)
            note_columns(self, X, self.model_.schema)
            return self
        X, y = validate_data(
            self, X, y, accept_sparse=True, dtype=[np.float32, np.float64], y_numeric=True,
            ensure_all_finite=False,
        )  # fmt: skip
        self.model_ = self._fit(self._source(X, y.astype(np.float64), sample_weight), None, None)
        return self

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The coefficient of determination; without y of anything that brings its labels along."""
        if y is None:
            return float(self._evaluated(X)["r2"])
        return float(super().score(X, y, sample_weight))

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on learning, one pass over the rows of X in their order."""
        with self._turn():
            return self._partial_fit(X, y, sample_weight)

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        first = not hasattr(self, "model_")
        if (table := self._table_to_go_on(X, y, first)) is not None:
            y = checked_labels(self, X, y, numeric=True)
        elif first or not (is_canonical_csr(X) and X.shape[1] == self.n_features_in_):
            X, y = validate_data(
                self, X, y, accept_sparse=True, dtype=[np.float32, np.float64], y_numeric=True,
                ensure_all_finite=False, reset=first,
            )  # fmt: skip
        if first:
            learner, record = (
                self._make_learner(1),
                Record(data=["partial_fit"], settings=Settings()),
            )
        else:
            learner, record = self.model_.learner, self.model_.record
        labels = np.ascontiguousarray(y, dtype=np.float64)
        self._learn_more(learner, record, X, labels, sample_weights(X, sample_weight), table)
        if first:
            self.model_ = Model(learner, None, record)
        return self

    def predict(self, X: Any) -> Floats:
        """The prediction for each row."""
        return self._scores(X)[:, 0]

    @property
    def coef_(self) -> Floats:
        """The weights, (features,), brought current."""
        return np.asarray(self.sparse_coef_.toarray()[0])

"""What all estimators share: from arrays to a source, from the trained model to attributes. No arithmetic."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from riata import model_file
from riata.block import Block
from riata.estimators.arrays import (
    blocks_of,
    is_canonical_csr,
    learn_more,
    sample_weights,
)
from riata.estimators.events import Events
from riata.estimators.reading import Reading
from riata.estimators.tables import (
    TableWithLabels,
    are_dicts,
    as_table,
    check_known,
    is_stream,
    is_table,
    note_columns,
    open_examples,
    refuse_unreadable,
    split_options,
)
from riata.estimators.weights import Weights
from riata.learners import Learner
from riata.learners.base import Floats
from riata.merging import merge_models
from riata.record import Model, Record
from riata.schema import Schema
from riata.sources import Source, open_source
from riata.sources.source import iterate
from riata.sources.weighed import checked_and_weighed
from riata.text_weights import with_weights
from riata.training import evaluate, train
from riata.training.by_name import check_features, warn_of_unseen


class LinearEstimator(Weights, Events, Reading, BaseEstimator):  # type: ignore[misc]
    """Fits a learner of one family, reads its weights, saves it. Parameters are flat and stay as given."""

    _learner: ClassVar[type[Learner]]
    model_: Model

    # Parameters

    def _learner_parameters(self) -> dict[str, Any]:
        wanted = {f.name for f in fields(self._learner) if f.init}  # type: ignore[arg-type]
        return {k: v for k, v in self.get_params(deep=False).items() if k in wanted}

    def _make_learner(self, outputs: int) -> Learner:
        return self._learner(**self._learner_parameters(), outputs=outputs)

    def _seed(self) -> int:
        if self.random_state is None or isinstance(self.random_state, int | np.integer):
            return int(self.random_state or 0)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    # Learning

    def _source(self, X: Any, y: Floats | None, sample_weight: Any = None) -> Source:
        return open_source(X, y, sample_weights(X, sample_weight))

    def _fit(self, source: Source, classes: Any, class_weight: Any) -> Model:
        return train(
            source,
            self._make_learner,
            passes=self.passes,
            shuffle=(source.n_rows or 0) if self.shuffle else 0,
            random_state=self._seed(),
            holdout=self.holdout,
            patience=self.patience,
            classes=classes,
            class_weight=class_weight,
        )

    def learn(self, source: Any, **options: Any) -> Self:
        """Learn from anything `open_source` takes (a path, `"-"`, a matrix, ...), from the start.

        `options` go to `open_source` (`label="clicked"`, `ignore=["id"]`, ...) and to `riata.training.train`,
        whose defaults hold: one pass, in the order of the stream.
        """
        reading, options = split_options(options)
        check_known(options, train)
        reading = self._by_default() | reading
        model = train(open_examples(source, **reading), self._make_learner, **options)
        with self._turn():
            self._take(model)
        return self

    def _by_default(self) -> dict[str, Any]:
        """How examples are read, unless somebody says otherwise."""
        names = self._make_learner(1).wants_names
        return {"names": names, "scale": "auto", "hash_key": self._hash_key}

    def _take(self, model: Model) -> None:
        """Have this model."""
        self.model_ = model
        self.n_features_in_ = model.learner.n_features
        schema = model.schema
        if schema is not None and schema.named and not schema.open:
            names = [column.name for column in schema.features]
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)

    def _takes_names(self) -> bool:
        """Whether the learner can hold features by their names."""
        values = self._learner_parameters()
        return values.get("store") != "dense" and values.get("covariance") != "full"

    def _table(
        self, X: Any, y: Any, sample_weight: Any, reading: Mapping[str, Any]
    ) -> TableWithLabels | None:
        """A frame or dicts as named features, if they can be that."""
        self.__dict__.pop("_fitted_on_frame", None)
        rows = are_dicts(X)
        if y is None or not (rows or (is_table(X) and (reading or self._takes_names()))):
            refuse_unreadable(X)
            return None
        if not rows:
            self._fitted_on_frame = True
        options = self._by_default() | dict(reading)
        return TableWithLabels(X, y, sample_weights(X, sample_weight), **options)

    def _table_to_go_on(self, X: Any, y: Any, first: bool) -> TableWithLabels | None:
        """The same for rows to learn beside others."""
        if first:
            table = self._table(X, y, None, {})
            if table is not None:
                note_columns(self, X)
            return table
        if self._is_named() and (is_table(X) or are_dicts(X)):
            if hasattr(self, "_fitted_on_frame"):
                note_columns(self, X, self.model_.schema, reset=False)
            return TableWithLabels(X, y, None, schema=self.model_.schema)
        self._refuse_matrix(X)
        return None

    def _learn_more(
        self,
        learner: Learner,
        record: Record,
        X: Any,
        labels: Floats,
        weights: Floats | None,
        table: TableWithLabels | None,
    ) -> None:
        first = record.schema is None and bool(learner.by_feature)
        if table is None:
            record.schema = record.schema or Schema(named=False)
            if first:
                check_features(learner, record.schema, "X", X.shape[1])
            for block in blocks_of(X, labels, weights):
                learn_more(learner, record, block)
            return
        table.set_weights(weights)
        if self._hash_key is not None:
            learner.use_hash_key(bytes.fromhex(self._hash_key))
        for block in table.with_labels(labels):
            assert table.schema is not None
            weights_before = None if record.schema is None else record.schema.text_weights
            if first and record.schema is None:
                check_features(learner, table.schema, table.name)
            record.schema = with_weights(table.schema, weights_before)
            learn_more(learner, record, block)
        if first:
            warn_of_unseen(learner, table.name, more=True)

    def _fit_examples(self, X: Any, reading: Mapping[str, Any], class_weight: Any) -> Self:
        """Fit what brings its labels along."""
        options = self._by_default() | dict(reading)
        model = self._fit(open_examples(X, **options), None, class_weight)
        self._take(model)
        return self

    # What was learned

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _fitted(self) -> Learner:
        if not hasattr(self, "model_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: call fit, partial_fit or learn first"
            )
        return self.model_.learner

    def _refuse_matrix(self, X: Any) -> None:
        """A model of named features does not know what the columns of a matrix are."""
        refuse_unreadable(X)
        if self._is_named():
            raise ValueError(
                "this model knows its features by name, and a matrix has none: give it a frame with these "
                "columns, dicts (also learn_one, predict_one) or a file with names"
            )

    def _is_named(self) -> bool:
        schema = self.model_.schema
        return self._named if schema is None else schema.named

    def _blocks(self, X: Any, names: bool | None = None) -> Iterable[Block]:
        """The rows of whatever there is to predict; unless said, with names where the learner scores by them."""
        learner, schema = self._fitted(), self.model_.schema
        if isinstance(X, Source):
            return checked_and_weighed(X, schema)
        if is_stream(X) or (self._is_named() and is_table(X)):
            if hasattr(self, "_fitted_on_frame") and is_table(X):
                note_columns(self, X, schema, reset=False)
            names = learner.scores_by_name if names is None else names
            return open_examples(X, schema=schema, labelled=False, names=names)
        if self._is_named() and schema is not None and (table := as_table(X, schema)) is not None:
            warnings.warn(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names",
                stacklevel=4,
            )
            return open_examples(table, schema=schema, labelled=False)
        self._refuse_matrix(X)
        if is_canonical_csr(X) and X.shape[1] == self.n_features_in_:
            return open_source(X)
        checked = validate_data(
            self, X, accept_sparse=True, dtype=[np.float32, np.float64], reset=False
        )
        return open_source(checked)

    def _scores(self, X: Any) -> Floats:
        learner = self._fitted()
        with closing(iterate(self._blocks(X))) as blocks:  # type: ignore[arg-type]
            return np.concatenate([learner.score(block) for block in blocks])

    def _evaluated(self, X: Any) -> dict[str, Any]:
        """How good the predictions are for what brings its labels along."""
        names = self._fitted().scores_by_name
        return evaluate(self.model_, open_examples(X, schema=self.model_.schema, names=names))

    @property
    def t_(self) -> int:
        """Examples learned."""
        return self._fitted().t

    @property
    def n_iter_(self) -> int:
        """Passes made over the data."""
        self._fitted()
        return max(1, self.model_.record.passes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file: `riata.load` and the command line read it."""
        self._fitted()
        model_file.save(self.model_, path)

    def _adopt(self, model: Model) -> Self:
        """Become the estimator of a model that was trained elsewhere."""
        known = self.get_params(deep=False)
        settings = model.record.settings
        values = model.learner.parameters() | {
            "passes": settings.passes,
            "random_state": settings.random_state,
        }
        self.set_params(**{k: v for k, v in values.items() if k in known})
        self._take(model)
        return self

    def _merged(self, other: LinearEstimator) -> Self:
        """This model and that of another estimator, which learned from two parts of the data, as one."""
        self._fitted(), other._fitted()
        mine = type(self)(**self.get_params(deep=False))
        mine.model_ = merge_models([self.model_, other.model_])
        mine._take(mine.model_)
        for name in ("n_features_in_", "feature_names_in_", "_fitted_on_frame"):
            if hasattr(self, name):
                setattr(mine, name, getattr(self, name))
        mine.n_features_in_ = max(self.n_features_in_, other.n_features_in_)
        return mine

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

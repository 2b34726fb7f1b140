"""What all estimators share: from arrays to a source, from the trained model to attributes. No arithmetic."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d, validate_data

from riata import model_file
from riata.estimators.arrays import (
    blocks_of,
    classes_and_codes,
    codes_of,
    is_canonical_csr,
    learn_more,
    sample_weights,
)
from riata.estimators.events import ClassifierEvents, Events, RegressorEvents
from riata.labels import plain
from riata.learners import Learner
from riata.learners.base import Floats
from riata.record import Model, Record, Settings
from riata.sources import Source, open_source
from riata.training import train


class LinearEstimator(Events, BaseEstimator):  # type: ignore[misc]
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

        `options` go to `riata.training.train`, whose defaults hold: one pass, in the order of the stream.
        """
        if not isinstance(source, Source):
            names = self._make_learner(1).wants_names
            source = open_source(source, names=names, hash_key=self._hash_key)
        model = train(source, self._make_learner, **options)
        with self._turn():
            self.model_ = model
            self.n_features_in_ = model.learner.n_features
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

    @property
    def _named(self) -> bool:
        """Whether features are known by name."""
        return self._fitted().names(np.empty(0, dtype=np.int64)) is not None

    def _refuse_matrix(self) -> None:
        """A model of named features does not know what the columns of a matrix are."""
        if self._named:
            raise ValueError(
                "this model knows its features by name, and a matrix has none: give it dicts "
                "(learn_one, predict_one, an iterable of dicts) or a file with names (learn)"
            )

    def _scores(self, X: Any) -> Floats:
        learner = self._fitted()
        self._refuse_matrix()
        if is_canonical_csr(X) and X.shape[1] == self.n_features_in_:
            source = open_source(X)
        else:
            source = open_source(
                validate_data(
                    self, X, accept_sparse=True, dtype=[np.float32, np.float64], reset=False
                )
            )
        return np.concatenate([learner.score(block) for block in source])

    @property
    def sparse_coef_(self) -> Any:
        """The weights as a CSR matrix of (outputs, features), brought current."""
        learner = self._fitted()
        if self._named:
            raise AttributeError("features of this model have names, not numbers: see named_coef_")
        with learner.lock:
            (keys, weights), features = learner.coef(), learner.n_features
        where = np.nonzero(weights)
        shape = (learner.outputs, max(self.n_features_in_, features))
        return sp.csr_matrix((weights[where], (where[1], keys[where[0]])), shape=shape)

    @property
    def named_coef_(self) -> dict[str, Any]:
        """The weights that are not zero by the names of their features: a number each, or one for each class.

        >>> from riata import ElasticNetClassifier
        >>> model = ElasticNetClassifier(l1=0, l2=0, learning_rate="constant", eta0=1)
        >>> model.learn_one({"word": "free"}, "ham").learn_one({"word": "free"}, "spam").named_coef_.keys()
        dict_keys(['word=free'])
        """
        learner = self._fitted()
        with learner.lock:
            keys, weights = learner.coef()
            names = learner.names(keys)
        if names is None:
            raise AttributeError("features of this model have numbers, not names: see sparse_coef_")
        columns = weights[:, 0] if weights.shape[1] == 1 else weights
        return dict(zip(names, columns.tolist(), strict=True))

    @property
    def intercept_(self) -> Floats:
        """One number an output."""
        return self._fitted().intercept

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
        self.model_ = model
        self.n_features_in_ = model.learner.n_features
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows of X from the start, `passes` times over."""
        X, y = validate_data(
            self, X, y, accept_sparse=True, dtype=[np.float32, np.float64], ensure_all_finite=False
        )
        classes, codes = classes_and_codes(y)
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only, {classes[0]!r}: a classifier needs at least two"
            )
        source = self._source(X, codes.astype(np.float64), sample_weight)
        factors = self._factors(classes, y)
        model = self._fit(source, list(range(len(classes))), factors)
        if factors is not None:  # by label, not by code
            weights = list(zip(map(plain, classes), factors.values(), strict=True))
            model.record.settings = replace(model.record.settings, class_weight=weights)
        self.model_ = Model(model.learner, classes, model.record)
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
            self._refuse_matrix()
            names, learner, record = self.classes_, self.model_.learner, self.model_.record
            if classes is not None and not np.array_equal(names, np.unique(np.asarray(classes))):
                raise ValueError(
                    f"classes={classes!r} is not the same as on the first call: {names!r}"
                )
        if first or not (is_canonical_csr(X) and X.shape[1] == self.n_features_in_):
            X, y = validate_data(
                self, X, y, accept_sparse=True, dtype=[np.float32, np.float64],
                ensure_all_finite=False, reset=first,
            )  # fmt: skip
        codes = codes_of(names, y if isinstance(y, np.ndarray) else column_or_1d(y))
        weights = self._weights(X, codes, names, sample_weight)
        for block in blocks_of(X, codes, weights):
            learn_more(learner, record, block)
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
        """The probability of each class, (n, classes); one against the rest is normalised to sum 1."""
        return self._normalised(self._scores(X))

    def _normalised(self, scores: Floats) -> Floats:
        probability = self._fitted().probability(scores)
        if probability is None:
            raise AttributeError("this loss gives no probabilities")
        if probability.shape[1] == 1:
            return np.hstack([1 - probability, probability])
        total = probability.sum(axis=1, keepdims=True)
        even = np.full_like(probability, 1 / probability.shape[1])
        np.divide(probability, total, out=even, where=total > 0)
        return even

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @property
    def coef_(self) -> Floats:
        """The weights, (1, features) for two classes or (classes, features), brought current."""
        return np.asarray(self.sparse_coef_.toarray())


class LinearRegressor(RegressorMixin, RegressorEvents, LinearEstimator):  # type: ignore[misc]
    """One number a row."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows of X from the start, `passes` times over."""
        X, y = validate_data(
            self, X, y, accept_sparse=True, dtype=[np.float32, np.float64], y_numeric=True,
            ensure_all_finite=False,
        )  # fmt: skip
        self.model_ = self._fit(self._source(X, y.astype(np.float64), sample_weight), None, None)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on learning, one pass over the rows of X in their order."""
        with self._turn():
            return self._partial_fit(X, y, sample_weight)

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        first = not hasattr(self, "model_")
        if not first:
            self._refuse_matrix()
        if first or not (is_canonical_csr(X) and X.shape[1] == self.n_features_in_):
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
        for block in blocks_of(X, labels, sample_weights(X, sample_weight)):
            learn_more(learner, record, block)
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

    @property
    def intercept_(self) -> Floats:
        """One number, in an array."""
        return self._fitted().intercept

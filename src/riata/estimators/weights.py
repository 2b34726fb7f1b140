"""The weights of a model, by number or by name."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from riata.learners import Learner
from riata.learners.base import Floats
from riata.record import Model
from riata.schema import Schema


class Weights:
    """What estimators tell of their weights."""

    model_: Model
    n_features_in_: int

    @abstractmethod
    def _fitted(self) -> Learner: ...

    @property
    def _named(self) -> bool:
        """Whether features are known by name."""
        return self._fitted().names(np.empty(0, dtype=np.int64)) is not None

    @property
    def sparse_coef_(self) -> Any:
        """The weights as a CSR matrix of (outputs, features), brought current.

        Of a model with named features the columns are those of `get_feature_names_out`.
        """
        learner = self._fitted()
        with learner.lock:
            (keys, weights), features = learner.coef(), learner.n_features
            names, weights, _ = self._original(keys, weights)
        if names is None:
            width, places = max(self.n_features_in_, features), keys
        else:
            width, places = self._places(names)
        where = np.nonzero(weights)
        shape = (learner.outputs, width)
        return sp.csr_matrix((weights[where], (where[1], places[where[0]])), shape=shape)

    def _places(self, names: list[str]) -> tuple[int, NDArray[np.int64]]:
        """How many columns there are, and that of each name."""
        place = {name: i for i, name in enumerate(self._order(names))}
        return len(place), np.array([place[name] for name in names], dtype=np.int64)

    def _order(self, names: list[str]) -> list[str]:
        """Columns of numbers as they stand in the data, whether they have a weight or not; then the rest."""
        schema = self.model_.schema or Schema()
        numbers = [c.name for c in schema.features if c.kind in ("number", "log1p")]
        return [*numbers, *sorted(set(names) - set(numbers))]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns of `coef_`: of every column of numbers, and of what else has a weight."""
        learner = self._fitted()
        with learner.lock:
            names = learner.names(learner.coef()[0])
        if names is None:
            known = getattr(self, "feature_names_in_", input_features)
            names = known if known is not None else [f"x{i}" for i in range(self.n_features_in_)]
            return np.asarray(names, dtype=object)
        return np.array(self._order(names), dtype=object)

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
            names, weights, _ = self._original(*learner.coef())
        return self._by_name(names, weights)

    def _original(
        self, keys: NDArray[np.int64], weights: Floats
    ) -> tuple[list[str] | None, Floats, Floats]:
        """Names, weights and intercept for numbers as the data has them, whatever they are scaled by."""
        learner = self._fitted()
        names, intercept = learner.names(keys), learner.intercept
        if names is not None:
            weights, intercept = self.model_.on_original_scale(names, weights, intercept)
        return names, weights, intercept

    @property
    def intercept_(self) -> Floats:
        """One number an output."""
        learner = self._fitted()
        with learner.lock:
            return self._original(*learner.coef())[2]

    def _by_name(self, names: list[str] | None, weights: Floats) -> dict[str, Any]:
        if names is None:
            raise AttributeError("features of this model have numbers, not names: see sparse_coef_")
        columns = weights[:, 0] if weights.shape[1] == 1 else weights
        return dict(zip(names, columns.tolist(), strict=True))

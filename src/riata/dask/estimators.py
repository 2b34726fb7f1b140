"""The estimators on a cluster, in the manner of other libraries' Dask estimators: the same parameters, `client` beside
them, and Dask collections or paths where the others take matrices."""

from __future__ import annotations

from typing import Any, Self

from riata import estimators
from riata.dask.cluster import distributed
from riata.dask.collections import is_collection
from riata.dask.training import evaluate, predict, train
from riata.errors import SettingsError
from riata.estimators.base import LinearEstimator
from riata.estimators.tables import is_stream
from riata.record import Model


class DaskEstimator(LinearEstimator):
    """What the estimators on a cluster share. Without `client`, that of the calling program is used."""

    _client: Any = None

    @property
    def client(self) -> Any:
        """The client whose workers do the work."""
        if self._client is not None:
            return self._client
        try:
            return distributed().get_client()
        except ValueError:
            raise SettingsError(
                "there is no Dask client: make one (dask.distributed.Client(...)), or set client"
            ) from None

    @client.setter
    def client(self, client: Any) -> None:
        self._client = client

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k != "_client"}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **given: Any) -> Self:
        """Train on the cluster: see `riata.dask.train` for what X may be and what else can be said.

        A matrix or frame in memory is fitted here, as always.
        """
        if not (is_collection(X) or is_stream(X)):
            return super().fit(X, y, sample_weight, **given)  # type: ignore[no-any-return]
        given.setdefault("class_weight", getattr(self, "class_weight", None))
        if given["class_weight"] is None:
            del given["class_weight"]
        if self._hash_key is not None:
            given.setdefault("hash_key", self._hash_key)
        model: Model = train(self.client, X, self, y, sample_weight, **given)
        with self._turn():
            self._take(model)
        return self

    def _scores(self, X: Any) -> Any:
        if not (is_collection(X) or is_stream(X)):
            return super()._scores(X)
        self._fitted()
        return predict(self.client, self, X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The accuracy, or the coefficient of determination of a regressor."""
        if not (is_collection(X) or is_stream(X)):
            return float(super().score(X, y, sample_weight))
        found = self.evaluate(X, y, sample_weight)
        return float(found["accuracy" if "accuracy" in found else "r2"])

    def evaluate(
        self, X: Any, y: Any = None, sample_weight: Any = None, **reading: Any
    ) -> dict[str, Any]:
        """How good the model is on labelled data: what `riata evaluate` says."""
        self._fitted()
        return evaluate(self.client, self, X, y, sample_weight, **reading)


class DaskAutoClassifier(DaskEstimator, estimators.AutoClassifier):
    """`AutoClassifier` on a cluster."""


class DaskAutoRegressor(DaskEstimator, estimators.AutoRegressor):
    """`AutoRegressor` on a cluster."""


class DaskBayesianRegressor(DaskEstimator, estimators.BayesianRegressor):
    """`BayesianRegressor` on a cluster."""


class DaskBayesianClassifier(DaskEstimator, estimators.BayesianClassifier):
    """`BayesianClassifier` on a cluster."""


class DaskSketchClassifier(DaskEstimator, estimators.SketchClassifier):
    """`SketchClassifier` on a cluster: the exact solution, with the same bits for any number of workers."""


class DaskElasticNetClassifier(DaskEstimator, estimators.ElasticNetClassifier):
    """`ElasticNetClassifier` on a cluster, by averaging weights: approximate."""


class DaskElasticNetRegressor(DaskEstimator, estimators.ElasticNetRegressor):
    """`ElasticNetRegressor` on a cluster, by averaging weights: approximate."""


class DaskFTRLClassifier(DaskEstimator, estimators.FTRLClassifier):
    """`FTRLClassifier` on a cluster, by averaging weights: approximate."""


class DaskFTRLRegressor(DaskEstimator, estimators.FTRLRegressor):
    """`FTRLRegressor` on a cluster, by averaging weights: approximate."""


class DaskTruncatedGradientClassifier(DaskEstimator, estimators.TruncatedGradientClassifier):
    """`TruncatedGradientClassifier` on a cluster, by averaging weights: approximate."""


class DaskTruncatedGradientRegressor(DaskEstimator, estimators.TruncatedGradientRegressor):
    """`TruncatedGradientRegressor` on a cluster, by averaging weights: approximate."""

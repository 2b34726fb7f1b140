"""Riata's estimators as river models: `pip install river`.

>>> from river import datasets, evaluate, metrics
>>> from riata import FTRLClassifier
>>> from riata.river import Classifier
>>> model = Classifier(FTRLClassifier(alpha=0.5, normalize="l2"))
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
Accuracy: 8...%
"""

from __future__ import annotations

from typing import Any

from river import base

from riata.estimators.classifier import LinearClassifier
from riata.estimators.regressor import LinearRegressor


class _Wrapper:
    """What both kinds share: a copy for river's own use must not share what was learned."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        self.estimator.learn_one(x, y)

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Any:
        """An untrained copy, as river asks for."""
        from sklearn.base import clone

        return type(self)((new_params or {}).get("estimator", clone(self.estimator)))


class Classifier(_Wrapper, base.Classifier):
    """A classifier of Riata's where river expects one of its own."""

    estimator: LinearClassifier

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        return self.estimator.predict_one(x)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        return dict(self.estimator.predict_proba_one(x))

    @property
    def _multiclass(self) -> bool:
        return True


class Regressor(_Wrapper, base.Regressor):
    """A regressor of Riata's where river expects one of its own."""

    estimator: LinearRegressor

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> float:
        return float(self.estimator.predict_one(x))

"""FTRL-Proximal as scikit-learn estimators."""

from __future__ import annotations

from dataclasses import dataclass, field

from riata.estimators.classifier import LinearClassifier
from riata.estimators.parameters import Classification, Fitting, Regression, Stored
from riata.estimators.regressor import LinearRegressor
from riata.learners import FTRL


@dataclass(kw_only=True, eq=False, repr=False)
class _FTRL:
    alpha: float = 0.1
    beta: float = 1.0
    l1: float = 0.0
    l2: float = 0.0


@dataclass(kw_only=True, eq=False, repr=False)
class FTRLClassifier(_FTRL, Stored, Classification, Fitting, LinearClassifier):
    """Follow the regularised leader, with a learning rate of its own for every feature (McMahan et al. 2013).

    Parameters
    ----------
    loss : "logistic", "hinge", "squared_hinge" or "modified_huber"
    alpha, beta : a feature's rate is alpha / (beta + sqrt(sum of its squared gradients))
    l1, l2 : penalties on the whole of the stream, not per example: a weight is zero while the sum of its gradients
        stays within l1
    store : "auto", "dense" (an array by index), "table" (by key) or "hashed" (2^`bits` rows)

    The rest is as for `ElasticNetClassifier`.

    >>> from riata import FTRLClassifier
    >>> X, y = [[1.0, 0.0, 0.1], [0.0, 1.0, 0.1]] * 50, ["yes", "no"] * 50
    >>> FTRLClassifier(l1=3.0).fit(X, y).sparse_coef_.nnz
    2
    """

    _learner = FTRL

    loss: str = field(default="logistic", kw_only=False)


@dataclass(kw_only=True, eq=False, repr=False)
class FTRLRegressor(_FTRL, Regression, Stored, Fitting, LinearRegressor):
    """Follow the regularised leader, for numbers (McMahan et al. 2013).

    `loss` is "squared", "huber" or "quantile"; `clip=(low, high)` keeps predictions inside an interval. The rest
    is as for `FTRLClassifier`.

    >>> import numpy as np
    >>> from riata import FTRLRegressor
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> model = FTRLRegressor(alpha=1.0).fit(X, X @ [2.0, 0.0, -1.0])
    >>> np.abs(model.coef_).round(1)
    array([2., 0., 1.])
    """

    _learner = FTRL

    loss: str = field(default="squared", kw_only=False)
    clip: tuple[float, float] | None = None

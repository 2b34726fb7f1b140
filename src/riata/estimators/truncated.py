"""Truncated gradient as scikit-learn estimators."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from riata.estimators.classifier import LinearClassifier
from riata.estimators.parameters import SteppedClassification, SteppedRegression
from riata.estimators.regressor import LinearRegressor
from riata.learners import TruncatedGradient


@dataclass(kw_only=True, eq=False, repr=False)
class _Truncated:
    update: str = "truncate"
    gravity: float = 0.0
    theta: float = math.inf
    period: int = 1
    decay: float = 1.0
    round_at_end: float = 0.0


@dataclass(kw_only=True, eq=False, repr=False)
class TruncatedGradientClassifier(_Truncated, SteppedClassification, LinearClassifier):
    """Linear classification whose small weights are pulled to zero (Langford, Li & Zhang 2009).

    Parameters
    ----------
    loss : "logistic", "hinge", "squared_hinge" or "modified_huber"
    update : "truncate" (eq. 6), "round" (eq. 4) or "subgradient" (eq. 5, a baseline)
    gravity : how strongly weights are pulled; 0 is stochastic gradient descent alone
    theta : only weights up to this size are shrunk or rounded
    period : truncate or round every so many steps
    decay : the learning rate is multiplied by this after each pass
    round_at_end : weights up to this size become zero once, when training ends
    store : "auto", "dense" (an array by index), "table" (what is alive, by key) or "hashed" (2^`bits` rows)

    The rest is as for `ElasticNetClassifier`.

    >>> from riata import TruncatedGradientClassifier
    >>> X, y = [[1.0, 0.0, 0.1], [0.0, 1.0, 0.1]] * 50, ["yes", "no"] * 50
    >>> model = TruncatedGradientClassifier(gravity=0.05, learning_rate="inv_sqrt", feature_scale="none").fit(X, y)
    >>> model.sparse_coef_.nnz, model.score(X, y)
    (2, 1.0)
    """

    _learner = TruncatedGradient

    loss: str = field(default="logistic", kw_only=False)


@dataclass(kw_only=True, eq=False, repr=False)
class TruncatedGradientRegressor(_Truncated, SteppedRegression, LinearRegressor):
    """Linear regression whose small weights are pulled to zero (Langford, Li & Zhang 2009).

    `loss` is "squared", "huber" or "quantile"; `clip=(low, high)` keeps predictions inside an interval. The rest
    is as for `TruncatedGradientClassifier`. The paper's squared loss is twice ours: halve its rates.

    >>> import numpy as np
    >>> from riata import TruncatedGradientRegressor
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> model = TruncatedGradientRegressor(gravity=0.01, eta0=0.1).fit(X, X @ [2.0, 0.0, -1.0])
    >>> np.abs(model.coef_).round(1)
    array([2., 0., 1.])
    """

    _learner = TruncatedGradient

    loss: str = field(default="squared", kw_only=False)
    clip: tuple[float, float] | None = None

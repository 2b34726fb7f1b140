"""Truncated gradient as scikit-learn estimators."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from riata.estimators.base import LinearClassifier, LinearRegressor
from riata.learners import TruncatedGradient


class TruncatedGradientClassifier(LinearClassifier):
    """Linear classification whose small weights are pulled to zero (Langford, Li & Zhang 2009).

    Parameters
    ----------
    loss : "logistic", "hinge", "squared_hinge" or "modified_huber"
    update : "truncate" (eq. 6), "round" (eq. 4) or "subgradient" (eq. 5, a baseline)
    gravity : how strongly weights are pulled; 0 is plain stochastic gradient
    theta : only weights up to this size are shrunk or rounded
    period : truncate or round every so many steps
    decay : the learning rate is multiplied by this after each pass
    round_at_end : weights up to this size become zero once, when training ends
    store : "auto", "dense" (an array by index), "table" (what is alive, by key) or "hashed" (2^`bits` rows)

    The rest is as for `ElasticNetClassifier`.

    >>> from riata import TruncatedGradientClassifier
    >>> X, y = [[1.0, 0.0, 0.1], [0.0, 1.0, 0.1]] * 50, ["yes", "no"] * 50
    >>> model = TruncatedGradientClassifier(gravity=0.05).fit(X, y)
    >>> model.sparse_coef_.nnz, model.score(X, y)
    (2, 1.0)
    """

    _learner = TruncatedGradient

    def __init__(
        self,
        loss: str = "logistic",
        *,
        update: str = "truncate",
        gravity: float = 0.0,
        theta: float = math.inf,
        period: int = 1,
        decay: float = 1.0,
        round_at_end: float = 0.0,
        eta0: float = 0.5,
        learning_rate: str = "inv_sqrt",
        power_t: float = 0.5,
        fit_intercept: bool = True,
        normalize: str = "none",
        store: str = "auto",
        bits: int = 22,
        passes: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        holdout: float = 0.0,
        patience: int | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> None:
        self.loss = loss
        self.update = update
        self.gravity = gravity
        self.theta = theta
        self.period = period
        self.decay = decay
        self.round_at_end = round_at_end
        self.eta0 = eta0
        self.learning_rate = learning_rate
        self.power_t = power_t
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.store = store
        self.bits = bits
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.holdout = holdout
        self.patience = patience
        self.class_weight = class_weight


class TruncatedGradientRegressor(LinearRegressor):
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

    def __init__(
        self,
        loss: str = "squared",
        *,
        update: str = "truncate",
        gravity: float = 0.0,
        theta: float = math.inf,
        period: int = 1,
        decay: float = 1.0,
        round_at_end: float = 0.0,
        eta0: float = 0.01,
        learning_rate: str = "invscaling",
        power_t: float = 0.25,
        fit_intercept: bool = True,
        normalize: str = "none",
        clip: tuple[float, float] | None = None,
        epsilon: float = 1.0,
        quantile: float = 0.5,
        store: str = "auto",
        bits: int = 22,
        passes: int = 20,
        shuffle: bool = True,
        random_state: Any = None,
        holdout: float = 0.0,
        patience: int | None = None,
    ) -> None:
        self.loss = loss
        self.update = update
        self.gravity = gravity
        self.theta = theta
        self.period = period
        self.decay = decay
        self.round_at_end = round_at_end
        self.eta0 = eta0
        self.learning_rate = learning_rate
        self.power_t = power_t
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.clip = clip
        self.epsilon = epsilon
        self.quantile = quantile
        self.store = store
        self.bits = bits
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.holdout = holdout
        self.patience = patience

"""FTRL-Proximal as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riata.estimators.base import LinearClassifier, LinearRegressor
from riata.learners import FTRL


class FTRLClassifier(LinearClassifier):
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
    >>> model = FTRLClassifier(l1=1.0).fit(X, y)
    >>> model.sparse_coef_.nnz, model.score(X, y)
    (2, 1.0)
    """

    _learner = FTRL

    def __init__(
        self,
        loss: str = "logistic",
        *,
        alpha: float = 0.1,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
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
        self.alpha = alpha
        self.beta = beta
        self.l1 = l1
        self.l2 = l2
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


class FTRLRegressor(LinearRegressor):
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

    def __init__(
        self,
        loss: str = "squared",
        *,
        alpha: float = 0.1,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
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
        self.alpha = alpha
        self.beta = beta
        self.l1 = l1
        self.l2 = l2
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

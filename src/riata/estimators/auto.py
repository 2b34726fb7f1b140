"""`auto` as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from riata.estimators.classifier import LinearClassifier
from riata.estimators.elastic_net import ElasticNetClassifier
from riata.estimators.parameters import Classification, Fitting
from riata.learners import Portfolio
from riata.record import Model


@dataclass(kw_only=True, eq=False, repr=False)
class AutoClassifier(Classification, Fitting, LinearClassifier):
    """Classification that needs no tuning: where to start.

    Bayesian models with eight priors and AdaGrad with eight rates learn side by side in one read, on values as they
    are and on values divided by their feature's running root mean square, so that units do not matter. Each example
    is predicted before it is learned, so all of them have honest losses, and the prediction averages them by these:
    in total, before calibration, it loses at most ln(32) + ln(examples + 1) to the best setting that was kept, where
    weights of examples are at most 1. Settings that cannot catch up are dropped on the way. With three classes or
    more there are fewer: 8 for 3 or 4, 4 for up to 8, then 2.

    One pass is right: in a second one, predictions would be of examples that were learned before.

    Parameters
    ----------
    calibrate : True, False, or "auto", which is True: correct log odds by how they did so far
    keep_all : keep settings that cannot catch up
    store : "auto", "dense" (an array by index), "table" (by key) or "hashed" (2^`bits` rows)
    fit_intercept, passes, shuffle, random_state, holdout, patience, class_weight : as everywhere

    `coef_`, `sparse_coef_` and `named_coef_` are one linear model that stands for all; `collapse()` gives it alone,
    and `cost_of_single_` says how much worse it predicted.

    >>> import numpy as np
    >>> from riata import AutoClassifier
    >>> X = np.random.default_rng(0).normal(size=(500, 3)) * [1.0, 1000.0, 0.001]  # whatever the units
    >>> model = AutoClassifier().fit(X, X @ [2.0, 0.0, -1000.0] > 0)
    >>> model.predict(X[:3]) == (X[:3] @ [2.0, 0.0, -1000.0] > 0)
    array([ True,  True,  True])
    >>> model.collapse().score(X, X @ [2.0, 0.0, -1000.0] > 0) > 0.95
    True
    """

    _learner = Portfolio

    calibrate: str | bool = "auto"
    keep_all: bool = False
    fit_intercept: bool = True
    store: str = "auto"
    bits: int = 22
    passes: int = 1

    def _portfolio(self) -> Portfolio:
        learner = self._fitted()
        assert isinstance(learner, Portfolio)
        return learner

    @property
    def members_(self) -> list[dict[str, Any]]:
        """The settings that are left: rule, view of the values, parameter, sum of losses, weight in the average."""
        return self._portfolio().members

    @property
    def cost_of_single_(self) -> float:
        """How much more log loss the one linear model of `coef_` had than the average of all: 0.02 is 2 % more."""
        return self._portfolio().cost_of_single

    def collapse(self) -> ElasticNetClassifier:
        """The one linear model of `coef_` and `intercept_`, alone: smaller, and `cost_of_single_` worse."""
        model = Model(self._portfolio().collapse(), self.model_.classes, self.model_.record)
        other = ElasticNetClassifier()._adopt(model)
        other.n_features_in_ = self.n_features_in_
        return other

"""`auto` as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from riata.estimators.classifier import LinearClassifier
from riata.estimators.elastic_net import ElasticNetClassifier
from riata.estimators.parameters import Classification, Fitting
from riata.estimators.regressor import LinearRegressor
from riata.learners import AutoRegression, BayesianRegression, Portfolio
from riata.learners.base import Floats


@dataclass(kw_only=True, eq=False, repr=False)
class AutoClassifier(Classification, Fitting, LinearClassifier):
    """Classification that needs no tuning: where to start.

    Bayesian models with eight priors and AdaGrad with eight rates learn side by side in one read, on values as they
    are and on values divided by their feature's running root mean square, so that units do not matter; while there are
    few features, four more learn all weights together. Each example
    is predicted before it is learned, so all of them have honest losses. By these the log odds of each are put right,
    and the prediction averages them: in total, before calibration, it loses at most ln(36) + ln(examples + 1) to the
    best setting that was kept, where weights of examples are at most 1. Settings that cannot catch up are dropped on
    the way. With three classes or more there are fewer: 8 for 3 or 4, 4 for up to 8, then 2, and the four.

    One pass is right: in a second one, predictions would be of examples that were learned before.

    Parameters
    ----------
    calibrate : True, False, or "auto", which is True: correct log odds by how they did so far
    multi_class : with three classes or more, "multinomial": they share one probability; or "ovr": each against the rest
    keep_all : keep settings that cannot catch up
    fit_joint : have the settings that learn all weights together, where there are few features
    store : "auto", "dense" (an array by index), "table" (by key) or "hashed" (2^`bits` rows)
    n_jobs : threads that learn and score, -1: as the processor has cores; the same bits for any number
    fit_intercept, passes, shuffle, random_state, holdout, patience, class_weight : as everywhere

    `coef_`, `sparse_coef_` and `named_coef_` are one linear model that stands for all, and `cost_of_single_` says how
    much worse it predicted; `collapse()` gives one alone, that or a better one.

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
    multi_class: str = "multinomial"
    keep_all: bool = False
    fit_joint: bool = True
    fit_intercept: bool = True
    store: str = "auto"
    bits: int = 22
    n_jobs: int = -1
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
        """How much more log loss the one linear model of `coef_` had than the predictions: 0.02 is 2 % more."""
        return self._portfolio().cost_of_single

    @property
    def cost_of_collapse_(self) -> float:
        """How much more log loss the model of `collapse()` had than the predictions: 0.02 is 2 % more."""
        return self._portfolio().cost_of_collapse

    def merge(self, other: AutoClassifier) -> Self:
        """Both together, which learned from two parts of the data, with the same parameters and columns.

        Classes may stand in another order in the other. Settings that one of them has dropped are gone.
        """
        return self._merged(other)

    def collapse(self, sparse: float = 0.0) -> ElasticNetClassifier:
        """One linear model in the place of all: smaller, and `cost_of_collapse_` worse.

        It is that of `coef_` and `intercept_`, or the average of those settings that see the same of the values, such
        as rows of length one (`normalize="l2"`), whichever predicted better. With `sparse`, say 0.005, the weights go
        that are not worth this part of the log loss.
        """
        self._portfolio()
        model = self.model_.collapsed(sparse)
        other = ElasticNetClassifier()._adopt(model)
        other.n_features_in_ = self.n_features_in_
        return other


class _GaussianRegressor(LinearRegressor):
    """What the Bayesian regressors share."""

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The prediction for each row; with `return_std` also how far off the label may be: a standard deviation."""
        if not return_std:
            return super().predict(X)
        moments = self._moments(X)
        return moments[:, 0], np.sqrt(moments[:, 1])

    def merge(self, other: _GaussianRegressor) -> Self:
        """Both together, which learned from two parts of the data, with the same parameters and columns."""
        return self._merged(other)

    def _moments(self, X: Any) -> Floats:
        learner = self._fitted()
        assert isinstance(learner, AutoRegression | BayesianRegression)
        return np.vstack([learner.label_moments(block) for block in self._blocks(X)])

    @property
    def members_(self) -> list[dict[str, Any]]:
        """The settings: view of the values, prior, noise and its deviation, sum of losses, weight in the average."""
        learner = self._fitted()
        assert isinstance(learner, AutoRegression | BayesianRegression)
        return learner.members


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRegressor(Fitting, _GaussianRegressor):
    """Regression that needs no tuning: where to start.

    Bayesian regressions with eight priors, with Gaussian noise and with Student's t, learn side by side in one read, on
    values as they are and on values divided by their feature's running root mean square; while there are few features,
    four more learn all weights together, which is exact after each example. Each predicts every label before it is
    learned, and the prediction averages them by their squared residuals. Neither the unit of the labels
    nor those of the features matter, and no step can diverge.

    One pass is right: in a second one, predictions would be of examples that were learned before.

    Parameters
    ----------
    fit_joint : have the settings that learn all weights together, where there are few features
    store : "auto", "dense" (an array by index), "table" (by key) or "hashed" (2^`bits` rows)
    fit_intercept, passes, shuffle, random_state, holdout, patience : as everywhere

    >>> import numpy as np
    >>> from riata import AutoRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3)) * [1.0, 1000.0, 0.001]  # whatever the units
    >>> model = AutoRegressor(random_state=0).fit(X, X @ [2.0, 0.0, -1000.0] + 50 + 0.1 * rng.normal(size=1000))
    >>> (model.coef_ * [1.0, 1000.0, 0.001]).round(1) + 0.0, model.intercept_.round(1)
    (array([ 2.,  0., -1.]), array([50.]))
    >>> mean, deviation = model.predict(X[:1], return_std=True)
    >>> bool(0.1 < deviation[0] < 0.15)  # of the noise, 0.1, and of what is not known of the weights
    True
    """

    _learner = AutoRegression

    fit_joint: bool = True
    fit_intercept: bool = True
    store: str = "auto"
    bits: int = 22
    passes: int = 1


@dataclass(kw_only=True, eq=False, repr=False)
class BayesianRegressor(Fitting, _GaussianRegressor):
    """Linear regression whose weights have Gaussian beliefs, updated exactly, one weight at a time.

    The variance of the noise is learned. `predict(X, return_std=True)` says how far the label may be from the
    prediction.

    Parameters
    ----------
    prior_variance : of a weight before its first value, in units of the noise's variance
    feature_scale : "rms" divides values by their feature's running root mean square, "none" takes them as they are
    freedom : degrees of freedom of Student's t as the noise, so that outliers count for little; 0: it is Gaussian

    The rest is as for `AutoRegressor`.

    >>> import numpy as np
    >>> from riata import BayesianRegressor
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> BayesianRegressor(random_state=0).fit(X, X @ [2.0, 0.0, -1.0]).coef_.round(1) + 0.0
    array([ 2.,  0., -1.])
    """

    _learner = BayesianRegression

    prior_variance: float = 1.0
    feature_scale: str = "rms"
    freedom: float = 0.0
    fit_intercept: bool = True
    store: str = "auto"
    bits: int = 22
    passes: int = 1

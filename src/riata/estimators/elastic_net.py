"""Elastic net as scikit-learn estimators."""

from __future__ import annotations

from dataclasses import dataclass, field

from riata.estimators.classifier import LinearClassifier
from riata.estimators.parameters import SteppedClassification, SteppedRegression
from riata.estimators.regressor import LinearRegressor
from riata.learners import ElasticNet


@dataclass(kw_only=True, eq=False, repr=False)
class _ElasticNet:
    l1: float = 1e-6
    l2: float = 1e-6
    update: str = "fobos"


@dataclass(kw_only=True, eq=False, repr=False)
class ElasticNetClassifier(_ElasticNet, SteppedClassification, LinearClassifier):
    """Linear classification under an elastic net, in time proportional to the non-zeros (Lipton & Elkan 2015).

    Minimises the mean loss + l1 * sum abs(w) + l2 / 2 * sum w^2; the intercept is not penalised.

    Parameters
    ----------
    loss : "logistic", "hinge", "squared_hinge" or "modified_huber"
    l1, l2 : penalties per example
    update : "fobos" (forward-backward splitting) or "sgd"
    eta0, learning_rate, power_t : "adagrad", the default, gives each feature a rate of its own, with implicit steps; or
        the step at t = 0, 1, ... of all: "constant" eta0, "inv_sqrt" eta0 / sqrt(t + 1), "inv_t" eta0 / (t + 1),
        "invscaling" eta0 / (t + 1)^power_t
    feature_scale : "rms" divides values by their feature's running root mean square, "none" takes them as they are
    fit_intercept : learn an intercept
    normalize : "none", or divide each row by its length ("l2") or the root of its non-zeros ("sqrt_nnz")
    store : "auto", "dense" (an array by index), "table" (what is alive, by key) or "hashed" (2^`bits` rows)
    passes, shuffle, random_state : `fit` goes over the rows so often, each time in a new order
    holdout, patience : hold out this fraction of the rows in `fit`; stop when their loss has not
        improved for so many passes
    class_weight : a dict or "balanced"

    >>> from scipy.sparse import csr_matrix
    >>> from riata import ElasticNetClassifier
    >>> X = csr_matrix([[1.0, 0, 0], [0, 1.0, 0], [1.0, 0, 1.0], [0, 1.0, 1.0]])
    >>> model = ElasticNetClassifier(l1=0.1, learning_rate="inv_sqrt").fit(X, ["spam", "ham", "spam", "ham"])
    >>> model.predict(X)
    array(['spam', 'ham', 'spam', 'ham'], dtype='<U4')
    >>> model.sparse_coef_.nnz    # the third feature says nothing, so its weight is zero
    2
    """

    _learner = ElasticNet

    loss: str = field(default="logistic", kw_only=False)


@dataclass(kw_only=True, eq=False, repr=False)
class ElasticNetRegressor(_ElasticNet, SteppedRegression, LinearRegressor):
    """Linear regression under an elastic net, in time proportional to the non-zeros (Lipton & Elkan 2015).

    `loss` is "squared", "huber" (squared up to a distance of `epsilon`, then linear) or "quantile" (of level
    `quantile`); `clip=(low, high)` keeps predictions inside an interval. The rest is as for
    `ElasticNetClassifier`.

    >>> import numpy as np
    >>> from riata import ElasticNetRegressor
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> model = ElasticNetRegressor(l1=0.001, eta0=0.1).fit(X, X @ [2.0, 0.0, -1.0])
    >>> model.coef_.round(1)
    array([ 2.,  0., -1.])
    """

    _learner = ElasticNet

    loss: str = field(default="squared", kw_only=False)
    clip: tuple[float, float] | None = None

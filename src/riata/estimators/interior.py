"""Interior point as scikit-learn estimators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from riata.estimators.classifier import LinearClassifier
from riata.estimators.parameters import Classification, Fitting, Regression
from riata.estimators.regressor import LinearRegressor
from riata.learners import InteriorPoint


@dataclass(kw_only=True, eq=False, repr=False)
class _InteriorPoint:
    l1: float = 1e-6
    update: str = "averaged"
    eta0: float = 1.0
    sigma: float = 0.5
    k0: float = 1.0
    start: float = 1.0
    dual: float = 0.1
    bounds: Any = None
    polish: bool = True
    prune: float = 0.0
    dimension: int = 0
    fit_intercept: bool = True
    normalize: str = "none"


@dataclass(kw_only=True, eq=False, repr=False)
class InteriorPointClassifier(_InteriorPoint, Classification, Fitting, LinearClassifier):
    """Linear classification with weights inside bounds (Carbonetto, Schmidt & de Freitas 2008).

    Minimises the mean loss + l1 * sum abs(w); the intercept is neither penalised nor bounded. After `fit`
    a pass over the rows finds how far the optimum can be; where that is far, there is a ConvergenceWarning.
    `SketchClassifier(bounds=...)` has the exact optimum of the logistic loss.

    Parameters
    ----------
    loss : "logistic", "hinge", "squared_hinge" or "modified_huber"
    l1 : penalty per example, the paper's lambda / n
    update : "averaged" (averages of minima inside the bounds: converges, in whatever units, at the cost of the
        non-zeros) or "paper"
        (interior-point steps: costs the features seen so far, and does not come near the optimum in few passes)
    eta0 : the rate of "averaged"
    sigma : of "paper", as the next three. In (0, 1]: how far each step turns back to the middle of the bounds
    k0 : step k = 1, 2, ... is at most 1 / (k0 + k) long
    start, dual : where both halves of each weight, and the multipliers of their bounds, begin. A weight that
        may have one sign only has one half, and begins at start / 10. For text, 0.01 is better
    bounds : (low, high) for all weights, None for no bound: (0, None) makes them non-negative. Or a mapping
        of feature indices to such pairs, with "*" for all others
    polish : of "averaged". Where all examples fit in memory (2^20 non-zeros), the pass after `fit` finds the optimum,
        whose weights are then read; learning goes on from what was learned
    prune : leave out the smallest weights that together carry less than this share of the sum of
        absolute weights
    dimension : how many features there are, seen or not; 0 counts those seen and one for all others
    fit_intercept : learn an intercept
    normalize : "none", or divide each row by a norm ("l1", "l2") or the root of its non-zeros ("sqrt_nnz")
    passes, shuffle, random_state : `fit` goes over the rows so often, each time in a new order
    holdout, patience : hold out this fraction of the rows in `fit`; stop when their loss has not
        improved for so many passes
    class_weight : a dict or "balanced"

    >>> import numpy as np
    >>> from riata import InteriorPointClassifier
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> y = X @ [2.0, 1.0, -1.0] > 0
    >>> model = InteriorPointClassifier(bounds=(0, None)).fit(X, y)
    >>> bool((model.coef_ >= 0).all()), float(model.coef_[0, 2])
    (True, 0.0)
    """

    _learner = InteriorPoint

    loss: str = field(default="logistic", kw_only=False)


@dataclass(kw_only=True, eq=False, repr=False)
class InteriorPointRegressor(_InteriorPoint, Regression, Fitting, LinearRegressor):
    """Linear regression with weights inside bounds (Carbonetto, Schmidt & de Freitas 2008).

    With `loss="squared"` this is the paper's L1-regularised delta rule. `loss` may also be "huber" (squared
    up to a distance of `epsilon`, then linear) or "quantile" (of level `quantile`). The rest is as for
    `InteriorPointClassifier`.

    >>> import numpy as np
    >>> from riata import InteriorPointRegressor
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> model = InteriorPointRegressor(bounds={2: (-0.5, 0.5)}, passes=5).fit(X, X @ [2.0, 0.0, -1.0])
    >>> model.coef_.round(1) + 0.0
    array([ 2. ,  0. , -0.5])
    """

    _learner = InteriorPoint

    loss: str = field(default="squared", kw_only=False)

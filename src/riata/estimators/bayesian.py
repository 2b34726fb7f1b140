"""Bayesian classification as a scikit-learn estimator."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from riata import model_file
from riata.block import Block
from riata.estimators.arrays import codes_of
from riata.estimators.classifier import LinearClassifier
from riata.estimators.parameters import Classification, Fitting
from riata.learners import Bayesian, Learner
from riata.learners.base import Floats
from riata.learners.bayesian_tools import Sparsified
from riata.record import Model
from riata.sources import open_source
from riata.training.encoder import encode_for


@dataclass(kw_only=True, eq=False, repr=False)
class BayesianClassifier(Classification, Fitting, LinearClassifier):
    """Classification without a learning rate: a Gaussian over every weight, updated in closed form.

    Nothing needs tuning: with `prior_variance="auto"` models with eight priors learn side by side, and the
    prediction averages them by their evidence. Probabilities take the uncertainty of the weights into account
    and tend to be well calibrated. One pass is right: a second would count every example twice.

    Parameters
    ----------
    prior_variance : "auto", a number, or a dict by namespace or feature name ({"user": 0.5, "*": 1.0})
    prior_mean, intercept_variance : the rest of the prior
    value : "raw", "binary" or "log1p": what is seen of a feature's value; a list is averaged by evidence
    feature_scale : "rms" divides values by their feature's running root mean square, "none" takes them as they are
    prior : a fitted BayesianClassifier, or the path of its model: what it knows is the prior of this one
    half_life : None, or after how many examples evidence counts half, for streams that drift
    share : part of the averaging weights that is spread evenly after each example
    calibrate : True, False, or "auto": correct log odds by how they did so far, if prior_variance is "auto"
    link : "logit" or "probit"
    update : "marginal" (feature by feature), "joint", "adf" (moments) or "vb" (`samples`, `seed`)
    mean : "taylor" (one step) or "newton"; variance : "curvature" or "height"
    covariance : "diagonal", or "full" with update="joint", for few features
    fit_intercept, passes, shuffle, random_state, holdout, patience, class_weight : as everywhere

    >>> import numpy as np
    >>> from riata import BayesianClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> model = BayesianClassifier().fit(X, X @ [2.0, 0.0, -1.0] > 0)
    >>> model.predict(X[:3]) == (X[:3] @ [2.0, 0.0, -1.0] > 0)
    array([ True,  True,  True])
    >>> score, std = model.decision_function(X[:3], return_std=True)
    >>> low, high = model.predict_proba(X[:3], interval=0.9)
    >>> probability = model.predict_proba(X[:3])
    >>> bool(np.all((low <= probability) & (probability <= high)))
    True
    """

    _learner = Bayesian

    prior_variance: str | float | Mapping[str, float] = "auto"
    prior_mean: float = 0.0
    intercept_variance: float = 2 * math.pi
    value: str | Iterable[str] = "raw"
    feature_scale: str = "none"
    prior: Any = None
    half_life: float | None = None
    share: float = 0.0
    calibrate: str | bool = "auto"
    link: str = "logit"
    update: str = "marginal"
    mean: str = "taylor"
    variance: str = "curvature"
    covariance: str = "diagonal"
    samples: int = 100
    seed: int = 0
    unseen: str = "prior"
    fit_intercept: bool = True
    store: str = "auto"
    bits: int = 22
    passes: int = 1

    def _learner_parameters(self) -> dict[str, Any]:
        values = super()._learner_parameters()
        if not isinstance(self.value, str):
            values["value"] = tuple(self.value)
        return values

    def _make_learner(self, outputs: int) -> Learner:
        if self.prior is None:
            return super()._make_learner(outputs)
        given = self.prior
        if isinstance(given, str | os.PathLike):
            given = model_file.load(given).learner
        elif isinstance(given, BayesianClassifier):
            given = given._bayesian()
        if not isinstance(given, Bayesian):
            raise TypeError(f"prior={self.prior!r} is not a Bayesian model or the path of one")
        if given.outputs != outputs:
            raise ValueError(f"the prior has {given.outputs} outputs, these data need {outputs}")
        return given.as_prior()

    def _bayesian(self) -> Bayesian:
        learner = self._fitted()
        assert isinstance(learner, Bayesian)
        return learner

    # Predictions

    def decision_function(self, X: Any, return_std: bool = False) -> Any:
        """The log odds of the predicted probability: (n,) for two classes, (n, classes) for more.

        With `return_std` the mean and the standard deviation of the score x'w itself, before the prediction
        shrinks the mean for its uncertainty.
        """
        if not return_std:
            return super().decision_function(X)
        learner = self._bayesian()
        pairs = [learner.moments(block) for block in self._blocks(X)]
        mean, std = (np.concatenate(part) for part in zip(*pairs, strict=True))
        return (mean[:, 0], std[:, 0]) if mean.shape[1] == 1 else (mean, std)

    def predict_proba(self, X: Any, interval: float | None = None) -> Any:
        """The probability of each class, (n, classes).

        With `interval=0.9` two such arrays: between them lies the probability that the right weights would give,
        with chance 0.9 (for more than two classes: of each class against the rest).
        """
        if interval is None:
            return super().predict_proba(X)
        learner = self._bayesian()
        pairs = [learner.interval(block, interval) for block in self._blocks(X)]
        low, high = (np.concatenate(part) for part in zip(*pairs, strict=True))
        if low.shape[1] == 1:
            return np.hstack([1 - high, low]), np.hstack([1 - low, high])
        return low, high

    # What was learned

    @property
    def coef_(self) -> Floats:
        """The mean of each weight, (1, features) for two classes or (classes, features)."""
        learner = self._bayesian()
        with learner.lock:
            means = self._original(*learner.coef())[1]
            return self._spread(means, float(learner.prior_mean))

    @property
    def coef_std_(self) -> Floats:
        """The standard deviation of each weight; of one never seen, its prior's."""
        learner = self._bayesian()
        with learner.lock:
            deviations = self._original(learner.coef()[0], learner.coef_std())[1]
            return self._spread(deviations, learner.prior_std()[:, None])

    @property
    def intercept_std_(self) -> Floats:
        """The standard deviation of each intercept."""
        return self._bayesian().intercept_std

    def _spread(self, live: Floats, elsewhere: Any) -> Floats:
        learner = self._bayesian()
        width, places = self._columns(learner.coef()[0])
        out = np.empty((learner.outputs, width))
        out[:] = elsewhere
        out[:, places] = live.T
        return out

    def _columns(self, keys: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
        """How many columns `coef_` has, and which belong to these features."""
        learner = self._bayesian()
        names = learner.names(keys)
        if names is None:
            return max(self.n_features_in_, learner.n_features), keys
        return self._places(names)

    @property
    def named_coef_std_(self) -> dict[str, Any]:
        """The standard deviation of each weight in `named_coef_`."""
        learner = self._bayesian()
        with learner.lock:
            names, deviations, _ = self._original(learner.coef()[0], learner.coef_std())
            return self._by_name(names, deviations)

    @property
    def sparse_coef_(self) -> Any:
        """The means as a CSR matrix of (outputs, features)."""
        return sp.csr_matrix(self.coef_) if self.prior_mean else super().sparse_coef_

    @property
    def components_(self) -> list[tuple[str, float]]:
        """What is averaged: view of the values and prior variance of each component."""
        return self._bayesian().components

    @property
    def evidence_(self) -> Floats:
        """The weight of each component in the average: (components,) for two classes, else (classes, components)."""
        evidence = self._bayesian().evidence
        return np.asarray(evidence[0] if len(evidence) == 1 else evidence)

    def sample_coef(self, n: int = 1, random_state: Any = 0) -> tuple[Floats, Floats]:
        """Weights drawn from the posterior, for Thompson sampling: (n, features) and intercepts (n,).

        For more than two classes (n, classes, features) and (n, classes). Features never seen are drawn from
        their prior. Where features have names, columns are those of `get_feature_names_out`.
        """
        learner = self._bayesian()
        rng = np.random.default_rng(random_state)
        with learner.lock:
            keys, weights, intercepts = learner.sample(n, rng)
            features, places = self._columns(keys)
            std = learner.prior_std()[None, :, None]
            weights, intercepts = self._samples_on_original_scale(keys, weights, intercepts)
        out = rng.normal(learner.prior_mean, std, (n, learner.outputs, features))
        out[:, :, places] = weights
        return (out[:, 0], intercepts[:, 0]) if learner.outputs == 1 else (out, intercepts)

    def _samples_on_original_scale(
        self, keys: NDArray[np.int64], weights: Floats, intercepts: Floats
    ) -> tuple[Floats, Floats]:
        names = self._bayesian().names(keys)
        if names is None:
            return weights, intercepts
        pairs = [
            self.model_.on_original_scale(names, one.T, intercept)
            for one, intercept in zip(weights, intercepts, strict=True)
        ]
        return np.array([one.T for one, _ in pairs]), np.array([one for _, one in pairs])

    # Other models from this one

    def _become(self, learner: Bayesian) -> Self:
        other = type(self)(**self.get_params(deep=False))
        other._adopt(Model(learner, self.model_.classes, self.model_.record))
        other.set_params(passes=self.passes, random_state=self.random_state)
        other.n_features_in_ = self.n_features_in_
        return other

    def collapse(self) -> Self:
        """A model of the component with the most evidence alone, for export or serving."""
        return self._become(self._bayesian().collapse())

    def merge(self, other: BayesianClassifier) -> Self:
        """The posterior of both, which learned from the same prior on two parts of the data."""
        return self._merged(other)

    def sparsify(
        self, z: float, X: Any = None, y: NDArray[Any] | None = None
    ) -> tuple[Self, Sparsified]:
        """A model of only the features whose mean is more than `z` standard deviations from zero, and a report.

        With labelled data (X and y, or for X anything `open_source` takes) the report has the log loss there,
        before and after.
        """
        report = self._bayesian().sparsify(z, None if X is None else self._encoded(X, y))
        return self._become(report.learner), report

    def _encoded(self, X: Any, y: NDArray[Any] | None) -> Iterable[Block]:
        names = self.classes_
        if y is not None:
            yield from open_source(X, codes_of(names, np.asarray(y)))
            return
        source = open_source(X)
        yield from map(encode_for(self.model_, source), source)

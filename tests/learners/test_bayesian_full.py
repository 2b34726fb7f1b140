"""covariance="full" against matrices in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from riata.learners import Bayesian
from riata.reference.bayesian import joint_step
from tests.problems import block_of, dense_rows, labels_for


def reference(learner, X, y, weights=None):
    d = X.shape[1] + learner.fit_intercept
    mean = np.full(d, learner.prior_mean)
    covariance = np.diag(np.full(d, learner.prior_variances[0]))
    if learner.fit_intercept:
        covariance[-1, -1] = learner.intercept_variance
    scores = []
    k = np.pi / 8 if learner.link == "logit" else 1.0
    for i, row in enumerate(X):
        x = np.append(row, 1.0) if learner.fit_intercept else row
        scores.append(x @ mean / np.sqrt(1 + k * x @ covariance @ x))
        weight = 1.0 if weights is None else weights[i]
        if weight > 0:
            label = 1.0 if y[i] == 1 else -1.0
            mean, covariance = joint_step(
                mean, covariance, x, label, weight, learner.link, learner.mean
            )
    return np.array(scores), mean, covariance


@pytest.mark.parametrize("mean", ["taylor", "newton"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equals_matrices(mean, fit_intercept):
    X = dense_rows(150, 12, density=0.6)
    weights = np.random.default_rng(0).random(150)
    weights[::9] = 0
    y = labels_for(X, 2)
    learner = Bayesian(
        update="joint", covariance="full", prior_variance=0.8, prior_mean=0.1, mean=mean,
        fit_intercept=fit_intercept,
    )  # fmt: skip
    scores, means, covariance = reference(learner, X, y, weights)
    np.testing.assert_allclose(
        learner.learn(block_of(X, y, weights))[:, 0], scores, rtol=1e-9, atol=1e-10
    )
    keys, found, variances = learner.posterior()
    np.testing.assert_allclose(found[:, 0, 0], means[keys], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(variances[:, 0, 0], np.diag(covariance)[keys], rtol=1e-9)
    _, std = learner.moments(block_of(X))
    rows = np.hstack([X, np.ones((150, 1))]) if fit_intercept else X
    np.testing.assert_allclose(
        std[:, 0] ** 2, np.einsum("ni,ij,nj->n", rows, covariance, rows), rtol=1e-9
    )


def test_probit_mixtures_and_classes():
    X = dense_rows(120, 8, density=0.6)
    y = labels_for(X, 2)
    one = Bayesian(update="joint", covariance="full", prior_variance=1.0, link="probit")
    scores, _, _ = reference(one, X, y)
    from scipy.special import log_ndtr

    np.testing.assert_allclose(
        one.learn(block_of(X, y))[:, 0], log_ndtr(scores) - log_ndtr(-scores), rtol=1e-8, atol=1e-10
    )
    many = Bayesian(update="joint", covariance="full", outputs=3, value=("raw", "binary"))
    labels = labels_for(X, 3)
    loss = many.losses(many.learn(block_of(X, labels)), labels)
    assert loss[60:].mean() < loss[:60].mean()
    assert many.evidence.shape == (3, 16)


def test_beats_the_diagonal_where_features_go_together():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(3000, 1))
    X = (base + 0.3 * rng.normal(size=(3000, 8))).astype(np.float32).astype(float)
    y = (rng.random(3000) < 1 / (1 + np.exp(-X @ rng.normal(size=8) * 2))).astype(float)
    total = {}
    for covariance in ("full", "diagonal"):
        learner = Bayesian(update="joint", covariance=covariance, prior_variance=4.0)
        total[covariance] = learner.losses(learner.learn(block_of(X, y)), y).sum()
    assert total["full"] < total["diagonal"]


def test_stopped_and_resumed_equals_never_stopped():
    X = dense_rows(80, 10)
    y = labels_for(X, 2)
    whole, first = (Bayesian(update="joint", covariance="full") for _ in range(2))
    scores = whole.learn(block_of(X, y))
    first.learn(block_of(X[:40], y[:40]))
    resumed = Bayesian.from_state(first.parameters(), first.state())
    np.testing.assert_array_equal(resumed.learn(block_of(X[40:], y[40:])), scores[40:])
    for name, array in whole.state().items():
        np.testing.assert_array_equal(array, resumed.state()[name])


def test_extreme_values_leave_no_nan():
    rng = np.random.default_rng(0)
    for _ in range(50):
        learner = Bayesian(
            update="joint", covariance="full", prior_variance=float(10.0 ** rng.integers(-20, 20))
        )
        for _ in range(10):
            X = (rng.normal(size=(1, 4)) * 10.0 ** rng.integers(-30, 38, size=(1, 4))).astype(
                np.float32
            )
            block = block_of(
                X.astype(float),
                np.array([float(rng.integers(2))]),
                np.array([10.0 ** rng.integers(-5, 30)]),
            )
            assert np.isfinite(learner.learn(block)).all()
            assert all(np.isfinite(a).all() for a in learner.state().values())


def test_what_it_cannot_do():
    for parameters in ({"half_life": 5.0}, {"prior_variance": {"a": 1.0}}):
        with pytest.raises(ValueError, match="full"):
            Bayesian(update="joint", covariance="full", **parameters)
    learner = Bayesian(update="joint", covariance="full", prior_variance=1.0)
    for other in (lambda: learner.merge(learner), learner.as_prior, lambda: learner.sparsify(1.0)):
        with pytest.raises(ValueError, match="full"):
            other()
    with pytest.raises(ValueError, match="4,095 features"):
        learner.learn(block_of(np.ones((1, 4100)), np.ones(1)))

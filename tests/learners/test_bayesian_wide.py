"""The update in wide registers: long rows, where features share two curves, and columns among others."""

from __future__ import annotations

import numpy as np
import pytest

from riata.learners import Bayesian
from tests.learners.test_bayesian import assert_agrees
from tests.problems import block_of, dense_rows, labels_for


def long_rows(n: int, d: int, scale: float = 1.0, seed: int = 0) -> np.ndarray:
    """Most of d features are there, some a hundred times as large as others."""
    rng = np.random.default_rng(seed)
    X = dense_rows(n, d, density=0.8, seed=seed) * 10.0 ** rng.uniform(-1.5, 0.5, d)
    return (X * scale).astype(np.float32).astype(float)


@pytest.mark.parametrize("prior_variance", ["auto", 0.01, 30.0])
@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
def test_long_rows_equal_dense_reference(prior_variance, scale):
    X = long_rows(60, 90, scale)
    learner = Bayesian(prior_variance=prior_variance, calibrate=False)
    assert_agrees(learner, X, labels_for(X, 2))


def test_long_rows_with_weights_and_forgetting_equal_dense_reference():
    """Weights above one are beyond what the curves hold for."""
    X = long_rows(60, 70)
    weights = np.random.default_rng(3).choice([0.0, 0.2, 1.0, 1.5, 8.0], 60)
    learner = Bayesian(half_life=30.0, prior_mean=0.1, calibrate=False)
    assert_agrees(learner, X, labels_for(X, 2), weights)


@pytest.mark.parametrize("d", [10, 90])
@pytest.mark.parametrize("scale", [0.3, 5.0])
def test_a_column_has_the_same_bits_alone_and_among_others(d, scale):
    X = long_rows(150, d, scale)
    y = labels_for(X, 2)
    together = Bayesian(value=("raw", "log1p"))
    together.learn(block_of(X, y))
    _, means, variances = together.posterior()
    for c, (view, prior) in enumerate(together.components):
        alone = Bayesian(value=view, prior_variance=prior)
        alone.learn(block_of(X, y))
        _, mean, variance = alone.posterior()
        np.testing.assert_array_equal(means[:, 0, c], mean[:, 0, 0])
        np.testing.assert_array_equal(variances[:, 0, c], variance[:, 0, 0])


@pytest.mark.parametrize("classes", [3, 11])
def test_classes_side_by_side_are_models_of_their_own(classes):
    X = long_rows(100, 60)
    y = labels_for(X, classes)
    together = Bayesian(prior_variance=0.5, outputs=classes)
    scores = together.learn(block_of(X, y))
    for o in range(classes):
        alone = Bayesian(prior_variance=0.5)
        np.testing.assert_array_equal(
            alone.learn(block_of(X, (y == o).astype(float)))[:, 0], scores[:, o]
        )


def test_a_feature_that_outweighs_all_others():
    """Alone beyond the curves in every column, and the only one."""
    X = np.ones((40, 50))
    X[:, 7] = 1000.0
    assert_agrees(Bayesian(calibrate=False), X, labels_for(dense_rows(40, 5), 2))


def test_rows_are_not_lost_when_a_table_lets_go_of_others():
    """One row as long as the table, most of it forgotten, and births that need the room."""
    rng = np.random.default_rng(0)
    learner = Bayesian(half_life=0.01, store="table", prior_variance=1.0)
    for start in range(0, 60_000, 1500):
        features = np.unique(rng.integers(0, start + 1500, 3000)).astype(np.int32)
        X = np.zeros((1, int(features[-1]) + 1), dtype=np.float32)
        X[0, features] = 1
        assert np.isfinite(learner.learn(block_of(X, np.ones(1)))).all()

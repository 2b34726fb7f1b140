"""The one linear model that stands for all settings of `auto`."""

from __future__ import annotations

import numpy as np
import pytest

from riata.learners import Portfolio
from tests.problems import block_of, dense_rows, labels_for


def test_the_cost_of_the_one_linear_model_is_that_of_coef() -> None:
    """Where settings lead that see rows of length one: `coef` has one length for all rows."""
    rng = np.random.default_rng(4)
    X = dense_rows(600, 30, 0.3) * rng.choice([0.1, 1.0, 10.0], size=(600, 1))
    lengths = np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    y = labels_for(5 * X / lengths, 2)
    learner = Portfolio(fit_joint=False)
    learner.learn(block_of(X[:300], y[:300]))
    before = learner.state()["single"][0, 5]
    lost = 0.0
    for x, label in zip(X[300:], y[300:], strict=True):
        keys, weights = learner.coef()
        score = x[keys] @ weights[:, 0] + learner.intercept[0]
        lost += np.logaddexp(0, -score if label == 1 else score)
        learner.learn(block_of(x[None], np.array([label])))
    assert learner.state()["single"][0, 5] - before == pytest.approx(lost, rel=0.01)

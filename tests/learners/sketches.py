"""Problems and runs for the tests of the sketch."""

from __future__ import annotations

import numpy as np

from riata.learners import Sketch
from tests.problems import block_of


def gaussian(n=500, d=12, seed=0, link="logit"):
    """Dense rows, labels of -1 and +1 from a sparse model."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(np.float64)
    beta = rng.normal(size=d) * (rng.random(d) < 0.5)
    noise = rng.logistic(size=n) if link == "logit" else rng.normal(size=n)
    return X, np.where(X @ beta + noise > 0, 1.0, -1.0)


def words(n=2000, d=600, seed=0):
    """Sparse rows of unit length, as text has them."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, d))
    for row in X:
        columns = np.unique((d ** rng.random(30)).astype(int) - 1)
        row[columns] = rng.random(len(columns)) + 0.2
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X = X.astype(np.float32).astype(np.float64)
    beta = 8 * rng.normal(size=d) * (rng.random(d) < 0.2)
    return X, np.where(X @ beta + rng.logistic(size=n) > 0, 1.0, -1.0)


def codes(y):
    return (y > 0).astype(np.float64)


def solve(X, y, weights=None, offsets=None, **parameters):
    """A learner, led to the end; y of -1 and +1, or class codes."""
    learner = Sketch(**parameters)
    block = block_of(X, codes(y) if learner.outputs == 1 else y, weights, offsets=offsets)
    while not learner.complete:
        learner.learn(block)
        learner.end_pass()
    return learner


def dense(learner, d):
    keys, weights = learner.coef()
    w = np.zeros((d, learner.outputs))
    w[keys] = weights
    return w[:, 0] if learner.outputs == 1 else w

"""What both experiments share: batch solutions, iterates after every pass, tables."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from riata.block import Block
from riata.learners import Sketch

Floats = NDArray[np.float64]
HERE = Path(__file__).resolve().parent


def block_of(X: sparse.csr_matrix, y: Floats) -> Block:
    """A CSR matrix and labels of -1 and +1 as a Block."""
    return Block(
        X.indptr.astype(np.int64),
        X.indices,
        X.data.astype(np.float32),
        labels=(y > 0).astype(np.float64),
    )


def batch(X: sparse.csr_matrix, y: Floats, gamma: float) -> Floats:
    '""scikit-learn\'s liblinear, in the place of BBR: weights, then the intercept, which is penalised as'
    'well.""'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(
            solver="liblinear", l1_ratio=1, C=1 / gamma, tol=1e-8, max_iter=3000, random_state=0
        ).fit(X.astype(np.float64), y)
    return np.append(model.coef_[0], model.intercept_)


def online(X: sparse.csr_matrix, y: Floats, gamma: float, **parameters: Any) -> Floats:
    learner = Sketch(algorithm="online", gamma=gamma, penalize_intercept=True, **parameters)
    learner.learn(block_of(X, y))
    learner.end_pass()
    return weights(learner, X.shape[1])


def weights(learner: Sketch, d: int) -> Floats:
    keys, values = learner.coef()
    w = np.zeros(d + 1)
    w[keys] = values[:, 0]
    w[-1] = learner.intercept[0]
    return w


def passes(
    X: sparse.csr_matrix, y: Floats, gamma: float, most: int, **parameters: Any
) -> tuple[list[Floats], Sketch]:
    """The weights after each pass, beta_z in the paper: those that the next pass is made with."""
    learner = Sketch(
        gamma=gamma, penalize_intercept=True, tol=1e-9, max_passes=most + 1, sample=0, **parameters
    )
    block = block_of(X, y)
    iterates = []
    for _ in range(most):
        if not learner.complete:
            learner.learn(block)
            learner.end_pass()
        if learner.complete:
            w = weights(learner, X.shape[1])
        else:
            point = learner._passes[0].point
            w = np.zeros(X.shape[1] + 1)
            w[point.keys] = point.weights
            w[-1] = point.intercept
        iterates.append(w)
    return iterates, learner


def l1(a: Floats, b: Floats) -> float:
    return float(np.abs(a - b).sum())

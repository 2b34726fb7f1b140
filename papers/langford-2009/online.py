"""The online learners of the paper: passes with a falling rate, cross-validation, accuracy, AUC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata
from uci import Task

from riata.block import Block
from riata.learners import TruncatedGradient

Floats = NDArray[np.float64]
FOLDS = 10


def block_of(X: sparse.csr_matrix, y: Floats) -> Block:
    return Block(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, labels=y)


def learner(eta: float, decay: float, gravity: float = 0.0, **more: Any) -> TruncatedGradient:
    """Their eta and g. They take the slope of (p - y)^2, twice ours: eta here is 2 eta, gravity g / 2."""
    return TruncatedGradient(
        **{"fit_intercept": False} | more,
        loss="squared", clip=(0.0, 1.0), learning_rate="constant", eta0=2 * eta, decay=decay,
        gravity=gravity / 2, feature_scale="none", store="dense",
    )  # fmt: skip


def passes(
    model: TruncatedGradient, block: Block, d: int, stops: tuple[int, ...]
) -> Iterator[tuple[int, Floats]]:
    """The weights after each of these numbers of passes."""
    for done in range(1, max(stops) + 1):
        model.learn(block)
        model.end_pass()
        if done in stops:
            w = np.zeros(d)
            keys, values = model.coef()
            w[keys] = values[:, 0]
            yield done, w


def predicted(X: sparse.csr_matrix, w: Floats) -> Floats:
    scores: Floats = X @ w
    return scores


def auc(scores: Floats, y: Floats) -> float:
    """The chance that a positive row scores above a negative one; a tie counts half."""
    ones = y > 0.5
    n, m = int(ones.sum()), int((~ones).sum())
    return float((rankdata(scores)[ones].sum() - n * (n + 1) / 2) / (n * m))


def accuracy(scores: Floats, y: Floats) -> float:
    return float(np.mean((scores > 0.5) == (y > 0.5)))


def square_loss(scores: Floats, y: Floats) -> float:
    return float(np.mean((np.clip(scores, 0, 1) - y) ** 2))


def folds(rows: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Ten parts of the training rows, which are in random order already: (the others, the part)."""
    parts = np.arange(rows) % min(FOLDS, rows)
    return [
        (np.flatnonzero(parts != k), np.flatnonzero(parts == k)) for k in range(min(FOLDS, rows))
    ]


def judged(task: Task, X: sparse.csr_matrix, y: Floats, w: Floats) -> dict[str, float]:
    scores = predicted(X, w)
    if task.regression:
        return {"loss": square_loss(scores, y), "left": float(np.count_nonzero(w))}
    found = {"accuracy": accuracy(scores, y), "left": float(np.count_nonzero(w))}
    if 0 < y.sum() < len(y):
        found["auc"] = auc(scores, y)
    return found

"""Random problems that tests share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riata.block import Block


def dense_rows(
    n: int, d: int, density: float = 0.2, seed: int = 0, rare: bool = True
) -> NDArray[np.float64]:
    """Rows with values that float32 holds exactly; some features are rare, so that updates wait long."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(np.float64)
    chance = density * (rng.random(d) ** 2 if rare else np.ones(d))
    return np.where(rng.random((n, d)) < np.maximum(chance, 1.5 / n), X, 0.0)


def block_of(
    X: NDArray[np.float64],
    labels: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
    index: type = np.int32,
    offsets: NDArray[np.float64] | None = None,
) -> Block:
    """The same rows as a Block."""
    rows, columns = np.nonzero(X)
    indptr = np.searchsorted(rows, np.arange(len(X) + 1)).astype(np.int64)
    return Block(
        indptr,
        columns.astype(index),
        X[rows, columns].astype(np.float32),
        labels,
        weights,
        offsets=offsets,
    )


def labels_for(X: NDArray[np.float64], classes: int, seed: int = 1) -> NDArray[np.float64]:
    """Class codes 0 .. classes - 1, or real numbers where classes is 0, that depend on X."""
    rng = np.random.default_rng(seed)
    scores = X @ rng.normal(size=(X.shape[1], max(classes, 1))) + rng.normal(
        size=(len(X), max(classes, 1))
    )
    if classes == 0:
        return scores[:, 0]
    if classes == 2:
        return (scores[:, 0] > 0).astype(np.float64)
    return scores.argmax(axis=1).astype(np.float64)

"""The paper's synthetic data: true weights are drawn, then examples, then labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from riata.block import Block

Floats = NDArray[np.float64]
CHUNK = 20_000


def labelled(
    rng: np.random.Generator, counts: NDArray[np.int64], indices: NDArray[np.int32], weights: Floats
) -> tuple[Block, Floats]:
    """A Block with labels drawn by the true weights, and the true weights' loss on each row."""
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    sums = np.concatenate([[0.0], np.cumsum(weights[indices])])
    scores = sums[indptr[1:]] - sums[indptr[:-1]]
    labels = (rng.random(len(counts)) < 1 / (1 + np.exp(-scores))).astype(np.float64)
    block = Block(indptr, indices, np.ones(len(indices), dtype=np.float32), labels)
    return block, np.logaddexp(0, np.where(labels > 0, -scores, scores))


def random_features(
    seed: int, examples: int, d: int, present: float, std: float
) -> Iterator[tuple[Block, Floats]]:
    """Each of d binary features is there with the same chance, `present` of them on average (figs. 1 and 4)."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(scale=std, size=d)
    for start in range(0, examples, CHUNK):
        n = min(CHUNK, examples - start)
        rows, columns = np.nonzero(rng.random((n, d), dtype=np.float32) < present / d)
        counts = np.bincount(rows, minlength=n)
        yield labelled(rng, counts, columns.astype(np.int32), weights)


def long_tail(
    seed: int, examples: int, categories: int, std: float
) -> Iterator[tuple[Block, Floats]]:
    """One feature of each of the categories, which have 2, 4, 8, ... features, by Zipf's law (fig. 2, left)."""
    rng = np.random.default_rng(seed)
    sizes = 2 ** np.arange(1, categories + 1)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    weights = rng.normal(scale=std, size=int(sizes.sum()))
    tables = [np.cumsum(1 / (np.arange(size) + 1.0) ** 1.75) for size in sizes]
    for begin in range(0, examples, CHUNK):
        n = min(CHUNK, examples - begin)
        drawn = [
            start + np.searchsorted(table, rng.random(n) * table[-1])
            for start, table in zip(starts, tables, strict=True)
        ]
        indices = np.stack(drawn, axis=1).astype(np.int32).ravel()
        yield labelled(rng, np.full(n, categories), indices, weights)

"""The paper's synthetic data: true weights are drawn, then examples, then labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, log_ndtr

from riata.block import Block

Floats = NDArray[np.float64]
CHUNK = 20_000


def labelled(
    rng: np.random.Generator, counts: NDArray[np.int64], indices: NDArray[np.int32], weights: Floats,
    values: NDArray[np.float32] | None = None, link: str = "logit",
) -> tuple[Block, Floats]:  # fmt: skip
    """A Block with labels drawn by the true weights, and the true weights' loss on each row."""
    values = np.ones(len(indices), dtype=np.float32) if values is None else values
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    sums = np.concatenate([[0.0], np.cumsum(weights[indices] * values.astype(np.float64))])
    scores = sums[indptr[1:]] - sums[indptr[:-1]]
    logs = log_expit if link == "logit" else log_ndtr
    labels = (rng.random(len(counts)) < np.exp(logs(scores))).astype(np.float64)
    block = Block(indptr, indices, values, labels)
    return block, -logs(np.where(labels > 0, scores, -scores))


def random_features(
    seed: int,
    examples: int,
    d: int,
    present: float,
    std: float,
    binary: bool = True,
    link: str = "logit",
) -> Iterator[tuple[Block, Floats]]:
    """Each of d features is there with the same chance, `present` of them on average (figs. 1, 4 and 5).

    Those that are not binary have values uniform in [0, 1].
    """
    rng = np.random.default_rng(seed)
    weights = rng.normal(scale=std, size=d)
    for start in range(0, examples, CHUNK):
        n = min(CHUNK, examples - start)
        rows, columns = np.nonzero(rng.random((n, d), dtype=np.float32) < present / d)
        counts = np.bincount(rows, minlength=n)
        values = None if binary else rng.random(len(columns), dtype=np.float32)
        yield labelled(rng, counts, columns.astype(np.int32), weights, values, link)


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


def categorical(
    seed: int, examples: int, std: float, decay: float
) -> Iterator[tuple[Block, Floats]]:
    '""Five features of each of ten categories of 200, chances falling by exp(-decay) from one to the next (fig.'
    '6).""'
    rng = np.random.default_rng(seed)
    weights = rng.normal(scale=std, size=2000)
    logs = -decay * np.arange(200)
    for begin in range(0, examples, CHUNK):
        n = min(CHUNK, examples - begin)
        parts = []
        for category in range(10):
            # The five largest of log chance + Gumbel noise: a draw without replacement.
            keys = logs - np.log(-np.log(rng.random((n, 200))))
            parts.append(np.sort(np.argpartition(-keys, 5, axis=1)[:, :5], axis=1) + 200 * category)
        indices = np.concatenate(parts, axis=1).astype(np.int32).ravel()
        yield labelled(rng, np.full(n, 50), indices, weights)

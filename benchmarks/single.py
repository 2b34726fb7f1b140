"""Rows for learning one at a time: d = 2^20, made once, each a CSR matrix of its own."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

D = 2**20
NON_ZEROS = 77

Row = tuple[sparse.csr_matrix, NDArray[np.float64]]


@functools.cache
def single_rows(n: int) -> list[Row]:
    """The first n rows; a longer list starts with a shorter one's rows."""
    rng = np.random.default_rng(6)
    rows: list[Row] = []
    indptr = np.array([0, NON_ZEROS], dtype=np.int32)
    for _ in range(n):
        indices = np.sort(rng.choice(D, NON_ZEROS, replace=False, shuffle=False)).astype(np.int32)
        values = rng.random(NON_ZEROS).astype(np.float32) + np.float32(0.01)
        X = sparse.csr_matrix((values, indices, indptr), shape=(1, D))
        rows.append((X, rng.choice([-1.0, 1.0], 1)))
    return rows

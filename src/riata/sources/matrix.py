"""Matrices in memory: a sparse one is one Block, a dense one becomes rows piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.schema import Schema
from riata.sources.io.prefetch import ordered_map
from riata.sources.labels import check_labels, check_weights
from riata.sources.source import split

_PIECE_ENTRIES = 1 << 20


@dataclass(frozen=True)
class Dense:
    """Anything dense that can be cut into pieces of rows."""

    name: str
    shape: tuple[int, ...]
    piece: Callable[[int, int], NDArray[np.float32] | NDArray[np.float64]]
    """Rows start..stop as a C-contiguous array."""
    column_name: Callable[[int], str] = "column {}".format


class BlockSource:
    """Rows that are there already.

    >>> import numpy as np, scipy.sparse as sp
    >>> source = open_sparse(sp.csr_array(np.eye(3, dtype=np.float32)), [1, 0, 1], None)
    >>> source.name, source.n_rows
    ('csr_array 3 x 3', 3)
    >>> [len(block) for block in source]
    [3]
    """

    repeatable = True

    def __init__(
        self,
        block: Block,
        name: str,
        block_rows: int | None = None,
        most_features: int | None = None,
    ) -> None:
        if len(block) == 0:
            raise DataError(f"no examples in {name}")
        self.name = name
        self.most_features = most_features
        """Features are numbered below this."""
        self.n_rows: int | None = len(block)
        self.n_bytes: int | None = block.indptr.nbytes + block.indices.nbytes + block.values.nbytes
        self.bytes_read = 0
        self._block = block
        self._block_rows = block_rows
        self.named = block.named
        self.schema = Schema(named=block.named, open=block.named)

    def __iter__(self) -> Iterator[Block]:
        self.bytes_read = 0
        done = 0
        for block in split(self._block, self._block_rows):
            done += len(block)
            self.bytes_read = (self.n_bytes or 0) * done // len(self._block)
            yield block


class DenseSource:
    """A dense matrix, or what can be cut like one: only a piece at a time becomes rows."""

    repeatable = True
    named = False
    schema = Schema(named=False)

    def __init__(
        self,
        dense: Dense,
        rows: int,
        labels: NDArray[np.float64] | None,
        weights: NDArray[np.float64] | None,
    ) -> None:
        n_rows, n_columns = dense.shape
        self.name = dense.name
        self.n_rows: int | None = n_rows
        self.most_features = n_columns
        self.n_bytes: int | None = 4 * n_rows * n_columns
        self.bytes_read = 0
        self._dense = dense
        self._rows = rows
        self._labels = labels
        self._weights = weights

    def __iter__(self) -> Iterator[Block]:
        self.bytes_read = 0
        n_rows, n_columns = self._dense.shape
        results = ordered_map(self._block, iter(range(0, n_rows, self._rows)), threads=1)
        try:
            for block in results:
                self.bytes_read += 4 * n_columns * len(block)
                yield block
        finally:
            results.close()

    def _block(self, start: int) -> Block:
        stop = start + self._rows
        indptr, indices, values = _core.compress_rows(self._dense.piece(start, stop))
        return Block(
            indptr,
            indices,
            values,
            None if self._labels is None else self._labels[start:stop],
            None if self._weights is None else self._weights[start:stop],
        )


def open_sparse(
    matrix: Any, y: Any, sample_weight: Any, block_rows: int | None = None
) -> BlockSource:
    """A scipy matrix or array of any format. CSR with float32 values in order is not copied."""
    kind = type(matrix).__name__
    if matrix.ndim != 2:
        raise DataError(f"{kind} has {matrix.ndim} dimension(s); rows of examples need 2")
    n_rows, n_columns = matrix.shape
    name = f"{kind} {n_rows} x {n_columns}"
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"{name}: values must be real numbers, not {matrix.dtype}")
    labels = check_labels(y, n_rows)
    weights = check_weights(sample_weight, n_rows)
    if matrix.format != "csr":
        # Duplicates are summed on the way: in float64, where bool and small integers do not wrap.
        matrix = (matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64)).tocsr()
    return BlockSource(csr_block(matrix, name, labels, weights), name, block_rows, n_columns)


def csr_block(
    matrix: Any,
    name: str,
    labels: NDArray[np.float64] | None,
    weights: NDArray[np.float64] | None = None,
) -> Block:
    """A CSR matrix as a Block, with labels and weights that have been checked."""
    indptr, indices, values, canonical = _checked_rows(matrix, name)
    if not canonical:
        matrix = _in_order(matrix, name)
        indptr, indices, values, _ = _checked_rows(matrix, name)
    return Block(indptr, indices, values, labels, weights)


def _checked_rows(
    matrix: Any, name: str
) -> tuple[NDArray[np.int64], Any, NDArray[np.float32], bool]:
    indptr = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    indices = matrix.indices
    if indices.dtype != np.int32 or not indices.flags.c_contiguous:
        indices = np.ascontiguousarray(indices, dtype=np.int64)
    values = to_float32(matrix.data)
    nnz = int(indptr[-1])
    if nnz < len(values):
        indices, values = indices[:nnz], values[:nnz]
    flaw, row, position, canonical = _core.inspect_rows(indptr, indices, values, matrix.shape[1])
    if flaw == "pointers":
        raise DataError(f"{name}: the matrix is damaged: indptr is not ascending at row {row}")
    if flaw == "index_range":
        raise DataError(
            f"{name}: the matrix is damaged: row {row} has column {indices[position]}, "
            f"which is not between 0 and {matrix.shape[1] - 1}"
        )
    if flaw:
        raise not_finite(name, matrix.data[position], row, f"column {indices[position]}")
    return indptr, indices, values, canonical


def _in_order(matrix: Any, name: str) -> Any:
    """A copy with ascending columns, duplicates summed and without zeros."""
    integers = matrix.dtype.kind != "f"
    matrix = matrix.astype(np.float64 if integers else matrix.dtype, copy=True)
    # What the copy says about itself was taken over from the original and need not be true.
    matrix.has_sorted_indices = matrix.has_canonical_format = False
    matrix.sum_duplicates()
    values = to_float32(matrix.data)
    for position in np.flatnonzero(~np.isfinite(values))[:1]:
        row = int(np.searchsorted(matrix.indptr, position, side="right")) - 1
        raise not_finite(name, matrix.data[position], row, f"column {matrix.indices[position]}")
    matrix.data = values
    matrix.eliminate_zeros()
    return matrix


def open_dense(
    matrix: NDArray[Any], y: Any, sample_weight: Any, block_rows: int | None = None
) -> BlockSource | DenseSource:
    """A two-dimensional array of numbers.

    >>> [block] = open_dense(np.array([[0, 2.5], [0, 0]]), None, None)
    >>> block.indptr.tolist(), block.indices, block.values
    ([0, 1, 1], array([1], dtype=int32), array([2.5], dtype=float32))
    """
    if matrix.ndim != 2:
        raise DataError(
            f"a matrix of examples needs 2 dimensions, this array has {matrix.ndim}; "
            "for a single example use x.reshape(1, -1)"
        )
    name = f"ndarray {matrix.shape[0]} x {matrix.shape[1]}"
    if matrix.dtype.kind == "O":
        try:
            matrix = matrix.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"{name}: values must be numbers: {error}") from None
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"{name}: values must be real numbers, not {matrix.dtype}")
    # Integers round once, straight to float32. float16 and long doubles go through float64.
    straight = matrix.dtype == np.float32 or matrix.dtype.kind in "biu"
    kind = np.float32 if straight else np.float64

    def piece(start: int, stop: int) -> NDArray[Any]:
        return np.ascontiguousarray(matrix[start:stop], dtype=kind)

    return open_pieces(Dense(name, matrix.shape, piece), y, sample_weight, block_rows)


def open_pieces(
    dense: Dense, y: Any, sample_weight: Any, block_rows: int | None
) -> BlockSource | DenseSource:
    """Rows of something dense. All of it is checked here, before the first pass."""
    n_rows, n_columns = dense.shape
    labels = check_labels(y, n_rows)
    weights = check_weights(sample_weight, n_rows)
    rows = max(1, min(_PIECE_ENTRIES // max(1, n_columns), block_rows or n_rows))
    for start in range(0, n_rows, rows):
        piece = dense.piece(start, start + rows)
        position = _core.first_not_finite(piece)
        if position < piece.size:
            row, column = divmod(position, n_columns)
            raise not_finite(dense.name, piece[row, column], start + row, dense.column_name(column))
        if n_rows <= rows:
            indptr, indices, values = _core.compress_rows(piece)
            block = Block(indptr, indices, values, labels, weights)
            return BlockSource(block, dense.name, most_features=n_columns)
    if n_rows == 0:
        raise DataError(f"no examples in {dense.name}")
    return DenseSource(dense, rows, labels, weights)


def to_float32(values: NDArray[Any]) -> NDArray[np.float32]:
    """The values rounded to float32, not copied if they are; too large becomes infinite."""
    if values.dtype == np.float32 and values.flags.c_contiguous:
        return values
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)


def not_finite(name: str, value: Any, row: int, column: str) -> DataError:
    where = f"{name}: row {row}, {column}"
    if np.isfinite(value):
        return DataError(f"{where}: {value} is beyond a 32-bit float (3.4e38); rescale it")
    shown = "NaN" if np.isnan(value) else value
    return DataError(f"{where}: the value is {shown}; values must be finite: drop or replace it")

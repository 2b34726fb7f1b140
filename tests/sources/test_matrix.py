"""Matrices, frames, labels and weights in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from riata.block import Block, concatenate
from riata.errors import DataError
from riata.sources import Source, open_source

DENSE = np.array([[0, 1.5, 0, -2], [0, 0, 0, 0], [3, 0, 0.25, 1]], dtype=np.float32)


def only(source: Source) -> Block:
    return concatenate(list(source))


def dense(block: Block, n_columns: int) -> np.ndarray:
    return sp.csr_array(
        (block.values, block.indices, block.indptr), shape=(len(block), n_columns)
    ).toarray()


def assert_promises(block: Block) -> None:
    """What a Block promises about its rows."""
    assert block.indptr[0] == 0
    assert block.indptr.dtype == np.int64
    assert block.values.dtype == np.float32
    assert block.indices.dtype in (np.int32, np.int64)
    assert len(block.values) == len(block.indices) == block.indptr[-1]
    assert np.isfinite(block.values).all()
    assert (block.values != 0).all()
    for row in range(len(block)):
        assert (np.diff(block.indices[block.indptr[row] : block.indptr[row + 1]]) > 0).all()


SPARSE = [
    kind
    for name in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
    for kind in (getattr(sp, f"{name}_matrix"), getattr(sp, f"{name}_array"))
]


@pytest.mark.parametrize("kind", SPARSE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8, bool])
def test_sparse(kind: Any, dtype: Any) -> None:
    matrix = kind(DENSE.astype(dtype))
    source = open_source(matrix, [1, 0, 1])
    assert source.name == f"{kind.__name__} 3 x 4"
    assert source.n_rows == 3
    assert source.repeatable
    for _ in range(2):
        [block] = source
        assert_promises(block)
        np.testing.assert_array_equal(dense(block, 4), DENSE.astype(dtype).astype(np.float32))
        np.testing.assert_array_equal(block.labels, [1, 0, 1])
    assert source.bytes_read == source.n_bytes


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_csr_is_not_copied(index: Any) -> None:
    matrix = sp.csr_array(DENSE)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    [block] = open_source(matrix)
    assert block.labels is None
    assert block.indices.dtype == index
    assert np.shares_memory(block.values, matrix.data)
    assert np.shares_memory(block.indices, matrix.indices)


def test_out_of_order_duplicates_and_zeros() -> None:
    data = np.array([1, 2, 3, 0, 5, -5], dtype=np.float32)
    indices = np.array([3, 0, 3, 1, 2, 2], dtype=np.int32)
    matrix = sp.csr_matrix((data, indices, np.array([0, 4, 6])), shape=(2, 4))
    copies = data.copy(), indices.copy()
    [block] = open_source(matrix)
    assert_promises(block)
    np.testing.assert_array_equal(dense(block, 4), [[2, 0, 0, 4], [0, 0, 0, 0]])
    np.testing.assert_array_equal(matrix.data, copies[0])
    np.testing.assert_array_equal(matrix.indices, copies[1])


def test_claims_of_the_matrix_about_itself_are_not_believed() -> None:
    matrix = sp.csr_matrix((np.float32([1, 2]), [1, 0], [0, 2]), shape=(1, 2))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    [block] = open_source(matrix)
    assert_promises(block)


def test_small_integers_do_not_wrap_when_summed() -> None:
    coo = sp.coo_matrix((np.uint8([200, 100]), ([0, 0], [1, 1])), shape=(1, 2))
    assert only(open_source(coo)).values.tolist() == [300]
    csr = sp.csr_matrix((np.uint8([200, 100]), [1, 1], [0, 2]), shape=(1, 2))
    assert only(open_source(csr)).values.tolist() == [300]


def test_large_indices() -> None:
    matrix = sp.coo_array((np.float32([1]), ([0], [2**40])), shape=(1, 2**40 + 1))
    block = only(open_source(matrix))
    assert block.indices.dtype == np.int64
    assert block.indices.tolist() == [2**40]


def test_spare_room_behind_the_entries() -> None:
    matrix = sp.csr_matrix((np.float32([1, 2]), [0, 1], [0, 2]), shape=(1, 2))
    matrix.data, matrix.indices = np.append(matrix.data, [np.nan]), np.append(matrix.indices, [9])
    assert only(open_source(matrix)).values.tolist() == [1, 2]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, np.asarray, pd.DataFrame])
def test_values_must_be_finite(bad: float, make: Any) -> None:
    matrix = DENSE.copy()
    matrix[2, 2] = bad
    shown = "NaN" if np.isnan(bad) else bad
    with pytest.raises(DataError, match=f"row 2, column 2: the value is {shown}"):
        open_source(make(matrix))


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.coo_array, np.asarray, pd.DataFrame])
def test_values_must_fit_float32(make: Any) -> None:
    matrix = DENSE.astype(np.float64)
    matrix[0, 1] = -1e39
    with pytest.raises(DataError, match=r"row 0, column 1: -1e\+39 is beyond a 32-bit float"):
        open_source(make(matrix))


def test_sum_must_fit_float32() -> None:
    matrix = sp.csr_matrix((np.float32([3e38, 3e38]), [1, 1], [0, 2]), shape=(1, 2))
    with pytest.raises(DataError, match="row 0, column 1"):
        open_source(matrix)


def test_too_small_for_float32_is_zero() -> None:
    matrix = np.array([[1e-60, 1]])
    assert only(open_source(matrix)).indices.tolist() == [1]
    assert only(open_source(sp.csr_matrix(matrix))).indices.tolist() == [1]


@pytest.mark.parametrize(
    ("indptr", "indices"), [([0, 2], [0, 9]), ([0, 2], [0, -1]), ([0, 3, 2], [0, 1])]
)
def test_damaged_matrix(indptr: list[int], indices: list[int]) -> None:
    matrix = sp.csr_matrix((len(indptr) - 1, 2), dtype=np.float32)
    matrix.indptr, matrix.indices = np.array(indptr), np.array(indices, dtype=np.int32)
    matrix.data = np.ones(2, dtype=np.float32)
    with pytest.raises(DataError, match="the matrix is damaged"):
        open_source(matrix)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int16, np.uint8, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense(dtype: Any, order: Any) -> None:
    matrix = np.array(DENSE.astype(dtype), order=order)
    block = only(open_source(matrix, [0, 1, 2], [1, 2, 3]))
    assert_promises(block)
    np.testing.assert_array_equal(dense(block, 4), matrix.astype(np.float32))
    np.testing.assert_array_equal(block.weights, [1, 2, 3])


def test_dense_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riata.sources.matrix._PIECE_ENTRIES", 100)
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(101, 30)) * (rng.random((101, 30)) < 0.5)
    y = np.arange(101.0)
    source = open_source(matrix, y, y)
    for _ in range(2):
        blocks = list(source)
        assert [len(b) for b in blocks] == [3] * 33 + [2]
        block = concatenate(blocks)
        np.testing.assert_array_equal(dense(block, 30), matrix.astype(np.float32))
        np.testing.assert_array_equal(block.labels, y)
        np.testing.assert_array_equal(block.weights, y)
    assert source.bytes_read == source.n_bytes
    matrix[100, 29] = np.nan
    with pytest.raises(DataError, match="row 100, column 29"):
        open_source(matrix)


@settings(max_examples=100, deadline=None)
@given(
    matrix=hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=8),
        elements=st.floats(-(2.0**100), 2.0**100, width=32),
    ),
    block_rows=st.integers(1, 9),
)
def test_dense_and_sparse_agree(matrix: np.ndarray, block_rows: int) -> None:
    a = only(open_source(matrix, block_rows=block_rows))
    b = only(open_source(sp.csc_array(matrix), block_rows=block_rows))
    assert_promises(a)
    for name in ("indptr", "indices", "values"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_list_of_rows() -> None:
    assert only(open_source([[1, 0], [0, 2]])).values.tolist() == [1, 2]
    with pytest.raises(DataError, match="do not form a matrix"):
        open_source([[1, 0], [0]])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame: Any) -> None:
    columns = {"a": [1, 0, 3], "b": [0.5, 0.0, -1.5], "c": [True, False, True]}
    source = open_source(frame(columns), y=pd.Series([1, 0, 1]))
    library = frame.__module__.split(".")[0]
    assert source.name == f"{library} DataFrame 3 x 3"
    block = only(source)
    assert_promises(block)
    np.testing.assert_array_equal(dense(block, 3), [[1, 0.5, 1], [0, 0, 0], [3, -1.5, 1]])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frame_with_words(frame: Any) -> None:
    with pytest.raises(DataError, match=r"column 'town' holds .*not numbers"):
        open_source(frame({"a": [1, 2], "town": ["x", "y"]}))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.nan]}),
        pd.DataFrame({"a": [1, 2], "b": pd.array([1, None], dtype="Int64")}),
        pl.DataFrame({"a": [1, 2], "b": [1, None]}),
    ],
)
def test_frame_with_holes(frame: Any) -> None:
    with pytest.raises(DataError, match="row 1, column 'b': the value is NaN"):
        open_source(frame)


@pytest.mark.parametrize("y", [[1, 0], [1, 0, 1, 0], np.ones((3, 2))])
def test_labels_of_another_length(y: Any) -> None:
    with pytest.raises(DataError, match=r"y (has|must have)"):
        open_source(DENSE, y)


def test_bad_labels_and_weights() -> None:
    with pytest.raises(DataError, match="y is nan at row 1"):
        open_source(DENSE, [1, np.nan, 0])
    with pytest.raises(DataError, match="y must be numbers"):
        open_source(DENSE, ["a", "b", "c"])
    with pytest.raises(DataError, match=r"sample_weight is -1.0 at row 2; .*negative"):
        open_source(DENSE, [1, 0, 1], [1, 1, -1])
    with pytest.raises(DataError, match="sample_weight is nan at row 0"):
        open_source(DENSE, [1, 0, 1], [np.nan, 1, -1])
    with pytest.raises(DataError, match="sample_weight has 2 entries for 3 rows"):
        open_source(sp.csr_matrix(DENSE), [1, 0, 1], [1, 1])
    assert only(open_source(DENSE, [1, 0, 1], 2)).weights.tolist() == [2, 2, 2]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "empty", [np.empty((0, 3)), sp.csr_matrix((0, 3)), pd.DataFrame({"a": []}, dtype=float)]
)
def test_no_rows(empty: Any) -> None:
    with pytest.raises(DataError, match="no examples in"):
        open_source(empty)


def test_rows_without_features() -> None:
    assert len(only(open_source(np.empty((3, 0))))) == 3
    assert len(only(open_source(sp.csr_matrix((3, 0))))) == 3


@pytest.mark.parametrize(
    ("what", "error"),
    [
        (np.ones(3), "needs 2 dimensions"),
        (np.ones((2, 2, 2)), "needs 2 dimensions"),
        (np.array([["a"]]), "must be real numbers"),
        (np.array([["a"]], dtype=object), "must be numbers"),
        (np.ones((1, 1), dtype=complex), "must be real numbers"),
        (sp.csr_matrix(np.ones((1, 1), dtype=complex)), "must be real numbers"),
        (sp.coo_array(np.ones(3)), "need 2"),
        ([], "no files given"),
    ],
)
def test_not_a_matrix_of_numbers(what: Any, error: str) -> None:
    with pytest.raises(DataError, match=error):
        open_source(what)


def test_what_cannot_be_read_at_all() -> None:
    with pytest.raises(TypeError, match="cannot read examples from int"):
        open_source(3)


@pytest.mark.parametrize("series", [pd.Series, pl.Series])
def test_one_column_is_no_table(series: Any) -> None:
    with pytest.raises(TypeError, match="Series is one column"):
        open_source(series([1.0, 2.0]))


def test_a_frame_that_does_not_speak_arrow() -> None:
    class DataFrame:
        """As polars' before 1.3: iterated over, it gives its columns."""

        columns = ("a", "b")

        def __iter__(self) -> Any:
            return iter([pd.Series([1.0]), pd.Series([2.0])])

    with pytest.raises(
        TypeError, match=r"this DataFrame does not speak Arrow .* 1\.3 on; or give its to_arrow"
    ):
        open_source(DataFrame())


def test_text_brings_its_own_labels(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1 1:1\n")
    with pytest.raises(DataError, match="y goes with a matrix"):
        open_source(tmp_path / "x", [1])
    with pytest.raises(DataError, match="unknown format 'orc'; known are: svmlight"):
        open_source(tmp_path / "x", format="orc")
    with pytest.raises(ValueError, match="threads must be at least 1"):
        open_source(tmp_path / "x", threads=0)
    with pytest.raises(ValueError, match="block_rows must be at least 1"):
        open_source(tmp_path / "x", block_rows=0)


def test_sources_and_blocks_pass_through() -> None:
    source = open_source(DENSE)
    assert open_source(source) is source
    [block] = source
    assert [len(b) for b in open_source(block, block_rows=2)] == [2, 1]

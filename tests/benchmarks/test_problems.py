"""The benchmark's data: the same every time, and the same numbers in every form."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from benchmarks import native, problems
from benchmarks.libraries import dense
from sklearn.datasets import load_svmlight_file

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this machine")


@pytest.fixture
def arrays() -> problems.Arrays:
    return problems._log_uniform(300, 5000, 40, seed=1)


def test_log_uniform_is_deterministic(arrays: problems.Arrays) -> None:
    again = problems._log_uniform(300, 5000, 40, seed=1)
    for part in ("indptr", "indices", "values", "labels"):
        assert np.array_equal(getattr(arrays, part), getattr(again, part))


def test_log_uniform_rows_are_ascending_and_of_unit_length(arrays: problems.Arrays) -> None:
    assert set(arrays.labels) == {-1.0, 1.0}
    for begin, end in zip(arrays.indptr[:-1], arrays.indptr[1:], strict=True):
        assert np.all(np.diff(arrays.indices[begin:end]) > 0)
        assert np.linalg.norm(arrays.values[begin:end].astype(float)) == pytest.approx(1, abs=1e-4)
    assert arrays.indices.min() >= 0
    assert arrays.indices.max() < arrays.d


def test_log_uniform_draws_each_octave_about_equally_often(arrays: problems.Arrays) -> None:
    rng = np.random.default_rng(3)
    draws = (5000 ** rng.random(100_000)).astype(int)
    octaves = np.bincount(np.floor(np.log2(draws)).astype(int))
    assert octaves[:12].max() < 1.1 * octaves[:12].min()


@needs_compiler
def test_text_holds_the_numbers_of_the_matrix(arrays: problems.Arrays, tmp_path: Path) -> None:
    csr = (arrays.indptr, arrays.indices, arrays.values, arrays.labels)
    native.write_text(tmp_path / "a.svm", *csr, vowpal_wabbit=False)
    native.write_text(tmp_path / "a.vw", *csr, vowpal_wabbit=True)
    X, y = load_svmlight_file(str(tmp_path / "a.svm"), n_features=arrays.d, dtype=np.float32)
    assert np.array_equal(X.indptr, arrays.indptr)
    assert np.array_equal(X.indices, arrays.indices)
    assert np.array_equal(X.data, arrays.values)
    assert np.array_equal(y, arrays.labels)
    # Vowpal Wabbit's format differs from svmlight's by a bar after the label.
    svm, vw = (tmp_path / "a.svm").read_text(), (tmp_path / "a.vw").read_text()
    assert vw.replace(" | ", " ") == svm


@needs_compiler
def test_both_dense_updates_are_the_same(arrays: problems.Arrays, tmp_path: Path) -> None:
    from scipy import sparse

    X = sparse.csr_matrix((arrays.values, arrays.indices, arrays.indptr.astype(np.int32)))
    problem = problems.Problem("small", X, arrays.labels, tmp_path, tmp_path, 18, 5.0, 1e-3, 1e-2)
    slow, fast = dense.learn_numpy(problem, 200), dense.learn_native(problem, 200)
    assert np.abs(slow).max() > 0.1
    np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-14)


def test_absent_data_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(problems, "DATA", tmp_path)
    monkeypatch.setattr(problems, "CACHE", tmp_path)
    with pytest.raises(problems.Absent, match="a9a is not under"):
        problems.load.__wrapped__("a9a")

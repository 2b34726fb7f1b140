"""The benchmark's own C++: compiled for this machine on first use, never part of the package."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.paths import CACHE

FLAGS = ["-O3", "-march=native", "-std=c++20", "-shared", "-fPIC"]
HERE = Path(__file__).parent


@functools.cache
def _library(name: str) -> ctypes.CDLL:
    source = HERE / f"{name}.cpp"
    compiler = os.environ.get("CXX", "g++")
    key = hashlib.sha256(source.read_bytes() + " ".join([compiler, *FLAGS]).encode()).hexdigest()
    target = CACHE / f"{name}-{key[:12]}.so"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = target.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, *FLAGS, str(source), "-o", str(scratch)], check=True)
        scratch.replace(target)
    return ctypes.CDLL(str(target))


def _pointer(array: NDArray[np.generic], dtype: type) -> ctypes.c_void_p:
    assert array.dtype == dtype, f"{array.dtype} is not {dtype}"
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


def write_text(
    path: Path,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float32],
    labels: NDArray[np.float64],
    *,
    vowpal_wabbit: bool,
) -> None:
    """A CSR matrix as svmlight text or as Vowpal Wabbit text, features numbered from 1."""
    failed = _library("text").write_text(
        str(path).encode(),
        ctypes.c_int64(len(labels)),
        _pointer(indptr, np.int64),
        _pointer(indices, np.int32),
        _pointer(values, np.float32),
        _pointer(labels, np.float64),
        ctypes.c_int(1),
        ctypes.c_int(vowpal_wabbit),
    )
    if failed:
        raise OSError(f"cannot write {path}")


def dense_fobos(
    w: NDArray[np.float64],
    intercept: NDArray[np.float64],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float32],
    labels: NDArray[np.float64],
    *,
    eta0: float,
    l1: float,
    l2: float,
) -> None:
    """Learn the rows, updating every weight each time, in place."""
    _library("dense").dense_fobos(
        ctypes.c_int64(len(w)),
        _pointer(w, np.float64),
        _pointer(intercept, np.float64),
        ctypes.c_int64(len(labels)),
        _pointer(indptr, np.int64),
        _pointer(indices, np.int32),
        _pointer(values, np.float32),
        _pointer(labels, np.float64),
        ctypes.c_double(eta0),
        ctypes.c_double(l1),
        ctypes.c_double(l2),
    )

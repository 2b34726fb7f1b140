"""Files from the wild, where they are at hand: what scikit-learn reads, rounded once."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from riata.block import concatenate
from riata.sources import open_source

DATA = Path(os.environ.get("RIATA_DATA", "../shared/data"))


@pytest.mark.parametrize(
    "name", ["a9a.t", "heart_scale", "news20-multiclass.gz", "news20-small.binary.gz"]
)
def test_as_scikit_learn_reads_it(name: str) -> None:
    path = DATA / "libsvm" / name
    if not path.exists():
        pytest.skip(f"{path} is not there; set RIATA_DATA to the folder of real data")
    block = concatenate(list(open_source(path)))
    X, y = load_svmlight_file(str(path), zero_based=False)
    X.eliminate_zeros()
    np.testing.assert_array_equal(block.labels, y)
    np.testing.assert_array_equal(block.indptr, X.indptr)
    np.testing.assert_array_equal(block.indices, X.indices)
    np.testing.assert_array_equal(block.values, X.data.astype(np.float32))

"""The parts of papers/balakrishnan-2008, on small data."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from scipy import sparse

from riata.reference.sketch import multipass

Paper = Callable[[str, str], ModuleType]
FOLDER = "balakrishnan-2008"


def problem(rows: int = 400, d: int = 30) -> tuple[sparse.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((rows, d)) < 0.3, rng.normal(size=(rows, d)), 0.0)
    return sparse.csr_matrix(X), np.where(X[:, :4].sum(axis=1) + rng.normal(size=rows) > 0, 1.0, -1.0)  # fmt: skip


def test_mp_as_printed_is_the_references_multipass(paper: Paper) -> None:
    printed = paper(FOLDER, "printed")
    X, y = problem()
    found, active = printed.passes(X, y, 8.0, 5, reduced=False)
    dense = np.hstack([X.toarray(), np.ones((len(y), 1))])
    np.testing.assert_allclose(found, multipass(dense, y, 8.0, 5), atol=1e-7)
    assert active == np.count_nonzero(np.abs(dense.T @ y) / 2 >= 8.0)


@pytest.mark.parametrize("k", [None, 31, 8])
def test_rmmp_as_printed_comes_to_the_same_weights_a_pass_later(
    paper: Paper, k: int | None
) -> None:
    printed = paper(FOLDER, "printed")
    X, y = problem()
    exact = printed.passes(X, y, 20.0, 30, reduced=False)[0][-1]
    found, _ = printed.passes(X, y, 20.0, 30, k)
    assert not found[0].any()  # the first pass only finds who is active
    assert 0 < np.count_nonzero(exact) <= 8
    np.testing.assert_allclose(found[-1], exact, atol=1e-6)


def test_passes_are_counted_between_passes_by_logarithms(paper: Paper) -> None:
    tables = paper(FOLDER, "table_3_and_4")
    distances = [10.0, 1.0, 0.01]
    assert [tables.pass_of(distances, v) for v in (20.0, 1.0, 0.1, 0.01)] == [1.0, 2.0, 2.5, 3.0]
    assert tables.pass_of(distances, 1e-3) == np.inf
    assert [tables.near(8, z) for z in (7.0, 8.9)] == ["reproduced"] * 2
    assert tables.near(8, 9.4) == "comparable: +1.4 passes"
    assert tables.near(8, np.inf) == "not: +inf passes"

"""The parts of papers/lipton-2015, on small data."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

Paper = Callable[[str, str], ModuleType]
FOLDER = "lipton-2015"


@pytest.mark.parametrize("update", ["sgd", "fobos"])
@pytest.mark.parametrize("rate", ["constant", "inv_sqrt", "inv_t"])
def test_all_programs_find_the_same_weights(paper: Paper, update: str, rate: str) -> None:
    sets, updates = paper(FOLDER, "sets"), paper(FOLDER, "updates")
    X, y = sets.made(60, 300, 8)
    net = updates.Net(update, 0.5, rate, 1e-3, 1e-2)
    dense = updates.NUMPY["dense"](X, y, net, updates.Clock())
    found = [
        learn(X, y, net, updates.Clock())
        for learn in (*updates.PYTHON.values(), *updates.NUMPY.values())
    ]
    found.append(updates.lazy_riata(updates.block_of(X, y), X.shape[1], net))
    for w in found:
        np.testing.assert_allclose(w, dense, rtol=1e-9, atol=1e-12)
    assert 0 < np.count_nonzero(dense) < X.shape[1]


def test_the_printed_sum_is_wrong_for_sgd_alone(paper: Paper) -> None:
    sets, updates = paper(FOLDER, "sets"), paper(FOLDER, "updates")
    X, y = sets.made(200, 300, 8)
    for update, wrong in (("sgd", True), ("fobos", False)):
        net = updates.Net(update, 0.5, "constant", 1e-3, 0.1)
        right, printed = (updates.lazy_python(X, y, net, updates.Clock(), p) for p in (False, True))
        assert (np.abs(right - printed).max() > 1e-6) == wrong


def test_rows_are_as_wide_as_asked(paper: Paper) -> None:
    X, y = paper(FOLDER, "sets").made(50, 10_000, 30)
    assert X.shape == (50, 10_000)
    assert X.has_canonical_format
    assert 25 <= X.nnz / 50 <= 30
    assert set(y) == {-1.0, 1.0}

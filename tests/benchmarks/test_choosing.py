"""The tables of progressive losses in docs/ have the numbers that were measured, and no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import choosing_page
from benchmarks.auto import STREAMS

NUMBERS = json.loads(choosing_page.NUMBERS.read_text())


@pytest.mark.parametrize("page", choosing_page.PARTS, ids=lambda page: page.name)
def test_the_page_has_the_numbers(page: Path) -> None:
    text = choosing_page.PARTS[page](NUMBERS)
    assert page.read_text() == choosing_page.written(page.read_text(), text)
    assert text.count("|") > 20


def test_every_stream_was_measured_with_every_method() -> None:
    assert set(NUMBERS["streams"]) == set(STREAMS)
    for found in NUMBERS["streams"].values():
        assert found["losses"].keys() == set(choosing_page.ROWS)


def test_rows_of_other_columns_shrink_as_scikit_learn_has_them() -> None:
    """Rows that see their own columns alone give the losses of rows that see all of them."""
    import numpy as np
    from scipy.sparse import random as random_rows

    X = random_rows(150, 60, density=0.1, format="csr", random_state=0)
    y = (np.random.default_rng(0).random(150) < 0.4).astype(float)
    whole = choosing_page.scikit_learn(X, y, at_once=150)
    assert choosing_page.scikit_learn(X, y, at_once=7) == pytest.approx(whole, rel=1e-9)

"""Numbers of features at the ends of what there is: learned, saved and loaded, or refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata import model_file
from riata.block import Block
from riata.learners import FAMILIES
from riata.record import Model
from riata.sources import open_source
from riata.training import train

pytestmark = pytest.mark.filterwarnings("ignore")
LARGE = [2**31 - 1, 2**31, 2**32, 10**11, 2**40, 2**62, 2**63 - 2]
STORES = [
    (family, {"store": store} if "store" in FAMILIES[family].__dataclass_fields__ else {})  # type: ignore[attr-defined]
    for family in FAMILIES
    for store in ("auto", "dense", "table", "hashed")
    if store == "auto" or "store" in FAMILIES[family].__dataclass_fields__  # type: ignore[attr-defined]
]


def block_with(index: int) -> Block:
    return Block(
        indptr=np.array([0, 2, 4, 5]),
        indices=np.array([1, index, 2, index, 3]),
        values=np.ones(5, np.float32),
        labels=np.array([0.0, 1.0, 0.0]),
    )


@pytest.mark.parametrize(("family", "options"), STORES)
@pytest.mark.parametrize("index", [0, *LARGE])
def test_large(family: str, options: dict[str, Any], index: int, tmp_path: Path) -> None:
    block, end = block_with(index), 2**63
    if options.get("store") == "dense" or family == "sketch":
        end = 2**37

    def learned() -> Model:
        return train(
            open_source(block), lambda outputs: FAMILIES[family](outputs=outputs, **options)
        )

    if index >= end:
        with pytest.raises(ValueError, match="index"):
            learned()
        return
    if options.get("store") == "dense" and index > 10**10:
        pytest.skip("whether there are addresses for a dense array so long is up to the machine")
    model = learned()
    model_file.save(model, tmp_path / "m")
    again = model_file.load(tmp_path / "m").learner
    assert np.array_equal(again.score(block), model.learner.score(block))


@pytest.mark.parametrize(("family", "options"), STORES)
@pytest.mark.parametrize("index", [2**63 - 1, -1, -(2**63)])
def test_beyond(family: str, options: dict[str, Any], index: int) -> None:
    """2^63 - 1 + 1, the number of features, is no number of 64 bits any more."""
    learner = FAMILIES[family](outputs=1, **options)
    with pytest.raises(ValueError, match="a feature index is negative"):
        learner.learn(block_with(index))
    good = block_with(7)  # nothing has become of it
    learner.learn(good)
    assert np.isfinite(learner.score(good)).all()


def test_all_bits_together_are_no_index() -> None:
    """Indices of a row that are possible one by one, while all bits of them together would not be."""
    block = block_with(2**62)
    block.indices[:2] = [2**62 - 1, 2**62]
    for family, options in STORES:
        if options.get("store") in ("table", "hashed"):
            learner = FAMILIES[family](outputs=1, **options)
            learner.learn(block)
            assert np.isfinite(learner.score(block)).all()

"""Settings of `auto` have the bits they have alone, also where features of an example share a row of a hashed store."""

from __future__ import annotations

import numpy as np
import pytest

from riata import _core
from riata.block import Block
from tests.learners.test_portfolio import core, learned


def rows_that_share(examples: int, entries: int, seed: int) -> Block:
    """Of 2^4 rows; values of which some are far above the others."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=examples * entries) * rng.choice(
        [0.1, 1, 30], examples * entries, p=[0.5, 0.4, 0.1]
    )
    return Block(
        np.arange(examples + 1) * entries,
        rng.integers(0, 1000, examples * entries).astype(np.int32),
        values.astype(np.float32),
        labels=(rng.random(examples) < 0.5).astype(np.float64),
    )


def state_of(model: _core.Portfolio, member: int, members: int) -> list[np.ndarray]:
    rows = model.snapshot()["rows"]
    return [rows[:, 2 + member], rows[:, 2 + members + member]]


@pytest.mark.parametrize("members", [2, 5, 8, 11])
@pytest.mark.parametrize("rule", ["bayesian", "adagrad"])
@pytest.mark.parametrize("entries", [31, 32, 70, 300])
def test_settings_do_not_depend_on_those_beside_them(rule: str, members: int, entries: int) -> None:
    settings = [
        (rule, "raw" if rule == "bayesian" else "unit", 1e-6 * 30.0**k) for k in range(members)
    ]
    given = rows_that_share(40, entries, members)
    options = {"store": "hashed", "bits": 4, "joint": [], "drop": False}
    together = core(settings, **options)
    learned(together, given)
    for k, setting in enumerate(settings):
        alone = core([setting], **options)
        learned(alone, given)
        for one, other in zip(state_of(alone, 0, 1), state_of(together, k, members), strict=True):
            np.testing.assert_array_equal(one, other)

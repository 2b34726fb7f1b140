"""What is pruned is worse, and what is left has the bits it has without pruning."""

from __future__ import annotations

import numpy as np

from riata.sweeping.pruning import ALPHA, Pruning
from tests.streams import ListSource, problem
from tests.sweeping.run import sweep_source


def test_equals_are_never_pruned_and_worse_ones_are() -> None:
    """A hundred streams, with a look after each of 200 parts: the chance of a single slip is below 1 %."""
    rng = np.random.default_rng(0)
    slips = found = 0
    for _ in range(100):
        test = Pruning(3)
        lost: set[int] = set()
        for _ in range(200):
            losses = rng.exponential(0.3, size=(3, 50))
            losses[2] += rng.exponential(0.1, size=50)
            test.add(losses)
            lost |= set(test.lost(np.ones(3, dtype=bool)).tolist())
        slips += bool(lost & {0, 1})
        found += 2 in lost
    assert slips <= max(1, 100 * ALPHA)
    assert found == 100


def test_drift_that_favours_one_and_then_the_other_prunes_the_loser_alone() -> None:
    test = Pruning(2)
    test.add(np.vstack([np.full(2000, 0.2), np.full(2000, 0.4)]))
    assert test.lost(np.ones(2, dtype=bool)).tolist() == [1]


def test_losses_that_overflow_count_as_the_bound() -> None:
    test = Pruning(2)
    test.add(np.vstack([np.full(100, 0.1), np.full(100, np.nan)]))
    test.add(np.vstack([np.full(100, 0.1), np.full(100, 1e300)]))
    assert test.lost(np.ones(2, dtype=bool)).tolist() == [1]


def test_a_sweep_that_prunes_leaves_the_others_as_they_were() -> None:
    block = problem(6000)
    grid = {"l1": [1e-5, 1e-3], "eta0": [0.1, 0.3, 60.0]}
    pruned = sweep_source(ListSource(block, 500), grid, prune=True)
    whole = sweep_source(ListSource(block, 500), grid)
    ended = [i for i, r in enumerate(pruned.records) if r["status"]]
    assert ended
    assert all(pruned.records[i]["status"].startswith("pruned after") for i in ended)
    assert {2, 5} <= {*ended} or {4, 5} <= {*ended}  # those of eta0 = 60
    for i in ended:
        low = whole.records[i]["low"]
        assert low is not None
        assert low > 0
    assert pruned.best_index_ == whole.best_index_
    for i in range(len(pruned.records)):
        if i not in ended:
            a, b = pruned.model(i).learner.state(), whole.model(i).learner.state()
            for name in a:
                np.testing.assert_array_equal(a[name], b[name])


def test_regression_prunes_by_the_spread_of_its_labels() -> None:
    block = problem(6000, classes=0)
    grid = {"loss": "squared", "eta0": [1e-6, 0.01]}
    found = sweep_source(ListSource(block, 500), grid, prune=True)
    assert found.best_params_["eta0"] == 0.01
    assert found.records[0]["status"].startswith("pruned")

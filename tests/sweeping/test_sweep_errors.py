"""Sweeps that are refused, that diverge, or that are stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import riata
from riata.errors import DataError, OutOfMemory, SettingsError
from riata.sweeping import partial_sweep, settings_of
from tests.streams import ListSource, problem
from tests.sweeping.run import sweep_source
from tests.sweeping.test_sweep import alone, same_state


@pytest.mark.parametrize(
    ("grid", "method", "says"),
    [
        ([], "elastic-net", "empty"),
        ({"l1": []}, "elastic-net", "grid of l1 is empty"),
        ({"lr": [1]}, "elastic-net", "no parameter 'lr'"),
        ({"eta": [1]}, "elastic-net", "did you mean eta0"),
        ({"gravity": [1]}, "ftrl", "parameter of truncated"),
        ({"l1": [-1]}, "elastic-net", "must be at least 0"),
        ({"l1": ["a"]}, "elastic-net", "not a number"),
        (
            {"l1": np.linspace(0, 1, 1000), "l2": np.linspace(0, 1, 1000)},
            "elastic-net",
            "1,000,000 settings",
        ),
        ({"l1": [1]}, "elastic", "not one of the methods"),
        ({"gamma": [1.0]}, "sketch", "SketchClassifierCV"),
    ],
)
def test_grids_that_make_no_sense(grid: Any, method: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        settings_of(grid, method)


def test_an_empty_grid_is_no_sweep_of_one_method() -> None:
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(SettingsError, match="the grid is empty"):
        riata.sweep(X, {}, y=y)
    assert len(riata.sweep(X, {}, ["elastic-net", "ftrl"], y=y).records) == 2


def test_tasks_do_not_mix() -> None:
    with pytest.raises(SettingsError, match="cannot be compared"):
        sweep_source(ListSource(problem()), {"loss": ["squared", "logistic"]})


def test_more_folds_than_examples() -> None:
    with pytest.raises(SettingsError, match="20 folds of 10 examples"):
        sweep_source(ListSource(problem(10)), {"l1": [0, 1e-3]}, folds=20)
    source = ListSource(problem(30))
    source.n_rows = None
    with pytest.raises(DataError, match="folds have no example") as error:
        sweep_source(source, {"l1": [0, 1e-3]}, folds=25)
    found = partial_sweep(error.value)  # what was learned is not lost
    assert found is not None
    assert found.model().learner.t == 30
    with pytest.raises(SettingsError, match="at least 2"):
        sweep_source(ListSource(problem(10)), {"l1": [0]}, folds=1)


def test_a_group_that_is_not_there(tmp_path: Any) -> None:
    path = tmp_path / "a.csv"
    path.write_text("label,price\n" + "".join(f"{i % 2},{i % 7}\n" for i in range(100)))
    with pytest.raises(DataError, match="group column 'user'; it has .*price"):
        riata.sweep(path, {"l1": [0, 1e-3]}, folds=3, group="user")
    with pytest.raises(SettingsError, match="features have numbers"):
        sweep_source(ListSource(problem()), {"l1": [0]}, folds=3, group="user")
    with pytest.raises(SettingsError, match="number of folds"):
        sweep_source(ListSource(problem()), {"l1": [0]}, group="user")


def test_constant_labels_are_an_error() -> None:
    block = problem(50)
    same = block.with_labels(np.full(50, 7.0), None)
    with pytest.raises(DataError, match="at least two"):
        sweep_source(ListSource(same), {"l1": [0, 1e-3]}, folds=3)


def test_a_setting_that_diverges_is_told_and_costs_the_others_nothing() -> None:
    block = problem(300, classes=0)
    grid = {"loss": "squared", "learning_rate": "constant", "eta0": [1e-3, 1e3]}
    found = sweep_source(ListSource(block), grid, folds=3)
    assert found.records[1]["status"].startswith("diverged")
    assert found.best_index_ == 0
    single = alone(ListSource(block), "elastic-net", found.records[0]["parameters"])
    same_state(found.model(0).learner, single.learner)
    with pytest.raises(SettingsError, match="has no model: diverged"):
        found.model(1)
    with pytest.raises(riata.DivergenceError, match="all 1 settings"):
        sweep_source(ListSource(block), grid | {"eta0": [1e3]})


def test_what_was_found_before_an_error_is_there() -> None:
    source = ListSource(problem(400), 50, fail_at=(0, 210), error=DataError("x.svm:211: broken"))
    with pytest.raises(DataError, match="broken") as caught:
        sweep_source(source, {"l1": [0.0, 1e-3]}, folds=3)
    found = partial_sweep(caught.value)
    assert found is not None
    assert found.interrupted
    assert found.examples == 200
    assert found.model().learner.t == 200


def test_ctrl_c_gives_what_was_found() -> None:
    source = ListSource(problem(400), 50, fail_at=(0, 210), error=KeyboardInterrupt())
    found = sweep_source(source, {"l1": [0.0, 1e-3]})
    assert found.interrupted
    assert found.examples == 200


def test_memory_that_would_not_do() -> None:
    with pytest.raises(OutOfMemory, match="fewer settings or folds"):
        sweep_source(
            ListSource(problem()), {"l1": np.linspace(0, 1, 5000)}, folds=10, max_memory="100M"
        )

"""Labels that are sorted, or whose shares change along the data, are noticed."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata.metrics_running import LabelDrift
from riata.training import train
from tests.cli.helpers import riata as command
from tests.labelled import make
from tests.streams import ListSource, problem


def ordered(labels: Any, n_features: int = 40) -> Any:
    return problem(len(labels)).with_labels(np.asarray(labels, dtype=float), None)


def bursts(n: int, mean: float, share: float = 0.3, seed: int = 0) -> Any:
    """Labels in runs of a random length, about as long as this on average for the rarer class."""
    rng = np.random.default_rng(seed)
    labels: list[float] = []
    while len(labels) < n:
        labels += [1.0] * int(rng.geometric(1 / mean))
        labels += [0.0] * int(rng.geometric(share / (mean * (1 - share))))
    return labels[:n]


@pytest.mark.parametrize(
    "labels",
    [
        np.repeat([0, 1], [700, 300]),
        np.repeat([1, 0], [5000, 150]),  # the rare ones at the end
        np.repeat(np.arange(20), 100),
        np.repeat([0, 1] * 3, 800),
    ],
)
@pytest.mark.parametrize("rows", [64, 100_000])
def test_sorted_labels_are_noticed(labels: Any, rows: int) -> None:
    with pytest.warns(UserWarning, match="the labels come sorted: .*--shuffle"):
        train(ListSource(ordered(labels), rows), make, classes=sorted(set(labels.tolist())))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(
            ListSource(ordered(labels), rows),
            make,
            classes=sorted(set(labels.tolist())),
            shuffle=len(labels),
        )


@pytest.mark.parametrize(
    "labels",
    [
        np.random.default_rng(0).integers(0, 2, 3000),
        np.random.default_rng(1).integers(0, 20, 3000),
        np.random.default_rng(2).random(20_000) < 0.005,
        bursts(5000, 5),
        bursts(20_000, 30),
        bursts(20_000, 10, share=0.02),
        np.repeat([0, 1], 20),  # too few to tell
        [0] * 5000,
    ],
)
@pytest.mark.parametrize("rows", [64, 100_000])
def test_ordinary_streams_are_not_complained_of(labels: Any, rows: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(ListSource(ordered(labels), rows), make, classes=range(max(2, int(max(labels)) + 1)))


@pytest.mark.parametrize("rows", [1, 64, 100_000])
def test_one_class_at_the_end_is_noticed(rows: int) -> None:
    mixed = np.random.default_rng(0).integers(0, 3, 2000)
    message = r"the last 4\d\d of 2,400 examples are all of class 1; of those before, 3\d(\.\d)? % were.*--shuffle"
    with pytest.warns(UserWarning, match=message):
        train(ListSource(ordered([*mixed, *[1] * 400]), rows), make, classes=range(3))
    frequent = np.random.default_rng(0).random(2000) < 0.99
    for labels in ([*mixed, *[1] * 100], [*frequent, *[1] * 400]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            train(ListSource(ordered(labels), rows), make, classes=range(3))


@pytest.mark.parametrize("rows", [1, 64, 100_000])
def test_a_share_that_changes_along_the_data_is_noticed(rows: int) -> None:
    random = np.random.default_rng(3)
    later = [0] * 3000 + list(random.integers(0, 2, 3000))
    slowly = random.random(4096) < np.linspace(0.2, 0.8, 4096)
    ending = [*random.integers(0, 3, 2000), *[1] * 400, 0]
    for labels, shares in (
        (later, r"100 .*class 0, .*last \d\d(\.\d)? %"),
        (slowly, ""),
        (ending, "class 1"),
    ):
        with pytest.warns(UserWarning, match=f"of the first quarter.*{shares}.*--shuffle") as said:
            train(ListSource(ordered(labels), rows), make, classes=range(3))
        assert len(said) == 1
    drift = LabelDrift()
    for part in np.array_split(slowly.astype(float), max(1, len(slowly) // rows)):
        drift.add(part)
    quarter = len(slowly) // 4
    assert drift.widest[1:] == (1 - slowly[:quarter].mean(), 1 - slowly[-quarter:].mean())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slightly = random.random(4096) < np.linspace(0.45, 0.6, 4096)
        train(ListSource(ordered(slightly), rows), make, classes=range(2))


def test_the_order_does_not_matter_to_all(tmp_path: Path) -> None:
    data = tmp_path / "d.svm"
    data.write_text("".join(f"{i // 500} {1 + i % 9}:1\n" for i in range(1000)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        command("train", data, "-o", tmp_path / "m", "--method", "sketch")
    with pytest.warns(UserWarning, match=r"d\.svm: the labels come sorted: once in"):
        command("train", data, "-o", tmp_path / "m")

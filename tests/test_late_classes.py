"""Classes that come late join the model, or are refused where they cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riata
from riata import model_file
from riata.errors import DataError
from riata.learners import FAMILIES
from riata.training import partial_model, train
from tests.cli.helpers import riata as command
from tests.labelled import bits, make, quietly
from tests.streams import ListSource, problem


def late(n: int = 1500, first: int = 1200, seed: int = 0) -> Any:
    """Rows of classes 1 and 2, and from row `first` on also of 7."""
    block = problem(n, seed=seed)
    rng = np.random.default_rng(seed)
    labels = rng.choice([1.0, 2.0], n)
    labels[first::5] = 7.0
    return block.with_labels(labels, None)


def test_a_class_that_comes_late_joins() -> None:
    block = late()
    with pytest.warns(UserWarning, match=r":1201: label 7 is new, and joins the classes 1, 2"):
        model = train(ListSource(block, 100), make)
    assert model.classes is not None
    assert model.classes.tolist() == [1, 2, 7]
    assert model.learner.outputs == 3
    # By definition: the pair, widened before the example that brings the class.
    pair = make(1)
    codes = np.searchsorted([1.0, 2.0, 7.0], block.labels).astype(float)
    whole = block.with_labels(codes, None)
    pair.learn(whole[:1200])
    three = pair.with_outputs(3)
    before = pair.score(whole)
    assert np.array_equal(three.score(whole)[:, :2], np.hstack([-before, before]))
    three.learn(whole[1200:])
    assert bits(model) == {name: array.tobytes() for name, array in three.state().items()}


@pytest.mark.parametrize("rows", [1, 7, 1201, 5000])
@pytest.mark.parametrize("options", [{}, {"shuffle": 400}, {"holdout": 0.2}, {"passes": 2}])
def test_where_blocks_begin_does_not_matter(rows: int, options: Any) -> None:
    block = late()
    whole = quietly(ListSource(block, 64), make, **options)
    cut = quietly(ListSource(block, rows), make, on_progress=lambda _: None, **options)
    assert bits(cut) == bits(whole)
    assert cut.labels == whole.labels


@pytest.mark.parametrize("family", ["truncated", "ftrl", "bayesian", "interior"])
def test_other_families_take_classes_later_too(family: str) -> None:
    models = [
        quietly(ListSource(late(), rows), lambda m: FAMILIES[family](outputs=m))  # type: ignore[call-arg]
        for rows in (64, 1203)
    ]
    assert models[0].labels == [1, 2, 7]
    assert bits(models[0]) == bits(models[1])


@pytest.mark.parametrize("options", [{}, {"shuffle": 400}, {"class_weight": {7: 3.0, 1: 2.0}}])
@pytest.mark.parametrize("stop", [1100, 1200, 1210, 1400])
def test_stopped_before_or_after_the_class_joins(options: Any, stop: int) -> None:
    block = late()
    whole = quietly(ListSource(block, 50), make, passes=2, **options)
    with pytest.raises(RuntimeError) as stopped:
        quietly(
            ListSource(block, 50, fail_at=(0, stop), error=RuntimeError()),
            make,
            passes=2,
            **options,
        )
    before = partial_model(stopped.value)
    assert before is not None
    again = quietly(ListSource(block, 70), make, resume=before)
    assert bits(again) == bits(whole)
    assert again.record.loss == whole.record.loss
    assert again.labels == whole.labels


def test_classes_that_were_named_are_all_there_are() -> None:
    with pytest.raises(DataError, match="label 7 is none of the classes 1, 2"):
        train(ListSource(late(), 50), make, classes=[1, 2])


def test_a_family_that_cannot_take_more_classes(tmp_path: Path) -> None:
    path = tmp_path / "d.svm"
    # Blocks of text have more rows than are looked at, and a family that cannot grow takes all of them.
    path.write_text("".join(f"{1 + i % 2} {1 + i % 9}:1\n" for i in range(200_000)) + "7 3:1\n")
    words = ("train", path, "-o", tmp_path / "m", "--method", "sketch")
    said = command(*words, code=1).err
    assert "d.svm:200001: label 7 is new, after 1, 2" in said
    assert "'sketch' cannot take more classes later" in said
    assert "--classes scan" in said
    command(*words, "--classes", "scan")
    assert model_file.load(tmp_path / "m").labels == [1, 2, 7]


def test_a_class_joins_on_the_command_line_and_in_a_later_run(tmp_path: Path) -> None:
    data, path = tmp_path / "d.svm", tmp_path / "m"
    data.write_text("".join(f"{1 + i % 2} {1 + i % 9}:1\n" for i in range(1500)) + "7 3:1\n")
    with pytest.warns(
        UserWarning, match=r"d\.svm:1501: label 7 is new, and joins the classes 1, 2"
    ):
        command("train", data, "-o", path)
    assert model_file.load(path).labels == [1, 2, 7]
    (tmp_path / "e.svm").write_text("5 1:1\n1 3:2\n")
    with pytest.warns(UserWarning, match=r"e\.svm:1: label 5 is new"):
        command("train", tmp_path / "e.svm", "-o", path, "--initial", path)
    assert model_file.load(path).labels == [1, 2, 7, 5]
    assert riata.load(path).classes_.tolist() == [1, 2, 7, 5]


def test_partial_fit_after_a_class_joined(tmp_path: Path) -> None:
    data = tmp_path / "d.svm"
    data.write_text("".join(f"{3 + i % 2} {1 + i % 9}:1\n" for i in range(1500)) + "1 3:1\n")
    model = riata.ElasticNetClassifier()
    with pytest.warns(UserWarning, match="joins"):
        model.learn(data)
    assert model.classes_.tolist() == [3, 4, 1]
    x = np.eye(9)[[2] * 50]
    for _ in range(20):
        model.partial_fit(x, [1] * 50)
    assert model.predict(x[:1]).tolist() == [1]


def test_many_numbers_are_asked_about(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    prices = rng.integers(0, 3000, 4000)
    data = tmp_path / "d.svm"
    data.write_text("".join(f"{price} {1 + i % 9}:1\n" for i, price in enumerate(prices)))
    said = command("train", data, "-o", tmp_path / "m", code=1).err
    assert "different numbers among the first 1,000 labels" in said
    assert "--loss squared" in said
    assert "--classes scan" in said
    command("train", data, "-o", tmp_path / "m", "--loss", "squared")
    # Many that come one by one are asked about too; as many as there may be are not.
    rows = [f"{i % 2} 1:1\n" for i in range(2000)] + [f"{i} 1:1\n" for i in range(2, 300)]
    data.write_text("".join(rows))
    said = command("train", data, "-o", tmp_path / "m", code=1).err
    assert "different numbers among the first 2,1" in said
    data.write_text("".join(f"{i % 90} 1:1\n" for i in range(4000)))
    command("train", data, "-o", tmp_path / "m")
    assert len(model_file.load(tmp_path / "m").labels) == 90

"""Data whose labels are not of the model's kind: predicted and explained all the same, but not evaluated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import riata
from riata.cli import run
from tests.frames import write_frame

FILES = ["x.csv", "x.tsv", "x.jsonl", "x.parquet", "x.feather"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    a = rng.normal(0, 1, 60).round(3)
    return pd.DataFrame({"y": (3 * a + 1).round(3), "a": a, "b": rng.choice(["u", "v"], 60)})


@pytest.mark.parametrize("labels", ["word", "mixed", "none"])
@pytest.mark.parametrize("file", FILES)
def test_a_regression_predicts_whatever_the_labels(
    frame: pd.DataFrame,
    file: str,
    labels: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = riata.FTRLRegressor().learn(frame, label="y")
    model.save(tmp_path / "m")
    given = {"word": ["unknown"] * 60, "mixed": ["12.5", "high"] * 30, "none": [None] * 60}
    path = write_frame(frame.assign(y=given[labels]), tmp_path / file)
    expected = model.predict(frame)
    np.testing.assert_array_equal(model.predict(path), expected)
    assert run(["predict", str(tmp_path / "m"), str(path)]) == 0
    assert [float(line) for line in capsys.readouterr().out.split()] == expected.tolist()
    assert run(["explain", str(tmp_path / "m"), str(path), "--to", "jsonl"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 60


@pytest.mark.parametrize("file", FILES)
def test_a_regression_is_not_evaluated_on_words(
    frame: pd.DataFrame, file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    riata.FTRLRegressor().learn(frame, label="y").save(tmp_path / "m")
    path = write_frame(frame.assign(y="unknown"), tmp_path / file)
    assert run(["evaluate", str(tmp_path / "m"), str(path)]) == 1
    said = capsys.readouterr().err
    assert "the label is 'unknown', a word, but the model was trained on numbers" in said


@pytest.mark.parametrize("file", FILES)
def test_classes_of_another_kind(
    frame: pd.DataFrame, file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers, words = (frame.y > 1).astype(int), np.where(frame.y > 1, "yes", "no")
    for labels, others, wrong, known in (
        (numbers, words, words[0], "0, 1"),
        (words, numbers, numbers[0], "no, yes"),
    ):
        model = riata.FTRLClassifier().learn(frame.assign(y=labels), label="y")
        model.save(tmp_path / "m")
        path = write_frame(frame.assign(y=others), tmp_path / file)
        np.testing.assert_array_equal(model.predict_proba(path), model.predict_proba(frame))
        assert run(["evaluate", str(tmp_path / "m"), str(path)]) == 1
        said = capsys.readouterr().err
        assert f"label {wrong} is none of the classes {known}" in said

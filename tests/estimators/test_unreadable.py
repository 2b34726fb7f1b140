"""What is no table and no matrix is refused with what to give instead; what nearly is one is read."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from riata import FTRLClassifier, FTRLRegressor
from riata.errors import DataError

FRAME = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0] * 5, "city": ["Rome", "Oslo"] * 10})
LABELS = pd.Series(["yes", "no"] * 10, name="clicked")
NUMBERED = FRAME.set_axis([0, 1], axis=1)


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (FRAME["city"], "list of texts.*pandas.DataFrame.*riata.TextFeatures"),
        (FRAME["city"].tolist(), "list of texts"),
        (FRAME["city"].to_numpy(), "list of texts"),
        (pl.from_pandas(FRAME).lazy(), r"X\.collect\(\)"),
        (NUMBERED, r"this frame has 0: df\.columns = df\.columns\.map\(str\)"),
    ],
)
def test_what_to_give_instead_is_said(X: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FTRLClassifier().fit(X, LABELS)
    with pytest.raises(ValueError, match=said):
        FTRLClassifier().partial_fit(X, LABELS, classes=["no", "yes"])
    with pytest.raises(ValueError, match=said):
        FTRLRegressor().fit(X, np.arange(20.0))


def test_a_frame_without_rows_is_refused() -> None:
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        FTRLClassifier().fit(FRAME[:0], LABELS[:0])


def test_columns_of_one_name_are_refused() -> None:
    twice = pd.concat([FRAME, FRAME["age"]], axis=1)
    model = FTRLClassifier().fit(FRAME, LABELS)
    for call in (lambda: model.predict(twice), lambda: FTRLClassifier().fit(twice, LABELS)):
        with pytest.raises(DataError, match="several columns are called 'age'"):
            call()


def test_a_label_among_the_features_is_said() -> None:
    with pytest.warns(UserWarning, match="column 'clicked', as y is called"):
        FTRLClassifier().fit(FRAME.assign(clicked=LABELS), LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FTRLClassifier().fit(FRAME, LABELS)


def test_an_option_that_there_is_not_is_named() -> None:
    with pytest.raises(TypeError, match="'categoricals'; did you mean 'categorical'"):
        FTRLClassifier().learn(FRAME.assign(clicked=LABELS), label="clicked", categoricals=["age"])


def test_intervals_and_periods_are_the_names_that_they_are_in_csv(tmp_path: Path) -> None:
    spans = pd.cut(FRAME["age"].where(FRAME["age"] < 50), 2)
    months = pd.period_range("2024-01", periods=20, freq="M")
    frame = FRAME.assign(span=spans, months=months, ends=pd.IntervalIndex(spans))
    frame.assign(clicked=LABELS).to_csv(tmp_path / "x.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FTRLClassifier().learn(frame.assign(clicked=LABELS), label="clicked")
        read = FTRLClassifier().learn(tmp_path / "x.csv", label="clicked")
    assert model.named_coef_ == read.named_coef_
    assert {"span=(30.0, 40.0]", "months=2024-03"} <= {*model.named_coef_}
    assert model.predict(frame).tolist() == model.predict(tmp_path / "x.csv").tolist()
    assert str(frame["months"].dtype) == "period[M]"  # it is left as it was

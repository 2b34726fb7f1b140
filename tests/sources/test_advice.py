"""Columns that are worth little as they are read are said, with what to do, in every form alike."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import riata
from riata.errors import DataError
from riata.sources import open_source

N = 200
COLUMNS: dict[str, tuple[list[Any], str, str]] = {
    "currency": (
        [f"${n},{n:03}.50" for n in range(1, N + 1)],
        "write them as 1001.50",
        "--categorical",
    ),
    "percent": ([f"{-n}.5 %" for n in range(N)], "other signs.*write them as", "--categorical"),
    "unit": ([f"{n} kg" for n in range(N)], "other signs.*write them as 0;", "--categorical"),
    "comma": ([f"{n},5" for n in range(N)], "numbers with a comma", "--decimal ,"),
    "american": (
        [f"3/{n % 28 + 1}/2023" for n in range(N)],
        "dates such as '3/1/2023'",
        "write them as 2024-03-01",
    ),
    "name": ([f"person{n}" for n in range(N)], "another text in nearly each", "--ignore name"),
    "nearly": (
        ["x", "y", "z"] + [f"{n}.5" for n in range(N - 3)],
        "3 of its first 200",
        "--absent 'x,y,z'",
    ),
    "PassengerId": ([7 * n for n in range(N)], "another value in each", "--ignore PassengerId"),
    "Unnamed: 0": (list(range(N)), "another value in each", "--ignore 'Unnamed: 0'"),
    "account": (
        [2**53 - n for n in range(N)],
        "200 different numbers above",
        "--categorical account",
    ),
    "none": ([None] * N, "no value in the first rows", "--ignore none"),
}
FINE: dict[str, list[Any]] = {
    "size": [n + 0.5 for n in range(N)],
    "time": [1.7e9 + 500 * n for n in range(N)],
    "level": ["10+ years", "< 1 year"] * (N // 2),
    "share": ["10%", "20%"] * (N // 2),
    "year": [2000 + n for n in range(N)],
    "user_id": [n % 7 for n in range(N)],
    "day": ["Mon", "Tue"] * (N // 2),
}


def forms(columns: dict[str, list[Any]], folder: Path) -> list[Any]:
    rows = [
        {"label": n % 2, **{name: values[n] for name, values in columns.items()}} for n in range(N)
    ]
    frame = pd.DataFrame(rows)
    frame.to_csv(folder / "x.csv", index=False)
    frame.to_parquet(folder / "x.parquet")
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = [str(folder / f"x.{suffix}") for suffix in ("csv", "parquet", "jsonl")]
    return [*files, frame, pl.DataFrame(rows), rows]


def opened(data: Any, **options: Any) -> Any:
    """A source whose first rows were looked at."""
    if "schema" not in options:
        options |= {"label": "label", "scale": "standard"}
    source = open_source(data, **options)
    next(iter(source))
    return source


@pytest.mark.parametrize("name", COLUMNS)
def test_what_to_do_is_said_in_every_form(tmp_path: Path, name: str) -> None:
    values, what, todo = COLUMNS[name]
    for data in forms({name: values, "a": FINE["size"]}, tmp_path):
        if name == "none" and (isinstance(data, list) or "jsonl" in data):
            continue  # of an object, what comes is what it is
        with pytest.warns(UserWarning, match=f"column '{name}' .*{what}") as said:
            source = opened(data)
        assert len(said) == 1
        assert todo in str(said[0].message)
        with warnings.catch_warnings():  # a model knows it
            warnings.simplefilter("error")
            opened(data, schema=source.schema)
            opened(data, ignore=[name])


def test_usual_columns_are_not_spoken_of(tmp_path: Path) -> None:
    for data in forms(FINE, tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            opened(data)


def test_codes_with_zeros_before_them_are_names_where_that_can_be_told(tmp_path: Path) -> None:
    zips = ["02139", "10001"] * (N // 2)
    csv, *_, frame, _polars, rows = forms({"zip": zips, "a": FINE["size"]}, tmp_path)
    with pytest.warns(UserWarning, match="codes such as '02139'.*--categorical zip"):
        opened(csv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [named] = opened(csv, categorical=["zip"])
        for [block] in [opened(data) for data in (frame, rows)]:
            np.testing.assert_array_equal(block.indices, named.indices)


def test_advice_on_texts_among_numbers_makes_numbers_in_every_form(tmp_path: Path) -> None:
    values = ["n/a" if n % 5 == 0 else f"{n}.5" for n in range(N)]
    found = []
    for data in forms({"x": values, "a": FINE["size"]}, tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found.extend(opened(data, absent=["n/a"], numeric=["x"]))
    for block in found[1:]:
        np.testing.assert_array_equal(block.indices, found[0].indices)
        np.testing.assert_array_equal(block.values, found[0].values)


def test_quotes_in_tab_separated_text_are_said(tmp_path: Path) -> None:
    frame = pd.DataFrame({"label": [0, 1] * 20, "size": ["5'7\"", "tall"] * 20})
    path = tmp_path / "x.tsv"
    frame.to_csv(path, index=False, sep="\t")
    with pytest.warns(UserWarning, match="stand in quotes.*--quote '\"'"):
        opened(path)
    frame.to_csv(tmp_path / "x.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [block], [same] = open_source(path, quote='"'), open_source(tmp_path / "x.csv")
        np.testing.assert_array_equal(block.indices, same.indices)
        path.write_text("label\tsize\n" + '0\t"a"\n1\tsay "b"\n' * 20)
        opened(path)


def test_labels_that_may_mean_that_there_is_none_are_said(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("label,a\n" + "yes,1\nno,2\nNA,3\n" * 10)
    with pytest.warns(UserWarning, match="'NA' is learned as a class.*--on-error skip"):
        riata.FTRLClassifier().learn(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = riata.FTRLClassifier().learn(path, absent=["NA"], on_error="skip")
    assert (model.classes_.tolist(), model.t_) == (["no", "yes"], 20)


def test_the_line_for_spreadsheets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("sep=;\nlabel;a\n0;1\n1;2\n")
    with pytest.raises(DataError, match=r"tail -n \+2"):
        opened(path)


def test_labels_that_differ_in_case_alone_are_said() -> None:
    rows = [{"label": label, "a": n} for n, label in enumerate(["yes", "no", "Yes"] * 10)]
    with pytest.warns(UserWarning, match="labels 'Yes' and 'yes' differ in case alone"):
        riata.FTRLClassifier().learn(rows)

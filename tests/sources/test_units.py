"""A model that reads a column in other units than it was trained on says so, in every form."""

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
from riata import open_source
from riata.schema import Schema
from tests.cli.helpers import riata as command
from tests.cli.helpers import riata_process


def frame(factor: float = 1.0, n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    length = rng.uniform(1, 8, n)
    other = rng.normal(0, 5, n)
    label = (length + rng.normal(size=n) > 4).astype(int)
    return pd.DataFrame({"label": label, "length": length * factor, "other": other})


def forms(rows: pd.DataFrame, folder: Path) -> list[Any]:
    rows.to_csv(folder / "x.csv", index=False)
    rows.to_parquet(folder / "x.parquet")
    dicts = rows.to_dict("records")
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in dicts))
    head = "@relation r\n" + "".join(f"@attribute {name} numeric\n" for name in rows.columns)
    lines = (",".join(map(str, row)) + "\n" for row in rows.itertuples(index=False))
    (folder / "x.arff").write_text(head + "@data\n" + "".join(lines))
    files = [folder / f"x.{suffix}" for suffix in ("csv", "parquet", "jsonl", "arff")]
    return [*files, dicts, rows, pl.from_pandas(rows)]


def trained() -> Schema:
    source = open_source(frame(), label="label", scale="standard")
    list(source)
    assert source.schema is not None
    return source.schema


@pytest.mark.parametrize("factor", [1000.0, 0.001])
def test_other_units_are_said_in_every_form(tmp_path: Path, factor: float) -> None:
    schema = trained()
    for data in forms(frame(factor), tmp_path):
        with pytest.warns(UserWarning, match="'length' lies around .*, and lay around") as said:
            list(open_source(data, schema=schema))
        assert len(said) == 1


def test_the_same_units_are_not(tmp_path: Path) -> None:
    schema = trained()
    moved, few = frame(3.0), frame(1000.0, n=10)
    constant = frame().assign(length=0.0)  # says nothing of a unit
    for rows in (frame(), moved, few, constant):
        for data in forms(rows, tmp_path):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                list(open_source(data, schema=schema))


def test_a_column_that_did_not_vary_says_nothing(tmp_path: Path) -> None:
    source = open_source(frame().assign(length=0.0), label="label", scale="standard")
    list(source)
    for data in forms(frame(1000.0), tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(open_source(data, schema=source.schema))


def test_estimators_and_commands_say_it(tmp_path: Path) -> None:
    first, other = frame(), frame(1000.0)
    model = riata.AutoClassifier().fit(first.drop(columns="label"), first["label"])
    with pytest.warns(UserWarning, match="'length' lies around"):
        model.predict(other.drop(columns="label"))
    first.to_csv(tmp_path / "a.csv", index=False)
    other.to_csv(tmp_path / "b.csv", index=False)
    command("train", tmp_path / "a.csv", "-o", tmp_path / "m.riata", "-q")
    for word in ("predict", "evaluate", "explain"):
        with pytest.warns(UserWarning, match="'length' lies around"):
            command(word, tmp_path / "m.riata", tmp_path / "b.csv")
    done = riata_process("predict", "m.riata", "b.csv", "-o", "p.csv", cwd=tmp_path)
    assert "riata: warning: b.csv: column 'length' lies around" in done.err
    assert "lies around" not in riata_process("predict", "m.riata", "a.csv", cwd=tmp_path).err

"""Lists, nested objects, bools, dates and decimal commas in every form that holds them: the same bits from each."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import riata
from riata.sources import open_source
from tests.sources.every_format import Form, Table

READING: dict[str, Any] = {"label": "label", "date": ["when"], "missing": "feature"}
WITH: dict[str, dict[str, Any]] = {
    "scaled": {"scale": "standard"},
    "as they are": {"scale": "none"},
    "largest": {"scale": "max", "log1p": ["price"]},
}


def rows_of(seed: int, count: int, lists: bool) -> Table:
    rng = np.random.default_rng(seed)
    tags = ["red", "two words", "\u00e9t\u00e9", "a=b"]
    start = datetime.datetime(2024, 1, 1)
    made: Table = []
    for _ in range(count):
        flag = bool(rng.random() < 0.5)
        row: dict[str, Any] = {
            "flag": None if rng.random() < 0.1 else flag,
            "where": {"city": str(rng.choice(["Rome", "Oslo"])), "floor": int(rng.integers(-2, 9))},
            "when": None
            if rng.random() < 0.1
            else start + datetime.timedelta(minutes=int(rng.integers(10**6))),
            "price": None if rng.random() < 0.1 else round(float(rng.normal(10, 20)), 2),
        }
        if lists:
            row["tags"] = [str(tag) for tag in rng.permutation(tags)[: rng.integers(4)]]
        made.append(row | {"label": "yes" if flag != (rng.random() < 0.2) else "no"})
    return made


def as_texts(rows: Table) -> Table:
    return [
        row | {"when": None if row["when"] is None else row["when"].isoformat()} for row in rows
    ]


def as_json(rows: Table) -> str:
    return "".join(json.dumps(row) + "\n" for row in as_texts(rows))


def as_csv(rows: Table, delimiter: str = ",", point: str = ".") -> str:
    """Columns `where.city` and `where.floor`, bools as Python writes them."""

    def cell(value: Any) -> Any:
        return str(value).replace(".", point) if isinstance(value, float) else value

    stream = io.StringIO()
    flat: Table = []
    for row in as_texts(rows):
        flat.append({})
        for key, value in row.items():
            inner = {f"{key}.{k}": v for k, v in value.items()} if key == "where" else {key: value}
            flat[-1] |= inner
    writer = csv.DictWriter(stream, list(flat[0]), lineterminator="\n", delimiter=delimiter)
    writer.writeheader()
    writer.writerows([{k: cell(v) for k, v in row.items()} for row in flat])
    return stream.getvalue()


@dataclass
class Nested(Form):
    lists: bool = True
    """Whether it holds lists."""
    options: dict[str, Any] = field(default_factory=dict)
    """How it is read, beside what all are read with."""


FORMS = {
    "dicts": Nested("", lambda rows: rows),
    "dicts of texts": Nested("", as_texts),
    "generator": Nested("", iter),
    "jsonl": Nested("x.jsonl", as_json),
    "jsonl gz": Nested("x.jsonl.gz", lambda rows: gzip.compress(as_json(rows).encode())),
    "pyarrow": Nested("", pa.Table.from_pylist),
    "parquet": Nested("x.parquet", pa.Table.from_pylist, pq.write_table),
    "feather": Nested("x.feather", pa.Table.from_pylist, pyarrow.feather.write_feather),
    "pandas": Nested("", pd.DataFrame),
    "pandas of arrow": Nested(
        "", lambda rows: pa.Table.from_pylist(rows).to_pandas(types_mapper=pd.ArrowDtype)
    ),
    "polars": Nested("", pl.DataFrame),
    "csv": Nested("x.csv", as_csv, lists=False),
    "tsv": Nested("x.tsv", lambda rows: as_csv(rows, "\t"), lists=False),
    "csv, decimal comma": Nested(
        "x.csv", lambda rows: as_csv(rows, ";", ","), lists=False, options={"decimal": ","}
    ),
    "tsv, decimal comma": Nested(
        "x.tsv", lambda rows: as_csv(rows, "\t", ","), lists=False, options={"decimal": ","}
    ),
}


@pytest.mark.parametrize("options", WITH)
@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_trains_and_predicts_the_same(form: str, lists: bool, options: str, tmp_path: Path) -> None:
    forms = {name: how for name, how in FORMS.items() if how.lists or not lists}
    if form not in forms:
        pytest.skip("a cell of text holds no list")
    learned, asked = rows_of(1, 150, lists), rows_of(2, 40, lists)
    reading = READING | WITH[options]
    first = riata.FTRLClassifier().learn(learned, **reading)
    here = forms[form]
    source = open_source(here.put(learned, tmp_path), **reading, **here.options)
    model = riata.FTRLClassifier().learn(source)
    assert model.named_coef_ == first.named_coef_
    assert model.intercept_ == first.intercept_
    names = set(model.named_coef_)
    assert {"flag", "flag=?", "where.city=Rome", "where.floor", "when^month=3", "price"} <= names
    assert ("tags=two words" in names) == lists
    schema, expected = model.model_.schema, first.predict_proba(asked)
    assert len({tuple(row) for row in expected.tolist()}) > 20
    for name, other in forms.items():
        made = open_source(
            other.put(asked, tmp_path), schema=schema, labelled=False, **other.options
        )
        np.testing.assert_array_equal(model.predict_proba(made), expected, err_msg=name)
    single = [list(model.predict_proba_one(row).values()) for row in asked]
    np.testing.assert_array_equal(np.array(single), expected)

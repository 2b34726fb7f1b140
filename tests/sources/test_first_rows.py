"""What is found out from the first rows is the same in every form, of data with more rows than are looked at."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from riata import open_source
from riata.sources.options import LOOK_AT
from riata.sources.table.layout import LOOK_AT_BUCKETS


def forms(folder: Path, wide: bool) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    n = LOOK_AT_BUCKETS + 500
    frame = pd.DataFrame({"y": rng.integers(0, 2, n)})
    frame["word"] = np.where(np.arange(n) < LOOK_AT, "b", "a")
    frame["x"] = np.sort(rng.normal(size=n)).astype(np.float32).astype(float)
    frame["z"] = np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 9, n) + np.arange(n) / n)
    if wide:  # so that the first rows are many chunks
        frame["long"] = "x" * 900
        frame = frame[: 3 * LOOK_AT]
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    frame.to_csv(folder / "x.csv", index=False)
    frame.to_parquet(folder / "x.parquet")
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    kinds = ["numeric" if pd.api.types.is_numeric_dtype(frame[c]) else "string" for c in frame]
    head = [f"@attribute {c} {kind}" for c, kind in zip(frame, kinds, strict=True)]
    cells = [",".join("?" if v is None else str(v) for v in row.values()) for row in rows]
    lines = ["@relation r", *head, "@data", "% a comment", "", *cells]
    (folder / "x.arff").write_text("\n".join(lines) + "\n")
    made: dict[str, Any] = {"dicts": rows, "pandas": frame, "polars": pl.DataFrame(rows)}
    return made | {end: str(folder / f"x.{end}") for end in ("csv", "parquet", "jsonl", "arff")}


@pytest.mark.parametrize("buckets", [{}, {"x": 3}])
@pytest.mark.parametrize("wide", [False, True])
def test_scales_and_buckets_are_the_same(tmp_path: Path, buckets: Any, wide: bool) -> None:
    found = {}
    for form, data in forms(tmp_path, wide).items():
        source = open_source(data, label="y", scale="standard", buckets=buckets, ignore=["word"])
        next(iter(source))
        assert source.schema is not None
        numbers = [source.schema.by_name[name] for name in ("x", "z")]
        found[form] = [(c.kind, c.edges, c.centre, c.scale) for c in numbers]
    for form, columns in found.items():
        assert columns == found["pandas"], form


def test_labels_are_numbered_alike(tmp_path: Path) -> None:
    for form, data in forms(tmp_path, False).items():
        if form == "arff":  # it declares its labels
            continue
        source = open_source(data, label="word", ignore=["y"], buckets={"x": 3})
        assert sum(map(len, source)) > LOOK_AT_BUCKETS
        assert source.schema is not None
        assert source.schema.label_names == ("b", "a"), form


@pytest.mark.parametrize("values", [range(200), [f"a{n}" for n in range(200)]])
def test_a_column_that_tells_rows_apart_is_said(tmp_path: Path, values: Any) -> None:
    rows = [
        {"y": n % 2, "order_id": value, "user_id": n % 7, "n": n} for n, value in enumerate(values)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "x.csv", index=False)
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data: list[Any] = [rows, pd.DataFrame(rows), pl.DataFrame(rows)]
    data += [str(tmp_path / "x.csv"), str(tmp_path / "x.jsonl")]
    for one in data:
        with pytest.warns(
            UserWarning, match="'order_id' has another value.*--ignore order_id"
        ) as said:
            next(iter(open_source(one, label="y", scale="standard")))
        assert len([w for w in said if "another value" in str(w.message)]) == 1
        for named in ({"ignore": ["order_id"]}, {"categorical": ["order_id"]}):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                source = open_source(one, label="y", scale="standard", **named)
                next(iter(source))
        with warnings.catch_warnings():  # a model knows it
            warnings.simplefilter("error")
            next(iter(open_source(one, schema=source.schema)))

"""Columns of dates: their parts are features, the same in every form; and decimal commas."""

from __future__ import annotations

import datetime as dt
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riata
from riata import DataError, open_source
from riata.cli import run

START = dt.datetime(2023, 11, 28, 5, 30)
MOMENTS = [None if i % 11 == 5 else START + dt.timedelta(hours=37 * i) for i in range(80)]
ROWS = [
    {"label": "yes" if moment and moment.hour > 11 else "no", "size": float(i % 4), "when": moment}
    for i, moment in enumerate(MOMENTS)
]


def names_of(text: str, **options: Any) -> list[str | None]:
    rows = [{"label": 1, "when": text, "a": 1}]
    [block] = open_source(rows, date=["when"], ignore=["a"], **options)
    return [block.name_of(i) for i in range(block.nnz)]


@given(
    st.datetimes(min_value=dt.datetime(1, 1, 1)),
    st.sampled_from(["", "Z", "+02", "-0330", "+05:45"]),
)
@settings(max_examples=200, deadline=None)
def test_parts_are_those_of_the_calendar(moment: dt.datetime, zone: str) -> None:
    expected = [
        f"when^year={moment.year}",
        f"when^month={moment.month}",
        f"when^weekday={('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')[moment.weekday()]}",
        f"when^hour={moment.hour}",
    ]
    iso = moment.isoformat()
    for text in (iso, iso.replace("T", " "), f" {iso} ", moment.isoformat(timespec="minutes")):
        assert names_of(text.rstrip() + zone) == expected
    assert names_of(iso[:10]) == names_of(iso[:10].replace("-", "")) == expected[:3]
    assert names_of(iso[:7]) == expected[:2]


@pytest.mark.parametrize(
    "text",
    ["yesterday", "2024", "2024-13-01", "2023-02-29", "1900-02-29", "2024-03-01T25:00", "2024-03-01T10",
     "2024-03-01T10:61", "01.03.2024", "3/1/2024", "2024-03-01Tx", "2024-03-01T10:00+1", "0000-01-01", "2024-3-1",
     "2024-03-01T10:00:00.", "2024-03-01 10:00 +02:00"],
)  # fmt: skip
def test_what_is_no_date_is_an_error(text: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="column 'when' holds dates, .* but here is"):
        names_of(text)
    (tmp_path / "x.csv").write_text(f'label,when,a\n1,"{text}",2\n')
    with pytest.raises(DataError, match=r"x\.csv:2:\d+: column 'when' holds dates"):
        list(open_source(tmp_path / "x.csv", date=["when"]))
    with pytest.raises(DataError, match="this is no date"):
        list(
            open_source(pd.DataFrame({"label": [1], "when": [text]}), label="label", date=["when"])
        )
    assert names_of(text, absent=[text], missing="feature") == ["when=?"]


@pytest.mark.parametrize("text", ["", "NA", "NaN", "null", "?"])
def test_missing_dates(text: str, tmp_path: Path) -> None:
    assert names_of(text) == []
    assert names_of(text, missing="feature") == ["when=?"]
    (tmp_path / "x.csv").write_text(f"label,when,a\n1,{text},2\n0,2024-01-01,3\n")
    [block] = open_source(tmp_path / "x.csv", date=["when"], ignore=["a"], missing="feature")
    assert block.name_of(0) == "when=?"
    frame = pd.DataFrame({"label": [1], "when": [text]})
    [block] = open_source(frame, label="label", date=["when"], missing="feature")
    assert block.name_of(0) == "when=?"


def forms(folder: Path) -> dict[str, Any]:
    texts = [{**row, "when": row["when"] and row["when"].isoformat()} for row in ROWS]
    frame = pd.DataFrame(ROWS)
    assert frame["when"].dtype.kind == "M"
    frame.to_csv(folder / "x.csv", index=False)
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in texts))
    frame.to_parquet(folder / "x.parquet")
    pd.DataFrame(texts).to_parquet(folder / "texts.parquet")
    nanos = frame.assign(when=frame["when"].astype("datetime64[ns]"))
    pq.write_table(pa.Table.from_pandas(nanos, preserve_index=False), folder / "ns.parquet")
    head = "@relation r\n@attribute label {no,yes}\n@attribute size numeric\n@attribute when string\n@data\n"
    (folder / "x.arff").write_text(
        head + "".join(f"{r['label']},{r['size']},{r['when'] or '?'}\n" for r in texts)
    )
    zoned = frame.assign(when=frame["when"].dt.tz_localize("Asia/Tokyo"))
    return {
        "csv": folder / "x.csv",
        "jsonl": folder / "x.jsonl",
        "parquet": folder / "x.parquet",
        "parquet of texts": folder / "texts.parquet",
        "parquet of nanoseconds": folder / "ns.parquet",
        "arff": folder / "x.arff",
        "pandas": frame,
        "pandas with a zone": zoned,
        "pandas texts": pd.DataFrame(texts),
        "polars": pl.DataFrame(ROWS),
        "arrow": pa.Table.from_pylist(ROWS),
        "dicts": ROWS,
        "dicts of texts": texts,
        "dicts of numpy": [
            {**row, "when": None if row["when"] is None else np.datetime64(row["when"])} for row in ROWS
        ],
        "dicts of pandas": frame.to_dict("records"),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*column 'when' holds dates")
@pytest.mark.parametrize("named", [{"date": ["when"]}, {}])
@pytest.mark.parametrize("options", [{}, {"missing": "feature"}, {"crosses": ["when:size"]}])
def test_every_form_trains_and_predicts_the_same(
    tmp_path: Path, options: dict[str, Any], named: dict[str, Any]
) -> None:
    reading = {"label": "label", "scale": "none", **named, **options}
    data = forms(tmp_path)
    first = riata.FTRLClassifier().learn(data["csv"], **reading)
    assert "when^hour=5" in first.named_coef_
    expected = first.predict_proba(data["csv"])
    assert len({tuple(row) for row in expected.tolist()}) > 20
    for form, what in data.items():
        model = riata.FTRLClassifier().learn(what, **reading)
        assert model.named_coef_ == first.named_coef_, form
        for other, rows in data.items():
            np.testing.assert_array_equal(model.predict_proba(rows), expected, err_msg=other)
        single = [list(model.predict_proba_one(row).values()) for row in ROWS]
        np.testing.assert_array_equal(np.array(single), expected)


def test_days_and_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    days = [START.date() + dt.timedelta(days=i) for i in range(60)]
    rows = [{"label": int(day.weekday() < 5), "day": day} for day in days]
    pd.DataFrame(rows).to_csv(tmp_path / "x.csv", index=False)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    out = str(tmp_path / "m.riata")
    words = ["--date", "day", "--method", "bayesian", "--quiet", "--passes", "3"]
    assert run(["train", str(tmp_path / "x.csv"), "-o", out, *words]) == 0
    for name in ("x.csv", "x.parquet"):
        assert run(["evaluate", out, str(tmp_path / name)]) == 0
        assert "accuracy  100.00 %" in capsys.readouterr().out
    assert run(["inspect", out]) == 0
    assert "date: day" in capsys.readouterr().out
    model = riata.load(out)
    assert model.predict_one({"day": dt.date(2024, 6, 8)}) == 0
    assert model.predict_one({"day": "2024-06-10"}) == 1
    with pytest.raises(ValueError, match="holds dates"):
        model.predict_one({"day": "soon"})
    with pytest.raises(DataError, match="not dates"):
        model.predict(pa.table({"day": [1.0, 2.0]}))


def test_dates_that_nobody_named_are_found_and_said(tmp_path: Path) -> None:
    for form, data in forms(tmp_path).items():
        source = open_source(data, label="label")
        with pytest.warns(UserWarning, match="'when' holds dates, .*--categorical when") as said:
            next(iter(source))
        assert len(said) == 1, form
        assert source.schema is not None
        assert source.schema.by_name["when"].kind == "date", form
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            named = open_source(data, label="label", categorical=["when"])
            next(iter(named))
            next(iter(open_source(data, schema=source.schema)))
        assert named.schema is not None
        assert named.schema.by_name["when"].kind == "category", form


def test_a_frame_with_dates_is_fitted_as_it_is() -> None:
    frame = pd.DataFrame(ROWS)
    with pytest.warns(UserWarning, match="holds dates"):
        model = riata.AutoClassifier().fit(frame.drop(columns="label"), frame["label"])
    assert "when^weekday=fri" in model.named_coef_
    assert model.predict_one(ROWS[0]) == model.predict(frame[:1])[0]


@pytest.mark.parametrize("other", ["2024-02-30", "2024-3-1", "soon", "1"])
def test_texts_that_are_not_all_dates_are_names(tmp_path: Path, other: str) -> None:
    rows = [{"label": i % 2, "when": "2024-03-01" if i % 3 else other} for i in range(12)]
    pd.DataFrame(rows).to_csv(tmp_path / "x.csv", index=False)
    for data in (rows, tmp_path / "x.csv", pd.DataFrame(rows)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = open_source(data, label="label")
            next(iter(source))
        assert source.schema is not None
        assert source.schema.by_name["when"].kind == "category"


@pytest.mark.parametrize(
    "text",
    ["2024-03-01T17:30:05,25", "2024-03-01T10:00+02:00:30", "2024-03-01T10:00z", "2024-03-01"],
)
def test_dates_are_found_only_where_they_can_be_read(tmp_path: Path, text: str) -> None:
    rows = [{"label": i % 2, "when": text} for i in range(12)]
    pd.DataFrame(rows).to_csv(tmp_path / "x.csv", index=False)
    for data in (rows, tmp_path / "x.csv", pd.DataFrame(rows)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert sum(map(len, open_source(data, label="label"))) == 12


def test_what_is_no_date_below_those_that_are_says_what_to_do(tmp_path: Path) -> None:
    days = [f"2024-03-{1 + i % 28:02}" for i in range(1200)]
    (tmp_path / "x.csv").write_text(
        "label,when\n" + "".join(f"{i % 2},{day}\n" for i, day in enumerate(days)) + "1,never\n"
    )
    with (
        pytest.warns(UserWarning, match="holds dates"),
        pytest.raises(
            DataError, match=r"x\.csv:1202:3: .*'never'; if it .*--absent.*--categorical when"
        ),
    ):
        list(open_source(tmp_path / "x.csv"))


COMMAS = "label;size;weight;city;note\n1;3,5;1,5;Rome;a,b\n0;-,5;2;Oslo, N;3,5\n1;1e1;0,5;;x\n0;NA;1;Rome;1.5\n"
POINTS = (
    COMMAS.replace(";", "\t")
    .replace("3,5\t1", "3.5\t1")
    .replace("1,5\tR", "1.5\tR")
    .replace("-,5", "-.5")
)
POINTS = POINTS.replace("0,5", "0.5")


def test_decimal_commas(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(COMMAS)
    (tmp_path / "x.tsv").write_text(POINTS)
    for options in ({}, {"scale": "standard"}, {"missing": "feature"}, {"buckets": {"size": 2}}):
        reading: dict[str, Any] = {"label": "label", "weight": "weight", **options}
        [one] = open_source(tmp_path / "x.csv", decimal=",", **reading)
        [other] = open_source(tmp_path / "x.tsv", **reading)
        names = [[block.name_of(i) for i in range(block.nnz)] for block in (one, other)]
        assert names[0] == names[1]
        assert "note=3,5" in names[0]
        assert one.values.tobytes() == other.values.tobytes()
        assert one.weights is not None
        assert one.weights.tolist() == [1.5, 2, 0.5, 1]


def test_points_are_no_thousands(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("y;a\n" + "1,5;2,5\n" * 1200 + "2,5;1.234,5\n")
    with pytest.raises(
        DataError, match=r"x\.csv:1202:5: column 'a' holds numbers, but here is '1\.234,5'"
    ):
        list(open_source(path, label="y", decimal=","))
    path.write_text("y;a\n" + "1,5;2,5\n" * 1200 + "2,5;1.234\n")
    with pytest.raises(DataError, match=r"'1\.234'"):
        list(open_source(path, label="y", decimal=","))
    path.write_text("y;a\n1,5;2,5\n2,5;1,234,5\n")
    [block] = open_source(path, label="y", decimal=",", numeric=[])
    assert block.name_of(0) == "a=2,5"  # names, as 1,234,5 is no number
    with pytest.raises(ValueError, match="decimal is a point or a comma"):
        open_source(path, decimal=";")
    (tmp_path / "x.jsonl").write_text('{"label": 1}\n')
    with pytest.raises(ValueError, match="decimal is for numbers in CSV"):
        open_source(tmp_path / "x.jsonl", decimal=",")


def test_a_model_of_points_reads_commas(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=50).round(3), "label": rng.normal(size=50).round(2)})
    frame.to_csv(tmp_path / "p.csv", index=False)
    frame.to_csv(tmp_path / "c.csv", index=False, sep=";", decimal=",")
    one, two = str(tmp_path / "1.riata"), str(tmp_path / "2.riata")
    common = ["--loss", "squared", "--method", "elastic-net", "--quiet"]
    assert run(["train", str(tmp_path / "p.csv"), "-o", one, *common]) == 0
    assert run(["train", str(tmp_path / "c.csv"), "-o", two, "--decimal", ",", *common]) == 0
    models = [riata.load(path) for path in (one, two)]
    assert models[0].named_coef_ == models[1].named_coef_
    commas = open_source(tmp_path / "c.csv", decimal=",", schema=models[0].model_.schema)
    np.testing.assert_array_equal(models[0].predict(commas), models[1].predict(tmp_path / "p.csv"))


def test_yes_and_no_are_names_everywhere(tmp_path: Path) -> None:
    rows = [{"label": i % 2, "b": bool(i % 3), "y": "yes" if i % 4 else "no"} for i in range(40)]
    pd.DataFrame(rows).to_csv(tmp_path / "x.csv", index=False)
    model = riata.FTRLClassifier().learn(rows, scale="none")
    assert {"y=yes", "y=no"} <= set(model.named_coef_)
    table = riata.FTRLClassifier().learn(pd.DataFrame(rows), label="label", scale="none")
    assert table.named_coef_ == model.named_coef_
    np.testing.assert_array_equal(
        table.predict_proba(rows), model.predict_proba(pd.DataFrame(rows))
    )

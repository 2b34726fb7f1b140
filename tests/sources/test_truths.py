"""True and false: one rule and one spelling, whatever they come in, as bools or as texts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

import riata
from riata import model_file, open_source
from riata.record import Record
from riata.schema import Schema

ROWS: list[dict[str, Any]] = [
    {"y": n % 3 % 2, "flag": n % 2 == 0, "n": float(n % 5)} for n in range(60)
]
SPELLINGS = {"python": ("False", "True"), "json": ("false", "true"), "sheet": ("FALSE", "TRUE")}


def texts(spelling: str) -> list[dict[str, Any]]:
    words = SPELLINGS[spelling]
    return [row | {"flag": words[row["flag"]]} for row in ROWS]


def csv_of(spelling: str, quoted: bool = False) -> str:
    words = [f'"{word}"' if quoted else word for word in SPELLINGS[spelling]]
    return "y,flag,n\n" + "".join(f"{r['y']},{words[r['flag']]},{r['n']}\n" for r in ROWS)


def arff_of(spelling: str, sparse: bool, first: int, declared: str = "") -> str:
    words = SPELLINGS[spelling]
    kind = declared or f"{{{words[first]},{words[1 - first]}}}"
    head = (
        f"@relation r\n@attribute y numeric\n@attribute flag {kind}\n@attribute n numeric\n@data\n"
    )
    lines = []
    for row in ROWS:
        flag = "" if sparse and row["flag"] == first else f"1 {words[row['flag']]}, "
        dense = f"{row['y']},{words[row['flag']]},{row['n']}"
        lines.append(f"{{0 {row['y']}, {flag}2 {row['n']}}}" if sparse else dense)
    return head + "\n".join(lines) + "\n"


def forms(folder: Path) -> dict[str, Any]:
    """The same data in every form that has bools or texts."""
    made: dict[str, Any] = {}
    kinds = {"bools": ROWS} | {spelling: texts(spelling) for spelling in SPELLINGS}
    for kind, rows in kinds.items():
        frame = pd.DataFrame(rows)
        made |= {
            f"dicts {kind}": rows,
            f"pandas {kind}": frame,
            f"polars {kind}": pl.DataFrame(rows),
        }
        made[f"arrow {kind}"] = pa.Table.from_pylist(rows)
        frame.to_parquet(folder / f"{kind}.parquet")
        pl.DataFrame(rows).write_parquet(folder / f"{kind}-plain.parquet", use_pyarrow=False)
        pyarrow.feather.write_feather(pa.Table.from_pylist(rows), folder / f"{kind}.arrow")
        (folder / f"{kind}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for end in (".parquet", "-plain.parquet", ".arrow", ".jsonl"):
            made[f"{kind}{end}"] = str(folder / f"{kind}{end}")
    for spelling in SPELLINGS:
        for quoted in (False, True):
            path = folder / f"{spelling}{quoted}.csv"
            path.write_text(csv_of(spelling, quoted))
            made[path.name] = str(path)
        for sparse in (False, True):
            for first in (0, 1):
                path = folder / f"{spelling}{sparse}{first}.arff"
                path.write_text(arff_of(spelling, sparse, first))
                made[path.name] = str(path)
        path = folder / f"{spelling}-string.arff"
        path.write_text(arff_of(spelling, False, 0, "string"))
        made[path.name] = str(path)
    return made


def names(source: Any) -> set[str]:
    return {str(block.name_of(k)) for block in source for k in range(block.nnz)}


def rows_of(source: Any) -> list[dict[str, float]]:
    found = []
    for block in source:
        for i in range(len(block)):
            at = range(int(block.indptr[i]), int(block.indptr[i + 1]))
            found.append({str(block.name_of(k)): float(block.values[k]) for k in at})
    return found


def test_bools_are_numbers_in_every_form(tmp_path: Path) -> None:
    data = forms(tmp_path)
    for scale in ("none", "standard"):
        expected = rows_of(open_source(ROWS, label="y", scale=scale))
        assert any("flag" in row for row in expected)
        for form, rows in data.items():
            assert rows_of(open_source(rows, label="y", scale=scale)) == expected, (form, scale)


def test_one_spelling_of_categories_in_every_form(tmp_path: Path) -> None:
    for form, data in forms(tmp_path).items():
        found = names(open_source(data, label="y", categorical=["flag"], scale="none"))
        assert found == {"flag=false", "flag=true", "n"}, form
        crossed = open_source(data, label="y", categorical=["flag", "n"], crosses=["flag:n"])
        assert not [name for name in names(crossed) if "T" in name or "F" in name], form


@pytest.mark.parametrize("categorical", [[], ["flag"]])
@pytest.mark.parametrize(
    "form", ["pythonFalse.csv", "sheetTrue.csv", "json.jsonl", "python.parquet", "pandas bools",
             "polars sheet", "dicts python", "dicts bools", "sheetTrue1.arff"],
)  # fmt: skip
def test_every_form_is_predicted_alike(tmp_path: Path, form: str, categorical: list[str]) -> None:
    data = forms(tmp_path)
    model = riata.FTRLClassifier().learn(data[form], label="y", categorical=categorical)
    expected = model.predict_proba(ROWS)
    assert len({tuple(row) for row in expected.tolist()}) > 5
    model.save(tmp_path / "m.riata")
    for there in (model, riata.load(tmp_path / "m.riata")):
        for other, rows in data.items():
            assert (there.predict_proba(rows) == expected).all(), other
        for events in (ROWS, *map(texts, SPELLINGS)):
            assert [there.predict_proba_one(row)[1] for row in events] == expected[:, 1].tolist()


def test_mixed_with_other_words_and_missing_ones(tmp_path: Path) -> None:
    flags = ["True", "maybe", "FALSE", "true", "NA", "", "False"] * 8
    rows = [{"y": n % 2, "a": flag} for n, flag in enumerate(flags)]
    found = names(open_source(rows, label="y"))
    assert found == {"a=true", "a=false", "a=maybe", "a=NA", "a="}
    assert names(open_source(pd.DataFrame(rows), label="y")) == found
    alone = [{"y": n % 2, "a": flag} for n, flag in enumerate(flags) if flag != "maybe"]
    path = tmp_path / "x.csv"
    path.write_text("y,a\n" + "".join(f"{r['y']},{r['a']}\n" for r in alone))
    expected = rows_of(open_source(str(path), label="y", scale="standard"))
    assert any("a" in row for row in expected)
    for data in (alone, pd.DataFrame(alone), pl.DataFrame(alone)):
        assert rows_of(open_source(data, label="y", scale="standard")) == expected
    lists = [{"y": n % 2, "tags": ["True", "x"]} for n in range(20)]
    assert names(open_source(lists, label="y")) == {"tags=true", "tags=x"}
    assert names(open_source(pl.DataFrame(lists), label="y")) == {"tags=true", "tags=x"}


def test_texts_that_come_later_to_bools_without_a_scale() -> None:
    model = riata.FTRLClassifier().learn(ROWS, label="y", scale="none")
    expected = model.predict_proba(ROWS)
    for spelling in SPELLINGS:
        assert (model.predict_proba(texts(spelling)) == expected).all()
        single = [model.predict_proba_one(row)[1] for row in texts(spelling)]
        assert single == expected[:, 1].tolist()


def test_single_events_have_one_spelling(tmp_path: Path) -> None:
    models = {spelling: riata.FTRLClassifier() for spelling in SPELLINGS}
    for spelling, model in models.items():
        for row in texts(spelling):
            model.learn_one({"flag": row["flag"], "n": row["n"]}, row["y"])
        assert set(model.named_coef_) == {"flag=true", "flag=false", "n"}
        model.save(tmp_path / "m.riata")
        there = riata.load(tmp_path / "m.riata")
        for other in SPELLINGS:
            row = {k: v for k, v in texts(other)[2].items() if k != "y"}
            assert there.predict_proba_one(row) == model.predict_proba_one(row)
            assert (there.predict_proba([row]) == model.predict_proba([row])).all()
            assert model.predict_proba([row])[0, 1] == model.predict_proba_one(row)[1]


def old_json(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != "truths"}


@pytest.mark.parametrize("opened", [False, True])
def test_models_of_before_read_as_they_did(tmp_path: Path, opened: bool) -> None:
    """They have names as texts were written in all but CSV and ARFF."""
    rows = [row | {"kind": ("True", "x")[n % 2]} for n, row in enumerate(texts("python"))]
    data: Any = rows if opened else pd.DataFrame(rows)
    written = rows_of(open_source(data, label="y", categorical=["flag"], scale="none"))
    assert {"flag=true", "kind=true", "kind=x"} < {name for row in written for name in row}
    source = open_source(data, label="y", categorical=["flag"], scale="none")
    next(iter(source))
    assert source.schema is not None
    before = Schema.from_json(old_json(source.schema.to_json()))
    assert not before.truths
    assert source.schema.truths
    other = pl.DataFrame(rows) if not opened else pd.DataFrame(rows).to_dict("records")
    for again in (data, other):
        found = names(open_source(again, schema=before))
        assert found == {"flag=True", "flag=False", "kind=True", "kind=x", "n"}
    frame = pd.DataFrame(rows)
    frame.to_parquet(tmp_path / "x.parquet")
    assert names(open_source(str(tmp_path / "x.parquet"), schema=before)) == found
    model = riata.FTRLClassifier().learn(data, label="y", schema=before)
    assert {"flag=True", "kind=True"} < set(model.named_coef_)
    one = [model.predict_proba_one(row)[1] for row in rows]
    assert one == model.predict_proba(data)[:, 1].tolist()
    model.save(tmp_path / "m.riata")
    assert (riata.load(tmp_path / "m.riata").predict_proba(data) == model.predict_proba(data)).all()


def test_single_events_of_before_read_as_they_did(tmp_path: Path) -> None:
    model = riata.FTRLClassifier()
    for row in texts("python"):  # names as they came then
        model.learn_one({f"flag={row['flag']}": 1.0, "n": row["n"]}, row["y"])
    values = model.model_.record.to_json()
    assert values["schema"]["truths"]
    record = Record.from_json(values | {"schema": None})
    model.model_.record = record
    model_file.save(model.model_, tmp_path / "m.riata")
    there = riata.load(tmp_path / "m.riata")
    for row in texts("python"):
        event = {"flag": row["flag"], "n": row["n"]}
        by_hand = model.predict_proba_one({f"flag={row['flag']}": 1.0, "n": row["n"]})
        assert there.predict_proba_one(event) == by_hand
        assert there.predict_proba([event])[0, 1] == by_hand[1]
    new = replace(record, schema=None)
    assert Record.from_json(new.to_json()).schema == Schema(open=True)


def test_other_words_stay_as_they_are(tmp_path: Path) -> None:
    words = ["Truth", "TRUe", "Tru", "F", "T", "Falsey"]
    path = tmp_path / "x.csv"
    path.write_text("y,a\n" + "".join(f"{n % 2},{word}\n" for n, word in enumerate(words)) * 3)
    expected = {f"a={word}" for word in words}
    assert names(open_source(str(path), label="y")) == expected
    rows = [{"y": n % 2, "a": word} for n, word in enumerate(words)]
    for data in (rows, pd.DataFrame(rows), pl.DataFrame(rows)):
        assert names(open_source(data, label="y")) == expected


def test_labels_keep_their_words() -> None:
    rows = [{"y": ("False", "True")[n % 2], "n": float(n % 2)} for n in range(40)]
    for data in (rows, pd.DataFrame(rows), pl.DataFrame(rows)):
        model = riata.FTRLClassifier().learn(data, label="y")
        assert model.classes_.tolist() == ["False", "True"]
        assert np.mean(model.predict(data) == [row["y"] for row in rows]) == 1

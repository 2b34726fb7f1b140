"""Bools as categories: one spelling, whatever they come in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import riata
from riata import open_source

ROWS = [{"y": n % 3 % 2, "flag": n % 2 == 0, "n": float(n % 5)} for n in range(60)]
SPELLINGS = {"python": ("False", "True"), "json": ("false", "true"), "sheet": ("FALSE", "TRUE")}


def csv_of(spelling: str, quoted: bool = False) -> str:
    words = [f'"{word}"' if quoted else word for word in SPELLINGS[spelling]]
    return "y,flag,n\n" + "".join(f"{r['y']},{words[r['flag']]},{r['n']}\n" for r in ROWS)


def forms(folder: Path) -> dict[str, Any]:
    frame = pd.DataFrame(ROWS)
    made: dict[str, Any] = {"dicts": ROWS, "pandas": frame, "polars": pl.DataFrame(ROWS)}
    made["arrow"] = pl.DataFrame(ROWS).to_arrow()
    frame.to_parquet(folder / "x.parquet")
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    made |= {"parquet": str(folder / "x.parquet"), "jsonl": str(folder / "x.jsonl")}
    for spelling in SPELLINGS:
        for quoted in (False, True):
            path = folder / f"{spelling}{quoted}.csv"
            path.write_text(csv_of(spelling, quoted))
            made[path.stem] = str(path)
    return made


def names(source: Any) -> set[str]:
    return {str(block.name_of(k)) for block in source for k in range(block.nnz)}


def test_one_spelling_in_every_form(tmp_path: Path) -> None:
    for form, data in forms(tmp_path).items():
        found = names(open_source(data, label="y", categorical=["flag"], scale="none"))
        assert found == {"flag=false", "flag=true", "n"}, form
        crossed = open_source(data, label="y", categorical=["flag", "n"], crosses=["flag:n"])
        assert not [name for name in names(crossed) if "T" in name or "F" in name], form


@pytest.mark.parametrize("form", ["pythonFalse", "sheetTrue", "jsonl", "pandas"])
def test_every_form_is_predicted_alike(tmp_path: Path, form: str) -> None:
    data = forms(tmp_path)
    model = riata.FTRLClassifier().learn(data[form], label="y", categorical=["flag"])
    expected = model.predict_proba(ROWS)
    assert len({tuple(row) for row in expected.tolist()}) > 5
    for other, rows in data.items():
        assert (model.predict_proba(rows) == expected).all(), other
    single = [model.predict_proba_one(row)[1] for row in ROWS]
    assert single == expected[:, 1].tolist()


def test_other_words_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("y,a\n" + "1,Truth\n0,TRUe\n1,Tru\n0,F\n1,T\n0,Falsey\n" * 3)
    assert names(open_source(str(path), label="y")) == {
        "a=Truth", "a=TRUe", "a=Tru", "a=F", "a=T", "a=Falsey",
    }  # fmt: skip

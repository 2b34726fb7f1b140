"""A model that was trained on one format is used on every other, without a word about columns."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import riata
from tests.sources.every_format import FORMS, Table, make_table

FORMATS = ["csv", "csv semicolon", "tsv", "jsonl", "arff", "arff sparse", "parquet", "feather"]
TRAINING = [
    *("--label", "label", "--weight", "weight", "--ignore", "offset"),
    *("--categorical", "small,text", "--log1p", "number", "--cross", "text:small"),
    *("--missing", "feature", "--passes", "2", "--classes", "0,1,2,5", "-q"),
]


def plain(seed: int, rows: int) -> Table:
    """What every format can hold without a word about it."""
    table = make_table(seed, rows, tame=True)
    for row in table:
        if row["number"] is None:
            row["number"] = 0.25
        row["small"] = None if row["small"] is None else int(row["small"])
        row["text"] = (row["text"] or "none")[:9].strip()
    return table


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for what, table in (("train", plain(1, 120)), ("test", plain(2, 60))):
        for form in FORMATS:
            folder = tmp_path_factory.mktemp("files")
            made.setdefault(what, {})[form] = FORMS[form].put(table, folder)
    return made


@pytest.mark.parametrize("trained", FORMATS)
def test_predicts_the_same_from_every_other(
    tmp_path: Path, files: dict[str, Any], trained: str
) -> None:
    model = tmp_path / "m"
    riata("train", files["train"][trained], "-o", model, *TRAINING)
    reference = tmp_path / "csv"
    riata("train", files["train"]["csv"], "-o", reference, *TRAINING)
    expected = riata("predict", reference, files["test"]["csv"], "--proba").out
    measured = riata("evaluate", reference, files["test"]["csv"], "--json").out
    assert len(set(expected.splitlines())) > 10
    for other in FORMATS:
        assert riata("predict", model, files["test"][other], "--proba").out == expected, other
        assert riata("evaluate", model, files["test"][other], "--json").out == measured, other


@pytest.mark.parametrize("trained", ["csv", "jsonl", "parquet"])
def test_goes_on_without_repeating_options(
    tmp_path: Path, files: dict[str, Any], trained: str
) -> None:
    path = files["train"][trained]
    riata("train", path, "-o", tmp_path / "once", *TRAINING)
    riata("train", path, "-o", tmp_path / "m", *[w if w != "2" else "1" for w in TRAINING])
    riata("train", path, "-o", tmp_path / "on", "--resume", tmp_path / "m", "--passes", "2", "-q")
    test = files["test"]["csv"]
    assert riata("predict", tmp_path / "on", test, "--score").out == (
        riata("predict", tmp_path / "once", test, "--score").out
    )
    for other in ("csv", "jsonl", "parquet"):
        more = tmp_path / f"more {other}"
        riata(
            *("train", files["test"][other], "-o", more, "-q", "--initial", tmp_path / "once"),
        )
    scores = {
        o: riata("predict", tmp_path / f"more {o}", test, "--score").out for o in FORMATS[::3]
    }
    assert len(set(scores.values())) == 1


def test_what_does_not_fit(tmp_path: Path, files: dict[str, Any]) -> None:
    riata("train", files["train"]["parquet"], "-o", tmp_path / "m", *TRAINING)
    table = plain(3, 20)
    for name, change, message in [
        ("gone", lambda row: {k: v for k, v in row.items() if k != "whole"}, "'whole' is missing"),
        ("new", lambda row: row | {"page": 1}, "page.* was not there before"),
        ("kind", lambda row: row | {"whole": "many"}, "'whole' holds numbers, but here is .*many"),
    ]:
        rows = [change(row) for row in table]
        path = tmp_path / f"{name}.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        lines = tmp_path / f"{name}.jsonl"
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
        for data in (path, lines):
            said = riata("predict", tmp_path / "m", data, code=1).err
            assert re.search(message, said), said

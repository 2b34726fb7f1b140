"""Columns of texts: the same features from every format, found by themselves, remembered by the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import riata
from riata import DataError, open_source
from riata.block import Block, concatenate
from riata.cli import run
from riata.reference import words as reference
from riata.words import Ngrams, TextOptions

BODIES = [
    "Free entry, don't MISS it",
    "see you at 5.30 then",
    "",
    'call "now", free free entry',
    "été: voilà 漢字 l’été",
    "one\ttab and 1,000 words",
]
ROWS = [
    {
        "label": i % 2,
        "size": i + 0.5,
        "body": BODIES[i % 6] + (f" no {i}" if BODIES[i % 6] else ""),
        "hue": "rg"[i % 2],
    }
    for i in range(24)
]


def as_csv(folder: Path) -> Any:
    pd.DataFrame(ROWS).to_csv(folder / "x.csv", index=False)
    return folder / "x.csv"


def as_jsonl(folder: Path) -> Any:
    text = "".join(json.dumps(row, ensure_ascii=i % 2 == 0) + "\n" for i, row in enumerate(ROWS))
    (folder / "x.jsonl").write_text(text)
    return folder / "x.jsonl"


def as_parquet(folder: Path) -> Any:
    pd.DataFrame(ROWS).to_parquet(folder / "x.parquet")
    return folder / "x.parquet"


def as_feather(folder: Path) -> Any:
    pd.DataFrame(ROWS).to_feather(folder / "x.arrow")
    return folder / "x.arrow"


FORMS: dict[str, Callable[[Path], Any]] = {
    "csv": as_csv,
    "jsonl": as_jsonl,
    "parquet": as_parquet,
    "arrow file": as_feather,
    "pandas": lambda folder: pd.DataFrame(ROWS),
    "arrow": lambda folder: pa.Table.from_pylist(ROWS),
    "categories": lambda folder: pd.DataFrame(ROWS).astype({"body": "category"}),
    "dicts": lambda folder: ROWS,
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"ngrams": "words:1,chars:3-4", "text_weight": "count"},
    {"text_norm": True, "text_weight": "presence"},
    {"missing": "feature"},
]


def read(what: Any, **options: Any) -> Block:
    return concatenate(list(open_source(what, label="label", **options)))


def named(block: Block, row: int) -> dict[str, float]:
    start, stop = block.indptr[row : row + 2]
    return {str(block.name_of(k)): float(block.values[k]) for k in range(start, stop)}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_features(
    form: str, options: dict[str, Any], tmp_path: Path
) -> None:
    block = read(FORMS[form](tmp_path), text=["body"], **options)
    bare = read(FORMS[form](tmp_path), text=["body"], names=False, **options)
    assert bare.indices.tobytes() == block.indices.tobytes()
    assert bare.values.tobytes() == block.values.tobytes()
    ngrams = Ngrams.parse(options.get("ngrams", "words:1-2"))
    for i, row in enumerate(ROWS):
        counts = reference.ngrams(str(row["body"]), ngrams)
        values = reference.values(
            counts, options.get("text_weight", "log"), norm=options.get("text_norm", False)
        )
        expected = {"size": row["size"]} | {f"body^{name}": v for name, v in values.items()}
        if not counts and options.get("missing") == "feature":
            expected["body=?"] = 1.0
        expected[f"hue={row['hue']}"] = 1.0
        found = named(block, i)
        assert list(found) == list(expected)
        np.testing.assert_allclose(list(found.values()), list(expected.values()), rtol=1e-6)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "categories"])
def test_texts_are_found_and_said(form: str, tmp_path: Path) -> None:
    rows = [row for row in ROWS if row["body"]]
    what = FORMS[form](tmp_path) if form not in ("dicts", "pandas", "arrow") else None
    made = {"dicts": rows, "pandas": pd.DataFrame(rows), "arrow": pa.Table.from_pylist(rows)}
    with pytest.warns(UserWarning, match="column 'body' holds texts.*--categorical body"):
        block = read(made[form] if what is None else what)
    assert "body^free entry" in named(block, 0)
    other = read(made[form] if what is None else what, categorical=["body"])
    assert not any("^" in name for name in named(other, 0))


def test_columns_of_a_few_words_or_few_values_stay_names(tmp_path: Path) -> None:
    rows = [
        {"label": 0, "city": "Rio de Janeiro in Brazil", "at": f"2026-01-{i:02d} 10:00 UTC"}
        for i in range(1, 30)
    ]
    block = read(rows)
    assert set(named(block, 0)) == {"city=Rio de Janeiro in Brazil", "at=2026-01-01 10:00 UTC"}


@pytest.mark.parametrize("other", FORMS)
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_model_reads_texts_in_every_form_as_it_learned_them(
    form: str, other: str, tmp_path: Path
) -> None:
    source = open_source(
        FORMS[form](tmp_path),
        label="label",
        text=["body"],
        ngrams="words:1,chars:3",
        text_norm=True,
    )
    first = concatenate(list(source))
    schema = source.schema
    table = {"format": "table"} if other in ("pandas", "categories") else {}
    again = concatenate(list(open_source(FORMS[other](tmp_path), schema=schema, **table)))
    assert again.indices.tobytes() == first.indices.tobytes()
    assert again.values.tobytes() == first.values.tobytes()


def test_the_command_line_needs_nothing_but_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [("spam", f"free entry number {i} call now") for i in range(40)]
    rows += [("ham", f"see you at home at {i} my dear") for i in range(40)]
    lines = [
        f"{label}\t{text}"
        for pair in zip(rows[:40], rows[40:], strict=True)
        for label, text in pair
    ]
    path, model = tmp_path / "sms.tsv", tmp_path / "m"
    path.write_text("\n".join(["Label\tSMS", *lines]) + "\n")
    with pytest.warns(UserWarning, match="column 'SMS' holds texts"):
        assert run(["train", str(path), "-o", str(model), "-q"]) == 0
    assert run(["inspect", str(model)]) == 0
    shown = capsys.readouterr().out
    assert "text: SMS" in shown
    assert "SMS^free" in shown
    (tmp_path / "new.jsonl").write_text(
        '{"SMS": "Free entry, call!"}\n{"SMS": "see you, my dear"}\n'
    )
    assert run(["predict", str(model), str(tmp_path / "new.jsonl")]) == 0
    assert capsys.readouterr().out.split() == ["spam", "ham"]
    assert run(["evaluate", str(model), str(path)]) == 0
    assert "accuracy" in capsys.readouterr().out
    assert run(["predict", str(model), str(path), "--ngrams", "words:9"]) == 2
    assert "words:9" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"text": ["body"], "categorical": ["body"]}, "cannot be both categorical and text"),
        ({"text": ["size"], "numeric": ["size"]}, "cannot be both numeric and text"),
        ({"ngrams": "words"}, "ngrams are such as words:1-2"),
        ({"text_weight": "tf"}, "weight is one of"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        open_source(ROWS, label="label", **options)


@pytest.mark.parametrize("form", FORMS)
def test_texts_are_not_crossed(form: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'body' holds texts, which cannot be crossed"):
        read(FORMS[form](tmp_path), text=["body"], crosses=["body:hue"])


def test_names_that_words_could_have_are_refused() -> None:
    rows = [{"label": 1, "body": "a b", "body^a": 2.0}]
    for what in (rows, pd.DataFrame(rows)):
        with pytest.raises(DataError, match=r"'body\^a' has a name like those .* 'body'"):
            read(what, text=["body"])


def test_what_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"label,body\n1,fine text\n0,no \xff text\n")
    with pytest.raises(
        DataError,
        match=r"x.csv:3:3: column 'body' holds texts, but here are bytes that are no UTF-8",
    ):
        read(path, text=["body"])
    skipped = open_source(path, label="label", text=["body"], on_error="skip")
    assert sum(map(len, skipped)) == 1
    for value, shown in ((3, "3"), (True, "true"), ({"a": 1}, "{")):
        (tmp_path / "x.jsonl").write_text(json.dumps({"label": 1, "body": value}) + "\n")
        with pytest.raises(DataError, match=f"column 'body' holds texts, but here is '{shown}"):
            read(tmp_path / "x.jsonl", text=["body"])
    with pytest.raises(DataError, match="column 'size' holds double, not texts"):
        read(pd.DataFrame(ROWS), text=["size"])
    with pytest.raises(DataError, match="text names a column 'bdoy'"):
        read(as_csv(tmp_path), text=["bdoy"])


def test_a_text_of_many_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("label,body\n1,short one\n0," + "many words " * 1_000_000 + "\n")
    block = read(path, text=["body"])
    assert set(named(block, 1)) == {"body^many", "body^words", "body^many words", "body^words many"}


def test_a_saved_model_has_the_options_of_its_texts(tmp_path: Path) -> None:
    model = riata.FTRLClassifier()
    model.learn(open_source(as_csv(tmp_path), label="label", text=["body"], ngrams="chars:3"))
    model.save(tmp_path / "m")
    schema = riata.load(tmp_path / "m").model_.record.schema
    assert schema is not None
    assert schema.by_name["body"].text.ngrams == "chars:3"


def test_one_set_of_defaults() -> None:
    assert riata.ReadOptions().text_options == TextOptions()
    assert riata.TextFeatures().get_params() == TextOptions().to_json()

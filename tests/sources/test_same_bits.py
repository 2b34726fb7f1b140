"""The same data in every format is the same Block, and trains the same bits."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata.learners import FAMILIES
from riata.schema import Schema
from riata.sources import open_source
from riata.training import train
from tests.sources.named import read, rows, write

COLOURS = ("red", "green", "dark blue", "a,b", 'q"q')


def make_table(n: int = 500) -> list[dict[str, Any]]:
    rng = np.random.default_rng(11)
    table = []
    for _ in range(n):
        colour = COLOURS[rng.integers(len(COLOURS))]
        size, count = round(float(rng.normal()), 3), int(rng.integers(0, 4))
        label = int(rng.random() < (0.8 if colour == "red" or size > 1 else 0.2))
        table.append({"size": size, "count": count, "colour": colour, "label": label})
    return table


def as_csv(table: list[dict[str, Any]], **dialect: Any) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(table[0]), lineterminator="\n", **dialect)
    writer.writeheader()
    writer.writerows(table)
    return stream.getvalue()


def as_arff(table: list[dict[str, Any]]) -> str:
    values = ",".join("'" + colour + "'" for colour in COLOURS)
    head = f"@relation t\n@attribute size real\n@attribute count integer\n@attribute colour {{{values}}}\n"
    lines = [f"{r['size']},{r['count']},'{r['colour']}',{r['label']}" for r in table]
    return head + "@attribute label {0,1}\n@data\n" + "\n".join(lines)


def as_sparse_arff(table: list[dict[str, Any]]) -> str:
    head = as_arff(table).split("@data")[0]
    lines = [
        ("{" + f"0 {r['size']}" + (f", 1 {r['count']}" if r["count"] else ""))
        + (f", 2 '{r['colour']}'" if r["colour"] != COLOURS[0] else "")
        + (", 3 1" if r["label"] else "")
        + "}"
        for r in table
    ]
    return head + "@data\n" + "\n".join(lines)


FORMATS: dict[str, tuple[str, Callable[[list[dict[str, Any]]], str]]] = {
    "csv": ("x.csv", as_csv),
    "quoted": ("q.csv", lambda table: as_csv(table, quoting=csv.QUOTE_ALL)),
    "semicolon": ("s.csv", lambda table: as_csv(table, delimiter=";", quoting=csv.QUOTE_ALL)),
    "jsonl": ("x.jsonl", lambda table: "\n".join(json.dumps(row) for row in table)),
    "arff": ("x.arff", as_arff),
    "sparse arff": ("s.arff", as_sparse_arff),
}


TABLES = ("csv", "tsv", "parquet", "coded parquet", "arrow", "feather", "stream", "frame")


def write_table(folder: Path, table: list[dict[str, Any]], form: str) -> Any:
    """The table in a form that has columns, what is None being missing."""
    pa = pytest.importorskip("pyarrow")
    for part in ("feather", "parquet"):
        pytest.importorskip(f"pyarrow.{part}")

    arrow = pa.Table.from_pylist(table)
    if form == "tsv":
        return write(folder, as_csv(table, delimiter="\t", quoting=csv.QUOTE_NONE), "x.tsv")
    if form == "csv":
        return write(folder, as_csv(table), "x.csv")
    if form == "frame":
        return arrow
    path = folder / f"x.{form.split()[-1]}"
    if form.endswith("parquet"):
        coded = form.startswith("coded")
        pa.parquet.write_table(arrow, path, row_group_size=700, use_dictionary=coded)
    elif form == "feather":
        pa.feather.write_feather(arrow, path, chunksize=130)
    else:
        path = folder / "x.arrow"
        new = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
        with new(path, arrow.schema) as file:
            file.write_table(arrow, max_chunksize=170)
    return str(path)


def clicks(n: int = 3000, words: bool = False) -> list[dict[str, Any]]:
    """Numbers with many digits, texts, gaps, and labels that are words."""
    rng = np.random.default_rng(5)
    table = []
    for i in range(n):
        price = None if rng.random() < 0.1 else float(np.float32(np.exp(rng.normal(2, 2))))
        delta = None if rng.random() < 0.1 else int(rng.integers(-900, 900))
        site = None if rng.random() < 0.1 else f"site number {rng.integers(40)}"
        shop = ("a", "NA", "b")[rng.integers(3)]
        bought = int(rng.random() < (0.8 if price and price > 10 else 0.3))
        label = ("no", "yes")[bought] if words else bought
        row = {"price": price, "delta": delta, "rank": i % 7, "site": site, "shop": shop}
        table.append(row | {"label": label})
    return table


OPTIONS: dict[str, dict[str, Any]] = {
    "as they are": {},
    "log1p": {"log1p": ["price", "delta"]},
    "buckets": {"buckets": {"price": 10, "delta": 4}, "missing": "feature"},
    "all": {
        "log1p": ["delta"],
        "buckets": {"price": 5},
        "absent": ["NA", "-7"],
        "categorical": ["rank"],
        "missing": "feature",
    },
    "crossed": {
        "buckets": {"price": 3},
        "log1p": ["delta"],
        "crosses": ["price:site", "delta:shop"],
    },
}


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("how", OPTIONS)
def test_every_table_trains_the_same_bits(tmp_path: Path, form: str, how: str) -> None:
    table = clicks(words=how in ("all", "buckets"))
    options = OPTIONS[how]
    text, other = (write_table(tmp_path, table, which) for which in ("csv", form))
    expected = read(text, **options)
    block = read(other, **options)
    assert rows(block) == rows(expected)
    np.testing.assert_array_equal(block.labels, expected.labels)
    nameless = read(other, **options, names=False)
    np.testing.assert_array_equal(nameless.indices, expected.indices)
    np.testing.assert_array_equal(nameless.values, expected.values)
    assert weights_of(other, **options) == weights_of(text, **options)


@pytest.mark.parametrize("first", ["csv", "parquet"])
def test_what_one_table_found_out_holds_for_others(tmp_path: Path, first: str) -> None:
    """Also for files whose own first rows would say something else."""
    table = clicks(words=True)
    later = [row | {"label": "yes"} for row in table if (row["price"] or 0) > 20]
    source = open_source(write_table(tmp_path, table, first), **OPTIONS["all"])
    list(source)
    schema = source.schema  # type: ignore[attr-defined]
    assert source.label_names == ["no", "yes"]  # type: ignore[attr-defined]
    assert schema == Schema.from_json(json.loads(json.dumps(schema.to_json())))
    blocks = {form: read(write_table(tmp_path, later, form), schema=schema) for form in TABLES}
    for form, block in blocks.items():
        assert rows(block) == rows(blocks["csv"]), form
        assert (block.labels == 1).all(), form


def weights_of(what: Any, **options: Any) -> tuple[Any, ...]:
    model = train(open_source(what, **options), FAMILIES["elastic-net"](l1=1e-3, store="table"))
    keys, values = model.learner.coef()
    return keys.tobytes(), values.tobytes(), model.learner.intercept.tobytes()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("crosses", [(), ("colour:size",)])
def test_every_format_trains_the_same_bits(
    tmp_path: Path, format: str, crosses: tuple[str, ...]
) -> None:
    table = make_table()
    name, make = FORMATS[format]
    path = write(tmp_path, make(table), name)
    assert rows(read(path, crosses=crosses)) == rows(read_dicts(table, crosses))
    assert weights_of(path, crosses=crosses) == weights_of(table, crosses=crosses)


def read_dicts(table: list[dict[str, Any]], crosses: tuple[str, ...]) -> Any:
    [block] = open_source(table, crosses=crosses)
    return block


def test_json_reads_what_columns_were(tmp_path: Path) -> None:
    table = [{k: v for k, v in row.items() if v is not None} for row in clicks(200, words=True)]
    source = open_source(
        write_table(tmp_path, clicks(200, words=True), "csv"), categorical=["rank"]
    )
    [block] = source
    [same] = open_source(table, schema=source.schema)  # type: ignore[attr-defined]
    assert rows(same) == rows(block)
    np.testing.assert_array_equal(same.labels, block.labels)
    logs = open_source(
        write_table(tmp_path, clicks(200, words=True), "csv"), log1p=["price"], buckets={"delta": 3}
    )
    [block] = logs
    [same] = open_source(table, schema=logs.schema)  # type: ignore[attr-defined]
    assert rows(same) == rows(block)


def test_vowpal_wabbit_text_too(tmp_path: Path) -> None:
    """Its names are other ones by nature, so features that can be called the same in both."""
    table = [{"size": r["size"], "count": r["count"], "label": r["label"]} for r in make_table()]
    text = "".join(f"{r['label']} | size:{r['size']} count:{r['count']}\n" for r in table)
    assert weights_of(write(tmp_path, text, "x.vw")) == weights_of(table)


def test_threads_and_names_change_no_bits(tmp_path: Path) -> None:
    path = write(tmp_path, as_csv(make_table(3000)), "x.csv")
    once = weights_of(path, threads=1)
    assert weights_of(path, threads=3) == once
    assert weights_of(path, names=False) == once

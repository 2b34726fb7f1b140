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

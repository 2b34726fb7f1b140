"""One table of random data, all the forms that Riata reads, and what their rows must be."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Table = list[dict[str, Any]]

NUMBERS: list[float | int | None] = [
    *(None, 0, 1, -1, 0.0, -0.0, 7, 0.1, -2.5, 1e-45, -1e-40, 1e-320, 1.1754943508222875e-38),
    *(3.4028234663852886e38, -3.4e38, 0.30000000000000004, 16777217.0, 123456789.12345679),
]
INTEGERS: list[int | None] = [None, 0, 1, -5, 2**24 + 1, 2**53 + 1, 2**60 + 2**36 + 1, -(2**63)]
TEXTS: list[str | None] = [
    *(
        None,
        "x",
        "two words",
        " edges ",
        "a:b",
        "a|b",
        'say "hi"',
        "it's",
        "a,b;c",
        "\u00e9t\u00e9",
    ),
    *("\u4f60\u597d \U0001f600", "a=b", "^", "*", "100%", "%20", "#", "{}", "@data", "back\\slash"),
    *("NA", "nan", "null", "-1", "1e5", "0x1", "true", "a\u00a0b", "y" * 15, "y" * 16, "y" * 3000),
]
LABELS = [0.0, -0.0, 1.0, -3.0, 1e308, 5e-324, 0.1 + 0.2, 2.0**53 - 1, 123456.78901234567]
OFFSETS = [
    0.0,
    0.0,
    1.0,
    -2.5,
    0.1 + 0.2,
    5e-324,
    3.4028234663852886e38,
    -3.4e38,
    1234567.8901234567,
]
WORDS = ["no", "yes", "may be", "f\u00fcnf", 'q"q', "a,b", "it's"]
COLUMNS = [
    "number",
    "two words",
    "whole",
    "text",
    "\u00fcber:a|b",
    "small",
    "weight",
    "offset",
    "label",
]


def make_table(seed: int, rows: int, words: bool = False, tame: bool = False) -> Table:
    """Rows of `COLUMNS`. `tame` has no number that a product or a model could not bear."""
    rng = np.random.default_rng(seed)

    def one_of(choices: list[Any]) -> Any:
        return choices[rng.integers(len(choices))]

    def number() -> Any:
        if tame or rng.random() < 0.5:
            return one_of([None, 0, 1, float(np.float32(rng.normal())), round(rng.normal(), 3)])
        return one_of(NUMBERS)

    return [
        {
            "number": number(),
            "two words": number(),
            "whole": int(rng.integers(-9, 9)) if tame else one_of(INTEGERS),
            "text": one_of(TEXTS),
            "\u00fcber:a|b": one_of(TEXTS[:9]),
            "small": one_of([None, 0.5, 2, 3]),
            "weight": float(rng.integers(0, 9)) / 4 if tame else float(rng.exponential()),
            "offset": float(rng.integers(-9, 9)) / 8 if tame else one_of(OFFSETS),
            "label": one_of(WORDS) if words else one_of([0, 1, 2, 5] if tame else LABELS),
        }
        for _ in range(rows)
    ]


READING: dict[str, Any] = {
    "label": "label",
    "weight": "weight",
    "offset": "offset",
    "numeric": ["number", "two words", "whole", "small"],
    "categorical": ["text", "\u00fcber:a|b"],
}
CROSSES = [
    ["text", "\u00fcber:a|b"],
    ["text", "small"],
    ["small", "text", "\u00fcber:a|b"],
]


def expected(
    table: Table, missing: str = "drop", crosses: Any = ()
) -> list[list[tuple[str, float]]]:
    """The features of each row, as the documentation has them."""
    return [_features(row, missing, crosses) for row in table]


def _features(row: dict[str, Any], missing: str, crosses: Any) -> list[tuple[str, float]]:
    groups: dict[str, list[tuple[str, np.float32]]] = {}
    for column, value in row.items():
        if column in ("label", "weight", "offset"):
            continue
        if value is None:
            made = [(f"{column}=?", np.float32(1))] if missing == "feature" else []
        elif isinstance(value, str):
            made = [(f"{column}={value}", np.float32(1))]
        else:
            made = [(column, to_float32(value))]
        groups[column] = [(name, number) for name, number in made if number != 0]
    features = [feature for group in groups.values() for feature in group]
    for cross in crosses:
        product = [("", np.float32(1))]
        for group in cross:
            product = [
                (f"{a}*{b}" if a else b, x * y) for a, x in product for b, y in groups[group]
            ]
        features += product
    return [(name, float(number)) for name, number in features]


def to_float32(value: float) -> np.float32:
    """The nearest, rounded once, also of integers that no double holds."""
    near = np.float32(value)
    if isinstance(value, int):
        around = [np.nextafter(near, np.float32(sign)) for sign in (-np.inf, np.inf)]
        near = min([near, *around], key=lambda x: abs(int(x) - value))
    return near


def text_labels(table: Table) -> tuple[list[float], list[str] | None]:
    labels = [row["label"] for row in table]
    if not isinstance(labels[0], str):
        return [float(label) for label in labels], None
    words = sorted(set(labels))
    return [float(words.index(label)) for label in labels], words


def as_csv(table: Table, delimiter: str = ",", quoting: Any = csv.QUOTE_MINIMAL) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(
        stream, COLUMNS, lineterminator="\n", delimiter=delimiter, quoting=quoting, quotechar='"'
    )
    writer.writeheader()
    writer.writerows(table)
    return stream.getvalue()


def as_tsv(table: Table) -> str:
    lines = [["" if row[c] is None else str(row[c]) for c in COLUMNS] for row in table]
    return "".join("\t".join(cells) + "\n" for cells in [COLUMNS, *lines])


def as_json(table: Table) -> str:
    return "".join(json.dumps(row, ensure_ascii=i % 2 == 0) + "\n" for i, row in enumerate(table))


def _arff_word(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def as_arff(table: Table, sparse: bool = False) -> str:
    def cell(value: Any) -> str:
        return "?" if value is None else _arff_word(value) if isinstance(value, str) else str(value)

    kinds = dict.fromkeys(COLUMNS, "real") | {"text": "string", "\u00fcber:a|b": "string"}
    words = text_labels(table)[1]
    if words is not None:
        kinds["label"] = "{" + ", ".join(map(_arff_word, words)) + "}"
    lines = ["% random data", "@relation 'all of it'"]
    lines += [f"@attribute {_arff_word(column)} {kind}" for column, kind in kinds.items()]
    lines.append("@DATA")
    for row in table:
        cells = [cell(value) for value in row.values()]
        if sparse:
            cells = [f"{i} {c}" for i, c in enumerate(cells) if c not in ("0", "0.0")]
            cells = [
                entry for entry in cells if words is None or entry != f"8 {_arff_word(words[0])}"
            ]
        lines.append("{" + ", ".join(cells) + "}" if sparse else ",".join(cells))
    return "\n".join(lines) + "\n"


def as_arrow(table: Table) -> Any:
    pa = pytest.importorskip("pyarrow")
    kinds = dict.fromkeys(COLUMNS, pa.float64()) | {"whole": pa.int64(), "text": pa.string()}
    kinds["\u00fcber:a|b"] = pa.dictionary(pa.int32(), pa.string())
    if isinstance(table[0]["label"], str):
        kinds["label"] = pa.string()
    return pa.table({c: pa.array([row[c] for row in table], kind) for c, kind in kinds.items()})


@dataclass
class Form:
    """A way to hold a table: a file of that name, or an object."""

    name: str
    make: Callable[[Table], Any]
    write: Callable[[Any, Path], Any] | None = None

    def put(self, table: Table, folder: Path) -> Any:
        made, path = self.make(table), folder / self.name
        if self.write is not None:
            self.write(made, path)
        elif isinstance(made, (str, bytes)):
            path.write_bytes(made.encode() if isinstance(made, str) else made)
        else:
            return made
        return path


def _parquet(**options: Any) -> Callable[[Any, Path], Any]:
    def write(table: Any, path: Path) -> None:
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(table, path, row_group_size=61, data_page_size=300, **options)

    return write


def _ipc(new: str) -> Callable[[Any, Path], Any]:
    def write(table: Any, path: Path) -> None:
        pa = pytest.importorskip("pyarrow")
        table = table.unify_dictionaries()
        with getattr(pa.ipc, new)(path, table.schema) as file:
            file.write_table(table, max_chunksize=37)

    return write


def _feather(table: Any, path: Path) -> None:
    pytest.importorskip("pyarrow.feather").write_feather(table, path, chunksize=50)


def _pandas(table: Table) -> Any:
    return as_arrow(table).to_pandas(types_mapper=pytest.importorskip("pandas").ArrowDtype)


def _generator(table: Table) -> Iterator[dict[str, Any]]:
    yield from table


def _zstd(text: str) -> bytes:
    return bytes(pytest.importorskip("zstandard").compress(text.encode()))


FORMS = {
    "csv": Form("x.csv", as_csv),
    "csv quoted": Form("x.csv", lambda t: as_csv(t, quoting=csv.QUOTE_ALL)),
    "csv semicolon": Form("x.csv", lambda t: as_csv(t, delimiter=";")),
    "csv gz": Form("x.csv.gz", lambda t: gzip.compress(as_csv(t).encode())),
    "csv zst": Form("x.csv.zst", lambda t: _zstd(as_csv(t))),
    "tsv": Form("x.tsv", as_tsv),
    "tsv xz": Form("x.tsv.xz", lambda t: lzma.compress(as_tsv(t).encode())),
    "jsonl": Form("x.jsonl", as_json),
    "jsonl bz2": Form("x.jsonl.bz2", lambda t: bz2.compress(as_json(t).encode())),
    "arff": Form("x.arff", as_arff),
    "arff sparse": Form("x.arff", lambda t: as_arff(t, sparse=True)),
    "parquet": Form("x.parquet", as_arrow, _parquet(use_dictionary=True)),
    "parquet plain": Form(
        "x.parquet", as_arrow, _parquet(use_dictionary=False, compression="zstd")
    ),
    "arrow": Form("x.arrow", as_arrow, _ipc("new_file")),
    "arrow stream": Form("x.arrows", as_arrow, _ipc("new_stream")),
    "feather": Form("x.feather", as_arrow, _feather),
    "pyarrow": Form("", as_arrow),
    "pandas": Form("", _pandas),
    "polars": Form("", lambda t: pytest.importorskip("polars").from_arrow(as_arrow(t))),
    "dicts": Form("", lambda t: t),
    "generator": Form("", _generator),
}

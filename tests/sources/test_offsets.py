"""The column, or key, of offsets: what may stand there, and what is remembered of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata.block import Block
from riata.errors import DataError
from riata.sources import open_source
from tests.sources.named import drain, read, rows, write

ROLES: dict[str, Any] = {"label": "y", "offset": "o"}
HEAD = "@relation r\n@attribute y numeric\n@attribute a numeric\n@attribute o numeric\n@data\n"
TEXT_FORMATS = ["csv", "tsv", "arff", "jsonl"]
FORMATS = [*TEXT_FORMATS, "parquet", "feather"]


def text_of(format: str, cells: list[tuple[str, ...]], names: str = "yao") -> str:
    """Rows of these cells as text."""
    if format == "jsonl":
        objects = [
            ", ".join(f'"{k}": {v}' for k, v in zip(names, row, strict=True)) for row in cells
        ]
        return "".join("{" + inner + "}\n" for inner in objects)
    sign = "\t" if format == "tsv" else ","
    lines = "".join(sign.join(row) + "\n" for row in cells)
    if format == "arff":
        head = "".join(f"@attribute {name} numeric\n" for name in names)
        return f"@relation r\n{head}@data\n{lines}"
    return sign.join(names) + "\n" + lines


def put(folder: Path, format: str, cells: list[tuple[float, ...]], names: str = "yao") -> str:
    """A file with these columns."""
    if format in TEXT_FORMATS:
        made = [tuple(map(str, row)) for row in cells]
        return write(folder, text_of(format, made, names), f"{names}.{format}")
    pa = pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    table = pa.table(dict(zip(names, zip(*cells, strict=True), strict=True)))
    path = str(folder / f"{names}.{format}")
    if format == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path)
    return path


def offsets(block: Block) -> list[float] | None:
    return None if block.offsets is None else block.offsets.tolist()


GOOD = [(1.0, 2.0, 0.5), (0.0, 3.0, 0.0), (1.0, 4.0, -1e5)]


@pytest.mark.parametrize("format", FORMATS)
def test_is_read_and_is_no_feature(tmp_path: Path, format: str) -> None:
    path = put(tmp_path, format, GOOD)
    for labelled in (True, False):  # it is a part of the prediction
        block = read(path, **ROLES, labelled=labelled)
        assert offsets(block) == [0.5, 0.0, -1e5]
        assert rows(block) == [[("a", 2)], [("a", 3)], [("a", 4)]]
    with pytest.raises((DataError, ValueError), match="'y' cannot be both label and offset"):
        read(path, label="y", offset="y")


@pytest.mark.parametrize("format", FORMATS)
def test_zeros_are_none(tmp_path: Path, format: str) -> None:
    assert offsets(read(put(tmp_path, format, [(1.0, 2.0, 0.0)]), **ROLES)) is None


BAD = {
    "": "the offset, column 'o', is missing",
    "x": "expected a number as the offset, found 'x'",
    "1 2": "expected a number as the offset, found '1 2'",
    "nan": "the offset is 'nan'; offsets must be finite",
    "-inf": "the offset is '-inf'; offsets must be finite",
    "3.5e38": "the offset '3.5e38' is beyond what a 32-bit float holds",
    "-1e999": "the offset '-1e999' is beyond",
}
BAD_JSON = {
    "null": "the offset 'o' is missing; name its key with --offset",
    '"1"': 'expected a number as the offset, found \'"1"',
    "[1]": "expected a number as the offset, found '[1]",
    "NaN": "the offset is 'NaN",
    "3.5e38": "the offset '3.5e38",
    "-1e999": "the offset '-1e999",
    '1, "o": 2': "the offset comes twice; this one is '2",
}
CASES = [(format, *case) for format in TEXT_FORMATS[:3] for case in BAD.items()]
CASES += [("jsonl", *case) for case in BAD_JSON.items()]


@pytest.mark.parametrize(("format", "cell", "message"), CASES)
def test_refuses(tmp_path: Path, format: str, cell: str, message: str) -> None:
    cells = [("1", "2", "0.5"), ("0", "3", cell), ("1", "4", "-3")]
    if format == "arff" and cell == "":
        cells[1] = ("0", "3", "?")
    path = write(tmp_path, text_of(format, cells), f"x.{format}")
    line = {"csv": 3, "tsv": 3, "arff": 7, "jsonl": 2}[format]
    blocks, error = drain(open_source(path, **ROLES))
    assert f"x.{format}:{line}:" in str(error)
    assert message in str(error)
    assert [offsets(block) for block in blocks] == [[0.5]]

    source = open_source(path, **ROLES, on_error="skip", bad_lines=tmp_path / "bad", max_bad=1)
    kept = [drain(source) for _ in range(2)]
    assert all(error is None for _, error in kept)
    assert [o for block in kept[1][0] for o in offsets(block) or ()] == [0.5, -3]
    assert source.skipped == 1  # type: ignore[attr-defined]
    assert message in (tmp_path / "bad").read_text()


def test_absent_texts_are_missing_offsets(tmp_path: Path) -> None:
    path = write(tmp_path, "y,a,o\n1,2,3\n0,1,NA\n", "x.csv")
    with pytest.raises(DataError, match=r"x.csv:3:5: the offset, column 'o', is missing"):
        read(path, **ROLES, absent=["NA"])


def test_dicts() -> None:
    given: list[dict[str, Any]] = [{"y": 1, "a": 2, "o": np.float64(0.5)}, {"y": 0, "o": -1}]
    [block] = open_source(given, **ROLES)
    assert offsets(block) == [0.5, -1]
    with pytest.raises(DataError, match="row 2: the offset 'o' is missing"):
        list(open_source([*given, {"y": 1, "a": 2}], **ROLES))
    with pytest.raises(DataError, match="row 2: the offset 'o' is missing"):
        list(open_source([*given, {"y": 1, "o": float("nan")}], **ROLES))
    with pytest.raises(ValueError, match="'label' cannot be both label and offset"):
        open_source(given, offset="label")


def test_sparse_rows_leave_out_zeros(tmp_path: Path) -> None:
    path = write(tmp_path, HEAD + "{0 1, 1 2, 2 -0.5}\n{0 1, 1 2}\n", "x.arff")
    assert offsets(read(path, **ROLES)) == [-0.5, 0]


def test_the_last_attribute_that_is_free_is_the_label(tmp_path: Path) -> None:
    path = write(tmp_path, HEAD.replace(" y ", " z ") + "1,2,3\n", "x.arff")
    block = read(path, offset="o")
    assert offsets(block) == [3]
    assert block.labels is not None
    assert block.labels.tolist() == [2]


@pytest.mark.parametrize("other", FORMATS)
@pytest.mark.parametrize("format", FORMATS)
def test_is_remembered(tmp_path: Path, format: str, other: str) -> None:
    """By another source that reads as the first one did, whatever the formats."""
    source = open_source(put(tmp_path, format, GOOD), **ROLES)
    list(source)
    schema = json.loads(json.dumps(source.schema.to_json()))  # type: ignore[attr-defined]
    options: dict[str, Any] = {"schema": schema, "label": "y", "labelled": False}
    moved = put(tmp_path, other, [(-7.0, 1.0, 2.0)], "oya")
    block = read(moved, **options)
    assert offsets(block) == [-7]
    assert rows(block) == [[("a", 2)]]

    with pytest.raises(ValueError, match="'o' cannot be both offset and ignored"):
        read(moved, **options, ignore=["o"])
    gone = put(tmp_path, other, [(1.0, 2.0)], "ya")
    with pytest.raises(DataError, match=r"'o'.*(missing|not there)"):
        read(gone, **options)


@pytest.mark.parametrize("other", FORMATS)
@pytest.mark.parametrize("format", ["csv", "parquet", "arff"])
def test_may_be_another_column_later(tmp_path: Path, format: str, other: str) -> None:
    """One that was not there or was ignored; not one with another role."""
    cells = [(1.0, 2.0, 0.5, 7.0)]
    source = open_source(put(tmp_path, format, cells, "yaop"), **ROLES, ignore=["p"])
    list(source)
    options: dict[str, Any] = {"schema": source.schema, "label": "y"}  # type: ignore[attr-defined]
    for column in "pq":
        path = put(tmp_path, other, [(1.0, 2.0, 0.5, 7.0)], f"yao{column}")
        block = read(path, offset=column, **options)
        assert offsets(block) == [7]
        assert rows(block) == [[("a", 2)]]
    without = put(tmp_path, other, [(1.0, 2.0, 7.0)], "yap")
    assert offsets(read(without, offset="p", **options)) == [7]
    if other != "jsonl":
        with pytest.raises(DataError, match="'a' cannot be the offset; it was a feature before"):
            read(without, offset="a", **options)
        with pytest.raises(DataError, match="'r' of the offset is missing"):
            read(without, offset="r", **options)


def test_a_cross_of_it_is_refused(tmp_path: Path) -> None:
    for format in ("csv", "arff", "parquet"):
        with pytest.raises(DataError, match="a cross names 'o', which is no column of features"):
            read(put(tmp_path, format, GOOD), **ROLES, crosses=["o:a"])
    for format in ("csv", "parquet"):
        with pytest.raises(DataError, match="log1p and buckets are for features; 'o' is none"):
            read(put(tmp_path, format, GOOD), **ROLES, log1p=["o"])

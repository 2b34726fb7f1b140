"""Rows of tables that cannot be examples: skipped, counted and kept, or an error behind the rows before."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riata.block import Block, concatenate
from riata.errors import DataError
from riata.sources import Source, open_source

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NAN, INF = float("nan"), float("inf")


def read(source: Source) -> Block:
    return concatenate(list(source))


def rows_before_error(source: Source, message: str) -> int:
    """How many rows come before an error with this message."""
    blocks = iter(source)
    before = 0

    def go_on() -> None:
        nonlocal before
        for block in blocks:
            before += len(block)

    with pytest.raises(DataError, match=message):
        go_on()
    return before


def write(table: Any, path: Path) -> Any:
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=7)
    elif path.suffix == ".arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=5)
    else:
        return table if path.name == "table" else table.to_pandas()
    return path


WRONG: list[tuple[str, Any, Any, str]] = [
    ("y", None, {}, "the label is missing"),
    ("y", NAN, {}, "the label is missing"),
    ("y", INF, {}, "the label is inf"),
    ("w", None, {}, "the weight is missing"),
    ("w", -1.0, {}, "the weight is -1.0"),
    ("w", INF, {}, "the weight is inf"),
    ("o", None, {}, "the offset is missing; offsets must be finite"),
    ("o", NAN, {}, "the offset is missing"),
    ("o", -INF, {}, "the offset is -inf"),
    ("o", -3.5e38, {}, "the offset is -3.5e[+]38; .* at most 3.4e38"),
    ("a", INF, {}, "the value is beyond"),
    ("a", -1e300, {}, "the value is beyond"),
    ("t", "many", {"numeric": ["t"]}, "expected a number, found many"),
]


def table(column: str, wrong: Any, rows: list[int]) -> Any:
    random = np.random.default_rng(0)
    columns: dict[str, list[Any]] = {
        "y": random.integers(0, 2, 20).astype(float).tolist(),
        "w": random.integers(1, 5, 20).astype(float).tolist(),
        "o": random.integers(-4, 5, 20).astype(float).tolist(),
        "a": random.normal(size=20).tolist(),
        "t": [str(i) for i in range(20)],
        "c": ["red", "green"] * 10,
    }
    for row in rows:
        columns[column][row] = wrong
    return pa.table(columns)


@pytest.mark.parametrize("kind", ["x.parquet", "x.arrow", "table", "frame"])
@pytest.mark.parametrize(("column", "wrong", "options", "reason"), WRONG)
def test_skips_and_keeps(
    column: str, wrong: Any, options: Any, reason: str, kind: str, tmp_path: Path
) -> None:
    rows = [0, 6, 7, 19]
    options = {"label": "y", "weight": "w", "offset": "o", **options}
    bad = table(column, wrong, rows)
    good = bad.take([i for i in range(20) if i not in rows])
    what = write(bad, tmp_path / kind)
    kept = tmp_path / "bad.txt"
    source = open_source(what, **options, on_error="skip", bad_lines=kept)
    for _ in range(2):  # a second pass finds the same, and keeps them once
        found, expected = read(source), read(open_source(good, **options))
        assert source.skipped == 4  # type: ignore[attr-defined]
        np.testing.assert_array_equal(found.labels, expected.labels)
        np.testing.assert_array_equal(found.weights, expected.weights)
        np.testing.assert_array_equal(found.offsets, expected.offsets)
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.values, expected.values)
        assert found.names is not None
        assert expected.names is not None
        assert bytes(found.names) == bytes(expected.names)
    lines = kept.read_text().splitlines()
    assert [int(line.split(": row ")[1].split(",")[0]) for line in lines] == rows
    for row, line in zip(rows, lines, strict=True):
        head, text = line.split("\t")
        assert re.search(f"column {column!r}: {reason}", head)
        assert json.loads(text)["c"] == bad.column("c")[row].as_py()


@pytest.mark.parametrize("kind", ["x.parquet", "x.arrow", "table", "frame"])
@pytest.mark.parametrize(("column", "wrong", "options", "reason"), WRONG)
def test_an_error_comes_behind_the_rows_before(
    column: str, wrong: Any, options: Any, reason: str, kind: str, tmp_path: Path
) -> None:
    what = write(table(column, wrong, [9, 12]), tmp_path / kind)
    source = open_source(what, label="y", weight="w", offset="o", **options)
    assert rows_before_error(source, f"row 9, column '{column}': {reason}") == 9


def test_labels_that_are_words(tmp_path: Path) -> None:
    words = ["spam", "ham"] * 600 + ["spma", None, "ham"]
    path = write(pa.table({"label": words, "a": [1.0] * 1203}), tmp_path / "x.parquet")
    source = open_source(path, on_error="skip", bad_lines=tmp_path / "bad")
    assert len(read(source)) == 1202
    assert source.skipped == 1  # type: ignore[attr-defined]
    assert source.label_names == ["ham", "spam", "spma"]  # type: ignore[attr-defined]
    kept = (tmp_path / "bad").read_text()
    assert "row 1201, column 'label': the label is missing" in kept


def test_labels_that_are_no_numbers(tmp_path: Path) -> None:
    words = ["1", "0"] * 600 + ["one", " 1 "]
    path = write(pa.table({"label": words, "a": [1.0] * 1202}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="row 1200, column 'label': expected a number .* found one"):
        read(open_source(path))
    source = open_source(path, on_error="skip")
    assert len(read(source)) == 1201
    assert source.skipped == 1  # type: ignore[attr-defined]


def test_a_sum_that_is_too_large(tmp_path: Path) -> None:
    values = [1.0, 3e38, 2.0]
    path = write(pa.table({"label": [1, 0, 1], "a": values, "b": values}), tmp_path / "x.parquet")
    options: dict[str, Any] = {"crosses": ["a:b"], "max_bad": 1}
    source = open_source(path, on_error="skip", **options)
    assert read(source).labels.tolist() == [1, 1]  # type: ignore[union-attr]
    with pytest.raises(DataError, match="row 1, column 'a': the value adds up, or multiplies"):
        read(open_source(path, crosses=["a:b"]))


def test_a_limit(tmp_path: Path) -> None:
    labels = [1.0, 0.0, NAN, NAN] * 1000
    path = write(pa.table({"label": labels, "a": [1.0] * 4000}), tmp_path / "x.parquet")
    assert len(read(open_source(path, on_error="skip", max_bad=0.5))) == 2000
    with pytest.raises(DataError, match=r"2000 of 4000 lines could not be read"):
        read(open_source(path, on_error="skip", max_bad=1999))
    with pytest.raises(DataError, match=r"could not be read, more than the 40 % allowed"):
        read(open_source(path, on_error="skip", max_bad=0.4))
    source = open_source(path, on_error="skip", max_bad=2)
    assert rows_before_error(source, "row 6, column 'label': the label is missing.*3 of 7") == 4


def test_unlabelled_rows_may_lack_the_label(tmp_path: Path) -> None:
    path = write(pa.table({"label": [None, 1.0], "a": [1.0, 2.0]}), tmp_path / "x.parquet")
    source = open_source(path, labelled=False, on_error="skip")
    assert len(read(source)) == 2
    assert source.skipped == 0  # type: ignore[attr-defined]


def test_threads_change_nothing(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    labels = np.where(random.random(30_000) < 0.1, np.nan, random.integers(0, 2, 30_000))
    columns = {f"a{i}": random.normal(size=30_000) for i in range(9)}
    path = write(pa.table({"label": labels, **columns}), tmp_path / "x.arrow")
    one, two = (read(open_source(path, on_error="skip", threads=t)) for t in (1, 2))
    np.testing.assert_array_equal(one.values, two.values)
    np.testing.assert_array_equal(one.lines, two.lines)
    assert one.lines is not None
    np.testing.assert_array_equal(one.lines, np.flatnonzero(~np.isnan(labels)) + 1)


def test_dicts(tmp_path: Path) -> None:
    bad: list[Any] = [{"a": 1}, {"y": NAN, "a": 1}, {"y": 1, "a": object()}, {"y": 0, "a": 1e39}]
    rows = [{"y": i % 2, "a": i + 1} for i in range(1500)]
    rows[3:3] = bad
    rows.append(bad[0])
    source = open_source(rows, label="y", on_error="skip", bad_lines=tmp_path / "bad")
    for _ in range(2):
        found = read(source)
        assert found.values.tolist() == list(range(1, 1501))
        assert source.skipped == 5  # type: ignore[attr-defined]
    kept = (tmp_path / "bad").read_text().splitlines()
    assert [line.split(":")[1] for line in kept] == ["3", "4", "5", "6", "1504"]
    assert "the label 'y' is missing" in kept[0]
    assert "object is neither number" in kept[2]
    assert rows_before_error(open_source(rows, label="y"), "row 3: the label 'y' is missing") == 3
    assert rows_before_error(open_source(rows[5:], label="y"), "row 0: cannot be read as feat") == 0

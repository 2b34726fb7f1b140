"""Parquet, Arrow and Feather files, and frames and tables that speak Arrow."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from riata import _core
from riata.block import Block, concatenate
from riata.errors import DataError
from riata.sources import open_source
from riata.sources.options import Roles
from riata.sources.table import parquet_pages

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")
pl = pytest.importorskip("polars")

CITIES = ["Rome", "Oslo", "Ürümqi", "", "a b"]


def columns(n: int = 1000) -> dict[str, Any]:
    random = np.random.default_rng(3)
    return {
        "label": random.integers(0, 2, n).tolist(),
        "age": [None if i % 7 == 0 else float(i % 50) for i in range(n)],
        "city": [None if i % 11 == 0 else CITIES[i % 5] for i in range(n)],
        "hour": (np.arange(n) % 24).tolist(),
        "member": [None if i % 13 == 0 else i % 3 == 0 for i in range(n)],
        "words": [None if i % 9 == 0 else [f"w{i % 4}", f"w{i % 3}"][: i % 3] for i in range(n)],
        "importance": random.random(n).tolist(),
    }


def expected(data: dict[str, Any], row: int, missing: bool, categorical: Any) -> dict[str, float]:
    """What a row should become, the slow way."""
    features: dict[str, float] = {}

    def add(name: str, value: float) -> None:
        features[name] = features.get(name, 0) + value

    for column in ("age", "city", "hour", "member", "words"):
        value = data[column][row]
        if value is None:
            if missing:
                add(f"{column}=?", 1)
        elif isinstance(value, list):
            for word in value:
                add(f"{column}={word}", 1)
        elif isinstance(value, str) or column in categorical:
            add(f"{column}={value}", 1)
        elif value != 0:
            add(column, float(value))
    return features


def rows(block: Block) -> list[dict[str, float]]:
    return [
        {
            block.name_of(k) or "": float(block.values[k])
            for k in range(block.indptr[i], block.indptr[i + 1])
        }
        for i in range(len(block))
    ]


def schema() -> Any:
    kinds = [pa.int8(), pa.float32(), pa.string(), pa.int64(), pa.bool_(), pa.list_(pa.string())]
    return pa.schema(list(zip(columns(1), [*kinds, pa.float64()], strict=True)))


def table(n: int = 1000) -> Any:
    return pa.table(columns(n), schema=schema())


@pytest.mark.parametrize("missing", ["drop", "feature"])
@pytest.mark.parametrize("categorical", [(), ("hour",)])
def test_rows_are_what_the_columns_say(missing: str, categorical: Any) -> None:
    source = open_source(
        table(), weight="importance", missing=missing, categorical=categorical, label="label"
    )
    block = concatenate(list(source))
    data = columns()
    assert rows(block) == [
        expected(data, i, missing == "feature", categorical) for i in range(1000)
    ]
    np.testing.assert_array_equal(block.labels, data["label"])
    np.testing.assert_array_equal(block.weights, data["importance"])
    for k in range(block.nnz):
        assert block.indices[k] == _core.key_of_name((block.name_of(k) or "").encode())


def variants(tmp_path: Path) -> dict[str, Any]:
    """The same table in every form."""
    t = table()
    coded = t.set_column(2, "city", t.column("city").dictionary_encode())
    pq.write_table(t, tmp_path / "x.parquet", row_group_size=130)
    pq.write_table(coded, tmp_path / "coded.parquet", row_group_size=300, compression="zstd")
    feather.write_feather(t, tmp_path / "x.feather", chunksize=170)
    with pa.ipc.new_file(tmp_path / "x.arrow", t.schema) as file:
        file.write_table(coded.cast(t.schema), max_chunksize=90)
    with pa.ipc.new_stream(tmp_path / "x.arrows", coded.schema) as file:
        file.write_table(coded, max_chunksize=210)
    (tmp_path / "by-content").write_bytes((tmp_path / "x.parquet").read_bytes())
    return {
        "table": t,
        "sliced": pa.concat_tables([t.slice(0, 333), t.slice(333)]),
        "coded": coded,
        "large": t.set_column(2, "city", t.column("city").cast(pa.large_string())),
        "view": t.set_column(2, "city", pa.array(t.column("city").to_pylist(), pa.string_view())),
        "pandas": pd.DataFrame(columns()).astype({"city": "category"}),
        "pandas texts": pd.DataFrame(columns()),
        "polars": pl.from_arrow(t),
        "polars coded": pl.from_arrow(t).with_columns(pl.col("city").cast(pl.Categorical)),
        "parquet": tmp_path / "x.parquet",
        "coded parquet": tmp_path / "coded.parquet",
        "content": tmp_path / "by-content",
        "feather": tmp_path / "x.feather",
        "arrow": tmp_path / "x.arrow",
        "arrow stream": tmp_path / "x.arrows",
        "reader": pa.RecordBatchReader.from_batches(t.schema, t.to_batches(max_chunksize=77)),
    }


def test_every_form_gives_the_same_rows(tmp_path: Path) -> None:
    options: dict[str, Any] = {"label": "label", "ignore": ["importance"], "missing": "feature"}
    wanted = concatenate(list(open_source(table(), **options)))
    for form, what in variants(tmp_path).items():
        for threads in (1, 2) if form != "reader" else (2,):
            block = concatenate(list(open_source(what, threads=threads, **options)))
            for name in ("indptr", "indices", "values", "labels", "names", "name_offsets"):
                np.testing.assert_array_equal(
                    getattr(block, name), getattr(wanted, name), err_msg=f"{form}: {name}"
                )


def test_sources_tell_what_they_are(tmp_path: Path) -> None:
    forms = variants(tmp_path)
    source = open_source(forms["parquet"])
    assert source.n_bytes == forms["parquet"].stat().st_size
    for _ in range(2):
        blocks = list(source)
        assert source.bytes_read == source.n_bytes
    lines = concatenate(blocks).lines
    assert lines is not None
    assert lines.tolist() == list(range(1, 1001))
    assert open_source(forms["table"]).n_rows == 1000
    assert open_source(forms["pandas"], label="label").name == "pandas DataFrame 1000 x 7"
    once = open_source(forms["reader"])
    assert not once.repeatable
    list(once)
    with pytest.raises(DataError, match="read only once"):
        iter(once)


@pytest.mark.parametrize("limit", [0, 1 << 25])
def test_only_needed_columns_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    pq.write_table(table(), tmp_path / "x.parquet")
    asked: list[Any] = []
    pages: list[str] = []
    monkeypatch.setattr("riata.sources.table.columnar._DECODED_CELLS", limit)

    def spy_on(method: str) -> None:
        read = getattr(pq.ParquetFile, method)

        def spy(self: Any, *args: Any, **how: Any) -> Any:
            asked.append(how["columns"])
            return read(self, *args, **how)

        monkeypatch.setattr(pq.ParquetFile, method, spy)

    spy_on("iter_batches")
    spy_on("read_row_group")
    opened = parquet_pages.ColumnPages.__init__

    def spy_on_pages(self: Any, read: Any, chunk: Any, *args: Any) -> None:
        pages.append(chunk.path_in_schema)
        opened(self, read, chunk, *args)

    monkeypatch.setattr(parquet_pages.ColumnPages, "__init__", spy_on_pages)
    list(open_source(tmp_path / "x.parquet", ignore=["city", "words", "importance", "hour"]))
    assert (asked, pages) == ([["member"]], ["label", "age"])


def test_large_row_groups_come_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(table(), tmp_path / "x.parquet")
    whole = concatenate(list(open_source(tmp_path / "x.parquet")))
    monkeypatch.setattr("riata.sources.table.columnar._DECODED_CELLS", 0)
    monkeypatch.setattr("riata.sources.table.pieces._CELLS", 1)
    blocks = list(open_source(tmp_path / "x.parquet"))
    assert max(map(len, blocks)) == 250
    pieces = concatenate(blocks)
    for name in ("indptr", "indices", "values", "labels", "names", "name_offsets", "lines"):
        np.testing.assert_array_equal(getattr(pieces, name), getattr(whole, name))


def test_structures_flatten() -> None:
    t = pa.table(
        {"label": [1, 0], "user": [{"age": 3, "at": {"city": "x"}}, {"age": 0, "at": None}]}
    )
    [block] = open_source(t)
    assert rows(block) == [{"user.age": 3.0, "user.at.city=x": 1.0}, {}]


def test_texts_read_as_numbers() -> None:
    t = pa.table({"label": [1, 0, 1], "price": ["1.5", " 2 ", ""]})
    [block] = open_source(t, numeric=["price"], missing="feature")
    assert rows(block) == [{"price": 1.5}, {"price": 2.0}, {"price=?": 1.0}]
    with pytest.raises(DataError, match="column 'price'.*abc"):
        list(open_source(pa.table({"label": [1], "price": ["abc"]}), numeric=["price"]))


def test_other_types() -> None:
    import datetime
    import decimal

    t = pa.table(
        {
            "label": [True, False],
            "day": [datetime.date(2024, 1, 2), None],
            "clock": [datetime.time(17, 30), None],
            "paid": [decimal.Decimal("1.25"), None],
            "raw": [b"ab", b"c"],
            "nothing": pa.nulls(2),
            "flag": [True, False],
        }
    )
    [block] = open_source(t, categorical=["day", "clock", "flag"])
    assert rows(block) == [
        {
            "day=2024-01-02": 1.0,
            "clock=17:30:00.000000": 1.0,
            "paid": 1.25,
            "raw=ab": 1.0,
            "flag=true": 1.0,
        },
        {"raw=c": 1.0, "flag=false": 1.0},
    ]
    with pytest.raises(DataError, match="column 'clock' holds time64.*--ignore clock"):
        list(open_source(t))
    with pytest.raises(DataError, match=r"column 'v' holds .*double"):
        list(open_source(pa.table({"label": [1], "v": [[1.5]]})))


def test_crosses_of_columns() -> None:
    t = pa.table({"label": [1], "user": ["u7"], "ad": ["a1"], "n": [2.0]})
    [block] = open_source(t, crosses=["user:ad", ("user", "n")])
    assert rows(block) == [
        {"user=u7": 1.0, "ad=a1": 1.0, "n": 2.0, "user=u7*ad=a1": 1.0, "user=u7*n": 2.0}
    ]
    with pytest.raises(DataError, match="a cross names 'add'"):
        list(open_source(t, crosses=["user:add"]))


def test_lists_with_missing_entries() -> None:
    lists = [["a", None, "b"], [None], None, ["a", "a"]]
    wanted = [{"w=a": 1.0, "w=b": 1.0}, {}, {}, {"w=a": 2.0}]
    for kind in (pa.string(), pa.dictionary(pa.int8(), pa.string())):
        t = pa.table({"label": [1, 0, 1, 0], "w": pa.array(lists, pa.list_(kind))})
        [block] = open_source(t)
        assert rows(block) == wanted
        [block] = open_source(t.slice(1))
        assert rows(block) == wanted[1:]


def test_without_names() -> None:
    t = table(50)
    [with_names], [without] = open_source(t), open_source(t, names=False)
    np.testing.assert_array_equal(with_names.indices, without.indices)
    assert without.names is None


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"y": [1], "a": [1]}, {}, "which column is the label.*'y', 'a'"),
        ({"y": [1], "a": [1]}, {"label": "z"}, "no column 'z' for the label"),
        ({"label": [1], "a": [1]}, {"ignore": ["b"]}, "ignore names a column 'b'"),
        ({"label": [1], "a": [1]}, {"weight": "w"}, "weight names a column 'w'"),
        ({"label": [1], "a": [1]}, {"offset": "o"}, "offset names a column 'o'"),
        ({"label": [1], "a": [1]}, {"offset": "label"}, "'label' cannot be both label and offset"),
        (
            {"label": [1], "a": [1], "o": [[1]]},
            {"offset": "o"},
            "offset column 'o' must hold numbers",
        ),
        ({"label": [1], "a": [1], "o": ["x"]}, {"offset": "o"}, "number as the offset, found x"),
        ({"label": [1]}, {}, "no column is left"),
        ({"label": [1, None], "a": [1, 1]}, {}, "row 1, column 'label': the label is missing"),
        ({"label": [[1]], "a": [1]}, {}, "label column 'label' must hold numbers, not list"),
        ({"label": ["x", None], "a": [1, 1]}, {}, "row 1, column 'label': the label is missing"),
        ({"label": [1], "a": [1], "w": [-1]}, {"weight": "w"}, "weight is -1.0.*not negative"),
        ({"label": [1, 1], "a": [1.0, 1e300]}, {}, "row 1, column 'a': the value is beyond"),
        ({"label": [1], "a": [float("inf")]}, {}, "row 0, column 'a': the value is beyond"),
    ],
)
def test_errors(columns: Any, options: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(open_source(pa.table(columns), **options))


def test_roles_that_contradict() -> None:
    with pytest.raises(ValueError, match="both numeric and categorical"):
        Roles(numeric=["a"], categorical=["a"])
    with pytest.raises(ValueError, match="both label and ignored"):
        Roles(label="a", ignore=["a"])
    with pytest.raises(ValueError, match="both offset and ignored"):
        Roles(offset="a", ignore=["a"])
    with pytest.raises(ValueError, match="'a' cannot be both label and offset"):
        Roles(label="a", offset="a")
    with pytest.raises(ValueError, match="'a' cannot be both weight and offset"):
        Roles(weight="a", offset="a")
    with pytest.raises(ValueError, match="'a' cannot be both label and weight"):
        Roles(label="a", weight="a")
    with pytest.raises(ValueError, match="missing is"):
        Roles(missing="zero")


def test_unlabelled() -> None:
    [block] = open_source(pa.table({"a": [1, 2]}), labelled=False)
    assert block.labels is None
    [block] = open_source(pa.table({"a": [1, 2], "label": [1.0, None]}), labelled=False)
    np.testing.assert_array_equal(block.labels, [1, np.nan])


def test_frames_stay_matrices_unless_a_column_is_named() -> None:
    frame = pd.DataFrame({"a": [1.0, 0.0], "b": [0.0, 2.0]})
    [block] = open_source(frame, y=[1, 0])
    assert block.names is None
    assert block.indices.tolist() == [0, 1]
    [block] = open_source(frame, label="a")
    assert rows(block) == [{}, {"b": 2.0}]
    [block] = open_source(frame, format="table", labelled=False)
    assert rows(block) == [{"a": 1.0}, {"b": 2.0}]
    with pytest.raises(DataError, match="brings its labels along"):
        open_source(frame, y=[1, 0], label="a")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows", ".feather"])
@pytest.mark.parametrize("harm", ["cut", "flip", "text", "empty"])
def test_damaged_files(tmp_path: Path, suffix: str, harm: str) -> None:
    variants(tmp_path)
    path = tmp_path / f"x{suffix}"
    data = bytearray(path.read_bytes())
    if harm == "cut":
        del data[len(data) // 2 :]
    elif harm == "flip":
        for i in range(200):
            data[i] ^= 0x5A
            data[-1 - i] ^= 0x5A
    elif harm == "text":
        data = bytearray(b"1 1:1\n" * 100)
    else:
        data = bytearray()
    path.write_bytes(data)
    with pytest.raises(DataError, match=rf"x\{suffix}"):
        list(open_source(path))


def test_standard_input(tmp_path: Path) -> None:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema()) as file:
        file.write_table(table())
    code = (
        "from riata.sources import open_source;"
        "print(sum(len(b) for b in open_source('-', format='arrow')))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=sink.getvalue(), capture_output=True)
    assert int(done.stdout) == 1000, done.stderr
    with pytest.raises(DataError, match="Parquet cannot be read from standard input"):
        open_source("-", format="parquet")


def test_remote(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    pq.write_table(table(), tmp_path / "x.parquet")
    files = fsspec.filesystem("memory")
    files.pipe("/t/x.parquet", (tmp_path / "x.parquet").read_bytes())
    assert sum(map(len, open_source("memory://t/*.parquet"))) == 1000
    files.rm("/t/x.parquet")


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(table(), tmp_path / "x.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"pip install \"riata\[arrow\]\""):
        open_source(tmp_path / "x.parquet")

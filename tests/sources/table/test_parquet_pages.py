"""Columns of Parquet that the core reads itself: what pyarrow reads of the same files, and nothing of damaged ones."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riata.errors import DataError
from riata.sources import open_source
from riata.sources.table.columnar import ColumnarSource
from riata.sources.table.pieces import part_of

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from riata.sources.table.parquet_pages import batches, paged_columns, reader_of  # noqa: E402

CODECS = ["none", "snappy", "gzip", "zstd", "brotli"]


def columns_of(file: BytesIO, rows: int) -> Any:
    """All columns of a file, those that the core reads and the others."""
    with pq.ParquetFile(file) as table:
        paged = paged_columns(table)
        read = batches(table, reader_of(file, True), "x", table.schema_arrow.names, paged, rows)
        arrays = [batch.decode().to_arrow() if paged else batch for batch in read]
        pieces = [pa.Table.from_batches([array]) for array in arrays]
    return paged, pa.concat_tables([_plainly(piece) for piece in pieces])


def _plainly(table: Any) -> Any:
    """The same values as pyarrow would have them, without dictionaries."""
    fields = []
    for field in table.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        fields.append(pa.field(field.name, pa.large_string() if pa.types.is_string(kind) else kind))
    return table.cast(pa.schema(fields))


def check(table: Any, paged: list[str], rows: int = 1000, **how: Any) -> None:
    file = BytesIO()
    pq.write_table(table, file, **how)
    found, read = columns_of(file, rows)
    assert found == paged
    if paged:  # structures are read as their fields
        table = table.flatten()
    for name in table.column_names:
        assert read.column(name).to_pylist() == table.column(name).to_pylist(), name


def table_of(rows: int, missing: float, distinct: int) -> Any:
    random = np.random.default_rng(rows)
    texts = [f"{i * 7919:x}" * (i % 5) for i in range(distinct)]

    def with_gaps(values: Any, kind: Any) -> Any:
        return pa.array(values, kind, mask=random.random(rows) < missing)

    return pa.table(
        {
            "text": with_gaps([texts[i] for i in random.integers(0, distinct, rows)], pa.string()),
            "long": with_gaps(random.integers(-(2**62), 2**62, rows), pa.int64()),
            "small": with_gaps(random.integers(-100, 100, rows), pa.int8()),
            "int": with_gaps(random.integers(0, distinct, rows), pa.int32()),
            "real": with_gaps(random.normal(size=rows).round(2), pa.float64()),
            "single": with_gaps(random.integers(0, 9, rows).astype(np.float32), pa.float32()),
            "runs": with_gaps(np.arange(rows) // 40 % 3, pa.int64()),
        }
    )


PLAIN = ["text", "long", "small", "int", "real", "single", "runs"]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("missing", [0, 0.1, 1])
def test_reads_what_pyarrow_reads(
    codec: str, version: str, dictionary: bool, missing: float
) -> None:
    how = {"compression": codec, "data_page_version": version, "use_dictionary": dictionary}
    check(table_of(5000, missing, 100), PLAIN, **how)
    check(table_of(5000, missing, 100), PLAIN, 333, row_group_size=1234, data_page_size=500, **how)


@pytest.mark.parametrize("rows", [50, 4096, 5000, 100_000])
def test_a_dictionary_that_was_given_up(rows: int) -> None:
    """Pages with codes, then pages with texts; within a batch, too."""
    table = table_of(20_000, 0.1, 20_000)
    check(table, PLAIN, rows, dictionary_pagesize_limit=20_000, data_page_size=5000)


@pytest.mark.parametrize("distinct", [1, 2, 3, 8, 9, 255, 256, 257, 1000, 70_000])
def test_codes_of_every_width(distinct: int) -> None:
    check(table_of(2 * distinct + 17, 0.05, distinct), PLAIN, 777)


def test_columns_that_are_required() -> None:
    fields = [pa.field("a", pa.int64(), nullable=False), pa.field("t", pa.string(), nullable=False)]
    table = pa.table({"a": [1, 2, 3], "t": ["x", "", "z"]}, schema=pa.schema(fields))
    check(table, ["a", "t"], 2)


def test_others_are_left_to_pyarrow() -> None:
    table = pa.table(
        {
            "flag": [True, None, False],
            "t": ["a", None, "b"],
            "list": [["a"], [], None],
            "big": pa.array([1, 2, 2**63], pa.uint64()),
            "nested": [{"x": 1}, None, {"x": 3}],
            "when": pa.array([1, 2, None], pa.timestamp("us")),
            "a.b": [1.5, None, 2.5],
        }
    )
    check(table, ["t", "a.b"], 2)
    check(table, ["t", "a.b"], 2, row_group_size=2)
    check(
        pa.table({"t": ["a", "b"]}),
        [],
        column_encoding={"t": "DELTA_BYTE_ARRAY"},
        use_dictionary=False,
    )
    check(pa.table({"t": ["a", "b"]}), [], compression="lz4")


def test_dictionaries_of_arrow() -> None:
    file = BytesIO()
    pq.write_table(pa.table({"t": pa.array(["b", None, "a"]).dictionary_encode()}), file)
    plain, read = columns_of(file, 2)
    assert plain == ["t"]
    assert read.column("t").to_pylist() == ["b", None, "a"]


def test_no_rows() -> None:
    file = BytesIO()
    pq.write_table(table_of(0, 0, 1), file)
    with pq.ParquetFile(file) as table:
        assert not list(batches(table, reader_of(file, True), "x", PLAIN, PLAIN, 10))


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.none() | st.text(max_size=30), min_size=1, max_size=60),
    group=st.integers(1, 60),
    page=st.integers(1, 300),
    rows=st.integers(1, 60),
    limit=st.sampled_from([1, 30, 1 << 20]),
)
def test_any_texts(texts: list[str | None], group: int, page: int, rows: int, limit: int) -> None:
    table = pa.table({"t": pa.array(texts, pa.string())})
    how = {"row_group_size": group, "data_page_size": page, "dictionary_pagesize_limit": limit}
    check(table, ["t"], rows, **how)


def test_damage_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    """Bytes of the pages are changed one by one: other values or an error, no crash and nothing without end."""
    path = tmp_path / "x.parquet"
    table = table_of(300, 0.1, 40).append_column("label", pa.array([1.0, 0.0] * 150))
    pq.write_table(table, path, compression="none", data_page_size=200)
    whole = path.read_bytes()
    end = pq.read_metadata(path).row_group(0).total_byte_size
    refused = 0
    for at in range(4, end, 11):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << (at % 8)
        path.write_bytes(damaged)
        try:
            list(open_source(path))
        except DataError as error:
            refused += 1
            assert str(path) in str(error)  # noqa: PT017
    assert refused > 10


def test_a_file_cut_short_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    table = table_of(3000, 0.1, 40).append_column("label", pa.array([1.0, 0.0] * 1500))
    pq.write_table(table, path)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    path.write_bytes(whole[: footer // 2] + bytes(footer - footer // 2) + whole[footer:])
    with pytest.raises(DataError, match="x.parquet"):
        list(open_source(path))


def with_labels(table: Any) -> Any:
    return table.append_column("label", pa.array(np.arange(len(table)) % 2))


def test_rows_before_the_damage_come_first(tmp_path: Path) -> None:
    """Columns are decoded ahead of the rows: what is wrong there waits for its turn."""
    path = tmp_path / "x.parquet"
    pq.write_table(with_labels(table_of(3000, 0.1, 40)), path, row_group_size=1000)
    whole = bytearray(path.read_bytes())
    chunk = pq.read_metadata(path).row_group(2).column(0)
    start = chunk.dictionary_page_offset
    whole[start : start + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    path.write_bytes(whole)
    for threads in (None, 1, 3):
        rows: list[int] = []
        with pytest.raises(DataError, match=r"x\.parquet: row group 2, column 'text'.*damaged"):
            rows.extend(map(len, open_source(path, threads=threads)))
        assert sum(rows) == 2000


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("missing", ["drop", "feature"])
def test_a_column_of_nothing(tmp_path: Path, dictionary: bool, missing: str) -> None:
    """Whether its dictionary is empty or it has none, it makes no features, or always the same one."""
    path = tmp_path / "x.parquet"
    table = table_of(500, 0.1, 40).append_column("gone", pa.nulls(500, pa.string()))
    pq.write_table(with_labels(table), path, use_dictionary=dictionary)
    [named] = open_source(path, missing=missing)
    names = [named.name_of(i) for i in range(named.nnz)]
    assert names.count("gone=?") == (500 if missing == "feature" else 0)
    [plain] = open_source(path, names=False, missing=missing)
    np.testing.assert_array_equal(named.indices, plain.indices)
    np.testing.assert_array_equal(named.values, plain.values)


@pytest.mark.parametrize("names", [True, False])
def test_any_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: bool
) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(with_labels(table_of(9000, 0.1, 400)), path, row_group_size=3500)
    monkeypatch.setattr("riata.sources.table.columnar._DECODED_CELLS", 4000)
    monkeypatch.setattr("riata.sources.table.pieces._CELLS", 1)
    passes = [list(open_source(path, names=names, threads=n)) for n in (None, 1, 2, 4)]
    for blocks in passes[1:]:
        for a, b in zip(passes[0], blocks, strict=True):
            for array in (
                "indptr",
                "indices",
                "values",
                "labels",
                "names",
                "name_offsets",
                "lines",
            ):
                np.testing.assert_array_equal(getattr(a, array), getattr(b, array))


def test_threads_may_come_late(tmp_path: Path) -> None:
    """Work that nobody has begun when the last row group is handed out needs the file no more."""
    path = tmp_path / "x.parquet"
    table = pa.table({"label": [i % 2 for i in range(90)], "c": [f"t{i % 7}" for i in range(90)]})
    pq.write_table(table, path, row_group_size=30)
    source = open_source(str(path), label="label")
    assert isinstance(source, ColumnarSource)
    work = list(source._pieces())  # by now the file is closed
    parts = [done[0] for done in map(part_of, work) if done is not None]
    assert sum(len(part.block) for part in parts) == 90
    names = [part.block.name_of(0) for part in parts]
    assert names == ["c=t0", "c=t2", "c=t4"]

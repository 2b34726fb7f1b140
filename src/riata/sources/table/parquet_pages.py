"""Columns of Parquet files, page by page, straight to codes and dictionaries. Needs pyarrow.

The face of the core's reader of Parquet: `paged_columns` says what it can read, `batches` reads. pyarrow
reads the footer, all other columns, and unpacks what is not packed with Snappy. Columns of texts and numbers
outside of lists and structures, which most are, the core reads: pyarrow would look up every text of every
dictionary in a hash table, which takes longer than to read the same as comma separated text. It unpacks
Snappy, too: with pyarrow's a read to Blocks took 6 to 12 % more processor time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from riata import _core
from riata.errors import DataError
from riata.sources.table.arrow_arrays import flat

Read: TypeAlias = Callable[[int, int], bytes]
"""Some bytes of a file: from where, and how many."""

_WINDOW = 1 << 20  # bytes that are read at once, unless a page is larger
_ENCODINGS = {"PLAIN", "RLE", "RLE_DICTIONARY", "PLAIN_DICTIONARY"}
_CODECS = {"UNCOMPRESSED": None, "SNAPPY": "snappy", "GZIP": "gzip", "ZSTD": "zstd"}
_CODECS |= {"BROTLI": "brotli"}
_NUMBERS = {
    "INT32": (pa.int32(), {pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16()}),
    "INT64": (pa.int64(), {pa.int64()}),
    "FLOAT": (pa.float32(), {pa.float32()}),
    "DOUBLE": (pa.float64(), {pa.float64()}),
}
_AT_ONCE = 8  # columns that one thread decodes


def reader_of(file: BinaryIO, remote: bool) -> Read:
    """How to read bytes of an open file."""
    if not remote and hasattr(os, "pread"):  # not on Windows
        return lambda at, size: os.pread(file.fileno(), size, at)

    turn = threading.Lock()

    def read(at: int, size: int) -> bytes:
        with turn:
            file.seek(at)
            return file.read(size)

    return read


def paged_columns(table: Any) -> list[str]:
    """The columns of a `pyarrow.parquet.ParquetFile` that `ColumnPages` can read, in all row groups."""
    metadata, schema = table.metadata, table.schema_arrow
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    names: dict[str, int] = {}
    for name in schema.names:
        names[name] = names.get(name, 0) + 1
    chosen = []
    for i in range(metadata.num_columns):
        column = table.schema.column(i)
        name = column.path
        if names.get(name) != 1 or column.max_repetition_level:
            continue
        if column.max_definition_level > 1 or not _is_paged(column, schema.field(name).type):
            continue
        chunks = [group.column(i) for group in groups]
        if all(
            set(chunk.encodings) <= _ENCODINGS and chunk.compression in _CODECS for chunk in chunks
        ):
            chosen.append(name)
    return chosen


def _is_paged(column: Any, kind: Any) -> bool:
    if column.physical_type == "BYTE_ARRAY":
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
    return column.physical_type in _NUMBERS and kind in _NUMBERS[column.physical_type][1]


def batches(
    table: Any,
    read: Read,
    path: str,
    columns: list[str],
    paged: list[str],
    rows: int,
    names: bool = True,
    groups: range | None = None,
) -> Iterator[Any]:
    """These columns of a `ParquetFile`, so many rows at a time, not beyond the end of a row group.

    `groups` are the row groups to read, unless all are.

    `names` says whether the names of features will be wanted. Each is a `PageBatch`, none of which is
    decoded yet, or a `RecordBatch` where the core reads no column.
    """
    places = {table.schema.column(i).path: i for i in range(table.metadata.num_columns)}
    optional = {c: table.schema.column(places[c]).max_definition_level > 0 for c in paged}
    others = [column for column in columns if column not in paged]
    for i in range(table.num_row_groups) if groups is None else groups:
        group = table.metadata.row_group(i)
        where = f"{path}: row group {i}"
        pages = {
            name: ColumnPages(read, group.column(places[name]), optional[name], name, names, where)
            for name in paged
        }
        rest = (
            _of_group(
                table.iter_batches(rows, row_groups=[i], columns=others, use_threads=False), where
            )
            if others
            else iter(())
        )
        left = group.num_rows
        before: PageBatch | None = None
        while left > 0:
            other = next(rest, None)
            count = min(rows, left) if other is None else len(other)
            if pages:
                before = PageBatch(count, pages, other, before)
            yield before or other
            left -= count


def _of_group(batches: Iterator[Any], where: str) -> Iterator[Any]:
    """The batches that pyarrow reads; what goes wrong says in which row group."""
    try:
        yield from batches
    except (pa.ArrowException, OSError) as error:
        shown = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{where}: cannot be read as Parquet data: {shown}") from None


class Decoding:
    """Some columns of a batch, to be decoded once, by the thread that comes first; then those behind it can be."""

    def __init__(self, rows: int, pages: dict[str, ColumnPages], before: Decoding | None) -> None:
        self._rows, self._pages, self._before = rows, pages, before
        self._columns: dict[str, _core.Decoded] = {}
        self._error: Exception | None = None
        self._running = threading.Lock()

    @property
    def done(self) -> bool:
        """Whether the file is needed no more."""
        return bool(self._columns) or self._error is not None

    def columns(self) -> dict[str, _core.Decoded]:
        with self._running:
            if self._error is not None:
                raise self._error
            if not self._columns:
                try:
                    if self._before is not None:
                        self._before.columns()
                    self._columns = {c: page.take(self._rows) for c, page in self._pages.items()}
                    self._before = None
                except BaseException as error:  # some columns may be ahead of others now
                    interrupted = RuntimeError("reading was interrupted")
                    self._error = error if isinstance(error, Exception) else interrupted
                    raise
            return self._columns


class PageBatch:
    """Some rows of a row group: some columns by pages, others perhaps as pyarrow read them."""

    def __init__(
        self, rows: int, pages: dict[str, ColumnPages], other: Any, before: PageBatch | None
    ) -> None:
        self._rows, self._pages, self._other = rows, pages, other
        names = list(pages)
        self.decodings: list[Decoding] = []
        for i, start in enumerate(range(0, len(names), _AT_ONCE)):
            some = {name: pages[name] for name in names[start : start + _AT_ONCE]}
            self.decodings.append(Decoding(rows, some, before.decodings[i] if before else None))

    def __len__(self) -> int:
        return self._rows

    def decode(self) -> Decoded:
        columns = {c: v for part in self.decodings for c, v in part.columns().items()}
        return Decoded(self._rows, self._pages, columns, self._other)


class Decoded:
    """The same once decoded; columns become Arrow's where somebody asks for them."""

    def __init__(
        self,
        rows: int,
        pages: dict[str, ColumnPages],
        columns: dict[str, _core.Decoded],
        other: Any,
    ) -> None:
        self._rows, self._pages, self.columns = rows, pages, columns
        self._other: Any = flat(pa.record_batch([], names=[]) if other is None else other)
        fields = [pa.field(name, pages[name].type) for name in columns]
        self.schema = pa.schema([*fields, *self._other.schema])

    def __len__(self) -> int:
        return self._rows

    def column(self, name: str) -> Any:
        if name in self.columns:
            return self._pages[name].arrow(self.columns[name])
        if name not in self._other.schema.names:
            where = next(iter(self._pages.values())).path
            raise DataError(f"{where}: damaged: column {name!r} is in one of its schemas alone")
        return self._other.column(name)

    def to_arrow(self) -> Any:
        arrays = [self.column(name) for name in self.schema.names]
        return pa.RecordBatch.from_arrays(arrays, names=self.schema.names)


class ColumnPages:
    """One column of one row group: as many rows at a time as are wanted."""

    def __init__(
        self, read: Read, chunk: Any, optional: bool, name: str, names: bool, path: str
    ) -> None:
        start = chunk.data_page_offset
        if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
            start = chunk.dictionary_page_offset
        self._read, self.path, self._where = read, path, f"{path}, column {name!r}"
        self._at, self._end = start, start + chunk.total_compressed_size
        codec = _CODECS[chunk.compression]
        self._codec = None if codec is None else pa.Codec(codec)
        kind = chunk.physical_type
        if kind != "BYTE_ARRAY" and kind not in _NUMBERS:
            raise DataError(f"{path}: damaged: column {name!r} is {kind} in one of its row groups")
        self._core = _core.ParquetColumn(kind, optional, name, names, codec or "")
        texts = pa.dictionary(pa.int32(), pa.large_string())
        self.type: Any = _NUMBERS.get(kind, (texts,))[0]
        self._dictionary: tuple[Any, Any] | None = None

    def take(self, rows: int) -> _core.Decoded:
        """The next rows."""
        try:
            self._core.begin(rows)
            while (wanted := self._core.fill()) is not None:
                packed, size = wanted
                if packed and self._codec is not None:
                    page = self._codec.decompress(self._core.packed(), size)
                    self._core.unpacked(np.frombuffer(page, np.uint8))
                else:
                    self._core.give(self._more(size))
            return self._core.take()
        except (ValueError, OSError) as error:
            raise self._damaged(str(error)) from None

    def arrow(self, rows: _core.Decoded) -> Any:
        """Rows as an Arrow array; texts are codes into a dictionary."""
        values, bits, missing = rows.arrow()
        buffers = [None if bits is None else pa.py_buffer(bits), pa.py_buffer(values)]
        if not pa.types.is_dictionary(self.type):
            return pa.Array.from_buffers(self.type, len(rows), buffers, missing)
        codes = pa.Array.from_buffers(pa.int32(), len(rows), buffers, missing)
        known = self._dictionary
        if known is None or known[0].shared != rows.shared:
            self._dictionary = known = rows, _texts(*rows.texts())
        return pa.DictionaryArray.from_arrays(codes, known[1], safe=False)

    def _more(self, size: int) -> NDArray[np.uint8]:
        """So many bytes at least of what was not read yet."""
        count = min(max(size, _WINDOW), self._end - self._at)
        more = self._read(self._at, count) if count > 0 else b""
        if len(more) < size:
            raise ValueError("its pages end before all of its rows are there")
        self._at += len(more)
        return np.frombuffer(more, np.uint8)

    def _damaged(self, what: str) -> DataError:
        return DataError(f"{self._where}: {what}; the file is damaged")


def _texts(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> Any:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers, 0)

"""Columns of Parquet files, page by page, straight to codes and dictionaries. Needs pyarrow.

pyarrow reads the footer, unpacks the pages and reads whatever is unusual. Plain columns of texts and
numbers, which most are, the core makes Arrow arrays of: pyarrow would look up every text of every
dictionary in a hash table, which takes longer than to read the same as comma separated text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from riata import _core
from riata.errors import DataError

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
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3


def reader_of(file: BinaryIO, remote: bool) -> Read:
    """How to read bytes of an open file."""
    if not remote:
        return lambda at, size: os.pread(file.fileno(), size, at)

    def read(at: int, size: int) -> bytes:
        file.seek(at)
        return file.read(size)

    return read


def plain_columns(table: Any) -> list[str]:
    """The columns of a `pyarrow.parquet.ParquetFile` that `ColumnPages` can read, in all row groups."""
    metadata, schema = table.metadata, table.schema_arrow
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    chosen = []
    for i in range(metadata.num_columns):
        column = table.schema.column(i)
        name = column.path
        if schema.names.count(name) != 1 or column.max_repetition_level:
            continue
        if column.max_definition_level > 1 or not _is_plain(column, schema.field(name).type):
            continue
        chunks = [group.column(i) for group in groups]
        if all(
            set(chunk.encodings) <= _ENCODINGS and chunk.compression in _CODECS for chunk in chunks
        ):
            chosen.append(name)
    return chosen


def _is_plain(column: Any, kind: Any) -> bool:
    if column.physical_type == "BYTE_ARRAY":
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
    return column.physical_type in _NUMBERS and kind in _NUMBERS[column.physical_type][1]


def batches(
    table: Any, read: Read, path: str, columns: list[str], plain: list[str], rows: int
) -> Iterator[Any]:
    """These columns of a `ParquetFile`, so many rows at a time, not beyond the end of a row group."""
    places = {table.schema.column(i).path: i for i in range(table.metadata.num_columns)}
    optional = {c: table.schema.column(places[c]).max_definition_level > 0 for c in plain}
    others = [column for column in columns if column not in plain]
    for i in range(table.num_row_groups):
        group = table.metadata.row_group(i)
        pages = {
            name: ColumnPages(
                read, group.column(places[name]), optional[name], f"{path}: column {name!r}"
            )
            for name in plain
        }
        rest = (
            table.iter_batches(rows, row_groups=[i], columns=others, use_threads=False)
            if others
            else iter(())
        )
        left = group.num_rows
        while left > 0:
            other = next(rest, None)
            count = min(rows, left) if other is None else len(other)
            arrays = {name: column.take(count) for name, column in pages.items()}
            if other is not None:
                arrays |= dict(zip(other.schema.names, other.columns, strict=True))
            yield pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))
            left -= count


class ColumnPages:
    """One column of one row group: as many rows at a time as are wanted."""

    def __init__(self, read: Read, chunk: Any, optional: bool, where: str) -> None:
        start = chunk.data_page_offset
        if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
            start = chunk.dictionary_page_offset
        self._read, self._where = read, where
        self._at, self._end = start, start + chunk.total_compressed_size
        self._held: NDArray[np.uint8] = np.zeros(0, np.uint8)
        codec = _CODECS[chunk.compression]
        self._codec = None if codec is None else pa.Codec(codec)
        self._core = _core.ParquetColumn(chunk.physical_type, optional)
        self._type = _NUMBERS.get(chunk.physical_type, (None,))[0]
        self._dictionary: Any = None

    def take(self, rows: int) -> Any:
        """The next rows as an Arrow array; texts are codes into a dictionary."""
        try:
            self._core.begin(rows)
            while self._core.fill():
                self._next_page()
            values, bits, missing = self._core.take()
        except ValueError as error:
            raise self._damaged(str(error)) from None
        buffers = [None if bits is None else pa.py_buffer(bits), pa.py_buffer(values)]
        if self._type is not None:
            return pa.Array.from_buffers(self._type, rows, buffers, missing)
        codes = pa.Array.from_buffers(pa.int32(), rows, buffers, missing)
        plain = self._core.plain_texts()
        if plain is None and self._dictionary is None:
            self._dictionary = _texts(*self._core.texts())
        dictionary = self._dictionary if plain is None else _texts(*plain)
        return pa.DictionaryArray.from_arrays(codes, dictionary, safe=False)

    def _next_page(self) -> None:
        while (header := _core.parquet_page_header(self._held)) is None:
            self._hold(len(self._held) + 1)
        kind, size, packed, unpacked, n_values, encoding, levels, is_packed = header
        self._hold(size + packed)
        page = self._held[size : size + packed]
        self._held = self._held[size + packed :]
        if kind == _DICTIONARY:
            self._core.dictionary(self._unpack(page, unpacked), n_values)
        elif kind == _DATA:
            self._core.page(self._unpack(page, unpacked), n_values, encoding)
        elif kind == _DATA_V2:
            if is_packed and self._codec is not None:
                values = self._unpack(page[levels:], unpacked - levels)
                page = np.concatenate([page[:levels], values])
            self._core.page(page, n_values, encoding, levels)

    def _unpack(self, page: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
        if self._codec is None or size == 0:
            return page
        return np.frombuffer(self._codec.decompress(page, size), np.uint8)

    def _hold(self, size: int) -> None:
        """Have so many bytes at least of what was not read yet."""
        missing = size - len(self._held)
        if missing <= 0:
            return
        count = min(max(missing, _WINDOW), self._end - self._at)
        more = self._read(self._at, count) if count > 0 else b""
        if len(more) < missing:
            raise self._damaged("its pages end before all of its rows are there")
        self._at += len(more)
        fresh = np.frombuffer(more, np.uint8)
        self._held = np.concatenate([self._held, fresh]) if len(self._held) else fresh

    def _damaged(self, what: str) -> DataError:
        return DataError(f"{self._where}: {what}; the file is damaged")


def _texts(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> Any:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers, 0)

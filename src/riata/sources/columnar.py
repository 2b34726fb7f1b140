"""Tables of columns as sources: Parquet, Arrow and Feather files, and whatever speaks Arrow.

pyarrow is imported when it is needed: the extra `[arrow]`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any, BinaryIO

from riata.block import Block
from riata.errors import DataError
from riata.sources.bytes import STDIN, size_of, unreadable
from riata.sources.named import Crosses, check_crosses
from riata.sources.prefetch import ordered_map
from riata.sources.remote import is_remote, open_remote
from riata.sources.roles import Roles
from riata.sources.source import split
from riata.sources.text import join_names

TABLES = ("parquet", "arrow")
"""Formats of files."""
_CELLS = 1 << 18  # of a batch: rows times columns
_GROUP_BYTES = 1 << 22  # of a row group that is read at once


@dataclass(slots=True)
class _Piece:
    batch: Any
    reader: Any
    path: str | None
    first_row: int
    position: int


Pieces = Generator[_Piece, None, None]


class ColumnarSource:
    """Rows of named features from columns; only the columns that are needed are read.

    Numbers become features with the name of their column, texts become `column=text`; see `Roles`.
    Reading and hashing run in threads beside the consumer, a batch of rows at a time.
    """

    def __init__(
        self,
        name: str,
        pieces: Callable[[], Pieces],
        *,
        n_rows: int | None,
        n_bytes: int | None,
        repeatable: bool = True,
        block_rows: int | None = None,
        threads: int | None = None,
    ) -> None:
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")
        self.name = name
        self.n_rows = n_rows
        self.n_bytes = n_bytes
        self.bytes_read = 0
        self.repeatable = repeatable
        self._pieces = pieces
        self._block_rows = block_rows
        self._threads = threads or min(2, len(os.sched_getaffinity(0)))
        self._begun = False

    def __iter__(self) -> Iterator[Block]:
        if self._begun and not self.repeatable:
            raise DataError(
                f"{self.name} can be read only once; make a table of it to go over it again"
            )
        self._begun = True
        return self._pass()

    def _pass(self) -> Generator[Block, None, None]:
        self.bytes_read = 0
        empty = True
        results = ordered_map(_block_of, self._pieces(), threads=self._threads)
        with closing(results):
            for block, position in results:
                self.bytes_read = position
                empty = empty and len(block) == 0
                if len(block):
                    yield from split(block, self._block_rows)
        if empty:
            raise DataError(f"no examples in {self.name}")


def _block_of(piece: _Piece) -> tuple[Block, int]:
    return piece.reader.block(piece.batch, piece.path, piece.first_row), piece.position


def open_columnar(
    paths: list[str],
    format: str,
    *,
    roles: Roles,
    labelled: bool = True,
    names: bool = True,
    crosses: Crosses = (),
    block_rows: int | None = None,
    threads: int | None = None,
) -> ColumnarSource:
    """Parquet, Arrow IPC and Feather files, one after another."""
    arrow = _pyarrow(paths[0] if paths else "a table")
    if not paths:
        raise DataError("no files given")
    options: dict[str, Any] = {
        "labelled": labelled,
        "names": names,
        "crosses": check_crosses(crosses),
    }
    if STDIN in paths and format == "parquet":
        raise DataError(
            "Parquet cannot be read from standard input: its index is at the end; name the file"
        )
    sizes = [size_of(path) for path in paths]
    read = _read_parquet if format == "parquet" else _read_ipc

    def pieces() -> Pieces:
        before = 0
        for path, size in zip(paths, sizes, strict=True):
            with ExitStack() as stack:
                file = stack.enter_context(_open(path))
                try:
                    for piece in read(file, path, size or 0, roles, options):
                        piece.position += before
                        yield piece
                except (arrow.ArrowException, OSError) as error:
                    kind = "Parquet" if format == "parquet" else "Arrow"
                    shown = str(error).splitlines()[0] if str(error) else type(error).__name__
                    raise DataError(f"{path}: cannot be read as {kind} data: {shown}") from None
            before += size or 0

    known = [size for size in sizes if size is not None]
    return ColumnarSource(
        join_names(paths),
        pieces,
        n_rows=None,
        n_bytes=sum(known) if len(known) == len(sizes) else None,
        repeatable=STDIN not in paths,
        block_rows=block_rows,
        threads=threads,
    )


def _read_parquet(
    file: BinaryIO, path: str, size: int, roles: Roles, options: dict[str, Any]
) -> Pieces:
    import pyarrow.parquet as pq

    from riata.sources.arrow import BatchReader

    with closing(pq.ParquetFile(file, pre_buffer=False)) as table:
        reader = BatchReader(table.schema_arrow, path, roles, **options)
        groups = [table.metadata.row_group(i) for i in range(table.num_row_groups)]
        total = max(1, table.metadata.num_rows)
        first = 0
        for batch in _parquet_batches(pq, file, table, groups, reader):
            for piece in _cut([batch], reader, path, 0, first):
                first += len(piece.batch)
                piece.position = size * first // total
                yield piece


def _parquet_batches(
    pq: Any, file: BinaryIO, table: Any, groups: list[Any], reader: Any
) -> Iterator[Any]:
    """Row groups at once where they are small, with texts as codes into a dictionary where that is
    how they are stored: each distinct text is then hashed once. Else some rows at a time.

    One thread here: another one makes rows of the batch before.
    """
    if any(group.total_byte_size > _GROUP_BYTES for group in groups):
        rows = 4 * _rows_of(reader)
        yield from table.iter_batches(rows, columns=reader.columns, use_threads=False)
        return
    coded = [
        groups[0].column(i).path_in_schema
        for i in range(groups[0].num_columns if groups else 0)
        if all(_has_few_texts(group.column(i)) for group in groups)
    ]
    table = pq.ParquetFile(file, pre_buffer=False, read_dictionary=coded)
    for i in range(len(groups)):
        group = table.read_row_group(i, columns=reader.columns, use_threads=False)
        yield from group.to_batches()


def _has_few_texts(chunk: Any) -> bool:
    """Whether codes and dictionary of a column take less room than its texts would."""
    kind = chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page
    return bool(kind and chunk.total_uncompressed_size <= 6 * max(1, chunk.num_values))


def _read_ipc(
    file: BinaryIO, path: str, size: int, roles: Roles, options: dict[str, Any]
) -> Pieces:
    import pyarrow as pa

    from riata.sources.arrow import BatchReader

    magic = b"" if path == STDIN else file.read(6)
    if magic[:4] == b"FEA1":
        raise DataError(f"{path}: Feather version 1 is not supported; write it again as version 2")
    if path != STDIN:
        file.seek(0)
    if magic != b"ARROW1":
        with pa.ipc.open_stream(file) as stream:
            reader = BatchReader(stream.schema, path, roles, **options)
            yield from _cut(stream, reader, path, size)
        return
    schema = pa.ipc.open_file(file).schema
    reader = BatchReader(schema, path, roles, **options)
    wanted = {column.split(".")[0] for column in reader.columns} | set(reader.columns)
    fields = [i for i, name in enumerate(schema.names) if name in wanted]
    file.seek(0)
    with pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=fields)) as table:
        count = table.num_record_batches
        first = 0
        for i in range(count):
            batch = table.get_batch(i)
            for piece in _cut([batch], reader, path, 0, first):
                piece.position = size * (i + 1) // count
                yield piece
            first += len(batch)


def _cut(batches: Any, reader: Any, path: str | None, position: int, first_row: int = 0) -> Pieces:
    """Batches in pieces that take little memory as rows."""
    rows = _rows_of(reader)
    for batch in batches:
        for start in range(0, len(batch), rows):
            piece = batch.slice(start, rows)
            yield _Piece(piece, reader, path, first_row, position)
            first_row += len(piece)


def _rows_of(reader: Any) -> int:
    return max(256, _CELLS // max(1, len(reader.columns)))


def speaks_arrow(what: Any) -> bool:
    return hasattr(what, "__arrow_c_stream__")


def open_table(
    table: Any,
    *,
    roles: Roles,
    labelled: bool = True,
    names: bool = True,
    crosses: Crosses = (),
    block_rows: int | None = None,
    threads: int | None = None,
) -> ColumnarSource:
    """A frame, table or stream of batches that speaks Arrow (`__arrow_c_stream__`).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 0], "city": ["Rome", None], "label": [1, 0]})
    >>> [block] = open_table(frame, roles=Roles())
    >>> [block.name_of(i) for i in range(block.nnz)], block.values, block.labels
    (['age', 'city=Rome'], array([30.,  1.], dtype=float32), array([1., 0.]))
    """
    kind = f"{type(table).__module__.split('.')[0]} {type(table).__name__}"
    pa = _pyarrow(kind)
    shape = getattr(table, "shape", None)
    name = kind if shape is None else f"{kind} {shape[0]} x {shape[1]}"
    options: dict[str, Any] = {
        "labelled": labelled,
        "names": names,
        "crosses": check_crosses(crosses),
    }
    kept = _without(table, roles.ignore)

    def pieces() -> Pieces:
        from riata.sources.arrow import BatchReader

        left = Roles(**{**_fields(roles), "ignore": ()}) if kept is not table else roles
        try:
            stream = pa.RecordBatchReader.from_stream(kept)
            reader = BatchReader(stream.schema, name, left, **options)
            yield from _cut(stream, reader, None, 0)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{name}: {str(error).splitlines()[0]}") from None

    return ColumnarSource(
        name,
        pieces,
        n_rows=None if shape is None else shape[0],
        n_bytes=None,
        repeatable=not isinstance(table, pa.RecordBatchReader),
        block_rows=block_rows,
        threads=threads,
    )


def _fields(roles: Roles) -> dict[str, Any]:
    return {name: getattr(roles, name) for name in roles.__dataclass_fields__}


def _without(table: Any, ignore: Sequence[str]) -> Any:
    """The table without columns that nobody wants converted, where it is easily had."""
    columns = getattr(table, "column_names", None) or getattr(table, "columns", None)
    if not ignore or columns is None or not all(column in list(columns) for column in ignore):
        return table
    kept = [column for column in columns if column not in ignore]
    if hasattr(table, "select"):
        return table.select(kept)
    return table[kept] if hasattr(table, "iloc") else table


def _open(path: str) -> BinaryIO:
    try:
        if is_remote(path):
            return open_remote(path)
        if path == STDIN:
            return open(0, "rb", closefd=False)
        return open(path, "rb")
    except OSError as error:
        raise unreadable(path, error) from None


def _pyarrow(name: str) -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise DataError(
            f'{name}: tables of columns need the package pyarrow: pip install "riata[arrow]"'
        ) from None
    return pyarrow

"""Tables of columns as sources: Parquet, Arrow and Feather files, and whatever speaks Arrow.

pyarrow is imported when it is needed: the extra `[arrow]`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import Any, BinaryIO

from riata.block import Block
from riata.errors import DataError, NoExamples
from riata.schema import Schema
from riata.sources.bad_lines import Skipping, stop_at
from riata.sources.io.bytes import STDIN, FilePart, is_remote, size_of, unreadable
from riata.sources.io.prefetch import ordered_map, threads_beside
from riata.sources.io.remote import open_remote
from riata.sources.options import ReadOptions
from riata.sources.source import Begun, split
from riata.sources.table.bad_rows import Part
from riata.sources.table.frame import spans_as_names
from riata.sources.table.layout import TableOptions
from riata.sources.table.parquet_footer import BadFooter
from riata.sources.table.pieces import Found, Piece, Pieces, cut, cut_all, mixed, part_of, rows_of
from riata.sources.text.text import join_names

TABLES = ("parquet", "arrow")
"""Formats of files."""
_DECODED_CELLS = 1 << 21  # of what is decoded at once
_AHEAD = 8  # pieces, or columns of the next batch, on their way


class ColumnarSource:
    """Rows of named features from columns; only the columns that are needed are read.

    Numbers become features with the name of their column, texts become `column=text`; see `Roles`.
    Reading and hashing run in threads beside the consumer, a batch of rows at a time.
    """

    def __init__(
        self,
        name: str,
        pieces: Callable[[], Pieces],
        found: Found,
        *,
        n_rows: int | None,
        n_bytes: int | None,
        repeatable: bool = True,
        options: ReadOptions,
        helped: bool = False,
        skipping: Skipping | None = None,
        format: str = "table",
    ) -> None:
        self.name = name
        self.format = format
        self.named = True
        self.n_rows = n_rows
        self.n_bytes = n_bytes
        self.bytes_read = 0
        self.repeatable = repeatable
        self._pieces = pieces
        self._found = found
        self._skipping = skipping
        self._block_rows = options.block_rows
        self._helped = helped and options.threads is None
        self._threads = options.threads or threads_beside(self._helped)
        self._begun = Begun("make a table of it to go over it again")

    @property
    def schema(self) -> Schema | None:
        """What must be the same for another source to make the same features.

        It holds what was found out from the first rows, so it is None before they were read.
        """
        return self._found.whole_schema()

    @property
    def label_names(self) -> list[Any] | None:
        """Where labels are words or bools: label i stands for the i-th."""
        return self._found.label_names

    @property
    def skipped(self) -> int:
        """Rows of the current pass that could not be read and were left out."""
        return 0 if self._skipping is None else self._skipping.count

    def __iter__(self) -> Iterator[Block]:
        self._begun.again(self.name, self.repeatable)
        return self._pass()

    def _pass(self) -> Generator[Block, None, None]:
        self.bytes_read = 0
        empty = True
        before = 0
        if self._skipping is not None:
            self._skipping.begin_pass()
        results = ordered_map(
            part_of,
            self._pieces(),
            threads=self._threads,
            ahead=_AHEAD,
            helping=self._helped,
        )
        with closing(results):
            for done in results:
                if done is None:
                    continue
                part, piece = done
                self.bytes_read = piece.position
                for block in self._without_bad(part, piece.path, before):
                    empty = False
                    if self._found.words is not None:
                        block = self._found.words.in_order(block)
                    yield from split(block, self._block_rows)
                before += part.n_rows
        if self._skipping is not None:
            self._skipping.end_pass(self.name, before)
        if empty:
            raise NoExamples(f"no examples in {self.name}")

    def _without_bad(self, part: Part, path: str, before: int) -> Iterator[Block]:
        """The rows, once the bad ones among them are counted; an error comes behind those before it."""
        block = part.block
        for gone, bad in enumerate(part.bad):
            place = bad.number - part.first_row
            try:
                if self._skipping is None:
                    raise stop_at(f"{bad.where(path)}: {bad.reason}")
                self._skipping.add(path, bad, before + place + 1)
            except DataError:
                if place > gone:
                    yield block[: place - gone]
                raise
        if len(block):
            yield block


def open_columnar(
    paths: list[str], format: str, options: ReadOptions, skipping: Skipping | None = None
) -> ColumnarSource:
    """Parquet, Arrow IPC and Feather files, one after another."""
    arrow = _pyarrow(paths[0] if paths else "a table")
    if not paths:
        raise DataError("no files given")
    found = Found(TableOptions.of(options, skipping is not None))
    if STDIN in paths and format == "parquet":
        raise DataError(
            "Parquet cannot be read from standard input: its index is at the end; name the file"
        )
    sizes = [size_of(path) for path in paths]
    part = options.part
    if part is not None and format != "parquet":
        raise ValueError("part is for text and Parquet")

    def pieces() -> Pieces:
        before = 0
        for path, size in zip(paths, sizes, strict=True):
            with ExitStack() as stack:
                file = stack.enter_context(_open(path, format == "parquet"))
                try:
                    for piece in (
                        _read_parquet(file, path, size or 0, found, part)
                        if format == "parquet"
                        else _read_ipc(file, path, size or 0, found)
                    ):
                        if isinstance(piece, Piece):
                            piece.position += before
                        yield piece
                except (arrow.ArrowException, OSError, BadFooter, UnicodeError) as error:
                    kind = "Parquet" if format == "parquet" else "Arrow"
                    shown = str(error).splitlines()[0] if str(error) else type(error).__name__
                    raise DataError(f"{path}: cannot be read as {kind} data: {shown}") from None
            before += size or 0

    known = [size for size in sizes if size is not None]
    return ColumnarSource(
        join_names(paths),
        pieces,
        found,
        n_rows=None,
        n_bytes=sum(known) if len(known) == len(sizes) else None,
        repeatable=STDIN not in paths,
        options=options,
        helped=format == "parquet" and not any(map(is_remote, paths)),
        skipping=skipping,
        format=format,
    )


def _read_parquet(
    file: BinaryIO, path: str, size: int, found: Found, part: FilePart | None = None
) -> Pieces:
    """Some rows at a time, with texts as codes into a dictionary where that is how they are stored:
    each distinct text is then hashed once.

    While rows are made of a batch, the columns of the next one are decoded.
    """
    import pyarrow.parquet as pq

    from riata.sources.table.arrow_rows import is_ready_made
    from riata.sources.table.parquet_footer import check_levels
    from riata.sources.table.parquet_pages import Decoding, batches, paged_columns, reader_of
    from riata.sources.table.row_groups import groups_of

    remote = is_remote(path)
    levels = check_parquet_footer(file)
    with closing(pq.ParquetFile(file if remote else path, pre_buffer=False)) as table:
        check_levels(levels, table.schema, table.metadata.num_columns)
        schema, total = table.schema_arrow, max(1, table.metadata.num_rows)
        reader = found.reader(schema, path)
        can = set() if is_ready_made(schema) else set(paged_columns(table))
        paged = [column for column in reader.columns if column in can]
        rows = _rows_to_decode(table.metadata, reader)
        read, names = reader_of(file, remote), found.options.names
        groups = groups_of(table.metadata, part, path)
        decoded = batches(table, read, path, reader.columns, paged, rows, names, groups)
        first = sum(table.metadata.row_group(i).num_rows for i in range(groups.start))
        held: list[Piece] = []
        begun: list[Decoding] = []  # others may still be at work on them, or about to be
        for batch in found.with_schema(reader, decoded, ahead=len(paged) < len(reader.columns)):
            decodings = getattr(batch, "decodings", [])
            begun = [decoding for decoding in begun if not decoding.done] + decodings
            yield from mixed(held, decodings)
            held = list(cut(batch, reader, path, 0, first))
            for piece in held:
                piece.position = size * (first + piece.stop) // total
            first += len(batch)
        yield from held
        for decoding in begun:  # before the file is closed
            part_of(decoding)


def check_parquet_footer(file: BinaryIO) -> list[tuple[int, str, int]]:
    """The footer, before pyarrow sees it. What is wrong with the file otherwise, pyarrow says."""
    from riata.sources.table.parquet_footer import check_footer

    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    footer = b"\0"
    if tail[4:] == b"PAR1" and 12 + length <= size:
        file.seek(size - 8 - length)
        footer = file.read(length)
    file.seek(0)
    return check_footer(footer)


def _valid(batches: Iterable[Any], path: str) -> Iterator[Any]:
    """The batches once they are known to be what they say: lengths, offsets, codes, characters."""
    several = iter(batches)
    while True:
        try:
            batch = next(several, None)
        except MemoryError:  # most of the time of a length that was made up
            raise DataError(f"{path}: damaged, or a batch that memory has no room for") from None
        if batch is None:
            return
        try:
            batch.validate(full=True)
        except Exception as error:
            shown = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DataError(f"{path}: damaged: {shown}") from None
        yield batch


def _rows_to_decode(metadata: Any, reader: Any) -> int:
    """Rows of a batch: not too many, and so that batches end where most row groups do."""
    most = max(rows_of(reader), _DECODED_CELLS // max(1, len(reader.columns)))
    group = metadata.row_group(0).num_rows if metadata.num_row_groups else 0
    return -(-group // -(-group // most)) if group > 0 else most


def _read_ipc(file: BinaryIO, path: str, size: int, found: Found) -> Pieces:
    import pyarrow as pa

    magic = b"" if path == STDIN else file.read(6)
    if magic[:4] == b"FEA1":
        raise DataError(f"{path}: Feather version 1 is not supported; write it again as version 2")
    if path != STDIN:
        file.seek(0)
    if magic != b"ARROW1":
        with pa.ipc.open_stream(file) as stream:
            reader = found.reader(stream.schema, path)
            yield from cut_all(found.with_schema(reader, _valid(stream, path)), reader, path, size)
        return
    schema = pa.ipc.open_file(file).schema
    reader = found.reader(schema, path)
    wanted = {column.split(".")[0] for column in reader.columns} | set(reader.columns)
    fields = [i for i, name in enumerate(schema.names) if name in wanted]
    file.seek(0)
    with pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=fields)) as table:
        count = table.num_record_batches
        batches = _valid((table.get_batch(i) for i in range(count)), path)
        first = 0
        for i, batch in enumerate(found.with_schema(reader, batches)):
            for piece in cut(batch, reader, path, 0, first):
                piece.position = size * (i + 1) // count
                yield piece
            first += len(batch)


def speaks_arrow(what: Any) -> bool:
    return hasattr(what, "__arrow_c_stream__")


def open_table(
    table: Any, options: ReadOptions, skipping: Skipping | None = None
) -> ColumnarSource:
    """A frame, table or stream of batches that speaks Arrow (`__arrow_c_stream__`).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 0], "city": ["Rome", None], "label": [1, 0]})
    >>> [block] = open_table(frame, ReadOptions())
    >>> [block.name_of(i) for i in range(block.nnz)], block.values, block.labels
    (['age', 'city=Rome'], array([30.,  1.], dtype=float32), array([1., 0.]))
    """
    kind = f"{type(table).__module__.split('.')[0]} {type(table).__name__}"
    pa = _pyarrow(kind)
    shape = getattr(table, "shape", None)
    name = kind if shape is None else f"{kind} {shape[0]} x {shape[1]}"
    wanted = TableOptions.of(options, skipping is not None)
    kept, dropped = _without(spans_as_names(table), wanted.unread)
    found = Found(wanted.without(dropped))

    def pieces() -> Pieces:
        try:
            stream = pa.RecordBatchReader.from_stream(kept)
            reader = found.reader(stream.schema, name)
            yield from cut_all(found.with_schema(reader, iter(stream)), reader, None, 0)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{name}: {str(error).splitlines()[0]}") from None

    return ColumnarSource(
        name,
        pieces,
        found,
        n_rows=None if shape is None else shape[0],
        n_bytes=None,
        repeatable=not isinstance(table, pa.RecordBatchReader),
        options=options,
        skipping=skipping,
    )


def _without(table: Any, unread: Sequence[str]) -> tuple[Any, list[str]]:
    """The table without columns that nobody wants converted, where it is easily had, and those."""
    columns = getattr(table, "column_names", None) or getattr(table, "columns", None)
    gone = [] if columns is None else [column for column in columns if column in unread]
    if columns is None or not gone or not (hasattr(table, "select") or hasattr(table, "iloc")):
        return table, []
    kept = [column for column in columns if column not in gone]
    return (table.select(kept) if hasattr(table, "select") else table[kept]), gone


def _open(path: str, ranges: bool = False) -> BinaryIO:
    try:
        if is_remote(path):
            return open_remote(path, ranges)
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

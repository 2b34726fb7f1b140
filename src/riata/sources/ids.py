"""What rows are called: the values of a column, the tags of Vowpal Wabbit text, or the files of a folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from riata.block import Block
from riata.errors import DataError, suggest
from riata.sources.io.bytes import STDIN, Stop, display
from riata.sources.io.lines import Buffers, Chunk, cut_lines
from riata.sources.source import Source

Row = tuple[str, int, Any]
"""The file as messages name it, the line, and what the row there is called."""
_LONGEST_FIELD = 1 << 30


def check_ids(paths: Sequence[str], format: str | None) -> None:
    """A DataError where the rows of these files have no columns that could name them."""
    if STDIN in paths:
        raise DataError(
            "<stdin>: the column of --id is read beside the rows, and standard input can be read only once: "
            "name the file, which may be compressed"
        )
    if format in _OWN or format not in _READERS:
        own = {"vw": "tags of lines", "folder": "names of files"}.get(format or "")
        tags = "" if own is None else f"; the {own} are in every table"
        raise DataError(
            f"{', '.join(map(display, paths))}: --id names a column of CSV, TSV, JSON lines, Parquet or Arrow "
            f"files; {format} has none{tags}"
        )


class RowIds:
    """Read beside the rows of a source, and matched with them by file and line.

    `column` is a column or key, by name; None are the tags of Vowpal Wabbit text, or the files of a folder. `flag` is
    who asks for it.
    """

    def __init__(
        self,
        source: Source,
        paths: Sequence[str],
        format: str,
        column: str | None,
        flag: str = "--id",
    ) -> None:
        self.name = _OWN[format] if column is None else column
        self._flag = flag
        self._rows = _READERS[format](source, list(paths), column or "")

    def of(self, block: Block) -> list[Any]:
        """Of each row of the next Block of the source."""
        try:
            return self._of(block)
        except DataError as error:
            if self._flag == "--id" or "for --id" not in str(error):
                raise
            raise DataError(str(error).replace("for --id", f"for {self._flag}")) from None

    def _of(self, block: Block) -> list[Any]:
        assert block.lines is not None
        path, found = block.path, []
        for line in block.lines.tolist():
            for other, at, name in self._rows:
                if at == line and other == path:
                    found.append(name)
                    break
            else:
                raise DataError(f"{block.path}:{line}: changed while it was read")
        return found


def _lines(chunks: Iterator[Chunk]) -> Iterator[tuple[str, int, bytes]]:
    number = 0
    for chunk in chunks:
        number = 0 if chunk.first else number
        for line in bytes(memoryview(chunk.buffer)[: chunk.size]).split(b"\n")[:-1]:
            number += 1
            yield chunk.path, number, line


def _chunks(paths: list[str]) -> Iterator[Chunk]:
    stop, buffers = Stop(), Buffers(1 << 20)
    try:
        for chunk in cut_lines(paths, buffers, stop):
            yield chunk
            buffers.give_back(chunk.buffer)
    finally:
        stop.close()
        buffers.close()


def tag_of(line: bytes) -> str:
    """The tag of a line of Vowpal Wabbit text: the last word before the bar, if it is quoted or touches the bar.

    >>> tag_of(b"1 0.5 'mail.7 |h from"), tag_of(b"1 mail.8|h from"), tag_of(b"1 |h from")
    ('mail.7', 'mail.8', '')
    """
    before = line.partition(b"|")[0]
    words = before.split()
    tagged = words and (words[-1][:1] == b"'" or not before[-1:].isspace())
    return words[-1].removeprefix(b"'").decode("utf-8", "replace") if tagged else ""


def first_tag(paths: Sequence[str]) -> str:
    """The tag of the first line that holds something, or nothing."""
    for _, _, line in _lines(_chunks(list(paths))):
        if line.strip():
            return tag_of(line)
    return ""


def _tags(source: Any, paths: list[str], column: str) -> Iterator[Row]:
    for path, number, line in _lines(_chunks(paths)):
        yield path, number, tag_of(line)


def _json(source: Any, paths: list[str], column: str) -> Iterator[Row]:
    from riata.sources.text.first_objects import lookup

    object_seen = False
    for path, number, line in _lines(_chunks(paths)):
        if line.strip():
            item: Any = None
            with suppress(
                ValueError, RecursionError
            ):  # a bad line: the source leaves it out, or stops
                item = json.loads(line)
            value = lookup(item, column)
            if not object_seen and isinstance(item, dict) and value is None:
                raise DataError(
                    f"{path}:{number}: there is no key {column!r} for --id; {suggest(column, list(item))}"
                )
            object_seen = object_seen or isinstance(item, dict)
            yield path, number, value


def _csv(source: Any, paths: list[str], column: str) -> Iterator[Row]:
    """Asked for the first row when the source knows its columns."""
    columns, delimiter, quote, header = source.dialect
    if column not in columns and column.isdigit() and 0 < int(column) <= len(columns):
        column = columns[int(column) - 1]
    if column not in columns:
        raise DataError(
            f"{source.name}: there is no column {column!r} for --id; {suggest(column, columns)}"
        )
    place = columns.index(column)
    quoting: dict[str, Any] = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    csv.field_size_limit(_LONGEST_FIELD)
    for path in paths:
        texts = (line.decode("utf-8", "replace") + "\n" for _, _, line in _lines(_chunks([path])))
        reader = csv.reader(texts, delimiter=delimiter, **quoting)
        before, waiting = 0, header
        for row in reader:
            number, before = before + 1, reader.line_num
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            if not waiting:
                yield display(path), number, row[place] if place < len(row) else None
            waiting = False


def _columnar(source: Any, paths: list[str], column: str) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in paths:
        if source.format == "parquet":
            with pq.ParquetFile(path) as file:
                names = file.schema_arrow.names
                batches = file.iter_batches(columns=[column]) if column in names else ()
                yield from _values(batches, path, column, names)
            continue
        with open(path, "rb") as raw:
            magic = raw.read(6)
            raw.seek(0)
            if magic == b"ARROW1":
                table = pa.ipc.open_file(raw)
                parts = (table.get_batch(i) for i in range(table.num_record_batches))
            else:
                parts = table = pa.ipc.open_stream(raw)
            yield from _values(parts, path, column, table.schema.names)


def _values(batches: Any, path: str, column: str, names: list[str]) -> Iterator[Row]:
    if column not in names:
        raise DataError(f"{path}: there is no column {column!r} for --id; {suggest(column, names)}")
    number = 0
    for batch in batches:
        for value in batch.column(batch.schema.names.index(column)).to_pylist():
            number += 1
            yield path, number, value


def _files(source: Source, folders: list[str], column: str) -> Iterator[Row]:
    from riata.sources.text.folder import labelled_files

    files = [path for folder in folders for _, path in labelled_files(folder)]
    for number, path in enumerate(files, 1):
        yield source.name, number, path


_OWN = {"vw": "tag", "folder": "file"}
"""What rows have that need no column for it."""
_READERS = {
    "vw": _tags,
    "folder": _files,
    "jsonl": _json,
    "parquet": _columnar,
    "arrow": _columnar,
    "csv": _csv,
    "tsv": _csv,
}

"""Where the data is cut: shards do not depend on how many workers there are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from riata.errors import DataError, SettingsError
from riata.sources import ReadOptions
from riata.sources.io.bytes import (
    HEAD,
    STDIN,
    FilePart,
    compression,
    compression_of_name,
    expand,
    is_remote,
    size_of,
)
from riata.sources.recognise import format_of

SHARD_BYTES = 64 << 20
"""About so many bytes are a shard, unless somebody says otherwise."""
_WINDOW = 1 << 16
_LINES = ("svmlight", "vw", "jsonl", "csv", "tsv", "fasttext")
"""Formats that can be cut at the end of a line."""


@dataclass(frozen=True)
class Piece:
    """A file, or a part of one."""

    path: str
    size: int
    rows: int | None = None
    """Where that is cheap to know."""
    start: int | None = None
    """Bytes of text or row groups of Parquet, up to `stop`; None: all of the file."""
    stop: int | None = None
    mark: str = ""
    """What changes when the file does: its size and time, or what the server says."""

    @property
    def name(self) -> str:
        """For people."""
        return self.path if self.start is None else f"{self.path}[{self.start}:{self.stop}]"

    def part(self, head: bytes) -> FilePart | None:
        if self.start is None or self.stop is None:
            return None
        return FilePart(self.start, self.stop, b"" if self.start == 0 else head)


@dataclass(frozen=True)
class Shard:
    """Some consecutive pieces of the data: what one task reads."""

    number: int
    """From 1."""
    pieces: tuple[Piece, ...]

    @property
    def bytes(self) -> int:
        return sum(piece.size for piece in self.pieces)

    @property
    def rows(self) -> int | None:
        known = [piece.rows for piece in self.pieces if piece.rows is not None]
        return sum(known) if len(known) == len(self.pieces) else None

    @property
    def name(self) -> str:
        """For people."""
        first, last = self.pieces[0].name, self.pieces[-1].name
        return first if len(self.pieces) == 1 else f"{first} to {last}"

    def identity(self) -> list[list[Any]]:
        """What must be equal where parts of a training are put together: names, places and sizes."""
        return [[os.path.basename(p.path), p.size, p.start, p.stop] for p in self.pieces]

    def check(self) -> None:
        """A DataError where a file is not what it was when the data was split."""
        for piece in self.pieces:
            if mark_of(piece.path) != piece.mark:
                raise DataError(
                    f"{piece.name} (shard {self.number}): the file has changed since the training "
                    "began: train on files that stay as they are"
                )

    def to_json(self) -> dict[str, Any]:
        return {"number": self.number, "pieces": [asdict(piece) for piece in self.pieces]}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Shard:
        return cls(values["number"], tuple(Piece(**piece) for piece in values["pieces"]))


def split(
    paths: Sequence[str] | str,
    options: ReadOptions | None = None,
    *,
    count: int | None = None,
    shard_bytes: int | None = None,
) -> list[Shard]:
    """The shards of some files: so many (`count`), or as many as there are with about `shard_bytes` bytes each.

    Small files go together, Parquet is cut between row groups, text at the ends of lines. What cannot be cut
    (compressed text, ARFF, Arrow) is a shard of its own, however large.
    """
    if count is not None and count < 1:
        raise SettingsError(f"a number of shards is at least 1, not {count}")
    options = options or ReadOptions()
    files = expand([paths] if isinstance(paths, str) else list(paths))
    if STDIN in files:
        raise DataError("standard input cannot be split into shards: save it to a file")
    if not files:
        raise DataError("no files given")
    format = format_of(files, options.format)
    sizes = [_size(path) for path in files]
    total = sum(sizes)
    wanted = shard_bytes or SHARD_BYTES
    if count is not None:
        wanted = max(1, -(-total // count))
    grain = max(1, wanted // 8) if count is not None else wanted
    pieces = [
        piece
        for path, size in zip(files, sizes, strict=True)
        for piece in _pieces(path, size, format, options, grain)
    ]
    if not pieces:
        raise DataError(f"no examples in {files[0]}{' and others' if len(files) > 1 else ''}")
    groups = _gathered(pieces, wanted) if count is None else _cut_into(pieces, count)
    return [Shard(number, tuple(_joined(group))) for number, group in enumerate(groups, 1)]


def _size(path: str) -> int:
    size = size_of(path)
    if size is None:
        raise DataError(f"{path}: a pipe, or of a size that nobody tells, cannot be split")
    return size


def mark_of(path: str) -> str:
    """What changes when a file does, as far as one can tell without reading it."""
    if is_remote(path):
        from riata.sources.io.remote import remote_status

        size, marks = remote_status(path)
        return f"{size} {marks}"
    try:
        status = os.stat(path)
    except OSError:
        raise DataError(f"{path}: no such file; it was there when the training began") from None
    return f"{status.st_size} {status.st_mtime_ns}"


def _pieces(path: str, size: int, format: str, options: ReadOptions, grain: int) -> Iterator[Piece]:
    if size == 0:
        return
    mark = mark_of(path)
    if format == "parquet":
        yield from _row_groups(path, size, mark, grain)
    elif format in _LINES and size > grain and not _is_packed(path):
        cuts = [*_cuts(path, size, format, options, grain), size]
        start = 0
        for stop in cuts:
            if stop > start:
                yield Piece(path, stop - start, None, start, stop, mark)
            start = max(start, stop)
    else:
        yield Piece(path, size, mark=mark)


def _is_packed(path: str) -> bool:
    if compression_of_name(path) is not None:
        return True
    with _open(path) as file:
        return compression(file.read(HEAD)) is not None


def _open(path: str) -> Any:
    if is_remote(path):
        from riata.sources.io.remote import open_remote

        return open_remote(path)
    return open(path, "rb")


def _cuts(path: str, size: int, format: str, options: ReadOptions, grain: int) -> Iterator[int]:
    """Places behind the end of a line, about `grain` bytes apart."""
    quote = options.quote if options.quote is not None else ('"' if format == "csv" else "none")
    quoted = format in ("csv", "tsv") and quote not in ("none", "")
    if quoted and is_remote(path):
        return  # whether a line ends inside quotes is known only to who has read all before it
    with _open(path) as file:
        at = before = open_quotes = 0
        while (at := max(at, before) + grain) < size:
            if quoted:
                open_quotes ^= _count(file, before, at, quote.encode()) % 2
            before = at
            place = _line_end(file, at, quote.encode() if quoted else b"", bool(open_quotes))
            if place is None:
                return
            if quoted:
                open_quotes ^= _count(file, before, place, quote.encode()) % 2
            before = at = place
            if place < size:
                yield place


def _count(file: Any, start: int, stop: int, sign: bytes) -> int:
    file.seek(start)
    found = 0
    while start < stop and (data := file.read(min(1 << 20, stop - start))):
        found += data.count(sign)
        start += len(data)
    return found


def _line_end(file: Any, at: int, quote: bytes, inside: bool) -> int | None:
    """The place behind the next newline that is not inside quotes; `inside`: one is open here."""
    file.seek(at)
    while data := file.read(_WINDOW):
        start = 0
        while True:
            newline = data.find(b"\n", start)
            if quote:
                inside ^= bool(data.count(quote, start, newline if newline >= 0 else len(data)) % 2)
            if newline < 0:
                break
            if not inside:
                return at + int(newline) + 1
            start = newline + 1
        at += len(data)
    return None


def _row_groups(path: str, size: int, mark: str, grain: int) -> Iterator[Piece]:
    """Consecutive row groups, up to `grain` bytes together, one at least."""
    from riata.sources.table.row_groups import parquet_groups

    groups = parquet_groups(path)
    if not groups:
        return
    if sum(bytes_ for _, bytes_ in groups) <= grain:
        yield Piece(path, size, sum(rows for rows, _ in groups), mark=mark)
        return
    start = rows = held = 0
    for i, (own_rows, own_bytes) in enumerate(groups):
        if held and held + own_bytes > grain:
            yield Piece(path, held, rows, start, i, mark)
            start, rows, held = i, 0, 0
        rows, held = rows + own_rows, held + own_bytes
    yield Piece(path, held, rows, start, len(groups), mark)


def _joined(pieces: list[Piece]) -> Iterator[Piece]:
    """Parts of a file that follow each other, as one."""
    held = pieces[0]
    for piece in pieces[1:]:
        if piece.path == held.path and piece.start is not None and piece.start == held.stop:
            rows = None if held.rows is None or piece.rows is None else held.rows + piece.rows
            held = replace(held, size=held.size + piece.size, rows=rows, stop=piece.stop)
        else:
            yield held
            held = piece
    yield held


def _gathered(pieces: list[Piece], wanted: int) -> Iterator[list[Piece]]:
    """Neighbours together, up to so many bytes."""
    held: list[Piece] = []
    size = 0
    for piece in pieces:
        if held and size + piece.size > wanted:
            yield held
            held, size = [], 0
        held.append(piece)
        size += piece.size
    yield held


def _cut_into(pieces: list[Piece], count: int) -> Iterator[list[Piece]]:
    """So many groups of neighbours, of about as many bytes each."""
    if len(pieces) < count:
        raise SettingsError(
            f"the data can be cut into {len(pieces)} shards, not {count}: files, row groups and lines stay "
            f"whole; ask for {len(pieces)} or fewer"
        )
    total = sum(piece.size for piece in pieces)
    held: list[Piece] = []
    done = made = 0
    for i, piece in enumerate(pieces):
        held.append(piece)
        done += piece.size
        left = len(pieces) - i - 1
        near = 2 * done + (pieces[i + 1].size if left else 0)  # twice the middle of the next one
        full = made + 1 < count and (
            near * count >= 2 * (made + 1) * total or left == count - made - 1
        )
        if full or not left:
            yield held
            held = []
            made += 1

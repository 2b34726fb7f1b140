"""A file of Blocks, mapped into memory where it is read: their arrays are used where they lie.

It is an Arrow IPC file (see `arrow_file`), with what Arrow's format does not have: a checksum for every
batch, and for the footer, which holds an index of them. Together with the head, which is always the
same, these cover each byte. Values that are all 1 take no space. Features with names are numbered as
they come, and the names of a million of them are a part of a dictionary, a glossary: each name is there
once, and a Block has numbers of four bytes in their place.

A file that is cut short while it is mapped does not take the interpreter down (see cpp/riata/mapped.hpp):
what is lost reads as zeros, and the pass ends with an error. The bytes are those of little-endian
machines, the only ones that Riata runs on.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import DataError, LostData
from riata.sources.arrow_file import (
    DICTIONARIES,
    END,
    END_OF_STREAM,
    FOOTER_PAIRS,
    HEAD,
    MAGIC,
    Layout,
    NamesLayout,
    footer,
    is_cache,
    padded,
)
from riata.sources.cache_arrays import (
    FIELDS,
    Pieces,
    decode,
    decode_names,
    encode,
    encode_names,
)
from riata.sources.flatbuffer import metadata
from riata.sources.prefetch import ordered_map

SUFFIX = ".riata-cache"
INDEX, CHECKSUM = b"riata-index", b"riata-checksum"

ENOUGH = 4 << 20
"""Bytes of a Block that is large enough."""
MOST = 2**31 - 1
"""Entries of a Block: Arrow counts them in 32 bits."""
SMALL = 32 << 20
"""Bytes of a file that may stay in the memory of this process from pass to pass."""
AHEAD, BEHIND = 2, 3
"""Blocks of a larger one that the system should have at hand, and that may stay after their turn."""


class Damaged(DataError):
    """The file is not what it was when it was written."""


class Unmapped(DataError):
    """The file cannot be mapped into memory where it is."""


class CacheWriter:
    """Writes Blocks to an open file; nothing is readable before `finish`.

    Small Blocks of one kind are gathered into larger ones: readers pay for every Block, and threads
    that share its rows meet for every Block.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._waiting: list[Block] = []
        self._waiting_bytes = 0
        self._kind: tuple[Any, ...] = ()
        self._numbers: list[NDArray[np.uint32]] = []
        self._position = len(HEAD)
        self._blocks: list[list[Any]] = []
        self._glossaries: list[list[Any]] = []
        self._numbering: _core.Numbering | None = None
        self._names = next(iter(DICTIONARIES))  # text, until one comes that is none
        self._bases = dict.fromkeys(DICTIONARIES, 0)
        self._paths: dict[str | None, int] = {}
        self._rows = 0
        file.write(HEAD)

    def write(self, block: Block) -> None:
        for part in _parts(block):
            self._write(part)

    def _write(self, block: Block) -> None:
        kind = _kind(block)
        if kind != self._kind or self._entries() + block.nnz > MOST:
            self._flush()
            self._kind = kind
        if block.named:
            block = self._number(block)
        self._waiting.append(block)
        self._waiting_bytes += _bytes(block)
        if self._waiting_bytes >= ENOUGH:
            self._flush()
        if self._numbering is not None and self._numbering.full:
            self._end_glossary()

    def _entries(self) -> int:
        return sum(block.nnz for block in self._waiting)

    def _number(self, block: Block) -> Block:
        """The Block without its names, which have been given numbers."""
        first, last = int(block.indptr[0]), int(block.indptr[-1])
        assert block.names is not None
        assert block.name_offsets is not None
        keys = np.ascontiguousarray(block.indices[first:last], dtype=np.int64)
        offsets = np.ascontiguousarray(block.name_offsets[first : last + 1])
        numbers = self._open_glossary().number(keys, block.names, offsets)
        if numbers is None:  # a name that is no text
            self._end_glossary()
            self._names = "raw_names"
            numbers = self._open_glossary().number(keys, block.names, offsets)
        assert numbers is not None
        self._numbers.append(numbers)
        return replace(block, names=None, name_offsets=None)

    def _open_glossary(self) -> _core.Numbering:
        if self._numbering is None:
            self._numbering = _core.Numbering(self._bases[self._names], self._names == "names")
        return self._numbering

    def _flush(self) -> None:
        if self._waiting:
            waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
            numbers, self._numbers = self._numbers, []
            layout, pieces = encode(waiting, numbers, self._names)
            where = self._put(layout.message(), layout.zeros, pieces)
            path = self._paths.setdefault(waiting[0].path, len(self._paths))
            glossary = len(self._glossaries) if numbers else None
            shape = [layout.rows, layout.entries, " ".join(layout.columns)]
            self._blocks.append([*where, *shape, path, glossary])
            self._rows += layout.rows

    def _end_glossary(self) -> None:
        self._flush()
        if self._numbering is not None:
            self._put_names(self._numbering, self._names)
            self._numbering = None

    def _put_names(self, numbering: _core.Numbering | None, column: str) -> None:
        layout, pieces = encode_names(numbering, column, self._bases[column])
        where = self._put(layout.message(), 0, pieces)
        self._glossaries.append([*where, column, layout.names, layout.size, layout.base])
        self._bases[column] += layout.names

    def _put(self, message: bytes, zeros: int, pieces: dict[str, Pieces]) -> list[int]:
        """Where it is, sizes of message and body, checksum of both."""
        start, checksum = self._position, _core.Checksum()

        def put(some: bytes | NDArray[Any]) -> int:
            data = np.frombuffer(some, np.uint8) if isinstance(some, bytes) else some.view(np.uint8)
            self._file.write(data.data)
            checksum.add(data)
            self._position += data.nbytes
            return data.nbytes

        put(message)
        put(bytes(zeros))
        for array in pieces.values():
            size = sum(put(np.ascontiguousarray(piece)) for piece in array)
            put(bytes(padded(size) - size))
        body = self._position - start - len(message)
        return [start, len(message), body, checksum.end()]

    def finish(self, about: dict[str, Any]) -> None:
        """`about`: whatever the reader should know, as JSON can hold it."""
        self._end_glossary()
        there = {column for *_, column, _, _, _ in self._glossaries}
        for column in DICTIONARIES:  # every dictionary of the schema must be in the file
            if column not in there:
                self._put_names(None, column)
        index = {
            "about": about,
            "rows": self._rows,
            "paths": list(self._paths),
            "glossaries": self._glossaries,
            "blocks": self._blocks,
        }
        pairs = {INDEX: json.dumps(index).encode(), CHECKSUM: bytes(16)}
        places = [[tuple(w[:3]) for w in some] for some in (self._glossaries, self._blocks)]
        end = footer(places[0], places[1], pairs)
        covered, digits = _signed(end)
        end[covered : covered + 16] = digits
        self._file.write(END_OF_STREAM + end + END.pack(len(end), MAGIC[:6]))
        self._file.flush()


def _signed(end: bytes | bytearray) -> tuple[int, bytes]:
    """How many bytes of the footer are covered by its checksum, which is the last string; its digits."""
    covered = end.rindex(CHECKSUM) + padded(len(CHECKSUM) + 1, 4) + 4
    return covered, b"%016x" % _core.checksum(bytes(end[:covered]))


def _parts(block: Block) -> Iterator[Block]:
    """The same in Blocks that the file can hold."""
    if block.nnz <= MOST:
        yield block
        return
    start = 0
    while start < len(block):
        stop = int(np.searchsorted(block.indptr, block.indptr[start] + MOST, "right")) - 1
        if stop == start:
            raise DataError(f"{block.where(start)}: more than {MOST} features in a row")
        yield block[start:stop]
        start = stop


Stamp: TypeAlias = tuple[int, ...]
"""What changes when somebody writes to a file."""


def stamp_of(status: os.stat_result) -> Stamp:
    return (
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )  # fmt: skip


@dataclass
class Known:
    """A file that was written, or found good, in this process. While it has the same stamp, only its
    index is looked at again: many passes would check the same bytes as often."""

    stamp: Stamp
    glossaries: dict[int, _core.Glossary] = field(default_factory=dict)
    mapped: _core.Mapped | None = None


class CacheReader:
    """The Blocks of a file that `CacheWriter` has finished. Damage raises `Damaged`."""

    def __init__(self, file: BinaryIO, name: str, known: Known | None = None) -> None:
        self._file = file
        self._name = name
        status = os.fstat(file.fileno())
        self._written = status.st_size, status.st_mtime_ns
        self.known = Known(stamp_of(status))
        """To be kept by whoever has had all of the Blocks."""
        self._checked = known is not None and known.stamp == self.known.stamp
        if known is not None and self._checked:
            self.known = known
        self._loading = threading.Lock()
        self.n_bytes = status.st_size
        self._mapped = self._map()
        content = self._index()
        self.about: dict[str, Any] = content["about"]
        self.n_rows: int = content["rows"]
        self._paths: list[str | None] = content["paths"]
        self._glossaries: list[list[Any]] = content["glossaries"]
        self._blocks: list[list[Any]] = content["blocks"]

    def _map(self) -> _core.Mapped:
        head = os.pread(self._file.fileno(), len(HEAD), 0)
        if head != HEAD:
            if is_cache(head) and len(head) == len(HEAD):
                raise Damaged(f"{self._name}: a cache of another version of riata: make it anew")
            raise Damaged(f"{self._name}: not a complete cache of riata: make it anew")
        if self.known.mapped is None:
            try:
                self.known.mapped = _core.Mapped(self._file.fileno(), self.n_bytes)
            except OSError as error:
                raise Unmapped(
                    f"{self._name}: cannot be mapped into memory there: {error.strerror}: "
                    "put it on another file system"
                ) from None
        return self.known.mapped

    def _index(self) -> dict[str, Any]:
        least = len(HEAD) + len(END_OF_STREAM) + END.size
        size, magic = (
            END.unpack(self._bytes(self.n_bytes - END.size, END.size))
            if self.n_bytes >= least
            else (0, b"")
        )
        if magic != MAGIC[:6]:
            raise Damaged(f"{self._name}: not a complete cache of riata: make it anew")
        start = self.n_bytes - END.size - size
        behind = start - len(END_OF_STREAM)
        if size < 0 or behind < len(HEAD):
            raise self._damaged("its parts do not add up to its size")
        end = self._bytes(start, size)
        try:
            covered, digits = _signed(end)
            good = end[covered:].ljust(24, b"\0") == digits.ljust(24, b"\0")
            content: dict[str, Any] = json.loads(metadata(end, FOOTER_PAIRS)[INDEX]) if good else {}
        except (ValueError, KeyError):
            good = False
        if not good:
            raise self._damaged("the checksum of its index is wrong")
        at = len(HEAD)
        for where in sorted(content["glossaries"] + content["blocks"], key=lambda w: int(w[0])):
            if where[0] != at:
                break
            at += where[1] + where[2]
        if at != behind or self._bytes(behind, len(END_OF_STREAM)) != END_OF_STREAM:
            raise self._damaged("its parts do not add up to its size")
        return content

    def _damaged(self, why: str) -> DataError:
        if self._changed():
            return self._while_read()
        return Damaged(f"{self._name}: the cache is damaged: {why}: delete it, or make it anew")

    def check(self) -> None:
        """LostData if what was read is not what the file had held: somebody cut or changed it meanwhile."""
        if self._changed():
            raise self._while_read()

    def _changed(self) -> bool:
        if self._file.closed:
            return self._mapped.lost
        status = os.fstat(self._file.fileno())
        return self._mapped.lost or (status.st_size, status.st_mtime_ns) != self._written

    def _while_read(self) -> LostData:
        self.known.mapped = None
        return LostData(
            f"{self._name}: somebody cut this cache short, or wrote to it, while it was read: "
            "what was read since is worthless: start again"
        )

    def blocks(self) -> Generator[tuple[Block, int], None, None]:
        """Every Block, with the position in the file behind it; in threads where bytes must be checked.

        They are views of the file. When the next one is asked for, the one before may have been used:
        then is the time to notice that it was not what the file had been.
        """
        with closing(self._made()) as blocks:
            for i, (block, behind) in enumerate(blocks):
                yield block, behind
                del block
                self.check()
                self._leave(i - BEHIND)
        for i in range(max(0, len(self._blocks) - BEHIND), len(self._blocks)):
            self._leave(i)
        self._check_rest()
        self.check()

    def _made(self) -> Generator[tuple[Block, int], None, None]:
        if not self._checked:
            yield from ordered_map(self._block, iter(self._blocks), threads=2)
            return
        for i, where in enumerate(self._blocks):
            if self.n_bytes > SMALL and i + AHEAD < len(self._blocks):
                start, head, body, *_ = self._blocks[i + AHEAD]
                self._mapped.fetch(start, head + body)
            yield self._block(where)

    def _leave(self, i: int) -> None:
        """Large files would fill the memory of this process with what it had its turn."""
        if i >= 0 and self.n_bytes > SMALL:
            start, head, body, *_ = self._blocks[i]
            self._mapped.release(start, head + body)

    def _check_rest(self) -> None:
        """Glossaries that no Block has asked for: every part of the file is checked in a pass."""
        asked = {number for *_, number in self._blocks}
        for number in range(len(self._glossaries)):
            if number not in asked:
                self._section(*self._glossaries[number][:4])

    def _block(self, where: list[Any]) -> tuple[Block, int]:
        start, head, body, checksum, rows, entries, columns, path, number = where
        data = self._section(start, head, body, checksum)
        glossary = None if number is None else self._glossary(number)
        layout = Layout(rows, entries, tuple(columns.split()))
        try:
            block = decode(data, layout, self._paths[path], glossary)
        except ValueError as error:
            raise self._damaged(str(error)) from None
        return block, start + head + body

    def _glossary(self, number: int) -> _core.Glossary:
        with self._loading:
            held = self.known.glossaries
            if number not in held:
                *where, column, names, size, base = self._glossaries[number]
                data = self._section(*where)
                try:
                    held[number] = decode_names(data, NamesLayout(column, names, size, base))
                except ValueError as error:
                    raise self._damaged(str(error)) from None
                for old in [other for other in held if other < number - 1 or other > number]:
                    del held[old]  # the Blocks that need them still have them
                    start, head, body, *_ = self._glossaries[old]
                    self._mapped.release(start, head + body)
            return held[number]

    def _section(self, start: int, head: int, body: int, checksum: int) -> NDArray[np.uint8]:
        """The body of a message that lies there, and is what was written."""
        data = self._mapped.array(start, head + body)
        if not self._checked and _core.checksum(data) != checksum:
            raise self._damaged("a checksum is wrong")
        return data[head:]

    def _bytes(self, start: int, size: int) -> bytes:
        return self._mapped.array(start, size).tobytes()


def _kind(block: Block) -> tuple[Any, ...]:
    """Blocks of the same kind become one Block without losing anything."""
    there = tuple(getattr(block, f) is None for f in FIELDS.values())
    return (block.path, block.indices.dtype, block.named, *there)


def _bytes(block: Block) -> int:
    columns = sum(getattr(block, f) is not None for f in FIELDS.values())
    entry = block.indices.itemsize + block.values.itemsize
    return block.nnz * entry + len(block) * (12 + 8 * columns)

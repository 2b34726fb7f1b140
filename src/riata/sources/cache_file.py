"""A file of Blocks: their arrays, in as few bytes as are quick to read, each Block with a checksum.

    magic (16 bytes)
    the arrays of Blocks and glossaries, each starting at a multiple of 64
    footer: JSON that says where every array is, and of what it is
    offset, size and checksum of the footer (8 bytes each, little-endian), magic

Arrays that only count, or are all 1, take no space; values that are 1 take a bit, small whole numbers a
byte. Features with names are numbered as they come, and the names of a million of them are a glossary:
each name is there once, and a Block has numbers of four bytes in their place.

Like an Arrow IPC file, but core Riata can read it without pyarrow, and damage is noticed: Arrow's
format has no checksums. It is read, not mapped: a file that is cut short while mapped takes the
interpreter down, and for pages that are met the first time mapping costs more than copying. The bytes
are those of little-endian machines, the only ones that Riata runs on.
"""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block, GlossaryBlock
from riata.errors import DataError
from riata.sources.cache_arrays import (
    Encoder,
    decode,
    decode_glossary,
    encode,
    encode_glossary,
    padded,
)
from riata.sources.prefetch import ordered_map

MAGIC = b"riata-cache-2\n\0\0"
SUFFIX = ".riata-cache"
_TRAILER = struct.Struct("<QQQ16s")

ENOUGH = 4 << 20
"""Bytes of a Block that is large enough."""


class Damaged(DataError):
    """The file is not what it was when it was written."""


class CacheWriter:
    """Writes Blocks to an open file; nothing is readable before `finish`.

    Small Blocks of one kind are gathered into larger ones: readers pay for every Block, and threads
    that share its rows meet for every Block.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._waiting: list[Block] = []
        self._kind: tuple[Any, ...] = ()
        self._numbers: list[NDArray[np.uint32]] = []
        self._position = len(MAGIC)
        self._blocks: list[list[Any]] = []
        self._glossaries: list[list[Any]] = []
        self._numbering: _core.Numbering | None = None
        self._paths: dict[str | None, int] = {}
        self._rows = 0
        file.write(MAGIC)

    def write(self, block: Block) -> None:
        kind = _kind(block)
        if kind != self._kind:
            self._flush()
            self._kind = kind
        self._waiting.append(self._number(block) if block.named else block)
        if sum(map(_bytes, self._waiting)) >= ENOUGH:
            self._flush()
        if self._numbering is not None and self._numbering.full:
            self._end_glossary()

    def _number(self, block: Block) -> Block:
        """The Block without its names, which have been given numbers."""
        first, last = int(block.indptr[0]), int(block.indptr[-1])
        assert block.names is not None
        assert block.name_offsets is not None
        if self._numbering is None:
            self._numbering = _core.Numbering()
        numbers = self._numbering.number(
            np.ascontiguousarray(block.indices[first:last], dtype=np.int64),
            block.names,
            np.ascontiguousarray(block.name_offsets[first : last + 1]),
        )
        self._numbers.append(numbers)
        return replace(block, names=None, name_offsets=None)

    def _flush(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            numbers, self._numbers = self._numbers, []
            where = self._put(encode(waiting, numbers))
            path = self._paths.setdefault(waiting[0].path, len(self._paths))
            rows = sum(map(len, waiting))
            self._blocks.append([*where, rows, path, len(self._glossaries) if numbers else None])
            self._rows += rows

    def _end_glossary(self) -> None:
        self._flush()
        if self._numbering is not None:
            self._glossaries.append(self._put(encode_glossary(self._numbering)))
            self._numbering = None

    def _put(self, encoded: Encoder) -> list[Any]:
        """Where it is, its checksum, and what it is."""
        start = padded(self._position)
        self._file.write(bytes(start - self._position))
        self._position = start
        checksum = _core.Checksum()
        for array in encoded.arrays:
            before = self._position
            for piece in array:
                self._file.write(piece.data)
                checksum.add(piece)
                self._position += piece.nbytes
            zeros = bytes(padded(self._position - before) - (self._position - before))
            self._file.write(zeros)
            checksum.add(zeros)
            self._position += len(zeros)
        return [start, self._position - start, checksum.end(), encoded.entries]

    def finish(self, about: dict[str, Any]) -> None:
        """`about`: whatever the reader should know, as JSON can hold it."""
        self._end_glossary()
        footer = json.dumps(
            {
                "about": about,
                "rows": self._rows,
                "paths": list(self._paths),
                "glossaries": self._glossaries,
                "blocks": self._blocks,
            }
        ).encode()
        self._file.write(footer)
        trailer = _TRAILER.pack(self._position, len(footer), _core.checksum(footer), MAGIC)
        self._file.write(trailer)
        self._file.flush()


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


class CacheReader:
    """The Blocks of a file that `CacheWriter` has finished. Damage raises `Damaged`."""

    def __init__(self, file: BinaryIO, name: str, known: Known | None = None) -> None:
        self._file = file
        self._name = name
        self.known = Known(stamp_of(os.fstat(file.fileno())))
        """To be kept by whoever has had all of the Blocks."""
        self._checked = known is not None and known.stamp == self.known.stamp
        if known is not None and self._checked:
            self.known = known
        self._loading = threading.Lock()
        size = file.seek(0, os.SEEK_END)
        if size < len(MAGIC) + _TRAILER.size:
            raise Damaged(f"{name}: too short to be a cache of riata")
        offset, length, checksum, magic = _TRAILER.unpack(
            self._read(size - _TRAILER.size, _TRAILER.size).tobytes()
        )
        head = self._read(0, len(MAGIC)).tobytes()
        if head != MAGIC and head[:12] == MAGIC[:12]:
            raise Damaged(f"{name}: a cache of another version of riata: make it anew")
        if magic != MAGIC or head != MAGIC:
            raise Damaged(f"{name}: not a complete cache of riata: make it anew")
        if offset + length + _TRAILER.size != size:
            raise self._damaged("its parts do not add up to its size")
        footer = self._read(offset, length)
        if _core.checksum(footer) != checksum:
            raise self._damaged("the checksum of its index is wrong")
        content = json.loads(footer.tobytes())
        self.about: dict[str, Any] = content["about"]
        self.n_rows: int = content["rows"]
        self.n_bytes = size
        self._paths: list[str | None] = content["paths"]
        self._glossaries: list[list[Any]] = content["glossaries"]
        self._blocks: list[list[Any]] = content["blocks"]

    def _damaged(self, why: str) -> Damaged:
        return Damaged(f"{self._name}: the cache is damaged: {why}: delete it, or make it anew")

    def blocks(self) -> Generator[tuple[Block, int], None, None]:
        """Every Block, read ahead in threads, with the position in the file behind it."""
        return ordered_map(self._block, iter(self._blocks), threads=2)

    def _block(self, where: list[Any]) -> tuple[Block, int]:
        start, size, checksum, entries, rows, path, number = where
        data = self._section(start, size, checksum)
        glossary = None if number is None else self._glossary(number)
        try:
            block = decode(data, self._paths[path], entries, glossary)
        except ValueError as error:
            raise self._damaged(str(error)) from None
        sizes = {len(block.indices), len(block.values), block.nnz}
        if isinstance(block, GlossaryBlock):
            sizes.add(len(block.numbers))
        if len(block) != rows or len(sizes) > 1:
            raise self._damaged("arrays of a Block differ in length")
        return block, start + size

    def _glossary(self, number: int) -> _core.Glossary:
        with self._loading:
            held = self.known.glossaries
            if number not in held:
                start, size, checksum, entries = self._glossaries[number]
                data = self._section(start, size, checksum)
                try:
                    held[number] = decode_glossary(data, entries)
                except ValueError as error:
                    raise self._damaged(str(error)) from None
                for old in [other for other in held if other < number - 1 or other > number]:
                    del held[old]  # the Blocks that need them still have them
            return held[number]

    def _section(self, start: int, size: int, checksum: int) -> NDArray[np.uint8]:
        data = self._read(start, size)
        if not self._checked and _core.checksum(data) != checksum:
            raise self._damaged("a checksum is wrong")
        return data

    def _read(self, start: int, size: int) -> NDArray[np.uint8]:
        data = _core.buffer(size)
        descriptor, filled = self._file.fileno(), 0
        while filled < size:
            count = os.preadv(descriptor, [data[filled:].data], start + filled)
            if not count:
                raise self._damaged("it is cut short")
            filled += count
        return data


def _kind(block: Block) -> tuple[Any, ...]:
    """Blocks of the same kind become one Block without losing anything."""
    there = tuple(getattr(block, f) is None for f in ("labels", "weights", "lines", "offsets"))
    return (block.path, block.indices.dtype, block.named, *there)


def _bytes(block: Block) -> int:
    return block.nnz * (block.indices.itemsize + block.values.itemsize)

"""Writes a file of Blocks: see `cache_file`, which reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.sources.cache.arrays import FIELDS, Pieces, encode, encode_names
from riata.sources.cache.arrow_file import (
    DICTIONARIES,
    END,
    END_OF_STREAM,
    HEAD,
    MAGIC,
    footer,
    padded,
)

INDEX, CHECKSUM = b"riata-index", b"riata-checksum"

ENOUGH = 4 << 20
"""Bytes of a Block that is large enough."""
MOST = 2**31 - 1
"""Entries of a Block: Arrow counts them in 32 bits."""


class CacheWriter:
    """Writes Blocks to an open file; nothing is readable before `finish`.

    Small Blocks of one kind are gathered into larger ones: readers pay for every Block, and threads
    that share its rows wait for each other at every Block.
    """

    def __init__(self, file: BinaryIO, hash_key: str | None = None) -> None:
        """`hash_key`: that of the names' keys, where it is not the default."""
        self._file = file
        self._hash_key = None if hash_key is None else bytes.fromhex(hash_key)
        self._waiting: list[Block] = []
        self._waiting_bytes = 0
        self._kind: tuple[Any, ...] = ()
        self._numbers: list[NDArray[np.uint32]] = []
        self._position = len(HEAD)
        self._blocks: list[list[Any]] = []
        self._glossaries: list[list[Any]] = []
        self._name_numbers: _core.NameNumbers | None = None
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
        if self._name_numbers is not None and self._name_numbers.full:
            self._end_name_numbers()

    def _entries(self) -> int:
        return sum(block.nnz for block in self._waiting)

    def _number(self, block: Block) -> Block:
        """The Block without its names, which have been given numbers."""
        first, last = int(block.indptr[0]), int(block.indptr[-1])
        assert block.names is not None
        assert block.name_offsets is not None
        keys = np.ascontiguousarray(block.indices[first:last], dtype=np.int64)
        offsets = np.ascontiguousarray(block.name_offsets[first : last + 1])
        numbers = self._open_name_numbers().number(keys, block.names, offsets)
        if numbers is None:  # a name that is no text
            self._end_name_numbers()
            self._names = "raw_names"
            numbers = self._open_name_numbers().number(keys, block.names, offsets)
        assert numbers is not None
        self._numbers.append(numbers)
        return replace(block, names=None, name_offsets=None)

    def _open_name_numbers(self) -> _core.NameNumbers:
        if self._name_numbers is None:
            self._name_numbers = _core.NameNumbers(
                self._bases[self._names], self._names == "names", self._hash_key
            )
        return self._name_numbers

    def _flush(self) -> None:
        if self._waiting:
            waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
            numbers, self._numbers = self._numbers, []
            layout, pieces = encode(waiting, numbers, self._names)
            where = self._put(layout.message(), layout.zeros, pieces)
            path = self._paths.setdefault(waiting[0].path, len(self._paths))
            name_list = len(self._glossaries) if numbers else None
            shape = [layout.rows, layout.entries, " ".join(layout.columns)]
            self._blocks.append([*where, *shape, path, name_list])
            self._rows += layout.rows

    def _end_name_numbers(self) -> None:
        self._flush()
        if self._name_numbers is not None:
            self._put_names(self._name_numbers, self._names)
            self._name_numbers = None

    def _put_names(self, name_numbers: _core.NameNumbers | None, column: str) -> None:
        layout, pieces = encode_names(name_numbers, column, self._bases[column])
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
        self._end_name_numbers()
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
        covered, digits = signed(end)
        end[covered : covered + 16] = digits
        self._file.write(END_OF_STREAM + end + END.pack(len(end), MAGIC[:6]))
        self._file.flush()


def signed(end: bytes | bytearray) -> tuple[int, bytes]:
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


def _kind(block: Block) -> tuple[Any, ...]:
    """Blocks of the same kind become one Block without losing anything."""
    there = tuple(getattr(block, f) is None for f in FIELDS.values())
    return (block.path, block.indices.dtype, block.named, *there)


def _bytes(block: Block) -> int:
    columns = sum(getattr(block, f) is not None for f in FIELDS.values())
    entry = block.indices.itemsize + block.values.itemsize
    return block.nnz * entry + len(block) * (12 + 8 * columns)

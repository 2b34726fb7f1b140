"""A file of Blocks: their arrays as they lie in memory, each Block with a checksum.

    magic (16 bytes)
    the arrays of the Blocks, each starting at a multiple of 64
    footer: JSON that says where every array is, and of what it is
    offset, size and checksum of the footer (8 bytes each, little-endian), magic

Like an Arrow IPC file, but core Riata can read it without pyarrow, and damage is noticed: Arrow's
format has no checksums. It is read, not mapped: a file that is cut short while mapped takes the
interpreter down, and copying costs little beside learning. Arrays that only count, or are all 1,
take no space. The bytes are those of little-endian machines, the only ones that Riata runs on.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Generator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block, concatenate
from riata.errors import DataError
from riata.sources.prefetch import ordered_map

MAGIC = b"riata-cache-1\n\0\0"
SUFFIX = ".riata-cache"
_TRAILER = struct.Struct("<QQQ16s")
_ALIGN = 64
_KINDS: dict[str, Any] = {"i4": np.int32, "i8": np.int64, "f4": np.float32, "f8": np.float64}
_LENGTHS: dict[str, Any] = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32}

ENOUGH = 4 << 20
"""Bytes of a Block that is large enough."""

Entry = list[Any]
"""An array: its field, how it is stored, its length, its first element."""


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
        self._position = len(MAGIC)
        self._blocks: list[list[Any]] = []
        self._paths: dict[str | None, int] = {}
        self._rows = 0
        file.write(MAGIC)

    def write(self, block: Block) -> None:
        if self._waiting and _kind(block) != _kind(self._waiting[0]):
            self._flush()
        self._waiting.append(block)
        if sum(map(_bytes, self._waiting)) >= ENOUGH:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            block, self._waiting = concatenate(self._waiting), []
            self._put(block)

    def _put(self, block: Block) -> None:
        entries, arrays = _encode(block)
        size = sum(array.nbytes + -array.nbytes % _ALIGN for array in arrays)
        data = _core.buffer(size)
        position = 0
        for array in arrays:
            end = position + array.nbytes
            data[position:end] = array.view(np.uint8)
            position = end + -end % _ALIGN
            data[end:position] = 0
        start = self._position + -self._position % _ALIGN
        self._file.write(bytes(start - self._position))
        self._file.write(data.data)
        path = self._paths.setdefault(block.path, len(self._paths))
        self._blocks.append([start, size, _core.checksum(data), len(block), path, entries])
        self._position = start + size
        self._rows += len(block)

    def finish(self, about: dict[str, Any]) -> None:
        """`about`: whatever the reader should know, as JSON can hold it."""
        self._flush()
        footer = json.dumps(
            {
                "about": about,
                "rows": self._rows,
                "paths": list(self._paths),
                "blocks": self._blocks,
            }
        ).encode()
        self._file.write(footer)
        trailer = _TRAILER.pack(self._position, len(footer), _core.checksum(footer), MAGIC)
        self._file.write(trailer)
        self._file.flush()


Stamp = tuple[int, ...]
"""What changes when somebody writes to a file."""


class CacheReader:
    """The Blocks of a file that `CacheWriter` has finished. Damage raises `Damaged`.

    `checked`: the `stamp` of a reader that has found every Block good. While the file has it still,
    only its index is looked at again: many passes would check the same bytes as often.
    """

    def __init__(self, file: BinaryIO, name: str, checked: Stamp | None = None) -> None:
        self._file = file
        self._name = name
        status = os.fstat(file.fileno())
        self.stamp: Stamp = (
            status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        )  # fmt: skip
        self._checked = checked == self.stamp
        size = file.seek(0, os.SEEK_END)
        if size < len(MAGIC) + _TRAILER.size:
            raise Damaged(f"{name}: too short to be a cache of riata")
        offset, length, checksum, magic = _TRAILER.unpack(
            self._read(size - _TRAILER.size, _TRAILER.size).tobytes()
        )
        if magic != MAGIC or self._read(0, len(MAGIC)).tobytes() != MAGIC:
            raise Damaged(f"{name}: not a complete cache of this version of riata")
        if offset + length + _TRAILER.size != size:
            raise Damaged(f"{name}: the cache is damaged: its parts do not add up to its size")
        footer = self._read(offset, length)
        if _core.checksum(footer) != checksum:
            raise Damaged(f"{name}: the cache is damaged: the checksum of its index is wrong")
        content = json.loads(footer.tobytes())
        self.about: dict[str, Any] = content["about"]
        self.n_rows: int = content["rows"]
        self.n_bytes = size
        self._paths: list[str | None] = content["paths"]
        self._blocks: list[list[Any]] = content["blocks"]

    def blocks(self) -> Generator[tuple[Block, int], None, None]:
        """Every Block, read ahead in threads, with the position in the file behind it."""
        return ordered_map(self._block, iter(self._blocks), threads=2)

    def _block(self, where: list[Any]) -> tuple[Block, int]:
        start, size, checksum, rows, path, entries = where
        data = self._read(start, size)
        if not self._checked and _core.checksum(data) != checksum:
            raise Damaged(f"{self._name}: the cache is damaged: a checksum is wrong")
        return _decode(data, rows, self._paths[path], entries), start + size

    def _read(self, start: int, size: int) -> NDArray[np.uint8]:
        data = _core.buffer(size)
        descriptor, filled = self._file.fileno(), 0
        while filled < size:
            count = os.preadv(descriptor, [data[filled:].data], start + filled)
            if not count:
                raise Damaged(f"{self._name}: the cache is cut short")
            filled += count
        return data


def _kind(block: Block) -> tuple[Any, ...]:
    """Blocks of the same kind become one Block without losing anything."""
    there = tuple(getattr(block, f) is None for f in ("labels", "weights", "names", "lines"))
    return (block.path, block.indices.dtype, *there)


def _bytes(block: Block) -> int:
    names = 0 if block.name_offsets is None else int(block.name_offsets[-1] - block.name_offsets[0])
    return block.nnz * (block.indices.itemsize + block.values.itemsize) + names


def _encode(block: Block) -> tuple[list[Entry], list[NDArray[Any]]]:
    entries: list[Entry] = []
    arrays: list[NDArray[Any]] = []

    def add(field: str, kind: str, array: NDArray[Any], first: int = 0) -> None:
        entries.append([field, kind, len(array), first])
        if kind not in ("ones", "range"):
            arrays.append(array)

    def plain(field: str, array: NDArray[Any]) -> None:
        kind = next(k for k, dtype in _KINDS.items() if array.dtype == dtype)
        if array.dtype.kind == "f" and len(array) and (array == 1).all():
            kind = "ones"
        elif field == "lines" and len(array) and (np.diff(array) == 1).all():
            kind = "range"
        add(field, kind, np.ascontiguousarray(array), int(array[0]) if kind == "range" else 0)

    def lengths(field: str, offsets: NDArray[np.int64]) -> None:
        steps = np.diff(offsets)
        largest = int(steps.max()) if len(steps) else 0
        kind = next(k for k, dtype in _LENGTHS.items() if largest <= np.iinfo(dtype).max)
        add(field, kind, steps.astype(_LENGTHS[kind]))

    first, last = int(block.indptr[0]), int(block.indptr[-1])
    lengths("indptr", block.indptr)
    plain("indices", block.indices[first:last])
    plain("values", block.values[first:last])
    for field in ("labels", "weights", "lines"):
        if getattr(block, field) is not None:
            plain(field, getattr(block, field))
    if block.names is not None and block.name_offsets is not None:
        offsets = block.name_offsets[first : last + 1]
        lengths("name_offsets", offsets)
        add("names", "text", block.names[int(offsets[0]) : int(offsets[-1])])
    return entries, arrays


def _decode(data: NDArray[np.uint8], rows: int, path: str | None, entries: list[Entry]) -> Block:
    fields: dict[str, Any] = {}
    position = 0
    for field, kind, count, first in entries:
        if kind == "ones":
            fields[field] = np.ones(count, np.float32 if field == "values" else np.float64)
            continue
        if kind == "range":
            fields[field] = np.arange(first, first + count, dtype=np.int64)
            continue
        dtype = np.dtype(np.uint8 if kind == "text" else {**_KINDS, **_LENGTHS}[kind])
        size = count * dtype.itemsize
        array = data[position : position + size].view(dtype)
        position += size + -size % _ALIGN
        if kind in _LENGTHS:
            array = _core.offsets(array)
        fields[field] = array
    if len(fields["indptr"]) != rows + 1:
        raise Damaged(f"{path}: the cache is damaged: a Block has another number of rows")
    return Block(path=path, **fields)

"""A file of Blocks, each read into memory as a whole: their arrays are used where they lie.

It is an Arrow IPC file (see `arrow_file`), with what Arrow's format does not have: a checksum for every
batch, and for the footer, which holds an index of them. Together with the head, which is always the
same, these cover each byte. Values that are all 1 take no space. Features with names are numbered as
they come, and the names of a million of them are a part of a dictionary, a name_list: each name is there
once, and a Block has numbers of four bytes in their place.

A file that is cut short or written to while it is read ends the pass with an error. The bytes are those
of little-endian machines, the only ones that Riata runs on.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.errors import DataError, LostData
from riata.schema import Schema
from riata.sources.cache.arrays import decode, decode_names
from riata.sources.cache.arrow_file import (
    END,
    END_OF_STREAM,
    FOOTER_PAIRS,
    HEAD,
    MAGIC,
    Layout,
    NamesLayout,
    check_index,
    is_cache,
)
from riata.sources.cache.flatbuffer import metadata
from riata.sources.cache.writer import INDEX, signed
from riata.sources.io.prefetch import ordered_map

SUFFIX = ".riata-cache"
SMALL = 32 << 20
"""Bytes of a file that may stay in the memory of this process from pass to pass."""


class Damaged(DataError):
    """The file is not what it was when it was written."""


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
    glossaries: dict[int, _core.NameList] = field(default_factory=dict)
    blocks: dict[int, Block] = field(default_factory=dict)
    """Of a small file, by where they begin."""


class CacheReader:
    """The Blocks of a file that a `CacheWriter` has finished. Damage raises `Damaged`."""

    def __init__(self, file: BinaryIO, name: str, known: Known | None = None) -> None:
        self._file = file
        self._name = name
        status = os.fstat(file.fileno())
        self._written = status.st_size, status.st_mtime_ns
        self.known = Known(stamp_of(status))
        """To be kept once all of the Blocks were read."""
        self._checked = known is not None and known.stamp == self.known.stamp
        if known is not None and self._checked:
            self.known = known
        self._loading = threading.Lock()
        self.n_bytes = status.st_size
        self._check_head()
        content = self._index()
        self.about: dict[str, Any] = content["about"]
        self.n_rows: int = content["rows"]
        self._paths: list[str | None] = content["paths"]
        self._glossaries: list[list[Any]] = content["glossaries"]
        self._blocks: list[list[Any]] = content["blocks"]

    def _check_head(self) -> None:
        head = self._read(0, len(HEAD)).tobytes()
        if head != HEAD:
            if is_cache(head):
                raise Damaged(f"{self._name}: a cache of another version of riata: make it anew")
            raise Damaged(f"{self._name}: not a complete cache of riata: make it anew")

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
            covered, digits = signed(end)
            good = end[covered:].ljust(24, b"\0") == digits.ljust(24, b"\0")
            content: dict[str, Any] = json.loads(metadata(end, FOOTER_PAIRS)[INDEX]) if good else {}
        except (ValueError, KeyError):
            good = False
        if not good:
            raise self._damaged("the checksum of its index is wrong")
        try:
            check_index(content)
            schema_of(content["about"])
        except Exception as error:  # signed, and yet not of ours: whatever is wrong, it is the file
            raise self._damaged(f"its index does not fit together ({error})") from None
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
            return False
        status = os.fstat(self._file.fileno())
        return (status.st_size, status.st_mtime_ns) != self._written

    def _while_read(self) -> LostData:
        return LostData(
            f"{self._name}: somebody cut this cache short, or wrote to it, while it was read: "
            "what was read since is worthless: start again"
        )

    def blocks(self) -> Generator[tuple[Block, int], None, None]:
        """Every Block, with the position in the file behind it; read, and checked, in threads."""
        kept = self.known.blocks
        missing = [where for where in self._blocks if where[0] not in kept]
        # Where bytes need no check again, one thread and a consumer that would have to wait copy them.
        threads = 1 if self._checked else 2
        team = ordered_map(
            self._block, iter(missing), threads=threads, ahead=3, helping=self._checked
        )
        with closing(team) as read:
            for where in self._blocks:
                start, head, body, *_ = where
                block = kept[start] if start in kept else next(read)
                if self.n_bytes <= SMALL:
                    kept[start] = block
                yield block, start + head + body
                del block
                self.check()
        self._check_rest()
        self.check()

    def _check_rest(self) -> None:
        """Glossaries that no Block has asked for: every part of the file is checked in a pass."""
        asked = {number for *_, number in self._blocks}
        for number in range(len(self._glossaries)):
            if number not in asked:
                self._section(*self._glossaries[number][:4])

    def _block(self, where: list[Any]) -> Block:
        start, head, body, checksum, rows, entries, columns, path, number = where
        data = self._section(start, head, body, checksum)
        name_list = None if number is None else self._name_list(number)
        layout = Layout(rows, entries, tuple(columns.split()))
        try:
            first = 0 if number is None else self._glossaries[number][7]
            return decode(data, layout, self._paths[path], name_list, first)
        except ValueError as error:
            raise self._damaged(str(error)) from None

    def _name_list(self, number: int) -> _core.NameList:
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
            return held[number]

    def _section(self, start: int, head: int, body: int, checksum: int) -> NDArray[np.uint8]:
        """The body of a message that lies there, and is what was written."""
        data = self._read(start, head + body)
        if len(data) != head + body:
            raise self._while_read()
        if not self._checked and _core.checksum(data) != checksum:
            raise self._damaged("a checksum is wrong")
        data.flags.writeable = False  # Blocks share it
        return data[head:]

    def _bytes(self, start: int, size: int) -> bytes:
        data = self._read(start, size)
        if len(data) != size:
            raise self._while_read()
        return data.tobytes()

    def _read(self, start: int, size: int) -> NDArray[np.uint8]:
        """Fewer bytes where the file has no more."""
        try:
            return _core.read_at(self._file.fileno(), start, size)
        except OSError as error:
            raise DataError(f"{self._name}: cannot be read: {error.strerror or error}") from None


def schema_of(about: Mapping[str, Any]) -> Schema | None:
    """What the first rows told; early versions of 0.1 called it fitted."""
    found = about.get("schema", about.get("fitted"))
    return None if found is None else Schema.from_json(found)

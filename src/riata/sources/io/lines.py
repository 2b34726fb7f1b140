"""Cut a stream of bytes into chunks of whole lines."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.errors import DataError
from riata.sources.io.bytes import FilePart, Input, Stop, open_input

PADDING: int = _core.PADDING
LONGEST_LINE = 64 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LOOK_AT = 262  # bytes that tell other things from text


@dataclass(slots=True)
class Chunk:
    """Whole lines of one file: the first `size` bytes of `buffer`, the last of them a newline."""

    buffer: bytearray
    size: int
    path: str
    """As messages name it."""
    first: bool
    """These are the first lines of the file."""
    position: int
    """How far into all the input, in bytes as stored, reading has got."""
    in_file: NDArray[np.int64] | None = None
    """Where some lines stand for others of the file: which one each is, from 0, and at the end how many there are."""


class LineTooLong(Exception):
    """A line that cannot be text of examples. Only the consumer knows its number."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


_LEAST_KEPT, _MOST_KEPT = 1 << 17, 8 << 20  # bytes of one, and of all
_kept: list[bytearray] = []  # of passes that ended, the youngest last
_keeping = threading.Lock()


class Buffers:
    """Buffers that go from the reader to the parser and back.

    Those of a pass that ended are kept for the next: new memory takes the system its time.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._free: list[bytearray] = []

    def take(self, size: int) -> bytearray:
        if size > self.size:
            return bytearray(size + PADDING)
        if self._free:
            return self._free.pop()
        with _keeping:
            for i in reversed(range(len(_kept))):
                if len(_kept[i]) == self.size + PADDING:
                    return _kept.pop(i)
        return bytearray(self.size + PADDING)

    def give_back(self, buffer: bytearray) -> None:
        if len(buffer) == self.size + PADDING:
            self._free.append(buffer)

    def close(self) -> None:
        """The pass has ended."""
        with _keeping:
            _kept.extend(self._free if self.size >= _LEAST_KEPT else ())
            while sum(map(len, _kept)) > _MOST_KEPT:
                del _kept[0]
        self._free.clear()


def cut_lines(
    paths: list[str], buffers: Buffers, stop: Stop, part: FilePart | None = None
) -> Iterator[Chunk]:
    """The lines of all files, or of a part of each, one file after another, in chunks of about `buffers.size` bytes.

    The lines before a fault, such as gzip data cut short, come before the error it raises.
    """
    before = 0
    for path in paths:
        source = open_input(path, stop, part)
        try:
            for chunk in _cut(source, buffers):
                chunk.position += before
                yield chunk
            before += source.position
        finally:
            source.close()


def _cut(source: Input, buffers: Buffers) -> Iterator[Chunk]:
    carry = b""
    first = True
    ended = False
    while not ended:
        buffer = buffers.take(min(2 * len(carry), LONGEST_LINE))
        buffer[: len(carry)] = carry
        filled = len(carry)
        cut = 0
        fault: Exception | None = None
        while not (ended or fault):
            room = len(buffer) - PADDING - filled
            if cut and (room == 0 or not source.ready(0.05)):
                break  # full, or nothing more is coming just now
            if room == 0:
                if filled >= LONGEST_LINE:
                    raise LineTooLong(source.name)
                buffer = _grown(buffer, filled, buffers)
                continue
            try:
                with memoryview(buffer) as view, view[filled : filled + room] as free:
                    count = source.read_into(free)
            except Exception as error:
                fault = error
                count = 0
            ended = count == 0
            cut = buffer.rfind(b"\n", filled, filled + count) + 1 or cut
            filled += count
        if ended and not fault and filled > cut:
            buffer[filled] = ord("\n")  # the last line had none; there is room in the padding
            filled += 1
            cut = filled
        carry = bytes(memoryview(buffer)[cut:filled])
        if cut:
            if first:
                _refuse_others(bytes(buffer[: min(cut, _LOOK_AT)]), source.name)
            if first and buffer.startswith(BYTE_ORDER_MARK):
                del buffer[:3]  # moves nothing: a bytearray only notes its new start
                cut -= 3
            yield Chunk(buffer, cut, source.name, first, source.position)
            first = False
        if fault:
            raise fault


def _refuse_others(head: bytes, name: str) -> None:
    """What starts like that is no text of examples, whatever its name says."""
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"))
    halves = sorted((head[0:8:2], head[1:8:2]))
    if marked or (halves[0] == bytes(4) and all(halves[1])):
        raise DataError(
            f"{name}: this is UTF-16 or UTF-32 text; riata reads UTF-8: "
            f"iconv -f UTF-16 -t UTF-8 {name} | riata ... -"
        )
    if head[257:262] == b"ustar":
        raise DataError(
            f"{name}: this is a tar archive; unpack it first, or in a pipe: "
            f"tar -xOf {name} | riata ... -"
        )


def _grown(buffer: bytearray, filled: int, buffers: Buffers) -> bytearray:
    larger = buffers.take(min(2 * filled, LONGEST_LINE))
    larger[:filled] = memoryview(buffer)[:filled]
    buffers.give_back(buffer)
    return larger

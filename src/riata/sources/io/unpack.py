"""Compressed bytes, taken apart piece by piece: gzip, bzip2, xz and zstd."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any, Protocol

from riata.errors import DataError

_XZ_MEMORY = 1 << 29  # what the dictionary of a .xz file may take; `xz -9` makes ones of 64 MiB


class Stream(Protocol):
    """One compressed stream. A file may hold several, one after another."""

    @property
    def needs_input(self) -> bool: ...
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class Unpacker:
    """Reads what `read_raw` gives, unpacked. Takes little more memory than the piece asked for."""

    def __init__(self, kind: str, name: str, read_raw: Callable[[], bytes]) -> None:
        self._kind = kind
        self._name = name
        self._raw = read_raw
        self._rest = b""  # read, not yet unpacked
        self._stream: Stream | None = None

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, at least one unless the data has ended."""
        while True:
            data = b""
            if self._stream is None or self._stream.needs_input:
                data, self._rest = self._rest or self._raw(), b""
            if self._stream is None:
                if not data:
                    return b""
                data = data.lstrip(b"\0")  # some tools pad with zeros between and after streams
                if not data:
                    continue
                self._stream = self._open()
            dry = not data and self._stream.needs_input
            try:
                out = self._stream.decompress(data, size)
            except Exception as error:
                raise DataError(
                    f"{self._name}: the {self._kind} data is damaged ({error}); fetch it again"
                ) from None
            if self._stream.eof:
                self._rest, self._stream = self._stream.unused_data, None
            if out:
                return out
            if dry and self._stream is not None:
                raise DataError(
                    f"{self._name}: the {self._kind} data ends early, so the file is cut short; "
                    "fetch it again"
                )

    def _open(self) -> Stream:
        if self._kind == "gzip":
            return _Gzip()
        if self._kind == "bzip2":
            return bz2.BZ2Decompressor()
        if self._kind == "xz":
            return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        return _Zstd(self._name)


class _Gzip:
    """zlib's interface, made like those of bz2 and lzma."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)

    @property
    def needs_input(self) -> bool:
        return not self._member.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._member.decompress(self._member.unconsumed_tail + data, max_length)


class _Zstd:
    """A zstd frame, given to the library a block at a time.

    The library would unpack all it is given at once, and a few bytes can stand for gigabytes; a
    block never unpacks to more than 128 KiB.
    """

    def __init__(self, name: str) -> None:
        self._frame = _zstandard(name).ZstdDecompressor().decompressobj()
        self._in = bytearray()
        self._out = memoryview(b"")
        self._next: Callable[[], int] = self._header  # size of the next part; 0: not all there
        self._checksum = False
        self._last = False

    @property
    def needs_input(self) -> bool:
        return not self._out and not self._last and not self._part()

    @property
    def eof(self) -> bool:
        return self._last and not self._out

    @property
    def unused_data(self) -> bytes:
        return bytes(self._in)

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        self._in += data
        while not self._out and not self._last and (size := self._part()):
            part = bytes(self._in[:size])
            del self._in[:size]
            self._advance(part)
        out = bytes(self._out[:max_length])
        self._out = self._out[max_length:]
        return out

    def _part(self) -> int:
        size = self._next()
        return size if 0 < size <= len(self._in) else 0

    def _advance(self, part: bytes) -> None:
        if self._next == self._skippable:
            self._last = True
            return
        self._out = memoryview(self._frame.decompress(part))
        if self._next == self._header:
            self._checksum = bool(part[4] & 4)
            self._next = self._block
        elif self._next == self._trailer or (part[0] & 1 and not self._checksum):
            self._last = True
        elif part[0] & 1:
            self._next = self._trailer

    def _header(self) -> int:
        if len(self._in) < 5:
            return 0
        if self._in[1:4] == b"\x2a\x4d\x18":
            self._next = self._skippable
            return self._skippable()
        flags = self._in[4]
        single = flags >> 5 & 1
        content = (single, 2, 4, 8)[flags >> 6]
        return 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + content

    def _skippable(self) -> int:
        return 8 + int.from_bytes(self._in[4:8], "little") if len(self._in) >= 8 else 0

    def _block(self) -> int:
        if len(self._in) < 3:
            return 0
        head = int.from_bytes(self._in[:3], "little")
        return 3 + (1 if head >> 1 & 3 == 1 else head >> 3)  # kind 1: one byte, repeated

    def _trailer(self) -> int:
        return 4


def _zstandard(name: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise DataError(
            f"{name}: this is zstd data, which needs the package zstandard: "
            f'pip install "riata[zstd]", or unpack it in a pipe: zstdcat {name} | riata ... -'
        ) from None
    return zstandard

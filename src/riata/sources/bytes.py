"""Bytes from files, pipes and standard input; gzip is taken apart on the way."""

from __future__ import annotations

import os
import select
import stat
import sys
import zlib
from typing import BinaryIO

from riata.errors import DataError

STDIN = "-"
GZIP_MAGIC = b"\x1f\x8b"
_FOREIGN = {
    b"BZh": ("bzip2", "bzcat"),
    b"\xfd7z": ("xz", "xzcat"),
    b"(\xb5/": ("zstd", "zstdcat"),
    b"PK\x03": ("zip", "unzip -p"),
}
_PIECE = 1 << 18  # compressed bytes taken at a time


def display(path: str) -> str:
    return "<stdin>" if path == STDIN else path


def size_of(path: str) -> int | None:
    """The size of a regular file, None for a pipe; a DataError if the path cannot be read."""
    if path == STDIN:
        return None
    try:
        status = os.stat(path)
    except OSError as error:
        raise unreadable(path, error) from None
    if stat.S_ISDIR(status.st_mode):
        raise DataError(f"{path}: is a directory; name the files in it, for example {path}/*")
    if not os.access(path, os.R_OK):
        raise DataError(f"{path}: permission denied; you may not read this file")
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def unreadable(path: str, error: OSError) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path}: no such file")
    if isinstance(error, PermissionError):
        return DataError(f"{path}: permission denied; you may not read this file")
    return DataError(f"{path}: cannot be read: {error.strerror or error}")


class Stop:
    """Tells a thread that waits for input that nobody wants it any more."""

    def __init__(self) -> None:
        self.fd, self._write = os.pipe()
        self.is_set = False

    def set(self) -> None:
        if not self.is_set:
            self.is_set = True
            os.write(self._write, b"x")

    def close(self) -> None:
        os.close(self.fd)
        os.close(self._write)


class Input:
    """The bytes of one file or of standard input.

    A file is read, not mapped: one that is cut short while mapped would take the interpreter down.
    """

    def __init__(self, path: str, stop: Stop) -> None:
        self.name = display(path)
        self.position = 0
        self._path = path
        self._stop = stop
        self._file: BinaryIO
        try:
            if path == STDIN:
                self._file = _standard_input()
            else:
                self._file = open(path, "rb", buffering=0)  # noqa: SIM115
            self._fd, self._regular = _descriptor(self._file)
            self._head = b""
            while len(self._head) < 3 and (piece := self._read(3 - len(self._head))):
                self._head += piece
        except OSError as error:
            raise unreadable(self.name, error) from None
        self._gunzip: Gunzip | None = None
        if self._head.startswith(GZIP_MAGIC):
            self._gunzip = Gunzip(self)
        elif self._head in _FOREIGN:
            self.close()
            kind, tool = _FOREIGN[self._head]
            raise DataError(
                f"{self.name}: this is {kind} data; unpack it first, or in a pipe: "
                f"{tool} {self.name} | riata ... -"
            )
        elif path.endswith(".gz") and self._head:
            self.close()
            raise DataError(f"{self.name}: the name ends in .gz, but this is not gzip data")

    def read_into(self, view: memoryview) -> int:
        """Fills the start of the view; 0 at the end of the input (or when stopped)."""
        if self._gunzip is not None:
            data = self._gunzip.read(len(view))
            view[: len(data)] = data
            return len(data)
        try:
            if self._head:
                return self._take_head(view)
            if self._fd is None:
                data = self._read(len(view))
                view[: len(data)] = data
                return len(data)
            if not self._wait(None):
                return 0
            count = os.readv(self._fd, [view])
        except OSError as error:
            raise unreadable(self.name, error) from None
        self.position += count
        return count

    def read_raw(self) -> bytes:
        """Some bytes as they are stored."""
        data, self._head = self._head, b""
        return data or self._read(_PIECE)

    def ready(self, seconds: float) -> bool:
        """Whether more can be read without waiting longer than that."""
        return bool(self._head) or self._fd is None or self._wait(seconds)

    def close(self) -> None:
        if self._path != STDIN:
            self._file.close()

    def _take_head(self, view: memoryview) -> int:
        count = min(len(view), len(self._head))
        view[:count] = self._head[:count]
        self._head = self._head[count:]
        return count

    def _read(self, size: int) -> bytes:
        try:
            if self._fd is None:
                data = self._file.read(size)
            else:
                data = os.read(self._fd, size) if self._wait(None) else b""
        except OSError as error:
            raise unreadable(self.name, error) from None
        self.position += len(data)
        return data

    def _wait(self, seconds: float | None) -> bool:
        if self._stop.is_set:
            return False
        if self._regular or self._fd is None:
            return True
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(self._stop.fd, select.POLLIN)
        found = poll.poll(None if seconds is None else seconds * 1000)
        return bool(found) and not self._stop.is_set


class Gunzip:
    """gzip data, of one member or several, taken apart piece by piece."""

    def __init__(self, raw: Input) -> None:
        self._raw = raw
        self._rest = b""  # read, not yet given to zlib
        self._member: zlib._Decompress | None = None

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, at least one unless the data has ended."""
        while True:
            data = self._rest or self._raw.read_raw()
            self._rest = b""
            if self._member is None:
                if not data:
                    return b""
                data = data.lstrip(b"\0")  # some tools pad with zeros between and after members
                if not data:
                    continue
                self._member = zlib.decompressobj(wbits=31)
            try:
                out = self._member.decompress(data, size)
            except zlib.error as error:
                raise DataError(
                    f"{self._raw.name}: the gzip data is damaged ({error}); fetch the file again"
                ) from None
            if self._member.eof:
                self._rest, self._member = self._member.unused_data, None
            else:
                self._rest = self._member.unconsumed_tail
            if out:
                return out
            if not data and self._member is not None:
                raise DataError(
                    f"{self._raw.name}: the gzip data ends early, so the file is cut short; "
                    "fetch it again"
                )


def _standard_input() -> BinaryIO:
    buffer: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if buffer is None:
        raise DataError("<stdin>: there is no standard input to read")
    return buffer


def _descriptor(file: BinaryIO) -> tuple[int | None, bool]:
    """The file descriptor, if there is one, and whether it is a regular file, which never waits."""
    try:
        fd = file.fileno()
        return fd, stat.S_ISREG(os.fstat(fd).st_mode)
    except OSError:
        return None, False

"""Bytes from files, pipes, standard input and afar; compressed ones are unpacked on the way."""

from __future__ import annotations

import glob
import os
import re
import select
import stat
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from riata.errors import DataError

if TYPE_CHECKING:
    from riata.sources.io.unpack import Unpacker

STDIN = "-"
HEAD = 10
"""Bytes of a file that tell its compression."""
SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
_PIECE = 1 << 18  # compressed bytes taken at a time
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*(?:://|::)")


def is_remote(path: str) -> bool:
    """Whether the path names a protocol, as in `s3://bucket/key`.

    >>> is_remote("https://example.org/train.svm"), is_remote("train.svm")
    (True, False)
    """
    return _REMOTE.match(path) is not None


def expand(paths: list[str]) -> list[str]:
    """The files that paths and patterns name: in the order given, each pattern's files sorted.

    A path that exists is never taken for a pattern.
    """
    found: list[str] = []
    for path in paths:
        if not glob.has_magic(path) or (not is_remote(path) and os.path.lexists(path)):
            found.append(path)
            continue
        if is_remote(path):
            from riata.sources.io.remote import glob_remote

            matches = glob_remote(path)
        else:
            matches = glob.glob(path, recursive=True)
        files = sorted(p for p in matches if is_remote(p) or not os.path.isdir(p))
        if not files and is_remote(path) and path.lower().startswith("http"):
            files = [path]  # ? and [ are ordinary in addresses of the web
        if not files:
            raise DataError(f"{path}: no file matches this pattern")
        found += files
    return found


def display(path: str) -> str:
    return "<stdin>" if path == STDIN else path


def size_of(path: str) -> int | None:
    """The size of a file, None for a pipe; a DataError if the path cannot be read."""
    if path == STDIN:
        return None
    if is_remote(path):
        from riata.sources.io.remote import remote_size

        return remote_size(path)
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


def compression(head: bytes) -> str | None:
    """The compression of a file that starts with these bytes.

    >>> compression(b"\\x1f\\x8b\\x08\\x00"), compression(b"1 3:0.5 7:2")
    ('gzip', None)
    """
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    if head[1:4] == b"\x2a\x4d\x18" and head[:1] and 0x50 <= head[0] <= 0x5F:
        return "zstd"
    if head.startswith(b"PK\x03\x04"):
        return "zip"
    return None


def compression_of_name(path: str) -> str | None:
    """What the end of the name promises."""
    return next((kind for end, kind in SUFFIXES.items() if path.lower().endswith(end)), None)


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


@dataclass(frozen=True)
class FilePart:
    """A part of a file: bytes `start` up to `stop` of text, or row groups `start` up to `stop` of Parquet.

    Where the file begins with the names of its columns, `head` has that line, as if it stood before the part.
    """

    start: int
    stop: int
    head: bytes = b""


def open_input(path: str, stop: Stop, part: FilePart | None = None) -> Input:
    """The bytes of a file; of standard input, those that `look_at_standard_input` saw come again."""
    global _looked_at
    if part is not None:
        return InputPart(path, stop, part)
    if path != STDIN or _looked_at is None or not _looked_at.reads(sys.stdin):
        return Input(path, stop)
    seen, _looked_at = _looked_at, None
    seen.stop_with(stop)
    return seen


def look_at_standard_input(size: int) -> bytes:
    """Its first lines, up to about `size` bytes, unpacked; they are read again when it is opened next.

    It waits for the first line to come, and no longer.
    """
    global _looked_at
    if _looked_at is None or not _looked_at.reads(sys.stdin):
        _looked_at = Input(STDIN, Stop())
    source, head = _looked_at, b""
    with memoryview(bytearray(size)) as view:
        while len(head) < size and not (b"\n" in head and not source.ready(0)):
            count = source.read_into(view)
            if not count:
                break
            head += view[:count]
    source.given_back = head
    return head


_looked_at: Input | None = None


class Input:
    """The bytes of one file or of standard input.

    A file is read, not mapped: one that is cut short while mapped would take the interpreter down.
    """

    def __init__(self, path: str, stop: Stop) -> None:
        self.name = display(path)
        self.position = 0
        self.given_back = b""
        """What was read already, to be read again first."""
        self._path = path
        self._stop = stop
        self._file: BinaryIO
        try:
            if path == STDIN:
                self._file = _standard_input()
            elif is_remote(path):
                from riata.sources.io.remote import open_remote

                self._file = open_remote(path)
            else:
                self._file = open(path, "rb", buffering=0)  # noqa: SIM115
            self._fd, self._regular = _descriptor(self._file)
            self._head = b""
            while len(self._head) < HEAD and (piece := self._read(HEAD - len(self._head))):
                self._head += piece
                if b"\n" in self._head:
                    break  # a line of text: do not wait for more of it
        except OSError as error:
            raise unreadable(self.name, error) from None
        self._unpacker = self._choose_unpacker()

    def _choose_unpacker(self) -> Unpacker | None:
        kind, promised = compression(self._head), compression_of_name(self._path)
        if kind == "zip":
            self.close()
            raise DataError(
                f"{self.name}: this is zip data; unpack it first, or in a pipe: "
                f"unzip -p {self.name} | riata ... -"
            )
        if promised is not None and kind is None and self._head:
            self.close()
            suffix = next(end for end, named in SUFFIXES.items() if named == promised)
            raise DataError(
                f"{self.name}: the name ends in {suffix}, but this is not {promised} data"
            )
        if kind is None:
            return None
        from riata.sources.io.unpack import Unpacker

        return Unpacker(kind, self.name, self.read_raw)

    def read_into(self, view: memoryview) -> int:
        """Fills the start of the view; 0 at the end of the input (or when stopped)."""
        if self.given_back:
            count = min(len(view), len(self.given_back))
            view[:count] = self.given_back[:count]
            self.given_back = self.given_back[count:]
            return count
        if self._unpacker is not None:
            data = self._unpacker.read(len(view))
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
            count = _read_into(self._fd, view)
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
        waiting = bool(self.given_back or self._head)
        return waiting or self._fd is None or self._wait(seconds)

    def reads(self, stream: object) -> bool:
        """Whether this text stream stands over the same bytes."""
        return self._file is getattr(stream, "buffer", None)

    def stop_with(self, stop: Stop) -> None:
        """From now on that one tells to stop."""
        self._stop.close()
        self._stop = stop

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
        except Exception as error:
            if not is_remote(self._path):
                raise
            raise DataError(f"{self.name}: reading stopped: {error or type(error)}") from None
        self.position += len(data)
        return data

    def _wait(self, seconds: float | None) -> bool:
        if self._stop.is_set:
            return False
        if self._regular or self._fd is None:
            return True
        if not hasattr(
            select, "poll"
        ):  # Windows waits for sockets alone: the read itself will wait
            return True
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(self._stop.fd, select.POLLIN)
        found = poll.poll(None if seconds is None else seconds * 1000)
        return bool(found) and not self._stop.is_set


class InputPart(Input):
    """Some bytes of a file that is not compressed."""

    def __init__(self, path: str, stop: Stop, part: FilePart) -> None:
        super().__init__(path, stop)
        if self._unpacker is not None:
            self.close()
            raise DataError(f"{self.name}: compressed text has no parts: read it as a whole")
        self.name = f"{self.name}[{part.start}:{part.stop}]"
        try:
            self._file.seek(part.start)
        except OSError as error:
            raise unreadable(self.name, error) from None
        self._head, self.given_back = b"", part.head
        self._left, self.position = part.stop - part.start, 0

    def read_into(self, view: memoryview) -> int:
        if self.given_back:
            return super().read_into(view)
        if self._left == 0:
            return 0
        count = super().read_into(view[: min(len(view), self._left)])
        self._left -= count
        return count


def _read_into(fd: int, view: memoryview) -> int:
    if hasattr(os, "readv"):
        return os.readv(fd, [view])
    data = os.read(fd, len(view))  # Windows
    view[: len(data)] = data
    return len(data)


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


_SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_OF_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def refuse_spreadsheet(path: str) -> None:
    """A DataError that names the ways out, where a file is what its name says."""
    if not path.lower().endswith(_SPREADSHEETS) or is_remote(path) or not size_of(path):
        return
    with open(path, "rb") as file:
        if file.read(4) not in _OF_SPREADSHEETS:
            return
    raise DataError(
        f"{path}: this is a spreadsheet, which Riata does not read: save it as CSV in the program that made "
        f"it, or in Python with pandas.read_excel(...).to_csv(...) or .to_parquet(...)"
    )

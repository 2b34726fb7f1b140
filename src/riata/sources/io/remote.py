"""Remote paths, through fsspec. What fails for a moment is tried again."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any, BinaryIO, TypeVar, cast

from riata.errors import DataError

T = TypeVar("T")
TRIES = 5
PAUSE = 0.2
"""Seconds before the second try; twice as many before each one after it."""
_FOR_GOOD = (FileNotFoundError, PermissionError, IsADirectoryError, NotImplementedError, DataError)


def again(action: Callable[[], T], prepare: Callable[[], None] | None = None) -> T:
    """What the action gives, tried a few times unless the error is one that stays."""
    for attempt in range(TRIES):
        try:
            if attempt and prepare is not None:
                prepare()
            return action()
        except _FOR_GOOD:
            raise
        except Exception as error:
            if attempt + 1 == TRIES or isinstance(error, TypeError | ValueError):
                raise
            time.sleep(PAUSE * 2**attempt)
    raise AssertionError


class RemoteFile(io.RawIOBase):
    """A remote file that is opened again, at the same place, where reading it fails."""

    def __init__(self, open_: Callable[[], Any]) -> None:
        self._open = open_
        self._file = again(open_)
        self._at = 0

    def read(self, size: int = -1) -> bytes:
        def action() -> bytes:
            self._file.seek(self._at)
            data: bytes = self._file.read(size)
            return data

        data = again(action, self._reopen)
        self._at += len(data)
        return data

    def _reopen(self) -> None:
        self._file.close()
        self._file = self._open()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_SET:
            self._at = offset
        elif whence == io.SEEK_CUR:
            self._at += offset
        else:
            self._at = int(again(lambda: self._file.seek(offset, whence), self._reopen))
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def open_remote(path: str, ranges: bool = False) -> BinaryIO:
    """A remote file to read; raises OSError, or a DataError where fsspec cannot go there.

    With `ranges` nothing is read but what is asked for: for files of which only some parts are wanted.
    """
    file_system, inner = _resolve(path)
    cache = "none" if ranges else "readahead"
    try:
        file = RemoteFile(lambda: file_system.open(inner, "rb", cache_type=cache))
    except OSError:
        raise
    except Exception as error:
        raise DataError(f"{path}: cannot be read: {_say(error)}") from None
    if not getattr(file._file, "seekable", lambda: False)():  # a server that knows no ranges
        return cast(BinaryIO, file._file)
    return cast(BinaryIO, file)


def remote_size(path: str) -> int | None:
    """The size, where the server tells."""
    return remote_status(path)[0]


def remote_status(path: str) -> tuple[int | None, str]:
    """Size and whatever else changes when the file does, as far as the server tells."""
    file_system, inner = _resolve(path)
    try:
        file_system.invalidate_cache()
        info = again(lambda: file_system.info(inner))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except Exception as error:
        raise DataError(f"{path}: cannot be read: {_say(error)}") from None
    marks = [info.get(k) for k in ("ETag", "etag", "mtime", "LastModified", "created") if k in info]
    return info.get("size"), str(marks)


def glob_remote(path: str) -> list[str]:
    file_system, inner = _resolve(path)
    try:
        return [
            file_system.unstrip_protocol(name) for name in again(lambda: file_system.glob(inner))
        ]
    except Exception as error:
        if path.lower().startswith("http"):
            return []
        raise DataError(f"{path}: cannot be listed: {_say(error)}") from None


def _resolve(path: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise DataError(
            f'{path}: remote paths need the package fsspec: pip install "riata[remote]"'
        ) from None
    try:
        file_system, inner = fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise DataError(f"{path}: {_say(error)}") from None
    return file_system, inner


def _say(error: Exception) -> str:
    return str(error) or type(error).__name__

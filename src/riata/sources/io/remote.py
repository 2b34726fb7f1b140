"""Remote paths, through fsspec."""

from __future__ import annotations

from typing import Any, BinaryIO

from riata.errors import DataError


def open_remote(path: str) -> BinaryIO:
    """A remote file to read; raises OSError, or a DataError where fsspec cannot go there."""
    file_system, inner = _resolve(path)
    try:
        file: BinaryIO = file_system.open(inner, "rb", cache_type="readahead")
        return file
    except OSError:
        raise
    except Exception as error:
        raise DataError(f"{path}: cannot be read: {_say(error)}") from None


def remote_size(path: str) -> int | None:
    """The size, where the server tells."""
    return remote_status(path)[0]


def remote_status(path: str) -> tuple[int | None, str]:
    """Size and whatever else changes when the file does, as far as the server tells."""
    file_system, inner = _resolve(path)
    try:
        info = file_system.info(inner)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except Exception as error:
        raise DataError(f"{path}: cannot be read: {_say(error)}") from None
    marks = [info.get(k) for k in ("ETag", "etag", "mtime", "LastModified", "created") if k in info]
    return info.get("size"), str(marks)


def glob_remote(path: str) -> list[str]:
    file_system, inner = _resolve(path)
    try:
        return [file_system.unstrip_protocol(name) for name in file_system.glob(inner)]
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

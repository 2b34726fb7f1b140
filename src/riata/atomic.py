"""Files that are either the old one or the whole new one, never something between."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_STREAMS: dict[str | bytes, int] = {"/dev/stdout": 1, "/dev/stderr": 2}
_OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


@contextmanager
def atomic_write(path: str | os.PathLike[str], durable: bool = True) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of `path` when the block ends without an error.

    The bytes go to a temporary file in the same directory, reach the disk, and then the name moves
    over. On any failure the temporary file is removed and what was at `path` stays. A symbolic link
    is followed; what is not a regular file (a device, a named pipe) is written directly, and so is
    /dev/stdout, wherever it leads: who sent it to a file may have more to add there.

    Not `durable`: nobody waits for the disk, and a failure of power may leave a file with holes under
    the name. For what is large, has checksums, and can be made again; where the system can, it has no
    name before it is complete, so that a process that is killed leaves nothing behind.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "answer"
    >>> with atomic_write(target) as file:
    ...     _ = file.write(b"42")
    >>> target.read_bytes()
    b'42'
    """
    if os.fspath(path) in _STREAMS:
        with _written_directly(os.fdopen(os.dup(_STREAMS[os.fspath(path)]), "wb"), path) as stream:
            yield stream
        return
    target = _target(path)
    mode = _mode_for(target)
    if mode is None:
        with _written_directly(open(target, "wb"), path) as direct:
            yield direct
        return
    descriptor = None if durable else _open_nameless(target)
    name = None
    if descriptor is None:
        descriptor, name = _open_beside(target)
    file = os.fdopen(descriptor, "wb")
    try:
        yield file
        file.flush()
        if hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
        if durable:
            os.fsync(file.fileno())
        if name is None:
            name = _give_name(file.fileno(), target)
        # Before it is closed: while it is open it is locked, and nobody takes it for a leftover. Without locks
        # nobody does, and there (on Windows) an open file cannot be renamed.
        if fcntl is None:
            file.close()
        os.replace(name, target)
        file.close()
    except BaseException as error:
        with suppress(OSError):
            file.close()
        if name is not None:
            with suppress(OSError):
                os.unlink(name)
        _name(error, path)
        raise
    if durable:
        _sync_directory(target.parent)


@contextmanager
def _written_directly(file: BinaryIO, path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A device, pipe or stream; the first error is the one that is raised, and names the path."""
    try:
        yield file
        file.close()
    except BaseException as error:
        with suppress(OSError):
            file.close()
        _name(error, path)
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now the OSError that `atomic_write` would raise after an hour of training."""
    if os.fspath(path) in _STREAMS:
        return
    target = _target(path)
    check_folder(path)
    if _mode_for(target) is None:
        if not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied", str(path))
        return
    remove_leftovers(path)
    try:
        descriptor, name = _open_beside(target)
    except OSError as error:
        _name(error, path)
        raise
    os.close(descriptor)
    os.unlink(name)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Whether a file can lie there at all; the OSError says which folder is missing, or is none."""
    path, target = os.fspath(path), _target(path)
    if target.is_dir():
        raise IsADirectoryError(
            21, f"this is a folder: name a file in it, such as {os.path.join(path, 'FILE')}", path
        )
    folder = os.path.dirname(path) or "."
    if os.path.isdir(target.parent):
        return
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise NotADirectoryError(20, f"{folder} is not a folder", path)
    raise FileNotFoundError(2, f"there is no folder {folder}: make it first", path)


def same_file(a: str, b: str) -> bool:
    """Whether both names are there and mean one file."""
    with suppress(OSError, ValueError):
        return os.path.isfile(a) and os.path.samefile(a, b)
    return False


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove the temporary files of processes that were killed while they wrote `path`: others hold theirs locked."""
    target = _target(path)
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{12}}\.tmp")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name):
                _remove_unless_locked(entry.path)


def _remove_unless_locked(name: str) -> None:
    with suppress(OSError):
        if fcntl is None:
            return
        descriptor = os.open(name, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(name)
        finally:
            os.close(descriptor)


def _name(error: BaseException, path: str | os.PathLike[str]) -> None:
    """Let an error of writing say what could not be written, not what the temporary file was called."""
    if isinstance(error, OSError):
        temporary = isinstance(error.filename, str) and error.filename.endswith(".tmp")
        if temporary or (error.filename is None and error.errno in _OF_WRITING):
            error.filename, error.filename2 = os.fspath(path), None


def _target(path: str | os.PathLike[str]) -> Path:
    """Where a link leads; /dev/stdout over a pipe leads to a name that nobody can open."""
    with suppress(OSError):
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return Path(path)
    return Path(os.path.realpath(path))


def _open_beside(target: Path) -> tuple[int, str]:
    """A new file, for us alone, in the directory of the target: its descriptor and its name."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    while True:
        name = _name_beside(target)
        with suppress(FileExistsError):
            descriptor = os.open(name, flags, 0o600)
            if _lock(descriptor):
                return descriptor, name
            os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Keep the file from those who remove leftovers. False: one of them was faster."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: there nobody removes anything
    return os.fstat(descriptor).st_nlink > 0


def _open_nameless(target: Path) -> int | None:
    """A file of that file system without a name, gone with the process; None where there are none."""
    if not hasattr(os, "O_TMPFILE") or not os.path.exists("/proc/self/fd"):
        return None
    try:
        return os.open(target.parent, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        return None  # what is wrong, if anything, a file with a name will tell


def _give_name(descriptor: int, target: Path) -> str:
    """A name for a file that was opened without one."""
    name = _name_beside(target)
    _lock(descriptor)
    folder = os.open("/proc/self/fd", os.O_RDONLY)
    try:  # only with a folder of its own does Python follow the link that stands for the file
        os.link(str(descriptor), name, src_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)
    return name


def _name_beside(target: Path) -> str:
    return str(target.parent / f".{target.name}.{os.urandom(6).hex()}.tmp")


def _mode_for(target: Path) -> int | None:
    """Permission bits for the new file: the old one's, or the usual; None for devices and pipes."""
    try:
        old = target.stat().st_mode
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
    if stat.S_ISDIR(old):
        raise IsADirectoryError(21, "Is a directory", str(target))
    return stat.S_IMODE(old) if stat.S_ISREG(old) else None


def _sync_directory(directory: Path) -> None:
    """Make the rename itself last. Some file systems cannot; the file is whole all the same."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
